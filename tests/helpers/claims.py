"""A judge of sentences: what a text says of its numbers is held against the JSON of the same run.

It shares no code with `tracer.lesson`. A sentence that it does not know is a fault; so is one that
is false, or that speaks of a tie, of the only one, of what is hidden, filled up or pinned.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from typing import Any, NamedTuple

from tests.helpers import (
    claims_of_answers,
    claims_of_blocks,
    claims_of_experts,
    claims_of_given,
    claims_of_learning,
    claims_of_lora,
    claims_of_losses,
    claims_of_masked,
    claims_of_parts,
    claims_of_quantized,
    claims_of_reasons,
    claims_of_rotary,
    claims_of_scores,
    claims_of_steps,
    claims_of_texts,
    claims_of_tokens,
    claims_of_trained,
    claims_of_words,
)
from tests.helpers.claims_due import due
from tests.helpers.claims_of_reasons import partly_given
from tests.helpers.judge import OF_ENCODER, SUB_LAYERS, Check, Judge, address_of, pattern_of
from tests.helpers.judged_part import judged_parts
from tests.helpers.known_sentences import GOALS, KNOWN, PHRASES, is_true
from tests.helpers.sentences import spelled_out

__all__ = ["FORMS", "Judge", "faults", "judged"]

TABLES = (
    *(claims_of_answers, claims_of_blocks, claims_of_experts, claims_of_given),
    *(claims_of_learning, claims_of_lora, claims_of_losses, claims_of_parts, claims_of_reasons),
    *(claims_of_scores, claims_of_steps, claims_of_texts, claims_of_tokens, claims_of_trained),
    *(claims_of_masked, claims_of_quantized, claims_of_rotary, claims_of_words),
)


class Claim(NamedTuple):
    """A form of sentence, and the check that recomputes what one says."""

    template: str
    pattern: re.Pattern[str]
    check: Check


FORMS = [
    Claim(template, pattern_of(template), check)
    for table in (*(each.CLAIMS for each in TABLES), *(part.claims for part in judged_parts()))
    for template, check in table.items()
]

UNNUMBERED = {
    **{"What the mask prevents": "unmasked", "Targets and predictions": "loss"},
    "Must training go word by word?": "loss",
    **{"Probabilities": "loss", "Cross-entropy loss": "loss", "Summary": "own", "The text": ""},
    **{"What is left out": "own", "Stacking layers": "own", "No cross-attention": "own"},
    **{"Padding": "own", "What the given values change": "own"},
    **{"Squared error loss": "loss", "Binary cross-entropy loss": "loss"},
}
"""The headings behind the steps of a tutorial, and in which further pass its values are."""

ONE_OF_SEVERAL = (
    *("of_heads twice", "normalized twice", "sampled twice", "parameters twice"),
    *("learned_pair twice", "counted twice", "ramp_end twice"),
)
"""Checks of sentences that stand beside each other."""

ALONE = r"Summary|The text|Turn |Targets and|Probabilities|\d+ · |The loss after"
"""The headings that are not those of a part, wherever they stand."""


def faults(text: str, at: Judge, seen: Counter[str] | None = None) -> list[str]:
    """The sentences of a text that are unknown or false; `seen` counts the forms that it has."""
    found = spelled_out(text)
    part = ""
    at.further["own"], at.of_the_text = at.values, at.token
    lines = text.split("\n")
    for line, below in pairwise(lines[1:]):
        if line.startswith((" ", "▸")):
            if shown := address_of_table(line, at):
                found += missing(at, seen)
                at.address, at.lines = shown, []
            at.lines.append(line)
            if OF_THE_REST.search(at.heading) and (name := other_row(line, at)):
                found.append(f"{at.heading}: {name} has other numbers")
        elif re.fullmatch("[═─]+", line):
            continue
        elif re.fullmatch("═+", below) and not re.match(ALONE, line):
            part = re.sub("^Backward pass, (.)", lambda begins: begins[1].upper(), line)
        elif re.fullmatch("[═─]+", below) and not line.startswith("Turn "):
            found += missing(at, seen)
            at.look(into_encoder=False)
            if line.startswith("One head"):
                part = line
            line = whole_heading(line, part if "─" in below else "", crosses="encoder" in at.spec)
            at.heading, at.lines, at.here = line, [], several_steps(line, at)
            number, _, at.titles[number] = line.partition(". ")
            at.values = at.further.get(UNNUMBERED.get(line, ""), at.values)
            in_encoder = r"\d+(–\d+)?\. Encoder(?! · Output of the encoder)"
            at.look(into_encoder=bool(re.match(in_encoder, line)))
            at.address = "" if at.here else address_of(line, at)
        elif turn := re.fullmatch(r"Turn (\d+)", line):
            found += missing(at, seen)
            at.look(into_encoder=False)
            part = ""
            at.earlier = set()
            at.turn, at.heading, at.lines, at.address = int(turn[1]), line, [], ""
            listed_values = at.turns[at.turn - 1].get("values", [])
            at.values = {value["address"]: value for value in listed_values}
        elif line and (fault := judged(line, at, seen)):
            found.append(f"{at.heading}: {line} [{fault}]")
    return found + missing(at, seen)


def missing(at: Judge, seen: Counter[str] | None = None) -> list[str]:
    """The claim that a section owes and does not make; each is made once at the most."""
    owed, made = due(at) if at.address else None, at.made
    at.made = Counter()
    if seen is not None and owed:
        seen[f"{owed} is due"] += 1
    # All masks of a tower hide the same tokens.
    known = owed == "hidden" and made["as_in"] and (owed, bool(at.outside)) in at.earlier
    shorter = at.detail != "full" and (made["as_in"] or made["the_same"] or owed in at.introduced)
    only_result = bool(at.here) and owed != "shares"
    silent = owed and not made[owed] and not known and not shorter and not only_result
    if at.heading == "":
        at.introduced = {"prediction" if name == "predicted_first" else name for name in made}
    at.earlier |= {(name, bool(at.outside)) for name in made}
    twice = [f"{at.heading}: {name} twice" for name in made if made[name] > 1]
    nothing = [f"{at.heading}: nothing is said [{owed}]"] if silent else []
    return nothing + [each for each in twice if not each.endswith(ONE_OF_SEVERAL)]


def whole_heading(line: str, part: str, *, crosses: bool) -> str:
    """`7. Layer 1, head 2 · Query`, of `7 · Head 2 · Query   Q = X · W` in `Layer 1: attention`.

    Inside an attention it is said which, where there is more than one. The steps of a short text
    have no numbers; all are of one head.
    """
    number, *pieces = re.split(" {2,}", line)[0].split(" · ")
    if re.match("One head", part) and line not in (part, "Summary"):
        where = part.removeprefix("One head").removeprefix(": ")
        return f"0. {where[:1].upper()}{where[1:]} · {[number, *pieces][-1]}"
    if not re.fullmatch(r"\d+(–\d+)?", number):
        return line
    layer, _, sub_layer = part.rpartition(": ")
    inside = "attention" in sub_layer.lower() and not re.match(
        "Residual|LayerNorm|RMSNorm", pieces[-1]
    )
    attention = [sub_layer] if crosses and inside and not layer.startswith("Encoder") else []
    where = ", ".join([*filter(None, [layer]), *attention, *pieces[:-1]])
    return f"{number}. {where} · {pieces[-1]}" if where else f"{number}. {pieces[-1]}"


OF_THE_REST = re.compile(r" · The rest of (?:the layer|layer (\d+))$")
"""The heading of the section that ends a short text's head: the steps after it in a layer."""


def other_row(line: str, at: Judge) -> str | None:
    """The name of a step whose numbers are not those of a table's row, which names it."""
    name, *numbers = re.split(" {2,}", line.strip())
    if name == at.who:  # above the columns
        return None
    begin, cut, end = name.partition("…")
    long = (each for each in LONG if each.startswith(begin) and each.endswith(end))
    title = next(long, name) if cut else name
    address = address_of(f"{at.heading.rpartition(' · ')[0]} · {title}", at)
    shown = at.row(at.values[address]).shown if address in at.values else None
    return None if numbers == shown else name


LONG = [
    f"{what} {side} {part}"
    for what in ("Residual connection", "LayerNorm", "RMSNorm")
    for side in ("after", "before", "of")
    for part in SUB_LAYERS
]
"""The names of steps that may be shortened in a table."""


def several_steps(heading: str, at: Judge) -> list[dict[str, Any]]:
    """The steps of a section that has more than one."""
    if found := re.match(r"(\d+)–(\d+)\. ", heading):
        return at.steps[int(found[1]) - 1 : int(found[2])]
    if found := OF_THE_REST.search(heading):
        own = rf"layer{found[1] or 1}\.(?!.*\.head)"
        if "cross-attention" in heading.lower():
            own += r"(?!attention\.)"
        return [step for step in at.steps if re.match(own, step["address"])]
    return []


def address_of_table(line: str, at: Judge) -> str | None:
    """Of which of the steps of a section a table shows the result, if the line begins one."""
    symbol = re.split(" {2,}", line.strip())[0]
    for step in at.here if re.match(r" {2}\S", line) else []:
        address = re.sub(r"^encoder\.(?!output$)", "", step["address"])
        of = OF_ENCODER if at.outside else ""
        if address in at.values and at.values[address]["symbol"] == symbol.replace(of, ""):
            return address
    return None


END = re.compile(r"(?<=[.:]) (?=[A-Z]|[a-z]\S* (?:maps|is) )")
"""Between two sentences."""

OF_DECODER = re.compile(rf"\b[Wb](?:[₁₂₃]|_[A-Z]+[¹²³]*)(?![A-Z¹²³{OF_ENCODER}])")
"""W_Q¹, b₁: what an encoder's weights are not called."""


def judged(line: str, at: Judge, seen: Counter[str] | None = None) -> str | None:
    """What is wrong with a paragraph, if anything is.

    In a shorter text it may lack sentences of the full one that have been said before, with names
    and numbers of their own.
    """
    made, own = Counter(at.made), END.split(line)
    if OF_THE_REST.search(at.heading):
        return None if are_goals(own, at.here, at, seen) else "not the goals of its steps"
    fault = _judged(line, at, seen)
    for whole in at.full.get(at.heading.partition(".")[0], ()) if fault else ():
        sentences = END.split(whole)
        left_out = {wording(each) for each in sentences if each not in own}
        if left_out and left_out <= at.told and [s for s in sentences if s in own] == own:
            at.made = Counter(made)
            fault = _judged(whole, at, seen)
    at.told |= {*map(wording, own)}
    return fault


def wording(sentence: str) -> str:
    """A sentence without its names, its numbers and the signs of an encoder."""
    unnamed = re.sub("“.*?”", "“…”", sentence.replace(OF_ENCODER, ""))
    return re.sub(r"[\d.×⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+", "…", unnamed)


def are_goals(
    sentences: list[str], steps: list[dict[str, Any]], at: Judge, seen: Counter[str] | None
) -> bool:
    """Whether sentences say what some of the steps do, in their order."""
    if not sentences:
        return True
    for i, step in enumerate(steps):
        for n in range(len(sentences), 0, -1):
            at.address, at.made = step["address"], Counter[str]()
            goal = _judged(" ".join(sentences[:n]), at, seen)
            at.address, at.made = "", Counter[str]()
            if goal is None and are_goals(sentences[n:], steps[i + 1 :], at, seen):
                return True
    return False


def _judged(line: str, at: Judge, seen: Counter[str] | None) -> str | None:
    if at.outside and OF_DECODER.search(re.sub("“.*?”", "", line)):
        return "a weight of the decoder, in the encoder"
    if at.outside:
        line = re.sub(rf"\((\w+){OF_ENCODER}\)(?=[²^])", r"\1", line).replace(OF_ENCODER, "")
    said = claims_of_masked.of_the_next_word(line, at)
    if said is None:
        return "of the next word"
    line = said
    if line in KNOWN:
        if seen is not None:
            seen[line] += 1
        at.made["a phrase"] += line in PHRASES
        if line in GOALS or line in PHRASES:
            computed = not (at.address and partly_given(at))
            if computed != (line in GOALS):
                return "pinned, or not"
        return None if is_true(line, at) else "not true here"
    for claim in FORMS:
        if match := claim.pattern.fullmatch(line):
            if seen is not None:
                seen[claim.template] += 1
            try:
                holds = claim.check(at, {**match.groupdict(), "": line})
            except (AssertionError, ValueError, KeyError, IndexError, TypeError) as error:
                return f"{claim.check.__name__}: {error!r}"
            # The sentences of a check that asserts are one claim in several words.
            at.made[claim.check.__name__ if holds is None else claim.template] += 1
            return None if holds is None or holds else "false"
    return "unknown"
