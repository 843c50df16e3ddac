#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Does a forward pass take the same number of instructions whatever the values are?

    check.py SOURCE INCLUDE_DIR -- COMPILER LEVEL [-march=X]

SOURCE runs under callgrind, which counts between two of its functions (counts.hpp). It prints a line "group: pass: values"
for each count; those of one pass must be equal, but for the pass of the group `wrong`, whose must differ. Of counts that
differ, the functions are named that do. Vectors are of AVX2, if this processor has it and no -march says otherwise, as
valgrind knows no AVX-512.
Skipped where there is no valgrind.
"""
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tap import Tap, split_command  # noqa: E402

FLAGS = ["-std=c++20", "-Wno-psabi"]
COUNTS = ["--tool=callgrind", "--combine-dumps=yes", "--dump-line=no", "--compress-strings=no", "--compress-pos=no",
          "--zero-before=pass_begins", "--dump-before=pass_ends"]


def run(*command, **how):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, stdin=subprocess.DEVNULL, **how)
    return done.returncode, done.stdout, done.stderr


def builds(source, compiler):
    """Flags of the target, the first that valgrind can run. g++ copies doubles by an instruction of AVX that valgrind 3.19
    does not know (vmovq between registers)."""
    cpu = pathlib.Path("/proc/cpuinfo")
    is_chosen = any(word.startswith("-march") for word in compiler)
    if platform.machine() == "x86_64" and " avx2 " in cpu.read_text() and source.stem != "doubles" and not is_chosen:
        yield ["-march=x86-64-v3"]
    yield []


def counted(source, include_dir, compiler, folder):
    """(what it said, the parts of callgrind's file) or (None, what failed)."""
    program, file = folder / "program", folder / "counts"
    for target in builds(source, compiler):
        failed, *said = run(*compiler, *FLAGS, *target, "-I", include_dir, source, "-o", program)
        if failed:
            return None, "\n".join(said)
        # Bound at once: otherwise the first call of a function of libc counts the search for it.
        code, output, errors = run("valgrind", *COUNTS, f"--callgrind-out-file={file}", program,
                                   env={"LD_BIND_NOW": "1", "PATH": "/usr/bin:/bin"})
        if code == 0:
            parts = re.split(r"^part: ", file.read_text(), flags=re.M)
            return output, [p for p in parts if "Trigger: --dump-before=pass_ends" in p]
        if "unhandled instruction" not in errors:
            break
    return None, f"exit code {code}\n{errors}"


def instructions(part):
    return int(re.search(r"^summary: (\d+)$", part, re.M)[1])


def by_function(part):
    """{function: its own instructions, without those that it calls}"""
    counts, function, of_call = {}, None, False
    for line in part.splitlines():
        if line.startswith("fn="):
            function = line[3:]
        elif line.startswith("calls="):
            of_call = True
        elif function and re.match(r"[\d+*-]+ \d+$", line):
            if not of_call:
                counts[function] = counts.get(function, 0) + int(line.split()[1])
            of_call = False
    return counts


def difference(parts):
    """parts: {values: part of callgrind's file}"""
    lines = [f"{instructions(part):>9} {values}" for values, part in parts.items()]
    least, most = (by_function(choose(parts.values(), key=instructions)) for choose in (min, max))
    lines += [f"{least.get(f, 0)} to {most.get(f, 0)} in {f}" for f in {**least, **most} if least.get(f) != most.get(f)]
    return "\n".join(lines)


def main():
    (source, include_dir), compiler = split_command(sys.argv[1:])
    source, tap = pathlib.Path(source), Tap()
    if not shutil.which("valgrind"):
        tap.skip(source.stem, "no valgrind here")
        return tap.finish()
    with tempfile.TemporaryDirectory() as folder:
        output, parts = counted(source, include_dir, compiler, pathlib.Path(folder))
    tap.check(f"{source.stem}: it runs under callgrind", output is not None, str(parts))
    if output is None:
        return tap.finish()
    lines, passes = output.splitlines(), {}
    tap.check("each pass was counted", len(lines) == len(parts) > 100, f"{len(lines)} passes, {len(parts)} counts")
    for line, part in zip(lines, parts):
        name, values = line.rsplit(": ", 1)
        passes.setdefault(name, {})[values] = part
    for name, of_values in passes.items():
        equal = len({instructions(part) for part in of_values.values()}) == 1
        if name.startswith("wrong: "):
            tap.check(f"{name} is noticed", not equal, difference(of_values))
        else:
            tap.check(name, equal, difference(of_values))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
