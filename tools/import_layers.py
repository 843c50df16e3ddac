# SPDX-License-Identifier: BSL-1.0
"""Which nodes of a graph are layers of Umbel, for tools/import. Each function gets what was just made, looks at its arguments
and returns the layer, or nothing. It decides by numbers and by the moves of elements, never by names, and returns no layer
whose options could not be written, so that a graph that nobody recognizes is a formula of the same numbers."""
import contextlib
import math
import os
import re
from fractions import Fraction

import numpy as np

from import_graph import (Node, constant, elementwise, every, identity, is_constant, is_number, joined, move, number, scaled, times, unary,
                          without_ones)

WHOLE_LAYERS = [True]  # or only norms, linear maps and activations: all that formulas in integers have
FULL_SCALE = -9999.0  # a smaller addend of a score hides the key
LOWEST = float(np.finfo(np.float32).min)
MOST_TENSORS = 3  # of a mask in a formula


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


# ---- rows ------------------------------------------------------------------------------------------


def in_rows(x, rows, shape):
    """Rows of x, along its last axis, by their numbers."""
    width = x.shape[-1]
    return move(x, (rows.reshape(-1, 1) * width + np.arange(width)).reshape(*shape, width))


def rows_of(x):
    """The numbers of the rows that a move has, or nothing."""
    width = x.shape[-1]
    index = x["index"].reshape(-1, width)
    rows = index[:, 0] // width
    return rows if np.array_equal(index, rows[:, None] * width + np.arange(width)) else None


ROWS = ("norm", "linear", "add", "mul", "activation", "attention", "network", "encoder", "decoder")  # computed of whole rows


def rows_in_other_order(x):
    """y and the numbers of its rows, if x has each of them once, in another order: layers of rows are computed before they move, so
    that a batch after the positions, as PyTorch has it, is one before them."""
    if x.op != "move" or x.args[0].op in ("input", "lookup") or x.shape[-1:] != x.args[0].shape[-1:]:
        return None
    rows = rows_of(x)
    if rows is None or x.size != x.args[0].size or x.args[0].op not in ROWS and (np.diff(rows) == 1).all() or not np.array_equal(np.sort(rows), np.arange(len(rows))):
        return None
    return x.args[0], rows


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
    if is_square(mean.args[0], d):
        return d, float(f"{number(root.args[0].args[1]):.6g}")
    return None


def is_square(x, d):
    if x.op == d.op == "move":
        return np.array_equal(x["index"], d["index"]) and is_square(x.args[0], d.args[0])
    return (x.op == "pow" and x.args[0] is d and is_number(x.args[1]) and number(x.args[1]) == 2 or
            x.op == "mul" and x.args[0] is d and x.args[1] is d)


def norm(x):
    """A norm from a product with gamma."""
    found = root_mean_square(x.args[0])
    gamma = x.args[1]
    if not found or not is_constant(gamma) or gamma["value"].ndim != 1 or x["at"][1] != (len(x.shape) - 1,):
        return x
    d, epsilon = found
    centered = (d.op == "sub" and d.args[1].op == "reduce" and d.args[1]["kind"] == "mean" and d.args[1].args[0] is d.args[0]
                and d.args[1]["axes"] == (len(d.shape) - 1,))
    y, order = d.args[0] if centered else d, None
    if rows := rows_in_other_order(y):
        y, order = rows
    made = Node("norm", [y], y.shape, x.scope, kind="layer_norm" if centered else "rms_norm", epsilon=epsilon, gamma=gamma["value"], beta=None)
    return made if order is None else in_rows(made, order, x.shape[:-1])


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
    if rows := rows_in_other_order(x):
        return in_rows(layer_norm(rows[0], gamma, beta, epsilon, scope), rows[1], x.shape[:-1])
    made = Node("norm", [x], x.shape, scope, kind="layer_norm", epsilon=epsilon, gamma=gamma, beta=beta)
    return block(made, False) or made


# ---- linear maps, networks and attention -----------------------------------------------------------


def linear(x, weight, bias, scope=""):
    if rows := rows_in_other_order(x):
        return in_rows(linear(rows[0], weight, bias, scope), rows[1], x.shape[:-1])
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
    if rows := rows_in_other_order(x):
        made = with_bias(rows[0], bias, scope)
        return made and in_rows(made, rows[1], x.shape[:-1])
    if x.op == "linear" and x["bias"] is None:
        return linear(x.args[0], x["weight"], bias, scope)
    for layer, last in (("attention", "o"), ("network", "down")):
        if x.op == layer and x[last][1] is None:
            return Node(layer, x.args, x.shape, x.scope, **{**x.constants, last: (x[last][0], bias)})
    if x.op == "norm" and x["kind"] == "layer_norm" and x["beta"] is None:
        return layer_norm(x.args[0], x["gamma"], bias, x["epsilon"], scope)
    return None


def elements(x, of):
    """If x has elements of another node, each times a number: which, and the numbers; else nothing."""
    if x is of:
        return identity(of.shape), np.ones(of.shape)
    if x.op == of.op == "linear" and x.args[0] is of.args[0] and (x["bias"] is None) == (of["bias"] is None):  # some columns
        for first in range(of.shape[-1] - x.shape[-1] + 1):
            columns = slice(first, first + x.shape[-1])
            if np.array_equal(x["weight"], of["weight"][:, columns]) and (x["bias"] is None or np.array_equal(x["bias"], of["bias"][columns])):
                return identity(of.shape)[..., columns], np.ones(x.shape)
    inner, factor = scaled(x)
    if inner is not x:
        found = elements(inner, of)
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
        (m, by), cosines, sines = scaled(turns.args[0]), turns.args[1]["value"], other.args[1]["value"]
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
            if (base and np.array_equal(found[0], numbers[..., order]) and np.allclose(found[1], np.where(negative, -by, by), rtol=1e-6) and
                    all(np.allclose(twice(table[:, of_pairs], 2), table) for table in (cosines, sines))):
                turned = Node("rope", [m], m.shape, x.scope, base=(pairing, base, 0))
                return turned if by == 1 else times(turned, by)
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


def mask_by_position(hidden):
    """The mask that hides these (query, key), if positions tell which they are: causal or sliding_window."""
    queries, keys = hidden.shape
    if queries != keys or hidden.all():
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
    drop_mask read, and score_bias if they are added ({input0}, {input1} ... in the texts), with the names of their axes; bias, the
    constants that are added ({bias0} ...), with the names of their axes. finite: is what hides a number, so that a query whose keys are
    all hidden weighs them equally? low: the number that hides, for a mask that is computed. at: (sequence, head, query, key), the number
    of each pair in core. only_inputs: no mask may be computed."""

    def __init__(self, scores, sizes, only_inputs=False):
        self.core, self.cap, self.masks, self.kept, self.bias = scores, None, [], [], []
        self.at, self.hidden, self.finite, self.low, self.only_inputs = identity(sizes), np.zeros(sizes, bool), False, LOWEST, only_inputs
        while self.peel():
            pass

    def find_alibi(self):
        """A bias that differs from slope * (key - query) by one number a row, which no softmax sees."""
        if len(self.bias) != 1 or self.bias[0][0] not in (("heads", "query", "key"), ("heads", "key")):
            return
        _, value = self.bias[0]
        heads = value.shape[0]
        slopes = 2.0 ** (-8 / heads * np.arange(1, heads + 1))
        queries, keys = self.at.shape[2:]
        ahead = np.arange(keys) - np.arange(queries)[:, None]
        seen = ahead <= 0 if "causal" in self.masks else np.ones_like(ahead, bool)
        rest = (value if value.ndim == 3 else value[:, None]) - slopes[:, None, None] * ahead
        rest = np.where(seen, rest - rest[..., :1], 0)
        if heads & (heads - 1) == 0 and np.abs(rest).max() <= 1e-5 * keys:
            self.bias.clear()
            self.masks = ["alibi" if mask == "score_bias({bias0})" else mask for mask in self.masks]

    def peel(self):
        """Is the outermost step a move, a mask, a bias or softcap? Then without it."""
        x = self.core
        if x.op == "move":
            return self.without(x.args[0], x["index"].reshape(-1)[self.at])
        if x.op == "mul" and is_number(x.args[1]) and x.args[0].op == "tanh":
            self.cap = number(x.args[1])
            self.core = elementwise("mul", [x.args[0].args[0], x.args[1]], x["at"], x.shape)
            return False
        if x.op == "mul" and is_number(x.args[1]) and x.args[0].op == "add":
            total = x.args[0]
            parts = [constant(one["value"] * x.args[1]["value"]) if is_constant(one) else times(one, x.args[1]["value"]) for one in total.args]
            return self.without(elementwise("add", parts, total["at"], x.shape))
        if x.op == "mul" and is_constant(x.args[1]):  # 1, but for pairs that are hidden
            factor = x.args[1]["value"].reshape(-1)[self.pairs_of(x, 1)]
            return x.args[0].shape == x.shape and (factor == 1)[~self.hidden].all() and self.without(x.args[0])
        if x.op == "where":
            for scores, low, when in ((2, 1, True), (1, 2, False)):
                if is_number(x.args[low]) and number(x.args[low]) < FULL_SCALE and x.args[scores].shape == x.shape:
                    self.hides(number(x.args[low]), LOWEST)
                    return self.add(self.hidden_if(x.args[0], self.pairs_of(x, 0), when)) and self.without(x.args[scores])
        if x.op == "maximum" and is_number(x.args[1]) and number(x.args[1]) < FULL_SCALE:  # the number that hides, as a bound
            self.hides(number(x.args[1]), LOWEST)
            return self.without(x.args[0])
        if x.op == "sub" and is_constant(x.args[1]) and x.args[0].shape == x.shape:
            return self.add(self.added(constant(-x.args[1]["value"]), self.pairs_of(x, 1))) and self.without(x.args[0])
        if x.op == "add":
            for k in (0, 1):
                core = x.args[k]
                if core.shape == x.shape and self.has_product(core) and self.add(self.added(x.args[1 - k], self.pairs_of(x, 1 - k))):
                    return self.without(core)
        return False

    def hides(self, low, instead=None):
        """low hides; a finite number that replaces scores is LOWEST, which stays the same when a score is added."""
        self.finite |= np.isfinite(low)
        self.low = instead if instead and np.isfinite(low) else low

    def without(self, core, at=None):
        self.core, self.at = core, self.at if at is None else at
        return True

    def has_product(self, x):
        """Is it the scores, and not what is added to them?"""
        while x.op in ("mul", "add", "tanh", "where", "move", "maximum"):
            parts = [one for one in (x.args[1:] if x.op == "where" else x.args) if not is_constant(one)]
            if not parts:
                return False
            x = max(parts, key=lambda one: len(one.shape))
        return x.op == "matmul"

    def pairs_of(self, x, k, at=None):
        """The number of each pair in an argument of an elementwise node. at: those of the node, by default of core."""
        arg, axes = x.args[k], x["at"][k]
        numbers = identity(arg.shape).reshape([n if i in axes else 1 for i, n in enumerate(x.shape)])
        return np.broadcast_to(numbers, x.shape).reshape(-1)[self.at if at is None else at]

    def hidden_if(self, condition, at, when):
        """What hides the pairs of which a condition is `when`: arrays of pairs, and inputs as (input, axes, the text of their mask);
        nothing if masks can't say it."""
        def of_args(when):
            found = [self.hidden_if(arg, self.pairs_of(condition, k, at), when) for k, arg in enumerate(condition.args)]
            if None in found:
                return None
            one_mask = all(isinstance(one, tuple) and one[2] == "score_bias" for one in found[0] + found[1])  # two low numbers would add up
            return one_mask and self.computed(condition, at, when) or found[0] + found[1]
        op, args = condition.op, condition.args
        if is_constant(condition):
            return [np.where((condition["value"].reshape(-1)[at] != 0) == when, -np.inf, 0)]
        if op == "move":
            return self.hidden_if(args[0], condition["index"].reshape(-1)[at], when)
        if is_one_or_zero(condition):
            return self.hidden_if(args[0], self.pairs_of(condition, 0, at), when == (number(args[1]) == 1))
        if op == "not":
            return self.hidden_if(args[0], at, not when)
        if op in ("equal", "not_equal") and is_number(args[1]) and number(args[1]) == 0:
            return self.hidden_if(args[0], at, when == (op == "not_equal"))
        if op in ("less", "less_or_equal", "greater", "greater_or_equal") and is_number(args[1]) and 0 < number(args[1]) < 1:
            return self.hidden_if(args[0], at, when != op.startswith("less"))
        if op == "sub" and is_number(args[0]) and number(args[0]) == 1:  # 1 - kept
            return self.hidden_if(args[1], self.pairs_of(condition, 1, at), not when)
        if op == "or" and when or op in ("and", "mul") and not when:
            return of_args(when)
        return self.input(condition, at, "drop_mask" if when else "keep_mask") or self.computed(condition, at, when)

    def added(self, x, at):
        """As hidden_if, of what is added: constants, (1 - kept) * -1e38, a choice of -1e38, and inputs of numbers."""
        if is_constant(x):
            return [x["value"].astype(np.float64).reshape(-1)[at]]
        if x.op == "move":
            return self.added(x.args[0], x["index"].reshape(-1)[at])
        if x.op == "add":
            found = [self.added(arg, self.pairs_of(x, k, at)) for k, arg in enumerate(x.args)]
            return None if None in found else found[0] + found[1]
        below, by = scaled(x)
        is_rest = below.op == "sub" and is_number(below.args[0]) and number(below.args[0]) == 1
        if by < FULL_SCALE and (is_rest or is_one_or_zero(below)):
            self.hides(by)
            return self.hidden_if(below, at, True)
        if x.op == "where":
            for rest, low, when in ((2, 1, True), (1, 2, False)):
                if is_number(x.args[low]) and number(x.args[low]) < FULL_SCALE:
                    self.hides(number(x.args[low]))
                    if when and same_condition(x.args[0], x.args[rest]):  # 0 otherwise
                        return self.hidden_if(x.args[0], self.pairs_of(x, 0, at), when)
                    found = [self.hidden_if(x.args[0], self.pairs_of(x, 0, at), when), self.added(x.args[rest], self.pairs_of(x, rest, at))]
                    return None if None in found else found[0] + found[1]
            return None
        if x.op == "input":
            return self.input(x, at, "score_bias") if x["dtype"].kind == "f" else None
        return self.computed(x, at)

    def input(self, x, at, mask):
        if x.op != "input" or x["is_place"]:
            return None
        axes, numbers = with_names(at)
        return [(x, axes, mask)] if np.array_equal(numbers, identity(x.shape)) and "heads" not in axes and "key" in axes else None

    def computed(self, x, at, when=None):
        """What is added to the scores: x, or the number that hides if a condition is `when`. For each head and pair it would be stored."""
        axes, numbers = with_names(at)
        if self.only_inputs:
            return when is not None and self.flags(x, axes, numbers, when) or None
        if "key" not in axes or {"heads", "query"} <= {*axes}:
            return None
        x = move(x, numbers)
        if when is not None:
            key = "mask", axes, when, self.low
            if key not in x.moved:  # one node for equal masks
                low, rest = constant(self.low), constant(0.0)
                x.moved[key] = Node("where", [x, low, rest] if when else [x, rest, low], x.shape, at=(every(x), (), ()))
            x = x.moved[key]
        return [(x, axes, "score_bias")]

    @staticmethod
    def flags(x, axes, numbers, when):
        """An input of more flags than x is made of: those that the model adds are inputs, too."""
        source, places, is_inverted = flags_of(x) or (None, None, None)
        if source is None or "key" not in axes or "heads" in axes:
            return None
        places = places.reshape(-1)[numbers]
        key = "flags", axes, places.tobytes()
        if key not in source.moved:
            source.moved[key] = Node("input", [], places.shape, source.scope, **source.constants, places=places)
        return [(source.moved[key], axes, "drop_mask" if when != is_inverted else "keep_mask")]

    def add(self, found):
        """The masks of hidden_if and added; returns whether layers have all of them."""
        if found is None:
            return False
        before = self.masks, self.kept, self.bias, self.hidden
        for one in found:
            if not (self.add_input(*one) if isinstance(one, tuple) else self.add_constant(one)):
                self.masks, self.kept, self.bias, self.hidden = before
                return False
        return True

    def add_input(self, x, axes, mask):
        self.masks = [*self.masks, f"{mask}({{input{len(self.kept)}}})"]
        self.kept = [*self.kept, (x, axes, mask)]
        return x.constants.get("mask", (axes, mask == "score_bias")) == (axes, mask == "score_bias")

    def add_constant(self, value):
        """A mask by position, and a bias."""
        hidden = value < FULL_SCALE
        self.hidden = self.hidden | hidden
        if (hidden == hidden[:1, :1]).all() and hidden.any() and (mask := mask_by_position(hidden[0, 0])):
            self.masks = [*self.masks, mask]
            value = np.where(hidden, 0, value)
        if not value.any():
            return True
        if np.isnan(value).any() or (value < FULL_SCALE).all(-1).any():
            return False
        self.masks = [*self.masks, f"score_bias({{bias{len(self.bias)}}})"]
        self.bias = [*self.bias, with_names(value)]
        return True


def is_one_or_zero(x):
    """Is it a condition as a number?"""
    return x.op == "where" and all(map(is_number, x.args[1:])) and sorted(map(number, x.args[1:])) == [0, 1]


def flags_of(x):
    """The input of whose flags x is made by moves, padding and concat, the number of each, -1 for 0 and -2 for 1, and: is each then
    inverted? Nothing if x is made of others."""
    if x.op == "input":
        return None if x["is_place"] else (x, identity(x.shape), False)
    if is_constant(x):
        return None, np.where(x["value"] != 0, -2, -1), False
    parts = [flags_of(arg) for arg in x.args[:1 if x.op == "where" else None]]
    if None in parts or len({id(source) for source, _, _ in parts if source}) != 1:
        return None
    source, places, is_inverted = next(part for part in parts if part[0])
    if x.op == "not" or x.op in ("equal", "not_equal") and is_number(x.args[1]) and number(x.args[1]) == 0 or is_one_or_zero(x):
        return source, places, is_inverted != (x.op in ("not", "equal") or x.op == "where" and number(x.args[1]) == 0)
    if x.op == "move":
        return source, places.reshape(-1)[x["index"]], is_inverted
    if x.op == "padded" and x["fill"] in (0, 1):
        ends = [(x["before"], x["after"]) if i == x["axis"] else (0, 0) for i in range(len(x.shape))]
        return source, np.pad(places, ends, constant_values=-2 if (x["fill"] == 1) != is_inverted else -1), is_inverted
    if x.op == "concat" and not any(inverted for _, _, inverted in parts):
        return source, np.concatenate([places for _, places, _ in parts], x["axis"]), False
    return None


def same_condition(condition, x):
    """Is the condition: x is other than 0?"""
    return condition is x or condition.op == "not_equal" and condition.args[0] is x and is_number(condition.args[1]) and number(condition.args[1]) == 0


def with_names(pairs):
    """An array of (sequence, head, query, key) along the axes on which it depends, and their names; of all keys."""
    names = []
    for axis, name in enumerate(("batch", "heads", "query", "key")):
        if pairs.shape[axis] > 1 and (name == "key" or (pairs != np.take(pairs, [0], axis)).any()):
            names.append(name)
        else:
            pairs = np.take(pairs, [0], axis)
    return tuple(names), pairs.reshape(without_ones(pairs.shape))


class Heads:
    """x (sequence, head, position, head_dim) of rows of a linear map, perhaps normed, then turned: map, the node; rows, of each
    (sequence, position); columns, of all heads; groups of heads that share columns; norm, the node or nothing; base, rope's or nothing."""

    def __init__(self, x):
        self.norm, self.base, self.map = None, None, None
        if x.op == "rope":
            self.base, x = x["base"], x.args[0]
        rows = rows_of(x) if x.op == "move" and x.args[0].op == "norm" else None
        if rows is not None and x.args[0].shape[-1] == x.shape[-1]:
            self.norm, x = x.args[0], in_rows(x.args[0].args[0], rows, x.shape[:-1])
        elif x.op == "norm":
            self.norm, x = x, x.args[0]
        if x.op == "move" and x.args[0].op == "linear":
            self.find(x.args[0], x["index"])

    def find(self, of, index):
        heads, features = index.shape[1], of.shape[-1]
        self.rows, columns = index[:, 0, :, 0] // features, index[0, :, 0] % features
        self.groups = len(np.unique(columns[:, 0]))
        if heads % self.groups or not np.array_equal(index, self.rows[:, None, :, None] * features + columns[:, None]):
            return
        shared = columns[::heads // self.groups]
        if np.array_equal(np.sort(self.rows, None), np.arange(of.size // features)) and np.array_equal(columns, np.repeat(shared, heads // self.groups, 0)):
            self.map, self.columns = of, shared.reshape(-1)

    def pair(self):
        """The weights and the bias of the map."""
        bias = self.map["bias"]
        return self.map["weight"][:, self.columns], None if bias is None else bias[self.columns]


def norms_agree(a, b):
    """Can both be norms of one option?"""
    if a is None or b is None:
        return a is b
    return (a["kind"], a["epsilon"], a["beta"] is None) == (b["kind"], b["epsilon"], b["beta"] is None) and ratio(a["epsilon"]) is not None


def in_all(x, full, batch, sizes):
    """The elements of an operand of a product, with axes of size 1 `full`, for each sequence and head."""
    return move(x, np.broadcast_to(identity(x.shape).reshape(full), (*batch, *full[-2:])).reshape(sizes))


@whole_layer
def attention(made):
    """Multi-head attention from its last linear map."""
    context = made.args[0].args[0] if made.args[0].op == "move" else made.args[0]
    if context.op != "matmul":
        return None
    weights, values = context.args
    if weights.op != "softmax" or weights["axis"] != len(weights.shape) - 1:
        return None
    (queries, keys), features, width_of_all = context["x_full"][-2:], context["y_full"][-1], made.args[0].shape[-1]
    heads, rest = divmod(width_of_all, features)
    sequences, more = divmod(math.prod(context["full"][:-2]), max(heads, 1))
    if rest or more or min(heads, sequences) == 0 or min(queries, keys) == 1 or weights.size != sequences * heads * queries * keys:
        return None
    back = identity((sequences, heads, queries, features)).swapaxes(1, 2).reshape(-1, width_of_all)
    seen = (made.args[0]["index"] if made.args[0].op == "move" else identity(context.shape)).reshape(-1, width_of_all)
    row_of = np.argsort(back[:, 0])[np.searchsorted(np.sort(back[:, 0]), seen[:, 0]) % len(back)]
    if len(seen) != len(back) or not np.array_equal(seen, back[row_of]):
        return None
    found = Scores(weights.args[0], (sequences, heads, queries, keys))
    found.find_alibi()
    core, scale = scaled(found.core)
    if len(found.kept) + len(found.bias) > MOST_TENSORS:
        return None
    if core.op != "matmul" or not np.array_equal(found.at.reshape(-1), np.arange(core.size)) or (found.cap and not ratio(found.cap)):
        return None
    (q, by_q), (k, by_k), (v, by_v) = map(scaled, (*core.args, values))
    width = core["x_full"][-1]
    if by_v != 1 or "constant" in (q.op, k.op, v.op):
        return None
    turned_keys = np.swapaxes(identity((sequences, heads, width, keys)), -1, -2)
    of_q = Heads(in_all(q, core["x_full"], core["full"][:-2], (sequences, heads, queries, width)))
    of_k = Heads(move(in_all(k, core["y_full"], core["full"][:-2], (sequences, heads, width, keys)), turned_keys))
    of_v = Heads(in_all(v, context["y_full"], context["full"][:-2], (sequences, heads, keys, features)))
    if None in (of_q.map, of_k.map, of_v.map) or of_v.base or of_v.norm or of_q.groups != heads or of_k.groups != of_v.groups or of_q.base != of_k.base:
        return None
    if not norms_agree(of_q.norm, of_k.norm):
        return None
    batch, scale = without_ones((sequences,)), scale * by_q * by_k
    x, memory, values = (in_rows(side.map.args[0], side.rows, (*batch, count)) for side, count in ((of_q, queries), (of_k, keys), (of_v, keys)))
    others = [] if memory is x and values is x else [memory] if values is memory else [memory, values]
    if made.shape[-1] != x.shape[-1]:
        return None
    usual = abs(scale * math.sqrt(width) - 1) <= 1e-5
    if not usual and not ratio(scale):
        return None

    for one, axes, mask in found.kept:
        one.constants["mask"] = (axes, mask == "score_bias")
    attends = Node("attention", [x, *others, *(one for one, *_ in found.kept)], x.shape, made.scope,
                 q=of_q.pair(), k=of_k.pair(), v=of_v.pair(), o=pair(made), q_norm=of_q.norm, k_norm=of_k.norm, heads=heads, kv_heads=of_k.groups,
                 head_dim=width, value_dim=features, scale=None if usual else ratio(scale), base=of_q.base, cap=found.cap and ratio(found.cap),
                 memory=memory if others else None, values=values if others else None, kept=[one for one, *_ in found.kept], masks=found.masks, bias=found.bias,
                   uniform=found.finite and any(mask != "score_bias" for _, _, mask in found.kept))
    return in_rows(attends, row_of, made.shape[:-1])


# ---- encoder and decoder layers ----------------------------------------------------------------------


def residual_parts(x, op, norm_first):
    """x as y + part(norm(y)), or as norm(y + part(y)): y, the part and its norm; else nothing."""
    norm_of, total = (None, x) if norm_first else (x, x.args[0] if x.op == "norm" else x)
    if total.op != "add" or (norm_of is not None and norm_of.op != "norm"):
        return None
    for y, part in (total.args, total.args[::-1]):
        if part.op == op and not norm_first and part.args[0] is y:
            return y, part, norm_of
        of_part = norm_of_rows(part.args[0]) if part.op == op and norm_first else None
        if of_part and of_part.args[0] is y:
            return y, part, of_part
    return None


@whole_layer
def block(last, norm_first):
    """An encoder or a decoder layer from its last sum or norm: attention, attention to a memory in a decoder, a network."""
    ended = residual_parts(last, "network", norm_first)
    attended = ended and residual_parts(ended[0], "attention", norm_first)
    if not attended:
        return None
    if not attended[1]["memory"]:
        return encoder(attended[0], attended[1], ended[1], attended[2], ended[2], norm_first)
    began = residual_parts(attended[0], "attention", norm_first)
    return began and not began[1]["memory"] and decoder(began, attended, ended, norm_first) or None


def norm_of_rows(x):
    """The norm that x is, also if its rows move afterwards: then one after they move."""
    rows = rows_in_other_order(x)
    if rows and rows[0].op == "norm":
        return Node("norm", [in_rows(rows[0].args[0], rows[1], x.shape[:-1])], x.shape, x.scope, **rows[0].constants)
    return x if x.op == "norm" else None


def residual(total):
    """x + attention of rows in another order: the sum is computed before they move."""
    for x, moved in (total.args, total.args[::-1]):
        rows = rows_in_other_order(moved)
        if rows and rows[0].op == "attention" and x.shape == moved.shape:
            y, order = rows
            before = [in_rows(x, np.argsort(order), y.shape[:-1]), y]
            made = elementwise("add", before, (every(y), every(y)), y.shape, total.scope)
            return in_rows(recognized(made), order, x.shape[:-1])
    return None


def norm_of_block(of_heads, norm1):
    """Has it the epsilon of the block's norms, and a beta if they have?"""
    return of_heads["epsilon"] == norm1["epsilon"] and (of_heads["kind"] == "rms_norm" or norms_agree(of_heads, norm1))


def one_kind(norms):
    """Have they one epsilon, one kind and all or none a beta?"""
    return len({(one["epsilon"], one["kind"], one["beta"] is None) for one in norms}) == 1 and ratio(norms[0]["epsilon"])


def module_of(*parts):
    """The innermost module of torch that all the parts are in; if there is none, that of the first."""
    paths = [re.split("([/.])", part.scope) for part in parts]
    common = "".join(os.path.commonprefix(paths)).strip("/.")
    return common or parts[0].scope


def of_block(attends, inner, norm1):
    """Can a layer have them as its parts?"""
    biases = [inner[part][1] is not None for part in ("gate", "up", "down") if inner[part]]
    return len(set(biases)) == 1 and not (attends["q_norm"] and not norm_of_block(attends["q_norm"], norm1))


def decoder(began, attended, ended, norm_first):
    (x, own, norm1), (_, cross, norm2), (_, inner, norm3) = began, attended, ended
    shared = ("heads", "kv_heads", "head_dim", "value_dim", "scale", "cap", "uniform")
    biased = [[attends[name][1] is not None for name in "qkvo"] for attends in (own, cross)]
    if any(own[name] != cross[name] for name in shared) or biased[0] != biased[1] or cross["base"] or own["q_norm"] or cross["q_norm"]:
        return None
    if not one_kind([norm1, norm2, norm3]) or not of_block(own, inner, norm1) or cross["values"] is not cross["memory"] or cross["memory"].shape[-1] != x.shape[-1]:
        return None
    return Node("decoder", [x, cross["memory"], *own["kept"], *cross["kept"]], x.shape, module_of(own, cross, inner, norm1, norm2, norm3), attention=own, cross=cross, network=inner,
                norm1=norm1, norm2=norm2, norm3=norm3, norm_first=norm_first)


def encoder(x, attends, inner, norm1, norm2, norm_first):
    if not one_kind([norm1, norm2]) or not of_block(attends, inner, norm1):
        return None
    return Node("encoder", [x, *attends.args[1:]], x.shape, module_of(attends, inner, norm1, norm2), attention=attends, network=inner, norm1=norm1, norm2=norm2,
                norm_first=norm_first)


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
        return residual(made) or block(made, True) or rope(made) or made
    return made


__all__ = ["elementwise", "joined", "layer_norm", "linear", "recognized", "unary"]
