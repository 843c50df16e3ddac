# SPDX-License-Identifier: BSL-1.0
"""For tools/import --decode: a causal model step by step. The header also has the caches of its layers and a function `step`, and the
test compares the steps with the whole call, bit for bit."""
import math
import pathlib
import re
import tempfile

from command_line import Refused
from import_graph import counted
from import_formula import axes_text
from import_write import tensor_text
from quantize_program import compiled

BY_ROWS = {"norm", "linear", "network", "lookup", "activation", "exp", "tanh", "sigmoid", "abs", "sqrt", "mul", "add", "sub", "maximum", "minimum"}
ALONG_ONE_AXIS = {"softmax", "log_softmax"}
ATTENDS = {"encoder", "attention"}
MOST_ARGUMENTS = 1000  # more than anybody gives
LINE = "\n"


def indented(lines):
    return LINE.join(f"  {line}" for line in lines)


class NoStepOfLayers(Refused):
    """A step of a formula may do."""


def steps_of(writer, keys, in_operations):
    """The step of a model. in_operations(): a writer of the same model without layers that attend."""
    try:
        return StepWriter(writer, keys)
    except NoStepOfLayers as problem:
        return StepOfFormula(in_operations, keys, problem)


class Steps:
    """writer: of the model (import_write.py); keys: the positions for which the caches have room."""

    def __init__(self, writer, keys):
        self.writer, self.keys, program, self.told = writer, keys, writer.program, []
        if len(program.results) != 1 or len(program.inputs) != 1:
            others = "".join(f", --constant {one['name']}=1" for one in program.inputs[1:2])
            output = f"; keep one output, --output {writer.results[0]}" if len(program.results) > 1 else ""
            raise Refused(f"--decode: the model has {counted(len(program.inputs), 'input')} and {counted(len(program.results), 'output')}, and a "
                          f"step has one of each; make masks and positions constants{others}{output}")
        (self.input,), (self.result,) = program.inputs, program.results
        names, name = program.names(self.input), self.input["name"]
        if not names or math.prod(self.input["full"]) == 1:
            raise Refused(f"--decode: the input {name} has one token; export the model with a whole sequence")
        self.sequence, self.length = names[0], self.input.shape[0]
        if "token" in names[1:]:
            raise Refused(f"--decode: the input {name} has the axes {axes_text(names, self.input.shape)}, "
                          "and a step is of one sequence; export the model with a batch of 1")
        if self.sequence != "token":
            raise Refused(f"--decode: the first axis of the input is {self.sequence}; name it, --axes {','.join([name + '=token', *names[1:]])}")

    @staticmethod
    def for_positions(type_):
        return re.sub(r"token<\d+>", "token<N>", type_, count=1)

    def tensor(self, node):
        return self.for_positions(tensor_text("float", self.writer.program.names(node), node.shape))

    def types(self):
        given, made = self.type_of_input(), self.tensor(self.result)
        return f"""\
// The next N positions, and their results.
template <std::size_t N>
using step_input = {self.for_positions(given)};
template <std::size_t N>
using step_result = {made};
"""

    def type_of_input(self):
        return self.writer.input_type(self.input)

    def refusing(self):
        return f"""\
template <class... X>
bool step(const X&...) noexcept {{
  static_assert(sizeof...(X) > {MOST_ARGUMENTS},
                "{self.writer.name}::step: takes past, step_result<N>, step_input<N>, {self.packed}, step_workspace<N>, with one N");
  return false;
}}
"""

    # ---- of a cache for the whole model. cache: its type; call: of its step.
    packed = "packed"

    def text_of_cache(self, cache, call):
        return f"""\
{self.types()}
// Decoding: what up to {self.keys} positions leave behind. reset() begins a new sequence.
using past = {cache};

// Scratch memory of a step of N positions.
template <std::size_t N>
using step_workspace = typename past::template workspace<token<N>>;

// The results of the next N positions, with the bits of the whole call. Returns false and changes
// nothing if the cache is full.
template <std::size_t N>
[[nodiscard]] constexpr bool step(past& cache, step_result<N>& out, const step_input<N>& next, const {self.packed}& w,
                                  step_workspace<N>& work) noexcept {{
  return {call};
}}
{self.refusing()}"""

    # ---- the test
    def lines_of_test(self, given, packed, numbers):
        """A step of half of the positions, then one by one; `given` and out0 are those of the whole call."""
        steps = min(self.length, self.keys)
        half = max(1, steps // 2)
        return f"""\
  static past cache;
  std::size_t unlike = 0, compared = 0;
  const auto next = [&]<std::size_t N>(std::integral_constant<std::size_t, N>, std::size_t first) {{
    static step_workspace<N> scratch;
    static step_input<N> some;
    static step_result<N> rows;
    for (std::size_t k = 0; k < some.size(); ++k) some.data()[k] = {given}.data()[first * (some.size() / N) + k];
    if (!step(cache, rows, some, {packed}, scratch)) return false;
    const auto* const whole = out0.data() + first * (rows.size() / N);
    for (std::size_t k = 0; k < rows.size(); ++k) unlike += rows.data()[k] != whole[k];
    compared += rows.size();
    return true;
  }};
  bool fits = next(std::integral_constant<std::size_t, {half}>{{}}, 0);
  for (std::size_t i = {half}; fits && i < {steps}; ++i) fits = next(std::integral_constant<std::size_t, 1>{{}}, i);
  std::printf("{self.writer.file_name}: step by step, %zu of %zu {numbers} differ from the whole call\\n", unlike, compared);
"""

    def test(self, text):
        """The program of the whole call, and after it the steps."""
        at = text.rindex("  return right ?")
        return text[:at] + self.lines_of_test("in0", "fast", "numbers") + "  right = right && fits && unlike == 0;\n" + text[at:]


class StepInIntegers(Steps):
    """Of a formula in integers (import_int8.py)."""
    packed = "layer"

    def tensor(self, node):
        return self.for_positions(tensor_text("layer::output_type<0>", self.writer.program.names(node), node.shape))

    def type_of_input(self):
        return tensor_text("layer::input_type<0>", self.writer.program.names(self.input), self.input.shape)

    def text(self):
        return self.text_of_cache(f"key_value_cache<layer, key<{self.keys}>>", "cache.step(out, w, next, work)")


class StepOfFormula(Steps):
    """Of the whole model as a formula, by its cache. problem: why it is not of layers."""

    def __init__(self, in_operations, keys, problem):
        super().__init__(in_operations(), keys)
        self.writer.headers = [*self.writer.headers, "decode/cache_of_formula"]
        if not self.writer.tensors:
            raise problem
        with tempfile.TemporaryDirectory() as made:  # what a cache refuses is told before any file is written
            folder = pathlib.Path(made)
            (folder / "model.hpp").write_text(self.writer.header(self.text()))
            call = (f"namespace {self.writer.name} {{ bool next(past& cache, step_result<1>& out, const step_input<1>& x, const packed& w, "
                    "step_workspace<1>& work) { return step(cache, out, x, w, work); } }")
            try:
                compiled(folder, f'#include "model.hpp"\n{call}\nint main() {{}}\n', "--decode", "the step")
            except Refused:
                raise problem from None
        reason = str(problem).removeprefix("--decode: ").split("; write the step by hand")[0]
        self.told = [f"the model is one formula of operations, for the steps: {reason}"]

    def text(self):
        """For the end of the header."""
        return self.text_of_cache(f"key_value_cache<decltype(forward), key<{self.keys}>, called_with<step_input<1>, packed>>",
                                  "cache.step(out, forward, next, w, work)")


class StepWriter(Steps):
    """Of layers with caches, and of formulas between them."""

    def __init__(self, writer, keys):
        super().__init__(writer, keys)
        if not any(one.node.op in ATTENDS | {"decoder"} for one in writer.program.statements):
            raise NoStepOfLayers("--decode: no attention or encoder layer was recognized; write the step by hand (docs/language.md)")
        for one in writer.program.statements:
            self.check(one)

    def check(self, one):
        """Does a step compute it? Of the new rows alone, or with a cache."""
        node, where = one.node, f"--decode: {one.node.origin}: " if one.node.origin else "--decode: "
        if one.axes[:1] != ("token",) or node.shape[:1] != (self.length,):
            kind = NoStepOfLayers if "token" in one.axes else Refused
            raise kind(f"{where}its result has the axes {axes_text(one.axes, node.shape)}, not those of the sequence first; "
                          "do this step outside of the model")
        if node.op == "decoder":
            raise Refused(f"{where}it attends to a memory, and a step has none; write the step by hand (docs/language.md)")
        if node.op in ATTENDS:
            attends = node["attention"] if node.op == "encoder" else node
            if not any(re.fullmatch(r"causal|sliding_window<\d+>", mask) for mask in attends["masks"]):
                raise NoStepOfLayers(f"{where}it has no causal mask or window, so earlier results would change; export a causal model")
            if attends["kept"] or attends["bias"] or attends["memory"]:
                raise NoStepOfLayers(f"{where}its attention has a mask, a bias or a memory, and a step has none; write the step by hand (docs/language.md)")
        elif node.op in ALONG_ONE_AXIS and node["axis"] == len(node.shape) - 1:
            pass
        elif node.op not in BY_ROWS or any(text in one.text for text in ("broadcast<", "hide(")):
            raise NoStepOfLayers(f"{where}it isn't part of a layer that was recognized, and a step has no such operation; write the step by hand "
                          "(docs/language.md)")
        elif len(one.reads) > 1 and any(x.shape != node.shape for x in one.reads):
            raise NoStepOfLayers(f"{where}its operands have different axes; write the step by hand (docs/language.md)")
        if self.is_positions(one) and self.keys > self.length:
            raise Refused(f"--decode key={self.keys}: {node.origin}: its table has {self.length} positions; export the model with {self.keys}, "
                          f"or use key={self.length}")
        elif not self.is_positions(one) and one.tensors and any("token<" in axes for axes, _ in one.tensors):
            raise NoStepOfLayers(f"{where}it has a number for each position; write the step by hand (docs/language.md)")

    @staticmethod
    def is_positions(one):
        """A learned table of positions, added to the rows."""
        return one.node.op == "add" and len(one.tensors) == 1 and len(one.reads) == 1 and one.tensors[0][0] == axes_text(one.axes, one.node.shape)

    # ---- caches
    def caches(self):
        """For each type of layer that attends, the number of such layers."""
        counts = {}
        for one in self.writer.program.statements:
            if one.node.op in ATTENDS:
                name = self.writer.types[one.type]
                counts[name] = counts.get(name, 0) + 1
        return counts

    @staticmethod
    def member(type_):
        """Of `past` and of the workspace. No other member of theirs begins so."""
        return "of_" + re.sub("_type(_\\d+)?$", "\\1", type_)

    # ---- a step: layers that attend, and between them formulas, which need no temporary values
    def stages(self):
        """The statements' numbers: of one layer that attends, or of a formula."""
        writer, run = self.writer, []
        begins = {writer.first + writer.period * k for k in range(writer.count + 1)} if writer.of_block else ()
        for i, one in enumerate(writer.program.statements):
            attends = one.node.op in ATTENDS
            if run and (attends or i in begins):
                yield run
                run = []
            if attends:
                yield [i]
            else:
                run.append(i)
        if run:
            yield run

    def prefix(self, i):
        """Of the weights of statement i."""
        writer = self.writer
        if not writer.of_block or not (writer.is_repeated(i) or writer.is_copy(i)):
            return "w"
        return f"w.blocks[{(i - writer.first) // writer.period if writer.stored > 1 else 0}]"

    def formula(self, stage, read, made):
        """A lambda of what it reads, the rows of the tables of positions, and the weights. Returns it and those tables."""
        program, lines, tables = self.writer.program, [], []
        names = {key: f"x{k}" for k, key in enumerate(read)}
        for i in stage:
            one = program.statements[i]
            if self.is_positions(one):
                table = self.writer.text_of(i, f"{self.prefix(i)}.", {**names, id(one.reads[0]): "x"}).removeprefix("x + ")
                text = f"{names[id(one.reads[0])]} + table{len(tables)}"
                tables.append((table, one))
            else:
                text = self.writer.text_of(i, "w.", names)
            names[id(one.node)] = f"x{len(names)}"
            lines.append(f"  auto {names[id(one.node)]} = {text};")
        results = ", ".join(names[key] for key in made)
        if len(made) == 1 and lines[-1].startswith(f"  auto {results} = "):
            lines[-1] = lines[-1].replace(f"  auto {results} =", "  return", 1)
        else:
            lines.append(f"  return {results};" if len(made) == 1 else f"  return std::tuple{{{results}}};")
        arguments = [f"auto {names[key]}" for key in read] + [f"auto table{k}" for k in range(len(tables))]
        arguments += ["const auto& w"] if any("w." in line for line in lines) else []
        return "\n".join([f"[]({', '.join(arguments)}) {{", *lines, "};"]), tables

    def plan(self):
        """The formulas, the members of the workspace, and the statements of `step`."""
        writer, program = self.writer, self.writer.program
        formulas, members, free, lines, used = {}, {}, {}, [], {}
        stages = [*self.stages()]
        last = {id(x): k for k, stage in enumerate(stages) for i in stage for x in program.statements[i].reads}
        places = {id(self.input): "next", id(self.result): "out"}
        types = {id(one.node): self.tensor(one.node) for one in program.statements}
        for k, stage in enumerate(stages):
            nodes = [program.statements[i].node for i in stage]
            inside = {id(node) for node in nodes}
            read = [*dict.fromkeys(id(x) for i in stage for x in program.statements[i].reads if id(x) not in inside)]
            made = [id(node) for node in nodes if node is self.result or last.get(id(node), -1) > k]
            for key in made:
                if key not in places:
                    places[key] = free[types[key]].pop() if free.get(types[key]) else f"work.x{len(members)}"
                    if places[key] not in members:
                        members[places[key]] = f"{types[key]} {places[key].removeprefix('work.')};"
                        free.setdefault(types[key], [])
            lines += self.attend(stage[0], places, used) if nodes[0].op in ATTENDS else self.compute(stage, read, made, places, formulas)
            for key in read:
                if last[key] == k and places[key].startswith("work."):
                    free[types[key]].append(places[key])
        return formulas, members, lines

    def attend(self, i, places, used):
        writer, one = self.writer, self.writer.program.statements[i]
        given, type_ = places[id(one.reads[0])], writer.types[one.type]
        masks = (one.node["attention"] if one.node.op == "encoder" else one.node)["masks"]
        more = " & ".join(mask for mask in masks if mask != "causal") or "all_keys"
        name, number = self.member(type_), used.get(type_, 0)
        used[type_] = number + 1
        layer = writer.text_of(i, f"{self.prefix(i)}.", places).removesuffix(f"({given}, {' & '.join(masks)})")
        yield f"if (!cache.{name}[{number}].step({places[id(one.node)]}, {layer}, {given}, {more}, work.{name})) return false;"

    def compute(self, stage, read, made, places, formulas):
        text, tables = self.formula(stage, read, made)
        known = {id(self.input): "step_input<N>", id(self.result): "step_result<N>"}
        by_key = {id(one.node): one.node for one in self.writer.program.statements}
        types = [known.get(key) or self.tensor(by_key[key]) for key in read]
        arguments = [places[key] for key in read]
        for table, one in tables:
            axes = self.for_positions(axes_text(one.axes, one.node.shape))
            types.append(f"view<const float, {axes}>")
            arguments.append(f"view<const float, {axes}>({table}.data() + cache.size() * {math.prod(one.node.shape[1:])})")
        if "const auto& w" in text:
            types.append("packed_block" if self.prefix(stage[0]) != "w" else "packed")
            arguments.append(self.prefix(stage[0]))
        name = formulas.setdefault(text, (f"part{len(formulas)}", types))[0]
        results = ", ".join(places[key] for key in made)
        yield f"step_formulas::{name}.into({results if len(made) == 1 else f'std::tie({results})'}, {', '.join(arguments)}, work.{name});"

    def text(self):
        """For the end of the header."""
        writer, caches = self.writer, self.caches()
        formulas, values, lines = self.plan()
        first = self.member(next(iter(caches)))
        of_layers = [f"key_value_cache<{type_}, key<capacity>> {self.member(type_)}[{count}];" for type_, count in caches.items()]
        resets = [f"  for (auto& one : {self.member(type_)}) one.reset();" for type_ in caches]
        between = [f"inline constexpr formula {name} = {text}" for text, (name, _) in formulas.items()]
        scratch = [*values.values()]
        scratch += [f"workspace_for<decltype(step_formulas::{name}), {', '.join(types)}> {name};" for name, types in formulas.values()]
        scratch += [f"typename key_value_cache<{type_}, key<past::capacity>>::template workspace<token<N>> {self.member(type_)};" for type_ in caches]
        return f"""\
{self.types()}
// Decoding: the keys and values of up to {self.keys} positions. reset() begins a new sequence.
struct past {{
  static constexpr std::size_t capacity = {self.keys};
{indented(of_layers)}
  constexpr std::size_t size() const noexcept {{ return {first}[0].size(); }}
  constexpr void reset() noexcept {{
{indented(resets)}
  }}
}};

// What is computed before, between and after the layers that attend.
namespace step_formulas {{
{LINE.join(between)}
}}  // namespace step_formulas

// Scratch memory of a step of N positions.
template <std::size_t N>
struct step_workspace {{
{indented(scratch)}
}};

// The results of the next N positions, with the bits of `forward`. Returns false and changes
// nothing if the cache is full.
template <std::size_t N>
[[nodiscard]] constexpr bool step(past& cache, step_result<N>& out, const step_input<N>& next, const packed& w,
                                  step_workspace<N>& work) noexcept {{
  if (cache.size() + N > past::capacity) return false;
{indented(lines)}
  return true;
}}
{self.refusing()}"""
