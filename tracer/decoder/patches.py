"""Passes in which some values are those of another pass (activation patching).

Vig et al. 2020 (heads), Meng et al. 2022 (tokens and layers), Wang et al. 2023.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal, TypeAlias

import numpy as np

from tracer.decoder.column_means import column_means
from tracer.decoder.comparison import Comparison
from tracer.decoder.forward import EarlierPasses, PassOptions, Trace, arithmetic_of, trace
from tracer.decoder.lazy import Patch
from tracer.decoder.replay import can_replay, replay
from tracer.decoder.routing import refusal
from tracer.decoder.value import Value, has_token_rows
from tracer.errors import Located, Problem, TracerError
from tracer.names import distinct, name_text, shape_text

Source: TypeAlias = Literal["second pass", "zeros", "means"]
"""Where the numbers of a patch are from; means are those over the tokens of the first pass."""


@dataclass(frozen=True)
class Site:
    """A value of the first pass, or one token's row of it, that other numbers replace."""

    value: Value
    token: int | None = None
    """The token's position in the first text, counted from 0."""
    source: Source = "second pass"

    @property
    def name(self) -> str:
        """The address, with the token if there is one: `layer1.ffn.output[Alex]`."""
        if self.token is None:
            return self.value.address
        token = distinct(self.value.axes[0].labels)[self.token]
        return f"{self.value.address}[{name_text(token)}]"


def patched(comparison: Comparison, sites: Sequence[Site], located: Located = tuple) -> Trace:
    """Return the first pass with the second's numbers at the sites.

    Values that do not depend on them are those of the first pass.

    Raises:
        TracerError: the second pass has no such value or token, or other kinds of numbers; or no
            result follows.
    """
    kinds = tuple(run.scenario.arithmetic for run in (comparison.first, comparison.second))
    if kinds[0] != kinds[1]:
        message = f"the first run computes with {kinds[0]}, the second with {kinds[1]}"
        raise TracerError(Problem(f"{message}, so its numbers cannot be patched"))
    problems, patches = list[Problem](), dict[str, Patch]()
    for site in sites:
        try:
            _add(patches, comparison, site)
        except TracerError as error:
            problems += error.problems
    if problems:
        raise TracerError(*problems)
    return _with_patches(comparison.first, patches, located)


def without(found: Trace, value: Value) -> Trace:
    """Return the pass with a value at 0 for all tokens (ablation).

    Raises:
        TracerError: no result follows.
    """
    return _with_patches(found, {value.address: Patch(_ablated(found, Site(value)), None)})


def _with_patches(found: Trace, patches: Mapping[str, Patch], located: Located = tuple) -> Trace:
    """Return the pass with patches at these addresses."""
    if can_replay(found, patches):
        return replay(found, patches)
    options = PassOptions(patches=patches, located=located)
    return trace(found.name, found.scenario, options, earlier=EarlierPasses(unpatched=found))


def _ablated(found: Trace, site: Site) -> Value:
    """Return the value of a site with zeros, or with the mean over the tokens in each row.

    Raises:
        TracerError: it has no row for each token, which a mean needs.
    """
    value = site.value
    numbers = arithmetic_of(found.scenario).array(np.full(value.shape, Decimal(0)))
    if site.source == "means":
        means = column_means(value, found)
        if means is None:
            raise TracerError(Problem("it has no row for each token", address=value.address))
        numbers = numbers + means
    return Value(value.role, value.place, value.address, numbers, value.axes, value.form, numbers)


def _add(patches: dict[str, Patch], comparison: Comparison, site: Site) -> None:
    """Add a site to the patches; rows of the same value are patched together."""
    address = site.value.address
    new = _patch(comparison, site)
    before = patches.get(address, new)
    if new.rows is not None and before.rows is not None:
        new = replace(new, rows=tuple(dict(before.rows + new.rows).items()))
    elif before.rows is None:
        new = before  # the whole value is patched already
    patches[address] = new


def _patch(comparison: Comparison, site: Site) -> Patch:
    value, other = site.value, comparison.second.values.get(site.value.address)
    if site.source != "second pass":
        return Patch(_ablated(comparison.first, site), None)

    def refused(message: str) -> TracerError:
        return TracerError(Problem(message, address=value.address))

    if other is None:
        raise refused("the second run has no such value")
    if value.role.words:
        raise refused("these are words, which cannot be patched")
    if message := refusal(value, "patch"):
        raise refused(f"{message} instead")
    if site.token is None:
        if value.shape == other.shape:
            return Patch(other, None)
        if not has_token_rows(value) or value.shape[1:] != other.shape[1:]:
            ours, theirs = shape_text(value.shape), shape_text(other.shape)
            message = f"{ours} in the first run and {theirs} in the second"
            if value.axes[-1].name == "key":
                message += "; it can be patched only between texts of the same length"
            raise refused(message)
        return Patch(other, comparison.alignment(value).pairs)
    if not has_token_rows(value):
        raise refused("it has no row for each token")
    rows = tuple(pair for pair in comparison.alignment(value).pairs if pair[0] == site.token)
    if not rows:
        token = value.axes[0].labels[site.token]
        raise refused(f"the token {token!r} has no counterpart in the second text")
    if value.shape[1:] != other.shape[1:]:
        raise refused("its rows have different lengths in the two runs")
    return Patch(other, rows)
