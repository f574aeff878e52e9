"""Parquet recordings; skipped where pyarrow is not installed (the extra `parquet`)."""

from __future__ import annotations

import numpy as np
import pytest

from harness.rng import stream

pa = pytest.importorskip("pyarrow", reason="the extra `parquet` is not installed")
pq = pytest.importorskip("pyarrow.parquet", reason="the extra `parquet` is not installed")


def written(path, **columns):
    pq.write_table(pa.table(columns), path)
    return str(path)


def test_lists_of_tokens_are_sequences(tmp_path, declare, assignment):
    """One list a trial, as from a data frame of generations (oracle: the lists)."""
    tokens = [[0, 1, 2], [2, 2, 0], [1, 0, 0]]
    target = written(tmp_path / "t.parquet", tokens=tokens)
    sampler = declare(assignment(1, 3), kind="recorded", target=target)
    assert sampler.sample(3, stream(1, "parquet")).tokens.tolist() == tokens


def test_trace_columns_are_shown(tmp_path, declare, assignment):
    """draft, kept and emitted give the first round; other columns are left out."""
    target = written(
        tmp_path / "t.parquet",
        draft=[0, 2, 1], kept=[True, False, True], emitted=[0, 1, 1], user=["a", "b", "c"],
    )  # fmt: skip
    batch = declare(assignment(), kind="recorded", target=target).sample(3, stream(2, "parquet"))
    assert batch.tokens.ravel().tolist() == [0, 1, 1]
    assert batch.drafted.ravel().tolist() == [0, 2, 1]
    assert batch.n_accepted.tolist() == [1, 0, 1]


def test_a_large_file_is_read_piece_by_piece(tmp_path, declare, assignment):
    """Two hundred thousand rows come in order, each once (oracle: the array)."""
    tokens = stream(3, "parquet rows").integers(0, 3, 200_000)
    sampler = declare(
        assignment(), kind="recorded", target=written(tmp_path / "t.parquet", token=tokens)
    )
    rng = stream(4, "parquet")
    parts = [sampler.sample(50_000, rng).tokens[:, 0] for _ in range(4)]
    np.testing.assert_array_equal(np.concatenate(parts), tokens)
