"""Names as a figure can show them: no mathtext, no missing glyph, no control, no endless line."""

from __future__ import annotations

import functools
import math
import re
import textwrap

from matplotlib.font_manager import FontProperties, findfont, get_font

__all__ = [
    "compact",
    "file_stem",
    "font",
    "mathless",
    "number",
    "short",
    "shown",
    "shown_token",
    "wrapped",
]


def shown(text: str) -> str:
    r"""The text in characters that the font has; others as escapes such as \n or U+1F600."""
    return "".join(_visible(c) for c in text)


def shown_token(token: str, longest: int = 18) -> str:
    r"""A token for an axis: a space as ␣, a backslash as \\, the empty token as ε."""
    plain = shown(token.replace("\\", "\\\\"))
    return short(plain.replace(" ", "␣"), longest) or "ε"


def short(text: str, longest: int) -> str:
    """The text, or its beginning and end around an ellipsis; `longest` counts characters."""
    if len(text) <= longest:
        return text
    end = longest // 3
    return f"{text[: longest - end - 1]}…{text[-end:]}"


def wrapped(text: str, width: int, lines: int) -> str:
    """The text on at most so many lines of `width` characters."""
    return "\n".join(
        textwrap.wrap(shown(text), width, max_lines=lines, placeholder=" …", break_on_hyphens=False)
    )


def mathless(text: str) -> str:
    r"""The text with every $ escaped, for the places where matplotlib would read mathematics."""
    return text.replace("$", r"\$")


def number(value: float) -> str:
    """Three significant digits, thousands apart; a dash where there is no number."""
    if not math.isfinite(value):
        return "–" if math.isnan(value) else "∞"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def compact(value: float) -> str:
    """A number of trials in thousands, millions and so on: 20k, 1M."""
    for unit, name in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= unit:
            return f"{value / unit:.4g}{name}"
    return f"{value:.4g}"


def file_stem(index: int, name: str) -> str:
    """`<index>-<name>` in letters, digits and dashes that every file system takes."""
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    return f"{index:03d}-{plain[:40].strip('-')}".rstrip("-")


@functools.cache
def font(bold: bool = False) -> str:
    """The file of DejaVu Sans, which matplotlib brings along."""
    return findfont(FontProperties(family=["DejaVu Sans"], weight="bold" if bold else "normal"))


def _visible(character: str) -> str:
    if not character.isprintable():
        return character.encode("unicode_escape").decode("ascii")
    return character if ord(character) in _glyphs() else f"U+{ord(character):04X}"


@functools.cache
def _glyphs() -> frozenset[int]:
    return frozenset(get_font(font()).get_charmap())
