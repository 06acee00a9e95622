"""Notebooks: cells of formats 3 and 4, and their lines in the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.command import run
from tracer.audit.reading.notebooks import cells, lines_in_file
from tracer.errors import TracerError

SOURCES: list[str | list[str]] = [
    ["a\n", "b\n", "c"],
    "one\ntwo",
    [],
    ["joined ", "line\nof two\n", "\n", '"source": "x"'],
    "",
    ["last\n"],
]
WITH_OUTPUTS = {"outputs": [{"source": ["a\n", "no"], "data": '"source": 1'}], "metadata": {}}


def notebook(sources: list[Any], key: str = "source") -> dict[str, Any]:
    made = [{**WITH_OUTPUTS, "cell_type": "code", key: source} for source in sources]
    return {"worksheets": [{"cells": made}]} if key == "input" else {"cells": made}


@pytest.mark.parametrize("key", ["source", "input"])
@pytest.mark.parametrize("indent", [None, 1])
def test_each_line_of_a_source_has_its_line_in_the_file(key: str, indent: int | None) -> None:
    content = json.dumps(notebook(SOURCES, key), indent=indent)
    in_file = content.split("\n")
    found = lines_in_file("a.ipynb", content)
    assert len(found) == len(SOURCES)
    for cell, lines in zip(cells("a.ipynb", content), found, strict=True):
        shown = cell.text.splitlines()
        assert len(lines) == (len(shown) or (cell.source != []))
        for line, text in zip(lines, shown, strict=False):
            assert json.dumps(text.split(" ")[0])[1:-1] in in_file[line - 1]


def test_services_get_the_line_of_the_file_and_the_cell(tmp_path: Path) -> None:
    file = tmp_path / "a.ipynb"
    file.write_text(json.dumps(notebook(["x\n", ["1\n", "# 2 + 2 = 5"]]), indent=1))
    line = next(i for i, text in enumerate(file.read_text().splitlines(), 1) if "= 5" in text)
    told = run("audit", str(file), "-f", "github").stdout
    assert f",line={line},endLine={line},title=A01 false::cell 2: false: computed 4" in told
    log = json.loads(run("audit", str(file), "-f", "sarif").stdout)
    (location,) = log["runs"][0]["results"][0]["locations"]
    physical = location["physicalLocation"]
    assert physical["artifactLocation"]["uri"].endswith("/a.ipynb")
    assert physical["region"] == {"startLine": line, "endLine": line}
    assert location["logicalLocations"] == [{"name": "cell 2"}]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("[]", "a.ipynb: no notebook: expected JSON with cells"),
        ('{"cells": [{}]}', "a.ipynb: no notebook: expected JSON with cells"),
        ('{"cells": [{"cell_type": "code", "source": 1}]}', "a.ipynb: no notebook: expected"),
        ('{"cells":\n [{', "a.ipynb:2:4: no notebook: not JSON: Expecting property name"),
        ("[" * 100_000, "a.ipynb: no notebook: expected JSON with cells"),
    ],
)
def test_what_is_no_notebook_is_told(content: str, told: str) -> None:
    with pytest.raises(TracerError) as caught:
        cells("a.ipynb", content)
    assert str(caught.value).startswith(told)
