"""The taps of a model: those of its family, and those that its user names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from textwrap import wrap

from tracer.checkpoints.hugging_face import architecture_of
from tracer.checkpoints.hugging_face_families import FAMILIES
from tracer.checkpoints.parameters import UNEMBEDDING
from tracer.errors import MOST_CHARACTERS, Problem, TracerError
from tracer.names import closest
from tracer.pytorch.modules import CONFIG, Modules, described, of_family
from tracer.pytorch.taps import Tap, taps_of
from tracer.scenario.model import GRADIENT
from tracer.scenario.other_names import address_of_hook

_MODULE = re.compile(r"(?P<module>.*?)(?P<input>\.input)?(\[(?P<item>[0-9]+)\])?")
_FUSED = ".W_QKV"
_MOST_LINES = 6
"""The most lines of a message that list modules."""


def taps_of_model(modules: Modules, names: Mapping[str, str] | None) -> list[Tap]:
    """Return what to read of which module; `names` replaces what its family says of an address.

    Raises:
        TracerError: no module has a known name; one of `names` is that of no module.
    """
    own = [
        tap for pattern, address in (names or {}).items() for tap in _of(pattern, address, modules)
    ]
    taken = {address for tap in own for address in tap.addresses}
    try:
        known = [tap for tap in _of_family(modules) if not taken & {*tap.addresses}]
    except TracerError:
        if not own:
            raise
        known = []
    by_addresses = {tap.addresses: tap for tap in (*known, *own)}  # the same from two modules: once
    found = [*by_addresses.values()]
    if not found:
        message = "no module has a known name, expected names={'blocks.*.attn': 'layer*.…'}"
        lines = wrap(f"modules: {', '.join(_patterns(modules))}", MOST_CHARACTERS)
        raise TracerError(Problem(message), *map(Problem, lines[:_MOST_LINES]))
    return found


def wanted_taps(taps: Sequence[Tap], only: Sequence[str] | None) -> list[Tap]:
    """Return the taps with a value, or the gradient of one, that `only` names."""
    patterns = None if only is None else [each.removeprefix(GRADIENT) for each in only]
    return [tap for tap in taps if any(is_wanted(each, patterns) for each in tap.addresses)]


def is_wanted(address: str, only: Sequence[str] | None) -> bool:
    """Return whether an address matches one of the patterns, if there are any."""
    return only is None or any(fnmatchcase(address, pattern) for pattern in only)


def _of_family(modules: Modules) -> Iterator[Tap]:
    """Yield the taps of a model whose configuration is known.

    Raises:
        TracerError: the configuration is not supported.
    """
    values = described(modules)
    if values is None:
        return
    architecture = architecture_of(values, CONFIG)
    layout = FAMILIES[architecture.family].layout
    names = of_family(modules, layout, has_images=architecture.has_images)
    unembedding = layout.names[UNEMBEDDING].removesuffix(".weight")
    for tap in taps_of(architecture, layout):
        own = names.get(tap.module)
        if own is None or (tap.address == "logits" and unembedding not in names):
            continue
        scales = tap.address.endswith("embedding") and getattr(modules[own], "embed_scale", 1) != 1
        yield replace(tap, module=own, address=f"{tap.address}{'.scaled' * scales}")


def _of(pattern: str, address: str, modules: Modules) -> Iterator[Tap]:
    """Yield the taps of modules whose names match a pattern; a `*` stands for a number from 0.

    Raises:
        TracerError: there is no such module; the two patterns do not have as many `*`; the address
            of a hook depends on the model.
    """
    address, read = address_of_hook(address), _MODULE.fullmatch(pattern)
    assert read
    if pattern.count("*") != address.count("*"):
        raise TracerError(
            Problem(f"{address}: expected as many * as in {pattern}", address="names")
        )
    numbered = re.compile(r"([0-9]+)".join(map(re.escape, read["module"].split("*"))))
    matches = [found for name in modules if (found := numbered.fullmatch(name))]
    if not matches:
        hint = closest(read["module"], _patterns(modules))
        raise TracerError(
            Problem(f"no module has the name {read['module']!r}{hint}", address="names")
        )
    for found in matches:
        own = address
        for number in found.groups():
            own = own.replace("*", str(int(number) + 1), 1)
        item = int(read["item"]) if read["item"] else None
        tap = Tap(found[0], own, "input" if read["input"] else "output", item, name=pattern)
        yield _fused(tap, modules[found[0]]) if own.endswith(_FUSED) else tap


def _fused(tap: Tap, module: object) -> Tap:
    """Return a tap with the columns of the queries, keys and values of all heads.

    Raises:
        TracerError: the module does not say how many columns each has.
    """
    queries = getattr(module, "in_features", 0)
    keys, rest = divmod(getattr(module, "out_features", 0) - queries, 2)
    if keys <= 0 or rest:
        message = "expected a torch.nn.Linear with as many columns of queries as inputs"
        raise TracerError(Problem(f"{tap.module}: {message}", address=tap.address))
    place, both = tap.address.removesuffix(_FUSED), queries + keys
    parts = ((0, queries, "query"), (queries, both, "key"), (both, both + keys, "value"))
    return replace(tap, parts=tuple((begin, end, f"{place}.{x}") for begin, end, x in parts))


def _patterns(modules: Modules) -> list[str]:
    """Return the names of modules, with a `*` for the number of a layer."""
    numbered = (re.sub(r"(?<![^.])[0-9]+(?![^.])", "*", name) for name in modules if name)
    return [*dict.fromkeys(numbered)]
