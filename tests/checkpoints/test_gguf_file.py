"""A GGUF file is read to its last byte and never beyond; what is damaged is refused in a line."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from gguf import GGUFWriter
from hypothesis import HealthCheck, given, settings, strategies as st

from tests.helpers.tiny_checkpoints import gguf_llama, write_gguf
from tracer.checkpoints.gguf_file import read_gguf
from tracer.checkpoints.opening import open_checkpoint
from tracer.errors import TracerError

U32, F32, TEXT, ARRAY = 4, 6, 8, 9


def test_each_type_of_value_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x.gguf"
    writer = GGUFWriter(path, "x")
    written = {
        "uint8": 200, "int8": -3, "uint16": 60_000, "int16": -4, "uint32": 2**32 - 1,
        "int32": -5, "uint64": 2**64 - 1, "int64": -(2**40), "float32": 0.5, "float64": 0.1,
        "bool": True, "string": "日",
    }  # fmt: skip
    for kind, value in written.items():
        getattr(writer, f"add_{kind}")(kind, value)
    writer.add_array("words", ["a", "", "é"])
    writer.add_array("numbers", [1, -2])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    lists = {"words": ["a", "", "é"], "numbers": [1, -2]}
    assert read_gguf(path).values == {"general.architecture": "x", **written, **lists}


def text(content: str | bytes) -> bytes:
    raw = content.encode() if isinstance(content, str) else content
    return struct.pack("<Q", len(raw)) + raw


def key(name: str, kind: int, value: bytes) -> bytes:
    return text(name) + struct.pack("<I", kind) + value


def tensor(name: str, shape: list[int], kind: int = 0, offset: int = 0) -> bytes:
    axes = struct.pack(f"<I{len(shape)}Q", len(shape), *shape)
    return text(name) + axes + struct.pack("<IQ", kind, offset)


def content(keys: list[bytes], tensors: list[bytes], data: int = 0, version: int = 3) -> bytes:
    begin = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(keys))
    header = begin + b"".join(keys) + b"".join(tensors)
    return header + bytes(-len(header) % 32) + bytes(data)


def refused(raw: bytes, tmp_path: Path) -> str:
    path = tmp_path / "x.gguf"
    path.write_bytes(raw)
    with pytest.raises(TracerError) as caught:
        read_gguf(path)
    return str(caught.value).replace(str(path), "x")


COUNTED = b"GGUF" + struct.pack("<IQQ", 3, 0, 2**60)


@pytest.mark.parametrize(("raw", "told"), [
    (b"", "x: cannot be read: it is empty"),
    (b"GGU", "x: not a whole GGUF file: it ends after 3 bytes, expected 4 or more"),
    (b"PK\3\4....", "x: not a whole GGUF file: it begins with b'PK\\x03\\x04', expected b'GGUF'"),
    (content([], [], version=1), "version 1, expected 2 or 3"),
    (struct.pack(">4sIQQ", b"GGUF", 3, 0, 0), "version 50331648, expected 2 or 3, with its lowest"),
    (COUNTED, "it ends after 24 bytes, expected 32 or more"),
    (content([struct.pack("<Q", 2**62)], []), "a text of 4611686018427387904 bytes, expected at"),
    (content([struct.pack("<Q", 2**20)], []), "it ends after 32 bytes, expected 1048608 or more"),
    (content([key("a", ARRAY, struct.pack("<IQ", U32, 2**60))], []), "expected at most 4194304"),
    (content([key("a", ARRAY, struct.pack("<IQ", U32, 2**22))], []), "it ends after"),
    (content([key("a", ARRAY, struct.pack("<IQ", TEXT, 2**22))], []), "it ends after"),
    (content([key("a", ARRAY, struct.pack("<IQ", ARRAY, 1))], []), "a value of type 9"),
    (content([key("a", 99, b"")], []), "a value of type 99, which is not known"),
    (content([key("a", TEXT, text(b"\xff"))], []), "b'\\xff' is not UTF-8"),
    (content([key("a", F32, bytes(4))] * 2, []), "'a' occurs twice"),
    (content([key("general.alignment", U32, bytes(4))], []), "an alignment of 0"),
    (content([], [tensor("t", [])]), "a tensor of 0 axes, expected 1 to 4"),
    (content([], [tensor("t", [1] * 5)]), "a tensor of 5 axes, expected 1 to 4"),
    (content([], [tensor("t", [4, 2])], 31), "x: t: ends at byte 32, the file's tensors at 31"),
    (content([], [tensor("t", [2**40, 2**40])]), "x: t: ends at byte 4835703278458516698824704"),
    (content([], [tensor("t", [4]), tensor("u", [4], 0, 12)], 64),
     "x: u: begins at byte 12, within another tensor"),
    (content([], [tensor("t", [4], 99)], 64), "x: t: quantisation 99, which the gguf package does"),
    (content([], [tensor("t", [4], 24)], 64), "x: t: I8, which the gguf package cannot read"),
    (content([], [tensor("t", [33], 8)], 64), "x: t: rows of 33 numbers, expected blocks of 32"),
])  # fmt: skip
def test_what_is_damaged_is_told_in_a_line(raw: bytes, told: str, tmp_path: Path) -> None:
    message = refused(raw, tmp_path)
    assert told in message
    assert "\n" not in message


def test_all_tensors_that_are_damaged_are_told(tmp_path: Path) -> None:
    both = refused(content([], [tensor("t", [4], 99), tensor("u", [4], 98)], 64), tmp_path)
    assert [line.split(":")[1] for line in both.splitlines()] == [" t", " u"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("gguf") / "x.gguf"
    return write_gguf(path, "llama", gguf_llama(), {"words": ["a", "b"]}).read_bytes()


def opens_or_is_refused(raw: bytes, path: Path) -> bool:
    """Whether it opens; what is refused is refused as everything is."""
    path.write_bytes(raw)
    try:
        open_checkpoint(path)
    except TracerError:
        return False
    return True


@settings(max_examples=80, suppress_health_check=list(HealthCheck), deadline=None)
@given(data=st.data())
def test_a_file_that_is_cut_off_is_refused(
    whole: bytes, data: st.DataObject, tmp_path: Path
) -> None:
    at = data.draw(st.integers(0, len(whole) - 1))
    assert not opens_or_is_refused(whole[:at], tmp_path / "x.gguf")


@settings(max_examples=150, suppress_health_check=list(HealthCheck), deadline=None)
@given(data=st.data())
def test_a_header_with_other_bytes_in_it_ends_in_no_traceback(
    whole: bytes, data: st.DataObject, tmp_path: Path
) -> None:
    header = 1664
    at = data.draw(st.integers(0, header))
    other = data.draw(st.binary(min_size=1, max_size=8))
    opens_or_is_refused(whole[:at] + other + whole[at + len(other) :], tmp_path / "x.gguf")
