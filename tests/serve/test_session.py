"""A session without a server."""

from __future__ import annotations

import gc
import json
import weakref
from html import unescape

from tracer.scenario.edits import without
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


def number(session: Session, row: str, column: str) -> str:
    """A number of the embedding as the program prints the present text."""
    data = json.loads(session.state.trace_json)
    (value,) = (each for each in data["values"] if each["address"] == "embedding")
    rows, columns = (axis["labels"] for axis in value["axes"])
    return str(value["data"][rows.index(row)][columns.index(column)])


def test_a_changed_file_keeps_the_edits_and_makes_them_again() -> None:
    """By their labels, whatever stands before them now; one whose place is gone is named."""
    text, origin = text_of("science")
    session = Session.of(text, origin)
    session.edit({"address": "embedding", "row": 4, "column": 1, "number": "0.25"})
    session.edit({"address": "embedding", "row": 4, "column": 1, "number": "0.5"})
    session.edit({"address": "embedding", "row": 1, "column": 1, "number": "7"})
    session.edit({"control": "mask", "value": "none"})
    edited = session.state.text
    changed = text.replace("tokens: [i, like, data, science]", "tokens: [science, like, data]")
    changed = without(changed, ("token_ids", "targets", "intro", "notes", "summary"))
    session.follow(changed)
    assert session.state.text == changed
    assert "Apply my 3 changes again" in session.html
    session.apply_kept()
    assert number(session, "science", "d₀") == "0.5"
    assert "mask: none" in session.state.text
    assert "Not made again: embedding[i,d₀] = 7: no token 'i'" in unescape(session.html)
    assert 'id="kept" hidden' in session.html
    session.undo()
    assert session.state.text == changed
    assert "Apply my 3 changes again" in session.html
    session.undo()
    assert session.state.text == edited
    assert 'id="kept" hidden' in session.html


def test_a_file_that_has_the_edits_takes_none_away() -> None:
    text, origin = text_of("science")
    session = Session.of(text, origin)
    session.edit({"address": "embedding", "row": 4, "column": 1, "number": "0.25"})
    edited = session.state.text
    session.follow(text)  # saved again
    assert session.state.text == edited
    session.follow(edited.replace("title:", "# by hand\ntitle:"))
    assert 'id="kept" hidden' in session.html
