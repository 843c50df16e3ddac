# SPDX-License-Identifier: BSL-1.0
"""Which nodes of a graph are layers of Umbel, for tools/import. Each function gets what was just made, looks at its arguments
and returns the layer, or nothing. It decides by numbers and by the moves of elements, never by names, and returns no layer
whose options could not be written, so that a graph that nobody recognizes is a formula of the same numbers."""
import contextlib
import math
from fractions import Fraction

import numpy as np

from import_graph import (Node, constant, elementwise, every, identity, is_constant, is_number, joined, move, number, scaled, times, unary)

WHOLE_LAYERS = [True]  # or only norms, linear maps and activations: all that formulas in integers have
FULL_SCALE = -9999.0  # a smaller addend of a score hides the key


@contextlib.contextmanager
def only_operations():
    """Finds no attention, networks, encoder layers and rotary positions inside."""
    WHOLE_LAYERS[0] = False
    try:
        yield
    finally:
        WHOLE_LAYERS[0] = True


def whole_layer(find):
    return lambda *given: find(*given) if WHOLE_LAYERS[0] else None


def near(a, b):
    return abs(a - b) <= 2e-6 * max(1, abs(b))


def ratio(value):
    """As options of layers write a number: numerator and denominator, or nothing."""
    if not 1e-13 < value < 1e6:
        return None
    found = Fraction(1, round(1 / value)) if value < 1 and abs(round(1 / value) * value - 1) <= 1e-6 else Fraction(value).limit_denominator(1_000_000)
    return (found.numerator, found.denominator) if abs(found / Fraction(value) - 1) <= 1e-6 else None


# ---- activations ---------------------------------------------------------------------------------


def factors(x):
    """A number, and nodes, whose product is x."""
    if x.op == "mul" and is_number(x.args[1]):
        factor, nodes = factors(x.args[0])
        return factor * number(x.args[1]), nodes
    if x.op == "mul" and x.args[0].shape == x.args[1].shape:
        (left, first), (right, second) = factors(x.args[0]), factors(x.args[1])
        return left * right, first + second
    return 1.0, [x]


def plus_one(x):
    return x.args[0] if x.op == "add" and is_number(x.args[1]) and near(number(x.args[1]), 1) else None


def curve(node, x, at):
    """The values of a node for the numbers `at` in place of x, or nothing."""
    if node is x:
        return at
    if is_number(node):
        return number(node)
    compute = {"add": lambda a, b: a + b, "mul": lambda a, b: a * b, "pow": lambda a, b: a ** b}.get(node.op)
    if not compute:
        return None
    values = [curve(arg, x, at) for arg in node.args]
    return None if any(value is None for value in values) else compute(*values)


def activation(x):
    """gelu or silu, written as a product."""
    factor, nodes = factors(x)
    if len(nodes) != 2:
        return x
    for y, gate in (nodes, nodes[::-1]):
        if gate.op == "sigmoid" and gate.args[0] is y and near(factor, 1):
            return Node("activation", [y], y.shape, x.scope, kind="silu")
        inner = plus_one(gate)
        if inner is None or not near(factor, 0.5):
            continue
        if inner.op == "erf":
            z, by = scaled(inner.args[0])
            if z is y and near(by, math.sqrt(0.5)):
                return Node("activation", [y], y.shape, x.scope, kind="gelu_exact")
        if inner.op == "tanh":
            at = np.linspace(-3, 3, 13)
            values = curve(inner.args[0], y, at)
            if values is not None and np.allclose(values, math.sqrt(2 / math.pi) * (at + 0.044715 * at**3), atol=1e-6):
                return Node("activation", [y], y.shape, x.scope, kind="gelu_tanh")
    return x


# ---- norms ---------------------------------------------------------------------------------------


def root_mean_square(x):
    """d and epsilon if x is d / sqrt(mean(d * d) + epsilon)."""
    if x.op == "div":
        d, root = x.args
    elif x.op == "mul" and x.args[1].op == "reciprocal":
        d, root = x.args[0], x.args[1].args[0]
    else:
        return None
    if root.op != "sqrt" or root.args[0].op != "add" or not is_number(root.args[0].args[1]):
        return None
    mean = root.args[0].args[0]
    if mean.op != "reduce" or mean["kind"] != "mean" or mean["axes"] != (len(d.shape) - 1,):
        return None
    square = mean.args[0]
    same = square.op == "pow" and square.args[0] is d and is_number(square.args[1]) and number(square.args[1]) == 2
    if same or square.op == "mul" and square.args[0] is d and square.args[1] is d:
        return d, float(f"{number(root.args[0].args[1]):.6g}")
    return None


def norm(x):
    """A norm from a product with gamma."""
    found = root_mean_square(x.args[0])
    gamma = x.args[1]
    if not found or not is_constant(gamma) or gamma["value"].ndim != 1 or x["at"][1] != (len(x.shape) - 1,):
        return x
    d, epsilon = found
    centered = (d.op == "sub" and d.args[1].op == "reduce" and d.args[1]["kind"] == "mean" and d.args[1].args[0] is d.args[0]
                and d.args[1]["axes"] == (len(d.shape) - 1,))
    return Node("norm", [d.args[0] if centered else d], x.shape, x.scope, kind="layer_norm" if centered else "rms_norm", epsilon=epsilon,
                gamma=gamma["value"], beta=None)


def of_norm(op, args, at, shape, scope):
    """A norm from its gamma or with its beta, also if all are 1 or 0, as in a model that is not trained: then an elementwise node
    would be none."""
    last = (len(shape) - 1,)
    for k in (0, 1) if len(args) == 2 else ():
        vector, x = args[k], args[1 - k]
        if is_constant(vector) and vector["value"].ndim == 1 and tuple(at[k]) == last and x.shape == shape and (
                op == "mul" and root_mean_square(x) or op == "add" and x.op == "norm" and x["kind"] == "layer_norm" and x["beta"] is None):
            return recognized(Node(op, [x, vector], shape, scope, at=(every(x), last)))
    return None


def layer_norm(x, gamma, beta, epsilon, scope=""):
    made = Node("norm", [x], x.shape, scope, kind="layer_norm", epsilon=epsilon, gamma=gamma, beta=beta)
    return encoder_of_norm(made) or made


# ---- linear maps, networks and attention -----------------------------------------------------------


def linear(x, weight, bias, scope=""):
    made = Node("linear", [x], (*x.shape[:-1], weight.shape[1]), scope, weight=weight, bias=bias)
    return attention(made) or network(made) or made


def scaled_outputs(x, factor, shift, axis):
    """A linear map or convolution whose outputs, an axis of x, are multiplied and shifted, with other weights; else nothing."""
    inner, index = (x.args[0], x["index"]) if x.op == "move" else (x, identity(x.shape))
    if inner.op not in ("linear", "convolution", "depthwise") or inner.shape[-1:] != factor.shape:
        return None
    along = np.arange(len(factor)).reshape([-1 if i == axis else 1 for i in range(len(x.shape))])
    if not np.array_equal(index % len(factor), np.broadcast_to(along, index.shape)):
        return None
    by = factor if inner.op == "linear" else factor.reshape(-1, *[1] * (inner["weight"].ndim - 1))
    bias = shift if inner["bias"] is None else inner["bias"] * factor + shift
    return move(Node(inner.op, inner.args, inner.shape, inner.scope, **(inner.constants | {"weight": inner["weight"] * by, "bias": bias})), index)


@whole_layer
def network(down):
    """A feed-forward network, gated or not, from its last linear map."""
    x, gate, up, kind = down.args[0], None, None, None
    if x.op == "activation" and x.args[0].op == "linear":
        up, kind = x.args[0], x["kind"]
    elif x.op == "mul" and sorted(arg.op for arg in x.args) == ["activation", "linear"]:
        active, up = x.args if x.args[0].op == "activation" else x.args[::-1]
        gate, kind = active.args[0], active["kind"]
        if gate.op != "linear" or gate.args[0] is not up.args[0] or (gate["bias"] is None) != (up["bias"] is None):
            return None
    if up is None or up.args[0].shape != down.shape:
        return None
    return Node("network", [up.args[0]], down.shape, down.scope, kind=kind, up=pair(up), down=pair(down), gate=gate and pair(gate))


def pair(node):
    return node["weight"], node["bias"]


def with_bias(x, bias, scope):
    """A layer whose last linear map lacks a bias, and the bias."""
    if x.op == "linear" and x["bias"] is None:
        return linear(x.args[0], x["weight"], bias, scope)
    for layer, last in (("attention", "o"), ("network", "down")):
        if x.op == layer and x[last][1] is None:
            return Node(layer, x.args, x.shape, x.scope, **{**x.constants, last: (x[last][0], bias)})
    if x.op == "norm" and x["kind"] == "layer_norm" and x["beta"] is None:
        return layer_norm(x.args[0], x["gamma"], bias, x["epsilon"], scope)
    return None


def elements(x, of):
    """If x has elements of another node, perhaps negative: their numbers and signs; else nothing."""
    if x is of:
        return identity(of.shape), np.ones(of.shape)
    if x.op == of.op == "linear" and x.args[0] is of.args[0] and x["bias"] is of["bias"] is None:  # some columns
        for first in range(of.shape[-1] - x.shape[-1] + 1):
            columns = slice(first, first + x.shape[-1])
            if np.array_equal(x["weight"], of["weight"][:, columns]):
                return identity(of.shape)[..., columns], np.ones(x.shape)
    inner, factor = scaled(x)
    if inner is not x:
        found = elements(inner, of) if abs(factor) == 1 else None
        return found and (found[0], found[1] * factor)
    if x.op == "move":
        found = elements(x.args[0], of)
        return found and tuple(one.reshape(-1)[x["index"]] for one in found)
    if x.op == "concat":
        found = [elements(part, of) for part in x.args]
        return None if None in found else tuple(np.concatenate([one[k] for one in found], x["axis"]) for k in (0, 1))
    return None


@whole_layer
def rope(x):
    """m * cos + other * sin for m (heads, position, head_dim), by its numbers: other has the features of m in halves or in pairs, the
    first of two negative."""
    for turns, other in (x.args, x.args[::-1]):
        if not (turns.op == other.op == "mul" and is_constant(turns.args[1]) and is_constant(other.args[1])
                and other.args[0].op in ("concat", "move")):
            continue
        m, cosines, sines = turns.args[0], turns.args[1]["value"], other.args[1]["value"]
        root = m.args[0] if m.op == "move" else m
        found = elements(other.args[0], root)
        fits = len(m.shape) >= 2 and m.shape[-1] >= 4 and m.shape[-1] % 2 == 0 and m.shape[-2:] == cosines.shape == sines.shape
        if found is None or not fits or len(sines) < 2:
            continue
        numbers, _ = elements(m, root)
        width = m.shape[-1]
        for pairing, order, negative, of_pairs in (
                ("split_halves", (np.arange(width) + width // 2) % width, np.arange(width) < width // 2, slice(None, width // 2)),
                ("adjacent_pairs", np.arange(width) ^ 1, np.arange(width) % 2 == 0, slice(None, None, 2))):
            twice = np.tile if pairing == "split_halves" else lambda table, count: np.repeat(table, count, -1)
            base = base_of(cosines[:, of_pairs], sines[:, of_pairs])
            if (base and np.array_equal(found[0], numbers[..., order]) and (found[1] == np.where(negative, -1, 1)).all() and
                    all(np.allclose(twice(table[:, of_pairs], 2), table) for table in (cosines, sines))):
                return Node("rope", [m], m.shape, x.scope, base=(pairing, base, 0))
    return None


def base_of(cosines, sines):
    """The base of the angles of tables (position, pair), or nothing."""
    count, pairs = sines.shape
    base = round(math.atan2(sines[1, 1], cosines[1, 1]) ** -pairs) if sines[1, 1] > 0 else 0
    if base < 2:
        return None
    angles = np.outer(np.arange(count), float(base) ** (-np.arange(pairs) / pairs))
    return base if np.allclose(np.cos(angles), cosines, atol=1e-4) and np.allclose(np.sin(angles), sines, atol=1e-4) else None


@whole_layer
def rope_of_first(x):
    """concat of turned features and the rest of the head: base (pairing, base, how many are turned)."""
    if x.op != "concat" or len(x.args) != 2 or x["axis"] != len(x.shape) - 1 or x.args[0].op != "rope" or x.args[0]["base"][2]:
        return None
    first, rest = x.args[0].args[0], x.args[1]
    root = first.args[0] if first.op == "move" else first
    parts = [elements(part, root) for part in (first, rest)]
    if None in parts or any((signs != 1).any() for _, signs in parts):
        return None
    whole = move(root, np.concatenate([numbers for numbers, _ in parts], -1))
    return Node("rope", [whole], x.shape, x.scope, base=(*x.args[0]["base"][:2], first.shape[-1]))


@whole_layer
def rope_of_parts(x):
    """concat of a * cos - b * sin and a * sin + b * cos, or a stack of them, for parts a and b of the features."""
    last = len(x.shape) - 1
    if x.op != "concat" or len(x.args) != 2 or x["axis"] != last:
        return None
    stacked = x.shape[-1] == 2
    parts = [part.args[0] if stacked and part.op == "move" and part["index"].size == math.prod(part.args[0].shape) else part for part in x.args]
    if [part.op for part in parts] != ["sub", "add"] or any(one.op != "mul" or not is_constant(one.args[1]) for part in parts for one in part.args):
        return None
    (a, b), (c, d) = (part.args for part in parts)
    m = a.args[0].args[0] if a.args[0].op == "move" else a.args[0]
    numbers = [elements(one.args[0], m) for one in (a, b, c, d)]
    tables = [one.args[1]["value"] for one in (a, b, c, d)]
    if any(one is None or (one[1] != 1).any() for one in numbers) or any(one["at"] != a["at"] for one in (b, c, d)):
        return None
    (first, _), (second, _), (third, _), _ = numbers
    if not np.array_equal(third, first):
        tables[2], tables[3], numbers[2], numbers[3] = tables[3], tables[2], numbers[3], numbers[2]
    places, rank = a["at"][1], len(a.shape)
    if not (np.array_equal(numbers[2][0], first) and np.array_equal(numbers[3][0], second) and np.array_equal(tables[0], tables[3]) and
            np.array_equal(tables[1], tables[2])) or len(places) != 2 or places[1] != rank - 1 or min(tables[0].shape) < 2:
        return None
    base = base_of(tables[0], tables[1])
    if not base:
        return None
    whole = np.stack([first, second], -1).reshape(*first.shape[:-1], -1) if stacked else np.concatenate([first, second], -1)
    order = [i for i in range(rank) if i != places[0] and i != rank - 1] + [places[0], rank - 1]
    turned = move(m, whole.transpose(order))
    made = Node("rope", [turned], turned.shape, x.scope, base=("adjacent_pairs" if stacked else "split_halves", base, 0))
    return move(made, identity(turned.shape).transpose(np.argsort(order)).reshape(x.shape))


def is_causal(hidden, queries, keys):
    """Is that condition: key > query?"""
    return queries == keys and hidden.shape == (queries, keys) and np.array_equal(hidden, np.triu(np.ones((queries, keys), bool), 1))


def mask_by_position(hidden, queries, keys):
    """The mask that hides these pairs, if positions tell which they are: causal or sliding_window."""
    if hidden.shape != (queries, keys) or queries != keys or hidden.all():
        return None
    ahead = np.arange(keys) - np.arange(queries)[:, None]
    after, before = ahead[~hidden].max(), -ahead[~hidden].min()
    if after < 0 or before < 0 or not np.array_equal(hidden, (ahead > after) | (-ahead > before)):
        return None
    window = f"{before}, {after}" if after else f"{before}"
    if before == keys - 1:
        return "causal" if after == 0 else None
    return f"sliding_window<{window}>"


class Scores:
    """Scores before their masks: core, the scaled product; cap, of softcap; masks, as texts; kept, the inputs that keep_mask and
    drop_mask read ({1}, {2} ... in the texts); bias, the constants that are added ({w1} ...), with the names of their axes.
    batch: sizes of the first axes, which are of the batch."""

    def __init__(self, scores, queries, keys, batch=()):
        self.core, self.cap, self.masks, self.kept, self.bias = scores, None, [], [], []
        self.queries, self.keys, self.batch, self.rank = queries, keys, batch, len(scores.shape)
        while self.peel():
            pass

    def find_alibi(self):
        """A bias that differs from slope * (key - query) by one number a row, which no softmax sees."""
        if len(self.bias) != 1 or self.bias[0][0] not in (("heads", "query", "key"), ("heads", "key")):
            return
        _, value = self.bias[0]
        heads = value.shape[0]
        slopes = 2.0 ** (-8 / heads * np.arange(1, heads + 1))
        ahead = np.arange(self.keys) - np.arange(self.queries)[:, None]
        seen = ahead <= 0 if "causal" in self.masks else np.ones_like(ahead, bool)
        rest = (value if value.ndim == 3 else value[:, None]) - slopes[:, None, None] * ahead
        rest = np.where(seen, rest - rest[..., :1], 0)
        if heads & (heads - 1) == 0 and np.abs(rest).max() <= 1e-5 * self.keys:
            self.bias.clear()
            self.masks = ["alibi" if mask == "score_bias({bias0})" else mask for mask in self.masks]

    def peel(self):
        """Is the outermost step a mask, a bias or softcap? Then without it."""
        x = self.core
        if x.op == "mul" and is_number(x.args[1]) and x.args[0].op == "tanh":
            self.cap = number(x.args[1])
            self.core = elementwise("mul", [x.args[0].args[0], x.args[1]], x["at"], x.shape)
            return False
        if x.op == "mul" and is_number(x.args[1]) and x.args[0].op == "add":
            total = x.args[0]
            parts = [constant(one["value"] * x.args[1]["value"]) if is_constant(one) else times(one, x.args[1]["value"]) for one in total.args]
            self.core = elementwise("add", parts, total["at"], x.shape)
            return True
        if x.op == "where" and is_number(x.args[1]) and number(x.args[1]) < FULL_SCALE and x.args[2].shape == x.shape:
            return self.hide(x.args[0], x["at"][0]) and self.without(x.args[2])
        if x.op == "where" and is_number(x.args[2]) and number(x.args[2]) < FULL_SCALE and x.args[1].shape == x.shape:
            kept = x.args[0]
            hidden = constant(~kept["value"].astype(bool)) if is_constant(kept) else unary("not", kept)
            return self.hide(hidden, x["at"][0]) and self.without(x.args[1])
        if x.op != "add":
            return False
        for core, mask, at in zip(x.args, x.args[::-1], x["at"][::-1]):
            if core.shape == x.shape and self.has_product(core) and (self.add(mask["value"], at) if is_constant(mask) else self.adds(mask, at)):
                return self.without(core)
        return False

    def without(self, core):
        self.core = core
        return True

    def has_product(self, x):
        """Is it the scores, and not what is added to them?"""
        while x.op in ("mul", "add", "tanh", "where"):
            parts = [one for one in (x.args[1:] if x.op == "where" else x.args) if not is_constant(one)]
            if not parts:
                return False
            x = max(parts, key=lambda one: len(one.shape))
        return x.op == "matmul"

    def hide(self, condition, at):
        """By a condition, or by an input that keeps (not m, m == 0) or drops keys."""
        if is_constant(condition):
            hidden = condition["value"].astype(bool)
            return not hidden.all(-1).any() and self.add(np.where(hidden, -np.inf, 0), at)
        inner, keeps = condition, False
        while inner.op == "not" or inner.op in ("equal", "not_equal") and is_number(inner.args[1]) and number(inner.args[1]) == 0:
            inner, keeps = inner.args[0], keeps == (inner.op == "not_equal")
        if (inner.op in ("less", "less_or_equal", "greater", "greater_or_equal") and is_number(inner.args[1])
                and 0 < number(inner.args[1]) < 1):
            inner, keeps = inner.args[0], keeps != inner.op.startswith("less")
        return self.keeps(inner, "keep_mask" if keeps else "drop_mask", at)

    def keeps(self, x, mask, at):
        of_all, of_each = ((self.keys,), (self.rank - 1,)), ((*self.batch, self.keys), (*range(len(self.batch)), self.rank - 1))
        if x.op != "input" or x["is_place"] or (x.shape, tuple(at)) not in (of_all, of_each) or self.kept:
            return False
        self.kept.append(x)
        self.masks.append(f"{mask}({{input}})")
        return True

    def adds(self, mask, at):
        """(1 - kept) * -1e38, or a choice of 0 and -1e38."""
        below, by = scaled(mask)
        if by < FULL_SCALE and below.op == "sub" and is_number(below.args[0]) and number(below.args[0]) == 1:
            return self.keeps(below.args[1], "keep_mask", at)
        if mask.op != "where" or not all(is_number(one) for one in mask.args[1:]):
            return False
        high, low = (number(one) for one in mask.args[1:])
        if high == 0 and low < FULL_SCALE:
            return self.keeps(mask.args[0], "keep_mask", at)
        return low == 0 and high < FULL_SCALE and self.hide(mask.args[0], at)

    def add(self, value, at):
        """A constant: a mask by position, and a bias."""
        last_two = (self.rank - 2, self.rank - 1)
        hidden = value < FULL_SCALE
        if at == last_two and hidden.any() and (mask := mask_by_position(hidden, self.queries, self.keys)):
            self.masks.append(mask)
            value = np.where(hidden, 0, value)
        if not value.any():
            return True
        names = dict(zip(range(self.rank - 1, len(self.batch) - 1, -1), ("key", "query", "heads")))
        if any(i not in names for i in at) or np.isnan(value).any() or (value < FULL_SCALE).all(-1).any():
            return False
        self.bias.append((tuple(names[i] for i in at), value))
        self.masks.append(f"score_bias({{bias{len(self.bias) - 1}}})")
        return True


def heads_of(x, batch):
    """x (sequence, heads, position, head_dim) of rows of a linear map: the map, its columns, how many groups of heads share them,
    rope's base. batch: the sizes of the axes whose product is the number of sequences."""
    base = None
    if x.op == "rope":
        base, x = x["base"], x.args[0]
    if x.op != "move" or x.args[0].op != "linear":
        return None
    of, (sequences, heads, positions, width) = x.args[0], x.shape
    index, features = x["index"], of.shape[-1]
    of_sequence = positions * features
    if of.shape[:-1] != (*batch, positions) or not np.array_equal(index, index[0] + of_sequence * np.arange(sequences)[:, None, None, None]):
        return None
    columns = index[0, :, 0]  # of each head
    groups = len(np.unique(columns[:, 0]))
    if heads % groups or not np.array_equal(index[0], columns[:, None] + features * np.arange(positions)[:, None]):
        return None
    shared = columns[::heads // groups]
    return (of, shared.reshape(-1), groups, base) if np.array_equal(columns, np.repeat(shared, heads // groups, 0)) else None


@whole_layer
def attention(made):
    """Multi-head attention from its last linear map."""
    context = made.args[0].args[0] if made.args[0].op == "move" else made.args[0]
    if context.op != "matmul":
        return None
    weights, values = context.args
    if weights.op != "softmax" or weights["axis"] != len(weights.shape) - 1:
        return None
    queries, keys = context["x_full"][-2:]
    batch = made.shape[:-2]
    if len(batch) > 1:
        return None
    found = Scores(weights.args[0], queries, keys, batch)
    found.find_alibi()
    core, scale = scaled(found.core)
    if weights.shape[-1] != keys or core.op != "matmul" or (found.cap and not ratio(found.cap)):
        return None
    (q, by_q), (k, by_k), (v, by_v) = map(scaled, (*core.args, values))
    width, features = core["x_full"][-1], context["y_full"][-1]
    sequences = math.prod(batch)
    heads = math.prod(context["full"][:-2]) // sequences
    sizes = (q, queries * width), (k, keys * width), (v, keys * features)
    if by_v != 1 or heads == 0 or any(math.prod(x.shape) != sequences * heads * n for x, n in sizes):
        return None
    if q.op == "constant" or k.op == "constant" or v.op == "constant":
        return None
    turned_keys = np.swapaxes(identity((sequences, heads, width, keys)), -1, -2)
    sides = [heads_of(x, batch) for x in (move(q, identity(q.shape).reshape(sequences, heads, queries, width)),
                                          move(k, identity(k.shape).reshape(-1)[turned_keys]),
                                          move(v, identity(v.shape).reshape(sequences, heads, keys, features)))]
    if any(side is None for side in sides):
        return None
    (of_q, columns_q, groups_q, base_q), (of_k, columns_k, groups_k, base_k), (of_v, columns_v, groups_v, _) = sides
    back = identity((sequences, heads, queries, features)).swapaxes(1, 2).reshape(-1)
    seen = made.args[0]["index"].reshape(-1) if made.args[0].op == "move" else identity(context.shape).reshape(-1)
    if not np.array_equal(seen, back) or made.args[0].shape != (*batch, queries, heads * features):
        return None
    if groups_q != heads or groups_k != groups_v or base_q != base_k or of_k.args[0] is not of_v.args[0]:
        return None
    x, memory, scale = of_q.args[0], of_k.args[0], scale * by_q * by_k
    if made.shape[-1] != x.shape[-1]:
        return None
    usual = abs(scale * math.sqrt(width) - 1) <= 1e-5
    if not usual and not ratio(scale):
        return None

    def columns(of, at):
        return of["weight"][:, at], None if of["bias"] is None else of["bias"][at]
    return Node("attention", [x, *([] if memory is x else [memory]), *found.kept], made.shape, made.scope, q=columns(of_q, columns_q),
                k=columns(of_k, columns_k), v=columns(of_v, columns_v), o=pair(made), heads=heads, kv_heads=groups_k,
                head_dim=width, value_dim=features, scale=None if usual else ratio(scale), base=base_q, cap=found.cap and ratio(found.cap),
                memory=None if memory is x else memory, kept=found.kept, masks=found.masks, bias=found.bias)


# ---- encoder layers --------------------------------------------------------------------------------


@whole_layer
def encoder_of_norm(last):
    """norm2(y + network(y)), y = norm1(x + attention(x))."""
    if last.args[0].op != "add":
        return None
    for y, inner in (last.args[0].args, last.args[0].args[::-1]):
        if inner.op == "network" and inner.args[0] is y and y.op == "norm" and y.args[0].op == "add":
            for x, attends in (y.args[0].args, y.args[0].args[::-1]):
                if attends.op == "attention" and attends.args[0] is x and not attends["memory"]:
                    return encoder(x, attends, inner, y, last, False, last.scope)
    return None


@whole_layer
def encoder_of_sum(total):
    """y + network(norm2(y)), y = x + attention(norm1(x))."""
    for y, inner in (total.args, total.args[::-1]):
        if inner.op == "network" and inner.args[0].op == "norm" and inner.args[0].args[0] is y and y.op == "add":
            for x, attends in (y.args, y.args[::-1]):
                if attends.op == "attention" and not attends["memory"] and attends.args[0].op == "norm" and attends.args[0].args[0] is x:
                    return encoder(x, attends, inner, attends.args[0], inner.args[0], True, total.scope)
    return None


def encoder(x, attends, inner, norm1, norm2, norm_first, scope):
    if norm1["epsilon"] != norm2["epsilon"] or norm1["kind"] != norm2["kind"] or (norm1["beta"] is None) != (norm2["beta"] is None):
        return None
    if not ratio(norm1["epsilon"]):
        return None
    biases = [inner[part][1] is not None for part in ("gate", "up", "down") if inner[part]]
    if len(set(biases)) != 1:
        return None
    return Node("encoder", [x, *attends.args[1:]], x.shape, scope.rsplit("/", 1)[0] if scope.count("/") > 1 else scope, attention=attends,
                network=inner, norm1=norm1, norm2=norm2, norm_first=norm_first)


# ---- where they are looked for -----------------------------------------------------------------------


def recognized(made):
    """An elementwise node, or the layer that it completes."""
    if made.op == "move" and made.args[0].op in ("mul", "add"):
        found = recognized(made.args[0])
        return made if found is made.args[0] else move(found, made["index"])
    if made.op == "mul" and is_number(made.args[1]) and made.args[0].op == "move" and made.args[0].args[0].op == "mul":
        moved = made.args[0]  # a factor stays outside of a move
        product = Node("mul", [moved.args[0], made.args[1]], moved.args[0].shape, made.scope, at=(every(moved.args[0]), ()))
        found = activation(product)
        return made if found is product else move(found, moved["index"])
    if made.op == "mul":
        found = activation(made)
        if found is made and not is_number(made.args[1]):
            found = norm(made)
        return found
    if made.op == "add":
        x, y = made.args
        if is_constant(y) and y["value"].ndim == 1 and made["at"][1] == (len(made.shape) - 1,):
            return with_bias(x, y["value"], made.scope) or made
        return encoder_of_sum(made) or rope(made) or made
    return made


__all__ = ["elementwise", "joined", "layer_norm", "linear", "recognized", "unary"]
