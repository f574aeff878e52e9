"""`specharness bench`."""

from __future__ import annotations

import click

__all__ = ["bench"]


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print the rows as JSON, and nothing else.")
def bench(*, as_json: bool) -> None:
    """Measure the cost of a trial as a ratio to that of two uniforms, in the same process."""
    import json
    from dataclasses import asdict

    from harness.engine.bench import bench_rows

    if as_json:
        click.echo(json.dumps({"rows": [asdict(row) for row in bench_rows()]}, indent=1))
        return
    click.echo("vocabulary  draft  threads  ns a trial  two uniforms  ratio")
    for row in bench_rows():
        click.echo(
            f"{row.vocabulary:>10,}  {row.draft_length:>5}  {row.threads:>7}"
            f"  {row.ns_per_trial:>10.1f}  {row.floor_ns:>12.1f}  {row.ratio:>5.2f}"
        )
