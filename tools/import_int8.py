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
import import_graph as graph
from import_decode import StepInIntegers
from import_formula import CALLS, CONDITIONS, OPERATORS, Program, is_flag
from import_graph import Node, in_order, is_number
from import_ids import Ids, reads_rows
from import_layers import FULL_SCALE, Scores
from import_positions import ByPosition
from import_write import Writer, tensor_text
from progress import Progress
from quantize_program import compiled

RANGES = pathlib.Path(__file__).resolve().parent / "import_ranges.cpp.in"
LABELS = "labels"  # in the file of samples
HELD_OUT = 5  # of so many samples one gives no ranges: the error is measured on it
FEWEST = 2 * HELD_OUT  # samples of which some are held out
# What formulas in integers don't have: of one value and numbers, of two values.
REFUSED = {"gather": "gather", "gather_elements": "gather", "cumulative_sum": "a running sum",
           "argmax": "the place of the largest"}
REFUSED_OF_TWO = {"mod": "a remainder", "pow": "a power"}
ELEMENTWISE = {*OPERATORS, *CALLS, "maximum", "minimum", "where", "activation", "reciprocal", "pow", "not"}
CURE = "has no integer form; do it outside of the model"
LARGE = 1e4  # numbers that stand for minus infinity


# ---- samples -------------------------------------------------------------------------------------


def read_arrays(path, inputs):
    try:
        with open_plain(path) as file:
            content = file.read() if file.read(6) == b"\x93NUMPY" else b""
        arrays = {"samples": npy_array(path.name, b"\x93NUMPY" + content)} if content else read_file(path, False).tensors
    except Refused as problem:
        why = "it isn't .npy or .npz of numpy" if "neither" in str(problem) or "pickle" in str(problem) else problem
        raise Refused(f"{path}: {why}; save the samples with numpy.savez") from None
    except OSError as problem:
        raise Refused(f"{path}: {problem.strerror}") from None
    if len(inputs) == 1 and not inputs.keys() & arrays.keys() and len(arrays.keys() - {LABELS}) == 1:
        (only,) = arrays.keys() - {LABELS}
        arrays[next(iter(inputs))] = arrays.pop(only)
    return arrays


def read_samples(path, inputs, flags, ids):
    """Arrays of samples by the names of the inputs, and the labels or nothing. flags: the inputs that are of bool; ids: those that only
    embeddings read."""
    if LABELS in inputs:
        raise Refused(f"--int8: an input is called {LABELS}, as the right answers in the file of samples are; rename it")
    arrays = read_arrays(path, inputs)
    names = ", ".join(f"{one}=..." if one.isidentifier() else f"**{{{one!r}: ...}}" for one in inputs)
    for name in arrays.keys() - inputs.keys() - {LABELS}:
        raise Refused(
            f"{path}: the model has no input {name}, only {', '.join(inputs)}; save numpy.savez(file, {names}), and {LABELS} if you have them")
    samples, counts = {}, {}
    for name, (_, shape) in inputs.items():
        if name not in arrays:
            raise Refused(f"{path}: has no array {name}, only {', '.join(arrays)}; save numpy.savez(file, {names})")
        array, kinds = arrays[name], "biuf" if name in flags else "iu" if name in ids else "f"
        wanted = f"samples of {'bool' if name in flags else 'integers' if name in ids else 'float32'} along the first axis, [samples, {', '.join(map(str, shape))}]"
        if array.dtype.kind not in kinds:
            raise Refused(f"{path}: {name} is of {array.dtype}, not {wanted}")
        if array.ndim and not len(array):
            raise Refused(f"{path}: {name} has no samples")
        if array.ndim == 0 or array.size // max(len(array), 1) != math.prod(shape) or len(array) and array.size % len(array):
            raise Refused(f"{path}: {name} has the shape {list(array.shape)}, not {wanted}")
        if name in flags and not np.isin(array, (0, 1)).all():
            raise Refused(f"{path}: {name} is a mask, and has other numbers than 0 and 1")
        samples[name] = (array.astype(bool) if name in flags else array.astype("<i4" if name in ids else "<f4")).reshape(len(array), -1)
        if name not in flags and not np.isfinite(samples[name]).all():
            raise Refused(f"{path}: {name} has a number that is not finite in float32")
        counts[name] = len(array)
    if len(set(counts.values())) != 1:
        raise Refused(f"{path}: the inputs have different counts of samples, {', '.join(f'{name} {count}' for name, count in counts.items())}")
    labels, count = arrays.get(LABELS), next(iter(counts.values()))
    if labels is not None and (labels.dtype.kind not in "iu" or labels.shape[:1] != (count,)):
        raise Refused(f"{path}: {LABELS} are {labels.dtype} of shape {list(labels.shape)}, not integers for each of {count} samples")
    return samples, labels


# ---- the graph -----------------------------------------------------------------------------------


def values_of(node):
    """Those of which a node is an elementwise function: of one it is a table."""
    if is_number(node):
        return set()
    if node.op == "move":
        return {(value, node["index"].tobytes()) for value in values_of(node.args[0])}
    if node.op not in ELEMENTWISE:
        return {id(node)}
    found = of_operands(node)
    return found if len(found) == 1 else {id(node)}


def is_of_flags(node):
    """A condition of inputs of bool."""
    return is_number(node) or node.op == "input" and is_flag(node) or node.op in {*CONDITIONS, "move"} and all(map(is_of_flags, node.args))


def of_operands(node):
    return set().union(*map(values_of, node.args))


def for_integers(results, names):
    """The results in what formulas in integers have: masks hide scores, quotients are products, windows of what isn't negative are
    padded with zeros, and a softmax at the end is left out. Changes the nodes; returns the results and what is to be told of them."""
    told, made = [], []
    for node, name in zip(results, names):
        if node.op in ("softmax", "log_softmax") and node["axis"] == len(node.shape) - 1:
            told.append(f"in integers {name + ' is ' if len(results) > 1 else ''}without {node.origin} at the end, which changes no largest result")
            node = node.args[0]
        made.append(node)
    order = in_order(with_hidden_scores(made))
    for node in order:
        if node.op == "move" and node.args[0].op == "move":  # one that was a product
            (inner,) = node.args
            node.args, node.constants["index"] = inner.args, inner["index"].reshape(-1)[node["index"]]
            node.constants["steps"] = [node["index"]]
        if node.op == "div" and len(of_operands(node)) > 1:  # by a table of the divisor
            node.op, node.args = "mul", [node.args[0], graph.unary("reciprocal", node.args[1], node.scope)]
        if node.op == "pooled" and node.args[0].op == "padded" and node.args[0]["fill"] < 0:
            pad_with_zeros(node.args[0], node.origin)
    return made, told


def with_hidden_scores(results):
    """Masks hide scores. Changes the nodes; returns the results."""
    order = in_order(results)
    for node in order:
        if node.op == "softmax" and node["axis"] == len(node.shape) - 1 and len(node.shape) > 1:
            hide(node, [one for one in order if node in one.args])
    return results


def pad_with_zeros(x, origin):
    """Of windows whose largest element is taken."""
    ends = []
    while x.op == "padded":
        ends.append(x)
        x = x.args[0]
    if not graph.not_negative(x):
        raise Refused(f"--int8: {origin}: its padding is smaller than every number, and in integers it is 0; pool after ReLU, or without padding")
    for one in ends:
        one.constants["fill"] = 0.0


def hide(softmax, readers):
    """A node `hidden` for the masks of a softmax. Its first axis may be a batch and heads, which its readers, products, then have."""
    *leading, queries, keys = softmax.shape
    count = math.prod(leading)
    splits = [tuple(leading)] if len(leading) == 2 else [(n, count // n) for n in range(1, count + 1) if count % n == 0]
    each = [Scores(softmax.args[0], (*split, queries, keys), only_inputs=True) for split in splits]
    found, (batch, heads) = max(zip(each, splits), key=lambda one: len(masks_of(one[0])))
    masks = masks_of(found) + hides_later(found)
    is_split = len(leading) == 1 and min(batch, heads) > 1
    if not masks or any(mask == "score_bias" for _, _, mask in found.kept) or is_split and any(one.op != "matmul" or one.args[0] is not softmax for one in readers):
        return
    batch, heads = ((n,) if n > 1 or len(leading) == 2 else () for n in (batch, heads))
    shape = (*batch, *heads, queries, keys)
    scores = graph.move(found.core, found.at.reshape(shape))
    if found.cap:
        scores = graph.times(graph.unary("tanh", graph.times(scores, 1 / found.cap)), found.cap)
    rank = len(shape)
    sizes = {"batch": batch, "heads": heads, "query": shape[-2:-1], "key": shape[-1:]}
    places = {"batch": [0], "heads": range(len(batch), rank - 2), "query": [rank - 2], "key": [rank - 1]}
    for names, value in found.bias:
        of_names = [n for name in names for n in sizes[name]]
        at = tuple(i for name in names for i in places[name])
        scores = graph.elementwise("add", [scores, graph.constant(value.reshape(of_names))], (graph.every(scores), at), shape)
    for one, axes, _ in found.kept:
        one.constants["mask"] = (axes, False)
    hidden = Node("hidden", [scores, *(one for one, *_ in found.kept)], shape, softmax.scope, masks=masks)
    if shape == softmax.shape:
        softmax.args[0] = hidden
        return
    softmax.args, softmax.shape, softmax.constants["axis"] = [hidden], shape, rank - 1
    for product in readers:
        values, of_values = product.args[1], product["y_full"][-2:]
        at = np.broadcast_to(graph.identity(values.shape).reshape(product["y_full"]), (*leading, *of_values))
        made = graph.matmul(softmax, graph.move(values, at.reshape(*batch, *heads, *of_values)), shape, (*batch, *heads, *of_values))
        product.op, product.args = "move", [made]
        product.constants = {"index": graph.identity(made.shape).reshape(product.shape)}
        product.constants["steps"] = [product["index"]]


def hides_later(scores):
    """The causal mask in a constant that also hides other keys. Takes it out of the constant."""
    queries, keys = scores.at.shape[2:]
    later = np.triu(np.ones((queries, keys), bool), 1)
    found = [k for k, (names, value) in enumerate(scores.bias) if names[-2:] == ("query", "key") and (value[..., later] < FULL_SCALE).all()]
    if queries != keys or "causal" in scores.masks or not found:
        return []
    names, value = scores.bias[found[0]]
    scores.bias[found[0]] = names, np.where(later, 0, value)
    return ["causal"]


def masks_of(scores):
    """What hides, without what is added."""
    return [mask for mask in scores.masks if not mask.startswith("score_bias")]


def bits_text(type_, range_):
    """The bits of an integer and what 1 stands for, as arguments of printf."""
    return f"8 * sizeof(layer::{type_}), static_cast<double>(dequantize(tensor<layer::{type_}>{{1}}, layer::{range_}(seen))())"


class IntegerWriter(Writer):
    """results, axes, inputs: as of Program, with only operations among the results. path: of the samples. keys: the positions for which
    a cache has room, or nothing."""

    def __init__(self, results, axes, inputs, name, source, license_name, feeds, answers, outputs, weights, path, keys):
        ids = Ids(results, axes, inputs)
        results, self.told = for_integers(results, outputs)
        self.told += ids.told
        axes = axes | ids.axes
        program = Program(results, axes, [*ids.made, *inputs], in_integers=True)
        for one in program.statements:
            self.check(one.node)
            if any(not np.isfinite(array).all() for _, array in one.tensors):
                raise Refused(f"--int8: {one.node.origin or 'a mask'}: its constant has an infinity, and integers have none; hide keys by a causal "
                              "mask, a window, or an input of bool")
        if keys:
            ByPosition(program, ELEMENTWISE, keys, "--decode with --int8")
        super().__init__(program, f"{name}_int8", source, license_name, feeds, answers, outputs, weights)
        self.steps = StepInIntegers(self, keys) if keys else None
        if keys:
            self.headers = [*self.headers, "quantized/cache_of_formula"]
        names = [one["name"] for one in self.program.inputs]
        if twice := [name for name in names if names.count(name) > 1]:
            raise Refused(f"--int8: input {twice[0]} is the mask of different keys, with and without some that the model adds; pass two masks")
        self.flags = {one["name"] for one in self.program.inputs if self.input_type(one).startswith("tensor<bool")}
        self.as_they_are = self.flags | ids.names
        for name in [name for name in names if name not in ids.made]:
            if name in ids.as_numbers or name not in self.as_they_are and inputs[name][0].kind != "f":
                raise Refused(f"--int8: input {name} is of {inputs[name][0]}, and more than masks and embeddings read it; compute that before the model")
        samples, labels = read_samples(path, {name: inputs[name] for name in inputs if name in {*names, *ids.names}}, self.flags, ids.names)
        samples |= ids.samples(samples)
        self.samples = [self.with_all_flags(one, samples[one["name"]]) for one in self.program.inputs]
        self.numbers_of_results = [math.prod(one.shape) for one in self.program.results]
        self.labels = None if labels is None else labels.astype("<i4").reshape(-1)
        classes = (self.program.results[0].shape or (1,))[-1]  # labels are of the first output
        rows = len(self.samples[0]) * self.numbers_of_results[0] // classes
        if self.labels is not None and (len(self.labels) != rows or ((self.labels < 0) | (self.labels >= classes)).any()):
            raise Refused(
                f"--int8: the labels are {list(labels.shape)} numbers from {self.labels.min()} to {self.labels.max()}, but the results have "
                f"{rows} rows, whose largest has a place from 0 to {classes - 1}")
        self.ranges = None

    def with_all_flags(self, node, samples):
        """Also those that the model adds to a mask, as for a class token."""
        if "places" not in node.constants:
            return samples
        places, name = node["places"], node["name"]
        added = ", ".join(f"flag {k} is {-1 - one}" for k, one in enumerate(places.reshape(-1, places.shape[-1])[0]) if one < 0)
        self.told.append(f"in integers input {name} has the flags of all {places.shape[-1]} keys, also those that the model adds: {added}")
        one = np.ones((len(samples), 1), bool)
        return np.ascontiguousarray(np.concatenate([samples, one, ~one], 1)[:, places.reshape(-1)])

    @staticmethod
    def check(node):
        if node.op == "lookup" and not reads_rows(node):
            raise Refused(f"--int8: {node.origin}: rows by integers that are computed {CURE}")
        if node.op in REFUSED or node.op in REFUSED_OF_TWO and len(of_operands(node)) > 1:
            what = REFUSED.get(node.op) or f"{REFUSED_OF_TWO[node.op]} of two values"
            raise Refused(f"--int8: {node.origin}: {what} {CURE}")
        if node.op == "where" and len(of_operands(node)) > 1 and not is_of_flags(node.args[0]):
            raise Refused(f"--int8: {node.origin}: a choice by a condition that is computed has no integer form; make the condition an input of bool")
        if node.op == "where" and (large := [float(x["value"]) for x in node.args[1:] if is_number(x) and abs(float(x["value"])) >= LARGE]):
            raise Refused(f"--int8: {node.origin}: it chooses {large[0]:g}, whose range leaves all other numbers 0; choose a number of their size")
        if node.op == "log_softmax":
            raise Refused(f"--int8: {node.origin}: a log softmax {CURE}")

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
                raise Refused(f"--int8: {self.in_names_of_inputs(done.stderr.strip() or f'the program ended with {done.returncode}')}")
            found = json.loads(done.stdout)
            each_input, each_result = (np.cumsum(one)[:-1] for one in ([math.prod(x.shape) for x in self.program.inputs], self.numbers_of_results))
            self.probe_inputs = np.split(np.fromfile(folder / "probe_inputs", "<i4"), each_input)
            self.probes = np.split(np.fromfile(folder / "probe", "<i4"), each_result)
            floats, integers = (np.split(np.fromfile(folder / name, type_).reshape(-1, sum(self.numbers_of_results)), each_result, axis=1)
                                for name, type_ in (("floats", "<f4"), ("integers", "<i4")))
        self.ranges = found["ranges"]
        self.bits_of_inputs, self.bits_of_results = found["inputs"], found["results"]
        return self.report(found, floats, integers)

    def in_names_of_inputs(self, text):
        """argument_2 is the second."""
        return re.sub(r"argument_(\d+)", lambda found: f"of input {self.program.inputs[int(found[1]) - 1]['name']}", text)

    def report(self, found, floats, integers):
        measured, count = len(floats[0]), len(self.samples[0])
        on = f"{measured} of {count} samples, which gave no ranges" if measured < count else f"the {count} samples that gave the ranges"
        lines, more = [*self.told], []
        for k, (wanted, made) in enumerate(zip(floats, integers)):
            of = f" of {self.results[k]}" if len(self.results) > 1 else ""
            wanted, made = wanted.astype(np.float64), made * self.bits_of_results[k][1]
            error = math.sqrt(((made - wanted) ** 2).sum() / max((wanted ** 2).sum(), 1e-300))
            lines.append(f"in integers: {100 * error:.2f} % error{of} relative to the results in floats, by squares,")
            more += self.largest(k, of, wanted, made)
        lines += [f"on {on}", f"in integers: {found['packed']:,} bytes of packed weights, {found['workspace']:,} of workspace"]
        if count < FEWEST:
            lines.append(f"{count} sample{'s are' if count > 1 else ' is'} too few for ranges; use some hundreds")
        return lines + [f"all samples leave {name} at 0; its range is 1" for name in found["unused"]] + more

    def largest(self, k, of, wanted, made):
        """Of result k: where its rows have their largest numbers."""
        classes = (self.program.results[k].shape or (1,))[-1]
        if classes == 1:
            return []
        of_floats, of_integers = (x.reshape(-1, classes).argmax(-1) for x in (wanted, made))
        lines = [f"the same largest result{of}: {100 * (of_floats == of_integers).mean():.2f} %"]
        if self.labels is not None and k == 0:
            labels = self.labels.reshape(len(self.samples[0]), -1)
            labels = (labels[HELD_OUT - 1::HELD_OUT] if len(wanted) < len(labels) else labels).reshape(-1)
            right, also = (100 * (x == labels).mean() for x in (of_floats, of_integers))
            lines.append(f"right{of}: {right:.2f} % in floats, {also:.2f} % in integers")
        return lines

    def program_of_ranges(self):
        inputs, each = range(len(self.samples)), "\n".join
        load = ['const auto memory = mapped_file::open("weights");', "const auto file = tensor_file::in_memory(*memory);",
                "if (const auto loaded = load(w, *file, names::umbel); !loaded) return std::puts(loaded.error()), 1;"]
        words = {
            "header": f"{self.file_name}.hpp", "namespace": self.name, "held_out": HELD_OUT,
            "has_few_samples": str(len(self.samples[0]) < FEWEST).lower(),
            "inputs": each(f"static {self.tensor_types[id(x)]} in{k};" for k, x in enumerate(self.program.inputs)),
            "weights": "static weights w;" if self.tensors else "", "load": each(load) if self.tensors else "",
            "arguments": ", ".join([*(f"in{k}" for k in inputs), *(["w"] if self.tensors else [])]),
            "packed_from": "w, seen" if self.tensors else "seen", "quantized": self.quantized("seen"),
            "step": self.step_that_compiles() if self.steps else "",
            "open_samples": each(f'std::FILE* const file{k} = std::fopen("samples{k}", "rb");' for k in inputs),
            "read_sample": " && ".join(f"std::fread(in{k}.data(), sizeof in{k}, 1, file{k}) == 1" for k in inputs),
            "write_inputs": each(f"for (const int q : {one}) std::fwrite(&q, sizeof q, 1, probe_inputs);" for one in self.each_quantized("seen")),
            "print_inputs": each(f'std::printf("{", " if k else ""}[%zu, %.9g]", {self.bits_of(k)});' for k in inputs),
            "print_results": each(f'std::printf("{", " if k else ""}[%zu, %.17g]", {bits_text(f"output_type<{k}>", f"output_range<{k}>")});'
                                  for k in range(len(self.program.results)))}
        return re.sub(r"@(\w+)@", lambda word: str(words[word[1]]), RANGES.read_text())

    def step_that_compiles(self):
        """So that what a cache refuses is told before any file is written."""
        return ("[[maybe_unused]] bool next(past& cache, step_result<1>& out, const step_input<1>& x, step_workspace<1>& temporary) "
                "{ return step(cache, out, x, packed, temporary); }")

    def test_of_steps(self):
        return (f"  const auto in = {self.quantized('ranges')};\n" + self.steps.lines_of_test("in", "packed", "integers") +
                "  different += unlike + !fits;")

    def bits_of(self, k):
        """Bits of an input and what 1 stands for, as arguments of printf."""
        if self.program.inputs[k]["name"] in self.as_they_are:
            return f"std::size_t{{{1 if self.program.inputs[k]['name'] in self.flags else 32}}}, 1.0"
        return bits_text(f"input_type<{k}>", f"input_range<{k}>")

    def quantized(self, ranges):
        return ", ".join(self.each_quantized(ranges))

    def each_quantized(self, ranges):
        return [f"in{k}" if one["name"] in self.as_they_are else f"quantize<layer::input_type<{k}>>(in{k}, layer::input_range<{k}>({ranges}))"
                for k, one in enumerate(self.program.inputs)]

    # ---- files
    def form_of_call(self):
        types = [self.tensor_types[id(x)] for x in self.program.inputs] + (["weights"] if self.tensors else [])
        lines = ["// In integers: layer(w, ranges).", f"using layer = quantized<decltype(forward), {', '.join(types)}>;"]
        for k, one in enumerate(self.program.inputs):
            if self.input_type(one).startswith("tensor<float"):
                type_ = tensor_text(f"layer::input_type<{k}>", self.program.names(one), one.shape)
                lines.append(f"using {self.tensor_types[id(one)].removesuffix('_tensor')}_integers = {type_};")
        for k, (type_, result) in enumerate(zip(self.types_of_results(), self.program.results)):
            integers = tensor_text(f"layer::output_type<{k}>", self.program.names(result), result.shape)
            lines.append(f"using {type_.removesuffix('_tensor')}_integers = {integers};")
        if self.steps:
            lines += ["", *self.steps.text().rstrip().split("\n")]
        if self.ranges:
            lines += ["", "// The largest magnitudes of the formula's values on the samples.", "inline constexpr layer::ranges ranges = [] {",
                      "  layer::ranges seen{};", *(f'  seen.get<"{name}">()() = {float_text(value)};' for name, value in self.ranges.items()),
                      "  return seen;", "}();"]
        return lines

    def weights_file(self):
        probe = {f"probe.input.{k}": (array[0].astype("<i4") if array.dtype == bool else array[0]).reshape(node.shape)
                 for k, (array, node) in enumerate(zip(self.samples, self.program.inputs))}
        for k, (integers, result) in enumerate(zip(self.probes, self.program.results)):
            probe[f"probe.output.{k}"] = integers.reshape(result.shape)
        return safetensors_bytes(self.tensors, probe, "float")

    def test(self, _):
        inputs, results = self.program.inputs, self.result_types()
        lines = [f"// SPDX-License-Identifier: {self.license}",
                 f"// Written by tools/import from {safe(self.source)}: runs {self.file_name}.hpp on the first sample, in the file of weights.",
                 "#include <cstdio>", "", "#include <umbel/file/mapped_file.hpp>", "#include <umbel/files.hpp>", "#include <umbel/weights.hpp>", "",
                 f'#include "{self.file_name}.hpp"', "", f"using namespace {self.name};", ""]
        lines += [f"static {self.tensor_types[id(x)]} in{k};" for k, x in enumerate(inputs)]
        lines += [f"static {re.sub('^tensor<float', 'tensor<int', result)} wanted{k};" for k, result in enumerate(results)]
        lines += [*(["static weights w;"] if self.tensors else []), "static layer packed;", "static layer::workspace work;", "", *self.loading()]
        lines += [f"  if (const auto done = packed.pack({'w, ' if self.tensors else ''}ranges); !done)",
                  '    return std::printf("the range %s is 0\\n", done.missing_range()), 1;']
        for k, node in enumerate(inputs):
            lines += self.reading(k, node)
        for k in range(len(results)):
            lines.append(f'  if (!file->read("probe.output.{k}", wanted{k})) return std::puts("no probe.output.{k}"), 1;')
        outs = [f"out{k}" for k in range(len(results))]
        lines += [f"  const auto {outs[0] if len(outs) == 1 else '[' + ', '.join(outs) + ']'} = packed({self.quantized('ranges')}, work);",
                  "  std::size_t different = 0;"]
        lines += [f"  for (std::size_t i = 0; i < {out}.size(); ++i) different += {out}.data()[i] != wanted{k}.data()[i];" for k, out in enumerate(outs)]
        lines += [f'  std::printf("{self.file_name}: %zu of %zu integers differ from the probe\\n", different, {" + ".join(f"{out}.size()" for out in outs)});',
                  *([self.test_of_steps()] if self.steps else []), "  return different == 0 ? 0 : 1;", "}", ""]
        return "\n".join(lines)
