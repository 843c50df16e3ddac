# SPDX-License-Identifier: BSL-1.0
"""For tools/import --int8: sums of looked-up rows stay in floats. They are a formula of their own, NAME_embedding.hpp, and the model
in integers has their result as an input."""
import numpy as np

from command_line import Refused
from import_formula import Program
from import_graph import Node, in_order, is_constant
from import_write import Writer, allowed_difference

SUMS = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}


def embedded_nodes(order):
    """Rows of constant tables by integers among the inputs, their sums with each other and with constants, and what moves them."""
    made = set()
    for node in order:
        if node.op == "lookup":
            is_one = node.args[0].op == "input" and node.args[0]["dtype"].kind in "iu" and is_constant(node.args[1])
        else:
            is_one = (node.op == "move" or node.op in SUMS) and not all(map(is_constant, node.args)) and \
                all(id(x) in made or is_constant(x) for x in node.args)
        if is_one:
            made.add(id(node))
    return made


def split(results, taken):
    """The embedded nodes that others read, each with the input that these others read from now on. Changes the nodes."""
    order = in_order(results)
    made = embedded_nodes(order)
    others = [node for node in order if id(node) not in made]
    read = list({id(x): x for node in others for x in node.args if id(x) in made}.values())
    if any(id(node) in made for node in results):
        raise Refused("--int8: the model has nothing but embeddings, which stay in floats; import without --int8")
    pairs = []
    for node in read:
        name, k = "embedded", 2
        while name in taken:
            name, k = f"embedded_{k}", k + 1
        taken.add(name)
        pairs.append((node, Node("input", [], node.shape, name, name=name, dtype=np.dtype("f4"), full=node.shape, is_place=False)))
    instead = {id(node): made for node, made in pairs}
    for node in others:
        node.args = [instead.get(id(x), x) for x in node.args]
    return pairs


def computed(node, ids, kind):
    """The value of an embedded node in floats of a kind; ids: arrays by the names of the inputs."""
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
    placed = [x.transpose(np.argsort(at)).reshape([n if i in at else 1 for i, n in enumerate(node.shape)]) for x, at in zip(args, node["at"])]
    return SUMS[node.op](*placed)


class Embedding:
    """name, source ... weights: as of Writer."""

    def __init__(self, pairs, axes, inputs, name, source, license_name, feeds, weights):
        self.nodes, self.inputs = [node for node, _ in pairs], [made for _, made in pairs]
        names = [made["name"] for made in self.inputs]
        self.program = Program(self.nodes, axes, list(inputs))
        answers = self.values(feeds, np.float64)
        self.allowed = [allowed_difference(narrow, narrow, wide) for narrow, wide in zip(self.values(feeds, np.float32), answers)]
        self.writer = Writer(self.program, f"{name}_embedding", source, license_name, feeds, answers, names, weights)
        self.names = {one["name"] for one in self.program.inputs}
        self.axes = {made["name"]: self.program.names(node) for node, made in pairs}
        self.told = (f"embeddings stay in floats: {name}_embedding.hpp computes {', '.join(names)}, which {name}_int8.hpp reads; "
                     f"{name}_embedding.safetensors has the tables")

    def values(self, ids, kind):
        return [computed(node, ids, kind) for node in self.nodes]

    def samples(self, arrays):
        """Those of the inputs in floats, by their names."""
        count = len(next(iter(arrays.values())))
        made = [self.values({name: arrays[name][i] for name in self.names}, np.float32) for i in range(count)]
        return {one["name"]: np.stack([each[k].reshape(-1) for each in made]) for k, one in enumerate(self.inputs)}
