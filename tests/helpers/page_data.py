"""The numbers that a page knows, with their lines: written in it, or written by its script."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.script_in_node import NODE, run_script

ENTRIES = """
let input = "";
process.stdin.on("data", (part) => (input += part));
process.stdin.on("end", () => {
  const tape = new Tape(JSON.parse(input));
  const found = tape.values.map((value, of) => {
    const { symbol, address, labels, operation, shape, numbers, words } = value;
    const entry = (_, at) => [indexOf(at, shape).join(","), entryToPointAt(tape, of, at)];
    const entries = words ? {} : Object.fromEntries(numbers.map(entry));
    const given = operation.kind === "given";
    return { symbol: written(symbol), address, labels, given, entries };
  });
  process.stdout.write(JSON.stringify(found));
});
"""


@lru_cache(maxsize=8)
def values_of_page(html: str | Path) -> list[dict[str, Any]]:
    """The values of a page: each with the lines of all its entries."""
    text = html if isinstance(html, str) else html.read_text(encoding="utf-8")
    (written,) = re.findall('<script type="application/json" id="data">(.*?)</script>', text)
    data = json.loads(written)
    others: list[dict[str, Any]] = data["values"]
    if "tape" not in data:
        return others
    if NODE is None:
        pytest.skip("needs Node")
    on_tape: list[dict[str, Any]] = json.loads(run_script(ENTRIES, json.dumps(data["tape"])))
    return on_tape + others
