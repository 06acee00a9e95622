"""A judge of what `shapes` says: its sentences are held against closed formulas."""

from __future__ import annotations

import re

from tests.helpers.closed_formulas import Closed

ANYWHERE = frozenset(
    {
        "A multiply-add is one product in a matrix multiplication and its addition to the sum: two floating-point operations (FLOPs). Elementwise operations, such as those of a norm or a softmax, are not counted.",
        "Read the diagram from bottom to top. Each box shows a result, its shape (rows×columns), and the number of the step that computes it.",
        "W_U is the transposed table of embeddings, so its numbers are counted there.",
        "Its sizes:",
        "The blocks repeat the products of weights and values, which are counted once.",
        "Bytes, with each number stored as float32 (4) or float16 (2):",
    }
)
"""What claims nothing of the numbers, or nothing but what a table shows."""

NUMBER = r"[\d,]+"
PARTS = {"the table of positions": "positions", "the embeddings": "embeddings"} | {
    f"the {name}": name for name in ("FFN", "norms", "embedding norm", "final norm", "unembedding")
}


def sentences(text: str) -> list[str]:
    """The sentences of a text on a very wide terminal: neither titles, tables nor pictures."""
    return [
        line
        for line in text.split("\n")[1:]
        if line.endswith((".", ":")) and not line.startswith(" ")
    ]


def fault(sentence: str, closed: Closed) -> str | None:
    """What is wrong with a sentence, if anything is."""
    if sentence in ANYWHERE:
        return None
    for form, holds in FORMS.items():
        if found := re.fullmatch(form.replace("#", f"({NUMBER})"), sentence):
            said = [number(word) for word in found.groups()]
            return None if holds(closed, said, sentence) else f"false: {sentence}"
    return f"unknown: {sentence}"


def number(word: str) -> int | str:
    return int(word.replace(",", "")) if re.fullmatch(NUMBER, word or "") else word


def read_as(closed: Closed, said: list[int | str], sentence: str) -> bool:
    n, d, h = closed.n, closed.d, closed.heads
    expected = (
        f"Shapes only; no values are computed. [1, {n}, {d}] is the shape of one "
        f"text of {n:,} token{'s' * (n > 1)} with {d:,} numbers each, [1, {h}, {n}, {closed.d_k}] "
        f"the same for {h} head{'s' * (h > 1)}."
    )
    return sentence == expected


def side_by_side(closed: Closed, said: list[int | str], sentence: str) -> bool:
    return said == [closed.heads, closed.d, closed.heads * closed.d_k]


def outputs(closed: Closed, said: list[int | str], sentence: str) -> bool:
    return said == [closed.heads, closed.d_k, closed.heads * closed.d_k]


def of_a_token(closed: Closed, said: list[int | str], sentence: str) -> bool:
    return said == [closed.d, closed.hidden, closed.d]


def of_experts(closed: Closed, said: list[int | str], sentence: str) -> bool:
    own = closed.ffn + closed.norm
    return said == [closed.experts, own - closed.unused, own] and closed.unused > 0


def acting(closed: Closed, said: list[int | str], sentence: str) -> bool:
    unused = closed.layers * closed.unused
    return said == [sum(closed.parameters.values()) - unused] and unused > 0


def spread(closed: Closed, said: list[int | str], sentence: str) -> bool:
    return closed.experts > 1


def next_word(closed: Closed, said: list[int | str], sentence: str) -> bool:
    one = closed.d * closed.words
    return closed.n > 1 and said == [closed.words, one, one * closed.n]


def purpose(closed: Closed, said: list[int | str], sentence: str) -> bool:
    what, mask, around = said
    norm = {"layer_norm": "LayerNorm", "rms_norm": "RMSNorm"}.get(closed.of("norm", "layer_norm"))
    pre = closed.of("placement", "pre") == "pre"
    names = [norm, "residual connection"] if pre else ["residual connection", norm]
    has_mask = closed.spec.get("mask") != "none" if "from each" in str(what) else False
    expected = " and ".join(name for name in names if name)
    return bool(mask) == has_mask and around == expected


def of_each_layer(closed: Closed, said: list[int | str], sentence: str) -> bool:
    """Of attention, cross-attention or the FFN with its norm."""
    learned, cost, times = closed.parameters, closed.multiply_adds, closed.layers
    stages = [
        (learned[part] // times + closed.norm, cost[part] // times)
        for part in ("attention", "cross-attention", "FFN")
        if part in learned
    ]
    layers, each, normed, costs, again, all_of_them, all_costs = said
    return (
        (normed or 0) == closed.norm
        and layers == again == times > 1
        and (each, costs) in stages
        and (all_of_them, all_costs) == (int(each) * times, int(costs) * times)
    )


def most(closed: Closed, said: list[int | str], sentence: str) -> bool:
    whole, share, name, count = said
    learned = closed.parameters
    part = PARTS.get(str(name), str(name))
    more = [other for other, its in learned.items() if its >= learned[part]]
    is_most = 2 * learned[part] > sum(learned.values())
    return (
        whole == sum(learned.values())
        and count == learned[part]
        and more == [part]
        and (share == "most are") == is_most
    )


def near(closed: Closed, said: list[int | str], sentence: str) -> bool:
    part, count, millions = said
    if count != closed.parameters[str(part)] // closed.layers:
        return False
    is_exact = int(count) % 100_000 == 0
    if str(millions) == "None":
        return is_exact
    return not is_exact and abs(round(float(millions) * 1_000_000) - int(count)) <= 50_000


def both(closed: Closed, said: list[int | str], sentence: str) -> bool:
    learned, times = closed.parameters, closed.layers
    together = (learned["attention"] + learned["cross-attention"]) // times
    ffn = learned["FFN"] // times
    than = "more than" if together > ffn else "fewer than" if together < ffn else "as many as"
    return said == [together, than]


def of_a_layer(closed: Closed, said: list[int | str], sentence: str) -> bool:
    parts = ("attention", "cross-attention", "FFN", "norms")
    return said[-1] == sum(closed.parameters.get(part, 0) for part in parts) // closed.layers


def in_flops(closed: Closed, said: list[int | str], sentence: str) -> bool:
    return said == [2 * sum(closed.multiply_adds.values())]


def growth(closed: Closed, said: list[int | str], sentence: str) -> bool:
    longer, n, square, twice, staying = said
    whole = sum(closed.multiply_adds.values())
    stays = staying or 0
    return (longer, n, square) == (2 * closed.n, closed.n, closed.square) and (twice, stays) == (
        whole - closed.square - closed.staying,
        closed.staying,
    )


def half(closed: Closed, said: list[int | str], sentence: str) -> bool:
    """What grows with the square is more than half with so many tokens, and not with one less."""

    def ahead(n: int) -> bool:
        at = Closed(closed.spec, n)
        return 2 * at.square > sum(at.multiply_adds.values())

    n = int(said[0])
    return ahead(n) and not ahead(n - 1)


def at_most(closed: Closed, said: list[int | str], sentence: str) -> bool:
    """The share with as many tokens as there are positions, fewer than would make it a half."""
    context, percent = map(int, said)
    at = Closed(closed.spec, context)
    share = 100 * at.square / sum(at.multiply_adds.values())
    return abs(share - percent) <= 0.5 and share <= 50


def cache(closed: Closed, said: list[int | str], sentence: str) -> bool:
    """Where a token sees later ones, no key or value would stay as it is."""
    return said == [closed.cached] and closed.spec.get("mask") != "none"


def goal(closed: Closed, said: list[int | str], sentence: str) -> bool:
    return said == [closed.n, closed.layers, closed.words]


FORMS = {
    r"The goal: from # tokens?, the model computes in # layers? how probable each of # tokens is as the next one\.": goal,
    r"Shapes only.*": read_as,
    r"(Tokens gather information from each other|Values are added up, weighted by attention|Tokens gather information from the encoder|Each token is transformed separately)(, as far as the mask allows)?; with (.*)\.": purpose,
    r"The W_Q of the # heads, side by side, form a matrix \[#, (\d+)\]\.": side_by_side,
    r"Their concatenated outputs have # × # = # numbers for each token\.": outputs,
    r"The width of a token's vector: # → # → #\.": of_a_token,
    r"The router chooses some of the # experts for each token: at most # of the # parameters act on it\.": of_experts,
    r"At most # of all parameters act on each token\.": acting,
    r"How many tokens an expert gets depends on the numbers; here the tokens are spread evenly\.": spread,
    r"To predict only the next word, the last token's row \[1, (\d+)\] is enough: # multiply-adds instead of #\.": next_word,
    r"Each of these # layers has # parameters here(?:, # of them in the norm,)? and takes # multiply-adds; all # have # and take #\.": of_each_layer,
    r"Of the # parameters (most are|the largest part is) in (.+): #\.": most,
    r"(?:Each|The) layer's (.+) has # parameters(?:, about ([\d.]+) million)?\.": near,
    r"Attention and cross-attention together have #, (.+) the FFN\.": both,
    r"(?:Each|The) layer has # parameters in all\.": of_a_layer,
    r"All products together take # FLOPs\.": in_flops,
    r"With # tokens instead of #, the # multiply-adds of queries with keys and of weights with values become four times as many, # others twice as many(?:, but #, for the keys and values of the encoder's tokens, do not change)?\.": growth,
    r"From # tokens on, the terms that grow with the square of the length are more than half of the total\.": half,
    r"With # tokens, the most that it can read, the terms that grow with the square of the length are # % of the total\.": at_most,
    r"With a cache, keys and values are not recomputed for each generated token; each token adds # numbers to it\.": cache,
}


def unmet(texts: list[str]) -> set[str]:
    """The forms that none of the sentences has."""
    forms = {form: form.replace("#", f"({NUMBER})") for form in FORMS}
    return {f for f, p in forms.items() if not any(re.fullmatch(p, text) for text in texts)}
