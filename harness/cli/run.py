"""`specharness run`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from harness.engine.result import SuiteResult
    from harness.scenario import Suite

__all__ = ["illustrate", "run"]

MANY = 12  # scenarios; of more a run draws the laws of the most telling, and `plot` draws the rest
PLOTS_OF_MANY = ("law",)


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("results"),
    show_default=True,
    help="Folder in which each run gets a folder of its own.",
)
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="In place of the suites' seeds.")
@click.option("--trials", type=click.IntRange(1, 10**12), help="In place of all stated trials.")
@click.option(
    "--workers", type=click.IntRange(1, 1024), help="Processes; the results do not depend on it."
)
@click.option(
    "--sampler",
    "samplers",
    multiple=True,
    metavar="NAME=TARGET",
    help="Declare a sampler that scenarios name, such as mine=my_pkg.kernels:verify.",
)
@click.option("--plots/--no-plots", default=True, show_default=True, help="Draw the plots.")
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print results.json (of several suites: {suites: [...]}), and nothing else.",
)
def run(
    paths: tuple[Path, ...],
    out: Path,
    seed: int | None,
    trials: int | None,
    workers: int | None,
    samplers: tuple[str, ...],
    *,
    plots: bool,
    as_json: bool,
) -> None:
    """Run the suites in PATHS, files or folders (by default the folder scenarios)."""
    from harness.cli.progress import watching
    from harness.cli.settings import declared_samplers, refuse_undeclared, suites_at
    from harness.cli.streams import own_stdout
    from harness.cli.table import print_result, print_total
    from harness.engine.decide import worst_code
    from harness.engine.run import run_suite
    from harness.executors import InlineExecutor, default_workers, processes
    from harness.reports import run_files
    from harness.store.folder import make_ready, save

    suites = suites_at(paths, seed=seed, trials=trials)
    known = declared_samplers(samplers, out / "replay")
    refuse_undeclared(suites, known)
    make_ready(out)
    results, pages = [], []
    count = workers or default_workers()
    with processes(count) as pool:
        artist = pool if len(suites) > 1 else InlineExecutor()  # draws while the next suite runs
        for suite in suites:
            alone = not _is_long(suite)
            with own_stdout(), watching(suite) as listener:
                result = run_suite(
                    suite,
                    workers=1 if alone else count,
                    samplers=known,
                    executor=None if alone else pool,
                    listener=listener,
                )
            folder = save(result, out, run_files(result))
            pages.append(artist.submit(illustrate, folder, plots=plots))
            if not as_json:
                print_result(result, folder)
            results.append(result)
        for page in pages:
            page.result()
    if as_json:
        click.echo(_document(results), nl=False)
    elif len(results) > 1:
        print_total(results)
    raise SystemExit(worst_code(result.exit_code for result in results))


def _is_long(suite: Suite) -> bool:
    """Whether a scenario has work for several processes, which take a second to start."""
    from harness.engine.plan import CHUNK_TRIALS, span_size

    return any(
        s.trials >= 2 * span_size(s.laws.p.size) * CHUNK_TRIALS and not s.stop_early
        for s in suite.scenarios
    )


def illustrate(folder: Path, *, plots: bool) -> None:
    """Pictures of the results in `folder`, and the page that shows them; the numbers come first.

    `specharness plot` draws more of them, and as SVG too.
    """
    from harness.reports import REPORTS
    from harness.store.folder import add, load, pictures

    result = load(folder)
    if plots:
        from harness.plots import plot_suite

        names = PLOTS_OF_MANY if len(result.scenarios) > MANY else None
        plot_suite(result, folder / "plots", names=names, kinds=("png",), most=MANY)
    add(folder, "report.html", REPORTS["html"](result, pictures(folder)))


def _document(results: list[SuiteResult]) -> str:
    """One suite's results.json, or an object that holds those of several."""
    import json

    from harness.engine.decide import worst_code
    from harness.reports.json import FORMAT, document, render

    if len(results) == 1:
        return render(results[0])
    code = worst_code(result.exit_code for result in results)
    whole = {"format": FORMAT, "exit_code": code, "suites": [document(r) for r in results]}
    return json.dumps(whole, indent=1, allow_nan=False) + "\n"
