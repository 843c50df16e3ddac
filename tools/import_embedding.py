# SPDX-License-Identifier: BSL-1.0
"""For tools/import --int8: what a model computes of ids alone. Sums of looked-up rows stay in floats: they are a formula of their own,
NAME_embedding.hpp, and the model in integers has their result as an input. Conditions of ids, as masks are, are inputs of bool."""
import numpy as np

from command_line import Refused
from import_formula import CONDITIONS, OPERATORS, Program
from import_graph import Node, in_order, is_constant
from import_write import Writer, allowed_difference

SUMS = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}
COMPARED = {"equal": np.equal, "not_equal": np.not_equal, "less": np.less, "less_or_equal": np.less_equal, "greater": np.greater,
            "greater_or_equal": np.greater_equal, "and": np.logical_and, "or": np.logical_or, "not": np.logical_not}


def is_ids(node):
    return node.op == "input" and node["dtype"].kind in "iu"


def of_ids(order):
    """Embedded nodes: rows of constant tables by integers among the inputs, their sums with each other and with constants, and what moves
    them. And conditions of these integers."""
    embedded, conditions = set(), set()
    for node in order:
        moving = [x for x in node.args if not is_constant(x)]
        if node.op == "lookup" and is_ids(node.args[0]) and is_constant(node.args[1]):
            embedded.add(id(node))
        elif moving and (node.op == "move" or node.op in SUMS) and all(id(x) in embedded for x in moving):
            embedded.add(id(node))
        elif moving and node.op in CONDITIONS and all((is_ids(x) or id(x) in conditions) and x.shape == node.shape for x in moving):
            conditions.add(id(node))
    return embedded, conditions


def split(results, taken):
    """The embedded nodes, and the conditions, that others read, each with the input that these others read from now on. Changes the
    nodes."""
    order = in_order(results)
    embedded, conditions = of_ids(order)
    if any(id(node) in embedded | conditions for node in results):
        raise Refused("--int8: the model has nothing but embeddings, which stay in floats; import without --int8")
    if not embedded:
        return [], []
    others = [node for node in order if id(node) not in embedded | conditions]

    def replaced(found, base, kind):
        pairs = []
        for node in {id(x): x for node in others for x in node.args if id(x) in found}.values():
            name, k = base, 2
            while name in taken:
                name, k = f"{base}_{k}", k + 1
            taken.add(name)
            pairs.append((node, Node("input", [], node.shape, name, name=name, dtype=np.dtype(kind), full=node.shape, is_place=False)))
        return pairs
    rows, flags = replaced(embedded, "embedded", "f4"), replaced(conditions, "flags", "?")
    instead = {id(node): made for node, made in [*rows, *flags]}
    for node in others:
        node.args = [instead.get(id(x), x) for x in node.args]
    return rows, flags


def text_of(node):
    """A condition, as it is told."""
    if is_constant(node):
        return f"{float(node['value']):g}" if not node.shape else "a constant"
    if node.op == "input":
        return node["name"]
    args = [text_of(x) if x.op in ("input", "constant") else f"({text_of(x)})" for x in node.args]
    return f"!{args[0]}" if node.op == "not" else f" {OPERATORS[node.op]} ".join(args)


def computed(node, ids, kind):
    """The value of an embedded node in floats of a kind, or of a condition; ids: arrays by the names of the inputs."""
    if is_constant(node):
        return node["value"].astype(kind)
    if node.op == "input":
        return ids[node["name"]].reshape(node.shape)
    args = [computed(x, ids, kind) for x in node.args]
    if node.op == "lookup":
        rows = len(args[1])
        if wrong := args[0][(args[0] < 0) | (args[0] >= rows)].tolist():
            raise Refused(f"--int8: {node.origin}: a sample of input {node.args[0]['name']} is {wrong[0]}, and its table has rows 0 to {rows - 1}")
        return args[1][args[0]]
    if node.op == "move":
        return args[0].reshape(-1)[node["index"]]
    if node.op == "not":
        return ~args[0]
    placed = [x.transpose(np.argsort(at)).reshape([n if i in at else 1 for i, n in enumerate(node.shape)]) for x, at in zip(args, node["at"])]
    return (SUMS | COMPARED)[node.op](*placed)


class Embedding:
    """name, source ... weights: as of Writer."""

    def __init__(self, rows, flags, axes, inputs, name, source, license_name, feeds, weights):
        self.rows, self.flags = rows, flags
        nodes, names = [node for node, _ in rows], [made["name"] for _, made in rows]
        self.program = Program(nodes, axes, list(inputs))
        answers, narrow = ([computed(node, feeds, kind) for node in nodes] for kind in (np.float64, np.float32))
        self.allowed = [allowed_difference(one, one, wide) for one, wide in zip(narrow, answers)]
        self.writer = Writer(self.program, f"{name}_embedding", source, license_name, feeds, answers, names, weights)
        self.names = {one["name"] for one in self.program.inputs}
        self.ids = self.names | {x["name"] for node, _ in flags for x in in_order([node]) if x.op == "input"}
        self.axes = {made["name"]: self.program.names(node) for node, made in rows}
        self.axes |= {made["name"]: axes[next(x["name"] for x in in_order([node]) if x.op == "input")] for node, made in flags}
        self.told = [f"embeddings stay in floats: {name}_embedding.hpp computes {', '.join(names)}, which {name}_int8.hpp reads; "
                     f"{name}_embedding.safetensors has the tables"]
        self.told += [f"in integers the input {made['name']} is {text_of(node)}, which you compute" for node, made in flags]

    def samples(self, arrays):
        """Those of the inputs that the model in integers has instead of ids, by their names."""
        count = len(next(iter(arrays.values())))

        def each(node):
            return np.stack([computed(node, {name: arrays[name][i] for name in self.ids}, np.float32).reshape(-1) for i in range(count)])
        return {made["name"]: each(node) for node, made in [*self.rows, *self.flags]}
