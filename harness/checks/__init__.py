"""Statistical tests of tallies: evidence and bounds on (counts, law), never decisions.

Pure functions of counts and laws. Every p-value named `p_value`, every e-value and every bound is
valid for any number of trials; randomised ones take their generator last.
"""

from __future__ import annotations

from harness.checks.acceptance import acceptance_check, clopper_pearson, committed_length_law
from harness.checks.calibration import brute_force, martingale_means, poisson_ceiling, sizes
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
from harness.checks.conditional import ConditionalEProcess, conditional_check
from harness.checks.dependence import PitTable, dependence_log_e, pair_tallies
from harness.checks.dual import certify_law
from harness.checks.e_process import EProcess, LogE
from harness.checks.exact import exact_p, exact_size
from harness.checks.finest import FinestCertificate
from harness.checks.ks import ks_check, ks_exact_p
from harness.checks.looks import look_schedule, spent_per_look
from harness.checks.monte_carlo import besag_clifford, tilted_p
from harness.checks.multiplicity import benjamini_hochberg, bonferroni, e_to_p, holm
from harness.checks.order import CellOrder, ratio_order
from harness.checks.permutation import permutation_check
from harness.checks.plans import (
    certify_trials,
    expected_tv,
    guaranteed_trials,
    smallest_dose,
    stopping_times,
)
from harness.checks.power import (
    approximate_trials,
    detectable_tv,
    exact_miss,
    exact_trials,
    support_trials,
)
from harness.checks.result import CheckResult
from harness.checks.support import support_check
from harness.checks.two_sample import BlockEValue

__all__ = [
    "BlockEValue",
    "CellOrder",
    "Certificate",
    "CheckResult",
    "Coarsening",
    "ConditionalEProcess",
    "EProcess",
    "FinestCertificate",
    "LogE",
    "PitTable",
    "acceptance_check",
    "approximate_trials",
    "benjamini_hochberg",
    "besag_clifford",
    "bonferroni",
    "brute_force",
    "cell_p_values",
    "cells_check",
    "certify",
    "certify_coarse",
    "certify_contexts",
    "certify_law",
    "certify_trials",
    "chi_square_check",
    "clopper_pearson",
    "coarse_grainings",
    "committed_length_law",
    "conditional_check",
    "dependence_log_e",
    "detectable_tv",
    "e_to_p",
    "exact_miss",
    "exact_p",
    "exact_size",
    "exact_trials",
    "expected_tv",
    "g_test",
    "guaranteed_trials",
    "holm",
    "ks_check",
    "ks_exact_p",
    "look_schedule",
    "martingale_means",
    "pair_tallies",
    "pearson",
    "permutation_check",
    "poisson_ceiling",
    "pool",
    "ratio_bins",
    "ratio_order",
    "sizes",
    "smallest_dose",
    "spent_per_look",
    "stopping_times",
    "support_check",
    "support_trials",
    "tilted_p",
    "total_variation",
    "tv_lower_bound",
]
