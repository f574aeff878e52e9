"""Recorded tokens give their trials once, in order, from any of the formats."""

from __future__ import annotations

import io
import json
import resource

import numpy as np
import pytest

from harness.assertions import check_tokens
from harness.errors import BadSetting, SamplerFailure
from harness.rng import stream
from harness.scenario import parse_suite

TOKENS = np.array([[0, 1, 2], [2, 2, 0], [1, 0, 0], [0, 0, 1]])
LAW = """
version: 1
suite: law
vocabulary: [A, B, C]
target: {probs: [0.6, 0.3, 0.1]}
draft: {probs: [0.5, 0.25, 0.25]}
trials: 10_000_000
epsilon: 0.02
scenarios: [{name: one, rule: speculative}]
"""


def _npy(path):
    np.save(path / "t.npy", TOKENS.astype(np.int32))
    return "t.npy"


def _npz(path):
    np.savez_compressed(path / "t.npz", tokens=TOKENS)
    return "t.npz"


def _csv(path):
    (path / "t.csv").write_text("\n".join(",".join(map(str, row)) for row in TOKENS))
    return "t.csv"


def _csv_of_names(path):
    names = np.array(list("ABC"))[TOKENS]
    (path / "n.csv").write_text("first,second,third\n" + "\n".join(map(",".join, names)) + "\n")
    return "n.csv"


def _jsonl(path):
    (path / "t.jsonl").write_text("\n".join(json.dumps(row) for row in TOKENS.tolist()))
    return "t.jsonl"


def _jsonl_of_objects(path):
    rows = [json.dumps({"tokens": row, "id": i}) for i, row in enumerate(TOKENS.tolist())]
    (path / "o.jsonl").write_text("\n".join(rows) + "\n")
    return "o.jsonl"


def _bytes_of_npy():
    stream = io.BytesIO()
    np.save(stream, TOKENS)
    return stream.getvalue()


FORMATS = [_npy, _npz, _csv, _csv_of_names, _jsonl, _jsonl_of_objects]


@pytest.mark.parametrize("write", FORMATS)
def test_every_format_gives_the_same_trials(write, tmp_path, declare, assignment):
    """Rows in file order, in pieces of any size, and then no more."""
    target = str(tmp_path / write(tmp_path))
    sampler = declare(assignment(1, 3), kind="recorded", target=target)
    rng = stream(1, "recorded")
    assert sampler.trials == 4
    seen = np.concatenate([sampler.sample(n, rng).tokens for n in (1, 2, 1)])
    np.testing.assert_array_equal(seen, TOKENS)
    with pytest.raises(SamplerFailure, match="has only 4 trials"):
        sampler.sample(1, rng)


def test_trace_columns_are_shown(tmp_path, declare, assignment):
    """draft, kept and emitted give the first round as our own sampler shows it."""
    path = tmp_path / "trace.csv"
    path.write_text("id,draft,kept,emitted\n7,A,true,A\n8,C,false,B\n9,B,true,B\n")
    sampler = declare(assignment(), kind="recorded", target=str(path))
    assert sampler.provides == {"drafted", "n_accepted"}
    batch = sampler.sample(3, stream(2, "trace"))
    assert batch.tokens.ravel().tolist() == [0, 1, 1]
    assert batch.drafted.ravel().tolist() == [0, 2, 1]
    assert batch.n_accepted.tolist() == [1, 0, 1]


def test_trace_in_npz_of_whole_drafts(tmp_path, declare, assignment):
    """Drafted (n, k) and n_accepted (n,) beside tokens (n, horizon)."""
    drafted = np.array([[0, 1], [2, 1], [1, 0], [0, 2]])
    np.savez(tmp_path / "t.npz", tokens=TOKENS, drafted=drafted, n_accepted=[2, 1, 2, 1])
    sampler = declare(assignment(2, 3), kind="recorded", target=str(tmp_path / "t.npz"))
    batch = sampler.sample(4, stream(3, "npz"))
    np.testing.assert_array_equal(batch.drafted, drafted)
    assert batch.n_accepted.tolist() == [2, 1, 2, 1]


def test_kept_token_that_is_not_emitted_is_refused(tmp_path, declare, assignment):
    """Row 1 keeps C and emits B: the columns contradict each other."""
    path = tmp_path / "trace.csv"
    path.write_text("draft,kept,emitted\nA,1,A\nC,1,B\n")
    sampler = declare(assignment(), kind="recorded", target=str(path))
    with pytest.raises(SamplerFailure, match="row 1 keeps a drafted token that it does not emit"):
        sampler.sample(2, stream(4, "kept"))


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_ragged_rows_end_with_the_end_token(suffix, tmp_path, declare, assignment):
    """Short rows are whole trials where they end with the end token C, and unfinished elsewhere."""
    from dataclasses import replace

    rows = [[0, 2], [1, 0, 1, 0, 0], [2]]
    text = [json.dumps(r) if suffix == "jsonl" else ",".join(map(str, r)) for r in rows]
    path = tmp_path / f"ragged.{suffix}"
    path.write_text("\n".join(text) + "\n")
    plain = assignment(1, 3)
    ending = replace(plain.laws, contexts=replace(plain.laws.contexts, end=2))
    entry = {"kind": "recorded", "target": str(path)}
    whole = declare(assignment(1, 3, ending), **entry).sample(3, stream(5, "ragged")).tokens
    assert whole.tolist() == [[0, 2, -1], [1, 0, 1], [2, -1, -1]]
    with pytest.raises(SamplerFailure, match="stopped after 2 of 3 tokens in row 0"):
        declare(plain, **entry).sample(3, stream(5, "ragged"))


COUNTS = np.array([6_000, 3_000, 1_000])


@pytest.mark.parametrize("suffix", ["npz", "csv", "jsonl"])
def test_counts_are_trials_in_a_fair_order(suffix, tmp_path, declare, assignment):
    """All of them add up to the counts, and any part of them is a sample without replacement."""
    path = tmp_path / f"counts.{suffix}"
    pairs = list(zip("ABC", COUNTS.tolist(), strict=True))
    if suffix == "npz":
        np.savez(path, counts=COUNTS)
    elif suffix == "csv":
        path.write_text("token,count\n" + "\n".join(f"{t},{n}" for t, n in pairs))
    else:
        path.write_text("\n".join(json.dumps({"token": t, "count": n}) for t, n in pairs))
    sampler = declare(assignment(), kind="recorded", target=str(path))
    assert sampler.trials == 10_000
    rng = stream(6, "counts")
    parts = [sampler.sample(n, rng).tokens.ravel() for n in (1_000, 9_000)]
    part = np.bincount(parts[0], minlength=3)
    # hypergeometric: variance n f (1 - f) (N - n) / (N - 1); 6.5 deviations
    spread = np.sqrt(1_000 * COUNTS / 1e4 * (1 - COUNTS / 1e4) * 0.9)
    assert (abs(part - COUNTS / 10) < 6.5 * spread).all()
    np.testing.assert_array_equal(part + np.bincount(parts[1], minlength=3), COUNTS)


def test_a_mark_at_the_start_of_a_text_is_no_token(tmp_path, declare, assignment):
    """As spreadsheets write it; oracle: the same file without."""
    (tmp_path / "t.csv").write_bytes(b"\xef\xbb\xbfA\nC\nB\n")
    sampler = declare(assignment(), kind="recorded", target=str(tmp_path / "t.csv"))
    assert sampler.sample(3, stream(7, "mark")).tokens.ravel().tolist() == [0, 2, 1]


def test_numbers_that_are_names_are_read_as_names(tmp_path):
    """Tokens called 2, 1 and 0: of law .6, .3, .1 in this order; ids would give .1, .3, .6."""
    names = np.array(["2", "1", "0"])[stream(8, "names").choice(3, 20_000, p=[0.6, 0.3, 0.1])]
    (tmp_path / "t.csv").write_text("\n".join(names))
    law = LAW.replace("[A, B, C]", "[2, 1, 0]").replace("0.02", "0.1")
    result = check_tokens(tmp_path / "t.csv", parse_suite(law, "law.yaml"))
    assert result.scenarios[0].verdict == "matches"


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("t.txt", b"0,1,2", "no reader for '.txt'"),
        ("t.csv", b"0,1,2\n0,Z,1\n", "'Z' is no token"),
        ("t.jsonl", b"[0, 1, 2]\n{broken\n", "broken"),
        ("t.jsonl", b'{"tokens": [0, 1, 2]}\n{"other": 1}\n', "a row without 'tokens'"),
        ("t.npy", b"not numpy", "t.npy"),
        ("t.npz", b"PK nonsense", "t.npz"),
        ("t.npy", _bytes_of_npy()[:-8], "ends before its last row"),
        ("t.parquet", b"nonsense", "t.parquet"),
        ("t.csv", b"token,count\nA,-3\n", "counts"),
        ("t.csv", b"token,count\nA,9000000000000000000\n", "more than 1,000,000,000,000"),
        ("t.csv", b"0,1,99999999999999999999\n", "'99999999999999999999' is no token"),
        ("t.jsonl", b"[0, 1, 99999999999999999999]\n", "'99999999999999999999' is no token"),
        ("t.jsonl", b"[" * 100_000 + b"\n", "recursion"),
        ("t.npy", _bytes_of_npy().replace(b"(4, 3)", b"(4444444444444, 3)"), "more than 1,000,0"),
    ],
)
def test_what_cannot_be_read_is_told(name, content, told, tmp_path, declare, assignment):
    """With the file's name, and without a traceback of somebody else's library."""
    (tmp_path / name).write_bytes(content)
    with pytest.raises((BadSetting, SamplerFailure), match=told):
        declare(assignment(1, 3), kind="recorded", target=str(tmp_path / name)).sample(
            4, stream(7, "bad")
        )


def test_pickles_are_never_loaded(tmp_path, declare, assignment):
    """An object array in NPY or NPZ is refused before anything in it is unpickled."""

    class Bomb:
        def __reduce__(self):
            return (open, (str(tmp_path / "owned"), "w"))

    bomb = np.array([Bomb(), Bomb()], dtype=object)
    np.save(tmp_path / "bomb.npy", bomb, allow_pickle=True)
    np.savez(tmp_path / "bomb.npz", tokens=bomb)
    for name in ("bomb.npy", "bomb.npz"):
        with pytest.raises(BadSetting):
            declare(assignment(), kind="recorded", target=str(tmp_path / name))
    assert not (tmp_path / "owned").exists()


def test_recording_is_checked_against_a_law(tmp_path):
    """Tokens of p match; tokens of the resampling fault (.59, .295, .115) differ, C in front."""
    suite = parse_suite(LAW, "law.yaml")
    rng = stream(8, "check")
    for law, verdict in (((0.6, 0.3, 0.1), "matches"), ((0.59, 0.295, 0.115), "differs")):
        np.save(tmp_path / "t.npy", rng.choice(3, 300_000, p=law).astype(np.int8))
        scenario = check_tokens(tmp_path / "t.npy", suite).scenarios[0]
        assert scenario.verdict.value == verdict
        assert scenario.trials == 300_000
    assert "% too frequent" in scenario.reason


def test_large_recordings_are_streamed(tmp_path, declare, assignment):
    """Reading 48 MB of tokens adds much less than that to the peak of memory."""
    n = 2_000_000
    tokens = np.zeros((n, 3), np.int64)
    np.save(tmp_path / "big.npy", tokens)
    np.savez(tmp_path / "big.npz", tokens=tokens)
    del tokens
    for name in ("big.npy", "big.npz"):
        sampler = declare(assignment(1, 3), kind="recorded", target=str(tmp_path / name))
        sampler.sample(1 << 16, stream(9, name))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for _ in range(20):
            sampler.sample(1 << 16, stream(9, name))
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 24_000  # kB


def test_recording_as_a_scenario_gives_what_it_has(tmp_path):
    """A scenario that declares more trials than were recorded is judged by those there are."""
    from harness.engine.run import run_suite
    from harness.samplers.declared import samplers_of
    from harness.samplers.spec import SamplerSpec

    tokens = stream(10, "scenario").choice(3, 100_000, p=(0.6, 0.3, 0.1))
    np.save(tmp_path / "t.npy", tokens)
    spec = SamplerSpec("file", kind="recorded", target="t.npy", folder=tmp_path)
    text = LAW.replace("rule: speculative", "sampler: file, stop_early: false")
    suite = parse_suite(text, "law.yaml")
    scenario = run_suite(suite, samplers=samplers_of({"file": spec})).scenarios[0]
    assert (scenario.trials, scenario.verdict.value) == (100_000, "matches")
