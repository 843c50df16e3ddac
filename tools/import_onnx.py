# SPDX-License-Identifier: BSL-1.0
"""Reads an ONNX file for tools/import: its inputs with sizes, a probe, and its nodes as a graph (import_graph.py), operator by
operator. What depends on no input is a constant, shapes included."""
import itertools
import math
import warnings

import numpy as np
import onnx
from onnx import numpy_helper

import import_functions
import import_graph as graph
import import_layers as layers
import import_operators as operators
from command_line import Refused
from import_graph import Node, constant, every, is_constant, is_number, move, number, places, without_ones
from import_windows import WindowReader

LARGEST_INPUT = 1 << 24
BINARY = {"Add": "add", "Sub": "sub", "Mul": "mul", "Div": "div", "Max": "maximum", "Min": "minimum"}
CONDITIONS = {"Equal": "equal", "Less": "less", "Greater": "greater", "LessOrEqual": "less_or_equal", "GreaterOrEqual": "greater_or_equal",
              "And": "and", "Or": "or", "Xor": "not_equal"}
PASSED_ON = {"Cast", "Identity", "Reshape", "Unsqueeze", "Squeeze", "Transpose", "Flatten", "Slice", "Split", "Concat", "Add", "Sub", "Expand"}
UNARY = {"Sqrt": "sqrt", "Exp": "exp", "Log": "log", "Tanh": "tanh", "Sigmoid": "sigmoid", "Abs": "abs", "Erf": "erf", "Sin": "sin",
         "Cos": "cos", "Floor": "floor", "Not": "not"}
MOVES = {"Reshape", "Transpose", "Slice", "Squeeze", "Unsqueeze", "Expand", "Flatten", "Split", "Tile"}
REDUCTIONS = {"ReduceMean": "mean", "ReduceSum": "sum", "ReduceMax": "max", "ReduceMin": "min", "ReduceProd": "product"}


def read(path):
    """Also with weights in files of their own."""
    return checked(path, lambda: onnx.load(str(path)))


def parsed(path, data):
    return checked(path, lambda: onnx.load_model_from_string(data))


def checked(path, load):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = load()
    except OSError:
        raise
    except Exception as problem:  # protobuf has no class of its own for what it can't read
        raise Refused(f"{path}: not an ONNX file ({type(problem).__name__}); write it with torch.onnx.export") from None
    if not model.graph.node:
        raise Refused(f"{path}: the graph has no nodes; write it with torch.onnx.export")
    return model


# ---- inputs and the probe ------------------------------------------------------------------------


def inputs_of(model, sizes):
    """The inputs of the model: name, element type and shape. sizes: of dimensions that have names."""
    weights, made = {one.name for one in model.graph.initializer}, {}
    for one in model.graph.input:
        if one.name in weights:
            continue
        kind, shape = one.type.tensor_type, []
        if kind.elem_type not in operators.TYPES:
            raise Refused(f"input {one.name}: {onnx.TensorProto.DataType.Name(kind.elem_type).lower()} isn't an element type of Umbel's "
                          "formulas; export the model in float32")
        for dim in kind.shape.dim:
            if dim.dim_value < 1 and dim.dim_param not in sizes:
                name = dim.dim_param or "?"
                raise Refused(f"input {one.name}: its dimension {name!r} has no size; give it one, --size {name}=N")
            shape.append(dim.dim_value if dim.dim_value >= 1 else sizes[dim.dim_param])
        made[one.name] = (np.dtype(operators.TYPES[kind.elem_type]), tuple(shape))
    if not made:
        raise Refused("the graph has no input; export the model with one")
    named = {dim.dim_param for one in model.graph.input for dim in one.type.tensor_type.shape.dim if dim.dim_param}
    for name in sizes.keys() - named:
        raise Refused(f"--size {name}: no input has such a dimension" + (f", only {', '.join(sorted(named))}" if named else ""))
    for name, (_, shape) in made.items():
        if math.prod(shape) > LARGEST_INPUT:
            raise Refused(f"input {name}: it has {math.prod(shape):,} elements, and at most {LARGEST_INPUT:,} are imported; use smaller sizes")
    return made


def keep_outputs(model, names):
    """Leaves the other outputs of the model out; no names: keeps all."""
    outputs = {one.name: one for one in model.graph.output}
    for name in names:
        if name not in outputs:
            raise Refused(f"--output {name}: the model has no such output, only {', '.join(outputs)}")
    for name, one in outputs.items():
        if names and name not in names:
            model.graph.output.remove(one)


def with_constants(model, inputs, texts):
    """Makes inputs constants of the model; texts: a number for all elements, or `position`, by their names."""
    for name, text in texts.items():
        if name not in inputs:
            raise Refused(f"--constant {name}: the model has no such input, only {', '.join(inputs)}")
        dtype, shape = inputs.pop(name)
        value = np.arange(shape[-1] if shape else 1) if text == "position" else float(text)
        model.graph.initializer.append(numpy_helper.from_array(np.broadcast_to(value, shape).astype(dtype), name))
        model.graph.input.remove(next(one for one in model.graph.input if one.name == name))
    if not inputs:
        raise Refused("--constant: no input is left; leave one out")


def tables_of(model, name):
    """The smallest axis along which an input of integers reads, or 0."""
    sizes = {one.name: list(one.dims) for one in model.graph.initializer if one.dims}
    try:
        inferred = onnx.shape_inference.infer_shapes(model).graph.value_info
    except Exception:  # it has no class for what it doesn't know; then fewer tables are found
        inferred = []
    for one in [*model.graph.input, *inferred]:
        sizes[one.name] = [n.dim_value for n in one.type.tensor_type.shape.dim]
    for node in model.graph.node:
        if node.op_type == "Constant":
            for value in operators.attributes_of(node).values():
                if hasattr(value, "dims") and value.dims:
                    sizes[node.output[0]] = list(value.dims)
    rows = [sizes[node.input[0]][operators.attributes_of(node).get("axis", 0)] for node in read_at(model, name) if sizes.get(node.input[0])]
    return min((n for n in rows if n), default=0)


def read_at(model, name):
    """The nodes that read elements at the places that an input names."""
    same = {name}
    for node in model.graph.node:
        if node.op_type in PASSED_ON and any(one in same for one in node.input):
            same.update(node.output)
        if node.op_type in ("Gather", "GatherElements") and node.input[1] in same:
            yield node


def is_compared(model, name):
    """Do conditions read it, as those of a mask?"""
    return any(node.op_type in CONDITIONS and name in node.input for node in model.graph.node)


def padding_of(model, name):
    """A number with which conditions compare integers, as that of padding; nothing if there is none."""
    known = {one.name: one for one in model.graph.initializer}
    known |= {node.output[0]: value for node in model.graph.node if node.op_type == "Constant"
              for value in operators.attributes_of(node).values() if hasattr(value, "dims")}
    same = {name}
    for node in model.graph.node:
        if node.op_type in PASSED_ON and any(one in same for one in node.input):
            same.update(node.output)
        if node.op_type in CONDITIONS and any(one in same for one in node.input):
            for value in (numpy_helper.to_array(known[one]) for one in node.input if one in known):
                if value.size == 1:
                    return value.reshape(())
    return None


def probe_inputs(model, inputs):
    """An input on which models differ: the positions have different sizes, so that an epsilon shows, a mask hides some, and integers
    are rows of the tables that they read; of fewer rows if sums of them are outside."""
    for part in (1, 4, 16, 64):
        made = drawn_inputs(model, inputs, part)
        if part == 64 or not any(dtype.kind in "iu" for dtype, _ in inputs.values()):
            break
        try:
            operators.evaluated(model, made)
            break
        except Refused:
            continue
    return with_finite_results(model, made)


def with_finite_results(model, feeds):
    """Whether true keeps or hides is not known: a causal mask leaves the first query no key if the first is hidden."""
    flags = [name for name, x in feeds.items() if x.dtype.kind == "b"]
    for inverted in itertools.islice(itertools.product((False, True), repeat=len(flags)), 8 if flags else 0):
        made = feeds | {name: ~feeds[name] for name, turned in zip(flags, inverted) if turned}
        values = operators.evaluated(model, made)
        if all(np.isfinite(values[one.name]).all() for one in model.graph.output):
            return made
    return feeds


def drawn_inputs(model, inputs, part):
    random, made, masks = np.random.default_rng(20261127), {}, 0
    for name, (dtype, shape) in inputs.items():
        if dtype.kind == "f":
            values = random.standard_normal(shape)
            axis = max((i for i, n in enumerate(shape[:-1]) if n > 1), default=None)
            if axis is not None:
                small = 10.0 ** -np.linspace(0, 1.5, shape[axis])
                values *= small.reshape([-1 if i == axis else 1 for i in range(len(shape))])
            made[name] = (values * (random.random(shape) < 0.7) if is_compared(model, name) else values).astype(dtype)
            continue
        rows = tables_of(model, name)
        if rows:
            made[name] = random.integers(0, max(1, rows // part), shape).astype(dtype)
            padding = padding_of(model, name)
            if padding is not None and 0 <= padding < rows:
                np.copyto(made[name], padding.astype(dtype), where=mask_of(dtype, shape) == 0)
        elif masks:
            made[name] = (random.random(shape) < 0.6).astype(dtype)
        else:
            made[name] = mask_of(dtype, shape)
        masks += rows == 0
    return made


def mask_of(dtype, shape):
    """Ones, and zeros at the end."""
    kept = np.ones(shape, dtype)
    if shape and shape[-1] > 2:
        kept[..., -(shape[-1] // 5 or 1):] = 0
    return kept


def compare_with_torch(path, model, feeds, wanted):
    """Is the model that torch exported the module of the user, for the inputs of the user?"""
    values = operators.evaluated(import_functions.expanded(model, feeds)[0], feeds, double=True)
    for name, of_torch in wanted.items():
        made, of_torch = values[name].astype(np.float64), of_torch.astype(np.float64)
        known = np.isfinite(of_torch)
        far = np.abs(made - of_torch)[known].max(initial=0) if made.shape == of_torch.shape else np.inf
        if not far <= 1e-3 * max(1, np.abs(of_torch[known]).max(initial=0)):
            raise Refused(f"{path}: torch.onnx.export wrote a model that differs from the module by {far:.3g} in output {name}; it may have taken a "
                          "value of an input for a constant, or have a fault: write that part in another way")


# ---- constants -----------------------------------------------------------------------------------


def folded(model, values):
    """The nodes that depend on an input, and the constants that they read; names of what is only handed on are replaced."""
    weights = {one.name: numpy_helper.to_array(one) for one in model.graph.initializer}
    moving = {one.name for one in model.graph.input} - weights.keys()
    nodes, known, names = [], dict(weights), {}
    for node in model.graph.node:
        inputs = [names.get(name, name) for name in node.input]
        if node.op_type in ("Identity", "Dropout") and inputs[0] in moving:
            names[node.output[0]] = inputs[0]
        elif node.op_type in ("Shape", "Size") or not any(name in moving for name in inputs):
            known.update((name, values[name]) for name in node.output if name)
        else:
            moving.update(node.output)
            nodes.append((node, inputs))
    return nodes, known, names


# ---- nodes ---------------------------------------------------------------------------------------


class Reader(WindowReader):
    def __init__(self, model, feeds):
        self.values = operators.evaluated(model, feeds)
        self.nodes, self.known, names = folded(model, self.values)
        self.weights = {one.name: self.known[one.name] for one in model.graph.initializer}
        self.outputs = {names.get(one.name, one.name) for one in model.graph.output}
        self.made = {name: Node("input", [], without_ones(x.shape), name, name=name, dtype=x.dtype, full=x.shape, is_place=any(read_at(model, name)))
                     for name, x in feeds.items()}
        for node, inputs in self.nodes:
            self.node, self.inputs, self.about = node, inputs, operators.attributes_of(node)
            self.output, self.scope = node.output[0], scope_of(node)
            Node.reading = operators.called(node)
            made = self.read_node()
            if made is not None:
                if made.shape != self.shape:
                    raise AssertionError(f"{operators.called(node)}: {made.shape} instead of {self.shape}")
                self.made[self.output] = made
        self.results = [self.result(one.name, names.get(one.name, one.name)) for one in model.graph.output]

    def result(self, name, known_as):
        if known_as not in self.made:
            raise Refused(f"output {name}: it depends on no input; remove it from the outputs")
        node = self.made[known_as]
        inner = node
        while inner.op == "move":
            inner = inner.args[0]
        return Node("copy", [node], node.shape) if inner.op == "input" else node

    def is_read_once(self, name):
        return sum(list(inputs).count(name) for _, inputs in self.nodes) == 1 and name not in self.outputs

    # What the node at hand has.
    def refuse(self, reason):
        raise Refused(f"{operators.called(self.node)}: {reason}")

    def full(self, i):
        return self.values[self.inputs[i]].shape

    @property
    def shape(self):
        return without_ones(self.values[self.output].shape)

    def has(self, i):
        return len(self.inputs) > i and bool(self.inputs[i])

    def arg(self, i):
        name = self.inputs[i]
        if name in self.made:
            return self.made[name]
        value = self.known[name]
        return constant(value.reshape(without_ones(value.shape)), name)

    def fixed(self, i, what):
        """An input that must be a constant."""
        if not self.has(i):
            return None
        if self.inputs[i] not in self.known:
            self.refuse(f"{what} is computed from an input; make it a constant of the model")
        return self.known[self.inputs[i]]

    def axis_of(self, axis, i=0):
        """Without the axes of size 1; nothing for one of those."""
        full = self.full(i)
        axis %= len(full)
        return None if full[axis] == 1 else sum(n != 1 for n in full[:axis])

    def elementwise(self, op, *args):
        shapes = [self.full(i) for i in range(len(args))]
        full = self.values[self.output].shape
        given = op, list(args), [places(shape, full) for shape in shapes], self.shape, self.scope
        return layers.of_norm(*given) or layers.recognized(graph.elementwise(*given))

    def read_node(self):
        op = self.node.op_type
        if op == "Div" and self.values[self.output].dtype.kind in "iu":
            self.refuse("it divides integers, and formulas compute with numbers; pass the quotient as an input of integers")
        if op in BINARY and len(self.inputs) == 2:
            return self.elementwise(BINARY[op], self.arg(0), self.arg(1))
        if op in CONDITIONS:
            return self.elementwise(CONDITIONS[op], self.arg(0), self.arg(1))
        if op in UNARY:
            return graph.unary(UNARY[op], self.arg(0), self.scope)
        if op in MOVES:
            return self.read_moves()
        if op in REDUCTIONS:
            return self.read_reduction(self.arg(0), REDUCTIONS[op])
        reader = getattr(self, f"read_{op}", None)
        if reader is None:
            self.refuse("Umbel's formulas have no operation for it; export the model without it, or do this step in your code")
        return reader()

    # ---- elementwise
    def read_Neg(self):
        return graph.times(self.arg(0), -1.0, self.scope)

    def read_Mod(self):
        return self.elementwise("mod", self.arg(0), self.arg(1))

    def read_ArgMax(self):
        return self.place_of_largest(self.arg(0))

    def read_ArgMin(self):
        return self.place_of_largest(graph.times(self.arg(0), -1.0))

    def place_of_largest(self, x):
        axis = self.axis_of(self.about.get("axis", 0))
        if axis is None:
            return graph.times(graph.reshaped(x, self.shape), 0.0)
        return Node("argmax", [x], tuple(n for i, n in enumerate(x.shape) if i != axis), self.scope, axis=axis)

    def read_Reciprocal(self):
        return graph.unary("reciprocal", self.arg(0), self.scope)

    def read_Pow(self):
        x, exponent = self.arg(0), self.arg(1)
        if not is_number(exponent):
            return self.elementwise("pow", x, exponent)
        power = number(exponent)
        if power == 2:
            return graph.both("mul", x, x, self.scope)
        if power in (0.5, -0.5):
            root = graph.unary("sqrt", x, self.scope)
            return root if power > 0 else graph.unary("reciprocal", root)
        return self.elementwise("pow", x, exponent)

    def read_Relu(self):
        if graph.not_negative(self.arg(0)):
            return self.arg(0)
        return graph.unary("activation", self.arg(0), self.scope, kind="relu")

    def read_Gelu(self):
        exact = operators.text_of(self.about.get("approximate"), "none") == "none"
        return graph.unary("activation", self.arg(0), self.scope, kind="gelu_exact" if exact else "gelu_tanh")

    def read_Elu(self):
        return graph.unary("activation", self.arg(0), self.scope, kind="elu")

    def read_Softplus(self):
        return graph.unary("activation", self.arg(0), self.scope, kind="softplus")

    def clipped(self, x, low, high):
        for op, bound in (("maximum", low), ("minimum", high)):
            if bound is not None and np.isfinite(bound):
                x = graph.elementwise(op, [x, constant(np.float32(bound))], (every(x), ()), x.shape, self.scope)
        return x

    def read_Clip(self):
        bounds = [self.about.get(name) if name in self.about else self.fixed(i, "a bound") for i, name in ((1, "min"), (2, "max"))]
        return self.clipped(self.arg(0), *(None if bound is None else float(bound) for bound in bounds))

    def read_Where(self):
        condition, a, b = (self.arg(i) for i in range(3))
        full = self.values[self.output].shape
        at = [places(self.full(i), full) for i in range(3)]
        if is_constant(condition) and is_number(b) and not is_number(a):  # the number first, as masks are written
            condition, a, b, at = constant(~condition["value"]), b, a, [at[0], at[2], at[1]]
        return layers.recognized(graph.elementwise("where", [condition, a, b], at, self.shape, self.scope))

    def read_Cast(self):
        x = self.arg(0)
        to, was = np.dtype(operators.TYPES.get(self.about["to"], np.float32)), self.values[self.inputs[0]].dtype
        if to.kind == "b" and was.kind != "b":
            return graph.elementwise("not_equal", [x, constant(0.0)], (every(x), ()), x.shape, self.scope)
        if was.kind == to.kind == "b":
            return x
        if was.kind == "b":
            return Node("where", [x, constant(1.0), constant(0.0)], x.shape, self.scope, at=(every(x), (), ()))
        if was.kind == "f" and to.kind in "iu":
            self.refuse("integers are computed from numbers; pass them as an input of integers")
        return x

    # ---- moves
    def read_moves(self):
        index = graph.identity(self.full(0))
        moved = operators.computed(self.node, [index] + [self.fixed(i, "its shape") for i in range(1, len(self.inputs))])
        x = self.arg(0)
        for name, place in zip(self.node.output, moved):
            place = np.asarray(place)
            self.made[name] = move(x, place.reshape(without_ones(place.shape)), self.scope)

    def read_Gather(self):
        if self.inputs[1] in self.known:
            index = operators.computed(self.node, [graph.identity(self.full(0)), self.known[self.inputs[1]]])[0]
            return move(self.arg(0), index.reshape(self.shape), self.scope)
        table, ids, axis = self.arg(0), self.arg(1), self.axis_of(self.about.get("axis", 0))
        if axis is None:
            self.refuse("its table has one row; add the row itself")
        if axis == 0 and ids.op == "input":
            return Node("lookup", [ids, table], self.shape, self.scope)
        return Node("gather", [table, ids], self.shape, self.scope, axis=axis)

    def read_GatherElements(self):
        axis, full = self.about.get("axis", 0), self.full(0)
        if self.inputs[1] in self.known:
            index = operators.computed(self.node, [graph.identity(full), self.known[self.inputs[1]]])[0]
            return move(self.arg(0), index.reshape(self.shape), self.scope)
        read = operators.with_the_indices(self.about, graph.identity(full), self.full(1))
        x = self.arg(0) if read.shape == full else move(self.arg(0), read.reshape(without_ones(read.shape)), self.scope)
        return Node("gather_elements", [x, self.arg(1)], self.shape, self.scope, axis=sum(n != 1 for n in read.shape[:axis % len(full)]))

    def read_Concat(self):
        full, axis = self.values[self.output].shape, self.about["axis"]
        axis %= len(full)
        used = [i for i in range(len(self.inputs)) if self.full(i)[axis] > 0]
        parts = []
        for i in used:
            shape = tuple(n for k, n in enumerate(self.full(i)) if n != 1 or (k == axis and full[axis] != 1))
            parts.append(graph.reshaped(self.arg(i), shape))
        made = graph.joined(parts, self.shape, sum(n != 1 for n in full[:axis]), self.scope)
        return layers.rope_of_parts(made) or layers.rope_of_first(made) or made

    def read_Pad(self):
        full, about = self.full(0), self.about
        pads, fill, axes = about.get("pads"), about.get("value", 0.0), range(len(full))
        if pads is None:
            pads = self.fixed(1, "the padding")
            fill = float(np.asarray(self.fixed(2, "the number")).reshape(())) if self.has(2) else 0.0
            axes = [int(i) % len(full) for i in self.fixed(3, "the axes")] if self.has(3) else axes
        pads = [int(n) for n in pads]
        mode = operators.text_of(about.get("mode"), "constant")
        wide = any(full[axis] == 1 and (pads[i] or pads[i + len(pads) // 2]) for i, axis in enumerate(axes))
        x = graph.reshaped(self.arg(0), full) if wide else self.arg(0)
        if mode != "constant":
            ends = [(axis if wide else self.axis_of(axis), pads[i], pads[i + len(pads) // 2]) for i, axis in enumerate(axes)]
            ends = [one for one in ends if any(one[1:])]
            if not ends:
                return graph.reshaped(x, self.shape)
            index = operators.pad({"mode": mode.encode()}, graph.identity(x.shape), [one[1] for one in ends] + [one[2] for one in ends], None,
                                  [one[0] for one in ends])
            return graph.reshaped(move(x, index, self.scope), self.shape)
        for i, axis in enumerate(axes):
            ends = pads[i], pads[i + len(pads) // 2]
            axis = axis if wide else self.axis_of(axis)
            if not any(ends):
                continue
            rows = graph.turned(x)  # what computes positions before features stays so
            x = graph.turn(graph.padded(rows, 1 - axis, *ends, fill, self.scope)) if rows else graph.padded(x, axis, *ends, fill, self.scope)
        return graph.reshaped(x, self.shape)

    # ---- along axes
    def read_softmax(self, op):
        axis = self.axis_of(self.about.get("axis", -1))
        if axis is None:
            return graph.plus(graph.times(self.arg(0), 0.0), 1.0 if op == "softmax" else 0.0)
        return Node(op, [self.arg(0)], self.shape, self.scope, axis=axis)

    def read_Softmax(self):
        return self.read_softmax("softmax")

    def read_LogSoftmax(self):
        return self.read_softmax("log_softmax")

    def read_reduction(self, x, kind):
        full = self.full(0)
        axes = self.about.get("axes") if "axes" in self.about or not self.has(1) else self.fixed(1, "the axes")
        if axes is None and self.about.get("noop_with_empty_axes"):
            return x
        axes = range(len(full)) if axes is None else axes
        kept = sorted({self.axis_of(int(i)) for i in axes} - {None})
        return graph.reduced(kind, x, kept, self.scope) if kept else x

    def read_GlobalAveragePool(self):
        return graph.reduced("mean", self.arg(0), [i for i in map(self.axis_of, range(2, len(self.full(0)))) if i is not None], self.scope)

    def read_GlobalMaxPool(self):
        return graph.reduced("max", self.arg(0), [i for i in map(self.axis_of, range(2, len(self.full(0)))) if i is not None], self.scope)

    def read_CumSum(self):
        axis = self.axis_of(int(np.asarray(self.fixed(1, "the axis")).reshape(())))
        if axis is None:  # of one element: the sum of those before it is 0
            return graph.times(self.arg(0), 0.0, self.scope) if self.about.get("exclusive") else self.arg(0)
        options = [option for option, name in (("exclusive", "exclusive"), ("from_last", "reverse")) if self.about.get(name)]
        return Node("cumulative_sum", [self.arg(0)], self.shape, self.scope, axis=axis, options=options)

    # ---- norms
    def epsilon(self):
        return float(f"{self.about.get('epsilon', 1e-5):.6g}")

    def read_LayerNormalization(self):
        gamma, bias = self.fixed(1, "its scale").reshape(-1), self.fixed(2, "its bias")
        beta = None if bias is None else bias.reshape(-1)
        return layers.layer_norm(self.arg(0), gamma, beta, self.epsilon(), self.scope)

    def read_RMSNormalization(self):
        gamma = self.fixed(1, "its scale").reshape(-1)
        return Node("norm", [self.arg(0)], self.shape, self.scope, kind="rms_norm", epsilon=self.epsilon(), gamma=gamma, beta=None)

    def read_BatchNormalization(self):
        scale, bias, mean, variance = (self.fixed(i, "a weight") for i in range(1, 5))
        x, axis = self.arg(0), self.axis_of(1)
        factor = scale / np.sqrt(variance + np.float32(self.about.get("epsilon", 1e-5)))
        if axis is not None and self.is_read_once(self.inputs[0]):
            if made := layers.scaled_outputs(x, factor, bias - mean * factor, axis):
                return made
        if axis is None:
            return graph.plus(graph.times(x, float(factor)), float(bias - mean * factor), self.scope)
        return layers.recognized(graph.along("add", graph.along("mul", x, factor, axis, self.scope), bias - mean * factor, axis, self.scope))

    # ---- products
    def read_MatMul(self):
        x_full, y_full = self.full(0), self.full(1)
        if self.inputs[1] in self.known and len(y_full) == 2 and min(y_full) > 1 and x_full[-1] > 1:
            return layers.linear(self.arg(0), self.known[self.inputs[1]], None, self.scope)
        x_full = x_full if len(x_full) > 1 else (1, *x_full)
        y_full = y_full if len(y_full) > 1 else (*y_full, 1)
        return graph.matmul(self.arg(0), self.arg(1), x_full, y_full, self.scope)

    def read_Gemm(self):
        about, alpha, beta = self.about, self.about.get("alpha", 1.0), self.about.get("beta", 1.0)
        weight = self.known[self.inputs[1]] * np.float32(alpha)
        weight = weight.T if about.get("transB") else weight
        bias = None if not self.has(2) else self.known[self.inputs[2]] * np.float32(beta)
        of_rows = bias is not None and bias.ndim == 2 and bias.shape[0] > 1
        x = graph.turn(self.arg(0)) if about.get("transA") and len(self.arg(0).shape) == 2 else self.arg(0)
        if min(weight.shape) == 1 or of_rows:
            made = (layers.linear(x, weight, None, self.scope) if of_rows and min(weight.shape) > 1 else
                    graph.matmul(x, constant(weight.reshape(without_ones(weight.shape))), self.full(0)[::-1] if about.get("transA") else self.full(0),
                                 weight.shape, self.scope))
            if bias is None:
                return made
            at = [every(made), places(bias.shape, self.values[self.output].shape)]
            return graph.elementwise("add", [made, constant(bias.reshape(without_ones(bias.shape)))], at, self.shape)
        return layers.linear(x, weight, None if bias is None else np.broadcast_to(bias.reshape(-1), weight.shape[1:]), self.scope)

    def read_Einsum(self):
        """Of two operands; the rest is written as such (import_functions.py)."""
        equation = self.about["equation"].decode().replace(" ", "")
        (left, right), result = equation.split("->")[0].split(","), equation.split("->")[1]
        shared = [c for c in left if c in right]
        batch, summed = [c for c in shared if c in result], [c for c in shared if c not in result]
        rows, columns = [c for c in left if c not in shared], [c for c in right if c not in shared]
        size = dict(zip(left, self.full(0))) | dict(zip(right, self.full(1)))

        def product(letters):
            return math.prod(size[c] for c in letters)

        def side(i, term, order, shape):
            index = graph.identity(self.full(i)).transpose([term.index(c) for c in order]).reshape(without_ones(shape))
            return move(self.arg(i), index)
        x_full = (*(size[c] for c in batch), product(rows), product(summed))
        y_full = (*(size[c] for c in batch), product(summed), product(columns))
        x, y = side(0, left, batch + rows + summed, x_full), side(1, right, batch + summed + columns, y_full)
        if is_constant(y) and not batch and min(y_full) > 1:
            made = layers.linear(x, y["value"], None, self.scope)
        else:
            made = graph.matmul(x, y, x_full, y_full, self.scope)
        letters = batch + rows + columns
        index = graph.identity([size[c] for c in letters]).transpose([letters.index(c) for c in result])
        return move(made, index.reshape(self.shape), self.scope)


def scope_of(node):
    """The name of the module in torch."""
    name = node.name or node.output[0]
    return name.rsplit("/", 1)[0] if "/" in name else ""
