"""Request → answer: each answer is computed from its files as they are now."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.helpers.command import printed
from tests.helpers.small_scenario import SMALL
from tracer.renderers import Format
from tracer.requests.options import COMMANDS
from tracer.requests.output import rendered
from tracer.requests.pipeline import answer
from tracer.requests.request import Command, Request
from tracer.scenario.writer import written

BEFORE = (
    f"{SMALL}vocabulary: [a, b]\nunembedding: {{W_U: [[1, 0], [0, 1]]}}\n"
    "rounding: {decimals: 2, carry: never}\n"
)
AFTER = BEFORE.replace("tokens: [a, b]", "tokens: [b, a, b]").replace(
    "W_1: [[1], [2]]", "W_1: [[2], [2]]"
)
FIGURES = "figures:\n- {line: 1, address: embedding, row: 1, column: 1, printed: 1}\n"

ASKED = {
    "step": {"name": "query"},
    "why": {"entry": ("gradient.layer1.ffn.W_1[1,1]",)},
    "attribute": {"entry": ("output[1,1]",)},
    "value": {"entry": ("update.layer1.ffn.W_1[1,1]",)},
    "lens": {"format": Format.JSON},
    "compare": {"train": True},
    "generate": {"max_tokens": 2},
    "tutorial": {"train": True},
    "page": {"train": True, "output": Path("x.html")},
}


def scenario(folder: Path, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "mine.yaml").write_text(text, encoding="utf-8")
    (folder / "mine.figures.yaml").write_text(FIGURES, encoding="utf-8")
    return folder


@pytest.mark.parametrize("command", COMMANDS)
def test_a_file_that_has_changed_is_read_again(command: Command, tmp_path: Path) -> None:
    request = Request(command, "mine.yaml", **ASKED.get(command, {}))  # type: ignore[arg-type]
    here = replace(request, folder=scenario(tmp_path / "here", BEFORE))
    first = answer(here)
    scenario(here.folder, AFTER)
    again = answer(here)
    never_read_before = replace(request, folder=scenario(tmp_path / "elsewhere", AFTER))
    texts = [rendered(here, each.content) for each in (first, again, answer(never_read_before))]  # type: ignore[arg-type]
    assert texts[0] != texts[1] == texts[2]


def test_standard_input_is_read_once(tmp_path: Path) -> None:
    file = tmp_path / "stdin.yaml"  # which goes by the same name
    file.write_text(BEFORE, encoding="utf-8")
    shown = printed("tutorial", "-", "--train", stdin=BEFORE)
    assert shown == printed("tutorial", str(file), "--train")


def test_what_is_saved_is_trained_from_the_file_as_it_is(tmp_path: Path) -> None:
    here = Request("train", "mine.yaml", scenario(tmp_path, BEFORE))
    first = answer(here).trained
    scenario(tmp_path, BEFORE.replace("W_1: [[1], [2]]", "W_1: [[2], [2]]"))
    again = answer(here).trained
    assert first and again and written(first) != written(again)
