#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The one header of tools/amalgamate in the place of include/: it is made the same each time, and passes tests.

    check.py PROJECT_ROOT -- COMPILER...

Those tests are compiled with a folder in front in which umbel/umbel.hpp is the one header and every other header of
Umbel only includes it: some of static/, unit/ and law/, the sentences of some cases of reject/, and what alone/ asks of a
header.
"""
import concurrent.futures
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tap import Tap, compile_text, split_command  # noqa: E402

PROGRAMS = ["unit/heat_map", "unit/tensor_access", "law/heads"]  # those that compile in seconds
# Of static/: what depends on includes, macros and the words of messages. One header or many is all the same to the rest.
STATIC = ["beside_std", "concepts", "hana_door", "layouts", "macros", "sanitized", "sentences", "small_code", "tensors", "warned"]
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Werror"]


def load(path):
    """Another check.py, as a module."""
    spec = importlib.util.spec_from_file_location(path.parent.name + "_check", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def made(root, *options, hash_seed="0"):
    """What tools/amalgamate writes."""
    return subprocess.run([sys.executable, root / "tools/amalgamate", *options], check=True, capture_output=True,
                          text=True, env={**os.environ, "PYTHONHASHSEED": hash_seed}).stdout


def write_includes(root, folder, text):
    for header in (root / "include").rglob("*.hpp"):
        there = folder / header.relative_to(root / "include")
        there.parent.mkdir(parents=True, exist_ok=True)
        there.write_text("#include <umbel/umbel.hpp>\n")
    (folder / "umbel/umbel.hpp").write_text(text)


def compiler_id(compiler):
    said = subprocess.run([*compiler, "-dM", "-E", "-x", "c++", os.devnull], capture_output=True, text=True).stdout
    return "clang" if "__clang__" in said else "gcc"


def check_text(tap, root):
    text = made(root)
    tap.check("the same bytes each time", text == made(root, hash_seed="1"))
    version = subprocess.run([sys.executable, root / "tools/version.py"], capture_output=True, text=True).stdout.strip()
    first = text.splitlines()[:30]
    tap.check("version and licence on top", f"Umbel {version} " in first[1] and any("Boost Software License" in line
                                                                                   for line in first), "\n".join(first))
    always = re.sub(r"^#if .*\n#include .*\n", "", text, flags=re.M)  # without those under a condition
    standard = re.findall(r"^\s*#\s*include <([a-z_]+)>", always, re.M)
    tap.check("each header of the standard library once", len(standard) == len(set(standard)), " ".join(standard))
    tap.check("no header of Umbel's folder", not re.search(r"^\s*#\s*include <umbel/", text, re.M))


def check_macros(tap, command, include):
    """What config.hpp finds out does not depend on where its lines stand."""
    def macros(folder):
        run = subprocess.run([*command, "-I", str(folder), "-dM", "-E", "-x", "c++", "-"], capture_output=True, text=True,
                             input="#include <umbel/umbel.hpp>\n")
        return sorted(line for line in run.stdout.splitlines() if line.startswith("#define UMBEL_"))
    one, many = macros(include[0]), macros(include[1])  # one: of more than umbel.hpp
    other = sorted(set(many) - set(one))
    tap.check("the macros are those of include/", many and not other, "\n".join(other))


def check_static(root, command, identity):
    """(name, passed, output) of each file of test/static."""
    def one(source):
        flags = re.findall(rf"^// flags-{identity}: (.*)$", source.read_text(), re.M)
        run = subprocess.run([*command, *WARNINGS, *" ".join(flags).split(), "-fsyntax-only", source],
                             capture_output=True, text=True)
        return f"static/{source.stem}", run.returncode == 0, run.stderr
    return [lambda name=name: one(root / f"test/static/{name}.cpp") for name in STATIC]


def check_programs(root, command, folder):
    def one(name):
        program = folder / name.replace("/", "_")
        run = subprocess.run([*dynamic, root / f"test/{name}.cpp", folder / "main.o", "-o", program,
                              "-lboost_unit_test_framework", "-pthread"], capture_output=True, text=True)
        if run.returncode == 0:
            run = subprocess.run([program], capture_output=True, text=True)
        return name, run.returncode == 0, run.stdout + run.stderr

    dynamic = [*command, "-O0", "-DBOOST_TEST_DYN_LINK"]
    main = subprocess.run([*dynamic, "-c", root / "test/main.cpp", "-o", folder / "main.o"],
                          capture_output=True, text=True)
    if main.returncode != 0:
        return [lambda: ("Boost.Test", False, main.stderr)]
    return [lambda name=name: one(name) for name in PROGRAMS]


def check_sentences(root, command, identity, folder):
    """The first case of every third file of reject/: the words of messages are made in one place."""
    reject = load(root / "test/reject/check.py")

    def one(source, case):
        output, wrong = reject.check([*command, "-fsyntax-only"], source, case, identity, folder / "precompiled")
        return f"reject/{source.stem}/{case}", not wrong, f"{'; '.join(wrong)}\n{output}"

    (folder / "precompiled").mkdir()
    return [lambda source=source: one(source, next(iter(reject.read_cases(source))))
            for source in sorted((root / "test/reject").glob("*.cpp"))[::3] if source.stem != "mpi"]  # not in the one header


def check_alone(root, command, include, bare):
    alone = load(root / "test/alone/check.py")
    strict = [*command, *WARNINGS, "-Wshadow", "-Wsign-conversion"]

    def twice():
        code, output = alone.compile_twice(strict, "umbel/umbel.hpp")
        return "included twice", code == 0 and not output, output

    def names():
        return ("no -Wshadow whatever the user's globals are called", *alone.silent_beside_any_global(strict, include))

    def units():
        units = [root / "test/alone/one.cpp", root / "test/alone/two.cpp"]
        return ("two units link", *alone.link_two_units(command, units))

    def without_boost():
        found = alone.boost_headers_of([*command, "-I", str(bare)], "bare/umbel.hpp")
        return "--bare includes no Boost", not found, found

    def without_exceptions():
        code, output = compile_text([*strict, "-I", str(bare), "-fsyntax-only", "-fno-exceptions", "-fno-rtti"],
                                    "#include <bare/umbel.hpp>\n")
        return "--bare without exceptions and RTTI", code == 0 and not output, output

    def compiles(option, text):
        code, output = compile_text([*strict, "-I", str(bare), "-fsyntax-only"],
                                    f"#include <{option}/umbel.hpp>\n{text}")
        return f"--{option}", code == 0 and not output, output

    def files():
        return compiles("files", "const auto file = umbel::tensor_file::in_memory(nullptr, 0);\n")

    def mpi():
        return compiles("mpi", "using namespace umbel;\nusing namespace umbel::axes;\n"
                               "extern const communicator<ranks<2>>* const world;\n")

    return [twice, names, units, without_boost, without_exceptions, files, *([mpi] if alone.has_mpi(command) else [])]


def main():
    (root,), compiler = split_command(sys.argv[1:])
    root, identity = pathlib.Path(root), compiler_id(compiler)
    tap = Tap(seconds=600)
    check_text(tap, root)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_includes(root, folder / "include", made(root, "--inspect", "--weights", "--quantized", "--training"))
        (folder / "bare").mkdir()
        (folder / "bare/umbel.hpp").write_text(made(root, "--bare"))
        for option in ("files", "mpi"):
            (folder / option).mkdir()
            (folder / option / "umbel.hpp").write_text(made(root, "--bare", f"--{option}"))
        for march in ("-march=x86-64-v3", "-march=native"):
            check_macros(tap, [*compiler, "-std=c++20", march], (folder / "include", root / "include"))
        command = [*compiler, "-std=c++20", "-fno-diagnostics-color", "-I", str(folder / "include")]
        checks = (check_sentences(root, command, identity, folder) + check_static(root, command, identity)
                  + check_programs(root, [*command, "-I", str(root / "test")], folder)
                  + check_alone(root, command, folder / "include", folder))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for result in pool.map(lambda check: check(), checks):
                tap.check(*result)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
