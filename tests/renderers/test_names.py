"""Tokens, labels and titles are shown as they are, whatever they mean in Markdown or LaTeX."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.helpers import random_scenarios
from tests.helpers.command import printed

COMMONMARK = MarkdownIt("commonmark").enable(["table", "strikethrough"])
INLINE = {"text", "code_inline", "strong_open", "strong_close", "link_open", "link_close"}
ANCHOR = re.compile(r'<a id="[a-z0-9.-]+">|</a>')
"""The only HTML there is: what links lead to."""

BLOCKS = {"fence", "inline", "html_block"} | {
    f"{name}_{end}"
    for name in (
        *("heading", "paragraph", "table", "thead", "tbody", "tr", "th", "td"),
        *("bullet_list", "list_item", "blockquote"),
    )
    for end in ("open", "close")
}

_NAMES = [
    *random_scenarios.ODD_WORDS,
    *("1. x", "1) x", "+ x", "> x", "---", "===", "~~~", "~~a~~", "``"),
    *("https://x.y/a_b", "www.x.y", "a@b.c", "<a@b.c>", "[x](y)", "![x](y)", "[^1]", "[a]: b"),
    *("&#42;", "&copy;", "<!--", "-->", "<br>", "</td>", "`a``", "a\\|b", "a\\", ":a:", "a_b_c"),
    *("_x_", "x_", "*x*", "$1$2", "^", "^^41", "~", "\\(x\\)", "\\[", "\\\\", "\\begin{x}"),
    *("&", "a & b", "%", "50%", "#1", "C#", "{x}", "}", "}}", "{{", "“", "W₁", "x²", "-∞", "ß"),
]
NAMES = [*dict.fromkeys(_NAMES)]
FEW = 20
some_names = pytest.mark.parametrize(
    "names", [NAMES[i : i + FEW] for i in range(0, len(NAMES), FEW)], ids=lambda names: names[0]
)
several = settings(
    phases=[Phase.generate],
    database=None,
    max_examples=8,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)


def visible(name: str) -> str:
    """What cannot be seen is written as an escape, a space at either end as ␣; families stay."""
    inner = name.strip(" ")
    ahead = len(name) - len(name.lstrip(" ")) if inner else len(name)
    escapes = (c if c.isprintable() else ascii(c)[1:-1] for c in inner)
    written = "".join(escapes).replace("👩\\u200d", "👩\u200d")
    return "␣" * ahead + written + "␣" * (len(name) - ahead - len(inner))


def tutorial(names: Sequence[str], *options: str, title: str = "T", features: bool = False) -> str:
    """The steps of a small scenario that has the names for tokens or for features."""
    one = [[Decimal(1)]]
    scenario: random_scenarios.Scenario = {
        "title": title,
        "tokens": list(names),
        "embeddings": one * len(names),
    }
    if features:
        row = one[0] * len(names)
        scenario |= {"tokens": ["a", "b"], "features": list(names), "embeddings": [row, row]}
    weights = one * len(names) if features else one
    head = dict.fromkeys(["W_Q", "W_K", "W_V"], weights)
    scenario["layers"] = [{"attention": {"heads": [head], "residual": False}}]
    return printed("tutorial", "-", *options, stdin=random_scenarios.to_yaml(scenario))


# --- Markdown ------------------------------------------------------------------------------------


def parsed(markdown: str) -> list[Token]:
    """The blocks; no reader of $$ sees names in it as Markdown, so they are left out."""
    return COMMONMARK.parse(re.sub(r"^\$\$\n.*?^\$\$$", "", markdown, flags=re.M | re.S))


def texts(tokens: Sequence[Token], kind: str) -> Iterator[str]:
    """What is read in each block of a kind."""
    for opening, inline in pairwise(tokens):
        if opening.type == kind:
            yield "".join(child.content for child in inline.children or ())


def tables(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """The tokens of each table."""
    starts = [i for i, token in enumerate(tokens) if token.type == "table_open"]
    ends = [i for i, token in enumerate(tokens) if token.type == "table_close"]
    return (list(tokens[start:end]) for start, end in zip(starts, ends, strict=True))


def header_of(tokens: Sequence[Token], corner: str) -> list[str]:
    """The header of the first table with that corner."""
    headers = (list(texts(table, "th_open")) for table in tables(tokens))
    return next(header for header in headers if header[0] == corner)


def cells_of(tokens: Sequence[Token], corner: str) -> list[str]:
    """The cells below that header."""
    return next(
        list(texts(table, "td_open"))
        for table in tables(tokens)
        if next(texts(table, "th_open")) == corner
    )


def links(tokens: Sequence[Token]) -> list[Token]:
    inline = [child for token in tokens for child in token.children or ()]
    return [child for child in inline if child.type == "link_open"]


def assert_well_formed(markdown: str) -> None:
    tokens, lines = parsed(markdown), markdown.split("\n")
    inline = [child for token in tokens for child in token.children or ()]
    assert {child.type for child in inline if not ANCHOR.fullmatch(child.content)} <= INLINE
    folds = {t.content for t in tokens if t.type == "html_block"}
    assert all(re.fullmatch("<details>\n<summary>.*</summary>\n|</details>\n", f) for f in folds)
    assert {token.type for token in tokens} <= BLOCKS
    assert all(str(link.attrs["href"]).startswith("#") for link in links(tokens))
    if "$$" in lines:
        return
    outside = dict(enumerate(lines))  # what neither a fence nor a table holds
    for token in tokens:
        if token.type not in ("fence", "table_open"):
            continue
        assert token.map
        held = [outside.pop(number) for number in range(*token.map)]
        if token.type == "fence":
            assert held[-1] == token.markup
        else:
            assert len({row.count("|") for row in held}) == 1
    assert not [line for line in outside.values() if line.startswith("| ")]


@some_names
@pytest.mark.parametrize("options", [(), ("--math",)], ids=len)
def test_names_in_markdown(names: list[str], options: tuple[str, ...]) -> None:
    markdown = tutorial(names, "--format", "markdown", *options)
    assert_well_formed(markdown)
    tokens = parsed(markdown)
    shown = [*map(visible, names)]
    assert cells_of(tokens, "position")[1::2] == shown
    read = f"The model reads {', '.join(shown[:-1])} and {shown[-1]}."
    assert read in list(texts(tokens, "paragraph_open"))


def test_mathematics_that_is_read_as_text_leads_nowhere() -> None:
    tokens = COMMONMARK.parse(tutorial(["![](http://x.y)", "[x](y)", "a"], "--math"))
    inline = {child.type for token in tokens for child in token.children or ()}
    assert "image" not in inline
    assert all(str(link.attrs["href"]).startswith("#") for link in links(tokens))


def test_labels_in_markdown() -> None:
    markdown = tutorial(NAMES, features=True)
    assert_well_formed(markdown)
    tokens = parsed(markdown)
    shown = [*map(visible, NAMES)]
    assert header_of(tokens, "X")[1:] == shown
    assert set(shown) <= set(texts(tokens, "td_open"))


@pytest.mark.parametrize("title", NAMES[::2])
def test_titles_in_markdown(title: str) -> None:
    assert next(texts(parsed(tutorial(["a"], title=title)), "heading_open")) == visible(title)


@pytest.mark.parametrize(
    "name",
    [
        "__init__",
        "a #",
    ],
)
def test_names_that_are_lost_in_markdown(name: str) -> None:
    tokens = parsed(tutorial(["a", name], title=name))
    assert next(texts(tokens, "heading_open")) == name
    assert cells_of(tokens, "position")[3] == name


def test_a_label_that_looks_like_a_table() -> None:
    scenario: random_scenarios.Scenario = {"title": "T", "tokens": ["a"], "embeddings": [[1]]}
    scenario |= {"vocabulary": ["|", "none"]}
    scenario |= {"layers": [], "unembedding": {"W_U": [[1, 0]]}, "targets": ["|"]}
    markdown = printed(
        "loss", "-", "--format", "markdown", stdin=random_scenarios.to_yaml(scenario)
    )
    assert "\n|: -ln(" in markdown
    assert_well_formed(markdown)


@several
@given(
    scenario=random_scenarios.scenarios(
        carry="step", names=random_scenarios.odd_tokens(), epsilons=("0.1",), max_layers=1
    )
)
def test_random_scenarios_in_markdown(scenario: random_scenarios.Scenario) -> None:
    assert_well_formed(random_scenarios.printed_or_rejected(scenario, "tutorial", "-"))


# --- LaTeX ---------------------------------------------------------------------------------------

COMMANDS = {
    **{"textbackslash": "\\", "textasciitilde": "~", "textasciicircum": "^", "textbar": "|"},
    **{"textless": "<", "textgreater": ">", "textquotedbl": '"', "textasciigrave": "`"},
    **{"dots": "…", "textvisiblespace": "␣"},
}
SIGNS = {
    **{r"\infty": "∞", r"\surd": "√", "_{1}": "₁", "^{2}": "²", "-": "−"},
    **{r"\cdot": "·", "'": "′"},
}
PIECES = re.compile(
    r"\\(?P<command>text[a-z]+|dots)\{\}|\\(?P<sign>[&%$#_{}])|\\letter\{(?P<code>[0-9A-F]+)\}"
    r"|\$(?P<mathematics>[^$]+)\$|(?P<quotes>``)|(?P<plain>[^\\{}$&#^_~%])"
)


def read_back(latex: str) -> str:
    """The name that LaTeX shows for an escaped one."""
    latex = latex.replace(r"\allowbreak{}", "")
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
                read += "“"
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
    latex = re.sub(r"\A(?:% .*\n)+|\\providecommand.*", "", latex)
    display = r"\\\[ .*? \\\]|\\begin\{alignat\*\}.*?\\end\{alignat\*\}"
    outside = re.sub(display, "", latex, flags=re.DOTALL)
    latex = re.sub("step~(?=[0-9])", "step ", latex)
    assert not re.search(r"(?<!\\)[#%~]", latex.replace(r"\\", ""))
    for line in re.sub(r"\\[^A-Za-z]", "", outside).split("\n"):
        text = re.sub(r"\$[^$]*\$", "", line)
        assert not re.search(r"[$^_]", text), line
    tables = re.sub(r"\\begin\{longtable\}.*?\\end\{longtable\}", "", outside, flags=re.DOTALL)
    assert "&" not in tables.replace(r"\&", "")


@some_names
def test_names_in_latex(names: list[str]) -> None:
    latex = tutorial(names, "--format", "latex")
    _, _, below = latex.partition(r"\textit{token}")
    table, _, _ = below.partition(r"\end{longtable}")
    cells = [re.split(r"(?<!\\) & ", row)[1] for row in table.rstrip().split(" \\\\\n")[1:]]
    cells[-1] = cells[-1].removeprefix(r"\textbf{").removesuffix("}")
    assert [read_back(cell) for cell in cells] == [*map(visible, names)]
    assert_balanced(latex)
    assert_escaped(latex)


@several
@given(
    scenario=random_scenarios.scenarios(
        carry="step", names=random_scenarios.odd_tokens(), epsilons=("0.1",), max_layers=1
    )
)
def test_random_scenarios_in_latex(scenario: random_scenarios.Scenario) -> None:
    latex = random_scenarios.printed_or_rejected(scenario, "tutorial", "-", "--format", "latex")
    assert_balanced(latex)
    assert_escaped(latex)
    for rows in re.findall(r"\\begin\{[a-z*]+\}(?:\[l\]\{.*\})?\n(.*?)\\end", latex, re.DOTALL):
        assert len({len(re.findall(r"(?<!\\)&", row)) for row in rows.split("\\\\\n")}) == 1
