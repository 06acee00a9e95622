"""The taps of a model: those of its family, and those that its user names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from tracer.checkpoints.hugging_face import architecture_of
from tracer.checkpoints.hugging_face_families import FAMILIES
from tracer.checkpoints.parameters import UNEMBEDDING
from tracer.errors import Problem, TracerError
from tracer.names import closest
from tracer.pytorch.modules import CONFIG, Modules, described, of_family
from tracer.pytorch.taps import Tap, taps_of
from tracer.scenario.model import GRADIENT
from tracer.scenario.other_names import result_of

_MODULE = re.compile(r"(?P<module>.*?)(?P<input>\.input)?(\[(?P<item>[0-9]+)\])?")
_FUSED = ".W_QKV"


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
        raise TracerError(Problem(f"{message}; the modules are {', '.join(_some(modules))}"))
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
        TracerError: there is no such module; the two patterns do not have as many `*`.
    """
    read = _MODULE.fullmatch(pattern)
    assert read
    if pattern.count("*") != address.count("*"):
        raise TracerError(
            Problem(f"{address}: expected as many * as in {pattern}", address="names")
        )
    numbered = re.compile(r"([0-9]+)".join(map(re.escape, read["module"].split("*"))))
    matches = [found for name in modules if (found := numbered.fullmatch(name))]
    if not matches:
        hint = closest(read["module"].replace("*", "0"), modules)
        raise TracerError(
            Problem(f"no module has the name {read['module']!r}{hint}", address="names")
        )
    for found in matches:
        own = address
        for number in found.groups():
            own = own.replace("*", str(int(number) + 1), 1)
        item = int(read["item"]) if read["item"] else None
        tap = Tap(found[0], own, "input" if read["input"] else "output", item)
        yield _fused(tap, modules[found[0]]) if own.endswith(_FUSED) else tap


def _fused(tap: Tap, module: object) -> Tap:
    """Return a tap with the columns of the queries, keys and values of all heads.

    Raises:
        TracerError: they do not have as many columns each.
    """
    sizes = sorted(getattr(getattr(module, "weight", None), "shape", ()))
    if len(sizes) != 2 or sizes[1] != 3 * sizes[0]:
        message = "expected a matrix with as many queries, keys and values as inputs"
        raise TracerError(Problem(f"{tap.module}: {message}", address=tap.address))
    place, width = tap.address.removesuffix(_FUSED), sizes[0]
    parts = ((i * width, (i + 1) * width, result_of(f"{place}.W_{x}")) for i, x in enumerate("QKV"))
    return replace(tap, parts=tuple(parts))


def _some(modules: Modules) -> list[str]:
    several = [name for name in modules if name][:6]
    return several + ["…"] * (len(modules) > 7)
