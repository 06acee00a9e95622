"""The steps of a state that is computed in chunks: their goals, reasons and claims."""

from __future__ import annotations

from dataclasses import replace

from tracer.decoder.operations import Pinned
from tracer.formula import expression as ex
from tracer.lesson import entries
from tracer.lesson.context import LessonContext, listed
from tracer.lesson.document import Sentence
from tracer.lesson.steps.kind import InnerKind, Naming, RoleText, Step
from tracer.parts.recurrent import decoder, decoder_chunks as chunks
from tracer.parts.recurrent.scenario import AttentionKeys
from tracer.scenario.part import keys_of


def _symbol(base: str, below: str = "", caption: str | None = None) -> RoleText:
    """Return the text of a value whose symbol has the number of its chunk, or of its token."""
    return RoleText(lambda n: ex.Symbol(base, below + n.block, n.head), caption)


def _products(naming: Naming) -> ex.Expression:
    return ex.MatrixProduct(naming.inputs[0], ex.Transposed(naming.inputs[1]))


def _product(naming: Naming) -> ex.Expression:
    return ex.MatrixProduct(*naming.inputs)


def _chunk_goal(step: Step, ctx: LessonContext) -> Sentence:
    found = {record.output.role: record for record in step.records}
    keys = found[chunks.CHUNK_KEY].output.axes[0]
    names = [ctx.names[position] for position in keys.positions or ()]
    noun = "token" if len(names) == 1 else "tokens"
    own: Sentence = (f"Chunk {step.place.block} has the {noun} ", *listed(names), ". ")
    first: Sentence = ()
    if step.place.block == 1:
        first = ("The same outputs can be computed from one chunk of tokens after the other. ",)
    state: Sentence = ()
    if chunks.FROM_STATE in found:
        state = ("The queries read the state before the chunk. ",)
    inside = "Inside the chunk, each query is compared with the keys up to its own token."
    return (*first, *own, *state, inside)


PARALLEL: Sentence = (
    "The products inside a chunk do not depend on the state, so that a GPU computes those of all "
    "chunks at once. Only the states follow one after the other.",
)
NO_SOFTMAX: Sentence = (
    "With one chunk of all tokens, no state is needed: this is causal attention whose weights are "
    "the scores themselves, without a softmax.",
)


def _why(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    part = ctx.attention_at(step.place)
    keys = keys_of(part, AttentionKeys) if part else AttentionKeys()
    n = next(r.output.shape[0] for r in step.records if r.output.role is chunks.CHUNK_KEY)
    alone = step.place.block == 1 and n == len(ctx.names)
    if keys.kind == "linear" and keys.gate is None and alone:
        return (NO_SOFTMAX,)
    return () if alone else (PARALLEL,)


CHUNK_STEP = InnerKind(
    "chunk",
    "Chunk",
    "the outputs of one more chunk of tokens",
    _chunk_goal,
    {
        chunks.CHUNK_KEY: _symbol("K", "", "The keys of the chunk:"),
        chunks.CHUNK_VALUE: _symbol("V", "", "The values of the chunk:"),
        chunks.CHUNK_QUERY: _symbol("Q", "", "The queries of the chunk:"),
        chunks.DECAY: _symbol("γ", "", "The product of the gates from the chunk's first token on:"),
        chunks.DECAYS: _symbol("Γ", "", "These products of all tokens of the chunk:"),
        chunks.READING_KEY: _symbol("K̂", "", "The keys, times these products:"),
        chunks.WRITING_KEY: _symbol("K̃", "", "The keys, divided by these products:"),
        chunks.KEY_PRODUCTS: RoleText(_products, "The products of the keys:"),
        chunks.PREDICTED: RoleText(_product, "What the state before the chunk returns:"),
        chunks.ERROR: _symbol("E", "", "The errors of this state:"),
        chunks.OWN_ERROR: _symbol("ε", "", "The error of a token:"),
        chunks.PRODUCTS_OF_ROW: _symbol("p", "", "The products of its key:"),
        chunks.EARLIER_PRODUCTS: _symbol("p′", "", "Those with the keys before it in the chunk:"),
        chunks.EARLIER: _symbol("U′", "", "What the tokens before it in the chunk write:"),
        chunks.CORRECTED: RoleText(_product, "What its key returns of that:"),
        chunks.REST: _symbol("e", "", "The error that is left:"),
        chunks.CORRECTION: _symbol("u", "", "What the token writes for its key:"),
        chunks.CORRECTIONS: _symbol("U", "", "What all tokens of the chunk write:"),
        chunks.READING_QUERY: _symbol("Q̂", "", "The queries, times these products:"),
        chunks.SCORES: RoleText(_products, "The products of queries and keys:"),
        chunks.MASKED: _symbol("A", "", "Without those of later tokens:"),
        chunks.INSIDE: RoleText(_product, "What the queries read of their own chunk:"),
        chunks.FROM_STATE: RoleText(_product, "What the queries read of the state before:"),
        chunks.CHUNK_READ: _symbol("O", "", "The outputs of the chunk:"),
        chunks.WRITTEN: RoleText(
            lambda n: ex.MatrixProduct(ex.Transposed(n.inputs[0]), n.inputs[1]),
            "What the chunk adds to the state:",
        ),
        chunks.WITH_WRITTEN: _symbol("S′", "", "The state with that:"),
        chunks.CHUNK_STATE: _symbol("S", "C", "The state after the chunk:"),
    },
    gradient=None,
    sign=None,
    reasons=_why,
    groups=("recurrent",),
)


def _chunks_claim(step: Step, ctx: LessonContext) -> Sentence | None:
    """Say that the result is that of the recurrence; if not, by how much rounding changes it."""
    whole = ctx.value(step.place, decoder.OUTPUT)
    if whole is None:
        return None
    both = [
        entries.rows(ctx.trace.pencil, value, range(value.shape[0]), range(value.shape[1]))
        for value in (step.last.output, whole)
    ]
    differences = [
        abs(a.value - b.value)
        for mine, others in zip(*both, strict=True)
        for a, b in zip(mine, others, strict=True)
    ]
    symbol = ctx.symbols[whole.address]
    if not any(differences):
        return ("All numbers are equal to those of ", symbol, ", computed token by token.")
    here = [
        r
        for r in ctx.trace.records
        if replace(r.output.place, block=None, token=None) == step.place
    ]
    if any(isinstance(record.operation, Pinned) for record in here):
        return None
    return (
        *(
            "Without rounding, all numbers would be those of ",
            symbol,
            ", computed token by token. ",
        ),
        *("As printed, they differ by at most ", ex.Number(max(differences)), "."),
    )


CHUNKS_STEP = InnerKind(
    "chunks",
    "Outputs of all chunks",
    "what queries read, computed in chunks",
    ("The outputs of all chunks form the rows of one matrix.",),
    {chunks.CHUNKS_OUTPUT: _symbol("O", "chunks")},
    gradient=None,
    sign=None,
    claim=_chunks_claim,
    groups=("recurrent",),
)
