# SPDX-License-Identifier: BSL-1.0
"""The cases of a file in one unit: one run of the compiler tells of all of them, and its output is taken apart.

Each case is the whole file in a namespace of its own, under a path of its own (`#line`), so that every error names its case.
What is given back for a case is what the compiler prints for it alone: it says only once in a unit from where a header is
included, and shows a line of source only once in a row; both are put back. An error that is the same for two cases comes only
for the first one: those without an error of their own are compiled together again. So a unit can only confirm; which case it
does not confirm has to be compiled by itself.
"""
import os
import pathlib
import re
import subprocess
import tempfile

INCLUDES = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<[^>]*>", re.M)
LOCATED = re.compile(r"^([^\s:][^:]*:\d+:\d+): (fatal error|error|warning|note): ")
INCLUDED = re.compile(r"^(?:In file included from | +from )")
# What comes before an error: in which function it is, and by which instantiations the compiler got there.
CONTEXT = re.compile(r"^[^\s:][^:]*: (?:In|At) |^[^\s:][^:]*:\d+:\d+:   |^[^\s:][^:]*:   | *\[ ?skipping ")
AT_GLOBAL_SCOPE = re.compile(r"^[^\s:][^:]*: At global scope:$")
COUNTED = re.compile(r"^\d+ (?:warnings?|errors?)\b.* generated\.$")  # clang's last line


def unit(source, cases, folder):
    """The text of all these cases of a file. What it includes comes first, outside of any namespace."""
    text = source.read_text()
    parts = [*INCLUDES.findall(text), ""]
    for case in cases:
        (folder / case).symlink_to(source.parent)
        parts.append(f"#define CASE_{case}\nnamespace case_{case} {{\n#line 1 \"{folder / case / source.name}\"\n{text}\n}}\n"
                     f"#undef CASE_{case}\n")
    return "\n".join(parts)


def diagnostics(output):
    """Lists of lines: an error or a warning, with what leads to it and its notes."""
    found, before = [], []
    for line in output.splitlines():
        located = LOCATED.match(line)
        if located and (located[2] != "note" or not found):
            found.append(before + [line])
            before = []
        elif located:
            found[-1] += before + [line]
            before = []
        elif before or INCLUDED.match(line) or CONTEXT.match(line):
            before.append(line)
        elif found and not COUNTED.match(line):
            found[-1].append(line)
    if found:
        found[-1] += before
    return found


class Reader:
    """Puts back into one diagnostic after the other what the compiler leaves out because it printed it before."""

    def __init__(self, folder):
        self.own = f"{folder}/"  # what is in the cases themselves is included from nowhere
        self.traces, self.shown, self.last = {}, {}, None

    def complete(self, lines):
        """As the compiler prints it first of all; None if that is not known."""
        start = next((n for n, line in enumerate(lines) if not INCLUDED.match(line)), len(lines))
        trace, lines = lines[:start], [line for line in lines[start:] if not AT_GLOBAL_SCOPE.match(line)]
        file = lines[0].partition(":")[0]
        if trace:
            self.traces[file] = trace
        elif not file.startswith(self.own):
            trace = self.traces.get(file)
        at = next(n for n, line in enumerate(lines) if LOCATED.match(line))
        first = LOCATED.match(lines[at])[1]
        not_shown = first == self.last and not (at + 1 < len(lines) and lines[at + 1].startswith(" "))
        shown = self.shown.get(first) if not_shown else []
        self.remember(lines)
        return None if trace is None or shown is None else [*trace, *lines[:at + 1], *shown, *lines[at + 1:]]

    def remember(self, lines):
        for number, line in enumerate(lines):
            if located := LOCATED.match(line):
                self.last = located[1]
                end = next((n for n in range(number + 1, len(lines)) if not lines[n].startswith(" ")), len(lines))
                if end > number + 1:
                    self.shown[self.last] = lines[number + 1:end]


def compile_together(command, source, cases, compiler_id, clean):
    """(case -> its output, is there an error that may be anybody's). `clean` takes the precompiled header out of an output."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        together = folder / "together.cpp"
        together.write_text(unit(source, cases, folder))
        every = ["-ferror-limit=0"] if compiler_id == "clang" else []
        run = subprocess.run([*command, *every, together], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if run.returncode != 1:  # it crashed, or a case compiles
        return {}, True
    of_a_case = re.compile(re.escape(f"{folder}/") + r"(\w+)/")
    reader, outputs, unclear, anybodys = Reader(folder), {}, set(), False
    for lines in diagnostics(clean(run.stdout + run.stderr)):
        of = set(of_a_case.findall("\n".join(lines)))
        whole = reader.complete(lines)
        if len(of) == 1 and whole:
            outputs.setdefault(of.pop(), []).extend(whole)
        else:
            anybodys = anybodys or not of
            unclear |= of
    last = ["1 error generated."] if compiler_id == "clang" else []
    return {case: of_a_case.sub(f"{source.parent}/", "\n".join([*lines, *last, ""])).replace(f"case_{case}::", "")
            for case, lines in outputs.items() if case not in unclear}, anybodys


def confirmed(command, source, cases, passes, compiler_id, clean):
    """Case -> output of those that are refused in a unit with others so that `passes(case, output)`."""
    def passing(some):
        outputs, anybodys = compile_together(command, source, some, compiler_id, clean)
        return {case: output for case, output in outputs.items() if passes(case, output)}, anybodys

    found, left = {}, list(cases)
    while len(left) > 1:
        passed, anybodys = passing(left)
        if anybodys and passed:  # it may be the second error of one of them: once more, without the others
            passed, anybodys = passing(list(passed))
        if anybodys:
            break
        found |= passed
        left = [case for case in left if case not in found]
        if len(passed) < 2:
            break
    return found


def one_by_one():
    """Is every case to be compiled by itself too? tools/test --all asks for it."""
    return os.environ.get("UMBEL_ONE_BY_ONE", "") not in ("", "0")
