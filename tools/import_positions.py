# SPDX-License-Identifier: BSL-1.0
"""For --decode: statements that have a number for each position, in words of positions, so that a step of new positions reads its own
numbers. A table along the sequence is read at position<token>, one of pairs at the distance of both positions, or at their pair."""
import re

import numpy as np

from command_line import Refused

CURE = "and a step has only the new ones; compute it outside of the model"
AXIS = re.compile(r"(\w+)<(\d+)>")


def by_distance(pairs):
    """[..., tokens, keys] as a table of the distances from -(keys - 1) on, or nothing."""
    count = pairs.shape[-1]
    distances = np.arange(count)[:, None] - np.arange(count) + count - 1
    table = np.concatenate([pairs[..., 0, :0:-1], pairs[..., :, 0]], -1)
    return np.ascontiguousarray(table) if np.array_equal(table[..., distances], pairs) else None


class ByPosition:
    """Changes the statements of a program in operations, whose sequence is `token`. keys: the positions for which a cache has room;
    option: what asked for it."""

    def __init__(self, program, elementwise, keys, option):
        self.program, self.elementwise, self.keys, self.option = program, elementwise, keys, option
        self.length = program.inputs[0].shape[0]
        self.axes = {}
        for one in program.statements:
            self.change(one)
        program.first, program.period, program.count = program.repetition()  # of the statements as they are now

    def change(self, one):
        for k, (axes, numbers) in enumerate(one.tensors):
            names = AXIS.findall(axes)
            along = [name for name, size in names if name in ("token", "key") and int(size) == self.length]
            if along:
                self.check(one)
                one.tensors[k], text = self.looked_up(one, f"{{w{k}}}", names, along, numbers)
                one.text = one.text.replace(f"{{w{k}}}", text)
        self.repeat(one)

    def refuse(self, one, reason):
        raise Refused(f"{self.option}: {one.node.origin or 'a statement'}: {reason}")

    def check(self, one):
        if one.node.op not in self.elementwise:
            self.refuse(one, f"it has a number for each position, {CURE}")
        if self.keys > self.length:
            self.refuse(one, f"its table has {self.length} positions, and the cache room for {self.keys}; export the model with {self.keys}, "
                             f"or use --decode key={self.length}")

    def looked_up(self, one, table, names, along, numbers):
        """The table, and the text that reads it."""
        if along == ["key", "token"] or len(along) > 2:
            self.refuse(one, f"it has a number for each position, {CURE}")
        if len(along) == 1:
            return (", ".join(f"{name}<{size}>" for name, size in names), numbers), f"gather<{along[0]}>({table}, position<{along[0]}>)"
        others = [k for k, (name, _) in enumerate(names) if name not in along]
        first, last = (next(k for k, (name, _) in enumerate(names) if name == axis) for axis in along)
        pairs = numbers.transpose(*others, first, last)
        found, place = by_distance(pairs), f"position<token> - position<key> + {self.length - 1}"
        if found is None:
            found, place = pairs.reshape(*pairs.shape[:-2], -1), f"position<token> * {self.length} + position<key>"
        axis = self.axis("pair" if "*" in place else "distance")
        axes = [*(f"{name}<{size}>" for name, size in (names[k] for k in others)), f"{axis}<{found.shape[-1]}>"]
        text = f"gather<{axis}>({table}, {place})"
        if not pairs[..., np.triu(np.ones((self.length, self.length), bool), 1)].any():  # so that a cache knows it
            text = f"where(position<key> > position<token>, 0.0F, {text})"
        return (", ".join(axes), np.ascontiguousarray(found)), text

    def axis(self, name):
        if name not in self.axes:
            self.axes[name] = self.program.fresh({name for x in self.program.statements for name in x.axes}, name)
        return self.axes[name]

    def repeat(self, one):
        """Along as many positions as an operand has."""
        if "broadcast<" not in one.text:
            return
        of = [k for k, x in enumerate(one.reads) if "token" in self.program.names(x)]
        extent = f"token<{{{of[0]}}}.template extent<token>>" if of else ""
        changed = re.sub(rf"(broadcast<(?:\w+<\d+>, )*)token<{self.length}>", lambda found: found[1] + extent, one.text)
        if changed != one.text and not of:
            self.refuse(one, f"it is repeated for each position, {CURE}")
        one.text = changed
