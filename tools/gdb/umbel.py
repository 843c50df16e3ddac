# SPDX-License-Identifier: BSL-1.0
"""How gdb shows tensors, views and weights: element type, axes with their sizes, strides where the memory is not
row-major, and the elements, a row of the last axis in a line.

    (gdb) source tools/gdb/umbel.py
    (gdb) print x
    $1 = tensor<float> [batch=2, query=2, hidden=3]
      [0, 0]  0 1 2
      [0, 1]  3 4 5
      [1, 0]  6 7 8
      [1, 1]  9 10 11

With more elements than gdb's `print elements` (200), only the first and last three positions of the last two axes are
shown, and of the others the first and last: `set print elements unlimited` shows all. docs/checking.md says how to load
this always. For gdb 9 and newer.
"""
import itertools
import struct

import gdb
import gdb.printing



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


def element_text(value):
    kind = value.type.strip_typedefs()
    if kind.code == gdb.TYPE_CODE_INT and kind.sizeof == 1:
        return str(int(value))  # not a character
    return value.format_string()


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
        if self.memory.type.strip_typedefs().code == gdb.TYPE_CODE_PTR:
            try:
                text += f" at {int(self.memory):#x}"
            except gdb.error as error:  # optimized out
                text += f" at <{error}>"
        return text

    def row(self, start, edge):
        """The elements along the last axis from the element `start` on."""
        if not self.axes:
            return element_text(self.memory[0])
        return " ".join("..." if i is None else element_text(self.memory[start + i * self.strides[-1]])
                        for i in shown(self.sizes[-1], edge))

    def rows(self):
        """One line each."""
        count, limit = 1, gdb.parameter("print elements")
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
        except gdb.error as error:
            return f"\n{indent}<the elements cannot be read: {error}>"


def element_type(memory):
    return str(memory.type.strip_typedefs().target()).replace("umbel::", "")


class TensorPrinter:
    """umbel::tensor and umbel::view."""

    def __init__(self, value):
        self.name, arguments = split_arguments(value.type.strip_typedefs().unqualified().name)
        self.name = self.name.rpartition("::")[2]
        self.memory = value["elements_" if self.name == "tensor" else "data_"]
        self.axes = [Axis(a) for a in arguments[1:]]

    def to_string(self):
        elements = Elements(self.memory, self.axes)
        return f"{self.name}<{element_type(self.memory)}> {elements.header()}{elements.text()}"


class LinearPrinter:
    """Weights of one map, owned or borrowed: linear_weights, linear_view (borrowed_linear)."""

    def __init__(self, value):
        name, arguments = split_arguments(value.type.strip_typedefs().unqualified().name)
        self.name = name.rpartition("::")[2].replace("borrowed_linear", "linear_view")
        self.value = value
        self.axes = [Axis(a) for a in arguments[1:3]]
        self.has_bias = arguments[3] in ("true", "1")

    def to_string(self):
        weight = Elements(self.value["weight"], self.axes)
        text = f"{self.name}<{element_type(weight.memory)}> {weight.header()}{weight.text()}"
        if self.has_bias:
            bias = Elements(self.value["bias"], self.axes[1:])
            text += f"\n  bias {bias.header()}{bias.text('    ')}"
        return text


class VectorPrinter:
    """vector_view, the gamma or beta of a norm."""

    def __init__(self, value):
        _, arguments = split_arguments(value.type.strip_typedefs().unqualified().name)
        self.elements = Elements(value["data_"], [Axis(arguments[1])])

    def to_string(self):
        return f"vector_view<{element_type(self.elements.memory)}> {self.elements.header()}{self.elements.text()}"


class HalfPrinter:
    """bfloat16 and float16: the number."""

    def __init__(self, value):
        self.bits = value["bits"]
        self.is_bfloat16 = value.type.strip_typedefs().unqualified().name.endswith("bfloat16")

    def to_string(self):
        bits = int(self.bits)
        packed = struct.pack("<I", bits << 16) if self.is_bfloat16 else struct.pack("<H", bits)
        return f"{struct.unpack('<f' if self.is_bfloat16 else '<e', packed)[0]:g}"


def complete(printer):
    """The printer, for types that the program defines; one that it only names has nothing to print."""
    return lambda value: printer(value) if value.type.strip_typedefs().fields() else None


def printers():
    every = gdb.printing.RegexpCollectionPrettyPrinter("umbel")
    for name, pattern, printer in (("tensor", r"^umbel::(tensor|view)<.*>$", TensorPrinter),
                                   ("linear", r"^umbel::portable::(linear_weights|borrowed_linear)<.*>$", LinearPrinter),
                                   ("vector", r"^umbel::portable::vector_view<.*>$", VectorPrinter),
                                   ("half", r"^umbel::b?float16$", HalfPrinter)):
        every.add_printer(name, pattern, complete(printer))
    return every


gdb.printing.register_pretty_printer(gdb.current_objfile(), printers(), replace=True)
