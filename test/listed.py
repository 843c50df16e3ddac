#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Every .cpp of test/, bench/ and examples/ must be named in a meson.build: a test that nobody builds passes for ever. And
`invalid` must have each member that a tensor or layer refuses: x.view(...).transpose(...) is one error.

    listed.py PROJECT_ROOT
"""
import pathlib
import re
import sys

# Compiled by a script of their folder, by name.
BY_SCRIPT = {"bench/imported/ratio.cpp", "bench/mine/measure.cpp", "bench/plan/sweep.cpp", "bench/targets/forward.cpp", "bench/targets/picture.cpp",
             "examples/bare_metal/board.cpp", "examples/bare_metal/main.cpp", "examples/microbit/main.cpp",
             "examples/page/freestanding.cpp", "test/alone/one.cpp", "test/alone/two.cpp",
             "test/bits/cases.cpp", "test/bits/gradients.cpp", "test/bits/integers.cpp", "test/checking/access.cpp", "test/checking/at_start.cpp", "test/checking/files.cpp",
             "test/dispatch/crossing.cpp", "test/dispatch/kernels.cpp", "test/dispatch/main.cpp",
             "test/dispatch/passing.cpp", "test/embedded/guards/stopped.cpp",
             "test/export/faults.cpp", "test/frames/call.cpp", "test/fuzz/files.cpp", "test/fuzz/list.cpp", "test/fuzz/worst.cpp",
             "test/page/rules.cpp"}


FOLDERS = ("test", "bench", "examples")


def listed_in(root):
    for build in (b for folder in FOLDERS for b in (root / folder).rglob("meson.build")):
        for name in re.findall(r"'([^'\n]+\.cpp)'", re.sub(r"#.*", "", build.read_text())):
            yield (build.parent / name).relative_to(root).as_posix()


def members_that_invalid_lacks(root):
    def names(header, macro):
        return set(re.findall(rf"^ *{macro}(\w+)\)$", (root / "include/umbel" / header).read_text(), re.M))

    return sorted(names("tensor/calls_of_other_libraries.hpp", r"UMBEL_REFUSED_(?:MEMBER\(|TEMPLATE\(\w+, )") - {"size"} -
                  names("shape/invalid.hpp", r"UMBEL_TAKEN\("))


def main():
    root = pathlib.Path(sys.argv[1])
    listed = BY_SCRIPT.union(listed_in(root))
    present = {p.relative_to(root).as_posix() for folder in FOLDERS for p in (root / folder).rglob("*.cpp")}
    missing = sorted(present - listed)
    for name in missing:
        print(f"{name}: in no meson.build")
    for name in members_that_invalid_lacks(root):
        missing.append(name)
        print(f"shape/invalid.hpp: UMBEL_TAKEN({name}) is missing")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
