"""What is audited and reported: the command line over the project's configuration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tracer.audit.project.configuration import chosen, configured, matching
from tracer.audit.project.paths import Patterns
from tracer.audit.reports.results import Kind


@dataclass(frozen=True)
class Settings:
    """The settings of a run."""

    codes: frozenset[str]
    """The codes that are reported."""
    strict: bool
    """Whether warnings count as errors, too."""
    excluded: Patterns
    """The files that are not read."""
    excludes_named: bool
    """Whether even a file that is named on the command line may be excluded."""
    ignores: tuple[tuple[Patterns, frozenset[str]], ...]
    """The codes that are not reported for some files."""
    weak: bool = False
    """Whether to report what only weak evidence confirms, too."""
    kinds: tuple[Kind, ...] = ()
    """What is listed besides the findings."""

    def codes_for(self, path: Path) -> frozenset[str]:
        """Return the codes that are reported for a file."""
        ignored = (codes for patterns, codes in self.ignores if patterns.match(path))
        return self.codes.difference(*ignored)


def settings(
    *,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    exclude: Sequence[str] = (),
    force_exclude: bool = False,
    strict: bool = False,
    weak: bool = False,
    kinds: Sequence[Kind] = (),
) -> Settings:
    """Return the settings for the working directory, and options that go before them.

    As in ruff, `select` and `exclude` replace those of the configuration, `select` also its
    `ignore`; else `ignore` adds to it.

    Raises:
        TracerError: the configuration is wrong.
    """
    section, folder = configured(Path.cwd())
    strict = strict or section.strict
    patterns = Patterns(exclude) if exclude else Patterns(section.exclude, folder)
    return Settings(
        chosen(select, ignore, strict=strict)
        if select
        else chosen(section.select, [*section.ignore, *ignore], strict=strict),
        strict,
        patterns,
        bool(exclude) or force_exclude,
        tuple(
            (Patterns([pattern], folder), matching(codes))
            for pattern, codes in section.per_file_ignores.items()
        ),
        weak,
        tuple(kinds),
    )
