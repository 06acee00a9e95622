"""The settings that the script of a page can change: mask, temperature, scale, activation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tracer.decoder import elementwise as el, operations as op, roles
from tracer.decoder.forward import Trace
from tracer.decoder.tape import Record
from tracer.errors import TracerError
from tracer.scenario.controls import controls
from tracer.scenario.edits import with_value
from tracer.scenario.loading import parse
from tracer.scenario.reader import YamlPath, read


def settings(trace: Trace, text: str) -> Iterator[dict[str, Any]]:
    """Yield the settings that change no step: what they are about, and how the text changes."""
    for control in controls(read(text, "scenario").data, len(trace.tokens)):
        kind, values = _about(trace, control.path)
        if not values:
            continue
        choices = [each for each in control.choices if _keeps_steps(trace, kind, values, each)]
        try:
            start, end, new = _change(text, with_value(text, control.path, VALUE))
        except TracerError:
            continue  # several places share the setting
        if kind == "mask":  # which a part of the model may need
            texts = {each: with_value(text, control.path, each) for each in choices}
            choices = [each for each in choices if _is_accepted(texts[each])]
        yield {
            "name": control.name,
            "label": control.label,
            "value": control.value,
            "choices": choices,
            "number": control.number,
            "kind": kind,
            "values": values,
            "change": (start, end, new),
        }


def _is_accepted(text: str) -> bool:
    """Whether a text is a scenario without problems."""
    try:
        parse(text, "scenario")
    except TracerError:
        return False
    return True


def _keeps_steps(trace: Trace, kind: str, values: list[int], choice: str) -> bool:
    """Whether the tape computes a pass with a choice.

    Without a mask there are no masked scores, which may have digits of their own, and what is given
    behind them has no place.
    """
    match kind, choice:
        case "mask", "none":
            return not any(
                isinstance(record.operation, op.Pinned)
                or (value.role is roles.MASKED and trace.pencil.chosen(value.base_address))
                for record in trace.records
                for value in [record.output]
            )
        case "scale", "sqrt":
            return all(isinstance(trace.records[i].operation, el.SquareRoot) for i in values)
        case _:
            return choice != "none"


VALUE = "VALUE"
"""What stands for the value of a setting in a change of the text."""


def _about(trace: Trace, path: YamlPath) -> tuple[str, list[int]]:
    """The kind of a setting, and the values on the tape that it is about."""

    def values(test: Callable[[Record], bool]) -> list[int]:
        computed = enumerate(trace.records)
        return [i for i, r in computed if test(r) and not isinstance(r.operation, op.Pinned)]

    match path:
        case ("mask",):
            return "mask", values(lambda r: r.output.address == roles.MASK.name)
        case ("unembedding", "scale"):
            logits = (roles.LOGITS, roles.UNCAPPED_LOGITS)
            own = [record for record in trace.records if record.output.role in logits]
            return "divisor", values(lambda r: r in own and isinstance(r.operation, el.DivideBy))
        case (*tower, "layers", int(layer), str(sub_layer), ("activation" | "scale") as key):

            def is_here(record: Record) -> bool:
                place = record.output.place
                here = place.layer == layer + 1 and place.sub_layer == sub_layer
                return here and place.encoder == bool(tower) and place.network is None

            if key == "scale":
                return key, values(lambda r: is_here(r) and r.output.role is roles.SCALE)
            return key, values(lambda r: is_here(r) and isinstance(r.operation, el.Activate))
        case _:
            return "", []


def _change(before: str, after: str) -> tuple[int, int, str]:
    """Where a text changes, and to what."""
    start = next(i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b)
    rest, new = before[start:][::-1], after[start:][::-1]
    alike = zip(rest, new, strict=False)
    behind = next((i for i, (a, b) in enumerate(alike) if a != b), min(len(rest), len(new)))
    return start, len(before) - behind, after[start : len(after) - behind]
