"""A page begins with the overview; a reader goes on to one head, and to everything."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.helpers.browser import opened, violations
from tests.renderers.page.conftest import Saved

SHOWN = """() => [...document.querySelectorAll("section.step")]
  .filter(section => section.checkVisibility()).map(section => section.id)"""


@pytest.fixture(scope="module")
def fresh(browser: Any, saved: Saved) -> Iterator[Any]:
    with opened(browser, saved("alex"), everything=False) as page:
        yield page


HEAD = [f"step-{n}" for n in range(1, 11)]
RESULT = ["step-27", "summary"]


def test_it_begins_with_the_overview(fresh: Any) -> None:
    assert fresh.evaluate(SHOWN) == RESULT
    assert fresh.locator(".picture:visible, #text > p:visible").count() > 3
    fresh.locator("#more button").first.press("Enter")
    assert fresh.evaluate(SHOWN) == [*HEAD, *RESULT]
    assert 0 <= fresh.locator(".part-of-text h2:visible").first.bounding_box()["y"] < 200
    assert fresh.locator("#level").input_value() == "1"
    (rest,) = fresh.locator("#more button:visible").all()
    rest.press("Enter")
    assert len(fresh.evaluate(SHOWN)) > 20
    assert fresh.locator("#more:visible").count() == 0
    fresh.select_option("#level", "0")
    assert fresh.evaluate(SHOWN) == RESULT
    fresh.select_option("#head", "2")
    assert fresh.locator("#level").input_value() == "2"
    fresh.select_option("#level", "1")
    assert fresh.evaluate(SHOWN) == [*HEAD, *RESULT]


@pytest.mark.fuzz
def test_nothing_is_in_the_way_of_readers_of_the_overview(fresh: Any) -> None:
    assert violations(fresh) == []


def test_the_contents_show_the_levels_and_lead_to_them(fresh: Any) -> None:
    fresh.select_option("#level", "0")
    contents = fresh.locator("[aria-label=Contents]")
    contents.locator("summary").click()
    assert contents.locator("p").all_inner_texts() == ["Overview", "One head", "Everything"]
    links = [
        [link.split(".")[0] for link in group.locator("a").all_inner_texts()]
        for group in contents.locator("ul").all()
    ]
    assert links[0] == ["Output", "27", "Summary"]
    assert "10" in links[1]
    assert "11" in links[2]
    for step, level in (("step-4", "1"), ("step-20", "2"), ("step-14", "2")):
        contents.locator(f"a[href='#{step}']").click()
        fresh.wait_for_selector(f"#{step}:visible")
        assert fresh.locator("#level").input_value() == level


def test_a_link_leads_to_its_step_though_the_address_is_written_meanwhile(fresh: Any) -> None:
    fresh.select_option("#level", "0")
    fresh.evaluate("""() => {
      location.hash = "#step-20";
      history.replaceState(null, "", "#level=0"); // as the page itself does after a scroll
    }""")
    fresh.wait_for_selector("#step-20:visible", timeout=3000)


def test_practice_and_the_board_have_every_step(fresh: Any) -> None:
    for button, first in (("#board", "step-1"), ("#try", "step-2")):
        fresh.select_option("#level", "0")
        fresh.locator(button).click()
        assert fresh.locator(".current").get_attribute("id") == first
        fresh.keyboard.press("Escape")
        assert fresh.locator("#level").input_value() == "2"


def test_a_text_of_some_steps_has_no_levels(browser: Any, saved: Saved) -> None:
    with opened(browser, saved("alex", "--head", "1"), everything=False) as page:
        assert page.locator("#level, #more").count() == 0
        assert {*HEAD, "step-26"} <= {*page.evaluate(SHOWN)}
