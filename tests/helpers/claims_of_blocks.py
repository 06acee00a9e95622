"""What is said of a softmax in blocks: each form with its check."""

from __future__ import annotations

import re
from typing import Any

from tests.helpers.claims_of_reasons import part_of, partly_given
from tests.helpers.judge import Check, Judge, Said, listed, number, told_apart


def of_head(at: Judge, name: str) -> Any:
    """A value of the head that a block belongs to, or None."""
    return at.values.get(re.sub(r"\.blocks?\d*\.output$", f".{name}", at.address))


def of_block(at: Judge, name: str, back: int = 0) -> Any:
    """A value of the section's block, or of one so many before."""
    place, block = re.fullmatch(r"(.+\.block)(\d+)\.output", at.address).groups()  # type: ignore[union-attr]
    return at.values.get(f"{place}{int(block) - back}.{name}")


def of_row(at: Judge, value: Any) -> tuple[float, str]:
    """The followed token's number of a column, and how it is printed."""
    row = at.followed - (len(at.tokens) - len(value["data"]))
    return number(str(value["data"][row])), value["printed"][row]


def keys(at: Judge) -> list[list[str]]:
    """The keys of each block: as even as possible, the larger blocks first."""
    names = told_apart(of_head(at, "weights")["axes"][1]["labels"])
    blocks = min(int(part_of(at)["blocks"]), len(names))
    size, more = divmod(len(names), blocks)
    sizes = [size + 1] * more + [size] * (blocks - more)
    return [names[sum(sizes[:i]) : sum(sizes[: i + 1])] for i in range(blocks)]


def _has_its_keys(at: Judge, said: Said) -> None:
    block = re.search(r"\.block(\d+)\.output$", at.address)
    assert block and said["block"] == block[1] and not partly_given(at)
    own = keys(at)[int(block[1]) - 1]
    assert said["keys"] == listed(own) and (said["noun"] == "key") == (len(own) == 1)


def first(at: Judge, said: Said) -> None:
    _has_its_keys(at, said)
    symbols = [of_block(at, name)["symbol"] for name in ("max", "sum", "output")]
    assert [said[name] for name in "mlo"] == symbols


def later(at: Judge, said: Said) -> None:
    _has_its_keys(at, said)
    assert said["m"] == of_block(at, "max")["symbol"]
    assert said["factor"] == of_block(at, "factor")["symbol"]


def moves_the_maximum(at: Judge) -> bool:
    """Whether a block changes the maximum as far as its digits show, or certainly leaves it.

    Of scores that are equal as floats, Decimals may tell which one is larger.
    """
    new, shown = of_row(at, of_block(at, "max"))
    before = of_block(at, "max", back=1)
    if before is None or new == -float("inf"):
        return new == -float("inf")
    old, old_shown = of_row(at, before)
    own = [number(str(score)) for score in at.row(of_block(at, "scores")).data]
    return old_shown != shown or max(own) < old


def maximum(at: Judge, said: Said) -> None:
    assert said["who"] == at.who and not partly_given(at)
    new, shown = of_row(at, of_block(at, "max"))
    if said.get("which") == "so far":
        assert new == -float("inf")
        return
    old, old_shown = of_row(at, of_block(at, "max", back=1))
    assert (old == -float("inf")) == ("which" in said) and new > -float("inf")
    if "which" not in said:
        assert (said["m"], said["f"]) == (shown, of_row(at, of_block(at, "factor"))[1])
        assert said.get("old", shown) == old_shown and ("old" in said) == (new > old)


def is_the_whole(at: Judge) -> bool:
    """Whether the result prints as that of the whole softmax."""
    return bool(at.result["printed"] == of_head(at, "output")["printed"])


def is_touched(at: Judge) -> bool:
    """Whether a number is given in the head."""
    head = at.address.removesuffix("blocks.output")
    return any(address.startswith(head) for address in at.spec.get("given", {}))


def all_blocks(at: Judge, said: Said) -> None:
    whole = of_head(at, "output")
    assert at.address.endswith(".blocks.output") and said["o"] == whole["symbol"]
    pairs = zip(_numbers(at.result), _numbers(whole), strict=True)
    furthest = max(abs(a - b) for a, b in pairs)
    if "x" not in said:
        assert furthest == 0
        return
    assert not is_touched(at) and furthest > 0
    assert abs(number(said["x"]) - furthest) < 1e-9 * abs(furthest)


def _numbers(value: Any) -> list[float]:
    return [number(shown) for row in value["printed"] for shown in row]


CLAIMS: dict[str, Check] = {
    "The same result can be computed from one block of keys after the other. Block {block:1} has the {noun:keys?} of {keys:“.+?”}. Its largest score {m} is subtracted, the exponentials are added up to {l}, and {o} is the sum of the values, each multiplied by its exponential.": first,
    "Block {block:int} has the {noun:keys?} of {keys:“.+?”}. The sum and the output of the blocks before are multiplied by {factor:name}, so that their exponentials, too, are relative to the maximum {m}.": later,
    "FlashAttention (Dao et al. 2022) computes attention in blocks so that it never stores the scores of all keys at once: its memory does not grow with the square of the number of tokens.": lambda at, _: (
        ".block" in at.address and part_of(at)["blocks"]
    ),
    "For “{who:name}”, the maximum stays {m}: the factor is {f}.": maximum,
    "For “{who:name}”, the maximum rises from {old} to {m}: the sum and the output of the blocks before are multiplied by {f}.": maximum,
    "Every key {which:so far|of the blocks before} is masked for “{who:name}”.": maximum,
    "All numbers are equal to those of {o}, computed without blocks.": all_blocks,
    "Without rounding, all numbers would be equal to those of {o}. As printed, they differ by at most {x}.": all_blocks,
}
