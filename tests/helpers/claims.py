"""A judge of sentences: what a text says of its numbers is held against the JSON of the same run.

It shares no code with `tracer.lesson`. A sentence that it does not know is a fault; so is one that
is false, or speaks of a tie, of the only one, of what is hidden or only fills up, of what is pinned.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.helpers.known_sentences import ANYWHERE, GOALS, PHRASES

POWERS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
NOISE = 1e-9
UNNAMED = re.compile("[dqkvhe][₀-₉]+")

ATTENTIONS = {
    **{"Query": "query", "Key": "key", "Value": "value", "Attention scores": "scores"},
    **{"Mask": "masked", "Softmax: the attention weights": "weights"},
    **{"Without the mask": "unmasked.weights", "Weighted sum of the values": "output"},
}
OF_ALL_HEADS = {"Concatenate the heads": "concat", "Attention output": "output"}
FFN = {"FFN: hidden layer": "hidden", "FFN: activation": "activation", "FFN: output": "output"}
OUTSIDE = {
    **{"Tokens and embeddings": "embedding", "Positions": "position", "Input vectors": "input"},
    **{"Output of the encoder": "encoder.output", "Output of the decoder": "output"},
    **{"Logits": "logits", "Softmax: the probabilities": "probabilities"},
    **{"Prediction": "prediction", "Drawing the next word": "sampling.word"},
    **{"Cross-entropy loss": "loss"},
}
SUB_LAYERS = {"attention": "attention", "cross-attention": "cross_attention", "the FFN": "ffn"}


def number(text: str) -> float:
    """9.4×10⁻¹² as a number."""
    mantissa, _, power = text.partition("×10")
    mantissa = mantissa.replace("∞", "inf")
    return float(f"{mantissa}e{power.translate(POWERS)}" if power else mantissa)


def told_apart(names: Sequence[str]) -> list[str]:
    """Names that occur twice, with their positions."""
    times = Counter(names)
    return [f"{n} ({i})" if times[n] > 1 else n for i, n in enumerate(names, 1)]


def listed(names: Sequence[str], last: str = "and") -> str:
    """“a”, “b” and “c”."""
    quoted = [f"“{name}”" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} {last} {quoted[-1]}"


@dataclass(frozen=True)
class Row:
    """One row of a value: labels, numbers as worked on with, numbers as printed."""

    labels: list[str]
    data: list[float]
    shown: list[str]

    def clear(self, among: Iterable[int] | None = None, sign: int = 1) -> list[int]:
        """The largest and the second, as far as no other is like it; nothing of the only one."""
        columns = list(range(len(self.data)) if among is None else among)
        sizes = {i: sign * number(self.shown[i]) for i in columns}
        order = sorted(columns, key=lambda i: -sizes[i])
        alike = Counter(sizes.values())
        clear = [i for i in order[:2] if alike[sizes[i]] == 1]
        if len(columns) < 2 or order[0] not in clear:
            return []
        assert all(sign * self.data[order[0]] >= sign * self.data[i] - NOISE for i in columns)
        return clear


@dataclass
class Judge:
    """The values of one pass, and what is asked of them."""

    values: dict[str, Any]
    spec: dict[str, Any]
    token: int
    rounding: dict[str, Any]
    turns: list[dict[str, Any]] = field(default_factory=list)
    cached: bool = False
    turn: int = 0
    heading: str = ""
    address: str = ""
    lines: list[str] = field(default_factory=list)
    """Worked lines of the section, up to where the sentence stands."""

    @property
    def tokens(self) -> list[str]:
        """All tokens of the pass."""
        if self.turns:
            return list(self.turns[self.turn - 1]["input"])
        return list(self.values["tokens"]["data"])

    @property
    def names(self) -> list[str]:
        """The tokens, told apart."""
        return told_apart(self.tokens)

    @property
    def who(self) -> str:
        """The followed token."""
        return self.names[self.followed]

    @property
    def followed(self) -> int:
        """Its place, counted from 0; a turn follows its last token."""
        return len(self.tokens) - 1 if self.turns else self.token

    @property
    def padding(self) -> str | None:
        """The token that only fills up."""
        return self.spec.get("padding")

    @property
    def layers(self) -> int:
        """How many layers there are."""
        return len(self.spec.get("layers", []))

    @property
    def place(self) -> str:
        """layer1.attention.head1. of the section."""
        return "".join(re.findall(r"^(?:layer\d+\.\w+\.(?:head\d+\.)?)?", self.address))

    @property
    def result(self) -> Any:
        """The value that the section comes to."""
        return self.values[self.address]

    def near(self, name: str) -> Any:
        """A value at the section's place, or None."""
        return self.values.get(self.place + name)

    def pinned(self, address: str) -> bool:
        """Whether a value that is usually computed is given."""
        return bool(self.values[address]["operation"] == "given")

    def row(self, value: Any) -> Row:
        """The followed token's row."""
        at = self.followed - (len(self.tokens) - len(value["data"]))
        columns = told_apart(value["axes"][1]["labels"])
        return Row(columns, list(map(number, map(str, value["data"][at]))), value["printed"][at])

    def hidden(self) -> list[int]:
        """The tokens that are hidden from the followed one."""
        masked = self.near("masked")
        return (
            [] if masked is None else [i for i, x in enumerate(self.row(masked).data) if x < -1e300]
        )

    def seen(self, row: Row) -> list[int]:
        """The columns of keys that it may look at."""
        return [i for i in range(len(row.data)) if i not in self.hidden()]

    def key(self, words: str) -> int:
        """The column of a key by what a sentence calls it."""
        if words == "itself":
            assert "cross" not in self.place
            return self.followed
        weights = self.near("weights")
        assert words.startswith("the encoder's ") == ("cross_attention" in self.place)
        token = words.removeprefix("the encoder's ")[1:-1]
        return told_apart(weights["axes"][1]["labels"]).index(token)

    def parts(self, value: Any, column: int) -> list[float]:
        """The products and the bias that an entry of the followed token is the sum of."""
        x, w, *biases = (self.values[address] for address in value["operands"])
        row = self.row(x).data
        keys = value["operation"] == "dot"
        across = w["data"][column] if keys else [line[column] for line in w["data"]]
        products = [a * b for a, b in zip(row, across, strict=True)]
        return products + [float(bias["data"][column]) for bias in biases]

    def main_part(self, value: Any, column: int, source: int, part: str, whole: str) -> None:
        """That a part is more than half of the whole, and stands so in a line."""
        parts = self.parts(value, column)
        others = parts[:source] + parts[source + 1 :]
        assert min(parts) > -1e-6 and parts[source] > sum(others) - 1e-6 * abs(sum(parts))
        assert number(part) * 2 > number(whole) > number(part)
        assert any(part in line and whole in line for line in self.lines), (part, whole)
        step = 10.0 ** -len(part.partition(".")[2]) if "×" not in part else 0
        assert abs(number(part) - parts[source]) <= 0.51 * step + abs(parts[source]) * 0.1 + 0.05


Check = Callable[[Judge, dict[str, str]], None]
FORMS: list[tuple[re.Pattern[str], Check]] = []
AHEAD = r"(?:, with (?P<alone>[^ “]+)|, (?P<x>[^ “]+) before (?P<second>.+?) with (?P<y>[^ “]+?))"


def form(pattern: str) -> Callable[[Check], Check]:
    """Declare a sentence that a check goes with; groups are what it says."""

    def declared(check: Check) -> Check:
        FORMS.append((re.compile(pattern, re.DOTALL), check))
        return check

    return declared


def check_ahead(
    row: Row, clear: list[int], said: dict[str, str], name: Callable[[str], int]
) -> None:
    """`, x before “b” with y`: the second only where it is clear."""
    assert clear
    if said["alone"] is not None:
        assert len(clear) == 1 and said["alone"] == row.shown[clear[0]]
        return
    assert len(clear) == 2 and name(said["second"]) == clear[1]
    assert (said["x"], said["y"]) == (row.shown[clear[0]], row.shown[clear[1]])


def column(row: Row) -> Callable[[str], int]:
    """Columns by their quoted labels."""
    return lambda words: row.labels.index(words.removeprefix("“").removesuffix("”"))


def not_of(at: Judge) -> None:
    """A claim is not about what is pinned, nor about a token that only fills up."""
    assert not at.pinned(at.address), "pinned"
    assert at.tokens[at.followed] != at.padding, "padding"


# --- attention -----------------------------------------------------------------------------------


@form(r"“(?P<who>.+?)” asks most about (?P<what>“.+?”)" + AHEAD + r"\.")
@form(r"“(?P<who>.+?)” is found most easily by (?P<what>“.+?”)" + AHEAD + r"\.")
@form(r"Of what “(?P<who>.+?)” passes on, (?P<what>“.+?”) is the largest" + AHEAD + r"\.")
def labels_read_out(at: Judge, said: dict[str, str]) -> None:
    not_of(at)
    assert at.address.rpartition(".")[2] in {"query", "key", "value"} and said["who"] == at.who
    row = at.row(at.result)
    clear = row.clear()
    check_ahead(row, clear, said, column(row))
    assert column(row)(said["what"]) == clear[0] and number(row.shown[clear[0]]) > 0
    assert not UNNAMED.fullmatch(said["what"][1:-1])


THROUGH = r"(?:, and mostly through “(?P<label>.+?)”: (?P<part>\S+) of (?P<whole>\S+?))?"


@form(
    r"What “(?P<who>.+?)” asks fits (?P<first>(?:the encoder's )?“.+?”) best"
    + AHEAD
    + THROUGH
    + r"\."
)
def best_key(at: Judge, said: dict[str, str]) -> None:
    not_of(at)
    assert at.address.endswith(".scores") and said["who"] == at.who
    row = at.row(at.result)
    clear = row.clear(at.seen(row))
    check_ahead(row, clear, said, at.key)
    assert at.key(said["first"]) == clear[0]
    if said["label"]:
        query = at.row(at.near("query"))
        source = query.labels.index(said["label"])
        at.main_part(at.near("dot"), clear[0], source, said["part"], said["whole"])
        assert not UNNAMED.fullmatch(said["label"])


@form(r"Nothing is hidden from “(?P<who>.+?)”\.")
@form(r"Everything is hidden from “(?P<who>.+?)”, itself too\.")
@form(r"“(?P<who>.+?)” does not see (?P<hidden>.+)\.")
def hidden(at: Judge, said: dict[str, str]) -> None:
    not_of(at)
    assert at.address.endswith(".masked") and said["who"] == at.who and len(at.tokens) > 1
    unseen = [at.names[i] for i in at.hidden()]
    if "hidden" in said:
        assert 0 < len(unseen) < len(at.tokens) and said["hidden"] == listed(unseen, "or")
    else:
        assert len(unseen) == (0 if said[""].startswith("Nothing") else len(at.tokens))


@form(
    r"“(?P<who>.+?)” gives (?P<share>\S+) % of its attention to (?P<first>.+?)"
    r"(?:, then (?P<next>\S+) % to (?P<second>.+?)|, more than to any other token)\."
)
@form(r"Nearly all of the attention of “(?P<who>.+?)” goes to (?P<first>.+)\.")
def shares(at: Judge, said: dict[str, str]) -> None:
    not_of(at)
    assert at.address.endswith(".weights") and said["who"] == at.who
    row = at.row(at.result)
    clear = row.clear(at.seen(row))
    assert clear and at.key(said["first"]) == clear[0]
    if "share" not in said:
        assert row.data[clear[0]] >= 0.99 and number(row.shown[clear[0]]) == 1
        return
    shown = [number(row.shown[i]) for i in clear]
    assert abs(number(said["share"]) / 100 - shown[0]) < NOISE and shown[0] < 1
    assert (said["next"] is not None) == (len(clear) == 2)
    if said["next"] is not None:
        assert at.key(said["second"]) == clear[1] and sum(shown) <= 1 + NOISE
        assert abs(number(said["next"]) / 100 - shown[1]) < NOISE


@form(
    r"Without the mask “(?P<who>.+?)” would (?:give (?P<share>\S+) % of its attention to|also look "
    r"at) (?P<later>“.+”), which (?P<come>comes|come) later: data leakage, for when a text is "
    r"written, (?P<they>it is|they are) not there yet\."
)
def leak(at: Judge, said: dict[str, str]) -> None:
    not_of(at)
    later = [i for i in at.hidden() if i > at.followed and at.tokens[i] != at.padding]
    assert said["who"] == at.who and said["later"] == listed([at.names[i] for i in later])
    assert (said["come"], said["they"]) == (
        ("comes", "it is") if len(later) == 1 else ("come", "they are")
    )
    share = sum(at.row(at.result).data[i] for i in later)
    if said["share"] is not None:
        decimals = at.rounding["decimals"]
        assert 0 < number(said["share"]) < 100
        assert abs(number(said["share"]) - 100 * share) <= 50 * 10**-decimals + 1e-6


@form(r"“(?P<who>.+?)” comes last: the mask takes nothing from it\.")
def last(at: Judge, said: dict[str, str]) -> None:
    not_of(at)
    assert at.followed == len(at.tokens) - 1 > 0 and not at.hidden() and said["who"] == at.who


@form(r"Most of “(?P<what>.+?)” comes from (?P<source>.+?): (?P<part>\S+) of (?P<whole>\S+)\.")
def main_source(at: Judge, said: dict[str, str]) -> None:
    not_of(at)
    row = at.row(at.result)
    at_column = row.labels.index(said["what"])
    assert not UNNAMED.fullmatch(said["what"]) and said["whole"] == row.shown[at_column]
    operand = at.values[at.result["operands"][0]]
    weighted = operand["address"].endswith(".weights")
    name = at.key if weighted else column(at.row(operand))
    at.main_part(at.result, at_column, name(said["source"]), said["part"], said["whole"])


@form(
    r"The (?P<noun>keys?|values?) of (?P<old>“.+?”) (?P<done>was|were) computed before and "
    r"(?P<reused>is|are) reused; only (?P<those>that|those) of (?P<new>“.+?”) (?P<be>is|are) new\."
)
def reused(at: Judge, said: dict[str, str]) -> None:
    one = len(at.tokens) == 2
    assert said["old"] == listed(at.names[:-1]) and said["new"] == listed(at.names[-1:])
    assert at.address.endswith((".keys", ".values")) and said["noun"].endswith("s") != one
    assert (said["done"], said["reused"]) == (("was", "is") if one else ("were", "are"))
    assert (said["those"], said["be"]) == ("that", "is")


def is_causal(at: Judge) -> bool:
    mask = at.values["mask"]["data"]
    first, n = len(at.tokens) - len(mask), len(at.tokens)
    hides = [[j > i or at.tokens[j] == at.padding for j in range(n)] for i in range(first, n)]
    return [[-1e999 if h else 0 for h in row] for row in hides] == [
        [number(str(x)) for x in row] for row in mask
    ]


@form(
    r"A token may look at itself and back, never ahead: the score of every later token becomes -∞, "
    r"the others stay\.(?: So does the score of “(?P<padding>.+?)”, which only fills up\.)?"
)
@form(r"The mask is added to the scores\. Where it is -∞, a token is not seen\.")
def mask(at: Judge, said: dict[str, str]) -> None:
    assert at.address.endswith(".masked") and not at.pinned(at.address)
    assert is_causal(at) == ("padding" in said)
    if "padding" in said:
        assert said["padding"] == (at.padding if at.padding in at.tokens else None)


@form(
    r"The scores become shares of 1: e to the power of each, divided by the sum of them all\."
    r"(?: (?P<more>No token is hidden here|e\^\(-∞\) is 0|Every key is hidden from “(?P<who>.+?)”: its "
    r"sum is 0, and there is nothing to divide\. All its weights are set to 0)\.)?"
)
def softmax(at: Judge, said: dict[str, str]) -> None:
    assert at.address.endswith(".weights") and not at.pinned(at.address)
    more, unseen = said["more"] or "", at.hidden()
    if more.startswith("No token"):
        assert "cross_attention" in at.address
    elif more.startswith("Every key"):
        assert said["who"] == at.who and len(unseen) == len(at.tokens)
        assert not any(at.row(at.result).data)
    else:
        assert bool(more) == bool(unseen) and "cross_attention" not in at.address


@form(r"There is only one head here: its output goes on as it is\.")
@form(r"The outputs of the heads stand side by side, one long row for each token\.")
def concatenated(at: Judge, said: dict[str, str]) -> None:
    assert not at.pinned(at.address)
    assert (len(at.result["operands"]) == 1) == said[""].startswith("There is only one")


@form(
    r"Three vectors are made of each token, because .+ for every token\."
    r"(?P<several> There are several heads, .+ for several at once\.)?"
)
@form(
    r"(?P<several>Each)? ?(?:The)? ?head has written into columns of its own; W_O turns .+ others\."
)
def heads(at: Judge, said: dict[str, str]) -> None:
    sub_layer = at.address.partition(".head")[0].removesuffix(".output")
    count = len(at.values[f"{sub_layer}.concat"]["operands"])
    assert bool(said["several"]) == (count > 1) and not at.pinned(at.address)


@form(r"There is no W_O here: the result of attention is passed on as it is\.")
@form(r"W_O mixes what the heads have found into one vector for each token\.")
@form(r"W_O makes a vector for each token of what the head has found\.")
def projected(at: Judge, said: dict[str, str]) -> None:
    assert not at.pinned(at.address)
    heads = len(at.near("concat")["operands"])
    w_o = at.near("W_O") is not None
    words = "W_O mixes" if heads > 1 else "W_O makes"
    assert said[""].startswith(words if w_o else "There is no W_O")


# --- the FFN, residual, norm -----------------------------------------------------------------------


@form(r"ReLU keeps them all: none is negative\.")
@form(r"ReLU keeps none: none is positive\.")
@form(r"ReLU keeps (?P<kept>“.+?”) and zeroes (?P<zeroed>“[^.]+”)\.")
def relu(at: Judge, said: dict[str, str]) -> None:
    not_of(at)
    row = at.row(at.near("hidden"))
    kept = [label for label, x in zip(row.labels, row.data, strict=True) if x > 0]
    zeroed = [label for label, x in zip(row.labels, row.data, strict=True) if x < 0]
    assert len(row.data) > 1
    if "kept" in said:
        assert said[""] == f"ReLU keeps {listed(kept)} and zeroes {listed(zeroed)}."
    elif "them all" in said[""]:
        assert kept and not zeroed
    else:
        assert zeroed and not kept


@form(
    r"(?P<what>The FFN|Attention|Cross-attention) changes “(?P<label>.+?)” most, by (?P<by>\S+)\."
)
def changes(at: Judge, said: dict[str, str]) -> None:
    not_of(at)
    what = {"The FFN": "ffn", "Attention": "attention", "Cross-attention": "cross_attention"}
    assert at.place.split(".")[1] == what[said["what"]]
    change = at.result["operands"][1]
    assert not at.pinned(change)
    row = at.row(at.values[change])
    sizes = Row(row.labels, list(map(abs, row.data)), [x.removeprefix("-") for x in row.shown])
    (most, *_) = sizes.clear()
    assert at.row(at.result).labels[most] == said["label"] and row.shown[most] == said["by"]


@form(
    r"The largest is now “(?P<high>.+?)” with (?P<x>\S+), the smallest “(?P<low>.+?)” with "
    r"(?P<y>\S+)\."
)
def extremes(at: Judge, said: dict[str, str]) -> None:
    not_of(at)
    row = at.row(at.result)
    high, low = row.clear()[0], row.clear(sign=-1)[0]
    assert (said["high"], said["low"]) == (row.labels[high], row.labels[low])
    assert (said["x"], said["y"]) == (row.shown[high], row.shown[low])


@form(
    r"Each number of a token is measured from the mean of them all, in standard deviations"
    r"(?P<gain>, then multiplied by γ)?(?P<shift>, and β is added)?\."
)
def measured(at: Judge, said: dict[str, str]) -> None:
    parameters = at.result["parameters"]
    assert (bool(said["gain"]), bool(said["shift"])) == (parameters["gain"], parameters["shift"])


@form(
    r"Sums grow from layer to layer, .+ units of their own spread\."
    r"(?: (?P<names>γ|β|γ and β), learned for each feature, can give back what was taken away\.)?"
    r"(?P<epsilon> ε stands under the root so that equal numbers do not lead to 0 / 0\.)?"
)
def normalized(at: Judge, said: dict[str, str]) -> None:
    names = ["γ"] * at.result["parameters"]["gain"] + ["β"] * at.result["parameters"]["shift"]
    epsilon = number(str(at.near("norm.std")["parameters"]["epsilon"]))
    assert (said["names"] or "") == " and ".join(names)
    assert bool(said["epsilon"]) == (epsilon > 0)


@form(r"The FFN takes each token by itself: of its vector it makes (?P<n>\d+) hidden numbers?\.")
@form(r"The hidden layer becomes the FFN's output, (?P<n>\d+) numbers? for each token\.")
def counted(at: Judge, said: dict[str, str]) -> None:
    n = int(said["n"])
    assert n == len(at.result["data"][0]) and not at.pinned(at.address)
    assert ("numbers" in said[""]) == (n != 1)


# --- words -----------------------------------------------------------------------------------------


@form(
    r"In X′ “(?P<was>.+?)” was the largest number of “(?P<who>.+?)”, with (?P<x>\S+); "
    r"(?:in \S+ it is “(?P<now>.+?)”|it still is in \S+), with (?P<y>\S+)\."
)
def compared(at: Judge, said: dict[str, str]) -> None:
    not_of(at)
    assert not at.pinned("input") and at.layers and said["who"] == at.who
    before, after = at.row(at.values["input"]), at.row(at.result)
    was, now = before.clear()[0], after.clear()[0]
    assert before.labels == after.labels and not UNNAMED.fullmatch(said["was"])
    assert (said["was"], said["x"]) == (before.labels[was], before.shown[was])
    assert (said["now"] or said["was"], said["y"]) == (after.labels[now], after.shown[now])
    assert (was == now) == (said["now"] is None)


@form(r"After “(?P<who>.+?)” the largest logit is that of (?P<word>“.+?”)" + AHEAD + r"\.")
def logit(at: Judge, said: dict[str, str]) -> None:
    not_of(at)
    row = at.row(at.result)
    check_ahead(row, row.clear(), said, column(row))
    assert column(row)(said["word"]) == row.clear()[0] and said["who"] == at.who


@form(
    r"After “(?P<who>.+?)” the model says “(?P<word>.+?)”(?:, with a probability of (?P<p>\S+) %)?\."
)
def prediction(at: Judge, said: dict[str, str]) -> None:
    not_of(at)
    assert not at.pinned("probabilities") and said["who"] == at.who
    row = at.row(at.values["probabilities"])
    most = row.clear()[0]
    assert row.labels[most] == said["word"] == at.result["data"][-len(at.tokens) + at.followed]
    shown = number(row.shown[most])
    assert (said["p"] is None) == (shown >= 1)
    assert said["p"] is None or abs(number(said["p"]) / 100 - shown) < NOISE


@form(r"The random number is (?P<draw>[0-9.]+): it falls on “(?P<word>.+?)”\.")
@form(
    r"The random number is (?P<draw>[0-9.]+)\. Rounding leaves the last sum at (?P<last>[0-9.]+): the "
    r"draw falls on the last word, “(?P<word>.+?)”\."
)
def drawn(at: Judge, said: dict[str, str]) -> None:
    sums = at.values["sampling.cumulative"]
    words, row = sums["axes"][1]["labels"], sums["data"][0]
    draw = at.values["sampling.draw"]["data"]
    under = [word for word, total in zip(words, row, strict=True) if draw < total]
    assert number(said["draw"]) == draw and said["word"] == [*under, words[-1]][0]
    assert ("last" in said) == (not under) and number(said.get("last", "1")) in {1, row[-1]}


# --- loss ------------------------------------------------------------------------------------------


@form(
    r"(?P<n>\d+) positions? (?:do|does) not count in the mean: no word of the vocabulary is to be "
    r"guessed there\."
)
def not_counted(at: Judge, said: dict[str, str]) -> None:
    none = [target for target in at.values["loss.target"]["data"] if target == "—"]
    assert int(said["n"]) == len(none) and ("positions do" in said[""]) == (len(none) > 1)


@form(r"Right predictions: (?P<right>\d+) of (?P<all>\d+)\.")
def right(at: Judge, said: dict[str, str]) -> None:
    pairs = zip(at.values["loss.target"]["data"], at.values["prediction"]["data"], strict=True)
    asked = [target == word for target, word in pairs if target != "—"]
    assert (int(said["right"]), int(said["all"])) == (sum(asked), len(asked))


@form(r"The model reads the token and guesses the word that comes next\.")
@form(
    r"At each position the model guesses the target beside it\. All positions go through in one "
    r"pass\."
)
@form(
    r"Teacher forcing: at each position the model reads the right tokens, whatever it would have "
    r"said itself, and guesses the next one\. All positions go through in one pass"
    r"(?P<keeps>; the mask keeps each of them from seeing its own answer)?\."
)
def forcing(at: Judge, said: dict[str, str]) -> None:
    targets = at.values["loss.target"]["data"][:-1]
    shifted = all(t in ("—", token) for t, token in zip(targets, at.tokens[1:], strict=True))
    assert said[""].startswith("The model reads") == (len(at.tokens) == 1)
    assert said[""].startswith("Teacher") == (shifted and len(at.tokens) > 1)
    if "keeps" in said:
        masked = [v["data"] for a, v in at.values.items() if a.endswith(".masked")]
        kept = all(
            number(str(x)) < -1e300 for m in masked for i, r in enumerate(m) for x in r[i + 1 :]
        )
        assert bool(said["keeps"]) == bool(masked and kept)


@form(r"The batch has (?P<n>\d+) examples?(?P<shifted>; each target is its input, one further)?\.")
def batch(at: Judge, said: dict[str, str]) -> None:
    examples = at.spec["training"]
    further = all(len(x["tokens"]) > 1 and x["tokens"][1:] == x["targets"][:-1] for x in examples)
    assert int(said["n"]) == len(examples) and bool(said["shifted"]) == further
    assert ("examples" in said[""]) == (len(examples) != 1)


# --- what surrounds the steps ------------------------------------------------------------------------


@form(
    r"The calculation is worked for the token “(?P<who>.+?)”, position (?P<i>\d+) of (?P<n>\d+)\."
)
def followed(at: Judge, said: dict[str, str]) -> None:
    assert (said["who"], said["i"], said["n"]) == (
        at.who,
        str(at.followed + 1),
        str(len(at.tokens)),
    )


@form(
    r"Where the sign is =, both sides are equal with the digits shown; ≈ means correctly rounded\. "
    r"(?P<carried>.+)"
)
def carried(at: Judge, said: dict[str, str]) -> None:
    words = {
        "line": r"Each number is rounded where it is printed, and used as it is printed\.",
        "step": r"A number is rounded where its step ends(; inside a step it keeps up to \d digits? "
        r"more)?\. Products on the way to a result show more where it needs them\.",
        "never": r"Nothing is rounded on the way, only what is printed\. Where a line would not come "
        r"out right with the usual digits, it shows more\.",
    }
    assert re.fullmatch(words[at.rounding["carry"]], said["carried"])


@form(r"It reads (?P<tokens>“.+”)\.")
def reads(at: Judge, said: dict[str, str]) -> None:
    assert said["tokens"] == listed(at.names)


@form(
    r"What does a decoder make of these tokens\? It turns each of them into a vector(?P<back> that "
    r"also tells of those before it)?\."
)
def question(at: Judge, said: dict[str, str]) -> None:
    attends = any("attention" in layer for layer in at.spec.get("layers", []))
    assert bool(said["back"]) == (attends and len(at.tokens) > 1)
    assert "prediction" not in at.values


@form(r"Which word comes next\? A decoder answers with a probability for every word it knows\.")
def next_word(at: Judge, said: dict[str, str]) -> None:
    assert "prediction" in at.values


@form(
    r"It is one sequence of a batch\. All have the same length(?:: what is shorter is filled up with "
    r"“(?P<padding>.+?)”)?\."
)
def one_of_a_batch(at: Judge, said: dict[str, str]) -> None:
    sequences = at.spec["batch"]
    assert at.tokens in sequences and len(sequences) > 1
    assert len({len(tokens) for tokens in sequences}) == 1
    padded = any(at.padding in tokens for tokens in sequences)
    assert said["padding"] == (at.padding if padded else None)


@form(r"As in step (?P<n>\d+)(?:, here for (?P<where>.+))?\.")
def as_in(at: Judge, said: dict[str, str]) -> None:
    number_here, _, words = at.heading.partition(". ")
    assert int(said["n"]) < int(number_here)
    where = words.rpartition(" · ")[0]
    assert (said["where"] or "").lower() == where.lower()


@form(r"It takes (?P<parts>.+ from step .+)\.")
def takes(at: Judge, said: dict[str, str]) -> None:
    here = int(at.heading.partition(".")[0])
    assert all(int(n) < here for n in re.findall(r"from step (\d+)", said["parts"]))


@form(r"(?P<symbol>.+) is given here: it is not computed\.")
def given(at: Judge, said: dict[str, str]) -> None:
    named = [v for v in at.values.values() if v["symbol"] == said["symbol"]]
    assert any(value["operation"] == "given" for value in named)


@form(
    r"(?P<symbol>\S+) \((?P<shape>[\d × ]+)\) has a row for each (?P<rows>.+) and a column for each "
    r"(?P<columns>.+)\."
)
def described(at: Judge, said: dict[str, str]) -> None:
    shape = [int(n) for n in said["shape"].split(" × ")]
    axes = [said["rows"], said["columns"]]
    named = [v for v in at.values.values() if v["symbol"] == said["symbol"]]
    assert any(v["shape"] == shape and [a["name"] for a in v["axes"]] == axes for v in named)


@form(r"(?P<parts>.+ has [\d × =]+(?:(?:,| and) \S+ has [\d × =]+)*) parameters?\.")
def parameters(at: Judge, said: dict[str, str]) -> None:
    for symbol, shape, count in re.findall(r"(\S+) has (?:([\d × ]+) = )?(\d+)", said["parts"]):
        shapes = [v["shape"] for v in at.values.values() if v["symbol"] == symbol]
        wanted = [int(n) for n in (shape or count).split(" × ")]
        assert wanted in shapes and int(count) == wanted[0] * (wanted[1] if len(wanted) > 1 else 1)
        last = count
    assert said[""].endswith("parameter.") == (last == "1")


@form(r"A vector is a list of numbers, here (?P<n>\d+) for each token\. Each place in it, .+")
def width(at: Judge, said: dict[str, str]) -> None:
    assert int(said["n"]) == at.values["embedding"]["shape"][1]


@form(r"Each token (?P<table>is looked up in a table and )?becomes a vector, its embedding\.")
def embedded(at: Judge, said: dict[str, str]) -> None:
    given_rows = isinstance(at.spec["embeddings"], list) or "embedding" in at.spec.get("given", {})
    assert bool(said["table"]) != given_rows


@form(
    r"Each position has a vector too, because attention alone does not see the order\."
    r"(?: Its numbers are waves, .+ d is the number of features, (?P<d>\d+) here; k numbers the pairs of "
    r"columns from 0 on\. “(?P<who>.+?)” stands at position (?P<position>\d+)\.)?"
)
def positions(at: Judge, said: dict[str, str]) -> None:
    waves = at.values.get("position.angle")
    assert bool(said["who"]) == (waves is not None)
    if waves:
        indices = at.values["position.index"]["data"]
        assert int(said["d"]) == at.values["position"]["shape"][1] and said["who"] == at.who
        assert int(said["position"]) == indices[at.followed - len(at.tokens) + len(indices)]


@form(r"There are no positions here: the embeddings go in as they are\.")
@form(r"Embedding and position are added, so that each vector says what and where\.")
def inputs(at: Judge, said: dict[str, str]) -> None:
    assert said[""].startswith("Embedding") == ("position" in at.values)
    assert not at.pinned("input")


@form(r"There are no layers: the input vectors are the decoder's answer\.")
@form(r"What leaves the last layer is the decoder's answer, a vector for each token\.")
def answer(at: Judge, said: dict[str, str]) -> None:
    assert said[""].startswith("There are no") == (at.layers == 0) and not at.pinned("output")


@form(r"The other rows are found in the same way, each from its own token's numbers\.")
def other_rows(at: Judge, said: dict[str, str]) -> None:
    assert len(at.tokens) > 1


# --- a generated text --------------------------------------------------------------------------------


@form(
    r"Only the last token goes through the decoder(?:; the keys and values of “(?P<old>.+)” are reused "
    r"from the turns before)?\."
)
def only_last(at: Judge, said: dict[str, str]) -> None:
    attends = any("attention" in layer for layer in at.spec.get("layers", []))
    assert at.cached and at.turn > 1
    assert said["old"] == (" ".join(at.tokens[:-1]) if attends else None)


@form(r"The end token came after (?P<n>\d+) turns?\.")
@form(r"The limit: (?P<n>\d+) turns?\.")
def ending(at: Judge, said: dict[str, str]) -> None:
    n = int(said["n"])
    ended = at.turns[-1]["word"] == at.spec.get("generation", {}).get("end", object())
    assert n == len(at.turns) and ("turns" in said[""]) == (n != 1)
    assert said[""].startswith("The end") == ended


@form(r"“(?P<text>.+)”")
def whole_text(at: Judge, said: dict[str, str]) -> None:
    turn = at.turns[-1]
    assert at.heading == "The text" and said["text"] == " ".join([*turn["input"], turn["word"]])


# --- the whole of a text -----------------------------------------------------------------------------


def address_of(heading: str, at: Judge) -> str:
    """The address of what a section comes to."""
    where, _, title = heading.partition(". ")[2].rpartition(" · ")
    found = re.search(r"layer (\d+)", where, re.IGNORECASE)
    layer = f"layer{found[1] if found else 1}."
    after = re.fullmatch(r"(Residual connection|LayerNorm) (?:after|before) (.+)", title)
    if after:
        name = "norm" if after[1] == "LayerNorm" else "residual"
        return f"{layer}{SUB_LAYERS[after[2]]}.{name}"
    if title in FFN:
        return f"{layer}ffn.{FFN[title]}"
    crossed = "cross-attention" in where.lower()
    attention = f"{layer}{'cross_attention' if crossed else 'attention'}."
    if title in OF_ALL_HEADS:
        return attention + OF_ALL_HEADS[title]
    if title in ATTENTIONS:
        head = re.search(r"head (\d+)", where, re.IGNORECASE)
        address = f"{attention}head{head[1] if head else 1}.{ATTENTIONS[title]}"
        return f"{address}s" if f"{address}s" in at.values else address
    return OUTSIDE.get(title, "")


def faults(text: str, at: Judge, seen: Counter[str] | None = None) -> list[str]:
    """The sentences of a text that are unknown or false; `seen` counts the forms that it has."""
    found: list[str] = []
    for line in text.split("\n")[1:]:
        if line.startswith(" "):
            at.lines.append(line)
        elif re.match(r"\d+\. ", line) or line in {"Summary", "Pipeline", "The text"}:
            at.heading, at.lines = line, []
            at.address = address_of(line, at)
        elif turn := re.fullmatch(r"Turn (\d+)", line):
            at.turn, at.heading, at.lines = int(turn[1]), line, []
            listed_values = at.turns[at.turn - 1].get("values", [])
            at.values = {value["address"]: value for value in listed_values}
        elif line and (fault := judged(line, at, seen)):
            found.append(f"{at.heading}: {line} [{fault}]")
    return found


def judged(line: str, at: Judge, seen: Counter[str] | None = None) -> str | None:
    """What is wrong with a sentence, if anything is."""
    if line in ANYWHERE:
        return None
    if line in GOALS or line in PHRASES:
        computed = not (at.address and at.pinned(at.address))
        return None if computed == (line in GOALS) else "pinned, or not"
    for pattern, check in FORMS:
        if match := pattern.fullmatch(line):
            if seen is not None:
                seen[pattern.pattern] += 1
            try:
                check(at, {**match.groupdict(), "": line})
            except (AssertionError, ValueError, KeyError, IndexError) as error:
                return f"{check.__name__}: {error!r}"
            return None
    return "unknown"
