# SPDX-License-Identifier: BSL-1.0
"""A graph as the statements of a formula, for tools/import: the text of each, its weights and the names of its axes, and which
statements are a block that repeats."""
import math
import re
from operator import or_

import numpy as np

import import_graph as graph
from command_line import Refused
from import_graph import Node, constant, in_order, is_constant, is_number, number
from import_layers import FULL_SCALE, is_causal, ratio
from import_moves import NoView, Views, numbers_along, runs

BUILT_IN = set("batch query key token hidden heads kv_heads head_dim value_dim score_hidden intermediate classes vocabulary in_features "
               "out_features kernel_size".split())
CALLS = {"exp", "log", "sqrt", "tanh", "sigmoid", "abs", "sin", "cos", "erf", "floor"}
OPERATORS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "mod": "%", "less": "<", "greater": ">", "less_or_equal": "<=", "greater_or_equal": ">=",
             "equal": "==", "not_equal": "!=", "and": "&&", "or": "||"}
CONDITIONS = {"less", "greater", "less_or_equal", "greater_or_equal", "equal", "not_equal", "and", "or", "not"}
MOST_SLICES = 12
LARGEST_SELECTION = 1 << 20
MOST_RESULTS = 6


def literal(value):
    if math.isinf(value):
        return "-__builtin_inff()" if value < 0 else "__builtin_inff()"
    return str(np.float32(value)) + "F"  # the shortest text of these bits


def axes_text(names, shape):
    return ", ".join(f"{name}<{n}>" for name, n in zip(names, shape))


# ---- the weights of layers, by Umbel's names -------------------------------------------------------


def floats(array):
    return np.ascontiguousarray(array, np.float32)


def parts_of_linear(path, pair, bias=None):
    """bias: has the layer one? By default, if the map has."""
    weight, vector = pair
    has = vector is not None if bias is None else bias
    vector = np.zeros(weight.shape[1]) if vector is None else vector
    return [(f"{path}weight", floats(weight))] + ([(f"{path}bias", floats(vector))] if has else [])


def parts_of_norm(path, node):
    return [(f"{path}gamma", floats(node["gamma"]))] + ([] if node["beta"] is None else [(f"{path}beta", floats(node["beta"]))])


def parts_of_attention(path, node):
    norms = [(name, node[name]) for name in ("q_norm", "k_norm") if node[name]]
    return ([part for name in "qkvo" for part in parts_of_linear(f"{path}{name}.", node[name])] +
            [part for name, one in norms for part in parts_of_norm(f"{path}{name}.", one)])


def parts_of_network(path, node):
    bias = has_bias(node)
    return [part for name in ("gate", "up", "down") if node[name] for part in parts_of_linear(f"{path}{name}.", node[name], bias)]


def has_bias(network):
    return any(network[name][1] is not None for name in ("gate", "up", "down") if network[name])


def lower(condition):
    return "true" if condition else "false"


def rope_text(pairing, base, width):
    return f"rope<{pairing}, {base}, {width}>" if width else f"rope<{pairing}>" if base == 10000 else f"rope<{pairing}, {base}>"


def options_of_attention(node):
    biased = [name for name in "qkvo" if node[name][1] is not None]
    made = ["bias<true>" if len(biased) == 4 else "bias<false>" if not biased else f"bias_on<{', '.join(map(repr, biased))}>"]
    if node["kv_heads"] != node["heads"]:
        made.append(f"kv_heads<{node['kv_heads']}>")
    if node["head_dim"] * node["heads"] != node.args[0].shape[-1]:
        made.append(f"head_dim<{node['head_dim']}>")
    if node["value_dim"] != node["head_dim"]:
        made.append(f"value_dim<{node['value_dim']}>")
    if node["q_norm"]:
        made.append(f"query_key_norm<{node['q_norm']['kind']}>")
    if node["base"]:
        made.append(rope_text(*node["base"]))
    if node["scale"]:
        made.append("score_scale<{}, {}>".format(*node["scale"]))
    if node["cap"]:
        made.append("softcap<{}, {}>".format(*node["cap"]).replace(", 1>", ">"))
    if node["uniform"]:
        made.append("empty_rows<uniform_weights>")
    for option, source in (("keys_from", node["memory"]), ("values_from", node["values"])):
        if source and source.shape[-1] != node.args[0].shape[-1]:
            made.append(f"{option}<hidden<{source.shape[-1]}>>")
    return made


def stored_options(node):
    """The options of a layer as text of the file, with those that have their default."""
    if node.op in ("encoder", "decoder"):
        norm = node["norm1"]
        made = {"norm_first": lower(node["norm_first"]), "norm_by": norm["kind"], "norm_epsilon": norm["epsilon"]}
        made |= stored_options_of_attention(node["attention"], made) | stored_options_of_network(node["network"])
    else:
        made = {"attention": stored_options_of_attention, "network": stored_options_of_network}.get(node.op, lambda _: {})(node)
    return ", ".join(f"{name}={value if isinstance(value, str) else format(value, '.9g')}" for name, value in made.items())


def stored_options_of_network(node):
    return {"activation": node["kind"], "gated": lower(node["gate"])}


def stored_options_of_attention(node, of_block=None):
    def quotient(pair):
        return pair[0] / pair[1]
    pairing, base, width = node["base"] or ("none", "none", "none")
    made = {name: node[name] for name in ("heads", "kv_heads", "head_dim", "value_dim")}
    made |= {"rope": pairing, "rope_base": base, "rope_width": width or node["head_dim"],
             "score_scale": quotient(node["scale"]) if node["scale"] else node["head_dim"] ** -0.5,
             "softcap": quotient(node["cap"]) if node["cap"] else "none", "empty_rows": "uniform_weights" if node["uniform"] else "zero_weights",
             "query_key_norm": node["q_norm"]["kind"] if node["q_norm"] else "none"}
    return made | ({"norm_epsilon": node["q_norm"]["epsilon"]} if node["q_norm"] and not of_block else {})


def options_of_norm(node):
    no_beta = ["norm_bias<false>"] if node["kind"] == "layer_norm" and node["beta"] is None else []
    usual = node["kind"] == "layer_norm" and node["epsilon"] == 1e-5
    return [*no_beta, *([] if usual else ["norm_epsilon<{}, {}>".format(*ratio(node["epsilon"]))])]


def is_flag(node):
    """Is it an input of bool?"""
    return node["dtype"].kind == "b" or "mask" in node.constants and not node["mask"][1]


class Statement:
    """text: {0}, {1} ... are nodes, {w0}, {w1} ... weights, {t} is the type. parts: path and array of what is loaded."""

    def __init__(self, node, text, reads, axes, *, parts=(), type_="", packed=False, tensors=()):
        self.node, self.text, self.reads, self.axes = node, text, reads, axes
        self.parts, self.type, self.packed, self.tensors = list(parts), type_, packed, list(tensors)

    def weights(self):
        return sum(array.size for _, array in [*self.parts, *self.tensors])


class Program:
    def __init__(self, results, input_axes, input_names, in_integers=False):
        self.in_integers = in_integers
        self.own, self.statements, self.inputs = [], [], []
        self.open = []  # they have an axis without an extent, until they are added
        self.axes, self.strided, self.conditions, self.alias, self.at = {}, set(), set(), {}, {}
        self.input_axes, self.results = input_axes, results
        if len(results) > MOST_RESULTS:
            raise Refused(f"the model has {len(results)} outputs, and a formula at most {MOST_RESULTS}; keep some, --output NAME, or import the model twice")
        nodes = in_order(results)
        self.readers = {}
        for node in nodes:
            for x in node.args:
                self.readers.setdefault(id(x), []).append(node)
        for node in nodes:
            if math.prod(node.shape) == 0:
                self.refuse(node, "it has no elements; leave it out")
            self.add(node)
        if any(is_constant(self.real(node)) for node in results):
            raise Refused("an output depends on no input; remove it from the outputs")
        self.inputs.sort(key=lambda node: input_names.index(node["name"]))
        self.results = [self.floats_of(node) for node in results]
        self.first, self.period, self.count = self.repetition()

    # ---- names
    def own_axis(self, name):
        if name not in BUILT_IN and name not in self.own:
            self.own.append(name)
        return name

    def fresh(self, taken, name):
        """An axis that is not taken, and is taken then."""
        made, k = name, 2
        while made in taken:
            made, k = f"{name}_{k}", k + 1
        taken.add(made)
        return self.own_axis(made)

    def extra(self, *names):
        taken = {name for one in names for name in one}
        return lambda name: self.fresh(taken, name)

    def real(self, node):
        while id(node) in self.alias:
            node = self.alias[id(node)]
        return node

    def names(self, node):
        return self.axes[id(self.real(node))]

    def refuse(self, node, reason):
        raise Refused(f"{node.origin}: {reason}" if node.origin else reason)

    # ---- statements
    def say(self, node, text, reads, axes, **more):
        self.axes[id(node)] = tuple(axes)
        self.at[id(node)] = len(self.statements)
        self.statements.append(Statement(node, text, [self.real(x) for x in reads], tuple(axes), **more))

    def instead(self, node, made):
        """Other nodes for this one."""
        for one in in_order([made]):
            if id(self.real(one)) not in self.axes and not is_constant(one):
                self.add(one)
        self.alias[id(node)] = made
        return made

    def renamed(self, node, wanted, ref):
        """A node by other names of its axes."""
        have = self.names(node)
        if have == tuple(wanted):
            return ref
        changes, names, words = [(a, b) for a, b in zip(have, wanted) if a != b], set(have), []
        while changes:
            a, b = next((one for one in changes if one[1] not in names), changes[0])
            changes.remove((a, b))
            if b in names:  # names change places
                wish, b = b, self.fresh(names | set(wanted), f"renamed_{a}")
                changes.append((b, wish))
            names = names - {a} | {b}
            words.append(f"rename_axis<{a}, {b}>")
        return f"({ref} | {' | '.join(words)})"

    def for_layer(self, node, wanted, ref="{0}"):
        text = self.renamed(node, wanted, ref)
        return f"contiguous({text})" if id(self.real(node)) in self.strided else text

    def number_text(self, node):
        return literal(number(node))

    def add(self, node):
        if is_constant(node):
            return
        writer = getattr(self, f"add_{node.op}", None)
        if writer is None and (node.op in OPERATORS or node.op in ("maximum", "minimum", "where")):
            writer = self.add_elementwise
        if writer is None and node.op in CALLS:
            return self.same_axes(node, f"{node.op}({{0}})")
        if writer is None:
            self.refuse(node, f"Umbel's formulas have no {node.op}; export the model without it, or do this step in your code")
        writer(node)

    def same_axes(self, node, text):
        x = self.numbers_of(node.args[0])
        self.say(node, text, [x], self.names(x))

    def add_hidden(self, node):
        """Scores whose keys masks hide, for formulas in integers."""
        x, kept = self.numbers_of(node.args[0]), [self.real(one) for one in node.args[1:]]
        *leading, query, key = names = self.names(x)
        window = re.compile(r"sliding_window<(\d+)(?:, (\d+))?>")
        conditions, flags = [], iter(range(1, 1 + len(kept)))
        for mask in node["masks"]:
            if mask == "causal":
                conditions.append(f"position<{key}> > position<{query}>")
            elif found := window.fullmatch(mask):
                conditions += [
                    f"position<{key}> > position<{query}>" + (f" + {found[2]}" if found[2] else ""),
                    f"position<{query}> > position<{key}> + {found[1]}"
                ]
            else:
                k = next(flags)
                of_scores = {"batch": leading[:1], "query": [query], "key": [key]}
                flag = self.renamed(kept[k - 1], tuple(axis for name in kept[k - 1]["mask"][0] for axis in of_scores[name]), f"{{{k}}}")
                conditions.append(flag if mask.startswith("drop_mask") else f"!{flag}")
        self.say(node, f"hide({{0}}, {' || '.join(conditions)})", [x, *kept], names)

    def floats_of(self, node):
        """A node of floats, also if it is a condition or has integers."""
        node = self.real(node)
        if not self.is_integer(node):
            return self.numbers_of(node)
        made = Node("copy", [node], node.shape)
        self.add(made)
        return made

    def is_integer(self, node):
        node = self.real(node)
        while node.op == "move":
            node = self.real(node.args[0])
        return node.op == "input" and node["dtype"].kind in "iu" and "mask" not in node.constants

    def add_copy(self, node):
        """A result that is an input, perhaps in another order."""
        self.same_axes(node, "{0} * 1.0F")

    def numbers_of(self, node):
        """A node of numbers, also if it is a condition."""
        node = self.real(node)
        if id(node) not in self.conditions:
            return node
        made = Node("where", [node, constant(1.0), constant(0.0)], node.shape, at=(graph.every(node), (), ()))
        self.add(made)
        return made

    def condition_of(self, node):
        """A node of conditions, also if it has numbers: is each other than 0?"""
        node = self.real(node)
        if id(node) in self.conditions:
            return node
        made = Node("not_equal", [node, constant(0.0)], node.shape, at=(graph.every(node), ()))
        self.add(made)
        return made

    def add_input(self, node):
        name, rank = node["name"], len(node.shape)
        axes = self.input_axes.get(name)
        if "mask" in node.constants:
            axes, _ = node["mask"]
        elif len(axes) != rank:
            self.refuse(node, f"input {name}: --axes names {len(axes)} axes for {list(node.shape)}")
        for axis in axes:
            self.own_axis(axis)
        if is_flag(node):
            self.conditions.add(id(node))
        self.axes[id(node)] = tuple(axes)
        self.inputs.append(node)

    # ---- moves
    def add_move(self, node):
        x = node.args[0]
        try:
            return self.add_views(node, x, node["index"])
        except NoView:
            pass
        along = self.along_one_axis(x, node["index"])
        if along and along.of_distance is not None:
            return self.add_gathered(node, x, along)
        for index in node["steps"]:
            x = self.moved(x, index)
        self.instead(node, x)

    def along_one_axis(self, x, index):
        """Formulas in integers have no gather."""
        return None if self.in_integers else places_along_one_axis(x.shape, index)

    def names_in_a_sum(self, node):
        """The names of a node of the same shape to which this one is added, perhaps times a number; nothing if something else reads it."""
        readers = self.readers.get(id(node), [])
        if len(readers) != 1 or any(node is one for one in self.results):
            return None
        (reader,) = readers
        if reader.op == "mul" and is_number(reader.args[1]):
            return self.names_in_a_sum(reader)
        if reader.op not in ("add", "sub") or is_constant(reader.args[1]) or reader.args[0].shape != reader.args[1].shape:
            return None
        other = self.real(reader.args[0] if reader.args[1] is node else reader.args[1])
        return self.axes.get(id(other)) if other is not node and not any(other is x for x in self.open) else None

    def add_gathered(self, node, x, along):
        """Elements along one axis, each at a place that depends on axes of the result. Positions of an axis that x lacks have no extent,
        except in a sum; elsewhere its numbers are stored."""
        x = self.floats_of(x)
        wanted, rank = self.names_in_a_sum(node), len(node.shape)
        of_x = list(self.names(x))
        is_open = along.of_distance is not None and wanted is not None and not {*along.axes} <= {*along.at.values()}
        if not is_open:
            names = {r: of_x[d] for d, r in along.at.items()}
            fresh = self.extra(of_x)
            last = names.get(rank - 1)
            for r in range(rank):
                if r not in names and last and rank - 1 in along.axes and len(node.shape) > 1:
                    names[r], names[rank - 1], last = last, fresh("key"), None  # scores of keys have them last
                names.setdefault(r, fresh("key" if r == rank - 1 else "query"))
            wanted = tuple(names[r] for r in range(rank))
        gathered = self.extra(wanted)(of_x[along.gathered])
        renamed = [gathered if d == along.gathered else wanted[along.at[d]] for d in range(len(of_x))]
        position, tensors = self.position_text(along, wanted, is_open)
        made = [name for name in renamed if name != gathered]
        made[along.gathered:along.gathered] = [wanted[r] for r in along.axes if r not in along.at.values()]
        is_moved = not is_open and made != list(wanted)
        self.say(node, f"gather<{gathered}>({self.renamed(x, renamed, '{0}')}, {position})" + (f" | permute<{', '.join(wanted)}>" if is_moved else ""),
                 [x], wanted, tensors=tensors)
        if is_moved:
            self.strided.add(id(node))
        if is_open:
            self.open.append(node)

    def position_text(self, along, names, is_open):
        """The text of the places, and its tensors: of a distance, or a number for each position, of which the last is subtracted."""
        if along.of_distance is None or not is_open and not {*along.axes} & {*along.at.values()}:
            last = along.numbers - np.arange(along.numbers.shape[-1])
            return f"position<{names[along.axes[-1]]}> + {{w0}}", [(axes_text([names[r] for r in along.axes], last.shape), floats(last))]
        tensors, sides = [], []
        for r, size in zip(along.axes, along.numbers.shape):
            if is_open or r in along.at.values():
                sides.append(f"position<{names[r]}>")
            else:
                sides.append("{w0}")
                tensors.append((axes_text([names[r]], (size,)), floats(np.arange(size))))
        line = line_of(along.of_distance, 1 - along.numbers.shape[1])
        if line:
            sign, shift, low, high = line
            distance = " - ".join(sides if sign > 0 else sides[::-1])
            text = distance if low is None else f"clamp({distance}, {low - shift}, {high - shift})"
            return text + (f" {'-' if shift < 0 else '+'} {abs(shift)}" if shift else ""), tensors
        offset = self.extra(names)("offset")
        tensors.append((axes_text([offset], along.of_distance.shape), floats(along.of_distance)))
        return f"gather<{offset}>({{w{len(tensors) - 1}}}, {' - '.join(sides)} + {along.numbers.shape[1] - 1})", tensors

    def add_views(self, node, x, index):
        axes = list(zip(self.names(x), x.shape))
        own = list(self.own)
        try:
            views = Views(axes, index, self.extra(self.names(x)), id(self.real(x)) in self.strided)
        except NoView:
            self.own = own
            raise
        text = " | ".join(["{0}", *views.text])
        readers = self.readers.get(id(node), [])
        of_layers = views.strided and readers and all(one.op in ("attention", "encoder", "decoder") for one in readers)
        self.say(node, f"contiguous({text})" if of_layers else text, [x], views.names)
        if views.strided and not of_layers:
            self.strided.add(id(node))
        if id(self.real(x)) in self.conditions:
            self.conditions.add(id(node))

    def add_roll(self, node):
        x = self.numbers_of(node.args[0])
        self.say(node, f"roll<{self.names(x)[node['axis']]}, {node['positions']}>({{0}})", [x], self.names(x))

    def moved(self, x, index):
        """One move. If it is no view, elements are selected along each axis, or among all."""
        node = Node("move", [x], index.shape, index=index, steps=[index])
        try:
            self.add_views(node, x, index)
            return node
        except NoView:
            pass
        lists = along_each_axis(x.shape, index)
        if lists is None and (along := self.along_one_axis(x, index)):
            self.add_gathered(node, x, along)
            return node
        if lists is None:
            flat = Node("move", [x], (math.prod(x.shape),), index=np.arange(math.prod(x.shape)), steps=[])
            self.add_views(flat, x, flat["index"])
            picked = self.picked(flat, 0, index.reshape(-1))
            whole = graph.identity(index.shape)
            made = Node("move", [picked], index.shape, index=whole, steps=[])
            self.add_views(made, picked, whole)
            return made
        for axis, numbers in enumerate(lists):
            if not np.array_equal(numbers, np.arange(x.shape[axis])):
                x = self.picked(x, axis, numbers)
        return x

    def picked(self, x, axis, numbers):
        """Elements along an axis, in any order: reversed, a concat of slices, a gather; in integers a product with a matrix of ones and
        zeros."""
        x = self.floats_of(x) if self.is_integer(x) else x
        names, found = self.names(x), runs(numbers)
        name = names[axis]
        shape = tuple(len(numbers) if i == axis else n for i, n in enumerate(x.shape))
        node = Node("picked", [x], shape)
        if np.array_equal(numbers, np.arange(x.shape[axis])):
            return x
        if np.array_equal(numbers, np.arange(x.shape[axis])[::-1]):
            self.say(node, f"{{0}} | flip<{name}>", [x], names)
            return node
        if len(found) <= MOST_SLICES:
            slices = [f"{{0}} | slice<{name}, from<{first}>, extent<{count}>>" + f" | flip<{name}>" * backwards for first, count, backwards in found]
            text = slices[0] if len(slices) == 1 else f"concat<{name}>({', '.join(slices)})"
            self.say(node, text, [x], names)
            if len(slices) == 1 and not found[0][2]:
                self.strided.add(id(node))
            return node
        other = self.extra(names)(f"selected_{name}")
        if not self.in_integers:
            order = [other if i == axis else one for i, one in enumerate(names)]
            apart = floats(numbers - np.arange(len(numbers)))
            self.say(node, f"gather<{name}>({{0}}, position<{other}> + {{w0}})", [x], order, tensors=[(axes_text((other,), apart.shape), apart)])
            return node
        if len(numbers) * x.shape[axis] > LARGEST_SELECTION:
            self.refuse(x, f"{len(numbers)} of {x.shape[axis]} elements are in an order that no view has; move them before or after the model")
        chosen = np.zeros((x.shape[axis], len(numbers)), np.float32)
        chosen[numbers, np.arange(len(numbers))] = 1
        order = [other if i == axis else one for i, one in enumerate(names)]
        last = [one for i, one in enumerate(names) if i != axis] + [other]
        text = f"contract<{name}>({{0}}, {{w0}})" + ("" if order == last else f" | permute<{', '.join(order)}>")
        self.say(node, text, [x], order, tensors=[(axes_text((name, other), chosen.shape), chosen)])
        if order != last:
            self.strided.add(id(node))
        return node

    # ---- elementwise
    def result_names(self, node):
        """For each axis of the result the name of the first argument that has it."""
        names, taken = [None] * len(node.shape), set()
        full = max((x for x in node.args if not is_constant(x)), key=lambda x: len(x.shape))
        for x in [full, *node.args]:
            if is_constant(x):
                continue
            at = node["at"][[id(y) for y in node.args].index(id(x))]
            for axis, name in zip(at, self.names(x)):
                if names[axis] is None and name not in taken:
                    names[axis] = name
                    taken.add(name)
        fresh = self.extra(taken)
        return tuple(name or fresh("added") for name in names)

    def hides(self, node, mask, scores):
        """Is that what a softmax reads of scores whose later keys a mask hides? Then that statement."""
        rank, readers = len(node.shape), self.readers.get(id(node), [])
        if (not readers or any(one.op != "softmax" or one["axis"] != rank - 1 for one in readers) or any(one is node for one in self.results)
                or scores.shape != node.shape or rank < 2 or not is_causal(mask, *node.shape[-2:])):
            return False
        x = self.numbers_of(scores)
        names = self.names(x)
        self.say(node, f"hide({{0}}, position<{names[-1]}> > position<{names[-2]}>)", [x], names)
        return True

    def add_elementwise(self, node):
        if node.op == "add":
            for scores, mask, at in zip(node.args, node.args[::-1], node["at"][::-1]):
                if is_constant(mask) and at == (len(node.shape) - 2, len(node.shape) - 1):
                    hidden = mask["value"] < FULL_SCALE
                    if (mask["value"][~hidden] == 0).all() and self.hides(node, hidden, scores):
                        return
        if node.op == "where" and is_constant(node.args[0]):
            return self.add_fixed_choice(node)
        if node.op in ("and", "or") and any(map(is_constant, node.args)):
            return self.add_fixed_condition(node)
        to_float = self.floats_of if node.op in ("where", "maximum", "minimum") else self.numbers_of
        of_conditions = {"and": 2, "or": 2, "where": 1}.get(node.op, 0)  # the first operands
        args = [x if is_constant(x) else self.condition_of(x) if k < of_conditions else to_float(x) for k, x in enumerate(node.args)]
        node.args = args
        names = self.result_names(node)
        texts, reads, tensors = self.operands(node, args, names)
        self.say(node, self.operation(node.op, texts), reads, names, tensors=tensors)
        if node.op in CONDITIONS:
            self.conditions.add(id(node))

    def operands(self, node, args, names):
        """Texts of the operands by the names of the result, the nodes that they read, and their constants."""
        texts, reads, tensors = [], [], []
        whole = any(len(at) == len(node.shape) for x, at in zip(args, node["at"]))
        widened = None if whole else max((x for x in args if not is_constant(x)), key=lambda x: len(x.shape))
        for x, at in zip(args, node["at"]):
            wanted = [names[i] for i in at]
            if is_number(x):
                texts.append(self.number_text(x))
            elif is_constant(x):
                value = x["value"].astype(np.float32)
                texts.append(f"{{w{len(tensors)}}}")
                tensors.append((axes_text(wanted, value.shape), value))
            else:
                ref = self.renamed(x, wanted, f"{{{len(reads)}}}")
                if x is widened:
                    ref = f"({ref} | broadcast<{axes_text(names, node.shape)}>)"
                texts.append(ref)
                reads.append(x)
        return texts, reads, tensors

    def add_fixed_condition(self, node):
        """and, or with a constant: weights are numbers, so 1 and 0 are chosen."""
        (fixed, at), (condition, of_condition) = sorted(zip(node.args, node["at"]), key=lambda one: not is_constant(one[0]))
        fixed = constant(fixed["value"].astype(np.float32))
        sides, places = ([fixed, constant(0.0)], (at, ())) if node.op == "and" else ([constant(1.0), fixed], ((), at))
        chosen = Node("where", [condition, *sides], node.shape, node.scope, at=(of_condition, *places))
        self.instead(node, graph.elementwise("greater", [chosen, constant(0.5)], (graph.every(chosen), ()), node.shape))

    def operation(self, op, texts):
        if op in OPERATORS:
            return f"{texts[0]} {OPERATORS[op]} {texts[1]}"
        return f"{op}({', '.join(texts)})"

    def add_fixed_choice(self, node):
        """where by a constant condition: by positions if it is causal, else by products with ones and zeros."""
        condition, a, b = node.args
        value, at, rank = condition["value"], node["at"][0], len(node.shape)
        if at == (rank - 2, rank - 1) and is_number(a) and number(a) < FULL_SCALE and not is_constant(b) and self.hides(node, value, b):
            return
        if rank >= 2 and at == (rank - 2, rank - 1) and np.array_equal(value, np.triu(np.ones(value.shape, bool), 1)):
            sides = [x if is_constant(x) else self.numbers_of(x) for x in (a, b)]
            inner = Node("choice", sides, node.shape, node.scope, at=node["at"][1:])
            names = self.result_names(inner)
            texts, reads, tensors = self.operands(inner, sides, names)
            self.say(node, f"where(position<{names[-1]}> > position<{names[-2]}>, {texts[0]}, {texts[1]})", reads, names, tensors=tensors)
            return
        made, fixed = [], np.zeros((), np.float32)
        for side, seen, places in ((a, value, node["at"][1]), (b, ~value, node["at"][2])):
            if is_constant(side):
                fixed = fixed + np.where(spread(seen, at, rank), spread(side["value"], places, rank), np.float32(0))
            else:
                chosen = constant(seen.astype(np.float32))
                made.append(graph.elementwise("mul", [side, chosen], (places, at), node.shape) if len(places) == rank or len(at) == rank
                            else graph.elementwise("mul", [graph.repeated(side, node.shape, places), chosen], (tuple(range(rank)), at), node.shape))
        if not made:
            return self.instead(node, constant(np.broadcast_to(fixed, node.shape)))
        total = made[0]
        if len(made) > 1:
            total = graph.both("add", *made, node.scope)
        elif np.any(fixed):
            kept = tuple(i for i in range(rank) if fixed.shape[i] > 1)
            addend = constant(fixed.reshape([fixed.shape[i] for i in kept]))
            total = graph.elementwise("add", [total, addend], (tuple(range(rank)), kept), node.shape, node.scope)
        self.instead(node, total)

    def add_pow(self, node):
        if not is_number(node.args[1]):
            self.add_elementwise(node)
            return
        power = number(node.args[1])
        few = power == int(power) and 1 <= power <= 4
        self.same_axes(node, " * ".join(["{0}"] * int(power)) if few else f"pow({{0}}, {literal(power)})")

    def add_reciprocal(self, node):
        self.same_axes(node, "1.0F / {0}")

    def add_not(self, node):
        x = self.condition_of(node.args[0])
        self.say(node, "!{0}", [x], self.names(x))
        self.conditions.add(id(node))

    def add_activation(self, node):
        self.same_axes(node, f"{{0}} | {node['kind']}")

    # ---- along axes
    def add_softmax(self, node):
        self.same_axes(node, f"softmax<{self.names(node.args[0])[node['axis']]}>({{0}})")

    def add_log_softmax(self, node):
        self.same_axes(node, f"log_softmax<{self.names(node.args[0])[node['axis']]}>({{0}})")

    def add_cumulative_sum(self, node):
        axis = self.names(node.args[0])[node["axis"]]
        self.same_axes(node, f"cumulative_sum<{', '.join([axis, *node['options']])}>({{0}})")

    def add_argmax(self, node):
        x = self.numbers_of(node.args[0])
        names = self.names(x)
        self.say(node, f"argmax<{names[node['axis']]}>({{0}})", [x], [name for i, name in enumerate(names) if i != node["axis"]])

    def add_reduce(self, node):
        x = self.numbers_of(node.args[0])
        names = self.names(x)
        summed = ", ".join(names[i] for i in node["axes"])
        self.say(node, f"{node['kind']}<{summed}>({{0}})", [x], [name for i, name in enumerate(names) if i not in node["axes"]])

    def add_concat(self, node):
        args = [x if is_constant(x) else self.floats_of(x) for x in node.args]
        names = self.names(next(x for x in args if not is_constant(x)))
        texts, reads, tensors = [], [], []
        for x in args:
            if is_constant(x):
                value = x["value"].astype(np.float32)
                same = [k for k, (_, other) in enumerate(tensors) if np.array_equal(value, other)]
                texts.append(f"{{w{same[0] if same else len(tensors)}}}")
                if not same:
                    tensors.append((axes_text(names, value.shape), value))
            else:
                texts.append(self.renamed(x, names, f"{{{len(reads)}}}"))
                reads.append(x)
        self.say(node, f"concat<{names[node['axis']]}>({', '.join(texts)})", reads, names, tensors=tensors)

    def add_lookup(self, node):
        ids, table = node.args
        names = self.names(ids)
        fresh = self.extra(names)
        if is_constant(table) and table["value"].ndim == 2 and not self.in_integers:
            features = fresh("hidden")
            type_ = f"embedding<float, vocabulary<{table.shape[0]}>, {features}<{table.shape[1]}>>"
            self.say(node, "{t}{{{w0}}}({0})", [ids], (*names, features), parts=[("", floats(table["value"]))], type_=type_)
            return
        if is_constant(table):
            rows = [fresh("vocabulary"), *(fresh("hidden") for _ in table.shape[1:])]
            value = floats(table["value"])
            self.say(node, f"gather<{rows[0]}>({{w0}}, {{0}})" if self.in_integers else "lookup({w0}, {0})", [ids], (*names, *rows[1:]), tensors=[(axes_text(rows, value.shape), value)])
            return
        rows = self.names(table)
        wanted = [rows[0], *(fresh(name) for name in rows[1:])]
        self.say(node, f"lookup({self.renamed(table, wanted, '{0}')}, {{1}})", [table, ids], (*names, *wanted[1:]))

    def add_gather(self, node):
        """Elements along an axis, which the axes of the positions replace."""
        table, ids = node.args
        axis, fixed = node["axis"], is_constant(table)
        fresh = self.extra(self.names(ids)) if fixed else None
        of_table = [fresh("positions" if i == axis else "features") for i in range(len(table.shape))] if fixed else list(self.names(table))
        others = of_table[:axis] + of_table[axis + 1:]
        other = self.extra(of_table)
        of_ids = [other(f"at_{name}") if name in others else name for name in self.names(ids)]
        result = (*of_table[:axis], *of_ids, *of_table[axis + 1:])
        self.gathered(node, of_table, of_ids, result)

    def add_gather_elements(self, node):
        """The same by integers with the axes of x, of which one may have another size."""
        table, ids = node.args
        if is_constant(table):
            own = list(self.names(ids))
            if len(own) < len(table.shape):  # the positions' axis has one element
                own.insert(node["axis"], self.extra(own)("positions"))
        else:
            own = list(self.names(table))
        of_ids = [name for i, name in enumerate(own) if i != node["axis"] or len(ids.shape) == len(own)]
        self.gathered(node, own, of_ids, of_ids)

    def gathered(self, node, of_table, of_ids, result):
        table, ids = node.args
        name = of_table[node["axis"]]
        if is_constant(table):
            value = floats(table["value"])
            self.say(node, f"gather<{name}>({{w0}}, {self.renamed(ids, of_ids, '{0}')})", [ids], result,
                     tensors=[(axes_text(of_table, value.shape), value)])
        else:
            self.say(node, f"gather<{name}>({{0}}, {self.renamed(ids, of_ids, '{1}')})", [self.numbers_of(table), ids], result)

    # ---- products
    def add_matmul(self, node):
        x, y = (arg if is_constant(arg) else self.numbers_of(arg) for arg in node.args)
        full = node["full"]
        rank = len(full)

        def labels(shape, columns):
            """The axes of an operand: places in the result, or `summed`."""
            first = rank - len(shape)
            of = [first + i for i in range(len(shape))]
            of[-1 if columns == "x" else -2] = "summed"
            return [label for label, n in zip(of, shape) if n != 1]
        of_x, of_y = labels(node["x_full"], "x"), labels(node["y_full"], "y")
        names, taken = {}, set()
        for operand, of in ((x, of_x), (y, of_y)):
            if is_constant(operand):
                continue
            for label, name in zip(of, self.names(operand)):
                if label not in names:
                    names[label] = self.column(label, name, taken, rank)
        fresh = self.extra(taken)
        for label in [*of_x, *of_y]:
            if label not in names:
                names[label] = fresh("summed" if label == "summed" else "column")
        operands, reads, tensors = [], [], []
        for operand, of in ((x, of_x), (y, of_y)):
            wanted = [names[label] for label in of]
            if is_constant(operand):
                value = floats(operand["value"])
                operands.append((f"{{w{len(tensors)}}}", wanted))
                tensors.append((axes_text(wanted, value.shape), value))
            else:
                operands.append((self.renamed(operand, wanted, f"{{{len(reads)}}}"), wanted))
                reads.append(operand)
        if is_constant(x):
            operands.reverse()  # a constant alone has no value yet
        (left, first), (right, second) = operands
        summed = names["summed"]
        made = [name for name in first if name != summed] + [name for name in second if name not in first and name != summed]
        wanted = [names[i] for i, n in enumerate(full) if n != 1]
        text = f"contract<{summed}>({left}, {right})"
        self.say(node, text + ("" if made == wanted else f" | permute<{', '.join(wanted)}>"), reads, wanted, tensors=tensors)
        if made != wanted:
            self.strided.add(id(node))

    def column(self, label, name, taken, rank):
        """The name of an axis of a product. Columns that would be called as the rows are keys."""
        if name not in taken:
            taken.add(name)
            return name
        if label == rank - 1 and "key" not in taken:
            taken.add("key")
            return "key"
        return self.fresh(taken, f"other_{name}" if not name.startswith("other_") else name)

    # ---- windows
    def in_windows(self, x, windows, taken):
        """The text of the windows, the names of places in the kernel, and those of the axes of x that the result has."""
        names, text, kernel, gone = self.names(x), "{0}", [], []
        for at, size, stride, dilation, count in windows:
            kernel.append(self.fresh(taken, "kernel_size" if len(windows) == 1 else f"kernel_{names[at]}"))
            options = (f", stride<{stride}>" if stride > 1 else "") + (f", dilation<{dilation}>" if dilation > 1 else "")
            text += f" | windows<{names[at]}, {kernel[-1]}<{size}>{options}>"
            if count == 1:
                gone.append(names[at])
        text += "".join(f" | select_at<{name}, 0>" for name in gone)
        return text, kernel, [name for name in names if name not in gone]

    def add_padded(self, node):
        x = self.floats_of(node.args[0])
        names, (before, after) = self.names(x), (node["before"], node["after"])
        ends = (f", before<{before}>" if before else "") + (f", after<{after}>" if after else "")
        text = f"padded<{names[node['axis']]}{ends}>"
        self.say(node, f"{text}({{0}}, {literal(node['fill'])})" if node["fill"] else f"{{0}} | {text}", [x], names)

    def add_pooled(self, node):
        x = self.numbers_of(node.args[0])
        text, kernel, left = self.in_windows(x, node["windows"], set(self.names(x)))
        self.say(node, f"{node['kind']}<{', '.join(kernel)}>({text})", [x], left)

    def add_depthwise(self, node):
        """Each channel times its own kernel."""
        x, weight = self.numbers_of(node.args[0]), np.moveaxis(node["weight"], 0, -1)
        text, kernel, left = self.in_windows(x, node["windows"], set(self.names(x)))
        self.say_product(node, x, text, kernel, (axes_text((*kernel, left[-1]), weight.shape), floats(weight)), left)

    def add_convolution(self, node):
        """A product of windows and a kernel; if windows and channels are neighbors in memory, a linear map."""
        x, weight, windows = self.numbers_of(node.args[0]), node["weight"], node["windows"]
        names, outputs = self.names(x), weight.shape[0]
        taken = set(names)
        text, kernel, left = self.in_windows(x, windows, taken)
        channels = names[node["rows"]:]
        positions = [name for name in left if name not in channels]
        out = [self.fresh(taken - set(channels), "classes" if any(node is one for one in self.results) else "hidden")] if outputs > 1 else []
        in_a_row = len(windows) == 1 and windows[0][3] == 1 and windows[0][4] > 1
        if in_a_row and channels and out:
            wide = self.fresh(taken, "in_features")
            bare = weight.transpose(2, 1, 0).reshape(-1, outputs)
            type_ = f"linear<float, {wide}<{bare.shape[0]}>, {out[0]}<{outputs}>, bias<{lower(node['bias'] is not None)}>>"
            rows = f"{text} | merge<{kernel[0]}, {channels[0]}, {wide}>".replace("{0}", self.for_layer(x, names))
            self.say(node, self.map_of(rows), [x], positions + out, packed=True, type_=type_, parts=parts_of_linear("", (bare, node["bias"])))
            return
        summed = list(channels)
        if out and out[0] in channels:  # summed and kept
            summed = [self.fresh(taken, f"summed_{channels[0]}")]
            text += f" | rename_axis<{channels[0]}, {summed[0]}>"
        shape = (*weight.shape[2:], *([weight.shape[1]] if channels else []), *([outputs] if out else []))
        value = weight.transpose(*range(2, weight.ndim), 1, 0).reshape(shape)
        self.say_product(node, x, text, [*kernel, *summed], (axes_text((*kernel, *summed, *out), value.shape), floats(value)), positions + out)

    def say_product(self, node, x, text, summed, weight, result):
        """Of x and weights; with a bias along the last axis of the result, if there is one."""
        if not summed and set(result) - set(self.names(x)):  # of one channel
            text = f"({text} | broadcast<{axes_text(result, node.shape)}>)"
        product = f"contract<{', '.join(summed)}>({text}, {{w0}})" if summed else f"{text} * {{w0}}"
        bias = node["bias"]
        if bias is None:
            return self.say(node, product, [x], result, tensors=[weight])
        axes = axes_text(result[-1:], bias.shape) if bias.size > 1 else ""
        return self.say(node, product + " + {w1}", [x], result, tensors=[weight, (axes, floats(bias))])

    # ---- layers
    def features(self, node):
        """Names of positions, then hidden."""
        names = self.names(node)
        taken = {"hidden"}
        return (*(self.fresh(taken, f"position_of_{name}" if name == "hidden" else name) for name in names[:-1]), "hidden")

    @staticmethod
    def batch(x):
        return ("batch",) * (len(x.shape) - 2)

    def sequence(self, x, memory=None):
        """Names of a layer that attends: perhaps batch, then positions, then hidden."""
        *_, position, hidden = self.features(x) if memory is None else (*self.names(x)[:-2], "query", "hidden")
        return (*self.batch(x), self.fresh({"batch", hidden}, position if position != "batch" else "token"), hidden)

    def map_of(self, x):
        """The text of a linear map: a product with weights, or a layer of packed weights, which formulas in integers don't have."""
        if not self.in_integers:
            return f"use<{{t}}>({{w0}})({x})"
        return f"({x}) * {{w0}}" if "|" in x else f"{x} * {{w0}}"

    def add_linear(self, node):
        x = self.numbers_of(node.args[0])
        names = self.names(x)
        taken = set(names[:-1])
        out = self.fresh(taken, "classes" if any(node is one for one in self.results) else "hidden")
        bias = node["bias"] is not None
        type_ = f"linear<float, {names[-1]}<{x.shape[-1]}>, {out}<{node.shape[-1]}>, bias<{lower(bias)}>>"
        self.say(node, self.map_of(self.for_layer(x, names)), [x], (*names[:-1], out), packed=True, type_=type_,
                 parts=parts_of_linear("", (node["weight"], node["bias"])))

    def add_norm(self, node):
        x = self.numbers_of(node.args[0])
        names = self.names(x)
        no_beta = ", bias<false>" if node["kind"] == "layer_norm" and node["beta"] is None else ""
        type_ = f"{node['kind']}<float, {names[-1]}<{x.shape[-1]}>{no_beta}>"
        usual = node["kind"] == "layer_norm" and node["epsilon"] == 1e-5
        epsilon = "" if usual else f", {literal(node['epsilon'])}"
        self.say(node, "{t}{{{w0}" + epsilon + "}}(" + self.for_layer(x, names) + ")", [x], names, parts=parts_of_norm("", node), type_=type_)

    def masks_of(self, attends, first_input, first_bias):
        """The text of the masks, whose inputs and biases come after others, and the biases."""
        masks = " & ".join(attends["masks"])
        for k, one in enumerate(attends["kept"]):
            masks = masks.replace(f"{{input{k}}}", self.for_layer(one, one["mask"][0], f"{{{first_input + k}}}"))
        for k in range(len(attends["bias"])):
            masks = masks.replace(f"{{bias{k}}}", f"{{w{first_bias + k}}}")
        return masks, [(axes_text(names, value.shape), floats(value)) for names, value in attends["bias"]]

    def attending(self, node, attends):
        """Text of the call of a layer that attends, what it reads and its biases."""
        x, memory = self.numbers_of(node.args[0]), attends["memory"]
        arguments, reads = [self.for_layer(x, self.sequence(x, memory))], [x]
        if memory:
            sources = [memory] if attends["values"] is memory else [memory, attends["values"]]
            reads += map(self.numbers_of, sources)
            of_sources = [self.for_layer(reads[k], (*self.batch(x), "key", "hidden"), f"{{{k}}}") for k in range(1, len(reads))]
            arguments += [of_sources[0], of_sources[-1]]
        masks, tensors = self.masks_of(attends, len(reads), 1)
        return f"use<{{t}}>({{w0}})({', '.join([*arguments, *([masks] if masks else [])])})", [*reads, *attends["kept"]], tensors

    def add_attention(self, node):
        x = self.numbers_of(node.args[0])
        names = self.sequence(x, node["memory"])
        of_norm = options_of_norm(node["q_norm"]) if node["q_norm"] else []
        options = [f"hidden<{x.shape[-1]}>", f"heads<{node['heads']}>", *options_of_attention(node), *of_norm]
        type_ = f"multi_head_attention<float, {', '.join(options)}>"
        text, reads, tensors = self.attending(node, node)
        self.say(node, text, reads, names, packed=True, type_=type_, parts=parts_of_attention("", node), tensors=tensors)

    def add_network(self, node):
        x = self.numbers_of(node.args[0])
        names = self.features(x)
        gated = ", gated<true>" if node["gate"] else ""
        type_ = (f"feed_forward<float, hidden<{x.shape[-1]}>, intermediate<{node['up'][0].shape[1]}>, activation<{node['kind']}>, "
                 f"bias<{lower(has_bias(node))}>{gated}>")
        self.say(node, "use<{t}>({w0})(" + self.for_layer(x, names) + ")", [x], names, packed=True, type_=type_, parts=parts_of_network("", node))

    def add_encoder(self, node):
        names, attends = self.sequence(self.numbers_of(node.args[0])), node["attention"]
        parts = (parts_of_norm("norm1.", node["norm1"]) + parts_of_attention("attention.", attends) + parts_of_norm("norm2.", node["norm2"]) +
                 parts_of_network("feed_forward.", node["network"]))
        text, reads, tensors = self.attending(node, attends)
        self.say(node, text, reads, names, packed=True, tensors=tensors, type_=self.type_of_block("encoder_layer", node), parts=parts)

    def add_decoder(self, node):
        x, memory, own, cross = self.numbers_of(node.args[0]), self.numbers_of(node.args[1]), node["attention"], node["cross"]
        names = self.sequence(x)
        parts = (parts_of_norm("norm1.", node["norm1"]) + parts_of_attention("self_attention.", own) + parts_of_norm("norm2.", node["norm2"]) +
                 parts_of_attention("cross_attention.", cross) + parts_of_norm("norm3.", node["norm3"]) +
                 parts_of_network("feed_forward.", node["network"]))
        of_own, tensors = self.masks_of(own, 2, 1)
        of_cross, more = self.masks_of(cross, 2 + len(own["kept"]), 1 + len(tensors))
        arguments = [self.for_layer(x, names), self.for_layer(memory, (*self.batch(x), "key", "hidden"), "{1}"), *([of_cross] if of_cross else []),
                     f"self_mask({of_own or 'all_keys'})"]
        self.say(node, f"use<{{t}}>({{w0}})({', '.join(arguments)})", [x, memory, *own["kept"], *cross["kept"]], names, packed=True,
                 tensors=tensors + more, type_=self.type_of_block("decoder_layer", node), parts=parts)

    def type_of_block(self, name, node):
        attends, inner, norm = node["attention"], node["network"], node["norm1"]
        options = options_of_attention(attends)
        made = [f"hidden<{node.shape[-1]}>", f"heads<{attends['heads']}>", f"intermediate<{inner['up'][0].shape[1]}>",
                f"norm_first<{lower(node['norm_first'])}>", f"activation<{inner['kind']}>", *options]
        if options[0] != f"bias<{lower(has_bias(inner))}>":
            made.append(f"feed_forward_bias<{lower(has_bias(inner))}>")
        if inner["gate"]:
            made.append("gated<true>")
        if norm["kind"] != "layer_norm":
            made.append("norm_by<rms_norm>")
        return f"{name}<float, {', '.join([*made, *options_of_norm(norm)])}>"

    def add_rope(self, node):
        """Positions are the axis before the last."""
        x = self.real(node.args[0])
        names = self.names(x)
        base = rope_text(*node["base"])
        self.say(node, f"rotate<{base}, {names[-2]}, {names[-1]}>({{0}})", [x], names)

    # ---- blocks that repeat
    def signature(self, i):
        """What a statement is, and which statements it reads; inputs have numbers below 0."""
        one = self.statements[i]
        of_input = {id(x): -1 - k for k, x in enumerate(self.inputs)}
        shapes = tuple((path, array.shape) for path, array in one.parts + one.tensors)
        return (one.text, one.type, shapes, one.axes), [self.at.get(id(x), of_input.get(id(x))) for x in one.reads]

    def repetition(self):
        """(first, period, count) of the statements that repeat with the most weights, or (0, 0, 0)."""
        signatures, best, most = [self.signature(i) for i in range(len(self.statements))], (0, 0, 0), 0
        total = len(signatures)

        def like(i, period, start):
            """Of a run that begins at start: the first copy may read any statement before as the one before."""
            (a, reads_a), (b, reads_b) = signatures[i], signatures[i + period]
            follows = [y - x == period or x < start == y - period + 1 for x, y in zip(reads_a, reads_b)]
            is_chain = period > 1 or any(follows) or max(reads_a, default=-1) < 0
            return a == b and len(reads_a) == len(reads_b) and is_chain and all(map(or_, follows, (x == y for x, y in zip(reads_a, reads_b))))
        for period in range(1, total // 2 + 1):
            i = 0
            while i + period < total:
                same = 0
                while i + same + period < total and like(i + same, period, i):
                    same += 1
                count = same // period + 1
                saved = (count - 1) * (period + sum(one.weights() for one in self.statements[i:i + period]))
                if count > 1 and saved > most and (period == 1 or self.is_block(signatures, i, period, count)):
                    best, most = (i, period, count), saved
                i += max(same, 1)
        return best

    def is_block(self, signatures, first, period, count):
        """Does every copy read the last statement of the one before, and otherwise only what all copies read?"""
        end, entries, shared = first + period * count, set(), set()
        last = {self.at[id(self.real(x))] for x in self.results}
        if any(first <= i < end - 1 for i in last):
            return False
        for k in range(first, len(signatures)):
            start, j = first + (k - first) // period * period, first + (k - first) % period
            for r, read in enumerate(signatures[k][1]):
                if k >= end:
                    if first <= read < end - 1:
                        return False
                elif read < start:
                    if signatures[j][1][r] == signatures[j + period][1][r]:
                        shared.add(read)
                    elif start == first:
                        entries.add(read)
                    elif read != start - 1:
                        return False
        return len(entries) == 1 and not entries & shared and max(shared, default=-1) < first

    def shared(self):
        """What every copy of a block reads."""
        copies = [[x for one in self.statements[i:i + self.period] for x in one.reads] for i in (self.first, self.first + self.period)]
        return list({id(x): x for x, y in zip(*copies) if x is y}.values())


def spread(value, at, rank):
    """With axes of size 1 for those that it lacks."""
    return np.reshape(value, [value.shape[at.index(i)] if i in at else 1 for i in range(rank)])


class AlongOneAxis:
    """Where a move reads: axis d of what is moved is axis at[d] of the result, except for the gathered one. Its numbers depend on some
    axes of the result; of_distance: the numbers by the distance of two axes, from the smallest, or nothing."""

    def __init__(self, at, gathered, axes, numbers):
        self.at, self.gathered, self.axes, self.numbers, self.of_distance = at, gathered, axes, numbers, None
        if len(axes) == 2 and np.array_equal(numbers[1:, 1:], numbers[:-1, :-1]):
            self.of_distance = np.concatenate([numbers[0, ::-1], numbers[1:, 0]])


def places_along_one_axis(shape, index):
    """As AlongOneAxis; nothing if the move is no such one."""
    of_x, of_result, at, gathered = np.unravel_index(index, shape), np.indices(index.shape, sparse=True), {}, None
    for d, numbers in enumerate(of_x):
        same = [r for r, n in enumerate(index.shape) if n == shape[d] and r not in at.values() and (numbers == of_result[r]).all()]
        if same:
            at[d] = same[0]
        elif gathered is None:
            gathered = d
        else:
            return None
    if gathered is None:
        return None
    numbers, axes = of_x[gathered], []
    for r in range(index.ndim):
        first = np.take(numbers, [0], r)
        if (numbers == first).all():
            numbers = first
        else:
            axes.append(r)
    if {*axes, *at.values()} != {*range(index.ndim)}:
        return None
    return AlongOneAxis(at, gathered, axes, numbers.reshape([index.shape[r] for r in axes]))


def line_of(numbers, smallest):
    """Sign, shift, lowest and highest if the numbers, of distances from the smallest on, are a line within bounds, else nothing. Without
    bounds if the line needs none."""
    distances, low, high = smallest + np.arange(len(numbers)), int(numbers.min()), int(numbers.max())
    for sign in (1, -1):
        shifts, counts = np.unique(numbers - sign * distances, return_counts=True)
        shift = int(shifts[counts.argmax()])
        line = sign * distances + shift
        if np.array_equal(np.clip(line, low, high), numbers):
            return (sign, shift, None, None) if np.array_equal(line, numbers) else (sign, shift, low, high)
    return None


def along_each_axis(shape, index):
    """The numbers of the elements along each axis, if the move is one of each axis by itself."""
    found = numbers_along(index) if index.ndim == len(shape) else None
    if found is None:
        return None
    lists = []
    for d, grows in enumerate(found[1]):
        stride = math.prod(shape[d + 1:])
        numbers = found[0] // stride % shape[d] + grows // stride
        if (grows % stride).any() or numbers.min() < 0 or numbers.max() >= shape[d]:
            return None
        lists.append(numbers)
    return lists
