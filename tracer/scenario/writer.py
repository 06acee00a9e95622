"""Write a scenario as YAML."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from enum import Enum
from typing import Any

import numpy as np
import yaml
from pydantic import BaseModel

from tracer.errors import printable
from tracer.scenario.fields import SINGLE
from tracer.scenario.model import Scenario
from tracer.scenario.networks import SubLayer
from tracer.scenario.parts import declared

WIDTH = 120


class _Dumper(yaml.SafeDumper):
    """Writes each row and list of words on one line, and no aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def written(scenario: Scenario) -> str:
    """Return the YAML of a scenario: its title and all keys that differ from their defaults."""
    data = {"title": scenario.title, **_said(scenario)}
    if scenario.is_tied:
        others = {key: said for key, said in data["unembedding"].items() if key != "W_U"}
        data["unembedding"] = {"W_U": "tied", **others} if others else "tied"
    if scenario.text is not None:
        del data["tokens"]
    if scenario.corpus is not None:
        data["merges"] = len(scenario.merges or ())
    return as_yaml(data)


def as_yaml(data: Mapping[str, Any]) -> str:
    """Return plain data and arrays as YAML.

    Raises:
        TypeError: there is something else in it.
    """
    try:
        text: str = yaml.dump(
            _plain(data), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=WIDTH, indent=2
        )
    except yaml.representer.RepresenterError as error:
        came = type(error.args[-1]).__name__
        raise TypeError(f"got {came} in a mapping, expected text, numbers or lists") from None
    return printable(text, keep="\n")  # the escapes are those of YAML, too


def _said(model: BaseModel) -> dict[str, Any]:
    fields = type(model).model_fields
    said = {
        name: _plain(value)
        for name, field in fields.items()
        if (value := getattr(model, name)) is not None and value != field.default
    }
    for name in ("norm", "norm_after") if isinstance(model, SubLayer) else ():
        if name in model.model_fields_set and getattr(model, name) is None:
            said[name] = "none"  # whatever its layer says
    for name, shape in declared(type(model)).items():
        # One number in place of a number per token is that of all tokens.
        match said.get(name):
            case [number] if shape.sizes in (SINGLE, ("keys",)):
                said[name] = number
    return said


def _plain(value: Any) -> Any:
    match value:
        case BaseModel():
            return _said(value)
        case Enum():
            return value.value
        case Mapping():
            return {key: _plain(each) for key, each in value.items()}
        case np.floating():  # tolist() leaves a long double as it is
            return float(value)
        case np.complexfloating():
            return complex(value)
        case np.ndarray() | np.generic():
            return _plain(value.tolist())
        case tuple() | list():
            return [_plain(each) for each in value]
        case _:
            return value


def _list(dumper: _Dumper, rows: list[Any]) -> yaml.Node:
    flat = not any(isinstance(row, list | dict) for row in rows)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", rows, flow_style=flat)


def _number(dumper: _Dumper, number: Decimal) -> yaml.Node:
    text = "-inf" if number.is_infinite() else format(number, "f")
    tag = "tag:yaml.org,2002:" + ("float" if "." in text or "inf" in text else "int")
    return dumper.represent_scalar(tag, text)


def _text(dumper: _Dumper, text: str) -> yaml.Node:
    # Invisible characters are escaped in double quotes; some would end the line.
    return dumper.represent_scalar(
        "tag:yaml.org,2002:str", text, style=None if text.isprintable() else '"'
    )


_Dumper.add_representer(list, _list)
_Dumper.add_representer(str, _text)
_Dumper.add_representer(Decimal, _number)
for unwritable in (bytes, set):  # YAML's own forms of them are no parts of a scenario
    _Dumper.add_representer(unwritable, _Dumper.represent_undefined)
