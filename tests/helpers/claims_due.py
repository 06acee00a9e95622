"""What has to be said of a step: where the numbers carry a claim, silence is a fault.

The judge decides on its own; each name is that of the check of the sentence that is due.
"""

from __future__ import annotations

from tests.helpers.claims_of_blocks import is_the_whole, is_touched, moves_the_maximum
from tests.helpers.claims_of_learning import says_what_a_weight_means
from tests.helpers.claims_of_lora import says_that_nothing_is_added
from tests.helpers.claims_of_reasons import partly_given
from tests.helpers.claims_of_steps import share_of
from tests.helpers.judge import UNNAMED, Judge, Row, number


def due(at: Judge) -> str | None:
    """The claim that the numbers of a section carry, if they carry one."""
    name = at.address.rpartition(".")[2]
    if at.address in at.values and not at.address.startswith("gradient.") and partly_given(at):
        return None if at.made["as_in"] or at.pinned(at.address) else "a phrase"
    if at.address not in at.values or at.pinned(at.address) or "unmasked" in at.address:
        return None
    if at.tokens[at.followed] == at.padding:
        return None
    if ".router." in at.address and not at.address.startswith("gradient."):
        return "goes_to" if name == "weights" else None
    positions = at.result["axes"][0].get("positions") if at.result["axes"] else None
    if positions is not None and at.followed + 1 not in positions:
        return "raised" if says_what_a_weight_means(at) else None
    if at.address.startswith("gradient."):
        return "raised" if says_what_a_weight_means(at) else None
    if ".latent" in at.address:
        return None  # Its columns have no names.
    for names, check in DUE.items():
        if name in names.split() and (asked := check(at)):
            return asked
    return None


def _labels_read_out(at: Judge) -> str | None:
    if "cross_attention" in at.address and not at.address.endswith("query"):
        return None  # they are the encoder's
    row = at.row(at.result)
    clear = row.clear()
    named = clear and not UNNAMED.fullmatch(row.labels[clear[0]])
    return "labels_read_out" if named and number(row.shown[clear[0]]) > 0 else None


def _best_key(at: Judge) -> str | None:
    row = at.row(at.result)
    seen = at.seen(row)
    return "best_key" if seen and row.clear(seen) else None


def _hidden(at: Judge) -> str | None:
    said = len(at.tokens) > 1 and (at.hidden() or at.only_hides())
    return "hidden" if said else None


def _shares(at: Judge) -> str | None:
    row = at.row(at.result)
    seen = at.seen(row)
    clear = row.clear(seen) if seen else []
    shown = [number(row.shown[i]) for i in clear]
    if not shown:
        return None
    # Shares that print as more than all are not spoken of.
    told = share_of(at, clear[0]) > 0.999 if shown[0] == 1 else sum(shown) <= 1
    return "shares" if told else None


def _relu(at: Judge) -> str | None:
    hidden = at.row(at.near("hidden"))
    bends = at.result["operation"] == "relu"
    return "relu" if bends and len(hidden.data) > 1 and any(hidden.data) else None


def _changes(at: Judge) -> str | None:
    change = at.result["operands"][1]
    row = at.row(at.values[change])
    sizes = Row(row.labels, list(map(abs, row.data)), [x.removeprefix("-") for x in row.shown])
    return "changes" if sizes.clear() and not at.pinned(change) else None


def _extremes(at: Judge) -> str | None:
    row = at.row(at.result)
    return "extremes" if row.clear() and row.clear(sign=-1) else None


def _compared(at: Judge) -> str | None:
    if at.address != "output" or at.typed or at.pinned("input") or not at.layers:
        return None
    before, after = at.row(at.values["input"]), at.row(at.result)
    clear = before.clear()
    named = clear and not UNNAMED.fullmatch(before.labels[clear[0]])
    return "compared" if named and before.labels == after.labels and after.clear() else None


def _logit(at: Judge) -> str | None:
    return "logit" if at.row(at.result).clear() else None


def _prediction(at: Judge) -> str | None:
    probabilities = at.values["probabilities"]
    said = at.row(probabilities).clear() and not at.pinned("probabilities")
    return "prediction" if said else None


def _nothing_added(at: Judge) -> str | None:
    return "nothing_added" if says_that_nothing_is_added(at) else None


MOST, NOT_ALL = 0.6, 0.9
"""The share of a sum from which on a part is its main one, far from any rounding."""


def _main_source(at: Judge) -> str | None:
    """Whether most of the largest number comes from one part of its sum."""
    if at.result["operation"] != "matmul" or ".block" in at.address:
        return None
    spec = at.scenario
    if spec.get("rounding", {}).get("trailing_zeros") == "trim":  # a 1 may stand for 1.00
        return None
    row = at.row(at.result)
    largest = row.clear()[:1] if len(row.data) > 1 else [0]
    if not largest or UNNAMED.fullmatch(row.labels[largest[0]]):
        return None
    parts = at.parts(at.result, largest[0])
    whole, bias = sum(parts), len(at.result["operands"]) - 2
    sources = parts[: len(parts) - bias]
    large = whole > 100 * 10.0 ** -at.rounding["decimals"]
    main = [part for part in sources if MOST * whole < part < NOT_ALL * whole]
    return "main_source" if large and min(parts) >= 0 and main else None


def _of_blocks(at: Judge) -> str | None:
    """What is owed of a block; its row of the output is a sum before it is divided."""
    if at.address.endswith(".blocks.output"):
        return "all_blocks" if is_the_whole(at) or not is_touched(at) else None
    return "maximum" if ".block" in at.address and moves_the_maximum(at) else None


DUE = {
    "query key value": _labels_read_out,
    "scores": _best_key,
    "W_Q W_K W_V W_O W_1 W_2 W_3": _nothing_added,
    "masked": _hidden,
    "weights": _shares,
    "activation": _relu,
    "residual": _changes,
    "norm": _extremes,
    "output": lambda at: _of_blocks(at) or _compared(at) or _main_source(at),
    "logits": _logit,
    "prediction": _prediction,
}
"""By the last names of addresses."""

CLAIMS = (
    *("labels_read_out", "best_key", "hidden", "shares", "relu", "changes", "extremes", "compared"),
    *("logit", "prediction", "main_source", "goes_to", "maximum", "all_blocks"),
)
"""All that may be due."""
