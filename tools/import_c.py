# SPDX-License-Identifier: BSL-1.0
"""For tools/import --c: a model as a function of C. NAME.h declares it, NAME_c.cpp has the weights as constants that the compiler
packs, and NAME_c_test.c calls it with the probe, from C."""
import math

import numpy as np

from command_line import Refused
from export_write import safe
from import_write import tensor_text, wrapped

MOST_WEIGHTS = 100_000  # that g++ and clang pack in a constant expression, with their usual limits


class CWriter:
    """writer: of the model (import_write.py); allowed: the largest difference from the probe, for each result; steps: of --decode
    (import_decode.py), or nothing."""

    constant = ["constexpr packed in_flash = [] {", "  weights w{};"], ["  packed made{};", "  pack(made, w);", "  return made;", "}();"]
    without_weights = []
    workspace, includes = "workspace", ["#include <stdbool.h>"]

    def __init__(self, writer, allowed, steps=None):
        count = sum(array.size for array in writer.tensors.values())
        if count > MOST_WEIGHTS:
            raise Refused(f"--c: the model has {count:,} weights, and compilers pack at most {MOST_WEIGHTS:,} as constants; "
                          "call the C++ function, which loads them from the file")
        self.writer, self.allowed, self.steps = writer, allowed, steps
        self.file, self.function = writer.file_name, f"{writer.name}_forward"
        self.inputs = [(writer.arguments[id(x)], self.kind(writer.input_type(x)), x, writer.program.axes[id(x)]) for x in writer.program.inputs]
        self.results = [(name, "float", x, writer.program.names(x)) for name, x in zip(writer.results, writer.program.results)]

    @staticmethod
    def kind(type_):
        return type_[type_.index("<") + 1:].split(",")[0].rstrip(">")

    def top(self, what):
        return [f"/* SPDX-License-Identifier: {self.writer.license} */",
                f"/* Written by tools/import from {safe(self.writer.source).replace('*/', '* /')}: {what} */"]

    def parameters(self):
        return ", ".join([f"const {kind} {name}[{math.prod(x.shape)}]" for name, kind, x, _ in self.inputs] +
                         [f"{kind} {name}[{math.prod(x.shape)}]" for name, kind, x, _ in self.results])

    def header(self):
        guard = f"{self.writer.name.upper()}_H"
        axes = [f"     {name}: " + (", ".join(f"{axis} {n}" for axis, n in zip(names, x.shape)) or "one number") + self.unit(k)
                for k, (name, _, x, names) in enumerate([*self.inputs, *self.results])]
        return "\n".join([*self.top("do not edit."), f"#ifndef {guard}", f"#define {guard}", "", *self.includes, "", "#ifdef __cplusplus",
                          'extern "C" {', "#endif", "", "/* Computes the model. Arrays are row-major, with these axes:", *axes, "",
                          "   The scratch memory is static, so don't call it from two threads at a time. */",
                          f"void {self.function}({self.parameters()});", *self.declared_steps(), "", "#ifdef __cplusplus", "}", "#endif", "", f"#endif  /* {guard} */", ""])

    def unit(self, k):
        """What is to be said of an array in the header."""
        return ""

    # ---- step by step
    def parameters_of_step(self):
        (x, kind, of_x, _), (y, made, of_y, _) = *self.inputs, *self.results
        return f"const {kind} {x}[{math.prod(of_x.shape[1:])}], {made} {y}[{math.prod(of_y.shape[1:])}]"

    def declared_steps(self):
        if not self.steps:
            return []
        name = self.writer.name
        return ["", "/* Computes the next position, with the bits of the whole model. Returns false, and changes nothing, after",
                f"   {self.steps.keys} positions. */", f"bool {name}_step({self.parameters_of_step()});",
                "/* Begins a new sequence. */", f"void {name}_reset(void);"]

    def defined_steps(self):
        if not self.steps:
            return []
        name, (x, _, _, _), (y, _, _, _) = self.writer.name, *self.inputs, *self.results
        return ["", f'extern "C" bool {name}_step({self.parameters_of_step()}) {{', "  static step_workspace<1> scratch;",
                "  static step_input<1> next;", "  static step_result<1> row;", f"  for (std::size_t i = 0; i < next.size(); ++i) next.data()[i] = {x}[i];",
                f"  if (!step(cache, row, next, {'in_flash, ' if self.writer.tensors else ''}scratch)) return false;",
                f"  for (std::size_t i = 0; i < row.size(); ++i) {y}[i] = row.data()[i];", "  return true;", "}", "",
                f'extern "C" void {name}_reset(void) {{', "  cache.reset();", "}"]

    def tested_steps(self, wrong="wrong"):
        """As many as the probe and the cache have, twice: the bits of the whole model, and false if the cache is full."""
        if not self.steps:
            return []
        name, (x, _, of_x, _), (y, kind, of_y, _) = self.writer.name, *self.inputs, *self.results
        count, width, most = math.prod(of_x.shape[1:]), math.prod(of_y.shape[1:]), min(self.steps.keys, self.steps.length)
        return [f"  for (i = 0; i < {2 * most}; ++i) {{", f"    const int at = i % {most};", f"    static {kind} row[{width}];",
                f"    if (at == 0) {name}_reset();", f"    {wrong} += !{name}_step({x} + at * {count}, row);",
                f"    {wrong} += memcmp(row, {y} + at * {width}, sizeof row) != 0;", "  }",
                *([f"  {wrong} += {name}_step({x}, {y});  /* the cache is full */"] if most == self.steps.keys else []),
                f'  printf("{self.file}: step by step, %d of {2 * most} steps are wrong\\n", {wrong});']

    def source(self):
        writer, lines = self.writer, []
        lines += [
            *self.top(f"{self.file}.hpp as a function of C."), f'#include "{self.file}.h"', "", f'#include "{self.file}.hpp"', "", "namespace {", "",
            f"using namespace {writer.name};", ""
        ]
        if writer.tensors:
            lines += ["template <std::size_t N>", "constexpr void copy_numbers(const float (&from)[N], float* to) {",
                      "  for (std::size_t first = 0; first < N; first += 4096)  // compilers limit the length of a loop",
                      "    for (std::size_t i = first; i < N && i < first + 4096; ++i) to[i] = from[i];", "}",
                      "template <std::size_t N>", "constexpr void put(const float (&from)[N], float (&to)[N]) {", "  copy_numbers(from, to);", "}",
                      "template <std::size_t N, class To>", "constexpr void put(const float (&from)[N], To& to) {",
                      "  copy_numbers(from, to.data());", "}", ""]
            for k, array in enumerate(writer.tensors.values()):
                lines += wrapped(f"constexpr float numbers{k}[] = {{", self.numbers(array), "};")
            lines += ["", *self.constant[0]]
            lines += [f"  put(numbers{k}, w.{self.member(path)});" for k, path in enumerate(writer.tensors)]
            lines += self.constant[1]
        else:
            lines += self.without_weights
        lines += [f"{self.workspace} work;", *(["past cache;"] if self.steps else []), "", "}  // namespace", "",
                  f'extern "C" void {self.function}({self.parameters()}) {{']
        return "\n".join([*lines, *self.call(), "}", *self.defined_steps(), ""])

    def call(self):
        writer = self.writer
        views = [f"view_as<{writer.tensor_types[id(x)]}>({name})"
                 for name, _, x, _ in self.inputs] + (["in_flash"] if writer.tensors else []) + ["work"]
        results = [f"view_as<{type_}>({name})" for type_, (name, _, _, _) in zip(writer.types_of_results(), self.results)]
        return self.written("forward", results, views)

    @staticmethod
    def written(function, results, arguments):
        if len(results) == 1:
            return [f"  {function}.into({results[0]}, {', '.join(arguments)});"]
        outs = [f"out{k}" for k in range(len(results))]
        return [*(f"  auto {out} = {text};" for out, text in zip(outs, results)),
                f"  {function}.into(std::tie({', '.join(outs)}), {', '.join(arguments)});"]

    @staticmethod
    def member(path):
        """blocks.0.attention.q.weight as blocks[0].attention.q.weight."""
        first, *rest = path.split(".")
        return first + "".join(f"[{part}]" if part.isdigit() else f".{part}" for part in rest)

    @staticmethod
    def numbers(array):
        if array.dtype.kind == "b":
            return ["true" if v else "false" for v in array.reshape(-1)]
        if array.dtype.kind in "iu":
            return [str(v) for v in array.reshape(-1)]
        return [f"{np.float32(v)}F".replace("infF", "__builtin_inff()") for v in array.reshape(-1)]

    def test(self):
        writer, lines = self.writer, []
        lines += [*self.top(f"calls {self.file}.h with the probe, and compares."), "#include <stdio.h>", "#include <string.h>", "", f'#include "{self.file}.h"', ""]
        for name, kind, x, _ in self.inputs:
            value = writer.feeds[x["name"]]
            lines += wrapped(f"static const {kind} {name}[] = {{", self.numbers(value.astype(bool) if kind == "bool" else value), "};")
        for k, (name, _, _, _) in enumerate(self.results):
            lines += wrapped(f"static const float wanted_{name}[] = {{", self.numbers(writer.answers[k].astype(np.float32)), "};")
            lines.append(f"static float {name}[{writer.answers[k].size}];")
        names = [name for name, _, _, _ in [*self.inputs, *self.results]]
        lines += [
            "", "static int differs(const float* a, const float* b, int count, double allowed) {", "  double most = 0;", "  int i;",
            "  for (i = 0; i < count; ++i) {", "    const double far = (double)a[i] - (double)b[i];",
            "    if (!(far <= most && -far <= most)) most = far < 0 ? -far : far;", "  }",
            f'  printf("{self.file}: largest difference %.3g, at most %.3g is allowed\\n", most, allowed);', "  return !(most <= allowed);", "}", "",
            "int main(void) {", f"  int wrong = 0{', i' if self.steps else ''};", f"  {self.function}({', '.join(names)});"
        ]
        for k, (name, _, x, _) in enumerate(self.results):
            lines.append(f"  wrong += differs({name}, wanted_{name}, {math.prod(x.shape)}, {self.allowed[k]:.3g});")
        return "\n".join([*lines, *self.tested_steps(), "  return wrong;", "}", ""])


class IntegerCWriter(CWriter):
    """writer: of the model in integers, whose ranges are known (import_int8.py)."""

    constant, without_weights = (["constexpr layer in_flash = [] {", "  weights w{};"], ["  return layer(w, ranges);", "}();"]), ["constexpr layer in_flash(ranges);"]
    workspace, includes = "layer::workspace", ["#include <stdbool.h>", "#include <stdint.h>"]

    def __init__(self, writer):
        super().__init__(writer, [], writer.steps)
        self.inputs, self.results = (
            [(name, self.kind_of(bits), x, names) for (name, _, x, names), (bits, _) in zip(arrays, of_arrays)]
            for arrays, of_arrays in ((self.inputs, writer.bits_of_inputs), (self.results, writer.bits_of_results)))

    @staticmethod
    def kind_of(bits):
        return {1: "bool", 32: "int"}.get(bits, f"int{bits}_t")

    def unit(self, k):
        bits, unit = [*self.writer.bits_of_inputs, *self.writer.bits_of_results][k]
        return "" if bits in (1, 32) else f"; 1 is {unit:.6g}, the largest is {2 ** (bits - 1) - 1}"

    def view(self, name, kind, x, names):
        types = {"bool": "bool", "int8_t": "std::int8_t", "int16_t": "std::int16_t", "int": "int"}
        return f"view_as<{tensor_text(types[kind], names, x.shape)}>({name})"

    def call(self):
        return self.written("in_flash", [self.view(*one) for one in self.results], [*(self.view(*one) for one in self.inputs), "work"])

    def test(self):
        """Each integer is that of the probe."""
        writer = self.writer
        lines = [*self.top(f"calls {self.file}.h with the probe, and compares."), "#include <stdio.h>", "#include <string.h>", "", f'#include "{self.file}.h"', ""]
        for (name, kind, _, _), value in zip(self.inputs, writer.probe_inputs):
            lines += wrapped(f"static const {kind} {name}[] = {{", self.numbers(value.astype(bool) if kind == "bool" else value), "};")
        for (name, kind, x, _), integers in zip(self.results, writer.probes):
            lines += wrapped(f"static const {kind} wanted_{name}[] = {{", self.numbers(integers), "};")
            lines.append(f"static {kind} {name}[{math.prod(x.shape)}];")
        lines += ["", "int main(void) {", "  int different = 0, i;", f"  {self.function}({', '.join(one[0] for one in [*self.inputs, *self.results])});"]
        lines += [f"  for (i = 0; i < {math.prod(x.shape)}; ++i) different += {name}[i] != wanted_{name}[i];" for name, _, x, _ in self.results]
        count = sum(math.prod(x.shape) for _, _, x, _ in self.results)
        lines += [f'  printf("{self.file}: %d of {count} integers differ from the probe\\n", different);', *self.tested_steps("different"),
                  "  return different != 0;", "}", ""]
        return "\n".join(lines)
