#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The marked C++ of README.md and docs/*.md must do what the page says. The mark is the line before the fence:

    <!-- compile -->             the block compiles
    <!-- compile continue -->    it compiles after the marked blocks of the page so far (since the last plain 'compile')
    <!-- reject: regex -->       it must not compile: exactly one error, and the output matches
    <!-- reject continue: regex -->

A block without an #include of its own gets the usual first lines (PREAMBLE).

    snippets.py PROJECT_ROOT -- COMPILER ARGUMENTS...
"""
import pathlib
import re
import sys

from tap import Tap, compile_text, split_command

PREAMBLE = """#include <umbel/umbel.hpp>
using namespace umbel;
using namespace umbel::axes;
using namespace umbel::literals;
"""
MARK = re.compile(r"^\s*<!-- (compile|reject)( continue)?(?:: (.*?))? -->\s*$")


def blocks_of(text):
    """(line, kind, continues, regex, code) of each marked block; a mark without a block has code None."""
    lines = text.splitlines()
    for at, line in enumerate(lines):
        if not (mark := MARK.match(line)):
            continue
        kind, continues, regex = mark[1], bool(mark[2]), mark[3]
        code = None
        if at + 1 < len(lines) and lines[at + 1].strip() == "```cpp":
            rest = lines[at + 2:]
            end = next((n for n, text_line in enumerate(rest) if text_line.strip() == "```"), None)
            code = None if end is None else "\n".join(rest[:end]) + "\n"
        yield at + 1, kind, continues, regex, code


def verdict(kind, regex, code, output):
    if kind == "compile":
        return "" if code == 0 else "it does not compile"
    if code == 0:
        return "it compiles"
    errors = len(re.findall(r"\berror:", output))
    if errors != 1:
        return f"{errors} errors, want exactly 1"
    return "" if re.search(regex, output) else f"the message does not match /{regex}/"


def check_page(tap, page, name, command):
    before = ""
    for line, kind, continues, regex, code in blocks_of(page.read_text()):
        title = f"{name}:{line} {kind}"
        if code is None or (kind == "reject") != bool(regex):
            tap.check(title, False, "want a ```cpp block on the next line, and a regex after 'reject:' only")
            continue
        program = (before if continues else "") + code
        if "#include" not in program:
            program = PREAMBLE + program
        result, output = compile_text([*command, "-fsyntax-only"], program)
        wrong = verdict(kind, regex, result, output)
        tap.check(title, not wrong, f"{wrong}\n{output}")
        if kind == "compile":
            before = program


def main():
    (root,), command = split_command(sys.argv[1:])
    root = pathlib.Path(root)
    tap = Tap()
    for page in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
        if page.is_file():
            check_page(tap, page, page.relative_to(root).as_posix(), command)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
