"""A decoder by its shapes as a text: a table for each stage, what it comes to, and what grows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import groupby
from math import isqrt, prod

from tracer.decoder import roles
from tracer.decoder.cost import multiply_adds
from tracer.decoder.operations import MixExperts
from tracer.decoder.part import all_roles
from tracer.formula.expression import Expression, Number, Symbol
from tracer.formula.numbers import round_half_away
from tracer.lesson import document as doc
from tracer.lesson.context import LessonContext, joined
from tracer.lesson.steps.declared import OPERANDS
from tracer.lesson.steps.kind import Step
from tracer.lesson.steps.part import (
    KEYS_AND_VALUES,
    cached_words,
    lesson_parts,
    names_of,
    state_words,
)
from tracer.lesson.texts import sentences
from tracer.lesson.texts.at_a_glance import diagram, sizes
from tracer.lesson.texts.overview import step_formula, what_part_does
from tracer.lesson.texts.picture import NAMES
from tracer.lesson.texts.survey import (
    LAYER_PARTS,
    NUMBER_TYPES,
    Survey,
    SurveyedMatrix,
    table_symbol,
    unused_parameters,
)
from tracer.lesson.texts.symbols import symbols
from tracer.names import count

HEADER = ("symbol", "operation", "shape", "parameters", "multiply-adds")
LEARNED = "learned"
MOST_WORDS = 24
"""So many characters of an operation stand beside its shape."""
NONE = "–"
MILLION = 1_000_000
MOST_SPANS = 4
"""The most runs of layers that a heading names; of more, the first two and the last."""


def shapes(survey: Survey) -> doc.Document:
    """Return the text of a decoder's sizes and costs."""
    sections = [doc.Section(None, title, tuple(blocks)) for title, blocks in _stages(survey)]
    totals = doc.Section(None, "In total", tuple(_totals(survey)))
    memory = doc.Section(None, "In memory", tuple(_memory(survey)))
    introduction = tuple(_introduction(survey))
    return doc.Document(
        survey.trace.name, survey.trace.scenario.title, introduction, (*sections, totals, memory)
    )


def _introduction(survey: Survey) -> Iterator[doc.Block]:
    of_decoder = [matrix for matrix in survey.matrices if not matrix.place.encoder]
    shape = next((matrix.shape for matrix in of_decoder if matrix.role is roles.INPUT), None)
    query = next((matrix.shape for matrix in of_decoder if matrix.role is roles.QUERY), None)
    yield from doc.paragraphs(_goal(of_decoder, survey))
    only = "Shapes only; no values are computed. "
    if shape:
        _, tokens, width = shape
        read = (
            f"{written_shape(shape)} is the shape of one text of {_tokens(tokens)} with {width:,}"
        )
        heads = f", {written_shape(query)} the same for {count(query[1], 'head')}" if query else ""
        yield doc.Paragraph((only, f"{read} numbers each{heads}."))
    elif query:
        _, heads_alike, tokens, width = query
        of_heads = f"the queries of {count(heads_alike, 'head')}"
        read = f"{written_shape(query)} is the shape of {of_heads} for"
        yield doc.Paragraph((only, f"{read} {_tokens(tokens)}, with {width:,} numbers each."))
    yield doc.Paragraph(
        (
            "A multiply-add is one product in a matrix multiplication and its addition to the "
            "sum: two floating-point operations (FLOPs). Elementwise operations, such as those of "
            "a norm or a softmax, are not counted.",
        )
    )
    ctx = _context(survey)
    yield from diagram(ctx, survey.steps, survey.layer_steps)
    learned, layers = survey.parameters - survey.frozen, sum(map(len, survey.outline.layers))
    yield from sizes(ctx, learned, survey.frozen, layers)


def _goal(matrices: Sequence[SurveyedMatrix], survey: Survey) -> doc.Sentence | None:
    """What the decoder computes, if it predicts words."""
    words = next((each.shape[-1] for each in matrices if each.role is roles.PROBABILITIES), None)
    if words is None:
        return None
    layers = count(sum(map(len, survey.outline.layers)), "layer")
    return (
        f"The goal: from {_tokens(survey.length)}, the model computes in {layers} how probable "
        f"each of {words:,} tokens is as the next one.",
    )


def _context(survey: Survey) -> LessonContext:
    return LessonContext(survey.trace, survey.length - 1, symbols(survey.trace.records))


# --- stages --------------------------------------------------------------------------------------


def _stages(survey: Survey) -> Iterator[tuple[str, list[doc.Block]]]:
    for title, together in groupby(survey.matrices, lambda each: _stage(each, survey)):
        matrices = list(together)
        table = doc.Table.of(HEADER, _rows(matrices, survey))
        what = doc.paragraphs(_purpose(matrices[0].value.place, survey))
        yield title, [*what, table, *map(doc.Paragraph, _said(matrices, survey))]


def _purpose(place: roles.Place, survey: Survey) -> doc.Sentence | None:
    """What a sub-layer does."""
    if place.sub_layer is None:
        return None
    where = replace(place, head=None)
    what = what_part_does(
        [s for s in survey.steps if replace(s.place, head=None) == where], _context(survey)
    )
    return (f"{what[0].upper()}{what[1:]}.",)


def _stage(matrix: SurveyedMatrix, survey: Survey) -> str:
    """`Layers 1 to 12: attention`, `Encoder, layer 1: FFN`."""
    place, towers = matrix.value.place, 1 + survey.trace.scenario.encodes
    several = len(survey.stands_for(place)) > 1 or matrix.times > 1
    layers = _layers(matrix.layers) if place.sub_layer and several else ""
    name = NAMES[place.sub_layer] if place.sub_layer else ""
    return sentences.heading(matrix.step, place, layers, name, towers=towers)


def _layers(layers: Sequence[int]) -> str:
    """`layer 1`, `layers 2 to 12`, `layers 1 to 5, 7 to 11, …, 19 to 23`."""
    spans: list[list[int]] = []
    for layer in layers:
        if spans and layer == spans[-1][-1] + 1:
            spans[-1].append(layer)
        else:
            spans.append([layer])
    written = [f"{span[0]} to {span[-1]}" if span[1:] else f"{span[0]}" for span in spans]
    if len(written) > MOST_SPANS:
        written[2:-1] = ["…"]
    return f"layer{'s' * (len(layers) > 1)} {', '.join(written)}"


def _rows(
    matrices: Sequence[SurveyedMatrix], survey: Survey
) -> Iterator[tuple[str | Expression, ...]]:
    """A row for each matrix that a step takes or gives; what is worked with inside is left out."""
    ends = {step.last.output.address: step for step in survey.steps}
    order = list(dict.fromkeys(matrix.step for matrix in matrices))
    for matrix in sorted(matrices, key=lambda matrix: order.index(matrix.step)):
        token = matrix.place.token
        if token and 2 < token < survey.length:
            continue  # each token has the same shapes
        is_end = matrix.value.address in ends
        table = (
            matrix.place.address(roles.TABLES[matrix.role]) if matrix.role in roles.TABLES else ""
        )
        if shape := survey.tables.get(table):
            size = _counted(prod(shape))
            yield table_symbol(table), LEARNED, written_shape(shape), size, NONE
        if is_end or matrix.role in OPERANDS or matrix.role is roles.TOKENS:
            found = [ends.get(record.output.address) for record in matrix.records]
            cost = sum(multiply_adds(record) for step in found if step for record in step.records)
            symbol = survey.names_of_the_end.get(matrix.value.address, matrix.symbol)
            symbol = matrix.symbol if matrix.place.layer else symbol
            operation = _operation(matrix, ends.get(matrix.value.address), survey)
            if symbol == operation:  # the model's output is the final norm's, and named so
                continue
            yield (
                symbol,
                operation,
                written_shape(matrix.shape),
                _counted(matrix.parameters),
                _counted(cost),
            )


def _operation(matrix: SurveyedMatrix, step: Step | None, survey: Survey) -> str | Expression:
    """What computes a matrix, as a formula or in a few words; or the heads that have it."""
    if of_some := _heads(matrix):
        return of_some
    if step is None:
        is_tied = matrix.role is roles.W_U and survey.trace.scenario.is_tied
        return LEARNED if matrix.parameters else "W_E, transposed" if is_tied else "given"
    if matrix.role is roles.EMBEDDING:
        return "look up each token's row"
    if matrix.role is roles.POSITION and matrix.place.address(roles.POSITIONS) in survey.tables:
        return f"the first {count(matrix.value.shape[0], 'row')}"
    sign = step.kind.sign_of(step, _context(survey))
    if matrix.role is roles.ACTIVATION:
        return f"{sign[0]}(h)"
    together = {
        v.address: Symbol("O") for v in survey.trace.values.values() if v.role is roles.CONCAT
    }
    words = (step.kind.summary, *(each.strip() for each in sign if isinstance(each, str)))
    short = (each for each in (*words, step.kind.title.lower()) if 0 < len(each) <= MOST_WORDS)
    # One symbol stands for all experts, so that their sum would add it to itself.
    is_of_experts = isinstance(step.last.operation, MixExperts)
    at_the_end = {} if step.place.layer else survey.names_of_the_end
    known = {**survey.names, **together, **at_the_end}
    formula = None if is_of_experts else step_formula(step, known)
    return formula or next(short, NONE)


def _heads(matrix: SurveyedMatrix) -> str:
    """The heads or networks of a matrix, if not all are equal."""
    numbers = matrix.heads or [network.number for network in matrix.networks]
    if len(numbers) == matrix.of_heads or not numbers:
        return ""
    noun = "head" if matrix.heads else matrix.networks[0].noun
    return f"{noun}{'s' * (len(numbers) > 1)} {', '.join(map(str, numbers))}"


def _said(matrices: Sequence[SurveyedMatrix], survey: Survey) -> Iterator[doc.Sentence]:
    """Say the totals of a stage."""
    by_role = {matrix.role: matrix for matrix in matrices}
    parameters = sum(matrix.parameters for matrix in matrices)
    concat, logits = map(by_role.get, (roles.CONCAT, roles.LOGITS))
    queries = (by_role.get(role) for role in all_roles() if role.name == roles.W_Q.name)
    weights = next(filter(None, queries), None)
    if weights and concat and 1 < len(weights.heads) == len(concat.records[0].inputs):
        rows, columns = weights.value.shape
        together = [rows, columns * len(weights.heads)]
        yield (
            *("The ", weights.symbol, f" of the {len(weights.heads)} heads, side by side, form a "),
            f"matrix {written_shape(together)}.",
        )
        each = [value.shape[1] for value in concat.records[0].inputs]
        if len(set(each)) == 1:
            product = f"{len(each)} × {each[0]} = {sum(each)}"
            yield (f"Their concatenated outputs have {product} numbers for each token.",)
    for part in lesson_parts():
        yield from (sentence for role, sentence in part.sizes.items() if role in by_role)
        for role, of_sizes in part.computed_sizes.items():
            if role in by_role:
                yield from of_sizes(by_role[role].value, parameters, unused_parameters(matrices))
    widths = {matrix.value.shape[1] for matrix in matrices if matrix.role is roles.HIDDEN}
    if len(widths) == 1 and roles.FFN_OUTPUT in by_role:
        taken = by_role[roles.HIDDEN].records[0].inputs[0].shape[1]
        hidden, out = (by_role[each].value.shape[1] for each in (roles.HIDDEN, roles.FFN_OUTPUT))
        yield (f"The width of a token's vector: {taken} → {hidden} → {out}.",)
    if roles.W_U in by_role and survey.trace.scenario.is_tied:
        yield (
            by_role[roles.W_U].symbol,
            " is the transposed table of embeddings, so its numbers are counted there.",
        )
    if logits and logits.value.shape[0] > 1:
        tokens, words = logits.value.shape
        products = (roles.UNSCALED_LOGITS, roles.UNCAPPED_LOGITS, roles.LOGITS)
        cost = next(by_role[role].multiply_adds for role in products if role in by_role)
        fills_in = survey.trace.scenario.fills_in
        of_one = "one token's word, its" if fills_in else "the next word, the last token's"
        yield (
            f"To predict only {of_one} row [1, {words}] is enough: "
            f"{cost // tokens:,} multiply-adds instead of {cost:,}.",
        )
    times = matrices[0].times
    if times > 1:
        cost = sum(matrix.multiply_adds for matrix in matrices)
        normed = sum(matrix.parameters for matrix in matrices if matrix.part == "norms")
        of_norm = f", {normed:,} of them in the norm," if normed else ""
        yield (
            f"Each of these {times} layers has {parameters:,} parameters here{of_norm} and takes "
            f"{cost:,} multiply-adds; all {times} have {parameters * times:,} and take "
            f"{cost * times:,}.",
        )


# --- totals --------------------------------------------------------------------------------------


def _totals(survey: Survey) -> Iterator[doc.Block]:
    rows = [
        (name.replace(".", " "), f"{learned:,}", f"{cost:,}")
        for name, (learned, cost) in survey.parts.items()
    ]
    whole = ("all", _counted(survey.parameters), _counted(survey.multiply_adds))
    yield doc.Table.of(("part", "parameters", "multiply-adds"), (*rows, whole), len(rows))
    if survey.multiply_adds:
        yield doc.Paragraph((f"All products together take {2 * survey.multiply_adds:,} FLOPs.",))
    yield from map(doc.Paragraph, _parameters(survey))
    yield from map(doc.Paragraph, _growth(survey))


def _parameters(survey: Survey) -> Iterator[doc.Sentence]:
    """Say where most parameters are, and compare a layer's with round numbers."""
    learned = {name: parameters for name, (parameters, _) in survey.parts.items()}
    most = max(learned, key=learned.__getitem__, default="")
    if len(learned) > 1 and list(learned.values()).count(learned[most]) == 1:
        share = "most are" if 2 * learned[most] > survey.parameters else "the largest part is"
        part = IN_SENTENCES.get(most, f"the {most}")
        yield (f"Of the {survey.parameters:,} parameters {share} in {part}: {learned[most]:,}.",)
    if survey.frozen:
        others = survey.parameters - survey.frozen
        cause = " and ".join(names_of(each.role for each in survey.matrices if each.role.frozen))
        begin = f"{cause[0].upper()}{cause[1:]} freezes {survey.frozen:,} parameters"
        yield (f"{begin}; the other {others:,} can learn.",)
    layers = survey.outline.layers
    if len(layers) != 1:
        return
    number = len(layers[0])
    of_layer = {name: learned[name] // number for name in LAYER_PARTS if learned.get(name)}
    decoder = "decoder " if survey.trace.scenario.encodes else ""
    whose = f"{'Each' if number > 1 else 'The'} {decoder}layer"
    for name, number_of in of_layer.items():
        if name != "norms" and round(number_of / MILLION):
            yield (f"{whose}'s {name} has {number_of:,} parameters{_near(number_of)}.",)
    attentions = [of_layer[name] for name in LAYER_PARTS[:2] if name in of_layer]
    if len(attentions) == 2 and "FFN" in of_layer:
        both, ffn = sum(attentions), of_layer["FFN"]
        than = "as many as" if both == ffn else "more than" if both > ffn else "fewer than"
        yield (f"Attention and cross-attention together have {both:,}, {than} the FFN.",)
    yield (f"{whose} has {sum(of_layer.values()):,} parameters in all.",)
    if survey.active < survey.parameters:
        yield (f"At most {survey.active:,} of all parameters act on each token.",)


IN_SENTENCES = {
    "positions": "the table of positions",
    "encoder.embeddings": "the embeddings of the encoder",
    "encoder.positions": "the encoder's table of positions",
    "encoder": "the layers and norms of the encoder",
    "attention": "attention",
    "cross-attention": "cross-attention",
}
"""A part inside a sentence, where that is not `the` and its name."""


def _near(count: int) -> str:
    """`, about 2.4 million`."""
    tenths = round(10 * count / MILLION)
    return f", about {tenths / 10:,.1f} million" * (tenths * MILLION != 10 * count)


def _growth(survey: Survey) -> Iterator[doc.Sentence]:
    stay, twice, four_times = (survey.by_degree[power] for power in (0, 1, 2))
    n, lacking = survey.length, survey.not_for_first
    stay, twice = stay + lacking, twice - lacking
    double = "about twice" if lacking or (survey.states and n == 1) else "twice"
    parts = []
    if four_times:
        what = f"{four_times:,} multiply-adds of queries with keys and of weights with values"
        parts.append(f"the {what} become four times as many")
    if twice:
        what = f"{twice:,} others" if parts else f"the {twice:,} multiply-adds become"
        parts.append(f"{what} {double} as many")
    if stay and parts:
        what = " and ".join(_staying(survey))
        parts.append(f"but {stay:,}, for {what}, do not change")
    if parts:
        yield (f"With {_tokens(2 * n)} instead of {n:,}, {', '.join(parts)}.",)
    if lacking:
        yield (f"The first token takes {lacking:,} fewer, because there is no state before it.",)
    if four_times:
        yield _squared_terms(survey)


def _squared_terms(survey: Survey) -> doc.Sentence:
    """How much the terms with the square of the length are of the total, at most or from where."""
    terms = "the terms that grow with the square of the length are"
    positions, half = survey.trace.scenario.positions, _half(survey)
    context = len(positions.table) if positions and positions.table is not None else half
    if half <= context:
        return (f"From {_tokens(half)} on, {terms} more than half of the total.",)
    longer = Fraction(context, survey.length)
    grown = {power: cost * longer**power for power, cost in survey.by_degree.items()}
    share = grown[2] / sum(grown.values())
    rounded = round_half_away(Decimal(share.numerator) / share.denominator, 2)
    most = f"With {_tokens(context)}, the most that it can read, {terms} "
    return (most, doc.Percent(Number(rounded)), " of the total.")


def _staying(survey: Survey) -> Iterator[str]:
    if any(each.multiply_adds for each in survey.matrices if each.place.encoder):
        yield "the encoder"
    of_parameters = (each for each in survey.matrices if each.role.of_parameters)
    yield from names_of(each.role for each in of_parameters if not each.place.encoder)
    if survey.cached[1]:
        yield "the keys and values of the encoder's tokens"


def _half(survey: Survey) -> int:
    """The fewest tokens n with q n² > l n + s, where what grows is counted for all tokens."""
    n = survey.length
    stay, linear, square = (survey.by_degree[power] for power in (0, 1, 2))
    # square · m² > linear · m · n + stay · n²
    under_root = (linear * n) ** 2 + 4 * square * stay * n * n
    if under_root < 0:
        return 1
    root = isqrt(under_root)
    return (linear * n + root) // (2 * square) + 1


def _memory(survey: Survey) -> Iterator[doc.Block]:
    per_token, crossed = survey.cached
    writes = not survey.trace.scenario.fills_in  # else nothing is cached
    kept = {
        "parameters": survey.parameters,
        "cache, for each token": per_token,
        "cache, states": survey.states,
        "cache, for the encoder": crossed,
        f"cache, {_tokens(survey.length)}": survey.cache,
    }
    rows = (
        (name, f"{number:,}", *(f"{number * size:,}" for size in NUMBER_TYPES.values()))
        for name, number in kept.items()
        if name == "parameters" or (number and writes)
    )
    types = " or ".join(f"{name} ({size})" for name, size in NUMBER_TYPES.items())
    yield doc.Paragraph((f"Bytes, with each number stored as {types}:",))
    yield doc.Table.of(("what", "numbers", *NUMBER_TYPES), rows)
    for part in lesson_parts():
        if part.memory and (said_of := part.memory(survey.trace.scenario)):
            yield doc.Paragraph(said_of)
    if per_token and not survey.trace.scenario.looks_ahead:
        words = cached_words(survey.trace, states=False)
        spared = joined([(each,) for each in words])
        added = f" are not recomputed for each generated token; each token adds {per_token:,}"
        said: doc.Sentence = ("With a cache, ", *spared, f"{added} numbers to it.")
        if replaced := survey.replaced(by_states=False):
            own = joined([(each,) for each in words if each != KEYS_AND_VALUES])
            said = (*said, " Keys and values in place of ", *own, f" would add {replaced:,}.")
        yield doc.Paragraph(said)
    if survey.states:
        size, each = survey.states, survey.replaced(by_states=True)
        states = joined([(word,) for word in state_words(survey.trace)])
        yield doc.Paragraph(
            (
                *("The ", *states),
                f" have {count(size, 'number')}, whatever the number of tokens. Keys and values "
                f"in their place would have {each:,} for each token: from "
                f"{_tokens(size // each + 1)} on, they would be more.",
            )
        )


# --- words ---------------------------------------------------------------------------------------


def written_shape(shape: Sequence[int]) -> str:
    """`[1, 8, 768]`."""
    return f"[{', '.join(map(str, shape))}]"


def _counted(number: int) -> str:
    return f"{number:,}" if number else NONE


def _tokens(number: int) -> str:
    return f"{number:,} token{'s' * (number != 1)}"
