#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The same layers on other targets, run in an emulator: the bits, and instructions for a call.

Kernel tests run on aarch64, layers on every target. Counts are exact and repeat; they say nothing of how long an
instruction takes. What fails, or a result whose bits are not those of the other targets with fma, is exit code 1.
WebAssembly has no counts but is what Node really runs, so there a picture through the demo's model is timed."""
import ast
import configparser
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools"))
import command_line  # noqa: E402
from progress import Progress  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
PAGE = ROOT / "docs" / "targets.md"
# name: compiler, flags, emulator, fma
TARGETS = {
    "x86-64 (SSE2)": ("g++", ["-march=x86-64"], ["qemu-x86_64", "-cpu", "qemu64"], False),
    "x86-64-v3 (AVX2)": ("g++", ["-march=x86-64-v3"], ["qemu-x86_64", "-cpu", "max"], True),
    "aarch64 (NEON)": ("aarch64-linux-gnu-g++", [], ["qemu-aarch64"], True),
    "aarch64, -Os, small code": ("aarch64-linux-gnu-g++", ["-Os", "-DUMBEL_SMALL_CODE=1"], ["qemu-aarch64"], True),
}
# batch, queries, keys, hidden, heads
LAYERS = {"A": (1, 16, 16, 32, 2), "B": (2, 4, 6, 100, 5), "C": (1, 32, 32, 64, 8), "D": (1, 64, 64, 64, 4)}
TESTS = ("kernel_bits", "kernel_linear", "kernel_attend", "kernel_softmax", "kernel_heads", "half")
BEGIN, END = "<!-- layers: begin (tools/bench targets --write) -->", "<!-- layers: end -->"
WASM_BEGIN, WASM_END = "<!-- wasm: begin (tools/bench targets --only-wasm --write) -->", "<!-- wasm: end -->"
WASM = {"wasm32-simd128": "with vectors of 16 bytes (simd128)", "wasm32": "without vectors"}


def flops(batch, queries, keys, hidden, heads):
    return batch * (4 * hidden * hidden * (queries + keys) + 4 * queries * keys * hidden)


def built(compiler, flags, source, program, *more):
    subprocess.run([compiler, "-static", "-std=c++20", *flags, "-I", ROOT / "include", *more, source, "-o", program],
                   check=True)


def counted(emulator, plugin, program):
    """The instructions of a call, and the hash of its result."""
    run = subprocess.run([*emulator, "-plugin", f"{plugin},function=forward", "-d", "plugin", program], check=True,
                         text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return int(re.search(r"instructions (\d+)", run.stderr)[1]), re.search(r"hash (\w+)", run.stdout)[1]


def kernel_tests(folder, progress):
    """How many of the tests failed on aarch64."""
    boost = folder / "boost_only"  # nothing else of this machine's headers
    boost.mkdir()
    (boost / "boost").symlink_to("/usr/include/boost")
    failed = 0
    for test in TESTS:
        progress.step(f"aarch64: {test}")
        built("aarch64-linux-gnu-g++", ["-O1", "-w"], ROOT / "test" / "unit" / f"{test}.cpp", folder / test,
              "-I", ROOT / "test", "-I", ROOT / "test" / "support", "-isystem", boost, "-DBOOST_TEST_MODULE=cross",
              "-include", "boost/test/included/unit_test.hpp")
        status = subprocess.run(["qemu-aarch64", folder / test, "--color_output=no"], stdout=subprocess.DEVNULL).returncode
        progress.say(f"{'ok' if status == 0 else 'not ok'} - aarch64: {test}")
        failed += status != 0
    return failed


def wasm(folder, progress):
    """The table of a picture's time in Node, and how many answers are not PyTorch's."""
    node = subprocess.run(["node", "--version"], check=True, capture_output=True, text=True).stdout.strip()
    table, wrong = [f"| WebAssembly, clang 19 `-O2`, Node {node} | ms a picture |", "|---|--:|"], 0
    for name, what in WASM.items():
        progress.step(name)
        cross = configparser.ConfigParser(interpolation=None)
        cross.read(ROOT / "cross" / f"{name}.ini")
        flags = ast.literal_eval(cross["built-in options"]["cpp_args"])
        wrapper = ast.literal_eval(cross["binaries"]["exe_wrapper"])
        program = folder / name
        subprocess.run(["clang++-19", *ast.literal_eval(cross["constants"]["target"]), "-std=c++20", "-O2", *flags,
                        "-I", ROOT / "include", HERE / "picture.cpp", "-o", program], check=True)
        run = subprocess.run([*wrapper, program], check=True, capture_output=True, text=True).stdout
        took, same = re.search(r"ms ([\d.]+) answers (\d+)", run).groups()
        progress.say(f"{'ok' if same == '20' else 'not ok'} - {name}: PyTorch's answer to all 20 pictures")
        wrong += same != "20"
        table.append(f"| {what} | {float(took):.3f} |")
    return table, wrong


def put(begin, end, table):
    before, after = PAGE.read_text().split(begin)[0], PAGE.read_text().split(end)[1]
    PAGE.write_text(f"{before}{begin}\n\n" + "\n".join(table) + f"\n\n{end}{after}")


def arguments():
    parser = command_line.Parser("tools/bench targets", __doc__)
    parser.add_argument("--write", action="store_true", help="into docs/targets.md")
    parser.add_argument("--only-wasm", action="store_true", help="only the time of a picture in WebAssembly")
    return parser.parse()


def main(options, progress):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        of_wasm, failed = wasm(folder, progress)
        progress.say("\n".join(of_wasm))
        if options.write and not failed:
            put(WASM_BEGIN, WASM_END, of_wasm)
        if options.only_wasm:
            progress.say(f"{len(WASM) - failed} passed, {failed} failed")
            return failed != 0
        failed += kernel_tests(folder, progress)
        plugin = folder / "count.so"
        subprocess.run(["gcc", "-O2", "-shared", "-fPIC", ROOT / "test" / "embedded" / "count.c",
                        "-o", plugin], check=True)
        table = ["| layer | target | instructions | flops for each | bits |", "|---|---|--:|--:|---|"]
        for layer, sizes in LAYERS.items():
            hashes = {}
            for target, (compiler, flags, emulator, fma) in TARGETS.items():
                progress.step(f"layer {layer}, {target}")
                program = folder / "forward"
                built(compiler, ["-O3", "-Wno-psabi", *flags, f"-DUMBEL_LAYER={','.join(map(str, sizes))}"],
                      HERE / "forward.cpp", program)
                each, bits = counted(emulator, plugin, program)
                hashes.setdefault(fma, set()).add(bits)
                table.append(f"| {layer} {sizes} | {target} | {each:,} | {flops(*sizes) / each:.2f} | {bits[:8]} |")
            same = all(len(of) == 1 for of in hashes.values())
            progress.say(f"{'ok' if same else 'not ok'} - layer {layer}: the same bits on all targets with fma")
            failed += not same
    progress.say("\n".join(table))
    if options.write and not failed:
        put(BEGIN, END, table)
    checks = len(WASM) + len(TESTS) + len(LAYERS)
    progress.say(f"{checks - failed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    OPTIONS = arguments()
    steps = len(WASM) + (0 if OPTIONS.only_wasm else len(TESTS) + len(LAYERS) * len(TARGETS))
    with Progress("tools/bench targets", steps) as shown:
        status = main(OPTIONS, shown)
    sys.exit(status)
