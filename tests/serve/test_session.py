"""A session without a server."""

from __future__ import annotations

import gc
import weakref

from tracer.scenario.loading import text_of
from tracer.serve.session import Session


def test_the_state_before_an_edit_is_given_up_at_once() -> None:
    """Looking for it as garbage would take a quarter of the time of an edit."""
    session = Session.of(*text_of("science"))
    before = weakref.ref(session.state.computed.trace)
    gc.disable()
    try:
        session.edit({"address": "unembedding.W_U", "row": 1, "column": 1, "number": "0.25"})
        assert before() is None
    finally:
        gc.enable()
