"""The judge of an attribution's sentences: which part is largest, what the result is a sum of.

It reads the page of a terminal and the JSON of the same request, and knows every sentence: one that
is not here fails.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

from tests.helpers import terminal_page
from tests.helpers.agreement import means
from tests.helpers.judge import as_shown, exact
from tests.helpers.sentences import spelled_out
from tests.helpers.terminal_page import NUMBER, Prose, Table

COMPONENTS = {
    "the embedding": r"embedding(\.scaled)?",
    "the position": r"position",
    "the token type": "token_type",
    "each attention sub-layer": r".*attention\.output",
    "each head": r".*\.head\d+\.(output|weights|output_norm|gated_output)",
    "each FFN": r".*\.ffn\.((expert\d+|shared)\.)?"
    r"(hidden|activation|gated|projected|output|routed)",
    "the transform": r"unembedding\.transform\.activation",
    "each bias": r".*(b_O|b_2|b_U|shift)",
}
"""What adds something, by its address; everything else is a given vector."""

SINGLE = (
    r"The (?P<capped>uncapped )?(?P<what>logit|output) of “(?P<word>.*?)” "
    rf"(?P<where>after|for) “(?P<token>.*?)” is (?P<number>{NUMBER})\. It"
)
DIFFERENCE = (
    r"(?P<where>After|For) “(?P<token>.*?)”, the (?P<capped>uncapped )?(?P<what>logit|output) of "
    rf"“(?P<word>.*?)” is (?P<number>{NUMBER}) (?P<than>higher than|lower than|higher or lower than) "
    r"that of “(?P<other>.*?)”\. The difference"
)
INTRODUCTIONS = [
    re.compile(rf"{begins} is the sum of what (?P<kinds>.+) (?P<verb>adds?)\.", re.DOTALL)
    for begins in (SINGLE, DIFFERENCE)
]
GIVES = rf"(?: This head gives {NUMBER} % of its attention to “.*”(?: of the encoder)?\.)?"
LARGEST_PART = re.compile(
    rf"The largest part( in size)? is (?P<n>{NUMBER}) \((?P<name>.+?)\)\.(?P<gives>{GIVES})",
    re.DOTALL,
)
LARGEST_HEAD = re.compile(
    rf"The largest part of a head( in size)? is (?P<n>{NUMBER}) \((?P<name>.+?)\)\.{GIVES}",
    re.DOTALL,
)
LARGEST_TERM = re.compile(
    rf"The largest term( in size)? is that of “(?P<name>.*)”: (?P<n>{NUMBER})\.", re.DOTALL
)
OF_PARTS = re.compile("The largest part(?! of the )")
HELD = (
    "A norm divides by a number that depends on the whole vector. Here this number keeps its "
    "value from the pass. A part therefore says what a component adds to the sum, not how much it "
    "would change without the component."
)
MEAN = (
    " LayerNorm subtracts the mean of a token's numbers; the dot product is the same if the mean "
    "of the direction is subtracted instead."
)
NORMS = {
    f"The norm's divisor keeps its number from this pass. The direction is {gain}divided by it."
    f"{mean}": (bool(gain), "1 + γ" in gain, bool(mean))
    for gain in ("multiplied by γ and ", "multiplied by 1 + γ and ", "")
    for mean in (MEAN, "")
}
"""Whether the norm has γ, adds 1 to it, and subtracts the mean."""

GENERAL = (
    r"(A logit|The difference of two logits|An entry|The difference of two columns) is the dot product of the token's row of (y|y_M|a_M) and .*",
    r"The activation of the transform is not linear, so the direction ends there\. The part is the dot product of the token's activations and the direction\. An entry of the output y can be attributed further\.",
    r"The output of attention is a product with W_O, so the direction of the heads, side by side, is the direction of the output times the transposed weights\.",
    r"The part of this head is the dot product of its output for “.*” and its columns of the direction\.",
    r"The part of the head is a sum over its source tokens: the attention weight times the dot product of the value and the direction\.",
    r"The direction says how much the (uncapped )?logit rises per unit of each column of the head's output, with everything later held fixed\.",
    r"The sub-layer's output is multiplied by \S+, and so is the direction\.",
    r"The expert's output is multiplied by its weight for this token, which keeps its number from this pass\. The direction of the output is therefore the direction of the sum times this weight\.",
    r"The output of the FFN is the hidden layer times W₂\. The direction of the hidden layer is therefore the direction of the output times the transposed weights: each entry is what an activation of 1 adds to the result\.",
    r"The direction ends here\. The part is the dot product of the token's row and the direction\.",
    r"The parts c, the largest in size first:",
    r"As in step \d+\.",
    r"The sign = means .*",
    r"[A-Z][^.]*:",
)
"""Sentences that claim nothing of the numbers, and captions."""


KNOWN = (*GENERAL, re.escape(HELD), LARGEST_TERM.pattern)


def faults(text: str, document: Any, *, divides: bool, padding: bool = False) -> list[str]:
    """What is wrong with the sentences of a page.

    `divides` says whether the direction goes through a norm; of `padding`, nothing is claimed.
    """
    blocks = terminal_page.read_blocks(text)
    said = [block.text for block in blocks if isinstance(block, Prose)][1:]  # behind the title
    results = re.findall(rf"^    ρ = .* = ({NUMBER})$", text, re.M)
    rounds = any(exact(number) for number in results)
    found = [*_of_introduction(said, document, rounds=rounds), *spelled_out(text)]
    found += _of_the_parts(said[1:], blocks, document, padding)
    if (HELD in said) != divides:
        found.append("that norms are held is said, or not")
    answer, *steps = terminal_page.split_steps(blocks)
    claims = [*said[:1], *(line for line in said if OF_PARTS.match(line))]
    found += _of_step([x for x in answer[1:] if x not in [Prose(c) for c in claims]], padding)
    for step in steps:
        found += _of_step(step, padding)
    return found


def _of_the_parts(
    said: Sequence[str], blocks: Sequence[terminal_page.Block], document: Any, padding: bool
) -> Iterator[str]:
    """The largest part is named, and the largest of a head, unless it is the same."""
    bars = next(each for each in blocks if isinstance(each, Table) and each.symbol == "c")
    entries = [(name, numbers[0]) for name, numbers in bars.rows]
    addresses = {part["label"]: part["address"] for part in document["parts"]}
    is_head = re.compile(COMPONENTS["each head"])
    heads = [each for each in entries if is_head.fullmatch(addresses.get(each[0], ""))]
    largest = [match for line in said if (match := LARGEST_PART.fullmatch(line))]
    of_heads = [match for line in said if (match := LARGEST_HEAD.fullmatch(line))]
    yield from _of_the_largest("part", largest, entries, padding)
    if largest and heads and largest[0]["name"] == heads[0][0]:
        heads = heads[:1]  # the sentence about all parts has named it
    yield from _of_the_largest("part of a head", of_heads, heads, padding)
    for match in (*largest, *of_heads):
        if (match[1] is not None) != match["n"].startswith("-"):
            yield f"in size, or not: {match[0]}"
        if match.re is LARGEST_PART and match["gives"] and match["name"] not in dict(heads):
            yield f"no head: {match[0]}"


def faults_of_a_step(text: str) -> list[str]:
    """What is wrong with the sentences of one step, below its title."""
    return [*_of_step(terminal_page.read_blocks(text), padding=False)]


def _of_introduction(said: Sequence[str], document: Any, *, rounds: bool) -> Iterator[str]:
    match = next((m for each in INTRODUCTIONS if (m := each.fullmatch(said[0]))), None)
    if match is None:
        yield f"unknown: {said[0]}"
        return
    entry = f"{match['word']}]"
    of_output = document["entry"].startswith("output[")
    if (match["what"] == "output") != of_output or (match["where"].lower() == "for") != of_output:
        yield f"not of this value: {said[0]}"
    if bool(match["capped"]) != document["entry"].startswith("logits.uncapped["):
        yield f"capped or not: {said[0]}"
    if not document["entry"].endswith(entry) or f"[{match['token']}," not in document["entry"]:
        yield f"not this entry: {said[0]}"
    other = document["instead_of"]
    named = match.groupdict()
    if named.get("other") != (None if other is None else as_shown(other)):
        yield f"not this other word: {said[0]}"
    if named.get("than", "higher than") != _than(exact(document["printed"]), other):
        yield f"not {_than(exact(document['printed']), other)}: {said[0]}"
    if match["number"] != document["printed"].removeprefix("-" if other is not None else ""):
        yield f"not {document['printed']}: {said[0]}"
    addresses = {part["address"] for part in document["parts"]}
    kinds = {_component(address) for address in addresses} | ({"rounding"} if rounds else set())
    verb = "adds" if len(kinds) == 1 else "add"
    if set(re.split(", | and ", match["kinds"])) != kinds or match["verb"] != verb:
        yield f"not {kinds}: {said[0]}"


def _than(difference: Decimal, other: str | None) -> str:
    if other is None:
        return "higher than"
    if not difference:
        return "higher or lower than"
    return "higher than" if difference > 0 else "lower than"


def _component(address: str) -> str:
    return next(
        (name for name, of in COMPONENTS.items() if re.fullmatch(of, address)), "each given vector"
    )


def _of_step(step: Sequence[terminal_page.Block], padding: bool) -> Iterator[str]:
    tables = [block for block in step if isinstance(block, Table)]
    said = [block.text for block in step if isinstance(block, Prose)]
    parts = next(
        (table for table in tables if table.symbol == "c" and table.columns == ("",)), None
    )
    terms = next((table for table in tables if re.match("t[₀-₉]", table.symbol)), None)
    termed = [match for line in said if (match := LARGEST_TERM.fullmatch(line))]
    if parts:
        entries = [(name, numbers[0]) for name, numbers in parts.rows if " more" not in name]
        sizes = [abs(exact(number)) for _, number in entries]
        if sizes != sorted(sizes, reverse=True):
            yield f"not in the order of their size: {entries}"
    if terms:
        yield from _of_the_largest("term", termed, _unfolded(tables, terms), padding)
    if len(termed) > bool(terms):
        yield f"a claim without numbers: {said}"
    symbols = " ".join(block.right for block in step if isinstance(block, terminal_page.Formula))
    for line in said:
        if line in NORMS:
            centers = bool(re.search("m[₀-₉]", symbols))
            there = ("γ" in symbols, bool(re.search(r"\(1 \+ γ", symbols)), centers)
            if NORMS[line] != there:
                yield f"γ and the mean are {there}: {line}"
        elif not any(re.fullmatch(each, line, re.DOTALL) for each in KNOWN):
            yield f"unknown: {line}"


def _unfolded(tables: Sequence[Table], first: Table) -> list[tuple[str, str]]:
    """The columns of a row, in as many tables as they take."""
    rows = [table for table in tables if table.symbol == first.symbol]
    return [
        (name, number)
        for table in rows
        for name, number in zip(table.columns, table.rows[0][1], strict=True)
    ]


def _of_the_largest(
    what: str, said: Sequence[re.Match[str]], entries: Sequence[tuple[str, str]], padding: bool
) -> Iterator[str]:
    """The only entry that is the largest in size is named; of several, none."""
    largest = max((abs(exact(number)) for _, number in entries), default=None)
    ahead = [each for each in entries if abs(exact(each[1])) == largest]
    due = len(ahead) == 1 and len(entries) > 1 and not padding
    if len(said) != due:
        yield f"largest {what}: {len(said)} said, of {entries}"
    elif due:
        (name, number), (match,) = ahead[0], said
        if not (means(name, match["name"]) and number == match["n"]):
            yield f"largest {what}: {match[0]}, of {entries}"
