# SPDX-License-Identifier: BSL-1.0
"""How lldb shows tensors, views and weights: as tools/gdb/umbel.py shows them in gdb.

    (lldb) command script import tools/lldb/umbel.py
    (lldb) frame variable x
    (umbel::tensor<...>) x = tensor<float> [batch=2, query=2, hidden=3]
      [0, 0]  0 1 2
      ...

With more elements than `target.max-children-count` only the first and last positions are shown. For lldb 14 and newer.
"""
import os
import struct
import sys

import lldb

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "gdb"))
from umbel_elements import Axis, Elements, Unreadable, split_arguments  # noqa: E402
sys.path.pop(0)

FORMATS = {"float": "f", "double": "d", "bool": "?", "char": "b", "signed char": "b", "unsigned char": "B", "short": "h", "unsigned short": "H",
           "int": "i", "unsigned int": "I", "long": "q", "unsigned long": "Q", "long long": "q", "unsigned long long": "Q",
           "umbel::float16": "e", "umbel::bfloat16": "H"}


def name_of(kind):
    return kind.GetCanonicalType().GetUnqualifiedType().GetName()


class Memory:
    """An array or a pointer."""

    def __init__(self, value):
        self.process = value.GetProcess()
        kind = value.GetType().GetCanonicalType()
        self.is_pointer = kind.IsPointerType()
        self.kind = (kind.GetPointeeType() if self.is_pointer else kind.GetArrayElementType()).GetCanonicalType()
        self.start = value.GetValueAsUnsigned() if self.is_pointer else value.GetLoadAddress()
        most = lldb.debugger.GetInternalVariableValue("target.max-children-count", lldb.debugger.GetInstanceName())
        self.limit = int(most.GetStringAtIndex(0))

    def address(self):
        return f"{self.start:#x}"

    def element(self, i):
        name, error = name_of(self.kind), lldb.SBError()
        if name not in FORMATS:
            raise Unreadable(f"{name} is not known here")
        size = self.kind.GetByteSize()
        read = self.process.ReadMemory(self.start + i * size, size, error)
        if not error.Success():
            raise Unreadable(error.GetCString())
        big = "<" if self.process.GetByteOrder() == lldb.eByteOrderLittle else ">"
        number, = struct.unpack(big + FORMATS[name], read)
        if name == "umbel::bfloat16":
            number, = struct.unpack("<f", struct.pack("<I", number << 16))
        return str(number).lower() if isinstance(number, bool) else f"{number:g}" if isinstance(number, float) else str(number)

    def type_name(self):
        return self.kind.GetName().replace("umbel::", "")


def parts(value):
    """The name of the type without its namespaces, and its arguments."""
    name, arguments = split_arguments(name_of(value.GetType()))
    return name.rpartition("::")[2], arguments


def tensor(value, _):
    name, arguments = parts(value)
    elements = Elements(Memory(value.GetChildMemberWithName("elements_" if name == "tensor" else "data_")), [Axis(a) for a in arguments[1:]])
    return f"{name}<{elements.memory.type_name()}> {elements.header()}{elements.text()}"


def linear(value, _):
    name, arguments = parts(value)
    axes = [Axis(a) for a in arguments[1:3]]
    weight = Elements(Memory(value.GetChildMemberWithName("weight")), axes)
    text = f"{name.replace('borrowed_linear', 'linear_view')}<{weight.memory.type_name()}> {weight.header()}{weight.text()}"
    if arguments[3] in ("true", "1"):
        bias = Elements(Memory(value.GetChildMemberWithName("bias")), axes[1:])
        text += f"\n  bias {bias.header()}{bias.text('    ')}"
    return text


def vector(value, _):
    elements = Elements(Memory(value.GetChildMemberWithName("data_")), [Axis(parts(value)[1][1])])
    return f"vector_view<{elements.memory.type_name()}> {elements.header()}{elements.text()}"


def __lldb_init_module(debugger, _):
    for function, pattern in (("tensor", "(tensor|view)<.*>"), ("linear", "portable::(linear_weights|borrowed_linear)<.*>"),
                              ("vector", "portable::vector_view<.*>")):
        debugger.HandleCommand(f'type summary add --skip-pointers --python-function {__name__}.{function} --regex "^umbel::{pattern}$"')
