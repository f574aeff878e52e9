"""The page that all pictures share: sizes in inches, colours, titles, and files.

Colours are those of Okabe and Ito (2008), told apart by the colour-blind; every meaning has a shape
or a hatch too, so that a grey print loses nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.text import Text
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from harness.engine.result import Verdict
from harness.plots.labels import font, mathless, number, wrapped

__all__ = [
    "BLUE",
    "FAINT",
    "GREY",
    "INK",
    "MARKS",
    "ORANGE",
    "RED",
    "VERDICTS",
    "WIDTH",
    "Key",
    "keys",
    "log_axis",
    "new_page",
    "panel",
    "plain_ticks",
    "titles",
    "write",
]

INK, FAINT, GREY = "#1b1b1b", "#5c5c5c", "#cfcfcf"
BLUE, ORANGE, RED, GREEN, PURPLE = "#0072B2", "#E69F00", "#D55E00", "#009E73", "#CC79A7"

VERDICTS: Final[Mapping[Verdict, tuple[str, str]]] = MappingProxyType(
    {  # colour and marker
        Verdict.MATCHES: (GREEN, "o"),
        Verdict.DIFFERS: (RED, "D"),
        Verdict.INCONCLUSIVE: (ORANGE, "s"),
        Verdict.INVALID: (PURPLE, "X"),
    }
)

MARKS: Final[Mapping[bool, tuple[str, str]]] = MappingProxyType(
    {False: (BLUE, "o"), True: (RED, "s")}  # is it off?
)

WIDTH: Final = 7.6  # inches, of every page
TITLE_WIDTH, SUBTITLE_WIDTH = 78, 126  # characters that fit on a line of the page
DOTS_PER_INCH: Final = 100

NO_METADATA: Final[Mapping[str, dict[str, Any]]] = MappingProxyType(
    {
        ".png": {"Software": None},
        ".svg": {"Date": None},
    }  # no version, no clock: files compare equal
)

Key = tuple[str, str, str]  # a glyph, its colour, what it stands for


def new_page(height: float) -> Figure:
    """An empty figure of the common width, on white."""
    figure = Figure(figsize=(WIDTH, height), dpi=DOTS_PER_INCH, facecolor="white")
    FigureCanvasAgg(figure)
    return figure


def panel(figure: Figure, left: float, bottom: float, width: float, height: float) -> Axes:
    """Axes at a place in inches, with a left and a bottom line only."""
    wide, high = figure.get_size_inches()
    axes = figure.add_axes((left / wide, bottom / high, width / wide, height / high))
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(FAINT)
    axes.tick_params(labelsize=8, color=FAINT, labelcolor=INK, length=3)
    axes.xaxis.label.set_fontsize(8.5)
    axes.yaxis.label.set_fontsize(8.5)
    return axes


def titles(figure: Figure, finding: str, details: str) -> None:
    """The finding in bold, and below it where it comes from."""
    high = figure.get_size_inches()[1]
    bold = wrapped(finding, TITLE_WIDTH, 2)
    below = 0.14 + 0.2 * (bold.count("\n") + 1)
    text: dict[str, Any] = {"x": 0.15 / WIDTH, "va": "top", "ha": "left", "parse_math": False}
    figure.text(y=1 - 0.12 / high, s=bold, size=11, weight="bold", color=INK, **text)
    small = wrapped(details, SUBTITLE_WIDTH, 2)
    figure.text(y=1 - below / high, s=small, size=8, color=FAINT, linespacing=1.3, **text)


def keys(axes: Axes, entries: Sequence[Key]) -> None:
    """What the marks mean, in a line above the axes, each in its own colour."""
    place, box = 0.0, axes.get_window_extent()
    wide, high = box.width / DOTS_PER_INCH, box.height / DOTS_PER_INCH
    above = 1 + 0.06 / high
    for glyph, colour, meaning in entries:
        style: dict[str, Any] = {"transform": axes.transAxes, "va": "bottom", "size": 8}
        axes.text(place, above, glyph, color=colour, **style)
        axes.text(place + 0.14 / wide, above, meaning, color=INK, **style)
        place += (0.3 + 0.062 * len(meaning)) / wide


def plain_ticks(axes: Axes, places: Sequence[float], names: Sequence[str], size: float = 8) -> None:
    """Names on the vertical axis, first one on top, never read as mathematics."""
    axes.set_yticks(places, [mathless(name) for name in names], fontsize=size)
    axes.invert_yaxis()
    axes.tick_params(axis="y", length=0)


def log_axis(axes: Axes, which: str) -> None:
    """A logarithmic axis with few ticks, labelled in plain numbers."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    (axes.set_xscale if which == "x" else axes.set_yscale)("log")
    axis.set_major_locator(LogLocator(numticks=6))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))


def write(figure: Figure, stem: Path, kinds: Iterable[str] = ("png", "svg")) -> list[Path]:
    """Save a figure under `stem` with each ending; the same figure gives the same PNG."""
    _one_font(figure)
    paths = [stem.with_name(f"{stem.name}.{kind}") for kind in kinds]
    for path in paths:
        figure.savefig(path, metadata=NO_METADATA.get(path.suffix))
    return paths


def _one_font(figure: Figure) -> None:
    """Set every text in the font that `shown` asks for glyphs, whatever the user has configured."""
    for axes in figure.axes:
        axes.get_xticklabels()  # makes the labels that are to be set
        axes.get_yticklabels()
    for text in figure.findobj(Text):
        if isinstance(text, Text) and text.get_text():
            bold = text.get_fontweight() == "bold"
            text.set_fontproperties(FontProperties(fname=font(bold), size=text.get_fontsize()))
