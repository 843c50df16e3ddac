# SPDX-License-Identifier: BSL-1.0
"""What the parts of golden.py share: the generator that the tests repeat, and headers as text."""

from __future__ import annotations

import math
import re
import sys
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

COLUMNS = 100
BIAS_SCALE = 0.125


class Lcg:
    """The generator that the C++ tests repeat."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def draw(self, *shape: int, scale: float = 1.0) -> Tensor:
        values = np.empty(math.prod(shape), np.float32)
        for i in range(values.size):
            self.state = (self.state * 1664525 + 1013904223) & 0xFFFFFFFF
            values[i] = ((self.state >> 8) * 2.0**-23 - 1.0) * scale
        return torch.from_numpy(values.reshape(shape))

    def weight(self, inputs: int, outputs: int) -> Tensor:
        return self.draw(inputs, outputs, scale=weight_scale(inputs))

    def bias(self, size: int) -> Tensor:
        return self.draw(size, scale=BIAS_SCALE)


def weight_scale(inputs: int) -> float:
    return 2.0 ** round(math.log2(1.7 / math.sqrt(inputs)))


@dataclass
class Case:
    """One namespace of a header: a comment, named constants, then arrays."""

    name: str
    draws: str
    constants: dict[str, int | float | bool]
    arrays: dict[str, Tensor]
    lengths: tuple[int, ...] = ()


@dataclass
class Header:
    file: str
    what: str
    cases: list[Case] = field(default_factory=list)
    types: bool = False  # cases are structs, not namespaces


def agree(name: str, single: Tensor, double: Tensor) -> Tensor:
    """float32 must be float64 to the tolerance of docs/numerics; returns the float32 answer."""
    worst = (single.double() - double).abs().max().item()
    bound = 1e-5 + 1e-5 * double.abs().max().item()
    if not worst <= bound:
        sys.exit(f"golden.py: {name}: float32 and float64 differ by {worst:.3g} (> {bound:.3g})")
    return single


# ---- C++ text ---------------------------------------------------------------------------------


def float_text(value: float) -> str:
    """Nine significant digits name a float32 exactly; the literal must look like a float."""
    text = f"{value:.9g}"
    assert np.float32(text) == np.float32(value), text
    return (text if re.search(r"[.e]", text) else text + ".0") + "f"


def double_text(value: float) -> str:
    text = repr(float(value))
    return text if re.search(r"[.e]", text) else text + ".0"


def wrap(words: list[str], first: str, rest: str) -> str:
    lines, line = [], first
    for word in words:
        if len(line) + 1 + len(word) > COLUMNS:
            lines.append(line)
            line = rest + word
        else:
            line += word if line == rest else " " + word
    return "\n".join(lines + [line])


def comment(text: str) -> str:
    return wrap(text.split(), "//", "// ")


def constant_text(name: str, value: int | float | bool) -> str:
    if isinstance(value, bool):
        return f"inline constexpr bool {name} = {str(value).lower()};"
    if isinstance(value, float):
        return f"inline constexpr float {name} = {float_text(np.float32(value))};"
    kind = "std::uint32_t" if name == "seed" else "std::size_t"
    return f"inline constexpr {kind} {name} = {value};"


def array_text(name: str, values: Tensor, inline: str = "inline") -> str:
    extents = " * ".join(str(n) for n in values.shape)
    kind, number = {torch.float64: ("double", double_text), torch.int8: ("std::int8_t", str),
                    torch.int16: ("std::int16_t", str)}.get(values.dtype, ("float", float_text))
    words = [number(v) + "," for v in values.contiguous().numpy().ravel()]
    words[-1] = words[-1][:-1]
    return (f"{inline} constexpr {kind} {name}[{extents}] = {{\n"
            + wrap(words, "    ", "    ") + "};")


def struct_text(case: Case) -> str:
    """The same as a type, so that tests can be templates of it; constants of a type share a line."""
    def constants(kind: str, words: dict[str, str]) -> str:
        return wrap([f"{n} = {v}," for n, v in words.items()], f"  static constexpr {kind}",
                    "      ")[:-1] + ";"

    numbers = {n: float_text(v) for n, v in case.constants.items() if isinstance(v, float)}
    sizes = {n: str(v) for n, v in case.constants.items() if type(v) is int and n != "seed"}
    lines = [comment(case.draws + "."), f"struct {case.name} {{",
             constants("std::uint32_t", {"seed": str(case.constants["seed"])}),
             constants("std::size_t", sizes), constants("float", numbers)]
    flags = {n: str(v).lower() for n, v in case.constants.items() if isinstance(v, bool)}
    if flags:
        lines.append(constants("bool", flags))
    if case.lengths:
        lengths = ", ".join(map(str, case.lengths))
        lines.append(f"  static constexpr int lengths[] = {{{lengths}}};")
    lines += ["  " + array_text(name, values, "static").replace("\n", "\n  ")
              for name, values in case.arrays.items()]
    return "\n".join(lines + ["};"])


def case_text(case: Case) -> str:
    lines = [comment("Draws: " + case.draws + "."), f"namespace golden::{case.name} {{"]
    lines += [constant_text(name, value) for name, value in case.constants.items()]
    if case.lengths:
        lengths = ", ".join(map(str, case.lengths))
        lines.append(f"inline constexpr int lengths[{len(case.lengths)}] = {{{lengths}}};")
    lines += [array_text(name, values) for name, values in case.arrays.items()]
    return "\n".join(lines + [f"}}  // namespace golden::{case.name}"])


def header_text(header: Header) -> str:
    top = ["// SPDX-License-Identifier: BSL-1.0",
           comment(f"Generated by tools/golden.py with torch {torch.__version__}: do not edit."),
           comment(header.what), "//",
           comment("Inputs and weights are not stored: draw them, array after array, row-major, "
                   "weights (in, out), from s = s * 1664525 + 1013904223 (mod 2^32) starting at "
                   "`seed`, value = ((s >> 8) * 2^-23 - 1) * scale; a scale not named is 1."),
           "", "#pragma once", "", "#include <cstddef>", "#include <cstdint>", ""]
    cases = "\n\n".join(map(struct_text if header.types else case_text, header.cases)) + "\n"
    if header.types:
        cases = f"namespace golden {{\n\n{cases}\n}}  // namespace golden\n"
    return "\n".join(top) + "\n" + cases
