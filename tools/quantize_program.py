# SPDX-License-Identifier: BSL-1.0
"""What tools/quantize reads of a header of tools/export, and the program that it writes: the parts of a model, in C++."""
from __future__ import annotations

import os
import pathlib
import re
import subprocess

from command_line import Refused

TOOLS = pathlib.Path(__file__).resolve().parent
AXIS = re.compile(r"[a-z][a-z0-9_]*")
# What a layer takes and gives: 8 or 16 bits; of None, what the next part takes.
TAKES = {"linear": (8, None), "feed_forward": (8, None), "multi_head_attention": (8, None), "encoder_layer": (16, 16),
         "decoder_layer": (16, 16), "layer_norm": (16, 8), "rms_norm": (16, 8), "embedding": ("ids", 16), "table": (16, 16),
         "sinusoidal": (16, 16), "mean": (8, None)}
SINUSOIDS = re.compile(r"sinusoidal:(adjacent_pairs|split_halves|split_halves_to_base)(?::(\d+))?")


class Part:
    """width: of the features that it gives; of None, of those that it is given. first: the axis of which only the first position is
    handed on."""

    def __init__(self, name, kind, source, label, width=None):
        self.name, self.kind, self.source, self.label, self.width, self.first = name, kind, source, label, width, None
        self.takes, self.gives = TAKES[kind]


def parts_of(text, header, namespace, last=16):
    """The parts by name, an array of layers as one part each. last: the bits that the last one gives."""
    types, widths = {}, {}
    for name, kind, more in re.findall(r"^using (\w+)_type = umbel::(\w+)<float, (.*)>;", text, re.M):
        types[name], extents = kind, [int(one) for one in re.findall(r"umbel::axes::\w+<(\d+)>", more)]
        widths[name] = extents[1 if kind == "linear" and len(extents) > 1 else 0] if extents else None
    arrays = {name: shape for name, shape in
              re.findall(r"^inline constexpr std::size_t (\w+)_shape\[2\] = \{(\d+, \d+)\};", text, re.M)}
    parts = []
    for word in header:
        if word.startswith("mean:"):
            if not AXIS.fullmatch(word[5:]):
                raise Refused(f"{word}: mean is followed by the name of an axis, mean:token")
            parts.append(Part("mean", "mean", word[5:], "mean"))
        elif word.startswith("first:"):
            if not AXIS.fullmatch(word[6:]):
                raise Refused(f"{word}: first is followed by the name of an axis, first:token")
            if not parts:
                raise Refused(f"{word}: no part makes the positions; give samples of the first position")
            parts[-1].first = word[6:]
        elif word.startswith("sinusoidal:"):
            layout = SINUSOIDS.fullmatch(word)
            if not layout:
                raise Refused(f"{word}: sinusoidal is followed by adjacent_pairs, split_halves or split_halves_to_base, and "
                              "where it is not 10000 by the base, sinusoidal:split_halves:500")
            parts.append(Part("sinusoidal", "sinusoidal", f"umbel::{layout[1]}, {layout[2] or 10000}", "sinusoidal"))
        elif word.startswith("embedding:") and word[10:] in arrays:
            parts.append(Part(word[10:], "embedding", (f"{namespace}::{word[10:]}", arrays[word[10:]]), word[10:],
                              arrays[word[10:]].split(", ")[1]))
        elif word in types:
            kind = types[word]
            if kind not in TAKES:
                raise Refused(f"{word}: {kind} is not supported in integers")
            variable = word if kind.endswith("norm") else word + "_parameters"
            found = re.search(rf"^inline constexpr \S+ {variable}(?:\[(\d+)\])?\{{", text, re.M)
            if not found:
                raise Refused(f"{word}: the header has its type, but not {variable}")
            source = f"{namespace}::{variable}"
            if found[1]:
                parts += [Part(f"{word}.{i}", kind, f"{source}[{i}]", word, widths[word]) for i in range(int(found[1]))]
            else:
                parts.append(Part(word, kind, source, word, widths[word]))
        elif word in arrays:
            parts.append(Part(word, "table", (f"{namespace}::{word}", arrays[word]), word))
        else:
            names = [*types, "mean:AXIS", "first:AXIS", "sinusoidal:LAYOUT", *arrays]
            raise Refused(f"{word or 'an empty name'}: the header has no such layer or table; it has {', '.join(names[:20])}" +
                          (" ..." if len(names) > 20 else ""))
    for part in parts[1:]:
        if part.takes == "ids":
            raise Refused(f"{part.name}: an embedding is the first part")
    for at, part in enumerate(parts):
        behind = parts[at + 1] if at + 1 < len(parts) else None
        following = behind.takes if behind else last
        if part.gives is None:
            part.gives = following
        if (behind or last == 8) and part.gives != following:
            raise Refused(f"{part.name} gives {part.gives} bits, but {behind.name if behind else 'a decoder layer'} takes "
                          f"{following}{'' if behind else ' of the memory'}: " +
                          ("put a norm between them" if following == 8 else "a residual sum comes from a map or a table"))
    return parts


class Model:
    """The parts of the header that were named, those of the memory apart."""

    def __init__(self, options, text):
        found = re.search(r"^namespace ([\w:]+) \{", text, re.M)
        if not found or "_type = umbel::" not in text:
            raise Refused(f"{options.header}: is no header of layers; tools/export MODEL --header {options.header.name} "
                          "--types --namespace NAME writes one")
        self.namespace = found[1]
        self.parts = parts_of(text, options.parts.split(","), self.namespace)
        self.memory = parts_of(text, options.memory_parts.split(","), self.namespace, 8) if options.memory_parts else []
        decoders = [part.name for part in self.parts if part.kind == "decoder_layer"]
        for part in self.memory:
            part.name = f"memory.{part.name}"
            if part.kind == "decoder_layer":
                raise Refused(f"{part.name}: a decoder layer does not make the memory")
        if decoders and not options.memory:
            raise Refused(f"{decoders[0]} is a decoder layer, which attends to a memory: say --memory")
        if options.memory and not decoders:
            raise Refused(f"{options.memory}: no part is a decoder layer, which attends to a memory")


def axis_of(word, axis, axes):
    if axis not in axes:
        raise Refused(f"{word}:{axis}: the samples have the axes {', '.join(axes)}")
    return f"umbel::axes::{axis}<{axes[axis]}>"


def code_of(part, axes, width, causal, has_lengths, options, namespace):
    """The call that makes the part. axes, width: of a sample, and of the features that the part is given."""
    takes = f"std::int{part.takes}_t" if part.takes != "ids" else "int"
    after, mask = "tool::all_positions", "void"
    if part.first:
        axis_of("first", part.first, axes)
        after = f"tool::first_of<umbel::axes::{part.first}>"
    attends = part.kind in ("encoder_layer", "multi_head_attention") and (causal or has_lengths)
    if part.kind == "decoder_layer" or attends:
        mask = f"std::remove_cv_t<decltype(umbel::{'causal' if causal else 'all_keys'})>"
    elif part.kind == "mean" and has_lengths and part.source == next(iter(axes)):
        mask = "tool::by_length"
    ends = f"{takes}, std::int{part.gives}_t, {mask}, {after}"
    gives = f", umbel::output_as<std::int{part.gives}_t>" if TAKES[part.kind][1] is None else ""
    name = f'"{part.name}"'
    if part.kind == "mean":
        axis = axis_of("mean", part.source, axes)
        return f"tool::make<umbel::quantized_mean<{axis}{gives}>, {ends}>({name}, nullptr)"
    if part.kind in ("table", "embedding"):
        array, shape = part.source
        layer, first = ("embedding", "vocabulary") if part.kind == "embedding" else ("learned_positions", next(iter(axes)))
        kind = f"umbel::{layer}<float, umbel::axes::{first}<{shape.split(', ')[0]}>, " \
               f"umbel::axes::hidden<{shape.split(', ')[1]}>>"
        return (f"tool::make<umbel::quantized<{kind}>, {ends}>({name}, tool::owned({kind}::weights_view("
                f"umbel::view_as<umbel::axes::{first}, umbel::axes::hidden>({array}))))")
    if part.kind == "sinusoidal":
        first, size = next(iter(axes.items()))
        kind = f"umbel::sinusoidal_positions<float, umbel::axes::{first}<{size}>, umbel::axes::hidden<{width}>, {part.source}>"
        return f"tool::make<umbel::quantized<{kind}>, {ends}>({name}, nullptr)"
    kind = f"{namespace}::{part.label}_type"
    more = f", {options.epsilon!r}F" if part.kind.endswith("norm") else ""
    return f"tool::make<umbel::quantized<{kind}{gives}>, {ends}>({name}, tool::owned({part.source}){more})"


def chain(path, parts, shape, causal, has_lengths, options, namespace):
    """The type of one sample, and the calls that make the parts."""
    names = (options.axes or ("token" if parts and parts[0].takes == "ids" else
                              "hidden" if len(shape) == 1 else "token,hidden")).split(",")
    if len(names) != len(shape):
        raise Refused(f"{path}: a sample has {len(shape)} axes, {list(shape)}, but --axes {len(names)}: "
                      f"{','.join(names)}")
    axes, width, calls = dict(zip(names, shape)), shape[-1], []
    for part in parts:
        calls.append(code_of(part, axes, width, causal, has_lengths, options, namespace))
        width = part.width or width
    element = "int" if parts and parts[0].takes == "ids" else "float"
    return f"umbel::tensor<{element}, {', '.join(f'umbel::axes::{name}<{size}>' for name, size in axes.items())}>", calls


def program(options, model, given):
    namespace = model.namespace
    sample, calls = chain(options.samples, model.parts, given["samples"].shape[1:], options.causal, bool(options.lengths), options,
                          namespace)
    memory = "tool::no_memory"
    if options.memory:
        memory, first = chain(options.memory, model.memory, given["memory"].shape[1:], False, bool(options.memory_lengths),
                              options, namespace)
        calls = first + calls
    listed = ",\n      ".join(calls)
    sample_lengths, memory_lengths = ("int" if given else "tool::whole" for given in (options.lengths, options.memory_lengths))
    return f"""#include "{options.header.resolve()}"
#include "{TOOLS / 'quantize.hpp'}"

int main(int, char** words) {{
  static auto parts = std::make_tuple(
      {listed});
  using sample = {sample};
  using memory = {memory};
  const auto run = [&]<class... Part>(std::tuple<Part...>& list) {{
    tool::model<sample, {sample_lengths}, memory, {memory_lengths}, {len(model.memory)}, Part...> model(list);
    const auto count = [&](int i) {{ return std::strtoull(words[i], nullptr, 10); }};
    const auto samples = [&]<class Sample>(int i, Sample*) {{ return tool::samples<Sample>(words[i], count(i + 1)); }};
    const auto given = [&](int i) {{
      return tool::given{{samples(i, (sample*)nullptr), samples(i + 2, (memory*)nullptr), tool::read<int>(words[i + 4], count(i + 5)),
                         tool::read<int>(words[i + 6], count(i + 7))}};
    }};
    model.calibrate(given(1), {options.percentile!r});
    model.compare(given(9), tool::read<int>(words[17], count(18)));
    model.print();
  }};
  run(parts);
}}
"""


def compiled(folder, text, refused, program):
    """The program of a text, by CXX or g++. refused: what a sentence of Umbel's is about; program: what it is called if the compiler
    says something else."""
    source, binary = folder / "quantize.cpp", folder / "quantize"
    source.write_text(text)
    compiler = (os.environ.get("CXX") or "g++").split()
    if not any(word.startswith("-O") for word in compiler):
        compiler.append("-O2")
    limits = ["-fconstexpr-steps=100000000"] if any("clang" in word for word in compiler) else ["-fconstexpr-ops-limit=1000000000"]
    try:
        done = subprocess.run([*compiler, "-std=c++20", *limits, "-I", str(TOOLS.parent / "include"), str(source), "-o", str(binary)],
                              capture_output=True, text=True)
    except OSError as problem:
        raise Refused(f"{compiler[0]}: {problem.strerror}; set CXX to a C++ compiler for this machine") from None
    if done.returncode != 0:
        if sentence := re.search(r"umbel: (?!shapes do not fit)[^\n]*", done.stderr):
            said, *_ = sentence[0].split('"}')
            raise Refused(f"{refused}: {said}")
        first = re.search(r"error: [^\n]*", done.stderr)
        if not compiles_anything(compiler, folder):
            raise Refused(f"{' '.join(compiler)} doesn't compile and link an empty program; set CXX to a C++ compiler for this machine")
        raise Refused(f"{program} does not compile: {first[0] if first else done.stderr[:300]}")
    if not binary.exists():
        raise Refused(f"{' '.join(compiler)} writes no program; set CXX to a C++ compiler for this machine")
    return binary


def compiles_anything(compiler, folder):
    (folder / "empty.cpp").write_text("#include <vector>\n#include <sys/mman.h>\nint main() { std::vector<int> v(3); return int(v.size()) - 3; }\n")
    done = subprocess.run([*compiler, "-std=c++20", str(folder / "empty.cpp"), "-o", str(folder / "empty")], capture_output=True)
    return done.returncode == 0
