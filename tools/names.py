#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Writes docs/names.md, every name that `using namespace umbel`, `umbel::axes` and `umbel::literals` bring in, the pages of
docs/api (api.py), and the module `umbel`, which exports these names.

    names.py            writes the pages and the module
    names.py --check    are they what the headers say? Where clang is there, does it see the same names?
    names.py --list     the names alone, one a line

The names come from the headers, each with the first sentence of the comment in front of it. A public name without
a comment is an error, and so is a name that the page does not have or has no more.
"""
import pathlib
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True

import api  # noqa: E402
import command_line  # noqa: E402
from errors import anchor  # noqa: E402
from headers import (ENTRANCES, INCLUDE, OPEN, all_headers, declarations, escaped, first_sentence, included, mpi_flags,  # noqa: E402
                     name_of, operator_of, public_names)

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "names.md"
MODULE = INCLUDE / "umbel" / "umbel.cppm"
NOT_IN_MODULE = {"umbel/mpi.hpp", "umbel/file/mapped_file.hpp", "umbel/file/read_file.hpp"}  # they need MPI or POSIX

NAMESPACES = {
    "axes": "the ready-made axes, for `using namespace umbel::axes`",
    "literals": "`5_c`, a size as a constant, for `using namespace umbel::literals`",
    "block_parts": "parts and joins of a `residual_block`, for `using namespace umbel::block_parts` ([how-to/blocks.md](how-to/blocks.md))",
    "names": "tables of the parameter names of frameworks, for `load` ([weights.md](weights.md))",
    "board": "boards by name, with their bytes of flash and of RAM, for `fits`",
    "detail": "not for users: names in it may change in any release",
    "portable": "not for users: types that are the same for every target (weights, masks, error messages)",
}
TARGET = "the target's (`sse2_...`, `avx_fma_...`, `avx512_fma_...`, `neon_...`)"
ROOMS = {
    "shape": "names and sizes",
    "tensor": "memory with a shape",
    "simd": "16-bit numbers",
    "layer": "what all layers share",
    "mask": "which keys a query attends to",
    "attention": "the layers of attention",
    "decode": "a sequence step by step",
    "formula": "formulas: functions of tensors, compiled to the fused kernels",
    "operation": "functions of elements, softmax, sums, tables, rotation, concatenation",
    "block": "linear maps, norms, positions; blocks of parts, encoder and decoder layers",
    "quantized": "layers in 8-bit integers; not in `umbel.hpp`",
    "mpi": "layers over the processes of an MPI job; not in `umbel.hpp`",
    "inspect": "looking inside; not in `umbel.hpp`",
    "file": "files of tensors; not in `umbel.hpp`",
    "parameters": "parameters by name; not in `umbel.hpp`",
    "weights": "parameters loaded and saved; not in `umbel.hpp`",
    "training": "gradients, optimizers, losses; not in `umbel.hpp`",
}

HEAD = """\
<!-- Written by tools/names.py from include/umbel: change the comments there. -->
# Every public name

These are the {count} names that `using namespace umbel`, `using namespace umbel::axes` and
`using namespace umbel::literals` bring in from `umbel/umbel.hpp`, `umbel/inspect/describe.hpp`,
`umbel/inspect/fits.hpp`, `umbel/inspect/footprint.hpp`, `umbel/inspect/heat_map.hpp`,
`umbel/inspect/vector_check.hpp`,
`umbel/decode/cache_of_formula.hpp`, `umbel/formula/row_formula.hpp`, `umbel/files.hpp`,
`umbel/quantized.hpp`, `umbel/quantized/cache_of_formula.hpp`, `umbel/weights.hpp`,
`umbel/training.hpp`, `umbel/mpi.hpp` and the other headers of `umbel/file/`. You can use any other name without qualification, for example an axis
`frames` or `rule` (`test/static/names.cpp` declares 87 plausible ones and lists those that are
taken). `umbel/bare.hpp` has the same names except those of `shape/hana.hpp`.

The standard library has some of these names as well. With `using namespace std` they are ambiguous,
so write `umbel::merge`, `umbel::extent`, `umbel::mergeable` and `umbel::permutable`, with
`<valarray>` also `umbel::slice`, and with `<stack>` `umbel::stack`. Inside a function,
`using umbel::merge;` works as well.

If your namespace has the name of one below, for example `detail`, it is ambiguous under
`using namespace umbel`: write `::detail`. `umbel/file/mapped_file.hpp` includes POSIX headers
(`<fcntl.h>`, `<sys/mman.h>`, `<sys/stat.h>`, `<unistd.h>`), whose functions are global. Your global
`open`, `read` or `close` becomes an overload or collides, so put it into a namespace.

Operators for tensors, views and masks are found by their operands and need no `using`. All macros
begin with `UMBEL_`.

Namespaces in `umbel`:

| | |
|---|---|
"""


SELF_TEST = """\
#pragma once
UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail { struct hidden_one; }
// A class. And more of it.
template <class T, std::size_t N = (2 > 1)>
class a_class : public detail::hidden_one {
  int inner(int x) { return x < 1 ? '{' : "}"[0]; }
};
template <class T>
class a_class<T, 3>;
// A function.
template <class X>
  requires(!detail::is_odd<X> && requires(X& x) { x.data(); })
constexpr auto a_function(X&& x) noexcept -> decltype(x) {
  return x;
}
constexpr bool operator==(int, a_class<int>) noexcept { return true; }

// Values.
inline constexpr detail::operation<1, (3 > 2)> a_value{};
inline constexpr std::size_t a_number = sizeof(int) > 2 ? 1 : 2;
// An alias.
template <class T>
using an_alias = typename detail::x<T>::type;
// A concept.
template <class T>
concept a_concept = requires(T t) { t(); };
// An enumeration.
enum class an_enum { one, two };  // not a comment of the next
static_assert(a_number > 0);
using detail::given_name;
}  // namespace umbel::inline UMBEL_TARGET
namespace umbel::axes {
template <std::size_t N>
struct an_axis : axis<an_axis, N> {};
}
UMBEL_WARNINGS_POP
"""
SELF_TEST_NAMES = {
    "a_class": "A class", "a_function": "A function", "a_value": "Values", "a_number": "", "an_alias": "An alias",
    "a_concept": "A concept", "an_enum": "An enumeration", "given_name": "", "an_axis": "",
}


def self_test():
    found = {}
    for path, declaration in declarations(SELF_TEST):
        if path in OPEN and (name := name_of(declaration.tokens)):
            found.setdefault(name, first_sentence(declaration.comment))
    if found != SELF_TEST_NAMES:
        yield f"self-test: found {found}"
    entry = "### `{}`\n\nIt adds.\n\n{}Example, from [x](x):\n\n```cpp\nadd(x)\n```\n"
    declaration = "```cpp\nvoid add(X& x)\n```\n\n"
    page = entry.format("whole", declaration) + entry.format("undeclared", "") + entry.format("bare", declaration).split("Example")[0]
    if (lacking := [problem.split(": ")[1] for problem in api.problems({"x.md": page})]) != ["undeclared has no declaration (declared in tools/api_text.py)", "bare has no example"]:
        yield f"self-test: found {lacking}"


def seen_by_clang(compiler):
    """The public names as the compiler lists them; template parameters are listed too."""
    flags = mpi_flags()
    text = "".join(f"#include <{header}>\n" for header in ENTRANCES if flags or header != "umbel/mpi.hpp")
    run = subprocess.run([compiler, "-std=c++20", "-I", str(INCLUDE), *(flags or []), "-fsyntax-only", "-w", "-x", "c++", "-Xclang",
                          "-ast-list", "-"], input=text, capture_output=True, text=True)
    if run.returncode != 0:
        return None
    names = set()
    for line in run.stdout.splitlines():
        parts = line.split("::")
        if parts[0] != "umbel":
            continue
        if len(parts) > 1 and re.fullmatch(r"\w+_[0-9a-f]{8,}", parts[1]):
            del parts[1]
        space = ("umbel", parts[1]) if len(parts) > 2 and parts[1] in ("axes", "literals") else ("umbel",)
        rest = parts[len(space):]
        if len(rest) == 1 and re.fullmatch(r'[A-Za-z_]\w*|operator""\w+', rest[0]):
            names.add((space, rest[0]))
    return names


def against_clang(names):
    compiler = shutil.which("clang++") or shutil.which("clang++-14")
    listed = seen_by_clang(compiler) if compiler else None
    if listed is None:
        return
    without_mpi = mpi_flags() is None
    ours = {(n.space, n.name) for n in names if not (without_mpi and n.header.startswith("umbel/mpi"))}
    parameters = re.compile(r"[A-Z]")  # PascalCase: template parameters
    arguments = arguments_of_functions()
    for space, name in sorted(listed - ours):
        if parameters.match(name) or name in NAMESPACES or name in arguments:
            continue
        yield f"clang sees {'::'.join(space)}::{name}, which tools/names.py does not"
    for space, name in sorted(ours - listed):
        yield f"tools/names.py sees {'::'.join(space)}::{name}, which clang does not"


def arguments_of_functions():
    """Names of parameters, which clang lists as if they were declared beside the function."""
    text = "".join((INCLUDE / header).read_text() for header in all_headers())
    return set(re.findall(r"[&\w>] &?(\w+)(?= = |[,)])", text))


def page(names):
    out = [HEAD.format(count=len(names))]
    out += [f"| `umbel::{name}` | {what} |\n" for name, what in NAMESPACES.items()]
    out += [f"| {TARGET} | inline: you never write it. It keeps code for several instruction sets apart "
            "([dispatch.md](dispatch.md)) |\n"]
    rooms = {}
    for name in names:
        rooms.setdefault(name.header.split("/")[1], []).append(name)
    for room, what in ROOMS.items():
        if room not in rooms:
            continue
        out += [f"\n## {room}/: {what}\n"]
        headers = {}
        for name in rooms[room]:
            headers.setdefault(name.header, []).append(name)
        for header in sorted(headers):
            of_one = headers[header]
            if of_one[0].space == ("umbel", "axes"):
                out += [f"\n`{header}`, in `umbel::axes`: ", ", ".join(f"`{n.name}`" for n in of_one), ".\n"]
                continue
            inner = f", in `{OPEN[of_one[0].space]}`" if of_one[0].space != ("umbel",) else ""
            out += [f"\n`{header}`{inner}\n\n| | |\n|---|---|\n"]
            out += [f"| [`{n.name}`](api/{room}.md#{anchor(n.name)}) | {escaped(n.sentence)} |\n" for n in of_one]
    missing = set(rooms) - set(ROOMS)
    assert not missing, f"rooms without a line in tools/names.py: {missing}"
    return "".join(out)


MODULE_HEAD = """\
// SPDX-License-Identifier: BSL-1.0
// Written by tools/names.py. The module `umbel`: docs/install.md has the commands.
module;
"""
EXPORTED_SPACES = ["umbel", *(f"umbel::{name}" for name in NAMESPACES if name not in ("detail", "portable")), "umbel::portable::part_names"]
SPACES_OF_OPERANDS = ("umbel", "umbel::portable", "umbel::detail::formulas")  # where operators are found by their operands
# Using-declarations can't repeat a using-directive or an alias of a namespace.
EXPORTED_ALSO = {"umbel::literals": {"using boost::hana::literals::operator\"\"_c;"},
                 "umbel::block_parts": {"namespace name = umbel::portable::part_names;"}}


def module():
    """A using-declaration for each public name and operator."""
    entrances, headers, spaces = [entrance for entrance in ENTRANCES if entrance not in NOT_IN_MODULE], [], {}
    for entrance in entrances:
        included(entrance, headers)
    for header in headers:
        for path, one in declarations((INCLUDE / header).read_text()):
            space = "::".join(path)
            name = space in EXPORTED_SPACES and name_of(one.tokens) or space in SPACES_OF_OPERANDS and operator_of(one.tokens)
            if name:
                spaces.setdefault(space, set()).add(f"using {space}::{name};")
    for space, lines in EXPORTED_ALSO.items():
        spaces.setdefault(space, set()).update(lines)
    out = [MODULE_HEAD, *(f"#include <{entrance}>\n" for entrance in entrances), "\nexport module umbel;\n"]
    for space, lines in sorted(spaces.items()):
        out += [f"\nexport namespace {space} {{\n", *(f"{line}\n" for line in sorted(lines)), f"}}  // namespace {space}\n"]
    return "".join(out)



def changes(old, new):
    """The names that one page has and the other has not."""
    had, has = ({name for line in text.splitlines() if not line.startswith("| `umbel::")
                 for name in re.findall(r"^\| \[`(\w+)`|(?<=[ :,]) `(\w+)`(?=[,.])", line) for name in name if name}
                for text in (old, new))
    yield from (f"{name} is new" for name in sorted(has - had))
    yield from (f"{name} is gone" for name in sorted(had - has))


def main():
    chosen = command_line.one_of("tools/names.py", __doc__, "--check", "--list")
    names, problems = public_names()
    if chosen == "--list":
        command_line.print_lines(n.name for n in names)
        return 0
    problems += [*self_test(), *against_clang(names)]
    text = page(names)
    of_rooms = api.pages(ROOMS)
    problems += api.problems(of_rooms)
    pages = {PAGE: text, MODULE: module(), **{api.FOLDER / name: of_room for name, of_room in of_rooms.items()}}
    in_api = set(re.findall(r"^(?:### |\| )`(\w+)`", "".join(pages.values()), re.M))
    problems += [f"{n.name} is not in docs/api (tools/api.py)" for n in names if n.name not in in_api]
    old = {file: file.read_text() for file in [PAGE, MODULE, *api.FOLDER.glob("*.md")] if file.is_file()}
    if chosen == "--check":
        problems += changes(old.get(PAGE, ""), text)
        problems += [f"{file.relative_to(ROOT)} is not what the headers say: run tools/names.py"
                     for file in sorted(old | pages) if old.get(file) != pages.get(file)]
    else:
        api.FOLDER.mkdir(exist_ok=True)
        for file in old:
            file.unlink()
        for file, content in pages.items():
            file.write_text(content)
    if problems:
        sys.exit("\n".join(problems))
    return 0


if __name__ == "__main__":
    sys.exit(main())
