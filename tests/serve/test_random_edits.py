"""Random edits of bundled scenarios: what is served is what the commands print of its text."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.helpers.bundled import TYPED
from tests.helpers.command import printed
from tests.helpers.every_judge import faults_of_page, faults_of_terminal
from tests.helpers.page_data import values_of_page
from tests.helpers.server import Answer, Server, served
from tests.helpers.truth import false_equations, unreadable

REFUSED = 400


def numbers(document: Any) -> list[tuple[str, list[int]]]:
    """The address and the shape of each given value of numbers."""
    return [
        (value["address"], value["shape"])
        for value in document["values"]
        if value["operation"] == "given" and not isinstance(_first(value["data"]), str)
    ]


def _first(data: Any) -> Any:
    while isinstance(data, list):
        data = data[0] if data else 0
    return data


def drawn(chance: random.Random) -> str:
    """A number as somebody may type it."""
    size = chance.choice((0, 1, 1, 2, 2, 3))
    number = f"{chance.uniform(-2, 2):.{size}f}"
    return chance.choice((number, number, number, "0", "1e1", "-0", "7", "0.5000"))


def asked(chance: random.Random, document: Any, text: str) -> tuple[str, Any]:
    """The path and the body of a random request."""
    what = chance.random()
    if what < 0.05:
        return "/undo", None
    if what < 0.08:
        return "/reset", None
    if what < 0.14:
        settings = (
            ("mask", ("none", "causal", "{window: 2}", "x")),
            ("unembedding.scale", ("0.5", "2", "0", "-1")),
            ("layer1.attention.scale", ("none", "sqrt", "2")),
            ("layer1.norm", ("none", "layer_norm", "rms_norm")),
            ("layer1.norm.placement", ("pre", "post")),
            ("layer1.ffn.activation", ("gelu", "relu", "silu", "none")),
        )
        name, values = chance.choice(settings)
        return "/edit", {"control": name, "value": chance.choice(values)}
    if what < 0.2:
        data = yaml.load(text, yaml.BaseLoader)
        words = list(data.get("embeddings") or ["a"])
        return "/edit", {"tokens": chance.choices(words, k=chance.randint(1, 5))}
    address, shape = chance.choice(numbers(document))
    at: list[int | None] = [chance.randint(1, size) for size in shape]
    row, column = [None, *at] if len(at) == 1 else (at or [None, None])
    return "/edit", {"address": address, "row": row, "column": column, "number": drawn(chance)}


def worked_lines(html: str) -> str:
    """The line of each number of a page, as a text that the judge of equations reads."""
    lines = []
    for value in values_of_page(html):
        for entry in value["entries"].values():
            if "work" in entry:
                pieces = [p if isinstance(p, str) else p[0] for p in entry["work"]]
                lines.append(f"    x: {''.join(pieces)} {entry['sign']} {entry['result']}\n")
    return "".join(lines)


def faults(text: str, html: str, name: str, folder: Path, document: str) -> list[str]:
    """What the page or the JSON of a scenario's text has that is false, or not of this text."""
    file = folder / f"{name}.yaml"
    file.write_bytes(text.encode())
    lines = worked_lines(html)
    slopes = ("ReLU′", "LeakyReLU′")
    return [
        *(["trace.json"] if document != printed("run", str(file), "--format", "json") else []),
        *faults_of_page(html),
        *faults_of_terminal(printed("run", str(file)), yaml.safe_load(text)),
        *(f"false: {e.text}: {why}" for e, why in false_equations(lines)),
        *(line for line in unreadable(lines) if not any(slope in line for slope in slopes)),
    ]


def is_one_number(before: str, after: str, number: str) -> bool:
    """Whether two texts differ in a single number."""
    at = next((i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), 0)
    # The number begins before its first character that differs.
    start = len(before[:at].rstrip("-+.0123456789eE"))
    if not after.startswith(number, start):
        return False
    old = re.match(r"[-+.0-9eE]+", before[start:])
    return old is not None and before[start + old.end() :] == after[start + len(number) :]


def edited(server: Server, name: str, edits: int, seed: int, folder: Path) -> tuple[int, int]:
    """Make random edits, and judge the state after each; how many were made and refused."""
    chance = random.Random(f"{seed} {name}")
    first, made, refused = server.get("/scenario.yaml"), 0, 0
    assert first == TYPED[name].read_text(encoding="utf-8")
    before, states = first, [first]
    document = server.get("/trace.json")
    for _ in range(edits):
        path, body = asked(chance, json.loads(document), before)
        answer = server.ask("POST", path, body)
        text, document = server.get("/scenario.yaml"), server.get("/trace.json")
        if answer.status == REFUSED:
            refused += 1
            assert_refused(answer)
            assert text == before
            continue
        assert answer.status == 200, answer.text
        made += 1
        assert answer.text == server.get("/")
        match path:
            case "/undo":
                states = states[:-1] or states
                assert text == states[-1]
            case "/reset":
                assert text == first
                states += [text] if text != before else []
            case _:
                states.append(text)
        if body and "number" in body and text != before:
            assert is_one_number(before, text, body["number"]), (body, before, text)
        assert faults(text, answer.text, name, folder, document) == [], (body, text)
        before = text
    return made, refused


def assert_refused(answer: Answer) -> None:
    assert answer.text.strip()
    assert "Traceback" not in answer.text
    assert "internal error" not in answer.text


@pytest.mark.parametrize("name", ["science"])
def test_random_edits(name: str, tmp_path: Path) -> None:
    with served(TYPED[name]) as server:
        made, _ = edited(server, name, 4, 1, tmp_path)
    assert made


@pytest.mark.fuzz
@pytest.mark.parametrize("name", sorted(TYPED))
def test_many_random_edits(name: str, tmp_path: Path) -> None:
    """1,000 over all of them."""
    with served(TYPED[name]) as server:
        made, refused = edited(server, name, 1000 // len(TYPED) + 1, 2, tmp_path)
    assert made > refused
