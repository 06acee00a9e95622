"""The judge of a comparison's sentences: it knows all of them, and holds them against the JSON.

It reads the page of a terminal, unwrapped, and the JSON of the same request.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from tests.helpers.judge import as_shown
from tests.helpers.terminal_page import NUMBER

SIGNS = r" Here, z is the logit of a word and p its probability\."
DIFFERS = r"(?:differs from (?:the input|layer \d+) on|first differs after (?P<where>.+? layer \d+|layer \d+))"
MOVES = (
    r"(?: Its attention changes most in (?P<crosses>cross-attention )?head (?P<head>\d+) of layer "
    rf"(?P<layer>\d+): “(?P<key>.+?)”(?: \(“(?P<other>.+?)” in the second run\))? gets (?P<before>{NUMBER}) % in the first run and "
    rf"(?P<after>{NUMBER}) % in the second\.)?"
)
Said = dict[str, str]


def _difference(said: Said, document: Any) -> bool:
    steps = {each["address"]: float(each["difference"]) for each in document["steps"]}
    address = document["first_difference"]
    return said["at"].partition("[")[0] == address and steps[address] > 0


def _none_differs(said: Said, document: Any) -> bool:
    return document["first_difference"] is None


def _words(document: Any) -> list[str]:
    runs = [*document["predictions"], document["patched"]]
    return [as_shown(each["word"]) for each in runs if each]


def _predicts(said: Said, document: Any) -> bool:
    """Equal words are said together, others run by run."""
    words = _words(document)
    if together := re.fullmatch("(both|all) runs predict “(.+)”", said["what"]):
        counts = {"both": len(words) == 2, "all": len(words) > 2}
        return set(words) == {together[2]} and counts[together[1]]
    named = re.findall(
        r"the (first|second|patched) run predicts “(.+?)”(?:, | and |$)", said["what"]
    )
    alone = len(set(words)) == 1 and len(words) > 1
    return [word for _, word in named] == words and not alone


def _ranges(said: Said, document: Any) -> bool:
    rest = [each["effect"] for each in document["sweep"][10:-10]]
    ends = (rest[-1], rest[0])
    return len(rest) == int(said["n"]) and all(
        abs(float(each) - end) <= 0.00051
        for each, end in zip((said["least"], said["most"]), ends, strict=True)
    )


def _layers(document: Any, end: str = "") -> list[str]:
    """The places of a sweep in a layer, but not in a head, whose addresses end so."""
    found = (each["address"] for each in document["sweep"])
    return [
        a for a in found if re.match(r"(encoder\.)?layer\d+\.(?!.*head)", a) and re.search(end, a)
    ]


def _true(said: Said, document: Any) -> bool:
    return True


def _patched(said: Said, document: Any) -> bool:
    return document["patched"] is not None or not any(document["predictions"])


def _has_effects(said: Said, document: Any) -> bool:
    return document["patched"] is not None or document["sweep"] != []


def _of_patch(said: Said, document: Any) -> bool:
    effects = [each["effect"] for each in document["pairs"]]
    mean = sum(effects) / len(effects)
    spread = (sum((each - mean) ** 2 for each in effects) / (len(effects) - 1)) ** 0.5
    return all(
        abs(float(said[key]) - number) <= 0.00051
        for key, number in (("mean", mean), ("spread", spread))
    )


def _mean_ranges(said: Said, document: Any) -> bool:
    rest = [each["mean"] for each in document["sweep"][10:-10]]
    ends = zip((said["least"], said["most"]), (rest[-1], rest[0]), strict=True)
    return len(rest) == int(said["n"]) and all(abs(float(a) - b) <= 0.00051 for a, b in ends)


def _lengths_differ(said: Said, document: Any) -> bool:
    return any(each["address"].endswith("[-1]") for each in document["sweep"])


OF_PAIRS: dict[str, Callable[[Said, Any], bool]] = {
    r"In each of (?P<n>\d+) pairs, the first and the second run are “.+” with two texts:": (
        lambda said, document: len(document["pairs"]) == int(said["n"])
    ),
    r"To see one pair in full, add its number: (?P<command>.+)": (
        lambda said, document: document["pairs"][0]["command"] == said["command"]
    ),
    r"To rank the heads by their effects: (?P<command>.+) --sweep heads": (
        lambda said, document: (
            document["sweep"] == []
            and document["pairs"][0]["command"] == f"{said['command']} --pair 1"
        )
    ),
    r"The effect in a pair is the share of the switch from the first run's word to the second's that the patch causes: with 0, the difference of their logits stays that of the first run; with 1, it becomes that of the second\. The spread is the standard deviation over the pairs, with n − 1 in the denominator\.": (
        lambda said, document: bool(document["sweep"] or document["pairs"][0]["patched"])
    ),
    rf"With the second run's numbers at .+, the mean effect is (?P<mean>{NUMBER}), with a spread of (?P<spread>{NUMBER}):": _of_patch,
    r"Each row is a run of its own for each pair: the first with (the second's numbers|zeros|the mean over its tokens in each row) at one place\.": (
        lambda said, document: document["sweep"] != []
    ),
    r"Each row is a run of its own for each pair: .+ The texts differ in length: \[-1\] is the row of the last token\.": _lengths_differ,
    r"The means of the (heads( of cross-attention| of the encoder)?(, layers with .*)?, a row for each layer|layers, in their order|FFNs, in their order|tokens' rows after each layer):": (
        lambda said, document: len(document["sweep"]) > 1
    ),
    rf"The means of the other (?P<n>\d+) places range from (?P<least>{NUMBER}) to (?P<most>{NUMBER})\.": _mean_ranges,
}
"""The sentences about several pairs of runs."""

FORMS: dict[str, Callable[[Said, Any], bool]] = {
    r"The first run is “.+” with the tokens “.*”\. The second run is “.+” with (the same tokens|“.*”)\.( In both runs, “.+” (is|are) given, not computed\.)?": _true,
    r"Tokens at the same position of the (texts|encoder's texts) are compared\.": _true,
    r"The (texts|encoder's texts) have (?P<n>\d+) and (?P<m>\d+) tokens\. Only the tokens that they share at the beginning or at the end are compared: .+\.": (
        lambda said, document: said["n"] != said["m"]
    ),
    r"Not compared, because only one run has these values or their shapes differ: .+\.": _true,
    r"No compared value differs\.": _none_differs,
    rf"“(?P<at>.+?)” is ({NUMBER}|∞|-∞) in the first run,? and (“.+” is )?({NUMBER}|∞|-∞) in the "
    r"second run\.( No other difference in this value is larger\.)?": _difference,
    r"The difference is the largest \|second − first\| in a value\. The relative difference divides it, row by row, by the row's largest number in the first run, regardless of sign; the table shows the largest quotient\. Both have two significant digits\. Relative differences up to 1×10⁻⁹ do not count\.": (
        lambda said, document: document["first_difference"] is not None
    ),
    rf"After (the last token|“.+?”), (?P<what>.+)\.{SIGNS}": _predicts,
    r"The patched run is the first with the second's numbers at .+\.": _patched,
    r"(Each row is a run of its own: the first with (the second's numbers|zeros|the mean over its tokens in each row) at one place\. )?The effect is the share of the switch from “.+” to “.+” that the patch causes: with 0, the difference of their logits stays that of the first run; with 1, it becomes that of the second\.": _has_effects,
    r"Each row is a run of its own: the first with (the second's numbers|zeros|the mean over its tokens in each row) at one place\. ?": _has_effects,
    r"The effects of the heads( of cross-attention| of the encoder)?(, layers with .*)?, a row for each layer:": _true,
    r"The effects of the layers, in their order:": lambda said, document: (
        len(_layers(document)) > 1
    ),
    r"The effects of the FFNs, in their order:": (
        lambda said, document: len(_layers(document, r"\.ffn\.output$")) > 1
    ),
    r"The effects of the tokens' rows after each layer:": (
        lambda said, document: all("[" in each["address"] for each in document["sweep"])
    ),
    rf"The effects of the other (?P<n>\d+) places range from (?P<least>{NUMBER}) to "
    rf"(?P<most>{NUMBER})\.": _ranges,
    rf"The effect of the other place is {NUMBER}\.": _true,
    r"The sign = means .+": _true,
    # Of these, `comparing` judges the numbers.
    r"The largest difference in the row of “.+”( \(“.+” in the second run\))? at each point:": _true,
    rf"The row {DIFFERS}\.{MOVES}": _true,
}


def faults(said: Sequence[str], document: Any) -> list[str]:
    """The paragraphs of a comparison that are unknown or false."""
    found = faults_in(said, document, FORMS)
    predicts = sum(line.startswith("After ") for line in said)
    if predicts != any(document["predictions"]):
        found.append(f"{predicts} sentences about predictions")
    return found


def faults_in(
    said: Sequence[str], document: Any, known: dict[str, Callable[[Said, Any], bool]]
) -> list[str]:
    """The paragraphs that are in none of the known forms, or false."""
    found = []
    for line in said:
        forms = [
            (match, holds)
            for pattern, holds in known.items()
            if (match := re.fullmatch(pattern, line, re.DOTALL))
        ]
        if not forms:
            found.append(f"unknown: {line}")
        elif not any(holds(match.groupdict(), document) for match, holds in forms[:1]):
            found.append(f"false: {line}")
    return found
