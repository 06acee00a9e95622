"""The page goes on following its file, whatever a save brings."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.helpers import mutations
from tests.helpers.mutated_files import SEED
from tests.helpers.small_scenario import SMALL
from tracer.scenario.loading import text_of
from tracer.serve.session import Session

pytest.importorskip("starlette")
pytest.importorskip("watchfiles")


def title(name: str) -> str:
    return f"title: {name}\n{SMALL.partition(chr(10))[2]}"


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not holds():
            await asyncio.sleep(0.02)


def follow(file: Path, *saves: tuple[Callable[[], object], str]) -> None:
    """Follow a file while it is changed; after each change the page has a text."""
    from tracer.serve.application import Application
    from tracer.serve.watching import watch

    async def followed() -> None:
        application = Application(Session.of(*text_of(str(file))), "key")
        watching = asyncio.create_task(watch(application, file))
        await asyncio.sleep(0.5)  # until the folder is watched
        for save, shown in saves:
            save()
            await until(lambda shown=shown: shown in application.session.html)  # type: ignore[misc]
        assert not watching.done()
        watching.cancel()

    with ThreadPoolExecutor(1) as thread:  # a browser's tests leave a loop in this one
        thread.submit(lambda: asyncio.run(followed())).result()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "folder" / "my.yaml"
    file.parent.mkdir()
    file.write_text(title("First"))
    return file


def test_a_mistake_of_the_program_is_shown_and_survived(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = Session.follow

    def follow_most(session: Session, text: str) -> None:
        if "Fatal" in text:
            raise ZeroDivisionError("by a mistake")
        right(session, text)

    monkeypatch.setattr(Session, "follow", follow_most)
    told = "internal error, please report it: ZeroDivisionError: by a mistake"
    follow(
        file,
        (lambda: file.write_text(title("Fatal")), told),
        (lambda: file.write_text(title("Another")), "Another"),
    )


def test_what_cannot_even_be_shown_is_survived(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = Session._go

    def go(session: Session, text: str, *more: object, **named: object) -> None:
        if "Fatal" in file.read_text():
            raise RecursionError
        right(session, text, *more, **named)  # type: ignore[arg-type]

    def save_twice() -> None:
        file.write_text(title("Fatal"))
        asyncio.get_running_loop().call_later(0.5, file.write_text, title("Another"))

    monkeypatch.setattr(Session, "_go", go)
    follow(file, (save_twice, "Another"))


def test_a_folder_that_is_gone_for_a_while_is_survived(file: Path) -> None:
    def move_away() -> None:
        file.parent.rename(file.parent.with_name("away"))
        asyncio.get_running_loop().call_later(0.5, back)

    def back() -> None:
        file.parent.with_name("away").rename(file.parent)
        file.write_text(title("Another"))

    follow(
        file, (move_away, "Another"), (lambda: file.write_text(title("Yet another")), "Yet another")
    )


@pytest.mark.parametrize(
    "seeds",
    [range(10), pytest.param(range(1000 * SEED, 1000 * SEED + 300), marks=pytest.mark.fuzz)],
    ids=["few", "many"],
)
def test_whatever_is_saved_the_next_good_text_is_followed(seeds: range, file: Path) -> None:
    def saves(seed: int) -> tuple[Callable[[], object], str]:
        chance = random.Random(f"save {seed}")

        def save() -> None:
            text = mutations.mutated(SMALL, chance)
            file.write_text(text, encoding="utf-8", newline="")
            good = title(f"Save {seed}")
            asyncio.get_running_loop().call_later(0.2, file.write_text, good)

        return save, f"Save {seed}"

    follow(file, *map(saves, seeds))
