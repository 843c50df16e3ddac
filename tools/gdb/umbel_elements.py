# SPDX-License-Identifier: BSL-1.0
"""What the printers of gdb and lldb share: axes from the name of a type, and elements as text. Memory is what a debugger has:

    is_pointer, limit    is it a pointer; how many elements are shown whole, or None
    address()            where it is, as text
    element(i)           as text; raises Unreadable
    type_name()          of an element
"""
import itertools


class Unreadable(Exception):
    """Why memory cannot be read."""


def split_arguments(name):
    """'a::b<c<1>, d>' -> ('a::b', ['c<1>', 'd'])."""
    start = name.find("<")
    if start < 0:
        return name, []
    arguments, depth, begin = [], 0, start + 1
    for at in range(start, len(name)):
        if name[at] in "<(":
            depth += 1
        elif name[at] in ">)":
            depth -= 1
        if (name[at] == "," and depth == 1) or (name[at] == ">" and depth == 0):
            arguments.append(name[begin:at].strip())
            begin = at + 1
    return name[:start], [a for a in arguments if a]


def to_number(text):
    return int(text.rstrip("uUlL"))


class Axis:
    """Of the name of its type: umbel::axes::batch<2ul>, or umbel::strided<that, 5ul>."""

    def __init__(self, type_name):
        base, arguments = split_arguments(type_name)
        self.stride = None
        if base.endswith("strided"):
            self.stride = to_number(arguments[1])
            base, arguments = split_arguments(arguments[0])
        self.name = base.rpartition("::")[2]
        self.size = to_number(arguments[0])

    def __str__(self):
        return f"{self.name}={self.size}"


def row_major(sizes):
    """Strides of these sizes."""
    strides = []
    for size in reversed(sizes):
        strides.insert(0, strides[0] * last if strides else 1)
        last = size
    return strides


def shown(size, edge):
    """Positions of an axis, all or so many at each end; None stands for those that are left out."""
    if edge is None or size <= 2 * edge:
        return list(range(size))
    return [*range(edge), None, *range(size - edge, size)]


class Elements:
    """Memory, an array or a pointer, read by axes."""

    def __init__(self, memory, axes):
        self.memory, self.axes = memory, axes
        self.sizes = [axis.size for axis in axes]
        dense = row_major(self.sizes)
        self.strides = [d if axis.stride is None else axis.stride for axis, d in zip(axes, dense)]
        self.is_row_major = all(size == 1 or s == d for size, s, d in zip(self.sizes, self.strides, dense))

    def header(self):
        text = "[" + ", ".join(map(str, self.axes)) + "]"
        if not self.is_row_major:
            text += ", strides [" + ", ".join(map(str, self.strides)) + "]"
        return text + (f" at {self.memory.address()}" if self.memory.is_pointer else "")

    def row(self, start, edge):
        """The elements along the last axis from the element `start` on."""
        if not self.axes:
            return self.memory.element(0)
        return " ".join("..." if i is None else self.memory.element(start + i * self.strides[-1])
                        for i in shown(self.sizes[-1], edge))

    def rows(self):
        """One line each."""
        count, limit = 1, self.memory.limit
        for size in self.sizes:
            count *= size
        edges = [None if not limit or count <= limit else 3 if left <= 2 else 1 for left in range(len(self.sizes), 0, -1)]
        before = None
        for position in itertools.product(*map(shown, self.sizes[:-1], edges)):
            if None in position:
                # One line for all that is left out here.
                cut = position[:position.index(None)]
                if cut != before:
                    yield "..."
                before = cut
                continue
            before = None
            label = f"[{', '.join(map(str, position))}]  " if position else ""
            yield label + self.row(sum(i * s for i, s in zip(position, self.strides)), edges[-1] if edges else None)

    def text(self, indent="  "):
        try:
            return "".join(f"\n{indent}{row}" for row in self.rows())
        except Unreadable as error:
            return f"\n{indent}<the elements cannot be read: {error}>"
