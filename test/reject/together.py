# SPDX-License-Identifier: BSL-1.0
"""The cases of a file in one unit: one run of the compiler tells of all of them, and its output is taken apart.

Each case is the whole file in a namespace of its own, under a path of its own (`#line`), so that every error names its case.
What is given back for a case is what the compiler prints for it alone: it does not say again from where a header is included,
nor show the same line of source twice in a row; both are put back. An error that is the same for two cases comes only
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
    """Lists of messages: an error or a warning, then its notes. A message: (lines before it, its line, lines after it)."""
    found, before = [], []
    for line in output.splitlines():
        if located := LOCATED.match(line):
            if located[2] != "note" or not found:
                found.append([])
            found[-1].append((before, line, []))
            before = []
        elif before or INCLUDED.match(line) or CONTEXT.match(line):
            before.append(line)
        elif found and not COUNTED.match(line):
            found[-1][-1][2].append(line)
    if found:
        found[-1][-1][2].extend(before)
    return found


class Reader:
    """Puts back into one diagnostic after the other what the compiler leaves out because it printed it before."""

    def __init__(self, compiler_id, folder):
        self.compiler_id = compiler_id
        self.own = f"{folder}/"  # what is in the cases themselves is included from nowhere
        self.traces = {}  # of clang: file -> the lines that say from where it is included, all of them each time
        self.parents = {}  # of g++, which names each #include only once: file -> what includes it, as "path:line"
        self.shown, self.last = {}, None  # location -> the lines of source, and the location shown last

    def complete(self, messages):
        """The lines as the compiler prints them if it has printed nothing yet; None if they are not known."""
        lines, seen = [], set()
        for number, (before, line, after) in enumerate(messages):
            trace = [each for each in before if INCLUDED.match(each)]
            context = [each for each in before if not INCLUDED.match(each) and not AT_GLOBAL_SCOPE.match(each)]
            location = LOCATED.match(line)[1]
            file = location.rsplit(":", 2)[0]
            self.learn(file, trace)
            if not after and location == self.last and number == 0:
                after = self.shown.get(location)
            elif after and after[0].startswith(" "):
                self.shown[location] = after
            self.last = location
            if self.compiler_id == "gcc":
                trace = self.trace_of_gcc(file, seen)
            elif number == 0 and not trace and not file.startswith(self.own):
                trace = self.traces.get(file)
            if trace is None or after is None:
                return None
            lines += [*trace, *context, line, *after]
        return lines

    def learn(self, file, trace):
        if not trace:
            return
        self.traces[file] = trace
        for each in trace if self.compiler_id == "gcc" else ():
            by = INCLUDED.sub("", each).rstrip(",:")
            self.parents.setdefault(file, by)
            file = by.rpartition(":")[0]

    def trace_of_gcc(self, file, seen):
        """What g++ prints when it has named the includes of the files in `seen`, which grows; None if it is not known."""
        trace = []
        if not file.startswith(self.own) and file not in self.parents:
            return None
        while file in self.parents and file not in seen:
            seen.add(file)
            trace.append(f"{'In file included' if not trace else '                '} from {self.parents[file]},")
            file = self.parents[file].rpartition(":")[0]
        return [*trace[:-1], trace[-1][:-1] + ":"] if trace else []


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
    reader, outputs, unclear, anybodys = Reader(compiler_id, folder), {}, set(), False
    for messages in diagnostics(clean(run.stdout + run.stderr)):
        of = {case for before, line, after in messages for each in (*before, line, *after) for case in of_a_case.findall(each)}
        whole = reader.complete(messages)
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
