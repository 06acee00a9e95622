"""Assign the tensors of a file, by name, to the addresses of the decoder's parameters."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from tracer.checkpoints.architecture import Architecture, DeltaLayers
from tracer.checkpoints.families import TENSOR_MEANINGS
from tracer.checkpoints.layouts import Layout
from tracer.checkpoints.parameter import Parameter
from tracer.checkpoints.stacks import whole_name, with_parts
from tracer.checkpoints.tensor import AbsentTensor, Tensor, written_shape
from tracer.errors import Problem, TracerError

UNEMBEDDING, UNEMBEDDING_BIAS = "unembedding.W_U", "unembedding.b_U"
TRANSFORM = "unembedding.transform.W_M"
NORMS = ("norm", "norm_after")
ATTENTION, DELTA = ".attention.", ".delta."
"""What is in the keys of an attention, and in those of one with the gated delta rule."""
OF_SEVERAL = (".W_QKVG", ".W_BA")
"""The ends of keys of matrices whose parts are not as wide as each other, or not side by side."""


def parameters(
    architecture: Architecture, layout: Layout, tensors: Mapping[str, Tensor], file: str
) -> dict[str, Parameter]:
    """Return all parameters by address, each head separately.

    Raises:
        TracerError: sizes do not fit together; a tensor is missing, has another shape, or is not
            known.
    """
    misfits = [Problem(message, file) for message in architecture.misfits()]
    if misfits:
        raise TracerError(*misfits)
    expected = {each.name: each for each in expected_tensors(architecture, layout, tensors)}
    renamed = _renamed([*dict.fromkeys(map(whole_name, expected))], tensors)
    if renamed:
        raise TracerError(Problem(renamed, file, address=next(iter(expected))))
    tensors = with_parts(tensors, expected)
    problems = [
        *_missing(expected, tensors, file),
        *_unknown(expected, tensors, layout),
        *_unequal(tensors, layout),
    ]
    found = dict[str, Parameter]()
    for name, each in expected.items():
        tensor = tensors.get(name)
        if isinstance(tensor, AbsentTensor):
            tensor = AbsentTensor(tensor.file, tensor.name, each.stored)
        if tensor and not tensor.is_floats:
            message = f"whole numbers, expected floating-point numbers: {each.address}"
            problems.append(Problem(message, tensor.file, address=tensor.name))
        elif tensor and tensor.shape != each.stored:
            sizes = f"{written_shape(tensor.shape)}, expected {written_shape(each.stored)}"
            message = f"{sizes}: {each.address}"
            problems.append(Problem(message, tensor.file, address=tensor.name))
        elif tensor:
            whole = Parameter(each.address, tensor, tuple(map(range, each.stored)), each.transposed)
            found |= {part.address: part for part in _parts(whole, each.tower, layout)}
    if problems:
        raise TracerError(*problems)
    return found


@dataclass(frozen=True)
class ExpectedTensor:
    """A tensor that the architecture needs, and its parameter."""

    name: str
    address: str
    stored: tuple[int, ...]
    transposed: bool
    tower: Architecture
    """The decoder or the encoder that has it."""


ENCODER = "encoder."


def expected_tensors(
    architecture: Architecture, layout: Layout, available: Container[str]
) -> Iterator[ExpectedTensor]:
    """Yield the tensors that an architecture needs; optional ones if they are `available`."""
    names = {
        key: name
        for key, name in layout.names.items()
        if key not in layout.optional or name in available
    }
    own = {key: name for key, name in names.items() if not key.startswith(ENCODER)}
    yield from _of_tower(architecture, layout, own)
    if architecture.encoder:
        others = {key.removeprefix(ENCODER): names[key] for key in names if key not in own}
        for each in _of_tower(architecture.encoder, layout, others):
            yield replace(each, address=ENCODER + each.address)


def _of_tower(
    architecture: Architecture, layout: Layout, names: Mapping[str, str]
) -> Iterator[ExpectedTensor]:
    shapes = _shapes(architecture)

    def expected(key: str, name: str, address: str) -> ExpectedTensor:
        # Every format stores the unembedding like embeddings: one row per word.
        is_straight = bool(layout.straight) and layout.straight in key
        transposed = (".W_" in key or key.endswith((".router", ".shared_gate", ".conv"))) and (
            (layout.transposed and not is_straight) or key == UNEMBEDDING
        )
        stored = shapes[key][::-1] if transposed else shapes[key]
        return ExpectedTensor(name, address, stored, transposed, architecture)

    of_layers = {
        key: name
        for key, name in names.items()
        if key.startswith("layer.")
        and (".b_" not in key or DELTA in key or _letters(key) <= {*architecture.biases})
        and not (architecture.shares_norm and key.startswith("layer.ffn.norm."))
    }
    for key, name in names.items():
        if not key.startswith("layer.") and not (architecture.tied and key == UNEMBEDDING):
            yield expected(key, name, key)
    for layer in range(architecture.layers):
        for key, name in of_layers.items():
            if not is_of_layer(key, is_delta=architecture.is_delta(layer + 1)):
                continue
            address = key.replace("layer.", f"layer{layer + 1}.", 1).replace(DELTA, ATTENTION)
            experts = range(architecture.experts or 0) if ".expert." in key else (0,)
            for expert in experts:
                own = address.replace(".expert.", f".expert{expert + 1}.")
                yield expected(key, name.format(layer, expert), own)


def is_of_layer(key: str, *, is_delta: bool) -> bool:
    """Return whether a layer, with the gated delta rule or a softmax, has a parameter."""
    if key == "layer.attention.norm.gain" or not (ATTENTION in key or DELTA in key):
        return True
    return (DELTA in key) == is_delta


def _letters(bias: str) -> set[str]:
    """Return the letters of the projections that a bias belongs to."""
    return {"F"} if ".ffn." in bias else {*bias.rpartition("_")[2]}


def _shapes(architecture: Architecture) -> dict[str, tuple[int, ...]]:
    """Return the shape of each parameter for x·W, with the heads side by side."""
    d, hidden, words = architecture.width, architecture.hidden, architecture.words
    queries = architecture.heads * architecture.d_k
    keys = architecture.key_heads * architecture.d_k
    attentions = ("layer.attention", "layer.cross_attention")
    norms = [f"{place}.{norm}" for place in (*attentions, "layer.ffn") for norm in NORMS]
    norms += ["embedding_norm", "final_norm", "unembedding.transform.norm"]
    projections = {
        "W_Q": (d, queries),
        "W_QG": (d, 2 * queries),
        "W_K": (d, keys),
        "W_V": (d, keys),
        "W_QKV": (d, queries + 2 * keys),
        "W_QVK": (d, queries + 2 * keys),
        "W_O": (queries, d),
    }
    matrices: dict[str, tuple[int, ...]] = {
        "embeddings": (words, d),
        "positions": (architecture.context + architecture.first_position, d),
        "type_embeddings": (architecture.types or 0, d),
        TRANSFORM: (d, d),
        UNEMBEDDING: (d, words),
        **{f"{place}.{name}": projections[name] for place in attentions for name in projections},
        "layer.ffn.W_1": (d, hidden),
        "layer.ffn.W_3": (d, hidden),
        "layer.ffn.W_13": (d, 2 * hidden),
        "layer.ffn.router": (d, architecture.experts or 0),
        "layer.ffn.router_bias": (architecture.experts or 0,),
        "layer.ffn.expert.W_1": (d, hidden),
        "layer.ffn.expert.W_3": (d, hidden),
        "layer.ffn.expert.W_2": (hidden, d),
        "layer.ffn.shared.W_1": (d, architecture.shared or 0),
        "layer.ffn.shared.W_3": (d, architecture.shared or 0),
        "layer.ffn.shared.W_2": (architecture.shared or 0, d),
        "layer.ffn.shared_gate": (d, 1),
        "layer.ffn.W_2": (hidden, d),
    }
    biases = {name.replace("W_", "b_"): shape[1:] for name, shape in matrices.items()}
    rows = {f"{norm}.{part}": (d,) for norm in norms for part in ("gain", "shift")}
    rows["layer.attention.sink"] = (architecture.heads,)
    together = architecture.query_key_norm == "heads"
    for norm, columns in (("query_norm", queries), ("key_norm", keys)):
        length = columns if together else architecture.d_k
        rows |= {f"layer.attention.{norm}.{part}": (length,) for part in ("gain", "shift")}
    return {**biases, **matrices, **rows, **_shapes_of_delta(architecture)}


def _shapes_of_delta(architecture: Architecture) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the parameters of the gated delta rule, with the heads side by side."""
    own, d = architecture.delta, architecture.width
    if own is None:
        return {}
    keys, values = own.key_heads * own.d_k, own.heads * own.d_v
    return {
        "layer.delta.W_QKVG": (d, 2 * keys + 2 * values),
        "layer.delta.W_BA": (d, 2 * own.heads),
        "layer.delta.conv": (own.window, 2 * keys + values),
        "layer.delta.gate.A_log": (own.heads,),
        "layer.delta.gate.b_A": (own.heads,),
        "layer.delta.output_norm.gain": (own.d_v,),
        "layer.delta.W_O": (values, d),
    }


def _renamed(expected: Sequence[str], tensors: Mapping[str, Tensor]) -> str | None:
    """Return a message if all missing tensors have other names, or all tensors are missing."""
    missing = [name for name in expected if name not in tensors]
    if not missing:
        return None
    names = {tensor.name: None for tensor in tensors.values()}  # in the file, in order
    found = next((name for name in names if name.endswith(f".{missing[0]}")), None)
    wrapper = found and found.removesuffix(missing[0])
    if wrapper and all(wrapper + name in names for name in missing):
        return f"missing; the file has {found}: save the model without its wrapper {wrapper}"
    if len(missing) == len(expected):
        return f"missing, and so are all others; the file has {next(iter(names), 'no tensors')}"
    return None


def _missing(
    expected: Mapping[str, ExpectedTensor], tensors: Mapping[str, Tensor], file: str
) -> Iterator[Problem]:
    firsts: dict[str, ExpectedTensor] = {}
    for name, each in expected.items():
        if name not in tensors:
            firsts.setdefault(whole_name(name), each)
    for whole, each in firsts.items():
        message = f"missing, expected {written_shape(each.stored)}: {each.address}"
        if each.name != whole:
            message = f"missing; it has {each.address}, and those of the other experts"
        yield Problem(message, file, address=whole)


def _unknown(
    expected: Mapping[str, ExpectedTensor], tensors: Mapping[str, Tensor], layout: Layout
) -> Iterator[Problem]:
    """Yield a problem for each unused tensor: it may belong to a part that is not computed."""
    unused = (*layout.unused, *layout.copies, layout.names[UNEMBEDDING])
    for name, tensor in tensors.items():
        if name not in expected and not any(fnmatchcase(name, pattern) for pattern in unused):
            came = (
                "" if isinstance(tensor, AbsentTensor) else f"{written_shape(tensor.shape)}, but "
            )
            message = f"{came}this architecture has no such tensor"
            part = next((p for n, p in TENSOR_MEANINGS.items() if fnmatchcase(name, n)), None)
            belongs = f": it belongs to {part}" if part else ""
            yield Problem(f"{message}{belongs}", tensor.file, address=tensor.name)


def _unequal(tensors: Mapping[str, Tensor], layout: Layout) -> Iterator[Problem]:
    """Yield a problem for each tensor that should have the same numbers as another one."""
    for name, other in layout.copies.items():
        if {name, other} <= {*tensors} and not tensors[name].holds_the_same(tensors[other]):
            message = f"expected the same numbers as in {other}"
            yield Problem(message, tensors[name].file, address=tensors[name].name)


def _parts(whole: Parameter, architecture: Architecture, layout: Layout) -> Iterator[Parameter]:
    """Yield the heads of a parameter one by one, and matrices that are stored as one."""
    if whole.address == "positions":
        yield whole.rows(architecture.first_position)
        return
    if whole.address.endswith(".W_BA") and architecture.delta:
        place, heads = whole.address.removesuffix("W_BA"), architecture.delta.heads
        of_beta, of_gate = _columns_of_numbers(heads, architecture.delta.together)
        yield whole.some_columns(of_beta, f"{place}beta.W_B")
        yield whole.some_columns(of_gate, f"{place}gate.W_A")
        return
    parts = list(columns_of(whole.address, architecture, layout))
    yield from (whole.columns(*part) for part in parts)
    if not parts:
        yield whole


def columns_of(
    address: str, architecture: Architecture, layout: Layout
) -> Iterator[tuple[int, int, str]]:
    """Yield the columns of each parameter in a matrix or bias that holds several: begin, end, name.

    The heads of W_Q are side by side, and W_13 holds W_1 and W_3. A module with this matrix gives
    vectors with the same columns. Nothing is yielded for a matrix that is one parameter.
    """
    place, _, name = address.rpartition(".")
    if architecture.delta and name in ("W_QKVG", "conv"):
        yield from _columns_of_delta(place, name, architecture.delta)
        return
    heads = range(1, architecture.heads + 1), architecture.heads_with_keys
    width = architecture.hidden if address.endswith("_13") else architecture.d_k
    width = 1 if address.endswith(".sink") else width
    for number, part in enumerate(side_by_side(address, *heads, layout)):
        yield number * width, (number + 1) * width, part


def _columns_of_delta(place: str, name: str, own: DeltaLayers) -> Iterator[tuple[int, int, str]]:
    """Yield the columns of queries, keys, values and gates; heads share those of a query and key.

    Those of one key head are side by side in the projection. In the filters, all queries are.
    """
    of_key_heads = [range(g * own.together, (g + 1) * own.together) for g in range(own.key_heads)]
    if name == "conv":
        order = [(part, heads) for part in "QKV" for heads in of_key_heads]
    else:
        order = [(part, heads) for heads in of_key_heads for part in "QKVG"]
    kind = "conv" if name == "conv" else "W"
    begin = 0
    for part, heads in order:
        for head in heads:
            end = begin + (own.d_k if part in "QK" else own.d_v)
            yield begin, end, f"{place}.head{head + 1}.{kind}_{part}"
            begin = begin if part in "QK" else end
        begin = end


def _columns_of_numbers(heads: int, together: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the columns of β and of the gate: for each key head, those of its heads in turn."""
    of_beta = tuple(2 * (head - head % together) + head % together for head in range(heads))
    return of_beta, tuple(column + together for column in of_beta)


def side_by_side(
    address: str, heads: Sequence[int], with_keys: Sequence[int], layout: Layout
) -> Iterator[str]:
    """Yield the addresses of the parameters in a matrix or bias that holds several, in order.

    They are as wide as each other. `with_keys`: the heads with keys of their own.
    """
    place, _, name = address.rpartition(".")
    kind, _, parts = name.partition("_")
    if parts == "13":
        yield from (f"{place}.{kind}_{part}" for part in parts)
    if name == "sink":
        yield from (f"{place}.head{head}.sink" for head in heads)
    if parts not in ("Q", "K", "V", "QG", "QKV", "QVK"):
        return
    groups = (layout.groups or len(with_keys)) if len(parts) > 1 else 1
    groups = len(heads) if parts == "QG" else groups
    for group in range(groups):
        for part in parts:
            of = heads if part in "QG" else with_keys
            first, last = (len(of) * number // groups for number in (group, group + 1))
            yield from (f"{place}.head{head}.{kind}_{part}" for head in of[first:last])
