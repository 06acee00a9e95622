"""Run `check`: compare a scenario with a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tracer.check.against import Dumped, Steps, compared, numbers_by_address
from tracer.check.causes import Search
from tracer.check.differences import Differences
from tracer.check.draft.drafting import draft
from tracer.check.dumps import Dump, read_dump
from tracer.check.figures import figures
from tracer.check.listed import ReadFigures, parse_figures, read_figures
from tracer.check.passes import Pass, is_trained, missing_loss
from tracer.check.report import Report
from tracer.check.verdicts import judged
from tracer.check.wording import MOST_NAMES
from tracer.decoder.forward import PassOptions, check_numbers
from tracer.errors import Problem, TracerError
from tracer.names import closest, first_of
from tracer.scenario.loading import FIGURES, Loaded, file_of
from tracer.scenario.rounding import Rounding

LEAST_OF_FLOAT32 = 2**13
"""Rounding to float32 exceeds that to float64 by more, 2²⁶ times: half as many digits."""


def figures_beside(name: str, folder: Path) -> Path:
    """Return the figures file next to a scenario: `alex.figures.yaml` for `alex.yaml`.

    Raises:
        TracerError: there is no such file, or the scenario is not a file.
    """
    path = file_of(name, folder)
    if path is None:
        raise TracerError(
            Problem(
                "required: a scenario from <stdin> has no figures file", address="--figures-file"
            )
        )
    found = path.with_name(path.name.removesuffix(".yaml").removesuffix(".yml") + FIGURES)
    if not found.is_file():
        message = "no such figures file; name another with --figures-file, or a dump with --against"
        raise TracerError(Problem(message, str(found)))
    return found


def check_figures(loaded: Loaded, path: Path) -> Report:
    """Compare the figures of a file with the scenario's pass.

    Raises:
        TracerError: the file names something that is not in the scenario, or cannot be read.
    """
    return _report(loaded, read_figures(path))


def check_draft(loaded: Loaded, text: Path, name: Path) -> tuple[str, Report]:
    """Return the drafted figures file of a text, to be written as `name`, and the report on it.

    Raises:
        TracerError: the text cannot be read, or none of its numbers is found.
    """
    content = draft(loaded, text)
    return content, _report(loaded, parse_figures(content, str(name)))


def _report(loaded: Loaded, read: ReadFigures) -> Report:
    found = tuple(judged(figures(read, loaded)))
    return Report(loaded.name, read.title or loaded.scenario.title, found)


def check_against(
    loaded: Loaded, path: Path, tolerance: float | None, rounding: Rounding | None
) -> Differences:
    """Compare the arrays of a file with the scenario's pass.

    The pass rounds as requested, by default as the file says.

    Raises:
        TracerError: the file cannot be read, or none of its arrays is known.
    """
    with loaded.locating_problems():
        check_numbers(loaded.scenario)
    return differences(loaded, read_dump(path, loaded.scenario), str(path), tolerance, rounding)


def differences(
    loaded: Loaded, dump: Dump, file: str, tolerance: float | None, rounding: Rounding | None
) -> Differences:
    """Compare the arrays of a dump with the scenario's pass; `file` is its name in messages.

    Raises:
        TracerError: none of its arrays is known.
    """
    changed = {"rounding": rounding or dump.rounding}
    loaded = replace(loaded, scenario=loaded.scenario.model_copy(update=changed))
    of_training = next(filter(is_trained, dump.arrays), None)
    if of_training and (missing := missing_loss(loaded.scenario)):
        raise TracerError(Problem(missing, file, address=of_training))
    own = Pass(loaded, PassOptions.recording([*dump.arrays]))
    found = compared_with(own, dump.arrays, Path(file).name, tolerance)
    known = {each.value.address for each in found.compared}
    unknown = (arrays for address, arrays in dump.arrays.items() if address not in known)
    names = (*(array.name for arrays in unknown for array in arrays), *dump.left_out)
    if not known:
        expected = "expected addresses or the names of TransformerLens or Hugging Face"
        raise TracerError(
            Problem(f"no array has a known name, {expected}{_arrays(names, own)}", file)
        )
    return replace(found, not_compared=tuple(dict.fromkeys(names)))


def _arrays(names: Sequence[str], own: Pass) -> str:
    """Return which arrays a file has, and what the first may mean."""
    if not names:
        return "; the file has no arrays"
    return f"; got {first_of(names, MOST_NAMES)}{closest(names[0], own.trace.values)}"


def compared_with(
    own: Pass, arrays: Dumped, file: str, tolerance: float | None = None
) -> Differences:
    """Compare arrays with a pass, by their number types or as float32.

    Programs compute norms, softmax and positions in float32 even if the rest is float64.
    """
    own = own.routed_by(numbers_by_address(own.trace, arrays))
    found = _compared(own, arrays, file, tolerance)
    excess = [each.step.excess.max() for each in found.wrong if each.step]
    if tolerance is None and found.unexplained and max(excess, default=0) > LEAST_OF_FLOAT32:
        coarser = _compared(own, _as_float32(arrays), file, tolerance)
        if len(coarser.unexplained) < len(found.unexplained):
            return replace(coarser, is_float32=True)
    return found


def _compared(own: Pass, arrays: Dumped, file: str, tolerance: float | None) -> Differences:
    """Compare arrays with a pass. Of what is wrong, find the causes; otherwise what is hidden."""
    steps = None if own.trace.pencil.rounds else Steps.of(own.on_demand, arrays)
    found = Differences(own.trace, file, compared(own.trace, steps, arrays, tolerance), tolerance)
    if steps is None:
        return found
    search = Search(steps.own, own, steps.allowed.kinds)
    if found.wrong:
        return replace(found, causes=search.causes(found.wrong))
    return replace(found, hidden=search.hidden(found.compared)) if tolerance is None else found


def _as_float32(arrays: Dumped) -> Dumped:
    """Return arrays of float64 as such of float32."""
    return {
        address: [a._replace(kind="float32") if a.kind == "float64" else a for a in those]
        for address, those in arrays.items()
    }
