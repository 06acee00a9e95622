"""What is said of drafted words and of beams, held against the JSON of the same run.

A sentence that is not among the forms is a fault.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import pytest

from tests.helpers.sentences import unbroken


@dataclass
class Place:
    """What a sentence is about: the document, and the round, the draft or check, the turn."""

    said: dict[str, Any]
    plain: list[str] | None
    heading: str = ""
    round: dict[str, Any] = field(default_factory=dict)
    number: int = 0
    lines: list[str] = field(default_factory=list)

    @property
    def draws(self) -> bool:
        rounds = self.said.get("rounds", [])
        return any("draw" in (each["last"] or each["drafted"][0]) for each in rounds)

    @property
    def part(self) -> Any:
        """The drafted word, the check or the last word of the section."""
        if found := re.fullmatch(r"(Drafted word|Check) (\d+).*", self.heading):
            key = "drafted" if found[1] == "Drafted word" else "checks"
            return self.round[key][int(found[2]) - 1]
        return self.round["last"]

    def text(self, more: int = 0) -> str:
        words = [each["word"] for each in self.round["drafted"]][:more]
        return " ".join([*self.round["input"], *words])

    @property
    def row(self) -> dict[str, Decimal]:
        """The numbers of the marked word in the table of a check."""
        [marked] = [line for line in self.lines if line.startswith("▸")]
        *_, q, p, common, left = marked.split()
        return {"q": number(q), "p": number(p), "common": number(common), "left": number(left)}


Check = Callable[[Place, re.Match[str]], bool]


RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def number(printed: str) -> Decimal:
    """A number as it is printed: 0.25, 1.0×10⁻⁵."""
    mantissa, _, power = printed.partition("×10")
    return Decimal(mantissa).scaleb(int(power.translate(RAISED) or 0))


def passes(at: Place, m: re.Match[str]) -> bool:
    words = len(at.said["text"]) - len(at.said["rounds"][0]["input"])
    made = at.said["passes"]
    assert m["target"] == at.said["scenario"] and int(m["alone"]) == int(m["words"]) == words
    if m["draft"] is None:
        return bool(made["draft"] == 0)
    assert m["draft"] == m["other"] == at.said["draft"]
    return (int(m["with"]), int(m["drafts"])) == (made["target"], made["draft"])


def ending(at: Place, m: re.Match[str]) -> bool:
    return int(m["n"]) == len(at.said["rounds"])


def before_a_draw(at: Place, m: re.Match[str]) -> bool:
    number = int(re.sub(r"\D", "", at.heading) or 0) - 1
    is_draft = at.heading.startswith("Drafted")
    accepted = sum(check["accepted"] for check in at.round["checks"])
    text = at.text(number if is_draft else accepted)
    who = at.said["draft"] if is_draft else at.said["scenario"]
    return (m["text"], m["who"], m["what"]) == (text, who, "q" if is_draft else "p")


def rounded(at: Place, m: re.Match[str]) -> bool:
    """The rounded sum, with what is changed, is 1."""
    sign = 1 if m["more"] == "more" else -1
    named = re.findall("“(.*?)”", m["words"] or "")
    words = int(m["n"].replace(",", "")) if m["n"] else len(named)
    assert set(named) <= {each["word"] for each in at.part["probabilities"][: len(named) + 1]}
    assert bool(m["each"]) == (words > 1)
    return number(m["sum"]) + sign * words * number(m["by"]) == 1


def rounded_all(at: Place, m: re.Match[str]) -> bool:
    """The same where each word is changed, the most probable ones by more."""
    sign = 1 if m["more"] == "more" else -1
    listed = at.part["probabilities"]
    words, more = sum(bool(each.get("data", each.get("p"))) for each in listed), int(m["n"] or 1)
    change = (words - more) * number(m["by"]) + more * number(m["larger"])
    return number(m["sum"]) + sign * change == 1


def selects(at: Place, m: re.Match[str]) -> bool:
    part = at.part
    return number(m["u"]) == Decimal(str(part["draw"])) and m["word"] == part["word"]


def decided(at: Place, m: re.Match[str]) -> bool:
    check, row = at.part, at.row
    product = Decimal(str(check["draw"])) * row["q"]
    assert number(m["uq"]) == product and number(m["p"]) == row["p"]
    assert m["word"] == check["word"] and bool(m["not"]) == (m["verdict"] == "rejected")
    return bool(check["accepted"]) == (m["verdict"] == "accepted") == (product < row["p"])


def product(at: Place, m: re.Match[str]) -> bool:
    check, last = at.round["checks"][-1], at.round["last"]
    expected = Decimal(str(last["draw"])) * (1 - Decimal(str(check["acceptance"])))
    return number(m["x"]) == expected and m["word"] == last["word"]


def first(at: Place, m: re.Match[str]) -> bool:
    return at.number == 1


FIRST = {
    "“(?P<draft>.*)” is the draft model: it proposes words, one in each pass. “(?P<target>.*)” is the target model: it reads all proposed words in one pass, which predicts a word at each of their positions.": lambda at, m: (
        (m["draft"], m["target"]) == (at.said["draft"], at.said["scenario"])
    ),
    "A random number decides whether a drafted word is accepted. The first rejection ends the round: a word is drawn in place of the rejected one, and the drafted words after it are discarded. If every drafted word is accepted, the same pass gives one word more.": lambda at, m: (
        at.draws
    ),
    "A drafted word is accepted if “(?P<target>.*)” predicts the same word. The first rejection ends the round: the predicted word is written in its place, and the drafted words after it are discarded. If every drafted word is accepted, the same pass gives one word more.": lambda at, m: (
        not at.draws and m["target"] == at.said["scenario"]
    ),
    "q is the draft model's probability of the drafted word, and p is the target model's probability of the predicted word.": lambda at, m: (
        not at.draws
    ),
    r"A drafted word is accepted with the probability min\(1, p / q\): if the random number u is less than p / q, which means that u×q is less than p.": lambda at, m: (
        at.draws
    ),
    r"Over all words that can be drafted, the probability of an acceptance is α, the sum of min\(p, q\):": lambda at, m: (
        at.draws
    ),
    "After a rejection, a word is drawn from the residual distribution r:": lambda at, m: (
        at.part["acceptance"] < 1
    ),
    "A word is written if it is drafted and accepted, or if it is drawn after a rejection. Together, these have exactly its probability p:": lambda at, m: (
        at.part["acceptance"] < 1
    ),
    r"The word is drawn from r. Instead of dividing each p - min\(p, q\) by 1 - α, the random number is multiplied by it.": lambda at, m: (
        not at.round["checks"][-1]["accepted"]
    ),
}
"""Said in the first round alone."""

DRAFTS: dict[str, Check] = {
    "After “(?P<start>.*?)”, the model writes “(?P<words>.*)”.": lambda at, m: (
        f"{m['start']} {m['words']}" == " ".join(at.said["text"])
        and m["start"] == " ".join(at.said["rounds"][0]["input"])
    ),
    "At each position, every word has the same probability as without a draft model: drafts change the number of passes, not the probabilities.": lambda at, m: (
        at.draws
    ),
    "“(?P<target>.*)” writes the same words without a draft model.": lambda at, m: (
        not at.draws and at.plain == at.said["text"] and m["target"] == at.said["scenario"]
    ),
    "Without a draft model, “(?P<target>.*?)” makes (?P<alone>\\d+) pass(?:es)? for (?P<words>\\d+) words?.(?: With “(?P<draft>.*)”, it makes (?P<with>\\d+) pass(?:es)?, and “(?P<other>.*)” makes (?P<drafts>\\d+) pass(?:es)?.)?": passes,
    r"The end token came after (?P<n>\d+) rounds?.": ending,
    r"The text stops at the limit of \d+ words?, after (?P<n>\d+) rounds?.": ending,
    "The text so far is “(?P<text>.*)”.": lambda at, m: m["text"] == at.text(),
    "Only one more word may be written, so “(?P<who>.*)” writes it without a draft.": lambda at, m: (
        not at.round["drafted"] and m["who"] == at.said["scenario"]
    ),
    "After “(?P<text>.*)”, “(?P<who>.*)” has the probabilities (?P<what>[pq]):": before_a_draw,
    r"Rounded, (?:these probabilities|the probabilities p) sum to (?P<sum>[\d.]+), so (?:the (?P<n>[\d,]+) most probable words|(?P<words>“.*”)) gets? (?P<by>\S+) (?P<more>more|less)(?P<each> each)?.": rounded,
    r"Rounded, (?:these probabilities|the probabilities p) sum to (?P<sum>[\d.]+), so each of these words gets (?P<by>\S+) (?P<more>more|less), and the (?:(?P<n>\d+) )?most probable ones? (?P<larger>\S+?)(?: each)?\.": rounded_all,
    "Their running sums:": lambda at, m: True,
    r"The running sums of p - min\(p, q\):": lambda at, m: not at.round["checks"][-1]["accepted"],
    r"The random number is (?P<u>\S+): it selects “(?P<word>.*)”.": selects,
    "“(?P<who>.*)” drafted “(?P<word>.*)”. At its position, “(?P<target>.*)” has the probabilities p:": lambda at, m: (
        m["word"] == at.part["word"]
        and (m["who"], m["target"]) == (at.said["draft"], at.said["scenario"])
    ),
    "(?P<uq>[0-9]\\S*) is (?P<not>not )?less than (?P<p>[0-9]\\S*), so “(?P<word>.*)” is (?P<verdict>accepted|rejected).": decided,
    "p and q are equal, so no draft is rejected and each word keeps its p.": lambda at, m: all(
        each["p"] == each["q"] for each in at.part["probabilities"]
    ),
    "The product is (?P<x>[0-9]\\S*): it selects “(?P<word>.*)”.": product,
    **{form: lambda at, m, of=of: first(at, m) and of(at, m) for form, of in FIRST.items()},  # type: ignore[misc]
}


# --- beams ---------------------------------------------------------------------------------------


def scores(at: Place) -> list[tuple[float, list[str]]]:
    """The mean of each finished text of all turns."""
    found = []
    for number, turn in enumerate(at.said["turns"], 1):
        for each in turn["candidates"]:
            if each["finished"]:
                words = [*turn["beams"][each["beam"] - 1]["input"], each["word"]]
                found.append((each["score"] / number, words))
    return found


def at_the_limit(at: Place, n: int) -> bool:
    return n == len(at.said["turns"]) and not any(
        c["kept"] for c in at.said["turns"][-1]["candidates"]
    )


def unit(at: Place) -> float:
    """By how much a mean may be rounded."""
    return float(10.0 ** -at.said["rounding"]["decimals"])


def no_better(at: Place) -> bool:
    """No kept text has a larger mean than a finished one that is listed."""
    last = at.said["turns"][-1]["candidates"]
    kept = [each["score"] for each in last if each["kept"]]
    means = [each["mean"] for each in at.said["finished"]]
    return bool(kept) and max(kept) / len(at.said["turns"]) <= min(means) + unit(at)


def best_kept(at: Place) -> str:
    """The words of the first text that is kept in the last turn."""
    turn = at.said["turns"][-1]
    best = next(each for each in turn["candidates"] if each["kept"])
    whole = [*turn["beams"][best["beam"] - 1]["input"], best["word"]]
    return " ".join(whole[len(at.said["turns"][0]["beams"][0]["input"]) :])


BEAMS: dict[str, Check] = {
    "After “(?P<start>.*?)”, the model writes “(?P<words>.*)”.": lambda at, m: (
        f"{m['start']} {m['words']}" == " ".join(at.said["text"])
    ),
    "A beam search has found this text. It keeps at most (?P<n>\\d+) texts? in each turn. The finished texts, the best first:": lambda at, m: (
        int(m["n"]) == at.said["beams"]
        and all(len(turn["beams"]) <= int(m["n"]) for turn in at.said["turns"])
    ),
    r"The search stops at the limit of (?P<n>\d+) turns?.": lambda at, m: at_the_limit(
        at, int(m["n"])
    ),
    r"The search ends after (?P<n>\d+) turns?: no text is left that could go on.": lambda at, m: (
        at_the_limit(at, int(m["n"]))
    ),
    r"The search ends after (?P<n>\d+) turns?: no text that could go on has a larger score per word than any of these.": lambda at, m: (
        int(m["n"]) == len(at.said["turns"]) and no_better(at)
    ),
    "Each word that may come next makes a candidate. Its score is the sum of the logarithms of the probabilities of all words after the start, which is the logarithm of their product: the larger the score, the more probable the text.": first,
    "The model reads “(?P<text>.*)”.": lambda at, m: (
        [m["text"]] == [" ".join(each["input"]) for each in at.round["beams"]]
    ),
    r"The model reads (?P<n>\d+) texts:": lambda at, m: int(m["n"]) == len(at.round["beams"]) > 1,
    r"(?P<n>[\d,]+) other candidates? (?:has|have) no larger score.": lambda at, m: (
        int(m["n"].replace(",", "")) == at.round["all_candidates"] - len(at.round["candidates"])
    ),
    "The logarithm of the next word's probability:": lambda at, m: True,
    "It is added to the score of the words before it:": lambda at, m: at.number > 1,
    r"This is the last turn, so the (?:(?P<n>\d+) )?best texts? (?:is|are) finished.": lambda at, m: (
        at.number == len(at.said["turns"])
        and int(m["n"] or 1) == sum(each["finished"] for each in at.round["candidates"])
        and all(each["finished"] for each in at.round["candidates"][: int(m["n"] or 1)])
    ),
    r"(?P<never>A further word never raises a score, because no logarithm here is positive\. )?To compare texts of different lengths, the score of a finished text is divided by the number of its words\.": lambda at, m: (
        not m["never"]
        or all(c["logarithm"] <= 0 for turn in at.said["turns"] for c in turn["candidates"])
    ),
    "“(?P<words>.*)” has the largest score per word, so it is the result.": lambda at, m: (
        at.said["text"][-len(m["words"].split()) :] == m["words"].split()
        and max(scores(at))[0] == pytest.approx(at.said["finished"][0]["mean"], abs=unit(at))
    ),
    "“(?P<words>.*)” is the only finished text, so it is the result.": lambda at, m: (
        len(scores(at)) == 1
    ),
    "The best text that could go on, “(?P<words>.*)”, has no larger score per word:": lambda at, m: (
        no_better(at) and m["words"] == best_kept(at)
    ),
}


SEEN: Counter[str] = Counter()


def faults(text: str, at: Place, forms: dict[str, Check]) -> list[str]:
    """The sentences that are unknown or false."""
    found, lines = [], unbroken(text).split("\n")
    for line, below in zip(lines[1:], [*lines[2:], ""], strict=True):
        if re.fullmatch("[═─]+", line) or not line:
            continue
        if re.fullmatch("[═─]+", below):
            at.heading, at.lines = line, []
            if number := re.fullmatch(r"(?:Round|Turn) (\d+)", line):
                at.number = int(number[1])
                at.round = (at.said.get("rounds") or at.said["turns"])[at.number - 1]
        elif line.startswith((" ", "▸")):
            at.lines.append(line)
        else:
            matches = [(form, m) for form in forms if (m := re.fullmatch(form, line))]
            SEEN.update(form for form, _ in matches)
            if not any(_holds(forms[form], at, m) for form, m in matches):
                found.append(f"{at.heading}: {line}")
    return found


def _holds(check: Check, at: Place, m: re.Match[str]) -> bool:
    try:
        return check(at, m)
    except AssertionError:
        return False
