# SPDX-License-Identifier: BSL-1.0
"""For tools/import --decode: a causal model step by step. The header also has the caches of its layers and a function `step`, and the
test compares the steps with the whole call, bit for bit."""
import re

from command_line import Refused
from import_formula import axes_text
from import_write import tensor_text

BY_ROWS = {"norm", "linear", "network", "lookup", "activation", "exp", "tanh", "sigmoid", "abs", "sqrt", "mul", "add", "sub", "maximum", "minimum"}
ALONG_ONE_AXIS = {"softmax", "log_softmax"}
ATTENDS = {"encoder", "attention"}


class StepWriter:
    """writer: of the model (import_write.py); keys: the positions for which the caches have room."""

    def __init__(self, writer, keys):
        self.writer, self.keys, program = writer, keys, writer.program
        if len(program.results) != 1 or len(program.inputs) != 1:
            raise Refused(f"--decode: the model has {len(program.inputs)} inputs and {len(program.results)} outputs, and a step has one of each; "
                          "leave the others out")
        (self.input,), (self.result,) = program.inputs, program.results
        if not any(one.node.op in ATTENDS for one in program.statements):
            raise Refused("--decode: no attention or encoder layer was recognized; write the step by hand (docs/language.md)")
        self.sequence, self.length = program.names(self.input)[0], self.input.shape[0]
        if "token" in program.names(self.input)[1:]:
            raise Refused(f"--decode: the input {self.input['name']} has the axes {axes_text(program.names(self.input), self.input.shape)}, "
                          "and a step is of one sequence; export the model with a batch of 1")
        if self.sequence != "token":
            raise Refused(f"--decode: the first axis of the input is {self.sequence}; name it, --axes {self.input['name']}=token")
        for one in program.statements:
            self.check(one)

    def check(self, one):
        """Does a step compute it? Of the new rows alone, or with a cache."""
        node, where = one.node, f"--decode: {one.node.origin}: " if one.node.origin else "--decode: "
        if one.axes[:1] != ("token",) or node.shape[:1] != (self.length,):
            raise Refused(f"{where}its result has the axes {axes_text(one.axes, node.shape)}, not those of the sequence first; "
                          "do this step outside of the model")
        if node.op in ATTENDS:
            attends = node["attention"] if node.op == "encoder" else node
            if not any(re.fullmatch(r"causal|sliding_window<\d+>", mask) for mask in attends["masks"]):
                raise Refused(f"{where}the attention isn't causal, so earlier results would change; export a causal model")
            if attends["kept"] or attends["bias"] or attends["memory"]:
                raise Refused(f"{where}its attention has a mask, a bias or a memory, and a step has none; write the step by hand (docs/language.md)")
        elif node.op in ALONG_ONE_AXIS and node["axis"] == len(node.shape) - 1:
            pass
        elif node.op not in BY_ROWS or any(text in one.text for text in ("broadcast<", "hide(")):
            raise Refused(f"{where}it isn't recognized as part of a layer, and it may mix positions; write the step by hand (docs/language.md)")
        elif len(one.reads) > 1 and any(x.shape != node.shape for x in one.reads):
            raise Refused(f"{where}its operands have different axes; write the step by hand (docs/language.md)")
        if self.is_positions(one) and self.keys > self.length:
            raise Refused(f"--decode key={self.keys}: {node.origin}: its table has {self.length} positions; export the model with {self.keys}, or use "
                          f"key={self.length}")
        elif not self.is_positions(one) and one.tensors and any("token<" in axes for axes, _ in one.tensors):
            raise Refused(f"{where}it has a number for each position; write the step by hand (docs/language.md)")

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
        return re.sub("_type(_\\d+)?$", "\\1", type_)

    def tensor(self, node, names):
        made = tensor_text("float", names, node.shape)
        return made.replace(f"token<{self.length}>", "token<N>", 1)

    def text(self):
        """For the end of the header."""
        caches = self.caches()
        first = self.member(next(iter(caches)))
        kind = re.sub(r"token<\d+>", "token<N>", self.writer.input_type(self.input), 1)
        argument = self.writer.arguments[id(self.input)]
        lines = [f"// Decoding: the keys and values of up to {self.keys} positions. reset() begins a new sequence.", "struct past {",
                 f"  static constexpr std::size_t capacity = {self.keys};",
                 *(f"  key_value_cache<{type_}, key<capacity>> {self.member(type_)}[{count}];" for type_, count in caches.items()),
                 f"  constexpr std::size_t size() const noexcept {{ return {first}[0].size(); }}", "  constexpr void reset() noexcept {",
                 *(f"    for (auto& one : {self.member(type_)}) one.reset();" for type_ in caches), "  }", "};", "",
                 "// Scratch memory of a step of N positions.", "template <std::size_t N>", "struct step_workspace {",
                 *(f"  typename key_value_cache<{type_}, key<past::capacity>>::template workspace<token<N>> {self.member(type_)};" for type_ in caches), "};", "",
                 "// The results of the next N positions, with the bits of `forward`. Returns false and changes",
                 "// nothing if the cache is full.",
                 "template <std::size_t N>",
                 f"[[nodiscard]] constexpr bool step(past& cache, {self.tensor(self.result, self.writer.program.names(self.result))}& out,",
                 f"    const {kind}& {argument}, const packed& w, step_workspace<N>& work) noexcept {{",
                 "  const std::size_t before = cache.size();", "  if (before + N > past::capacity) return false;"]
        return "\n".join([*lines, *self.statements(argument), "  return true;", "}", ""])

    def statements(self, argument):
        writer, program = self.writer, self.writer.program
        names, used = {id(self.input): argument}, {}
        for i, one in enumerate(program.statements):
            names[id(one.node)] = "out" if one.node is self.result else f"x{i}"
            repeated = writer.is_repeated(i) or writer.is_copy(i)
            copy = (i - writer.first) // writer.period if repeated else 0
            weights = f"w.blocks[{copy if writer.stored > 1 else 0}]." if repeated and writer.of_block else "w."
            target = "  " if one.node is self.result else f"  {self.tensor(one.node, one.axes)} x{i};\n  "
            given = f"{names[id(one.reads[0])]}"
            if one.node.op in ATTENDS:
                masks = (one.node["attention"] if one.node.op == "encoder" else one.node)["masks"]
                more = " & ".join(mask for mask in masks if mask != "causal") or "all_keys"
                type_ = writer.types[one.type]
                name = self.member(type_)
                layer = writer.text_of(i, weights, names).removesuffix(f"({given}, {' & '.join(masks)})")
                yield f"{target}if (!cache.{name}[{used.get(type_, 0)}].step({names[id(one.node)]}, {layer}, {given}, {more}, work.{name})) return false;"
                used[type_] = used.get(type_, 0) + 1
                continue
            if self.is_positions(one):
                table = writer.text_of(i, weights, {**names, id(one.reads[0]): "x"}).removeprefix("x + ")
                text = f"learned_positions<float, {axes_text(one.axes, one.node.shape)}>{{{table}}}({given}, before)"
            else:
                text = writer.text_of(i, weights, names)
            yield f"  out = {text};" if one.node is self.result else f"  const auto x{i} = {text};"

    # ---- the test
    def test(self, text):
        """The program of the whole call, and after it a step of half of the positions and then one by one."""
        inputs, result = self.writer.input_type(self.input), tensor_text("float", self.writer.program.names(self.result), self.result.shape)
        steps = min(self.length, self.keys)
        some_in, some_out = (re.sub(r"token<\d+>", "token<N>", type_, 1) for type_ in (inputs, result))
        lines = ["  static past cache;", "  std::size_t different = 0, compared = 0;",
                 "  const auto next = [&]<std::size_t N>(std::integral_constant<std::size_t, N>, std::size_t first) {",
                 "    static step_workspace<N> scratch;", f"    static {some_in} some;", f"    static {some_out} rows;",
                 "    for (std::size_t k = 0; k < some.size(); ++k) some.data()[k] = in0.data()[first * (some.size() / N) + k];",
                 "    if (!step(cache, rows, some, fast, scratch)) return false;", "    const auto* const whole = out0.data() + first * (rows.size() / N);",
                 "    for (std::size_t k = 0; k < rows.size(); ++k) different += rows.data()[k] != whole[k];", "    compared += rows.size();", "    return true;", "  };",
                 f"  bool fits = next(std::integral_constant<std::size_t, {max(1, steps // 2)}>{{}}, 0);",
                 f"  for (std::size_t i = {max(1, steps // 2)}; fits && i < {steps}; ++i) fits = next(std::integral_constant<std::size_t, 1>{{}}, i);",
                 f'  std::printf("{self.writer.file_name}: step by step, %zu of %zu numbers differ from the whole call\\n", different, compared);',
                 "  right = right && fits && different == 0;"]
        at = text.rindex("  return right ?")
        return text[:at] + "\n".join(lines) + "\n" + text[at:]
