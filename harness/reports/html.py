"""HTML: one file that needs nothing else, readable on screen, in the dark and on paper."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined

from harness.engine.result import SuiteResult
from harness.reports.json import INLINE_CELLS, plain
from harness.reports.words import (
    CAVEATS,
    NO_PICTURES,
    number,
    outcome,
    prose,
    setting,
    visible,
)

__all__ = ["render"]

FIRST: Final = ("law", "accounting", "convergence")  # what is read first


def render(result: SuiteResult, pictures: Mapping[str, bytes] = NO_PICTURES, /) -> str:
    """The report as HTML text; names are escaped, and the page may load nothing from outside."""
    return _environment().get_template("report.html").render(
        result=result,
        outcome=outcome(result),
        setting=setting(result),
        caveats=CAVEATS,
        inline_cells=INLINE_CELLS,
        suite_pictures=_shown(pictures, "suite"),
        pictures=[_shown(pictures, f"{i:03d}-") for i in range(len(result.scenarios))],
        stated=[_listed({"facts": s.facts, "settings": s.settings}) for s in result.scenarios],
        manifest=_listed(result.manifest),
    )  # fmt: skip


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("harness.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "visible": visible,
        "number": number,
        "prose": prose,
    }
    return environment


def _listed(values: Mapping[str, object]) -> str:
    return json.dumps(plain(values), indent=1)


def _shown(pictures: Mapping[str, bytes], start: str) -> list[tuple[str, str]]:
    """Alternative text and data URL of the pictures whose name has this start."""
    chosen = {n.rpartition("-")[2]: png for n, png in pictures.items() if n.startswith(start)}
    ranked = sorted(chosen, key=lambda plot: FIRST.index(plot) if plot in FIRST else len(FIRST))
    return [
        (plot, f"data:image/png;base64,{base64.b64encode(chosen[plot]).decode('ascii')}")
        for plot in ranked
    ]
