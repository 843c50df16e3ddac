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
import os
import struct
import sys

import gdb
import gdb.printing

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from umbel_elements import Axis, Elements, Unreadable, split_arguments  # noqa: E402
sys.path.pop(0)


def element_text(value):
    kind = value.type.strip_typedefs()
    if kind.code == gdb.TYPE_CODE_INT and kind.sizeof == 1:
        return str(int(value))  # not a character
    return value.format_string()


class Memory:
    """An array or a pointer."""

    def __init__(self, value):
        self.value = value
        self.is_pointer = value.type.strip_typedefs().code == gdb.TYPE_CODE_PTR
        self.limit = gdb.parameter("print elements")

    def address(self):
        try:
            return f"{int(self.value):#x}"
        except gdb.error as error:  # optimized out
            return f"<{error}>"

    def element(self, i):
        try:
            return element_text(self.value[i])
        except gdb.error as error:
            raise Unreadable(error) from None

    def type_name(self):
        return str(self.value.type.strip_typedefs().target()).replace("umbel::", "")


class TensorPrinter:
    """umbel::tensor and umbel::view."""

    def __init__(self, value):
        self.name, arguments = split_arguments(value.type.strip_typedefs().unqualified().name)
        self.name = self.name.rpartition("::")[2]
        self.memory = Memory(value["elements_" if self.name == "tensor" else "data_"])
        self.axes = [Axis(a) for a in arguments[1:]]

    def to_string(self):
        elements = Elements(self.memory, self.axes)
        return f"{self.name}<{self.memory.type_name()}> {elements.header()}{elements.text()}"


class LinearPrinter:
    """Weights of one map, owned or borrowed: linear_weights, linear_view (borrowed_linear)."""

    def __init__(self, value):
        name, arguments = split_arguments(value.type.strip_typedefs().unqualified().name)
        self.name = name.rpartition("::")[2].replace("borrowed_linear", "linear_view")
        self.value = value
        self.axes = [Axis(a) for a in arguments[1:3]]
        self.has_bias = arguments[3] in ("true", "1")

    def to_string(self):
        weight = Elements(Memory(self.value["weight"]), self.axes)
        text = f"{self.name}<{weight.memory.type_name()}> {weight.header()}{weight.text()}"
        if self.has_bias:
            bias = Elements(Memory(self.value["bias"]), self.axes[1:])
            text += f"\n  bias {bias.header()}{bias.text('    ')}"
        return text


class VectorPrinter:
    """vector_view, the gamma or beta of a norm."""

    def __init__(self, value):
        _, arguments = split_arguments(value.type.strip_typedefs().unqualified().name)
        self.elements = Elements(Memory(value["data_"]), [Axis(arguments[1])])

    def to_string(self):
        return f"vector_view<{self.elements.memory.type_name()}> {self.elements.header()}{self.elements.text()}"


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
