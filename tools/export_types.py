# SPDX-License-Identifier: BSL-1.0
"""What a model is in Umbel, as far as the names and shapes of its tensors tell, for tools/export. The names that
frameworks have are those of the tables in include/umbel/weights, which are read from there: a new table is known here,
too."""
from __future__ import annotations

import math
import pathlib
import re
from dataclasses import dataclass, field

import numpy as np

import export_options
from command_line import Refused
from export_write import identifier

TABLES = pathlib.Path(__file__).resolve().parent.parent / "include" / "umbel" / "weights"
TABLE = re.compile(r"inline constexpr parameter_name (\w+)\[\] = \{(.*?)\n\};", re.S)
ROW = re.compile(r'\{(nullptr|"[^"]*"),\s*"([^"]*)"(?:,\s*([^{}]*?))?\}', re.S)
NUMBER = re.compile(r"0|[1-9][0-9]{0,5}")  # of a layer in a name
PART = re.compile(r"part_of\((\d+), (\d+)\)")
POSITIONS = re.compile(r"(^|[._])(wpe|\w*positions?|pos_emb\w*|position\w*_embeddings?)$")
EMBEDDING = re.compile(r"(^|[._])(wte|wpe|\w*emb|\w*embed(ding)?s?|embed_\w+|\w*positions?)$")
CLASSES = re.compile(r"(^|[._])(\w*head|classifier|fc|output|score)$")
MIXED = "some projections of the feed-forward network have a bias and some have none: add zeros to the file for the others"
GAMMA_ALONE = "a norm without a beta is taken for rms_norm; torch's LayerNorm with bias=False is layer_norm<..., bias<false>>"
LARGEST_STRUCT = 16  # members that for_each_parameter takes

# What a framework's layer is beside its shapes; what is not certain is said behind it.
OF_TORCH = ("norm_first<false>, activation<relu>", "norm_first and activation are torch's defaults: look yours up")
OF_BERT = "activation<gelu_exact>, norm_epsilon<1, 1'000'000'000'000>"
OF_LLAMA = "norm_first<true>, norm_by<rms_norm>, norm_epsilon<1, 100'000>, gated<true>, activation<silu>, "
LOOK_UP = "called with causal; look up the epsilon and, where the base of rope is not 10000, say rope<pairs, base>"
OPTIONS = {
    "torch_encoder_layer": OF_TORCH,
    "torch_decoder_layer": OF_TORCH,
    "bert_layer": (f"norm_first<false>, {OF_BERT}", ""),
    "vit_layer": (f"norm_first<true>, {OF_BERT}", ""),
    "gpt2_block": ("norm_first<true>, activation<gelu_tanh>", "called with causal"),
    "llama_layer": (f"{OF_LLAMA}rope<split_halves>", LOOK_UP),
    "qwen3_layer": (f"{OF_LLAMA}query_key_norm<rms_norm>, rope<split_halves>", LOOK_UP),
    "timm_block": ("norm_first<true>, activation<gelu_exact>, norm_epsilon<1, 1'000'000>", ""),
    "paddle_encoder_layer": OF_TORCH,
    "meta_llama_block": (f"{OF_LLAMA}rope<adjacent_pairs>", LOOK_UP),
}
UNKNOWN_OPTIONS = ("norm_first<true>, activation<relu>", "norm_first and activation are a guess: look them up")


@dataclass
class Row:
    """One of a table: a parameter, empty where the tensor is left out on purpose, how the file calls it, and its axes."""
    parameter: str
    tensor: str
    order: str  # "in_out", "out_in" or ""
    in_heads: bool
    out_heads: bool
    part: int
    parts: int

    @property
    def rank(self) -> int:
        return (2 if self.order else 1) + self.in_heads + self.out_heads

    def sizes(self, shape: tuple[int, ...]) -> tuple[int, int]:
        """Of the tensor along in and out."""
        axes = list(shape)
        ins = 0 if not self.order else 1 + self.in_heads
        first = axes[:ins] if self.order == "in_out" else axes[-ins:] if ins else []
        rest = axes[ins:] if self.order == "in_out" else axes[:-ins] if ins else axes
        return math.prod(first), math.prod(rest)

    def size(self, shape: tuple[int, ...], side: str) -> int:
        """Of the parameter along in or out."""
        ins, outs = self.sizes(shape)
        return ins if side == "in" else outs // self.parts

    def axes(self) -> str:
        """Of the tensor, for a comment: "out, in"."""
        names = {"in": ["heads", "head_dim"] if self.in_heads else ["in"],
                 "out": ["heads", "head_dim"] if self.out_heads else [f"{self.parts} x out" if self.parts > 1 else "out"]}
        return ", ".join(names["in"] + names["out"] if self.order == "in_out" else names["out"] + names["in"]
                         if self.order else names["out"])


@dataclass
class Layer:
    """A layer that was found: the table and what stands before its names; which row each parameter has."""
    table: str
    prefix: str
    rows: dict[str, Row]  # by parameter
    names: dict[str, str]  # the tensor of each


@dataclass
class Group:
    """One layer, or several in an array: layers.0, layers.1, ... Without a table a tensor as it is."""
    member: str
    prefix: str  # in the file, * for the number
    layers: list[Layer] = field(default_factory=list)
    tensor: str | None = None


@dataclass
class Found:
    tensors: dict[str, np.ndarray]
    groups: list[Group]
    left_out: list[str] = field(default_factory=list)
    options: dict[str, dict[str, str]] = field(default_factory=dict)  # as a file has them: by path of a group, then by name

    def axes(self) -> dict[str, str]:
        """What is known of the axes of tensors, for comments: "(16, 8), out, in"."""
        known = {}
        for group in self.groups:
            for layer in group.layers:
                for parameter, name in layer.names.items():
                    row, shape = layer.rows[parameter], self.tensors[name].shape
                    if row.order or row.parts > 1:
                        known[name] = f"({', '.join(map(str, shape))}), {row.axes()}"
        return known

    def outputs(self) -> dict[str, int]:
        """Matrices of layers: along which axis their outputs lie."""
        return {name: 0 if layer.rows[parameter].order == "out_in" else 1
                for group in self.groups for layer in group.layers for parameter, name in layer.names.items()
                if layer.rows[parameter].order and self.tensors[name].ndim == 2}


def row_of(parameter: str, tensor: str, axes: str | None) -> Row:
    axes = axes or ""
    order = next((one for one in ("in_out", "out_in") if axes.startswith(one)), "")
    part = PART.search(axes)
    return Row("" if parameter == "nullptr" else parameter.strip('"'), tensor, order, "in_of(" in axes, "out_of(" in axes,
               int(part[1]) if part else 0, int(part[2]) if part else 1)


def read_tables(folder: pathlib.Path = TABLES) -> dict[str, list[Row]]:
    """The tables of layers. (One of a single tensor, as an embedding is, recognises nothing: the tensor stays one. So do those of a
    convolution, which a formula computes, and of a batch norm, which is folded into other weights.)"""
    tables = {}
    for header in sorted(folder.glob("*.hpp")):
        for name, text in TABLE.findall(header.read_text()):
            found = ROW.findall(text)
            rows = [row_of(*row) for row in found if "*" not in row[1]]
            is_of_tensors = name.endswith(("_convolution", "_batch_norm"))
            if rows and not is_of_tensors and all(parameter != '""' for parameter, *_ in found):
                tables[name] = rows
    return tables


def is_weight(parameter: str) -> bool:
    """One that a layer has with or without biases."""
    return not parameter.endswith(("bias", "beta"))


def is_norm_of_heads(parameter: str) -> bool:
    """One that attention has with query_key_norm."""
    return parameter.endswith(("q_norm.gamma", "k_norm.gamma"))


def prefix_of(name: str, tensor: str) -> str | None:
    """What stands before a tensor of a table: "layers.0" for layers.0.norm1.weight."""
    if name == tensor:
        return ""
    return name[:-len(tensor) - 1] if name.endswith("." + tensor) else None


def layers_of(table: str, rows: list[Row], tensors: dict[str, np.ndarray]):
    """Every place where all the weights of a table are."""
    places: dict[str, Layer] = {}
    parameters = [row for row in rows if row.parameter]
    for row in parameters:
        for name, array in tensors.items():
            prefix = prefix_of(name, row.tensor)
            if prefix is None or array.ndim != row.rank or array.size == 0:
                continue
            if "*" in prefix or row.sizes(array.shape)[1] % row.parts:  # a * stands for numbers
                continue
            layer = places.setdefault(prefix, Layer(table, prefix, {}, {}))
            layer.rows.setdefault(row.parameter, row)
            layer.names.setdefault(row.parameter, name)
    wanted = {row.parameter for row in parameters if is_weight(row.parameter) and not is_norm_of_heads(row.parameter)}
    return [layer for layer in places.values() if wanted <= layer.names.keys() and not is_table(layer) and is_consistent(layer, tensors)]


def is_consistent(layer: Layer, tensors: dict[str, np.ndarray]) -> bool:
    """Has each bias the length of its matrix's outputs? So the bias tells (in, out) from (out, in)."""
    for parameter, row in layer.rows.items():
        bias = parameter[:-len("weight")] + "bias" if parameter.endswith("weight") else ""
        if bias in layer.rows:
            length = tensors[layer.names[bias]].size // layer.rows[bias].parts
            if row.size(tensors[layer.names[parameter]].shape, "out") != length:
                return False
    return True


def is_table(layer: Layer) -> bool:
    """A matrix that is looked up, as far as its name tells."""
    return layer.names.keys() == {"weight"} and EMBEDDING.search(layer.prefix) is not None


def group_layers(layers: list[Layer], tensors) -> list[Group]:
    """Layers that differ in one number, the last of their prefixes, and in nothing else, are one group."""
    series: dict[tuple, dict[int, Layer]] = {}
    for layer in layers:
        parts = layer.prefix.split(".")
        at = next((i for i in reversed(range(len(parts))) if NUMBER.fullmatch(parts[i])), None)
        number = int(parts[at]) if at is not None else 0
        if at is not None:
            parts[at] = "*"
        shapes = tuple((p, tensors[n].shape) for p, n in sorted(layer.names.items()))
        series.setdefault((layer.table, ".".join(parts), shapes), {})[number] = layer
    groups = []
    for (_, prefix, _), numbered in series.items():
        if "*" in prefix and sorted(numbered) == list(range(len(numbered))):
            groups.append(Group("", prefix, [numbered[i] for i in range(len(numbered))]))
        else:
            groups += [Group("", layer.prefix, [layer]) for layer in numbered.values()]
    return groups


def name_members(groups: list[Group]) -> None:
    """The last word of the prefix, and more of it where that is taken."""
    taken = set()
    for group in groups:
        words = [word for word in (group.tensor or group.prefix).split(".") if word != "*"] or ["layer"]
        if group.tensor is not None and len(words) > 1 and words[-1] == "weight":
            words = words[:-1]
        name = next((name for name in (identifier("_".join(words[-n:])) for n in range(1, len(words) + 1))
                     if name not in taken), None)
        while name is None or name in taken:
            name = (name or identifier("_".join(words))) + "_"
        group.member = name
        taken.add(name)


def recognise(tensors: dict[str, np.ndarray], left_out=()) -> Found:
    tables = read_tables()
    candidates = [layer for table, rows in tables.items() for layer in layers_of(table, rows, tensors)]
    candidates.sort(key=lambda layer: (-len(set(layer.names.values())), layer.table.startswith("paddle")))
    taken: set[str] = set()
    layers = []
    for layer in candidates:
        if taken.isdisjoint(layer.names.values()):
            taken.update(layer.names.values())
            layers.append(layer)
            taken.update(f"{layer.prefix}.{row.tensor}".lstrip(".") for row in tables[layer.table] if not row.parameter)
    place = {name: i for i, name in enumerate(tensors)}
    groups = group_layers(layers, tensors)
    groups += [Group("", "", tensor=name) for name in tensors if name not in taken]
    groups.sort(key=lambda g: min(place[n] for n in ([g.tensor] if g.tensor is not None else g.layers[0].names.values())))
    name_members(groups)
    return Found(tensors, groups, list(left_out))


# ---- C++ ----------------------------------------------------------------------------------------
# $u stands for umbel:: and $a for umbel::axes:: where they are needed.


class Writer:
    """C++ for what was found. options: of blocks, as the user knows them."""

    def __init__(self, found: Found, options: str, qualified: bool):
        self.found, self.known, self.qualified = found, export_options.by_name(options), qualified
        self.remarks: list[str] = []
        self.undecided: list[str] = []  # linear maps that may be (in, out) as well

    def text(self, template: str) -> str:
        return template.replace("$a", "umbel::axes::" if self.qualified else "").replace(
            "$u", "umbel::" if self.qualified else "")

    def options(self, text: str) -> str:
        return re.sub(r"\b(?!true|false)([a-z]\w*)", r"$u\1", text)

    def size(self, layer: Layer, parameter: str, side: str) -> int:
        return layer.rows[parameter].size(self.found.tensors[layer.names[parameter]].shape, side)

    def biased(self, layer: Layer) -> tuple[list[str], list[str]]:
        """The matrices, and those of them that have a bias."""
        matrices = [p for p in layer.names if p.endswith(".weight") or p == "weight"]
        return matrices, [p for p in matrices if p[:-len("weight")] + "bias" in layer.names]

    def bias(self, layer: Layer) -> str:
        """Of all projections, or of some of attention, and then of the feed-forward network, where there is one."""
        matrices, biased = self.biased(layer)
        if len(biased) in (0, len(matrices)):
            return f"$ubias<{'true' if biased else 'false'}>"
        letters = dict.fromkeys(p.split(".")[-2] for p in biased if not p.startswith("feed_forward."))
        text = f"$ubias_on<{', '.join(map(repr, letters))}>"
        if any(p.startswith("feed_forward.") for p in matrices):
            network = any(p.startswith("feed_forward.") for p in biased)
            text += f", $ufeed_forward_bias<{'true' if network else 'false'}>"
        return text

    def has_some_biases(self, layer: Layer) -> bool:
        """Of the feed-forward network, which has all or none in C++."""
        matrices, biased = ([p for p in one if p.startswith("feed_forward.")] for one in self.biased(layer))
        return 0 < len(biased) < len(matrices)

    @staticmethod
    def norm_bias(layer: Layer, options: str) -> str:
        """Of layer_norms without a beta."""
        return "" if "norm1.beta" in layer.names or "rms_norm" in options else ", $unorm_bias<false>"

    def attention_options(self, layer: Layer, path: str, stored: dict[str, str]) -> str:
        """$aheads<4> and what follows from the widths of the projections."""
        q, k, v = (self.size(layer, f"{path}{one}.weight", "out") for one in "qkv")
        hidden = self.size(layer, f"{path}q.weight", "in")
        norm = layer.names.get(f"{path}q_norm.gamma")  # of one head
        heads = heads_of_axes(self.found, layer) or (q // self.found.tensors[norm].size if norm else export_options.count(stored, "heads"))
        if heads == 0:
            raise Refused("the number of heads is not told by shapes: say --heads N, for the types")
        if q % heads:
            raise Refused(f"--heads {heads} does not divide the {q} features of the queries of {layer.prefix or 'the model'}")
        width, more = q // heads, ""
        if k % width:
            raise Refused(f"--heads {heads} makes heads of {width} features, which does not divide the {k} of the keys")
        if width * heads != hidden:
            more += f", $ahead_dim<{width}>"
        if k != q:
            more += f", $akv_heads<{k // width}>"
        if v != k:
            more += f", $uvalue_dim<{v // (k // width)}>"
        return f"$aheads<{heads}>", more

    def type_of(self, group: Group) -> str:
        if group.tensor is not None:
            return self.table_type(group) or self.tensor_type(self.found.tensors[group.tensor].shape)
        layer = group.layers[0]
        path = next((p for p in ("attention.", "self_attention.", "") if f"{p}q.weight" in layer.names), None)
        if "score" in layer.names:
            return (f"$uadditive_attention<float, $ahidden<{self.size(layer, 'q.weight', 'in')}>, "
                    f"$ascore_hidden<{self.size(layer, 'q.weight', 'out')}>>")
        if path is None:
            return self.small_type(group, layer)
        hidden = self.size(layer, f"{path}q.weight", "in")
        stored = self.found.options.get(group.prefix, {})
        heads, more = self.attention_options(layer, path, stored)
        if path == "":
            return f"$umulti_head_attention<float, $ahidden<{hidden}>, {heads}, {self.bias(layer)}{more}>"
        options, remark = OPTIONS.get(layer.table, UNKNOWN_OPTIONS)
        if f"{path}q_norm.gamma" in layer.names and "query_key_norm" not in options:
            options += f", query_key_norm<{'layer' if f'{path}q_norm.beta' in layer.names else 'rms'}_norm>"
        known = export_options.by_name(export_options.as_written(stored)) | self.known
        options = ", ".join((export_options.by_name(options) | known).values())
        if remark and not known:
            self.remarks.append(f"{group.member}: {remark}")
        if self.has_some_biases(layer):
            self.remarks.append(f"{group.member}: {MIXED}")
        kind = "encoder_layer" if path == "attention." else "decoder_layer"
        return (f"$u{kind}<float, $ahidden<{hidden}>, {heads}, "
                f"$aintermediate<{self.size(layer, 'feed_forward.up.weight', 'out')}>, {self.options(options)}, "
                f"{self.bias(layer)}{self.norm_bias(layer, options)}{more}>")

    def table_type(self, group: Group) -> str:
        """Of a matrix that is looked up or added by position, as far as its name tells; else empty."""
        shape, name = self.found.tensors[group.tensor].shape, group.tensor.removesuffix(".weight")
        if len(shape) != 2 or not EMBEDDING.search(name):
            return ""
        if POSITIONS.search(name):
            return f"$ulearned_positions<float, $atoken<{shape[0]}>, $ahidden<{shape[1]}>>"
        return f"$uembedding<float, $avocabulary<{shape[0]}>, $ahidden<{shape[1]}>>"

    def small_type(self, group: Group, layer: Layer) -> str:
        """A norm or a linear map."""
        if "gamma" in layer.names:
            kind = "layer_norm" if "beta" in layer.names else "rms_norm"
            if kind == "rms_norm":
                self.remarks.append(f"{group.member}: {GAMMA_ALONE}")
            return f"$u{kind}<float, $ahidden<{self.found.tensors[layer.names['gamma']].size}>>"
        rows, columns = self.found.tensors[layer.names["weight"]].shape
        if layer.table == "torch_linear" and (rows == columns or "bias" not in layer.names):
            self.undecided.append(group.member)
        out = "classes" if CLASSES.search(group.member) else "hidden"
        return (f"$ulinear<float, $ahidden<{self.size(layer, 'weight', 'in')}>, "
                f"$a{out}<{self.size(layer, 'weight', 'out')}>, {self.bias(layer)}>")

    def tensor_type(self, shape: tuple[int, ...]) -> str:
        names = ["$abatch", "$atoken", "$ahidden"]
        shape = shape or (1,)
        axes = names[-len(shape):] if 0 < len(shape) <= len(names) else [f"axis_{i}" for i in range(len(shape))]
        return f"$utensor<float, {', '.join(f'{axis}<{n}>' for axis, n in zip(axes, shape))}>"

    def types(self) -> list[str]:
        return [f"using {group.member}_type = {self.type_of(group)};" for group in self.found.groups]

    def own_axes(self) -> list[str]:
        most = max((self.found.tensors[g.tensor].ndim for g in self.found.groups if g.tensor is not None), default=0)
        return [f"template <std::size_t N>\nstruct axis_{i} : $uaxis<axis_{i}, N> {{}};"
                for i in range(most if most > 3 else 0)]


def heads_of_axes(found: Found, layer: Layer) -> int:
    """Where a framework keeps heads as an axis, their number; else 0."""
    for parameter, row in layer.rows.items():
        if row.order and row.out_heads:
            shape = found.tensors[layer.names[parameter]].shape
            return shape[-2] if row.order == "in_out" else shape[0]
    return 0


def literal(text: str) -> str:
    """A name as a C++ string."""
    made = "".join(c if c.isascii() and c.isprintable() and c not in '"\\?' else
                   "".join(f"\\{byte:03o}" for byte in c.encode()) for c in text)
    return f'"{made}"'


def is_stack(group: Group) -> bool:
    return "*" in group.prefix and "feed_forward.up.weight" in group.layers[0].names


def member_text(group: Group, is_tensor: bool) -> str:
    if is_stack(group):
        return f"  {group.member}_stack::weights {group.member};"
    count = f"[{len(group.layers)}]" if "*" in group.prefix else ""
    kind = f"{group.member}_type" if is_tensor else f"{group.member}_type::weights"
    return f"  {kind} {group.member}{count};"


def layer_of(group: Group, is_tensor: bool) -> str:
    """The layer of a member, as load wants to know it."""
    return f"{group.member}_stack" if is_stack(group) else "void" if is_tensor else f"{group.member}_type"


def stored_options(found: Found, heads: int | None, options: str, in_file: str) -> dict[str, dict[str, str]]:
    """The options of layers, no guesses: those in the file that was read, and instead of them what the user passes."""
    stored, known = export_options.read_text(in_file), export_options.as_stored(options)
    for group in found.groups:
        names = group.layers[0].names if group.layers else {}
        parts = {name.split(".")[-2] for name in names if "." in name}
        is_split = heads and "q" in parts and "score" not in names and not heads_of_axes(found, group.layers[0])
        given = {"heads": str(heads)} if is_split else {}
        given |= known if "norm1" in parts else {}
        for path in stored:  # parts of the layer have them as well
            if path.startswith(f"{group.prefix}."):
                stored[path] |= {name: given[name] for name in stored[path].keys() & given.keys()}
        stored[group.prefix] = stored.get(group.prefix, {}) | given
    return stored


def table_arguments(found: Found) -> list[str]:
    made = []
    for group in found.groups:
        if group.layers:
            star = ".*" if "*" in group.prefix else ""
            heads = f"<{heads_of_axes(found, group.layers[0])}>" if heads_of_axes(found, group.layers[0]) else ""
            made.append(f"at({literal(group.member + star)}, {literal(group.prefix)}, names::{group.layers[0].table}{heads})")
    return made


def types_text(found: Found, namespace: str, options: str) -> str:
    """Types, the struct of the weights, and the call of load, to be pasted."""
    writer = Writer(found, options, False)
    types = writer.types()
    types += [f"using {group.member}_stack = $ulayer_stack<{group.member}_type, {len(group.layers)}>;" for group in found.groups if is_stack(group)]
    if writer.undecided:
        writer.remarks.append(f"{', '.join(writer.undecided)}: taken as (out, in); if the file has (in, out), write names::paddle_linear")
    tensors = {group.member for group in found.groups if group.tensor is not None and not writer.table_type(group)}
    own = [(g.member, g.tensor) for g in found.groups if g.tensor is not None]
    left_out = sorted({re.sub(r"(?<![^.])\d+(?![^.])", "*", name) for name in found.left_out})
    rows = [f"    {{{literal(member)}, {literal(name)}}}," for member, name in own]
    rows += [f"    {{nullptr, {literal(name)}}}," for name in left_out]
    arguments = table_arguments(found) + (["own_names"] if rows else [])
    names = ", ".join(literal(g.member) for g in found.groups)
    if len(found.groups) > LARGEST_STRUCT:
        writer.remarks.append(f"a struct of weights has at most {LARGEST_STRUCT} members: put some into a struct of their own")
    lines = ["#include <tuple>", "", "#include <umbel/files.hpp>", "#include <umbel/umbel.hpp>", "#include <umbel/weights.hpp>", "",
             f"namespace {namespace} {{", "", "using namespace umbel;", "using namespace umbel::axes;", "",
             *[f"// {remark}" for remark in dict.fromkeys(writer.remarks)], *map(writer.text, writer.own_axes()),
             *map(writer.text, types), "", "struct weights {",
             f"  static constexpr const char* part_names[] = {{{names}}};",
             f"  using part_layers = std::tuple<{', '.join(layer_of(group, group.member in tensors) for group in found.groups)}>;",
             *(member_text(group, group.member in tensors) for group in found.groups), "};", ""]
    if rows:
        lines += ["inline constexpr parameter_name own_names[] = {", *rows, "};", ""]
    lines += ["// All or nothing: if not, .error() has a line for each tensor that does not fit.",
              "template <class File>", "load_result load_weights(weights& w, const File& file) {",
              "  return load(w, file, " + (",\n" + " " * 14).join(arguments) + ");", "}", "", f"}}  // namespace {namespace}"]
    return "\n".join(lines)


# ---- constants ------------------------------------------------------------------------------------
MEMBERS = ["norm1", "attention", "self_attention", "norm2", "cross_attention", "norm3", "feed_forward", "q", "k", "v", "o",
           "q_norm", "k_norm", "score", "gate", "up", "down", "weight", "gamma", "bias", "beta"]  # in the order of layer/parts.hpp


def memory_text(writer: Writer, layer: Layer, parameter: str, called: dict[str, str]) -> str:
    """One parameter: the array, or its part of it, with the order of its axes."""
    row, array = layer.rows[parameter], called[layer.names[parameter]]
    outs = writer.size(layer, parameter, "out")
    if not row.order:
        return f"{array} + {row.part * outs}" if row.parts > 1 else array
    ins = writer.size(layer, parameter, "in")
    if row.order == "in_out" and row.parts > 1:
        return (f"$uview_as<$ain_features<{ins}>, $aout_features<{row.parts * outs}>>({array}) | "
                f"$uslice<$aout_features, $ufrom<{row.part * outs}>, $uextent<{outs}>>")
    order = "$ain_features, $aout_features" if row.order == "in_out" else "$aout_features, $ain_features"
    return f"$uview_as<{order}>({array}{f' + {row.part * outs * ins}' if row.parts > 1 else ''})"


def braces(writer: Writer, layer: Layer, called: dict[str, str], path: str = "") -> str:
    """The weights of a layer as nested lists."""
    inside = {p[len(path):].split(".")[0] for p in layer.names if p.startswith(path)}
    parts = []
    for part in sorted(inside, key=MEMBERS.index):
        whole = path + part
        parts.append(memory_text(writer, layer, whole, called) if whole in layer.names else
                     braces(writer, layer, called, whole + "."))
    gap = ",\n     " if any(part[0] == "{" for part in parts) else ", "  # a line for each map or norm
    return "{" + gap.join(parts) + "}"


def constant_of(kind: str, name: str, values: list[str], several: bool) -> str:
    if not several:
        return f"inline constexpr {kind} {name}{values[0]};"
    return f"inline constexpr {kind} {name}[{len(values)}]{{\n    " + ",\n    ".join(values) + "};"


def constants_text(found: Found, called: dict[str, str], options: str) -> str:
    """Types and layers of constants, for the end of a header: their weights, which are pointers to the arrays, and the
    layers, packed by the compiler; of norms, which are not packed, the weights. Tensors that are no layer's are the
    arrays."""
    writer = Writer(found, options, True)
    taken = set(called.values()) | {one + "_shape" for one in called.values()}
    lines: list[str] = []
    for group in found.groups:
        if group.tensor is not None:
            continue
        name = group.member
        while {name, name + "_type", name + "_parameters"} & taken:
            name += "_"
        taken |= {name, name + "_type", name + "_parameters"}
        wrong = ("additive attention is not packed: load it" if "score" in group.layers[0].names else
                 MIXED if writer.has_some_biases(group.layers[0]) else "")
        if wrong:
            lines.append(f"// {group.member}: {wrong}")
            continue
        lines.append(f"using {name}_type = {writer.type_of(group)};")
        parameters = [braces(writer, layer, called) for layer in group.layers]
        several = "*" in group.prefix
        if "gamma" in group.layers[0].names:
            lines.append(constant_of(f"{name}_type::weights_view", name, parameters, several))
            continue
        packed = f"$uprepacked<{name}_type>"
        layers = [f"{packed}{{{name}_parameters[{i}]}}" for i in range(len(parameters))]
        lines += [constant_of(f"{packed}::weights_to_pack", f"{name}_parameters", parameters, several),
                  constant_of(packed, name, layers if several else [f"{{{name}_parameters}}"], several)]
    remarks = [f"// {remark}" for remark in dict.fromkeys(writer.remarks)]
    return writer.text("\n".join([*remarks, *lines, "", ""]))
