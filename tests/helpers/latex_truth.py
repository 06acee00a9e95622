r"""Markdown and LaTeX as the worked lines that `truth` reads: `    label: chain`.

In Markdown a worked line stands in a ```text fence, or, written as mathematics, in an `aligned`
between $$ and $$; in LaTeX, in an `alignat*` or an `alignedat`; there its result stands in a column
of its own, and displays may stand side by side. Formulas stand in quotations, or in the same places
as matrices and diagrams. They are told apart by what they are, not by where they are: a block is
left out only if it has no relation, or is a matrix, or ends in a list, or has a symbol on every
side. All else goes to the judge, and what cannot be read at all is an error. Each line keeps its
number.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise

from tests.helpers.truth import without_pictures

SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")

GREEK = {
    **{"rho": "ρ", "omega": "ω", "theta": "θ", "mu": "μ", "sigma": "σ", "gamma": "γ", "beta": "β"},
    **{"Sigma": "Σ", "ell": "ℓ", "varepsilon": "ε", "eta": "η", "Phi": "Φ", "pi": "π"},
    **{"Delta": "Δ", "alpha": "α", "lambda": "λ"},
}
SIGNS = {
    **{"times": "×", "cdot": " · ", "approx": "≈", "infty": "∞", "quad": " ", ",": " ", ";": " "},
    **{"partial": "∂", "prime": "′"},
    **{" ": " ", "top": "ᵀ"},
    **{name: name for name in ("max", "min", "sin", "cos", "ln", "tanh", "log2", "abs")},
}
ACCENTS = {"hat": "\u0302", "bar": "\u0304"}
FUNCTIONS = re.compile(
    r"\b(?:max|min|sin|cos|tanh|ln|log2|abs|round|floor|E2M1|Φ|ReLU′)(?=\()"
    r"|\bπ\b|\be(?=\^)|\[[0-9]+ more:"
)

LIST = re.compile(r"= \[-?[0-9∞.×⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+(?:, -?[0-9∞.×⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)*\]$")
VECTOR_GOES_ON = r",\\" + "\n" + r"&\phantom{{}=[}\, "
MATRIX = re.compile(
    r"\\begin\{array\}\{l\|r+\}\n(?:(?!\\(?:begin|end)\{).)*\\end\{array\}", re.DOTALL
)
ENVIRONMENT = re.compile(
    r"\\begin\{(?P<kind>aligned|alignedat|alignat\*)\}(?:\[t\])?(?:\{2\})?\n"
    r"(?P<rows>(?:(?!\\end\{).)*)\\end\{(?P=kind)\}",
    re.DOTALL,
)
DISPLAY = re.compile(r"\\\[ .*? \\\]|\\begin\{alignat\*\}.*?\\end\{alignat\*\}", re.DOTALL)
ROW = re.compile(
    r"(?P<head>(?:[^&]|\\&)*)(?<!\\)& (?P<sides>(?:[^&]|\\&)+?) &&"
    r"(?P<result>(?: (?:=|\\approx) [^=&]+)?)"
)


class UnreadableError(ValueError):
    """The text is not built as this reader knows it."""


def from_latex(text: str) -> str:
    """The worked lines of a LaTeX document or fragment."""
    lines = [""] * text.count("\n")
    for found in DISPLAY.finditer(text):
        inner = found[0].removeprefix(r"\[ ").removesuffix(r" \]")
        beside = (line for piece in inner.split("\n\\qquad ") for line in display_lines(piece))
        _put(lines, text.count("\n", 0, found.start()), list(beside))
    if re.search(r"\\(?:\[|\]|(?:begin|end)\{align)", DISPLAY.sub("", text)):
        raise UnreadableError("mathematics that does not end, or does not begin")
    return "\n".join(lines)


def from_markdown(text: str) -> str:
    """The worked lines of Markdown, in fences and between $$ and $$."""
    lines = without_pictures(text).split("\n")
    worked = [""] * len(lines)
    end, start = "", 0
    for number, line in enumerate(lines):
        if end:
            if line != end:
                continue
            inner = lines[start + 1 : number]
            shown = display_lines("\n".join(inner)) if end == "$$" else fenced_lines(inner)
            _put(worked, start + 1, shown)
            end = ""
        elif line.startswith("> "):
            formula = re.sub(r"\\(.)", r"\1", line.removeprefix("> "))
            _put(worked, number, [] if _is_no_chain(formula) else [f"    {formula}"])
        elif line == "$$" or re.fullmatch("`{3,}text", line):
            end, start = line.removesuffix("text"), number
    if end:
        raise UnreadableError(f"line {start + 1}: {end} is not closed")
    return "\n".join(worked)


def _put(lines: list[str], at: int, shown: list[str]) -> None:
    for line in shown:
        lines[at] = line
        at += 1


def fenced_lines(lines: list[str]) -> list[str]:
    if not re.search("[=≈]", "\n".join(lines)):
        return []  # a diagram
    if len(lines) == 1 and _is_no_chain(lines[0]):
        return []
    for before, line in pairwise(["", *lines]):
        if not re.match(r"\S| {2,}[-=≈+/] " if before[-1:] != "," else " {2,}", line):
            raise UnreadableError(
                f"a line that neither begins a chain nor goes on with one: {line}"
            )
    return [f"    {line}" for line in lines]


def _is_no_chain(line: str) -> bool:
    """Whether a line is a vector or a formula: nothing on it is said of numbers alone."""
    return bool(LIST.search(line)) or all(map(_has_symbol, re.split("[=≈]", line)))


def _has_symbol(side: str) -> bool:
    return bool(re.search(r"[^\W\d_⁰¹²³⁴⁵⁶⁷⁸⁹⁻]", FUNCTIONS.sub("", side)))


# --- LaTeX mathematics ---------------------------------------------------------------------------


def display_lines(latex: str) -> list[str]:
    """The worked lines of one displayed piece of mathematics, a line each."""
    if MATRIX.fullmatch(latex):
        return []
    if VECTOR_GOES_ON in latex:
        latex = latex.replace(VECTOR_GOES_ON, r",\ ").replace(" &= ", " = ")
        latex = latex.removeprefix("\\begin{aligned}\n").removesuffix("\n\\end{aligned}")
    if environment := ENVIRONMENT.fullmatch(latex):
        worked = _rows(environment["rows"])
        return [] if _is_no_chain(" ".join(worked)) else worked  # a formula in several rows
    if "\n" in latex or "&" in latex:
        raise UnreadableError(latex)
    line = plain(latex)
    return [] if _is_no_chain(line) else [f"    {line}"]


def _rows(rows: str) -> list[str]:
    """Rows of an alignment; one that begins with a relation or further in goes on with the last."""
    worked: list[str] = []
    for row in re.split(r" \\\\(?:\[4pt\]|\*)?\n", rows.removesuffix("\n")):
        found = ROW.fullmatch(row)
        if not found:
            raise UnreadableError(row)
        head, sides, result = found.groups()
        line = plain(sides + result)
        if head == "" and re.match(r"= |\\approx |\\quad [-+/] ", sides):
            if not worked:
                raise UnreadableError(row)
            worked.append(f"      {line}")
        else:
            worked.append(f"    {_label(head)}{line}")
    return worked


def _label(head: str) -> str:
    r"""What stands in front of a chain: nothing, or \text{…:}\quad, whatever is in it."""
    if not head:
        return ""
    inner, rest = head[: -len(r"\quad ")], head[-len(r"\quad ") :]
    if not inner.startswith(("{", "\\text{", "_{", "^{")) or rest != r"\quad ":
        raise UnreadableError(head)
    label = re.sub(r"\\text(?=\{)|[\\{}$]", "", inner.replace(r"\dots", "…"))
    if not label.endswith(":"):
        raise UnreadableError(head)
    return f"{label.lstrip()} "


def plain(latex: str) -> str:
    """Mathematics in one line of plain text."""
    spaced = re.sub(" +", " ", "".join(_pieces(latex)))
    return spaced.replace(" ×", "×").replace("× ", "×").strip()


LETTERS = re.compile(r"[A-Za-z0-9.,()\[\] '=+/-]+")
POWER = re.compile(r"\\times 10\^\{(-?[0-9]+)\}")
COMMAND = re.compile(r"\\(?:[A-Za-z]+|[,; ])")
BRACES = re.compile(r"\\.|[{}]")


def _pieces(rest: str) -> Iterator[str]:
    while rest:
        if letters := LETTERS.match(rest):
            rest = rest[letters.end() :]
            yield letters[0].replace("'", "′")
        elif power := POWER.match(rest):
            rest = rest[power.end() :]
            yield "×10" + power[1].translate(SUPERSCRIPTS)
        elif command := COMMAND.match(rest):
            name, rest = command[0][1:], rest[command.end() :]
            if name in ("text", "mathrm"):
                inner, rest = _group(rest)
                yield re.sub(r"[\\{}$]", "", inner.replace("$'$", "′"))
            elif name == "sqrt":
                inner, rest = _group(rest)
                yield f"√({plain(inner)})"
            elif name == "underset":  # the shape, which stands behind the symbol in plain text
                shape, rest = _group(rest)
                of, rest = _group(rest)
                yield f"{plain(of)} ({plain(shape).replace('×', ' × ')})"
            elif name == "frac":
                over, rest = _group(rest)
                under, rest = _group(rest)
                slope = f"{plain(over)}/{plain(under)}".replace("∂ ", "∂")
                is_slope = slope.startswith("∂")
                yield slope if is_slope else f"({plain(over)}) / ({plain(under)})"
            elif name in ACCENTS:
                inner, rest = _group(rest)
                yield unicodedata.normalize("NFC", plain(inner) + ACCENTS[name])
            elif name in GREEK or name in SIGNS:
                yield GREEK.get(name) or SIGNS[name]
            else:
                raise UnreadableError(f"\\{name}")
        elif rest.startswith(("^{2}", "^{3}")):
            yield rest[2].translate(SUPERSCRIPTS)
            rest = rest.removeprefix(f"^{{{rest[2]}}}")
        elif rest[0] in "^_":
            inner, after = _group(rest, 1)
            yield f"^({plain(inner)})" if rest[0] == "^" else f"_{plain(inner)}"
            rest = after
        elif rest[0] == "{":
            inner, rest = _group(rest)
            yield plain(inner)
        else:
            raise UnreadableError(rest)


def _group(latex: str, at: int = 0) -> tuple[str, str]:
    """What stands in the braces that open there, and what follows them."""
    depth = 0
    for found in BRACES.finditer(latex, at):
        depth += {"{": 1, "}": -1}.get(found[0], 0)
        if depth == 0 and latex.startswith("{", at):
            return latex[at + 1 : found.start()], latex[found.end() :]
    raise UnreadableError(latex)
