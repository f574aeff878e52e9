"""`specharness check`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from harness.scenario import Suite

__all__ = ["check"]

IMPLIED = {  # what a file that states a law alone leaves out
    "version": "version: 1",
    "suite": "suite: recorded",
    "scenarios": "scenarios: [{name: tokens, sampler: recorded}]",
}


@click.command()
@click.argument("tokens", type=click.Path(path_type=Path))
@click.option(
    "--target",
    "law",
    type=click.Path(path_type=Path),
    required=True,
    help="A suite, or just its vocabulary: and target: (and horizon:, for sequences).",
)
@click.option("--scenario", help="Whose laws of a suite; default: the first scenario's.")
@click.option("--epsilon", type=click.FloatRange(0, 1, min_open=True, max_open=True))
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), help="Write results there."
)
@click.option("--json", "as_json", is_flag=True, help="Print results.json, and nothing else.")
def check(
    tokens: Path,
    law: Path,
    scenario: str | None,
    epsilon: float | None,
    out: Path | None,
    *,
    as_json: bool,
) -> None:
    """Hold the recorded TOKENS (CSV, JSONL, NPY, NPZ or Parquet) against a law."""
    from dataclasses import replace

    from harness.assertions import check_tokens
    from harness.cli.run import illustrate
    from harness.cli.table import print_result
    from harness.reports import REPORTS, run_files
    from harness.store.folder import save

    suite = _suite(law)
    if epsilon is not None:
        scenarios = tuple(replace(s, epsilon=epsilon) for s in suite.scenarios)
        suite = replace(suite, scenarios=scenarios)
    result = check_tokens(tokens, suite, scenario=scenario)
    folder = None if out is None else save(result, out, run_files(result))
    if folder is not None:
        illustrate(folder, plots=True)
    if as_json:
        click.echo(REPORTS["json"](result), nl=False)
    else:
        print_result(result, folder)
    raise SystemExit(result.exit_code)


def _suite(path: Path) -> Suite:
    """The suite in a file, or around the law that it states alone."""
    from harness.scenario import parse_suite
    from harness.scenario.text import read_text

    text = read_text(path)
    for key, line in IMPLIED.items():
        if not re.search(rf"(?m)^{key}\s*:", text):
            text = f"{text}\n{line}\n"
    return parse_suite(text, str(path))
