#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Do views compile to the instructions of the loops written by hand?

    check.py SOURCE OBJDUMP -- COMPILER

Compiles SOURCE at -O2 into one object and compares each function view_NAME with hand_NAME: how often each opcode
occurs, nothing else. The same opcodes as often mean that the names, strides and views are gone: no call, no
multiplication, load, store or spill more, and the same decisions on vectors and unrolling. Not the text: registers
and the order of independent instructions differ between two runs of the allocator over one program. Not the time:
at this size it is noise. Left out are padding between blocks and moves from register to register, of which the
allocator makes one more or less as it orders the operands of a sum, and which the machine renames away. add and lea
count as one: which of the two is the allocator's choice too.

hand_self_test and view_self_test differ on purpose: that pair must be seen to differ. So must an element by view with
UMBEL_CHECK=1: without it, the default, no check is left.
"""
import collections
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tap import Tap, split_command  # noqa: E402

FUNCTION = re.compile(r"^[0-9a-f]+ <(\w+)>:$")
INSTRUCTION = re.compile(r"^\s+[0-9a-f]+:\s+(\S+)\s*(.*?)\s*$")
PADDING = re.compile(r"^(nop\w?|data16|cs|xchg)$")
REGISTER_MOVE = re.compile(r"^v?mov(?!s[sd])\w*$")


def opcodes(listing):
    """Function name -> how often each opcode occurs in it."""
    functions, current = {}, None
    for line in listing.splitlines():
        if start := FUNCTION.match(line):
            current = functions[start[1]] = collections.Counter()
        elif (instruction := INSTRUCTION.match(line)) and current is not None:
            opcode, operands = instruction.groups()
            moves_register = REGISTER_MOVE.match(opcode) and "(" not in operands and "$" not in operands
            if not PADDING.match(opcode) and not moves_register:
                current["add or lea" if opcode in ("add", "lea") else opcode] += 1
    return functions


def difference(hand, view):
    return ", ".join(f"{name}: {hand[name]} by hand, {view[name]} by view"
                     for name in sorted(hand | view) if hand[name] != view[name])


def main():
    (source, objdump), command = split_command(sys.argv[1:])
    tap = Tap()

    def compiled(*options):
        """The listing of SOURCE, or None."""
        with tempfile.TemporaryDirectory() as folder:
            made = pathlib.Path(folder) / "views.o"
            run = subprocess.run([*command, "-O2", *options, "-c", source, "-o", made], capture_output=True, text=True)
            tap.check(f"compiles {' '.join(options)}", run.returncode == 0, run.stderr)
            if run.returncode != 0:
                return None
            return subprocess.run([objdump, "-d", "--no-show-raw-insn", made], capture_output=True, text=True, check=True).stdout

    listing, checked = compiled(), compiled("-DUMBEL_CHECK=1")
    if listing is None or checked is None:
        return tap.finish()
    functions = opcodes(listing)
    views = sorted(name for name in functions if name.startswith("view_") and name != "view_self_test")
    tap.check("there are functions to compare", len(views) >= 4, listing)
    for name in views:
        hand = "hand_" + name.removeprefix("view_")
        differs = difference(functions.get(hand, collections.Counter()), functions[name])
        tap.check(f"{name} is {hand}", hand in functions and not differs, differs)
    tap.check("a check is seen", difference(functions["hand_element"], opcodes(checked)["view_element"]))
    tap.check("a difference is seen", difference(functions["hand_self_test"], functions["view_self_test"]))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
