"""What is shown: a token, a head, the mask; and links lead to what is not chosen, too."""

from __future__ import annotations

import re
from typing import Any

from tests.helpers.browser import opened, show_without_mask, unfold
from tests.helpers.command import printed
from tests.renderers.page.conftest import Saved


def test_a_token_that_is_chosen_is_followed(alex: Any) -> None:
    """Its text is that of the tutorial for it."""
    for token in ("Emma", "Frank"):
        alex.select_option("#token", label=token)
        unfold(alex)
        shown = alex.evaluate(
            "[...document.querySelectorAll('li')].filter(n => n.checkVisibility())"
            ".map(n => n.textContent.replace(/\\s+/g, ''))"
        )
        tutorial = printed("run", "alex", "--token", token, "--format", "markdown")
        fenced = re.findall("```text\n(.*?)```", tutorial, re.DOTALL)
        whole = "".join(fence for fence in fenced if "│" not in fence)
        lines = re.sub(r"\n +(?=[-+/=≈])", " ", whole).splitlines()
        assert len(lines) > 50
        assert [line for line in lines if re.sub(r"\s+", "", line) not in shown] == []
        assert alex.locator("#step-4 tr.followed th").text_content() == token


def test_heads_and_the_mask_are_chosen(alex: Any) -> None:
    alex.select_option("#head", "2")
    assert alex.locator("section[data-head='1']:visible").count() == 0
    assert alex.locator("section[data-head='2']:visible").count() > 5
    show_without_mask(alex)
    without = alex.locator("section[data-unmasked]:visible")
    assert without.count() == 1
    assert "Without the mask" in without.text_content()
    for _ in range(2):  # the same link once more leaves the address as it is
        alex.locator("#step-18 a[href='#step-10']").evaluate("n => n.click()")
        alex.wait_for_selector("#step-10:visible")
        alex.select_option("#head", "2")


def test_a_link_opens_at_its_step(browser: Any, saved: Saved) -> None:
    """Below what stands at the top, not under it."""
    at = "#masked-self-attention"
    with opened(browser, saved("alex"), at=at) as page:
        top = page.locator(at).bounding_box()["y"]
        height = page.locator("#controls").bounding_box()["height"]
        assert top >= height
        assert top < height + 50
