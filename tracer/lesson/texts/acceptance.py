"""How a drafted word is drawn, accepted or rejected: worked lines of exact decimals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from tracer.decoder.pencil import Pencil
from tracer.decoder.shares import Overlap, Shares, intervals
from tracer.decoder.speculation import Check, Last
from tracer.errors import InternalError
from tracer.formula import expression as ex
from tracer.formula.evaluation import relation, total_of, value
from tracer.formula.numbers import trimmed
from tracer.lesson import document as doc
from tracer.lesson.context import listed

MOST_WORDS, SHOWN = 12, 8
"""So many words are shown; of more, the most probable ones."""
MOST_NAMED = 3
"""So many words whose rounded probability is changed are named."""

U, P, Q, R, ALPHA = (ex.Symbol(name) for name in ("u", "p", "q", "r", "α"))
MIN = ex.Call("min", (P, Q))
REST = ex.Difference(ex.Number.of(1), ALPHA)


class AcceptanceWriter:
    """Writes the draws and the checks of a round with the digits of a pencil."""

    def __init__(self, pencil: Pencil, target: str, draft: str, *, full: bool = True) -> None:
        """`target` and `draft` are the models' names; with `full`, the reasons are given."""
        self.pencil, self.full = pencil, full
        self.target, self.draft = doc.Name(target), doc.Name(draft)

    def number(self, exact: Decimal) -> ex.Number:
        """A number with all its digits, as the pencil writes them."""
        exponent = exact.as_tuple().exponent
        assert isinstance(exponent, int)
        return ex.Number(self.pencil.printed(exact, max(0, -exponent)))

    # --- draws -----------------------------------------------------------------------------------

    def draw(self, symbol: ex.Symbol, shares: Shares, word: str, draw: Decimal) -> list[doc.Block]:
        """The probabilities that a word is drawn from, and which one a random number selects."""
        words = list(shares.numbers)
        shown = words if len(words) <= MOST_WORDS else words[:SHOWN]
        cells = tuple(self.number(shares.numbers[each]) for each in shown)
        blocks: list[doc.Block] = [doc.Matrix(symbol, ("",), tuple(shown), (cells,))]
        blocks += self._others(shares.numbers, shown)
        blocks += self.adjusted(("these probabilities",), shares)
        blocks += self._running_sums(shares.numbers, word, "Their running sums:")
        blocks.append(doc.Working((doc.Line(None, ex.Chain((U, ex.Number(draw)), ("=",))),)))
        selects = ("The random number is ", ex.Number(draw), ": it selects ", doc.Name(word), ".")
        return [*blocks, doc.Paragraph(selects)]

    def adjusted(self, what: doc.Sentence, shares: Shares) -> Iterator[doc.Block]:
        """Say which rounded probabilities are changed, so that the sum is 1."""
        if not shares.added:
            return
        words, amounts = list(shares.added), sorted(set(shares.added.values()), key=abs)
        total: doc.Sentence = ("Rounded, ", *what, " sum to ", self.number(shares.rounded), ", so ")
        more = " more" if amounts[0] > 0 else " less"
        by = self.number(abs(amounts[0]))
        if len(amounts) > 1:
            larger = [word for word, amount in shares.added.items() if amount != amounts[0]]
            n, each = (f"{len(larger)} ", " each") if len(larger) > 1 else ("", "")
            ones: doc.Sentence = (f", and the {n}most probable {'ones' if n else 'one'} ",)
            last = (*ones, self.number(abs(amounts[-1])), f"{each}.")
            yield doc.Paragraph((*total, "each of these words gets ", by, more, *last))
            return
        most = (f"the {len(words):,} most probable words",)
        names = listed(words) if len(words) <= MOST_NAMED else most
        several = len(words) > 1
        gets = (" get " if several else " gets ", by, more, " each." if several else ".")
        yield doc.Paragraph((*total, *names, *gets))

    def _others(self, numbers: Mapping[str, Decimal], shown: Sequence[str]) -> Iterator[doc.Block]:
        """Say what the words that are not shown have together."""
        left = [word for word in numbers if word not in shown]
        if left:
            total = self.number(total_of(numbers[word] for word in left))
            has = " other word has " if len(left) == 1 else " other words have together "
            yield doc.Paragraph((f"The {len(left):,}{has}", total, "."))

    def _running_sums(
        self, numbers: Mapping[str, Decimal], word: str, caption: str
    ) -> Iterator[doc.Block]:
        """The running sums; of many words, up to the one that is drawn, or only its own."""
        every = list(intervals(numbers))
        last = next(i for i, (each, _, _) in enumerate(every) if each == word)
        shown = every if len(every) <= MOST_WORDS else every[: last + 1]
        if len(shown) > MOST_WORDS:
            shown = every[last : last + 1]
            before = self.number(shown[0][1])
            yield doc.Paragraph(
                (f"The {last:,} words before ", doc.Name(word), " have together ", before, ".")
            )
        elif len(shown) > 1:
            yield doc.Paragraph((caption,))
        yield doc.Working(
            tuple(
                self.line(each, ex.Sum((self.number(before), self.number(number))), end)
                for each, before, end in shown
                for number in [numbers[each]]
            )
        )

    def line(
        self, label: str | None, left: ex.Expression, right: Decimal, *names: ex.Expression
    ) -> doc.Line:
        """A line of exact numbers: `label: names = left = right`.

        Raises:
            InternalError: the sides are not equal.
        """
        result = self.number(right)
        if relation(left, result) != "=":
            raise InternalError(f"its line comes to {value(left)[0]}, not {right}", label or "")
        sides = (*names, result) if left == result else (*names, left, result)
        equal: tuple[ex.Relation, ...] = ("=",)
        return doc.Line(label, ex.Chain(sides, equal * (len(sides) - 1)))

    # --- a check ---------------------------------------------------------------------------------

    def check(self, check: Check, overlap: Overlap, draw: Decimal) -> Iterator[doc.Block]:
        """The table of p and q, the decision, the residual, and that the sum is p."""
        word = check.draft.word
        said = (self.draft, " drafted ", doc.Name(word), ". At its position, ", self.target)
        yield doc.Paragraph((*said, " has the probabilities p:"))
        shown = self._shown(overlap, word)
        yield self._table(overlap, shown, word)
        yield from self.adjusted(("the probabilities ", P), overlap.p)
        yield from self._decision(check, overlap, draw)
        yield from self._alpha(overlap, shown)
        yield from self._residual(overlap, shown)

    def _shown(self, overlap: Overlap, word: str) -> list[str]:
        words = overlap.words
        if len(words) <= MOST_WORDS:
            return list(words)
        order = sorted(words, key=lambda x: max(overlap.p.of(x), overlap.q.of(x)), reverse=True)
        found = order[:SHOWN]
        return found if word in found else [*found, word]

    def _table(self, overlap: Overlap, shown: Sequence[str], word: str) -> doc.Table:
        def row(label: str, words: Sequence[str]) -> tuple[str | doc.Cell, ...]:
            columns = (overlap.q.of, overlap.p.of, overlap.common, overlap.left)
            return (label, *(self.number(total_of(map(column, words))) for column in columns))

        rows = [row(each, [each]) for each in shown]
        others = [each for each in overlap.words if each not in shown]
        if others:
            rows.append(row(f"{len(others):,} others", others))
        header = ("word", "q", "p", "min(p, q)", "p - min(p, q)")
        return doc.Table.of(header, rows, shown.index(word))

    def _decision(self, check: Check, overlap: Overlap, draw: Decimal) -> Iterator[doc.Block]:
        word = doc.Name(check.draft.word)
        p, q = overlap.p.of(check.draft.word), overlap.q.of(check.draft.word)
        if self.full:
            ratio = ex.Call("min", (ex.Number.of(1), ex.Quotient(P, Q)))
            yield doc.Paragraph(
                (
                    *(
                        "A drafted word is accepted with the probability ",
                        ratio,
                        ": if the random ",
                    ),
                    *("number ", U, " is less than ", ex.Quotient(P, Q), ", which means that "),
                    *(ex.Product((U, Q)), " is less than ", P, "."),
                )
            )
        scaled = trimmed(draw * q)
        product = ex.Product((ex.Number(draw), self.number(q)))
        lines = [doc.Line(None, ex.Chain((U, ex.Number(draw)), ("=",)))]
        lines.append(self.line(None, product, scaled, ex.Product((U, Q))))
        yield doc.Working(tuple(lines))
        less = " is less than " if check.accepted else " is not less than "
        verdict = "accepted" if check.accepted else "rejected"
        yield doc.Paragraph(
            (self.number(scaled), less, self.number(p), ", so ", word, f" is {verdict}.")
        )

    def _terms(self, numbers: Mapping[str, Decimal], shown: Sequence[str]) -> ex.Expression:
        """The sum of the numbers of words; those that are not shown are one term."""
        positive = {word: number for word, number in numbers.items() if number}
        terms: list[ex.Expression] = [self.number(positive[x]) for x in shown if x in positive]
        left = [number for word, number in positive.items() if word not in shown]
        if left:
            terms.append(ex.Rest(len(left), self.number(total_of(left))))
        if len(terms) < 2:
            return terms[0] if terms else ex.Number.of(0)
        return ex.Sum(tuple(terms))

    def _alpha(self, overlap: Overlap, shown: Sequence[str]) -> Iterator[doc.Block]:
        common = {word: overlap.common(word) for word in overlap.words}
        if self.full:
            yield doc.Paragraph(
                (
                    *("Over all words that can be drafted, the probability of an acceptance is "),
                    *(ALPHA, ", the sum of ", MIN, ":"),
                )
            )
        alpha = self.line(None, self._terms(common, shown), overlap.alpha, ALPHA)
        one = ex.Number.of(1)
        rest = self.line(None, ex.Difference(one, self.number(overlap.alpha)), overlap.rest, REST)
        yield doc.Working((alpha, rest))

    def _residual(self, overlap: Overlap, shown: Sequence[str]) -> Iterator[doc.Block]:
        """The residual distribution, and the sum that is p."""
        rest = self.number(overlap.rest)
        if not overlap.rest:
            yield doc.Paragraph(
                (
                    P,
                    " and ",
                    Q,
                    " are equal, so no draft is rejected and each word keeps its ",
                    P,
                    ".",
                )
            )
            return
        if self.full:
            yield doc.Paragraph(
                (
                    "After a rejection, a word is drawn from the residual distribution ",
                    R,
                    ":",
                )
            )
        formula = ex.Quotient(ex.Difference(P, MIN), REST)
        yield doc.Formula(ex.Chain((R, formula), ("=",)))
        places = overlap.p.places
        lines = []
        for word in (word for word in shown if overlap.left(word)):
            quotient = ex.Quotient(self.number(overlap.left(word)), rest)
            rounded = ex.Number(self.pencil.printed(value(quotient)[0], places))
            lines.append(
                doc.Line(word, ex.Chain((quotient, rounded), (relation(quotient, rounded),)))
            )
        yield doc.Working(tuple(lines))
        if self.full:
            yield doc.Paragraph(
                (
                    "A word is written if it is drafted and accepted, or if it is drawn after a "
                    "rejection. Together, these have exactly its probability ",
                    *(P, ":"),
                )
            )
        total = ex.Sum((MIN, ex.Product((R, REST))))
        yield doc.Formula(ex.Chain((total, P), ("=",)))
        yield doc.Working(tuple(self._sum(overlap, word, rest) for word in shown))

    def _sum(self, overlap: Overlap, word: str, rest: ex.Number) -> doc.Line:
        common, left = self.number(overlap.common(word)), self.number(overlap.left(word))
        drawn = ex.Product((ex.Quotient(left, rest), rest))
        return self.line(word, ex.Sum((common, drawn)), overlap.p.of(word))

    def after_rejection(self, last: Last, overlap: Overlap, draw: Decimal) -> Iterator[doc.Block]:
        """Which word a random number selects from what is left of p."""
        residual = overlap.residual
        if self.full:
            yield doc.Paragraph(
                (
                    *(
                        "The word is drawn from ",
                        R,
                        ". Instead of dividing each ",
                        ex.Difference(P, MIN),
                    ),
                    *(" by ", REST, ", the random number is multiplied by it."),
                )
            )
        yield from self._running_sums(residual, last.word, "The running sums of p - min(p, q):")
        scaled = trimmed(draw * overlap.rest)
        product = ex.Product((ex.Number(draw), self.number(overlap.rest)))
        yield doc.Working(
            (
                doc.Line(None, ex.Chain((U, ex.Number(draw)), ("=",))),
                self.line(None, product, scaled, ex.Product((U, REST))),
            )
        )
        yield doc.Paragraph(
            ("The product is ", self.number(scaled), ": it selects ", doc.Name(last.word), ".")
        )
