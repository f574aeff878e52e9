"""`specharness plot`."""

from __future__ import annotations

from pathlib import Path

import click

__all__ = ["plot"]


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Default: RUN/plots.")
def plot(run: Path, out: Path | None) -> None:
    """Draw all plots of the results folder RUN, as PNG and SVG, without drawing a single trial."""
    from harness.plots import plot_suite
    from harness.store.folder import load

    for path in plot_suite(load(run), out or run / "plots"):
        click.echo(path)
