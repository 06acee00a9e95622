"""Pictures of the attention weights: valid, true to the numbers, and linked where they lie."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt

from tests.helpers.command import Ran, printed, run, run_json
from tests.helpers.random_scenarios import ODD_WORDS, Scenario, to_yaml

SCENARIOS = ("alex", "science", "pizza", "comics")
NAMESPACE = "{http://www.w3.org/2000/svg}"
every_scenario = pytest.mark.parametrize("name", SCENARIOS)


def pictures(folder: Path) -> dict[str, ElementTree.Element]:
    """The heat maps in a folder, read as XML; beside them only the picture of the model lies."""
    maps = [path for path in folder.iterdir() if not path.name.endswith(".model.svg")]
    assert len(maps) >= len(list(folder.iterdir())) - 1
    return {path.name: ElementTree.fromstring(path.read_bytes()) for path in maps}


def texts(picture: ElementTree.Element) -> list[str]:
    return ["".join(element.itertext()) for element in picture.iter(f"{NAMESPACE}text")]


def weights(name: str) -> dict[str, Any]:
    """The attention weights of a run by the file that shows them."""
    values = run_json(name)["values"]
    found = {v["address"]: v for v in values if v["address"].endswith(".weights")}
    return {f"{name}.{address}.svg": value for address, value in found.items()}


def odd_scenario(names: list[str]) -> str:
    one = [[Decimal(1)]]
    head = dict.fromkeys(["W_Q", "W_K", "W_V"], one)
    scenario: Scenario = {"title": "T", "tokens": names, "embeddings": one * len(names)}
    return to_yaml(scenario | {"layers": [{"attention": {"heads": [head]}}]})


def linked(markdown: str) -> list[tuple[str, str]]:
    """The pictures of a text: where they lie and what they show, in words."""
    blocks = MarkdownIt("commonmark").parse(markdown)
    images = [c for b in blocks for c in b.children or () if c.type == "image"]
    return [
        (unquote(str(image.attrs["src"])), "".join(part.content for part in image.children or ()))
        for image in images
    ]


@every_scenario
def test_one_picture_for_each_head(name: str, tmp_path: Path) -> None:
    printed("run", name, "--figures", str(tmp_path))
    expected = weights(name)
    assert set(pictures(tmp_path)) == set(expected)
    assert all(".attention.head" in file or ".cross_attention.head" in file for file in expected)


@every_scenario
def test_the_numbers_are_those_that_are_printed(name: str, tmp_path: Path) -> None:
    markdown = printed("run", name, "--format", "markdown", "--figures", str(tmp_path))
    tables = {  # the table in front of each link
        unquote(link).rpartition("/")[2]: table
        for table, link in re.findall(r"((?:^\|.*\n)+)\n!\[.*\]\((.*)\)$", markdown, re.MULTILINE)
    }
    for file, value in weights(name).items():
        rows = [
            line.strip("| ").replace("*", "").split(" | ") for line in tables[file].splitlines()
        ]
        numbers = [cell for row in rows[2:] for cell in row[1:]]
        title, *shown = texts(pictures(tmp_path)[file])
        assert title.startswith("Attention weights")
        assert [
            text for text in shown if re.fullmatch(r"[0-9.]+(×10[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)?", text)
        ] == numbers
        assert numbers == [] or len(numbers) == len(value["data"]) * len(value["data"][0])
        cells = pictures(tmp_path)[file].iter(f"{NAMESPACE}rect")
        shares = [c.get("fill-opacity") for c in cells if c.get("class") == "cell"]
        exact = [entry for row in value["data"] for entry in row]
        assert [float(share or "nan") for share in shares] == pytest.approx(exact, abs=0.002)


@every_scenario
def test_titles_and_colours(name: str, tmp_path: Path) -> None:
    printed("run", name, "--figures", str(tmp_path))
    titles = set()
    for picture in pictures(tmp_path).values():
        assert picture.tag == f"{NAMESPACE}svg"
        assert picture.get("role") == "img"
        first, second, style = list(picture)[:3]
        assert [first.tag, second.tag] == [f"{NAMESPACE}title", f"{NAMESPACE}desc"]
        assert (second.text or "").startswith(f"{first.text}: ")
        assert "prefers-color-scheme: dark" in (style.text or "")
        width, height = (float(picture.get(side) or 0) for side in ("width", "height"))
        assert picture.get("viewBox") == f"0 0 {width:g} {height:g}"
        for rect in picture.iter(f"{NAMESPACE}rect"):
            x, y, w, h = (float(rect.get(side) or 0) for side in ("x", "y", "width", "height"))
            assert 0 <= x < x + w <= width
            assert 0 <= y < y + h <= height
        titles.add(first.text)
    assert len(titles) == len(pictures(tmp_path))


def test_what_is_not_seen_without_the_mask(tmp_path: Path) -> None:
    arguments = ("step", "attention", "-s", "pizza", "--layer", "1", "--head", "1", "--no-mask")
    printed(*arguments, "--figures", str(tmp_path))
    title = {file: next(iter(picture)).text for file, picture in pictures(tmp_path).items()}
    at = "pizza.layer1.attention.head1"
    assert set(title) == {f"{at}.weights.svg", f"{at}.unmasked.weights.svg"}
    assert "without the mask" in (title[f"{at}.unmasked.weights.svg"] or "")
    assert "without the mask" not in (title[f"{at}.weights.svg"] or "")


def test_hostile_names(tmp_path: Path) -> None:
    names = list(dict.fromkeys(ODD_WORDS))
    markdown = printed(
        *("run", "-", "-f", "markdown", "--figures", str(tmp_path)), stdin=odd_scenario(names)
    )
    (picture,) = pictures(tmp_path).values()
    plain = [
        name for name in names if name.isprintable() and len(name) < 20 and name.strip(" ") == name
    ]
    assert [name for name in plain if texts(picture).count(name) < 2] == []
    assert {element.tag.removeprefix(NAMESPACE) for element in picture.iter()} == {
        *("svg", "title", "desc", "style", "text", "rect")
    }
    _, (path, description) = linked(markdown)
    assert (Path.cwd() / path).resolve().is_file()
    assert description == picture.findtext(f"{NAMESPACE}desc")


PLACES = {
    "beside": ("page.md", "."),
    "below": ("page.md", "figures"),
    "spaces": ("my text/a page.md", "my text/some (odd) pictures #1"),
    "elsewhere": ("text/page.md", "pictures/of heads"),
    "above": ("a/b/page.md", "pictures"),
}


@pytest.mark.parametrize("absolute", [False, True])
@pytest.mark.parametrize("place", PLACES)
def test_links(place: str, absolute: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page, folder = (str(tmp_path / part) if absolute else part for part in PLACES[place])
    (tmp_path / PLACES[place][0]).parent.mkdir(parents=True, exist_ok=True)
    ran = run("tutorial", "alex", "--output", page, "--figures", folder)
    assert ran == Ran(0, "", "")
    found = linked(Path(page).read_text(encoding="utf-8"))
    assert len(found) == 3  # the model, and its two heads
    for path, description in found:
        assert not Path(path).is_absolute()
        target = Path(page).parent / path
        assert target.is_file()
        picture = ElementTree.fromstring(target.read_bytes())
        assert picture.findtext(f"{NAMESPACE}desc") == description
    assert len(list(Path(folder).glob("*.svg"))) == 3


def test_no_pictures_where_none_are_asked_for(tmp_path: Path) -> None:
    assert linked(printed("tutorial", "alex")) == []
    ran = run("step", "ffn", "--figures", str(tmp_path / "none"))
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr.startswith("--figures: there are no pictures of this")
    assert not (tmp_path / "none").exists()
