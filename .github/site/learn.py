"""The tutorials: each is written by the program from a scenario, with its living page."""

from __future__ import annotations

import contextlib
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from common import HERE, MARKDOWN, ROOT, STORED

from tests.helpers.command import printed
from tests.helpers.examples import TRAINED, minimal

FOLDERS = (ROOT / "scenarios", HERE / "scenarios")


def tutorial(name: str, about: str, options: Sequence[str] = (), page: bool = True) -> str:
    """Return a tutorial; its pictures, its living page and its scenario are files beside it."""
    folder = MARKDOWN / "learn"
    folder.mkdir(parents=True, exist_ok=True)
    typed = next((each for each in FOLDERS if (each / f"{name}.yaml").exists()), None)
    scenario = (typed / f"{name}.yaml").read_text(encoding="utf-8") if typed else minimal()
    scenario = re.sub(r"^# yaml-language-server.*\n", "", scenario)
    (folder / f"{name}.yaml.txt").write_text(scenario, encoding="utf-8")
    said = name if typed == FOLDERS[0] else f"{name}.yaml"
    ways = f"[The scenario]({name}.yaml.txt)"
    with contextlib.chdir(folder):
        Path(f"{name}.yaml").write_text(scenario, encoding="utf-8")
        if name == TRAINED:
            text = (STORED / "paris.md").read_text(encoding="utf-8")
            shutil.copytree(STORED / "pictures", "pictures")
        else:
            text = printed("tutorial", said, *options, "--figures", f"pictures-{name}")
        if page:
            printed("page", said, *options, "-o", f"{name}-page.html")
            ways = f"[The living page]({name}-page.html){{ .md-button .md-button--primary }} {ways}"
        Path(f"{name}.yaml").unlink()
    command = " ".join(["decoder-trace tutorial", said, *options, "--figures pictures"])
    title, _, rest = text.partition("\n")
    made = f"{about} Everything below is the output of this command:"
    return f"{title}\n\n{made}\n\n```sh\n{command}\n```\n\n{ways}\n\n{rest}"
