"""`specharness catalog`."""

from __future__ import annotations

import click

__all__ = ["catalog"]


@click.command()
def catalog() -> None:
    """List rules, policies' orders, checks, reports and kinds of samplers, a line each."""
    from rich.table import Table

    from harness.cli.catalogue import everything
    from harness.cli.screen import screen

    console = screen(120)
    for title, entries in everything().items():
        table = Table(title=title, title_justify="left", show_header=False, box=None)
        for name, about in entries.items():
            table.add_row(f"  {name}", about)
        console.print(table)
