"""What a loss means: beside it the loss of guessing evenly, and that of counting pairs of words."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from decimal import Decimal

from tracer.decoder.elementwise import DivideByRowSum
from tracer.decoder.forward import Trace
from tracer.decoder.loss import NO_TARGET, ROLES, positions_with_target, targets_of
from tracer.decoder.operations import MeanOf, SumOf
from tracer.decoder.roles import LOSS, PROBABILITIES, TARGET, TOKEN_LOSS
from tracer.errors import Problem, TracerError
from tracer.formula import expression as ex
from tracer.formula.evaluation import relation, value
from tracer.formula.numbers import round_half_away, trimmed
from tracer.lesson import document as doc
from tracer.lesson.context import after
from tracer.lesson.entries import number
from tracer.names import distinct

MOST_BARS = 24
"""The most positions whose losses are drawn."""
MOST_DIGITS = 28
"""The most digits of a difference that are all printed."""
MOST_PAIRS = 12
"""The most rows of the table of pairs."""

PAIRS: doc.Sentence = (
    "The simplest model to compare with counts which words follow each word in the batch, and "
    "takes their shares as its probabilities:",
)
BACK: doc.Sentence = (
    "The backward pass begins at the logits. The gradient of a position's loss is the probability "
    "minus t, which is 1 for the correct word and 0 for every other word. For the correct word and "
    "the most probable other one ",
)
OF_LOGITS = ex.Chain(
    (
        ex.Partial(ex.Symbol("z"), ex.Symbol("ℓ")),
        ex.Difference(ex.Symbol("p"), ex.Symbol("t")),
    ),
    ("=",),
)
"""∂ℓ/∂z = p - t (softmax and cross-entropy together)."""
RAISES: doc.Sentence = (
    "A small step against this gradient raises the logit of the correct word and lowers all "
    "others.",
)
ALWAYS_THE_SAME: doc.Sentence = (
    "In the batch, each word is always followed by the same word. A model that only counts such "
    "pairs has the loss 0 on it.",
)


def loss_meaning(trace: Trace, token: int | None = None) -> Iterator[doc.Block]:
    """The loss, that at a token, that at each position as bars, and what it is compared with."""
    loss = trace[ROLES[trace.scenario.loss.kind].loss.name]
    over, counted = "", _counted(trace)
    if counted > 1:
        over = f", the {trace.scenario.loss.reduction} over {counted} positions"
    yield doc.Paragraph(("The loss ", ex.LOSS, " is ", number(trace.pencil, loss, ()), f"{over}."))
    if token is not None:
        yield doc.Paragraph(_loss_at(trace, token))
    yield from _guessing(trace)
    yield from _bars(trace)
    yield from _pairs(trace)


def _loss_at(trace: Trace, token: int) -> doc.Sentence:
    """Return the loss at a token, counted from 0.

    Raises:
        TracerError: it has no target.
    """
    losses, name = trace[ROLES[trace.scenario.loss.kind].token.name], distinct(trace.tokens)[token]
    with_target = positions_with_target(trace.scenario)
    if token not in with_target:
        raise TracerError(Problem(f"{name!r} has no target", address="--token"))
    row = token if losses.shape[0] == len(trace.tokens) else with_target.index(token)
    said: doc.Sentence = (
        "The loss at ",
        doc.Name(name),
        " is ",
        number(trace.pencil, losses, (row,)),
    )
    if trace.scenario.loss.kind == "cross_entropy":
        said = (*said, "; the correct word is ", doc.Name(str(trace[TARGET.name].numbers[token])))
    return (*said, ".")


def compared_losses(trace: Trace) -> Iterator[doc.Block]:
    """The loss of guessing evenly, and of a batch that of a model that counts pairs of words."""
    yield from _guessing(trace)
    yield from _pairs(trace)


def where_it_goes_back(trace: Trace) -> Iterator[doc.Block]:
    """The gradient at the logits, of the loss at the last position with a target."""
    probabilities = trace.values.get(PROBABILITIES.name)
    if not probabilities or not _counted(trace) or trace.scenario.loss.smoothing:
        return
    if not isinstance(trace.producers[probabilities].operation, DivideByRowSum):
        return  # it is given
    targets, words = trace[TARGET.name].numbers, probabilities.axes[1].labels
    asked = [i for i, target in enumerate(targets) if target != NO_TARGET]
    row = asked[-1]
    shares = list(probabilities.read_computed(row))
    correct = words.index(targets[row])
    others = [i for i in range(len(words)) if i != correct]
    is_certain = number(trace.pencil, probabilities, (row, correct)).value >= 1
    if not others or is_certain or min(shares) <= 0:
        return
    likeliest = max(others, key=shares.__getitem__)
    who = doc.Name(distinct(trace.tokens)[row])
    yield doc.Paragraph((*BACK, f"{after(trace.scenario)} ", who, ":"))
    yield doc.Formula(OF_LOGITS)
    yield doc.Working(
        tuple(
            _difference(words[i], number(trace.pencil, probabilities, (row, i)), int(i == correct))
            for i in (correct, likeliest)
        )
    )
    yield doc.Paragraph(RAISES)


def _difference(word: str, share: ex.Number, target: int) -> doc.Line:
    """`la: 0.021 - 0 = 0.021`; a result of too many digits is rounded."""
    difference = ex.Difference(share, ex.Number.of(target))
    result, _ = value(difference)
    if len(result.as_tuple().digits) > MOST_DIGITS:
        result = trimmed(round_half_away(result, MOST_DIGITS))
    sides = (difference, ex.Number(result))
    return doc.Line(word, ex.Chain(sides, (relation(*sides),)))


def _counted(trace: Trace) -> int:
    """How many positions the cross-entropy of words is of; 0 for another loss, or a given one."""
    operation = trace.producers[trace[ROLES[trace.scenario.loss.kind].loss.name]].operation
    if trace.scenario.loss.kind != "cross_entropy" or not isinstance(operation, MeanOf | SumOf):
        return 0
    return len(operation.counted)


def _guessing(trace: Trace) -> Iterator[doc.Block]:
    """Say what the loss, and the perplexity, of guessing evenly would be."""
    words, counted = len(trace.scenario.vocabulary or ()), _counted(trace)
    if words < 2 or not counted:
        return
    factor = counted if trace.scenario.loss.reduction == "sum" else 1
    even = factor * Decimal(words).ln()
    logarithm = ex.Call("ln", (ex.Number.of(words),))
    product = ex.Product((ex.Number.of(factor), logarithm))
    own_loss = number(trace.pencil, trace[LOSS.name], ())
    does = "better" if own_loss.value < even else "worse"
    if own_loss.value == round_half_away(even, own_loss.places):
        does = "no better"
    said: doc.Sentence = (
        f"Guessing evenly among the {words} words of the vocabulary would give ",
        *(product if factor > 1 else logarithm, " ≈ ", _rounded(even, trace)),
        f": the model does {does}.",
    )
    yield doc.Paragraph(said)


def _bars(trace: Trace) -> Iterator[doc.Bars]:
    """The loss at each position of the worked example, and that of guessing evenly."""
    if not _counted(trace):
        return
    losses, targets = trace[TOKEN_LOSS.name], trace[TARGET.name].numbers
    asked = positions_with_target(trace.scenario)
    if not 1 < len(asked) <= MOST_BARS:
        return
    tokens = distinct(trace.tokens)
    rows = asked if losses.shape[0] == len(targets) else range(len(asked))
    bars = [
        doc.Bar(f"{tokens[i]} → {targets[i]}", number(trace.pencil, losses, (row,)))
        for i, row in zip(asked, rows, strict=True)
    ]
    even = Decimal(len(trace.scenario.vocabulary or ())).ln()
    bars.append(doc.Bar("guessing evenly", _rounded(even, trace)))
    figure = doc.Figure(f"{trace.name}.losses", "The loss at each position")
    yield doc.Bars(tuple(bars), figure)


def _pairs(trace: Trace) -> Iterator[doc.Block]:
    """How often each word follows another in the batch, and the loss of a model of these shares."""
    is_mean = _counted(trace) and trace.scenario.loss.reduction == "mean"
    if not is_mean or len(trace.scenario.training) < 2 or trace.scenario.fills_in:
        return
    followers = _followers(trace)
    counts = [(word, after, n) for word, of in followers.items() for after, n in of.most_common()]
    if len(counts) == len(followers):
        yield doc.Paragraph(ALWAYS_THE_SAME)
        return
    rows = [
        (word, after, f"{n} of {followers[word].total()}") for word, after, n in counts[:MOST_PAIRS]
    ]
    yield doc.Paragraph(PAIRS)
    yield doc.Table.of(("word", "next word", "how often"), rows)
    total = Decimal(0)
    for word, _, n in counts:
        total -= n * (Decimal(n) / followers[word].total()).ln()
    loss = _rounded(total / sum(n for *_, n in counts), trace)
    left_out = f"The table shows the first {MOST_PAIRS} of {len(counts)} pairs. "
    more = left_out if len(counts) > MOST_PAIRS else ""
    yield doc.Paragraph((f"{more}On the batch, this model has the loss ", loss, "."))


def _followers(trace: Trace) -> dict[str, Counter[str]]:
    """The next words of each word in the batch, with how often each follows it."""
    followers: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for example in trace.scenario.training:
        targets: Sequence[str | None] = targets_of(trace.scenario.reading_example(example))
        for token, target in zip(example.tokens, targets, strict=True):
            if target is not None:
                followers[token][target] += 1
    return followers


def _rounded(exact: Decimal, trace: Trace) -> ex.Number:
    return ex.Number(round_half_away(exact, trace.scenario.rounding.decimals))
