# SPDX-License-Identifier: BSL-1.0
"""For tools/import: operators of ONNX that are functions of others become those, so that import_operators.py and import_onnx.py
know only the rest: Attention and RotaryEmbedding of opset 23, norms over several axes, Einsum, and many small ones. Functions of the
model itself are put in place of their calls. A quantized model becomes its model in floats: matrices in 8 bits are numbers of
32, and what is rounded between layers isn't."""
import math

import numpy as np
import onnx
from onnx import helper, numpy_helper

import import_control_flow as control_flow
import import_operators as operators
from command_line import Refused

TENSOR_TYPES = {np.dtype(type_): kind for kind, type_ in operators.TYPES.items()}
MOST_ELEMENTS = 64  # along an axis whose elements are written one by one


class Body:
    """What a node becomes: each call adds a node and returns the name of its result. Values are those of some input of the
    model, so that shapes are known."""

    opset = 13  # of the model
    sequences, runs = {}, []  # the names of the tensors of each sequence; an item for each run of a loop

    def __init__(self, node, values, constants):
        self.node, self.values, self.constants, self.made = node, values, constants, []
        self.about = operators.attributes_of(node)
        self.inputs = [name or None for name in node.input]

    def __call__(self, op, *inputs, **about):
        return self.several(op, 1, *inputs, **about)[0]

    def several(self, op, count, *inputs, **about):
        names = [self.name_of(x) for x in inputs]
        outputs = [f"{self.node.output[0]}/{len(self.made)}" if count == 1 else f"{self.node.output[0]}/{len(self.made)}.{i}" for i in range(count)]
        self.add(helper.make_node(op, names, outputs, name=self.node.name, **about))
        return outputs

    def add(self, node):
        node.doc_string = self.node.doc_string or self.node.op_type
        self.made += nodes_of(node, self.values, self.constants)

    def name_of(self, x):
        if isinstance(x, str):
            return x
        if x is None:
            return ""
        value, name = np.asarray(x), f"{self.node.output[0]}/{len(self.made)}c"
        value = value.astype(np.float32) if value.dtype == np.float64 else value
        self.add(helper.make_node("Constant", [], [name], value=numpy_helper.from_array(value)))
        return name

    def input(self, i):
        return self.inputs[i] if i < len(self.inputs) else None

    def shape(self, name):
        return self.values[name].shape

    def fixed(self, i, what, default=None):
        """The value of an input that must be a constant."""
        name = self.input(i)
        if name is None:
            return default
        if name not in self.constants:
            self.refuse(f"{what} is computed from an input; make it a constant of the model")
        return self.values[name]

    def axes(self, i=1, rank=None):
        """Of a reduction, as numbers from 0: of the attribute or of an input, all if there are none."""
        rank = len(self.shape(self.inputs[0])) if rank is None else rank
        axes = self.about.get("axes", self.fixed(i, "the axes"))
        return list(range(rank)) if axes is None or not len(axes) else sorted(int(axis) % rank for axis in axes)

    def refuse(self, reason):
        raise Refused(f"{operators.called(self.node)}: {reason}")

    def results(self, *names):
        """The outputs of the node."""
        for output, name in zip(self.node.output, names):
            if output and name is not None:
                name = self.name_of(name)
                self.add(helper.make_node("Identity", [name], [output], name=self.node.name))
            elif output:
                self.refuse("it has an output that isn't computed; leave it out")
        return self.made


# ---- attention -------------------------------------------------------------------------------------


def heads_first(body, x, heads, what):
    """(batch, token, heads * width) as (batch, heads, token, width)."""
    shape = body.shape(x)
    if len(shape) == 4:
        return x
    if not heads:
        body.refuse(f"it has no {what}; export it with them")
    return body("Transpose", body("Reshape", x, np.array([*shape[:2], heads, shape[2] // heads])), perm=[0, 2, 1, 3])


def for_each_head(body, x, heads):
    """Keys or values of groups of heads, for each head."""
    batch, groups, tokens, width = body.shape(x)
    if groups == heads:
        return x
    spread = body("Expand", body("Unsqueeze", x, np.array([2])), np.array([batch, groups, heads // groups, tokens, width]))
    return body("Reshape", spread, np.array([batch, heads, tokens, width]))


def attention(body):
    about, (q, k, v) = body.about, body.inputs[:3]
    if any(body.input(i) for i in range(6, len(body.inputs))) or about.get("left_window_size", -1) >= 0 or about.get("right_window_size", -1) >= 0:
        body.refuse("it has lengths or a window; export it with a mask")
    is_flat = len(body.shape(q)) == 3
    q = heads_first(body, q, about.get("q_num_heads"), "q_num_heads")
    k, v = (heads_first(body, x, about.get("kv_num_heads"), "kv_num_heads") for x in (k, v))
    past = 0
    if body.input(4):
        past = body.shape(body.input(4))[2]
        k, v = body("Concat", body.input(4), k, axis=2), body("Concat", body.input(5), v, axis=2)
    (batch, heads, queries, width), keys = body.shape(q), body.shape(k)[2]
    present = k, v
    k, v = for_each_head(body, k, heads), for_each_head(body, v, heads)
    product = body("MatMul", q, body("Transpose", k, perm=[0, 1, 3, 2]))
    scores = body("Mul", product, np.array(about.get("scale") or 1 / math.sqrt(width)))
    stages = [scores]
    if cap := about.get("softcap"):
        scores = body("Mul", body("Tanh", body("Div", scores, np.array(cap))), np.array(cap))
    stages.append(scores)
    if mask := body.input(3):
        short = keys - body.shape(mask)[-1]
        is_condition = body.values[mask].dtype.kind == "b"
        if short:
            rank = len(body.shape(mask))
            ends = [0] * (2 * rank - 1) + [short]
            mask = body("Pad", mask, np.array(ends), np.array(False) if is_condition else np.array(-np.inf))
        scores = body("Where", mask, scores, np.array(-np.inf)) if is_condition else body("Add", scores, mask)
    if about.get("is_causal"):
        seen = np.arange(keys) <= np.arange(queries)[:, None] + past
        scores = body("Where", seen, scores, np.array(-np.inf))
    stages.append(scores)
    weights = body("Softmax", scores, axis=-1)
    stages.append(weights)
    y = body("MatMul", weights, v)
    if is_flat:
        y = body("Reshape", body("Transpose", y, perm=[0, 2, 1, 3]), np.array([batch, queries, heads * body.shape(v)[3]]))
    return body.results(y, *present, stages[about.get("qk_matmul_output_mode", 0)])


def rotary_embedding(body):
    x, cosines, sines, positions = (body.input(i) for i in range(4))
    shape, about = body.shape(x), body.about
    rows = heads_first(body, x, about.get("num_heads"), "num_heads")
    width = body.shape(rows)[3]
    turned = about.get("rotary_embedding_dim") or width
    if positions:
        cosines, sines = (body("Gather", table, positions, axis=0) for table in (cosines, sines))
    cosines, sines = (body("Unsqueeze", table, np.array([1])) for table in (cosines, sines))
    rest = None
    if turned < width:
        rows, rest = body.several("Split", 2, rows, np.array([turned, width - turned]), axis=3)
    if about.get("interleaved"):
        first, second = (body("Slice", rows, np.array([k]), np.array([turned]), np.array([3]), np.array([2])) for k in (0, 1))
        parts = (cosines, cosines), (sines, sines), (body("Neg", second), first)
        pairs = [body("Concat", *(body("Unsqueeze", one, np.array([4])) for one in part), axis=4) for part in parts]
        cosines, sines, other = (body("Reshape", one, np.array([*body.shape(one)[:3], turned])) for one in pairs)
    else:
        first, second = body.several("Split", 2, rows, np.array([turned // 2, turned // 2]), axis=3)
        cosines, sines = (body("Concat", table, table, axis=3) for table in (cosines, sines))
        other = body("Concat", body("Neg", second), first, axis=3)
    made = body("Add", body("Mul", rows, cosines), body("Mul", other, sines))
    made = made if rest is None else body("Concat", made, rest, axis=3)
    return body.results(made if len(shape) == 4 else body("Reshape", body("Transpose", made, perm=[0, 2, 1, 3]), np.array(shape)))


# ---- norms -----------------------------------------------------------------------------------------


def norm_of_last_axes(body):
    """LayerNormalization and RMSNormalization; of one axis it stays."""
    x, about = body.inputs[0], body.about
    shape = body.shape(x)
    axis = about.get("axis", -1) % len(shape)
    op, results, count = body.node.op_type, [name for name in body.node.output if name], math.prod(shape[axis:])
    if axis == len(shape) - 1 and len(results) == 1 and count > 1:
        return None
    flat = body("Reshape", x, np.array([-1, count]))
    scale, bias = (body.input(i) and np.broadcast_to(body.fixed(i, "a weight"), shape[axis:]).reshape(-1) for i in (1, 2))
    if len(results) == 1 and count > 1:
        weights = [scale] if bias is None else [scale, bias]
        return body.results(body("Reshape", body(op, flat, *weights, axis=-1, epsilon=about.get("epsilon", 1e-5)), np.array(shape)))
    mean = body("ReduceMean", flat, axes=[1]) if op == "LayerNormalization" else None
    below = flat if mean is None else body("Sub", flat, mean)
    square = body("ReduceMean", body("Mul", below, below), axes=[1])
    inverse = body("Reciprocal", body("Sqrt", body("Add", square, np.array(about.get("epsilon", 1e-5)))))
    y = body("Mul", body("Mul", below, inverse), scale)
    y = y if bias is None else body("Add", y, bias)
    small = np.array([*shape[:axis], *[1] * (len(shape) - axis)])
    return body.results(body("Reshape", y, np.array(shape)), *(one and body("Reshape", one, small) for one in (mean, inverse)))


def instance_normalization(body):
    """Each channel over its positions."""
    x = body.inputs[0]
    shape = body.shape(x)
    axes = [i for i in range(2, len(shape)) if shape[i] > 1]
    if not axes:  # of one position: the bias
        zero, bias = body("Mul", x, np.array(0.0)), operators.channels(body.fixed(2, "a weight"), len(shape))
        return body.results(body("Add", zero, bias))
    below = body("Sub", x, body("ReduceMean", x, axes=axes))
    variance = body("ReduceMean", body("Mul", below, below), axes=axes)
    y = body("Div", below, body("Sqrt", body("Add", variance, np.array(body.about.get("epsilon", 1e-5)))))
    scale, bias = (operators.channels(body.fixed(i, "a weight"), len(shape)) for i in (1, 2))
    for op, weight, usual in (("Mul", scale, 1), ("Add", bias, 0)):
        y = y if (weight == usual).all() else body(op, y, weight)
    return body.results(y)


def group_normalization(body):
    x, groups = body.inputs[0], body.about["num_groups"]
    batch, channels, *positions = shape = body.shape(x)
    rows = body("Reshape", x, np.array([batch, groups, channels // groups * math.prod(positions)]))
    ones = np.ones(groups)
    y = body("Reshape", body("InstanceNormalization", rows, ones, 0 * ones, epsilon=body.about.get("epsilon", 1e-5)), np.array(shape))
    scale, bias = (body.fixed(i, "a weight") for i in (1, 2))
    if len(scale) != channels:  # before opset 21
        scale, bias = (np.repeat(one, channels // groups) for one in (scale, bias))
    return body.results(body("Add", body("Mul", y, operators.channels(scale, len(shape))), operators.channels(bias, len(shape))))


def mean_variance_normalization(body):
    axes = body.about.get("axes", [0, 2, 3])
    below = body("Sub", body.inputs[0], body("ReduceMean", body.inputs[0], axes=axes))
    deviation = body("Sqrt", body("ReduceMean", body("Mul", below, below), axes=axes))
    return body.results(body("Div", below, body("Add", deviation, np.array(1e-9))))


def lp_normalization(body):
    op = "ReduceL1" if body.about.get("p", 2) == 1 else "ReduceL2"
    length = body(op, body.inputs[0], axes=[body.about.get("axis", -1)])
    return body.results(body("Div", body.inputs[0], body("Max", length, np.array(1e-30))))


def local_response_normalization(body):
    x, about = body.inputs[0], body.about
    size, shape = about["size"], body.shape(x)
    if size > MOST_ELEMENTS:
        body.refuse(f"it sums {size} channels, and at most {MOST_ELEMENTS} are written; do this step in your code")
    pads = [0] * 2 * len(shape)
    pads[1], pads[1 + len(shape)] = (size - 1) // 2, size // 2
    squares = body("Pad", body("Mul", x, x), np.array(pads))
    parts = [body("Slice", squares, np.array([i]), np.array([i + shape[1]]), np.array([1])) for i in range(size)]
    total = body("Mul", body("Sum", *parts), np.array(about.get("alpha", 1e-4) / size))
    return body.results(body("Div", x, body("Pow", body("Add", total, np.array(about.get("bias", 1.0))), np.array(about.get("beta", 0.75)))))


def in_training(body):
    if body.about.get("training_mode") or (body.node.op_type == "Dropout" and body.input(2) and body.values[body.input(2)].any()):
        body.refuse("it is in training mode; export the model after model.eval()")
    if body.node.op_type == "Dropout" and len(body.node.output) > 1 and body.node.output[1]:
        return body.results(body.inputs[0], body.name_of(np.ones(body.shape(body.inputs[0]), bool)))
    return None


# ---- elementwise -----------------------------------------------------------------------------------


def rounded(body):
    """To the nearest integer; of two the even one."""
    x = body.inputs[0]
    below = body("Floor", x)
    fraction = body("Sub", x, below)
    is_odd = body("Equal", body("Mod", below, np.array(2.0)), np.array(1.0))
    up = body("Or", body("Greater", fraction, np.array(0.5)), body("And", body("Equal", fraction, np.array(0.5)), is_odd))
    return body.results(body("Where", up, body("Add", below, np.array(1.0)), below))


def remainder(body):
    """fmod: with the sign of the dividend."""
    x, y = body.inputs
    if not body.about.get("fmod"):
        return None
    rest = body("Mod", body("Abs", x), body("Abs", y))
    return body.results(body("Where", body("Less", x, np.array(0.0)), body("Neg", rest), rest))


def shrunk(body):
    x, bias, limit = body.inputs[0], body.about.get("bias", 0.0), body.about.get("lambd", 0.5)
    high = body("Where", body("Greater", x, np.array(limit)), body("Sub", x, np.array(bias)), np.array(0.0))
    return body.results(body("Where", body("Less", x, np.array(-limit)), body("Add", x, np.array(bias)), high))


def hyperbolic(sign):
    def write(body):
        up, down = body("Exp", body.inputs[0]), body("Exp", body("Neg", body.inputs[0]))
        return body.results(body("Mul", body("Add" if sign > 0 else "Sub", up, down), np.array(0.5)))
    return write


def of_hyperbolic(body):
    """Asinh, Acosh and Atanh by logarithms."""
    x, op, one = body.inputs[0], body.node.op_type, np.array(1.0)
    if op == "Atanh":
        return body.results(body("Mul", body("Log", body("Div", body("Add", one, x), body("Sub", one, x))), np.array(0.5)))
    size = body("Abs", x) if op == "Asinh" else x
    root = body("Sqrt", body("Add" if op == "Asinh" else "Sub", body("Mul", x, x), one))
    y = body("Log", body("Add", size, root))
    return body.results(body("Mul", body("Sign", x), y) if op == "Asinh" else y)


def tangent(body):
    return body.results(body("Div", body("Sin", body.inputs[0]), body("Cos", body.inputs[0])))


def ceiling(body):
    return body.results(body("Neg", body("Floor", body("Neg", body.inputs[0]))))


def cast_like(body):
    return body.results(body("Cast", body.inputs[0], to=TENSOR_TYPES[body.values[body.inputs[1]].dtype]))


def negative_or_not(body, low):
    """low where x < 0, else x."""
    x = body.inputs[0]
    return body("Where", body("Less", x, np.array(0.0)), low, x)


def powers(body, scale=1.0):
    """exp(min(x * scale, 0)) - 1"""
    x = body.inputs[0] if scale == 1 else body("Mul", body.inputs[0], np.array(scale))
    return body("Sub", body("Exp", body("Min", x, np.array(0.0))), np.array(1.0))


def elu(body):
    alpha = body.about.get("alpha", 1.0)
    return None if alpha == 1 else body.results(negative_or_not(body, body("Mul", powers(body), np.array(alpha))))


def selu(body):
    low = body("Mul", powers(body), np.array(body.about.get("alpha", 1.6732632423543772)))
    return body.results(body("Mul", negative_or_not(body, low), np.array(body.about.get("gamma", 1.0507009873554805))))


def celu(body):
    alpha = body.about.get("alpha", 1.0)
    return body.results(negative_or_not(body, body("Mul", powers(body, 1 / alpha), np.array(alpha))))


def leaky_relu(body):
    """Also PRelu, which has its slopes as an input."""
    slope = np.array(body.about.get("alpha", 0.01)) if body.node.op_type == "LeakyRelu" else body.inputs[1]
    return body.results(negative_or_not(body, body("Mul", body.inputs[0], slope)))


def mish(body):
    return body.results(body("Mul", body.inputs[0], body("Tanh", body("Softplus", body.inputs[0]))))


def softsign(body):
    return body.results(body("Div", body.inputs[0], body("Add", body("Abs", body.inputs[0]), np.array(1.0))))


def hard_sigmoid(body):
    """Also HardSwish: x * hard_sigmoid(x)."""
    x, is_swish = body.inputs[0], body.node.op_type == "HardSwish"
    slope, middle = (1 / 6, 0.5) if is_swish else (body.about.get("alpha", 0.2), body.about.get("beta", 0.5))
    y = body("Clip", body("Add", body("Mul", x, np.array(slope)), np.array(middle)), np.array(0.0), np.array(1.0))
    return body.results(body("Mul", x, y) if is_swish else y)


def thresholded_relu(body):
    x = body.inputs[0]
    return body.results(body("Where", body("Greater", x, np.array(body.about.get("alpha", 1.0))), x, np.array(0.0)))


def sign(body):
    """1, 0 or -1"""
    x, zero = body.inputs[0], np.zeros((), body.values[body.inputs[0]].dtype)
    above, below = (body("Cast", body(op, x, zero), to=TENSOR_TYPES[zero.dtype]) for op in ("Greater", "Less"))
    return body.results(body("Sub", above, below))


def swish(body):
    x, alpha = body.inputs[0], body.about.get("alpha", 1.0)
    return body.results(body("Mul", x, body("Sigmoid", x if alpha == 1 else body("Mul", x, np.array(alpha)))))


def folded(op):
    """An operator of any number of inputs as one of two."""
    def write(body):
        if len(body.inputs) == 2 and op in ("Max", "Min"):
            return None
        total = body.inputs[0]
        for x in body.inputs[1:]:
            total = body(op if op in ("Max", "Min") else "Add", total, x)
        return body.results(body("Mul", total, np.array(1 / len(body.inputs))) if op == "Mean" else total)
    return write


def triangle(body):
    x, k = body.inputs[0], body.fixed(1, "the diagonal", np.array(0))
    if x in body.constants:
        return None
    kept = operators.OPERATORS["Trilu"](body.about, np.ones(body.shape(x)[-2:], bool), np.asarray(k).reshape(()))
    return body.results(body("Where", kept, x, np.array(0, body.values[x].dtype)))


# ---- along axes ------------------------------------------------------------------------------------


def reduction(body):
    """Reductions of functions of x, and others whose list of axes is empty: over all axes, or over none if they say so."""
    op, x, keeps = body.node.op_type, body.inputs[0], body.about.get("keepdims", 1)
    axes = body.axes()
    is_empty = "axes" not in body.about and (body.input(1) is None or not len(body.fixed(1, "the axes")))
    if is_empty and body.about.get("noop_with_empty_axes"):
        axes = []

    def reduced(kind, y, keepdims=keeps):
        if not axes:
            return y
        return body(kind, y, np.array(axes), keepdims=keepdims) if kind == "ReduceSum" else body(kind, y, axes=axes, keepdims=keepdims)
    if op == "ReduceL1":
        y = reduced("ReduceSum", body("Abs", x))
    elif op in ("ReduceL2", "ReduceSumSquare"):
        y = reduced("ReduceSum", body("Mul", x, x))
        y = body("Sqrt", y) if op == "ReduceL2" else y
    elif op == "ReduceLogSum":
        y = body("Log", reduced("ReduceSum", x))
    elif op == "ReduceLogSumExp":
        most = reduced("ReduceMax", x, 1)
        y = body("Add", body("Log", reduced("ReduceSum", body("Exp", body("Sub", x, most)), 1)), most)
        y = y if keeps or not axes else body("Squeeze", y, np.array(axes))
    elif is_empty and body.node.input[1:]:
        y = reduced(op, x)
    else:
        return None
    return body.results(y)


def last_place(body):
    """ArgMax and ArgMin that find the last of equal elements."""
    if not body.about.get("select_last_index"):
        return None
    axis = body.about.get("axis", 0)
    turned = body("Slice", body.inputs[0], np.array([-1]), np.array([np.iinfo(np.int64).min]), np.array([axis]), np.array([-1]))
    place = body(body.node.op_type, turned, axis=axis, keepdims=body.about.get("keepdims", 1))
    return body.results(body("Sub", np.array(body.shape(body.inputs[0])[axis] - 1), place))


def old_softmax(body):
    """Before opset 13 Softmax, LogSoftmax and Hardmax are over an axis, 1 by default, and all behind it."""
    x, op = body.inputs[0], body.node.op_type
    shape = body.shape(x)
    if body.opset >= 13:
        return None
    axis = body.about.get("axis", 1) % len(shape)
    if axis == len(shape) - 1 and body.about.get("axis") == -1:
        return None
    if axis == len(shape) - 1:
        return body.results(body(op, x, axis=-1))
    rows = body("Reshape", x, np.array([math.prod(shape[:axis]), math.prod(shape[axis:])]))
    return body.results(body("Reshape", body(op, rows, axis=-1), np.array(shape)))


def eye(body):
    """By the shape of its input alone."""
    return body.results(operators.OPERATORS["EyeLike"](body.about, body.values[body.inputs[0]]))


def elements_of_one(body):
    """GatherElements along an axis of one element repeats it."""
    x, places = body.inputs
    if body.shape(x)[body.about.get("axis", 0)] != 1:
        return None
    wanted = body.shape(places)
    for axis, (have, want) in enumerate(zip(body.shape(x), wanted)):
        if want < have:
            x = body("Slice", x, np.array([0]), np.array([want]), np.array([axis]))
    return body.results(body("Expand", x, np.array(wanted)))


def hardmax(body):
    """One at the first of the largest elements."""
    older = old_softmax(body)
    if older is not None:
        return older
    x, axis = body.inputs[0], body.about.get("axis", -1)
    shape = body.shape(x)
    place = body("ArgMax", x, axis=axis, keepdims=1)
    along = np.arange(shape[axis]).reshape([-1 if i == axis % len(shape) else 1 for i in range(len(shape))])
    return body.results(body("Cast", body("Equal", place, along), to=1))


def one_hot(body):
    """Indices from -depth to depth - 1; others are rows of the first value."""
    indices, axis = body.inputs[0], body.about.get("axis", -1)
    depth, values = int(np.asarray(body.fixed(1, "the depth")).reshape(())), body.fixed(2, "its values")
    rank = len(body.shape(indices)) + 1
    along = np.arange(depth, dtype=body.values[indices].dtype).reshape([-1 if i == axis % rank else 1 for i in range(rank)])
    spread = body("Unsqueeze", indices, np.array([axis % rank]))
    at = body("Equal", spread, along)
    if body.values[indices].dtype.kind != "u":
        at = body("Or", at, body("Equal", spread, along - np.array(depth, along.dtype)))
    return body.results(body("Where", at, values[1], values[0]))


def space_to_depth(body):
    b, c, h, w = body.shape(body.inputs[0])
    size = body.about["blocksize"]
    x = body("Transpose", body("Reshape", body.inputs[0], np.array([b, c, h // size, size, w // size, size])), perm=[0, 3, 5, 1, 2, 4])
    return body.results(body("Reshape", x, np.array([b, c * size * size, h // size, w // size])))


def depth_to_space(body):
    b, c, h, w = body.shape(body.inputs[0])
    size = body.about["blocksize"]
    is_usual = operators.text_of(body.about.get("mode"), "DCR") == "DCR"
    parts, order = ([b, size, size, c // size**2, h, w], [0, 3, 4, 1, 5, 2]) if is_usual else ([b, c // size**2, size, size, h, w],
                                                                                               [0, 1, 4, 2, 5, 3])
    x = body("Transpose", body("Reshape", body.inputs[0], np.array(parts)), perm=order)
    return body.results(body("Reshape", x, np.array([b, c // size**2, h * size, w * size])))


def cropped_or_padded(body):
    x, sizes = body.inputs[0], body.fixed(1, "the shape")
    shape, axes = body.shape(x), body.axes(99)
    for axis, size in zip(axes, sizes):
        more = int(size) - shape[axis]
        if more < 0:
            first = -more // 2
            x = body("Slice", x, np.array([first]), np.array([first + size]), np.array([axis]))
        elif more:
            pads = [0] * 2 * len(shape)
            pads[axis], pads[axis + len(shape)] = more // 2, more - more // 2
            x = body("Pad", x, np.array(pads))
    return body.results(x)


def scattered(body):
    """At constant places, elements of the updates instead of those of x."""
    about, places = body.about, body.fixed(1, "the place")
    x, _, updates = body.inputs
    if operators.text_of(about.get("reduction"), "none") != "none":
        body.refuse("it combines elements; export it without reduction")
    count = math.prod(body.shape(x))
    index = operators.scatter(body.node.op_type, about, np.arange(count).reshape(body.shape(x)), places,
                              count + np.arange(math.prod(body.shape(updates))).reshape(body.shape(updates)))
    both = body("Concat", body("Reshape", x, np.array([-1])), body("Reshape", updates, np.array([-1])), axis=0)
    return body.results(body("Gather", both, index, axis=0))


def gathered(body):
    """GatherND at constant places."""
    x, places, skipped = body.inputs[0], body.fixed(1, "the place"), body.about.get("batch_dims", 0)
    index = np.arange(math.prod(body.shape(x))).reshape(body.shape(x))
    batch = body.shape(x)[:skipped]
    rows = [index[at][tuple(np.moveaxis(places[at], -1, 0))] for at in np.ndindex(*batch)]
    made = np.stack(rows).reshape(*batch, *rows[0].shape)
    return body.results(body("Gather", body("Reshape", x, np.array([-1])), made, axis=0))


def cropped_by_pad(body):
    """Pad by negative numbers: a slice, then what is left to pad."""
    about, x = body.about, body.inputs[0]
    pads = np.array(about.get("pads") or body.fixed(1, "the padding"))
    if pads.min() >= 0:
        return None
    axes = body.fixed(3, "the axes", np.arange(len(body.shape(x))))
    before, after = np.split(pads, 2)
    ends = np.array(body.shape(x))[axes] + np.minimum(after, 0)
    x = body("Slice", x, np.maximum(-before, 0), ends, axes)
    value = body.fixed(2, "the number", np.array(about.get("value", 0), body.values[x].dtype))
    rest = {name: one for name, one in about.items() if name not in ("pads", "value")}
    return body.results(body("Pad", x, np.maximum(pads, 0), value, axes, **rest))


# ---- products and windows --------------------------------------------------------------------------


def einsum(body):
    """Of any operands: axes that one operand alone has are summed, an axis twice in one is its diagonal, and more than two are
    products of two."""
    equation = operators.text_of(body.about["equation"], "").replace(" ", "")
    left, arrow, result = equation.partition("->")
    terms = left.split(",")
    if "." in equation:
        ranks = [len(body.shape(x)) - len(term.replace(".", "")) for x, term in zip(body.inputs, terms)]
        more = [c for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if c not in equation][:max(ranks)]
        terms = [term.replace("...", "".join(more[max(ranks) - rank:] if "..." in term else "")) for term, rank in zip(terms, ranks)]
        result = result.replace("...", "".join(more))
        arrow or body.refuse(f"{equation!r} has no arrow; write what it results in")
    if not arrow:
        letters = "".join(terms)
        result = "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    rests = ["".join(terms[:i] + terms[i + 1:]) + result for i in range(len(terms))]
    if len(terms) == 2 and "." not in equation and arrow and all(len(set(a)) == len(a) and set(a) <= set(b) for a, b in zip(terms, rests)):
        return None
    operands = [alone(body, x, term, rest) for x, term, rest in zip(body.inputs, terms, rests)]
    while len(operands) > 1:
        (x, left), (y, right) = operands[:2]
        later = "".join(term for _, term in operands[2:]) + result
        kept = "".join(c for c in dict.fromkeys(left + right) if c in later)
        if len(operands) == 2:
            kept = result
        operands[:2] = [(body("Einsum", x, y, equation=f"{left},{right}->{kept}"), kept)]
    x, term = operands[0]
    if term != result:
        x = body("Transpose", x, perm=[term.index(c) for c in result])
    return body.results(x)


def gemm(body):
    """Of a matrix or a bias that is computed."""
    about, (a, b) = body.about, body.inputs[:2]
    c = body.input(2)
    if b in body.constants and (c is None or c in body.constants):
        return None
    a, b = (body("Transpose", x, perm=[1, 0]) if about.get(name) else x for name, x in (("transA", a), ("transB", b)))
    y = body("MatMul", a, b)
    y = y if about.get("alpha", 1.0) == 1 else body("Mul", y, np.array(about["alpha"]))
    if c is not None:
        y = body("Add", y, c if about.get("beta", 1.0) == 1 else body("Mul", c, np.array(about["beta"])))
    return body.results(y)


def alone(body, x, term, rest):
    """An operand of einsum with each of its axes once, and only those that others have."""
    for c in dict.fromkeys(term):
        if term.count(c) > 1:
            i, j = term.index(c), term.rindex(c)
            shape = body.shape(x)
            index = np.moveaxis(np.arange(math.prod(shape)).reshape(shape), (i, j), (0, 1))
            diagonal = np.stack([index[n, n] for n in range(shape[i])])
            x, term = body("Gather", body("Reshape", x, np.array([-1])), diagonal, axis=0), c + term[:i] + term[i + 1:j] + term[j + 1:]
    gone = [i for i, c in enumerate(term) if c not in rest]
    if gone:
        x = body("ReduceSum", x, np.array(gone), keepdims=0)
    return x, "".join(c for c in term if c in rest)


def pool_over_the_end(body):
    """Windows of ceil_mode: the padding at the end is larger, and the last window begins within the input."""
    about, x = body.about, body.inputs[0]
    if not about.get("ceil_mode"):
        return None
    kernel, extents = about["kernel_shape"], body.shape(x)[2:]
    strides, dilations, pads = operators.window_of(about, extents, kernel)
    ends = []
    for extent, size, stride, dilation, (before, after) in zip(extents, kernel, strides, dilations, pads):
        span = (size - 1) * dilation + 1
        count = -(-(extent + before + after - span) // stride) + 1
        count -= (count - 1) * stride >= extent + before
        ends.append(max(after, (count - 1) * stride + span - extent - before))
    if about.get("count_include_pad") and ends != [after for _, after in pads]:
        body.refuse("its windows reach over the end and count the padding (ceil_mode); pad the input before")
    rest = {name: value for name, value in about.items() if name not in ("ceil_mode", "pads", "auto_pad")}
    made = body.several(body.node.op_type, 1, x, pads=[before for before, _ in pads] + ends, **rest)
    return body.results(*made)


def convolution(body):
    """By a kernel that is computed: a product for each of its places. A bias that is computed is added."""
    about, x, w, bias = body.about, body.inputs[0], body.inputs[1], body.input(2)
    if w in body.constants and (bias is None or bias in body.constants):
        return None
    (batch, _, *extents), (outputs, channels, *kernel) = body.shape(x), body.shape(w)
    if w in body.constants:
        made = body("Conv", x, w, **about)
    else:
        if math.prod(kernel) > MOST_ELEMENTS:
            body.refuse(f"its kernel is computed from an input and has {math.prod(kernel)} places, and at most {MOST_ELEMENTS} are written; use a smaller one")
        groups, places = about.get("group", 1), np.arange(2, 2 + len(kernel))
        strides, dilations, pads = operators.window_of(about, extents, kernel)
        x = body("Pad", x, np.array([0, 0, *(before for before, _ in pads), 0, 0, *(after for _, after in pads)]))
        spans = [extent + sum(pad) - (size - 1) * dilation for extent, pad, size, dilation in zip(extents, pads, kernel, dilations)]
        made = None
        for place in np.ndindex(*kernel):
            first = np.array(place) * dilations
            seen = body("Reshape", body("Slice", x, first, first + spans, places, np.array(strides)), np.array([batch, groups, channels, -1]))
            of_place = body("Reshape", body("Slice", w, np.array(place), np.array(place) + 1, places), np.array([groups, outputs // groups, channels]))
            product = body("MatMul", of_place, seen)
            made = product if made is None else body("Add", made, product)
        made = body("Reshape", made, np.array([batch, outputs, *(-(-span // stride) for span, stride in zip(spans, strides))]))
    return body.results(made if bias is None else body("Add", made, body("Reshape", bias, np.array([outputs, *[1] * len(kernel)]))))


def lp_pool(body):
    """The p-th root of sums of p-th powers, which are means times the count."""
    p, kernel = body.about.get("p", 2), body.about["kernel_shape"]
    rest = {name: value for name, value in body.about.items() if name != "p"}
    powers = body("Mul", body.inputs[0], body.inputs[0]) if p == 2 else body("Pow", body("Abs", body.inputs[0]), np.array(float(p)))
    total = body("Mul", body("AveragePool", powers, count_include_pad=1, **rest), np.array(float(math.prod(kernel))))
    return body.results(body("Sqrt", total) if p == 2 else body("Pow", total, np.array(1 / p)))


# ---- quantized models ------------------------------------------------------------------------------


def factor(body, scale, zero, rank, axis):
    """Scale and zero point of a constant, along an axis if there are many."""
    scale, zero = (np.asarray(one) for one in (scale, np.zeros((), np.int32) if zero is None else zero))
    place = [-1 if i == axis % rank else 1 for i in range(rank)]
    return tuple(one.reshape(place) if one.size > 1 and one.ndim == 1 else one for one in (scale, zero.astype(np.float32)))


def dequantized(body, x, scale, zero, axis=1):
    """x in floats: a constant is multiplied by its scale; what is computed from floats has not been divided by it."""
    if x not in body.constants:
        if body.values[x].dtype.kind not in "iu":
            return x
        number = body("Cast", x, to=1)  # of an input of the model
        return number if zero is None else body("Sub", number, body("Cast", zero, to=1))
    value = body.values[x]
    scale, zero = factor(body, body.values[scale], zero and body.values[zero], value.ndim, axis)
    if scale.ndim == value.ndim and scale.ndim > 1 and any(n not in (1, m) for n, m in zip(scale.shape, value.shape)):
        body.refuse("it has scales for blocks; export it with one for each row")
    return body.name_of(((value.astype(np.float32) - zero) * scale).astype(np.float32))


def dequantize(body):
    x, scale, zero = (body.input(i) for i in range(3))
    if x not in body.constants and body.values[x].dtype.kind in "iu":  # of an input of the model
        return body.results(body("Mul", dequantized(body, x, scale, zero), scale))
    return body.results(dequantized(body, x, scale, zero, body.about.get("axis", 1)))


def within(body, x, zero):
    """Rounding is left out. Integers that have no negative numbers stand for those of ReLU, and that stays."""
    value = None if zero is None else body.fixed(body.inputs.index(zero), "the zero point")
    if value is not None and np.asarray(value).size == 1 and np.asarray(value).reshape(()) == np.iinfo(value.dtype).min:
        return body("Relu", x)
    return x


def quantize(body):
    return body.results(within(body, body.input(0), body.input(2)))


def dynamically_quantize(body):
    return body.results(body.inputs[0], np.ones((), np.float32), np.zeros((), np.float32))


def product_of_integers(body):
    """MatMulInteger and ConvInteger: numbers of integers."""
    one, is_conv = body.name_of(np.ones((), np.float32)), body.node.op_type == "ConvInteger"
    x, w = (dequantized(body, body.inputs[i], one, body.input(2 + i), 0 if is_conv else -1) for i in (0, 1))
    return body.results(body("Conv" if is_conv else "MatMul", x, w, **body.about))


def quantized_product(body):
    """QLinearMatMul and QLinearConv."""
    x, x_scale, x_zero, w, w_scale, w_zero, _, y_zero, bias = (body.input(i) for i in range(9))
    is_conv = body.node.op_type == "QLinearConv"
    inputs = [dequantized(body, x, x_scale, x_zero), dequantized(body, w, w_scale, w_zero, 0 if is_conv else -1)]
    if bias:
        inputs.append(body.name_of((body.fixed(8, "the bias") * body.fixed(1, "the scale") * body.fixed(4, "the scale")).astype(np.float32)))
    return body.results(within(body, body("Conv" if is_conv else "MatMul", *inputs, **body.about), y_zero))


QUANTIZED = {"DequantizeLinear": dequantize, "QuantizeLinear": quantize, "DynamicQuantizeLinear": dynamically_quantize,
             "MatMulInteger": product_of_integers, "ConvInteger": product_of_integers, "QLinearMatMul": quantized_product,
             "QLinearConv": quantized_product}
FUNCTIONS = {
    "Attention": attention, "RotaryEmbedding": rotary_embedding, "LayerNormalization": norm_of_last_axes, "RMSNormalization": norm_of_last_axes,
    "InstanceNormalization": instance_normalization, "GroupNormalization": group_normalization,
    "MeanVarianceNormalization": mean_variance_normalization, "LpNormalization": lp_normalization, "LRN": local_response_normalization,
    "BatchNormalization": in_training, "Dropout": in_training,
    "Round": rounded, "Mod": remainder, "Shrink": shrunk, "Sinh": hyperbolic(-1), "Cosh": hyperbolic(1), "Tan": tangent,
    **dict.fromkeys(("Asinh", "Acosh", "Atanh"), of_hyperbolic),
    "Elu": elu, "Selu": selu, "Celu": celu, "LeakyRelu": leaky_relu, "PRelu": leaky_relu, "Mish": mish, "Softsign": softsign,
    "HardSigmoid": hard_sigmoid, "HardSwish": hard_sigmoid, "ThresholdedRelu": thresholded_relu, "Sign": sign, "Swish": swish, "Ceil": ceiling,
    "CastLike": cast_like, "Mean": folded("Mean"), "Sum": folded("Sum"), "Max": folded("Max"), "Min": folded("Min"), "Trilu": triangle,
    **dict.fromkeys(("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSum",
                     "ReduceLogSumExp"), reduction),
    "Hardmax": hardmax, "ArgMax": last_place, "ArgMin": last_place, "Softmax": old_softmax,
    "LogSoftmax": old_softmax, "EyeLike": eye, "GatherElements": elements_of_one, "OneHot": one_hot, "CenterCropPad": cropped_or_padded,
    "SpaceToDepth": space_to_depth, "DepthToSpace": depth_to_space, "ScatterND": scattered, "ScatterElements": scattered, "Scatter": scattered,
    "Pad": cropped_by_pad, **control_flow.FUNCTIONS, "GatherND": gathered, "Einsum": einsum, "Gemm": gemm, "LpPool": lp_pool, "Conv": convolution, "MaxPool": pool_over_the_end, "AveragePool": pool_over_the_end,
    **QUANTIZED}


# ---- functions of the model --------------------------------------------------------------------------


def inlined(model, nodes):
    """The nodes with those of the model's functions instead of their calls."""
    functions = {(one.domain, one.name): one for one in model.functions}
    for node in nodes:
        function = functions.get((node.domain, node.op_type))
        if function is None:
            yield node
            continue
        names = dict(zip(function.input, node.input)) | dict(zip(function.output, node.output))
        about = {one.name: one for one in node.attribute}
        body = []
        for inner in function.node:
            copy = onnx.NodeProto()
            copy.CopyFrom(inner)
            copy.name = f"{node.name or node.output[0]}/{inner.name or inner.op_type}"
            for field in (copy.input, copy.output):
                field[:] = [names.setdefault(name, f"{node.output[0]}/{name}") if name else "" for name in field]
            given = [one for one in copy.attribute if not one.ref_attr_name or one.ref_attr_name in about]
            for one in given:
                if one.ref_attr_name:
                    name = one.name
                    one.CopyFrom(about[one.ref_attr_name])
                    one.name = name
            kept = [onnx.AttributeProto.FromString(one.SerializeToString()) for one in given]
            del copy.attribute[:]
            copy.attribute.extend(kept)
            body.append(copy)
        yield from inlined(model, body)


def nodes_of(node, values, constants):
    """Those that the node is a function of, or the node. Adds to the values, and to the names of constants."""
    operators.check_inputs(node, values)
    write = FUNCTIONS.get(node.op_type) if node.domain in ("", "ai.onnx") else None
    all_fixed = all(name in constants for name in node.input)
    try:
        made = write and not (all_fixed and node.op_type in operators.OPERATORS) and write(Body(node, values, constants))
    except (TypeError, ValueError, IndexError, KeyError) as problem:
        raise operators.not_valid(node, problem) from None
    if made or any(name in Body.sequences for name in node.output):
        return made
    if any(name in Body.sequences for name in node.input):
        raise Refused(f"{operators.called(node)}: it reads a sequence of tensors, and only ConcatFromSequence and SequenceAt do so here; pass tensors")
    values.update(zip(node.output, operators.computed(node, [values[name] for name in node.input])))
    if all_fixed or node.op_type in ("Shape", "Size"):
        constants.update(node.output)
    return [node]


def expanded(model, feeds):
    """The model in the operators that are no functions of others, and how many of its nodes were quantized. feeds: an input."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    values = {one.name: numpy_helper.to_array(one) for one in model.graph.initializer}
    constants = {*values, ""}
    values |= {**feeds, "": None}
    Body.opset, Body.sequences, Body.runs = operators.opset_of(model), {}, []
    nodes, quantized = [], 0
    with np.errstate(all="ignore"):
        for node in inlined(model, model.graph.node):
            nodes += nodes_of(node, values, constants)
            quantized += node.op_type in QUANTIZED
    del made.graph.node[:]
    made.graph.node.extend(nodes)
    del made.functions[:]
    return made, quantized
