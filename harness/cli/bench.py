"""`specharness bench`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

__all__ = ["bench"]


@click.command()
@click.option(
    "--sampler",
    "samplers",
    multiple=True,
    metavar="NAME=TARGET",
    help="Measure what the harness adds to this sampler instead.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the rows as JSON, and nothing else.")
def bench(samplers: tuple[str, ...], *, as_json: bool) -> None:
    """Measure the cost of a trial as a ratio to that of two uniforms, in the same process.

    For a draft longer than one token the cost is that of a committed token.
    """
    import json
    from dataclasses import asdict

    rows: Iterator[Any] = _of_samplers(samplers) if samplers else _own()
    if as_json:
        click.echo(json.dumps({"rows": [asdict(row) for row in rows]}, indent=1))
        return
    for number, row in enumerate(rows):
        cells = asdict(row)
        if number == 0:
            click.echo("  ".join(f"{name:>12}" for name in cells))
        click.echo("  ".join(f"{_text(value):>12}" for value in cells.values()))


def _own() -> Iterator[Any]:
    from harness.engine.bench import bench_rows

    return bench_rows()


def _of_samplers(given: tuple[str, ...]) -> Iterator[Any]:
    from harness.engine.bench_samplers import sampler_rows
    from harness.samplers.declared import declared

    names = [argument.split("=")[0] for argument in given]
    known = declared(given)
    for name in names:
        yield from sampler_rows(name, known[name])


def _text(value: object) -> str:
    return (
        f"{value:.4g}"
        if isinstance(value, float)
        else f"{value:,}"
        if isinstance(value, int)
        else str(value)
    )
