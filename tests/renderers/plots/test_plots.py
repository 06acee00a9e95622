"""Plots: places, lengths and widths are those of the numbers, which are read from JSON."""

from __future__ import annotations

import math
import re
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias
from xml.etree import ElementTree

import pytest

from tests.helpers.command import printed, run_json
from tracer.formula.expression import Number
from tracer.lesson import document as doc
from tracer.renderers.plots.illustrations import plot_of
from tracer.renderers.plots.marks import Label, plain

SVG = "{http://www.w3.org/2000/svg}"
SCENARIOS = ("alex", "pizza", "science", "comics", "picture", "experts")
every_scenario = pytest.mark.parametrize("name", SCENARIOS)
Spot: TypeAlias = tuple[float, float]


class Picture:
    """An illustration in a file."""

    def __init__(self, path: Path) -> None:
        self.root = ElementTree.fromstring(path.read_bytes())
        self.address, self.kind = path.stem.partition(".")[2].rpartition(".")[::2]
        self.description = self.root.findtext(f"{SVG}desc") or ""
        self.texts = ["".join(each.itertext()) for each in self.root.iter(f"{SVG}text")]

    def all(self, tag: str, color: str) -> list[dict[str, str]]:
        elements = self.root.iter(f"{SVG}{tag}")
        return [e.attrib for e in elements if (e.get("class") or "").split()[0] == color]

    def labels(self, color: str) -> list[tuple[str, float, float]]:
        return [
            ("".join(e.itertext()), float(e.attrib["x"]), float(e.attrib["y"]))
            for e in self.root.iter(f"{SVG}text")
            if (e.get("class") or "").split()[0] == color
        ]

    def paths(self, color: str) -> list[tuple[list[Spot], float]]:
        """The points of each path, and its width."""
        return [
            (
                [(float(x), float(y)) for x, y in re.findall(r"(-?[\d.]+) (-?[\d.]+)", e["d"])],
                float(e["stroke-width"]),
            )
            for e in self.all("path", color)
        ]


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The pictures of a scenario's tutorial by their kind."""

    @cache
    def of(name: str) -> dict[str, list[Picture]]:
        folder = tmp_path_factory.mktemp(name)
        printed("tutorial", name, "--detail", "full", "--figures", str(folder))
        found: dict[str, list[Picture]] = {}
        for path in sorted(folder.glob("*.svg")):
            picture = Picture(path)
            found.setdefault(picture.kind, []).append(picture)
        return found

    return of


@cache
def values(name: str) -> dict[str, Any]:
    return {value["address"]: value for value in run_json(name)["values"]}


def last(name: str, address: str) -> tuple[list[float], list[str]]:
    """The numbers of the last token, which is followed, and how they are printed."""
    value = values(name)[address]
    return [float(n) for n in value["data"][-1]], value["printed"][-1]


def labels(name: str, address: str, axis: int = 1) -> list[str]:
    found: list[str] = values(name)[address]["axes"][axis]["labels"]
    return found


def shown(label: str) -> str:
    return label.replace(" ", "␣") if label != label.strip() else label


def masked_scores(name: str, head: str) -> str:
    """The address of what the softmax of a head reads."""
    masked = f"{head}.masked"
    return masked if masked in values(name) else f"{head}.scores"


# --- arcs ----------------------------------------------------------------------------------------


@every_scenario
def test_arcs_are_as_wide_as_their_weights(name: str, drawn: Any) -> None:
    of_followed = [each for each in drawn(name).get("arcs", ()) if "unmasked" not in each.address]
    heads = [a for a in values(name) if a.endswith(".weights") and ".head" in a]
    heads = [a for a in heads if len(values(name)[a]["data"][0]) > 1]
    assert {each.address for each in of_followed} == {a for a in heads if "encoder" not in a} | {
        each.address for each in of_followed if "encoder" in each.address
    }
    for picture in of_followed:
        if picture.address not in values(name):
            continue  # the encoder's follow another token
        data = values(name)[picture.address]["data"]
        numbers, words = last(name, picture.address)
        seen = [(j, n) for j, n in enumerate(numbers) if n]
        own = picture.paths("positive")
        assert [width for _, width in own] == pytest.approx([16 * n for _, n in seen], abs=0.01)
        others = [16 * n for row in data[:-1] for n in row if n]
        assert [width for _, width in picture.paths("other")] == pytest.approx(others, abs=0.01)
        weights = picture.labels("positive")
        assert [text for text, _, _ in weights] == words
        across = [x for _, x, _ in weights]
        crosses = "cross_attention" in picture.address
        for (points, _), (j, _) in zip(own, seen, strict=True):
            end = points[-1][0] - (14 if j == len(numbers) - 1 and not crosses else 0)
            assert end == pytest.approx(across[j], abs=0.1)
        tokens = [shown(t) for t in labels(name, picture.address)]
        said = [f"{t} ({w})" for t, w, n in zip(tokens, words, numbers, strict=True) if n]
        assert picture.description.endswith(f" attends to {', '.join(said)}.")


# --- bars ----------------------------------------------------------------------------------------


def lengths(picture: Picture) -> list[list[float]]:
    """The signed lengths of the bars, for each group from its axis on."""
    axes = [points[0][0] for points, _ in picture.paths("axis")]
    found: list[list[float]] = [[] for _ in axes]
    bars = [
        (float(e["y"]), float(e["x"]), float(e["width"]), color)
        for color in ("positive", "negative")
        for e in picture.all("rect", color)
    ]
    for _, x, width, color in sorted(bars):
        start = x if color == "positive" else x + width
        group = min(range(len(axes)), key=lambda i: abs(axes[i] - start))
        assert start == pytest.approx(axes[group], abs=0.06)
        found[group].append(width if color == "positive" else -width)
    return found


def proportional(found: list[float], numbers: list[float]) -> bool:
    """Whether the lengths are those of the numbers; -∞ has none."""
    finite = [n if math.isfinite(n) else 0.0 for n in numbers]
    whole, span = (max(0, *each) - min(0, *each) for each in (found, finite))
    return found == pytest.approx([n / (span or 1) * whole for n in finite], abs=0.2)


@every_scenario
def test_bars_from_scores_to_weights(name: str, drawn: Any) -> None:
    for picture in drawn(name).get("softmax", ()):
        head = picture.address.removesuffix(".weights")
        if f"{head}.weights" not in values(name):
            continue
        addresses = (masked_scores(name, head), f"{head}.exp", f"{head}.weights")
        rows = [last(name, address) for address in addresses]
        for found, (numbers, _) in zip(lengths(picture), rows, strict=True):
            assert proportional(found, numbers)
        words = [each.replace("-inf", "-∞") for _, row in rows for each in row]
        assert [w for w in picture.texts if w in words] != []
        for token, *of_token in zip(
            labels(name, addresses[2]), *(row for _, row in rows), strict=True
        ):
            assert f"{shown(token)}: {', '.join(of_token)}" in picture.description


@every_scenario
def test_the_most_probable_words_come_first(name: str, drawn: Any) -> None:
    if "probabilities" not in values(name):
        assert "words" not in drawn(name)
        return
    (picture,) = drawn(name)["words"]
    numbers, words = last(name, "probabilities")
    order = sorted(range(len(numbers)), key=lambda j: -numbers[j])
    most = order if len(order) <= 9 else order[:8]
    expected = [numbers[j] for j in most]
    if rest := [numbers[j] for j in order[len(most) :]]:
        expected.append(sum(rest))
        assert f"{len(rest)} other words: " in picture.description
    (found,) = lengths(picture)
    assert found == pytest.approx([n / max(expected) * max(found) for n in expected], abs=0.3)
    assert [t for t, _, _ in picture.labels("ink") if t in words][: len(most)] == [
        words[j] for j in most
    ]


@every_scenario
def test_the_followed_token_before_and_after(name: str, drawn: Any) -> None:
    for picture in drawn(name).get("profile", ()):
        found = lengths(picture)
        rows = [last(name, address)[0] for address in ("input", "output")]
        together = [length for group in found for length in group]
        # Both have the scale of the larger one; what bounds them is the same for both.
        assert proportional(together, [n for row in rows for n in row])
        words = zip(
            labels(name, "input"), *(last(name, a)[1] for a in ("input", "output")), strict=False
        )
        said = "; ".join(f"{shown(label)}: {before}, {after}" for label, before, after in words)
        assert picture.description.endswith(f" of {said}.")


# --- graphs --------------------------------------------------------------------------------------


def scale(ticks: list[tuple[str, float]]) -> Any:
    """The number at a height, by two numbers that stand beside the axis."""
    (low, y), *_, (high, top) = sorted((float(t.replace("−", "-")), at) for t, at in ticks)
    return lambda at: low + (at - y) * (high - low) / (top - y)


def relu(x: float) -> float:
    return max(0.0, x)


def gelu(x: float) -> float:
    return x * (1 + math.erf(x / math.sqrt(2))) / 2


def silu(x: float) -> float:
    return x / (1 + math.exp(-x))


@pytest.mark.parametrize(
    ("function", "own"), [("relu", relu), ("gelu", gelu), ("gelu_tanh", gelu), ("silu", silu)]
)
def test_the_curve_of_an_activation(function: str, own: Any, tmp_path: Path) -> None:
    vectors = "[[-2, 0.5, 5.5, 0], [1, -0.25, 0.125, 3]]"
    identity = "[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]"
    ffn = f"{{W_1: {identity}, activation: {function}, W_2: {identity}}}"
    text = f"title: T\ntokens: [a, b]\nembeddings: {vectors}\nlayers: [{{ffn: {ffn}}}]\n"
    hidden = [1, -0.25, 0.125, 3]
    printed("run", "-", "--figures", str(tmp_path), stdin=text)
    (path,) = tmp_path.glob("*.curve.svg")
    picture = Picture(path)
    (points, _), *_ = picture.paths("positive")
    height = scale([(t, y - 4.5) for t, _, y in picture.labels("faint") if t.lstrip("-").isdigit()])
    left, right = points[0][0], points[-1][0]

    def across(x: float) -> float:
        return -3 + 6 * (x - left) / (right - left)

    assert len(points) > 40
    for x, y in points:
        assert height(y) == pytest.approx(own(across(x)), abs=0.02)
    dots = [(float(e["cx"]), float(e["cy"])) for e in picture.all("circle", "negative")]
    assert [across(x) for x, _ in dots] == pytest.approx(hidden, abs=0.02)
    assert [height(y) for _, y in dots] == pytest.approx([own(x) for x in hidden], abs=0.02)
    assert "h₁ (1.000): " in picture.description


@every_scenario
def test_waves_are_the_sines(name: str, drawn: Any) -> None:
    if "position.sin" not in values(name):
        assert "waves" not in drawn(name)
        return
    (picture,) = (each for each in drawn(name)["waves"] if each.address == "position")
    sines = values(name)["position.sin"]["data"]
    positions = [float(n) for n in values(name)["position.index"]["data"]]
    rates = [float(n) for n in values(name)["position.div_term"]["data"]]
    curves = picture.paths("positive")
    ticks = [(t, y - 4.5) for t, _, y in picture.labels("faint") if t in ("-1", "0", "1")]
    each = len(ticks) // len(curves)
    dots = [float(e["cy"]) for e in picture.all("circle", "negative")]
    for j, (points, _) in enumerate(curves):
        height = scale(ticks[each * j : each * (j + 1)])
        ends = points[0][0], points[-1][0]
        for x, y in points:
            share = (x - ends[0]) / (ends[1] - ends[0])
            at = positions[0] + share * (positions[-1] - positions[0])
            assert height(y) == pytest.approx(math.sin(at * rates[j]), abs=0.03)
        own = dots[len(positions) * j : len(positions) * (j + 1)]
        assert [height(y) for y in own] == pytest.approx([row[j] for row in sines], abs=0.03)
        tokens = map(shown, labels(name, "position.sin", 0))
        printed_rows = zip(
            tokens,
            values(name)["position.index"]["printed"],
            (row[j] for row in values(name)["position.sin"]["printed"]),
            strict=False,
        )
        points_in_words = (f"{token} ({at}): {sine}" for token, at, sine in printed_rows)
        assert f"at {', '.join(points_in_words)}" in picture.description


# --- arrows --------------------------------------------------------------------------------------


@every_scenario
def test_arrows_are_queries_and_keys(name: str, drawn: Any) -> None:
    for picture in drawn(name).get("arrows", ()):
        head = picture.address.removesuffix(".scores")
        if f"{head}.query" not in values(name) or f"{head}.key" not in values(name):
            continue
        query, _ = last(name, f"{head}.query")
        keys = values(name)[f"{head}.key"]["data"]
        of_keys = labels(name, f"{head}.key", 0)
        columns = range(len(query))
        if len(query) > 2:
            scores, _ = last(name, f"{head}.scores")
            masked, _ = last(name, masked_scores(name, head))
            seen = [j for j, n in enumerate(masked) if math.isfinite(n)]
            best = max(seen, key=lambda j: scores[j])
            ranked = sorted(columns, key=lambda j: -query[j] * keys[best][j])
            columns = sorted(ranked[:2])  # type: ignore[assignment]
            assert picture.description.endswith(
                f" 2 of {len(query)} columns: those that add most to the score for "
                f"{shown(of_keys[best])}."
            )
        expected = [[vector[j] for j in columns] for vector in (*keys, query)]
        rows = [last(name, f"{head}.query")[1], *values(name)[f"{head}.key"]["printed"]]
        owners = ["query", *map(shown, of_keys)]
        said = [
            f"{owner} ({', '.join(row[j] for j in columns)})"
            for owner, row in zip(owners, rows, strict=True)
        ]
        assert f": {'; '.join(said)}." in picture.description
        paths = picture.paths("negative") + picture.paths("positive")
        shafts = [points for points, _ in paths if len(points) == 2]
        tips = [(end[0] - start[0], start[1] - end[1]) for start, end in shafts]
        assert all(start == shafts[0][0] for start, _ in shafts)
        size = max(abs(n) for tip in tips for n in tip)
        whole = max(abs(n) for vector in expected for n in vector)
        nonzero = [vector for vector in expected if any(vector)]
        for tip, vector in zip(tips, nonzero, strict=True):
            assert [n / size for n in tip] == pytest.approx([n / whole for n in vector], abs=2e-3)


# --- heat maps -----------------------------------------------------------------------------------


def depths(picture: Picture, color: str) -> list[float]:
    return [float(e.get("fill-opacity", "1")) for e in picture.all("rect", color)]


@every_scenario
def test_all_heads_of_an_attention(name: str, drawn: Any) -> None:
    """The cells from map to map; one of 0 is empty."""
    concatenated = [a for a in values(name) if a.endswith(".concat")]
    several = [a for a in concatenated if a.replace("concat", "head2.weights") in values(name)]
    found = {each.address: each for each in drawn(name).get("heads", ())}
    assert set(found) == set(several)
    for address, picture in found.items():
        place = address.removesuffix("concat")
        heads = [a for a in values(name) if re.fullmatch(rf"{place}head\d+\.weights", a)]
        cells = [n for a in heads for row in values(name)[a]["data"] for n in row if n]
        assert depths(picture, "positive") == pytest.approx(cells, rel=0.01, abs=1e-9)
        said = []
        for i, head in enumerate(heads, 1):
            numbers, words = last(name, head)
            most = [j for j, n in enumerate(numbers) if n == max(numbers)]
            names = " and ".join(shown(labels(name, head)[j]) for j in most)
            said.append(f"in head {i} {names} ({words[most[0]]})")
        row = shown(labels(name, heads[0], 0)[-1])
        assert picture.description.endswith(f" in the row of {row}: {'; '.join(said)}.")


@every_scenario
def test_position_vectors(name: str, drawn: Any) -> None:
    if "position" not in values(name):
        assert not {"heat", "distance"} & set(drawn(name))
        return
    rows, words = (values(name)["position"][key] for key in ("data", "printed"))
    (picture,) = (each for each in drawn(name)["heat"] if each.address == "position")
    largest = max(abs(n) for row in rows for n in row)
    for color, sign in (("positive", 1), ("negative", -1)):
        cells = [sign * n / largest for row in rows for n in row if sign * n > 0]
        assert depths(picture, color) == pytest.approx(cells, rel=0.01, abs=1e-9)
    ends = []
    for label, numbers, said in zip(
        labels(name, "position"), zip(*rows, strict=True), zip(*words, strict=True), strict=True
    ):
        low, high = (said[numbers.index(end(numbers))] for end in (min, max))
        ends.append(f"{shown(label)} {low} and {high}")
    assert picture.description.endswith(f" of each column: {'; '.join(ends)}.")


@every_scenario
def test_dot_products_of_positions_by_distance(name: str, drawn: Any) -> None:
    """Of the followed position, which is the last, with each before it: Σ cos(ω·distance)."""
    if "position.sin" not in values(name):
        assert "distance" not in drawn(name)
        return
    (picture,) = (each for each in drawn(name)["distance"] if each.address == "position")
    rows = values(name)["position"]["data"]
    width = len(rows[0])
    frequencies = [10000 ** (-k / width) for k in range(0, width, 2)]
    products = [sum(math.cos(w * apart) for w in frequencies) for apart in range(len(rows))]
    (found,) = lengths(picture)
    assert proportional(found, products)
    said = re.findall(r"distance (\d+): (-?\d+\.?\d*)", picture.description)
    assert [int(distance) for distance, _ in said] == list(range(len(rows)))
    decimals = max(len(number.partition(".")[2]) for _, number in said)
    assert [float(n) for _, n in said] == pytest.approx(products, abs=0.5001 * 10**-decimals)
    text = printed("tutorial", name)
    rows_of_table = [f"| {distance} | {number} |" for distance, number in said]
    assert "\n".join(rows_of_table) in text


# --- paths ---------------------------------------------------------------------------------------


@every_scenario
def test_paths_are_those_of_the_vectors(name: str, drawn: Any) -> None:
    (picture,) = drawn(name)["plane"]
    own = values(name)
    features = labels(name, "input")
    ends = (last(name, address)[0] for address in ("input", "output"))
    changes = [abs(b - a) for a, b in zip(*ends, strict=True)]
    assert len(features) == len(changes) > 1
    axes = re.search(r", as arrows, by (.+?) and (.+?): ", picture.description)
    assert axes
    columns = [features.index(axis) for axis in axes.groups()]
    others = [change for j, change in enumerate(changes) if j not in columns]
    assert columns[0] < columns[1]
    assert not others or min(changes[j] for j in columns) >= max(others)
    assert (f"2 of {len(features)} features; no other" in picture.description) == bool(others)
    for i, token in enumerate(map(shown, labels(name, "input", 0))):
        path = re.search(rf"[:;] {re.escape(token)}: (.+?)[;.](?: |$)", picture.description)
        assert path
        stations = re.findall(r"(input|after [^(]+|output) \((\S+), (\S+)\)", path[1])
        assert stations[0][0] == "input"
        for where, address in ((0, "input"), (-1, "output")):
            assert list(stations[where][1:]) == [own[address]["printed"][i][j] for j in columns]
    tokens = len(labels(name, "input", 0))
    dots = [*picture.all("circle", "negative"), *picture.all("circle", "positive")]
    starts = [(float(e["cx"]), float(e["cy"])) for e in dots]
    assert len(starts) == tokens
    inputs = [[row[j] for j in columns] for row in own["input"]["data"]]
    scale = [b - a for a, b in zip(starts[0], starts[-1], strict=True)]
    of_inputs = [b - a for a, b in zip(inputs[0], inputs[-1], strict=True)]
    size = math.hypot(*scale) / math.hypot(*of_inputs)
    for start, vector in zip(starts, inputs, strict=True):
        x, y = (a - b for a, b in zip(vector, inputs[0], strict=True))
        moved = start[0] - starts[0][0], starts[0][1] - start[1]
        assert moved == pytest.approx((size * x, size * y), abs=0.3)


# --- where nothing is drawn ----------------------------------------------------------------------


def scenario(vectors: list[list[str]], more: str = "") -> str:
    """Tokens with these embeddings, one head that reads them as they are, and an FFN."""
    width = len(vectors[0])
    one = [["1" if i == j else "0" for j in range(width)] for i in range(width)]
    matrix, rows = (str(each).replace("'", "") for each in (one, vectors))
    head = f"{{W_Q: {matrix}, W_K: {matrix}, W_V: {matrix}}}"
    tokens = [f"t{i}" for i in range(len(vectors))]
    ffn = f"{{W_1: {matrix}, activation: silu, W_2: {matrix}}}"
    layer = f"{{attention: {{heads: [{head}], scale: none}}, ffn: {ffn}}}"
    return f"title: T\ntokens: {tokens}\nembeddings: {rows}\nlayers: [{layer}]\n{more}"


def kinds(text: str, folder: Path, *arguments: str) -> set[str]:
    """The kinds of the pictures of a tutorial; it has a page and is LaTeX as well."""
    more = ("--figures", str(folder), "--force")
    printed("tutorial", "-", *arguments, *more, stdin=text)
    assert "picture" in printed("tutorial", "-", "-f", "latex", stdin=text)
    printed("page", "-", "-o", str(folder / "page.html"), "--force", stdin=text)
    return {path.stem.rpartition(".")[2] for path in folder.glob("*.svg")} - {"model", "weights"}


EVERY = {"arcs", "softmax", "arrows", "curve", "profile", "plane"}

CASES = {
    "usual": ([["1", "2"], ["0.5", "-1"], ["3", "0"]], EVERY),
    "equal": ([["1", "1"], ["1", "1"], ["1", "1"]], EVERY),
    "zero": ([["0", "0"], ["0", "0"]], EVERY - {"plane"}),  # nothing moves
    "one token": ([["1", "2"]], {"curve", "profile", "plane"}),
    "thirteen tokens": ([["1", "2"]] * 13, {"curve", "profile"}),
    "one column": ([["1"], ["2"]], EVERY - {"arrows", "profile", "plane"}),
    "seventeen columns": ([["0.1"] * 17] * 2, {"arcs", "softmax"}),
    "tiny": ([["1e-40", "0"], ["1e-40", "1e-39"]], EVERY),
    "large": ([["150", "0"], ["-3", "200"]], EVERY - {"curve"}),
}


@pytest.mark.parametrize("case", CASES)
def test_only_what_can_be_seen_is_drawn(case: str, tmp_path: Path) -> None:
    vectors, expected = CASES[case]
    mask = "none" if case == "equal" else "causal"
    assert kinds(scenario(vectors, f"mask: {mask}\n"), tmp_path) == expected


@pytest.mark.parametrize(
    ("width", "more", "expected"),
    [
        (4, "", {"waves", "heat", "distance"}),
        (3, "", {"waves", "heat"}),  # the last sine has no cosine
        (4, "given: {position: [[1, 2, 3, 4], [0, 0, 1, 0]]}\n", {"heat"}),
    ],
)
def test_positions(width: int, more: str, expected: set[str], tmp_path: Path) -> None:
    vectors = [[str(i + j) for j in range(width)] for i in range(2)]
    found = kinds(scenario(vectors, f"positions: {{sinusoidal: {{start: 1}}}}\n{more}"), tmp_path)
    assert found & {"waves", "heat", "distance"} == expected


def test_a_worksheet_has_no_illustrations(tmp_path: Path) -> None:
    assert kinds(scenario(CASES["usual"][0]), tmp_path, "--blanks") == set()


def test_long_names_of_an_axis_are_whole() -> None:
    """Those of the query's column and of the key's are too long for one line together."""
    names = ("what is looked for", "what is there"), ("a", "b")
    arrow = doc.Trail("query", (doc.Point("", Number.of(1), Number.of(2)),))
    plot = plot_of(doc.Plane(doc.Figure("name", "Title"), arrow, (arrow,), names))
    said = [plain(mark.words) for mark in plot.marks if isinstance(mark, Label)]
    assert {*names[0], "a, b"} < set(said)
