"""What is recorded is told: every role once, in one kind of step, or as an operand's symbol."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from tracer.decoder import roles
from tracer.decoder.part import all_roles
from tracer.decoder.roles import Role
from tracer.lesson.steps import declared as steps
from tracer.lesson.steps.declared import AFTER_THE_PASS, KIND_OF, KINDS, OPERANDS, unexplained_roles
from tracer.lesson.steps.kind import StepKind

EVERY_KIND = (*KINDS, *AFTER_THE_PASS)
PARTS = [(kind, role) for kind in EVERY_KIND for role in kind.roles]
OF_THE_PASS = [(kind, role) for kind, role in PARTS if kind in KINDS]


def test_every_role_is_told_once() -> None:
    told = Counter([*OPERANDS, *(role for _, role in PARTS if role.of is None)])
    assert {role: told[role] for role in all_roles()} == dict.fromkeys(all_roles(), 1)
    assert set(told) == set(all_roles())
    assert unexplained_roles() == []


def test_each_kind_has_a_name_of_its_own() -> None:
    names = Counter(kind.name for kind in EVERY_KIND)
    assert [name for name, times in names.items() if times > 1] == []
    assert {role for kind, role in PARTS if KIND_OF[role] is not kind} == set()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_kind_that_is_left_out_is_named(kind: StepKind, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "KINDS", tuple(each for each in KINDS if each is not kind))
    assert unexplained_roles() == [role.name for role in all_roles() if role in kind.roles]


@pytest.mark.parametrize(("kind", "role"), OF_THE_PASS, ids=lambda part: part.name)
def test_a_role_that_is_left_out_of_a_kind_is_named(
    kind: StepKind, role: Role, monkeypatch: pytest.MonkeyPatch
) -> None:
    fewer = {each: telling for each, telling in kind.roles.items() if each is not role}
    without = replace(kind, roles=fewer)
    kinds = tuple(without if each is kind else each for each in KINDS)
    monkeypatch.setattr(steps, "KINDS", kinds)
    assert unexplained_roles() == [role.name]


def test_a_kind_must_say_whether_a_gradient_passes_and_what_is_drawn() -> None:
    """A part that leaves the question open is refused when its file is imported."""
    for missing in ("gradient", "sign"):
        answers: dict[str, Any] = {"gradient": None, "sign": None}
        del answers[missing]
        with pytest.raises(TypeError, match=missing):
            StepKind("name", "Title", "summary", ("Goal.",), {}, **answers)


@pytest.mark.parametrize("role", OPERANDS, ids=lambda role: role.name)
def test_an_operand_that_is_left_out_is_named(role: Role, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(steps.OPERANDS, role)
    assert unexplained_roles() == [role.name]


def test_a_role_that_is_told_twice_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "KINDS", (*KINDS, KIND_OF[roles.OUTPUT]))
    assert unexplained_roles() == ["output"]
    monkeypatch.setattr(steps, "KINDS", KINDS)
    monkeypatch.setitem(steps.OPERANDS, roles.QUERY, OPERANDS[roles.W_Q])
    assert unexplained_roles() == ["query"]


def test_a_gap_is_refused_when_the_program_starts() -> None:
    code = (
        "from tracer.decoder import roles\n"
        "roles.ROLES = (*roles.ROLES, roles.Role('novelty'))\n"
        "import tracer.lesson.texts.selection\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    last = ran.stderr.splitlines()[-1]
    assert last == "AssertionError: not explained by exactly one step: novelty"
