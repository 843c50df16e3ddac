#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Who may include whom under include/umbel, and what no header may use.

    layering.py INCLUDE_DIR        TAP: one check a header; a bad one prints file:line and the arrow
    layering.py --self-test        does it notice what it should notice?
    layering.py --table            writes the arrows into docs/architecture.md, which is checked, too
    layering.py --lists            writes the lists of includes at the top of the headers that users include, checked, too

A room is a folder, or a file that stands directly in include/umbel. A room may include itself and the rooms
named here, nothing else of Umbel. Who may include a room may include the rooms within it (kernel/float).
"""
import pathlib
import re
import sys
import tempfile

from tap import Tap

ROOMS = {
    "config": set(),
    "utility": set(),
    "version": set(),
    "text": {"config"},
    "shape": {"config", "utility"},
    "tensor": {"config", "utility", "shape", "kernel"},  # kernel: contract
    "simd": {"config", "utility"},
    "plan": {"config"},
    "kernel": {"config", "utility", "simd", "plan"},
    "kernel/plain": {"config", "simd", "plan", "kernel"},
    "kernel/float": {"config", "utility", "simd", "plan", "kernel", "kernel/plain"},
    "kernel/integer": {"config", "utility", "simd", "plan", "kernel", "kernel/plain"},
    "kernel/backward": {"config", "simd", "plan", "kernel", "kernel/plain", "kernel/float"},
    "layer": {"config", "utility", "shape", "tensor", "simd", "plan", "kernel"},
    "parameters": {"config", "text", "shape", "tensor", "simd", "layer"},
    "mask": {"config", "shape", "tensor", "simd", "kernel", "layer"},
    "operation": {"config", "utility", "shape", "tensor", "simd", "kernel", "layer"},
    "attention": {"config", "shape", "tensor", "simd", "plan", "kernel", "layer", "mask", "operation"},
    "block": {"config", "utility", "shape", "tensor", "plan", "kernel", "layer", "mask", "operation", "attention"},
    "decode": {"config", "shape", "tensor", "simd", "plan", "kernel", "layer", "mask", "operation", "attention", "block", "formula"},
    "quantized": {"config", "shape", "tensor", "simd", "plan", "kernel", "layer", "mask", "operation", "attention", "block", "decode", "formula", "bare"},
    "formula": {"config", "shape", "tensor", "simd", "plan", "kernel", "layer", "mask", "operation", "attention", "block"},
    "inspect": {"config", "text", "shape", "tensor", "simd", "plan", "kernel", "layer", "mask", "attention", "block", "decode", "formula"},
    "file": {"config", "text", "shape", "tensor", "simd"},
    "files": {"file"},
    "weights": {"config", "text", "shape", "tensor", "simd", "layer", "parameters", "file"},
    "training": {"config", "shape", "tensor", "simd", "plan", "kernel", "layer", "parameters", "mask", "operation", "attention", "block", "formula", "bare"},
    "mpi": {"config", "shape", "tensor", "plan", "kernel", "layer", "mask", "attention", "block", "decode", "inspect", "training", "bare"},
}
EVERYTHING = set(ROOMS) - {"text", "parameters", "inspect", "file", "files", "weights", "training", "quantized", "mpi"}  # what draws, describes, loads, trains and sends is for who asks
ROOMS["bare"] = EVERYTHING
ROOMS["umbel"] = EVERYTHING | {"bare"}

# Headers that only these may include, whatever their room.
ONLY_FROM = {
    "umbel/shape/hana.hpp": {"umbel/umbel.hpp"},
    "umbel/version.hpp": {"umbel/umbel.hpp", "umbel/bare.hpp"},
    "umbel/inspect/heat_map.hpp": set(),  # drawing: for who asks for it
    "umbel/file/mapped_file.hpp": set(),  # of POSIX, and of <cstdio>: for who has them
    "umbel/file/read_file.hpp": set(),
}
# Too slow to compile, or absent where Umbel has to run (docs/decisions).
BANNED_HEADERS = {"iostream", "vector", "string", "map", "memory", "functional", "cmath", "algorithm"}
# No header allocates; and std::is_constant_evaluated is a call where it is not optimised (config.hpp).
BANNED_WORDS = re.compile(r"\b(new|malloc|calloc|realloc|aligned_alloc|is_constant_evaluated)\b")
# Headers that users include besides umbel.hpp and bare.hpp. Each level of inclusion is a line before a message, and whichever
# header of the user's is first brings the rest: so each includes all that it needs itself, dependencies first.
INCLUDED_BY_USERS = (
    "decode/cache_of_formula", "decode/sample", "file/mapped_file", "files", "formula/row_formula", "inspect/describe",
    "inspect/fits", "inspect/footprint", "inspect/heat_map", "inspect/vector_check", "mpi", "quantized",
    "quantized/cache_of_formula", "training", "weights", "weights/array_checksum")
WITHOUT_MESSAGES = {"config", "utility", "version", "text", "simd", "plan", "kernel"}  # rooms whose headers refuse nothing
BOOST_MAY_BE_IN = {"umbel/shape/hana.hpp"}
MPI_MAY_BE_IN = {"umbel/mpi/communicator.hpp"}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
# Comments and literals, so that the words in them are not taken for code; line ends stay.
NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.S)

# clang 19 prints all lines of a failing condition, each with a line of ^~~~: three make its output longer than 12 lines.
ASSERTED = re.compile(r"static_assert\(((?:[^\n;]*\n){2,}?[^\n;]*?)::\s*ok,[^;]*shapes do not fit")
REPORTED = re.compile(r"\s*(detail::)?report<")


def room_of(header):
    return "/".join(header.split("/")[1:-1]) or header.split("/")[1].removesuffix(".hpp")


def resolve(root, header, quoted, name):
    """The included header as umbel/..., or None when it is not one of ours."""
    beside = (root / header).parent / name
    if quoted and beside.is_file():
        return beside.resolve().relative_to(root.resolve()).as_posix()
    return name if name.startswith("umbel/") else None


def arrow_problem(header, target):
    room, other = room_of(header), room_of(target)
    if target in ONLY_FROM and header not in ONLY_FROM[target]:
        return f"{header} -> {target} (only from {', '.join(sorted(ONLY_FROM[target])) or 'the user'})"
    if room not in ROOMS:
        return f"{header}: there is no room {room}"
    if other != room and other not in ROOMS[room] and not ("/" not in room and other.split("/")[0] in ROOMS[room]):
        return f"{header} -> {target} ({room} may not include {other})"
    return None


def include_problem(root, header, quoted, name):
    target = resolve(root, header, quoted, name)
    if target:
        return arrow_problem(header, target)
    if name in BANNED_HEADERS:
        return f"{header} -> <{name}> (no header includes it)"
    if name.startswith("boost/") and header not in BOOST_MAY_BE_IN:
        return f"{header} -> <{name}> (Boost only in {', '.join(sorted(BOOST_MAY_BE_IN))})"
    if name == "mpi.h" and header not in MPI_MAY_BE_IN:
        return f"{header} -> <{name}> (MPI only in {', '.join(sorted(MPI_MAY_BE_IN))})"
    return None


def problems_of(root, path):
    header = path.relative_to(root).as_posix()
    text = path.read_text()
    for number, line in enumerate(LIST.sub(lambda m: "\n" * m[0].count("\n"), text).splitlines(), 1):
        if include := INCLUDE.match(line):
            if problem := include_problem(root, header, include[1] == '"', include[2]):
                yield f"{path}:{number}: {problem}"
    code = NOT_CODE.sub(lambda m: "\n" * m[0].count("\n"), text)
    for number, line in enumerate(code.splitlines(), 1):
        if not line.lstrip().startswith("#") and (word := BANNED_WORDS.search(line)):
            yield f"{path}:{number}: {header} uses {word[1]}"
    for asserted in ASSERTED.finditer(text):
        if REPORTED.match(asserted[1]):
            number = text.count("\n", 0, asserted.start()) + 1
            yield f"{path}:{number}: {header} asserts a condition of more than 2 lines; write using verdict = ..."


def check(root):
    """[(header, problems)], sorted by header."""
    return [(p.relative_to(root).as_posix(), list(problems_of(root, p))) for p in sorted(root.rglob("*.hpp"))]


LIST = re.compile(r"// clang-format off: all that this needs[^\n]*\n.*?// clang-format on\n\n?", re.S)


def needed_by(root, header, found):
    """What a header includes, dependencies first, into `found`."""
    for line in LIST.sub("", (root / header).read_text()).splitlines():
        if (include := INCLUDE.match(line)) and (target := resolve(root, header, include[1] == '"', include[2])):
            if target not in found and room_of(target).split("/")[0] not in WITHOUT_MESSAGES:
                needed_by(root, target, found)
                found.setdefault(target)
    return found


def with_list(root, header):
    """The text of a header that users include, with its list."""
    needed = [h for h in needed_by(root, header, {}) if h != "umbel/bare.hpp"]
    lines = "".join(f"#include <{h}>\n" for h in needed)
    text = LIST.sub("", (root / header).read_text())
    block = ("// clang-format off: all that this needs, in order; bare.hpp explains (test/layering.py --lists).\n"
             f"#include <umbel/config.hpp>\n{lines}// clang-format on\n\n")
    return re.sub(r"(?m)^#pragma once\n\n", lambda m: m[0] + block, text, count=1)


def public_headers(root):
    return [header for name in INCLUDED_BY_USERS if (root / (header := f"umbel/{name}.hpp")).is_file()]


PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs" / "architecture.md"
TABLE = re.compile(r"(<!-- arrows: begin [^\n]*-->\n).*?(<!-- arrows: end -->)", re.S)


def page_with_arrows(text):
    """The text of docs/architecture.md with the arrows as they are here."""
    lines = [f"    {room:15} {' '.join(other for other in ROOMS if other in ROOMS[room]) or '-'}"
             for room in ROOMS if not EVERYTHING <= ROOMS[room]]
    return TABLE.sub(lambda m: m[1] + "\n" + "\n".join(lines) + "\n\n" + m[2], text)


SELF_TEST = {  # file -> (text, what must be said about it, or None)
    "umbel/umbel.hpp": ("#include <umbel/bare.hpp>\n#include <umbel/shape/hana.hpp>\n#include <umbel/version.hpp>\n", None),
    "umbel/bare.hpp": ("#include <umbel/shape/hana.hpp>\n", "only from umbel/umbel.hpp"),
    "umbel/config.hpp": ("#include <cstddef>\n// new vector\n", None),
    "umbel/version.hpp": ("", None),
    "umbel/shape/hana.hpp": ("#include <boost/hana/tuple.hpp>\n", None),
    "umbel/shape/axis.hpp": ("\n#include <umbel/tensor/view.hpp>\n", "axis.hpp:2: umbel/shape/axis.hpp -> umbel/tensor/view.hpp"),
    "umbel/tensor/view.hpp": ('#include "../shape/axis.hpp"\nstatic_assert(true, "no new memory");\n', None),
    "umbel/tensor/odd.hpp": ('#include "../block/linear.hpp"\n', "tensor may not include block"),
    "umbel/kernel/matmul.hpp": ("#include <umbel/simd/pack.hpp>\n#include <umbel/plan/plan.hpp>\n", None),
    "umbel/kernel/integer/linear.hpp": ("#include <umbel/kernel/shapes.hpp>\n#include <umbel/kernel/plain/integers.hpp>\n", None),
    "umbel/kernel/float/norm.hpp": ("#include <umbel/kernel/backward/norm.hpp>\n", "kernel/float may not include kernel/backward"),
    "umbel/kernel/boost.hpp": ("#include <boost/hana.hpp>\n", "Boost only in"),
    "umbel/mpi/heads.hpp": ("#include <mpi.h>\n", "MPI only in"),
    "umbel/layer/ranks.hpp": ("#include <umbel/mpi/heads.hpp>\n", "layer may not include mpi"),
    "umbel/plan/plan.hpp": ("#include <umbel/simd/pack.hpp>\n", "plan may not include simd"),
    "umbel/simd/pack.hpp": ("#include <umbel/version.hpp>\n", "only from"),
    "umbel/simd/math.hpp": ("#include <cmath>\n", "<cmath>"),
    "umbel/block/linear.hpp": ("/* one\n two */ auto p = new int;\n", "linear.hpp:2: umbel/block/linear.hpp uses new"),
    "umbel/block/asks.hpp": ("bool f() { return std::is_constant_evaluated(); }\n", "asks.hpp:1: umbel/block/asks.hpp uses is_constant"),
    "umbel/block/may_ask.hpp": ("bool f() { return __builtin_is_constant_evaluated(); }\n", None),
    "umbel/block/product.hpp": ("#include <umbel/kernel/float/linear.hpp>\n", None),
    "umbel/block/long.hpp": ('static_assert(\n    report<\n        a, b>::ok,\n    "umbel: shapes do not fit");\n', "long.hpp:1: umbel/block/long.hpp asserts"),
    "umbel/block/short.hpp": ('static_assert(\n    report<a, b>::ok,\n    "umbel: shapes do not fit");\n', None),
    "umbel/block/fine.hpp": ("int renewed, new_; // new\n#include <umbel/attention/rope.hpp>\n", None),
    "umbel/block/drawn.hpp": ("#include <umbel/inspect/heat_map.hpp>\n", "only from the user"),
    "umbel/inspect/heat_map.hpp": ("", None),
    "umbel/attic/old.hpp": ("#include <umbel/config.hpp>\n", "no room attic"),
}


def self_test():
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, (text, _) in SELF_TEST.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        for header, problems in check(root):
            want = SELF_TEST[header][1]
            said = "\n".join(problems)
            if bool(want) != bool(problems) or (want and want not in said):
                failures.append(f"{header}: want {want}, got {said or 'no problem'}")
    return failures


def main():
    if sys.argv[1] == "--table":
        PAGE.write_text(page_with_arrows(PAGE.read_text()))
        return 0
    if sys.argv[1] == "--lists":
        root = pathlib.Path(__file__).resolve().parent.parent / "include"
        for header in public_headers(root):
            (root / header).write_text(with_list(root, header))
        return 0
    tap = Tap()
    if PAGE.is_file():
        tap.check("docs/architecture.md", page_with_arrows(PAGE.read_text()) == PAGE.read_text(),
                  "other arrows than here: run test/layering.py --table")
    failures = self_test()
    tap.check("self-test", not failures, "\n".join(failures))
    if sys.argv[1] != "--self-test":
        root = pathlib.Path(sys.argv[1])
        for header in public_headers(root):
            tap.check(f"the list of {header}", with_list(root, header) == (root / header).read_text(),
                      "other includes than it needs: run test/layering.py --lists")
        for header, problems in check(root):
            tap.check(header, not problems, "\n".join(problems))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
