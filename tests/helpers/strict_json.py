"""The JSON of a run, read by the letter of the standard."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from tests.helpers.command import printed


def refuse(constant: str) -> None:
    """NaN, Infinity and -Infinity."""
    raise AssertionError(f"{constant} is no strict JSON")


def document(*arguments: str, stdin: str = "") -> Any:
    """A run's JSON, its numbers as the decimals that are written there."""
    text = printed(*arguments, "--format", "json", stdin=stdin)
    return json.loads(text, parse_constant=refuse, parse_float=Decimal, parse_int=Decimal)


def values(*arguments: str, stdin: str = "") -> dict[str, Any]:
    """The values of a run by address, which occur once each."""
    found = document(*arguments, stdin=stdin)["values"]
    by_address = {value["address"]: value for value in found}
    assert len(by_address) == len(found)
    return by_address


def entries(data: Any) -> Iterator[Any]:
    """The entries of nested lists, or what is no list by itself."""
    if isinstance(data, list):
        for part in data:
            yield from entries(part)
    else:
        yield data
