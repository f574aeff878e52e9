from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from harness.laws.contexts import markov_contexts, markov_rows
from harness.laws.tables import LawTables, one_context
from harness.protocols import Assignment, Sampler
from harness.samplers.declared import samplers_of
from harness.samplers.spec import spec_from

PROGRAMS = Path(__file__).parent / "programs"
TOKENS = ("A", "B", "C")
P, Q = (0.6, 0.3, 0.1), (0.5, 0.25, 0.25)


@pytest.fixture
def assignment():
    """The three-token example, one drafted token, one token wanted."""

    def make(draft_length=1, horizon=1, laws=None, **options):
        return Assignment(laws or one_context(P, Q), draft_length, horizon, TOKENS, options)

    return make


@pytest.fixture
def markov():
    """Laws by last token: every row of its own, zeros on both sides."""
    rng = np.random.default_rng(5)
    rows = [rng.dirichlet(np.ones(3), (4,)) for _ in range(2)]
    rows[0][1], rows[1][2] = (0.0, 0.4, 0.6), (0.5, 0.5, 0.0)
    contexts = markov_contexts(3, 1)
    p, q = (markov_rows([law[0]], law[1:]) for law in rows)
    return LawTables(p=p, q=q, proposal=q, target=p, contexts=contexts)


@pytest.fixture
def declare():
    """The sampler of a declaration, as the engine gets it."""

    def make(assignment, replay=None, **entry) -> Sampler:
        spec = spec_from("mine", entry, PROGRAMS, "test")
        return samplers_of({"mine": spec}, replay=replay)["mine"](assignment)

    return make


@pytest.fixture(scope="session")
def c_program(tmp_path_factory):
    """The example in C, compiled."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler")
    program = tmp_path_factory.mktemp("programs") / "verifier"
    source = PROGRAMS / "verifier.c"
    command = [compiler, "-O2", "-Wall", "-Wextra", "-Werror", "-o", program, source]
    subprocess.run(command, check=True)
    return str(program)
