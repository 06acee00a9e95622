"""Check that the shapes of all parts of a scenario fit: rows, columns and labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from pydantic import BaseModel

from tracer.names import count
from tracer.scenario import typed_heads
from tracer.scenario.expected import OF_INPUT, Expected, Known, Size, typed_size
from tracer.scenario.fields import Shape
from tracer.scenario.layers import Attention, Head
from tracer.scenario.lookups import look_up
from tracer.scenario.model import GRADIENT, Unembedding
from tracer.scenario.networks import Network
from tracer.scenario.norms import Normalization
from tracer.scenario.part import form_of_ffn, keys_of_weights, scenario_parts
from tracer.scenario.parts import SUB_LAYERS, bias_of, declared
from tracer.scenario.reader import Data, ScenarioSource, YamlPath, is_off
from tracer.scenario.sizes import SizeChecker, usual_length


def shapes(source: ScenarioSource) -> SizeChecker:
    """Check every shape."""
    counted = _Counted(source)
    if isinstance(source.data, dict):
        counted.scenario()
        look_up(counted)
    return counted


@dataclass(eq=False)
class _Counted(SizeChecker):
    widths: dict[YamlPath, Size] = field(default_factory=dict)
    """The number of columns of the weights of queries, keys and values, or of these, if typed."""
    tokens: Size = None
    """The number of the decoder's tokens."""

    def scenario(self) -> None:
        tokens = self.size("tokens") if self.has("tokens") else self.size("batch", 0)
        if tokens is None:
            tokens = typed_heads.number_of_queries(self)
        self.tokens = tokens
        self.length(("token_ids",), tokens, "one per token")
        self.mask(tokens)
        self.objective()
        width = self.tower((), tokens, self.encoder())
        self.unembedding(width)
        self.loss(tokens, width)
        self.upstream()
        self.sequences(tokens)
        typed_heads.check_typed_heads(self)

    def encoder(self) -> Size:
        """Return the width of the encoder's vectors, given or computed."""
        at: YamlPath = ("encoder",)
        vectors, tokens = self.part(*at, "vectors"), self.size(*at, "tokens")
        if self.has(*at, "embeddings"):
            return self.tower(at, tokens, None)
        if not isinstance(vectors, list):
            return None
        rows = Expected(tokens, "one per token of the encoder")
        _, width = self.rectangle((*at, "vectors"), vectors, rows, Expected())
        self.length((*at, "features"), width, "one per column of the vectors")
        return width

    def tower(self, at: YamlPath, tokens: Size, memory: Size) -> Size:
        """Return the width after the last layer; `memory` is the width of the encoder's vectors."""
        width = self.widths[(*at, "embeddings")] = self.embeddings(at, tokens)
        feature = "one per feature of the embedding"
        self.length((*at, "features"), width, feature)
        self.table(at, tokens, width, feature)
        self.norm(at, "embedding_norm", width)
        for layer, _ in enumerate(self.entries(*at, "layers")):
            width = self.layer((*at, "layers", layer), width, memory)
        self.norm(at, "final_norm", width)
        for part in scenario_parts():
            if part.tower:
                part.tower(self, at)
        return width

    def tokens_of(self, tower: YamlPath) -> Size:
        """Return the number of tokens that a tower reads."""
        return self.size(*tower, "tokens") if tower else self.tokens

    # --- what goes in ----------------------------------------------------------------------------

    def embeddings(self, at: YamlPath, tokens: Size) -> Size:
        place: YamlPath = (*at, "embeddings")
        rows: dict[int | str, Data] = {}
        match self.part(*place):
            case {"random": dict() as form}:
                return self.random_embeddings(at, form)
            case dict() as table:
                rows = dict(table.items())
            case list() as table:
                self.length(place, tokens, "one per token", "row")
                rows = dict(enumerate(table))
        width = usual_length(rows.values())
        if width == 0:
            self.report((*place, next(iter(rows))), "no numbers, expected one per feature")
            return None
        for key in rows:
            self.length((*place, key), width, "as many as in the other embeddings", "number")
        return width

    def random_embeddings(self, at: YamlPath, form: dict[str, Data]) -> Size:
        place: YamlPath = (*at, "embeddings")
        width = typed_size(form.get("columns")) or self.size(*at, "features")
        if width is None:
            self.report(place, "how many features? expected {random: {columns: 4}} or features")
        else:
            self.want(place, (self.size(*at, "vocabulary") or 0) + 1, width)
        return width

    def table(self, at: YamlPath, tokens: Size, width: Size, feature: str) -> None:
        place: YamlPath = (*at, "positions", "table")
        if isinstance(table := self.part(*place), list):
            self.enough(place, tokens, "row")
            self.rectangle(place, table, Expected(), Expected(width, feature))

    def mask(self, tokens: Size) -> None:
        if isinstance(rows := self.part("mask"), list):
            self.enough(("mask",), tokens, "row")
            for i, _ in enumerate(rows):
                self.enough(("mask", i), tokens, "entry")

    def objective(self) -> None:
        """Report what a model that predicts masked words cannot have."""
        if not self.fills_in:
            return
        reads = "objective: masked predicts words from all tokens"
        layers = (("layers", i, "attention") for i, _ in enumerate(self.entries("layers")))
        for place in ((), *layers):
            if self.has(*place, "mask") and self.part(*place, "mask") != "none":
                self.report((*place, "mask"), f"{reads}, expected mask: none")
        if self.has("encoder"):
            self.report(("encoder",), f"{reads} of the model itself, expected no encoder")
        if not self.has("vocabulary") and not self.has("dimensions"):
            self.report(("objective",), "no words to predict, expected a vocabulary")

    @property
    def fills_in(self) -> bool:
        """Whether the model predicts masked words."""
        return self.part("objective") == "masked"

    def enough(self, place: YamlPath, tokens: Size, noun: str) -> None:
        """Report a list that is shorter than the tokens."""
        if tokens is not None and len(self.entries(*place)) < tokens:
            self.length(place, tokens, "one per token", noun)

    # --- layers ----------------------------------------------------------------------------------

    def layer(self, layer: YamlPath, width: Size, memory: Size) -> Size:
        """Return the width after a layer; `memory` is the width of the encoder's vectors."""
        for part in scenario_parts():
            if part.layer:
                part.layer(self, layer)
        for name in SUB_LAYERS:
            place: YamlPath = (*layer, name)
            if not isinstance(self.part(*place), dict):
                continue
            crosses = name == "cross_attention"
            if name == "ffn":
                other = form_of_ffn(self.part(*place))
                out = other.check(self, place, width) if other else self.network(place, width)
            else:
                out = self.attention(place, width, memory if crosses else width)
            if crosses and layer[0] == "encoder":
                self.report(place, "cross-attention in the encoder, which looks at its own tokens")
            elif crosses and not self.has("encoder"):
                form = "encoder: {tokens: […], vectors: [[…], …]}"
                self.report(place, f"cross-attention without an encoder, expected {form}")
            if self.has(*place, "mask") and (crosses or layer[0] == "encoder"):
                message = "a mask, expected only in the decoder's self-attention"
                self.report((*place, "mask"), message)
            self.residual(place, width, out)
            for part in scenario_parts():
                if part.sub_layer:
                    part.sub_layer(self, place)
            # A norm belongs to a sub-layer or to the whole layer.
            at = place if self.has(*place, "norm") else layer
            before = self.part(*at, "norm", "placement") == "pre"
            self.norm(at, "norm", width if before else out)
            after = place if self.has(*place, "norm_after") else layer
            self.norm(after, "norm_after", out)
            both = [self.part(*at, "norm"), self.part(*after, "norm_after")]
            if not before and all(isinstance(each, dict) for each in both):
                found = "norm_after and a norm after the residual connection"
                self.report((*after, "norm_after"), f"{found}, expected norm: {{placement: pre}}")
            width = out
        return width

    def attention(self, place: YamlPath, width: Size, source: Size) -> Size:
        """Check an attention; `source` is the width of the vectors for keys and values."""
        heads, crosses = self.entries(*place, "heads"), "cross_attention" in place
        of_source = "one per feature of the encoder" if crosses else OF_INPUT
        of_encoder = "one per token of the encoder"
        per_key = of_encoder if crosses else f"one per token; cross_attention has {of_encoder}"
        known = {
            "width": Known(width, OF_INPUT),
            "source": Known(source, of_source),
            "tokens": Known(self.tokens, "one per token"),
            "keys": Known(self.keys(place), per_key),
        }
        of_input = {**known}
        for part in scenario_parts():
            if part.attention:
                part.attention(self, place, known)
        even = None if width is None or not heads else max(1, width // len(heads))
        names, inside = typed_heads.names(self, place), (*place, "heads")
        widths = [self.head(inside, i, names, {**known}, even) for i in range(len(heads))]
        own = [each for each in widths if each is not None]
        concat = sum(own) if own and len(own) == len(widths) else None
        for part in scenario_parts():
            if part.heads:
                part.heads(self, place, names)
        known = of_input | {"concat": Known(concat, "one per dimension of the concatenated heads")}
        self.matrices(Attention, place, known, {"out": width})
        unknown = self.has(*place, "W_O") and known["out"].size is None
        if unknown and self.is_typed(*place):
            self.report((*place, "W_O"), "how many columns? expected {random: {columns: 4}}")
        return known["out"].size if "out" in known else concat

    def is_typed(self, *attention: str | int) -> bool:
        """Return whether a head of an attention has typed queries, keys or values."""
        return typed_heads.has_typed_heads(self, attention)

    def keys(self, attention: YamlPath) -> Size:
        """Return the number of keys of an attention: the encoder's tokens, or the decoder's."""
        of_encoder = attention[0] == "encoder" or "cross_attention" in attention
        return self.size("encoder", "tokens") if of_encoder else self.tokens

    def head(
        self,
        heads: YamlPath,
        number: int,
        names: dict[str, str],
        known: dict[str, Known],
        even: Size,
    ) -> Size:
        """Return the width of a head's values.

        `names` are the keys of its queries, keys and values; `even` is the default width, that of
        the rows over the heads.
        """
        place: YamlPath = (*heads, number)
        shared = self.shared(heads, number)
        if d_k := self.widths.get((*shared, names["K"])):
            known["d_k"] = Known(d_k, of_columns="as many as the keys have")
        learned = names != typed_heads.NAMES
        self.matrices(Head, place, known, {"d_k": even, "d_v": even}, learned=learned)
        if not learned:
            typed_heads.report_weights(self, place)
        for letter, name in names.items():
            own = letter == "Q" or not self.has(*place, "shares")
            if own and not self.has(*place, name):
                instead = " or shares: 1" * (bool(number) and letter != "Q")
                self.report((*place, name), f"missing, expected {name}: [[1, 0], …]{instead}")
        return known["d_v"].size if "d_v" in known else self.widths.get((*shared, names["V"]))

    def shared(self, heads: YamlPath, number: int) -> YamlPath:
        """Return the path of the head whose keys and values a head shares, or ()."""
        place: YamlPath = (*heads, number)
        shared = typed_size(self.part(*place, "shares"))
        if shared is None:
            return ()
        replaced = {name: each for name, each in declared(Head).items() if each.unless}
        for own in (*((name,) for name in replaced), *(each.labels for each in replaced.values())):
            if own and self.has(*place, *own):
                self.report(
                    (*place, *own),
                    f"own keys or values and shares: {shared}, expected only one of them",
                )
        if shared > number:
            earlier = (
                f"1 to {number}" if number > 1 else "1" if number else "this is the first head"
            )
            self.report((*place, "shares"), f"{shared}, expected an earlier head: {earlier}")
            return ()
        if self.has(*heads, shared - 1, "shares"):
            self.report((*place, "shares"), f"head {shared} has no keys and values of its own")
            return ()
        return (*heads, shared - 1)

    def network(self, place: YamlPath, width: Size, out: Known | None = None) -> Size:
        """Return the width of a network's output; `out` is known if others have the same."""
        for part in scenario_parts():
            if part.network:
                part.network(self, place)
        four_times = None if width is None else 4 * width
        known = {"width": Known(width, OF_INPUT), **({"out": out} if out else {})}
        self.matrices(Network, place, known, {"hidden": four_times, "out": width})
        return known["out"].size

    def matrices(
        self,
        form: type[BaseModel],
        place: YamlPath,
        known: dict[str, Known],
        guesses: Mapping[str, Size],
        *,
        learned: bool = True,
    ) -> None:
        """Check the matrices of a part with their biases and labels.

        The first matrix with columns of an unknown size makes that size known. `guesses` are sizes
        of random matrices where nothing typed in the part says one.
        """
        for name, shape in _matrices(form, learned=learned):
            at, bias, (rows, columns) = (*place, name), (*place, bias_of(name)), shape.sizes
            if not self.has(*at) and not form.model_fields[name].is_required():
                if form is not Head and self.has(*bias):
                    self.report(bias, f"a bias without {name}")
                continue
            labels = (*place, *(shape.labels or ("",)))
            size, _, meaning = known.get(columns, Known(None))
            of_rows, of_columns = Expected(*known[rows][:2]), Expected(size, meaning)
            if learned:
                typed = [self.size(*labels), *self.typed(form, place, columns)]
                guess = next(filter(None, [*typed, guesses.get(columns)]), None)
                found = self.weights(at, of_rows, of_columns, guess)
            elif isinstance(rows_typed := self.part(*at), list):
                found = self.rectangle(at, rows_typed, of_rows, of_columns)[1]
            else:
                continue
            if found is None and self.has(*at, "random") and not {columns} & {*known, *guesses}:
                self.report(at, "how many columns? expected {random: {columns: 2}}")
            self.widths[at] = found
            per_column = f"one per column of {name}"
            self.length(bias, found, per_column, "number")
            self.length(labels, found, per_column)
            if size is None:
                known[columns] = Known(found, per_column, f"as many as {name} has")

    def weights(self, at: YamlPath, rows: Expected, columns: Expected, guess: Size) -> Size:
        """Return the columns of a weight matrix; check the keys that a part has in its place."""
        key = next((key for key in keys_of_weights() if self.has(*at, key)), None)
        if key is None:
            return self.matrix(at, rows, columns, guess)
        found = self.weights((*at, key), rows, columns, guess)
        path = self.path_of_rows(at)
        form, as_many = keys_of_weights()[key], f"as many as {key} has"
        typed = len(self.entries(*path, "transposed", 0) or self.entries(*path)) or None
        of_rows, of_columns = Known(rows.size or typed, as_many), Known(found, "", as_many)
        known = {"rows": of_rows, "columns": of_columns}
        self.matrices(form, at, known, {})
        return found

    def path_of_rows(self, place: YamlPath) -> YamlPath:
        """Return the path of the rows of a weight matrix, which may be inside a part's keys."""
        inside: list[YamlPath] = [(*place, key) for key in keys_of_weights()]
        found = next((path for path in inside if self.has(*path)), None)
        return place if found is None else self.path_of_rows(found)

    def typed(self, form: type[BaseModel], place: YamlPath, size: str) -> Iterator[Size]:
        """Yield a size by the typed matrices and biases of a part; a sub-layer keeps its width."""
        for name, shape in _matrices(form) if size != "out" else ():
            at = self.path_of_rows((*place, name))
            rows, columns = shape.sizes
            if columns == size:
                turned = self.entries(*at, "transposed")
                yield len(turned) if turned else usual_length(self.entries(*at))
                yield len(self.entries(*place, bias_of(name)))
            elif rows == size:
                yield usual_length(self.entries(*at, "transposed")) or len(self.entries(*at))

    def residual(self, place: YamlPath, width: Size, out: Size) -> None:
        if is_off(self.part(*place, "residual")):
            return
        if None not in (width, out) and width != out:
            sizes = f"{count(out or 0, 'output')} cannot be added to {count(width or 0, 'input')}"
            self.report(place, f"{sizes}; expected as many, or residual: false")

    def norm(self, place: YamlPath, name: str, width: Size, why: str = "one per feature") -> None:
        """Check γ and β, and that a sample deviation has at least two features."""
        at: YamlPath = (*place, name)
        for parameter in declared(Normalization):
            self.length((*at, parameter), width, why, "number")
        self.sample((*at, "deviation"), width)

    def sample(self, at: YamlPath, width: Size) -> None:
        """Report the deviation of a sample of one number."""
        if width == 1 and self.part(*at) == "sample":
            self.report(at, "the deviation of a sample needs two features")

    # --- words -----------------------------------------------------------------------------------

    def unembedding(self, width: Size) -> None:
        projection = self.part("unembedding")
        if self.has("vocabulary") and projection is None:
            form = "unembedding: {W_U: [[…], …]} or tied"
            self.report(("vocabulary",), f"a vocabulary without unembedding, expected {form}")
        elif projection is not None and not self.has("vocabulary"):
            form = "vocabulary: […]"
            self.report(("unembedding",), f"unembedding without a vocabulary, expected {form}")
        if isinstance(projection, dict):
            words = Known(self.size("vocabulary"), of_columns="one per word of the vocabulary")
            read = Known(width, "one per feature of the output")
            for part in scenario_parts():
                if part.unembedding:
                    read = part.unembedding(self, ("unembedding",), read)
            known = {"width": read, "words": words}
            self.matrices(Unembedding, ("unembedding",), known, {})

    def loss(self, tokens: Size, width: Size) -> None:
        """Check that a loss has its targets, and the shape of a target of numbers."""
        place: YamlPath = ("loss", "target")
        kind = self.part("loss", "kind")
        if kind == "binary" and not self.has("vocabulary"):
            self.report(("loss", "kind"), "binary needs a vocabulary, expected vocabulary: […]")
        if self.has(*place) and self.has("targets"):
            self.report(("targets",), "targets and loss.target, expected only one of them")
        if not isinstance(rows := self.part(*place), list):
            return
        words = self.has("vocabulary")
        reason = "one per word of the vocabulary" if words else "one per feature of the output"
        each = self.size("vocabulary") if words else width
        if all(isinstance(row, list) for row in rows):
            self.rectangle(place, rows, Expected(tokens, "one per token"), Expected(each, reason))
        else:
            self.length(place, each, reason, "number")
        if self.has("training"):
            self.report(place, "training examples have words as targets, expected no training")

    def upstream(self) -> None:
        """Report gradients that are given beside training examples."""
        of_examples = [("training", i, "given") for i, _ in enumerate(self.entries("training"))]
        for place in (("given",), *of_examples) if self.has("training") else ():
            given = self.part(*place)
            for address in given if isinstance(given, dict) else ():
                if address.startswith(GRADIENT):
                    message = "a gradient is given for the scenario's own tokens only"
                    self.report((*place, address), f"{message}, expected no training")

    def sequences(self, tokens: Size) -> None:
        """Check the lengths of targets, training examples and sequences of a batch."""
        self.length(("targets",), tokens, "one per token")
        for i, _ in enumerate(self.entries("training")):
            place: YamlPath = ("training", i)
            self.length((*place, "targets"), self.size(*place, "tokens"), "one per token")
        first = self.size("batch", 0)
        for i, _ in enumerate(self.entries("batch")):
            self.length(("batch", i), first, "as many as in the first sequence", "token")


def _matrices(form: type[BaseModel], *, learned: bool = True) -> Iterator[tuple[str, Shape]]:
    """Yield the matrices that a part declares, by key."""
    for name, shape in declared(form).items():
        if len(shape.sizes) == 2 and shape.learned == learned:
            yield name, shape
