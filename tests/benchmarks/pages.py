"""How long a reader waits for a page, in a real browser."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from tests.benchmarks.processes import printed, program

TOKENS = 60

CLICK = """() => new Promise(done => {
  const cells = [...document.querySelectorAll("table.matrix td[data-of]")];
  const times = [];
  const click = i => {
    if (i === 9) return done(times.sort((a, b) => a - b)[4]);
    const cell = cells[Math.floor(cells.length * (i + 0.5) / 9)];
    cell.scrollIntoView();
    setTimeout(() => {
      const start = performance.now();
      cell.dispatchEvent(new MouseEvent("mousedown", {bubbles: true, cancelable: true}));
      requestAnimationFrame(() => setTimeout(() => {
        times.push(performance.now() - start);
        click(i + 1);
      }));
    }, 50);
  };
  click(0);
})"""
"""Milliseconds until what a click has changed is drawn, in the middle of nine."""


def written(scenario: str, folder: Path) -> Path:
    """A scenario's page."""
    html = folder / f"{Path(scenario).stem}.html"
    printed(program("page", scenario, "-o", str(html)))
    return html


def ready(browser: Any, html: Path, rounds: int) -> float:
    """Milliseconds until numbers can be pointed at."""
    times = []
    for _ in range(rounds):
        page = browser.new_page()
        start = time.perf_counter()
        page.goto(html.as_uri())
        page.wait_for_selector("body.ready", state="attached")
        times.append(1000 * (time.perf_counter() - start))
        page.close()
    return sorted(times)[rounds // 2]


def click(browser: Any, html: Path) -> float:
    """Milliseconds until the line of a number is drawn."""
    page = browser.new_page()
    page.goto(html.as_uri())
    page.wait_for_selector("body.ready", state="attached")
    taken = float(page.evaluate(CLICK))
    page.close()
    return taken


def sixty_tokens(folder: Path) -> Path:
    """A scenario of 60 tokens of 4 features, with two heads."""
    words = [f"w{i}" for i in range(TOKENS)]
    head = f"{{W_Q: {_rows(2)}, W_K: {_rows(2)}, W_V: {_rows(2)}}}"
    file = folder / "sixty.yaml"
    vectors = {
        word: [i % 9 / 10, -(i % 7) / 10, i % 5 / 10, i % 4 / 10] for i, word in enumerate(words)
    }
    rows = "".join(f"  {word}: {vector}\n" for word, vector in vectors.items())
    layers = f"layers: [{{attention: {{heads: [{head}, {head}]}}}}]\n"
    text = f"title: Sixty\ntokens: {words}\nembeddings:\n{rows}{layers}"
    file.write_text(text, encoding="utf-8")
    return file


def _rows(columns: int) -> list[list[float]]:
    return [[(3 * i + 5 * j) % 7 / 10 for j in range(columns)] for i in range(4)]
