# SPDX-License-Identifier: BSL-1.0
"""The Test Anything Protocol for the script tests here: one line a check, the plan at the end.

What is wrong goes to standard error: Meson shows that of a failed test.
"""
import subprocess
import sys


class Tap:
    """Prints one line a check; `finish()` is the exit code."""

    def __init__(self):
        self.count = self.failed = 0
        print("TAP version 13")

    def check(self, name, passed, detail=""):
        self.count += 1
        self.failed += not passed
        print(f"{'ok' if passed else 'not ok'} {self.count} - {name}")
        if not passed:
            print(f"{name}:\n{detail.rstrip()}", file=sys.stderr)

    def skip(self, name, reason):
        self.count += 1
        print(f"ok {self.count} - {name} # SKIP {reason}")

    def finish(self):
        print(f"1..{self.count}")
        return 1 if self.failed or self.count == 0 else 0


def report(results):
    """Prints them all, (name, what is wrong or nothing); the exit code."""
    tap = Tap()
    for name, wrong in results:
        tap.check(name, not wrong, wrong)
    return tap.finish()


def compile_text(command, text):
    """(exit code, output) of the compiler on a program text."""
    run = subprocess.run([*command, "-x", "c++", "-"], input=text, capture_output=True, text=True)
    return run.returncode, run.stdout + run.stderr


def split_command(arguments):
    """Arguments before '--', command after it."""
    at = arguments.index("--")
    return arguments[:at], arguments[at + 1:]
