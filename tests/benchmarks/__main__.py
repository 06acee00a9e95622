"""Measures what the program takes beside programs that do as little as they can.

`python -m tests.benchmarks` runs all benchmarks, `python -m tests.benchmarks start wide` some.
Exit code 1 if any takes longer than its bound.
"""

from __future__ import annotations

import functools
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from tests.benchmarks import processes
from tests.benchmarks.generated import write_wide_scenario

ROUNDS, FEW_ROUNDS = 21, 7

START, VERSION, GROWTH, TAPE = 1.6, 1.15, 1.3, 1.15
THEIRS, OF_LIBRARY, PART, MEMORY = 1.5, 2.5, 0.25, 1.3
SUMMARY = 450
"""Megabytes that `run paris` may hold."""
WAY_BACK = 3.0

DEQUANTISED = 20 * (2 * 576 + 576 * (576 + 2 * 192 + 576) + 3 * 576 * 1536) * 8
"""Bytes of SmolLM2's layers 1 to 20."""

WIDE = 3.75
"""A sixth of what version 0.1.0 took at first: 22.4 to 23.6 times the anchor in five runs, 22.5 in
the middle (and 12.6 times its own `run alex`)."""

LINE, STEP = 10.0, 100.0
"""Milliseconds."""

MEGABYTE, AUDIT = 1_000_000, 3.0
"""Letters; seconds."""


READY, CLICK = {"alex": 1000.0, "pizza": 2000.0}, 100.0
"""Milliseconds that a reader of a page may wait."""


@dataclass(frozen=True)
class Measured:
    """What was measured, in which unit, and what it may be."""

    what: str
    figure: float
    bound: float
    unit: str = "×"

    @property
    def too_slow(self) -> bool:
        """Whether it is over its bound."""
        return self.figure > self.bound

    def row(self) -> str:
        """A line of the table."""
        verdict = "too slow" if self.too_slow else "ok"
        return f"{self.what:<62}{self.figure:>9.3f}{self.bound:>7.2f} {self.unit:<3} {verdict}"


def start() -> Iterator[Measured]:
    """A small scenario, beside a program that imports as much and prints a line."""
    taken = processes.cpu_times(
        {"run": processes.program("run", "alex"), "anchor": processes.ONE_COMMAND}, ROUNDS
    )
    yield Measured("run alex / a program with one command", taken["run"] / taken["anchor"], START)


def version() -> Iterator[Measured]:
    """The least that the program can do."""
    taken = processes.cpu_times(
        {"version": processes.program("--version"), "anchor": processes.TWO_COMMANDS}, ROUNDS
    )
    ratio = taken["version"] / taken["anchor"]
    yield Measured("--version / a program with two commands", ratio, VERSION)


def wide() -> Iterator[Measured]:
    """8 tokens of 64 features, 49,000 weights to read and long sums to write out."""
    with tempfile.TemporaryDirectory() as folder:
        scenario = write_wide_scenario(Path(folder), tokens=8)
        commands = {"run": processes.program("run", str(scenario)), "anchor": processes.ONE_COMMAND}
        taken = processes.cpu_times(commands, FEW_ROUNDS)
    ratio = taken["run"] / taken["anchor"]
    yield Measured("run of 8 tokens × 64 features / a program with one command", ratio, WIDE)


def growth() -> Iterator[Measured]:
    """Time per printed number, beyond what a small scenario takes, for more and more tokens."""
    sizes = (2, 4, 8)
    with tempfile.TemporaryDirectory() as folder:
        commands = {
            str(tokens): processes.program("run", str(write_wide_scenario(Path(folder), tokens)))
            for tokens in sizes
        }
        taken = processes.cpu_times(
            {"small": processes.program("run", "alex"), **commands}, FEW_ROUNDS
        )
        numbers = {
            n: len(re.findall(r"[0-9]+(?:\.[0-9]+)?", processes.printed(commands[n])))
            for n in commands
        }
    each = [(taken[n] - taken["small"]) / numbers[n] for n in commands]
    what = f"time per printed number, {sizes[-1]} tokens / {sizes[0]} tokens"
    yield Measured(what, max(each[1:]) / each[0], GROWTH)


def tape() -> Iterator[Measured]:
    """What it costs to keep a tape at the size of a real model, and to write a little of it."""
    import numpy as np

    from tests.benchmarks import plain_gpt2
    from tracer.__main__ import collect_seldom
    from tracer.decoder.forward import PassOptions, trace
    from tracer.formula.arithmetic import FLOATS

    collect_seldom()
    in_floats = PassOptions(arithmetic=FLOATS)
    model = plain_gpt2.random_model()
    for number, rounds in ((9, 31), (128, 13)):
        tokens = plain_gpt2.random_tokens(number)
        scenario = plain_gpt2.scenario(model, tokens)
        plain_times, taped_times = [], []
        for _ in range(rounds):
            plain_times.append(_cpu_of(lambda: plain_gpt2.plain(model, tokens)))  # noqa: B023
            taped_times.append(_cpu_of(lambda: trace("random", scenario, in_floats)))  # noqa: B023
        what = f"float64 tape of GPT-2 small's size / plain NumPy, {number} tokens"
        yield Measured(what, min(taped_times) / min(plain_times), TAPE)
    run = trace("random", plain_gpt2.scenario(model, plain_gpt2.random_tokens(9)), in_floats)
    expected = plain_gpt2.plain(model, plain_gpt2.random_tokens(9))[-1]
    assert np.allclose(run["probabilities"].numbers, expected, rtol=1e-9, atol=0)
    line, step = plain_gpt2.line_writer(run), plain_gpt2.step_writer(run)
    least = 1000 * min(_cpu_of(line) for _ in range(ROUNDS))
    yield Measured("one line of 768 products, written", least, LINE, "ms")
    least = 1000 * min(_cpu_of(step) for _ in range(ROUNDS))
    yield Measured("the scores of one head, written, of 144 heads", least, STEP, "ms")


def audited() -> Iterator[Measured]:
    """A megabyte of Markdown with four equations in each kilobyte, true ones and false ones."""
    from tracer.audit.judging.findings import audit
    from tracer.audit.reading.texts import Markup, Text

    page = processes.printed(processes.program("tutorial", "pizza"))
    megabyte = (page * (MEGABYTE // len(page) + 1))[:MEGABYTE]
    false = re.sub(r"([=≈] -?)(\d)", lambda f: f"{f[1]}{(int(f[2]) + 1) % 10}", megabyte)
    for what, content in (("", megabyte), (" with every result changed", false)):
        text = Text("page", content, Markup.MARKDOWN)
        least = min(_cpu_of(functools.partial(audit, text)) for _ in range(FEW_ROUNDS))
        yield Measured(f"audit of a megabyte of Markdown{what}", least, AUDIT, "s")


def way_back() -> Iterator[Measured]:
    """What the gradients of a pass take, beside that pass on the same tape."""
    from tests.benchmarks import learned
    from tracer.__main__ import collect_seldom

    collect_seldom()
    forward, learning = learned.passes()
    taken: list[tuple[float, float]] = []
    for _ in range(ROUNDS):
        taken.append((_cpu_of(forward), _cpu_of(learning)))
    one, both = (min(times) for times in zip(*taken, strict=True))
    what = f"way back / pass, {learned.TOKENS} tokens × {learned.WIDTH} features, in floats"
    yield Measured(what, (both - one) / one, WAY_BACK)


def trained() -> Iterator[Measured]:
    """SmolLM2, where its package is installed: the taped pass, a step, the memory of a layer."""
    from tests.benchmarks import plain_llama

    if find_spec(plain_llama.PACKAGE) is None:
        sys.stdout.write(f"{plain_llama.PACKAGE} is not installed\n")
        return
    yield from _trained_commands()
    import numpy as np

    from tracer.__main__ import collect_seldom

    collect_seldom()
    model = plain_llama.smollm2()
    assert np.allclose(plain_llama.taped(model), plain_llama.plain(model), rtol=1e-9, atol=0)
    sides: dict[str, Callable[[], object]] = {}
    sides |= {"taped": lambda: plain_llama.taped(model), "plain": lambda: plain_llama.plain(model)}
    if find_spec("transformers") and find_spec("torch"):
        sides["theirs"] = plain_llama.theirs(model)
        sides["library"] = plain_llama.of_library()
    taken: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(ROUNDS):
        for name, compute in sides.items():
            taken[name].append(_cpu_of(compute))
    least = {name: min(times) for name, times in taken.items()}
    yield Measured("taped pass of SmolLM2 / plain NumPy", least["taped"] / least["plain"], TAPE)
    if "theirs" in least:
        ratio = least["taped"] / least["theirs"]
        yield Measured("taped pass of SmolLM2 / transformers", ratio, THEIRS)
        ratio = least["library"] / least["theirs"]
        yield Measured("pass of SmolLM2 in the library / transformers", ratio, OF_LIBRARY)


def _trained_commands() -> Iterator[Measured]:
    """What commands take that show little of a trained model."""
    layer = processes.program("run", "paris", "--layer", "20", "--head", "4")
    step = processes.program("step", "scores", "--layer", "2", "--head", "1", "-s", "paris")
    taken = processes.cpu_times(
        {"run": processes.program("run", "paris"), "layer": layer, "step": step}, FEW_ROUNDS
    )
    yield Measured(
        "the scores of a head in layer 2 / run paris", taken["step"] / taken["run"], PART
    )
    yield Measured("layer 20 and a head of it / run paris", taken["layer"] / taken["run"], 1)
    memory = processes.peak_memory(layer) / DEQUANTISED
    summary = processes.peak_memory(processes.program("run", "paris")) / MEGABYTE
    yield Measured("memory of run paris", summary, SUMMARY, "MB")
    yield Measured("memory of layer 20 / the weights up to it in float64", memory, MEMORY)


def pages() -> Iterator[Measured]:
    """How long a reader waits for a page and for a click on it, where there is a browser."""
    from tests.benchmarks import pages
    from tests.helpers.browser import CHROMIUM, launched

    if find_spec("playwright") is None or not CHROMIUM.exists():
        sys.stdout.write("playwright or chromium is not installed\n")
        return
    with tempfile.TemporaryDirectory() as name, launched() as browser:
        folder = Path(name)
        for scenario, most in READY.items():
            taken = pages.ready(browser, pages.written(scenario, folder), FEW_ROUNDS)
            yield Measured(f"{scenario}'s page, until it can be pointed at", taken, most, "ms")
        sixty = pages.written(str(pages.sixty_tokens(folder)), folder)
        what = f"a click on the page of {pages.TOKENS} tokens"
        yield Measured(what, pages.click(browser, sixty), CLICK, "ms")


def _cpu_of(compute: Callable[[], object]) -> float:
    """The CPU time of a call in this process, in seconds."""
    before = time.process_time()
    compute()
    return time.process_time() - before


BENCHMARKS = {
    f.__name__: f for f in (start, version, wide, growth, tape, way_back, audited, trained, pages)
}


def main(names: list[str]) -> int:
    """Run the benchmarks of these names, or all."""
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        sys.stderr.write(f"no benchmark {', '.join(unknown)}, there are {', '.join(BENCHMARKS)}\n")
        return 2
    # Before NumPy is imported: threads that wait for work would count as work.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    sys.stdout.write(f"{'':<62}{'measured':>9}{'bound':>7}\n")
    slow = False
    for name in names or BENCHMARKS:
        for measured in BENCHMARKS[name]():
            sys.stdout.write(f"{measured.row()}\n")
            sys.stdout.flush()
            slow |= measured.too_slow
    return int(slow)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
