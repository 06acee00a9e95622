"""Traces as JSON: every value with its address, operation, operands and labeled axes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any, get_args

import numpy as np

from tracer.data.quote import printed as printed_entry
from tracer.decoder.attribution import AttributedPart, Attribution, attributed
from tracer.decoder.forward import Trace
from tracer.decoder.generation import Generated, GenerationStep
from tracer.decoder.operations import Operation
from tracer.decoder.patches import Site
from tracer.decoder.roles import (
    B_U,
    ENCODER_OUTPUT,
    HEAD_OUTPUT,
    LOSS,
    PARTS,
    PREDICTION,
    PROBABILITIES,
    Place,
)
from tracer.decoder.score_attribution import ScoreAttribution
from tracer.decoder.sweeps import Experiment, Pairs
from tracer.decoder.tape import Record
from tracer.decoder.token_rows import label
from tracer.decoder.training import Training
from tracer.decoder.value import Entry, Index, Value
from tracer.decoder.word_path import WordPath
from tracer.errors import strict_json
from tracer.formula.evaluation import total_of
from tracer.lesson.document import Paragraph
from tracer.lesson.steps.kind import Step
from tracer.lesson.texts.author import Author
from tracer.lesson.texts.cache_kinds import Caches
from tracer.lesson.texts.caches import worked
from tracer.lesson.texts.given_changes import counterpart
from tracer.lesson.texts.listing import ListedValue, listed_values
from tracer.lesson.texts.selection import steps
from tracer.lesson.texts.survey import NUMBER_TYPES, Survey, table_name, table_symbol
from tracer.lesson.texts.symbols import symbols
from tracer.names import distinct
from tracer.renderers.text import text, words

SCHEMA = 1
"""The version of the format; it changes if an old reader would misread the new format."""

MOST_PROBABLE = 20
"""The number of words that a generation step lists with their probabilities."""


def render(
    trace: Trace,
    records: Sequence[Record],
    token: int | None,
    explained: Sequence[Step] = (),
    *,
    whole: bool = False,
    plain: Trace | None = None,
) -> str:
    """The values of `records`, in the order of computation; of one token, if given.

    The token is one of the decoder, unless all values are of the encoder. The author's notes are
    those of the `explained` steps; a `whole` text has the author's intro and summary, too. `plain`
    is the pass without given values of the command line.
    """
    said = _authors_words(trace, explained, whole)
    values = {"values": values_of(trace, records, token)}
    if plain:
        values["without_given"] = _without_given(plain, records, token)
    return strict_json({**header(trace), **said, **values})


def lens(trace: Trace, records: Sequence[Record], path: WordPath) -> str:
    """The values of the lens, and a word at each point: its rank, logit and probability."""
    followed = {
        "token": distinct(trace.tokens)[path.token],
        "word": path.word,
        "points": [
            {
                **{"address": point.value.address, "prediction": point.leader, "rank": point.rank},
                "logit": _number(trace, point.logit),
                "probability": _number(trace, point.probability),
            }
            for point in path.points
        ],
    }
    values = values_of(trace, records, None)
    return strict_json({**header(trace), "values": values, "followed": followed})


def _number(trace: Trace, value: Value) -> dict[str, Any]:
    """A single number, and how it is printed."""
    number = value.numbers[()]
    return {"value": plain_data(number), "printed": printed_entry(trace, value, ())}


def _authors_words(trace: Trace, explained: Sequence[Step], whole: bool) -> dict[str, Any]:
    """What the scenario's author wrote, as plain text with the numbers that are woven in."""
    author, numbers = Author(trace, steps(trace.records)), {step.number for step in explained}
    notes = {
        key: _plain_text(author.note(key)) for key, of in author.unsaid.items() if of & numbers
    }
    texts = {"intro": _plain_text(author.intro()), "summary": _plain_text(author.summary())}
    said = {**(texts if whole else {}), "notes": notes}
    return {name: text for name, text in said.items() if text}


def _plain_text(paragraphs: Sequence[Paragraph]) -> str:
    return "\n\n".join(words(paragraph.parts) for paragraph in paragraphs)


def generated(result: Generated, *, worked: bool, cached: bool) -> str:
    """Return a generated text: each step's input, outputs, word and probabilities.

    With `worked`, each step has all its values; with `cached`, each step after the first has the
    outputs of the new token only.
    """
    turns = [
        {
            "input": list(step.trace.tokens),
            "outputs": list(step.outputs[-1:] if cached and i else step.outputs),
            "word": step.word,
            "probabilities": _probabilities(step),
            **({"values": values_of(step.trace, step.trace.records, None)} if worked else {}),
        }
        for i, step in enumerate(result.steps)
    ]
    first = result.steps[0].trace
    return strict_json({**header(first), "turns": turns, "text": list(result.text)})


def _probabilities(step: GenerationStep) -> list[dict[str, Any]]:
    """Return the most probable next words and the chosen one, the most probable first."""
    if step.word is None:
        return []
    value = step.trace[PROBABILITIES.name]
    words, numbers = value.axes[1].labels, value.numbers[-1].tolist()
    ordered = sorted(range(len(words)), key=lambda i: -numbers[i])
    chosen = [i for i in ordered[MOST_PROBABLE:] if words[i] == step.word]
    return [
        {
            "word": words[i],
            "data": plain_data(numbers[i]),
            "printed": printed_entry(step.trace, value, (value.shape[0] - 1, i)),
        }
        for i in (*ordered[:MOST_PROBABLE], *chosen)
    ]


def attribution(found: Attribution, plain: Trace | None = None) -> str:
    """Return a number and its parts, the largest in size first.

    The number is a logit, a difference of two, or an attention score; `plain` is the pass without
    given values of the command line. The parts and the remainder sum to the value.
    """
    trace = found.trace
    entry = found.entry if found.other is None else Entry(found.attributed, ())
    value = _exact(entry)
    contributions = _pairs(found) if isinstance(found, ScoreAttribution) else _parts(found)
    total = total_of([_exact(each["entry"]) for each in contributions])
    words = distinct(found.entry.value.axes[1].labels)
    return strict_json(
        {
            "schema": SCHEMA,
            "scenario": trace.name,
            "entry": _name(*found.entry),
            "instead_of": None if found.other is None else words[found.other],
            "value": plain_data(value),
            "printed": printed_entry(trace, *entry),
            "parts": [
                {
                    **{key: each[key] for key in ("address", "row", "column", "label")},
                    "value": plain_data(_exact(each["entry"])),
                    "printed": printed_entry(trace, *each["entry"]),
                }
                for each in contributions
            ],
            "remainder": plain_data(total_of([value, -total])),
            **_attributed_without_given(found, plain),
        }
    )


def _parts(found: Attribution) -> list[dict[str, Any]]:
    """The parts of a logit, the largest in size first; of a part that is split, its terms."""
    return sorted(
        (each for part in found.parts for each in _contributions(found, part)),
        key=lambda each: -abs(_exact(each["entry"])),
    )


def _pairs(found: ScoreAttribution) -> list[dict[str, Any]]:
    """The pairs of parts of an attention score, the largest in size first.

    `address` is that of the query part, × and that of the key part; `label` is `embedding of Alex ·
    layer 1, head 2 of Frank`; `row` is the query's token, `column` the key's.
    """
    sides = found.query.components, found.key.components
    row, column = _labels(*found.entry)
    names = found.query.names, found.key.names
    return [
        {
            "address": f"{sides[0][i].address} × {sides[1][j].address}",
            **{"row": row, "column": column},
            "label": f"{names[0][i]} of {row} · {names[1][j]} of {column}",
            "entry": Entry(found.trace[_PARTS], (at,)),
        }
        for at, (i, j) in enumerate(found.pairs)
    ]


def _attributed_without_given(found: Attribution, plain: Trace | None) -> dict[str, Any]:
    """The number in the pass without given values, if there is one."""
    before = counterpart(plain, found.entry.value) if plain else None
    if plain is None or before is None:
        return {}
    value = attributed(plain, Entry(before, found.entry.at), found.other)
    return {"without_given": _number(plain, value)}


def compared(found: Experiment) -> str:
    """The difference of each value of two passes; what they predict; the effects of patches."""
    comparison = found.comparison
    first = comparison.first_difference
    return strict_json(
        {
            "schema": SCHEMA,
            "first_difference": first.first.value.address if first else None,
            "steps": [
                {"address": address, "difference": plain_data(each.largest)}
                for address, each in comparison.differences.items()
            ],
            **_found(found),
        }
    )


def pairs(found: Pairs) -> str:
    """What each pair of texts predicts, with its effects; the means over the pairs."""
    each_of = zip(found.texts, found.experiments, strict=True)
    return strict_json(
        {
            "schema": SCHEMA,
            "pairs": [
                {
                    "first": first,
                    "second": second,
                    "command": f"{found.command} --pair {number}",
                    **_found(experiment),
                    "effect": experiment.effect,
                }
                for number, ((first, second), experiment) in enumerate(each_of, 1)
            ],
            "sweep": [
                {"address": each.name, "mean": each.mean, "spread": each.spread}
                for each in found.mean_effects()
            ],
        }
    )


def _found(found: Experiment) -> dict[str, Any]:
    """Return what two passes predict, and the effects of patches."""
    comparison, patched = found.comparison, found.patched
    return {
        "predictions": [_predicted(each, comparison.predicted(each)) for each in comparison.runs],
        "patched": _predicted(patched, comparison.predicted(patched)) if patched else None,
        "sweep": [
            {"address": _name_of_site(each.site), "effect": each.share} for each in found.effects
        ],
    }


def _name_of_site(site: Site) -> str:
    """Return the name of a value, or of one token's row of it."""
    return _name(site.value, () if site.token is None else (site.token,))


def _name(value: Value, at: Index) -> str:
    """Return the name of an entry or a row; tokens and words are spelled as in all other fields."""
    return f"{value.address}[{','.join(_labels(value, at))}]" if at else value.address


def _labels(value: Value, at: Index) -> list[str]:
    """Return the labels of an entry or a row."""
    return [distinct(axis.labels)[i] for axis, i in zip(value.axes, at, strict=False)]


def _exact(entry: Entry) -> Decimal:
    return Decimal(str(entry.value.numbers[entry.at]))


def _contributions(found: Attribution, part: AttributedPart) -> Iterator[dict[str, Any]]:
    """Yield what a part adds: one entry, or one for each of its terms, with address and label."""
    of, token = part.of, distinct(found.trace.tokens)[found.entry.at[0]]
    row = token if len(of.axes) > 1 else None
    if part.terms is None:
        words = distinct(found.entry.value.axes[1].labels)
        word = words[found.entry.at[1]] if of.role is B_U else None
        named = {"address": of.address, "row": row, "column": word, "label": label(of)}
        yield {**named, "entry": Entry(part.total, (0,))}
        return
    split = found.trace.producers[of].inputs[0] if of.role is HEAD_OUTPUT else of
    for i, column in enumerate(distinct(part.terms.axes[1].labels)):
        named = {"address": split.address, "row": row, "column": column}
        named["label"] = f"{label(of)}, {column}"
        yield {**named, "entry": Entry(part.terms, (0, i))}


def _predicted(found: Trace, logit: Entry | None) -> dict[str, Any] | None:
    """Return a predicted word by its logit; None without a vocabulary."""
    if logit is None:
        return None
    return {
        "word": logit.value.axes[1].labels[logit.at[1]],
        "logit": plain_data(_scalar(logit.value, logit.at)),
        "probability": plain_data(_scalar(found[PROBABILITIES.name], logit.at)),
    }


def _scalar(value: Value, at: tuple[int, ...]) -> Any:
    number = value.numbers[at]
    return number if isinstance(number, Decimal) else float(number)


def contents(trace: Trace, *, every: bool = False, names: bool = False) -> str:
    """The steps with their results; only the shapes of the trace are used.

    With `every`, all values too; with `names`, those with names in other programs.
    """
    listed = [
        {
            "number": step.number,
            "name": step.kind.name,
            "address": step.last.output.address,
            "shape": list(step.last.output.shape),
        }
        for step in steps(trace.records)
    ]
    found: dict[str, Any] = {"schema": SCHEMA, "scenario": trace.name, "steps": listed}
    if every or names:
        shown = (each for each in listed_values(trace) if every or each.has_names)
        found["values"] = [_listed(each, names) for each in shown]
    return strict_json(found)


def _listed(found: ListedValue, names: bool) -> dict[str, Any]:
    value = {
        **{"step": found.step, "address": found.value.address, "symbol": text(found.symbol)},
        "formula": text(found.formula) if found.formula else None,
        "shape": list(found.value.shape),
    }
    others = {"transformer_lens": found.transformer_lens, "hugging_face": found.hugging_face}
    return {**value, **(others if names else {})}


def training(training: Training) -> str:
    """The first step with all its values, and the loss of every pass."""
    first = training.steps[0]
    passes = [
        {
            "step": step,
            **_loss(found),
            "predictions": _predictions(found),
        }
        for step, found in enumerate(training.passes)
    ]
    return strict_json(
        {**header(first), "values": values_of(first, first.records, None), "passes": passes}
    )


def _loss(found: Trace) -> dict[str, Any]:
    """Return the loss and how it is printed; null where gradients are given instead."""
    loss = found.values.get(LOSS.name)
    if loss is None:
        return {"loss": None, "printed": None}
    return {"loss": plain_data(loss.numbers.tolist()), "printed": printed_entry(found, loss, ())}


def _predictions(found: Trace) -> list[str]:
    """Return the predicted words; none without a vocabulary."""
    words = found.values.get(PREDICTION.name)
    return [] if words is None else words.numbers.tolist()


def shapes(survey: Survey, caches: Caches | None = None) -> str:
    """Every matrix, once for all heads and layers that have one like it, the totals, the caches."""
    own, crossed = survey.cached
    tables = [
        {"address": table_name(a), "symbol": text(table_symbol(a)), "shape": list(shape)}
        for a, shape in survey.tables.items()
    ]
    matrices = [
        {
            "address": matrix.place.address(matrix.role),
            "symbol": text(matrix.symbol),
            "step": matrix.step,
            "layers": list(matrix.layers),
            "heads": list(matrix.heads),
            **{network.key: [n.number for n in matrix.networks] for network in matrix.networks[:1]},
            "shape": list(matrix.shape),
            "parameters": matrix.parameters,
            "multiply_adds": matrix.multiply_adds,
        }
        for matrix in survey.matrices
    ]
    parts = {
        name: {"parameters": parameters, "multiply_adds": cost}
        for name, (parameters, cost) in survey.parts.items()
    }
    sizes = {
        kind: {"parameters": survey.parameters * size, "cache": survey.cache * size}
        for kind, size in NUMBER_TYPES.items()
    }
    instead = survey.replaced(by_states=False)
    replaced = {"replaced_per_token": instead} if instead else {}
    if survey.states:
        replaced |= {"states": survey.states}
    routed = survey.active < survey.parameters
    active = {"active_parameters": survey.active} if routed else {}
    return strict_json(
        {
            "schema": SCHEMA,
            "scenario": survey.trace.name,
            "tokens": survey.length,
            "tables": tables,
            "matrices": matrices,
            "parts": parts,
            "parameters": survey.parameters,
            **active,
            "multiply_adds": survey.multiply_adds,
            "cache": {"per_token": own, "encoder": crossed, "all": survey.cache, **replaced},
            "bytes": sizes,
            **({"caches": _caches(caches)} if caches else {}),
        }
    )


def _caches(caches: Caches) -> dict[str, Any]:
    """The caches of kinds of attention; `own` is that of the model."""
    size = caches.bytes_of_number
    kinds = [
        {
            "kind": kind.name,
            "own": kind.name == caches.own,
            "assumed": kind.assumed,
            "formula": kind.formula and text(kind.formula),
            "worked": worked(kind, caches),
            "per_token": {"numbers": kind.per_token, "bytes": kind.per_token * size},
            "bytes": [{"tokens": n, "bytes": kind.of(n) * size} for n in caches.lengths],
        }
        for kind in caches.kinds
    ]
    return {"bytes_of_number": size, "kinds": kinds}


def header(trace: Trace) -> dict[str, Any]:
    """Return what every document begins with: the schema, the name and the rounding."""
    rounding = trace.scenario.rounding
    rounded = {"decimals": rounding.decimals, "carry": rounding.carry.value}
    return {"schema": SCHEMA, "scenario": trace.name, "rounding": rounded}


def values_of(trace: Trace, records: Sequence[Record], token: int | None) -> list[dict[str, Any]]:
    """Return the values of records, all rows or those of one token."""
    named = symbols(trace.records)
    outputs = [record.output for record in records]
    encodes = _encodes(outputs)
    return [
        {
            "address": output.address,
            "symbol": text(named[output.address]),
            "operation": record.operation.name,
            "parameters": _parameters(record.operation),
            "operands": [value.address for value in record.inputs],
            **_labeled(trace, output, token if output.place.encoder == encodes else None),
        }
        for record, output in zip(records, outputs, strict=True)
    ]


def _encodes(outputs: Sequence[Value]) -> bool:
    """Whether all values are the encoder's."""
    return all(o.place.encoder or o.role is ENCODER_OUTPUT for o in outputs)


def _without_given(
    plain: Trace, records: Sequence[Record], token: int | None
) -> list[dict[str, Any]]:
    """The numbers, in the pass without given values, of each value that is another one there."""
    outputs = [record.output for record in records]
    encodes = _encodes(outputs)
    pairs = [(value, counterpart(plain, value)) for value in outputs]
    return [
        {
            "address": value.address,
            "data": before["data"],
            "printed": before["printed"],
        }
        for value, other in pairs
        if other is not None and not np.array_equal(other.numbers, value.numbers)
        for before in [_labeled(plain, other, token if value.place.encoder == encodes else None)]
    ]


_PARTS = Place(phase="attribution").address(PARTS)

ONLY_IF_SET = ("unit_offset", "given_rows", "is_mean", "computed")
"""Parameters without which documents stay as they were before there was such a parameter."""


OPERATIONS = get_args(Operation)


def _parameters(operation: Operation) -> dict[str, Any]:
    """Return the fields of an operation: with its operands they are enough to repeat it."""
    return {
        name: {"operation": parameter.name, "parameters": _parameters(parameter)}
        if isinstance(parameter, OPERATIONS)
        else plain_data(parameter)
        for name, parameter in vars(operation).items()
        if parameter != operation.name and (parameter or name not in ONLY_IF_SET)
    }


def _labeled(trace: Trace, value: Value, token: int | None) -> dict[str, Any]:
    axes: list[dict[str, Any]] = [
        {"name": axis.name, "labels": list(axis.labels)} for axis in value.axes
    ]
    numbers, first = value.numbers, 0
    tower = trace.scenario.encoder if value.place.encoder else None
    tokens = len((tower or trace.scenario).tokens)
    if value.axes and (positions := value.axes[0].positions) is not None:
        axes[0]["positions"] = [tokens + 1 + position for position in positions]
    if token is not None and value.per_token:
        first = value.row(token, tokens) if value.has_row(token, tokens) else len(numbers)
        of_token = slice(first, first + 1)
        rows = {key: axes[0][key][of_token] for key in axes[0] if key != "name"}
        axes[0], numbers = {**axes[0], **rows}, numbers[of_token]
    printed = np.empty(numbers.shape, object)
    for at in np.ndindex(numbers.shape):
        printed[at] = printed_entry(trace, value, (at[0] + first, *at[1:]) if at else ())
    return {
        "axes": axes,
        "shape": list(numbers.shape),
        "data": plain_data(numbers.tolist()),
        "printed": printed.tolist(),
    }


def plain_data(data: Any) -> Any:
    """Decimals as JSON numbers, words as they are; infinite or extreme numbers as strings."""
    match data:
        case list() | tuple():
            return [plain_data(entry) for entry in data]
        case Decimal() | float() if abs(data) == math.inf:
            return "inf" if data > 0 else "-inf"
        case Decimal():
            number = float(data)
            lost = math.isinf(number) or (data and not number)
            return str(data) if lost else int(data) if data == data.to_integral_value() else number
        case _:
            return data
