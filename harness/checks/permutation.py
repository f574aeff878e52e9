"""Two arms of sequences with a fixed number of draws: a permutation test on prefix trees.

Whole sequences are exchanged between the arms, within prompts only. Equal marginals with a broken
dependence between positions show in the tree, where a comparison position by position is blind.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse

from harness.arrays import Floats, Rows, Tokens
from harness.checks.result import CheckResult
from harness.errors import BadSetting

__all__ = ["permutation_check"]

PERMUTATIONS = 999
COMPONENTS = ("full sequence", "depth sum", "depth max", "bigram")
TIE = 1e-9


def node_ids(sequences: Tokens, strata: Rows) -> Rows:
    """Node of the prefix tree of each prompt at each depth: (n, L), numbered within a depth."""
    node = np.unique(strata, return_inverse=True)[1]
    depths = []
    for tokens in sequences.T:
        _, token = np.unique(tokens, return_inverse=True)
        _, node = np.unique(node * (int(token.max()) + 1) + token, return_inverse=True)
        depths.append(node)
    return np.stack(depths, axis=1)


def bigram_ids(sequences: Tokens, strata: Rows) -> Rows:
    """Pair of neighbouring tokens with its prompt: (n, L - 1), numbered over all positions."""
    _, tokens = np.unique(sequences, return_inverse=True)
    token = tokens.reshape(sequences.shape)
    size = int(token.max()) + 1
    prompt = np.unique(strata, return_inverse=True)[1][:, None]
    keys = (prompt * size + token[:, :-1]) * size + token[:, 1:]
    return np.unique(keys, return_inverse=True)[1].reshape(keys.shape)


def permuted_arms(arms: Floats, strata: Rows, count: int, rng: np.random.Generator) -> Floats:
    """The arm of every sequence, as observed and permuted within strata: (n, 1 + count)."""
    order = np.argsort(strata, kind="stable")
    table = np.empty((arms.size, 1 + count))
    table[:, 0] = arms
    for column in range(1, 1 + count):
        shuffled = np.lexsort((rng.random(arms.size), strata))
        table[order, column] = arms[shuffled]
    return table


def tree_statistic(ids: Rows, table: Floats) -> Floats:
    """Sum over nodes of (a - b)^2/(a + b) - 1 for every column of arms: (columns,).

    Counts are scaled by the sizes of the arms; ids (n, m) list the m nodes of each sequence.
    """
    n, width = ids.shape
    belongs = sparse.csr_array(
        (np.ones(ids.size), (ids.ravel(), np.repeat(np.arange(n), width))),
        shape=(int(ids.max()) + 1, n),
    )
    of_a = belongs @ table
    total = np.bincount(ids.ravel())[:, None]
    odds = np.sqrt((1.0 - table[:, 0].mean()) / table[:, 0].mean())
    difference = of_a * odds - (total - of_a) / odds
    return (difference**2 / total - 1.0).sum(axis=0)


def standardised(values: Floats) -> Floats:
    """Centred and scaled over all permutations, the observed one among them."""
    spread = values.std()
    return (values - values.mean()) / spread if spread > 0 else np.zeros_like(values)


def upper_ranks(values: Floats) -> Floats:
    """Share of the columns at least as large as each, ties counted."""
    ordered = np.sort(values)
    slack = TIE * max(1.0, float(np.abs(ordered).max()))
    return (values.size - np.searchsorted(ordered, values - slack)) / values.size


def components(sequences: Tokens, strata: Rows, table: Floats) -> Floats:
    """The four statistics of every column of arms: (4, columns)."""
    nodes = node_ids(sequences, strata)
    depths = np.stack([standardised(tree_statistic(ids[:, None], table)) for ids in nodes.T])
    pairs = depths[-1]
    if sequences.shape[1] > 1:
        pairs = tree_statistic(bigram_ids(sequences, strata), table)
    return np.stack([depths[-1], depths.sum(axis=0), depths.max(axis=0), pairs])


def permutation_check(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    rng: np.random.Generator,
    *,
    prompts_a: npt.ArrayLike = 0,
    prompts_b: npt.ArrayLike = 0,
    permutations: int = PERMUTATIONS,
) -> CheckResult:
    """Do two arms of sequences, (n, L) and (m, L), come from one law? p = (1 + #)/(B + 1).

    Smallest p-value of four statistics, calibrated in the same permutations: exact for every
    number of sequences. The detail names the statistic that was smallest.
    """
    first, second = np.atleast_2d(np.asarray(a)), np.atleast_2d(np.asarray(b))
    if first.shape[1:] != second.shape[1:] or not len(first) or not len(second):
        raise BadSetting(f"arms of shapes {first.shape} and {second.shape} cannot be compared")
    strata = np.concatenate(
        [np.broadcast_to(prompts_a, len(first)), np.broadcast_to(prompts_b, len(second))]
    )
    arms = np.concatenate([np.ones(len(first)), np.zeros(len(second))])
    table = permuted_arms(arms, strata, permutations, rng)
    each = np.stack(
        [upper_ranks(row) for row in components(np.vstack([first, second]), strata, table)]
    )
    smallest = each.min(axis=0)
    p_value = float(upper_ranks(-smallest)[0])
    detail = f"{COMPONENTS[int(each[:, 0].argmin())]}, {permutations} permutations within prompts"
    return CheckResult("permutation", float(smallest[0]), p_value, detail)
