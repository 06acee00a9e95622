"""What a mark may read, compute and write; and that a chapter may do all that it needs."""

from __future__ import annotations

import math
import os
import shlex
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.command import Ran, printed, run
from tests.helpers.small_scenario import SMALL, scenario
from tests.weave.test_files import block, number, page, refused, woven, woven_once
from tracer.decoder.forward import PassOptions, Trace, trace
from tracer.decoder.operations import Dot, MatMul
from tracer.requests import cost as costs, resolve
from tracer.requests.cost import Cost, cost
from tracer.requests.loader import FILES, load as load_command
from tracer.requests.passes import PassRequest
from tracer.requests.request import Content, Request
from tracer.scenario.loading import Loaded, load
from tracer.weave import directives, limits
from tracer.weave.limits import LimitedEngine

__all__ = ["page"]  # the fixture

VOCABULARY = "vocabulary: [a, b]\nunembedding: {W_U: [[1, 0], [0, 1]]}\n"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_a_pipe_is_not_read(page: Path) -> None:
    os.mkfifo(page.with_name("pipe"))
    page.write_text(block("run pipe") + number("value input[1,1] -s pipe"))
    told = "pipe: cannot be read: expected a regular file\n"
    assert run("weave", str(page)) == Ran(2, "", f"{page}:1:1: {told}{page}:4:7: {told}")


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no devices")
def test_a_device_is_not_read(page: Path) -> None:
    told = "1:1: /dev/zero: cannot be read: expected a regular file"
    assert refused(page, block("run /dev/zero")) == told


def test_a_name_that_is_too_long_is_told(page: Path) -> None:
    long = "x" * 300
    told = refused(page, block(f"run {long}"))
    assert told.startswith("1:1: xxx")
    assert told.endswith("xxx: cannot be read: File name too long")


def test_a_large_file_is_not_read(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_BYTES", 500)
    size = page.with_name("mine.yaml").stat().st_size
    assert 250 < 2 * size < 500
    assert woven(page, block("run mine.yaml") + block("step query -s mine.yaml"))
    page.with_name("mine.yaml").write_text(SMALL + "#" * 1000)
    told = refused(page, block("run mine.yaml"))
    asked = f"scenarios of {len(SMALL) + 1000:,} bytes, expected at most 500 in a file"
    assert told == f"1:1: {asked}; the command can be run by hand"


@pytest.mark.parametrize("name", ["pizza", "picture", "transformer-base-small"])
def test_the_products_and_numbers_are_those_of_the_pass(name: str, tmp_path: Path) -> None:
    path = tmp_path / "small.yaml"
    path.write_text(
        "dimensions: {layers: 3, width: 8, heads: 2, words: 9, context: 7}\nrandom: {seed: 1}\n"
    )
    loaded = load(str(path) if "small" in name else name)
    done = kept = records = 0
    for record in trace(loaded.name, loaded.scenario).records:
        value = record.output
        records += 1
        if isinstance(record.operation, MatMul | Dot):
            done += record.inputs[0].shape[-1] * math.prod(value.shape)
        if not value.role.parameter:
            kept += math.prod(value.shape)
    found = cost(loaded.scenario)
    floats = "small" in name
    # What a layer reads is recorded anew in each, and of layers alike one is looked at.
    assert found.records == pytest.approx(records, rel=0.05)
    products, numbers = found.at(len(loaded.scenario.tokens))
    assert products == pytest.approx(done / (costs.FLOATS if floats else 1), rel=0.02, abs=3)
    assert numbers == pytest.approx(kept * (1 if floats else costs.SHOWN), rel=0.05)


def test_products_of_the_small_scenario_grow_with_its_tokens() -> None:
    def by_hand(n: int) -> int:
        """Q, K and V, their products with each other; W_1 and W_2."""
        return n * (2 + 2 + 4) + n * n * (1 + 2) + n * (2 + 2)

    found = cost(scenario())
    assert [found.at(n)[0] for n in (2, 3, 40)] == [by_hand(n) for n in (2, 3, 40)]
    assert found.at(0) == (0, 0)


@pytest.mark.parametrize(
    ("mark", "unit"),
    [
        ("generate mine.yaml --max-tokens 1000000", "products"),
        ("train mine.yaml --steps 10000", "products"),
        ("steps large.yaml", "products"),
        ("shapes large.yaml", "products"),
        ("compare mine.yaml long.yaml", "products"),
        ("compare mine.yaml --train --steps 10000", "products"),
        ("run long.yaml", "numbers"),
        ("lens long.yaml", "numbers"),
        ("value output[1,1] -s long.yaml", "numbers"),
        ("tutorial long.yaml", "products"),
    ],
)
def test_no_command_computes_or_keeps_too_much(mark: str, unit: str, page: Path) -> None:
    seed = "random: {seed: 1}\n"
    page.with_name("mine.yaml").write_text(SMALL + VOCABULARY)
    large = (
        "dimensions: {layers: 1000, width: 200, heads: 200, words: 5, context: 9}\ntokens: [a]\n"
    )
    page.with_name("large.yaml").write_text(large)
    sizes = "layers: 1, width: 2, heads: 2, words: 5, context: 40000"
    page.with_name("long.yaml").write_text(f"dimensions: {{{sizes}}}\n{seed}")
    told = refused(page, block(mark))
    assert told.startswith("1:1: to compute about ")
    assert f" {unit}" in told


def test_shapes_of_a_long_text_need_little(page: Path) -> None:
    """No mask of 3,000 · 3,000 numbers is made where nobody looks at numbers."""
    sizes = "layers: 1, width: 2, heads: 2, words: 5, context: 3000"
    page.with_name("long.yaml").write_text(f"dimensions: {{{sizes}}}\nrandom: {{seed: 1}}\n")
    tracemalloc.start()
    woven_once(page, block("shapes long.yaml") + block("steps long.yaml"))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 100_000_000


def test_behind_the_limit_no_mark_is_looked_at(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Loading alone takes its time, and one line says which mark is too much."""
    page.with_name("mine.yaml").write_text(SMALL)
    found = cost(scenario())
    once = found.records * (costs.PRODUCTS_OF_A_RECORD + limits.LOADED)
    monkeypatch.setattr(limits, "MOST_PRODUCTS", 2 * once)
    marks = "".join(block(f"shapes mine.yaml --length {n}") for n in range(1, 10))
    told = refused(page, marks)
    assert told.startswith("7:1: to compute about ")
    assert "\n" not in told


def test_two_runs_are_compared(page: Path) -> None:
    """The same text as on the command line; each run of a sweep counts."""
    words = ("compare", "pizza", "--text", "<START> Me la la la", "--token", "gusta")
    for sweep in ((), ("--sweep", "heads")):
        command = shlex.join((*words, *sweep, "--format", "markdown"))
        text = woven_once(page, block(command))
        assert printed(*words, *sweep, "--format", "markdown").strip() in text


def test_five_generated_tokens_are_few(page: Path) -> None:
    page.with_name("mine.yaml").write_text(SMALL + VOCABULARY)
    assert woven(page, block("generate mine.yaml --max-tokens 5")).count("## Turn") == 5


def test_what_all_marks_compute_is_bounded(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pass and two texts about it, of which one is made once."""
    page.with_name("mine.yaml").write_text(SMALL)
    found = cost(scenario())
    load = found.records * limits.LOADED
    once = found.at(2)[0] + found.records * costs.PRODUCTS_OF_A_RECORD
    monkeypatch.setattr(limits, "MOST_PRODUCTS", 3 * once + load)
    quotes = "".join(number(f"value input[{n},1] -s mine.yaml") for n in (1, 2, 1, 2))
    woven(page, quotes + block("run mine.yaml") * 2 + block("step query -s mine.yaml"))
    told = refused(page, quotes + block("run mine.yaml") + block("run mine.yaml --decimals 1"))
    before = 2 * once + 2 * load
    assert told == (
        f"8:1: to compute about {once:,} products after {before:,} for earlier marks, "
        f"expected at most {3 * once + load:,} in a file; the command can be run by hand"
    )


def test_outputs_are_bounded(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_CHARACTERS", 1000)
    woven(page, block("step query -s mine.yaml"))
    told = refused(page, block("step query -s mine.yaml") * 4)
    assert "1:1: " not in told
    assert "an output of " in told


def test_the_number_and_length_of_marks_are_bounded(page: Path) -> None:
    one = "<!-- decoder-trace: value input[1,1] -s mine.yaml --><!-- /decoder-trace -->\n\n"
    woven_once(page, one * 2000)
    page.write_text(one * 2001)
    told = f"{page}: 2,001 marks, expected at most 2,000 in a file\n"
    assert run("weave", str(page)) == Ran(2, "", told)
    long = f"run mine.yaml --given 'embedding=[{'1, ' * 4000}1]'"
    said = f"1:1: a mark of {len(long) + 2:,} characters, expected at most 10,000"
    assert refused(page, block(long)) == said


def test_the_same_is_made_once(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answered, traced = list[Request](), list[PassOptions]()

    def text_about(request: PassRequest, computed: resolve.Computed) -> Content:
        answered.append(request)
        return explained(request, computed)

    def run_pass(loaded: Loaded, options: PassOptions) -> Trace:
        traced.append(options)
        return computed(loaded, options)

    explained, computed = PassRequest.text_about, resolve.run_pass
    monkeypatch.setattr(PassRequest, "text_about", text_about)
    monkeypatch.setattr(resolve, "run_pass", run_pass)
    text = "".join(number(f"value input[{n},1] -s mine.yaml") for n in (1, 2, 1, 2, 1))
    page.write_text(text + block("run mine.yaml") + block("step query -s mine.yaml -f json") * 2)
    assert run("weave", str(page)) == Ran(0, "", "")
    assert (len(answered), len(traced)) == (4, 1)
    page.write_text(block("step softmax -s mine.yaml --no-mask") + number("value loss -s pizza"))
    assert run("weave", str(page)) == Ran(0, "", "")
    assert len(traced) == 3


def test_a_chapter_is_woven(page: Path) -> None:
    """300 quotes and 40 blocks, generated texts among them."""
    quotes = [
        f"value input[{t},{f}] -s {s}" for s in ("alex", "pizza") for t in (1, 2) for f in (1, 2, 3)
    ]
    steps = ("query", "scores", "softmax", "residual", "attention", "ffn", "norm", "output")
    commands = [f"step {s} -s alex -t {t}" for s in steps for t in (1, 2, 3, 4)]
    commands += ["tutorial alex", "run pizza", "generate pizza --worked", "loss pizza"]
    blocks = "".join(map(block, [*commands, *commands[:8]]))
    text = "".join(number(quotes[n % len(quotes)]) for n in range(300)) + blocks
    assert "Turn" in woven_once(page, text)


LEARNS = (
    f"{SMALL}{VOCABULARY}training: [{{tokens: a b, targets: b a}}, {{tokens: b, targets: a}}]\n"
)
OTHER = "--text '<START> Me la la la' --token gusta"
HEAD = "layer2.attention.head1.output"
TWO = "compare mine.yaml other.yaml"
LARGE = "dimensions: {layers: 3, width: 8, heads: 2, words: 9, context: 7}\nrandom: {seed: 1}\n"


@pytest.mark.parametrize(
    "mark",
    [
        "run mine.yaml",
        "run mine.yaml --vary 1",
        "tutorial mine.yaml --train",
        "run large.yaml",
        "step softmax -s mine.yaml --no-mask",
        "steps large.yaml",
        "shapes large.yaml",
        "value input[1,1] -s mine.yaml",
        "value gradient.layer1.ffn.W_1[1,1] -s mine.yaml",
        "why output[1,1] -s mine.yaml",
        "lens large.yaml",
        "loss mine.yaml",
        "tutorial mine.yaml",
        "tutorial mine.yaml --vary 1",
        "generate mine.yaml --max-tokens 3",
        "train mine.yaml --steps 2",
        TWO,
        "compare mine.yaml --text a",
        "compare mine.yaml --train --steps 3",
        "compare mine.yaml --train --given layer1.ffn.output=0",
        *(f"compare pizza {OTHER} --sweep {sites}" for sites in ("heads", "layers", "tokens")),
        f"compare pizza {OTHER} --sweep heads --patch input[Me] --given {HEAD}=0",
    ],
)
def test_every_pass_is_charged_and_a_scenario_loaded_once(
    mark: str, page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those in floats, by which a text about gradients checks its sentences, cost next to none."""
    page.with_name("mine.yaml").write_text(LEARNS)
    page.with_name("large.yaml").write_text(LARGE)
    page.with_name("other.yaml").write_text(LEARNS.replace("[1, 0]", "[0, 1]"))
    loaded, computed, charged = list[str](), list[int](), list[int]()

    def counted_trace(*given: Any, **options: Any) -> Trace:
        found = trace(*given, **options)
        if given[2].arithmetic is None:  # the scenario's own
            computed.append(1 + len(found.others))
        return found

    def counted_load(*given: Any) -> Loaded:
        loaded.append(given[0])
        return load(*given)

    def charge(engine: LimitedEngine, subject: resolve.Subject, passes: int, *more: int) -> None:
        charged.append(passes)

    monkeypatch.setattr(LimitedEngine, "charge", charge)
    for command in FILES:
        load_command(command)  # or it would keep what it imports now
    for name, module in list(sys.modules.items()):
        for old, new in ((trace, counted_trace), (load, counted_load)):
            if name.startswith("tracer.") and getattr(module, old.__name__, None) is old:
                monkeypatch.setattr(module, old.__name__, new)
    directives.renderer(page)(tuple(shlex.split(mark)), None)
    assert sum(computed) <= sum(charged), (computed, charged)
    assert len(loaded) == len(set(loaded)) == (2 if mark.startswith(TWO) else 1)


@pytest.mark.parametrize(("command", "reads_all"), [("run", False), ("lens", True)])
def test_the_lens_of_a_large_model_is_charged(
    command: str, reads_all: bool, page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page.with_name("large.yaml").write_text(LARGE)
    found = list[Cost]()
    monkeypatch.setattr(
        LimitedEngine, "charge", lambda engine, subject, *_: found.append(engine.costs[subject])
    )
    render = directives.renderer(page)
    render((command, "large.yaml"), None)
    scenario = load(str(page.with_name("large.yaml"))).scenario
    assert cost(scenario, lens=reads_all) in found
    assert cost(scenario).records < cost(scenario, lens=True).records
