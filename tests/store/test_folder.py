"""Results folders: what is written comes back, what is damaged is refused in one line."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import os
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from harness.engine.result import Verdict
from harness.errors import StoreError
from harness.store import add, load, pictures, save


def same(one, other):
    """Equal in type and value, field by field; NaN equals NaN, arrays equal bit for bit.

    A numpy scalar may come back as the Python number that it is.
    """
    one, other = (x.item() if isinstance(x, np.generic) else x for x in (one, other))
    assert type(one) is type(other), (one, other)
    if dataclasses.is_dataclass(one):
        return all(
            same(getattr(one, f.name), getattr(other, f.name)) for f in dataclasses.fields(one)
        )
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.tobytes() == other.tobytes()
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[k], other[k]) for k in one)
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other or (isinstance(one, float) and math.isnan(one) and math.isnan(other))


@pytest.fixture
def small(made):
    """Two scenarios of three tokens."""
    return made.suite(made.three_token(np.random.default_rng(3), trials=10_000))


def test_every_kind_of_result_comes_back_as_it_was(every_kind, tmp_path):
    """load(save(r)) == r: NaN, infinity, Fractions, odd names, 32,000 tokens (oracle: identity)."""
    assert same(load(save(every_kind, tmp_path, {})), every_kind)


def test_arrays_come_back_read_only(small, tmp_path):
    """A loaded result is as frozen as the one that was saved (oracle: numpy refuses the write)."""
    counts = load(save(small, tmp_path, {})).scenarios[0].observables[0].counts
    with pytest.raises(ValueError, match="read-only"):
        counts[0] = 1


def test_facts_may_hold_what_json_has_no_word_for(small, tmp_path):
    """Mappings keep Fractions, tuples, numpy scalars, exact laws and keys that are not words."""
    facts = {
        "law": np.array([Fraction(1, 3), Fraction(2, 3)], dtype=object),
        ("x", 1): (2.5, math.inf, None, True),
        "$array": "not a name",
        "verdict": Verdict.DIFFERS,
    }
    scenario = dataclasses.replace(small.scenarios[0], facts=facts)
    result = dataclasses.replace(small, scenarios=(scenario,))
    back = load(save(result, tmp_path, {})).scenarios[0].facts
    assert back["law"].tolist() == facts["law"].tolist()
    assert {k: v for k, v in back.items() if k != "law"} == {
        k: v for k, v in facts.items() if k != "law"
    }


def test_what_cannot_be_read_back_is_not_written(small, tmp_path):
    """A value outside the results' terms is refused and leaves nothing behind (oracle: listing)."""
    result = dataclasses.replace(small, manifest={"when": object()})
    with pytest.raises(StoreError, match="object"):
        save(result, tmp_path, {})
    assert list(tmp_path.iterdir()) == []


def test_the_folder_is_named_by_suite_time_and_identity(small, tmp_path):
    """DESIGN section 4: `<suite>-<utc time>-<short id>`, whatever the clock's zone."""
    east = dataclasses.replace(small, started="2026-11-30T02:00:00+05:00")
    folder = save(east, tmp_path, {"results.json": "{}\n"})
    name, time, identity = folder.name.rsplit("-", 2)
    assert (name, time, len(identity)) == ("made-by-hand", "20261129T210000Z", 8)
    assert {p.name for p in folder.iterdir()} == {"manifest.json", "tallies.npz", "results.json"}
    assert folder.stat().st_mode & 0o777 == 0o777 & ~_umask()


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_manifest_is_strict_json_and_large_arrays_are_elsewhere(every_kind, tmp_path):
    """No NaN or Infinity in the text, and 32,000 tokens do not swell it (oracle: strict parser)."""

    def refuse(word):
        raise AssertionError(word)

    folder = save(every_kind, tmp_path, {})
    text = (folder / "manifest.json").read_text()
    assert json.loads(text, parse_constant=refuse)["format"] == 1
    assert len(text) < 100_000
    with np.load(folder / "tallies.npz", allow_pickle=False) as stored:
        counts = stored["scenarios/5/observables/output/counts"]
    assert counts.tobytes() == every_kind.scenarios[5].observables[0].counts.tobytes()


@pytest.mark.parametrize("name", ["../out", "a/b", "..", "", ".hidden", "a\\b", "a\x00b", "a\nb"])
def test_a_suite_cannot_write_outside_the_root(small, tmp_path, name):
    """Names with separators, leading dots or controls are refused (oracle: nothing is written)."""
    root = tmp_path / "results"
    if name:
        with pytest.raises(StoreError, match="no name for a file"):
            save(dataclasses.replace(small, suite=name), root, {})
    with pytest.raises(StoreError, match="no name for a file"):
        save(small, root, {f"{name}": "text"} if name else {"": "text"})
    assert [p.name for p in tmp_path.iterdir()] in ([], ["results"])
    assert not root.exists() or list(root.iterdir()) == []


def test_a_run_is_never_overwritten(small, tmp_path):
    """Saving the same run twice is an error, and the first one stays (oracle: contents)."""
    folder = save(small, tmp_path, {"note.txt": "first"})
    with pytest.raises(StoreError, match="never overwritten"):
        save(small, tmp_path, {"note.txt": "second"})
    assert (folder / "note.txt").read_text() == "first"


def test_a_failure_in_the_middle_leaves_no_folder(small, tmp_path, monkeypatch):
    """The disk fills up while writing: one line, and nothing half-written (oracle: listing)."""

    def full(*_args, **_kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(StoreError, match="No space left"):
        save(small, tmp_path, {"results.json": "{}"})
    assert list(tmp_path.iterdir()) == []


def test_a_killed_run_leaves_only_a_hidden_part(small, tmp_path, monkeypatch):
    """At the moment of the rename nothing has the final name yet (oracle: listing before it)."""
    seen = []
    rename = Path.rename

    def watched(self, target):
        seen.append([p.name for p in tmp_path.iterdir()])
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", watched)
    folder = save(small, tmp_path, {})
    assert [name.startswith(".partial-") for name in seen[0]] == [True]
    assert [p.name for p in tmp_path.iterdir()] == [folder.name]


def test_root_that_is_a_file_is_one_line(small, tmp_path):
    """A root that is no folder is the user's to mend (oracle: StoreError, not OSError)."""
    (tmp_path / "results").write_text("a file")
    with pytest.raises(StoreError, match="cannot be written"):
        save(small, tmp_path / "results", {})


def _text(text):
    return lambda folder, _: (folder / "manifest.json").write_text(text)


def _changed(**changes):
    return lambda folder, document: (folder / "manifest.json").write_text(
        json.dumps(document | changes)
    )


def _cut(name):
    return lambda folder, _: (folder / name).write_bytes((folder / name).read_bytes()[:-100])


def _gone(name):
    return lambda folder, _: (folder / name).unlink()


def _a_folder_instead(folder, _):
    (folder / "manifest.json").unlink()
    (folder / "manifest.json").mkdir()


def _without_alpha(folder, document):
    del document["result"]["$SuiteResult"]["alpha"]
    _changed()(folder, document)


ACCEPTANCE = {"$Acceptance": {"observed": 1, "expected": 1, "low": 1, "high": 1}}
BROKEN = {
    "missing manifest": (_gone("manifest.json"), "no results folder"),
    "manifest is a folder": (_a_folder_instead, "cannot be read"),
    "no json": (_text("\x00{"), "no JSON"),
    "cut": (_cut("manifest.json"), "no JSON"),
    "nested without end": (_text("[" * 100_000), "no JSON"),
    "foreign": (_text('{"name": "a package"}'), "not written by"),
    "a list": (_text("[1]"), "not written by"),
    "format 2": (_changed(format=2), "format 2"),
    "missing tallies": (_gone("tallies.npz"), "cannot be read"),
    "damaged tallies": (_cut("tallies.npz"), "damaged"),
    "unknown tag": (_changed(result={"$Popen": {"args": "true"}}), "does not describe a run"),
    "missing field": (_without_alpha, "does not describe a run"),
    "no run": (_changed(result=ACCEPTANCE), "not a run"),
    "no fraction": (_changed(result={"$tuple": [{"$fraction": "x"}]}), "does not describe a run"),
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_folder_is_refused_in_one_line(small, tmp_path, how):
    """Whatever is missing, damaged or foreign is named with the folder (oracle: the message)."""
    folder = save(small, tmp_path, {})
    damage, complaint = BROKEN[how]
    damage(folder, json.loads((folder / "manifest.json").read_text()))
    with pytest.raises(StoreError, match=complaint) as caught:
        load(folder)
    assert str(folder) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_pickles_are_never_loaded(small, tmp_path):
    """An npz of pickled objects with a matching hash is refused (oracle: numpy, allow_pickle)."""
    folder = save(small, tmp_path, {})
    np.savez(folder / "tallies.npz", evil=np.array([{"a": 1}], dtype=object), allow_pickle=True)
    digest = hashlib.sha256((folder / "tallies.npz").read_bytes()).hexdigest()
    document = json.loads((folder / "manifest.json").read_text()) | {"tallies_sha256": digest}
    (folder / "manifest.json").write_text(json.dumps(document))
    with pytest.raises(StoreError, match="holds no arrays"):
        load(folder)


def test_a_folder_that_is_not_there_is_one_line(tmp_path):
    """`plot nowhere` must not show a traceback (oracle: StoreError)."""
    with pytest.raises(StoreError, match="no results folder"):
        load(tmp_path / "nowhere")


def test_a_file_is_added_at_once_and_may_be_replaced(small, tmp_path):
    """`report` writes again into a finished run; no part of it stays behind (oracle: listing)."""
    folder = save(small, tmp_path, {})
    add(folder, "report.html", "old")
    assert add(folder, "report.html", "new ü").read_text(encoding="utf-8") == "new ü"
    assert len(list(folder.iterdir())) == 3
    with pytest.raises(StoreError, match="no name for a file"):
        add(folder, "../report.html", "text")
    with pytest.raises(StoreError, match="cannot be written"):
        add(tmp_path / "nowhere", "report.html", "text")


def test_pictures_are_found_by_name(small, tmp_path):
    """PNG files in plots/, in the order of their names; none is no error (oracle: by hand)."""
    folder = save(small, tmp_path, {})
    assert pictures(folder) == {}
    (folder / "plots").mkdir()
    for name in ("b.png", "a.png", "a.svg"):
        (folder / "plots" / name).write_bytes(name.encode())
    assert list(pictures(folder).items()) == [("a", b"a.png"), ("b", b"b.png")]
