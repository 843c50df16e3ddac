# SPDX-License-Identifier: BSL-1.0
"""The operators of ONNX in numpy, for tools/import: they define the meaning of a graph. They compute the probe, in float64,
and fold everything that depends on no input. Nothing here knows Umbel."""
import math

import numpy as np
import onnx
from onnx import numpy_helper

from command_line import Refused

TYPES = {1: np.float32, 2: np.uint8, 3: np.int8, 5: np.int16, 6: np.int32, 7: np.int64, 9: np.bool_, 11: np.float64}
# What is refused, with the cure. The rest of the unknown operators have a sentence in common.
CONTROL_FLOW = "it is control flow; export the model for fixed sizes, without it"
RECURRENT = "it is recurrent, and Umbel has no recurrent layers; replace it by attention or a convolution"
BY_VALUE = "its sizes depend on values; export the model without it, and do this step in your code"
CHOSEN = "which elements it selects depends on values; export the model without it, and do this step in your code"
HALF = "it computes in 16 bits; export the model in float32, and store the weights in 16 bits with prepacked"
RANDOM = "it draws random numbers; pass them to the model as an input"
LOSS = "it is a loss, for training; export the model after model.eval(), without it"
REFUSED = {**dict.fromkeys(("If", "Loop", "Scan", "SequenceMap"), CONTROL_FLOW), **dict.fromkeys(("LSTM", "GRU", "RNN"), RECURRENT),
           **dict.fromkeys(("NonZero", "NonMaxSuppression", "Unique", "Compress"), BY_VALUE), "TopK": CHOSEN,
           **dict.fromkeys(("RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Multinomial", "Bernoulli"), RANDOM),
           **dict.fromkeys(("SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss"), LOSS)}


def attributes_of(node):
    return {one.name: onnx.helper.get_attribute_value(one) for one in node.attribute}


def called(node):
    """The node in a sentence. doc_string: of what it is a part (import_functions.py)."""
    return f"{node.name or node.output[0].partition('/')[0]} ({node.doc_string or node.op_type})"


def text_of(value, default):
    return value.decode() if isinstance(value, bytes) else default


erf = np.vectorize(math.erf, otypes=[np.float64])


def softmax(x, axis):
    powers = np.exp(x - x.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def log_softmax(x, axis):
    below = x - x.max(axis, keepdims=True)
    return below - np.log(np.exp(below).sum(axis, keepdims=True))


def pads_of(about, extents, kernel, strides, dilations):
    """(before, after) of each axis of positions."""
    count, mode = len(kernel), text_of(about.get("auto_pad"), "NOTSET")
    if mode in ("SAME_UPPER", "SAME_LOWER"):
        made = []
        for extent, size, stride, dilation in zip(extents, kernel, strides, dilations):
            total = max((-(-extent // stride) - 1) * stride + (size - 1) * dilation + 1 - extent, 0)
            made.append((total // 2, total - total // 2) if mode == "SAME_UPPER" else (total - total // 2, total // 2))
        return made
    pads = about.get("pads", [0] * 2 * count) if mode == "NOTSET" else [0] * 2 * count
    return [(pads[i], pads[i + count]) for i in range(count)]


def window_of(about, extents, kernel):
    """Strides, dilations and pads of a convolution or of a pooling."""
    strides, dilations = about.get("strides", [1] * len(kernel)), about.get("dilations", [1] * len(kernel))
    return strides, dilations, pads_of(about, extents, kernel, strides, dilations)


def windows(x, about, kernel, fill):
    """x (batch, channel, positions...) as (batch, channel, positions..., kernel...)."""
    count = len(kernel)
    strides, dilations, pads = window_of(about, x.shape[2:], kernel)
    padded = np.pad(x, [(0, 0), (0, 0), *pads], constant_values=fill)
    spans = [(size - 1) * dilation + 1 for size, dilation in zip(kernel, dilations)]
    made = np.lib.stride_tricks.sliding_window_view(padded, spans, tuple(range(2, 2 + count)))
    return made[(slice(None),) * 2 + tuple(slice(None, None, s) for s in strides) + tuple(slice(None, None, d) for d in dilations)]


def of_transposed(about, kernel):
    """Strides, dilations, pads and what is added at the end of a transposed convolution."""
    count = len(kernel)
    if "output_shape" in about or text_of(about.get("auto_pad"), "NOTSET") not in ("NOTSET", "VALID"):
        raise ValueError("its output shape is given instead of pads; export it with pads")
    strides, dilations = about.get("strides", [1] * count), about.get("dilations", [1] * count)
    pads, more = about.get("pads", [0] * 2 * count), about.get("output_padding", [0] * count)
    return strides, dilations, [(pads[i], pads[i + count]) for i in range(count)], more


def conv_transpose(about, x, w, bias=None):
    """w (channels, outputs of a group, kernel...): each element adds its kernel to the result."""
    kernel, groups = w.shape[2:], about.get("group", 1)
    strides, dilations, pads, more = of_transposed(about, kernel)
    sizes = [(n - 1) * s + (k - 1) * d + 1 + m for n, s, k, d, m in zip(x.shape[2:], strides, kernel, dilations, more)]
    y, inputs, outputs = np.zeros((x.shape[0], w.shape[1] * groups, *sizes), x.dtype), x.shape[1] // groups, w.shape[1]
    for place in np.ndindex(*kernel):
        at = tuple(slice(p * d, p * d + (n - 1) * s + 1, s) for p, d, n, s in zip(place, dilations, x.shape[2:], strides))
        for group in range(groups):
            of_group = slice(group * inputs, (group + 1) * inputs)
            product = np.tensordot(x[:, of_group], w[(of_group, slice(None), *place)], ([1], [0]))
            y[(slice(None), slice(group * outputs, (group + 1) * outputs), *at)] += np.moveaxis(product, -1, 1)
    y = y[(slice(None), slice(None), *(slice(a, n - b) for (a, b), n in zip(pads, sizes)))]
    return y if bias is None else y + channels(bias, y.ndim)


def cubic(distance, a):
    """Keys' kernel (Cubic convolution interpolation for digital image processing, 1981)."""
    d = np.abs(distance)
    return np.where(d <= 1, ((a + 2) * d - (a + 3)) * d * d + 1, ((a * d - 5 * a) * d + 8 * a) * d - 4 * a)


def resize_matrix(about, before, after, scale):
    """(before, after): the part of each element in each of the result, along one axis."""
    mode, place = text_of(about.get("mode"), "nearest"), text_of(about.get("coordinate_transformation_mode"), "half_pixel")
    at = np.arange(after, dtype=np.float64)
    if place == "asymmetric":
        at = at / scale
    elif place == "align_corners":
        at = at * (before - 1) / max(after - 1, 1)  # with the length of the result, as PyTorch and ONNX Runtime have it
    elif place == "half_pixel" or (place == "pytorch_half_pixel" and after > 1):
        at = (at + 0.5) / scale - 0.5
    elif place == "pytorch_half_pixel":
        at = at * 0
    else:
        raise ValueError(f"its coordinates are by {place}; export it with half_pixel, asymmetric or align_corners")
    if mode == "nearest":
        rounding = text_of(about.get("nearest_mode"), "round_prefer_floor")
        near = {
            "floor": np.floor,
            "ceil": np.ceil,
            "round_prefer_floor": lambda v: np.ceil(v - 0.5),
            "round_prefer_ceil": lambda v: np.floor(v + 0.5)
        }
        parts = [(near[rounding](at), np.ones(after))]
    elif mode == "linear" and not about.get("antialias"):
        parts = [(np.floor(at), 1 - at % 1), (np.floor(at) + 1, at % 1)]
    elif mode == "cubic" and not about.get("antialias") and not about.get("exclude_outside"):
        parts = [(np.floor(at) + i, cubic(at % 1 - i, about.get("cubic_coeff_a", -0.75))) for i in (-1, 0, 1, 2)]
    else:
        raise ValueError(f"its mode is {'antialiased ' * bool(about.get('antialias'))}{mode}; export it as nearest, linear or cubic without options")
    made = np.zeros((before, after))
    for position, part in parts:
        np.add.at(made, (np.clip(position, 0, before - 1).astype(int), np.arange(after)), part)
    return made


def resize_matrices(about, shape, roi=None, scales=None, sizes=None):
    """The axes that change, and a matrix for each."""
    if scales is None and sizes is None:  # of Upsample, and of Resize before opset 11
        about, scales = about | {"coordinate_transformation_mode": b"asymmetric", "nearest_mode": b"floor"}, roi
    axes = [int(i) % len(shape) for i in about.get("axes", range(len(shape)))]
    if about.get("keep_aspect_ratio_policy", b"stretch") != b"stretch":
        raise ValueError("it keeps the aspect ratio; export it with sizes")
    given = sizes if sizes is not None and len(sizes) else None
    for i, axis in enumerate(axes):
        before = shape[axis]
        after = int(given[i]) if given is not None else int(np.floor(before * float(scales[i])))
        scale = after / before if given is not None else float(scales[i])
        if after != before:
            yield axis, resize_matrix(about, before, after, scale)


def resize(about, x, *given):
    for axis, matrix in resize_matrices(about, x.shape, *given):
        x = np.moveaxis(np.moveaxis(x, axis, -1) @ matrix.astype(x.dtype), -1, axis)
    return x


def channels(v, ndim):
    return v.reshape(1, -1, *[1] * (ndim - 2))


def conv(about, x, w, bias=None):
    count, groups = w.ndim - 2, about.get("group", 1)
    seen, parts, outputs = windows(x, about, w.shape[2:], 0), [], w.shape[0] // groups
    for group in range(groups):
        of_group = seen[:, group * w.shape[1]:(group + 1) * w.shape[1]]
        y = np.tensordot(of_group, w[group * outputs:(group + 1) * outputs],
                         ([1, *range(2 + count, 2 + 2 * count)], [1, *range(2, 2 + count)]))
        parts.append(np.moveaxis(y, -1, 1))
    y = np.concatenate(parts, 1)
    return y if bias is None else y + channels(bias, y.ndim)


def max_pool(about, x):
    kernel = about["kernel_shape"]
    return windows(x, about, kernel, -np.inf).max(tuple(range(-len(kernel), 0)))


def average_pool(about, x):
    kernel = about["kernel_shape"]
    axes, counted = tuple(range(-len(kernel), 0)), about.get("count_include_pad", 0)
    ones = np.ones_like(x) if not counted else np.pad(np.ones_like(x), 0)
    counts = windows(ones, about, kernel, 1 if counted else 0).sum(axes)
    return windows(x, about, kernel, 0).sum(axes) / counts


def reduced(about, function, x, axes=None):
    axes = about.get("axes", axes)
    if axes is None and about.get("noop_with_empty_axes"):
        return x
    return function(x, axis=None if axes is None else tuple(int(i) for i in axes), keepdims=bool(about.get("keepdims", 1)))


def layer_norm(about, x, scale, bias=None):
    axes = tuple(range(about.get("axis", -1) % x.ndim, x.ndim))
    from_mean = x - x.mean(axes, keepdims=True)
    y = from_mean / np.sqrt((from_mean * from_mean).mean(axes, keepdims=True) + about.get("epsilon", 1e-5)) * scale
    return y if bias is None else y + bias


def rms_norm(about, x, scale):
    axes = tuple(range(about.get("axis", -1) % x.ndim, x.ndim))
    return x / np.sqrt((x * x).mean(axes, keepdims=True) + about.get("epsilon", 1e-5)) * scale


def batch_norm(about, x, scale, bias, mean, variance):
    factor = scale / np.sqrt(variance + about.get("epsilon", 1e-5))
    return x * channels(factor, x.ndim) + channels(bias - mean * factor, x.ndim)


def reshape(about, x, shape):
    return x.reshape([x.shape[i] if n == 0 and not about.get("allowzero") else int(n) for i, n in enumerate(shape)])


def sliced(about, x, starts=None, ends=None, axes=None, steps=None):
    starts, ends, axes = about.get("starts", starts), about.get("ends", ends), about.get("axes", axes)
    at = [slice(None)] * x.ndim
    for i, axis in enumerate(range(len(starts)) if axes is None else axes):
        step, end = 1 if steps is None else int(steps[i]), int(ends[i])
        at[int(axis)] = slice(int(starts[i]), None if end > 2**31 or (step < 0 and end < -2**31) else end, step)
    return x[tuple(at)]


def gemm(about, a, b, c=None):
    y = (a.T if about.get("transA") else a) @ (b.T if about.get("transB") else b) * about.get("alpha", 1.0)
    return y if c is None else y + c * about.get("beta", 1.0)


def parts_of(about, x, outputs, sizes=None):
    sizes, axis = about.get("split", sizes), about.get("axis", 0)
    if sizes is None:
        each = -(-x.shape[axis] // outputs)
        sizes = [each] * (outputs - 1) + [x.shape[axis] - each * (outputs - 1)]
    return np.split(x, np.cumsum(sizes)[:-1], axis)


def squeeze(about, x, axes=None):
    axes = about.get("axes", axes)
    return x.squeeze(None if axes is None else tuple(int(i) for i in axes))


def unsqueeze(about, x, axes=None):
    axes = [int(i) for i in about.get("axes", axes)]
    rank = x.ndim + len(axes)
    return np.expand_dims(x, tuple(i % rank for i in axes))


def pad(about, x, pads=None, value=None, axes=None):
    pads = about.get("pads", pads)
    axes = range(x.ndim) if axes is None else [int(i) % x.ndim for i in axes]
    widths = [(0, 0)] * x.ndim
    for i, axis in enumerate(axes):
        widths[axis] = (int(pads[i]), int(pads[i + len(pads) // 2]))
    if text_of(about.get("mode"), "constant") != "constant":
        return np.pad(x, widths, mode={"reflect": "reflect", "edge": "edge", "wrap": "wrap"}[text_of(about["mode"], "")])
    fill = about.get("value", 0) if value is None else np.asarray(value).reshape(())
    return np.pad(x, widths, constant_values=fill)


def cumulative_sum(about, x, axis):
    axis = int(np.asarray(axis).reshape(()))
    turned = np.flip(x, axis) if about.get("reverse") else x
    y = turned.cumsum(axis)
    if about.get("exclusive"):
        y = y - turned
    return np.flip(y, axis) if about.get("reverse") else y


def with_the_indices(about, x, shape):
    """GatherElements reads the first elements along other axes, as many as there are indices."""
    axis = about.get("axis", 0) % x.ndim
    return x[tuple(slice(None) if i == axis else slice(n) for i, n in enumerate(shape))]


def divided(x, y):
    return np.trunc(x / y).astype(x.dtype) if x.dtype.kind in "iu" else x / y


def constant(about):
    if "value" in about:
        return numpy_helper.to_array(about["value"])
    name, value = next(iter(about.items()))
    return np.array(value, np.float32 if "float" in name else np.int64)


def filled(about, shape):
    value = numpy_helper.to_array(about["value"])[0] if "value" in about else np.float32(0)
    return np.full([int(n) for n in shape], value)


def scatter(op, about, x, places, updates):
    """x with the updates at places: rows of indices for ScatterND, indices along an axis for ScatterElements."""
    y = x.copy()
    if op == "ScatterND":
        y[tuple(np.moveaxis(places, -1, 0))] = updates
    else:
        np.put_along_axis(with_the_indices(about, y, places.shape), places, updates, about.get("axis", 0))
    return y


def gelu(about, x):
    if text_of(about.get("approximate"), "none") == "tanh":
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return 0.5 * x * (1 + erf(x / math.sqrt(2)))


OPERATORS = {
    "Add": lambda about, x, y: x + y, "Sub": lambda about, x, y: x - y, "Mul": lambda about, x, y: x * y,
    "Div": lambda about, x, y: divided(x, y), "Pow": lambda about, x, y: np.power(x, y), "Neg": lambda about, x: -x,
    "Mod": lambda about, x, y: np.mod(x, y), "Max": lambda about, x, y: np.maximum(x, y), "Min": lambda about, x, y: np.minimum(x, y),
    "Sqrt": lambda about, x: np.sqrt(x), "Exp": lambda about, x: np.exp(x), "Log": lambda about, x: np.log(x),
    "Abs": lambda about, x: np.abs(x), "Reciprocal": lambda about, x: 1 / x, "Floor": lambda about, x: np.floor(x),
    "Tanh": lambda about, x: np.tanh(x), "Sigmoid": lambda about, x: 1 / (1 + np.exp(-x)), "Erf": lambda about, x: erf(x),
    "Relu": lambda about, x: np.maximum(x, 0), "Cos": lambda about, x: np.cos(x), "Sin": lambda about, x: np.sin(x),
    "Elu": lambda about, x: np.where(x < 0, np.expm1(np.minimum(x, 0)), x), "Softplus": lambda about, x: np.logaddexp(0, x), "Gelu": gelu,
    "Clip": lambda about, x, low=None, high=None: np.clip(x, about.get("min", -np.inf if low is None else low),
                                                          about.get("max", np.inf if high is None else high)),
    "Softmax": lambda about, x: softmax(x, about.get("axis", -1)), "LogSoftmax": lambda about, x: log_softmax(x, about.get("axis", -1)),
    "Equal": lambda about, x, y: x == y, "Less": lambda about, x, y: x < y, "Greater": lambda about, x, y: x > y,
    "LessOrEqual": lambda about, x, y: x <= y, "GreaterOrEqual": lambda about, x, y: x >= y, "Not": lambda about, x: ~x,
    "And": lambda about, x, y: x & y, "Or": lambda about, x, y: x | y, "Xor": lambda about, x, y: x ^ y,
    "Where": lambda about, c, x, y: np.where(c, x, y), "MatMul": lambda about, x, y: x @ y,
    "Einsum": lambda about, *x: np.einsum(about["equation"].decode(), *x), "Gemm": gemm, "Conv": conv, "MaxPool": max_pool,
    "ConvTranspose": conv_transpose, "Resize": resize, "Upsample": resize,
    "AveragePool": average_pool, "GlobalAveragePool": lambda about, x: x.mean(tuple(range(2, x.ndim)), keepdims=True),
    "GlobalMaxPool": lambda about, x: x.max(tuple(range(2, x.ndim)), keepdims=True),
    "LayerNormalization": layer_norm, "RMSNormalization": rms_norm, "BatchNormalization": batch_norm,
    "ReduceMean": lambda about, x, axes=None: reduced(about, np.mean, x, axes),
    "ReduceSum": lambda about, x, axes=None: reduced(about, np.sum, x, axes),
    "ReduceMax": lambda about, x, axes=None: reduced(about, np.max, x, axes),
    "ReduceMin": lambda about, x, axes=None: reduced(about, np.min, x, axes),
    "ReduceProd": lambda about, x, axes=None: reduced(about, np.prod, x, axes),
    "Reshape": reshape, "Transpose": lambda about, x: x.transpose(about.get("perm")),
    "Flatten": lambda about, x: x.reshape(math.prod(x.shape[:about.get("axis", 1)]), -1),
    "Squeeze": squeeze, "Unsqueeze": unsqueeze, "Slice": sliced, "Concat": lambda about, *x: np.concatenate(x, about["axis"]),
    "Expand": lambda about, x, shape: np.broadcast_to(x, np.broadcast_shapes(x.shape, tuple(int(n) for n in shape))),
    "Tile": lambda about, x, repeats: np.tile(x, [int(n) for n in repeats]), "Pad": pad, "CumSum": cumulative_sum,
    "Gather": lambda about, x, i: np.take(x, i, about.get("axis", 0)),
    "GatherElements": lambda about, x, i: np.take_along_axis(with_the_indices(about, x, i.shape), i, about.get("axis", 0)),
    "ArgMax": lambda about, x: place_of_largest(about, x), "ArgMin": lambda about, x: place_of_largest(about, -x),
    **{op: lambda about, x, i, u, op=op: scatter(op, about, x, i, u) for op in ("ScatterND", "ScatterElements", "Scatter")},
    "Trilu": lambda about, x, k=0: (np.triu if about.get("upper", 1) else np.tril)(x, int(k)),
    "EyeLike": lambda about, x: np.eye(*x.shape, about.get("k", 0), dtype=TYPES[about["dtype"]] if "dtype" in about else x.dtype),
    "Shape": lambda about, x: np.array(x.shape[about.get("start", 0):about.get("end")], np.int64),
    "Size": lambda about, x: np.array(x.size, np.int64), "ConstantOfShape": filled, "Constant": constant,
    "Cast": lambda about, x: x.astype(TYPES[about["to"]]), "Identity": lambda about, x: x, "Dropout": lambda about, x, *more: x,
    "Range": lambda about, x, y, z: np.arange(x, y, z),
}


def place_of_largest(about, x):
    return x.argmax(about.get("axis", 0), keepdims=bool(about.get("keepdims", 1)))


def opset_of(model):
    return max((one.version for one in model.opset_import if one.domain in ("", "ai.onnx")), default=1)


def check_inputs(node, values):
    lacking = [name for name in node.input if name not in values]
    if lacking:
        raise Refused(f"{called(node)}: its input {lacking[0]!r} is not in the graph; check the model with onnx.checker")


def not_valid(node, problem):
    """What is raised for a node that Python's own exception stopped."""
    reason = str(problem).splitlines()[0] if str(problem) else type(problem).__name__
    return Refused(f"{called(node)}: {reason}; check the model with onnx.checker, and the sizes that you gave")


def computed(node, inputs):
    """The outputs of a node."""
    about = attributes_of(node)
    if node.domain not in ("", "ai.onnx"):
        raise Refused(f"{called(node)}: the operator is of {node.domain}; export the model with ONNX's own operators only")
    if node.op_type in REFUSED:
        raise Refused(f"{called(node)}: {REFUSED[node.op_type]}")
    if node.op_type == "Cast" and about["to"] in (10, 16) or any(x is not None and x.dtype == np.float16 for x in inputs):
        raise Refused(f"{called(node)}: {HALF}")
    if node.op_type == "Split":
        return parts_of(about, inputs[0], len(node.output), *inputs[1:])
    if node.op_type not in OPERATORS:
        raise Refused(f"{called(node)}: the operator is unknown; export the model without it, or do this step in your code")
    try:
        y = np.asarray(OPERATORS[node.op_type](about, *inputs))
    except (TypeError, ValueError, IndexError, KeyError) as problem:
        raise not_valid(node, problem) from None
    floats = [x.dtype for x in inputs if x is not None and x.dtype.kind == "f"]
    return [y.astype(floats[0]) if floats and y.dtype.kind == "f" else y]


def nudged(model, feeds, values):
    """The values if inputs and weights differ by a last bit; sizes that depend on them keep the values as they are."""
    random = np.random.default_rng(1)
    try:
        made = evaluated(model, feeds, change=lambda x: x * (1 + random.choice([-1, 1], x.shape) * 2.0**-23).astype(x.dtype))
    except (Refused, ValueError, ArithmeticError):
        return values
    return {name: made[name] if x is not None and made[name].shape == x.shape else x for name, x in values.items()}


def evaluated(model, feeds, double=False, change=lambda x: x):
    """Every tensor of the graph by name; with double, floats in 64 bits; change: of the floats of inputs and weights."""
    def wide(x):
        return x.astype(np.float64) if double and x.dtype == np.float32 else x

    def given(x):
        return wide(change(x) if x.dtype == np.float32 else x)
    values = {one.name: given(numpy_helper.to_array(one)) for one in model.graph.initializer}
    values |= {name: given(x) for name, x in feeds.items()} | {"": None}
    for node in model.graph.node:
        check_inputs(node, values)
        made = computed(node, [values[name] for name in node.input])
        if double and node.op_type == "Cast" and made[0].dtype == np.float32:
            made = [values[node.input[0]].astype(np.float64)]
        values.update(zip(node.output, map(wide, made)))
    return values
