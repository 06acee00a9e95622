"""Every judge of a printed text, at once: equations, agreement, continuity, digits, sentences."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.helpers.agreement import against_values, judged
from tests.helpers.authored import without_words
from tests.helpers.claims import Judge, faults
from tests.helpers.command import Ran, run
from tests.helpers.continuity import misplaced, two_forms, violations
from tests.helpers.latex_truth import from_latex as worked_latex, from_markdown as worked_markdown
from tests.helpers.other_pages import bare, from_html, from_latex, from_markdown
from tests.helpers.page_data import values_of_page
from tests.helpers.readable_digits import needless_brackets, unread_digits
from tests.helpers.scenario_yaml import Scenario, to_yaml
from tests.helpers.sentences import unbroken
from tests.helpers.terminal_page import Block, read_blocks
from tests.helpers.truth import false_equations, unreadable, without_pictures

REFUSED = (
    "the deviation of a sample needs two features|"
    "a division by zero|number is too (large|small)|no position has a next token|have no mask|"
    "the mask shows later tokens|nothing is learned|passes on no gradient|has no slope|"
    "needs a vocabulary|drawn from a vocabulary|needs the embeddings|is not in the vocabulary|"
    "no embedding|numbers alone|given as .* numbers, expected|cannot train|"
    "needs at least one layer|the text is longer now|"
    "layer \\d+ leaves .* the vocabulary needs|a given gradient holds for one step|"
    "no trained parameter acts on this value|logits: no such value|given, so it has no parts|"
    "the soft cap is not linear|does not continue a text|probability is too small to compute with"
)
"""What may be said of a random scenario that leads nowhere."""

ONE_LINE = 5000
"""So wide that each paragraph is one line."""

Read = tuple[tuple[str, ...], Callable[[str], str], Callable[[str], list[Block]]]
FORMATS: dict[str, Read] = {
    "terminal": (("--format", "terminal"), str, read_blocks),
    "markdown": (("--format", "markdown"), worked_markdown, from_markdown),
    "mathematics": (("--format", "markdown", "--math"), worked_markdown, from_markdown),
    "latex": (("--format", "latex"), worked_latex, from_latex),
}
WORDS_THAT_STAY = "Drawing the next word"
"""The matrix of its step shows those alone."""


def faults_of_text(text: str, form: str) -> list[str]:
    """False equations, and lines that do not agree with their matrices."""
    return faults_and_compared(text, form)[0]


def faults_and_compared(text: str, form: str) -> tuple[list[str], int]:
    """The same, and how many lines were held against a matrix."""
    _, lines, blocks = FORMATS[form]
    found, worked = judged(blocks(without_pictures(text))), lines(text)
    faults = [
        *(f"{form}: unreadable: {line}" for line in unreadable(worked)),
        *(f"{form}: false: {e.text}: {why}" for e, why in false_equations(worked)),
        *(f"{form}: disagrees: {each}" for each in found.disagreements),
        *(f"{form}: no entry: {line}" for line in found.unplaced if WORDS_THAT_STAY not in line),
    ]
    return faults, found.compared


SAID_TWICE = re.compile(r"^  (\S+)\n\n  \1 (?![=(])", re.MULTILINE)
"""A symbol alone on a line, right above the matrix that has it in its corner."""


def faults_of_terminal(text: str, spec: Scenario) -> list[str]:
    """Numbers that stood nowhere before, brackets and digits that nobody needs."""
    rounding = spec.get("rounding", {})
    found: list[Any] = [*needless_brackets(text), *SAID_TWICE.findall(text)]
    if rounding.get("carry") != "never" and "dimensions" not in spec:
        found += [*violations(text), *misplaced(text), *two_forms(text)]
    cancels = spec.get("arithmetic") == "float64"  # which takes as many digits as it takes
    if "digits" not in rounding and "decimals" in rounding and not cancels:
        found += unread_digits(text, rounding["decimals"])
    return [f"terminal: {each}" for each in found]


def faults_of_page(html: str) -> list[str]:
    """Lines of a page that end with another number than its matrices show."""
    return [
        *(f"page: disagrees: {each}" for each in judged(from_html(html)).disagreements),
        *(
            f"page: disagrees: {value['address']}[{at}]: {entry}"
            for value in values_of_page(html)
            for at, entry in value["entries"].items()
            if entry.get("result", entry["number"]) != entry["number"]
        ),
    ]


def faults_of_run(plain: Scenario, written: Scenario, *options: str, width: int) -> list[str]:
    """What is wrong with a run in five formats; nothing of one that is refused with a reason."""
    stdin = to_yaml(written)
    ran = run("run", "-", *options, width=width, stdin=stdin)
    if ran.exit_code:
        return not_refused(ran)
    found = faults_of_terminal(ran.stdout, written)
    for form, (choice, _, _) in FORMATS.items():
        same = form == "terminal"
        text = ran if same else run("run", "-", *options, *choice, stdin=stdin)
        found += not_refused(text) or faults_of_text(text.stdout, form)
    if "dimensions" not in plain:
        document = json.loads(run("run", "-", *options, "--format", "json", stdin=stdin).stdout)
        blocks = read_blocks(without_pictures(ran.stdout))
        against = against_values(blocks, document["values"], bare=bare)
        found += [f"json: {each}" for each in against]
        values = {value["address"]: value for value in document["values"]}
        for token in range(1, len(Judge(values, plain, 0, {}).tokens) + 1):
            found += _faults_of_token(document, plain, written, token)
    return found + _faults_of_page(stdin)


def _faults_of_token(document: Any, plain: Scenario, written: Scenario, token: int) -> list[str]:
    """What is wrong with the sentences and the lines of a run that follows the token."""
    chosen = ("--token", str(token), "--format", "terminal")
    ran = run("run", "-", *chosen, width=ONE_LINE, stdin=to_yaml(written))
    if ran.exit_code:
        return not_refused(ran)
    sentences = _faults_of_sentences(unbroken(ran.stdout), document, plain, written, token)
    return [*faults_of_text(ran.stdout, "terminal"), *sentences]


def _faults_of_page(stdin: str) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        ran = run("page", "-", "-o", str(page), stdin=stdin)
        return not_refused(ran) if ran.exit_code else faults_of_page(page.read_text("utf-8"))


def not_refused(ran: Ran) -> list[str]:
    """What went wrong, if it is nothing that random numbers bring about."""
    wrong = ran.exit_code and not re.search(REFUSED, ran.stderr)
    return [f"refused: {ran.stderr}"] if wrong else []


def _faults_of_sentences(
    text: str, document: Any, plain: Scenario, written: Scenario, token: int
) -> Iterator[str]:
    values = {value["address"]: value for value in document["values"]}
    said: Scenario = {key: written[key] for key in ("text", "merges", "corpus") if key in written}
    if "random" in written.get("embeddings", ()):
        said["embeddings"] = written["embeddings"]
    first = values["input"]["printed"][0][0] if "input" in values else ""
    text, amiss = without_words(text, plain, first)
    yield from (f"words: {each}" for each in amiss)
    judge = Judge(values, {**plain, **said}, token - 1, document["rounding"])
    yield from (f"sentence: {each}" for each in faults(text, judge))


def faults_of_command(written: Scenario, form: str, command: tuple[str, ...]) -> list[str]:
    """What is wrong with another command in a format: equations and agreement."""
    choice, _, _ = FORMATS[form]
    words = command if "-s" in command else (command[0], "-", *command[1:])
    ran = run(*words, *choice, stdin=to_yaml(written))
    return not_refused(ran) if ran.exit_code else faults_of_text(ran.stdout, form)
