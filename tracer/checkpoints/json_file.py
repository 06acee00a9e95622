"""A JSON file that holds a mapping."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tracer.errors import Problem, TracerError
from tracer.files.reading import read_file


def read_json(path: Path) -> dict[str, Any]:
    """Return the mapping in a JSON file.

    Raises:
        TracerError: it cannot be read, is not JSON, or is not a mapping.
    """
    try:
        found = json.loads(read_file(path))
    except json.JSONDecodeError as error:
        problem = Problem(f"not JSON: {error.msg}", str(path), error.lineno, error.colno)
        raise TracerError(problem) from None
    except (ValueError, RecursionError):  # a number of thousands of digits; lists in lists
        raise TracerError(Problem("not JSON that can be read", str(path))) from None
    if not isinstance(found, dict):
        raise TracerError(Problem("expected a mapping", str(path), 1, 1))
    return found
