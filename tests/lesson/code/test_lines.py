"""Long statements of a program are broken into lines that do the same."""

from __future__ import annotations

import pytest

from tracer.lesson.code.lines import WIDEST, broken

ROWS = ", ".join(map(str, range(100, 130)))


@pytest.mark.parametrize("indent", ["", "    "])
@pytest.mark.parametrize(
    "loop",
    [
        f"for row in [{ROWS}]:",
        f"for row, entry in zip([{ROWS}], range(30)):",
        f"for row, entry in zip([{ROWS}], rows[2:][0]):",
    ],
)
def test_a_long_loop_runs_over_the_same(loop: str, indent: str) -> None:
    def found(lines: list[str]) -> list[object]:
        last = loop.removeprefix("for ").partition(" in ")[0]
        program = "\n".join([*(["if True:"] if indent else []), *lines, f"{indent}    out({last})"])
        values: list[object] = []
        exec(program, {"out": lambda *each: values.append(each), "rows": [0, 0, range(30)]})
        return values

    lines = broken(indent + loop)
    assert len(lines) > 1 and all(len(line) <= WIDEST for line in lines)
    assert found(lines) == found([indent + loop]) and len(found(lines)) == 30
