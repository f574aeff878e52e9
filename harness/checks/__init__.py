"""Statistical tests of tallies: evidence and bounds on (counts, law), never decisions.

Pure functions of counts and laws. Every p-value named `p_value`, every e-value and every bound is
valid for any number of trials; randomised ones take their generator last.
"""

from __future__ import annotations

from harness.checks.acceptance import acceptance_check, clopper_pearson, committed_length_law
from harness.checks.cells import cell_p_values, cells_check
from harness.checks.certificate import (
    Certificate,
    certify,
    certify_coarse,
    certify_contexts,
    total_variation,
    tv_lower_bound,
)
from harness.checks.chi_square import chi_square_check, g_test, pearson, pool
from harness.checks.coarse import Coarsening, coarse_grainings, ratio_bins
from harness.checks.e_process import EProcess, LogE
from harness.checks.exact import exact_p, exact_size
from harness.checks.ks import ks_check, ks_exact_p
from harness.checks.looks import look_schedule, spent_per_look
from harness.checks.monte_carlo import besag_clifford, tilted_p
from harness.checks.multiplicity import benjamini_hochberg, bonferroni, e_to_p, holm
from harness.checks.order import CellOrder, ratio_order
from harness.checks.result import CheckResult
from harness.checks.support import support_check

__all__ = [
    "CellOrder",
    "Certificate",
    "CheckResult",
    "Coarsening",
    "EProcess",
    "LogE",
    "acceptance_check",
    "benjamini_hochberg",
    "besag_clifford",
    "bonferroni",
    "cell_p_values",
    "cells_check",
    "certify",
    "certify_coarse",
    "certify_contexts",
    "chi_square_check",
    "clopper_pearson",
    "coarse_grainings",
    "committed_length_law",
    "e_to_p",
    "exact_p",
    "exact_size",
    "g_test",
    "holm",
    "ks_check",
    "ks_exact_p",
    "look_schedule",
    "pearson",
    "pool",
    "ratio_bins",
    "ratio_order",
    "spent_per_look",
    "support_check",
    "tilted_p",
    "total_variation",
    "tv_lower_bound",
]
