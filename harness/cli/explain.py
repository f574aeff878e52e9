"""`specharness explain`."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from harness.engine.explain import Explanation, Fit
    from harness.engine.places import Place
    from harness.engine.result import ScenarioResult, SuiteResult

__all__ = ["explain"]

NEVER = 1e-11  # a promised share that stands for none; see FUZZY of the observables
MOST_FITS = 4  # rules that are shown; --json holds all of them


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--scenario", "name", help="Default: the first unexpected one, or that differs.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, and nothing else.")
def explain(run: Path, name: str | None, *, as_json: bool) -> None:
    """Where a scenario of the results folder RUN differs, and which known rule fits best.

    Rules are ranked by the likelihood of what was counted under their exact laws; one that the
    counts refute at 1e-6 is never offered as an explanation. Where none fits, rules without an
    exact law are drawn from, and those whose draws look the same are named as a hint.
    """
    from harness.engine.explain import explain as explained
    from harness.engine.kept_run_seen import scenario_named
    from harness.store.folder import load

    result = load(run)
    scenario = _telling(result) if name is None else scenario_named(result, name)
    found = explained(result, scenario)
    if as_json:
        click.echo(_document(found), nl=False)
        return
    for line in _lines(found):
        click.echo(line)


def _telling(result: SuiteResult) -> ScenarioResult:
    """The scenario that most wants an explanation, the first of equals."""
    return min(result.scenarios, key=lambda s: (s.as_expected, s.verdict.value != "differs"))


def _document(found: Explanation) -> str:
    import json
    from dataclasses import asdict

    from harness.reports.json import FORMAT, plain

    best = found.best.rule if found.best else None
    document = {"format": FORMAT, **asdict(found), "best": best, "conclusion": _conclusion(found)}
    return json.dumps(plain(document), indent=1, allow_nan=False) + "\n"


def _lines(found: Explanation) -> Iterator[str]:
    from harness.reports.words import visible

    yield visible(f"{found.scenario}: {found.verdict}")
    yield _conclusion(found)
    if found.places:
        yield "\nwhere it breaks the promise:"
    for place in found.places:
        yield f"  {_where(place):<36} {visible(place.what):<30} {_shares(place)}"
    if found.fits:
        yield f"\nknown rules by likelihood of the {found.by} counts, {found.trials:,} trials:"
    for fit in found.fits[: 1 if found.promise_fits else MOST_FITS]:
        state = "not tried" if fit.refuted is None else "refuted" if fit.refuted else "fits"
        yield f"  {fit.rule:<34} {state:<10} {_against_the_promise(found, fit)}"
        if fit.also:
            yield f"    not told apart from it here: {', '.join(fit.also)}"
    if found.not_ranked:
        yield f"\nnot ranked, no exact law: {', '.join(found.not_ranked)}"


def _conclusion(found: Explanation) -> str:
    best = found.best
    if not found.fits:
        return "nothing was counted that a known rule has a law for"
    if found.promise_fits:
        return "the promised law fits what was counted: there is nothing to explain"
    if best is None:
        alike = f"; by simulation it could be {' or '.join(found.alike)}" if found.alike else ""
        nearest = f"the likeliest, {found.fits[0].rule}, is refuted too"
        return f"none of the known faults that have an exact law fits: {nearest}{alike}"
    also = f" (not told apart here: {', '.join(best.also)})" if best.also else ""
    name = f"{best.rule}{', lossless' if best.lossless else ''}{also}"
    return f"fits best: {name}: {_against_the_promise(found, best)}{_runner_up(found, best)}"


def _against_the_promise(found: Explanation, fit: Fit) -> str:
    """`1e40 times likelier than the promised law`; where that is infinite, by the output alone."""
    own, promised = fit.log_likelihoods[found.by], found.promise[found.by]
    if own == -math.inf:
        return f"cannot produce the {found.by} counts"
    if promised != -math.inf:
        return f"{_power(own - promised)} times as likely as the promised law"
    output = found.promise.get("output", -math.inf)
    alone = fit.log_likelihoods.get("output", -math.inf) - output if output > -math.inf else 0.0
    more = f"; by the output alone {_power(alone)} times as likely" if alone > 1 else ""
    return f"the promised law cannot produce the {found.by} counts{more}"


def _runner_up(found: Explanation, best: Fit) -> str:
    """The next rule, and how much likelier the best one is."""
    following = next((fit for fit in found.fits if fit is not best), None)
    if following is None:
        return ""
    ratio = best.log_likelihoods[found.by] - following.log_likelihoods[found.by]
    state = "cannot produce them" if ratio == math.inf else f"{_power(-ratio)} of its likelihood"
    return f"; next: {following.rule}, {state}{', refuted' if following.refuted else ''}"


def _power(log: float) -> str:
    tens = log / math.log(10)
    return f"{10**tens:.3g}" if abs(tens) < 4 else f"1e{tens:.0f}"


def _where(place: Place) -> str:
    """Observable, branch and position, none of them twice."""
    parts = [place.observable]
    if place.branch != place.observable:
        parts.append(place.branch)
    if place.position is not None and "position" not in place.observable:
        parts.append(f"position {place.position}")
    return ", ".join(parts)


def _shares(place: Place) -> str:
    aside = "" if place.judged else " (not judged)"
    if place.promised < NEVER:
        return f"{place.seen:.4g}, must never happen{aside}"
    return f"{place.seen:.4g} in place of {place.promised:.4g}{aside}"
