# SPDX-License-Identifier: BSL-1.0
"""The graph of tools/import: nodes, and the functions that make them. A node is simplified as it is made: what only moves
elements, in any order of Reshape, Transpose, Slice, Split and Gather, is one node `move` with an index for each element of its
result, so its meaning does not depend on how it was written. Axes of size 1 are dropped everywhere. Which nodes are layers:
import_layers.py. How nodes are written in C++: import_formula.py."""
import hashlib
import math

import numpy as np

from import_moves import are_views


class Node:
    """op, args, shape, the name of the module that it comes from, and constants by name (matrices as (in, out))."""

    reading = ""  # the node of ONNX that is being read, for sentences
    def __init__(self, op, args, shape, scope="", **constants):
        self.op, self.args, self.shape, self.constants = op, list(args), tuple(shape), constants
        self.origin, self.moved = Node.reading, {}
        self.scope = scope or next((x.scope for x in args if x.scope and x.op != "constant"), "")

    def __getitem__(self, name):
        return self.constants[name]

    @property
    def size(self):
        return math.prod(self.shape)


def without_ones(shape):
    return tuple(n for n in shape if n != 1)


def constant(value, scope=""):
    value = np.asarray(value)
    return Node("constant", [], value.shape, scope, value=value)


def is_constant(x):
    return x.op == "constant"


def is_number(x):
    return is_constant(x) and not x.shape


def number(x):
    return float(x["value"].reshape(()))


def identity(shape):
    return np.arange(math.prod(shape)).reshape(shape)


def places(x_shape, shape):
    """The axes of the result that x has, by the rules of numpy, axes of size 1 left out on both sides."""
    kept = [i for i, n in enumerate(shape) if n != 1]
    first = len(shape) - len(x_shape)
    return tuple(kept.index(first + i) for i, n in enumerate(x_shape) if n != 1)


def every(x):
    return tuple(range(len(x.shape)))


# ---- elementwise ---------------------------------------------------------------------------------


def scaled(x):
    """y and a number whose product is x."""
    return (x.args[0], number(x.args[1])) if x.op == "mul" and is_number(x.args[1]) else (x, 1.0)


def elementwise(op, args, at, shape, scope=""):
    """at: for each argument its axes of the result."""
    for k in (0, 1):
        if len(args) == 2 and args[k].shape and args[1 - k].shape == shape and args[0] is not args[1]:
            args, at = list(args), list(at)
            args[k], kept = without_repetition(args[k])
            at[k] = tuple(at[k][i] for i in kept)
    if op == "div" and is_number(args[1]) and number(args[1]) != 0:
        return elementwise("mul", [args[0], constant(np.float32(1 / number(args[1])))], at, shape, scope)
    if op == "div" and is_number(args[0]) and number(args[0]) == 1:
        return unary("reciprocal", args[1], scope)
    if op == "sub" and args[0] is args[1] and len(set(at)) == 1:
        return elementwise("mul", [args[0], constant(0.0)], (at[0], ()), shape, scope)
    if op == "sub" and is_number(args[1]):
        return elementwise("add", [args[0], constant(-args[1]["value"])], at, shape, scope)
    if op in ("add", "mul") and is_constant(args[0]) and not is_constant(args[1]):
        args, at = args[::-1], at[::-1]
    if op in ("add", "mul") and is_number(args[1]) and number(args[1]) == (op == "mul") and args[0].shape == shape:
        return args[0]
    if op == "mul" and is_number(args[1]):
        inner, factor = scaled(args[0])
        if inner is not args[0]:
            return elementwise("mul", [inner, constant(factor * number(args[1]))], at, shape, scope)
    if not (op == "mul" and is_number(args[1])):
        if rows := turned_operands(op, args, at, shape):
            return turn(elementwise(op, *rows, shape[::-1], scope))
        if before := before_one_move(args, shape):
            inner = next(x for x in before if not is_number(x))
            made = elementwise(op, before, [() if is_number(x) else every(x) for x in before], inner.shape, scope)
            return move(made, next(in_other_order(x)[1] for x in args if not is_number(x)))
    return Node(op, args, shape, scope, at=tuple(at))


def without_repetition(x):
    """x without the axes along which all its elements are equal, as they are by expand, and the numbers of its other axes."""
    values = x["value"] if is_constant(x) else x["index"] if x.op == "move" else None
    if values is None:
        return x, every(x)
    kept = tuple(i for i in every(x) if (values != np.take(values, [0], i)).any())
    first = values[tuple(slice(None) if i in kept else 0 for i in every(x))]
    if len(kept) == len(x.shape):
        return x, kept
    return (constant(first, x.scope) if is_constant(x) else move(x.args[0], first, x.scope)), kept


def turned_operands(op, args, at, shape):
    """The same with rows and columns exchanged, if then no operand is: features before positions, as convolutions have them."""
    if len(shape) != 2 or not any(turned(x) for x in args):
        return None
    operands, places_of = [], []
    for x, axes in zip(args, at):
        if turned(x):
            operands.append(turned(x))
        elif is_constant(x):
            operands.append(constant(x["value"].T, x.scope) if len(axes) == 2 else x)
        else:
            return None
        places_of.append((0, 1) if len(axes) == 2 else tuple(1 - i for i in axes))
    return operands, places_of


def in_other_order(x):
    """y and the index of its elements, if x has each of them once, in another order: what is computed of each element is computed
    before they move, so that a move and the move back are none."""
    inner, factor = scaled(x)
    if inner.op != "move" or inner.args[0].op in ("input", "lookup"):
        return None
    index, y = inner["index"], inner.args[0]
    if index.size != math.prod(y.shape) or len(np.unique(index)) != index.size:
        return None
    return times(y, factor), index


def counted(count, name):
    return f"{count} {name}{'' if count == 1 else 's'}"


def before_one_move(args, shape):
    """The operands before the same move of all; numbers stay."""
    moved = [None if is_number(x) else in_other_order(x) for x in args]
    first = next((one for one in moved if one), None)
    for x, one in zip(args, moved):
        if not is_number(x) and not (one and x.shape == shape and one[0].shape == first[0].shape and np.array_equal(one[1], first[1])):
            return None
    return first and [x if one is None else one[0] for x, one in zip(args, moved)]


def not_negative(x):
    """Is no element below 0?"""
    if x.op == "activation":
        return x["kind"] in ("relu", "softplus")
    if x.op in ("maximum", "minimum") and is_number(x.args[1]):
        found = number(x.args[1]) >= 0, not_negative(x.args[0])
        return any(found) if x.op == "maximum" else all(found)
    return x.op in ("sigmoid", "exp", "abs", "sqrt", "softmax") or x.op in ("move", "pooled") and not_negative(x.args[0])


def unary(op, x, scope="", **more):
    if op == "not" and x.op == "not":
        return x.args[0]
    if moved := in_other_order(x):
        return move(unary(op, moved[0], scope, **more), moved[1])
    return Node(op, [x], x.shape, scope, **more)


def times(x, factor, scope=""):
    return elementwise("mul", [x, constant(factor)], (every(x), ()), x.shape, scope)


def plus(x, addend, scope=""):
    return elementwise("add", [x, constant(addend)], (every(x), ()), x.shape, scope)


def both(op, x, y, scope=""):
    """Of two nodes with the same axes."""
    return elementwise(op, [x, y], (every(x), every(y)), x.shape, scope)


def along(op, x, vector, axis, scope=""):
    """x and a constant vector along an axis."""
    return elementwise(op, [x, constant(vector)], (every(x), (axis,)), x.shape, scope)


def reduced(kind, x, axes, scope=""):
    """Over axes of x."""
    if not axes:
        return x
    return Node("reduce", [x], tuple(n for i, n in enumerate(x.shape) if i not in axes), scope, kind=kind, axes=tuple(axes))


def repeated(x, shape, axes):
    """x along the axes of the shape that it lacks; axes: those that it has."""
    index = np.broadcast_to(identity(x.shape).reshape([n if i in axes else 1 for i, n in enumerate(shape)]), shape)
    return move(x, index)


# ---- moves ---------------------------------------------------------------------------------------


def turned(x):
    """y if x is y with its two axes exchanged. A factor stays outside of a move, so it is looked through."""
    inner, factor = scaled(x)
    if inner is not x:
        return times(turned(inner), factor) if turned(inner) else None
    if x.op != "move" or len(x.args[0].shape) != 2:
        return None
    return x.args[0] if np.array_equal(x["index"], identity(x.args[0].shape).T) else None


def turn(x):
    return move(x, identity(x.shape).T)


def move(x, index, scope=""):
    """Elements of x by their numbers. steps: the moves that it was made of, for those that are no views together."""
    if is_constant(x):
        return constant(x["value"].reshape(-1)[index], x.scope)
    if index.shape == x.shape and np.array_equal(index, identity(x.shape)):
        return x
    if x.op == "move":
        made = move(x.args[0], x["index"].reshape(-1)[index], scope)
        if made.op == "move" and made.args[0] is x.args[0] and len(made["steps"]) == 1:
            made.constants["steps"] = [*x["steps"], index]
        return made
    if x.op == "mul" and is_number(x.args[1]):
        return times(move(x.args[0], index), number(x.args[1]), scope)
    if x.op == "rope" and index.shape[-2:] == x.shape[-2:]:  # heads are moved before as well as after
        inner = x.shape[-2] * x.shape[-1]
        if np.array_equal(index % inner, np.broadcast_to(identity(x.shape[-2:]), index.shape)):
            return Node("rope", [move(x.args[0], index)], index.shape, scope, **x.constants)
    if x.op == "linear" and index.ndim == len(x.shape) and index.shape[:-1] == x.shape[:-1] and index.shape[-1] < x.shape[-1]:
        first = int(index.reshape(-1)[0])  # some columns of a linear map are a smaller one
        columns = slice(first, first + index.shape[-1])
        if np.array_equal(index, identity(x.shape)[..., columns]):
            bias = x["bias"]
            return Node("linear", x.args, index.shape, x.scope, weight=x["weight"][:, columns], bias=None if bias is None else bias[columns])
    if x.op == "linear" and index.ndim == 2 and len(x.shape) == 2 and index.shape[1] == x.shape[0] and index.shape[0] < x.shape[1]:
        first = int(index.reshape(-1)[0])
        if np.array_equal(index.T, identity(x.shape)[:, first:first + index.shape[0]]):
            return turn(move(x, index.T))
    key = index.shape, hashlib.sha256(index.tobytes()).digest()
    if key not in x.moved:  # one node for equal moves
        x.moved[key] = Node("move", [x], index.shape, scope, index=index, steps=[index])
    return x.moved[key]


def reshaped(x, shape):
    return move(x, identity(x.shape).reshape(shape)) if x.shape != tuple(shape) else x


def joined(parts, shape, axis, scope=""):
    """concat. The parts have the axes of the result, that axis also if it is of size 1."""
    if len(parts) == 1:
        return reshaped(parts[0], shape)
    if made := of_one_node(parts, shape, axis):
        return made
    inner, factors = zip(*map(scaled, parts))
    if factors[0] != 1 and len(set(factors)) == 1:
        return times(joined(list(inner), shape, axis, scope), factors[0])
    if {x.op for x in parts} == {"rope"} and len({x["base"] for x in parts}) == 1 and axis < len(shape) - 2 and len(parts[0].shape) == len(shape):
        turned_parts = joined([x.args[0] for x in parts], shape, axis, scope)
        return Node("rope", [turned_parts], shape, scope, base=parts[0]["base"])
    if len(shape) == 2 and any(turned(x) for x in parts) and all(turned(x) or is_constant(x) for x in parts):
        return turn(joined([turned(x) or constant(x["value"].T, x.scope) for x in parts], shape[::-1], 1 - axis, scope))
    return Node("concat", parts, shape, scope, axis=axis)


def one_root(roots):
    """The node that all of them are, or of whose columns they are, as linear maps of one input: then where the columns of each begin."""
    first = roots[0]
    if all(root is first for root in roots):
        return (None if is_constant(first) else first), [0] * len(roots)
    if any(root.op != "linear" or root.args[0] is not first.args[0] or (root["bias"] is None) != (first["bias"] is None) for root in roots):
        return None, []
    maps = list({id(root): root for root in roots}.values())
    begin = dict(zip(map(id, maps), np.cumsum([0, *(one.shape[-1] for one in maps)]).tolist()))
    bias = None if first["bias"] is None else np.concatenate([one["bias"] for one in maps])
    weight = np.concatenate([one["weight"] for one in maps], 1)
    made = Node("linear", first.args, (*first.shape[:-1], weight.shape[1]), first.scope, weight=weight, bias=bias)
    return made, [begin[id(root)] for root in roots]


def of_one_node(parts, shape, axis):
    """Parts that are slices of one node in equal steps, as windows are, or of which each is repeated, as heads that share keys are: a
    move. Its end before its beginning: a roll. Else nothing."""
    roots = [x.args[0] if x.op == "move" else x for x in parts]
    root, firsts = one_root(roots)
    if root is None:
        return None
    indices = []
    for x, of, first in zip(parts, roots, firsts):
        size, width = x.size * shape[axis] // math.prod(shape), (of.shape or (1,))[-1]
        index = (x["index"] if x.op == "move" else identity(x.shape)).reshape([size if i == axis else n for i, n in enumerate(shape)])
        indices.append(index if of is root else index // width * root.shape[-1] + first + index % width)
    index = np.concatenate(indices, axis)
    if is_regular(index, axis):
        return move(root, index)
    if len(parts) == 2 and axis < len(shape) - 1:
        whole = np.concatenate(indices[::-1], axis)
        if are_views(whole) and not are_views(index):
            return Node("roll", [move(root, whole)], shape, axis=axis, positions=indices[0].shape[axis])
    return None


def is_regular(index, axis):
    """Are there equal steps along an axis, or equal steps after equal numbers of repeated elements?"""
    steps = np.diff(index.astype(np.int64), axis=axis)
    if not steps.any():
        return steps.size > 0  # one element, repeated
    if steps.reshape(-1)[0] < 0:
        return False
    if steps.reshape(-1)[0] > 0:
        return bool((steps == steps.reshape(-1)[0]).all())
    count = next((i for i in range(steps.shape[axis]) if np.take(steps, i, axis).any()), steps.shape[axis]) + 1
    within, between = (np.take(steps, [i for i in range(steps.shape[axis]) if (i % count == count - 1) == last], axis) for last in (False, True))
    return index.shape[axis] % count == 0 and not within.any() and bool((between == between.reshape(-1)[:1]).all())


def padded(x, axis, before, after, fill=0.0, scope=""):
    """With numbers before and after along an axis."""
    if not before and not after:
        return x
    if is_constant(x):
        widths = [(before, after) if i == axis else (0, 0) for i in range(len(x.shape))]
        return constant(np.pad(x["value"], widths, constant_values=fill), x.scope)
    shape = tuple(n + before + after if i == axis else n for i, n in enumerate(x.shape))
    return Node("padded", [x], shape, scope, axis=axis, before=before, after=after, fill=float(fill))


def part(x, at):
    """x[at], as numpy slices."""
    return move(x, np.ascontiguousarray(identity(x.shape)[at]))


# ---- products ------------------------------------------------------------------------------------


def matmul(x, y, x_full, y_full, scope=""):
    """Of nodes whose shapes with the axes of size 1 are x_full and y_full."""
    batch = np.broadcast_shapes(x_full[:-2], y_full[:-2])
    full = (*batch, x_full[-2], y_full[-1])
    if x_full[-1] == 1:
        outer = (*x_full[:-1], 1), (*y_full[:-2], 1, y_full[-1])
        return elementwise("mul", [x, y], tuple(places(one, full) for one in outer), without_ones(full), scope)
    (x, x_full), (y, y_full) = ((of_all_batches(one, sizes) if is_constant(one) and other == batch else (one, sizes))
                                for one, sizes, other in ((x, x_full, tuple(y_full[:-2])), (y, y_full, tuple(x_full[:-2]))))
    return Node("matmul", [x, y], without_ones(full), scope, x_full=tuple(x_full), y_full=tuple(y_full), full=full)


def of_all_batches(x, full):
    """A constant operand of a product, once for all matrices along axes on which it doesn't depend, and its shape with axes of size 1."""
    value = x["value"].reshape(full)
    for i in range(len(full) - 2):
        first = np.take(value, [0], i)
        value = first if (value == first).all() else value
    return constant(value.reshape(without_ones(value.shape)), x.scope), value.shape


def in_order(nodes):
    """Every node before those that read it."""
    seen, order, stack = set(), [], [(node, False) for node in reversed(nodes)]
    while stack:
        node, done = stack.pop()
        if done:
            order.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            stack += [(node, True), *((x, False) for x in reversed(node.args))]
    return order
