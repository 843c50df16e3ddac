#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""What a program on bare metal must not have, how much stack it may take at most, and whether footprint said what the linker
gave (tools/test embedded).

    bounds.py BUILD_DIRECTORY       of a cross build, after `meson test`

For every program that was run there:

- no heap, exceptions, RTTI, run-time initialisation, standard I/O, libm, double arithmetic among its symbols and
  instructions (but for the last, where the program prints "# packs in double"), and no Boost among the headers that it was
  compiled from;
- where g++ made it, the deepest stack from its call graph (-fcallgraph-info=su): no recursion, no frame whose size is known
  at run time only, no call through a pointer; it fits what the program reserves, and what the run has painted over is
  not deeper.

Of a program, bare or not, that prints "# footprint FLASH of flash, RAM of RAM: OBJECT..." (check.hpp), the linker's sizes of
these objects, whatever their template arguments, are as said: in RAM exactly, in flash within 2 %.
"""
import itertools
import json
import pathlib
import re
import subprocess
import sys

DOUBLE = "double arithmetic"
# What a symbol of the C and C++ libraries is of, by its linker name.
BANNED = {
    "heap": r"malloc|free|calloc|realloc|memalign|aligned_alloc|posix_memalign|_?sbrk|_(malloc|free|calloc|realloc)_r"
                r"|_Zn[wa].*|_Zd[la].*",
    "exceptions": r"__cxa_(throw|rethrow|allocate_exception|begin_catch|end_catch|get_globals\w*)|__gxx_personality_\w+|_Unwind_\w+"
                  r"|_ZSt9terminatev|_ZSt\d+__throw_\w+",
    "RTTI": r"_ZT[IS].*|__dynamic_cast|_ZTVN10__cxxabiv1.*",
    "initialisation at run time": r"__cxa_guard_\w+|__cxa_atexit|atexit|_GLOBAL__sub_\w+|_ZGV.*",
    "standard I/O": r"v?[fs]?n?i?printf|puts|putchar|f(puts|putc|write|flush|open)|_write|_ZSt4c(out|err|in)|_ZNSo.*",
    "libm": r"(a?(sin|cos|tan)h?|atan2|exp(2|10|m1)?|log(2|10|1p|b)?|pow|sqrt|cbrt|erfc?|[lt]gamma|fma|fmod|f?(max|min)|fabs|floor"
            r"|ceil|l?l?rint|l?l?round|nearbyint|trunc|hypot|ldexp|frexp|scalbn)[fl]?",
    DOUBLE: r"__aeabi_c?d\w+|__aeabi_(f|u?i|u?l)2d|__\w+df[23]?|__\w+df[sd]i",
}
BANNED = {what: re.compile(names) for what, names in BANNED.items()}
DOUBLE_INSTRUCTION = re.compile(r"\tv(n?m(ul|la|ls)|f(n?m[as])|add|sub|div|neg|abs|sqrt|cmpe?|cvt\w*|rint\w)(\.\w+)*\.f64\b")


def run(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


class Linked:
    """A program as the linker made it. graphs: of calls, a file each that was compiled. prefix: of the tools."""

    def __init__(self, prefix, executable, graphs):
        symbols = run(prefix + "nm", "-P", str(executable)).splitlines()
        self.symbols = {name: int(*address[:1] or "0", 16) for name, _, *address in map(str.split, symbols)}
        self.instructions = run(prefix + "objdump", "-d", "--no-show-raw-insn", str(executable))
        self.graphs = [graph.read_text() for graph in graphs]

    def banned(self, but=None):
        """What must not be there, in words; what is allowed by `but`."""
        found = {f"{what} ({name})" for name in self.symbols for what, names in BANNED.items()
                 if what != but and names.fullmatch(name)}
        double = None if but == DOUBLE else DOUBLE_INSTRUCTION.search(self.instructions)
        if double:
            found.add(f"double arithmetic ({double[0].strip()})")
        return ", ".join(sorted(found))


class Program:
    """Of the build: what ran (name, executable, command, output), and what it is made of."""

    def __init__(self, build, log):
        self.build, self.name, self.command = build, log["name"].rpartition(" / ")[2], log["command"]
        self.executable, self.output = pathlib.Path(log["command"][-1]), log.get("stdout") or ""
        self.target = str(self.executable.relative_to(build))
        commands = run("ninja", "-C", str(build), "-t", "commands", self.target).splitlines()
        self.commands = [line for line in commands if f" {self.target}.p/" in line]  # not those that precompile
        self.precompiled = re.findall(r" -o (\S+\.(?:gch|pch)) ", "\n".join(commands))
        # Of the tools: arm-none-eabi-.
        made_for = re.search(r" --target=(\S+) ", self.commands[-1])
        self.prefix = made_for[1] + "-" if made_for else self.commands[-1].split()[0].removesuffix("g++")

    @property
    def bare_metal(self):
        return "board.ld" in self.commands[-1]

    def linked(self):
        return Linked(self.prefix, self.executable, (self.build / (self.target + ".p")).glob("*.ci"))

    def headers(self):
        objects = [re.search(r" -o (\S+\.o) ", line)[1] for line in self.commands[:-1]]
        return run("ninja", "-C", str(self.build), "-t", "deps", *objects, *self.precompiled)


def programs(build):
    with open(build / "meson-logs" / "testlog.json") as log:
        return [Program(build, test) for test in map(json.loads, log)
                if test["command"][-1].startswith(str(build)) and pathlib.Path(test["command"][-1]).is_file()]


class Stack:
    """The deepest stack below a function, and on which way."""

    def __init__(self, linked):
        self.frames, self.calls, self.problems, self.known = {}, {}, [], {}
        self.symbols = linked.symbols
        for graph in linked.graphs:
            self.read_graph(graph)
        self.read_library(linked)

    def read_graph(self, text):
        """What the compiler says. A function in two files: the larger frame."""
        for name, label in re.findall(r'^node: \{ title: "([^"]+)" label: "([^"]*)"', text, re.M):
            if frame := re.search(r"\\n(\d+) bytes \((static|dynamic|dynamic,bounded)\)", label):
                self.frames[name] = max(self.frames.get(name, 0), int(frame[1]))
                if frame[2] == "dynamic":
                    self.problems.append(f"a frame of unknown size in {name}")
        for caller, callee in re.findall(r'^edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"', text, re.M):
            self.calls.setdefault(caller, set()).add(callee)

    def read_library(self, linked):
        """libgcc's functions, of which there is no graph: what their instructions push, all of it at once."""
        places = {address: name for name, address in linked.symbols.items() if name in self.frames}
        parts = re.findall(r"^([0-9a-f]+) <([^>]+)>:\n((?:.+\n)*)", linked.instructions, re.M)
        labels = {int(address, 16): name for address, name, _ in parts}
        for name, address in linked.symbols.items():
            same = labels.get(address)
            if name not in self.frames and same and same != name and address not in places:
                self.frames[name], self.calls[name] = 0, {same}  # another name
        for (address, name, body), after in zip(parts, parts[1:] + [None]):
            if int(address, 16) in places or name in self.frames:
                continue
            body = [line for line in body.splitlines() if not re.search(r"\t(\.(word|short|byte)|nop)|^\s+\.\.\.$", line)]
            self.frames[name], self.calls[name] = sum(map(pushed, body)), set()
            for line in body:
                if re.search(r"\tblx\t[a-z]|\tjalr\t", line):  # jr is the table of a switch
                    self.calls[name].add("__indirect_call")
                # RISC-V: also a conditional branch may lead to another function.
                if target := re.search(r"\t(?:bl?(?:\.n|\.w)?|jal|j|b\w+)\t(?:\w+,)*[0-9a-f]+ <([^>+]+)>", line):
                    self.calls[name] |= {target[1]} - {name}
            falls = body and not re.search(r"\t(b(\.n|\.w)?|bx|j|jr)\t|\bpc\}?$|\tudf|\tret$", body[-1])
            if falls and after is not None:
                self.calls[name].add(after[1])

    def below(self, name, callers=()):
        """(bytes, the functions on the deepest way)."""
        if name == "__indirect_call":
            self.problems.append(f"a call through a pointer in {callers[-1]}")
            return 0, ()
        if name in callers:
            self.problems.append(f"recursion: {' -> '.join(callers[callers.index(name):] + (name,))}")
            return 0, ()
        if name not in self.known:
            if name not in self.frames and name in self.symbols:  # what is not linked is not called
                self.problems.append(f"no frame is known of {name}")
            deepest = max((self.below(callee, callers + (name,)) for callee in sorted(self.calls.get(name, ()))), default=(0, ()))
            self.known[name] = self.frames.get(name, 0) + deepest[0], (name,) + deepest[1]
        return self.known[name]


def pushed(line):
    """Bytes that an instruction moves the stack pointer down."""
    if registers := re.search(r"\t(push|stmdb(?:\.w)?\tsp!,|vpush)\s*\{([^}]*)\}", line):
        return sum(8 if name.strip().startswith("d") else 4 for name in registers[2].split(","))
    if moved := (re.search(r"\tsub(?:\.w|w)?\tsp, (?:sp, )?#(\d+)", line) or re.search(r"\[sp, #-(\d+)\]!", line) or
                 re.search(r"\taddi?\tsp,sp,-(\d+)", line)):
        return int(moved[1])
    return 0


def check(program):
    """(passed, what) of each promise."""
    linked = program.linked()
    allowed = DOUBLE if "\n# packs in double\n" in program.output else None
    found = linked.banned(but=allowed)
    yield not found, "no " + ", ".join(what for what in BANNED if what != allowed) + (f": found {found}" if found else "")
    yield "/boost/" not in program.headers(), "no header of Boost"
    if not linked.graphs:  # by clang, which does not say what a function takes of the stack
        return

    stack = Stack(linked)
    of_main, way = stack.below("main")
    whole, _ = stack.below("start")
    painted = int(re.search(r"^# stack (\d+)$", program.output, re.M)[1])
    reserved = linked.symbols["STACK"]
    problems = "; ".join(dict.fromkeys(stack.problems))
    yield not problems, "a stack whose depth is known" + (f": {problems}" if problems else "")
    yield painted <= of_main, f"the stack was {painted} bytes deep, at most {of_main} by the call graph"
    yield whole <= reserved, f"the deepest stack, {whole} bytes with the start's, fits the {reserved} reserved"
    if "--ways" in sys.argv:
        for name in way:
            print(f"# {stack.frames[name]:6} {run('c++filt', name).strip()[:120]}")


def check_footprint(program):
    """(passed, what): what footprint said, and the linker's sizes of the objects."""
    said = re.search(r"^# footprint (\d+) of flash, (\d+) of RAM: (.+)$", program.output, re.M)
    if said is None:
        return
    flash, ram, objects = int(said[1]), int(said[2]), set(said[3].split())
    symbols = run(program.prefix + "nm", "-S", "-C", str(program.executable))
    sizes, found = {"flash": 0, "RAM": 0}, set()
    for size, kind, name in re.findall(r"^[0-9a-f]+ ([0-9a-f]+) (\w) (.+)$", symbols, re.M):
        name = re.sub(r"<.*|\[abi:\w+\]", "", re.sub(r"umbel::\w+_[0-9a-f]{10,12}::", "umbel::", name))
        if name in objects:
            sizes["RAM" if kind in "bBdD" else "flash"] += int(size, 16)
            found.add(name)
    if missing := ", ".join(sorted(objects - found)):
        yield False, f"no object is called {missing}"
    yield ram == sizes["RAM"], f"footprint says {ram:,} bytes of RAM, the linker {sizes['RAM']:,}"
    yield abs(flash - sizes["flash"]) <= 0.02 * flash, f"footprint says {flash:,} bytes of flash, the linker {sizes['flash']:,}"


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    failed, depths = False, []
    for program in programs(build):
        for passed, what in itertools.chain(check(program) if program.bare_metal else (), check_footprint(program)):
            failed |= not passed
            print(f"{'ok' if passed else 'not ok'} - {program.name}: {what}")
            if depth := re.match(r"the stack was (\d+) bytes deep, at most (\d+)", what):
                depths.append(f"{program.name} {depth[1]} of at most {depth[2]}")
    if depths:
        print(f"# bytes of stack: {', '.join(depths)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
