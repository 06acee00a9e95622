"""The three lengths of a tutorial before every judge.

The full text has every step. A shorter one has parts of it: what it says in other words refers to
another step.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import pairwise
from typing import Any

import yaml

from tests.helpers.claims import END, Judge, faults
from tests.helpers.command import run
from tests.helpers.continuity import unprinted
from tests.helpers.every_judge import (
    FORMATS,
    ONE_LINE,
    faults_of_terminal,
    faults_of_text,
    not_refused,
)
from tests.helpers.scenario_yaml import Scenario, to_yaml
from tests.helpers.sentences import unbroken
from tests.helpers.truth import equations, without_pictures

DETAILS = ("full", "normal", "short")
OF_ANOTHER_STEP = (
    r"The same as .*step \d+.*, with other numbers\.",
    r"Steps \d+ to \d+ are computed like earlier ones, with other numbers\.",
    r"From the backward pass, without worked lines:",
    r".* is computed as in step \d+(, but without [γβ and]+)?(, from .*)?\.",
    r"(This is a part of the calculation\. )?A step of a new kind is worked; a step that repeats "
    r"another shows its result\.",
    r"As in step \d+\.",
    r"A unit at 0 adds nothing\.( \S+ is added at the end\.)?",
)
WITHOUT_INDEX = re.compile(r"[ᴱˢ¹²³⁴⁵]|\\(?=[\[\]])|(?<=its number in )\S+")
OF_SHORT = (
    "The head reads a query, and a key and a value of each token:",
    # A short text asks, and shows numbers of the first steps where these are read.
    r"(Which word comes next|Which word belongs in|What does).*",
    r"Only the gradient of one parameter is worked, for one token\.",
    # The full text goes on with a token from which others are hidden.
    r"“.+” can attend to every token\.",
    # The full text explains a softmax of the first head, and a short one that of another.
    r"The softmax turns the .*|Its weight is .*|Before rounding, .* greater than 0, printed as 0\.",
    r"Block \d+ has the keys? of .*\.|The output for .* is the sum of the values of head \d+, .*",
)


def faults_of_lengths(
    plain: Scenario,
    written: Scenario,
    token: int,
    also: tuple[str, str, int],
    counted: Counter[str],
) -> list[str]:
    """What is wrong with a tutorial in three lengths, which follows the token, or else the last.

    One of the lengths is also judged in a format, which has a width. What is judged is counted.
    """
    stdin = to_yaml(written)
    ran = run("run", "-", "--format", "json", stdin=stdin)
    if ran.exit_code:
        counted["refused"] += 1
        return not_refused(ran)
    document = json.loads(ran.stdout)
    token = min(token, len(Judge(by_address(document), plain, 0, {}).tokens))
    asked = ("tutorial", "-", "--token", str(token), "--detail")
    texts = [(each, "terminal", ONE_LINE) for each in DETAILS]
    told = {}
    for detail, form, width in (*texts, also):
        ran = run(*asked, detail, *FORMATS[form][0], width=width, stdin=stdin)
        if ran.exit_code:
            counted["refused"] += 1
            return not_refused(ran)
        told[detail, form, width] = ran.stdout
    counted["judged"] += 1
    found = []
    for (detail, form, _), text in told.items():
        new = faults_of_text(text, form)
        if form == "terminal":
            new += faults_of_terminal(text, written)
        found += [f"{detail}, token {token}: {each}" for each in new]
        counted[f"{detail}: equations, {form}"] += len(equations(FORMATS[form][1](text)))
    full, *shorter = (without_author(unbroken(told[each]), document) for each in texts)
    for detail, text in zip(DETAILS[1:], shorter, strict=True):
        lost = not_in_full(text, full, detail)
        found += [f"{detail}, token {token}: not in the full text: {each}" for each in lost]
    if "dimensions" in plain:
        return found
    said: Scenario = {key: written[key] for key in ("text", "merges", "corpus") if key in written}
    if "random" in written.get("embeddings", ()):
        said["embeddings"] = written["embeddings"]
    passes, turns = further(stdin, document)
    steps = json.loads(run("steps", "-", "--format", "json", stdin=stdin).stdout)["steps"]
    for detail, text in zip(DETAILS, (full, *shorter), strict=True):
        judge = Judge(by_address(document), {**plain, **said}, token - 1, document["rounding"])
        judge.turns, judge.further, judge.detail, judge.steps = turns, {**passes}, detail, steps
        judge.full = paragraphs(full) if detail != "full" else {}
        found += [f"{detail}, token {token}: {each}" for each in unprinted(text, stdin)]
        seen = Counter[str]()
        found += [f"{detail}, token {token}: {each}" for each in faults(text, judge, seen)]
        counted[f"{detail}: sentences"] += seen.total()
    return found


def not_in_full(shorter: str, full: str, detail: str) -> list[str]:
    """The sentences and lines of a shorter text that the full one does not have.

    Each has its paragraphs in a line, as `unbroken` makes them. A reason may stand at another step
    than in the full text, with the symbols of that one; without a number, with its token.
    """
    known = re.compile("|".join(OF_ANOTHER_STEP + (OF_SHORT if detail == "short" else ())))
    there = set(pieces(full))
    there |= set(map(elsewhere, there)) | set(map(of_another_layer, there))
    return [
        each
        for each in pieces(shorter)
        if each not in there and elsewhere(each) not in there
        if detail != "short" or of_another_layer(each) not in there
        if not known.fullmatch(each)
    ]


def of_another_layer(sentence: str) -> str:
    """A goal as another layer may have it, with a factor of its own."""
    return re.sub(r"(?<=output is multiplied by )\S+(?=, a constant)", "…", sentence)


def elsewhere(sentence: str) -> str:
    """A sentence as another step may have it."""
    unnamed = re.sub("“.+?”", "“…”", sentence)
    return WITHOUT_INDEX.sub("", sentence if re.search(r"\d", unnamed) else unnamed)


def pieces(text: str) -> list[str]:
    """Sentences and worked lines, without titles."""
    lines = without_pictures(text).split("\n")
    shown = [
        re.sub(" +", " ", line.strip())
        for line, below in zip(lines, [*lines[1:], ""], strict=True)
        if re.match(r" {4}[^ ]|[^ ▸═─]", line) and not re.match("[═─]", below)
    ]
    return [piece for line in shown for piece in END.split(line)]


def paragraphs(text: str) -> dict[str, list[str]]:
    """The paragraphs of each step by its number, of a text with each paragraph in a line."""
    found: dict[str, list[str]] = {}
    number = ""
    for line, below in pairwise(text.split("\n")):
        if re.fullmatch("[═─]+", below):
            number = line.partition(" · ")[0]
        elif line and line[0] not in " ▸─═":
            found.setdefault(number, []).append(line)
    return found


def without_author(text: str, document: Any) -> str:
    """A text of unbroken paragraphs without those that the scenario's author wrote."""
    texts = (document.get("intro"), *document.get("notes", {}).values(), document.get("summary"))
    written = {unquoted(each) for text in texts if text for each in text.split("\n\n")}
    blocks = text.split("\n\n")
    return "\n\n".join("" if unquoted(block) in written else block for block in blocks)


def unquoted(paragraph: str) -> str:
    """A paragraph as JSON has it: without the quotation marks of names."""
    return re.sub("[“”]", "", paragraph.strip("\n"))


def by_address(document: Any) -> dict[str, Any]:
    """The values of a document in JSON."""
    return {value["address"]: value for value in document["values"]}


def further(stdin: str, document: Any) -> tuple[dict[str, dict[str, Any]], list[Any]]:
    """The passes that follow in a tutorial, as far as there are any, and the turns of its text."""
    asked = {"unmasked": ("run", "-", "--no-mask"), "loss": ("loss", "-")}
    ran = {name: run(*words, "--format", "json", stdin=stdin) for name, words in asked.items()}
    passes = {name: by_address(json.loads(r.stdout)) for name, r in ran.items() if not r.exit_code}
    spec = yaml.safe_load(stdin)
    generation, start = spec.get("generation", {}), []
    if "vocabulary" in spec and not {"start", "encoder"} & {*generation, *spec}:
        # a tutorial continues its own text
        tokens = by_address(document).get("tokens", {"data": ()})  # none of typed queries
        start = [f"--start={token}" for token in tokens["data"]]
    for most in range(min(5, generation.get("max_tokens", 5)), 0, -1):  # if a word cannot be read
        limit = ("--max-tokens", str(most), "--format", "json")
        text = run("generate", "-", *start, *limit, stdin=stdin)
        if not text.exit_code:
            return passes, json.loads(text.stdout)["turns"]
    return passes, []
