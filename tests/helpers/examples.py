"""The examples of the documentation: fences, their commands, and the files that these need.

The tests and the builder of the site run them.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np

from tests.helpers.command import SERVED

ROOT = Path(__file__).parents[2]
DOCS = ROOT / ".github" / "docs"
REPORTING = ("audit", "check")
"""Commands that exit with 1 if they find something."""
TRAINED = "paris"
"""The scenario that needs a package with the weights of a trained model."""


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def fences(page: Path | str, language: str) -> list[str]:
    """The examples of a page in a language."""
    fenced = rf"^```{language}\n(.*?)^```$"
    return re.findall(fenced, text_of(DOCS / page), flags=re.MULTILINE | re.DOTALL)


def minimal() -> str:
    """The minimal scenario; the other fences of its page replace keys of it."""
    return fences("scenarios.md", "yaml")[0]


def audited() -> str:
    """What the audit's page shows of a report."""
    return text_of(DOCS / "audit.md").split("<!-- audit -->\n```text\n")[1].partition("```\n")[0]


def is_command(line: str) -> bool:
    return line.startswith("decoder-trace ")


def words_of(line: str) -> list[str]:
    """The arguments of a line that begins with `decoder-trace`."""
    return shlex.split(line)[1:]


def is_served(words: list[str]) -> bool:
    return words[0] in SERVED


def allowed_codes(words: list[str]) -> tuple[int, ...]:
    """The exit codes with which an example may end."""
    return (0, 1) if words[0] in REPORTING else (0,)


def write_files(folder: Path) -> None:
    """Write the files that the pages speak of."""
    text = fences("own-text.md", "markdown")[0] + audited().splitlines()[1].partition(" | ")[2]
    (folder / "docs").mkdir()
    for name in ("text.md", "README.md", "docs/text.md"):
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "my.yaml").write_text(minimal(), encoding="utf-8")
    (folder / "my.figures.yaml").write_text(fences("own-text.md", "yaml")[0], encoding="utf-8")
    (folder / "pairs.yaml").write_text(fences("attribution.md", "yml")[0], encoding="utf-8")
    np.savez(folder / "dump.npz", input=[[0.9, 0.1], [0.4, 0.8]])
    for other in ("before", "after", "jax"):
        arrays = {"blocks.0.attn": np.eye(2)}
        np.savez(folder / f"{other}.npz", **arrays)  # type: ignore[arg-type]
    np.savez(folder / "torch.npz", **{"layers.0.attention": np.eye(2)})  # type: ignore[arg-type]
    (folder / "names.yaml").write_text("blocks.*.attn: layers.*.attention\n", encoding="utf-8")


def write_titled(text: str, folder: Path) -> None:
    """Write the fences of a text that have a file name as their title."""
    for name, content in re.findall(
        r'^```\w+ title="([^"]+)"\n(.*?)^```$', text, re.MULTILINE | re.DOTALL
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
