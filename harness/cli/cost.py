"""`specharness cost`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from harness.engine.cost import Simulated, Timing
    from harness.engine.kept_run import KeptRun

__all__ = ["cost"]

NOTE = "a model, not a measurement: it knows nothing of memory, batching or your machine"
LABELS = {
    "tokens_per_round": "tokens a round",
    "round_cost": "cost of a round",
    "cost_per_token": "cost a token",
    "speedup": "speed-up over the target alone",
    "operations_factor": "operations, times those of the target alone",
    "break_even_draft_cost": "break-even draft cost",
    "best_draft_length": "best draft length",
    "best_speedup": "speed-up there",
    "rounds": "rounds of the whole generation",
    "total_cost": "cost of the whole generation",
}


@click.command()
@click.option(
    "--acceptance",
    "acceptances",
    multiple=True,
    metavar="RATE[,RATE...][@WEIGHT]",
    help="Probability of keeping a drafted token; several rates: one a position, the last for all "
    "later ones. Repeat with weights for kinds of contexts: --acceptance .9@.7 --acceptance .3@.3.",
)
@click.option(
    "--from",
    "run",
    type=click.Path(path_type=Path),
    metavar="RUN",
    help="Take the acceptance that a finished run saw.",
)
@click.option("--scenario", "name", help="Which scenario of RUN.")
@click.option("--draft-length", type=click.IntRange(0, 1_000), default=4, show_default=True)
@click.option("--target-cost", type=float, default=1.0, show_default=True, help="Of one pass.")
@click.option("--draft-cost", type=float, required=True, help="Of one drafted token.")
@click.option(
    "--verify-cost",
    type=float,
    default=0.0,
    show_default=True,
    help="What each drafted token adds to the target's pass.",
)
@click.option("--tokens", type=int, help="Length of a generation; default: without end.")
@click.option(
    "--operations-ratio",
    type=click.FloatRange(0),
    help="Arithmetic of a drafted token over a target one; default: the ratio of costs.",
)
@click.option(
    "--simulate",
    "rounds",
    type=click.IntRange(1, 10**8),
    help="Simulate so many rounds beside the formula.",
)
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True)
@click.option("--plot", type=click.Path(path_type=Path, dir_okay=False), help="Draw it to FILE.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, and nothing else.")
def cost(
    acceptances: tuple[str, ...],
    run: Path | None,
    name: str | None,
    draft_length: int,
    target_cost: float,
    draft_cost: float,
    verify_cost: float,
    tokens: int | None,
    operations_ratio: float | None,
    rounds: int | None,
    seed: int,
    plot: Path | None,
    *,
    as_json: bool,
) -> None:
    """What speculation saves in theory: tokens a round, cost a token, speed-up, best draft length.

    This is a model (Leviathan et al. 2023), not a measurement.
    """
    from harness.engine.cost import Costs, simulate, timing
    from harness.rng import stream

    kept, source = _kept_run(acceptances, run, name)
    costs = Costs(target_cost, draft_cost, verify_cost)
    found = timing(kept, costs, draft_length, tokens=tokens, operations_ratio=operations_ratio)
    seen = simulate(kept, draft_length, rounds, stream(seed, "cost")) if rounds else None
    if plot is not None:
        from harness.plots.cost import cost_figure, write_cost

        for path in write_cost(cost_figure(kept, costs, draft_length, tokens), plot):
            click.echo(path, err=True)
    if as_json:
        _print_json(found, seen, draft_length, source)
    else:
        _print_text(found, seen, draft_length, source)


def _kept_run(
    acceptances: Sequence[str], run: Path | None, name: str | None
) -> tuple[KeptRun, str]:
    """What is kept, and in words where that comes from."""
    from harness.engine.kept_run import KeptRun
    from harness.errors import BadSetting

    if (run is None) == (not acceptances):
        raise BadSetting("state the acceptance once: by --acceptance RATE or by --from RUN")
    if run is None:
        if name is not None:
            raise BadSetting("--scenario names one of a run's: it needs --from RUN")
        return KeptRun(tuple(map(_kind, acceptances))), "acceptance " + " ".join(acceptances)
    from harness.engine.kept_run_seen import kept_run_seen
    from harness.store.folder import load

    return kept_run_seen(load(run), name)


def _kind(text: str) -> Any:  # noqa: ANN401 (Kind: imported when it is run)
    """`.9,.8@.7`: rates by position, and the weight of this kind of context."""
    from harness.engine.kept_run import Kind
    from harness.errors import BadSetting

    rates, at, weight = text.partition("@")
    try:
        return Kind(tuple(float(rate) for rate in rates.split(",")), float(weight) if at else 1.0)
    except ValueError:
        raise BadSetting(
            f"--acceptance {text!r}: write RATE, RATE,RATE,... or RATE@WEIGHT, such as .8 or .9@.7"
        ) from None


def _print_json(found: Timing, seen: Simulated | None, draft_length: int, source: str) -> None:
    import json
    from dataclasses import asdict

    values = {**asdict(found), "draft_length": draft_length, "source": source, "note": NOTE}
    simulated = {"simulated": asdict(seen)} if seen else {}
    click.echo(json.dumps(values | simulated, indent=1, allow_nan=False))


def _print_text(found: Timing, seen: Simulated | None, draft_length: int, source: str) -> None:
    from harness.engine.cost import LONGEST_DRAFT

    click.echo(f"draft length {draft_length}, {source}")
    for key, label in LABELS.items():
        if (value := getattr(found, key)) is not None:
            click.echo(f"  {label:<44}{value:>12,.7g}")
    if found.best_draft_length == 0:
        click.echo("  at these costs it is best not to speculate")
    if found.best_draft_length == LONGEST_DRAFT:
        click.echo(f"  longer drafts than {LONGEST_DRAFT} were not looked at")
    if seen:
        spread = f"{seen.tokens_per_round:.6g} ± {seen.standard_error:.2g}"
        click.echo(f"  simulated, {seen.rounds:,} rounds: {spread} tokens a round")
    click.echo(NOTE)
