"""Whole outputs, read by a person once and compared ever after.

`pytest --snapshot-update` writes them anew; read the difference before committing it.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from syrupy.location import PyTestLocation

from tests.helpers.command import printed

SNAPSHOTS = Path(__file__).parent.parent / "snapshots"


class TextFile(SingleFileSnapshotExtension):
    """One text file for each output, in the project's snapshots folder."""

    _write_mode = WriteMode.TEXT
    file_extension = "txt"

    @classmethod
    def dirname(cls, *, test_location: PyTestLocation) -> str:
        return str(SNAPSHOTS / test_location.basename)


COMMANDS = {
    "alex": ("run", "alex.yaml"),
    "alex-emma-line": ("run", "alex.yaml", "--token", "Emma", "--carry", "line"),
    "science": ("run", "science.yaml"),
    "science-first-never": ("run", "science.yaml", "--token", "1", "--carry", "never"),
    "blocks": ("run", "blocks.yaml"),
    "experts": ("run", "experts.yaml", "--token", "dogs"),
    "attention": ("step", "attention", "--token", "4"),
}


FORMATS = {
    "alex.md": ("tutorial", "alex.yaml"),
    "science-math.md": ("tutorial", "science.yaml", "--math"),
    "science.tex": ("run", "science.yaml", "--format", "latex", "--standalone"),
    "softmax.json": ("step", "softmax", "-s", "science.yaml", "--format", "json"),
    "picture.md": ("tutorial", "picture.yaml"),
    "lora.md": ("tutorial", "lora.yaml"),
    "lora.txt": ("train", "lora.yaml"),
    "attribute.txt": ("attribute", "output[Alex,cheap]"),
    "attribute-score.txt": ("attribute", "layer1.attention.head1.scores[Alex,Frank]"),
    "given.txt": ("lens", "pizza.yaml", "--given", "layer1.attention.head1.output=mean"),
    "attribute.md": (
        *("attribute", "logits[la,pizza]", "-s", "pizza.yaml", "--instead-of", "la"),
        *("--by", "token", "--format", "markdown"),
    ),
    "attribute.tex": ("attribute", "output[Alex,cheap]", "--brief", "--format", "latex"),
    "why.txt": ("why", "layer1.attention.head1.weights[Alex,Frank]"),
    "compare.txt": (
        *("compare", "lora.yaml", "--text", "bank river", "--sweep", "tokens"),
        *("--patch", "layer1.attention.head1.weights"),
    ),
    "compare-layers-tokens.md": (
        *("compare", "pizza.yaml", "--text", "<START> odio gusta la pizza"),
        *("--sweep", "layers-tokens", "--format", "markdown"),
    ),
    "lens.txt": ("lens", "pizza.yaml", "--word", "la"),
    "loss.txt": ("loss", "pizza.yaml"),
    "training.txt": ("train", "science.yaml"),
    "training.md": ("train", "comics.yaml", "--steps", "3", "--format", "markdown"),
    "training.tex": ("train", "alex-learns.yaml", "--optimizer", "adam", "--format", "latex"),
    "beams.txt": ("generate", "pizza.yaml", "--beams", "2", "--max-tokens", "3"),
    "turns.txt": ("generate", "pizza.yaml", "--kv-cache", "--top-k", "3", "--seed", "1"),
}


@pytest.mark.parametrize("name", FORMATS)
def test_format(name: str, snapshot: SnapshotAssertion) -> None:
    assert printed(*FORMATS[name]) == snapshot(extension_class=TextFile)


PICTURES = {
    "alex.output.parts.svg": ("attribute", "output[Alex,cheap]"),
    "pizza.logits.heads.svg": ("attribute", "logits[la,pizza]", "-s", "pizza"),
}


@pytest.mark.parametrize("name", PICTURES)
def test_picture(name: str, snapshot: SnapshotAssertion, tmp_path: Path) -> None:
    printed(*PICTURES[name], "--figures", str(tmp_path))
    assert (tmp_path / name).read_text(encoding="utf-8") == snapshot(extension_class=TextFile)


WIDE = [("attention", 120)]
"""Matrices stand beside each other there, and formulas at the right of titles."""


@pytest.mark.parametrize(("name", "width"), [*((name, 80) for name in COMMANDS), *WIDE])
def test_output(name: str, width: int, snapshot: SnapshotAssertion) -> None:
    text = printed(*COMMANDS[name], width=width)
    assert text == snapshot(extension_class=TextFile)
