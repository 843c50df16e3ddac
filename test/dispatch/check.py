#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""May files that were compiled for several instruction sets be one program?

    check.py THIS_DIR INCLUDE_DIR NM -- COMPILER

kernels.cpp is compiled for three targets, without optimisation (every inline function is emitted) and with it, by
COMPILER and by the other of g++ and clang++ where it is installed. Then

- whatever they are linked with, in whatever order, the results of each have the bits that they have in a program of
  that file alone; the linker takes the first of several functions of one name, so an order is a choice;
- no object defines a function that another target's object may take (what they share is always inlined);
- what depends on the target (workspaces, prepacked weights, layers, caches) does not link across targets.
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tap import Tap, compile_text, split_command  # noqa: E402

FLAGS = ["-std=c++20", "-Wall", "-Wextra", "-Wconversion", "-Werror"]
MARCH = {"sse2": "x86-64", "avx2": "x86-64-v3", "avx512": "x86-64-v4"}
LEVELS = ["-O0", "-O2"]

# Functions that an object may share with one of another target: they have no code to speak of.
HARMLESS = {
    "__clang_call_terminate",  # calls std::terminate
}
# Data that all objects of a program share on purpose.
SHARED_DATA = ("umbel::portable::installed_check_handler",)


def compilers(first):
    """The given one, and the other if it is there: {"gcc" or "clang": command}."""
    is_clang = "clang" in subprocess.run([*first, "--version"], capture_output=True, text=True).stdout
    other = next((name for name in (["g++"] if is_clang else ["clang++", "clang++-14"]) if shutil.which(name)), None)
    names = ["clang", "gcc"] if is_clang else ["gcc", "clang"]
    return dict(zip(names, [first] + ([[other]] if other else [])))


def run(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout, done.stderr


class Objects:
    """Compiles each (source, compiler, march, options) once, in the background."""

    def __init__(self, pool, commands, here, folder):
        self.pool, self.commands, self.here, self.folder = pool, commands, here, folder
        self.made = {}

    def get(self, source, compiler, march, *options):
        key = (source, compiler, march, *options)
        if key not in self.made:
            to = self.folder / f"{len(self.made)}.o"
            command = [*self.commands[compiler], *FLAGS, f"-march={march}", *options, "-c",
                       self.here / f"{source}.cpp", "-o", to]
            self.made[key] = (to, self.pool.submit(run, command))
        return key

    def path(self, key):
        return self.made[key][0]

    def failures(self):
        """(what, output) of each that does not compile, or has warnings."""
        for key, (_, job) in self.made.items():
            code, out, err = job.result()
            if code != 0 or err:
                yield " ".join(key), out + err


class Program:
    def __init__(self, linker, objects, keys, to):
        self.path = to
        self.linked, out, err = run([*linker, *(objects.path(key) for key in keys), "-o", to])
        self.linker_says = out + err

    def lines(self):
        """({file: {what: hash or text}}, what went wrong)."""
        if self.linked != 0:
            return {}, self.linker_says
        code, out, err = run([self.path])
        files = {}
        for line in out.splitlines():
            if match := re.fullmatch(r"(\S+) (.*?)(?:: (.*))?", line):
                files.setdefault(match[1], {})[match[2]] = match[3]
        return files, "" if code == 0 else f"exit code {code}\n{out}{err}"


NOT_HERE = "is not for this processor"


def check_results(tap, objects, commands, folder):
    """Programs of one file each, then programs of many: the same results."""
    linker = next(iter(commands.values()))
    count = 0

    def program(keys):
        nonlocal count
        count += 1
        return Program(linker, objects, keys, folder / f"program{count}")

    def main(compiler, set_):
        return objects.get("main", compiler, MARCH[set_], "-O0")

    def kernels(compiler, set_, level):
        return objects.get("kernels", compiler, MARCH[set_], level, f"-DTABLE={compiler}_{set_}")

    first = next(iter(commands))
    cannot = {set_ for set_ in MARCH
              if NOT_HERE in program([main(first, "sse2"), kernels(first, set_, "-O0")]).lines()[0].get(f"{first}_{set_}", {})}
    alone = {}  # (file, level) -> its results
    for compiler in commands:
        for set_ in MARCH:
            for level in LEVELS:
                if set_ in cannot:
                    continue
                name = f"{compiler}_{set_}"
                files, wrong = program([main(compiler, set_), kernels(compiler, set_, level)]).lines()
                alone[name, level] = files.get(name, {})
                tap.check(f"{name} {level}, alone", not wrong and len(alone[name, level]) == 16 and len(files) == 1,
                          f"{wrong}\n{files}")

    def check(title, keys, wanted):
        """wanted: {file: level}, which must be what was alone."""
        files, wrong = program(keys).lines()
        for name, level in wanted.items():
            if name.rpartition("_")[2] in cannot:
                continue
            here, there = files.get(name, {}), alone[name, level]
            wrong += "".join(f"{name}, {what}: {here.get(what)}, alone {there[what]}\n"
                             for what in there if here.get(what) != there[what])
        tap.check(title, not wrong, wrong)

    orders = {"from SSE2 up": list(MARCH), "from AVX-512 down": list(MARCH)[::-1]}
    for order, sets in orders.items():
        for compiler in commands:
            for level in LEVELS:
                check(f"{compiler} {level}, linked {order}",
                      [kernels(compiler, set_, level) for set_ in sets] + [main(compiler, "sse2")],
                      {f"{compiler}_{set_}": level for set_ in sets})
        if len(commands) == 2:
            for levels in (LEVELS, LEVELS[::-1]):
                of = dict(zip(commands, levels))
                for start in commands:
                    both = sorted(commands, key=lambda compiler: compiler != start)
                    check(f"{' and '.join(f'{c} {of[c]}' for c in both)} in one program, linked {order}",
                          [kernels(c, set_, of[c]) for c in both for set_ in sets] + [main(both[0], "sse2")],
                          {f"{c}_{set_}": of[c] for c in both for set_ in sets})

    # One name or two, what the target macros say: code may be shared if the names are equal.
    for march, table, set_ in (("haswell", "haswell_avx2", "avx2"), ("native", "native", "avx512")):
        if "avx2" in cannot and set_ == "avx2":
            continue
        other = objects.get("kernels", first, march, "-O0", f"-DTABLE={table}")
        beside = kernels(first, set_, "-O0")
        for keys in ([other, beside], [beside, other]):
            files, wrong = program([*keys, main(first, "sse2")]).lines()
            here = {what: value for what, value in files.get(table, {}).items() if not what.startswith("fused")}
            fused = any(what.startswith("fused") and value.startswith("1")
                        for what, value in files.get(table, {}).items())
            there = alone[f"{first}_{'avx2' if fused else 'sse2'}", "-O0"]
            wrong += "".join(f"{what}: {here.get(what)}, alone {there[what]}\n"
                             for what in there if what != "fused" and here.get(what) != there[what])
            tap.check(f"-march={march} beside -march={MARCH[set_]}, {'before' if keys[0] == other else 'behind'} it",
                      not wrong, wrong)

    # What fuses has the same bits everywhere (docs/numerics.md), what does not has others: the sets can be told apart.
    for fused in "01":
        same = {tuple(value for what, value in sorted(results.items()) if what != "fused")
                for results in alone.values() if (results.get("fused") or "").startswith(fused)}
        tap.check(f"fused {fused}: one set of bits", len(same) <= 1, str(alone))
    if "avx2" not in cannot:
        one, other = alone[f"{first}_sse2", "-O0"], alone[f"{first}_avx2", "-O0"]
        equal = [what for what in one if one[what] == other.get(what)]
        tap.check("with fma and without nearly every result differs", len(equal) <= 2, str(equal))


def check_symbols(tap, nm, objects, targets):
    """Weak functions are what the linker takes from one object for all."""
    for key in objects.made:
        source, compiler, march, *options = key
        code, out, err = run([nm, "-C", "--defined-only", objects.path(key)])
        names = [line.split(" ", 2)[2] for line in out.splitlines() if re.match(r"[0-9a-f]+ W ", line)]
        data = [line for line in out.splitlines() if re.match(r"[0-9a-f]+ [Vu] .*umbel", line)]
        shared = [name for name in names if targets[march] not in name and name not in HARMLESS]
        shared += [line for line in data if targets[march] not in line and not line.endswith(SHARED_DATA)]
        # A test that sees no symbol sees no wrong one.
        blind = source == "kernels" and not any(targets[march] in name for name in names)
        tap.check(f"{source}.cpp, {compiler} -march={march} {' '.join(options)}: no function that other targets may take",
                  code == 0 and not shared and not blind, "\n".join(shared) + err)


TARGET_ONLY = {**{what: f"take_{what}(" for what in ("workspace", "prepacked", "layer", "cache", "block")},
               "variable": "crossing::variable[abi:", "returned workspace": "crossing::returned[abi:"}
SHARED = ("tensor", "view", "weights", "borrowed", "mask")


def crossing_objects(objects, compiler):
    """({who gives: object}, the object that takes, for x86-64-v3)."""
    def get(march, *options):
        return objects.get("crossing", compiler, march, "-O0", *options)

    givers = {"x86-64-v3": get("x86-64-v3"), "x86-64": get("x86-64"), "x86-64, plain": get("x86-64", "-DPLAIN"),
              "small code": get("x86-64-v3", "-DUMBEL_SMALL_CODE=true")}
    return givers, get("x86-64-v3", "-DTAKES")


def check_crossing(tap, objects, commands, folder):
    linker = next(iter(commands.values()))
    for compiler in commands:
        givers, taker = crossing_objects(objects, compiler)
        for name, giver in givers.items():
            program = Program(linker, objects, [giver, taker], folder / "crossing")
            if name in ("x86-64-v3", "x86-64, plain"):
                tap.check(f"{compiler}: {name} with x86-64-v3 links", program.linked == 0, program.linker_says)
                continue
            for what, name_of_it in TARGET_ONLY.items():
                tap.check(f"{compiler}: the {what} of {name} does not link with x86-64-v3",
                          program.linked != 0 and name_of_it in program.linker_says, program.linker_says)
            missing = [what for what in SHARED if f"take_{what}(" in program.linker_says]
            tap.check(f"{compiler}: the rest of {name} does", not missing, program.linker_says)


def main():
    (here, include_dir, nm), compiler = split_command(sys.argv[1:])
    FLAGS.extend(["-I", include_dir])
    tap = Tap()
    commands = compilers(compiler)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        folder = pathlib.Path(folder)
        objects = Objects(pool, commands, pathlib.Path(here), folder)
        first = next(iter(commands))
        # The slowest first.
        for level in LEVELS[::-1]:
            for name in commands:
                for set_, march in MARCH.items():
                    objects.get("kernels", name, march, level, f"-DTABLE={name}_{set_}")
        objects.get("kernels", first, "haswell", "-O0", "-DTABLE=haswell_avx2")
        objects.get("kernels", first, "native", "-O0", "-DTABLE=native")
        for name in commands:
            for march in MARCH.values():
                objects.get("main", name, march, "-O0")
                objects.get("passing", name, march, "-O0")
            objects.get("passing", name, "x86-64-v3", "-O2")
            objects.get("passing", name, "x86-64-v3", "-O0", "-DUMBEL_CHECK=1")
            crossing_objects(objects, name)
        failures = list(objects.failures())
        tap.check(f"{len(objects.made)} objects compile", not failures, "\n".join(f"{w}:\n{o}" for w, o in failures))
        if not failures:
            targets = {}
            for march in {key[2] for key in objects.made}:
                flags = ["-std=c++20", f"-march={march}", "-I", include_dir, "-E", "-P"]
                code, text = compile_text([*commands[first], *flags], "#include <umbel/config.hpp>\nUMBEL_TARGET\n")
                targets[march] = text.split()[-1]
            tap.check("three names of targets", len({targets[march] for march in MARCH.values()}) == 3, str(targets))
            check_results(tap, objects, commands, folder)
            check_symbols(tap, nm, objects, targets)
            check_crossing(tap, objects, commands, folder)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
