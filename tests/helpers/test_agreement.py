"""The judge of agreement finds every changed digit, in a line or in a matrix, in every format."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from tests.helpers.agreement import against_values, judged
from tests.helpers.other_pages import bare, from_html, from_latex, from_markdown
from tests.helpers.terminal_page import Block, read_blocks

RULE = "─" * 20

TERMINAL = f"""\
4 · Query{" " * 30}Q (2 × 2) = X (2 × 2) · W_Q (2 × 2)
{RULE}

A query is what a token asks.

  W_Q   q₁  q₂
  d₀     1   5
  d₁     7   0

    q₁: 3×1 + 9×7 = 3 + 63  = 66
    q₂: 0.0000042×5 + 9×0   = 2.1×10⁻⁵

  Q   q₁          q₂
  a   -8           0
▸ b   66   2.1×10⁻⁵

5 · Scores
{RULE}

What they are divided by:

    √d_k = √2 ≈ 1.41

  S (2 × 2) = Q · Kᵀ / √d_k

    a: 2 / √2   ≈ 1.41
    b: -4 / √2  ≈ -2.83

  S     a      b
  a     5      6
▸ b  1.41  -2.83

6 · Mask
{RULE}

    b: -3 + (-∞)  = -∞

  S + M     a   b
  a         5  -∞
▸ b         1  -∞

7 · Loss
{RULE}

  L = mean(ℓ)

    L = (4 + 5) / 2 = 4.5

One step lowers the loss L from 4.5 to 3.9.

8 · Update
{RULE}

  b⁺ = b - η×g

    d₀: 1 - 0.5×0.2   = 0.9
    d₁: 1 - 0.5×0.02  = 0.99

       d₀    d₁
  b⁺  0.9  0.99

  W⁺ = W - η×g

    d₀, q₁: 3 - 0.5×2  = 2
    d₁, q₁: 6 - 0.5×2  = 5

  W⁺  q₁
  d₀   2
  d₁   5
"""

MARKDOWN = """\
### 4. Query

> Q (2 × 2) = X (2 × 2) · W\\_Q (2 × 2)

```text
q₁: 3×1 + 9×7 = 3 + 63
    = 66
q₂: 0.0000042×5 + 9×0 = 2.1×10⁻⁵
```

| Q | q₁ | q₂ |
| --- | ---: | ---: |
| a | -8 | 0 |
| **b** | **66** | **2.1×10⁻⁵** |
"""

MATHEMATICS = r"""
### 4. Query

$$
\underset{2 \times 2}{Q^{1}} = X \cdot W_{Q}^{1}
$$

$$
\begin{aligned}
\text{q}_{1}\text{:}\quad & 3 \times 1 + 9 \times 7 = 3 + 63 && = 66 \\
\text{q}_{2}\text{:}\quad & 0.0000042 \times 5 + 9 \times 0 && = 2.1 \times 10^{-5}
\end{aligned}
$$

| $Q^{1}$ | q₁ | q₂ |
| --- | ---: | ---: |
| a | -8 | 0 |
| **b** | **66** | **2.1×10⁻⁵** |
"""

LATEX = r"""
\subsubsection*{4. Query}\addcontentsline{toc}{subsubsection}{4. Query}

The query.
\[ \underset{2 \times 2}{Q} = X \cdot W_{Q}
\qquad \begin{alignedat}{2}
\text{q$_{1}$:}\quad & 3 \times 1 + 9 \times 7 = 3 + 63 && = 66 \\
\text{q$_{2}$:}\quad & 0.0000042 \times 5 + 9 \times 0 && = 2.1 \times 10^{-5}
\end{alignedat}
\qquad \begin{array}{l|rr}
Q & \text{q$_{1}$} & \text{q$_{2}$} \\ \hline
\text{a} & -8 & 0 \\
\textbf{b} & \cellcolor{blue!40}\mathbf{66} & \mathbf{2.1 \times 10^{-5}}
\end{array} \]
"""

HTML = """\
<h3 id="step-4.title">4. Query</h3><p>The query.</p>
<div><math display="block"><munder><mi>Q</mi><mrow><mn>2</mn><mo>×</mo><mn>2</mn></mrow></munder>
<mo>=</mo><mi>X</mi><mo>·</mo><msub><mi>W</mi><mi>Q</mi></msub></math></div>
<div data-for="1"><ol class="working">
<li><span class="label">q₁: </span><span class="work">3×1 + 9×7 = 3 + 63</span> = <b>66</b></li>
<li><span class="label">q₂: </span>0.0000042×5 + 9×0 = <b>2.1×10⁻⁵</b></li>
</ol></div>
<div data-for="0" hidden><ol class="working"><li><span class="label">q₁: </span></li></ol></div>
<table class="matrix" aria-label="Q" data-first-token="0"><caption>Q</caption>
<thead><tr><td></td><th>q₁</th><th>q₂</th></tr></thead>
<tbody><tr><th>a</th><td>-8</td><td>0</td></tr>
<tr><th>b</th><td>66</td><td>2.1×10⁻⁵</td></tr></tbody></table>
"""

PAGES: dict[str, tuple[Callable[[str], list[Block]], str, int]] = {
    "terminal": (read_blocks, TERMINAL, 10),
    "markdown": (from_markdown, MARKDOWN, 2),
    "mathematics": (from_markdown, MATHEMATICS, 2),
    "latex": (from_latex, LATEX, 2),
    "html": (from_html, HTML, 2),
}
RESULTS = {"terminal": ("66", "2.1", "1.41", "2.83", "4.5", "0.9", "0.99")}
"""What the lines come to; each is in the line and in its matrix, or in a sentence."""


@pytest.mark.parametrize("name", PAGES)
def test_a_page_agrees_with_itself(name: str) -> None:
    read, page, lines = PAGES[name]
    found = judged(read(page))
    assert (found.compared, found.disagreements, found.unplaced) == (lines, (), ())


def changed(page: str, at: int) -> str:
    """The page with another digit there."""
    return page[:at] + str((int(page[at]) + 1) % 10) + page[at + 1 :]


@pytest.mark.parametrize("name", PAGES)
def test_every_changed_digit_is_found(name: str) -> None:
    """In a result and in a matrix; but not that of √d_k, which stands in no matrix."""
    read, page, _ = PAGES[name]
    for number in RESULTS.get(name, ("66", "2.1")):
        places = [m.start() for m in re.finditer(rf"(?<![\d.]){re.escape(number)}(?!\d)", page)]
        places = [at for at in places if "√d_k" not in page[:at].rpartition("\n")[2]]
        assert len(places) >= 2
        for place in places:
            for at in range(place, place + len(number)):
                if page[at].isdigit():
                    assert judged(read(changed(page, at))).disagreements, page[at - 20 : at + 9]


@pytest.mark.parametrize(
    ("before", "after"),
    [("= 66\n", "= -66\n"), ("▸ b   66", "▸ b   66.0"), ("10⁻⁵\n\n  Q", "10⁻⁶\n\n  Q")],
)
def test_a_sign_a_zero_and_a_power_count(before: str, after: str) -> None:
    assert TERMINAL.count(before) == 1
    assert len(judged(read_blocks(TERMINAL.replace(before, after))).disagreements) == 1


def test_the_other_row_is_not_meant() -> None:
    there = TERMINAL.replace("  a   -8           0\n▸ b ", "▸ a   -8           0\n  b ")
    assert len(judged(read_blocks(there)).disagreements) == 2


def test_a_line_whose_entry_is_missing_is_not_passed_over() -> None:
    without = TERMINAL.replace("  Q   q₁          q₂", "  Q   q₁          q₃")
    assert judged(read_blocks(without)).unplaced == (
        "4 · Query: q₂: 0.0000042×5 + 9×0   = 2.1×10⁻⁵",
    )


def test_a_label_may_be_shortened() -> None:
    page = TERMINAL.replace("  W⁺  q₁\n  d₀   2\n  d₁   5", "  W⁺  quest\n  dog   2\n  d₁    5")
    page = page.replace("d₀, q₁: 3", "d…g, q…t: 3").replace("d₁, q₁: 6", "d₁, q…t: 6")
    assert judged(read_blocks(page)).compared == 10
    assert judged(read_blocks(page.replace("dog   2", "dog   4"))).disagreements


SINES = f"""\
2 · Positions
{RULE}

The sines:

    ω₀: sin(1)  ≈ 0.841
    ω₁: sin(2)  ≈ 0.909

The cosines:

    ω₀: cos(1)  ≈ 0.540
    ω₁: cos(2)  ≈ -0.416

P has a row for each token.

  P    d₀     d₁     d₂
▸ b  0.841  0.540  0.909
"""


def test_sines_and_cosines_come_in_turn() -> None:
    found = judged(read_blocks(SINES))
    assert (found.compared, found.disagreements) == (3, ())
    assert judged(read_blocks(SINES.replace("0.540  ", "0.541  "))).disagreements


def value(symbol: str, rows: list[str], columns: list[str], printed: object) -> dict[str, object]:
    axes = [{"labels": labels} for labels in (rows, columns) if labels]
    return {"symbol": symbol, "axes": axes, "printed": printed}


VALUES = [
    value("Q", ["b"], ["q₁", "q₂"], [["66", "2.1×10⁻⁵"]]),
    value("Q", ["b"], ["q₁", "q₂"], [["1", "1"]]),
    value("W_Q", ["d₀", "d₁"], ["q₁", "q₂"], [["1", "5"], ["7", "0"]]),
    value("√d_k", [], [], "1.41"),
    value("L", [], [], "4.5"),
    value("b⁺", [], ["d₀", "d₁"], ["0.9", "0.99"]),
]


def test_values_are_held_against_lines_and_matrices() -> None:
    """Those of one layer or of another; the JSON may have the followed row alone."""
    assert against_values(read_blocks(TERMINAL), VALUES, bare=bare) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        *(("66\n", "67\n"), ("▸ b   66 ", "▸ b   67 "), ("d₁     7", "d₁     6")),
        *(("√2 ≈ 1.41", "√2 ≈ 1.42"), ("4.5\n", "4.6\n"), ("0.9  0.99", "0.9  0.98")),
    ],
)
def test_a_value_that_is_printed_otherwise_is_found(before: str, after: str) -> None:
    assert TERMINAL.count(before) == 1
    page = read_blocks(TERMINAL.replace(before, after))
    assert len(against_values(page, VALUES, bare=bare)) == 1
