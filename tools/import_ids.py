# SPDX-License-Identifier: BSL-1.0
"""For tools/import --int8: integers among the inputs of a model. Rows of constant tables are read by them in the formula; conditions of
them, as masks are, become inputs of bool, which the caller computes."""
import numpy as np

from command_line import Refused
from import_formula import CONDITIONS, OPERATORS
from import_graph import Node, in_order, is_constant

COMPARED = {"equal": np.equal, "not_equal": np.not_equal, "less": np.less, "less_or_equal": np.less_equal, "greater": np.greater,
            "greater_or_equal": np.greater_equal, "and": np.logical_and, "or": np.logical_or, "not": np.logical_not}


def is_ids(node):
    return node.op == "input" and node["dtype"].kind in "iu"


def reads_rows(node):
    """Does it read rows of a constant table by integers among the inputs?"""
    return node.op == "lookup" and is_ids(node.args[0]) and is_constant(node.args[1])


def text_of(node):
    """A condition, as it is told."""
    if is_constant(node):
        return f"{float(node['value']):g}" if not node.shape else "a constant"
    if node.op == "input":
        return node["name"]
    args = [text_of(x) if x.op in ("input", "constant") else f"({text_of(x)})" for x in node.args]
    return f"!{args[0]}" if node.op == "not" else f" {OPERATORS[node.op]} ".join(args)


def computed(node, ids):
    """The value of a condition; ids: arrays by the names of the inputs."""
    if is_constant(node):
        return node["value"]
    if node.op == "input":
        return ids[node["name"]].reshape(node.shape)
    args = [computed(x, ids) for x in node.args]
    if node.op == "not":
        return ~args[0]
    placed = [x.transpose(np.argsort(at)).reshape([n if i in at else 1 for i, n in enumerate(node.shape)]) for x, at in zip(args, node["at"])]
    return COMPARED[node.op](*placed)


class Ids:
    """Changes the nodes: conditions of ids that others read become inputs, whose names are none of `inputs`. names: of ids that tables or
    conditions read; as_numbers: of ids that others read; axes: of the new inputs, as `axes` has them of the ids; told: what is to be said of them."""

    def __init__(self, results, axes, inputs):
        order, taken, conditions = in_order(results), set(inputs), set()
        self.tables, self.flags, self.axes = [node for node in order if reads_rows(node)], [], {}
        for node in order:
            moving = [x for x in node.args if not is_constant(x)]
            if moving and node.op in CONDITIONS and all((is_ids(x) or id(x) in conditions) and x.shape == node.shape for x in moving):
                conditions.add(id(node))
        others = [node for node in order if id(node) not in conditions] if self.tables else []
        instead = {}
        for node in {id(x): x for one in others for x in one.args if id(x) in conditions}.values():
            name, k = "flags", 2
            while name in taken:
                name, k = f"flags_{k}", k + 1
            taken.add(name)
            instead[id(node)] = made = Node("input", [], node.shape, name, name=name, dtype=np.dtype("?"), full=node.shape, is_place=False)
            self.flags.append((node, made))
            self.axes[name] = axes[next(x["name"] for x in in_order([node]) if x.op == "input")]
        for node in others:
            node.args = [instead.get(id(x), x) for x in node.args]
        of_flags = {x["name"] for node, _ in self.flags for x in in_order([node]) if x.op == "input"}
        self.as_numbers = {x["name"] for one in others for x in one.args if is_ids(x) and not reads_rows(one)}
        self.names = of_flags | {node.args[0]["name"] for node in self.tables}
        self.made = [made["name"] for _, made in self.flags]
        self.told = [f"in integers the input {made['name']} is {text_of(node)}, which you compute" for node, made in self.flags]

    def samples(self, arrays):
        """Those of the new inputs, by their names. Ids that no table has are refused."""
        for node in self.tables:
            name, rows = node.args[0]["name"], node.args[1].shape[0]
            if wrong := arrays[name][(arrays[name] < 0) | (arrays[name] >= rows)].tolist():
                raise Refused(f"--int8: {node.origin}: a sample of input {name} is {wrong[0]}, and its table has rows 0 to {rows - 1}")
        count = len(next(iter(arrays.values())))
        return {made["name"]: np.stack([computed(node, {name: arrays[name][i] for name in self.names}).reshape(-1) for i in range(count)])
                for node, made in self.flags}
