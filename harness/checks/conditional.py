"""Laws after each context: evidence multiplied over contexts, never pooled over them.

Pooling the tokens of a chain with sticky contexts rejects a correct sampler 10,000 times too
often at 1e-6. Given the context each draw has its own promised law, so the product over
contexts of E_kappa, at one common kappa, is a martingale however the contexts come about.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt
from scipy import stats

from harness.arrays import Counts, Floats
from harness.checks.chi_square import pearson_statistic
from harness.checks.dirichlet import log_dirichlet_ratio, log_mean_exp
from harness.checks.e_process import EProcess, LogE, mixed
from harness.checks.multiplicity import e_to_p
from harness.checks.observed import checked_counts, impossible
from harness.checks.result import CheckResult
from harness.errors import BadSetting

__all__ = ["ConditionalEProcess", "conditional_check"]

BINS = 8  # the coarse level kept for every context


def coarse_ratios(process: EProcess, counts: Counts) -> tuple[Floats, Floats]:
    """Evidence of one context for every kappa: on the full alphabet, and on eight ratio bins."""
    full = log_dirichlet_ratio(counts[process.ranked], process.law, process.kappas)
    wanted = [part for part in process.bins if part.name.startswith(f"{BINS} ")]
    if not wanted:
        return full, full
    cells, law = wanted[0].gather(counts), wanted[0].gather(process.promised)
    return full, log_dirichlet_ratio(cells, law, process.kappas)


@dataclass(frozen=True, slots=True)
class ConditionalEProcess:
    """One e-process over many contexts, one `EProcess` of laws for each."""

    contexts: tuple[EProcess, ...]

    @classmethod
    def of(
        cls,
        laws: npt.ArrayLike,
        drafts: npt.ArrayLike | None = None,
        faults: Mapping[str, npt.ArrayLike] | None = None,
    ) -> Self:
        """For target laws (C, V), draft laws (C, V), and laws (C, V) of known faults by name."""
        targets = np.asarray(laws, dtype=np.float64)
        proposals = [None] * len(targets) if drafts is None else list(np.asarray(drafts))
        tables = {name: np.asarray(table) for name, table in (faults or {}).items()}
        return cls(
            tuple(
                EProcess.of(p, q, {name: table[c] for name, table in tables.items()})
                for c, (p, q) in enumerate(zip(targets, proposals, strict=True))
            )
        )

    def log_e(self, counts: npt.ArrayLike) -> LogE:
        """Evidence of counts (C, V); infinite after a token of probability zero."""
        rows = self.checked(counts)
        offended = any(
            impossible(row, process.promised).any()
            for process, row in zip(self.contexts, rows, strict=True)
        )
        possible = [
            np.where(process.promised > 0.0, row, 0)
            for process, row in zip(self.contexts, rows, strict=True)
        ]
        by_name = self.directed(possible)
        parts = {"multi_resolution": self.multi_resolution(possible), "cell": self.cell(possible)}
        if by_name:
            parts["directed"] = log_mean_exp(np.stack(list(by_name.values())), axis=0)
        total = np.where(offended, np.inf, mixed(parts))
        directed = parts.get("directed", np.zeros(()))
        return LogE(total, parts["multi_resolution"], parts["cell"], directed, by_name)

    def checked(self, counts: npt.ArrayLike) -> list[Counts]:
        rows = np.asarray(counts)
        if rows.ndim != 2 or len(rows) != len(self.contexts):
            raise BadSetting(f"counts of shape {rows.shape} for {len(self.contexts)} contexts")
        return [
            checked_counts(row, process.promised.size)
            for process, row in zip(self.contexts, rows, strict=True)
        ]

    def multi_resolution(self, rows: list[Counts]) -> Floats:
        """Average over kappa and two levels of the product over contexts."""
        levels = [
            np.concatenate(coarse_ratios(process, row))
            for process, row in zip(self.contexts, rows, strict=True)
            if process.law.size > 1
        ]
        return log_mean_exp(np.sum(levels, axis=0)) if levels else np.zeros(())

    def cell(self, rows: list[Counts]) -> Floats:
        """Average over contexts and tokens of the evidence of one token in one context."""
        cells = [
            process.resolutions(row)[1] for process, row in zip(self.contexts, rows, strict=True)
        ]
        return log_mean_exp(np.stack(cells), axis=0)

    def directed(self, rows: list[Counts]) -> dict[str, Floats]:
        """Each bet with one common stake in all contexts; a context where it equals p bets 0."""
        stakes: dict[str, Floats] = {}
        for process, row in zip(self.contexts, rows, strict=True):
            for bet in process.bets:
                here = bet.log_stakes(row[process.promised > 0.0])
                stakes[bet.name] = stakes.get(bet.name, np.zeros(here.shape)) + here
        return {name: log_mean_exp(logs) for name, logs in stakes.items()}


def conditional_check(process: ConditionalEProcess, counts: npt.ArrayLike) -> CheckResult:
    """Sum of Pearson's statistics over contexts, each with its own degrees of freedom.

    Its chi-square tail (Billingsley 1961) is the approximate value; the e-process decides.
    """
    rows = process.checked(counts)
    statistic, freedom = 0.0, 0
    for context, row in zip(process.contexts, rows, strict=True):
        if row.sum() and context.law.size > 1:
            statistic += float(pearson_statistic(row[context.ranked], context.law))
            freedom += context.law.size - 1
    decides = float(e_to_p(process.log_e(counts).total))
    approximate = float(stats.chi2.sf(statistic, freedom)) if freedom and decides > 0.0 else decides
    detail = f"{len(rows)} contexts, {freedom} degrees of freedom; the e-process decides"
    return CheckResult("conditional", statistic, decides, detail, approximate)
