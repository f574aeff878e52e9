"""Reports: pure functions of a result that survive hostile names, in every format of the table."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import re
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import pytest
from junitparser import Error, Failure, JUnitXml

from harness.engine.result import Verdict
from harness.reports import REPORTS, run_files
from harness.reports.csv import COLUMNS

PNG = b"\x89PNG\r\n\x1a\n not really"


def plain_json(text):
    """Parsed by a reader that refuses NaN and Infinity."""

    def refuse(word):
        raise AssertionError(word)

    return json.loads(text, parse_constant=refuse)


@pytest.mark.parametrize("name", list(REPORTS))
def test_a_report_is_a_pure_function(every_kind, name):
    """The same result gives the same text, which any file can hold (oracle: UTF-8 encoder)."""
    text = REPORTS[name](every_kind)
    assert text == REPORTS[name](every_kind)
    assert text.encode("utf-8")
    assert "\x1b" not in text
    assert "\x00" not in text


@pytest.mark.parametrize("name", list(REPORTS))
def test_every_report_names_every_verdict(every_kind, name):
    """Whatever the format, no verdict is left out (oracle: the enumeration of verdicts)."""
    text = REPORTS[name](every_kind)
    assert [v for v in Verdict if str(v) not in text] == []


@pytest.mark.parametrize("name", sorted(set(REPORTS) - {"csv"}))
def test_a_suite_without_scenarios_has_a_report(made, name):
    """An empty run is no reason for a traceback (oracle: it says its name)."""
    assert "empty-one" in REPORTS[name](made.suite([], "empty-one"))


def test_results_json_has_the_documented_shape(made, every_kind):
    """DESIGN section 4, key by key (oracle: the example on that page)."""
    document = plain_json(REPORTS["json"](every_kind))
    assert {"format": 1, "suite": "every-kind", "exit_code": 1}.items() <= document.items()
    fault = document["scenarios"][1]
    seen = every_kind.scenarios[1].observables[0]
    assert {
        "name": "resample from the target", "sampler": "speculative", "expect": "differs",
        "verdict": "differs", "as_expected": True, "trials": 1_000_000, "epsilon": 0.01,
        "tv": seen.tv, "tv_bound": seen.tv_bound, "log_e": seen.log_e,
    }.items() <= fault.items()  # fmt: skip
    assert {"observed", "expected"} <= fault["acceptance"].keys()
    assert fault["law"] == {
        "tokens": ["A", "B", "C"], "target": [0.6, 0.3, 0.1],
        "exact": seen.exact.tolist(), "counts": seen.counts.tolist(),
    }  # fmt: skip
    assert fault["checks"][1] == {
        "check": "g-test", "observable": "output", "statistic": 1.2, "p_value": 0.55,
        "p_adjusted": 1.0, "share": 0.2, "approximate_p": 0.549, "detail": "2 df",
    }  # fmt: skip


def test_numbers_that_do_not_exist_are_null_or_words(every_kind):
    """Evidence of an impossible draw is "inf", the TV of no draws null (oracle: strict parser)."""
    scenarios = plain_json(REPORTS["json"](every_kind))["scenarios"]
    assert scenarios[4]["log_e"] == "inf"
    assert float(scenarios[4]["log_e"]) == float("inf")
    assert scenarios[8]["tv"] is None
    assert scenarios[9]["law"] is None


def test_large_laws_stay_in_the_arrays(every_kind):
    """A law of 32,000 tokens is not written out; one of 32 is (oracle: length of the text)."""
    text = REPORTS["json"](every_kind)
    assert plain_json(text)["scenarios"][5]["law"] == {"cells": 32_000, "stored": "tallies.npz"}
    assert len(plain_json(text)["scenarios"][2]["law"]["tokens"]) == 32
    assert len(text) < 100_000


def test_facts_keep_their_fractions(every_kind):
    """A fact of 17/20 is not .85 (oracle: the fraction's own text)."""
    assert plain_json(REPORTS["json"](every_kind))["scenarios"][0]["facts"]["acceptance"] == "17/20"


def test_summary_has_one_row_a_scenario_and_observable(made, every_kind):
    """Rows are counted by hand: two scenarios have no observables and keep one row each."""
    rows = list(csv.DictReader(io.StringIO(run_files(every_kind)["summary.csv"])))
    assert len(rows) == sum(max(1, len(s.observables)) for s in every_kind.scenarios)
    assert tuple(rows[0]) == COLUMNS
    assert float(rows[1]["tv"]) == every_kind.scenarios[1].observables[0].tv
    assert float(rows[4]["log_e"]) == float("inf")
    assert rows[9]["finding"] == "the target law holds NaN"
    assert "\n" not in rows[10]["scenario_name"]


def test_markdown_says_what_is_declared_and_what_is_not_meant(every_kind):
    """alpha, delta, epsilon, the smallest detectable TV and the caveats (oracle: the words)."""
    text = REPORTS["markdown"](every_kind)
    for words in ("alpha 1e-06", "delta 1e-06", "epsilon", "smallest detectable TV",
                  "does not say that the two laws are equal", "C is 15% too frequent",
                  "nor about speed"):  # fmt: skip
        assert words in text


def test_markdown_tables_survive_hostile_names(every_kind):
    """Every row of a table has as many cells as its head (oracle: unescaped bars counted)."""
    lines = REPORTS["markdown"](every_kind).splitlines()
    bars = [len(re.findall(r"(?<!\\)\|", line)) for line in lines]
    starts = [i for i, line in enumerate(lines) if line.startswith("| ---")]
    assert len(starts) == 2
    for start, rows in zip(starts, (11, 9), strict=True):
        assert set(bars[start - 1 : start + 1 + rows]) == {bars[start]}
    assert "<script" not in "\n".join(lines)


def _case(made, scenario):
    xml = JUnitXml.fromstring(REPORTS["junit"](made.suite([scenario])).encode("utf-8"))
    return next(iter(next(iter(xml))))


@pytest.mark.parametrize(
    ("expect", "verdict", "outcome"),
    [
        ("matches", Verdict.MATCHES, None),
        ("differs", Verdict.DIFFERS, None),
        ("matches", Verdict.DIFFERS, Failure),
        ("differs", Verdict.MATCHES, Failure),
        ("matches", Verdict.INCONCLUSIVE, Error),
        ("differs", Verdict.INCONCLUSIVE, Error),
        ("matches", Verdict.INVALID, Error),
    ],
)
def test_junit_outcome_follows_from_what_was_expected(made, every_kind, expect, verdict, outcome):
    """A control that is caught passes; what says nothing is an error (oracle: the table above)."""
    scenario = dataclasses.replace(
        every_kind.scenarios[0], expect=expect, verdict=verdict, as_expected=expect == verdict
    )
    case = _case(made, scenario)
    assert [type(r) for r in case.result] == ([outcome] if outcome else [])
    assert "smallest detectable TV" in case.system_out


def test_junit_is_well_formed_and_counts_its_cases(every_kind):
    """XML 1.0 has no escape character and no lone surrogate (oracle: the standard parser)."""
    suite = ET.fromstring(REPORTS["junit"](every_kind)).find("testsuite")
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("11", "2", "4")
    names = [case.get("name") for case in suite.iter("testcase")]
    assert names[0] == "exact"
    assert names[10].startswith("<script>")


class Page(HTMLParser):
    """Every tag with its attributes, and the text between them."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.text = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text.append(data)


def test_html_holds_no_tag_that_the_template_does_not_have(every_kind):
    """Hostile names stay text: no script, no handler, no <b> (oracle: an independent parser)."""
    page = Page(REPORTS["html"](every_kind))
    assert not {"script", "b", "iframe", "link", "object"} & {tag for tag, _ in page.tags}
    assert not any(name.startswith("on") for _, attrs in page.tags for name in attrs)
    assert any("<script>alert('x')</script>" in text for text in page.text)


def test_html_asks_nothing_of_the_network(every_kind):
    """Every address is a fragment or data, and the page's own policy forbids the rest."""
    page = Page(REPORTS["html"](every_kind, {"suite-overview": PNG, "000-exact-law": PNG}))
    addresses = [a[k] for _, a in page.tags for k in ("src", "href") if k in a]
    assert {address.partition(",")[0][:1] for address in addresses} == {"#", "d"}
    policy = [a["content"] for t, a in page.tags if t == "meta" and "http-equiv" in a]
    assert policy[0].startswith("default-src 'none'")
    assert "http" not in "".join(addresses)


def test_html_shows_each_picture_with_its_scenario(every_kind):
    """Pictures go by the index in front of their name (oracle: alternative texts in order)."""
    pictures = {"suite-overview": PNG, "000-a-law": PNG, "010-z-law": PNG, "010-z-convergence": PNG}
    page = Page(REPORTS["html"](every_kind, pictures))
    shown = [attrs["alt"].partition(" of ")[::2] for tag, attrs in page.tags if tag == "img"]
    assert [alt for alt, _ in shown] == ["overview", "law", "law", "convergence"]
    assert [of[:7] for _, of in shown] == ["every-k", "exact", "<script", "<script"]


def test_html_speaks_of_every_scenario_and_its_levels(every_kind):
    """Names, levels, caveats and the manifest are on the page (oracle: the words)."""
    text = " ".join(Page(REPORTS["html"](every_kind)).text)
    for scenario in every_kind.scenarios[:8]:
        assert scenario.name in text
    for words in ("smallest detectable TV", "alpha 1e-06", "delta 1e-06", "32768", "17/20"):
        assert words in text


def test_a_scenario_speaks_through_what_is_judged(every_kind):
    """Its TV is the trace's where only the trace is judged; `law` stays the output's."""
    output = dataclasses.replace(every_kind.scenarios[0].observables[0], judged=False)
    trace = dataclasses.replace(every_kind.scenarios[1].observables[0], observable="trace")
    scenario = dataclasses.replace(every_kind.scenarios[0], observables=(output, trace))
    result = dataclasses.replace(every_kind, scenarios=(scenario,))
    found = plain_json(REPORTS["json"](result))["scenarios"][0]
    assert (found["observable"], found["tv"]) == ("trace", trace.tv)
    assert found["law"]["counts"] == output.counts.tolist()


@pytest.mark.parametrize("name", list(REPORTS))
def test_large_laws_need_no_labels(every_kind, name):
    """Results label no more than 4,096 cells (oracle: the report of the same law with labels)."""
    scenario = every_kind.scenarios[5]
    bare = dataclasses.replace(scenario.observables[0], cells=())
    with_labels, without = (
        REPORTS[name](dataclasses.replace(every_kind, scenarios=(s,)))
        for s in (scenario, dataclasses.replace(scenario, observables=(bare,)))
    )
    assert with_labels == without


@pytest.mark.parametrize("name", ["markdown", "html"])
def test_descriptions_of_several_lines_read_as_prose(every_kind, name):
    """A folded text of a file shows no escapes (oracle: the sentence in one piece)."""
    result = dataclasses.replace(every_kind, description="First line\n  and the second.\n")
    assert "First line and the second." in REPORTS[name](result)


@pytest.mark.parametrize("name", ["markdown", "html", "json"])
def test_a_report_says_where_the_bonus_token_is_not_looked_at(every_kind, name):
    """A horizon that ends with the draft must not pass for more; oracle: the scope that was set."""
    told = "the first 2 tokens jointly; the bonus token is not looked at"
    scoped = [dataclasses.replace(s, scope=told) for s in every_kind.scenarios]
    assert told in REPORTS[name](dataclasses.replace(every_kind, scenarios=tuple(scoped)))
    assert told not in REPORTS[name](every_kind)
