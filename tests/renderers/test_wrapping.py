"""Where a worked line is broken."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import assume, given, settings, strategies as st
from rich.cells import cell_len

from tracer.renderers.wrapping import wrapped

QUERY = [
    "0.223×0.98 + 0.296×0.72 + 0.305×0.28",
    "≈ 0.219 + 0.213 + 0.085",
    "= 0.517",
]
SCORE = ["(2.4×1.1 + 1.4×1.2) / √2", "≈ (2.64 + 1.68) / 1.414", "= 4.32 / 1.414", "≈ 3.06"]


@pytest.mark.parametrize(
    ("sides", "label", "width", "lines"),
    [
        (["1 + 2", "= 3"], "", 40, ["1 + 2 = 3"]),
        (["1 + 2", "= 3"], "h₁: ", 40, ["h₁: 1 + 2 = 3"]),
        (
            QUERY,
            "q₁: ",
            50,
            ["q₁: 0.223×0.98 + 0.296×0.72 + 0.305×0.28", "    ≈ 0.219 + 0.213 + 0.085 = 0.517"],
        ),
        (
            QUERY,
            "upscale: ",
            45,  # 9 + 36 for the first side
            [
                "upscale: 0.223×0.98 + 0.296×0.72 + 0.305×0.28",
                "         ≈ 0.219 + 0.213 + 0.085 = 0.517",
            ],
        ),
        (
            QUERY,
            "upscale: ",
            44,
            [
                "upscale: 0.223×0.98 + 0.296×0.72",
                "           + 0.305×0.28",
                "         ≈ 0.219 + 0.213 + 0.085 = 0.517",
            ],
        ),
        (
            SCORE,
            "i: ",
            40,
            [
                "i: (2.4×1.1 + 1.4×1.2) / √2",
                "    ≈ (2.64 + 1.68) / 1.414",
                "    = 4.32 / 1.414 ≈ 3.06",
            ],
        ),
        (
            ["1.25 + 1.5 + 2", "= 4.75"],
            "",
            11,
            ["1.25 + 1.5", "      + 2", "    = 4.75"],
        ),
        # Only where a piece would not fit otherwise it is broken before a /.
        (
            ["(10.25 + 11.5) / 1.4134", "≈ 15.388"],
            "",
            22,
            ["(10.25", "      + 11.5) / 1.4134", "    ≈ 15.388"],
        ),
        (
            ["(10.25 + 11.5) / 1.4134", "≈ 15.388"],
            "",
            21,
            ["(10.25 + 11.5)", "      / 1.4134", "    ≈ 15.388"],
        ),
        # Nor behind a comma.
        (
            ["m", "= max(-∞, -∞, 0.509, 1.050, 2.145)", "= 2.145"],
            "",
            30,
            ["m", "    = max(-∞, -∞, 0.509,", "      1.050, 2.145)", "    = 2.145"],
        ),
        # Nor before a ·.
        (
            ["A", "= [O¹ (10 × 2) O² (10 × 2)] · W_O (4 × 4)"],
            "",
            40,
            ["A", "    = [O¹ (10 × 2) O² (10 × 2)]", "      · W_O (4 × 4)"],
        ),
        (
            ["[O¹ O² O³]", "= [O¹ (2 × 2) O² (2 × 2) O³ (2 × 2)]"],
            "",
            30,
            ["[O¹ O² O³]", "    = [O¹ (2 × 2) O² (2 × 2)", "      O³ (2 × 2)]"],
        ),
        # A label that leaves no room for a piece: what follows goes below it.
        (
            ["0.5", "≈ 0.123456789×0.987654321"],
            "a-long-label: ",
            30,
            ["a-long-label: 0.5", "    ≈ 0.123456789×0.987654321"],
        ),
        # 7 + 2 + 13 for the last piece behind the label, 4 + 2 + 13 below it.
        (
            ["0.5", "≈ 0.25 + 0.125×0.375"],
            "label: ",
            22,
            ["label: 0.5", "       ≈ 0.25", "         + 0.125×0.375"],
        ),
        (
            ["0.5", "≈ 0.25 + 0.125×0.375"],
            "label: ",
            21,
            ["label: 0.5", "    ≈ 0.25", "      + 0.125×0.375"],
        ),
    ],
)
def test_lines(sides: list[str], label: str, width: int, lines: list[str]) -> None:
    assert wrapped(sides, label, width) == lines


ATOMS = st.sampled_from(
    ("0", "0.5", "1.4134", "0.223×0.98", "(-0.352)×0.8", "√2", "e^(-0.5)", "[8 more: -1.25]", "x₁")
)
LABELS = st.sampled_from(("", "h₁: ", "Frank:  ", "日本語: ", "μ: ", "info-upscale: "))


@st.composite
def sums(draw: st.DrawFn) -> str:
    written = draw(ATOMS)
    for _ in range(draw(st.integers(0, 6))):
        written += f" {draw(st.sampled_from('+-'))} {draw(ATOMS)}"
    return f"({written}) / {draw(ATOMS)}" if draw(st.booleans()) else written


@st.composite
def chains(draw: st.DrawFn) -> list[str]:
    relations = st.sampled_from("=≈")
    rest = draw(st.lists(st.tuples(relations, sums()), max_size=4))
    return [draw(sums()), *(f"{relation} {side}" for relation, side in rest)]


def pieces(side: str) -> list[str]:
    return re.split(" (?=[+-] )", side)


a_chain = given(chains(), LABELS, st.integers(20, 100))
some = settings(max_examples=150, deadline=None)


@some
@a_chain
def test_nothing_is_lost(sides: list[str], label: str, width: int) -> None:
    first, *rest = wrapped(sides, label, width)
    assert first.startswith(label)
    written = " ".join([first.removeprefix(label), *(line.strip() for line in rest)])
    assert written == " ".join(sides)


@some
@a_chain
def test_a_line_begins_with_a_sign(sides: list[str], label: str, width: int) -> None:
    for line in wrapped(sides, label, width)[1:]:
        assert re.match(" +[-+=≈/] ", line)
    # A / begins a line only if all up to the next sign is too wide.
    room = width - max(4, cell_len(label)) - 2
    if all(cell_len(piece) <= room for side in sides for piece in pieces(side)):
        assert not any(line.strip().startswith("/") for line in wrapped(sides, label, width))


@some
@a_chain
def test_no_line_is_too_wide_where_the_pieces_fit(sides: list[str], label: str, width: int) -> None:
    margin = max(4, cell_len(label))
    assume(all(cell_len(piece) <= width - margin - 2 for side in sides for piece in pieces(side)))
    lines = wrapped(sides, label, width)
    assert max(map(cell_len, lines)) <= width
    # Sides begin below each other behind the label, what is broken off two cells further.
    margins = {cell_len(line) - cell_len(line.lstrip()) for line in lines[1:]}
    assert margins <= {margin, margin + 2}
    for side in sides:
        if cell_len(side) <= width - margin:
            assert any(side in line for line in lines)
    # What follows a broken side begins on a line of its own.
    for before, line in pairwise(lines[1:]):
        if before.startswith(" " * (margin + 2)):
            assert not re.search("[=≈]", before)
            assert line.lstrip()[0] in "=≈" or line.startswith(" " * (margin + 2))


@some
@a_chain
def test_what_fits_behind_a_side_stands_there(sides: list[str], label: str, width: int) -> None:
    margin = max(4, cell_len(label))
    assume(all(cell_len(piece) <= width - margin - 2 for side in sides for piece in pieces(side)))
    lines = wrapped(sides, label, width)
    assert (len(lines) == 1) is (cell_len(label + " ".join(sides)) <= width)
    hanging = " " * (margin + 2)
    for before, line, after in zip(lines, lines[1:], [*lines[2:], ""], strict=False):
        side = re.split(" (?=[=≈] )", line.strip())[0]
        broken = side == line.strip() and after.startswith(hanging)
        if not (before.startswith(hanging) or line.startswith(hanging) or broken):
            assert cell_len(f"{before} {side}") > width
