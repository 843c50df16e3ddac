#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Is every program of guards/stopped.cpp stopped, by whom and in the words that it says?

    guards.py BUILD_DIRECTORY       of a cross build for bare metal, after `meson test`

Each is compiled, linked and run as the first program of that build was. A comment in a case says what must come of it:

    // compiler: REGEX    it does not compile
    // linker: REGEX      it compiles and is not linked
    // bounds: REGEX      bounds.py bans it, whoever may have defined it; // flags: compiled with these
    // stack: REGEX       bounds.py does not accept its stack
    // run: CODE, REGEX   it ends with this exit code and prints that

The program without a case must pass all of them. And where the emulator's board was given more RAM than the real one has
(-global), the model for small boards runs without it, and the demo's ends as a fault.
"""
import pathlib
import re
import resource
import shlex
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

import bounds  # noqa: E402

SECONDS = 60  # of processor time
AT_MOST = 3600  # of wall time, for what sleeps
SOURCE = pathlib.Path(__file__).resolve().parent / "guards" / "stopped.cpp"


def cases():
    text = SOURCE.read_text()
    for name, body in re.findall(r"#(?:el)?if defined CASE_(\w+)\n(.*?)(?=\n#el)", text, re.S):
        yield name, dict(re.findall(r"^// (\w+): (.+)$", body, re.M))


class Build:
    def __init__(self, program, folder):
        compile_one, *_, link = [shlex.split(line) for line in program.commands]
        self.directory, self.prefix, self.folder = program.build, program.prefix, folder
        self.wrapper = program.command[:-1]
        source, made = compile_one.index("-c"), compile_one.index("-MD")
        # (Flags of a guard's own would not be those of what is precompiled.)
        words = compile_one[:made]
        self.compiler = [word for before, word in zip([""] + words, words)
                         if not {before, word} & {"-include", "-include-pch"}] + compile_one[source:source + 1]
        start = next(word for word in link if word.endswith("start.cpp.o"))
        self.start = [start, str(program.build / start.replace(".o", ".ci"))]
        self.linker = [word for word in link[3:] if not word.endswith(".o")]

    def run(self, *command):
        done = subprocess.run(command, cwd=self.directory, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"}, timeout=AT_MOST,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS)))
        return done.returncode, done.stdout + done.stderr

    def compile(self, name, *flags):
        self.made = str(self.folder / f"{name}.o")
        return self.run(*self.compiler, str(SOURCE), "-fdiagnostics-color=never", *flags, f"-DCASE_{name}", "-o", self.made)

    def link(self, name):
        return self.run(self.compiler[0], "-o", str(self.folder / name), self.made, self.start[0], *self.linker)

    def linked(self, name):
        return bounds.Linked(self.prefix, self.folder / name, [self.folder / f"{name}.ci", pathlib.Path(self.start[1])])

    def banned(self):
        return bounds.Linked(self.prefix, self.made, []).banned()


def said(expected, output):
    return re.search(expected, output) is not None


def stopped(build, name, expected):
    """(by whom, was it, what was said) of each guard of a case."""
    failed, output = build.compile(name)
    if "compiler" in expected:
        yield "the compiler", failed and said(expected["compiler"], output), output
    elif failed:
        yield "nobody: it does not compile", False, output
        return
    else:
        failed, output = build.link(name)
    if "linker" in expected:
        yield "the linker", failed and said(expected["linker"], output), output
    if "stack" in expected:
        stack = bounds.Stack(build.linked(name))
        stack.below("main")
        yield "bounds.py", said(expected["stack"], "; ".join(stack.problems)), output + "; ".join(stack.problems)
    if "run" in expected:
        code, words = expected["run"].split(", ", 1)
        ended, output = build.run(*build.wrapper, str(build.folder / name))
        yield f"exit code {code}", ended == int(code) and said(words, output), f"exit code {ended}: {output}"
    if "bounds" in expected:
        failed, output = build.compile(name, *expected.get("flags", "").split())
        banned = "" if failed else build.banned()
        yield "bounds.py", said(expected["bounds"], banned), output + banned


def passes(build):
    for step in (build.compile, build.link):
        failed, output = step("none")
        if failed:
            return False, output
    linked = build.linked("none")
    stack = bounds.Stack(linked)
    stack.below("start")
    ended, output = build.run(*build.wrapper, str(build.folder / "none"))
    return ended == 0 and not linked.banned() and not stack.problems, f"{output}{linked.banned()}{stack.problems}"


def on_the_real_board(build, programs):
    """(passed, what, output) of the two models in the RAM that the board has."""
    if "-global" not in build.wrapper:
        return
    more = build.wrapper.index("-global")
    for program in programs:
        if program.name in ("small_clothing", "clothing"):
            wanted = 0 if program.name == "small_clothing" else 70
            ended, output = build.run(*build.wrapper[:more], *build.wrapper[more + 2:], str(program.executable))
            yield ended == wanted, f"{program.name} on the real board ends with {wanted}", output


def main():
    programs = bounds.programs(pathlib.Path(sys.argv[1]).resolve())
    program = next(p for p in programs if not p.command[0].endswith(".py"))  # run by the emulator alone
    wrong = False

    def report(good, what, output):
        nonlocal wrong
        wrong |= not good
        print(f"{'ok' if good else 'not ok'} - guards: {what}")
        if not good:
            print("".join(f"# {line}\n" for line in output.splitlines()[:12]), end="")

    with tempfile.TemporaryDirectory() as folder:
        build = Build(program, pathlib.Path(folder))
        report(*(lambda good, output: (good, "a right program passes", output))(*passes(build)))
        for name, expected in cases():
            for who, good, output in stopped(build, name, expected):
                report(good, f"{name.replace('_', ' ')} is stopped by {who}", output)
        for good, what, output in on_the_real_board(build, programs):
            report(good, what, output)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
