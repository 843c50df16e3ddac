# SPDX-License-Identifier: BSL-1.0
"""For tools/import --find: which statement of the header, as the user has it now, is the first whose numbers aren't the model's. It
compiles formulas that return values within the model, and compares them with what numpy computes for the nodes of ONNX."""
import pathlib
import re
import subprocess
import tempfile

import numpy as np

import import_graph as graph
import import_write
from command_line import Refused
from export_read import read_model
from export_write import safe
from import_formula import CONDITIONS, MOST_RESULTS
from progress import Progress
from quantize_program import compiled

WORD = re.compile(r"(?<![\w.:])[A-Za-z_]\w*")
CALL_OF_BLOCK = re.compile(r"block\((.*), (w\.blocks\[\d+\])\)")


def body_of(text, name):
    """The names of the arguments of a lambda in the header, and its statements: pairs of a name, or nothing, and an expression."""
    found = re.search(rf"^inline constexpr \w+ {name} = \[\]\((.*?)\) \{{\n(.*?)^\}};", text, re.M | re.S)
    if not found:
        return None
    arguments = re.findall(r"(\w+)(?:,|$)", found[1])
    pieces = [" ".join(piece.split()) for piece in re.sub(r"//.*", "", found[2]).split(";")]
    named = [re.fullmatch(r"(?:const )?auto (\w+) = (.*)|return (.*)", piece) for piece in pieces if piece]
    return None if None in named else (arguments, [(one[1], one[2] or one[3]) for one in named])


def statements_of(text):
    """The arguments of the formula in a header, and its statements by name, with those of the blocks in the place of their calls; the
    statement that is returned is called `result` if it has no name."""
    forward, block = body_of(text, "forward"), body_of(text, "block")
    if not forward:
        return None
    arguments, lines, made = forward[0], [], []
    for name, expression in forward[1]:
        call = CALL_OF_BLOCK.fullmatch(expression)
        if not call or not block:
            lines.append((name or "result", expression))
            continue
        known = dict(zip(block[0], [*call[1].split(", "), call[2]]))
        at = f"block_{len(made)}"
        made.append(at)
        for inner, of_block in block[1]:
            named = f"{at}_{inner}" if inner else name or "result"
            lines.append((named, WORD.sub(lambda word: known.get(word[0], word[0]), of_block)))
            known[inner] = named
    if lines[-1][0] == "result" and re.fullmatch(r"\w+|std::tuple\{.*\}", lines[-1][1]):
        lines.pop()
    return arguments, dict(lines)


class Finder:
    """writer: of the model; reader: of its nodes; wide, nudged: the values of all tensors in 64 bits, and with other last bits."""

    def __init__(self, writer, reader, wide, nudged, folder):
        self.writer, self.folder = writer, folder
        self.header = folder / f"{writer.file_name}.hpp"
        found, own = statements_of(self.header.read_text()), statements_of(writer.header())
        if not found:
            raise Refused(f"{self.header}: it has no formula `forward` of statements as tools/import writes them; import the model again into a different "
                          "folder, and compare the headers")
        self.arguments, self.statements = found
        program, tensors = writer.program, {}
        for name, node in reader.made.items():
            tensors.setdefault(id(program.real(node)), name)
        self.nodes = {}
        for name, one in zip(own[1], program.statements):
            tensor = tensors.get(id(one.node))
            is_number = one.node.op not in CONDITIONS | {"move", "copy", "argmax"} and id(one.node) not in program.strided | program.conditions
            if name in self.statements and is_number and tensor and wide[tensor].dtype.kind == "f" and np.isfinite(wide[tensor]).all():
                self.nodes[name] = one.node, wide[tensor].reshape(-1), import_write.allowed_difference(reader.values[tensor], nudged[tensor], wide[tensor])
        self.checked = {}

    # ---- what a statement reads
    def read_by(self, name):
        return [word for word in WORD.findall(self.statements[name]) if word in self.statements]

    def before(self, name, seen):
        """The statements that a statement depends on, without those behind values that are right."""
        for word in self.read_by(name):
            if word not in seen and not (word in self.checked and self.checked[word] is None):
                seen.add(word)
                self.before(word, seen)
        return seen

    # ---- programs
    def program(self, names):
        writer, inputs = self.writer, self.writer.program.inputs
        order = list(self.statements)
        last = max(order.index(name) for name in names)
        used = {*names}
        for name in reversed(order[:last + 1]):
            used |= {*self.read_by(name)} if name in used else set()
        returned = ", ".join(names)
        arguments = ", ".join(["const auto& w" if one == "w" else f"auto {one}" for one in self.arguments])
        types = [*(writer.tensor_types[id(x)] for x in inputs), *(["packed"] if writer.tensors else [])]
        given = ", ".join([*(f"in{k}" for k in range(len(inputs))), *(["fast"] if writer.tensors else [])])
        values = [f"y{k}" for k in range(len(names))]
        lines = ["#include <cstdio>", "#include <tuple>", "#include <umbel/file/mapped_file.hpp>", "#include <umbel/files.hpp>",
                 "#include <umbel/weights.hpp>", f'#include "{self.header.resolve()}"', f"namespace {writer.name} {{",
                 f"inline constexpr formula within = []({arguments}) {{",
                 *(f"  auto {name} = {self.statements[name]};" for name in order[:last + 1] if name in used),
                 f"  return {returned};" if len(names) == 1 else f"  return std::tuple{{{returned}}};", "};", "}", f"using namespace {writer.name};"]
        lines += [f"static {writer.tensor_types[id(x)]} in{k};" for k, x in enumerate(inputs)]
        lines += ["static weights w;", "static packed fast;"] if writer.tensors else []
        lines += [f"static workspace_for<decltype(within), {', '.join(types)}> space;",
                  "template <class Y> static void put(const Y& y) {", "  const std::size_t count = y.size();",
                  "  std::fwrite(&count, sizeof count, 1, stdout);", "  for (const float one : y) std::fwrite(&one, sizeof one, 1, stdout);", "}",
                  *writer.loading(), *(["  pack(fast, w);"] if writer.tensors else [])]
        for k, node in enumerate(inputs):
            lines += writer.reading(k, node)
        lines.append(f"  static const auto {values[0] if len(names) == 1 else '[' + ', '.join(values) + ']'} = within({given}, space);")
        return "\n".join([*lines, *(f"  put({y});" for y in values), "}", ""])

    def check(self, names):
        """Computes values of the formula, and keeps of each how far it is from the model's, or nothing if that is float noise."""
        with tempfile.TemporaryDirectory() as made, Progress(f"tools/import --find compiles {', '.join(names)}", begin=False):
            binary = compiled(pathlib.Path(made), self.program(names), "--find", str(self.header))
            done = subprocess.run([str(binary), str(self.folder / f"{self.writer.file_name}.safetensors")], capture_output=True)
        if done.returncode:
            said = done.stdout.decode(errors="replace").splitlines() or [f"the program ended with {done.returncode}"]
            raise Refused(f"--find: {said[0].removeprefix('umbel: ')}")
        at = 0
        for name in names:
            _, wanted, allowed = self.nodes[name]
            count = int(np.frombuffer(done.stdout, "<u8", 1, at)[0])
            numbers, at = np.frombuffer(done.stdout, "<f4", count, at + 8), at + 8 + 4 * count
            far = float(np.abs(numbers - wanted).max(initial=0)) if count == wanted.size else np.inf
            self.checked[name] = None if far <= allowed else far

    # ---- the search
    def first(self):
        """The first statement that differs, or nothing."""
        order = list(self.statements)
        results = [name for name, (node, *_) in self.nodes.items() if any(node is x for x in self.writer.program.results)]
        candidates = results or list(self.nodes)[-1:]
        found = None
        while candidates:
            step = -(-len(candidates) // MOST_RESULTS)
            names = candidates[step - 1::step]
            self.check(names)
            found = next((name for name in names if self.checked[name] is not None), found)
            if found is None:
                return None
            left = self.before(found, set())
            candidates = [name for name in order if name in left and name in self.nodes and name not in self.checked]
        return found

    def other_weights(self):
        """Weights whose numbers in the file aren't the model's."""
        file = read_model(self.folder / f"{self.writer.file_name}.safetensors", False).tensors
        return [name for name, array in self.writer.tensors.items()
                if name in file and (file[name].shape != array.shape or not np.array_equal(file[name], array))]

    def lines(self):
        other = self.other_weights()
        told = [f"{self.folder / self.writer.file_name}.safetensors: {graph.counted(len(other), 'tensor')} with other numbers than the model's, first "
                f"{safe(other[0])}"] if other else []
        found = self.first()
        if found is None:
            return [*told, f"{self.header}: no statement differs from the model"]
        node, wanted, allowed = self.nodes[found]
        far = self.checked[found]
        about = (f"the largest difference is {far:.3g},\n    and float noise at most {allowed:.3g}" if np.isfinite(far) else
                 f"it doesn't have {wanted.size:,} finite numbers")
        unknown = [name for name in self.before(found, set()) if name not in self.nodes]
        return [*told, f"{self.header}: the first statement that differs is {found}; {about}", f"    auto {found} = {self.statements[found]};",
                *([f"    or one that it reads and that has no node of its own: {', '.join(sorted(unknown, key=list(self.statements).index))}"] if unknown else []),
                f"    of the node {node.origin}"]
