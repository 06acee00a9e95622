"""The examples of a page, each with what the program prints."""

from __future__ import annotations

import contextlib
import io
import json
import re
import tempfile
from pathlib import Path
from typing import Any

from pages import MARKDOWN, STORED, folded, plural

from tests.helpers import examples
from tests.helpers.command import run

FENCE = re.compile(r"^```(sh|python)\n(.*?)^```$\n?", re.MULTILINE | re.DOTALL)
SHOWN_AS_THEY_ARE = (".html", ".svg")
TEXTS = (".md", ".tex", ".yaml", ".json", ".py", ".txt")


def with_outputs(text: str, file: str, languages: tuple[str, ...] = ("sh",)) -> str:
    """Return the Markdown of a page with each example run, and its output below it.

    What an example writes goes into a folder beside the page. A command of a trained model has its
    stored output.
    """
    kept = MARKDOWN / Path(file).with_suffix("")
    known: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        examples.write_files(Path.cwd())

        def shown(fence: re.Match[str]) -> str:
            language, code = fence.groups()
            if language not in languages:
                return fence[0]
            return of_python(code, known) if language == "python" else of_shell(code, kept)

        return FENCE.sub(shown, text)


def of_python(code: str, known: dict[str, Any]) -> str:
    """An example of the library, and what it prints; later ones know its names."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "example", "exec"), known)
    printed = folded("It prints", out.getvalue()) if out.getvalue() else ""
    return f"```python\n{code}```\n\n{printed}\n"


def of_shell(code: str, kept: Path) -> str:
    """Each command as code of its own, followed by its output."""
    parts, lines = [], []
    for line in code.splitlines():
        lines.append(line)
        if examples.is_command(line):
            parts.append(as_code(lines) + output(line, kept))
            lines = []
    return "\n".join([*parts, *([as_code(lines)] if lines else [])])


def as_code(lines: list[str]) -> str:  # noqa: D103
    return "```sh\n" + "".join(f"{line}\n" for line in lines) + "```\n\n"


def output(line: str, kept: Path) -> str:
    """What a command prints, and the files that it writes."""
    words = examples.words_of(line)
    if examples.is_served(words):
        return "This command runs until Ctrl-C.\n{ .note }\n"
    if examples.TRAINED in words:
        return of_trained(line)
    before = snapshot()
    ran = run(*words)
    if ran.exit_code not in examples.allowed_codes(words) or ran.stderr:
        raise SystemExit(f"{line}: exit code {ran.exit_code}\n{ran.stderr}")
    said = folded("It prints", ran.stdout) if ran.stdout else ""
    written = [path for path, content in snapshot().items() if before.get(path) != content]
    return said + "".join(of_file(path, kept) for path in files_and_folders(written))


def of_trained(line: str) -> str:
    """The stored output of a command that needs the weights of a trained model."""
    known = json.loads((STORED / "outputs.json").read_text(encoding="utf-8"))
    if line not in known:
        raise SystemExit(f"{line}: no stored output; run .github/site/stored.py")
    return folded("It prints", known[line]) if known[line] else ""


def snapshot() -> dict[Path, bytes]:  # noqa: D103
    return {path: path.read_bytes() for path in sorted(Path().rglob("*")) if path.is_file()}


def files_and_folders(paths: list[Path]) -> list[Path]:
    """The files, and the folders with more than one."""
    return sorted({path if path.parent == Path() else Path(path.parts[0]) for path in paths})


def of_file(path: Path, kept: Path) -> str:
    """A link to what was written, or its name and size."""
    if path.is_dir():
        size = plural(len(list(path.iterdir())), "file")
        return f"It writes the folder `{path}` with {size}.\n{{ .note }}\n"
    content = path.read_bytes()
    size = plural(max(1, round(len(content) / 1000)), "kB").removesuffix("s")
    if path.suffix not in (*SHOWN_AS_THEY_ARE, *TEXTS):
        return f"It writes `{path}`, {size}.\n{{ .note }}\n"
    name = path.name if path.suffix in SHOWN_AS_THEY_ARE else f"{path.name}.txt"
    kept.mkdir(parents=True, exist_ok=True)
    (kept / name).write_bytes(content)
    return f"It writes [{path}]({kept.name}/{name}), {size}.\n{{ .note }}\n"
