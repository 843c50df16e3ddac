#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Checks of run-time positions (docs/checking.md): in one program with files that have none, by themselves, and where
there is no operating system.

    check.py THIS_DIR NM -- COMPILER

test/unit/checking.cpp tries every access with a handler of its own.
"""
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tap import Tap, split_command  # noqa: E402

WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Werror"]
NO_SYSTEM = ["-ffreestanding", "-fno-exceptions", "-fno-rtti", "-U__unix__"]
ALLOWED = {"memcpy", "memmove", "memset", "_GLOBAL_OFFSET_TABLE_"}


def run(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout, done.stderr


def check_programs(tap, here, command, folder):
    """Linked in either order, the checked file stops at wrong positions and the other one does not."""
    objects = {}
    for name, check in (("checked", 1), ("unchecked", 0)):
        objects[name] = folder / f"{name}.o"
        # Not optimised: every inline function that a file shares is in its object.
        code, out, err = run([*command, *WARNINGS, "-O0", f"-DUMBEL_CHECK={check}", "-c", here / "files.cpp",
                              "-o", objects[name]])
        tap.check(f"the {name} file compiles", code == 0, out + err)
        if code != 0:
            return
    stops = {"element": "umbel: x(...): position 4 is outside of hidden=3",
             "name": "umbel: x(...): position 4 is outside of hidden=3",
             "selection": "umbel: select_at: position 4 is outside of hidden=3",
             "lookup": "umbel: lookup: position 4 is outside of hidden=3"}
    for order in (["checked", "unchecked"], ["unchecked", "checked"]):
        program = folder / "-".join(order)
        code, out, err = run([*command, *(objects[name] for name in order), "-o", program])
        tap.check(f"{order[0]} linked before {order[1]}", code == 0, out + err)
        if code != 0:
            return
        for what, sentence in stops.items():
            title = f"{order[0]} first, {what}"
            code, out, err = run([program, "checked", what, 4])
            tap.check(f"{title}: stopped by a trap, with a sentence", code < 0 and out == "" and err == sentence + "\n",
                      f"exit code {code}\n{out}{err}")
            code, out, err = run([program, "unchecked", what, 4])
            tap.check(f"{title}: not checked", (code, out, err) == (0, "4\n", ""), f"exit code {code}\n{out}{err}")
            code, out, err = run([program, "checked", what, 2])
            tap.check(f"{title}: a position that is there", (code, out, err) == (0, "2\n", ""), f"exit code {code}\n{out}{err}")
        for name in order:
            code, out, err = run([program, name, "attention", 0])
            tap.check(f"{order[0]} first, {name}: a layer and workspaces of the other file", (code, out, err) == (0, "0\n", ""),
                      f"exit code {code}\n{out}{err}")
        code, out, err = run([program, "checked", "attention", 1])
        tap.check(f"{order[0]} first: an executor with a piece too many is stopped",
                  code < 0 and err == "umbel: parallel: piece 2 is outside of pieces=2\n", f"exit code {code}\n{out}{err}")
        code, out, err = run([program, "checked", "handler", 4])
        tap.check(f"{order[0]} first: a handler of one file is that of the other, and the program stops when it returns",
                  code < 0 and out == f"told: {stops['element']}\n" and err == "", f"exit code {code}\n{out}{err}")


def check_without_system(tap, here, command, nm, folder):
    made = folder / "access.o"
    for check in (0, 1):
        code, out, err = run([*command, *WARNINGS, *NO_SYSTEM, "-Os", f"-DUMBEL_CHECK={check}", "-c", here / "access.cpp",
                              "-o", made])
        tap.check(f"UMBEL_CHECK={check} compiles without an operating system", code == 0, out + err)
        if code == 0:
            _, out, err = run([nm, "-C", made])
            wanted = {line.split()[-1] for line in out.splitlines() if line.split()[-2] in "Uw"}
            tap.check(f"UMBEL_CHECK={check} is linked with nothing", wanted <= ALLOWED, out + err)
            tap.check(f"UMBEL_CHECK={check}: {'' if check else 'no '}check in the object",
                      ("position_is_outside_of" in out) == bool(check), out)


def check_constant(tap, here, command):
    code, out, err = run([*command, "-fsyntax-only", "-DCASE_constant", here / "access.cpp"])
    errors = (out + err).count("error:")
    named = "position_is_outside_of" in err and "query<3>" in err and "(0, 3)" in err
    tap.check("a wrong position in a constant expression is one error that names axis and positions",
              code != 0 and errors == 1 and named, out + err)


def check_before_constructors(tap, here, command, folder):
    """Turns that a constructor computes: a call before it is stopped, whatever UMBEL_CHECK is."""
    program = folder / "at_start"
    for name, flags in (("after", []), ("before", ["-DCASE_before"]), ("before", ["-DCASE_before", "-DUMBEL_CHECK=1"])):
        code, out, err = run([*command, *WARNINGS, "-O1", *flags, here / "at_start.cpp", "-o", program])
        tap.check(f"turns {name} their constructor compile with {flags}", code == 0, out + err)
        if code == 0:
            code, out, err = run([program])
            right = (code, out) == (0, "1\n") if name == "after" else code < 0 and out == ""
            said = "umbel: rope: a call before its turns are computed\n" if "-DUMBEL_CHECK=1" in flags else ""
            tap.check(f"turns {name} their constructor with {flags}", right and err == said, f"exit code {code}\n{out}{err}")


def main():
    (here, nm), command = split_command(sys.argv[1:])
    here = pathlib.Path(here)
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        check_programs(tap, here, command, pathlib.Path(folder))
        check_without_system(tap, here, command, nm, pathlib.Path(folder))
        check_constant(tap, here, command)
        if sys.platform == "linux":  # .preinit_array is of ELF
            check_before_constructors(tap, here, command, pathlib.Path(folder))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
