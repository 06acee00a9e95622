"""What is said of a text and its tokens: each form with its check.

The pieces are walked through with their merges, as the JSON has both.
"""

from __future__ import annotations

from collections import Counter

from tests.helpers.judge import Check, Judge, Said
from tests.helpers.learned_merges import recounted


def shown(text: str) -> str:
    """Spaces at the ends as ␣."""
    ahead = len(text) - len(text.lstrip(" ")) if text.strip(" ") else len(text)
    behind = len(text) - ahead - len(text.strip(" "))
    return "␣" * ahead + text.strip(" ") + "␣" * behind


def merges(at: Judge) -> list[list[str]]:
    """Piece, rank, left, right and joined of each."""
    found: list[list[str]] = at.values["text.merges"]["data"] if "text.merges" in at.values else []
    return found


def spelled(at: Judge, piece: str) -> list[str]:
    """The characters of a piece; one that the corpus does not have is unknown."""
    corpus = at.spec.get("corpus")
    known = set(piece) if corpus is None else set("".join(corpus))
    return [character if character in known else "[UNK]" for character in piece]


def symbols(at: Judge) -> list[list[str]]:
    """What each piece is when its merges are done: of those alike the leftmost first."""
    pieces = [spelled(at, piece) for piece in at.values["text"]["data"]]
    for number, _, left, right, joined in merges(at):
        piece = pieces[int(number) - 1]
        i = next(i for i in range(len(piece)) if piece[i : i + 2] == [left, right])
        assert joined == left + right
        piece[i : i + 2] = [joined]
    assert [symbol for piece in pieces for symbol in piece] == at.tokens
    return pieces


def followed(at: Judge) -> int:
    """The place of the followed token's piece, counted from 0."""
    owners = [number for number, piece in enumerate(symbols(at)) for _ in piece]
    return owners[at.followed]


def of_its_piece(at: Judge, said: Said) -> None:
    number = followed(at)
    piece = at.values["text"]["data"][number]
    own = [merge for merge in merges(at) if int(merge[0]) == number + 1]
    assert said["piece"] == shown(piece) and len(piece) > 1
    if "begins" not in said:
        assert own == [] and symbols(at)[number] == spelled(at, piece)
        return
    assert said["begins"] == shown("·".join(spelled(at, piece))) and own
    if "some" in said:
        assert int(said["some"]) < len(own) == int(said["all"])
    else:
        assert len(own) <= 24


def of_other_pieces(at: Judge, said: Said) -> None:
    pieces = at.values["text"]["data"]
    own = pieces[followed(at)]
    others = {(pieces[int(m[0]) - 1], *m[1:]) for m in merges(at) if pieces[int(m[0]) - 1] != own}
    alike = [m for m in merges(at) if pieces.index(pieces[int(m[0]) - 1]) == int(m[0]) - 1]
    number = sum(pieces[int(m[0]) - 1] != own for m in alike)
    assert others and number >= len(others)
    assert int(said["some"]) < int(said["all"]) == number if "some" in said else number <= 24


def in_numbers(at: Judge, said: Said) -> None:
    assert int(said["bytes"]) == len("".join(at.values["text"]["data"]).encode())
    assert int(said["tokens"]) == len(at.tokens)
    known = [token for token in at.tokens if "corpus" not in at.spec or token != "[UNK]"]
    by_length = sorted({len(token.encode()) for token in known}, reverse=True)
    longest = {token for token in known if len(token.encode()) == by_length[0]}
    clear = len(longest) == 1 < len(by_length)
    assert clear == ("longest" in said)
    if clear:
        assert (said["longest"], int(said["wide"])) == (shown(*longest), by_length[0])


def unknown(at: Judge, said: Said) -> None:
    corpus = set("".join(at.spec["corpus"]))
    characters = dict.fromkeys(c for c in "".join(at.values["text"]["data"]) if c not in corpus)
    first, *others = characters
    assert said["first"] == first and int(said.get("others", 0)) == len(others)


def learned(at: Judge) -> list[tuple[str, str, Counter[tuple[str, str]]]]:
    """The merges with the counts of all pairs."""
    return recounted({w: int(n) for w, n in at.spec["corpus"].items()}, int(at.spec["merges"]))


def learned_pair(at: Judge, said: Said) -> None:
    left, right, counts = learned(at)[int(said["rank"]) - 1]
    most = max(counts.values())
    assert (said["left"], said["right"], int(said["times"])) == (left, right, most)
    tied = sum(each == most for each in counts.values())
    assert tied == int(said["tied"] or 1)


def counted(at: Judge, said: Said) -> None:
    numbers = [len(counts) for _, _, counts in learned(at)]
    assert (
        int(said["all"]) in numbers and int(said["all"]) > 8 if "all" in said else min(numbers) < 9
    )


def symbols_in_all(at: Judge, said: Said) -> None:
    letters = set("".join(at.spec["corpus"]))
    made = {left + right for left, right, _ in learned(at)}
    assert (int(said["letters"]), int(said["made"])) == (len(letters), len(made))


CLAIMS: dict[str, Check] = {
    "The tokens around the followed one, of {all:int} in all:": lambda at, said: (
        int(said["all"]) == len(at.tokens) > 24
    ),
    "“{piece:name}” starts as “{begins:name}”. Its merges in order:": of_its_piece,
    "“{piece:name}” starts as “{begins:name}”. Its merges in order, the first {some:int} of {all:int}:": of_its_piece,
    "“{piece:name}” remains split into single symbols: no merge joins two of them.": of_its_piece,
    "The merges in the other pieces:": of_other_pieces,
    "The merges in the other pieces, the first {some:int} of {all:int}:": of_other_pieces,
    "{bytes:int} byte[s] {:is|are} encoded as {tokens:int} token[s].": in_numbers,
    "{bytes:int} byte[s] are encoded as {tokens:int} token[s]; the longest is “{longest:name}”, with {wide:int} byte[s].": in_numbers,
    r"“{first:name}” does not occur in the corpus: the token is \[UNK\].": unknown,
    r"“{first:name}” and {others:int} other character[s] do not occur in the corpus: the token is \[UNK\].": unknown,
    "Merge {rank:int} joins “{left:name}” and “{right:name}”, which are neighbors {times:int} time[s].[ Of {tied:int} pairs with this count, it is the first in the corpus.]": learned_pair,
    "The counts of the pairs:": counted,
    "The counts of the pairs, the 8 largest of {all:int}:": counted,
    "The corpus has {letters:int} character[s]; the merges add {made:int} merged symbol[s].": symbols_in_all,
}
