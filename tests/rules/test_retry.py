"""Starting over, where that never ends and where it nearly never does."""

from __future__ import annotations

import time

import numpy as np
import pytest

from harness.errors import SamplerFailure
from harness.laws.tables import one_context
from harness.rng import stream
from harness.rules import RULES
from harness.samplers.rule import RuleSampler


@pytest.mark.parametrize("rule", ["retry-until-accepted", "token-matching-retry"])
@pytest.mark.parametrize("trials", [1_000, 65_536])
def test_laws_that_share_no_token_are_given_up_soon(rule, trials):
    """Disjoint supports: a failure that says so, in seconds and not in hours."""
    laws = one_context(np.array([0.7, 0.3, 0.0, 0.0]), np.array([0.0, 0.0, 0.5, 0.5]))
    start = time.monotonic()
    with pytest.raises(SamplerFailure, match="no round was kept whole in"):
        RuleSampler(RULES[rule].prepare, laws).sample(trials, stream(1, "disjoint"))
    assert time.monotonic() - start < 60


def test_a_small_overlap_is_waited_for():
    """One round in a thousand is kept: every trial ends, on the token that p and q share."""
    laws = one_context(np.array([0.001, 0.999, 0.0]), np.array([0.001, 0.0, 0.999]))
    batch = RuleSampler(RULES["retry-until-accepted"].prepare, laws).sample(500, stream(2, "rare"))
    assert (batch.tokens == 0).all()
