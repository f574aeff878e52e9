"""`specharness report`."""

from __future__ import annotations

from pathlib import Path

import click

__all__ = ["report"]


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--format", "form", default="markdown", show_default=True, help="See `catalog`.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Default: stdout.")
def report(run: Path, form: str, out: Path | None) -> None:
    """Report the results folder RUN as json, csv, markdown, junit or html."""
    from harness.errors import StoreError
    from harness.reports import REPORTS
    from harness.store.folder import load, pictures

    render = REPORTS[form]
    text = render(load(run), pictures(run))
    if out is None:
        click.echo(text, nl=False)
        return
    try:
        out.write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise StoreError(f"{out}: cannot be written: {error.strerror}") from error
