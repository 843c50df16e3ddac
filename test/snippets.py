#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Links of the pages lead to files that exist, README.md is short, and their marked C++ does what the page says. The mark is the line before
the fence:

    <!-- compile -->             the block compiles
    <!-- compile continue -->    it compiles after the marked blocks of the page so far (since the last plain 'compile' or 'run')
    <!-- run -->                 it is a program that prints what the ```text block after it says
    <!-- run continue -->        so is it, after the blocks so far
    <!-- reject: regex -->       it must not compile: exactly one error, and the output matches
    <!-- reject continue: regex -->
                                 and where lines '    umbel: ...' come after it, that is what g++ says

Blocks that are rejected, or run and continue, are not there for the blocks after them. A block without an #include of its own gets
the usual first lines (PREAMBLE).

    snippets.py PROJECT_ROOT -- COMPILER ARGUMENTS...
"""
import itertools
import pathlib
import re
import subprocess
import sys
import tempfile

from precompiled import precompiled
from tap import Tap, compile_text, split_command

PREAMBLE = """#include <umbel/umbel.hpp>
using namespace umbel;
using namespace umbel::axes;
using namespace umbel::literals;
"""
README_AT_MOST = 7000  # bytes: what a newcomer reads
MARK = re.compile(r"^\s*<!-- (compile|run|reject)( continue)?(?:: (.*?))? -->\s*$")


def fenced(lines, kind):
    """The text of the fence that begins the lines, and the lines after it; (None, lines) where there is none."""
    if lines[:1] != [f"```{kind}"] or "```" not in lines:
        return None, lines
    end = lines.index("```")
    return "".join(f"{line}\n" for line in lines[1:end]), lines[end + 1:]


def blocks_of(text):
    """(line, kind, continues, regex, code, said) of each marked block; what is not there is None. said: what a program
    prints, or the sentence that refuses it."""
    lines = text.splitlines()
    for at, line in enumerate(lines):
        if not (mark := MARK.match(line)):
            continue
        kind, continues, regex = mark[1], bool(mark[2]), mark[3]
        code, rest = fenced([later.rstrip() for later in lines[at + 1:]], "cpp")
        while rest[:1] == [""]:
            rest = rest[1:]
        said = fenced(rest, "text")[0] if kind == "run" else None
        if kind == "reject" and rest and rest[0].startswith("    umbel: "):
            said = " ".join(line.strip() for line in itertools.takewhile(lambda line: line.startswith("    "), rest))
        yield at + 1, kind, continues, regex, code, said


def verdict(kind, regex, said, code, output):
    if kind != "reject":
        return "" if code == 0 else "it does not compile"
    if code == 0:
        return "it compiles"
    errors = len(re.findall(r"\berror:", output))
    if errors != 1:
        return f"{errors} errors, want exactly 1"
    if said and '{"umbel: ' in output and f'{{"{said}"' not in output:  # clang says it in types
        return f"g++ does not say: {said}"
    return "" if re.search(regex, output) else f"the message does not match /{regex}/"


def run(command, program, printed):
    """What is wrong with a program that has to print something."""
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder) / "program"
        code, output = compile_text([*command, "-o", made], program)
        if code != 0:
            return f"it does not compile\n{output}"
        ran = subprocess.run([made], capture_output=True, text=True, timeout=60)
    if ran.returncode != 0:
        return f"it ends with {ran.returncode}\n{ran.stderr}"
    return "" if ran.stdout == printed else f"it prints\n{ran.stdout}"


def check_block(command, faster, kind, regex, program, said):
    """(what is wrong, what the compiler prints). faster: the command with umbel.hpp precompiled, for programs that define no macro
    of Umbel's."""
    compiler = command if "#define UMBEL_" in program else faster
    if kind == "run":
        return run(compiler, program, said), ""
    result, output = compile_text([*compiler, "-fsyntax-only"], program)
    return verdict(kind, regex, said, result, output), output


def programs_of(blocks):
    """The program of each block: with the blocks that it continues, and with the usual first lines."""
    before = ""
    for _, kind, continues, _, code, _ in blocks:
        program = (before if continues else "") + (code or "")
        if "#include" not in program:
            program = PREAMBLE + program
        yield program
        if kind == "compile" or kind == "run" and not continues:
            before = program


def check_page(tap, page, name, command, faster, has_mpi):
    """From the last block to the first: what a program that compiles begins with compiles."""
    blocks = list(blocks_of(page.read_text()))
    compiled, lines = "", []
    for (line, kind, continues, regex, code, said), program in reversed(list(zip(blocks, programs_of(blocks)))):
        title = f"{name}:{line} {kind}"
        if code is None or (kind == "reject") != bool(regex) or kind == "run" and said is None:
            lines.append((tap.check, title, False, "want a ```cpp block on the next line, a regex after 'reject:' only, "
                                                   "and a ```text block after a program that runs"))
            continue
        if "#include <umbel/mpi.hpp>" in program and not has_mpi:
            lines.append((tap.skip, title, "there is no MPI"))
            continue
        wrong, output = "", ""
        if kind != "compile" or not compiled.startswith(program):
            wrong, output = check_block(command, faster, kind, regex, program, said)
            if not wrong and kind != "reject":
                compiled = program
        lines.append((tap.check, title, not wrong, f"{wrong}\n{output}"))
    for show, *what in reversed(lines):
        show(*what)


def check_links(tap, page, name):
    """Links to files of the repository lead somewhere."""
    targets = re.findall(r"\]\((?!https?:)([^)#\s]+)", re.sub(r"(?ms)^```.*?^```|`[^`\n]*`", "", page.read_text()))
    lost = sorted({target for target in targets if not (page.parent / target).exists()})
    tap.check(f"{name} links", not lost, f"there is no {', '.join(lost)}")


def main():
    (root,), command = split_command(sys.argv[1:])
    root = pathlib.Path(root)
    tap = Tap()
    size = len((root / "README.md").read_bytes())
    tap.check("README.md stays short", size <= README_AT_MOST, f"{size:,} bytes, more than {README_AT_MOST:,}: move the rest to docs/")
    with tempfile.TemporaryDirectory() as folder:
        faster = precompiled(command, pathlib.Path(folder)) or command
        has_mpi = compile_text([*command, "-fsyntax-only"], "#include <mpi.h>\n")[0] == 0
        for page in [*sorted(root.glob("*.md")), *sorted((root / "docs").rglob("*.md")), *sorted((root / "examples").rglob("*.md"))]:
            name = page.relative_to(root).as_posix()
            check_links(tap, page, name)
            check_page(tap, page, name, command, faster, has_mpi)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
