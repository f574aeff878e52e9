"""How the evidence grew: TV with its bound against epsilon, and ln E against its threshold."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from harness.arrays import Floats
from harness.engine.result import ObservableResult, ScenarioResult, SuiteResult, Verdict
from harness.plots.labels import compact, number
from harness.plots.page import BLUE, INK, RED, log_axis, new_page, panel, titles
from harness.plots.wording import finding, levels, named

__all__ = ["convergence"]

LINEAR_UP_TO = 5  # thresholds; where ln E goes beyond, its axis is logarithmic


def convergence(result: SuiteResult, scenario: ScenarioResult) -> Figure | None:
    """TV, bound and ln E of the first observable at every look; None where nothing was drawn."""
    if not scenario.growth or not scenario.observables:
        return None
    seen = scenario.observables[0]
    trials, tv, bound, log_e = np.array(scenario.growth, dtype=np.float64).T
    threshold = math.log(1 / result.alpha)
    figure = new_page(3.45)
    titles(figure, _finding(scenario, seen, threshold), _details(scenario, seen))
    _distance(panel(figure, 0.75, 0.5, 2.75, 1.9), trials, tv, bound, scenario.epsilon)
    _evidence(panel(figure, 4.95, 0.5, 2.25, 1.9), trials, log_e, threshold)
    return figure


def _distance(axes: Axes, trials: Floats, tv: Floats, bound: Floats, epsilon: float) -> None:
    positive = tv[tv > 0]
    lowest = 0.6 * min(float(np.min(positive, initial=epsilon)), epsilon)
    axes.plot(trials, np.maximum(tv, lowest), "o-", color=BLUE, ms=3.5, linewidth=1.3)
    axes.plot(trials, bound, "v--", color=INK, ms=3.5, linewidth=1.1)
    log_axis(axes, "y")
    axes.set_ylim(lowest, 1.8 * max(float(np.max(bound, initial=epsilon)), epsilon))
    _frame(axes, trials, "TV to the target")
    _decision(axes, trials[0], epsilon, f"epsilon {number(epsilon)}", "left")
    close = bound[-1] < 1.35 * tv[-1]
    _name(axes, trials, bound, f"at most {number(bound[-1])}", (INK, 4 if close else 0))
    _name(axes, trials, tv, f"seen {number(tv[-1])}", (BLUE, -4 if close else 0))


def _evidence(axes: Axes, trials: Floats, log_e: Floats, threshold: float) -> None:
    finite = log_e[np.isfinite(log_e)]
    top = max(1.15 * float(np.max(finite, initial=threshold)), 1.5 * threshold)
    axes.plot(trials, np.minimum(log_e, top), "o-", color=BLUE, ms=3.5, linewidth=1.3)
    if (infinite := np.isposinf(log_e)).any():
        first = trials[infinite][0]
        axes.plot([first], [top], "^", color=RED, ms=7)
        axes.annotate("infinite: an impossible draw", (first, top), (0, 6), color=RED, size=8,
                      textcoords="offset points", ha="center", annotation_clip=False)  # fmt: skip
    if np.max(np.abs(finite), initial=0) > LINEAR_UP_TO * threshold:
        axes.set_yscale("symlog", linthresh=threshold)
        axes.yaxis.set_major_locator(FixedLocator(_decades(finite, top)))
        axes.yaxis.set_minor_locator(NullLocator())
    else:
        axes.yaxis.set_major_locator(MaxNLocator(5))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
    axes.set_ylim(1.15 * min(float(np.min(finite, initial=0.0)), -0.05 * threshold), 1.05 * top)
    _frame(axes, trials, "ln E, evidence of bias")
    _decision(axes, trials[-1], threshold, f"ln(1/alpha) {number(threshold)}", "right")


def _decades(finite: Floats, top: float) -> list[float]:
    """0 and powers of ten that the values reach, every other one where there are many."""
    up = [10.0**k for k in range(1, 13) if 10.0**k <= top]
    down = [-(10.0**k) for k in range(12, 0, -1) if 10.0**k <= -np.min(finite, initial=0.0)]
    return [*down, 0.0, *(up if len(up) <= 4 else up[1::2])]


def _frame(axes: Axes, trials: Floats, head: str) -> None:
    """Trials along a logarithmic axis, and above it what is drawn."""
    log_axis(axes, "x")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: compact(value)))
    axes.set_xlim(trials[0] / 1.3, trials[-1] * 1.3)
    axes.set_xlabel("trials")
    axes.set_title(head, size=8.5, loc="left", color=INK, pad=14)


def _decision(axes: Axes, trials: float, level: float, name: str, side: str) -> None:
    """The level that decides, with its name below it on the side that the curve leaves free."""
    axes.axhline(level, color=RED, linewidth=1.1, linestyle=":")
    axes.annotate(
        name, (trials, level), (0, -3), color=RED, size=8, ha=side, va="top",
        textcoords="offset points",
    )  # fmt: skip


def _name(axes: Axes, trials: Floats, values: Floats, name: str, style: tuple[str, int]) -> None:
    """The name of a line at its last point, instead of a legend; style: colour and points up."""
    axes.annotate(
        name, (trials[-1], values[-1]), (6, style[1]), color=style[0], size=8, va="center",
        textcoords="offset points", annotation_clip=False,
    )  # fmt: skip


def _finding(scenario: ScenarioResult, seen: ObservableResult, threshold: float) -> str:
    if seen.verdict == Verdict.DIFFERS:
        crossed = [look for look in scenario.growth if look[3] >= threshold]
        if crossed:
            return f"differs: the evidence suffices after {number(crossed[0][0])} trials"
    if seen.verdict == Verdict.MATCHES:
        proved = [look for look in scenario.growth if look[2] <= scenario.epsilon]
        if proved:
            return f"matches: the bound is within epsilon after {number(proved[0][0])} trials"
    return finding(scenario, seen)


def _details(scenario: ScenarioResult, seen: ObservableResult) -> str:
    return f"{named(scenario)}: {seen.observable} law. {levels(scenario, seen)}."
