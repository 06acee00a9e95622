"""The values of a pass as the JSON has them, and what a judge of sentences asks of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from tests.helpers.judged_part import words_of_parts
from tests.helpers.typed_heads import is_typed, written_tokens

POWERS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
NOISE = 1e-9
OF_ENCODER = "ᴱ"
UNNAMED = re.compile("[dqkvhe][₀-₉]+")

ATTENTIONS = {
    **{"Query": "query", "Key": "key", "Value": "value", "Attention scores": "scores"},
    **{"Query, normalized": "query_norm", "Key, normalized": "key_norm"},
    **{"Normalized query": "query_norm", "Normalized key": "key_norm"},
    **{"Rotary query": "rotated_query", "Rotary key": "rotated_key"},
    **{
        "Soft cap": "capped",
        "Distance penalty (ALiBi)": "biased",
        "Attention sink": "scores_and_sink",
        "Mask": "masked",
        "Softmax: the attention weights": "weights",
    },
    **{"Without the mask": "unmasked.weights", "Weighted sum of the values": "output"},
}
LORA = "Low-rank adaptation (LoRA) of "
QUANTIZED = "Quantization of "
FROZEN = "Quantization of the frozen "
OF_WEIGHTS = {LORA: "", QUANTIZED: "", FROZEN: ".frozen"}
"""What titles say of weights, and the end of the address behind that of the weights."""
ATTENTIONS |= {
    f"{what}{name}": name + end
    for what, end in OF_WEIGHTS.items()
    for name in ("W_Q", "W_K", "W_V")
}
OF_ALL_HEADS = {
    **{"Concatenate the heads": "concat", "Attention output": "output"},
    **{f"{what}W_O": f"W_O{end}" for what, end in OF_WEIGHTS.items()},
    **{"scale of the queries": "query_norm.gain", "scale of the keys": "key_norm.gain"},
}
FFN = {
    **{
        f"{what}{name}": f"W_{i}{end}"
        for what, end in OF_WEIGHTS.items()
        for i, name in enumerate(("W₁", "W₂", "W₃"), 1)
    },
    **{"FFN: hidden layer": "hidden", "FFN: activation": "activation"},
    **{"FFN: gate": "gated", "FFN: output": "output"},
    **{"FFN: router": "router.logits", "FFN: choice of experts": "router.weights"},
    **{"FFN: tokens of the expert": "input", "FFN: sum of the experts": "output"},
    "FFN: gate of the shared expert": "shared_gate.weight",
}
OUTSIDE = {
    "Text and tokens": "text",
    **{"Tokens and embeddings": "embedding", "Positions": "position", "Input vectors": "input"},
    **{"Output of the encoder": "encoder.output", "Output of the model": "output"},
    **{"Scaled embeddings": "embedding.scaled", "Embeddings with positions": "embedding.sum"},
    **{"Angles of the positions": "position.cos"},
    **{f"Embedding {kind}": "embedding_norm" for kind in ("LayerNorm", "RMSNorm")},
    **{"Final LayerNorm": "final_norm", "Final RMSNorm": "final_norm"},
    **{f"{what}W_U": f"unembedding.W_U{end}" for what, end in OF_WEIGHTS.items()},
    **{"Logits": "logits", "Softmax: the probabilities": "probabilities"},
    **{"Prediction": "prediction", "Drawing the next word": "sampling.word"},
    **{"Cross-entropy loss": "loss"},
    **{"Squared error loss": "loss", "Binary cross-entropy loss": "loss"},
}
FORWARD = {
    "the squared error loss": "Squared error loss",
    "the binary cross-entropy loss": "Binary cross-entropy loss",
    "the model's output": "Output of the model",
    "the encoder output": "Output of the encoder",
    "the final norm": "Final LayerNorm",
    "the embedding norm": "Embedding LayerNorm",
    "the norm of the queries": "Query, normalized",
    "the norm of the keys": "Key, normalized",
    "the normalized queries": "Normalized query",
    "the normalized keys": "Normalized key",
    "the sum of the experts": "FFN: sum of the experts",
    "the FFN output": "FFN: output",
    "the gated hidden units": "FFN: gate",
    "the activations": "FFN: activation",
    "the hidden layer": "FFN: hidden layer",
    "the expert's tokens": "FFN: tokens of the expert",
    "the experts' weights": "FFN: choice of experts",
    "the router logits": "FFN: router",
    "the gate of the shared expert": "FFN: gate of the shared expert",
    "the concatenated heads": "Concatenate the heads",
    "the attention weights": "Softmax: the attention weights",
    "the masked scores": "Mask",
    "the scores and the sink": "Attention sink",
    "the scores after ALiBi": "Distance penalty (ALiBi)",
    "the scores after the soft cap": "Soft cap",
    "the embeddings": "Tokens and embeddings",
    "the scale of the queries": "scale of the queries",
    "the scale of the keys": "scale of the keys",
}
"""A backward step's title after `Gradient at` → that of its forward step, if it differs."""

SUB_LAYERS = {"attention": "attention", "cross-attention": "cross_attention", "the FFN": "ffn"}


def number(text: str) -> float:
    """9.4×10⁻¹² as a number; what is too small for a float is the smallest, and not 0."""
    found = exact(text)
    return float(found) or (5e-324 if found > 0 else -5e-324) if found else 0.0


def exact(text: str) -> Decimal:
    """9.4×10⁻¹² as a number that may be too small for a float."""
    mantissa, _, power = text.replace("∞", "inf").partition("×10")
    return Decimal(f"{mantissa}e{power.translate(POWERS)}" if power else mantissa)


def as_shown(word: str) -> str:
    """A word as a text shows it: spaces at its ends can be seen."""
    inner = word.strip(" ")
    if not inner:
        return "␣" * len(word)
    before, behind = len(word) - len(word.lstrip(" ")), len(word) - len(word.rstrip(" "))
    return "␣" * before + inner + "␣" * behind


def told_apart(names: Sequence[str]) -> list[str]:
    """The names as texts show them, with their positions those that would otherwise stand twice."""
    names = list(map(as_shown, names))
    shown, alike = list(names), {""}
    while alike:
        alike = {name for name, times in Counter(shown).items() if times > 1}
        shown = [f"{names[i]} ({i + 1})" if n in alike else n for i, n in enumerate(shown)]
    return shown


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
        sizes = {i: sign * exact(self.shown[i]) for i in columns}
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
    further: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The values of the passes that a tutorial tells of behind its own."""
    passes: list[dict[str, Any]] = field(default_factory=list)
    """The steps of a training, and what came after them."""
    turn: int = 0
    heading: str = ""
    address: str = ""
    lines: list[str] = field(default_factory=list)
    """Worked lines of the section, up to where the sentence stands."""
    made: Counter[str] = field(default_factory=Counter)
    """The claims of the section, by their checks."""
    earlier: set[tuple[str, bool]] = field(default_factory=set)
    """The checks of the claims of earlier sections, and whether these are the encoder's."""
    titles: dict[str, str] = field(default_factory=dict)
    """The headings of the steps by their numbers."""
    whole: bool = True
    """Whether the text tells of all steps."""
    encoder_token: int | None = None
    """The encoder's token that is followed; its last if not given."""
    of_the_text: int = 0
    """The token of the whole text; some sections follow another one."""
    detail: str = "full"
    """How long the text is: a shorter one works a step once, and refers to it."""
    steps: list[dict[str, Any]] = field(default_factory=list)
    """The steps in order, with numbers, names and addresses."""
    full: dict[str, list[str]] = field(default_factory=dict)
    """The paragraphs of each step of the full text, by its number."""
    told: set[str] = field(default_factory=set)
    """The sentences that the text has said so far."""
    introduced: set[str] = field(default_factory=set)
    """The checks of what the text says first."""
    here: list[dict[str, Any]] = field(default_factory=list)
    """The steps of a section of a shorter text that has several."""
    outside: tuple[dict[str, Any], dict[str, Any]] | None = None
    """While the encoder is looked at: all values, and the whole scenario."""

    def look(self, *, into_encoder: bool) -> None:
        """Take the encoder for the whole model, as one whose tokens see each other; or no more."""
        if self.outside:
            self.values, self.spec = self.outside
            self.outside = None
        if into_encoder:
            self.outside = self.values, self.spec
            given = _inside(self.spec.get("given", {}))
            self.spec = {**self.spec["encoder"], "mask": "none", "given": given}
            self.values = {
                address: {
                    **value,
                    "address": address,
                    "symbol": value["symbol"].replace(OF_ENCODER, ""),
                    "operands": [_without_encoder(each) for each in value["operands"]],
                }
                for address, value in _inside(self.values).items()
            }

    @property
    def scenario(self) -> dict[str, Any]:
        """The whole scenario, also while the encoder is looked at."""
        return self.outside[1] if self.outside else self.spec

    @property
    def tokens(self) -> list[str]:
        """All tokens of the pass."""
        if self.turn and not self.outside:
            return list(self.turns[self.turn - 1]["input"])
        if "tokens" not in self.values:
            return written_tokens(self.spec)
        return list(self.values["tokens"]["data"])

    @property
    def typed(self) -> bool:
        """Whether the model starts with typed queries, keys and values."""
        return is_typed(self.spec)

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
        if self.outside:
            return len(self.tokens) - 1 if self.encoder_token is None else self.encoder_token
        return len(self.tokens) - 1 if self.turn else self.token

    @property
    def padding(self) -> str | None:
        """The token that only fills up."""
        return self.spec.get("padding")

    @property
    def layers(self) -> int:
        """The number of layers."""
        return len(self.spec.get("layers", []))

    @property
    def place(self) -> str:
        """layer1.attention.head1. of the section; final_ or embedding_ of a norm outside layers.

        Of the transform before the unembedding, its address.
        """
        inside = r"(?:(?:head|expert)\d+\.|shared\.)?"
        outside = r"(?:final|embedding)_(?=norm)|unembedding\.transform\."
        form = rf"^(?:layer\d+\.\w+\.{inside}|{outside})?"
        return "".join(re.findall(form, self.address))

    @property
    def result(self) -> Any:
        """The value that the section comes to."""
        return self.values[self.address]

    def near(self, name: str) -> Any:
        """A value at the section's place, or None."""
        return self.values.get(self.place + name)

    def pinned(self, address: str) -> bool:
        """Whether a value that is computed otherwise is given; typed queries are not."""
        first = re.fullmatch(r"layer1\.\w+\.head\d+\.(query|key|value)", address)
        typed = self.typed and first and address not in self.spec.get("given", {})
        return bool(self.values[address]["operation"] == "given" and not typed)

    def passed_on(self) -> str | None:
        """How the result goes on: it is another value, rounded again if digits are set for it."""
        before = self.values[self.result["operands"][0]]["printed"]
        rounds = self.rounding["carry"] != "never"
        return None if rounds and self.result["printed"] != before else " unchanged"

    def row(self, value: Any) -> Row:
        """The followed token's row."""
        positions = value["axes"][0].get("positions")
        at = self.followed - (len(self.tokens) - len(value["data"]))
        if positions is not None:
            at = positions.index(self.followed + 1)
        columns = told_apart(value["axes"][1]["labels"])
        return Row(columns, list(map(number, map(str, value["data"][at]))), value["printed"][at])

    def hidden(self) -> list[int]:
        """The tokens that are hidden from the followed one."""
        masked = self.near("masked")
        return (
            [] if masked is None else [i for i, x in enumerate(self.row(masked).data) if x < -1e300]
        )

    def only_hides(self) -> bool:
        """Whether each number of the section's mask is 0 or -∞; of all masks outside of layers."""
        masks = [self.mask()] if "attention" in self.place else self.masks()
        numbers = [number(str(x)) for mask in masks if mask for row in mask["data"] for x in row]
        return all(x in (0, float("-inf")) for x in numbers)

    def mask(self, layer: int | None = None) -> Any:
        """The mask of a layer, or of the section's, or None."""
        found = re.match(r"layer(\d+)\.attention", self.place)
        number = layer or (int(found[1]) if found else 0)
        every = [each.get("attention", {}).get("mask") for each in self.spec.get("layers") or []]
        own = every[number - 1] if number else None
        where = "mask" if own is None else f"layer{every.index(own) + 1}.attention.mask"
        return self.values.get(where)

    def masks(self) -> list[Any]:
        """The mask of each layer with attention; None where it has none."""
        layers = enumerate(self.spec.get("layers") or [], 1)
        return [self.mask(number) for number, layer in layers if "attention" in layer]

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


def _inside(values: dict[str, Any]) -> dict[str, Any]:
    """What is inside the encoder, by addresses that do not say so; gradients there, too."""
    own = {a: v for a, v in values.items() if _without_encoder(a) != a and a != "encoder.output"}
    return {_without_encoder(address): value for address, value in own.items()}


def _without_encoder(address: str) -> str:
    return re.sub(r"^(gradient\.)?encoder\.", r"\1", address)


Said = dict[str, Any]
"""What a sentence has in the holes of its template, by their names; under ``""`` all of it."""
Check = Callable[[Judge, Said], bool | None]
"""Recomputes what a sentence says: gives whether it is true, or asserts it."""
KINDS: dict[str | None, str] = {
    **{None: r"\S+", "word": r"\S+?", "int": r"\d+", "num": "[0-9.]+"},
    **{"name": ".+?", "text": ".+", "any": ".*"},
}
"""What stands in a hole, by the word behind its colon; other words are regular expressions."""
TOKEN = re.compile(
    r"\\(?P<plain>.)|\{=(?P<again>\w+)\}|(?P<hole>\{(?P<name>\w*)(?P<maybe>\??)(?::(?P<kind>[^}]*))?\})"
    r"|(?P<begin>\[)(?:(?P<part>\w+):)?|(?P<end>\])|(?P<other>.)",
    re.DOTALL,
)


AHEAD = " with {x:[^ “]+?}[{how:, followed by|;} {second:name} {:with|has} {y:[^ “]+?}]"


def pattern_of(template: str) -> re.Pattern[str]:
    """The regular expression of a sentence's form.

    ``{name}``, ``{name:kind}`` and ``{name:regex}`` are holes, with a name or without;
    ``{=name}`` repeats one. ``[…]`` and ``[name:…]`` are optional, as is ``{name?:regex}``.
    """

    def written(found: re.Match[str]) -> str:
        token = found.groupdict()
        if token["again"]:
            return f"(?P={token['again']})"
        if token["hole"]:
            inside = KINDS.get(token["kind"], token["kind"])
            return f"({_named(token['name'])}{inside}){token['maybe']}"
        if token["begin"]:
            return f"({_named(token['part'])}"
        return ")?" if token["end"] else re.escape(token["plain"] or token["other"])

    return re.compile(TOKEN.sub(written, template), re.DOTALL)


def _named(name: str | None) -> str:
    return f"?P<{name}>" if name else "?:"


def check_ahead(
    row: Row,
    clear: list[int],
    said: dict[str, Any],
    name: Callable[[str], int],
    among: int | None = None,
) -> None:
    """` with x, followed by “b” with y`: the second only where it is clear.

    The other one of two, of `among` numbers that are compared: `; “b” has y`.
    """
    assert clear and said["x"] == row.shown[clear[0]]
    assert len(clear) == (1 if said["second"] is None else 2)
    if said["second"] is not None:
        assert name(said["second"]) == clear[1] and said["y"] == row.shown[clear[1]]
        is_the_other = (among or len(row.labels)) == 2
        assert (said["how"] == ";") == is_the_other == (f" has {said['y']}." in said[""])


def column(row: Row) -> Callable[[str], int]:
    """Columns by their quoted labels."""
    return lambda words: row.labels.index(words.removeprefix("“").removesuffix("”"))


def not_of(at: Judge) -> None:
    """A claim is not about what is pinned, nor about a token that only fills up."""
    assert not at.pinned(at.address), "pinned"
    assert at.tokens[at.followed] != at.padding, "padding"


def _capitalized(words: str) -> str:
    return words[0].upper() + words[1:]


def ends(at: Judge, ending: str) -> bool:
    """Whether the section's result has such an address, whatever is before it."""
    return re.search(rf"(?:^|[._]){ending}$", at.address) is not None


def address_of(heading: str, at: Judge) -> str:
    """The address of what a section comes to."""
    where, _, title = re.sub(r"^\d+\. ", "", heading).rpartition(" · ")
    found = re.search(r"layer (\d+)", where, re.IGNORECASE)
    layer = f"layer{found[1] if found else 1}."
    if gradient := re.fullmatch(r"Gradient (?:at|through) (the (.+?))( \d+|, set \d+)?", title):
        words = gradient[2] if gradient[2].startswith("norm ") else _capitalized(gradient[2])
        titles = FORWARD | words_of_parts("backward_titles")
        forward = titles.get(gradient[1], words) + (gradient[3] or "")
        of = address_of(" · ".join(filter(None, (where, forward))), at)
        return f"gradient.{'loss.output' if of == 'loss' else of}"
    after = re.fullmatch(
        r"(Residual connection|LayerNorm|RMSNorm|norm) (?:after|before|of) (.+)", title
    )
    if after:
        name = "residual" if after[1] == "Residual connection" else "norm"
        place = f"{layer}{SUB_LAYERS[after[2]]}."
        if " after " in title and name == "norm" and f"{place}norm_after" in at.values:
            name = "norm_after"
        return place + name
    if of_ffn := (FFN | words_of_parts("titles_of_ffn")).get(title):
        expert = re.search(r"(?:(shared) |(expert )(\d+))", where, re.IGNORECASE)
        of = "".join(filter(None, expert.groups())).lower().replace(" ", "") if expert else ""
        return f"{layer}ffn.{of}{'.' * bool(of)}{of_ffn}"
    crossed = "cross-attention" in where.lower()
    attention = f"{layer}{'cross_attention' if crossed else 'attention'}."
    if of_all := (OF_ALL_HEADS | words_of_parts("titles_of_attention")).get(title):
        return attention + of_all
    if block := re.fullmatch(r"Block (\d+)|Output of all blocks", title):
        head = re.search(r"head (\d+)", where, re.IGNORECASE)
        name = f"block{block[1]}" if block[1] else "blocks"
        return f"{attention}head{head[1] if head else 1}.{name}.output"
    of_heads = ATTENTIONS | words_of_parts("titles_of_heads")
    numbered = re.search(r"(?<= )\d+$", title)  # as in `State after token 3`, of `… token N`
    if numbered and (of_any := f"{title[: numbered.start()]}N") in of_heads:
        title = of_any
    if of_head := of_heads.get(title):
        of_head = of_head.replace("N", numbered[0]) if numbered else of_head
        head = re.search(r"head (\d+)", where, re.IGNORECASE)
        at_head, name = f"{attention}head{head[1] if head else 1}.", of_head
        if title.endswith(", normalized") and f"{attention}{name}" in at.values:
            return attention + name  # of all heads together
        keys = at.values.get(f"{at_head}keys")  # those of an earlier turn, and the last new ones
        last = keys["operands"][-1].removeprefix(at_head) if keys else "key"
        together = {"value": "values", last: "keys"}
        whole = at_head + together.get(name, name)
        return whole if whole in at.values else at_head + name
    title, _, number = title.partition(", set ")
    address = (OUTSIDE | words_of_parts("titles_outside")).get(title, "")
    return f"rotary{number}.{address}" if number else address
