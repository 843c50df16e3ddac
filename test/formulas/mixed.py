# SPDX-License-Identifier: BSL-1.0
"""A formula of any operations one after another, of arguments with parts, integers and tensors, with several results: what each operation gives is
an operand of those that follow. (generate.py has the shapes that are computed in one pass.)
"""
from generate import Formula

BASE = ("batch", "heads", "query", "hidden", "token", "key", "head_dim")
NEW = ("intermediate", "value_dim", "kv_heads", "classes", "score_hidden")  # of axes that an operation makes
LENGTHS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 20)
MOST = 2500  # elements of a value


class Mixed(Formula):
    def __init__(self, seed):
        super().__init__(seed)
        self.workers = seed // 8 % 4

    def make(self):
        self.sizes = {axis: self.choose(*LENGTHS) for axis in BASE}
        self.base = self.random.sample(BASE, 4)
        self.values, self.results = [], []
        for _ in range(self.random.randint(1, 2)):
            axes = self.some(self.base, 1, 3)
            self.values.append((self.tensor(axes), axes))
        self.body.append(f"using T = typename std::remove_cvref_t<decltype({self.values[0][0]})>::value_type;")
        operations = (self.changed, self.combined, self.combined, self.chosen, self.contracted, self.reduced, self.softmaxed, self.attended,
                      self.reread, self.reread, self.joined_values, self.rotated, self.looked_up, self.one_hot, self.normed)
        wanted = self.random.randint(3, 5)
        for _ in range(100):
            if len(self.results) == wanted:
                break
            self.random.choice(operations)(*self.value())
        others = self.random.sample(self.results[:-1], min(self.choose(0, 1, 2, 3), len(self.results) - 1))
        results = others + [self.results[-1]]
        return results[0] if len(results) == 1 else f"std::tuple{{{', '.join(results)}}}"

    def some(self, axes, least=0, most=4):
        """Some of the axes that a value of these has room for."""
        while True:
            found = self.random.sample(list(axes), self.random.randint(least, min(most, len(axes))))
            if self.count(found) <= MOST:
                return found

    def count(self, axes):
        product = 1
        for axis in axes:
            product *= self.sizes[axis]
        return product

    def value(self):
        """One that is there, more often a late one, and its axes."""
        late = self.values[-3:] if self.random.random() < 0.7 else self.values
        return self.random.choice([v for v in late if v[1]] or [v for v in self.values if v[1]])

    def operand(self, axes):
        """Of some of the axes: a value, a part of an argument, an argument; and its axes."""
        kind = self.random.random()
        fits = [v for v in self.values if set(v[1]) <= set(axes)]
        if kind < 0.4 and fits:
            return self.random.choice(fits)
        own = self.some(axes)
        return (self.part(own) if kind < 0.7 else self.tensor(own)), own

    def keep(self, expression, axes):
        name = self.let(expression)
        self.values.append((name, list(axes)))
        self.results.append(name)

    def new_axis(self, size):
        """The name of an axis that nothing has."""
        free = [axis for axis in NEW if axis not in self.sizes]
        if not free:
            return None
        self.sizes[free[0]] = size
        return free[0]

    def in_order(self, name, axes):
        return f"({name} | permute<{', '.join(axes)}>)"

    # The operations: of a value and its axes. One that does not fit does nothing.
    def changed(self, x, axes):
        self.keep(self.unary(x), axes)

    def combined(self, x, axes):
        y, own = self.operand(axes)
        if self.random.random() < 0.2:
            y = self.choose("0.5f", f"position<{self.random.choice(axes)}> * 0.0625f")
        self.keep(self.choose(f"{x} + {y}", f"{y} - {x}" if x != y else f"{y} - {x} * 2", f"{x} * {y}", f"maximum({y}, {x})", f"{x} * 0.5f + {y}", f"{y} / ({x} * {x} + 1)"), axes)

    def chosen(self, x, axes):
        y, _ = self.operand(axes)
        self.keep(self.choose(f"where({self.condition(axes)}, {x}, {y})", f"where({self.condition(axes)}, 0.5f, {x})"), axes)

    def contracted(self, x, axes):
        over = self.random.sample(axes, min(len(axes), self.choose(1, 1, 2)))
        room = [axis for axis in self.base if axis not in over]
        others = over + self.some(room, 0, 2)
        self.random.shuffle(others)
        y = self.part(others) if self.random.random() < 0.4 else self.tensor(others)
        kept = [axis for axis in axes if axis not in over] + [axis for axis in others if axis not in axes]
        if self.count(kept) > MOST or len(kept) > 5:
            return
        product = f"contract<{', '.join(over)}>({x}, {y})"
        self.keep(self.choose(f"{product} * 0.25f", f"tanh({product} * 0.25f)", f"{product} * 0.25f + 1"), kept)

    def reduced(self, x, axes):
        over = self.random.sample(axes, min(len(axes), self.choose(1, 1, 2)))
        kind, read = self.choose("sum", "mean", "max", "min", "variance"), self.choose(x, x, f"(({x} - 0.5f) * {x})")
        self.keep(f"{kind}<{', '.join(over)}>({read}) * 0.25f", [axis for axis in axes if axis not in over])

    def softmaxed(self, x, axes):
        axis = self.random.choice(axes)
        self.keep(self.choose(f"softmax<{axis}>({x})", f"log_softmax<{axis}>({x})", f"softmax<{axis}>(hide({x}, {self.condition(axes)}))"), axes)

    def attended(self, x, axes):
        over = self.random.choice(axes)
        outer = [axis for axis in axes if axis != over]
        keys = self.random.choice([axis for axis in self.base if axis != over])
        if keys in outer:
            outer.remove(keys)  # of each key its own query
            scores_axes = outer + [keys]
        else:
            scores_axes = outer + [keys]
        features = self.random.choice([axis for axis in BASE if axis not in scores_axes])
        if self.count(scores_axes) > MOST or self.count(outer + [features]) > MOST:
            return
        k = self.tensor(self.part_of(outer) + [keys, over])
        v = self.tensor(self.part_of(outer) + [features, keys])
        scores = f"contract<{over}>({x}, {k}) * 0.25f"
        if self.random.random() < 0.5:
            scores = f"{scores} + {self.operand(scores_axes)[0]}"
        if self.random.random() < 0.5:
            scores = f"hide({scores}, {self.condition(scores_axes)})"
        self.keep(f"contract<{keys}>(softmax<{keys}>({scores}), {v})", outer + [features])

    def reread(self, x, axes):
        kind = self.choose("select", "slice", "permute", "contiguous", "split", "merge", "broadcast", "windows", "padded")
        axis = self.random.choice(axes)
        rest, size = [a for a in axes if a != axis], self.sizes[axis]
        if kind == "select" and rest:
            self.keep(f"{x} | select_at<{axis}, {self.random.randrange(size)}>", rest)
        elif kind == "slice":
            length = self.random.randint(1, size)
            if made := self.new_axis(length):
                begin = self.random.randint(0, size - length)
                self.keep(f"{x} | slice<{axis}, from<{begin}>, extent<{length}>> | rename_axis<{axis}, {made}>", rest + [made])
        elif kind == "windows":
            self.seen_in_windows(x, axis, rest)
        elif kind == "padded":
            before, after = self.choose(0, 1, 2), self.choose(0, 1, 3)
            if self.count(rest) * (size + before + after) <= MOST and (made := self.new_axis(size + before + after)):
                number = self.choose("0", "-1.5")
                self.keep(f"padded<{axis}, before<{before}>, after<{after}>>({x}, {number}) | rename_axis<{axis}, {made}>",
                          [made if a == axis else a for a in axes])
        elif kind in ("permute", "contiguous"):
            order = self.random.sample(axes, len(axes))
            self.keep(self.in_order(x, order) + (" | contiguous" if kind == "contiguous" else ""), order)
        elif kind == "split":
            outer = self.random.choice([n for n in (1, 2, 3, 4) if size % n == 0])
            first, second = self.new_axis(outer), self.new_axis(size // outer)
            if second:
                self.keep(f"{x} | split<{axis}, {first}<{outer}>, {second}>", rest + [first, second])
        elif kind == "merge" and rest:
            order = self.random.sample(axes, len(axes))
            if made := self.new_axis(self.count(order[:2])):
                merged = f"merge<{order[0]}, {order[1]}, {made}>"
                self.keep(f"{self.in_order(x, order)} | contiguous | {merged}", [made] + order[2:])
        elif kind == "broadcast":
            more = [a for a in self.base if a not in axes and self.count(axes + [a]) <= MOST]
            if more:
                new = [self.random.choice(more)] + axes
                self.keep(f"{x} | broadcast<{', '.join(f'{a}<{self.sizes[a]}>' for a in new)}>", new)

    def seen_in_windows(self, x, axis, rest):
        size, length = self.sizes[axis], self.random.randint(1, min(4, self.sizes[axis]))
        dilation = self.random.randint(1, max(1, (size - 1) // max(1, length - 1)))
        stride = self.choose(1, 1, 2, 3)
        count = (size - (length - 1) * dilation - 1) // stride + 1
        if self.count(rest) * count * length > MOST:
            return
        places, made = self.new_axis(length), self.new_axis(count)
        if made:
            seen = f"windows<{axis}, {places}<{length}>, stride<{stride}>, dilation<{dilation}>>"
            self.keep(f"{x} | {seen} | rename_axis<{axis}, {made}>", [*rest, made, places])

    def joined_values(self, x, axes):
        parts = [self.in_order(x, axes)]
        same = [name for name, own in self.values if set(own) == set(axes)]
        parts += [self.in_order(self.random.choice(same), axes) for _ in range(self.random.randint(1, 5))]
        self.random.shuffle(parts)
        if self.count(axes) * len(parts) > MOST:
            return
        if self.random.random() < 0.5:
            if made := self.new_axis(len(parts)):
                self.keep(f"stack<{made}>({', '.join(parts)})", [made] + axes)
        else:
            axis = self.random.choice(axes)
            if made := self.new_axis(self.sizes[axis] * len(parts)):
                rest = [a for a in axes if a != axis]
                self.keep(f"concat<{axis}>({', '.join(parts)}) | rename_axis<{axis}, {made}>", rest + [made])

    def rotated(self, x, axes):
        even = [axis for axis in axes if self.sizes[axis] % 2 == 0]
        if even and len(axes) > 1:
            features = self.random.choice(even)
            positions = self.random.choice([axis for axis in axes if axis != features])
            self.keep(f"rotate<{self.choose('split_halves', 'adjacent_pairs')}, {positions}, {features}>({x})", axes)

    def ids(self):
        """An argument of integers."""
        if self.integers is None:
            self.integers = self.some(self.base, 1, 2)
        return "ids", self.integers

    def looked_up(self, *_):
        ids, own = self.ids()
        rows, features = self.random.sample([axis for axis in BASE if axis not in own], 2)
        if self.count(own + [features]) <= MOST:
            table = self.in_order(self.tensor([rows, features]), [rows, features])
            self.keep(f"lookup({table}, {ids})", own + [features])

    def one_hot(self, *_):
        ids, own = self.ids()
        size = self.random.randint(1, 12)
        if self.count(own) * size <= MOST and (made := self.new_axis(size)):
            self.keep(f"one_hot<{made}<{size}>>({ids})", own + [made])

    def normed(self, x, axes):
        axis = axes[-1]
        layer = self.layer(f"layer_norm<T, {axis}<{self.sizes[axis]}>>", ["gamma", "beta"])
        self.keep(f"{layer}({self.in_order(f'({x} + {self.tensor(axes)})', axes)} | contiguous)", axes)
