"""Sweeps: many places of a pass, each patched alone, and what each patch does to the answer.

Vig et al. 2020 (heads), Meng et al. 2022 (tokens and layers), Wang et al. 2023 (ablations).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean, stdev
from typing import TypeAlias

from tracer.console import progress
from tracer.decoder import roles
from tracer.decoder.comparison import Comparison
from tracer.decoder.forward import Trace
from tracer.decoder.patches import Site, Source, patched
from tracer.decoder.replay import can_replay, fetch_together
from tracer.decoder.value import Value
from tracer.errors import Located, Problem, TracerError
from tracer.names import count


@dataclass(frozen=True)
class Effect:
    """How much of the difference between the two answers a patch restores.

    m is the logit of the second pass's word minus that of the first's; the effect is
    (m_patched − m_first) / (m_second − m_first).
    """

    site: Site
    share: float


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

    def __repr__(self) -> str:
        first, second = self.names
        return f"<Experiment: {first!r} and {second!r}, {count(len(self.effects), 'effect')}>"

    @property
    def effect(self) -> float | None:
        """The effect of the patch at `sites`, if there is one."""
        return effect(self.comparison, self.patched) if self.patched else None


AT_ONCE = 16
"""So many patched passes are computed together, and kept in memory."""


def sweep(comparison: Comparison, sites: Sequence[Site], located: Located = tuple) -> list[Effect]:
    """Return the effect of each site alone, the largest first.

    Raises:
        TracerError: a site cannot be patched, or no result follows.
    """
    found = list[Effect]()
    for begin in range(0, len(sites), AT_ONCE):
        some = sites[begin : begin + AT_ONCE]
        progress.report(some[0].value.address, begin, len(sites))
        runs = [patched(comparison, [site], located) for site in some]
        if can_replay(comparison.first, {site.value.address for site in some}):
            fetch_together(runs)
        found += [
            Effect(site, effect(comparison, run)) for site, run in zip(some, runs, strict=True)
        ]
    return sorted(found, key=lambda each: -each.share)


def effect(comparison: Comparison, run: Trace) -> float:
    """Return the share of the difference of the two answers that a patched pass restores."""
    ours, theirs, new = map(comparison.margin, (comparison.first, comparison.second, run))
    return (new - ours) / (theirs - ours)


# --- several pairs of passes ---------------------------------------------------------------------


@dataclass(frozen=True)
class MeanEffect:
    """The effects of patches at the same place in several pairs of passes."""

    site: Site
    """The place in the first pair."""
    name: str
    """The address, with the position of the token if it is a token's row."""
    shares: tuple[float, ...]
    """The effect in each pair."""

    @property
    def mean(self) -> float:
        """The mean over the pairs."""
        return fmean(self.shares)

    @property
    def spread(self) -> float:
        """The standard deviation over the pairs, with n − 1."""
        return stdev(self.shares)


@dataclass(frozen=True)
class Pairs:
    """The same experiment with several pairs of texts."""

    experiments: Sequence[Experiment]
    texts: Sequence[tuple[str, ...]]
    """The first and the second text of each pair."""
    command: str
    """The command line; with `--pair 3` behind it, it is that of the third pair alone."""

    @property
    def lengths(self) -> set[int]:
        """The numbers of tokens of the first texts."""
        return {len(each.comparison.first.tokens) for each in self.experiments}

    def mean_effects(self) -> list[MeanEffect]:
        """Return the effects at each place of a sweep, the largest mean first.

        Rows of tokens are at the same place if as many tokens follow.

        Raises:
            TracerError: the pairs have different places.
        """
        first, *others = (
            {_place(each.site): each for each in experiment.effects}
            for experiment in self.experiments
        )
        for number, other in enumerate(others, 2):
            if other.keys() != first.keys():
                message = (
                    f"pair {number} has other places than pair 1, because the texts differ in "
                    "length; use texts of equal lengths, or see one pair with --pair"
                )
                raise TracerError(Problem(message, address="--sweep"))
        found = []
        for place, of in first.items():
            shares = tuple(each[place].share for each in (first, *others))
            found.append(MeanEffect(of.site, self._name(of.site), shares))
        return sorted(found, key=lambda each: -each.mean)

    def _name(self, site: Site) -> str:
        """`layer1.ffn.output[3]`; in texts of different lengths, `[-1]` is the last token."""
        address, token = _place(site)
        if token is None:
            return address
        position = site.value.shape[0] + token + 1 if len(self.lengths) == 1 else token
        return f"{address}[{position}]"


def _place(site: Site) -> tuple[str, int | None]:
    """The address, and the token's place from the end if it is a token's row."""
    return site.value.address, None if site.token is None else site.token - site.value.shape[0]


# --- the places of each sweep --------------------------------------------------------------------

Sites: TypeAlias = Callable[[Comparison], Iterator[Site]]


def _of_heads(name: str, source: Source = "second pass") -> Sites:
    """Return the sites at the value with this name of each head."""

    def sites(comparison: Comparison) -> Iterator[Site]:
        for value in comparison.first.values.values():
            if value.role.name == name and value.place.head and value.place.block is None:
                yield Site(value, source=source)

    return sites


def _of_sub_layers(*kinds: roles.SubLayer, source: Source = "second pass") -> Sites:
    """Return the sites at the output of each sub-layer of these kinds."""

    def sites(comparison: Comparison) -> Iterator[Site]:
        for value in comparison.first.values.values():
            place = value.place
            is_whole = place.head is None and place.network is None
            if value.role.name == "output" and place.sub_layer in kinds and is_whole:
                yield Site(value, source=source)

    return sites


def _ablations(source: Source) -> Sites:
    """Return the sites at the outputs of all heads and FFNs, in the order of computation."""

    def sites(comparison: Comparison) -> Iterator[Site]:
        yield from _of_heads("output", source)(comparison)
        yield from _of_sub_layers("ffn", source=source)(comparison)

    return sites


def _layers(comparison: Comparison) -> Iterator[Site]:
    """Yield the followed token's row of the output of each layer, by default the last's."""
    first = comparison.first
    token = range(len(first.tokens))[comparison.followed[0]]
    for value in outputs_of_layers(first).values():
        yield Site(value, token)


def _tokens(comparison: Comparison) -> Iterator[Site]:
    """Yield the input row of each token that has a counterpart."""
    value = comparison.first.values.get(roles.INPUT.name)
    if value is None:
        message = "this scenario has no input vectors to patch; try heads"
        raise TracerError(Problem(message, address="--sweep"))
    for token, _ in comparison.tokens.pairs:
        yield Site(value, token)


def _layers_tokens(comparison: Comparison) -> Iterator[Site]:
    """Yield each token's row of the output of each layer."""
    for value in outputs_of_layers(comparison.first).values():
        for token, _ in comparison.tokens.pairs:
            yield Site(value, token)


def outputs_of_layers(found: Trace) -> dict[int, Value]:
    """Return the last value of each layer of the decoder, by the layer's number."""
    return {
        place.layer: record.output
        for record in found.records
        if (place := record.output.place).layer and not place.encoder and place.sub_layer != "lens"
    }


class Sweep(StrEnum):
    """What a sweep patches, one after the other."""

    HEADS = "heads"
    LAYERS = "layers"
    TOKENS = "tokens"
    LAYERS_TOKENS = "layers-tokens"
    ATTENTIONS = "attentions"
    FFNS = "ffns"
    QUERIES = "queries"
    KEYS = "keys"
    VALUES = "values"
    PATTERNS = "patterns"
    ABLATIONS = "ablations"
    MEAN_ABLATIONS = "mean-ablations"


SITES: dict[Sweep, Sites] = {
    Sweep.HEADS: _of_heads("output"),
    Sweep.LAYERS: _layers,
    Sweep.TOKENS: _tokens,
    Sweep.LAYERS_TOKENS: _layers_tokens,
    Sweep.ATTENTIONS: _of_sub_layers("attention", "cross_attention"),
    Sweep.FFNS: _of_sub_layers("ffn"),
    Sweep.QUERIES: _of_heads("query"),
    Sweep.KEYS: _of_heads("key"),
    Sweep.VALUES: _of_heads("value"),
    Sweep.PATTERNS: _of_heads("weights"),
    Sweep.ABLATIONS: _ablations("zeros"),
    Sweep.MEAN_ABLATIONS: _ablations("means"),
}


def sites_of(what: Sweep, comparison: Comparison) -> tuple[Site, ...]:
    """Return the places of a sweep.

    Raises:
        TracerError: there are none.
    """
    found = tuple(SITES[what](comparison))
    if not found:
        raise TracerError(Problem(f"this scenario has no {what} to patch", address="--sweep"))
    return found
