"""A run as a DataFrame: what a notebook groups and plots."""

from __future__ import annotations

from harness import to_frame


def test_a_frame_keeps_numbers_as_numbers(every_kind):
    """A row a scenario and observable, counted by hand; several runs stand below each other."""
    frame = to_frame(every_kind)
    assert len(frame) == sum(max(1, len(s.observables)) for s in every_kind.scenarios)
    assert frame["trials"].dropna().map(int).tolist()[0] == every_kind.scenarios[0].trials
    assert len(to_frame(every_kind, every_kind)) == 2 * len(frame)


def test_a_frame_groups_by_what_was_expected(every_kind):
    """The question a suite is asked: which scenarios came out otherwise?"""
    frame = to_frame(every_kind).drop_duplicates("scenario_name")
    other = {s.name for s in every_kind.scenarios if not s.as_expected}
    assert set(frame[~frame["as_expected"].astype(bool)]["scenario_name"]) == other
