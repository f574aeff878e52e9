"""`specharness validate`."""

from __future__ import annotations

from pathlib import Path

import click

__all__ = ["validate"]


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option("--schema", is_flag=True, help="Print the JSON Schema of scenario files.")
def validate(paths: tuple[Path, ...], *, schema: bool) -> None:
    """Check the suites in PATHS and the facts they state; run nothing."""
    if schema:
        _print_schema()
        return
    from harness.cli.settings import DEFAULT_FOLDER
    from harness.engine.facts import contradicted
    from harness.scenario import load_suites
    from harness.scenario import validate as problems_of

    places = paths or (DEFAULT_FOLDER,)
    wrong = [str(problem) for problem in problems_of(places)]
    for suite in [] if wrong else load_suites(places):
        wrong += contradicted(suite)
        click.echo(f"{suite.source}: {suite.name}, {len(suite.scenarios)} scenarios")
    for line in wrong:
        click.echo(f"specharness: {line}", err=True)
    raise SystemExit(2 if wrong else 0)


def _print_schema() -> None:
    import json

    from harness.rules import RULES
    from harness.scenario import schema

    click.echo(json.dumps(schema(RULES), indent=2))
