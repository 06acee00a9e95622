"""How a command is used: the screens of its help, and what is told where it is used wrongly."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from tracer.errors import Problem
from tracer.names import closest

# The error of all wrong usage, which Typer does not name.
USAGE_ERROR: type[Any] = typer.BadParameter.__mro__[1]


class WrongUsage(typer.BadParameter):
    """What is wrong with a command's words, told in a line; and which option it is about."""

    def __init__(self, problem: Problem, option: str | None = None) -> None:
        super().__init__(str(problem))
        self.option = option

    def format_message(self) -> str:
        """The line."""
        return self.message

    def show(self, file: Any = None) -> None:
        """Print the line on standard error."""
        typer.echo(self.message, file=file, err=True)


class Command(TyperCommand):
    """A command: its docstring is its help, the lines of its epilog are its examples."""

    allow_extra_args = True  # told by parse_args

    def make_context(self, info_name: str | None, *args: Any, **more: Any) -> Any:
        """Read the command's words."""
        with _told_in_a_line(self):
            return super().make_context(info_name, *args, **more)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command's words; more of them than it takes are refused."""
        left = super().parse_args(ctx, args)
        if left and not ctx.resilient_parsing:
            problem = Problem(f"{left[0]!r} is a word too many", address=ctx.command_path)
            raise WrongUsage(problem)
        return left

    def get_short_help_str(self, limit: int = 0) -> str:
        """What it does, in a line: whole, however long."""
        return inspect.cleandoc(self.help or "").partition("\n\n")[0]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the screen."""
        arguments: list[Any] = [p for p in self.params if p.param_type_name == "argument"]
        taken = " ".join(shown_name(p) + "..." * (p.nargs != 1) for p in arguments)
        _, _, further = inspect.cleandoc(self.help or "").partition("\n\n")
        told = filter(None, (self.get_short_help_str(), further))
        parts = [
            f"Usage: {ctx.command_path} {taken} [OPTIONS]".replace("  ", " "),
            *(_paragraph(text, formatter.width) for text in told),
            _columns([(shown_name(p), p.help) for p in arguments], formatter.width),
            f"Options:\n{_columns(_options(self, ctx), formatter.width)}",
            f"Examples:\n{textwrap.indent(self.epilog or '', f'  {ctx.find_root().info_name} ')}",
        ]
        formatter.write("\n\n".join(filter(None, parts)) + "\n")


class Commands(TyperGroup):
    """The program, which has commands in groups."""

    def make_context(self, info_name: str | None, *args: Any, **more: Any) -> Any:
        """Read the words in front of the command."""
        with _told_in_a_line(self):
            return super().make_context(info_name, *args, **more)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that the first word names."""
        if args[0] not in self.commands and not ctx.resilient_parsing:
            hint = closest(args[0], self.commands) or f"; {ctx.command_path} --help lists them"
            raise WrongUsage(Problem(f"no command {args[0]!r}{hint}", address=ctx.command_path))
        return super().resolve_command(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the screen."""
        parts = [
            f"Usage: {ctx.command_path} COMMAND [OPTIONS]",
            _paragraph(self.help or "", formatter.width),
        ]
        groups: dict[str, list[tuple[str, str]]] = {}
        widest = max(map(len, self.commands))
        for name, command in self.commands.items():
            group = getattr(command, "rich_help_panel", "")
            row = (name.ljust(widest), command.get_short_help_str())
            groups.setdefault(group, []).append(row)
        parts += [f"{group}:\n{_columns(rows, formatter.width)}" for group, rows in groups.items()]
        parts.append(f"Options:\n{_columns(_options(self, ctx), formatter.width)}")
        formatter.write("\n\n".join(parts) + "\n")


def shown_name(parameter: Any) -> str:
    """What a person types: `--token`, or what stands for an argument, `SCENARIO`."""
    if parameter.param_type_name == "argument":
        return str(parameter.metavar)
    return str(max(parameter.opts, key=len))


def _options(command: Any, ctx: Any) -> list[tuple[str, str]]:
    """The options with what they take, and their help."""
    rows = []
    for option in command.get_params(ctx):
        if option.param_type_name == "option":
            names = ", ".join(sorted(option.opts, key=len))
            default = f" If not given: {option.default}." if isinstance(option.default, str) else ""
            rows.append((f"{names} {option.metavar or ''}".rstrip(), option.help + default))
    return rows


def _paragraph(text: str, width: int) -> str:
    return textwrap.indent("\n".join(_wrapped(text, width - 2)), "  ")


def _columns(rows: Sequence[tuple[str, str]], width: int) -> str:
    """Names on the left, what they are on the right, in as many lines as it takes."""
    left = max((len(name) for name, _ in rows), default=0)
    lines = []
    for name, text in rows:
        first, *rest = _wrapped(text, width - left - 4)
        lines.append(f"  {name:{left}}  {first}")
        lines += [" " * (left + 4) + line for line in rest]
    return "\n".join(lines)


def _wrapped(text: str, width: int) -> list[str]:
    """Lines of whole words: an option's name is one, whatever hyphens it has."""
    return textwrap.wrap(text, width, break_on_hyphens=False, break_long_words=False)


@contextmanager
def _told_in_a_line(command: Any) -> Iterator[None]:
    """Wrong usage as the parser of the command line finds it becomes one of ours."""
    try:
        yield
    except WrongUsage:
        raise
    except USAGE_ERROR as error:
        option = getattr(error, "option_name", None)
        raise WrongUsage(_problem(error, command), option) from None


def _problem(error: Any, command: Any) -> Problem:
    """What is wrong, in our words: the parser's error says which of these it is by what it has."""
    path = error.ctx.command_path if error.ctx else command.name
    options = {name: p for p in command.params for name in p.opts if name.startswith("-")}
    if getattr(error, "param", None) is not None:
        message = error.message or f"missing, expected {_lower(error.param.help)}"
        return Problem(message, address=shown_name(error.param))
    name = getattr(error, "option_name", None)
    if name is None:
        return Problem(error.format_message(), address=path)
    if name not in options:
        hint = closest(name, options) or f"; {path} --help lists them"
        return Problem(f"no option {name!r}{hint}", address=path)
    option = options[name]
    message = (
        f"nothing behind it, expected {option.metavar}" if option.metavar else "takes no value"
    )
    return Problem(message, address=name)


def _lower(sentence: str) -> str:
    """A sentence to go on with: without its capital and its full stop."""
    return sentence[0].lower() + sentence[1:].rstrip(".")
