"""Nothing that can be seen or heard shows the answer to what is asked.

What the page shows is read by a script of its own, and compared as decimals. A number that equals
an asked one may only be seen if it comes before it: if, as the JSON output says, the asked number
is computed from it. So a copy of an asked number, or a number computed from it, is never seen; an
operand that is equal by chance is.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from functools import cache
from typing import Any

import pytest

from tests.helpers.browser import opened, show_without_mask
from tests.helpers.command import printed
from tests.renderers.page.conftest import Saved

ASK_ALL = r"""wanted => {
  const spoken = ["title", "aria-label", "alt", "placeholder", "aria-description"];
  const visible = {visibilityProperty: true, opacityProperty: true};
  const seen = (node = document.body, found = []) => {
    const element = node.nodeType === 3 ? node.parentElement : node;
    if (!element.checkVisibility(visible)) return found;
    const of = element.closest("[data-of]")?.dataset.of || "";
    const texts = node.nodeType === 3 ? [node.data]
      : [...spoken.map(name => element.getAttribute(name) || ""), element.value || ""];
    for (const text of texts)
      if (/\d/.test(text)) found.push([text.trim(), of]);
    node.childNodes.forEach(child => [1, 3].includes(child.nodeType) && seen(child, found));
    return found;
  };
  const shown = element => element.checkVisibility();
  const open = () => [...document.querySelectorAll("main li")].filter(
    line => shown(line) && line.querySelector("input"));
  const press = words => [...document.querySelectorAll("main button")].filter(
    button => shown(button) && button.textContent === words).map(button => button.click()).length;
  const step = document.getElementById("step");
  const asked = [];
  for (const {value} of [...step.options]) {
    if (wanted.length && !wanted.includes(value)) continue;
    step.value = value;
    step.dispatchEvent(new Event("change", {bubbles: true}));
    for (let left = 99; left; left--) {
      const lines = open(), numbers = lines.map(line => line.dataset.line);
      if (!lines.length) {
        if (!press("Show answer")) break;
        continue;
      }
      const before = seen();
      while (press("Hint"));
      const hinted = seen();
      for (let one; (one = open()[0]) && lines.includes(one); )
        one.querySelector("button:last-of-type").click();
      const answers = lines.map(line => line.querySelector(".result").textContent);
      asked.push({step: value, numbers, answers, seen: [...before, ...hinted]});
    }
  }
  return asked;
}"""
"""For each group of lines that is asked together: their names, what is seen, then the answers."""

NUMBER = re.compile(r"\d+(?:\.\d+)?(?:×10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?")
LOWERED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def numbers(text: str) -> list[Decimal]:
    """The absolute values of the numbers in a text."""
    return [Decimal(word.replace("×10", "E").translate(LOWERED)) for word in NUMBER.findall(text)]


@cache
def ancestors(address: str, *run: str) -> frozenset[str]:
    """The values that a value is computed from, as the JSON output says."""
    operands = operands_of(*run)
    found = set[str]()
    waiting = list(operands[address])
    while waiting:
        each = waiting.pop()
        if each not in found:
            found.add(each)
            waiting += operands[each]
    return frozenset(found)


@cache
def operands_of(*run: str) -> dict[str, list[str]]:
    values = json.loads(printed(*run, "--format", "json"))["values"]
    return {value["address"]: value["operands"] for value in values}


def leaks(asked: list[dict[str, Any]], page: Any, *run: str) -> list[str]:
    """What shows an answer."""
    addresses = page.evaluate(
        "JSON.parse(document.getElementById('data').textContent).tape.values.map(v => v.address)"
    )
    found = []
    for group in asked:
        answers = {value for text in group["answers"] for value in numbers(text)}
        telling = {value for value in answers if len(value.normalize().as_tuple().digits) > 1}
        own = [addresses[int(name.split(":")[0])] for name in group["numbers"]]
        computed = set(own) & operands_of(*run).keys()
        for text, of in group["seen"]:
            shown = {*numbers(text), *(n / 100 for n in numbers(text) if "%" in text)}
            if not telling & shown:
                continue
            address = addresses[int(of.split(":")[0])] if of else ""
            if not any(address in ancestors(each, *run) for each in computed):
                found.append(f"{group['step']}: {text!r} {address} has one of {sorted(telling)}")
    return found


CASES = [
    pytest.param("alex", "Alex", ["step-7", "step-9", "step-16"], id="alex, few"),
    *(
        pytest.param("alex", token, [], id=f"alex, {token}", marks=pytest.mark.fuzz)
        for token in ("Frank", "Emma", "Daniel", "Alex")
    ),
    *(
        pytest.param("pizza", token, [], id=f"pizza, {token}", marks=pytest.mark.fuzz)
        for token in ("<START>", "Me", "gusta", "la", "pizza")
    ),
]


@pytest.mark.parametrize(("name", "token", "wanted"), CASES)
def test_no_asked_answer_can_be_found(
    name: str, token: str, wanted: list[str], browser: Any, saved: Saved
) -> None:
    with opened(browser, saved(name)) as page:
        page.select_option("#token", label=token)
        show_without_mask(page)
        page.click("#try")
        asked = page.evaluate(ASK_ALL, wanted)
        assert len({group["step"] for group in asked}) >= (len(wanted) or 20)
        assert leaks(asked, page, "run", name) == []
        # The reader of leaks sees one that is there.
        group = asked[-1]
        group["seen"].append(["about " + max(group["answers"], key=len).strip("= ≈"), ""])
        assert leaks([group], page, "run", name)
