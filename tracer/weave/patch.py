"""The changes of weaving as a patch."""

from __future__ import annotations

import re
from difflib import unified_diff


def patch(old: str, new: str, file: str) -> str:
    """Return the patch from the old text of a file to the new one; empty if they are equal."""
    lines = unified_diff(_lines(old), _lines(new), file, file)
    no_end = "\n\\ No newline at end of file\n"
    return "".join(line if line.endswith("\n") else line + no_end for line in lines)


def _lines(text: str) -> list[str]:
    """Split a text at each \\n, and nowhere else, as `patch` and git do."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)
