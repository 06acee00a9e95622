"""The examples of a page, each with what the program prints."""

from __future__ import annotations

import contextlib
import io
import json
import re
import tempfile
from pathlib import Path
from typing import Any

from common import MARKDOWN, STORED, folded

from tests.helpers import examples
from tests.helpers.command import run

FENCE = re.compile(r"^```(sh|python)\n(.*?)^```$\n?", re.MULTILINE | re.DOTALL)
SHOWN_AS_THEY_ARE = (".html", ".svg")
TEXTS = (".md", ".tex", ".yaml", ".json", ".py", ".txt")


def with_outputs(
    text: str, file: str, languages: tuple[str, ...] = ("sh",), code: int | None = None
) -> str:
    """Return the Markdown of a page with each example run, and its output below it.

    What an example writes goes into a folder beside the page. A command of a trained model has its
    stored output. With `code`, each command must end with this exit code.
    """
    kept = MARKDOWN / Path(file).with_suffix("")
    known: dict[str, Any] = {}
    done = 0
    parts = []
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        examples.write_files(Path.cwd())
        for fence in FENCE.finditer(text):
            between = text[done : fence.start()]
            examples.write_titled(between, Path.cwd())
            parts.append(between)
            done = fence.end()
            if fence[1] not in languages:
                parts.append(fence[0])
            elif fence[1] == "python":
                parts.append(of_python(fence[2], known))
            else:
                parts.append(of_shell(fence[2], kept, code))
    return "".join([*parts, text[done:]])


def of_python(code: str, known: dict[str, Any]) -> str:
    """Return an example of the library, and what it prints; later ones know its names."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "example", "exec"), known)
    printed = folded(out.getvalue()) if out.getvalue() else ""
    return f"```python\n{code}```\n\n{printed}\n"


def of_shell(code: str, kept: Path, exit_code: int | None) -> str:
    """Return each command as code of its own, followed by its output."""
    parts, lines = [], []
    for line in code.splitlines():
        lines.append(line)
        if examples.is_command(line):
            parts.append(as_code(lines) + output(line, kept, exit_code))
            lines = []
    return "\n".join([*parts, *([as_code(lines)] if lines else [])])


def as_code(lines: list[str]) -> str:
    """Return commands as a fence."""
    return "```sh\n" + "".join(f"{line}\n" for line in lines) + "```\n\n"


def output(line: str, kept: Path, exit_code: int | None) -> str:
    """Return what a command prints, and links to the files that it writes."""
    words = examples.words_of(line)
    if examples.is_served(words):
        return "This command runs until Ctrl-C.\n{ .note }\n"
    if examples.TRAINED in words:
        stored = json.loads((STORED / "outputs.json").read_text(encoding="utf-8"))[line]
        return folded(stored) if stored else ""
    before = contents()
    ran = run(*words)
    allowed = examples.allowed_codes(words) if exit_code is None else (exit_code,)
    if ran.exit_code not in allowed or (ran.stderr and exit_code is None):
        raise SystemExit(f"{line}: exit code {ran.exit_code}\n{ran.stderr}")
    said = folded(ran.stdout + ran.stderr) if ran.stdout + ran.stderr else ""
    written = [path for path, content in contents().items() if before.get(path) != content]
    folders = {path.parts[0] for path in written if len(path.parts) > 1}
    if len(written) > 1:
        written = [path for path in written if len(path.parts) == 1]
        said += "".join(f"It writes the folder `{each}`.\n{{ .note }}\n\n" for each in folders)
    return said + "".join(of_file(path, kept) for path in written)


def contents() -> dict[Path, bytes]:
    """Return the files of the folder."""
    return {path: path.read_bytes() for path in sorted(Path().rglob("*")) if path.is_file()}


def of_file(path: Path, kept: Path) -> str:
    """Return a link to what was written, or its name."""
    if path.suffix not in (*SHOWN_AS_THEY_ARE, *TEXTS):
        return f"It writes `{path}`.\n{{ .note }}\n\n"
    name = path.name if path.suffix in SHOWN_AS_THEY_ARE else f"{path.name}.txt"
    kept.mkdir(parents=True, exist_ok=True)
    (kept / name).write_bytes(path.read_bytes())
    return f"It writes [{path}]({kept.name}/{name}).\n{{ .note }}\n\n"
