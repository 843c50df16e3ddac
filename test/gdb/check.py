#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""What tools/gdb/umbel.py and tools/lldb/umbel.py make of tensors, views and weights.

    check.py PROGRAM_SOURCE PRINTER DEBUGGER -- COMPILER

DEBUGGER is gdb, or lldb, which prints a variable or member, and a structure in another form.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tap import Tap, split_command  # noqa: E402

# What is printed, and what for; ADDRESS stands for one.
WANTED = {
    "x": """tensor<float> [batch=2, query=2, hidden=3]
  [0, 0]  0 1 2
  [0, 1]  3 4 5
  [1, 0]  6 7 8
  [1, 1]  9 10 11""",
    "half": "tensor<double> [frames=4]\n  0.5 1.5 2.5 -1",
    "numbers": "tensor<int> [query=2, key=2]\n  [0]  1 -2\n  [1]  3 -4",
    "bytes": "tensor<signed char> [classes=3]\n  65 -1 7",
    "flags": "tensor<bool> [classes=2]\n  true false",
    "halves": "tensor<bfloat16> [classes=2]\n  1.5 0",
    "other_halves": "tensor<float16> [classes=2]\n  0 -0.25",
    "number": "tensor<float> []\n  2.5",
    "large": """tensor<float> [batch=4, query=20, hidden=10]
  [0, 0]  0 1 2 ... 7 8 9
  [0, 1]  10 11 12 ... 17 18 19
  [0, 2]  20 21 22 ... 27 28 29
  ...
  [0, 17]  170 171 172 ... 177 178 179
  [0, 18]  180 181 182 ... 187 188 189
  [0, 19]  190 191 192 ... 197 198 199
  ...
  [3, 0]  600 601 602 ... 607 608 609
  [3, 1]  610 611 612 ... 617 618 619
  [3, 2]  620 621 622 ... 627 628 629
  ...
  [3, 17]  770 771 772 ... 777 778 779
  [3, 18]  780 781 782 ... 787 788 789
  [3, 19]  790 791 792 ... 797 798 799""",
    "turned": """view<float> [hidden=3, batch=2, query=2], strides [1, 6, 3] at ADDRESS
  [0, 0]  0 3
  [0, 1]  6 9
  [1, 0]  1 4
  [1, 1]  7 10
  [2, 0]  2 5
  [2, 1]  8 11""",
    "reads": """view<const float> [batch=2, query=2, hidden=3] at ADDRESS
  [0, 0]  0 1 2
  [0, 1]  3 4 5
  [1, 0]  6 7 8
  [1, 1]  9 10 11""",
    "part": "view<float> [query=2, hidden=2], strides [3, 1] at ADDRESS\n  [0]  7 8\n  [1]  10 11",
    "nowhere": "view<float> [query=2, hidden=3] at 0x0\n  <the elements cannot be read: Cannot access memory at address 0x0>",
    "far_away": "view<double> [hidden=3] at 0x10\n  <the elements cannot be read: Cannot access memory at address 0x10>",
    "*pointer": "tensor<int> [query=2, key=2]\n  [0]  1 -2\n  [1]  3 -4",
    "*only_named": "<incomplete type>",
    "map": """linear_weights<float> [hidden=2, classes=3]
  [0]  1 2 3
  [1]  4 5 6
  bias [classes=3]
    7 8 9""",
    "w.q": "linear_weights<double> [hidden=2, hidden=2]\n  [0]  0 3\n  [1]  0 0",
    "borrowed.q": "linear_view<const double> [hidden=2, hidden=2] at ADDRESS\n  [0]  0 3\n  [1]  0 0",
    "norm.gamma": "vector_view<const float> [hidden=2] at ADDRESS\n  1.5 2",
    "both": "{counts = tensor<int> [classes=2]\n  1 2, seen = view<const int> [classes=2] at ADDRESS\n  3 -4}",
}
NOT_IN_LLDB = ("both", "*only_named")  # a structure has another form, and a type that is only named is an error
ALL_OF_LARGE = 4 * 20  # rows


def print_values(gdb, printer, program):
    """{expression: what gdb prints}, or None where it cannot run a program."""
    commands = ["set pagination off", "set width 0", f"source {printer}", "break stop", "run", "up"]
    for expression in WANTED:
        commands += [f"echo \\n== {expression}\\n", f"print {expression}"]
    commands += ["echo \\n== whole\\n", "set print elements unlimited", "print large"]
    arguments = [a for c in commands for a in ("-ex", c)]
    run = subprocess.run([gdb, "-nx", "-batch", *arguments, program], capture_output=True, text=True,
                         stdin=subprocess.DEVNULL)
    if not re.search(r"^Breakpoint 1[.0-9]*, ", run.stdout, re.M):
        return None, run.stderr
    parts = re.split(r"^== (.*)\n", run.stdout, flags=re.M)[1:]
    return dict(zip(parts[::2], parts[1::2])), run.stderr


def print_in_lldb(lldb, printer, program):
    """The same, of what `frame variable` can print."""
    commands = [f'command script import "{printer}"', "breakpoint set --name stop", "run", "up"]
    for expression in (name for name in WANTED if name not in NOT_IN_LLDB):
        commands += [f"script print('== {expression}')", f"frame variable {expression}"]
    commands += ["script print('== whole')", "settings set target.max-children-count 1000", "frame variable large"]
    arguments = [a for c in commands for a in ("-o", c)]
    # Debian's lldb does not find its own modules, and takes the libraries of the first Python in PATH.
    modules = pathlib.Path(lldb).resolve().parent.parent.glob("lib/python3*/dist-packages")
    run = subprocess.run([lldb, "--no-lldbinit", "--batch", *arguments, program], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                         env={**os.environ, "PATH": "/usr/bin:/bin", "PYTHONPATH": ":".join(map(str, modules))})
    if "stop reason = breakpoint" not in run.stdout:
        return None, run.stderr
    without_commands = re.sub(r"^\(lldb\) .*\n", "", run.stdout, flags=re.M)
    parts = re.split(r"^== (.*)\n", without_commands, flags=re.M)[1:]
    return dict(zip(parts[::2], parts[1::2])), run.stderr


def main():
    (source, printer, gdb), command = split_command(sys.argv[1:])
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/values"
        built = subprocess.run([*command, "-O0", "-g", source, "-o", program], capture_output=True, text=True)
        tap.check("the program compiles", built.returncode == 0, built.stderr)
        if built.returncode == 0:
            in_lldb = "lldb" in pathlib.Path(gdb).name
            printed, errors = (print_in_lldb if in_lldb else print_values)(gdb, printer, program)
            if printed is None:
                print("# the debugger cannot run a program here, or has no Python: nothing was printed")
                return tap.finish()
            for expression, wanted in WANTED.items():
                if in_lldb and expression in NOT_IN_LLDB:
                    continue
                pattern = re.escape(wanted).replace("ADDRESS", "0x[0-9a-f]{6,}")
                pattern = (r"\(.*\) .* = " + re.sub(r"read:.*", "read: .*>", pattern)) if in_lldb else r"\$\d+ = " + pattern
                said = printed.get(expression, "nothing").strip("\n")
                tap.check(expression, re.fullmatch(pattern, said), f"{said}\nwanted:\n{wanted}")
            rows = printed.get("whole", "").count("\n  [")
            tap.check("all elements of a large one", rows == ALL_OF_LARGE, printed.get("whole", ""))
            tap.check("no exception", not re.search("Python Exception|Traceback", errors), errors)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
