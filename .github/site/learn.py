"""The tutorials: each is written by the program from a scenario, with its living page."""

from __future__ import annotations

import contextlib
import re
import shutil
from pathlib import Path

from pages import HERE, MARKDOWN, ROOT, STORED, Page

from tests.helpers.command import printed
from tests.helpers.examples import minimal

CHAPTERS = (
    ("two-words", "Two words", "Attention in its smallest form: two words, one head.", ()),
    ("alex", "One decoder layer", "Attention with two heads, the FFN, and LayerNorm.", ()),
    ("science", "The next word", "How a GPT-style model chooses the next word.", ()),
    ("comics", "What a decoder learns from", "Tokens, positions, and the loss.", ()),
    ("alex-learns", "Training", "One step of training, forward and back.", ("--train",)),
    ("pizza", "Encoder and decoder", "A translation with cross-attention.", ()),
    ("picture", "A picture as context", "Words that attend to the regions of a picture.", ()),
    ("gpt2-small", "The shapes of GPT-2", "A model of known size, with random weights.", ()),
    ("blocks", "The softmax in blocks", "FlashAttention: a running maximum and sum.", ()),
    ("lora", "LoRA", "A finished model learns with two small matrices.", ()),
    ("experts", "A mixture of experts", "A router sends each token to one expert.", ()),
    ("latent", "Latent attention", "A short vector in place of keys and values.", ()),
)
PARIS = ("paris", "A real model", "SmolLM2, 135 million parameters, says “ Paris”.")
NO_PAGE = ("gpt2-small",)
"""What has too many numbers for a page on which they can be changed."""


def pages() -> list[Page]:
    """One page for each chapter."""
    of_chapters = [
        Page("Learn", title, f"learn/{name}.md", chapter, (name, about, options))
        for name, title, about, options in CHAPTERS
    ]
    return [*of_chapters, Page("Learn", PARIS[1], "learn/paris.md", trained, (PARIS[2],))]


def scenario_file(name: str) -> Path | None:
    """The file of a chapter's scenario; None if the docs show it."""
    places = (folder / f"{name}.yaml" for folder in (ROOT / "scenarios", HERE / "scenarios"))
    return next((place for place in places if place.exists()), None)


def chapter(name: str, about: str, options: tuple[str, ...]) -> str:
    """Write the tutorial, its pictures, its living page and its scenario."""
    folder = MARKDOWN / "learn"
    folder.mkdir(parents=True, exist_ok=True)
    typed = scenario_file(name)
    text = typed.read_text(encoding="utf-8") if typed else minimal()
    text = re.sub(r"^# yaml-language-server.*\n", "", text)
    (folder / f"{name}.yaml.txt").write_text(text, encoding="utf-8")
    bundled = typed is not None and typed.parent.name == "scenarios" and typed.parent.parent == ROOT
    said = name if bundled else f"{name}.yaml"
    with contextlib.chdir(folder):
        Path(f"{name}.yaml").write_text(text, encoding="utf-8")
        tutorial = printed("tutorial", said, *options, "--figures", f"pictures-{name}")
        ways = [f"[The scenario]({name}.yaml.txt)"]
        if name not in NO_PAGE:
            printed("page", said, *options, "-o", f"{name}-page.html")
            ways[:0] = [f"[The living page]({name}-page.html){{ .md-button .md-button--primary }}"]
        Path(f"{name}.yaml").unlink()
    command = " ".join(["decoder-trace tutorial", said, *options, "--figures pictures"])
    return headed(tutorial, about, command, ways)


def headed(tutorial: str, about: str, command: str, ways: list[str]) -> str:
    """The tutorial with the command that wrote it, below its title."""
    title, _, rest = tutorial.partition("\n")
    made = f"{about} Every number and sentence below is the output of this command:"
    return f"{title}\n\n{made}\n\n```sh\n{command}\n```\n\n{' '.join(ways)}\n\n{rest}"


def trained(about: str) -> str:
    """The stored tutorial of a trained model."""
    shutil.copytree(STORED / "pictures", MARKDOWN / "learn" / "pictures", dirs_exist_ok=True)
    scenario = (ROOT / "scenarios" / "paris.yaml").read_text(encoding="utf-8")
    (MARKDOWN / "learn" / "paris.yaml.txt").write_text(scenario, encoding="utf-8")
    tutorial = (STORED / "paris.md").read_text(encoding="utf-8")
    command = "decoder-trace tutorial paris --figures pictures"
    return headed(tutorial, about, command, ["[The scenario](paris.yaml.txt)"])
