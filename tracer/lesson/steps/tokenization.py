"""Text and tokens: the pieces of a text, and the merges in each of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from tracer.decoder.roles import TEXT, TEXT_MERGES, TOKEN_IDS
from tracer.formula.expression import Symbol
from tracer.formula.numbers import round_half_away, visible_places
from tracer.lesson import document as doc
from tracer.lesson.context import LessonContext
from tracer.lesson.steps.kind import RoleText, Step, StepKind
from tracer.names import count
from tracer.tokenization.bpe import Merge, Method, merged
from tracer.tokenization.tokenization import UNKNOWN, Piece, Tokenization

MOST_ROWS, MOST_CHARACTERS = 24, 60
"""Limits for the tables of a long text: rows, and characters of a cell."""

DECIMALS = 3
"""Of a score."""

BETWEEN = "·"
"""Stands between symbols that are not joined."""


def _merged_text(step: Step, ctx: LessonContext) -> list[doc.Block]:
    """The tokens with their pieces; the merges, those of the followed token's piece first."""
    tokenization = ctx.trace.scenario.tokenization
    assert tokenization
    pieces = [piece for piece in tokenization.pieces for _ in piece.tokens]
    followed = pieces[ctx.token]
    shown = {record.output.role for record in step.records}
    others = _others(followed, tokenization) if TEXT_MERGES in shown else ()
    if TEXT not in shown:
        return [*others]
    tables = (*_tokens(step, ctx, pieces), *_followed(followed, tokenization), *others)
    return [*tables, *doc.paragraphs(_unknown(tokenization), _in_numbers(tokenization))]


def _tokens(step: Step, ctx: LessonContext, pieces: Sequence[Piece]) -> Iterator[doc.Block]:
    """A row for each token, of too many for those around the followed one."""
    first = max(0, min(ctx.token - MOST_ROWS // 2, len(pieces) - MOST_ROWS))
    shown = range(first, min(first + MOST_ROWS, len(pieces)))
    ids = ctx.value(step.place, TOKEN_IDS)
    columns = {
        "position": [str(i + 1) for i in shown],
        "piece": [shortened(pieces[i].text) for i in shown],
    }
    if any(not pieces[i].text.isascii() for i in shown):
        columns["its bytes"] = [shortened(_bytes(pieces[i])) for i in shown]
    if ids:
        columns["id"] = [str(int(ids.numbers[i])) for i in shown]
    columns["token"] = [shortened(ctx.trace.tokens[i]) for i in shown]
    if len(shown) < len(pieces):
        around = f"The tokens around the followed one, of {len(pieces)} in all:"
        yield doc.Paragraph((around,))
    rows = zip(*columns.values(), strict=True)
    yield doc.Table.of(columns, rows, ctx.token - first)


def _bytes(piece: Piece) -> str:
    """Return the bytes of a piece in hexadecimal, or — for ASCII."""
    return "—" if piece.text.isascii() else piece.content.hex(" ")


def _followed(piece: Piece, tokenization: Tokenization) -> Iterator[doc.Block]:
    """Show a piece after each of its merges."""
    name, merges = doc.Name(shortened(piece.text)), piece.merges
    if tokenization.method == "unigram":
        yield from _scores(piece, tokenization)
        return
    if len(piece.symbols) == 1:
        return  # there is nothing to be joined
    if tokenization.method == "longest":
        yield doc.Paragraph((name, " is split into ", doc.Name(_then(piece, 0, tokenization)), "."))
        return
    if not merges:
        yield doc.Paragraph(
            (name, " remains split into single symbols: no merge joins two of them.")
        )
        return
    rows = [
        (*_joined(merge, tokenization), _then(piece, done, tokenization))
        for done, merge in enumerate(merges[:MOST_ROWS], 1)
    ]
    joined: doc.Sentence = (name, " starts as ", doc.Name(_then(piece, 0, tokenization)))
    of_many = "" if len(rows) == len(merges) else f", the first {len(rows)} of {len(merges)}"
    yield doc.Paragraph((*joined, f". Its merges in order{of_many}:"))
    yield doc.Table.of(("rank", "left", "right", "the piece then"), rows)


def _scores(piece: Piece, tokenization: Tokenization) -> Iterator[doc.Block]:
    """Show the scores of a piece's tokens."""
    rows = [
        (shortened(tokenization.read(symbol)), _rounded(tokenization.scores[symbol]))
        for symbol in piece.symbols[:MOST_ROWS]
        if symbol in tokenization.scores
    ]
    if piece.text and rows:
        yield doc.Paragraph(("The scores of its tokens:",))
        yield doc.Table.of(("token", "score"), rows)


def _rounded(score: float) -> str:
    number = Decimal(repr(score))
    return f"{round_half_away(number, visible_places(number, DECIMALS)):f}"


def _joined(merge: Merge, tokenization: Tokenization) -> tuple[str, ...]:
    """The rank of a merge, and the two symbols that it joins."""
    symbols = (shortened(tokenization.read(symbol)) for symbol in (merge.left, merge.right))
    return (str(merge.rank), *symbols)


def _then(piece: Piece, done: int, tokenization: Tokenization) -> str:
    """The symbols of a piece when so many of its merges are done."""
    symbols = merged(piece.symbols, piece.merges[:done])
    return shortened(BETWEEN.join(map(tokenization.read, symbols)))


def _others(followed: Piece, tokenization: Tokenization) -> Iterator[doc.Block]:
    """The merges of all other pieces, of each only once."""
    pieces = [piece for piece in dict.fromkeys(tokenization.pieces) if piece != followed]
    merges = [(piece, merge) for piece in pieces for merge in piece.merges]
    rows = [
        (
            shortened(piece.text),
            *_joined(merge, tokenization),
            shortened(tokenization.read(merge.joined)),
        )
        for piece, merge in merges[:MOST_ROWS]
    ]
    if rows:
        of_many = "" if len(rows) == len(merges) else f", the first {len(rows)} of {len(merges)}"
        yield doc.Paragraph((f"The merges in the other pieces{of_many}:",))
        yield doc.Table.of(("piece", "rank", "left", "right", "joined"), rows)


def _unknown(tokenization: Tokenization) -> doc.Sentence:
    """Name the characters that the corpus does not have; a trained model has no corpus here."""
    if tokenization.ids:
        return ()
    unknown = dict.fromkeys(
        character
        for piece in tokenization.pieces
        for character, symbol in zip(piece.text, piece.symbols, strict=False)
        if symbol == UNKNOWN
    )
    if not unknown:
        return ()
    first, *others = unknown
    of_more = f" and {count(len(others), 'other character')}" if others else ""
    are = "do" if others else "does"
    return (doc.Name(first), f"{of_more} {are} not occur in the corpus: the token is [UNK].")


def _in_numbers(tokenization: Tokenization) -> doc.Sentence:
    """Say how many bytes became how many tokens, and the longest token if no other is as long."""
    read = sum(len(piece.content) for piece in tokenization.pieces)
    made = [token for piece in tokenization.pieces if piece.text for token in piece.tokens]
    are = "is" if read == 1 else "are"
    numbers = f"{count(read, 'byte')} {are} encoded as {count(len(made), 'token')}"
    # A token for unknown characters does not contain them.
    known = {
        token.content
        for piece in tokenization.pieces
        for token in piece.tokens
        if token.symbol != UNKNOWN and token.content in piece.content
    }
    longest, *others = sorted(known, key=len, reverse=True) or [b""]
    if tokenization.method == "longest":  # whose tokens are not all parts of the text
        return (f"{numbers}.",)
    if not others or len(others[0]) == len(longest):
        return (f"{numbers}.",)
    name = shortened(next(token.text for token in made if token.content == longest))
    return (f"{numbers}; the longest is ", doc.Name(name), f", with {count(len(longest), 'byte')}.")


def shortened(text: str) -> str:
    """Return a name, shortened if it is too long for a page."""
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}…"


WHY_MERGES: doc.Sentence = (
    "A vocabulary of whole words is never complete, because there are always new names and "
    "misspellings; single letters would make every text long. Merges are learned from texts, the "
    "most frequent pairs first, so that a frequent word becomes one token and a rare word becomes "
    "several known tokens.",
)

WHY_TOKENS: doc.Sentence = (
    "A vocabulary of whole words is never complete, because there are always new names and "
    "misspellings; single letters would make every text long. The scores are learned from texts, "
    "so that a frequent word becomes one token and a rare word becomes several known tokens.",
)
BY_RANK: doc.Sentence = (
    "The text is split into pieces. In each piece, the pair of neighboring symbols that comes "
    "first in the list of merges is joined. This is repeated until no pair is in the list; the "
    "symbols that remain are the tokens.",
)
BY_SCORE: doc.Sentence = (
    "Spaces are symbols like all other characters. The pair of neighboring symbols whose joined "
    "token has the highest score in the vocabulary is joined. This is repeated until no joined "
    "pair is in the vocabulary; the symbols that remain are the tokens. Rank 1 is the highest "
    "score.",
)


BY_SUM: doc.Sentence = (
    "Each token of the vocabulary has a score, the logarithm of its probability. Of all ways to "
    "write a piece of the text with tokens, the one with the largest sum of scores is chosen.",
)
WHY_PIECES: doc.Sentence = (
    "A vocabulary of whole words is never complete, because there are always new names and "
    "misspellings; single letters would make every text long. The vocabulary is learned from "
    "texts, so that a frequent word becomes one token and a rare word becomes several known "
    "tokens.",
)


def _by_length(prefix: str) -> doc.Sentence:
    """Return how WordPiece chooses tokens, of which those inside a piece have a prefix."""
    return (
        "The text is split into pieces. From left to right, the longest token of the vocabulary "
        "is taken from the piece until nothing is left; a token that does not begin a piece "
        "starts with ",
        doc.Name(prefix),
        ". A piece that cannot be written in this way becomes one token for unknown pieces.",
    )


GOALS: Mapping[Method, doc.Sentence] = {
    "merges": BY_RANK,
    "scores": BY_SCORE,
    "unigram": BY_SUM,
}
REASONS: Mapping[Method, doc.Sentence] = {"unigram": WHY_TOKENS, "longest": WHY_PIECES}
"""Why a vocabulary is what it is, if it was not learned as merges."""


def _method(ctx: LessonContext) -> Method:
    tokenization = ctx.trace.scenario.tokenization
    return tokenization.method if tokenization else "merges"


def _goal(step: Step, ctx: LessonContext) -> doc.Sentence:
    tokenization = ctx.trace.scenario.tokenization
    if tokenization and tokenization.method == "longest":
        return _by_length(tokenization.prefix)
    return GOALS[_method(ctx)]


def _reasons(step: Step, ctx: LessonContext) -> tuple[doc.Sentence, ...]:
    return (REASONS.get(_method(ctx), WHY_MERGES),)


TOKENIZATION_STEP = StepKind(
    "tokenization",
    "Text and tokens",
    "the text split into pieces, their symbols joined to tokens",
    _goal,
    {TEXT: RoleText(Symbol("text")), TEXT_MERGES: RoleText(Symbol("merges"))},
    gradient=None,
    sign=None,
    reasons=_reasons,
    outcome=_merged_text,
)

KINDS = (TOKENIZATION_STEP,)
