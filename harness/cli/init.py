"""`specharness init`."""

from __future__ import annotations

from pathlib import Path

import click

__all__ = ["init"]

STARTER = {"three-token.yaml": "three-token.yaml", "test_sampler.py": "test_sampler.txt"}


@click.command()
@click.argument(
    "folder", metavar="[DIR]", default="scenarios", type=click.Path(path_type=Path, file_okay=False)
)
def init(folder: Path) -> None:
    """Write a commented starter suite and a pytest example into DIR (default: scenarios).

    Nothing that is there is overwritten: if one of the files exists, none is written.
    """
    from harness.errors import StoreError

    paths = [folder / name for name in STARTER]
    for path in paths:
        if path.exists():
            raise StoreError(f"{path}: is there already; name another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in paths:
            _write(path)
            click.echo(path)
    except OSError as error:
        raise StoreError(f"{folder}: cannot be written: {error.strerror}") from error
    click.echo(f"now: specharness run {folder}; and: pytest {folder / 'test_sampler.py'}")


def _write(path: Path) -> None:
    from importlib.resources import files

    text = (files("harness.cli") / "starter" / STARTER[path.name]).read_text(encoding="utf-8")
    with path.open("x", encoding="utf-8", newline="\n") as file:  # x: never over another's file
        file.write(text)
