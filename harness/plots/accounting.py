"""The accounting of one step: p(x) = min(p, q) accepted + (p - q)+ replaced, token by token.

Leviathan, Kalman and Matias (2023), appendix A.1. What the draft proposes beyond p, (q - p)+, is
rejected, and its mass is what the replacements are made of.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from harness.arrays import Probs, Rows
from harness.engine.result import ScenarioResult, SuiteResult
from harness.laws.accounting import accepted_mass, positive_part
from harness.plots.labels import number, shown_token
from harness.plots.page import BLUE, INK, ORANGE, keys, new_page, panel, plain_ticks, titles
from harness.plots.wording import named

__all__ = ["accounting"]

DWARFED = 3  # times the longest bar of a single token
MOST_ROWS = 16  # tokens that are shown one by one; the rest of a larger vocabulary is one row


@dataclass(frozen=True, slots=True)
class Shares:
    """Mass (rows,) that is accepted, replaced and rejected, and the name of each row."""

    names: tuple[str, ...]
    accepted: Probs
    replaced: Probs
    rejected: Probs


def accounting(result: SuiteResult, scenario: ScenarioResult) -> Figure | None:
    """Bars of accepted, replacement and rejected mass.

    None where there are no laws, and where an earlier scenario of the suite has the same.
    """
    p, q = scenario.p, scenario.q
    if p.shape != q.shape or not p.size or not (np.isfinite(p).all() and np.isfinite(q).all()):
        return None
    alike = [s.name for s in result.scenarios if _same_laws(s, scenario)]
    if alike[:1] not in ([], [scenario.name]):
        return None
    shares = _shares(scenario)
    height = 0.3 * len(shares.names)
    figure = new_page(height + 1.5)
    titles(figure, _finding(scenario), _details(scenario, len(alike) - 1))
    axes = panel(figure, 1.55, 0.5, 3.95, height)
    _bars(axes, shares)
    _masses(axes, shares)
    return figure


def _shares(scenario: ScenarioResult) -> Shares:
    p, q = scenario.p, scenario.q
    parts = (accepted_mass(p, q), positive_part(p, q), positive_part(q, p))
    if len(p) <= MOST_ROWS:
        return Shares(tuple(_token(scenario, i) for i in range(len(p))), *parts)
    order = np.argsort(-np.maximum(p, q), kind="stable")
    top = order[: MOST_ROWS - 1]
    rest = order[MOST_ROWS - 1 :]
    rows = (np.append(part[top], part[rest].sum()) for part in parts)
    names = (_token(scenario, i) for i in top)
    return Shares((*names, f"other {number(len(rest))}"), *rows)


def _bars(axes: Axes, shares: Shares) -> None:
    rows = np.arange(len(shares.names))
    _stack(axes, rows, shares)
    plain_ticks(axes, rows.tolist(), shares.names)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlim(0, 1.03 * _longest(shares))
    axes.set_xlabel("probability")
    axes.xaxis.set_major_locator(MaxNLocator(5))
    keys(
        axes,
        (
            ("■", BLUE, f"accepted min(p, q) {number(shares.accepted.sum())}"),
            ("▨", ORANGE, f"replaced (p - q)+ {number(shares.replaced.sum())}"),
            ("□", INK, f"rejected (q - p)+ {number(shares.rejected.sum())}"),
            ("┃", INK, "target p"),
        ),
    )


def _stack(axes: Axes, rows: Rows, shares: Shares) -> None:
    """Accepted, then replaced up to p, then rejected up to q, for the rows that fit the scale."""
    fits = _lengths(shares) <= _longest(shares)
    parts = (shares.accepted[fits], shares.replaced[fits], shares.rejected[fits])
    style: dict[str, Any] = {"height": 0.66, "linewidth": 0.7, "edgecolor": INK}
    kept, target = parts[0], parts[0] + parts[1]
    axes.barh(rows[fits], kept, color=BLUE, **style)
    axes.barh(rows[fits], parts[1], left=kept, color=ORANGE, hatch="//", **style)
    axes.barh(rows[fits], parts[2], left=target, color="white", linestyle="--", **style)
    axes.vlines(target, rows[fits] - 0.45, rows[fits] + 0.45, color=INK, linewidth=2)


def _masses(axes: Axes, shares: Shares) -> None:
    """The numbers at the end of each bar, in the order of its parts."""
    edge = _longest(shares)
    for row, end in enumerate(_lengths(shares)):
        place, scale = (end, "") if end <= edge else (0.0, ": no bar, it would dwarf the others")
        text = f"  {_sum(shares, row)}{scale}"
        axes.text(place, row, text, size=7.5, va="center", color=INK)


def _lengths(shares: Shares) -> Probs:
    return shares.accepted + shares.replaced + shares.rejected


def _longest(shares: Shares) -> float:
    """Longest bar; the rest of a vocabulary has none where it would dwarf all others."""
    single = _lengths(shares)[: MOST_ROWS - 1].max()
    every = float(_lengths(shares).max())
    return float(single) if every > DWARFED * single else every


def _sum(shares: Shares, row: int) -> str:
    kept, replaced, rejected = (
        number(part[row]) for part in (shares.accepted, shares.replaced, shares.rejected)
    )
    text = kept if shares.replaced[row] == 0 else f"{kept} + {replaced}"
    return text if shares.rejected[row] == 0 else f"{text}, rejected {rejected}"


def _finding(scenario: ScenarioResult) -> str:
    p, q = scenario.p, scenario.q
    kept = float(accepted_mass(p, q).sum())
    if kept > 1 - 1e-12:
        return "every drafted token is kept: draft and target are the same law"
    if kept == 0:
        return "no drafted token is kept: draft and target share no token"
    worst = _token(scenario, int(np.argmax(positive_part(q, p))))
    return f"{100 * kept:.3g} % of drafted tokens are kept; {worst} is rejected most"


def _details(scenario: ScenarioResult, more: int) -> str:
    also = f" and {more} more with the same laws" if more > 0 else ""
    place = " at the first position" if scenario.horizon > 1 else ""
    return f"{named(scenario)}{also}: what an exact rule does with draft law q and target p{place}."


def _token(scenario: ScenarioResult, index: int) -> str:
    return shown_token(scenario.tokens[index] if scenario.tokens else str(index))


def _same_laws(one: ScenarioResult, other: ScenarioResult) -> bool:
    return (
        one.tokens == other.tokens
        and np.array_equal(one.p, other.p)
        and np.array_equal(one.q, other.q)
    )
