"""Live progress on stderr: a bar in a terminal, a line a scenario elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from harness.engine.run import Listener
from harness.engine.run import Progress as Told
from harness.scenario import Suite

__all__ = ["watching"]


@contextmanager
def watching(suite: Suite) -> Iterator[Listener]:
    """A listener for the run of one suite."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _Lines()
        return
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as bars:
        task = bars.add_task(suite.name, total=sum(s.trials for s in suite.scenarios))
        yield _Bar(bars, task, suite)


class _Bar:
    def __init__(self, bars: Progress, task: object, suite: Suite) -> None:
        self.bars, self.task, self.suite = bars, task, suite

    def __call__(self, told: Told) -> None:
        before = sum(s.trials for s in self.suite.scenarios[: told.number - 1])
        self.bars.update(
            self.task,  # type: ignore[arg-type]  # rich's TaskID is an int by another name
            completed=before + told.done,
            description=f"{told.suite}: {told.scenario} ({told.number}/{told.of})",
        )


class _Lines:
    """Says once a scenario that it has begun, so that a log shows where a run stands."""

    def __init__(self) -> None:
        self.number = 0

    def __call__(self, told: Told) -> None:
        if told.number != self.number:
            self.number = told.number
            click.echo(f"{told.suite} {told.number}/{told.of}: {told.scenario}", err=True)
