"""Passes in which some values are those of another pass (activation patching).

Vig et al. 2020 (heads), Meng et al. 2022 (tokens and layers), Wang et al. 2023.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np

from tracer.console import progress
from tracer.decoder import roles
from tracer.decoder.comparison import Comparison
from tracer.decoder.forward import EarlierPasses, PassOptions, Trace, arithmetic_of, trace
from tracer.decoder.lazy import Patch
from tracer.decoder.routing import refusal
from tracer.decoder.value import Value, has_token_rows
from tracer.errors import Located, Problem, TracerError
from tracer.names import distinct, name_text


@dataclass(frozen=True)
class Site:
    """A value of the first pass, or one token's row of it, that the second pass replaces."""

    value: Value
    token: int | None = None
    """The token's position in the first text, counted from 0."""

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
    first = comparison.first
    options = PassOptions(patches=patches, located=located)
    return trace(first.name, first.scenario, options, earlier=EarlierPasses(unpatched=first))


def without(found: Trace, value: Value) -> Trace:
    """Return the pass with a value at 0 for all tokens (ablation).

    Raises:
        TracerError: no result follows.
    """
    zeros = arithmetic_of(found.scenario).array(np.full(value.shape, Decimal(0)))
    other = Value(value.role, value.place, value.address, zeros, value.axes, value.form, zeros)
    options = PassOptions(patches={value.address: Patch(other, None)})
    return trace(found.name, found.scenario, options, earlier=EarlierPasses(unpatched=found))


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
            message = f"{_shape(value)} in the first run and {_shape(other)} in the second"
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


def _shape(value: Value) -> str:
    return "×".join(map(str, value.shape)) or "one number"


@dataclass(frozen=True)
class Effect:
    """How much of the difference between the two answers a patch restores.

    m is the logit of the second pass's word minus that of the first's; the effect is
    (m_patched − m_first) / (m_second − m_first).
    """

    site: Site
    share: float


def sweep(comparison: Comparison, sites: Sequence[Site], located: Located = tuple) -> list[Effect]:
    """Return the effect of each site alone, the largest first.

    Raises:
        TracerError: a site cannot be patched, or no result follows.
    """
    found = []
    for done, site in enumerate(sites):
        progress.report(site.value.address, done, len(sites))
        found.append(Effect(site, effect(comparison, patched(comparison, [site], located))))
    return sorted(found, key=lambda each: -each.share)


def effect(comparison: Comparison, run: Trace) -> float:
    """Return the share of the difference of the two answers that a patched pass restores."""
    ours, theirs, new = map(comparison.margin, (comparison.first, comparison.second, run))
    return (new - ours) / (theirs - ours)


@dataclass(frozen=True)
class Experiment:
    """What is computed of two passes; `names` are those of the runs.

    `patched` is the first pass with the second's numbers at `sites`, `effects` are those of a
    sweep, the largest first.
    """

    comparison: Comparison
    names: tuple[str, str]
    sites: Sequence[Site] = ()
    patched: Trace | None = None
    effects: Sequence[Effect] = ()


def heads(comparison: Comparison) -> Iterator[Site]:
    """Yield the output of each head."""
    for record in comparison.first.records:
        if record.output.role is roles.HEAD_OUTPUT:
            yield Site(record.output)


def layers(comparison: Comparison) -> Iterator[Site]:
    """Yield the followed token's row of the output of each layer, by default the last's."""
    first = comparison.first
    token = range(len(first.tokens))[comparison.followed[0]]
    for value in outputs_of_layers(first).values():
        yield Site(value, token)


def tokens(comparison: Comparison) -> Iterator[Site]:
    """Yield the input row of each token that has a counterpart."""
    value = comparison.first.values.get(roles.INPUT.name)
    if value is None:
        message = "this scenario has no input vectors to patch; try heads"
        raise TracerError(Problem(message, address="--sweep"))
    for token, _ in comparison.tokens.pairs:
        yield Site(value, token)


def outputs_of_layers(found: Trace) -> dict[int, Value]:
    """Return the last value of each layer of the decoder, by the layer's number."""
    return {
        place.layer: record.output
        for record in found.records
        if (place := record.output.place).layer and not place.encoder and place.sub_layer != "lens"
    }
