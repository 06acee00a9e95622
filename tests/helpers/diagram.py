"""The diagrams of a page as their file has them, and the numbers of its script."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"


def diagrams(html: str) -> list[ElementTree.Element]:
    """The diagrams, the forward pass first."""
    found = re.findall('<svg (?=[^>]*role="group")(.*?</svg>)', html, re.DOTALL)
    return [ElementTree.fromstring(f'<svg xmlns="{SVG[1:-1]}" {each}') for each in found]


def boxes(diagram: ElementTree.Element) -> list[ElementTree.Element]:
    """The boxes in the order of the file."""
    return [each for each in diagram.iter() if "box" in (each.get("class") or "").split()]


def arrows(diagram: ElementTree.Element) -> list[tuple[int, int]]:
    """The steps that each arrow connects."""
    wires = (each for each in diagram.iter(f"{SVG}path") if each.get("class") == "wire")
    return [(int(w.get("data-from") or 0), int(w.get("data-to") or 0)) for w in wires]


def cells(box: ElementTree.Element) -> list[ElementTree.Element]:
    """The cells of a box's heat map."""
    return [each for each in box.iter(f"{SVG}rect") if each.get("data-number")]


def way(of: str, among: list[dict[str, Any]]) -> set[str]:
    """The numbers that a number is computed from, and itself."""
    found, ahead = {of}, [of]
    while ahead:
        source, at = ahead.pop().split(":")
        entry = among[int(source)]["entries"][at]
        pieces = [piece for piece in entry.get("work", []) if isinstance(piece, list)]
        read = {name for _, *names in pieces for name in names}
        read |= {entry["is"]} if "is" in entry else set()
        ahead += read - found
        found |= read
    return found
