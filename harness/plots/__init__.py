"""Pictures of a run, as PNG and SVG. Add a picture here: one function, one line.

A picture of a scenario takes the run and one of its scenarios and returns a figure, or None where
there is nothing to show.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, TypeAlias

from matplotlib.figure import Figure

from harness.engine.result import ScenarioResult, SuiteResult
from harness.plots.accounting import accounting
from harness.plots.convergence import convergence
from harness.plots.labels import file_stem
from harness.plots.law import law
from harness.plots.overview import overview
from harness.plots.page import write
from harness.registry import Registry

__all__ = ["PLOTS", "SUITE_PLOTS", "ScenarioPlot", "SuitePlot", "plot_suite"]

ScenarioPlot: TypeAlias = Callable[[SuiteResult, ScenarioResult], Figure | None]
SuitePlot: TypeAlias = Callable[[SuiteResult], Figure | None]

PLOTS: Final[Registry[ScenarioPlot]] = Registry(
    "plots", {"law": law, "accounting": accounting, "convergence": convergence}
)
SUITE_PLOTS: Final[Registry[SuitePlot]] = Registry("suite_plots", {"overview": overview})


def plot_suite(result: SuiteResult, folder: Path) -> list[Path]:
    """Draw every picture of a run into `folder`, as PNG and SVG; the paths written, in order.

    Files are `suite-<plot>` and `<scenario's index in three digits>-<its name>-<plot>`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    return [
        path for stem, figure in _figures(result) if figure for path in write(figure, folder / stem)
    ]


def _figures(result: SuiteResult) -> Iterator[tuple[str, Figure | None]]:
    for name in SUITE_PLOTS:
        yield f"suite-{name}", SUITE_PLOTS[name](result)
    for index, scenario in enumerate(result.scenarios):
        for name in PLOTS:
            yield f"{file_stem(index, scenario.name)}-{name}", PLOTS[name](result, scenario)
