"""Load a scenario by name, path or from standard input, and validate it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from pydantic import BaseModel, ValidationError

from tracer.errors import Problem, TracerError
from tracer.files.reading import read_file, read_standard_input, reason
from tracer.files.targets import refused
from tracer.names import closest, did_you_mean, similar
from tracer.scenario.model import Scenario, Tied
from tracer.scenario.own_keys import keys_of, with_own_addresses
from tracer.scenario.parts import learned
from tracer.scenario.reader import LINE_BREAK, ScenarioSource, read, with_excerpts
from tracer.scenario.shapes import shapes
from tracer.scenario.shorthand import shorthand_problems, with_tokens, written_out
from tracer.scenario.sizes import data_at, is_tied

if TYPE_CHECKING:
    from tracer.checkpoints.opening import Checkpoint

Form = TypeVar("Form", bound=BaseModel)

Opened: TypeAlias = "MutableMapping[Path, Checkpoint]"
"""The checkpoints that are open; those of further scenarios are added."""

BEFORE_LAYERS = re.compile(r"\b(position|embedding|input)")
"""Beginnings of addresses of values that are computed before the layers."""

KEYS = (*Scenario.model_fields, "checkpoint", "dimensions")
KEY_OF_SCENARIO = re.compile(rf"^({'|'.join(KEYS)})[ \t]*:", re.MULTILINE)

DECIMAL_COMMAS = re.compile(r"\[[-+]?[0-9]+,[0-9]+(?:, +[-+]?[0-9]+,[0-9]+)+\]")
"""A row such as [0,95, 0,1], in which only every second comma has a space after it."""
COUNTED = re.compile("[0-9]+ (number|row|column)s?, expected")

STANDARD_INPUT = "-"
FIGURES = ".figures.yaml"
"""The ending of a figures file, which lies next to its scenario."""


def folder() -> Path:
    """Return the folder of the bundled scenarios."""
    package = Path(__file__).parent.parent
    # In the wheel they are inside the package; in a checkout they are next to it.
    return next(f for f in (package / "scenarios", package.parent / "scenarios") if f.is_dir())


def bundled() -> dict[str, Path]:
    """Return the bundled scenarios by name."""
    found = {path.stem: path for path in sorted(folder().glob("*.yaml"))}
    return {name: path for name, path in found.items() if not path.name.endswith(FIGURES)}


@dataclass(frozen=True)
class Origin:
    """Where a scenario comes from: its short name, its file, and the folder of paths in it."""

    name: str
    file: str
    folder: Path


@dataclass(frozen=True)
class Loaded:
    """A scenario, its short name, and the place of each part in its file."""

    name: str
    scenario: Scenario
    source: ScenarioSource
    text: str
    overrides: frozenset[str] = frozenset()
    """Addresses whose values the command line gives."""

    @contextmanager
    def locating_problems(self) -> Iterator[None]:
        """Add file and line to the problems raised in this context."""
        try:
            yield
        except TracerError as error:
            raise TracerError(*self.located(error.problems)) from None

    def located(self, problems: Sequence[Problem]) -> Iterable[Problem]:
        """Return problems with their file and line."""
        return _shown(tuple(map(self._located, problems)), self.text)

    def _located(self, problem: Problem) -> Problem:
        way, address = problem.yaml_path, problem.address or ""
        if way is None:
            return problem  # of an option or another file
        if way[:1] == ("given",):
            if address in self.overrides:
                return replace(problem, address=f"--given {address}")
            examples = self.scenario.training
            ways = [way, *(("training", i, *way) for i in range(len(examples)))]
            typed = [each for each in ways if data_at(self.source.data, each) is not None]
            typed = typed or [
                each for at in ways for each in keys_of(at, self.scenario, self.source)
            ]
            file = data_at(self.source.data, ("given",))
            if not typed and isinstance(file, str):
                address = f"{file}: {address}"
            way = typed[0] if typed else way
        if not way:  # outside of all layers
            way = ("embeddings" if BEFORE_LAYERS.search(address) else "unembedding",)
        return self.source.problem(way, problem.message, address or None)


def load(name: str, folder: Path = Path(), opened: Opened | None = None) -> Loaded:
    """Load a scenario from a path, a bundled name with or without `.yaml`, or `-`.

    `folder` is where a relative path starts. A checkpoint that is `opened` is not opened again.

    Raises:
        TracerError: there is no such scenario, it cannot be read, or it has problems.
    """
    return load_text(*text_of(name, folder), opened)


def load_data(data: Mapping[str, Any]) -> Loaded:
    """Load a scenario from its keys; its problems have addresses but no lines.

    Raises:
        TracerError: everything that is wrong with it.
        TypeError: there is something in it that YAML cannot say.
    """
    from tracer.scenario.writer import as_yaml

    try:
        return load_text(as_yaml(data), Origin("scenario", "<data>", Path()))
    except TracerError as error:
        raise TracerError(
            *(Problem(p.message, address=p.address) for p in error.problems)
        ) from None
    except RecursionError:
        raise TracerError(Problem("nested too deeply, or in itself")) from None


def without_a_file(scenario: Scenario) -> Loaded:
    """Return a scenario that a program has made as a loaded one; its problems have no lines."""
    name = "scenario"
    return Loaded(name, scenario, read("{}", f"<{name}>"), "")


def text_of(name: str, folder: Path = Path()) -> tuple[str, Origin]:
    """Return the text of a scenario, and where it comes from.

    Raises:
        TracerError: there is no such scenario, or it cannot be read.
    """
    path = file_of(name, folder)
    if path is None:
        file = "<stdin>"
        return read_standard_input(file), Origin("stdin", file, folder)
    stem = os.fsencode(path.stem).decode("utf-8", "backslashreplace")  # it may be no text
    return read_file(path, name), Origin(stem, name, path.parent)


def file_of(name: str, folder: Path = Path()) -> Path | None:
    """Return the file of a scenario's name; None for standard input.

    A file takes precedence over a bundled scenario of the same name.

    Raises:
        TracerError: no such file or scenario.
    """
    if name == STANDARD_INPUT:
        return None
    path = folder / name
    try:
        path.stat()
        return _bundled(name, path) if path.is_dir() or _is_model(path) else path
    except (FileNotFoundError, NotADirectoryError):
        return _bundled(name, path)
    except (OSError, ValueError) as error:
        raise TracerError(Problem(f"cannot be read: {reason(error)}", name)) from None


def title_of(path: Path) -> str:
    """Return the title of a scenario without validating the rest."""
    return str(data_at(read(read_file(path), str(path)).data, ("title",)) or path.stem)


def _bundled(name: str, path: Path) -> Path:
    known = bundled()
    short = name.removesuffix(".yaml")
    if short not in known:
        what = "a folder, expected a scenario" if path.is_dir() else "no such file or scenario"
        if _is_model(path):
            what = f"a trained model, expected a scenario with checkpoint: {name}"
        inside = name[: name.rfind("/") + 1]
        there = (each.name for each in path.parent.glob("*.yaml") if each != path) if name else ()
        files = {f"{inside}{file.removesuffix('.yaml')}": f"{inside}{file}" for file in there}
        near = [files.get(each, each) for each in similar(short, [*known, *files])]
        hint = did_you_mean(near)
        if path != Path(name) and Path(name).is_file():
            hint = "; its path starts at the folder of the text that names it"
        raise TracerError(Problem(f"{what}{hint}", name))
    return known[short]


def _is_model(path: Path) -> bool:
    """Return whether a path is that of a trained model, which a scenario can only name."""
    return path.suffix in (".gguf", ".safetensors") or (path / "config.json").is_file()


def parse(text: str, file: str, name: str = "scenario") -> Scenario:
    """Parse YAML text as a scenario; its default title is `name`.

    Raises:
        TracerError: everything that is wrong with it.
    """
    return load_text(text, Origin(name, file, Path())).scenario


def load_text(text: str, origin: Origin, opened: Opened | None = None) -> Loaded:
    """Load a scenario from its text; `opened` as in `load`.

    Raises:
        TracerError: everything that is wrong with it.
    """
    text = text.removeprefix("\ufeff")  # some editors write a byte-order mark
    name, folder = origin.name, origin.folder
    try:
        source = read(text, origin.file)
        _is_scenario(source)
        scenario = _read(source, name, folder, {} if opened is None else opened)
        scenario = with_own_addresses(_with_activations(scenario, source, folder), source)
        if problems := list(_untrainable(scenario, source)):
            raise TracerError(*problems)
        return Loaded(name, scenario, source, text)
    except TracerError as error:
        raise TracerError(*_shown(error.problems, text)) from None


def _read(source: ScenarioSource, name: str, folder: Path, opened: Opened) -> Scenario:
    """Validate a source as one of the forms of a scenario."""
    keys = source.data if isinstance(source.data, dict) else {}
    try:
        if "checkpoint" in keys:
            from tracer.scenario.trained import Trained, from_checkpoint

            return from_checkpoint(_validated(Trained, source, name), folder, opened)
        if "dimensions" in keys:
            from tracer.scenario.dimensions import Dimensioned, from_dimensions

            return from_dimensions(_validated(Dimensioned, source, name))
    except TracerError as error:
        # A problem without a file is reported at the key `checkpoint`.
        found = (
            p if p.file else source.problem(p.yaml_path or ("checkpoint",), p.message, p.address)
            for p in error.problems
        )
        raise TracerError(*found) from None
    return _scenario(source, name)


def _scenario(source: ScenarioSource, name: str) -> Scenario:
    of_text, source = shorthand_problems(source), with_tokens(source)
    counted = shapes(source)
    data, filled = written_out(source.data, counted)
    if data_at(data, ("text",)) is not None:
        filled.add(("tokens",))  # without tokens, the text has a problem
    problems = list[Problem]()
    misfits = dict.fromkeys([*of_text, *counted.problems])
    try:
        scenario = Scenario.model_validate({"title": name, **data})
    except ValidationError as error:
        from tracer.scenario.problems import problems_of  # only bad input needs it

        problems = list(problems_of(error, source, filled))
        if not problems and not misfits:  # it was right as typed, and wrong once expanded
            problems = list(problems_of(error, source, set()))
    told = {(problem.line, problem.column) for problem in problems}
    problems += [p for p in misfits if (p.line, p.column) not in told]
    if problems:
        raise TracerError(*sorted(problems, key=lambda p: (p.line or 0, p.column or 0)))
    if is_tied(source.data):
        tied = Tied.model_construct(**dict(scenario.unembedding or ()))
        scenario = scenario.model_copy(update={"unembedding": tied})
    return scenario


def _untrainable(scenario: Scenario, source: ScenarioSource) -> Iterator[Problem]:
    """Yield a problem for each pattern that matches no parameter."""
    trains = scenario.optimizer.trains or ()
    known = learned(scenario) if trains else ()
    typed = data_at(source.data, ("optimizer", "trains"))
    for pattern in trains:
        if not any(fnmatchcase(each, pattern) for each in known):
            message = f"no parameter has the address {pattern!r}{closest(pattern, known)}"
            item = (typed.index(pattern),) if isinstance(typed, list) and pattern in typed else ()
            yield source.problem(("optimizer", "trains", *item), message, "optimizer.trains")


def _with_activations(scenario: Scenario, source: ScenarioSource, folder: Path) -> Scenario:
    """Replace the name of a file of given values by the values in it."""
    file = data_at(source.data, ("given",))
    if not isinstance(file, str):
        return scenario
    from tracer.scenario.activations import pinned

    return scenario.model_copy(update={"given": pinned(folder / file, scenario)})


def _validated(form: type[Form], source: ScenarioSource, name: str) -> Form:
    assert isinstance(source.data, dict)
    try:
        return form.model_validate({"title": name, **source.data})
    except ValidationError as error:
        from tracer.scenario.problems import problems_of

        raise TracerError(*problems_of(error, source, set(), form)) from None


def _is_scenario(source: ScenarioSource) -> None:
    """Refuse data that is no scenario, without quoting it: the file may be the wrong one."""
    if isinstance(source.data, dict) and any(key in KEYS for key in source.data):
        return
    expected = "expected a scenario: a mapping with tokens, embeddings and layers"
    raise TracerError(Problem(expected, source.file, 1, 1))


def refuse_to_replace(path: Path, hint: str = "") -> None:
    """Keep a text from being written over a scenario; `hint` says how it can be.

    Raises:
        TracerError: there is a scenario at the path, or a file that cannot be read.
    """
    is_there = path.suffix in (".yaml", ".yml") and path.is_file()
    if is_there and KEY_OF_SCENARIO.search(read_file(path, is_input=False)):
        raise refused(path, f"there is a scenario of this name{hint}")


def _shown(problems: Sequence[Problem], text: str) -> Iterable[Problem]:
    """Return the problems with the lines that they are about."""
    commas = DECIMAL_COMMAS.search(text)
    if commas:
        line = len(LINE_BREAK.split(text[: commas.start()]))
        hint = f"; line {line} seems to have decimal commas: type 0.5, not 0,5"
        counts = (i for i, problem in enumerate(problems) if COUNTED.match(problem.message))
        first = next(counts, None)
        problems = [
            replace(each, message=each.message + hint) if i == first else each
            for i, each in enumerate(problems)
        ]
    return with_excerpts(problems, text) if KEY_OF_SCENARIO.search(text) else problems
