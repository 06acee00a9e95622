"""What an author may write in a scenario, hard on every markup, and how a reader sees it."""

from __future__ import annotations

import random
import re
from typing import Any

Scenario = dict[str, Any]

ENTRY, PERCENT = "{value input[1,1]}", "{value input[1,1] as percent}"
"""A number that every pass has: of the first token, the first feature."""

SEEN_AS = {
    "Four friends discuss where to eat.": ["Four friends discuss where to eat."],
    "Who *listens* to **whom**, and _why_?": ["Who listens to whom, and why?"],
    "Braces stay: {valuable}, {}, {{x}}, f{o}o.": ["Braces stay: {valuable}, {}, {{x}}, f{o}o."],
    "W_Q and snake_case_names, 3*4, a * b": ["W_Q and snake_case_names, 3*4, a * b"],
    r"\frac{a}{b} costs $5, not $x_1$ & 50 % of ~2^3": [
        r"\frac{a}{b} costs $5, not $x_1$ & 50 % of ~2^3"
    ],
    "<b>bold</b> &amp; <script>alert('x')</script> --> ]]>": [
        "<b>bold</b> &amp; <script>alert('x')</script> --> ]]>"
    ],
    "# no heading": ["# no heading"],
    "- no list\n- nor here": ["- no list - nor here"],
    "1. no list": ["1. no list"],
    "> no quotation": ["> no quotation"],
    "| no | table |\n|---|---|": ["| no | table | |---|---|"],
    "See [1] and [a link](http://localhost/x_y) at @name #7": [
        "See [1] and [a link](http://localhost/x_y) at @name #7"
    ],
    "`code {with} *stars*` and \\*none\\*": ["code {with} *stars* and *none*"],
    "One paragraph\nof two lines.\n\nAnother one.": ["One paragraph of two lines.", "Another one."],
    f"The first number is {ENTRY}.": ["The first number is NUMBER."],
    f"*It is {ENTRY}*, or **{PERCENT}**": ["It is NUMBER, or PERCENT"],
    f"{ENTRY}\n\n_{PERCENT}_": ["NUMBER", "PERCENT"],
    "日本語 עברית 👩‍👧 ﬁ …": ["日本語 עברית 👩‍👧 ﬁ …"],
    "Nothing else matters here: " + "long" * 20: ["Nothing else matters here: " + "long" * 20],
}
"""Each text with the paragraphs that it is; NUMBER and PERCENT are the entry as it is printed."""

TINY = "TINYPERCENTAGE"
"""In place of the percentage of a power of ten, which a person would not write as one."""

STEPS = {
    "embedding": "Tokens and embeddings",
    "input": "Input vectors",
    "output": "Output of the model",
}
"""Steps that every scenario has, with their titles."""


def words(spec: Scenario, rng: random.Random) -> None:
    """An intro, a summary or notes, or some of them."""
    texts = sorted(SEEN_AS)
    for key in rng.sample(("intro", "summary"), rng.randint(0, 2)):
        spec[key] = rng.choice(texts)
    if rng.random() < 0.8:
        steps = rng.sample(sorted(STEPS), rng.randint(1, 3))
        spec["notes"] = {step: rng.choice(texts) for step in steps}


def paragraphs(text: str, printed: str) -> list[str]:
    """The paragraphs of a text, where the entry is `printed` so."""
    return [
        seen.replace("NUMBER", printed).replace("PERCENT", percentage(printed))
        for seen in SEEN_AS[text]
    ]


def without_words(text: str, spec: Scenario, printed: str) -> tuple[str, list[str]]:
    """A run on a terminal, each paragraph in a line, without what the author wrote; what is amiss.

    The intro stands below the title, the summary at the end, a note at the end of its step.
    """
    faults = []

    def cut(expected: str, words: str, place: str) -> str:
        found = re.search(expected, text)
        if found is None:
            faults.append(f"{place}: {words!r} is not said there")
            return text
        return text[: found.start("words")] + text[found.end("words") :]

    def pattern(key: str) -> tuple[str, str]:
        said = "\n\n".join(paragraphs(key, printed)) + "\n"
        return f"(?P<words>{re.escape(said).replace(TINY, '[-0-9.×⁻⁰¹²³⁴-⁹]+ %')})", said

    if "intro" in spec:
        words, said = pattern(spec["intro"])
        text = cut(rf"\A.*\n\n{words}\n", said, "intro")
    if "summary" in spec:
        words, said = pattern(spec["summary"])
        text = cut(rf"(?P<words>\nSummary\n[═─]+\n\n{words[10:]}\n?\Z", said, "summary")
    for step, note in spec.get("notes", {}).items():
        words, said = pattern(note)
        title = rf"\n\d+ · {STEPS[step]}(?: {{2,}}[^\n]*)?\n─+\n"
        # The decoder's step is the last of this title.
        text = cut(rf"(?s){title}(?!.*{title})(?:(?!\n[═─]).)*?{words}", said, step)
    return text, faults


def percentage(printed: str) -> str:
    """A number of a text times 100, as a person moves its point."""
    sign, digits = re.fullmatch("(-?)(.*)", printed).groups()  # type: ignore[union-attr]
    mantissa, _, power = digits.partition("×10")
    if power:
        return TINY
    whole, _, decimals = mantissa.partition(".")
    moved = whole + decimals[:2].ljust(2, "0")
    rest = decimals[2:].rstrip("0")
    return f"{sign}{moved.lstrip('0') or '0'}{'.' * bool(rest)}{rest} %"
