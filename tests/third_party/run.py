"""Runs the suites of scenarios/third_party against the packages they name.

    python tests/third_party/run.py [--environments DIR] [--only WORD ...]

Each package has an environment of its own; missing ones are made with venv and pip (see
environments.toml; some gigabytes). Not part of the test suite: it takes a quarter of an hour and a
network. Exit code 1 where a verdict is not as expected.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
import tomllib
import venv
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TextIO

from harness.engine.result import ScenarioResult
from harness.engine.run import run_suite
from harness.protocols import SamplerFactory
from harness.samplers.declared import from_toml, samplers_of
from harness.samplers.spec import SamplerSpec
from harness.scenario import load_suite

HERE = Path(__file__).parent
SUITES = HERE.parents[1] / "scenarios" / "third_party"
PLAN = tomllib.loads((HERE / "environments.toml").read_text())


def main() -> None:
    arguments = parsed()
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # threads only slow down laws of a few tokens
    unexpected = 0
    say("| suite | scenario | environment | expected | verdict | trials | TV | trials/s | reason |")
    say("|---|---|---|---|---|---|---|---|---|")
    for run in PLAN["runs"]:
        told = f"{run['suite']} {run.get('mine', '')} {run.get('in', '')}"
        if arguments.only and not any(word in told for word in arguments.only):
            continue
        for scenario in results(run, arguments.environments):
            say(row(run, scenario))
            unexpected += not scenario.as_expected
    sys.exit(1 if unexpected else 0)


def say(line: str, stream: TextIO = sys.stdout) -> None:
    stream.write(f"{line}\n")
    stream.flush()


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    default = SUITES / "examples" / "environments"
    parser.add_argument("--environments", type=Path, default=default)
    parser.add_argument("--only", nargs="*", default=[])
    return parser.parse_args()


def results(run: Mapping[str, str], environments: Path) -> Iterator[ScenarioResult]:
    suite = load_suite(SUITES / run["suite"])
    started = time.perf_counter()
    outcome = run_suite(suite, workers=1, samplers=samplers(run, environments))
    took = time.perf_counter() - started
    versions = {k: v for k, v in outcome.manifest.get("versions", {}).items() if k != "python"}
    say(f"<!-- {run}: {took:.0f} s, {versions} -->", sys.stderr)
    yield from outcome.scenarios


def samplers(run: Mapping[str, str], environments: Path) -> Mapping[str, SamplerFactory]:
    specs = from_toml(SUITES / "examples" / "pyproject.toml")
    moved = {name: placed(spec, run.get("in", ""), environments) for name, spec in specs.items()}
    if "mine" in run:
        moved["mine"] = replace(moved[run["mine"]], name="mine")
    return samplers_of(moved)


def placed(spec: SamplerSpec, name: str, environments: Path) -> SamplerSpec:
    """The declaration, its environment looked for in `environments`."""
    own = Path(spec.python).parts[1]
    return replace(spec, python=str(environment(name or own, environments.absolute())))


def environment(name: str, environments: Path) -> Path:
    """The interpreter of an environment, which is made where it is missing."""
    python = environments / name / "bin" / "python"
    if python.exists():
        return python
    venv.create(environments / name, with_pip=True)
    for packages in PLAN["environments"][name]:
        say(f"pip install {' '.join(packages)}", sys.stderr)
        subprocess.run([python, "-m", "pip", "install", "-q", *packages], check=True, cwd=HERE)
    return python


def row(run: Mapping[str, str], found: ScenarioResult) -> str:
    rate = found.trials / found.wall_seconds if found.wall_seconds else 0.0
    seen = max((o.tv for o in found.observables if o.judged), default=float("nan"))
    where = run.get("in", run.get("mine", ""))
    cells = (
        run["suite"], found.name, where, found.expect, found.verdict.value, f"{found.trials:,}",
        f"{seen:.3f}", f"{rate:,.0f}", found.reason.replace("|", "/")[:140],
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
