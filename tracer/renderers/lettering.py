"""Tokens and labels in LaTeX: in text, and in the mathematics of a page."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from tracer.names import name_text

LONGEST_NAME = 24

GREEK = {
    "ω": r"\omega",
    "η": r"\eta",
    "θ": r"\theta",
    "μ": r"\mu",
    "σ": r"\sigma",
    "γ": r"\gamma",
    "α": r"\alpha",
    "β": r"\beta",
    "ε": r"\varepsilon",
    "Σ": r"\Sigma",
    "λ": r"\lambda",
    "ρ": r"\rho",
    "π": r"\pi",
    "Δ": r"\Delta",
    "Φ": r"\Phi",
    "∂": r"\partial",
    "ℓ": r"\ell",
}

LETTERS = {
    **GREEK,
    "ΔW": r"\Delta W",
    "x̂": r"\hat{x}",
    "ŷ": r"\hat{y}",
    "ḡ": r"\bar{g}",
    "m̂": r"\hat{m}",
    "v̂": r"\hat{v}",
}
"""Letters of formulas that LaTeX has commands for."""

ESCAPES = {
    **{letter: f"${command}$" for letter, command in GREEK.items()},
    "\\": r"\textbackslash{}",
    **{c: f"\\{c}" for c in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
    "…": r"\dots{}",
    "“": "``",
    "”": "''",
    "—": "---",
    "–": "--",
    "ŷ": r"$\hat{y}$",
    "ᵀ": r"$^{\top}$",
    "ᴱ": r"\textsuperscript{E}",
    "·": r"\textperiodcentered{}",
    "′": r"$'$",
    "␣": r"\textvisiblespace{}",
    "−": r"$-$",
    "→": r"$\to$",
    "∞": r"$\infty$",
    "√": r"$\surd$",
    "×": r"$\times$",
    "≈": r"$\approx$",
    "✓": r"$\checkmark$",
    "✗": r"$\times$",
    **{c: f"${command}$" for c, command in GREEK.items()},
}
"""Characters with a meaning in LaTeX, or missing in its text fonts."""

ON_PAGES = {
    "\\": r"\backslash",
    **{c: f"\\{c}" for c in "&%#_{}"},
    "~": r"\sim",
    "^": r"\wedge",
    "<": r"\lt",
    ">": r"\gt",
    "[": r"\lbrack",
    "]": r"\rbrack",
    **GREEK,
}
r"""What \text does not take on a page: KaTeX refuses it, or MathJax shows its backslash.

Without brackets a name is no link and no picture where Markdown is read without mathematics.
"""

T1_LETTERS = frozenset("ĂăĄąĆćČčĎďĐđĘęĚěĞğİıĹĺĽľŁłŃńŇňŊŋŐőŒœŔŕŘřŚśŞşŠšŢţŤťŮůŰűŸŹźŻżŽž")
"""Letters of the text fonts beyond Latin-1."""

SUBSCRIPTS, SUPERSCRIPTS = "₀₁₂₃₄₅₆₇₈₉", "⁰¹²³⁴⁵⁶⁷⁸⁹"
INDICES = re.compile(f"([{SUBSCRIPTS}]+|[{SUPERSCRIPTS}]+)")
DIGITS = str.maketrans(SUBSCRIPTS + SUPERSCRIPTS, "0123456789" * 2)


def in_text(name: str) -> str:
    r"""A token or label in LaTeX's text; \letter writes letters that T1 fonts lack."""
    return _escaped(name_text(name))


def _escaped(words: str) -> str:
    written = "".join(map(_character_or_index, INDICES.split(words)))
    # Two pieces of mathematics side by side are one: $$ would begin a display.
    apart = re.sub(r"(?<=[}'])\$\$(?=[_^'])", "{}", written)  # an index of an index is an error
    return re.sub(r"(?<!\\)\$\$", "", apart)


def on_page(name: str) -> str:
    r"""A token or label in a page's mathematics: \text, with commands for what it cannot hold."""
    return "".join(_pieces_on_page(name_text(name)))


def _pieces_on_page(name: str) -> Iterator[str]:
    for part in INDICES.split(name):
        if INDICES.fullmatch(part):
            yield _index(part)
            continue
        for run in re.split(f"([{re.escape(''.join(ON_PAGES))}])", part):
            if run in ON_PAGES:
                yield f"{{{ON_PAGES[run]}}}"
            elif run:
                yield rf"\text{{{''.join(map(_sign_on_page, run))}}}"


def _sign_on_page(c: str) -> str:
    r"""KaTeX lacks some accents; a $ would end the mathematics, even as \$."""
    if c == "$":
        return "＄"
    return rf"\texttt{{U+{ord(c):04X}}}" if unicodedata.combining(c) else c


def _character_or_index(part: str) -> str:
    if INDICES.fullmatch(part):
        return f"${_index(part)}$"
    return "".join(
        ESCAPES.get(c) or (c if _in_font(c) else rf"\letter{{{ord(c):04X}}}") for c in part
    )


def _index(digits: str) -> str:
    sign = "_" if digits[0] in SUBSCRIPTS else "^"
    return f"{sign}{{{digits.translate(DIGITS)}}}"


def _in_font(c: str) -> bool:
    return ord(c) < 0x100 or c in T1_LETTERS


def width(name: str) -> int:
    """About how many letters wide a name is; a code point takes seven, a wide letter two."""
    known = (c in ESCAPES or _in_font(c) or bool(INDICES.match(c)) for c in name)
    sizes = (2 if c.isupper() or c in "mw" else 1 for c in name)
    return sum(size if k else 7 for size, k in zip(sizes, known, strict=True))


def short(name: str) -> str:
    """A name, its middle left out where it is too long."""
    whole = name_text(name)
    if width(whole) <= LONGEST_NAME:
        return whole
    half = max(1, LONGEST_NAME // 2 * len(whole) // width(whole))
    return f"{whole[:half]}…{whole[-half:]}"


def breakable(name: str) -> str:
    """A name in text, whose long words can be broken anywhere."""
    return " ".join(
        _escaped(word)
        if width(word) <= LONGEST_NAME
        else r"\allowbreak{}".join(map(_character_or_index, word))
        for word in name_text(name).split(" ")
    )
