#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Writes docs/errors.md, every sentence that Umbel prints when it refuses to compile.

The source is test/reject/*.cpp, which the tests compile with both compilers. A case has the sentence that g++ prints
and, for this page, its cause and its cure:

    #elif defined CASE_split_uneven
      // expect-gcc: "umbel: split: hidden=100 into heads=7 leaves a remainder of 2"
      // cause: The axis cannot be cut into that many equal parts.
      // cure: Choose a number of parts that divides the size, or another size.

    errors.py            write docs/errors.md, and the case that CONTRIBUTING.md shows
    errors.py --check    exit code 1 when one of them is not what would be written, when a case has no cause or no cure,
                         or when two cases of one sentence give different ones
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
REJECT = ROOT / "test/reject"
PAGE = ROOT / "docs/errors.md"
GUIDE = ROOT / "CONTRIBUTING.md"
sys.path.insert(0, str(REJECT))
sys.dont_write_bytecode = True

import check  # noqa: E402
import command_line  # noqa: E402

# Where an operation's sentences stand on the page.
GROUPS = {
    "Shapes": ["shape", "dims", "axis", "tensor_from"],
    "Memory": ["memory", "tensor", "view", "view_as", "access", "x[...]", "copy", "print"],
    "Files": ["in_memory", "file_result", "read", "write_npy", "write_safetensors", "write_npz", "put"],
    "Re-reading": ["split", "merge", "permute", "rename_axis", "reshape", "select_at", "slice", "broadcast",
                   "transposed"],
    "Calls of other libraries": ["transpose", "unsqueeze", "squeeze", "matmul", "einsum", "var", "norm", "squaredNorm",
                                 "prod", "cumsum", "take_along_axis", "argmin", "cummax", "topk", "sort", "fliplr", "pad", "unfold", "conv1d", "max_pool2d", "batch_norm", "clip", "rowwise", "leftCols",
                                 "cwiseProduct", "remainder", "data_handle", "dim", "resize", "to", "clone", "fill", "at",
                                 "masked_fill", "triu", "cuda", "backward", "grad", "contiguous", "size",
                                 "forward", "step", "parameters", "eval"],
    "Computing": ["contract", "elementwise", "for_each", "compare", "exp", "log", "abs", "sum", "max",
                  "min", "product", "sin", "pow", "maximum", "minimum", "clamp", "log_softmax", "where", "hide",
                  "concat", "stack", "roll", "windows", "patches", "padded", "cumulative_sum", "flip", "kth_largest", "lookup", "gather", "one_hot", "rotate", "rope", "rope_cosines", "rope_sines", "variance"],
    "Formulas": ["formula"],
    "Attention": ["weights", "for_each_parameter", "replay", "count_parameters", "compare_parameters", "parameter_name", "parameter_names", "parameter_path", "parameter_difference",
                  "stored_axes", "load", "load_result", "weights_checksum", "checksum_of", "probe_input", "probe_result", "fold_batch_norm",
                  "save", "write_parameter_table", "compare_with_probe",
                  "workspace", "workspace_for", "multi_head_attention", "additive_attention", "x * weights", "softmax",
                  "mask_after", "mask",
                  "keep_mask", "drop_mask", "valid_rows", "dropout", "causal_at", "causal_bottom_right",
                  "score_bias", "observe", "attention_heat_map", "key_value_cache", "sampler", "argmax", "penalize_repetition", "describe", "plan_of", "footprint", "fits",
                  "scaled_dot_product_attention", "attention_by_score", "parallel", "pruned", "pruned_weights"],
    "Blocks": ["linear", "layer_norm", "rms_norm", "mean", "gelu_tanh", "gelu_exact", "silu", "relu", "softplus",
               "embedding", "logits", "learned_positions", "sinusoidal_positions", "feed_forward",
               "encoder_layer", "decoder_layer", "residual_block", "layer_stack", "prepacked"],
    "Learning": ["gradient", "with_gradient", "batch_gradient", "initialize", "update", "update_result",
                 "sgd", "adam", "warm_up_then_cosine", "clip_by_norm", "set_to_zero", "moving_average", "scale",
                 "cross_entropy", "mean_squared_error"],
    "Machines": ["sharded", "communicator", "across", "exchange_of"],
    "Integers": ["named", "quantized", "quantize", "dequantize", "quantized_mean", "take_percentile", "same_range",
                 "chain_ranges", "are_chained", "pack_model"],
}
GROUPED = {operation for operations in GROUPS.values() for operation in operations}
# The general before the special: the first case of a mistake gives its entry the place.
FILES = ["shapes", "memory", "computing", "attention", "heads", "blocks", "hana"]
OWN_WORDS = "In the compiler's own words"
NOTE = re.compile(r"^\s*// (cause|cure): (\S.*?)\s*$")
# A number that depends on the machine: bytes of scratch, by the width of its vectors.
ANY_NUMBER = "[0-9]+"
# Words that depend on what is installed: a type of the MPI.
ANY_WORDS = '[^"]*'
SENTENCE = re.compile(r'^"umbel: ([\w* \[\].]+): (.*)"$')
AXES = {"channel", *(name for header in ("shape/axes.hpp", "training/axes.hpp", "mpi/axes.hpp")
                     for name in re.findall(r"^struct (\w+) : axis<", (ROOT / "include/umbel" / header).read_text(), re.M))}
TYPES = {"float", "double", "int", "bool", "bfloat16", "float16"}

HEAD = """\
<!-- Written by tools/errors.py from test/reject/*.cpp: change it there. -->
# Error messages

This page lists {mistakes} distinct mistakes with their message, cause and cure. Your message has
your axes and sizes in it. Two mistakes are distinct if their messages differ in more than axes,
sizes and types. {cases} programs with such a mistake are tests: g++ and clang must reject each with
exactly one error, in at most {lines} lines, with the message in the first {first}.

**g++** prints the message in quotes on its third line, and again in the line of the error, which
the problem list of an editor shows. g++ 14 and newer print it as
`error: static assertion failed: umbel: split: ...` and quote the source of each frame in two more
lines; older versions print it in the name of a type. Your own line ends with `required from here`
(`avx512_fma_...` is the namespace of the instruction set, [dispatch.md](dispatch.md)):

{gcc}

**clang** prints the same message as types in its error, with the axes and with underscores instead
of spaces. Your own line is below, at `in instantiation of`:

{clang}

With either compiler, each header between your file and `umbel.hpp` moves the message one line down
("In file included from"). For calls that other libraries have (`x.transpose(1, 2)`), the message is
on line 1 or 2 in any file, and clang prints it as g++ does.

**One mistake, one error.** An operation that is refused returns a value that every other operation
accepts and silently passes on. So there is only one error, and it names the mistake.

**Template arguments of the wrong kind**, `softmax<key<6>>` or `split<hidden, 4, head_dim>`, are the
compiler's own error: in C++20 no library can refuse them. In the line of the error, g++ prints the
kinds that the operation expects; clang names only the wrong argument. Functions (`sum`, `max`,
`min`, `argmax`, `one_hot`) have a message with both compilers.

## Find your message

A message starts with the operation that you wrote. The number after each operation is the number of
its mistakes. `shape` is any list of axes, `memory` the memory of a tensor or view, `elementwise`
arithmetic and `for_each`, and `access` an element `x(...)`.

{index}

For errors without a message from Umbel see [in the compiler's own
words](#in-the-compilers-own-words).
"""
# Of the case shapes/split_uneven, paths shortened; NN: lines of the library, which move.
GCC = """\
In file included from umbel/umbel.hpp:NN,
                 from model.cpp:4:
umbel/shape/verdict.hpp: In instantiation of ‘struct umbel::portable::report<umbel::portable::shape_error<umbel::portable::text<62>{"umbel: split: hidden=100 into heads=7 leaves a remainder of 2"}> >’:
umbel/tensor/pipe.hpp:NN:   required from ‘constexpr auto umbel::avx512_fma_20ff...::detail::rereading<Operation, Name>::operator()(X&&) const [with X = umbel::tensor<float, umbel::axes::batch<2>, umbel::axes::query<4>, umbel::axes::hidden<100> >&; Operation = umbel::avx512_fma_20ff...::detail::split_operation<umbel::axes::hidden, umbel::axes::heads<7>, umbel::axes::head_dim>; Name = umbel::avx512_fma_20ff...::detail::say::split]’
model.cpp:11:45:   required from here
umbel/shape/verdict.hpp:NN: error: invalid application of ‘sizeof’ to incomplete type ‘umbel::portable::shapes_do_not_fit<umbel::portable::text<62>{"umbel: split: hidden=100 into heads=7 leaves a remainder of 2"}>’
   NN |   static_assert(sizeof(shapes_do_not_fit<Sentence>) != 0);
      |                 ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
"""
CLANG = """\
In file included from model.cpp:4:
In file included from umbel/umbel.hpp:NN:
umbel/tensor/pipe.hpp:NN: error: static_assert failed due to requirement 'shape_error<umbel::detail::say::split, umbel::axes::hidden<100>, umbel::detail::say::into, umbel::axes::heads<7>, umbel::detail::say::leaves_a_remainder_of, umbel::detail::number<2>>::ok' "umbel: shapes do not fit"
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    ^             ~~~~~~~~~~~~~~~~~~~
model.cpp:11:45: note: in instantiation of function template specialization 'umbel::detail::rereading<umbel::detail::split_operation<umbel::axes::hidden, umbel::axes::heads<7>, umbel::axes::head_dim>, umbel::detail::say::split>::operator()<umbel::tensor<float, umbel::axes::batch<2>, umbel::axes::query<4>, umbel::axes::hidden<100>> &>' requested here
  auto r = split<hidden, heads<7>, head_dim>(x);
                                            ^
1 error generated.
"""


def mistake_of(sentence):
    """A sentence without the axes, sizes and types that it names."""
    operation, words = SENTENCE.match(f'"{sentence}"').groups()
    words = re.sub(r"[\w=]+(?= is (?:not an option|given twice))", "OPTION", words)
    words = re.sub(r"\[[^]]*\]", "SHAPE", words)
    words = re.sub(r"\w+=\d+", "AXIS", words)
    names = {**dict.fromkeys(AXES, "AXIS"), **dict.fromkeys(TYPES, "TYPE")}
    words = re.sub(r"\b\d+\b", "N", words)
    return operation + ": " + re.sub(r"\w+", lambda word: names.get(word[0], word[0]), words)


class Case:
    """One case of a reject file: what g++ prints, why, and what to do."""

    def __init__(self, file, name):
        self.file, self.name = file, name
        self.regexes, self.notes = {}, {}

    def __str__(self):
        return f"{self.file}/{self.name}"

    def sentence(self):
        """What g++ prints, without the regex's backslashes, any number as N, any words as three dots; None where they are the compiler's own."""
        regex = self.regexes.get("gcc")
        return None if regex is None else re.sub(r"\\(.)", r"\1", regex.replace(ANY_NUMBER, "N").replace(ANY_WORDS, "...")).strip('"')

    def operation(self):
        """The first word of the sentence, which the user wrote; None where the words are the compiler's own."""
        return self.sentence() and SENTENCE.match(f'"{self.sentence()}"')[1]

    def mistake(self):
        """The sentence without the axes, sizes and types that it names: what two cases of one mistake share."""
        if self.sentence() is None:
            return str(self)
        return mistake_of(self.sentence())

    def problems(self):
        for note in ("cause", "cure"):
            if len(self.notes.get(note, [])) != 1:
                yield f"{self}: want one line '// {note}: ...', has {len(self.notes.get(note, []))}"
        regex = self.regexes.get("gcc")
        if regex is None and None not in self.regexes:
            yield f"{self}: expects nothing of g++"
        elif regex is not None:
            sentence = SENTENCE.match(f'"{self.sentence()}"')
            if not sentence or re.search(r"(?<!\\)[][.*+?|^$(){}]", regex.replace(ANY_NUMBER, "").replace(ANY_WORDS, "")) or not re.fullmatch('".*"', regex):
                yield f'{self}: want the whole sentence after expect-gcc, "umbel: operation: ...": {regex}'
            elif sentence[1] not in GROUPED:
                yield f"{self}: the operation {sentence[1]} is in no group of tools/errors.py"


def cases_of(path):
    """The cases of one file, in its order."""
    check.read_cases(path)  # complains about what is malformed
    current = None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if directive := check.DIRECTIVE.match(line):
            if current:
                yield current
            case = check.CASE.match(directive[2])
            current = Case(path.stem, case[1]) if case else None
        elif expected := check.EXPECT.match(line):
            current.regexes[expected[1]] = expected[2]
        elif note := NOTE.match(line):
            if current is None:
                raise check.Malformed(f"{path}:{number}: a {note[1]} outside of a case")
            current.notes.setdefault(note[1], []).append(note[2])


def contradictions(cases):
    said = {}
    for case in cases:
        if case.sentence() is None:
            continue
        first = said.setdefault(case.sentence(), case)
        for note in ("cause", "cure"):
            if first.notes.get(note) != case.notes.get(note):
                yield f"{case}: another {note} than {first}, which has the same sentence"


def entry(cases):
    """One mistake: its sentences, why, what to do, and the tests that hold it."""
    sentences = dict.fromkeys(case.sentence() or case.regexes[None].replace("|", "  or  ") for case in cases)
    cause, cure = (cases[0].notes[note][0] for note in ("cause", "cure"))
    names = " ".join(f"`{case}`" for case in cases)
    return ["```text", *sentences, "```", f"- Cause: {cause}", f"- Cure: {cure}", f"- Case: {names}", ""]


def anchor(heading):
    """What GitHub makes of a heading."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def page(cases):
    fence = "```text\n{}```"
    entries = {}  # of a word, or None: of each mistake, its cases
    for case in cases:
        of_word = entries.setdefault(case.operation(), {})
        of_word.setdefault((case.mistake(), case.notes["cause"][0], case.notes["cure"][0]), []).append(case)
    spoken = [case.mistake() for case in cases if case.operation()]
    mistakes_of = {word: len({mistake for mistake, _, _ in of_word}) for word, of_word in entries.items()}
    index = [f"[`{word}`](#{anchor(word)}) {mistakes_of[word]}" for word in sorted(filter(None, entries))]
    out = [HEAD.format(mistakes=len(set(spoken)), cases=len(spoken), lines=check.LINES_AT_MOST,
                       first=check.LINES_WITH_SENTENCE, gcc=fence.format(GCC), clang=fence.format(CLANG),
                       index=",\n".join(index))]
    for group, words in GROUPS.items():
        out += [f"## {group}", ""]
        for word in words:
            if word in entries:
                out += [f"### `{word}`", "", *(line for of_one in entries[word].values() for line in entry(of_one))]
    out += [f"## {OWN_WORDS}", "", *(line for of_one in entries.get(None, {}).values() for line in entry(of_one))]
    return "\n".join(out).rstrip() + "\n"


def guide():
    """CONTRIBUTING.md, with the case that it shows as it is in shapes.cpp."""
    case = re.search(r"#if defined CASE_split_uneven\n.*?(?=#elif)", (REJECT / "shapes.cpp").read_text(), re.S)[0]
    shown = "".join(f"   {line}\n" for line in case.splitlines())
    return re.sub(r"   #if defined CASE_split_uneven\n.*?(?=   #else)", lambda _: shown, GUIDE.read_text(), flags=re.S)


def all_cases():
    files = sorted(REJECT.glob("*.cpp"), key=lambda f: (f.stem not in FILES, [*FILES, f.stem].index(f.stem)))
    return [case for path in files for case in cases_of(path)]


def main():
    chosen = command_line.one_of("tools/errors.py", __doc__, "--check")
    try:
        cases = all_cases()
    except check.Malformed as problem:
        sys.exit(str(problem))
    words = [operation for operations in GROUPS.values() for operation in operations]
    wrong = [f"the operation {word} is in two groups of tools/errors.py" for word in GROUPED if words.count(word) > 1]
    wrong = wrong or [problem for case in cases for problem in case.problems()] or list(contradictions(cases))
    if wrong:
        sys.exit("\n".join(wrong))
    text = page(cases)
    if chosen == "--check":
        if not PAGE.is_file() or PAGE.read_text() != text:
            sys.exit(f"{PAGE} is not what the reject cases say: run tools/errors.py")
        if GUIDE.read_text() != guide():
            sys.exit(f"{GUIDE} shows another case than test/reject/shapes.cpp: run tools/errors.py")
    else:
        PAGE.write_text(text)
        GUIDE.write_text(guide())
    return 0


if __name__ == "__main__":
    sys.exit(main())
