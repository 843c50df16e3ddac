# SPDX-License-Identifier: BSL-1.0
"""For tools/import --int8: the model as a formula in 8-bit integers. NAME_int8.hpp has the formula in operations and the ranges of
its values on the samples, NAME_int8.safetensors its weights and a probe, and NAME_int8_test.cpp compares the probe's integers."""
import json
import math
import pathlib
import re
import subprocess
import tempfile

import numpy as np

from command_line import Refused
from export_read import npy_array, open_plain, read_file
from export_write import float_text, safe, safetensors_bytes
from import_formula import Program
from import_write import Writer
from progress import Progress
from quantize_program import compiled

LABELS = "labels"  # in the file of samples


def read_samples(path, inputs):
    """Arrays of samples by the names of the inputs, and the labels or nothing."""
    try:
        with open_plain(path) as file:
            content = file.read() if file.read(6) == b"\x93NUMPY" else b""
        arrays = {"samples": npy_array(path.name, b"\x93NUMPY" + content)} if content else read_file(path, False).tensors
    except Refused as problem:
        raise Refused(f"{path}: {problem}") from None
    if len(inputs) == 1 and not inputs.keys() & arrays.keys() and len(arrays.keys() - {LABELS}) == 1:
        (only,) = arrays.keys() - {LABELS}
        arrays[next(iter(inputs))] = arrays.pop(only)
    samples, counts = {}, set()
    for name, (dtype, shape) in inputs.items():
        if dtype.kind != "f":
            raise Refused(f"--int8: input {name} is of {dtype}, and formulas in integers have only inputs of float32; look embeddings up before the model")
        if name not in arrays:
            said = f"{name}=x" if name.isidentifier() else f"**{{{name!r}: x}}"
            raise Refused(f"{path}: has no array {name}, only {', '.join(arrays)}; save numpy.savez(file, {said})")
        array, one = arrays[name], math.prod(shape)
        if array.ndim == 0 or array.dtype.kind != "f" or array.size == 0 or array.size // array.shape[0] != one:
            raise Refused(f"{path}: {name} is {array.dtype} of shape {list(array.shape)}, not samples of float along the first axis, "
                          f"each of shape {list(shape)}")
        if not np.isfinite(array).all():
            raise Refused(f"{path}: {name} has a number that is not finite")
        samples[name] = array.reshape(len(array), one).astype("<f4")
        counts.add(len(array))
    if len(counts) != 1:
        raise Refused(f"{path}: the inputs have different counts of samples, {', '.join(map(str, sorted(counts)))}")
    labels = arrays.get(LABELS)
    (count,) = counts
    if labels is not None and (labels.dtype.kind not in "iu" or labels.shape[:1] != (count,)):
        raise Refused(f"{path}: {LABELS} are {labels.dtype} of shape {list(labels.shape)}, not integers for each of {count} samples")
    return samples, labels


class IntegerWriter(Writer):
    """results, axes, inputs: as of Program, with only operations among the results. samples, labels: of read_samples."""

    def __init__(self, results, axes, inputs, name, source, license_name, feeds, answers, outputs, samples, labels):
        if len(results) > 1:
            raise Refused(f"--int8: the model has {len(results)} outputs, and a formula in integers has one; leave the others out")
        super().__init__(Program(results, axes, list(inputs), in_integers=True), f"{name}_int8", source, license_name, feeds, answers, outputs)
        self.samples = [samples[one["name"]] for one in self.program.inputs]
        self.results_in_a_sample = math.prod(self.program.results[0].shape)
        self.classes = (self.program.results[0].shape or (1,))[-1]
        self.labels = None if labels is None else labels.astype("<i4").reshape(-1)
        rows = len(self.samples[0]) * self.results_in_a_sample // self.classes
        if self.labels is not None and (len(self.labels) != rows or ((self.labels < 0) | (self.labels >= self.classes)).any()):
            raise Refused(f"--int8: the labels are {len(self.labels)}, from {self.labels.min()} to {self.labels.max()}, but the results have {rows} rows of "
                          f"{self.classes}")
        self.ranges = None

    # ---- ranges
    def measure(self):
        """Takes the ranges, and returns what the program found."""
        header = self.header()
        with tempfile.TemporaryDirectory() as made, Progress("tools/import --int8", 2, begin=False) as progress:
            folder = pathlib.Path(made)
            (folder / f"{self.file_name}.hpp").write_text(header)
            (folder / "weights").write_bytes(safetensors_bytes(self.tensors, {}, "float")[0])
            for k, array in enumerate(self.samples):
                (folder / f"samples{k}").write_bytes(array.tobytes())
            progress.step("compiling")
            binary = compiled(folder, self.program_of_ranges(), "--int8", "the formula in integers")
            progress.step("taking the ranges")
            done = subprocess.run([str(binary)], cwd=folder, capture_output=True, text=True)
            if done.returncode:
                raise Refused(f"--int8: {done.stderr.strip() or done.stdout.strip() or f'the program ended with {done.returncode}'}")
            found = json.loads(done.stdout)
            self.floats, self.integers = (np.fromfile(folder / name, type_).reshape(len(self.samples[0]), -1)
                                          for name, type_ in (("floats", "<f4"), ("integers", "<i4")))
        self.ranges = found["ranges"]
        return self.report(found)

    def report(self, found):
        wanted, made = self.floats.astype(np.float64), self.integers * found["unit"]
        error = math.sqrt(((made - wanted) ** 2).sum() / max((wanted ** 2).sum(), 1e-300))
        lines = [f"in integers: {100 * error:.2f} % error relative to the results in floats, by squares, on {len(wanted)} samples; "
                 f"{found['packed']:,} bytes of packed weights, {found['workspace']:,} of workspace"]
        if self.classes > 1:
            of_floats, of_integers = (x.reshape(-1, self.classes).argmax(-1) for x in (wanted, made))
            lines.append(f"the same largest result: {100 * (of_floats == of_integers).mean():.2f} %")
            if self.labels is not None:
                right, also = (100 * (x == self.labels).mean() for x in (of_floats, of_integers))
                lines.append(f"right: {right:.2f} % in floats, {also:.2f} % in integers")
        return lines

    def program_of_ranges(self):
        arguments = ", ".join(f"in{k}" for k in range(len(self.samples)))
        weights = ", w" if self.tensors else ""
        lines = ["#include <cstdio>", "#include <tuple>", "#include <umbel/file/mapped_file.hpp>", "#include <umbel/files.hpp>", "#include <umbel/weights.hpp>",
                 f'#include "{self.file_name}.hpp"', f"using namespace {self.name};",
                 *(f"static {self.tensor_types[id(x)]} in{k};" for k, x in enumerate(self.program.inputs)),
                 "static weights w;" if self.tensors else "", "static layer::ranges seen;", "static layer::calibration_workspace scratch;",
                 "static layer packed;", "static layer::workspace work;", "static decltype(packed(" + self.quantized("seen") + ", work)) out;",
                 "template <class F>", "void each_sample(const F& f) {",
                 *(f'  std::FILE* const file{k} = std::fopen("samples{k}", "rb");' for k in range(len(self.samples))),
                 "  while (" + " && ".join(f"std::fread(in{k}.data(), sizeof in{k}, 1, file{k}) == 1" for k in range(len(self.samples))) + ") f();",
                 "}", "int main() {"]
        if self.tensors:
            lines += ['  const auto memory = mapped_file::open("weights");', "  const auto file = tensor_file::in_memory(*memory);",
                      "  if (const auto loaded = load(w, *file, names::umbel); !loaded) return std::puts(loaded.error()), 1;"]
        lines += ['  std::FILE* const floats = std::fopen("floats", "wb");', '  std::FILE* const integers = std::fopen("integers", "wb");',
                  "  each_sample([&] {", f"    const auto y = layer::calibrate(seen, {arguments}{weights}, scratch);",
                  "    std::fwrite(y.data(), sizeof(float), y.size(), floats);", "  });", "  std::fclose(floats);",
                  f"  if (const auto done = packed.pack({'w, ' if self.tensors else ''}seen); !done) {{",
                  '    std::fprintf(stderr, "all samples leave the value %s at 0, or not finite", done.missing_range());', "    return 1;", "  }",
                  "  each_sample([&] {", f"    packed.into(out, {self.quantized('seen')}, work);",
                  "    for (const int y : out) std::fwrite(&y, sizeof y, 1, integers);", "  });", "  std::fclose(integers);",
                  '  std::printf("{\\"packed\\": %zu, \\"workspace\\": %zu, \\"ranges\\": {", sizeof packed, sizeof work);', "  bool any = false;",
                  "  for_each_parameter(seen, [&](const parameter_path& path, auto r) {",
                  '    std::printf("%s\\"%s\\": %.9g", any ? ", " : "", path.c_str(), static_cast<double>(r()));', "    any = true;", "  });",
                  "  const tensor<std::remove_cvref_t<decltype(out)>::value_type> one{1};",
                  '  std::printf("}, \\"unit\\": %.17g}\\n", static_cast<double>(dequantize(one, layer::output_range(seen))()));', "}"]
        return "\n".join(lines) + "\n"

    def quantized(self, ranges):
        return ", ".join(f"quantize<layer::input_type<{k}>>(in{k}, layer::input_range<{k}>({ranges}))" for k in range(len(self.program.inputs)))

    # ---- files
    def form_of_call(self):
        types = [self.tensor_types[id(x)] for x in self.program.inputs] + (["weights"] if self.tensors else [])
        lines = ["// In integers: layer(w, ranges).", f"using layer = quantized<decltype(forward), {', '.join(types)}>;"]
        if self.ranges:
            lines += ["", "// The largest magnitudes of the formula's values on the samples.", "inline constexpr layer::ranges ranges = [] {",
                      "  layer::ranges seen{};", *(f'  seen.get<"{name}">()() = {float_text(value)};' for name, value in self.ranges.items()),
                      "  return seen;", "}();"]
        return lines

    def weights_file(self):
        probe = {f"probe.input.{k}": array[0].reshape(node.shape) for k, (array, node) in enumerate(zip(self.samples, self.program.inputs))}
        probe["probe.output.0"] = self.integers[0].reshape(self.program.results[0].shape)
        return safetensors_bytes(self.tensors, probe, "float")

    def test(self, _):
        inputs = self.program.inputs
        (result,) = self.result_types()
        lines = [f"// SPDX-License-Identifier: {self.license}",
                 f"// Written by tools/import from {safe(self.source)}: runs {self.file_name}.hpp on the first sample, in the file of weights.",
                 "#include <cstdio>", "", "#include <umbel/file/mapped_file.hpp>", "#include <umbel/files.hpp>", "#include <umbel/weights.hpp>", "",
                 f'#include "{self.file_name}.hpp"', "", f"using namespace {self.name};", ""]
        lines += [f"static {self.tensor_types[id(x)]} in{k};" for k, x in enumerate(inputs)]
        lines += [f"static {re.sub('^tensor<float', 'tensor<int', result)} wanted;", *(["static weights w;"] if self.tensors else []),
                  "static layer packed;", "static layer::workspace work;", "", *self.loading()]
        lines.append(f"  if (!packed.pack({'w, ' if self.tensors else ''}ranges)) return std::puts(\"a range is 0\"), 1;")
        for k in range(len(inputs)):
            lines.append(f'  if (!file->read("probe.input.{k}", in{k})) return std::puts("no probe.input.{k}"), 1;')
        lines += ['  if (!file->read("probe.output.0", wanted)) return std::puts("no probe.output.0"), 1;',
                  f"  const auto out = packed({self.quantized('ranges')}, work);", "  std::size_t different = 0;",
                  "  for (std::size_t i = 0; i < out.size(); ++i) different += out.data()[i] != wanted.data()[i];",
                  f'  std::printf("{self.file_name}: %zu of %zu integers differ from the probe\\n", different, out.size());',
                  "  return different == 0 ? 0 : 1;", "}", ""]
        return "\n".join(lines)
