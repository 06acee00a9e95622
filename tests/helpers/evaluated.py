"""What the script of a page computes from a tape, in Node, beside what the program computes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

import numpy as np

from tests.helpers.script_in_node import Script
from tests.helpers.truth import false_equations
from tests.helpers.worked_in_script import Program
from tracer.data.as_tape import tape_of as tape_of_pass
from tracer.decoder import operations as op
from tracer.decoder.forward import FORWARD, PassOptions, Trace
from tracer.errors import TracerError
from tracer.lesson import entries
from tracer.names import distinct, name_text
from tracer.renderers.text import number_text
from tracer.requests.resolve import run_pass
from tracer.scenario.edits import OF_THE_AUTHOR, with_tokens, without
from tracer.scenario.loading import Loaded, Origin, load_text

RUNNER = Path(__file__).with_suffix(".js")

Edit: TypeAlias = Mapping[str, Any]
"""Another number `to` at a `place` of the scenario, or another value of a `setting`."""

FAR = ("1000", "-1000", "12345.678", "-1e6", "1e9", "3e-7", "-0.0000021", "1e20", "-1e-20")
FORMS = ("+.5", "5.", "-.25", "0.5000", "1E2", "-0", "0.333333333333333333333")

LINES = 40
"""The entries of a state whose lines are compared."""

WITH_LOSS = PassOptions(loss=True)


def loaded(text: str, options: PassOptions = FORWARD) -> tuple[Loaded, Trace]:
    """A scenario's text and its pass."""
    found = load_text(text, Origin("scenario", "scenario.yaml", Path()))
    return found, run_pass(found, options)


def loss_if_any(text: str) -> PassOptions:
    """The options of a pass that ends with the loss, if the scenario has one.

    Raises:
        TracerError: the program refuses the scenario.
    """
    try:
        loaded(text, WITH_LOSS)
    except TracerError:
        loaded(text)
        return FORWARD
    return WITH_LOSS


def tape_of(text: str, options: PassOptions = FORWARD) -> Any:
    """The tape of a scenario's text; None if a script cannot compute it."""
    found, trace = loaded(text, options)
    tape = tape_of_pass(trace, found.text)
    return tape and tape.data


# --- edits ---------------------------------------------------------------------------------------


def random_states(tape: Any, random: Random, number: int) -> list[list[Edit]]:
    """So many states, each with one to three edits, and some with another setting."""
    present = numbers_of(tape)
    places = [place for place, span in enumerate(tape["spans"]) if span and place in present]
    if not places:
        return []
    states = []
    for _ in range(number):
        edits: list[Edit] = [
            {"place": place, "to": other(random, present[place], list(present.values()))}
            for place in random.sample(places, min(len(places), random.choice((1, 1, 2, 3))))
        ]
        if tape["settings"] and random.random() < 1 / 6:
            i = random.randrange(len(tape["settings"]))
            setting = tape["settings"][i]
            typed = ["0.8", "2.5", "-1", "0.01"] if setting["number"] else []
            to = random.choice([*setting["choices"], *typed])
            if setting["kind"] == "tokens":
                to = " ".join(random.choices(setting["choices"], k=len(setting["value"].split())))
            edits[-1] = {"setting": i, "to": to}
        states.append(edits)
    return states


def numbers_of(tape: Any) -> dict[int, str]:
    """The number at each place of the scenario."""
    return {
        place: number
        for value in tape["values"]
        for place, number in zip(value.get("places", ()), value.get("numbers", ()), strict=False)
    }


def other(random: Random, present: str, others: Sequence[str]) -> str:
    """A number as somebody types it, or reaches it by dragging far in either direction."""
    kind = random.random()
    if kind < 0.6:
        places = random.choice((0, 1, 1, 2, 2, 2, 3, 5))
        size = random.choice((1, 1, 1, 3, 10, 100))
        return str(round(Decimal(random.uniform(-size, size)), places))
    if kind < 0.7:
        return "0"
    if kind < 0.8:
        tie = random.choice((-1, 1)) * Decimal(random.choice(others))
        return format(tie, "f") if tie.is_finite() else "-1"
    if kind < 0.96:
        step = Decimal(random.choice((-1, 1))).scaleb(random.choice((-3, -2, -1, 0)))
        return format(Decimal(present) + step, "f") if Decimal(present).is_finite() else "0.5"
    return random.choice((*FAR, *FORMS))


def text_after(text: str, tape: Any, edits: Sequence[Edit]) -> str:
    """The text of a scenario with edits."""
    changes = {}
    tokens: list[str] = []
    for edit in edits:
        setting = tape["settings"][edit["setting"]] if "setting" in edit else {}
        if setting.get("kind") == "tokens":
            tokens = edit["to"].split()
            continue
        if setting:
            start, end, new = setting["change"]
        else:
            (start, end), new = tape["spans"][edit["place"]], "VALUE"
        changes[start, end] = new.replace("VALUE", edit["to"])
    for (start, end), new in sorted(changes.items(), reverse=True):
        text = text[:start] + new + text[end:]
    return without(with_tokens(text, tokens), OF_THE_AUTHOR) if tokens else text


# --- comparison ----------------------------------------------------------------------------------


@dataclass
class Compared:
    """The states that were compared, and what differs; those that only the script refuses."""

    states: int = 0
    faults: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


def compare(script: Script, text: str, random: Random, number: int, into: Compared) -> None:
    """Compare random states of a scenario, and the first one; none if there is no tape.

    Raises:
        TracerError: the program refuses the scenario.
    """
    # Other tokens are the targets of others, but a page's tape has no loss.
    options = loss_if_any(text) if random.random() < 1 / 2 else FORWARD
    tape = tape_of(text, options)
    if tape and options is WITH_LOSS:
        tape["settings"] = [each for each in tape["settings"] if each["kind"] != "tokens"]
    if tape is None:
        return
    numbers = [
        (of, at)
        for of, value in enumerate(tape["values"])
        if not value.get("words")
        for at in range(int(np.prod(value["shape"])))
    ]
    states = [[], *random_states(tape, random, number)]
    asked = [random.sample(numbers, min(LINES, len(numbers))) for _ in states]
    questions = [
        {"edits": edits, "lines": lines} for edits, lines in zip(states, asked, strict=True)
    ]
    answers = script.answer({"tape": tape, "states": questions})
    for edits, lines, answer in zip(states, asked, answers, strict=True):
        into.states += 1
        made = edits[: answer.get("edits")]
        try:
            trace = loaded(text_after(text, tape, made), options)[1]
        except TracerError as error:
            found = [] if "refused" in answer else [f"only the program refuses: {error}"]
        else:
            found = judged(trace, tape, answer, lines)
            into.refused += [answer["refused"]] if "refused" in answer else []
        if found:
            into.faults.append(f"{made}: {found[0]}; {len(found)} in all")


def judged(trace: Trace, tape: Any, answer: Any, lines: Sequence[tuple[int, int]]) -> list[str]:
    """What is wrong with the answer in a state that the program computes."""
    if "refused" not in answer:
        return differences(trace, tape, answer, lines)
    is_other = answer["others"] and is_other_tape(trace, tape)
    return [] if is_other else [f"only the script refuses: {answer['refused']}"]


def is_other_tape(trace: Trace, tape: Any) -> bool:
    """Whether a pass has other steps than the tape, or tokens go to other experts."""
    values = {value["address"]: value for value in tape["values"]}
    if [record.output.address for record in trace.records] != list(values):
        return True
    return any(
        isinstance(record.operation, op.Keep)
        and list(map(list, record.operation.columns))
        != list(map(list, values[record.output.address]["operation"]["columns"]))
        for record in trace.records
    )


def differences(
    trace: Trace, tape: Any, answer: Any, asked: Sequence[tuple[int, int]]
) -> list[str]:
    """The numbers and lines that the script writes and the program does not."""
    addresses = [value["address"] for value in tape["values"]]
    records = {record.output.address: record for record in trace.records}
    own = dict(zip(addresses, answer["printed"], strict=True))
    found = [
        f"{address}: {own.get(address)} in place of {numbers}"
        for address, numbers in printed(trace).items()
        if own.get(address) != numbers
    ]
    has_names = list(records) == addresses  # of other entries, which the tape has, too
    if has_names:
        found += wrong_labels(tape, answer["labels"], trace)
    lines = []
    program = Program(trace)
    for (of, at), entry in zip(asked, answer["entries"], strict=True):
        record = records.get(addresses[of])
        if record is None:
            continue
        expected = program.entry(record, list(np.ndindex(record.output.shape))[at])
        if entry != expected if has_names else line_of(entry) != line_of(expected):
            found.append(f"{addresses[of]}[{at}]: {entry} in place of {expected}")
        lines.append(f"    x: {line_of(entry)}\n" if "work" in entry else "")
    found += [f"{each.text} is false: {why}" for each, why in false_equations("".join(lines))]
    return found


def wrong_labels(tape: Any, labels: list[Any], trace: Trace) -> list[str]:
    """The labels of rows and columns that are not the program's."""
    got = {value["address"]: own for value, own in zip(tape["values"], labels, strict=True)}
    expected = {
        record.output.address: [list(map(name_text, distinct(axis.labels))) for axis in axes]
        for record in trace.records
        for axes in [record.output.axes]
    }
    return [
        f"{address}: {got[address]} in place of {own}"
        for address, own in expected.items()
        if got[address] != own
    ]


def line_of(entry: Any) -> str:
    """The worked line of an entry as text; empty if it has none."""
    work = "".join(each if isinstance(each, str) else each[0] for each in entry.get("work", ()))
    return f"{work} {entry['sign']} {entry['result']}" if work else ""


def printed(trace: Trace) -> dict[str, list[str]]:
    """Every number of a pass as it is printed, row by row."""
    found = {}
    for record in trace.records:
        value = record.output
        if value.role.words:
            found[value.address] = [str(word) for word in np.ravel(value.numbers).tolist()]
            continue
        numbers = [entries.number(trace.pencil, value, at) for at in np.ndindex(value.shape)]
        found[value.address] = [number_text(number) for number in numbers]
    return found
