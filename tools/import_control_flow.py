# SPDX-License-Identifier: BSL-1.0
"""For tools/import: loops that run a fixed number of times, choices that are fixed, and sequences of tensors, as repeat_interleave and
squeeze are exported. They become the nodes that run, and a sequence the names of its tensors."""
import numpy as np
import onnx
from onnx import numpy_helper

from import_operators import CONTROL_FLOW

MOST_RUNS = 1024  # of all loops of a model


def is_sequence(body, name):
    return name in body.sequences


def sequence(body, i=0):
    name = body.input(i)
    if name not in body.sequences:
        body.refuse("it reads a sequence that is an input; pass tensors")
    return body.sequences[name]


def made_sequence(body, names):
    """The result is a sequence."""
    body.sequences[body.node.output[0]] = names
    body.values[body.node.output[0]] = None
    return body.made


def place(body, i, length):
    """A fixed place of a sequence with that many tensors, from 0."""
    at = int(np.asarray(body.fixed(i, "its place in the sequence", -1)).reshape(()))
    if not -length <= at < length:
        body.refuse(f"it reads place {at} of a sequence of {length} tensors; check the model with onnx.checker")
    return at % length


def split_to_sequence(body):
    x, axis = body.input(0), body.about.get("axis", 0)
    size = body.shape(x)[axis]
    sizes = np.asarray(body.fixed(1, "the sizes of its parts", 1)).astype(np.int64)
    each = sizes if sizes.ndim else np.array([min(sizes, size - first) for first in range(0, size, max(int(sizes), 1))])
    names = body.several("Split", len(each), x, each, axis=axis) if len(each) > 1 else [x]
    if body.input(1) is None and not body.about.get("keepdims", 1):
        names = [body("Squeeze", name, np.array([axis])) for name in names]
    return made_sequence(body, names)


def constructed(body):
    return made_sequence(body, list(body.inputs))


def inserted(body):
    names = list(sequence(body))
    names.insert(len(names) if body.input(2) is None else place(body, 2, len(names) + 1), body.input(1))
    return made_sequence(body, names)


def erased(body):
    names = list(sequence(body))
    del names[place(body, 1, len(names))]
    return made_sequence(body, names)


def element(body):
    names = sequence(body)
    return body.results(names[place(body, 1, len(names))])


def length(body):
    return body.results(np.array(len(sequence(body)), np.int64))


def joined(body):
    names, axis = sequence(body), body.about["axis"]
    if not names:
        body.refuse("it joins a sequence without tensors; export the model without it")
    if body.about.get("new_axis"):
        names = [body("Unsqueeze", name, np.array([axis])) for name in names]
    return body.results(body("Concat", *names, axis=axis))


def same(body):
    """Identity of a sequence; of a tensor it is an operator of its own."""
    return made_sequence(body, sequence(body)) if is_sequence(body, body.input(0)) else None


def run(body, graph, names, prefix):
    """Adds the nodes of a graph. names: of what it reads from outside, and then of all that it computes. Returns its outputs."""
    def called(name):
        return names.setdefault(name, f"{prefix}/{name}") if name else ""
    for one in graph.initializer:
        names[one.name] = body.name_of(numpy_helper.to_array(one))
    for node in graph.node:
        copy = onnx.NodeProto()
        copy.CopyFrom(node)
        copy.name = f"{prefix}/{node.name or node.op_type}"
        copy.input[:] = [names.get(name, name) for name in node.input]
        copy.output[:] = [called(name) for name in node.output]
        for attribute in copy.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                rename_outside(attribute.g, names)
        body.add(copy)
    return [names.get(one.name, one.name) for one in graph.output]


def rename_outside(graph, names):
    """What a graph within a graph reads from outside."""
    own = {one.name for one in [*graph.input, *graph.initializer]} | {name for node in graph.node for name in node.output}
    outside = {inner: outer for inner, outer in names.items() if inner not in own}
    for node in graph.node:
        node.input[:] = [outside.get(name, name) for name in node.input]
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                rename_outside(attribute.g, outside)
    for one in graph.output:
        one.name = outside.get(one.name, one.name)


def flag(body, name, what):
    """The value of a condition that must be fixed."""
    if name not in body.constants:
        body.refuse(f"{what} depends on an input: {CONTROL_FLOW}")
    return bool(np.asarray(body.values[name]).reshape(()))


def hand_on(body, outputs):
    """Tensors and sequences as the results of the node."""
    if len(outputs) != len(body.node.output):
        body.refuse(f"its graph has {len(outputs)} results and the node {len(body.node.output)}; check the model with onnx.checker")
    for output, name in zip(body.node.output, outputs):
        if is_sequence(body, name):
            body.sequences[output], body.values[output] = body.sequences[name], None
    tensors = [None if not output or is_sequence(body, name) else name for output, name in zip(body.node.output, outputs)]
    for output, name in zip(body.node.output, tensors):
        if name is not None:
            body.add(onnx.helper.make_node("Identity", [name], [output], name=body.node.name))
    return body.made


def choice(body):
    branch = "then_branch" if flag(body, body.input(0), "which branch it takes") else "else_branch"
    return hand_on(body, run(body, body.about[branch], {}, f"{body.node.output[0]}/{branch}"))


def loop(body):
    graph = body.about["body"]
    goes_on = body.input(1) is None or flag(body, body.input(1), "whether it runs")
    limit = body.fixed(0, "how often it runs", MOST_RUNS + 1)
    limit = int(np.asarray(limit).reshape(()))
    state, stacks = list(body.inputs[2:]), [[] for _ in graph.output[len(body.inputs) - 1:]]
    condition, i = body.name_of(np.array(True)), 0
    while goes_on and i < limit:
        body.runs.append(i)
        if len(body.runs) > MOST_RUNS:
            body.refuse(f"the loops of the model run more than {MOST_RUNS} times; export the model without them")
        names = dict(zip((one.name for one in graph.input), [body.name_of(np.array(i, np.int64)), condition, *state]))
        condition, *rest = run(body, graph, names, f"{body.node.output[0]}/{i}")
        goes_on = flag(body, condition, "whether it runs again")
        state = rest[:len(state)]
        for stack, name in zip(stacks, rest[len(state):]):
            stack.append(body("Unsqueeze", name, np.array([0])))
        i += 1
    if stacks and i == 0:
        body.refuse("it never runs, so what it collects has no sizes; export the model without it")
    return hand_on(body, [*state, *(body("Concat", *stack, axis=0) for stack in stacks)])


FUNCTIONS = {"SplitToSequence": split_to_sequence, "SequenceEmpty": constructed, "SequenceConstruct": constructed, "SequenceInsert": inserted,
             "SequenceErase": erased, "SequenceAt": element, "SequenceLength": length, "ConcatFromSequence": joined, "Identity": same,
             "If": choice, "Loop": loop}
