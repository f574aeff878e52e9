"""Pictures: what they say is what was computed, for every size and every name."""

from __future__ import annotations

import dataclasses
import multiprocessing
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.text import Text
from scipy.stats import binomtest

from harness.engine.result import Verdict
from harness.plots import PLOTS, SUITE_PLOTS, plot_suite
from harness.plots.intervals import clopper_pearson, ratios
from harness.plots.labels import compact, file_stem, number, shown, shown_token, wrapped
from harness.plots.law import law
from harness.plots.page import VERDICTS, WIDTH, new_page, panel, plain_ticks, titles, write

INDEX = {"exact": 0, "fault": 1, "odd": 2, "impossible": 4, "large": 6, "one token": 7, "crash": 8}


def texts(figure):
    """Every visible piece of text, after a drawing that fails on mathtext and missing glyphs."""
    figure.canvas.draw()
    return [t.get_text() for t in figure.findobj(Text) if t.get_visible() and t.get_text()]


def says(figure, words):
    return words in " ".join(" ".join(texts(figure)).split())


def drawn(result, name, which):
    return PLOTS[name](result, result.scenarios[INDEX[which]])


def test_every_picture_of_every_kind_is_written(every_kind, tmp_path):
    """All names and sizes draw without a warning, as PNG and SVG (filterwarnings = error)."""
    written = plot_suite(every_kind, tmp_path / "plots")
    assert written == sorted((tmp_path / "plots").iterdir())
    stems = {path.stem for path in written}
    assert {"suite-overview", "000-exact-law", "001-resample-from-the-target-convergence"} <= stems
    for path in written:
        if path.suffix == ".png":
            assert path.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
        else:
            assert ET.parse(path).getroot().tag == "{http://www.w3.org/2000/svg}svg"


def test_the_same_result_gives_the_same_png(every_kind, tmp_path):
    """No clock and no version in the file (oracle: bytes)."""
    first, second = (write(drawn(every_kind, "law", "fault"), tmp_path / name)[0] for name in "ab")
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("which", ["fault", "odd", "impossible", "large", "one token"])
def test_no_text_leaves_the_page(every_kind, which):
    """Labels, titles and numbers lie within the page (oracle: the renderer's own box)."""
    figures = [figure for name in PLOTS if (figure := drawn(every_kind, name, which))]
    assert len(figures) >= 2
    for figure in figures:
        box = figure.get_tightbbox()  # inches
        wide, high = figure.get_size_inches()
        assert min(box.x0, box.y0) >= 0
        assert (box.x1 <= wide, box.y1 <= high) == (True, True)


def test_titles_state_the_finding(every_kind):
    """The verdict and its one clause stand in the title (oracle: the result's own words)."""
    assert says(drawn(every_kind, "law", "fault"), "differs: C is 15% too frequent")
    assert says(drawn(every_kind, "law", "crash"), "invalid: mine.verify raised ValueError")
    assert says(drawn(every_kind, "convergence", "exact"), "matches: the bound is within epsilon")


def test_levels_are_with_the_finding(every_kind):
    """TV, its bound, epsilon and the smallest detectable TV are on the page of a law."""
    seen = every_kind.scenarios[1].observables[0]
    figure = drawn(every_kind, "law", "fault")
    assert says(figure, f"TV {seen.tv:.3g}, at most {seen.tv_bound:.3g}; epsilon 0.01")
    assert says(figure, f"detectable from {seen.tv_detectable:.3g}")
    assert says(figure, "together at 1 - 1e-06")


def test_an_impossible_draw_is_named_with_its_count(every_kind):
    """Hits where the target is 0 cannot be a ratio; they are written out (oracle: the counts)."""
    seen = every_kind.scenarios[4].observables[0]
    hits = seen.counts[(seen.target == 0) & (seen.counts > 0)]
    assert hits.size
    figure = drawn(every_kind, "law", "impossible")
    assert all(says(figure, f"seen {n} times, target 0") for n in hits)


def test_one_token_of_thousands_is_named(every_kind):
    """A bin hides one token 10 % off among 32,000; the note does not (oracle: how it was made)."""
    assert says(drawn(every_kind, "law", "one token"), "t40: ×1.1")
    assert not says(law(every_kind, every_kind.scenarios[5]), "off by themselves")


def test_the_accounting_adds_up_to_the_example(every_kind):
    """Accepted .50, .25, .10; replaced .10, .05, 0; rejected .15 (oracle: the example)."""
    figure = drawn(every_kind, "accounting", "exact")
    for words in ("0.5 + 0.1", "0.25 + 0.05", "0.1, rejected 0.15", "accepted min(p, q) 0.85",
                  "85 % of drafted tokens are kept; C is rejected most"):  # fmt: skip
        assert says(figure, words)
    bars = sorted({round(float(patch.get_width()), 9) for patch in figure.axes[0].patches})
    assert bars == [0.0, 0.05, 0.1, 0.15, 0.25, 0.5]


def test_laws_that_are_alike_are_accounted_once(every_kind):
    """The counterexample has the laws of the exact scenario; one picture serves both."""
    assert drawn(every_kind, "accounting", "fault") is None
    assert says(drawn(every_kind, "accounting", "exact"), "exact and 1 more with the same laws")


@pytest.mark.parametrize(
    ("p", "q", "words"),
    [
        ((0.6, 0.4), (0.6, 0.4), "every drafted token is kept"),
        ((1.0, 0.0), (0.0, 1.0), "no drafted token is kept"),
    ],
)
def test_extreme_acceptances_have_their_own_words(made, p, q, words):
    """Overlap 1 and overlap 0 (oracle: sum of min(p, q) by hand)."""
    p, q = np.array(p), np.array(q)
    scenario = made.scenario("edge", p, q, p, np.random.default_rng(0), trials=2000)
    assert says(PLOTS["accounting"](made.suite([scenario]), scenario), words)


def test_nothing_is_drawn_of_nothing(made, every_kind):
    """A law that is not a number, or no looks at all, has no picture and raises nothing."""
    no_law = every_kind.scenarios[9]
    assert [PLOTS[name](every_kind, no_law) for name in PLOTS] == [None] * len(list(PLOTS))
    assert SUITE_PLOTS["overview"](made.suite([])) is None


def test_the_overview_has_a_row_a_scenario(every_kind):
    """Verdicts in words beside their shapes, and what was not expected said so."""
    figure = SUITE_PLOTS["overview"](every_kind)
    found = texts(figure)
    assert sum(text == "differs, not expected" for text in found) == 2
    assert says(figure, "every-kind: 6 of 11 scenarios did not come out as expected")
    assert figure.axes[0].get_ylim() == (10.6, -0.6)


def test_verdicts_differ_in_shape_and_in_grey():
    """A print without colour keeps them apart (oracle: markers, all different)."""
    assert len({marker for _, marker in VERDICTS.values()}) == len(Verdict) == len(VERDICTS)


@pytest.mark.parametrize(("count", "trials"), [(0, 50), (1, 50), (17, 50), (50, 50)])
def test_intervals_are_those_of_clopper_and_pearson(count, trials):
    """Level 1 - error/cells for each cell (oracle: scipy.stats.binomtest, method exact)."""
    low, high = clopper_pearson(np.array([count, 3]), trials, 0.02)
    limits = binomtest(count, trials).proportion_ci(0.99, "exact")
    np.testing.assert_allclose((low[0], high[0]), (limits.low, limits.high), rtol=1e-9)


def test_simultaneous_intervals_cover_together():
    """A right sampler leaves no interval in 1 - error of runs.

    200 runs at error 1e-8: a false alarm has probability 2e-6 / 2 = 1e-6 at most (Bonferroni,
    and Clopper-Pearson is conservative). Oracle: the definition of coverage.
    """
    rng = np.random.default_rng(7)
    p = rng.dirichlet(np.ones(50))
    draws = rng.multinomial(5000, p, size=100)
    assert not any(ratios(counts, p, 1e-8).off.any() for counts in draws)


def test_cells_of_target_zero_have_no_finite_ratio():
    """0/0 is no number and hits/0 is infinite, without a warning (oracle: IEEE 754)."""
    found = ratios(np.array([3, 0, 7]), np.array([0.0, 0.0, 1.0]), 1e-6)
    assert np.isinf(found.seen[0])
    assert np.isnan(found.seen[1])


@pytest.mark.parametrize(
    ("token", "label"),
    [
        ("\n", "\\n"), (" the", "␣the"), ("", "ε"), ("$x_1$", "$x_1$"), ("\x00", "\\x00"),
        ("\ud800", "\\ud800"), ("日", "U+65E5"), ("\\n", "\\\\n"), ("\u200b", "\\u200b"),
        ("antidisestablishmentarianism", "antidisesta…ianism"),
    ],
)  # fmt: skip
def test_tokens_are_shown_as_one_can_read_them(token, label):
    """Controls, missing glyphs and long words by hand-written expectation."""
    assert shown_token(token) == label


def test_titles_are_cut_to_their_lines():
    """A finding of any length takes at most its lines (oracle: count)."""
    lines = wrapped("word " * 500, 40, 2).splitlines()
    assert len(lines) == 2
    assert max(map(len, lines)) <= 40
    assert wrapped("x" * 500, 40, 2).count("\n") <= 1


@pytest.mark.parametrize(
    ("name", "stem"),
    [("a b", "003-a-b"), ("../..", "003"), ("日本", "003"), ("A" * 99, "003-" + "a" * 40)],
)
def test_file_names_hold_letters_digits_and_dashes(name, stem):
    """Nothing of a name can leave the folder (oracle: by hand)."""
    assert file_stem(3, name) == stem


def test_numbers_are_short():
    """Three digits, thousands apart, words for what is none (oracle: by hand)."""
    assert [number(x) for x in (0.0031, 1e6, float("nan"), float("inf"))] == [
        "0.0031", "1,000,000", "–", "∞",
    ]  # fmt: skip
    assert [compact(x) for x in (1, 1000, 2.5e6, 1e9)] == ["1", "1k", "2.5M", "1G"]
    assert shown("plain é 😀") == "plain é 😀"
    assert WIDTH < 8.3  # inches: A4


def test_pictures_leave_no_global_state():
    """Neither pyplot nor a display back end is touched by drawing (oracle: sys.modules)."""
    code = "import sys, harness.plots; sys.exit('matplotlib.pyplot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_nothing_else_imports_matplotlib():
    """Reports and the store are used without it (oracle: sys.modules)."""
    code = "import sys, harness.reports.html, harness.store; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_large_laws_without_labels_are_numbered(made, every_kind):
    """Results label no more than 4,096 cells; tokens, else numbers, stand in (oracle: by hand)."""
    scenario = every_kind.scenarios[7]
    seen = dataclasses.replace(scenario.observables[0], cells=())
    bare = dataclasses.replace(scenario, observables=(seen,))
    assert says(PLOTS["law"](every_kind, bare), "t40: ×1.1")
    nameless = dataclasses.replace(bare, tokens=())
    assert says(PLOTS["law"](every_kind, nameless), "cell 40: ×1.1")
    assert says(PLOTS["accounting"](made.suite([nameless]), nameless), "other 31,985")


def test_the_observable_that_decided_has_its_page(made, every_kind):
    """A right output with a wrong trace differs; it is the trace that is shown."""
    output = every_kind.scenarios[0].observables[0]
    trace = dataclasses.replace(every_kind.scenarios[1].observables[0], observable="trace")
    both = dataclasses.replace(
        every_kind.scenarios[0], observables=(output, trace), verdict=Verdict.DIFFERS
    )
    assert says(PLOTS["law"](every_kind, both), "trace law, 1,000,000 trials")


def test_of_a_large_trace_the_worst_cells_are_shown(made, every_kind):
    """16 of 72 cells, the impossible ones first of all (oracle: counts made by hand)."""
    target = np.full(72, 1 / 70)
    target[[5, 60]] = 0.0
    counts = np.full(72, 1000)
    counts[60] = 7
    counts[5] = 0
    seen = dataclasses.replace(
        every_kind.scenarios[0].observables[0], observable="trace", target=target, exact=None,
        cells=tuple(f"cell-{i}" for i in range(72)), counts=counts, verdict=Verdict.DIFFERS,
    )  # fmt: skip
    scenario = dataclasses.replace(every_kind.scenarios[0], observables=(seen,))
    figure = PLOTS["law"](made.suite([scenario]), scenario)
    assert says(figure, "16 of 72 cells")
    assert says(figure, "cell-60")
    assert says(figure, "seen 7 times, target 0")


def test_an_output_that_is_not_judged_does_not_speak(every_kind):
    """Where only the trace is judged, the trace is the headline (oracle: the flags)."""
    output = dataclasses.replace(every_kind.scenarios[0].observables[0], judged=False)
    trace = dataclasses.replace(every_kind.scenarios[1].observables[0], observable="trace")
    scenario = dataclasses.replace(every_kind.scenarios[0], observables=(output, trace))
    assert says(PLOTS["law"](every_kind, scenario), "trace law")
    assert says(PLOTS["convergence"](every_kind, scenario), "output law")


def test_bounds_of_coarser_laws_are_named(made, every_kind):
    """A bound that is not of the whole law says of which (oracle: the result's words)."""
    coarse = "top 256 tokens and the rest"
    seen = dataclasses.replace(every_kind.scenarios[5].observables[0], bound_of=coarse)
    scenario = dataclasses.replace(every_kind.scenarios[5], observables=(seen,))
    assert says(PLOTS["law"](every_kind, scenario), f"on the {coarse}")
    figure = SUITE_PLOTS["overview"](made.suite([scenario]))
    assert [line.get_markerfacecolor() for line in figure.axes[0].lines].count("white") == 1


def test_a_run_may_draw_less(made, every_kind, tmp_path):
    """Names and kinds choose what is written (oracle: listing)."""
    small = made.suite(every_kind.scenarios[:1])
    written = plot_suite(small, tmp_path, names=["law"], kinds=["png"])
    assert [path.name for path in written] == ["000-exact-law.png", "suite-overview.png"]


def test_processes_draw_the_same_pictures(made, every_kind, tmp_path):
    """Sharing the work changes no byte of a PNG (oracle: the files drawn alone)."""
    small = made.suite(every_kind.scenarios[:2])
    alone = plot_suite(small, tmp_path / "alone", names=["law"], kinds=["png"])
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        shared = plot_suite(small, tmp_path / "shared", names=["law"], kinds=["png"], executor=pool)
    assert [p.read_bytes() for p in alone] == [p.read_bytes() for p in shared]


@settings(max_examples=25, deadline=None, derandomize=True)
@given(text=st.text(max_size=12))
def test_any_token_and_any_name_can_be_drawn(text):
    """No text breaks mathtext, the font or the title (oracle: filterwarnings = error)."""
    figure = new_page(2.0)
    titles(figure, text, text)
    plain_ticks(panel(figure, 1, 0.5, 3, 1), [0.0], [shown_token(text)])
    figure.canvas.draw()


def test_of_many_scenarios_the_most_telling_are_drawn(made, every_kind, tmp_path):
    """Surprises before what is under test before controls (oracle: flags set by hand)."""
    base = every_kind.scenarios[0]
    kinds = {"control": (True, True), "tested": (True, False), "surprise": (False, True)}
    scenarios = [
        dataclasses.replace(base, name=name, as_expected=met, control=control)
        for name, (met, control) in kinds.items()
    ]
    for most, drawn in ((1, ["surprise"]), (2, ["tested", "surprise"])):
        folder = tmp_path / str(most)
        plot_suite(made.suite(scenarios), folder, names=["law"], kinds=["png"], most=most)
        assert [p.stem.split("-")[1] for p in sorted(folder.glob("0*"))] == drawn
