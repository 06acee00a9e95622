"""The judge of a trained model's tutorial: each sentence and table, computed again by NumPy.

It reads the text as a terminal of one line per paragraph shows it, and shares no code with what
writes it: the numbers are those of `PlainModel`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache, cached_property

import numpy as np

from tests.helpers import word_paths
from tests.helpers.claims import FORMS
from tests.helpers.claims_of_words import ALMOST_ALL, is_rounded
from tests.helpers.judge import as_shown, exact, pattern_of, told_apart
from tests.helpers.known_sentences import KNOWN
from tests.helpers.plain_model import PlainModel
from tests.helpers.reference import Array
from tests.helpers.sentences import unbroken

Said = dict[str, str]
BELOW = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
RANK = r"[0-9,]+(?:st|nd|rd|th)"
PARTS_SHOWN, LEADING, WRITERS, WORDS, UNITS, WORDS_OF_UNITS = 10, 5, 8, 6, 3, 5
OF_RANKS = (*word_paths.FORMS, word_paths.MOVED)


def ordinal(rank: int) -> str:
    """`2,079th`."""
    last, teen = rank % 10, rank // 10 % 10 == 1
    ending = "th" if teen or last not in (1, 2, 3) else ("st", "nd", "rd")[last - 1]
    return f"{rank:,}{ending}"


def is_share(printed: str, computed: float) -> bool:
    """Whether a percentage is that of a probability that is printed with the digits it has."""
    step = 10.0 ** (int(exact(printed).as_tuple().exponent) - 2)
    return abs(float(exact(printed)) / 100 - computed) <= max(0.51 * step, 0.00051)


_pattern = cache(pattern_of)


def reads_one(weights: Array) -> bool:
    """Whether one attention weight is larger than all others, also with the digits shown."""
    shown = np.sort(np.round(weights, 3))
    return len(shown) > 1 and bool(shown[-1] > shown[-2])


class ModelStory:
    """A tutorial, and the plain model that it tells of; `other` is its pass over another text."""

    def __init__(self, text: str, model: PlainModel, other: PlainModel | None) -> None:
        self.sections = dict(_sections(unbroken(text)))
        self.m, self.other = model, other
        self.word = model.predicted
        self.met: set[str] = set()
        """The templates of the sentences that the text has, and what its tables are about."""
        self.terms: Array = np.zeros(0)
        """The terms of the hidden units that were told of last."""

    # --- what is computed of the model -----------------------------------------------------------

    @cached_property
    def parts(self) -> dict[str, float]:
        """What each component adds to the logit of the predicted word."""
        return self.m.parts(self.word)

    @cached_property
    def rivals(self) -> list[int]:
        """The runner-up, and of ten words the one with the most similar column of W_U."""
        others = [int(i) for i in np.argsort(-self.m.logits)[:11] if i != self.word][:10]
        u = self.m.w_u
        cosines = {
            i: u[:, i] @ u[:, self.word] / np.linalg.norm(u[:, i]) for i in others if u[:, i].any()
        }
        return list(dict.fromkeys([others[0], max(cosines, key=cosines.__getitem__)]))

    @cached_property
    def leads(self) -> list[dict[str, float]]:
        """What each component adds to the logit minus that of each rival."""
        return [
            {name: x - other[name] for name, x in self.parts.items()}
            for other in map(self.m.parts, self.rivals)
        ]

    @cached_property
    def head(self) -> tuple[int, int]:
        """Layer and number of the head that adds most."""
        heads = [name for name in self.parts if re.fullmatch(r"layer \d+, head \d+", name)]
        layer, head = re.findall(r"\d+", max(heads, key=self.parts.__getitem__))
        return int(layer), int(head)

    @property
    def name(self) -> str:
        """`head 5 of layer 24`."""
        return f"head {self.head[1]} of layer {self.head[0]}"

    @cached_property
    def weights(self) -> Array:
        """How much of its attention the last token gives to each token in that head."""
        layer, head = self.head
        found: Array = self.m.values[f"layer{layer}.attention.head{head}.weights"][-1]
        return found

    @property
    def source(self) -> int:
        """The token that the head reads most."""
        return int(np.argmax(self.weights))

    @cached_property
    def part(self) -> float:
        """What the head adds."""
        return self.parts["layer {}, head {}".format(*self.head)]

    @cached_property
    def sources(self) -> dict[str, float]:
        """What each component adds to what the head takes from that token."""
        return self.m.sources(*self.head, self.source, self.word)

    @cached_property
    def through(self) -> list[int]:
        """The rank of the word after each point before, as the head reads that token."""
        return self.m.read_by_head(*self.head, self.source, self.word)

    @cached_property
    def output(self) -> str:
        """The address of the head's output."""
        return "layer{}.attention.head{}.output".format(*self.head)

    @cached_property
    def without(self) -> PlainModel:
        """The pass without the head."""
        return self.m.again({self.output: 0 * self.m.values[self.output]})

    @cached_property
    def patched(self) -> PlainModel:
        """The pass with the head's output of the other text."""
        assert self.other
        return self.m.again({self.output: self.other.values[self.output]})

    @property
    def runs(self) -> list[PlainModel]:
        """The runs that are compared: with the head's output only if the others disagree."""
        assert self.other
        both = [self.m, self.other]
        patches = self.has_head and self.m.predicted != self.other.predicted
        return [*both, self.patched] if patches else both

    @property
    def has_head(self) -> bool:
        """Whether the head reads one token more than any other."""
        return reads_one(self.weights)

    @cached_property
    def path(self) -> list[tuple[str, int, int, float]]:
        """The predicted word at each point."""
        return self.m.path(-1, self.word)

    @property
    def around(self) -> tuple[int, int]:
        """The rank before the attention of the head's layer and after it."""
        at = 2 * self.head[0] - 1
        return self.path[at - 1][1], self.path[at][1]

    # --- sentences -------------------------------------------------------------------------------

    def faults(self) -> list[str]:
        """The paragraphs and tables that are unknown or not those of the model."""
        return [
            f"{title}: {fault}"
            for title, blocks in self.sections.items()
            for fault in self._faults_of(blocks)
        ]

    def _faults_of(self, blocks: list[str]) -> Iterator[str]:
        before = ""
        for block in blocks:
            if block.startswith((" ", "▸")):
                yield from self.tables(before, block)
            else:
                yield from self.judged(block)
            before = block

    def judged(self, sentence: str) -> Iterator[str]:
        """What is wrong with a sentence."""
        if any(_pattern(each).fullmatch(sentence) for each in OF_RANKS):
            path = named_path(self)
            due = [word_paths.leads(self.m.words[self.word], path), *word_paths.moved(path)]
            yield from [] if sentence in due else [f"{sentence} [not {due}]"]
            return
        for template, check in CLAIMS.items():
            if match := _pattern(template).fullmatch(sentence):
                self.met.add(template)
                try:
                    holds = check(self, {k: v or "" for k, v in match.groupdict().items()})
                except (AssertionError, KeyError, IndexError, ValueError) as error:
                    yield f"{sentence} [{error!r}]"
                else:
                    yield from [] if holds is None or holds else [f"{sentence} [false]"]
                return
        known = sentence in KNOWN or any(each.pattern.fullmatch(sentence) for each in FORMS)
        if not known and not any(_pattern(each).fullmatch(sentence) for each in GENERAL):
            yield f"{sentence} [unknown]"

    # --- tables ----------------------------------------------------------------------------------

    def tables(self, before: str, block: str) -> Iterator[str]:
        """What is wrong with the table below a sentence."""
        header, *rows = cells_of(block)
        for begins, check in TABLES.items():
            if re.match(re.escape(begins).replace(r"\{\}", ".*?"), before):
                self.met.add(begins)
                try:
                    check(self, rows or [header], before)
                except (AssertionError, KeyError, IndexError, ValueError) as error:
                    yield f"table below “{before}”: {error!r}"

    def faults_of_matrices(self) -> Iterator[str]:
        """The rows of matrices that are not those of the model, where none stands beside others."""
        for block in (block for blocks in self.sections.values() for block in blocks):
            header, *rows = cells_of(block)
            symbol = re.fullmatch("([A-Za-z]+(?:_[A-Z])?)[¹²³⁴⁵⁶⁷⁸⁹⁰]*", header[0])
            if symbol and symbol[1] in MATRICES and re.match("  [^ ]", block) and rows:
                self.met.add(symbol[1])
                yield from self._matrix(symbol[1], header[1:], rows)

    def _matrix(self, symbol: str, labels: list[str], rows: list[list[str]]) -> Iterator[str]:
        """The rows of a matrix that are not those of the model."""
        numbers = MATRICES[symbol](self)
        names = self.m.words if symbol == "z" else self.m.tokens
        columns = [_column(label, names) for label in labels if label != "│"]
        for i, (_, *shown) in enumerate(rows):
            row = numbers[i] if len(rows) == len(numbers) else numbers[-1]
            if not all(map(is_rounded, shown, [float(row[j]) for j in columns])):
                yield f"{symbol}: {shown}"

    def of_head(self, name: str, *, shared: bool = False) -> Array:
        """A value of the head, or of that whose keys and values it reads."""
        layer, head = self.head
        own = self.m.shared(layer, head) if shared else head
        return self.m.values[f"layer{layer}.attention.head{own}.{name}"]


def cells_of(block: str) -> list[list[str]]:
    """The cells of each line of a table."""
    return [re.split(" {2,}", line.lstrip("▸ ").rstrip()) for line in block.split("\n")]


def _column(label: str, names: list[str]) -> int:
    """The column of a matrix by its label: a number, or one of some names."""
    if numbered := re.fullmatch("[a-z]([₀-₉]+)", label):
        return int(numbered[1].translate(BELOW)) - 1
    return names.index(label)


def _sections(text: str) -> Iterator[tuple[str, list[str]]]:
    """The blocks of each section, by its title; those before the first by none."""
    title, blocks = "", list[str]()
    _, *rest = text.strip("\n").split("\n\n")  # without the title of the whole
    for block in rest:
        lines = block.strip("\n").split("\n")
        if len(lines) > 1 and re.fullmatch("[═─]+", lines[1]):
            yield title, blocks
            title, blocks, lines = lines[0], [], lines[2:]
        if lines:
            blocks.append("\n".join(lines))
    yield title, blocks


# --- the answer ----------------------------------------------------------------------------------


def reads(s: ModelStory, said: Said) -> None:
    assert (said["text"], int(said["n"])) == (as_shown(s.m.text()), len(s.m.ids))
    assert int(said["words"].replace(",", "")) == len(s.m.words)
    assert (said["word"], said["who"]) == (s.m.words[s.word], s.m.tokens[-1])


def predicts(s: ModelStory, said: Said) -> None:
    assert (said["who"], said["word"]) == (s.m.tokens[-1], s.m.words[s.word])
    second = s.rivals[0]
    assert said["second"] == s.m.words[second]
    assert is_share(said["p"], s.m.p[s.word]) and is_share(said["q"], s.m.p[second])
    assert is_rounded(said["z"], s.m.logits[s.word])


def of_the_head(s: ModelStory, said: Said) -> None:
    (layer, head), (before, after) = s.head, s.around
    when = "Before the first layer" if layer == 1 else f"After layer {layer - 1}"
    assert (said["when"], said["before"]) == (when, ordinal(before))
    assert said["n"] == f"{len(s.m.words):,}"
    assert (int(said["layer"]), int(said["head"])) == (layer, head)
    assert is_share(said["share"], s.weights[s.source])
    assert {said["source"], said["again"] or said["source"]} == {s.m.tokens[s.source]}
    assert is_rounded(said["part"], s.part)
    term = sum(s.sources.values())
    assert bool(said["which"]) == (0 < exact(said["term"] or "0") / exact(said["part"]) <= 1)
    if said["which"]:
        assert is_rounded(said["term"], term)
    else:
        assert not 0 < round(term, 3) / round(s.part, 3) <= 1
    assert (said["where"], said["after"]) == (f"attention in layer {layer}", ordinal(after))
    assert bool(said["later"]) == (after > 1)


def leads(s: ModelStory, said: Said) -> None:
    rival, lead = s.rivals[-1], s.leads[-1]
    assert (said["word"], said["other"]) == (s.m.words[s.word], s.m.words[rival])
    assert is_rounded(said["d"], s.m.logits[s.word] - s.m.logits[rival])
    best, largest = max(lead, key=lead.__getitem__), max(s.parts, key=s.parts.__getitem__)
    assert said["label"] == best and is_rounded(said["x"], lead[best])
    of_other = s.parts[largest] - lead[largest]
    assert bool(said["itself"]) == (largest != best and of_other >= s.parts[largest] / 2 > 0)
    if said["itself"]:
        assert said["most"] == largest and is_rounded(said["own"], s.parts[largest])
        assert is_rounded(said["too"], of_other)


def without(s: ModelStory, said: Said) -> None:
    assert (said["name"], said["word"]) == (s.name, s.m.words[s.word])
    before, after = s.m.logits[s.word], s.without.logits[s.word]
    assert is_rounded(said["z"], after) and is_rounded(said["was"], before)
    assert is_share(said["p"] or said["p2"], s.without.p[s.word])
    assert bool(said["still"]) == (s.without.rank(s.word) == 1)
    if said["then"]:
        assert said["rank"] == ordinal(s.without.rank(s.word))
        assert said["instead"] == s.m.words[s.without.predicted]
    fall = exact(said["was"]) - exact(said["z"])
    due = fall * exact(f"{s.part:.3f}") > 0 and f"{abs(fall):.3f}" != f"{abs(s.part):.3f}"
    assert bool(said["changes"]) == due
    assert not due or (said["more"] == "more") == (abs(before - after) > abs(s.part))


def with_other(s: ModelStory, said: Said) -> None:
    assert s.other
    new, mixed = s.other.predicted, s.patched.predicted
    assert (said["text"], said["new"]) == (as_shown(s.other.text()), s.m.words[new])
    assert (said["name"], said["mixed"]) == (s.name, s.m.words[mixed])
    assert bool(said["too"]) == (mixed == new)


# --- layers --------------------------------------------------------------------------------------


def named_path(s: ModelStory) -> list[tuple[str, int]]:
    names = ["before the first layer", *(f"after {where}" for where, *_ in s.path[1:])]
    return list(zip(names, (rank for _, rank, *_ in s.path), strict=True))


def layer_table(s: ModelStory, rows: list[list[str]], before: str) -> None:
    assert len(rows) == s.m.layers
    for n, (layer, *ranks, word, share) in enumerate(rows, 1):
        (_, a, *_), (_, b, leader, p) = s.path[2 * n - 1 : 2 * n + 1]
        assert (layer, ranks, word) == (str(n), [str(a), str(b)], s.m.words[leader])
        assert is_share(share.removesuffix(" %"), p)


# --- parts ---------------------------------------------------------------------------------------


def is_a_sum(s: ModelStory, said: Said) -> None:
    assert (said["word"], said["who"]) == (s.m.words[s.word], s.m.tokens[-1])
    assert is_rounded(said["n"], s.m.logits[s.word])
    assert np.isclose(sum(s.parts.values()), s.m.logits[s.word])


def part_table(s: ModelStory, rows: list[list[str]], before: str) -> None:
    def largest(parts: dict[str, float], most: int) -> list[str]:
        return sorted(parts, key=lambda name: -abs(parts[name]))[:most]

    due = {*largest(s.parts, PARTS_SHOWN)}
    for lead in s.leads:
        due |= {*largest(lead, LEADING)}
    assert [row[0] for row in rows] == [name for name in largest(s.parts, 999) if name in due]
    for name, part, *others, token, share in rows:
        numbers = [s.parts[name], *(lead[name] for lead in s.leads)]
        assert all(map(is_rounded, (part, *others), numbers)) and len(others) == len(s.leads)
        if match := re.fullmatch(r"layer (\d+), head (\d+)", name):
            weights = s.m.values["layer{}.attention.head{}.weights".format(*match.groups())][-1]
            if reads_one(weights):
                assert told_apart(s.m.tokens).index(token) == int(np.argmax(weights))
                assert is_share(share.removesuffix(" %"), weights.max())
                continue
        assert (token, share) == ("—", "—")


def head_map(s: ModelStory, rows: list[list[str]], before: str) -> None:
    rows = [row for row in rows if not row[0].startswith("· is")]  # what a dot stands for
    of_heads = {
        name: x for name, x in s.parts.items() if re.fullmatch(r"layer \d+, head \d+", name)
    }
    largest = max(map(abs, of_heads.values()))
    for layer, *numbers in rows:
        for head, number in enumerate((x for x in numbers if x != "│"), 1):
            own = of_heads[f"layer {layer.strip(' │')}, head {head}"]
            assert is_rounded(number, own) if number != "·" else abs(own) < 0.05 * largest
    assert len(rows) == s.m.layers


# --- what the head takes -------------------------------------------------------------------------


def takes(s: ModelStory) -> Array:
    """What the head takes from the token for each word."""
    _, values, _, w_o = s.m.head(*s.head)
    return np.asarray(s.m.raised((s.weights[s.source] * values[s.source] @ w_o)[None])[0])


NAME_OF_LATER = r"(?:the FFN|head \d+) of layer \d+"


def in_words(s: ModelStory, said: Said) -> bool:
    z = takes(s)
    raised = [s.m.words[int(i)] for i in np.argsort(-z)[:3]]
    assert [said["first"], said["second"], said["third"]] == raised
    assert (said["name"].lower(), said["source"]) == (s.name, s.m.tokens[s.source])
    own = {name: x for name, x in s.parts.items() if re.search(r", (FFN|head \d+)$", name)}
    later = {name: x for name, x in own.items() if is_later(s, name) and x > 0}
    largest = sorted(later, key=later.__getitem__, reverse=True)[:3]
    if said["layers"]:
        layers = sorted(int(each) for each in re.findall(r"\d+", said["layers"]))
        named = [f"layer {layer}, FFN" for layer in layers]
        assert len(named) > 1
    else:
        pairs = re.findall(r"(?:the FFN|head (\d+)) of layer (\d+)", said["later"])
        named = [f"layer {n}, head {head}" if head else f"layer {n}, FFN" for head, n in pairs]
        assert len(named) <= 1 or not all("FFN" in name for name in named)
    assert said["word"] == s.m.words[s.word] or not named
    return sorted(named) == sorted(largest)


def is_later(s: ModelStory, name: str) -> bool:
    """Whether a component comes after the head's attention."""
    layer = re.match(r"layer (\d+), (FFN)?", name)
    if not layer:
        return False
    at, own = int(layer[1]), s.head[0]
    return at > own or (at == own and bool(layer[2]))


def raised_words(s: ModelStory, rows: list[list[str]], before: str) -> None:
    z = takes(s)
    order = [int(i) for i in np.argsort(-z)[:WORDS]]
    due = list(dict.fromkeys([*order, s.word]))
    assert [row[1] for row in rows] == [s.m.words[i] for i in due]
    for (rank, _, adds), i in zip(rows, due, strict=True):
        assert rank == f"{1 + int((z > z[i]).sum()):,}" and is_rounded(adds, z[i])


def of_all_words(s: ModelStory, said: Said) -> bool:
    z = takes(s)
    rank = ordinal(1 + int((z > z[s.word]).sum()))
    return (said["word"], said["rank"], said["n"]) == (s.m.words[s.word], rank, f"{len(z):,}")


def takes_so_much(s: ModelStory, said: Said) -> bool:
    assert (said["source"], said["name"]) == (s.m.tokens[s.source], s.name)
    return is_rounded(said["x"], takes(s)[s.word]) and np.isclose(
        sum(s.sources.values()), takes(s)[s.word]
    )


def writers(s: ModelStory, rows: list[list[str]], before: str) -> None:
    order = sorted(s.sources, key=lambda name: -abs(s.sources[name]))[:WRITERS]
    assert len(rows) == len(order)
    for (shown, x), name in zip(rows, order, strict=True):
        begins, _, ends = shown.partition("…")  # the middle of a long name is left out
        assert name.startswith(begins) and name.endswith(ends) and is_rounded(x, s.sources[name])


def rank_table(s: ModelStory, rows: list[list[str]], before: str) -> None:
    directly = [rank for _, rank, *_ in s.m.path(s.source, s.word)]
    through = s.through
    assert len(rows) == s.head[0]
    for n, row in enumerate(rows):
        assert row == [str(n or "—"), f"{directly[2 * n]:,}", f"{through[2 * n]:,}"]


def when_it_begins(s: ModelStory, said: Said) -> bool:
    layer, at = s.head[0], 2 * s.head[0] - 2
    directly = s.m.path(s.source, s.word)[at][1]
    through = s.through[at]
    assert (int(said["layer"]), said["name"]) == (layer, s.name)
    assert (said["word"], said["source"]) == (s.m.words[s.word], s.m.tokens[s.source])
    return (said["a"], said["b"]) == (ordinal(directly), ordinal(through))


# --- hidden units --------------------------------------------------------------------------------


def direction(s: ModelStory) -> Array:
    """How much the logit rises per unit of each number of the last token's vector."""
    eye = np.eye(s.m.w_u.shape[0])
    norm = s.m.spec["final_norm"]
    return np.asarray(s.m.held(eye, norm, "final_norm", -1) @ s.m.w_u[:, s.word])


def through_head(s: ModelStory) -> Array:
    """The same of the vector that the head reads."""
    (layer, head), eye = s.head, np.eye(s.m.w_u.shape[0])
    w_v, _, _, w_o = s.m.head(layer, head)
    norm, place = s.m.spec["layers"][layer - 1]["attention"]["norm"], f"layer{layer}.attention.norm"
    read = s.m.held(eye, norm, place, s.source)
    return np.asarray(s.weights[s.source] * read @ w_v @ w_o @ direction(s))


def units_of(s: ModelStory, said: Said) -> tuple[Array, Array, int]:
    """The terms of the units that a sentence tells of, their vectors, and whose they are."""
    of_source = bool(said["takes"])
    token = s.source if of_source else len(s.m.ids) - 1
    along = through_head(s) if of_source else direction(s)
    terms, vectors = s.m.units(int(said["layer"]), token, along)
    return terms, vectors, token


def has_units(s: ModelStory, said: Said) -> bool:
    terms, _, token = units_of(s, said)
    assert said["who"] == s.m.tokens[token] and said["n"] == f"{len(terms):,}"
    if said["takes"]:
        assert said["name"] == s.name
        largest = max(s.sources, key=lambda name: abs(s.sources[name]))
        assert largest == f"layer {said['layer']}, FFN"
    else:
        assert said["word"] == s.m.words[s.word]
        ffns = [name for name in s.parts if re.fullmatch(r"layer \d+, FFN", name)]
        order = sorted(ffns, key=lambda name: -abs(s.parts[name]))
        assert f"layer {said['layer']}, FFN" in order[:2]
    s.terms = terms
    return is_rounded(said["x"], float(terms.sum()))


def unit_table(s: ModelStory, rows: list[list[str]], before: str) -> None:
    match = pattern_of(UNITS_OF).fullmatch(before)
    assert match
    said = {key: value or "" for key, value in match.groupdict().items()}
    terms, vectors, token = units_of(s, said)
    order = [int(i) for i in np.argsort(-(terms if terms.sum() > 0 else abs(terms)))[:UNITS]]
    hidden = s.m.hidden(int(said["layer"]), token)
    for (unit, number, adds, words), i in zip(rows, order, strict=True):
        z = s.m.raised(vectors[i][None], token)[0]
        best = [s.m.words[int(j)] for j in np.argsort(-z)[:WORDS_OF_UNITS]]
        assert (unit, words) == (str(i + 1), ", ".join(best)), best
        assert is_rounded(number, hidden[i]) and is_rounded(adds, terms[i])


def half(s: ModelStory, said: Said) -> bool:
    positive = np.sort(s.terms)[::-1]
    needed = int(said["n"].replace(",", "")) if said["n"] else 1
    fewer, enough = positive[: needed - 1].sum(), positive[:needed].sum()
    return bool(enough >= s.terms.sum() / 2 > fewer) or bool(needed == 1 and enough >= 0)


# --- attention -----------------------------------------------------------------------------------


def shares_of_first(s: ModelStory) -> list[tuple[int, int]]:
    """The heads that give almost all of their attention to the first token."""
    names = [re.fullmatch(r"layer(\d+)\.attention\.head(\d+)\.weights", a) for a in s.m.values]
    heads = [tuple(map(int, name.groups())) for name in names if name]
    return [
        (layer, head)
        for layer, head in heads
        if s.m.values[f"layer{layer}.attention.head{head}.weights"][-1, 0] >= ALMOST_ALL / 100
    ]


def looks_at_first(s: ModelStory, said: Said) -> bool:
    heads = sum(len(layer["attention"]["heads"]) for layer in s.m.spec["layers"])
    assert (said["who"], said["first"]) == (s.m.tokens[-1], s.m.tokens[0])
    return (int(said["n"]), int(said["all"])) == (len(shares_of_first(s)), heads)


def shortest(s: ModelStory, said: Said) -> bool:
    looking = shares_of_first(s)
    lengths = [np.linalg.norm(s.m.head(*each)[1], axis=1) for each in looking]
    found = sum(bool(of[0] < of[1:].min()) for of in lengths)
    return (int(said["n"]), int(said["all"])) == (found, len(looking))


def attention_table(s: ModelStory, rows: list[list[str]], before: str) -> None:
    for t, (token, share, heads) in enumerate(rows):
        shares = [
            (float(x[-1, t]), re.findall(r"\d+", address))
            for address, x in s.m.values.items()
            if re.fullmatch(r"layer\d+\.attention\.head\d+\.weights", address)
        ]
        most = sorted(shares, key=lambda each: -each[0])
        assert token == s.m.tokens[t] and is_share(share.removesuffix(" %"), most[0][0])
        named = [each.split(", ") for each in heads.split("; ")]
        of_named = {tuple(where): share for share, where in shares}
        assert all(np.isclose(of_named[tuple(a)], b[0]) for a, b in zip(named, most, strict=False))


# --- the head, step by step ----------------------------------------------------------------------


def gives(s: ModelStory, said: Said) -> bool:
    order = np.argsort(-s.weights)
    assert said["who"] == s.m.tokens[-1] and said["most"] == s.m.tokens[order[0]]
    assert is_share(said["share"], s.weights[order[0]])
    if said["second"]:
        assert said["second"] == s.m.tokens[order[1]] and is_share(said["q"], s.weights[order[1]])
    return True


def scores_most(s: ModelStory, said: Said) -> bool:
    scores = s.m.values["layer{}.attention.head{}.scores".format(*s.head)][-1]
    order = np.argsort(-scores)
    assert said["who"] == s.m.tokens[-1] and said["most"] == s.m.tokens[order[0]]
    assert is_rounded(said["x"], scores[order[0]])
    return not said["second"] or (
        said["second"] == s.m.tokens[order[1]] and is_rounded(said["y"], scores[order[1]])
    )


def terms_of_head(s: ModelStory) -> Array:
    """What the head takes from each token."""
    _, values, _, w_o = s.m.head(*s.head)
    return np.asarray(s.weights * (values @ w_o @ direction(s)))


def largest_term(s: ModelStory, said: Said) -> bool:
    terms = terms_of_head(s)
    at = int(np.argmax(abs(terms)))
    return said["who"] == s.m.tokens[at] and is_rounded(said["x"], terms[at])


def follows_source(s: ModelStory, said: Said) -> bool:
    return (said["source"], said["who"]) == (s.m.tokens[s.source], s.m.tokens[-1])


def logit_says(s: ModelStory, said: Said) -> bool:
    second = s.rivals[0]
    assert (said["who"], said["word"]) == (s.m.tokens[-1], s.m.words[s.word])
    assert is_rounded(said["x"], s.m.logits[s.word]) and said["second"] == s.m.words[second]
    return is_rounded(said["y"], s.m.logits[second])


def model_predicts(s: ModelStory, said: Said) -> bool:
    assert (said["who"], said["word"]) == (s.m.tokens[-1], s.m.words[s.word])
    return is_share(said["p"], s.m.p[s.word])


# --- another text --------------------------------------------------------------------------------


def runs_predict(s: ModelStory, said: Said) -> bool:
    words = [s.m.words[each.predicted] for each in s.runs]
    return [said[x] for x in "abc" if said.get(x)] == words


def both_predict(s: ModelStory, said: Said) -> bool:
    words = {s.m.words[each.predicted] for each in s.runs}
    return words == {said["word"]} and said["all"] == ("both" if len(s.runs) == 2 else "all")


def second_run(s: ModelStory, said: Said) -> bool:
    return s.other is not None and said["text"] == as_shown(s.other.text())


def other_table(s: ModelStory, rows: list[list[str]], before: str) -> None:
    assert s.other and f"“{s.m.words[s.other.predicted]}”" in before
    path = s.other.path(-1, s.other.predicted)
    assert len(rows) == s.m.layers
    for n, row in enumerate(rows, 1):
        _, rank, leader, _ = path[2 * n]
        assert row == [str(n), f"{s.path[2 * n][1]:,}", f"{rank:,}", s.m.words[leader]]


def run_table(s: ModelStory, rows: list[list[str]], before: str) -> None:
    assert {row[0] for row in rows} == {s.m.words[run.predicted] for run in s.runs}
    for word, *cells in rows:
        column = s.m.words.index(word)
        numbers = [float(x) for run in s.runs for x in (run.logits[column], run.p[column])]
        assert all(map(is_rounded, cells, numbers)) and len(cells) == len(numbers)


def effect(s: ModelStory, rows: list[list[str]], before: str) -> None:
    assert s.other
    own, new = s.word, s.other.predicted

    def margin(run: PlainModel) -> float:
        return float(run.logits[new] - run.logits[own])

    first, second, mixed = map(margin, (s.m, s.other, s.patched))
    assert is_rounded(rows[-1][-1].split(" ")[-1], (mixed - first) / (second - first))


# --- summary -------------------------------------------------------------------------------------


def written_there(s: ModelStory, said: Said) -> bool:
    largest = max(s.sources, key=lambda name: abs(s.sources[name]))
    assert (said["source"], said["name"]) == (s.m.tokens[s.source], s.name)
    assert is_rounded(said["total"], sum(s.sources.values()))
    return said["label"] == largest and is_rounded(said["x"], s.sources[largest])


def moved_by_attention(s: ModelStory, said: Said) -> bool:
    before, after = map(ordinal, s.around)
    assert said["where"] == f"attention in layer {s.head[0]}"
    return (said["a"], said["b"], said["word"]) == (before, after, s.m.words[s.word])


def later(s: ModelStory, said: Said) -> bool:
    found = {name: abs(x) for name, x in s.parts.items() if is_later(s, name)}
    most = max(found, key=found.__getitem__)
    return said["label"] == most and is_rounded(said["x"], s.parts[most])


def both_shares(s: ModelStory, said: Said) -> bool:
    assert (said["name"], said["word"]) == (s.name, s.m.words[s.word])
    return is_share(said["q"], s.without.p[s.word]) and is_share(said["p"], s.m.p[s.word])


UNITS_OF = "At “{who:name}”, the FFN of layer {layer:int} adds {x} [takes:to what {name:text} takes from there][to the logit of “{word:name}”]. The largest terms of its {n} hidden units:"
CLAIMS: dict[str, Callable[[ModelStory, Said], bool | None]] = {
    "The model reads “{text:name}” as {n:int} tokens and computes a probability for each of {words} possible next tokens. This text asks why it predicts “{word:name}” after “{who:name}”.": reads,
    "The sign ␣ in a token stands for a space.": lambda s, said: "␣" in "".join(s.m.tokens),
    "After “{who:name}”, “{word:name}” is the most probable token, with {p} %. Its logit, from which the softmax computes this probability, is {z:[-0-9.]+[0-9]}. The runner-up is “{second:name}” with {q} %.": predicts,
    f"{{name:Head \\d+ of layer \\d+}} reads “{{source:name}}” and raises words such as “{{first:name}}”, “{{second:name}}” and “{{third:name}}”[more:; after it, {{later:the FFNs of layers (?P<layers>[0-9, and]+)|{NAME_OF_LATER}.*}} raise[s] “{{word:name}}” most].": in_words,
    f"{{when:text}}, “{{:name}}” ranks {{before:{RANK}}} of {{n}} words. In layer {{layer:int}}, head {{head:int}} gives {{share}} % of its attention to “{{source:name}}” and adds {{part:[-0-9.]+}} to the logit of “{{:name}}”[which:, of which {{term}} comes from “{{again:name}}”]. After {{where:text}}, “{{:name}}” ranks {{after:{RANK}}}[later:; the sub-layers after it raise it to first].": of_the_head,
    "The logit of “{word:name}” is {d} higher than that of “{other:name}”. The largest part of this difference is {x} ({label:text}).[itself: The largest part of the logit itself, {own} ({most:text}), says less about the choice: the same component adds {too} to the logit of “{=other}”.]": leads,
    f"Without {{name:text}} (its output set to 0 for all tokens), the logit of “{{word:name}}” is {{z}} instead of {{was:[-0-9]+.[0-9]+}}[still:, and the model still predicts it, with {{p}} %.][then:. Then “{{=word}}” ranks {{rank:{RANK}}}, with {{p2}} %, and the model predicts “{{instead:name}}”.][changes: The logit changes by {{more:more|less}} than the head's part, because later sub-layers and norms then compute with other numbers, too.]": without,
    "After “{text:name}”, the model predicts “{new:name}”. If only {name:text} takes its output from that pass, the model predicts “{mixed:name}” here[too:, too].": with_other,
    "The logit of “{word:name}” after “{who:name}” is {n}. It is the sum of what {kinds:text} add.": is_a_sum,
    f"“{{word:name}}” is the {{rank:{RANK}}} of {{n}} words.": of_all_words,
    "The vector of “{source:name}” is itself a sum of what earlier components added to it. Their parts of the {x} that {name:text} takes from it, with each norm's divisor and the attention weight held as they are:": takes_so_much,
    f"When layer {{layer:int}} begins, “{{word:name}}” ranks {{a:{RANK}}} if the vector of “{{source:name}}” is read directly, and {{b:{RANK}}} if {{name:text}} reads it.": when_it_begins,
    UNITS_OF: has_units,
    "Its [one:largest term is][many:{n} largest terms add up to] at least half of this.": half,
    "{n:int} of {all:int} head[s] give[s] at least 90 % of the attention of “{who:name}” to the first token, “{first:name}”.": looks_at_first,
    "In {n:int} of {all:int} such head[s], the first token has the shortest value vector.": shortest,
    "For the rotation, “{who:name}” is at position {n:int}, counted from 0.": lambda s, said: (
        (said["who"], int(said["n"])) == (s.m.tokens[-1], len(s.m.ids) - 1)
    ),
    "This section follows “{source:name}”, which “{who:name}” attends to most.": follows_source,
    "“{who:name}” gives {share} % of its attention to “{most:name}”[ and {q} % to “{second:name}”].": gives,
    "The largest score of “{who:name}” is that for the key of “{most:name}” with {x}[, followed by “{second:name}” with {y}].": scores_most,
    "The largest term is that of “{who:name}”: {x}.": largest_term,
    "After “{who:name}”, the largest logit is that of “{word:name}” with {x}, followed by “{second:name}” with {y}.": logit_says,
    "After “{who:name}”, the model predicts “{word:name}” with a probability of {p} %.": model_predicts,
    "The second run is the same model with the text “{text:name}”. The first run is that above.": second_run,
    "After the last token, {all:both|all} runs predict “{word:name}”. Here, z is the logit of a word and p its probability.": both_predict,
    "After the last token, the first run predicts “{a:name}” and the second run predicts “{b:name}”. Here, z is the logit of a word and p its probability.": runs_predict,
    "After the last token, the first run predicts “{a:name}”, the second run predicts “{b:name}” and the patched run predicts “{c:name}”. Here, z is the logit of a word and p its probability.": runs_predict,
    "The patched run is the first with the second's numbers at “{address}”.": lambda s, said: (
        said["address"] == s.output
    ),
    "At “{source:name}”, earlier components write what {name:text} takes from there: {total} of the logit of “{:name}”. The largest part of it is {x} ({label:text}).": written_there,
    f"Through {{where:text}}, “{{word:name}}” moves from {{a:{RANK}}} to {{b:{RANK}}} after “{{:name}}”.": moved_by_attention,
    "Of the later components, the largest part of the logit is {x} ({label:text}).": later,
    "Without {name:text}, the probability of “{word:name}” is {q} % instead of {p} %.": both_shares,
}
"""The sentences with numbers or names, and what computes them again."""
TABLES: dict[str, Callable[[ModelStory, list[list[str]], str], None]] = {
    "The rank of “{}” after each sub-layer, and the word": layer_table,
    "Over: how much more a part adds to": part_table,
    "The parts of the heads, a row for each layer:": head_map,
    "The head makes a value of the vector of": raised_words,
    "The vector of “{}” is itself a sum of what earlier": writers,
    "The rank of “{}” at “{}” after each layer before": rank_table,
    "At “{}”, the FFN of layer": unit_table,
    "The largest share of its attention that": attention_table,
    "After each layer: the rank of": other_table,
    "After the last token, ": run_table,
    "The effect is the share of the switch from": effect,
}
"""What stands above each table, with {} for a name."""

MATRICES: dict[str, Callable[[ModelStory], Array]] = {
    "Q": lambda s: s.of_head("query"),
    "Q_R": lambda s: s.of_head("rotated_query"),
    "K": lambda s: s.of_head("key", shared=True),
    "K_R": lambda s: s.of_head("rotated_key", shared=True),
    "V": lambda s: s.of_head("value", shared=True),
    "S": lambda s: s.of_head("scores"),
    "A": lambda s: s.of_head("weights"),
    "O": lambda s: s.of_head("output"),
    "u": lambda s: np.array([s.m.head(*s.head)[3] @ direction(s)]),
    "t": lambda s: np.array([terms_of_head(s)]),
    "z": lambda s: s.m.values["logits"],
}
"""The matrices of the head that is worked, and the logits."""

GENERAL = (
    "The part of the head is a sum over its source tokens: the attention weight times the dot product of the value and the direction.",
    *(
        "The dot product of each value with the direction:",
        "Times the attention weights:",
        "The part of the head:",
    ),
    "Tokens at the same position of the texts are compared.",
    "The effect is the share of the switch from “{:name}” to “{:name}” that the patch causes: with 0, the difference of their logits stays that of the first run; with 1, it becomes that of the second.",
    "Over: how much more a part adds to “{:name}” than to “{:name}”[ or “{:name}”]. Reads: the token that a head attends to most.",
    "The head makes a value of the vector of “{:name}” (W_V), multiplies it by its attention weight and by its rows of W_O, and adds the result to the vector of “{:name}”. This raises the logits of these words most:",
    "The rank of “{:name}” at “{:name}” after each layer before: with the vector read like that of the last layer, and as {:text} reads it, through its W_V and W_O:",
    "An FFN adds the row of W₂ of each hidden unit, times the unit's number. A unit raises the words whose logits rise most by this product.",
    "n is what attention in layer {:int} reads: a vector for each token, after its norm.",
    "The tables show the {:int} columns of queries and keys with the largest products of “{:name}” and “{:name}”, and the columns of values that add most to the logit. Long sums show their largest {:int} terms; the bracket gives the number and the sum of the others.",
    "The direction has a number for each column of the head's output: how much the logit rises per unit of the column, with everything later held fixed.",
    "After each layer: the rank of “{:name}” in the first run and that of “{:name}” in the second, and the word that leads in the second:",
    "One more run shows what depends on the head that adds the most: in it, the output of this head is that of the second run, and all later numbers follow from it.",
)
"""What explains a table, or what stands above it."""
