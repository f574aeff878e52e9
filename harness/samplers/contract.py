"""What a sampler from outside has to hand back, checked once, at the border."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from harness.arrays import Bits, Tokens, token_dtype
from harness.errors import SamplerFailure
from harness.trials import NO_TOKEN

__all__ = ["THEIRS", "committed_tokens", "cut_after", "generated_tokens", "row_lengths"]

# What their code may raise and is a finding. Uncaught, SystemExit would end the run with their exit
# code, and a failing gate would be green; KeyboardInterrupt is the user's.
THEIRS: Final = (Exception, SystemExit, GeneratorExit)


def committed_tokens(answer: Any, n: int, draft_length: int, vocabulary: int) -> Tokens:  # noqa: ANN401 (whatever came back)
    """Committed tokens (n, k + 1) of a verifier, one column contiguous.

    Raises SamplerFailure for another shape, a dtype that is not an integer, a token out of range, a
    row without a token, or a token after -1.
    """
    tokens = _tokens(answer, (n, draft_length + 1), vocabulary, "verify")
    _check_rows(tokens, "verify")
    return tokens


def generated_tokens(
    answer: Any,  # noqa: ANN401 (whatever came back)
    n: int,
    horizon: int,
    vocabulary: int,
    end: int | None,
) -> Tokens:
    """Tokens (n, horizon) of a generator, -1 after the end token only.

    Raises SamplerFailure as `committed_tokens` does, and for a trial that ends before the horizon
    without the end token.
    """
    tokens = _tokens(answer, (n, horizon), vocabulary, "generate")
    _check_rows(tokens, "generate")
    tokens = cut_after(tokens, end)
    _check_ends(tokens, end)
    return tokens


def cut_after(tokens: Tokens, end: int | None) -> Tokens:
    """The same tokens, -1 after the first `end` of each row."""
    if end is None:
        return tokens
    ended = np.logical_or.accumulate(tokens == end, axis=1)
    after = np.zeros_like(ended)
    after[:, 1:] = ended[:, :-1]
    return np.asfortranarray(np.where(after, tokens.dtype.type(NO_TOKEN), tokens))


def row_lengths(tokens: Tokens) -> Tokens:
    """How many tokens each row (n,) holds."""
    return (tokens != NO_TOKEN).sum(axis=1, dtype=np.int64)


def _tokens(answer: Any, shape: tuple[int, int], vocabulary: int, who: str) -> Tokens:  # noqa: ANN401
    try:
        found = np.asarray(answer)
    except (TypeError, ValueError, RuntimeError) as error:
        raise SamplerFailure(f"{who} returned no array: {error}") from error
    if found.shape != shape:
        raise SamplerFailure(f"{who} returned shape {found.shape}, not {shape}")
    _check_dtype(found, who)
    outside = (found < NO_TOKEN) | (found >= vocabulary)
    if outside.any():
        place = _first(outside)
        raise SamplerFailure(
            f"{who} returned token {found[place]} in row {place[0]}, position {place[1]}: "
            f"tokens are 0 to {vocabulary - 1}, or -1 after the last"
        )
    return np.asfortranarray(found, dtype=token_dtype(vocabulary))


def _check_dtype(found: np.ndarray, who: str) -> None:
    if np.issubdtype(found.dtype, np.integer):
        return
    if np.issubdtype(found.dtype, np.floating) and not np.isfinite(found).all():
        place = _first(~np.isfinite(found))
        raise SamplerFailure(f"{who} returned {found[place]} in row {place[0]}, not a token")
    raise SamplerFailure(f"{who} returned dtype {found.dtype}, not integers")


def _check_rows(tokens: Tokens, who: str) -> None:
    missing = tokens == NO_TOKEN
    if missing[:, 0].any():
        row = int(np.argmax(missing[:, 0]))
        raise SamplerFailure(f"{who} committed no token in row {row}")
    again = missing[:, :-1] & ~missing[:, 1:]
    if again.any():
        row, position = _first(again)
        raise SamplerFailure(
            f"{who} returned a token after -1 in row {row}, position {position + 1}"
        )


def _check_ends(tokens: Tokens, end: int | None) -> None:
    short = tokens[:, -1] == NO_TOKEN
    if end is not None:
        short &= ~(tokens == end).any(axis=1)
    if short.any():
        row = int(np.argmax(short))
        length = int(row_lengths(tokens[row : row + 1])[0])
        raise SamplerFailure(
            f"generate stopped after {length} of {tokens.shape[1]} tokens in row {row}"
        )


def _first(where: Bits) -> tuple[int, int]:
    row, position = np.unravel_index(int(np.argmax(where)), where.shape)
    return int(row), int(position)
