"""The laws of a scenario, one row a context, and how contexts follow each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.arrays import Exact, Rows, Tokens, readonly

__all__ = ["Contexts", "LawTables", "at", "one_context", "one_for_all"]


@dataclass(frozen=True, slots=True)
class Contexts:
    """Context ids of prefixes: where each prompt starts and where a token leads.

    `starts` (prompts,) are the first contexts; `successor` (contexts, V) the context after a token.
    A trial is over once the token `end` is committed: nothing after it counts, so that it does not
    matter where `successor` says it leads.
    """

    starts: Rows
    successor: Rows
    end: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "starts", readonly(self.starts))
        object.__setattr__(self, "successor", readonly(self.successor))

    def __len__(self) -> int:
        return len(self.successor)

    @property
    def positional(self) -> bool:
        """Whether a context is the position alone, whatever the tokens were."""
        return self.end is None and bool((self.successor == self.successor[:, :1]).all())

    def begin(self, prompts: Rows) -> Rows:
        """Contexts (n,) in which the trials of `prompts` (n,) begin."""
        if len(self.successor) == 1:
            return one_for_all(len(prompts))
        return self.starts.take(prompts)

    def after(self, contexts: Rows, tokens: Tokens) -> Rows:
        """Contexts (n,) that follow `contexts` (n,) when `tokens` (n,) are committed."""
        if len(self.successor) == 1:
            return contexts
        cells = contexts * self.successor.shape[1] + tokens
        return self.successor.ravel().take(cells, mode="clip")


_ZERO = readonly(np.zeros(1, np.intp))


def one_for_all(n: int) -> Rows:
    """Context 0 for n trials, in the memory of one."""
    return np.ndarray(n, np.intp, buffer=_ZERO, strides=(0,))


def at(contexts: Rows, rows: Rows) -> Rows:
    """Contexts of some trials; free of charge where all trials share one."""
    return contexts[: len(rows)] if contexts.strides == (0,) else contexts.take(rows)


@dataclass(frozen=True, slots=True)
class LawTables:
    """Every law a rule may read, each (contexts, V), float64 or Fractions.

    `p` and `q` are what the verifier reads as the target and the draft law; `proposal` is what
    drafts are really drawn from; `target` is the promise that the output is held against. In a
    right system `proposal` is `q` and `target` is `p`; several faults are just that they are not.
    """

    p: Exact
    q: Exact
    proposal: Exact
    target: Exact
    contexts: Contexts

    def __post_init__(self) -> None:
        for name in ("p", "q", "proposal", "target"):
            object.__setattr__(self, name, readonly(getattr(self, name)))

    @property
    def vocabulary(self) -> int:
        return int(self.p.shape[1])


def one_context(p: Exact, q: Exact) -> LawTables:
    """Tables of a single position: one row, whatever the prefix."""
    p, q = np.atleast_2d(p), np.atleast_2d(q)
    contexts = Contexts(np.zeros(1, np.intp), np.zeros((1, p.shape[1]), np.intp))
    return LawTables(p=p, q=q, proposal=q, target=p, contexts=contexts)
