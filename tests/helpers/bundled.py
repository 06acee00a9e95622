"""The scenarios that come with the program and that somebody typed."""

from __future__ import annotations

import re

from tracer.scenario.loading import bundled

TYPED = {
    name: path
    for name, path in bundled().items()
    if not re.search("^(checkpoint|dimensions):", path.read_text(encoding="utf-8"), re.MULTILINE)
}
