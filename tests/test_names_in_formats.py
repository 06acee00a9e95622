"""Tokens, labels and titles are shown as they are, whatever they mean in Markdown or LaTeX."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.command import printed
from tests.random_scenarios import ODD_WORDS, Scenario, odd_tokens, scenarios, to_yaml

COMMONMARK = MarkdownIt("commonmark").enable(["table", "strikethrough"])
ALLOWED = {"text", "strong_open", "strong_close"}

NAMES = [
    *ODD_WORDS,
    *("1. x", "1) x", "+ x", "> x", "---", "===", "~~~", "~~a~~", "--", "''", "``", ",,", "?`"),
    *("https://x.y/a_b", "www.x.y", "a@b.c", "<a@b.c>", "[x](y)", "![x](y)", "[^1]", "[a]: b"),
    *("&#42;", "&copy;", "<!--", "-->", "<br>", "</td>", "`a``", "a\\|b", "a\\", ":a:", "a_b_c"),
    *("_x_", "x_", "*x*", "$1$2", "^", "^^41", "~", "\\(x\\)", "\\[", "\\\\", "\\begin{x}"),
    *("&", "a & b", "%", "50%", "#1", "C#", "{x}", "}", "}}", "{{", "“a”", "W₁", "x²", "-∞", "ß"),
]
several = settings(
    phases=[Phase.generate],
    database=None,
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)


def visible(name: str) -> str:
    """What cannot be seen is written as an escape, a space at either end as ␣."""
    inner = name.strip(" ")
    ahead = len(name) - len(name.lstrip(" ")) if inner else len(name)
    escapes = (c if c.isprintable() else ascii(c)[1:-1] for c in inner)
    return "␣" * ahead + "".join(escapes) + "␣" * (len(name) - ahead - len(inner))


def tutorial(names: Sequence[str], *options: str, title: str = "T") -> str:
    """A small scenario that has the names for tokens and for features."""
    one = [[Decimal(1)]] * len(names)
    width = range(len(names))
    rows = [[Decimal(i == j) for j in width] for i in width]
    head = {"W_Q": one, "W_K": one, "W_V": one}
    scenario = {"title": title, "tokens": list(names), "features": list(names), "embeddings": rows}
    scenario["layers"] = [{"attention": {"heads": [head], "residual": False}}]
    return printed("tutorial", "-", *options, stdin=to_yaml(scenario))


# --- Markdown ------------------------------------------------------------------------------------


def parsed(markdown: str) -> list[Token]:
    """The blocks; no reader of $$ sees names in it as Markdown, so they are left out."""
    return COMMONMARK.parse(re.sub(r"^\$\$\n.*?^\$\$$", "", markdown, flags=re.M | re.S))


def texts(tokens: Sequence[Token], kind: str) -> Iterator[str]:
    """What is read in each block of a kind."""
    for opening, inline in zip(tokens, tokens[1:], strict=False):
        if opening.type == kind:
            yield "".join(child.content for child in inline.children or ())


def assert_well_formed(markdown: str) -> None:
    tokens, lines = parsed(markdown), markdown.split("\n")
    assert {c.type for t in tokens for c in t.children or ()} <= ALLOWED
    assert not {t.type for t in tokens} & {"html_block", "code_block", "hr", "blockquote_open"}
    assert len(list(texts(tokens, "heading_open"))) == sum(x.startswith("#") for x in lines)
    in_tables = 0
    for token in tokens:
        if token.type == "fence" and "$$" not in lines:
            assert token.map and lines[token.map[1] - 1] == token.markup
        if token.type == "table_open" and "$$" not in lines:
            assert token.map
            rows = lines[slice(*token.map)]
            assert len({row.count("|") for row in rows}) == 1
            in_tables += len(rows)
    assert "$$" in lines or in_tables == sum(x.startswith("| ") for x in lines)


@pytest.mark.parametrize("options", [(), ("--math",)])
def test_names_in_markdown(options: tuple[str, ...]) -> None:
    markdown = tutorial(NAMES, "--format", "markdown", *options)
    tokens = parsed(markdown)
    assert_well_formed(markdown)
    *others, last = map(visible, NAMES)
    cells = list(texts(tokens, "td_open"))
    assert cells[1 : 2 * len(NAMES) : 2] == [*others, last]
    assert f"It reads {', '.join(others)} and {last}." in texts(tokens, "paragraph_open")
    if not options:
        columns = list(texts(tokens, "th_open"))
        assert columns[3 : 3 + len(NAMES)] == [*others, last]
        fenced = "".join(token.content for token in tokens if token.type == "fence")
        assert all(f"{name}: " in fenced for name in [*others, last])


@pytest.mark.parametrize("title", NAMES)
def test_titles_in_markdown(title: str) -> None:
    assert next(texts(parsed(tutorial(["a"], title=title)), "heading_open")) == visible(title)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("__init__", marks=pytest.mark.xfail(strict=True, reason="read as emphasis")),
        pytest.param("a #", marks=pytest.mark.xfail(strict=True, reason="closes the heading")),
    ],
)
def test_names_that_are_lost_in_markdown(name: str) -> None:
    tokens = parsed(tutorial(["a", name], title=name))
    assert next(texts(tokens, "heading_open")) == name
    assert list(texts(tokens, "td_open"))[3] == name


@several
@given(scenario=scenarios(names=odd_tokens(), epsilons=("0.1",), max_layers=1))
def test_random_scenarios_in_markdown(scenario: Scenario) -> None:
    assert_well_formed(printed("tutorial", "-", stdin=to_yaml(scenario)))


# --- LaTeX ---------------------------------------------------------------------------------------

COMMANDS = {
    **{"textbackslash": "\\", "textasciitilde": "~", "textasciicircum": "^", "textbar": "|"},
    **{"textless": "<", "textgreater": ">", "textquotedbl": '"', "textasciigrave": "`"},
    **{"dots": "…", "textvisiblespace": "␣"},
}
SIGNS = {
    **{r"\infty": "∞", r"\surd": "√", "_1": "₁", "^2": "²", "-": "−"},
    **{r"\cdot": "·", "'": "′"},
}
PIECES = re.compile(
    r"\\(?P<command>text[a-z]+|dots)\{\}|\\(?P<sign>[&%$#_{}])|\\texttt\{U\+(?P<code>[0-9A-F]+)\}"
    r"|\$(?P<mathematics>[^$]+)\$|(?P<quotes>``|'')|(?P<plain>[^\\{}$&#^_~%])"
)


def read_back(latex: str) -> str:
    """The name that LaTeX shows for an escaped one."""
    read, at = "", 0
    while at < len(latex):
        found = PIECES.match(latex, at)
        assert found, f"not escaped: {latex[at:]}"
        at = found.end()
        match found.lastgroup:
            case "command":
                read += COMMANDS[found["command"]]
            case "code":
                read += chr(int(found["code"], 16))
            case "mathematics":
                read += SIGNS[found["mathematics"]]
            case "quotes":
                read += "“" if found[0] == "``" else "”"
            case kind:
                read += found[kind or 0]
    return read


def assert_balanced(latex: str) -> None:
    depth = 0
    for found in re.finditer(r"\\.|[{}]", latex, re.DOTALL):
        depth += {"{": 1, "}": -1}.get(found[0], 0)
        assert depth >= 0
    assert depth == 0


def assert_escaped(latex: str) -> None:
    """Nothing is special but where mathematics or a table is meant."""
    display = r"\\\[ .*? \\\]|\\begin\{align\*\}.*?\\end\{align\*\}"
    outside = re.sub(display, "", latex, flags=re.DOTALL)
    assert not re.search(r"(?<!\\)[#%~]", latex.replace(r"\\", ""))
    for line in re.sub(r"\\[^A-Za-z]", "", outside).split("\n"):
        text = re.sub(r"\$[^$]*\$", "", line)
        assert not re.search(r"[$^_]", text), line
    tables = re.sub(r"\\begin\{longtable\}.*?\\end\{longtable\}", "", outside, flags=re.DOTALL)
    assert "&" not in tables.replace(r"\&", "")


def test_names_in_latex() -> None:
    latex = tutorial([name for name in NAMES if name != "''"], "--format", "latex")
    table = latex[latex.index(r"\textit{token}") : latex.index(r"\end{longtable}")]
    cells = [re.split(r"(?<!\\) & ", row)[1] for row in table.split(" \\\\\n")[1:]]
    cells[-1] = cells[-1].strip().removeprefix(r"\textbf{").removesuffix("}")
    assert [read_back(cell) for cell in cells] == [visible(n) for n in NAMES if n != "''"]
    assert_balanced(latex)
    assert_escaped(latex)


@several
@given(scenario=scenarios(names=odd_tokens(), epsilons=("0.1",), max_layers=1))
def test_random_scenarios_in_latex(scenario: Scenario) -> None:
    latex = printed("tutorial", "-", "--format", "latex", stdin=to_yaml(scenario))
    assert_balanced(latex)
    assert_escaped(latex)
    for rows in re.findall(r"\\begin\{[a-z*]+\}(?:\[l\]\{.*\})?\n(.*?)\\end", latex, re.DOTALL):
        assert len({len(re.findall(r"(?<!\\)&", row)) for row in rows.split("\\\\\n")}) == 1
