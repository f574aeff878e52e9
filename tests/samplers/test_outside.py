"""Samplers from outside keep the contract of ours, whatever they are written in."""

from __future__ import annotations

import numpy as np
import pytest

from harness.errors import BadSetting, SamplerFailure
from harness.laws.joint import joint_cells, joint_law
from harness.laws.tables import one_context
from harness.rng import stream
from harness.rules import RULES
from harness.samplers.rule import RuleSampler

P = np.array([0.6, 0.3, 0.1])
SIGMAS = 6.5  # two-sided 1e-10 a cell; a few hundred cells in this file: below 1e-7 together
VERIFIERS = {
    "rng": {"target": "functions.py:exact"},
    "seed": {"target": "functions.py:with_seed"},
    "generator by keyword": {"target": "functions.py:by_keyword"},
    "global": {"target": "functions.py:global_state"},
    "float32": {"target": "functions.py:exact", "dtype": "float32"},
    "shared rows": {"target": "functions.py:exact", "shared": True},
    "writes into its arguments": {"target": "functions.py:writes_into_laws"},
    "own process": {"target": "functions.py:exact", "isolate": True},
    "prints in its own process": {"target": "functions.py:prints", "isolate": True},
    "ignores the draft": {"target": "functions.py:ignores_draft"},
    "program": {"kind": "command"},
}


def _entry(name, request):
    entry = dict(VERIFIERS[name])
    if entry.get("kind") == "command":
        entry["command"] = [request.getfixturevalue("c_program")]
    return entry


def assert_follows(cells, law):
    """Counts of `cells` (n,) against `law`: no cell off by SIGMAS standard deviations."""
    n = len(cells)
    counts = np.bincount(cells, minlength=len(law))
    assert (counts[law == 0] == 0).all()
    spread = np.sqrt(n * law * (1 - law))
    assert (abs(counts - n * law) <= SIGMAS * spread + 1e-9).all(), counts / n - law


@pytest.mark.parametrize("name", VERIFIERS)
def test_verifier_draws_the_target(name, request, declare, assignment):
    """An exact verifier gives p = (.6, .3, .1); the oracle is p itself."""
    sampler = declare(assignment(), **_entry(name, request))
    batch = sampler.sample(40_000, stream(1, name))
    assert_follows(batch.tokens[:, 0], P)


@pytest.mark.parametrize("name", [n for n in VERIFIERS if n != "ignores the draft"])
def test_rounds_are_played_to_the_horizon(name, request, declare, assignment, markov):
    """Rounds of two drafted tokens over Markov laws to four tokens follow the product law."""
    sampler = declare(assignment(2, 4, markov), **_entry(name, request))
    batch = sampler.sample(40_000, stream(2, name))
    law = joint_law(markov.p, markov.contexts, 4, start=0).astype(float)
    assert_follows(joint_cells(batch.tokens, 3, None), law)


def test_first_round_is_shown_as_our_own_rule_shows_it(declare, assignment, markov):
    """Kept runs of an exact verifier are as long as those of the rule `speculative`."""
    theirs = declare(assignment(3, 4, markov), target="functions.py:exact")
    ours = RuleSampler(RULES["speculative"].prepare, markov, 3, 4)
    n = 60_000
    kept = [s.sample(n, stream(3, "kept")).n_accepted for s in (theirs, ours)]
    counts = [np.bincount(k, minlength=4) for k in kept]
    spread = np.sqrt(counts[0] + counts[1])
    assert (abs(counts[0] - counts[1]) < SIGMAS * spread).all()
    batch = theirs.sample(100, stream(4, "prefix"))
    for row, drafted, k in zip(batch.tokens, batch.drafted, batch.n_accepted, strict=True):
        assert (row[:k] == drafted[:k]).all()


@pytest.mark.parametrize("size", [1, 2, 3, 8, 1000])
def test_batch_size_is_the_most_a_call_gets(size, declare, assignment, tmp_path):
    """A fault of rows beyond the eighth of a call shows in large batches only (lesson 1)."""
    sampler = declare(assignment(batch_size=size), target="functions.py:batch_matters")
    n = 20_000 if size > 8 else 4_000
    seen = np.bincount(sampler.sample(n, stream(5, "batch")).tokens[:, 0], minlength=3) / n
    wrong = abs(seen[2] - 0.1) > 0.05  # C is 25 % of drafts, 10 % of p; .05 is ten deviations
    assert wrong == (size > 8)


def test_rows_differ_by_position(declare, assignment, markov):
    """A verifier that reads the first position's laws everywhere has another joint law."""
    sampler = declare(assignment(2, 3, markov), target="functions.py:position_matters")
    tokens = sampler.sample(40_000, stream(6, "position")).tokens
    law = joint_law(markov.p, markov.contexts, 3, start=0).astype(float)
    with pytest.raises(AssertionError):
        assert_follows(joint_cells(tokens, 3, None), law)


def test_same_stream_gives_the_same_trials_in_one_process_or_two(declare, assignment, markov):
    """A function in a process of its own is called with the same laws and the same seeds."""
    entry = {"target": "functions.py:exact"}
    inside, outside = (
        declare(assignment(2, 3, markov), **entry, isolate=isolate) for isolate in (False, True)
    )
    first, second = (s.sample(500, stream(7, "same")).tokens for s in (inside, outside))
    np.testing.assert_array_equal(first, second)


def test_options_go_to_the_function(declare, assignment):
    """Temperature .5 squares the law: (.36, .09, .01) / .46."""
    sampler = declare(assignment(temperature=0.5), target="functions.py:with_option")
    cells = sampler.sample(40_000, stream(8, "option")).tokens[:, 0]
    assert_follows(cells, P**2 / (P**2).sum())


def test_unknown_option_is_refused(declare, assignment):
    """The complaint names the option that was meant."""
    with pytest.raises(BadSetting, match="did you mean 'temperature'"):
        declare(assignment(temprature=0.5), target="functions.py:with_option")


@pytest.mark.parametrize(
    "entry",
    [
        {"target": "functions.py:generate"},
        {"target": "functions.py:made", "factory": True},
        {"target": "functions.py:made", "factory": True, "isolate": True},
    ],
)
def test_generator_draws_the_product_law(entry, declare, assignment):
    """Three tokens of an exact generator follow p x p x p."""
    sampler = declare(assignment(2, 3), level="generator", **entry)
    tokens = sampler.sample(40_000, stream(9, "generate")).tokens
    laws = one_context(P, P)
    assert_follows(joint_cells(tokens, 3, None), joint_law(laws.p, laws.contexts, 3, start=0))


def test_global_generators_are_seeded_by_the_stream(declare, assignment):
    """A generator without a seed argument repeats with the stream, and differs between calls."""
    sampler = declare(assignment(1, 4), level="generator", target="functions.py:generate_globally")
    first, again = (sampler.sample(50, stream(10, "global")).tokens for _ in range(2))
    rng = stream(10, "global")
    sampler.sample(50, rng)
    np.testing.assert_array_equal(first, again)
    assert (sampler.sample(50, rng).tokens != first).any()


def test_heavy_libraries_are_not_imported_for_numpy():
    """They stay where they are until somebody asks for them; looked at in a fresh interpreter."""
    import subprocess
    import sys

    program = (
        "import sys; from harness.samplers.declared import declared; declared(['a=pkg:f']);"
        "print({'torch', 'transformers', 'vllm', 'pyarrow'} & set(sys.modules))"
    )
    told = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert told.stdout.strip() == "set()"


def test_several_prompts_are_no_matter_for_a_generator(declare, assignment):
    """A generator is asked for one prompt; the harness says so before anything runs."""
    from dataclasses import replace

    laws = one_context(P, P)
    two = replace(laws, contexts=replace(laws.contexts, starts=np.zeros(2, np.intp)))
    with pytest.raises(BadSetting, match="one prompt"):
        declare(assignment(laws=two), level="generator", target="functions.py:generate")


BROKEN = {
    "raises": "RuntimeError: no such kernel",
    "exits": "SystemExit: 0 ",
    "wrong_shape": r"shape \(20, 1\), not \(20, 2\)",
    "fewer_rows": r"shape \(19, 2\), not \(20, 2\)",
    "floats": "dtype float64, not integers",
    "nans": "nan in row 0, not a token",
    "out_of_range": "token 3 in row",
    "no_token": "committed no token in row 0",
    "token_after_end": "committed no token in row 1",
    "nothing": r"shape \(\), not \(20, 2\)|dtype object",
}


@pytest.mark.parametrize("isolate", [False, True])
@pytest.mark.parametrize("fault", BROKEN)
def test_broken_contract_is_a_finding(fault, isolate, declare, assignment, tmp_path):
    """Each breach is told in words, and the input is kept for replay."""
    entry = {"target": f"functions.py:{fault}", "isolate": isolate}
    sampler = declare(assignment(), replay=tmp_path, **entry)
    with pytest.raises(SamplerFailure, match=BROKEN[fault]) as caught:
        sampler.sample(20, stream(12, fault))
    with np.load(next(tmp_path.glob("*.npz")), allow_pickle=False) as kept:
        assert kept["draft"].shape == (20, 1)
        assert kept["q"].shape == (20, 1, 3)
        assert kept["p"].shape == (20, 2, 3)
        assert str(int(kept["seed"])) in str(caught.value)


def test_generator_that_stops_early_is_a_finding(declare, assignment):
    """Without an end token every trial has its horizon."""
    sampler = declare(assignment(1, 3), level="generator", target="functions.py:stops_early")
    with pytest.raises(SamplerFailure, match="stopped after 2 of 3 tokens in row 0"):
        sampler.sample(10, stream(13, "early"))


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("crashes", "killed by SIGABRT; stderr: .*about to crash"),
        ("hangs", "no answer within 0.5 s; killed"),
    ],
)
def test_death_and_hang_of_a_function_end_its_process_only(fault, told, declare, assignment):
    """The harness lives on, and the next call starts a process anew."""
    entry = {"target": f"functions.py:{fault}", "isolate": True}
    sampler = declare(assignment(), timeout=0.5, **entry)
    for _ in range(2):
        with pytest.raises(SamplerFailure, match=told):
            sampler.sample(3, stream(14, fault))


PROGRAM_FAULTS = {
    "crash": "killed by SIGABRT; stderr: about to crash",
    "exit": "ended with exit status 7",
    "hang": "no answer within 0.5 s; killed",
    "print": "'verifying 10 drafts.n' where a header was due",
    "refuse": "no such kernel",
    "range": "token 3 in row 0",
    "short": "after 4 of 80 bytes of its answer; the process ended with exit status 0",
    "long": "4 bytes more than its answer announced",
}


@pytest.mark.parametrize("fault", PROGRAM_FAULTS)
def test_program_that_breaks_the_protocol_is_a_finding(fault, c_program, declare, assignment):
    """Whatever a program does, the reason says it."""
    sampler = declare(assignment(), kind="command", command=[c_program, fault], timeout=0.5)
    with pytest.raises(SamplerFailure, match=PROGRAM_FAULTS[fault]):
        sampler.sample(10, stream(15, fault))


def test_faulty_program_draws_another_law(c_program, declare, assignment):
    """Resampling from p gives (.59, .295, .115): p + rejected mass times (p - residual)."""
    sampler = declare(assignment(), kind="command", command=[c_program, "target"])
    cells = sampler.sample(60_000, stream(16, "faulty")).tokens[:, 0]
    assert_follows(cells, np.array([0.59, 0.295, 0.115]))


@pytest.mark.parametrize("fault", ["", "draft"])
def test_program_generates_from_the_tables_of_its_setup(
    fault, c_program, declare, assignment, markov
):
    """An exact generator in C follows the product of p's rows, a faulty one that of q's."""
    command = [c_program, fault] if fault else [c_program]
    sampler = declare(assignment(2, 3, markov), kind="command", command=command, level="generator")
    tokens = sampler.sample(40_000, stream(22, "program", fault)).tokens
    law = joint_law(markov.q if fault else markov.p, markov.contexts, 3, start=0).astype(float)
    assert_follows(joint_cells(tokens, 3, None), law)


def test_program_tells_its_version(c_program, declare, assignment):
    """The manifest gets what the program says of itself."""
    sampler = declare(assignment(), kind="command", command=[c_program])
    sampler.sample(3, stream(17, "version"))
    assert sampler.versions == {"verifier.c": "1"}


def test_missing_program_is_a_finding(declare, assignment):
    """It cannot be started; nothing else is said to be wrong."""
    sampler = declare(assignment(), kind="command", command=["./no-such-program"])
    with pytest.raises(SamplerFailure, match=r"cannot start \./no-such-program"):
        sampler.sample(3, stream(18, "missing"))


def test_one_process_serves_all_scenarios_of_a_declaration(c_program, assignment, markov):
    """It is set up anew when another scenario asks, and gives that scenario's law."""
    from harness.samplers.declared import samplers_of
    from harness.samplers.spec import SamplerSpec

    spec = SamplerSpec("mine", kind="command", command=(c_program,))
    factory = samplers_of({"mine": spec})["mine"]
    one, other = factory(assignment()), factory(assignment(1, 1, markov))
    for _ in range(2):
        assert_follows(one.sample(20_000, stream(19, "one")).tokens[:, 0], P)
        assert_follows(other.sample(20_000, stream(20, "two")).tokens[:, 0], markov.p[0])


def test_end_token_ends_a_trial(declare, assignment):
    """Nothing follows C: trials that commit it hold -1 afterwards, and the others go on."""
    from dataclasses import replace

    laws = one_context(P, P)
    laws = replace(laws, contexts=replace(laws.contexts, end=2))
    tokens = (
        declare(assignment(2, 5, laws), target="functions.py:exact")
        .sample(4_000, stream(21, "end"))
        .tokens
    )
    ended = np.logical_or.accumulate(tokens == 2, axis=1)
    np.testing.assert_array_equal(tokens[:, 1:] == -1, ended[:, :-1])


def test_versions_under_test_are_in_the_manifest(tmp_path):
    """A declaration that names packages has their versions written down."""
    from harness.engine.run import run_suite
    from harness.samplers.declared import samplers_of
    from harness.samplers.spec import SamplerSpec
    from harness.scenario import parse_suite

    (tmp_path / "versioned.py").write_text("def verify(draft, q, p, rng): return draft\n")
    text = (
        "{version: 1, suite: s, vocabulary: 2, target: {probs: [0.5, 0.5]}, trials: 100,"
        " draft: {probs: [0.5, 0.5]}, scenarios: [{name: one, sampler: mine}]}"
    )
    for isolate in (False, True):
        spec = SamplerSpec(
            "mine", target="versioned.py:verify", folder=tmp_path, packages=("hypothesis", "none"),
            isolate=isolate,
        )  # fmt: skip
        result = run_suite(parse_suite(text, "s.yaml"), samplers=samplers_of({"mine": spec}))
        versions = result.manifest["versions"]
        assert "hypothesis" in versions
        assert "none" not in versions
