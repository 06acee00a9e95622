"""What the script of a page computes from a tape, in Node, beside what the program computes."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tracer.renderers.page
from tracer.data.as_tape import tape_of as tape_of_pass
from tracer.decoder import operations as op
from tracer.decoder.forward import FORWARD, Trace
from tracer.errors import TracerError
from tracer.lesson import entries
from tracer.names import distinct, name_text
from tracer.renderers.page.as_html import ON_TAPE
from tracer.requests.resolve import run_pass
from tracer.scenario.edits import OF_THE_AUTHOR, with_tokens, without
from tracer.scenario.loading import Loaded, Origin, load_text

SCRIPT = Path(tracer.renderers.page.__file__).parent / "script"
RUNNER = Path(__file__).parent / "evaluated.js"
FILES = ON_TAPE
NODE = shutil.which("node")

needs_node = pytest.mark.skipif(NODE is None, reason="needs Node")


def loaded(text: str) -> tuple[Loaded, Trace]:
    """A scenario's text and its pass."""
    found = load_text(text, Origin("scenario", "scenario.yaml", Path()))
    return found, run_pass(found, FORWARD)


def tape_of(text: str) -> Any:
    """The tape of a scenario's text."""
    found, trace = loaded(text)
    tape = tape_of_pass(trace, found.text)
    return tape and tape.data


def run_script(runner: str, given: str) -> str:
    """What a runner prints that uses the script of a page, in Node."""
    assert NODE
    files = [(SCRIPT / f"{name}.js").read_text(encoding="utf-8") for name in FILES]
    ran = subprocess.run(
        [NODE, "--input-type=module", "-e", "\n".join([*files, runner])],
        input=given,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def in_node(tape: Any, edits: Sequence[Any]) -> list[Any]:
    """What the script prints, or why it refuses, after each edit alone; None is no edit."""
    asked = json.dumps({"tape": tape, "edits": list(edits)})
    answers: list[Any] = json.loads(run_script(RUNNER.read_text(encoding="utf-8"), asked))
    return answers


def printed(trace: Trace) -> dict[str, list[str]]:
    """Every number of a pass as it is printed, row by row."""
    found = {}
    for record in trace.records:
        value = record.output
        if value.role.words:
            found[value.address] = [str(word) for word in np.ravel(value.numbers).tolist()]
            continue
        numbers = [entries.number(trace.pencil, value, at) for at in np.ndindex(value.shape)]
        found[value.address] = [format(number.value, "f") for number in numbers]
    return found


def random_edits(tape: Any, random: random.Random, number: int) -> list[Any]:
    """Other numbers at random places of a tape, and settings."""
    places = [place for place, span in enumerate(tape["spans"]) if span]
    edits = [{"place": random.choice(places), "to": other(random)} for _ in range(number) if places]
    for i, setting in enumerate(tape["settings"]):
        choices = [*setting["choices"], *(["0.8", "2.5"] if setting["number"] else [])]
        if setting["kind"] == "tokens":
            tokens = random.choices(choices, k=len(setting["value"].split()))
            edits.append({"setting": i, "to": " ".join(tokens)})
        elif random.random() < 1 / 2:
            edits.append({"setting": i, "to": random.choice(choices)})
    return edits


def other(random: random.Random) -> str:
    """A number as somebody types or drags it."""
    places = random.choice((0, 1, 1, 2, 2, 2, 3, 5))
    size = random.choice((1, 1, 1, 3, 10, 100))
    return str(round(Decimal(random.uniform(-size, size)), places))


def after(text: str, tape: Any, edit: Any) -> Trace | None:
    """The program's pass after an edit of the text; None if it refuses."""
    if edit is None:
        return loaded(text)[1]
    setting = tape["settings"][edit["setting"]] if "setting" in edit else {}
    if setting.get("kind") == "tokens":
        return loaded(without(with_tokens(text, edit["to"].split()), OF_THE_AUTHOR))[1]
    start, end, new = setting.get("change") or (*tape["spans"][edit["place"]], "VALUE")
    try:
        return loaded(text[:start] + new.replace("VALUE", edit["to"]) + text[end:])[1]
    except TracerError:
        return None


def faults(text: str, edits: Sequence[Any] | None = None, *, seed: int = 0) -> list[str]:
    """The edits after which the script prints other numbers than the program."""
    tape = tape_of(text)
    if tape is None:
        return []
    if edits is None:
        edits = random_edits(tape, random.Random(seed), 10)
    found = []
    for edit, answer in zip([None, *edits], in_node(tape, [None, *edits]), strict=True):
        trace, got = after(text, tape, edit), answer.get("printed")
        if trace is None:
            if got is not None:
                found.append(f"{edit}: only the program refuses")
        elif got is None:
            steps = [value["address"] for value in tape["values"]]
            same = steps == [record.output.address for record in trace.records]
            is_setting = edit is not None and "setting" in edit and answer["others"]
            if same and not is_setting and not routes_differ(trace, tape):
                found.append(f"{edit}: only the script refuses: {answer}")
        else:
            found += [
                f"{edit}: {address}: {got.get(address)} in place of {numbers}"
                for address, numbers in printed(trace).items()
                if got.get(address) != numbers and not is_left_out(edit, address, tape)
            ]
            found += wrong_labels(edit, tape, answer["labels"], trace)
    return found


def wrong_labels(edit: Any, tape: Any, labels: list[Any], trace: Trace) -> list[str]:
    """The labels of rows and columns that are not the program's."""
    got = {value["address"]: own for value, own in zip(tape["values"], labels, strict=True)}
    expected = {
        record.output.address: [list(map(name_text, distinct(axis.labels))) for axis in axes]
        for record in trace.records
        for axes in [record.output.axes]
    }
    return [
        f"{edit}: {address}: {got[address]} in place of {own}"
        for address, own in expected.items()
        if address in got and got[address] != own
    ]


def is_left_out(edit: Any, address: str, tape: Any) -> bool:
    """Whether a value has another form beside a setting: a scale that is typed has no root."""
    return "setting" in edit and address not in {value["address"] for value in tape["values"]}


def routes_differ(trace: Trace, tape: Any) -> bool:
    """Whether tokens go to other experts than on the tape."""
    shapes = {value["address"]: value for value in tape["values"]}
    return any(
        isinstance(record.operation, op.Keep)
        and record.operation.columns
        != tuple(map(tuple, shapes[record.output.address]["operation"]["columns"]))
        for record in trace.records
    )
