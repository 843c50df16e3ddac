# SPDX-License-Identifier: BSL-1.0
"""The Test Anything Protocol for the script tests here: one line a check, the plan at the end.

What is wrong goes to standard error: Meson shows that of a failed test.
"""
import contextlib
import io
import resource
import subprocess
import sys


def processor_seconds():
    """What this script and the programs that it started and waited for have used."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


class Tap:
    """Prints one line a check; `finish()` is the exit code.

    seconds: so much processor time may be used, by each program that the script starts and by all of them together: a busy
    machine takes no more of it, as it does of the time on the clock, whose limit (Meson's timeout) is only for what hangs."""

    def __init__(self, seconds=None):
        self.count = self.failed = 0
        self.seconds = seconds
        if seconds is not None:
            # One that computes for ever is ended by the system (SIGXCPU).
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, resource.getrlimit(resource.RLIMIT_CPU)[1]))
        print("TAP version 13")

    def check(self, name, passed, detail=""):
        self.note(name, passed, detail)
        self.check_seconds()

    def check_seconds(self):
        if self.seconds is not None and processor_seconds() > self.seconds:
            self.note("processor time", False, f"{processor_seconds():.0f} s used, {self.seconds} s allowed")
            sys.exit(self.finish())

    def note(self, name, passed, detail):
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


def run_tool(tool, name, *arguments):
    """(exit code, standard output, standard error) of a tool's main() in this process."""
    out, err, before = io.StringIO(), io.StringIO(), sys.argv
    sys.argv = [name, *map(str, arguments)]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = tool.main()
    except SystemExit as end:
        code = end.code
    finally:
        sys.argv = before
    return code, out.getvalue(), err.getvalue()
