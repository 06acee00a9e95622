"""Request → answer: each answer is computed from its files as they are now."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.command import printed
from tests.helpers.small_scenario import SMALL
from tracer.requests.loader import FILES, load, parse
from tracer.requests.request import Request
from tracer.requests.resolve import Engine

BEFORE = (
    f"{SMALL}vocabulary: [a, b]\nunembedding: {{W_U: [[1, 0], [0, 1]]}}\n"
    "rounding: {decimals: 2, carry: never}\n"
)
AFTER = BEFORE.replace("tokens: [a, b]", "tokens: [b, a, b]").replace(
    "W_1: [[1], [2]]", "W_1: [[2], [2]]"
)
FIGURES = "figures:\n- {line: 1, address: embedding, row: 1, column: 1, printed: 1}\n"

ASKED = {
    "run": "",
    "step": "query -s",
    "steps": "",
    "shapes": "",
    "why": "gradient.layer1.ffn.W_1[1,1] -s",
    "attribute": "output[1,1] -s",
    "value": "update.layer1.ffn.W_1[1,1] -s",
    "lens": "-f json",
    "compare": "--train",
    "loss": "",
    "train": "",
    "generate": "--max-tokens 2",
    "tutorial": "--train",
    "page": "--train -o x.html",
    "check": "",
}


def scenario(folder: Path, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "mine.yaml").write_text(text, encoding="utf-8")
    (folder / "mine.figures.yaml").write_text(FIGURES, encoding="utf-8")
    return folder


def test_these_are_the_requests() -> None:
    assert set(ASKED) == {name for name in FILES if issubclass(load(name), Request)}


@pytest.mark.parametrize("command", ASKED)
def test_a_file_that_has_changed_is_read_again(command: str, tmp_path: Path) -> None:
    def answered(folder: Path) -> str | bytes:
        request = parse([command, *ASKED[command].split(), "mine.yaml"])
        assert isinstance(request, Request)
        request.folder = folder
        return request.rendered(request.answer(Engine()).content)

    here = scenario(tmp_path / "here", BEFORE)
    first = answered(here)
    scenario(here, AFTER)
    again = answered(here)
    never_read_before = scenario(tmp_path / "elsewhere", AFTER)
    assert first != again == answered(never_read_before)


def test_standard_input_is_read_once(tmp_path: Path) -> None:
    file = tmp_path / "stdin.yaml"  # which goes by the same name
    file.write_text(BEFORE, encoding="utf-8")
    shown = printed("tutorial", "-", "--train", stdin=BEFORE)
    assert shown == printed("tutorial", str(file), "--train")


def test_what_is_saved_is_trained_from_the_file_as_it_is(tmp_path: Path) -> None:
    file, saved = str(scenario(tmp_path, BEFORE) / "mine.yaml"), tmp_path / "saved.yaml"
    printed("train", file, "--save", str(saved))
    first = saved.read_text(encoding="utf-8")
    scenario(tmp_path, BEFORE.replace("W_1: [[1], [2]]", "W_1: [[2], [2]]"))
    printed("train", file, "--save", str(saved), "--force")
    assert saved.read_text(encoding="utf-8") != first
