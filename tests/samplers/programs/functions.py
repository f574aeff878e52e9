"""Verifiers and generators as users write them: exact, faulty, and broken. Numpy only."""

from __future__ import annotations

import os
import random
import sys
import time

import numpy as np


def _verify(draft, q, p, rng, *, from_target=False):
    n, k = draft.shape
    rows, at = np.arange(n), np.arange(k)
    place = rows[:, None], at, draft
    kept = np.cumprod(rng.random((n, k)) * q[place] < p[place], axis=1).sum(axis=1)
    none = np.zeros_like(p[:, :1])
    law = (p if from_target else np.maximum(p - np.concatenate([q, none], axis=1), 0.0))[rows, kept]
    law = np.where((kept == k)[:, None], p[:, k], law)
    cuts = law.cumsum(axis=1)
    last = (rng.random((n, 1)) * cuts[:, -1:] >= cuts).sum(axis=1)
    committed = np.full((n, k + 1), -1)
    committed[:, :k] = np.where(at < kept[:, None], draft, -1)
    committed[rows, kept] = np.minimum(last, p.shape[2] - 1)
    return committed


def exact(draft, q, p, rng):
    return _verify(draft, q, p, rng)


def target_residual(draft, q, p, rng):
    return _verify(draft, q, p, rng, from_target=True)


def with_seed(draft, q, p, seed):
    return _verify(draft, q, p, np.random.default_rng(seed))


def by_keyword(draft, q, p, *, generator):
    return _verify(draft, q, p, generator)


class _Global:
    random = staticmethod(np.random.random_sample)


def global_state(draft, q, p):
    return _verify(draft, q, p, _Global)


def with_option(draft, q, p, rng, *, temperature=1.0):
    heated = p ** (1 / temperature)
    return _verify(draft, q, heated / heated.sum(axis=2, keepdims=True), rng)


def ignores_draft(draft, q, p, rng):
    """Commits k + 1 tokens from p, whatever was drafted; the laws here have one context."""
    n, k = draft.shape
    cuts = p.cumsum(axis=2)
    return (rng.random((n, k + 1, 1)) * cuts[..., -1:] >= cuts).sum(axis=2)


def batch_matters(draft, q, p, rng):
    """A padding fault: rows beyond the eighth of a call commit their draft unseen."""
    committed = _verify(draft, q, p, rng)
    committed[8:, 0] = draft[8:, 0]
    return committed


def position_matters(draft, q, p, rng):
    """Wrong where rows are reused: every position is verified with the laws of the first."""
    return _verify(
        draft, np.repeat(q[:, :1], q.shape[1], 1), np.repeat(p[:, :1], p.shape[1], 1), rng
    )


def raises(draft, q, p, rng):
    raise RuntimeError("no such kernel")


def exits(draft, q, p, rng):
    sys.exit(0)


def wrong_shape(draft, q, p, rng):
    return draft


def fewer_rows(draft, q, p, rng):
    return _verify(draft, q, p, rng)[:-1]


def floats(draft, q, p, rng):
    return _verify(draft, q, p, rng) * 1.0


def nans(draft, q, p, rng):
    return np.full((len(draft), draft.shape[1] + 1), np.nan)


def out_of_range(draft, q, p, rng):
    return np.full((len(draft), draft.shape[1] + 1), p.shape[2])


def no_token(draft, q, p, rng):
    return np.full((len(draft), draft.shape[1] + 1), -1)


def token_after_end(draft, q, p, rng):
    committed = np.zeros((len(draft), draft.shape[1] + 1), int)
    committed[:, 0] = -1
    committed[:, 0] += np.arange(len(draft)) == 0
    return committed


def nothing(draft, q, p, rng):
    return None


def writes_into_laws(draft, q, p, rng):
    committed = _verify(draft, q, p, rng)
    p[...] = 0.0
    q[...] = 0.0
    draft[...] = 0
    return committed


def prints(draft, q, p, rng):
    print("verifying")  # noqa: T201 (the subject)
    os.write(1, b"raw bytes\n")
    return _verify(draft, q, p, rng)


def crashes(draft, q, p, rng):
    sys.stderr.write("about to crash\n")
    sys.stderr.flush()
    os.abort()


def hangs(draft, q, p, rng):
    time.sleep(600)


def generate(n, horizon, seed):
    """Three tokens of law .6, .3, .1, independent."""
    return np.searchsorted([0.6, 0.9], np.random.default_rng(seed).random((n, horizon)), "right")


def generate_globally(n, horizon):
    return [[int(random.random() * 3) for _ in range(horizon)] for _ in range(n)]


def stops_early(n, horizon, seed):
    tokens = generate(n, horizon, seed)
    tokens[0, -1] = -1
    return tokens


def same_again(n, horizon, seed):
    """An engine that ignores its seed: every call makes the same tokens."""
    return generate(n, horizon, 0)


def made(assignment):
    """A factory: knows the tables of the scenario, not their rows."""

    def tokens(n, horizon, seed):
        rng = np.random.default_rng(seed)
        here = np.full(n, assignment.laws.contexts.starts[0])
        out = np.empty((n, horizon), int)
        for position in range(horizon):
            cuts = assignment.laws.p[here].cumsum(axis=1)
            out[:, position] = (rng.random((n, 1)) * cuts[:, -1:] >= cuts).sum(axis=1)
            here = assignment.laws.contexts.successor[here, out[:, position]]
        return out

    return tokens
