"""What is observed of sequences and rounds: promised laws against enumeration, tallies against a
loop, findings against a law whose deviation is known.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from harness.checks import PitTable
from harness.checks.dependence import AXES, LAGS, disjoint_pairs
from harness.engine.exact import ExactRounds
from harness.engine.finding import finding, scope
from harness.engine.observation import Geometry, observation
from harness.engine.observe import Kind
from harness.engine.result import Verdict
from harness.laws.contexts import markov_contexts, position_contexts
from harness.laws.joint import joint_law, tokens_of_cells
from harness.laws.tables import LawTables
from harness.rng import stream
from harness.rules import RULES
from harness.samplers.rule import RuleSampler

EVERYTHING = frozenset({"output", "joint", "trace", "acceptance", "committed_length"})
TOKENS = ("A", "B", "C")
K, HORIZON = 2, 3
GEOMETRIES = {
    "markov": markov_contexts(3, 1),
    "two prompts": markov_contexts(3, 1, prompts=((), (2,))),
    "positions": position_contexts(3, 3),
    "an end token": markov_contexts(3, 1, end=2),
}


def laws_over(contexts, seed=1):
    p, q = np.random.default_rng(seed).dirichlet(np.ones(3), size=(2, len(contexts)))
    return LawTables(p=p, q=q, proposal=q, target=p, contexts=contexts)


def seen(name, judged=EVERYTHING, rule="speculative", horizon=HORIZON):
    """Observables by name, the laws, and an empty tally."""
    laws = laws_over(GEOMETRIES[name])
    geometry = Geometry(laws, TOKENS, K, horizon, shows_trace=True)
    observables, tally = observation(geometry, RULES[rule], judged)
    return {o.name: o for o in observables}, laws, tally


def prompts_of(observables, base):
    """The observables of that name, prompt by prompt."""
    return [o for name, o in observables.items() if name.split(" [")[0] == base]


@pytest.mark.parametrize("name", GEOMETRIES)
def test_promised_laws_are_those_of_the_enumerated_round(name):
    """Joint law and kept run of the exact rule, to 1e-12; oracle: every outcome of a round."""
    observables, laws, _ = seen(name)
    exact = ExactRounds(RULES["speculative"].prepare(laws), laws, K)
    for prompt, start in enumerate(map(int, laws.contexts.starts)):
        joint = prompts_of(observables, "joint")[prompt]
        length = prompts_of(observables, "committed_length")[prompt]
        np.testing.assert_allclose(joint.target, exact.joint(HORIZON, start), atol=1e-12)
        np.testing.assert_allclose(length.target, exact.kept_length(start), atol=1e-12)


@pytest.mark.parametrize("name", ["markov", "two prompts", "positions"])
def test_promised_steps_are_those_of_the_enumerated_round(name):
    """Second step and bonus, context and token, to 1e-12; oracle: every outcome of a round."""
    observables, laws, _ = seen(name)
    exact = ExactRounds(RULES["speculative"].prepare(laws), laws, K)
    for prompt, start in enumerate(map(int, laws.contexts.starts)):
        second, bonus = np.zeros((len(laws.contexts), 3, 4)), np.zeros((len(laws.contexts), 3))
        found = exact.outcomes(start)
        rows = zip(
            found.weights, found.round.drafted, found.round.committed, found.round.n_accepted,
            strict=True,
        )  # fmt: skip
        for weight, drafted, committed, kept in rows:
            here = laws.contexts.successor[start, drafted[0]]
            if kept >= 1:
                then = 3 if kept == 2 else committed[1]
                second[here, drafted[1], then] += float(weight)
            if kept == 2:
                bonus[laws.contexts.successor[here, drafted[1]], committed[2]] += float(weight)
        for base, masses in (("trace at position 2", second), ("bonus", bonus)):
            target = prompts_of(observables, base)[prompt].target
            np.testing.assert_allclose(target, masses.ravel() / masses.sum(), atol=1e-12)


@pytest.mark.parametrize("name", GEOMETRIES)
def test_tallies_count_what_a_loop_counts(name):
    """Oracle: a loop over 3,000 trials of the exact rule."""
    observables, laws, empty = seen(name)
    batch = RuleSampler(RULES["speculative"].prepare, laws, K, HORIZON).sample(
        3_000, stream(1, name)
    )
    tallied = empty.add([batch]).counts()
    for prompt, start in enumerate(map(int, laws.contexts.starts)):
        joint, length, second, bonus = Counter(), Counter(), Counter(), Counter()
        for trial in np.flatnonzero(batch.prompts == prompt):
            tokens, drafted, kept = (
                batch.tokens[trial],
                batch.drafted[trial],
                batch.n_accepted[trial],
            )
            joint[tuple(laws.contexts.end if t < 0 else t for t in tokens)] += 1
            length[kept] += 1
            here = laws.contexts.successor[start, drafted[0]]
            if kept >= 1:
                second[here, drafted[1], 3 if kept == 2 else tokens[1]] += 1
            if kept == 2:
                bonus[laws.contexts.successor[here, drafted[1]], tokens[2]] += 1
        counted = prompts_of(observables, "joint")[prompt].counts(tallied)
        sequences = tokens_of_cells(np.arange(27), 3, HORIZON)
        assert counted.tolist() == [joint[tuple(s)] for s in sequences]
        kept = prompts_of(observables, "committed_length")[prompt].counts(tallied)
        assert kept.tolist() == [length[i] for i in range(K + 1)]
        if laws.contexts.end is None:
            size = len(laws.contexts)
            steps = prompts_of(observables, "trace at position 2")[prompt].counts(tallied)
            assert steps.tolist() == [second[c] for c in np.ndindex(size, 3, 4)]
            last = prompts_of(observables, "bonus")[prompt].counts(tallied)
            assert last.tolist() == [bonus[c] for c in np.ndindex(size, 3)]


def test_a_joint_law_of_groups_is_the_joint_law_summed():
    """Six tokens, horizon eight: 1,679,616 sequences are summed into their groups, to 1e-12."""
    contexts = position_contexts(6, 8)
    p, q = np.random.default_rng(2).dirichlet(np.ones(6), size=(2, 8))
    p[3, 1] = 0.0
    p /= p.sum(axis=1, keepdims=True)
    laws = LawTables(p=p, q=q, proposal=q, target=p, contexts=contexts)
    geometry = Geometry(laws, tuple("ABCDEF"), K, 8, shows_trace=False)
    observables, tally = observation(geometry, RULES["speculative"], EVERYTHING)
    joint = next(o for o in observables if o.name == "joint")
    groups = next(part for whole in tally.parts for part in whole.parts if hasattr(part, "groups"))
    assert (groups.groups[3] == groups.groups[3, 1]).sum() == 1  # what cannot be drawn stands alone
    mass = np.ones(1)
    for group, row in zip(groups.groups, p, strict=True):
        mass = np.multiply.outer(mass, np.eye(groups.size)[group].T @ row).ravel()
    np.testing.assert_allclose(joint.target, mass, atol=1e-12)
    batch = RuleSampler(RULES["speculative"].prepare, laws, K, 8).sample(2_000, stream(1, "groups"))
    loop = Counter(
        tuple(group[t] for group, t in zip(groups.groups, row, strict=True)) for row in batch.tokens
    )
    counted = joint.counts(tally.add([batch]).counts())
    assert counted.tolist() == [loop[tuple(c)] for c in np.ndindex(*(groups.size,) * 8)]


def test_dependence_counts_pairs_of_pit_values_of_the_promised_laws():
    """Oracle: each token placed by hand in its context's distribution, to the cell it can be in."""
    observables, laws, tally = seen("markov", EVERYTHING | {"dependence"})
    pairs = observables["dependence"]
    assert pairs.kind is Kind.PAIRS
    batch = RuleSampler(RULES["speculative"].prepare, laws, K, HORIZON).sample(
        64, stream(1, "pairs")
    )
    counted = pairs.counts(tally.add([batch]).counts()).reshape(len(AXES), len(LAGS), 8, 8)
    table = PitTable.of(laws.target, laws.q)
    low = np.empty(batch.tokens.shape)
    for trial, tokens in enumerate(batch.tokens):
        here = laws.contexts.starts[0]
        for position, token in enumerate(tokens):
            low[trial, position] = table.below[here, token]
            here = laws.contexts.successor[here, token]
    for axis, lag in np.ndindex(len(AXES), len(LAGS)):
        first, _ = disjoint_pairs(low, axis, LAGS[lag])
        seen_pairs = counted[axis, lag]
        assert seen_pairs.sum() == first.size
        for edge in range(8):  # a PIT value is never below the lower end of its token
            assert seen_pairs[:edge].sum() <= (first.ravel() * 8 < edge).sum()


def test_several_prompts_are_observed_one_by_one():
    """Each prompt has its own law, and only its own trials are counted."""
    observables, laws, empty = seen("two prompts")
    assert {"joint [prompt 1]", "joint [prompt 2]"} <= observables.keys()
    batch = RuleSampler(RULES["speculative"].prepare, laws, K, HORIZON).sample(
        101, stream(1, "two")
    )
    tallied = empty.add([batch]).counts()
    assert [o.counts(tallied).sum() for o in prompts_of(observables, "joint")] == [51, 50]
    first, second = (o.target for o in prompts_of(observables, "joint"))
    assert abs(first - second).sum() > 0.01


def test_a_finding_names_the_position_and_what_came_before():
    """Oracle: after B A every C became an A; nothing else was changed."""
    observables, laws, _ = seen("markov")
    joint = observables["joint"]
    law = joint_law(laws.target, laws.contexts, HORIZON, start=0).reshape(3, 3, 3).copy()
    law[1, 0, 0] += law[1, 0, 2]
    law[1, 0, 2] = 0.0
    times = 1 + laws.target[1, 2] / laws.target[1, 0]
    counts = np.rint(law.ravel() * 1e8).astype(np.int64)
    told = finding(Verdict.DIFFERS, joint, counts, None, 0.01)
    assert told in {
        f"after B A: A is {times:.3g} times too frequent (token 3)",
        "after B A: C is 100 % too rare (token 3)",
    }


def test_a_horizon_that_cannot_see_the_bonus_says_so():
    """The bonus token of a block of k is token k + 1."""
    assert scope(2, 2) == "the first 2 tokens jointly; the bonus token is not looked at"
    assert scope(2, 3) == "the first 3 tokens jointly, bonus token included"
    short, _, _ = seen("markov", horizon=2)
    assert "bonus" not in short
    assert "bonus" in seen("markov")[0]


def test_laws_that_differ_are_worked_out_apart():
    """The known faults of one joint law are not handed to another of the same shape."""
    laws = laws_over(GEOMETRIES["markov"])
    other = laws_over(GEOMETRIES["markov"], seed=2)
    shape = {"draft_length": K, "horizon": HORIZON, "shows_trace": False}
    one, two = (
        observation(Geometry(x, TOKENS, **shape), RULES["speculative"], EVERYTHING)[0][1]
        for x in (laws, replace(other, contexts=laws.contexts))
    )
    assert one.faults.keys() == two.faults.keys()
    assert all(abs(one.faults[name] - two.faults[name]).sum() > 1e-3 for name in one.faults)


def test_a_wrong_report_of_what_was_kept_leaves_the_output_as_it_is():
    """The sum of accept flags: right tokens, wrong lengths; oracle: the tokens themselves."""
    observables, laws, empty = seen("markov", rule="sum-of-flags")
    batch = RuleSampler(RULES["sum-of-flags"].prepare, laws, K, HORIZON).sample(
        5_000, stream(1, "flags")
    )
    tallied = empty.add([batch]).counts()
    output, length = observables["output"], observables["committed_length"]
    np.testing.assert_allclose(output.exact, laws.target[0], atol=1e-12)
    counted = np.bincount(batch.tokens[:, 0], minlength=3)
    assert output.counts(tallied).tolist() == counted.tolist()
    assert abs(length.exact - length.target).sum() > 0.1
