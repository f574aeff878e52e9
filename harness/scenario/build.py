"""Scenarios out of a suite's shape: settings inherited, axes crossed, names and laws checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol

from harness.errors import ScenarioError
from harness.registry import did_you_mean
from harness.scenario.bases import Frame
from harness.scenario.law_shape import AppliedShape
from harness.scenario.laws import Promise, WorkedOut, work_out
from harness.scenario.matrix import Variant, overlaid, variants
from harness.scenario.model import Facts, Reference, SamplerRef, Scenario, Suite
from harness.scenario.places import Place, shaped
from harness.scenario.possible import check_possible
from harness.scenario.shape import (
    FactsShape,
    ReferenceShape,
    SamplerShape,
    ScenarioShape,
    Settings,
    SuiteShape,
)
from harness.scenario.tree import Node, count_nodes

__all__ = ["Names", "built"]

MOST_SCENARIOS = 2000
MOST_NODES = 4_000_000  # values of all variants together
MOST_CELLS = 2**26  # probabilities of all tables of a suite: 512 MiB
LAW_KEYS = ("target", "draft", "policy", "applied", "prompts", "end_token", "vocabulary")
SETTINGS = tuple(Settings.model_fields)
SEEN_OF_TWO = ("output", "joint")


class Names(Protocol):
    """Names that a file may use, such as the table of rules."""

    def __contains__(self, name: object, /) -> bool: ...

    def __iter__(self) -> Iterator[str]: ...


def built(
    suite: SuiteShape, place: Place, text: str, *, rules: Names, samplers: Names | None
) -> Suite:
    """The suite, every scenario worked out. Raises `ScenarioError`."""
    if not suite.scenarios:
        raise (place / "scenarios").complaint("no scenarios", "give at least one")
    scenarios = tuple(_Workshop(rules, samplers).scenarios(place))
    return Suite(
        name=suite.suite,
        scenarios=scenarios,
        vocabulary=tuple(suite.vocabulary or scenarios[0].vocabulary),
        description=suite.description,
        alpha=float(suite.alpha),
        delta=float(suite.delta),
        seed=suite.seed,
        text=text,
        source=place.file,
    )


@dataclass
class _Workshop:
    """Works out one suite; laws that scenarios share are made once."""

    rules: Names
    samplers: Names | None
    laws: dict[tuple[int | Node | None, ...], WorkedOut] = field(default_factory=dict)
    cells: int = 0

    def scenarios(self, suite: Place) -> Iterator[Scenario]:
        first_of: dict[str, Place] = {}
        for place, variant in _all_variants(suite):
            shape = shaped(ScenarioShape, variant.place)
            name = variant.name_of(shape.name)
            if name.lower() in first_of:
                line = first_of[name.lower()].node.line
                raise (place / "name").complaint(
                    f"a second scenario {name!r}, after the one on line {line}", "rename one"
                )
            first_of[name.lower()] = place / "name"
            yield self._scenario(name, shape, variant)

    def _scenario(self, name: str, shape: ScenarioShape, variant: Variant) -> Scenario:
        place = variant.place
        rule, sampler = self._procedure(shape, place)
        reference = self._reference(shape, place)
        draft_length = shape.draft_length or 1
        horizon = shape.horizon or (1 if draft_length == 1 else draft_length + 1)
        promise = _promise(shape, place, max(draft_length, horizon))
        worked_out = self._worked_out(promise, place)
        observe = None if shape.observe is None else tuple(shape.observe)
        if reference is None:
            check_possible(worked_out.laws, horizon, observe, place)
        return Scenario(
            name=name,
            laws=worked_out.laws,
            exact_laws=worked_out.exact,
            rule=rule,
            sampler=sampler,
            draft_length=draft_length,
            horizon=horizon,
            expect=shape.expect,
            control=shape.expect == "differs" if shape.control is None else shape.control,
            observe=observe,
            facts=_facts(shape.facts, place / "facts", promise, worked_out),
            description=shape.description,
            settings={**worked_out.words, "matrix": dict(variant.labels)},
            vocabulary=tuple(promise.frame.vocabulary),
            prompts=tuple(map(tuple, promise.frame.prompts)),
            end_token=promise.end_token,
            reference=reference,
            promised=promise.target is not None,
            **_stated(shape),
        )

    def _reference(self, shape: ScenarioShape, place: Place) -> Reference | None:
        if shape.reference is None:
            return None
        for i, name in enumerate(shape.observe or ()):
            if name not in SEEN_OF_TWO:
                raise (place / "observe" / i).complaint(
                    f"no {name} of two samplers without a law", "keep to output and joint"
                )
        return Reference(*self._procedure(shape.reference, place / "reference"))

    def _procedure(
        self, shape: ScenarioShape | ReferenceShape, place: Place
    ) -> tuple[str | None, SamplerRef | None]:
        """The rule or the sampler, of which there must be one."""
        if shape.rule is not None and shape.sampler is not None:
            raise (place / "sampler").complaint("both a rule and a sampler", "keep one of them")
        if shape.rule is not None:
            _known("rule", shape.rule, self.rules, place / "rule")
            return shape.rule, None
        if shape.sampler is None:
            raise place.complaint("neither a rule nor a sampler", "add rule: or sampler:")
        if self.samplers is not None:
            _known("sampler", shape.sampler.name, self.samplers, place / "sampler")
        return None, SamplerRef(shape.sampler.name, _options(shape.sampler))

    def _worked_out(self, promise: Promise, place: Place) -> WorkedOut:
        """The laws, from the store where another scenario has the very same."""
        nodes = [(place / key).node if key in place else None for key in LAW_KEYS]
        address = (promise.frame.positions, *nodes)  # nodes are equal only to themselves
        if address not in self.laws:
            self.laws[address] = made = work_out(promise)
            self.cells += 4 * made.laws.p.size
            if self.cells > MOST_CELLS:
                raise place.complaint(
                    f"the suite's tables pass {MOST_CELLS:,} probabilities", "split the suite"
                )
        return self.laws[address]


def _all_variants(suite: Place) -> Iterator[tuple[Place, Variant]]:
    """Scenarios as the file has them, each with its variants; a complaint where too many."""
    n, nodes = 0, 0
    for own in suite / "scenarios":
        place = overlaid(suite, own, SETTINGS)
        size = count_nodes(place.node)
        for variant in variants(place):
            n, nodes = n + 1, nodes + size
            if n > MOST_SCENARIOS or nodes > MOST_NODES:
                raise place.complaint(f"scenario number {n:,} is too much", "split the suite")
            yield own, variant


def _promise(shape: ScenarioShape, place: Place, positions: int) -> Promise:
    if shape.vocabulary is None:
        raise place.complaint("no vocabulary", "add vocabulary: to the suite or the scenario")
    _check_laws(shape, place)
    ids = {token: i for i, token in enumerate(shape.vocabulary)}
    prompts = [
        tuple(_id(ids, token, place / "prompts" / i / j) for j, token in enumerate(prompt))
        for i, prompt in enumerate(shape.prompts or [[]])
    ]
    end = None
    if shape.end_token is not None:
        end = _id(ids, shape.end_token, place / "end_token")
    return Promise(
        frame=Frame(shape.vocabulary, prompts, positions),
        place=place,
        target=shape.target,
        draft=shape.draft,
        policy=shape.policy,
        applied=shape.applied or AppliedShape(),
        end_token=end,
    )


def _check_laws(shape: ScenarioShape, place: Place) -> None:
    """A rule draws from stated laws; two samplers from outside need none."""
    other = shape.reference
    has_rule = shape.rule is not None or (other is not None and other.rule is not None)
    if shape.target is None and (other is None or has_rule):
        raise place.complaint("no target law", "add target: to the suite or the scenario")
    if shape.draft is None and has_rule:
        raise place.complaint("no draft law", "add draft: to the suite or the scenario")
    if shape.target is None and shape.draft is not None:
        raise (place / "draft").complaint("a draft law without a target law", "add target:")


def _stated(shape: ScenarioShape) -> dict[str, Any]:
    """The settings that have a default of their own, where the file states them.

    Trials of a sampler from outside are dear: there a run stops as soon as it can decide.
    """
    early = True if shape.stop_early is None and shape.sampler is not None else shape.stop_early
    values = {
        "trials": shape.trials,
        "epsilon": None if shape.epsilon is None else float(shape.epsilon),
        "stop_early": early,
    }
    return {key: value for key, value in values.items() if value is not None}


def _facts(
    shape: FactsShape | None, place: Place, promise: Promise, worked_out: WorkedOut
) -> Facts:
    if shape is None:
        return Facts()
    if worked_out.exact is None:
        raise place.complaint(
            "facts about laws that are not exact",
            "facts need decimals or fractions, at most 64 tokens, and policies without roots",
        )
    tokens = set(promise.frame.vocabulary)
    for key, fact in shape:
        for token in fact if isinstance(fact, dict) else ():
            if token not in tokens:
                raise _unknown("token", token, promise.frame.vocabulary, place / key / token)
    return Facts(**dict(shape))


def _options(sampler: SamplerShape) -> Mapping[str, Any]:
    return {key: _simple(value) for key, value in (sampler.model_extra or {}).items()}


def _simple(value: object) -> object:
    """An option as plain data: decimals as floats."""
    if isinstance(value, dict):
        return {key: _simple(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_simple(part) for part in value]
    return float(value) if isinstance(value, Fraction) else value


def _id(ids: Mapping[str, int], token: str, place: Place) -> int:
    if token not in ids:
        raise _unknown("token", token, ids, place)
    return ids[token]


def _known(kind: str, name: str, names: Names, place: Place) -> None:
    if name not in names:
        raise _unknown(kind, name, names, place)


def _unknown(kind: str, name: str, known: Iterable[str], place: Place) -> ScenarioError:
    few = [text for _, text in zip(range(100), known, strict=False)]
    hint = did_you_mean(name[:40], few).removeprefix("; ")
    return place.complaint(f"no {kind} {name[:40]!r}", hint)
