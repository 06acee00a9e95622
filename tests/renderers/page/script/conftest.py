"""Where the script lies."""

from __future__ import annotations

from pathlib import Path

import tracer.renderers.page

SCRIPT = Path(tracer.renderers.page.__file__).parent / "script"
