# SPDX-License-Identifier: BSL-1.0
"""Random formulas as C++: source(seeds) gives a program that computes each of them fast, by readable loops, and by
readable loops in double, and compares: the same bits, and within the tolerance of docs/numerics.md.

Operands are permuted, strided and broadcast by name, weights natural and packed, sizes are odd, size 1 among them. What is compared with 0 or
another number is an input, so that float and double take the same branch.

By seed: layers, or several results of any operations one after another (mixed.py); into memory of another order, by one to three workers.
"""
import random

SIZES = (1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 20, 31, 33)


class Formula:
    reads_inputs = True  # as positions

    def __init__(self, seed):
        self.seed = seed
        self.random = random.Random(seed)
        self.tensors = []  # (axes in the order of memory, axes as read, padded), or (in, out, biased, packed)
        self.body = []
        self.names = 0
        self.sizes = {}
        self.layer_weights = []  # (layer, parts that are filled)
        self.parts = []  # axes of tensors that are parts of an argument
        self.integers = None  # axes of an argument of integers
        self.lengths = False
        # Workers that write into memory of another order; 0: a call without any; None: no such call.
        self.workers = {1: 0, 2: seed // 8 % 3 + 1, 5: 0 if seed % 16 == 5 else None}.get(seed % 8)
        self.in_between = None  # what f stores a block of at a time, and a result all of it
        self.flags = None  # the axes of a tensor of bool

    def choose(self, *of):
        return self.random.choice(of)

    def size(self, axis, most=33):
        if axis not in self.sizes:
            small = {"batch": 3, "heads": 5, "groups": 3}.get(axis, most if len(self.sizes) < 3 else 5)
            self.sizes[axis] = self.random.choice([s for s in SIZES if s <= small])
        return self.sizes[axis]

    def tensor(self, axes, any_order=True):
        """An argument of these axes, in any order and strides; its name in the formula."""
        memory = list(axes)
        read = list(axes)
        if any_order:
            self.random.shuffle(memory)
            self.random.shuffle(read)
        for axis in axes:
            self.size(axis)
        self.tensors.append((memory, read, self.random.random() < 0.2))
        return f"x{len(self.tensors) - 1}"

    def weights(self, into, out):
        """An argument that is a linear map."""
        self.tensors.append((into, out, self.random.random() < 0.5, self.random.random() < 0.5))
        return f"x{len(self.tensors) - 1}"

    def part(self, axes):
        """A tensor of these axes that is a part of an argument."""
        for axis in axes:
            self.size(axis)
        self.parts.append(axes)
        return f"xw.p{len(self.parts) - 1}"

    def part_of(self, axes, at_least=0):
        """Some of the axes, as a broadcast operand has them."""
        count = self.random.randint(at_least, len(axes))
        return self.random.sample(list(axes), count)

    def let(self, expression):
        self.names += 1
        name = f"t{self.names}"
        self.body.append(f"auto {name} = {expression};")
        return name

    # Numbers of about 1 give numbers of about 1.
    def unary(self, a):
        if a[0] != "t" and a[0] != "x":
            return f"{a} * 1"
        return self.choose(f"tanh({a})", f"exp(-abs({a}))", f"silu({a})", f"gelu_tanh({a})", f"gelu_exact({a})",
                           f"relu({a})", f"sigmoid({a})", f"log(abs({a}) + 0.5f)", f"sqrt(abs({a}) + 0.5f)", f"rsqrt(abs({a}) + 0.5f)", f"-{a}", f"abs({a})",
                           f"softplus({a})", f"log_sigmoid({a})", f"elu({a})", f"erf({a})", f"sin({a})", f"cos({a})",
                           f"pow(abs({a}) + 0.5f, 1.5f)", f"pow(0.5f, abs({a}))", f"clamp({a}, -0.75f, 0.5f)")

    def condition(self, axes):
        one = self.choose("input", "position", "positions", "two")
        if one == "input" or not axes:
            x = self.tensor(self.part_of(axes))
            return self.choose(f"{x} < 0.25f", f"{x} >= -0.5f", f"!({x} <= 0)")
        first = self.random.choice(axes)
        if one == "position":
            return f"position<{first}> {self.choose('<', '>=', '==', '!=')} {self.random.randint(0, self.size(first))}"
        if one == "positions" and len(axes) > 1:
            a, b = self.random.sample(list(axes), 2)
            return f"position<{a}> + {self.random.randint(-2, 3)} {self.choose('<', '<=', '>', '==', '!=')} position<{b}>"
        return f"({self.condition(axes)} {self.choose('&&', '||')} position<{first}> < {self.size(first) // 2})"

    def elementwise(self, start, axes, steps):
        """A program over these axes that begins with `start`."""
        known = [start]
        for _ in range(steps):
            a = self.random.choice(known[-3:])
            kind = self.random.random()
            if kind < 0.35:
                made = self.unary(a)
            elif kind < 0.75:
                b = self.choose(self.tensor(self.part_of(axes)), self.random.choice(known),
                                self.choose("0.5f", "2", "-0.25f"))
                made = self.choose(f"{a} + {b}", f"{b} - {a}" if a != b else f"{b} - {a} * 2", f"{a} * {b}", f"{a} / ({b} * {b} + 1)",
                                   f"maximum({a}, {b})", f"minimum({b}, {a})",
                                   f"{a} * 0.5f + {b}")
            elif kind < 0.9:
                b = self.choose(self.random.choice(known), "0.125f")
                if self.random.random() < 0.25:
                    a, b = self.tensor(self.part_of(axes)), a
                made = f"where({self.condition(axes)}, {a}, {b})"
            else:
                place = self.random.choice(axes) if axes else None
                made = f"{a} + position<{place}> * 0.0625f" if place else f"{a} * 0.75f"
                if place and self.random.random() < 0.6:
                    made = f"{a} + {self.gathered(axes)}"
            known.append(self.let(made))
        return known[-1]

    def gathered(self, axes):
        """Elements of a table at positions, or at numbers of an input; some are outside of it."""
        table = self.tensor(["offset"] + self.part_of(axes))
        a, b = self.random.sample(list(axes), 2) if len(axes) > 1 else 2 * list(axes)
        shift = self.random.randint(-1, self.size(b))
        at = [f"position<{a}> - position<{b}> + {shift}" if a != b else f"position<{a}> + {shift}",
              f"clamp(position<{a}> * 2 - {shift}, -3, {self.size('offset') - 3}) + 3",
              f"floor(position<{a}> / 3) * 2 + position<{b}> % 4"]
        if self.reads_inputs:
            at.append(f"floor({self.tensor(self.part_of(axes))} * 4) + 2")
        return f"gather<offset>({table}, {self.random.choice(at)})"

    def scores(self, start, axes):
        """A program of scores: as it is, scaled, biased, capped, hidden."""
        scaled = self.let(f"{start} * {self.choose('0.25f', '0.125f', '0.5f')}") if self.random.random() < 0.8 else start
        kind = self.random.random()
        if kind < 0.2:
            made = scaled
        elif kind < 0.45:
            made = self.let(f"{scaled} + {self.tensor(self.part_of(axes))}")
        elif kind < 0.6:
            made = self.let(f"tanh({scaled} * 0.25f) * 4")
        elif kind < 0.75 and "heads" in axes:
            slope = self.tensor(["heads"])
            made = self.let(f"{scaled} + {slope} * (position<key> - position<query>)")
        else:
            made = self.elementwise(scaled, axes, self.random.randint(1, 3))
        for _ in range(self.random.choice((0, 0, 1, 1, 2))):
            made = self.let(f"hide({made}, {self.condition_of_keys(axes)})")
        return made

    def condition_of_keys(self, axes):
        """Mostly one that is a range of keys."""
        outer = [axis for axis in axes if axis not in ("query", "key")]
        return self.choose("position<key> > position<query>", "position<key> + 5 <= position<query>",
                           f"position<key> {self.choose('>', '>=')} {self.tensor(self.part_of(outer))}",
                           f"position<key> < maximum(position<query> - {self.random.randint(0, 70)}, 3)",
                           self.condition(axes))

    def attention(self):
        outer = self.random.sample(["batch", "heads", "groups"], self.random.randint(0, 3))
        shared = self.part_of(outer) if self.random.random() < 0.3 else outer  # of keys and values
        queries = self.random.random() < 0.9
        axes = outer + (["query"] if queries else [])
        q = self.tensor(axes + ["head_dim"])
        k = self.tensor(shared + ["key", "head_dim"])
        v = self.tensor(shared + ["key", self.choose("head_dim", "value_dim")])
        if self.random.random() < 0.15:
            q = self.let(f"{q} * 0.5f + {self.tensor(['head_dim'])}")
        sides = (q, k) if self.random.random() < 0.8 else (k, q)
        s = self.let(f"contract<head_dim>({sides[0]}, {sides[1]})")
        all_axes = axes + ["key"]
        if self.random.random() < 0.2:  # scores in two parts
            more = self.tensor(self.choose(axes, self.part_of(axes)) + ["hidden"]), self.tensor(["key", "hidden"])
            s = self.let(f"{s} + contract<hidden>({more[0]}, {more[1]})")
        if not queries:  # position<query> is nowhere
            s = self.let(f"{s} * 0.25f")
            if self.random.random() < 0.5:
                s = self.let(f"{s} + {self.tensor(self.part_of(all_axes))}")
        else:
            s = self.scores(s, all_axes)
        w = self.let(f"softmax<key>({s})")
        out = self.let(f"contract<key>({w}, {v})" if self.random.random() < 0.8 else f"contract<key>({v}, {w})")
        if self.random.random() < 0.3:
            out = self.let(f"{out} * 2 - 1")
        return out

    def attention_by_rows(self):
        """What is no softmax of a program of scores alone: a program after it, two of them, none, a sink."""
        outer = self.random.sample(["batch", "heads", "groups"], self.random.randint(0, 2))
        self.sizes["query"] = self.choose(2, 17, 33, 70, 131)
        self.sizes["key"] = self.choose(1, 5, 17, 33, 64, 77, 130)
        shared = self.part_of(outer) if self.random.random() < 0.3 else outer
        axes, products = outer + ["query", "key"], []
        v = self.tensor(shared + ["key", "value_dim"])

        def weights():
            q, k = self.tensor(outer + ["query", "head_dim"]), self.tensor(shared + ["key", "head_dim"])
            s = self.let(f"contract<head_dim>({', '.join(self.choose((q, k), (k, q)))})")
            products.append(s)
            s = self.scores(s, axes)
            if self.random.random() < 0.25:  # a logit of no key
                sizes = ", ".join(f"{axis}<{self.sizes[axis]}>" for axis in axes[:-1])
                sink = f"({self.tensor(self.part_of(axes[:-1]))} | broadcast<{sizes}, key<1>>)"
                parts = [f"({s} | permute<{', '.join(axes)}>)", sink]
                first = self.random.randint(0, 1)
                w = self.let(f"softmax<key>(concat<key>({', '.join(parts[::1 - 2 * first])}))")
                return self.let(f"({w} | slice<key, from<{first}>, extent<{self.sizes['key']}>>)")
            return self.let(f"softmax<key>({s})") if self.random.random() < 0.7 else self.let(f"sigmoid({s})")
        w = weights()
        if self.random.random() < 0.3:
            w = self.let(f"{w} - {self.choose('0.25f', self.tensor([]), self.tensor(self.part_of(outer)))} * {weights()}")
        w = self.elementwise(w, axes, self.random.randint(1, 3))
        for _ in range(self.random.choice((0, 0, 1, 1, 2))):  # what is zero outside of a range
            condition = self.condition_of_keys(axes)
            w = self.let(self.choose(f"where({condition}, 0, {w})", f"where({condition}, {w}, 0)", f"{w} * !({condition})",
                                     f"{w} * where({condition}, 0, {self.tensor(self.part_of(axes))})"))
            if self.random.random() < 0.4:  # a function along these keys
                w = self.let(self.choose(f"{w} / (sum<key>(abs({w})) + 1)", f"{w} * rsqrt(mean<key>({w} * {w}) + 1)",
                                         f"where({condition}, 0, cumulative_sum<key>({w} * 0.125f))",
                                         f"where({condition}, cumulative_sum<key, exclusive, from_last>({w} * 0.125f), 0)",
                                         f"softmax<key>(hide({w}, {condition})) * {w}"))
        self.in_between = w
        out = self.let(f"contract<key>({', '.join(self.choose((w, v), (v, w)))})")
        if self.random.random() < 0.4:
            out = self.let(f"{out} * 2 - {self.tensor(self.part_of(outer + ['query', 'value_dim']))}")
        if self.seed % 5 < 2:  # the scores again, in a second attention
            s, condition = products[0], self.condition_of_keys(axes)
            again = self.choose(f"hide(-{s}, {condition})", f"hide({s}, {condition})", f"tanh({s})", f"where({s} > 0, {s}, {s} * 0.5f)")
            out = self.let(f"{out} + contract<key>(softmax<key>({again}), {v})")
        return out

    def chain(self):
        axes = self.random.sample(["batch", "heads", "query", "hidden", "token"], self.random.randint(1, 4))
        return self.elementwise(self.tensor(axes), axes, self.random.randint(2, 7))

    def contraction(self):
        paired = self.random.sample(["batch", "heads"], self.random.randint(0, 2))
        left = self.random.sample(["query", "token"], self.random.randint(0, 2))
        right = self.random.sample(["key", "hidden"], self.random.randint(0, 2))
        a = self.tensor(paired + left + ["head_dim"])
        b = self.tensor(paired + right + ["head_dim"])
        if self.random.random() < 0.5:
            a = self.let(self.unary(a))
        c = self.let(f"contract<head_dim>({a}, {b})")
        axes = paired + left + right
        if self.random.random() < 0.6:
            c = self.elementwise(self.let(f"{c} * 0.25f"), axes, self.random.randint(1, 3))
        if axes and self.random.random() < 0.4:
            c = self.let(f"softmax<{self.random.choice(axes)}>({c})")
        if self.random.random() < 0.3:
            c = self.let(f"{c} + {c} * {self.tensor(self.part_of(axes))}")
        return c

    def tail(self, product, axes):
        """What follows a product: nothing, a program, another order."""
        if self.random.random() < 0.8:
            product = self.elementwise(product, axes, self.random.randint(1, 4))
        if len(axes) > 1 and self.random.random() < 0.4:
            order = self.random.sample(axes, len(axes))
            product = self.let(f"{product} | permute<{', '.join(order)}> | contiguous")
            if self.random.random() < 0.5:
                product = self.elementwise(product, axes, 1)
        return product

    def projection(self):
        outer = self.random.sample(["batch", "heads", "query", "token"], self.random.randint(0, 3))
        self.sizes["intermediate"] = self.choose(1, 2, 5, 10, 16, 17, 33, 50, 65, 100)
        x = self.tensor(outer + ["hidden"])
        axes = outer + ["intermediate"]
        c = self.let(f"{x} * {self.weights('hidden', 'intermediate')}")
        if self.random.random() < 0.4:
            c = self.let(f"({c} | silu) * ({x} * {self.weights('hidden', 'intermediate')})")
        return self.tail(c, axes)

    def contraction_with_a_tail(self):
        left = self.random.sample(["batch", "heads", "query"], self.random.randint(1, 3))
        paired = self.random.sample(left, self.random.randint(0, len(left) - 1))
        right = self.random.sample(["key", "token"], self.random.randint(0, 2))
        over = self.choose(["head_dim"], ["head_dim"], ["head_dim", "groups"])
        a, b = self.tensor(left + over), self.tensor(paired + right + over)
        return self.tail(self.let(f"contract<{', '.join(over)}>({a}, {b})"), left + right)

    def reduction(self):
        axes = self.random.sample(["batch", "heads", "query", "hidden", "token"], self.random.randint(2, 4))
        x = self.elementwise(self.tensor(axes), axes, self.random.randint(0, 3))
        over = self.random.sample(axes, self.random.randint(1, len(axes) - 1))
        kept = [axis for axis in axes if axis not in over]
        kind = self.choose("sum", "mean", "max", "min", "variance")
        word = f"{kind}<{', '.join(over)}>"
        r = self.let(self.choose(f"{word}({x})", f"{x} | {word}"))
        if kind == "sum":
            r = self.let(f"{r} * 0.125f")
        if self.random.random() < 0.5:  # a norm, written out
            return self.elementwise(self.let(f"{x} * rsqrt({r} * {r} + 1)"), axes, self.random.randint(0, 2))
        return self.elementwise(r, kept, self.random.randint(0, 2))

    def norm(self):
        axes = self.random.sample(["batch", "heads", "query", "hidden", "token"], self.random.randint(1, 4))
        axis = self.random.choice(axes)
        self.sizes[axis] = self.choose(1, 3, 16, 17, 33, 50, 100)
        x = self.tensor(axes)
        read = self.tensors[-1][1]
        if self.random.random() < 0.7:  # rows
            read.append(read.pop(read.index(axis)))
        x = self.elementwise(x, axes, self.random.randint(0, 2))
        d = self.let(f"{x} - {self.choose('mean', 'max', 'min')}<{axis}>({x})") if self.random.random() < 0.7 else x
        scale = self.choose(f"mean<{axis}>({d} * {d})", f"max<{axis}>(abs({d}))",
                            f"sum<{axis}>({self.elementwise(d, axes, self.random.randint(1, 2))} * 0.0625f) * {self.tensor([])}")
        known = self.let(f"{d} / (abs({self.let(scale)}) + 0.5f)")
        return self.elementwise(known, axes, self.random.randint(0, 2))

    def sums_of_several_axes(self):
        kept = self.random.sample(["batch", "query", "token"], self.random.randint(1, 2))
        over = ["heads", "head_dim"]
        a = self.tensor(kept[:1] + over)
        b = self.tensor(kept[1:] + over)
        return self.let(f"contract<{', '.join(self.random.sample(over, 2))}>({a}, {b}) * 0.125f")

    def joined(self):
        """Parts one after another, or along a new axis in front."""
        axes = self.random.sample(["batch", "heads", "query", "hidden", "token"], self.random.randint(1, 3))
        order = f"permute<{', '.join(axes)}>"
        parts = []
        for _ in range(self.random.randint(2, 5)):
            x = self.tensor(axes)
            parts.append(f"({self.let(self.unary(x)) if self.random.random() < 0.5 else x} | {order})")
        if self.random.random() < 0.5:
            self.sizes["groups"] = len(parts)
            return self.elementwise(self.let(f"stack<groups>({', '.join(parts)})"), ["groups"] + axes,
                                    self.random.randint(0, 2))
        along = self.random.choice(axes)
        cut = f"slice<{along}, from<{self.random.randint(0, (len(parts) - 1) * self.sizes[along])}>, extent<{self.sizes[along]}>>"
        joined = self.let(f"concat<{along}>({', '.join(parts)})")
        return self.elementwise(self.let(f"{joined} | {cut}"), axes, self.random.randint(0, 2))

    def layer(self, kind, parts, epsilon=""):
        """A layer of weights that are a part of an argument."""
        self.layer_weights.append((kind, parts))
        return f"{kind}{{xw.w{len(self.layer_weights) - 1}{epsilon}}}"

    def layers(self):
        """Layers one after another, with residual connections."""
        width, heads = self.choose((8, 2), (12, 3), (20, 4), (20, 1))
        self.sizes = {"hidden": width, "token": self.choose(1, 2, 5, 17), "batch": self.choose(1, 2, 3), "heads": heads}
        self.sizes["query"] = self.sizes["key"] = self.sizes["token"]
        axes = self.choose(["token", "hidden"], ["batch", "token", "hidden"])
        of_scores = axes[:-2] + ["heads", "query", "key"]
        x = self.tensor(axes)
        self.body.append(f"using T = typename std::remove_cvref_t<decltype({x})>::value_type;")
        t = self.let(f"contiguous({x} | permute<{', '.join(axes)}>)")
        hidden, linear = f"hidden<{width}>", ("weight", "bias")

        def of(*maps):
            return [f"{m}.{part}" for m in maps for part in linear]
        for _ in range(self.random.randint(2, 4)):
            kind = self.choose("norm", "rms", "linear", "network", "attention", "attention")
            if kind == "norm":
                made = self.layer(f"layer_norm<T, {hidden}>", ["gamma", "beta"]) + f"({t})"
            elif kind == "rms":
                made = self.layer(f"rms_norm<T, {hidden}>", ["gamma"], ", T(1e-3f)") + f"({t})"
            elif kind == "linear":
                made = self.layer(f"linear<T, {hidden}, {hidden}, bias<true>>", linear) + f"({t})"
            elif kind == "network":
                options = self.choose("activation<relu>", "activation<silu>, gated<true>")
                maps = of("up", "down") + (of("gate") if "gated" in options else [])
                made = self.layer(f"feed_forward<T, {hidden}, intermediate<17>, bias<true>, {options}>", maps) + f"({t})"
            else:
                masks = self.random.sample(("causal", "lens", "alibi", "keep_mask(flags)", "given", "score_bias", "dropout(0.2, 5)",
                                            "sliding_window<3>", "causal_at(2)", "causal_at(lens)"), self.random.randint(0, 3))
                if "score_bias" in masks:
                    masks[masks.index("score_bias")] = f"score_bias({self.tensor(self.part_of(of_scores))})"
                mask = ", " + " & ".join(masks) if masks else ""
                self.lengths = self.lengths or "lens" in mask
                if self.flags is None and ("flags" in mask or "given" in mask):
                    self.flags = self.part_of(of_scores)
                layer = self.layer(f"multi_head_attention<T, {hidden}, heads<{heads}>, bias<true>>",
                                   of("q", "k", "v", "o"))
                made = f"{layer}({t}{mask})"
            made = self.let(made)
            t = self.let(f"{made} * 0.5f + {t}") if self.random.random() < 0.6 else made
        return t

    def make(self):
        """Writes the body; the name of the result."""
        kinds = (self.attention, self.attention, self.attention, self.attention_by_rows, self.attention_by_rows, self.chain, self.chain,
                 self.contraction, self.contraction, self.reduction, self.sums_of_several_axes, self.projection, self.projection,
                 self.contraction_with_a_tail, self.joined, self.norm)
        return (self.layers if self.seed % 8 == 5 else self.choose(*kinds))()

    def axes(self, names):
        """What follows the element type of a tensor of these axes."""
        return "".join(f", {axis}<{self.sizes[axis]}>" for axis in names)

    def write(self):
        result = self.make()
        names = [f"x{i}" for i in range(len(self.tensors))]
        lines = ["{"]
        if self.lengths:
            lines.append("static const tensor<int> lens{4};")
            names.append("lens")
        if self.integers is not None:
            lines.append(f"static tensor<int{self.axes(self.integers)}> ids; fill_integers(ids);")
            names.append("ids")
        if self.flags is not None:
            lines.append(f"static tensor<bool{''.join(f', {axis}<{self.sizes[axis]}>' for axis in self.flags)}> flags;")
            lines.append("fill_flags(flags);")
            lines.append("const auto given = drop_mask(flags) & sliding_window<2, 2>;")
            names += ["flags", "given"]
        if self.layer_weights or self.parts:
            struct = f"weights_{self.seed}"
            lines.append(f"static {struct}<float> xw; static {struct}<double> yw;")
            lines += [f"fill_both(xw.w{i}.{part}, yw.w{i}.{part});"
                      for i, (_, parts) in enumerate(self.layer_weights) for part in parts]
            lines += [f"fill_both(xw.p{i}, yw.p{i});" for i in range(len(self.parts))]
            names.append("xw")
        shapes = []
        for i, one in enumerate(self.tensors):
            if len(one) == 4:
                into, out, biased, packed = one
                layer = f"{into}<{self.sizes[into]}>, {out}<{self.sizes[out]}>, bias<{'true' if biased else 'false'}>"
                shapes.append((layer, packed))
                continue
            memory, read, padded = one
            axes = [f"{axis}<{self.sizes[axis]}>" for axis in memory]
            inner = memory[-1] if memory else None
            if padded and inner:
                axes[-1] = f"{inner}<{self.sizes[inner] + 3}>"
            pipes = f" | slice<{inner}, from<2>, extent<{self.sizes[inner]}>>" if padded and inner else ""
            if read != memory:
                pipes += " | permute<" + ", ".join(read) + ">"
            shapes.append((", ".join(axes), pipes))
        for i, (axes, pipes) in enumerate(shapes):
            if len(self.tensors[i]) == 4:
                for element, name, memory in (("float", "x", "m"), ("double", "y", "d")):
                    lines.append(f"static linear<{element}, {axes}>::weights {memory}{i};")
                    lines.append(f"fill_weights(m{i});" if element == "float" else f"copy_weights(m{i}, d{i});")
                    if pipes:
                        lines.append(f"static const prepacked<linear<{element}, {axes}>> p{name}{i}{{{memory}{i}}};")
                    lines.append(f"const auto& {name}{i} = {f'p{name}{i}.get_weights()' if pipes else f'{memory}{i}'};")
                continue
            listed = f"float{', ' if axes else ''}{axes}"
            lines.append(f"static tensor<{listed}> m{i}; fill(m{i}); const auto x{i} = as_read(m{i}{pipes});")
            lines.append(f"static tensor<double{', ' if axes else ''}{axes}> d{i}; copy(m{i}, d{i}); "
                         f"const auto y{i} = as_read(d{i}{pipes});")
        arguments = ", ".join(names)

        def define(name, gives):
            taken = ", ".join("const auto& " + n for n in names)
            return "\n".join([f"constexpr formula {name} = []({taken}) {{"] + ["  " + line for line in self.body] +
                             [f"  return {gives};", "};"])
        lines += [define("f", result), f"check(f, {arguments});"]
        if self.in_between and result.isidentifier():
            lines += [define("stores", f"std::pair{{{result}, {self.in_between}}}"), f"check_stored(f, stores, {arguments});"]
        if self.workers is not None:
            lines.append(f"check_apart<{self.workers}>(f, {arguments});")
        lines.append(f"compare(result(f, {arguments}), result(plain(f), {', '.join(n.replace('x', 'y') for n in names)}));")
        lines.append("}")
        return "\n".join(lines)

    def declared(self):
        """What stands before the function: the struct of its weights."""
        members = [f"typename {kind}::weights w{i};" for i, (kind, _) in enumerate(self.layer_weights)]
        members += [f"tensor<T{self.axes(part)}> p{i};" for i, part in enumerate(self.parts)]
        return f"template <class T> struct weights_{self.seed} {{ {' '.join(members)} }};\n" if members else ""


HEADER = """// Made by test/formulas/generate.py.
#include "formulas.hpp"
using namespace umbel;
using namespace umbel::axes;
template <std::size_t N> struct groups : axis<groups, N> {};
template <std::size_t N> struct offset : axis<offset, N> {};
"""


def source(seeds):
    from mixed import Mixed  # which takes Formula from here

    parts = [HEADER]
    for seed in seeds:
        formula = (Mixed if seed % 8 == 3 else Formula)(seed)
        body = formula.write()
        parts.append(f"{formula.declared()}static void formula_{seed}() {body}")
    parts.append("int main() {")
    parts += [f'  run({seed}, formula_{seed});' for seed in seeds]
    parts.append("}")
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    import sys
    print(source(range(int(sys.argv[1]), int(sys.argv[2]))))
