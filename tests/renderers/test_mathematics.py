"""Where Node has them: what shows mathematics on pages can set every formula of Markdown's.

`NODE_PATH` names the folder in which `npm install katex mathjax-full markdown-it
markdown-it-texmath` has put them.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.helpers.command import printed
from tests.helpers.random_scenarios import ODD_WORDS
from tests.renderers.test_latex import MARKUP, scenario

NODE = shutil.which("node")
FOLDER = Path(os.environ.get("NODE_PATH") or "no such folder")

DISPLAY = re.compile(r"^\$\$\n(.*?)\n\$\$$", re.MULTILINE | re.DOTALL)
FENCED = re.compile(r"^(`{3,})text\n.*?^\1$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
INLINE = re.compile(r"\$([^$\n]+)\$")

READ = 'const {formulas, texts} = JSON.parse(require("fs").readFileSync(0, "utf8"));'
TELL = "console.log(JSON.stringify(failed));"
EACH_FORMULA = """
const failed = [];
for (const [latex, display] of formulas) {
  try { set(latex, display); } catch (error) { failed.push([latex, String(error)]); }
}
"""

ENGINES = {
    "katex": """
const katex = require("katex");
const set = (latex, displayMode) =>
  katex.renderToString(latex, {displayMode, throwOnError: true, strict: "ignore"});
"""
    + EACH_FORMULA,
    "mathjax-full": """
const {mathjax} = require("mathjax-full/js/mathjax.js");
const {TeX} = require("mathjax-full/js/input/tex.js");
require("mathjax-full/js/input/tex/AllPackages.js");
const {liteAdaptor} = require("mathjax-full/js/adaptors/liteAdaptor.js");
const {RegisterHTMLHandler} = require("mathjax-full/js/handlers/html.js");
const {STATE} = require("mathjax-full/js/core/MathItem.js");
RegisterHTMLHandler(liteAdaptor());
const thrown = (_, error) => { throw error; };
const page = mathjax.document("", {
  InputJax: new TeX({packages: ["base", "ams"], formatError: thrown}),
});
const set = (latex, display) => page.convert(latex, {display, end: STATE.COMPILED});
"""
    + EACH_FORMULA,
    "markdown-it-texmath": """
const page = require("markdown-it")({html: true}).use(require("markdown-it-texmath"), {
  engine: require("katex"), delimiters: "dollars", katexOptions: {strict: "ignore"},
});
const failed = [];
let set = 0;
for (const text of texts) {
  const shown = page.render(text);
  set += shown.split('class="katex"').length - 1;
  if (shown.includes("katex-error")) failed.push([text, shown]);
}
if (set !== formulas.length) failed.push(["of " + formulas.length, "set " + set]);
""",
}

every_engine = pytest.mark.parametrize("engine", ENGINES)


def formulas(text: str) -> list[tuple[str, bool]]:
    """The formulas of a text, and whether each stands by itself."""
    displays = [(latex, True) for latex in DISPLAY.findall(text)]
    assert len(displays) * 2 == text.split("\n").count("$$") > 0
    beside = CODE.sub("", FENCED.sub("", DISPLAY.sub("", text)))
    inline = [(latex, False) for latex in INLINE.findall(beside)]
    assert len(inline) * 2 == beside.count("$") > 0
    return displays + inline


@pytest.fixture(autouse=True)
def installed(engine: str) -> None:
    if NODE is None:
        pytest.skip("Node is not installed")
    if not (FOLDER / engine / "package.json").is_file():
        pytest.skip(f"needs NODE_PATH, naming the folder of {engine}")


def not_set(engine: str, *texts: str) -> list[list[str]]:
    """What an engine does not set, each with its reason."""
    assert NODE
    asked = {"formulas": [one for text in texts for one in formulas(text)], "texts": texts}
    ran = subprocess.run(
        [NODE, "-e", READ + ENGINES[engine] + TELL],
        input=json.dumps(asked),
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    failed: list[list[str]] = json.loads(ran.stdout)
    return failed


@every_engine
@pytest.mark.parametrize("name", ["alex", "science", "pizza", "comics"])
def test_tutorials(name: str, engine: str) -> None:
    assert not_set(engine, printed("tutorial", name, "--math")) == []


@every_engine
def test_worksheets(engine: str, tmp_path: Path) -> None:
    """Where every result of a norm is left out, with all its decimals, a formula is the longest."""
    asked = ("comics", "--blanks", "--level", "3", "--vary", "7", "--key", str(tmp_path / "key.md"))
    sheet = printed("tutorial", *asked, "--math")
    assert not_set(engine, sheet, (tmp_path / "key.md").read_text(encoding="utf-8")) == []


@every_engine
def test_training(engine: str) -> None:
    command = ("train", "science", "--optimizer", "adam", "--clip", "0.1", "--steps", "2")
    assert not_set(engine, printed(*command, "--format", "markdown", "--math")) == []


@every_engine
def test_tokens_and_labels_of_any_kind(engine: str) -> None:
    names = list(dict.fromkeys([*ODD_WORDS, *MARKUP]))
    few = [names[i : i + 8] for i in range(0, len(names), 8)]
    typed = [scenario(some, wide=True) for some in few]
    texts = [printed("tutorial", "-", "--math", stdin=source) for source in typed]
    assert not_set(engine, *texts) == []


@every_engine
def test_a_formula_that_cannot_be_set_is_found(engine: str) -> None:
    assert not_set(engine, "$a$\n\n$$\n\\frac{1}\n$$\n")
