# SPDX-License-Identifier: BSL-1.0
"""Writes what tools/import makes: a header with the model as a formula, its weights and a probe as safetensors, and a program
that runs the probe."""
import hashlib
import pathlib
import re

import numpy as np

from command_line import Refused
from export_write import COLUMNS, KEYWORDS, OURS, safe, safetensors_bytes
from import_formula import BUILT_IN, axes_text, is_flag, stored_options

NAMES = pathlib.Path(__file__).resolve().parent.parent / "docs" / "names.md"
PUBLIC = set(re.findall(r"^\| \[`(\w+)`\]", NAMES.read_text(), re.M))  # what an input or a namespace of this name would hide
TAKEN = KEYWORDS | set(OURS) | BUILT_IN | set(
    "split merge permute slice concat stack lookup sum mean max min exp log sqrt rsqrt tanh sigmoid abs where hide position formula linear "
    "embedding rope rotate causal from extent model relu silu contract softmax weights packed forward axis view tensor use block blocks main "
    "pack workspace result umbel std axes bias conv attention w names layer ranges block_weights packed_block part_names part_layers use past step "
    "step_input step_result step_formulas step_workspace cache out next work".split()) | set(
    # functions and types that headers of C declare in the global namespace
    "abort abs acos asin atan atexit atof atoi bsearch calloc ceil clock cos ctime difftime div erf errno exit expm1 fabs fclose fdim feof "
    "fflush fgetc floor fmax fmin fmod fopen fputc fputs fread free frexp fwrite gamma getc getenv gets gmtime hypot index isnan j0 j1 jn "
    "labs ldexp ldiv lgamma localtime log10 log1p log2 longjmp malloc memchr memcmp memcpy memmove memset mktime modf perror pow printf putc "
    "putchar puts qsort raise rand random read realloc remainder remove rename rewind rindex round scanf select setbuf signal signbit sin sinh "
    "snprintf sprintf srand sscanf stderr stdin stdout strcat strchr strcmp strcpy strlen strncmp strncpy strstr strtol system tan tanh tgamma "
    "time time_t tmpfile trunc ungetc write y0 y1 yn int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t size_t FILE NULL".split())
NOISE = 8  # times the difference between numpy in 32 and in 64 bits
NUDGES = 2  # times the difference by last bits of inputs and weights
MOST_MEMBERS = 16  # of a struct that load reads
SMALLEST = 1e-6  # of the largest result: what sums in other orders differ by


def identifier(name, taken=()):
    """A C++ name from one of torch's: without the number of a copy at its end."""
    made = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_")
    made = re.sub(r"_?\d+$", "", made) or "part"
    made = re.sub(r"__+", "_", made if made[0].isalpha() else f"part_{made}")
    made, base, k = (made + "_" if made in TAKEN else made), made, 2
    while made in taken:
        made, k = f"{base}_{k}", k + 1
    return made


def digest(array):
    """Of numbers in their order, whatever their shape."""
    return hashlib.sha256(np.ascontiguousarray(array, dtype=np.float32).tobytes()).digest()


def names_of_tensors(weights):
    """The author's names of tensors by their numbers: the last word of the path in torch, or the last two, as conv.weight."""
    made = {}
    for name, array in weights.items():
        words = [word for word in name.split(".") if not word.isdigit()]
        if array.dtype.kind == "f" and words and all(re.fullmatch(r"[A-Za-z_]\w*", word) for word in words):
            made.setdefault(digest(array), "_".join(words[-2:] if words[-1] in ("weight", "bias") else words[-1:]))
    return made


class Member:
    """A member of the structs of weights. copies: for each copy of a repeated statement, path and array of what is loaded. options:
    of its layer, as text of the file."""

    def __init__(self, name, type_, packed, copies, repeated, tensor, options=""):
        self.options, self.name, self.type, self.packed, self.copies, self.repeated, self.tensor = options, name, type_, packed, copies, repeated, tensor
        self.path = name  # within the weights

    def numbers(self):
        """What it is, in few bytes: for each copy."""
        return [hashlib.sha256(repr([(path, array.shape, array.dtype.str) for path, array in parts]).encode() +
                               b"".join(np.ascontiguousarray(array).tobytes() for _, array in parts)).digest() for parts in self.copies]

    def is_shared(self):
        return len(set(self.numbers())) == 1


class Writer:
    """weights: the tensors of the model as its author names them."""

    def __init__(self, program, name, source, license_name, feeds, answers, outputs, weights):
        self.names_of_tensors = names_of_tensors(weights)
        self.program, self.source, self.license, self.feeds, self.answers = program, source, license_name, feeds, answers
        self.file_name, self.name = name, identifier_of_namespace(name)
        self.first, self.period, self.count = program.first, program.period, program.count
        self.types, self.tensors = {}, {}
        self.headers = ["quantized" if program.in_integers else "bare"]
        self.forms = ((False, "weights", "block_weights"), (True, "packed", "packed_block"))[:1 if program.in_integers else 2]
        self.members = self.members_of_statements()
        different = list({id(m): m for members in self.members.values() for m in members}.values())
        self.of_model = [m for m in different if not (m.repeated and self.period > 1)]
        self.of_block = [m for m in different if m.repeated and self.period > 1]
        self.stored = 1 if all(m.is_shared() for m in self.of_block) else self.count  # blocks
        self.name_types()
        self.groups = grouped(self.of_model, bool(self.of_block)), grouped(self.of_block, False)
        self.collect()
        taken = {"w", *program.own, *PUBLIC}
        self.arguments = {}
        for one in program.inputs:
            unnamed = one["name"].startswith("onnx::")  # torch calls it by what reads it
            self.arguments[id(one)] = identifier("input" if unnamed else one["name"], taken)
            taken.add(self.arguments[id(one)])
        self.tensor_types = {key: f"{name.rstrip('_')}_tensor" for key, name in self.arguments.items()}
        self.results = []
        for k, output in enumerate(outputs):  # exporters number what authors don't name, or call it onnx::Where_7
            unnamed = "result" if len(outputs) == 1 else f"result{k}"
            self.results.append(identifier(output, taken) if output[:1].isalpha() and not output.startswith("onnx::") else unnamed)
            taken.add(self.results[-1])

    # ---- members
    def is_repeated(self, i):
        return self.first <= i < self.first + self.period

    def is_copy(self, i):
        return self.first + self.period <= i < self.first + self.period * self.count

    def members_of_statements(self):
        statements, taken, made, stored = self.program.statements, set(), {}, {}

        def add(i, base, type_, packed, copies, repeated, tensor, options=""):
            """Weights that several statements have are stored once."""
            member = Member(identifier(base, taken), type_, packed, copies, repeated, tensor, options)
            if repeated and self.period == 1 and member.is_shared():
                member.repeated, member.copies = False, member.copies[:1]
            key = (type_, packed, member.repeated, *member.numbers())
            if key not in stored:
                stored[key] = member
                taken.add(member.name)
            made[i].append(stored[key])
        for i, one in enumerate(statements):
            if self.is_copy(i):
                continue
            repeated = self.is_repeated(i)
            copies = [statements[i + self.period * c] for c in range(self.count)] if repeated else [one]
            base = one.node.scope.rsplit("/", 1)[-1] or one.node.op
            made[i] = []
            if one.type:
                add(i, base, one.type, one.packed, [copy.parts for copy in copies], repeated, False, stored_options(one.node))
            for k, (axes, _) in enumerate(one.tensors):
                numbers = [[("", copy.tensors[k][1])] for copy in copies]
                add(i, self.names_of_tensors.get(digest(numbers[0][0][1]), f"{base}_table"), f"tensor<float, {axes}>" if axes else "tensor<float>", False, numbers, repeated, True)
        return made

    def name_types(self):
        for member in [*self.of_model, *self.of_block]:
            if not member.tensor and member.type not in self.types:
                base, k = f"{member.name.rstrip('_')}_type", 2  # two underscores are reserved
                name = base
                while name in self.types.values():
                    name, k = f"{base}_{k}", k + 1
                self.types[member.type] = name

    def collect(self):
        """The tensors of the file, by Umbel's paths."""
        for prefix, members in (("", self.of_model), ("blocks.", self.of_block)):
            for member in members:
                for c, parts in enumerate(member.copies[:self.stored] if prefix else member.copies):
                    if prefix:
                        path = f"{prefix}{c}.{member.path}"
                    else:
                        path = f"{member.path}.{c}" if member.repeated else member.path
                    self.tensors.update((f"{path}.{part}" if part else path, array) for part, array in parts)

    def options(self):
        """Of all layers that have some, by their paths in the file."""
        made = []
        for m in [*self.of_model, *self.of_block]:
            several = m.repeated and self.period == 1
            path = f"blocks.*.{m.path}" if m in self.of_block else f"{m.path}.*" if several else m.path
            made += [f"{path}: {m.options}"] if m.options else []
        return "; ".join(made)

    # ---- the header
    def fields(self, members, packed):
        for m in members:
            type_ = m.type if m.tensor else f"prepacked<{self.types[m.type]}>" if packed and m.packed else f"{self.types[m.type]}::weights"
            yield m.name, f"{type_} {m.name}{f'[{self.count}]' if m.repeated and self.period == 1 else ''};", "void" if m.tensor else self.types[m.type]

    def struct(self, title, members, groups, packed, more=()):
        """With a struct for each group before it, if there are groups."""
        fields, made = list(self.fields(members, packed)), []
        if groups:
            fields = []
            for name, of_group in groups:
                made += struct_text(f"{title}_{name}", list(self.fields(of_group, packed)), self.lists_layers(packed))
                fields.append((name, f"{title}_{name} {name};", "void"))
        return made + struct_text(title, [*fields, *more], self.lists_layers(packed))

    def lists_layers(self, packed):
        """Does a struct list the layers of its members, for load?"""
        return not packed and self.options() != ""

    def structs(self):
        made, (of_model, of_block) = [], self.groups
        for packed, title, block in self.forms:
            if self.of_block:
                made += self.struct(block, self.of_block, of_block, packed)
            made += self.struct(title, self.of_model, of_model, packed, [("blocks", f"{block} blocks[{self.stored}];", "void")] if self.of_block else [])
        if self.program.in_integers:
            return made
        made += ["// Lays the matrices out for the kernels of this target.", "constexpr void pack(packed& to, const weights& w) noexcept {"]
        for m in self.of_model:
            many = m.repeated and self.period == 1
            at = f"{m.path}[i]" if many else m.path
            made.append(f"  {f'for (std::size_t i = 0; i < {self.count}; ++i) ' if many else ''}{pack_text(m, at)}")
        if self.of_block:
            made.append(f"  for (std::size_t i = 0; i < {self.stored}; ++i) {{")
            made += [f"    {pack_text(m, f'blocks[i].{m.path}')}" for m in self.of_block]
            made.append("  }")
        return [*made, "}", ""]

    def text_of(self, i, weights, names):
        """Statement i by the names of what it reads."""
        one = self.program.statements[i]
        repeated = self.is_repeated(i) or self.is_copy(i)
        copy = (i - self.first) // self.period if repeated else 0
        members = self.members[self.first + (i - self.first) % self.period if repeated else i]
        known = {"t": self.types.get(one.type, "")}
        for k, m in enumerate(members):
            known[f"w{k}"] = f"{weights}{m.path}" + (f"[{copy}]" if m.repeated and self.period == 1 else "")
        return one.text.format(*[names[id(x)] for x in one.reads], **known)

    def block(self, shared):
        """shared: what all copies read."""
        statements = self.program.statements
        names = {key: f"y{k}" for k, key in enumerate(shared)}
        inside = {*shared, *(id(statements[self.first + j].node) for j in range(self.period))}
        entry = next(id(x) for j in range(self.period) for x in statements[self.first + j].reads if id(x) not in inside)
        arguments = ", ".join(f"auto {name}" for name in ("x", *names.values()))
        lines, names[entry] = [f"// One of {self.count} equal blocks.", f"inline constexpr auto block = []({arguments}, const auto& w) {{"], "x"
        for j in range(self.period):
            text = self.text_of(self.first + j, "w.", names)
            names[id(statements[self.first + j].node)] = f"x{j}"
            lines.append(f"  return {text};" if j + 1 == self.period else f"  auto x{j} = {text};")
        return [*lines, "};", ""], entry

    def formula(self):
        statements, results = self.program.statements, self.program.results
        names, lines, entry = dict(self.arguments), [], None
        block, shared = [], [id(x) for x in self.program.shared()] if self.of_block else []
        if self.of_block:
            block, entry = self.block(shared)
        for i, one in enumerate(statements):
            if self.of_block and (self.is_repeated(i) or self.is_copy(i)):
                copy, j = divmod(i - self.first, self.period)
                if j + 1 < self.period:
                    continue
                before = entry if copy == 0 else id(statements[i - self.period].node)
                text = f"block({', '.join(names[key] for key in (before, *shared))}, w.blocks[{copy if self.stored > 1 else 0}])"
            else:
                text = self.text_of(i, "w.", names)
            comment = f"  // {axes_text(one.axes, one.node.shape)}" if one.node.shape else ""
            if len(results) == 1 and i + 1 == len(statements) and one.node is results[0]:
                lines.append(f"  return {text};{comment}")
                continue
            names[id(one.node)] = f"x{len(lines)}"
            lines.append(f"  auto x{len(lines)} = {text};{comment}")
        if not lines[-1].startswith("  return"):
            returned = ", ".join(names[id(x)] for x in results)
            lines.append(f"  return {returned};" if len(results) == 1 else f"  return std::tuple{{{returned}}};")
        arguments = [f"auto {name}" for name in self.arguments.values()] + (["const auto& w"] if self.tensors else [])
        block += [f"// Returns {', '.join(self.results)}."] if len(results) > 1 and not self.results[0].startswith("result") else []
        return [*block, f"inline constexpr formula forward = []({', '.join(arguments)}) {{", *lines, "};", ""]

    def input_type(self, node):
        kind = "bool" if is_flag(node) else "int" if node["dtype"].kind in "iu" else "float"
        return tensor_text(kind, self.program.names(node), node.shape)

    def types_of_results(self):
        return [f"result{'' if len(self.program.results) == 1 else k}_tensor" for k in range(len(self.program.results))]

    def result_types(self):
        return [tensor_text("float", self.program.names(x), x.shape) for x in self.program.results]

    def header(self, more=""):
        """more: at its end, within the namespace."""
        count, results = sum(array.size for array in self.tensors.values()), self.result_types()
        lines = [f"// SPDX-License-Identifier: {self.license}",
                 f"// Written by tools/import from {safe(self.source)}: do not edit. {len(self.tensors)} tensors, {count:,} numbers.",
                 "#pragma once", "", *(["#include <tuple>", ""] if len(results) > 1 or "std::tie" in more or self.lists_layers(False) else []),
                 *(f"#include <umbel/{one}.hpp>" for one in self.headers), "", f"namespace {self.name} {{",
                 "using namespace umbel;", "using namespace umbel::axes;", ""]
        for axis in self.program.own:
            lines += ["template <std::size_t N>", f"struct {axis} : axis<{axis}, N> {{}};"]
        lines += [""] * bool(self.program.own)
        for type_, name in self.types.items():
            lines += wrapped(f"using {name} = ", [type_], ";")
        lines += [f"using {self.tensor_types[id(x)]} = {self.input_type(x)};" for x in self.program.inputs]
        lines += [f"using {name} = {type_};" for name, type_ in zip(self.types_of_results(), results)] + [""]
        if not self.program.in_integers and any(m.packed for m in [*self.of_model, *self.of_block]):
            lines += ["// A layer of packed weights, or of weights.", "template <class Layer>",
                      "constexpr const prepacked<Layer>& use(const prepacked<Layer>& layer) noexcept {", "  return layer;", "}",
                      "template <class Layer>", "constexpr Layer use(const typename Layer::weights& w) noexcept {", "  return Layer{w};", "}", ""]
        lines += (self.structs() if self.tensors else []) + self.formula()
        return "\n".join([*lines, *self.form_of_call(), "", *([more] if more else []), f"}}  // namespace {self.name}", ""])

    def form_of_call(self):
        types = [self.tensor_types[id(x)] for x in self.program.inputs] + (["packed"] if self.tensors else [])
        return [f"using workspace = workspace_for<decltype(forward), {', '.join(types)}>;"]

    # ---- the file and the program
    def weights_file(self):
        probe = {}
        for k, node in enumerate(self.program.inputs):
            value = self.feeds[node["name"]].reshape(node.shape)
            probe[f"probe.input.{k}"] = value.astype("<f4" if self.input_type(node).startswith("tensor<float") else "<i4")
        for k, (node, answer) in enumerate(zip(self.program.results, self.answers)):
            probe[f"probe.output.{k}"] = answer.reshape(node.shape).astype("<f4")
        for name in probe.keys() & self.tensors.keys():
            raise Refused(f"{name}: a weight has a name of the probe; rename its module")
        return safetensors_bytes(self.tensors, probe, "float", self.options())

    def test(self, allowed):
        inputs, results = self.program.inputs, self.result_types()
        arguments = [f"in{k}" for k in range(len(inputs))] + (["fast"] if self.tensors else []) + ["work"]
        out = "out0" if len(results) == 1 else f"std::tie({', '.join(f'out{k}' for k in range(len(results)))})"
        lines = [
            f"// SPDX-License-Identifier: {self.license}",
            f"// Written by tools/import from {safe(self.source)}: runs {self.file_name}.hpp on the probe in the file of weights.",
            "#include <cstdio>", "#include <tuple>", "", "#include <umbel/file/mapped_file.hpp>", "#include <umbel/files.hpp>",
            "#include <umbel/weights.hpp>", "", f'#include "{self.file_name}.hpp"', "", f"using namespace {self.name};", ""
        ]
        lines += [f"static {self.tensor_types[id(x)]} in{k};" for k, x in enumerate(inputs)]
        lines += [f"static {type_} out{k}, wanted{k};" for k, type_ in enumerate(results)]
        lines += ["static weights w;", "static packed fast;"] if self.tensors else []
        lines += ["static workspace work;", "", *self.loading(), *(["  pack(fast, w);"] if self.tensors else [])]
        for k, node in enumerate(inputs):
            lines += self.reading(k, node)
        for k in range(len(results)):
            lines.append(f'  if (!file->read("probe.output.{k}", wanted{k})) return std::puts("no probe.output.{k}"), 1;')
        lines += [f"  forward.into({out}, {', '.join(arguments)});", "  bool right = true;"]
        for k, bound in enumerate(allowed):
            number = "" if len(results) == 1 else f" output {k},"
            lines += [f"  const double far{k} = compare_parameters(out{k}, wanted{k}).largest;",
                      f"  right = right && far{k} <= {bound:.3g};",
                      f'  std::printf("{self.file_name}:{number} largest difference %.3g, at most {bound:.3g} is allowed\\n", far{k});']
        weights = "sizeof fast" if self.tensors else "std::size_t{}"
        lines += [f'  std::printf("{self.file_name}: %zu bytes of packed weights, %zu of workspace\\n", {weights}, sizeof work);',
                  f'  if (!right) std::puts("{self.file_name}: import again with --find, which names the first statement that differs");',
                  "  return right ? 0 : 1;", "}", ""]
        return "\n".join(lines)

    def loading(self):
        """The begin of main: the file, its checksum, the weights."""
        load = ["  if (const auto loaded = load(w, *file, names::umbel); !loaded)", "    return std::puts(loaded.error()), 1;"]
        return ["int main(int argc, char** argv) {",
                f'  const auto memory = mapped_file::open(argc > 1 ? argv[1] : "{self.file_name}.safetensors");',
                "  if (!memory) return std::puts(memory.error()), 1;", "  const auto file = tensor_file::in_memory(*memory);",
                "  if (!file) return std::puts(file.error()), 1;",
                "  if (const auto same = verify_checksum(*file); !same) return std::puts(same.error()), 1;", *(load if self.tensors else [])]

    def reading(self, k, node):
        missing = f'return std::puts("no probe.input.{k}"), 1;'
        kind = self.input_type(node)
        if kind.startswith("tensor<float"):
            return [f'  if (!file->read("probe.input.{k}", in{k})) {missing}']
        if kind.startswith("tensor<int"):
            return [f'  if (!file->read("probe.input.{k}", in{k})) {missing}']
        return [f"  static tensor<int{kind.removeprefix('tensor<bool')} kept{k};", f'  if (!file->read("probe.input.{k}", kept{k})) {missing}',
                f"  for (std::size_t i = 0; i < in{k}.size(); ++i) in{k}.data()[i] = kept{k}.data()[i] != 0;"]


def grouped(members, one_more):
    """More members than a struct may have, as groups with names; else nothing."""
    if len(members) + one_more <= MOST_MEMBERS:
        return []
    size = max(MOST_MEMBERS, -(-len(members) // (MOST_MEMBERS - 1)))
    if size > MOST_MEMBERS:
        raise Refused(f"the model has {len(members)} different weights, and load reads at most {MOST_MEMBERS * (MOST_MEMBERS - 1)}; "
                      "import it in two parts")
    groups = [(f"part_{1 + i // size}", members[i:i + size]) for i in range(0, len(members), size)]
    for name, of_group in groups:
        for member in of_group:
            member.path = f"{name}.{member.name}"
    return groups


def struct_text(title, fields, lists_layers):
    lines = wrapped("  static constexpr const char* part_names[] = {", [f'"{name}"' for name, _, _ in fields], "};")
    lines += wrapped("  using part_layers = std::tuple<", [layer for _, _, layer in fields], ">;") if lists_layers else []
    return [f"struct {title} {{", *lines, *(f"  {field}" for _, field, _ in fields), "};", ""]


def identifier_of_namespace(name):
    made = re.sub(r"__+", "_", re.sub(r"\W+", "_", name, flags=re.ASCII)).strip("_") or "model"
    made = made if made[0].isalpha() else f"model_{made}"
    return made + "_model" if made in TAKEN | PUBLIC else made


def pack_text(member, at):
    return f"to.{at}.pack(w.{at});" if member.packed else f"to.{at} = w.{at};"


def tensor_text(kind, names, shape):
    return f"tensor<{kind}, {axes_text(names, shape)}>" if shape else f"tensor<{kind}>"


def wrapped(before, items, after):
    """A list of one line, or of several within the usual columns."""
    whole = before + ", ".join(items) + after
    pieces = whole.split(", ")
    lines, line = [], pieces[0]
    for piece in pieces[1:]:
        if len(line) + 2 + len(piece) + 1 > COLUMNS:
            lines.append(line + ",")
            line = " " * (len(before) - len(before.lstrip()) + 4) + piece
        else:
            line += ", " + piece
    return [*lines, line]


def allowed_difference(narrow, nudged, wide):
    """Of a result: float noise, measured by numpy in 32 and in 64 bits; or, if that is by chance small, with inputs and weights that
    differ by a last bit, but not more than without a condition that flips."""
    narrow, nudged, wide = (np.asarray(x, np.float64) for x in (narrow, nudged, wide))
    largest = max(float(np.abs(wide).max(initial=0)), 1e-3)
    noise, moved = (float(np.abs(x - narrow).max(initial=0)) for x in (wide, nudged))
    return max(NOISE * noise, min(NUDGES * moved, NOISE * SMALLEST * largest)) + SMALLEST * largest
