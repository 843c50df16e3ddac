#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Build the page of examples/page: its modules by clang for WebAssembly, and the data that it reads.

    page.py OUT --native PROGRAM --compiler CXX      (tools/demo page)

Into OUT: the files of examples/page as they are; NAME.wasm, and NAME.wasm.js with the same bytes in base64, since a page
that was opened from a disk may not fetch; pictures.js; figures.js with the times of PROGRAM, examples/page/native.cpp.
Prints the sizes.
"""
import argparse
import base64
import json
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCES = ROOT / "examples/page"
SAMPLES = ROOT / "examples/fashion/trained/samples.hpp"
WEIGHTS = ROOT / "examples/tiny_language_model/trained/weights.safetensors"
MODULES = {"network": "networkModule", "language": "languageModule",
           "shapes": "shapesModule"}  # a .cpp of examples/page: what its .wasm.js defines

# Only Umbel, the program and the compiler's own functions: no C library, no start-up, nothing imported. The headers of the C++
# library are used, and none of its code. The stack lies in front of the data, so that one that is too deep is a trap and not another number.
COMPILE = ["clang++-19", "--target=wasm32-wasi", "-std=c++20", "-Os", "-DNDEBUG", "-DUMBEL_SMALL_CODE=1", "-msimd128",
           "-mbulk-memory", "-fno-exceptions", "-fno-rtti", "-fvisibility=hidden", "-ffunction-sections", "-fdata-sections",
           "-Wall", "-Wextra", "-Wconversion", "-Werror", f"-I{ROOT / 'include'}"]
LINK = ["-nostdlib", "-Wl,--no-entry", "-Wl,--gc-sections", "-Wl,--strip-all", "-Wl,--stack-first", "-Wl,-z,stack-size=131072"]


def fnv1a(data):
    value = 0x811C9DC5
    for byte in data:
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return value


def run(command, **options):
    done = subprocess.run(command, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"page.py: {' '.join(map(str, command[:1]))} failed")
    return done.stdout


def pack(data, name, constant, out):
    """NAME.js, which defines a constant with these bytes."""
    packed = {"name": name, "size": len(data), "checksum": fnv1a(data), "base64": base64.b64encode(data).decode()}
    (out / f"{name}.js").write_text(f"const {constant} = {json.dumps(packed)};\n")
    print(f"{name}: {len(data):,} bytes")


def build_module(name, constant, out):
    """NAME.wasm and NAME.wasm.js."""
    wasm = out / f"{name}.wasm"
    builtins = run([*COMPILE[:2], "-rtlib=compiler-rt", "-print-libgcc-file-name"], stdout=subprocess.PIPE).strip()
    run([*COMPILE, *LINK, SOURCES / f"{name}.cpp", SOURCES / "freestanding.cpp", builtins, "-o", wasm])
    pack(wasm.read_bytes(), wasm.name, constant, out)


def numbers_of(text, name):
    body = re.search(rf"\b{name}\[[^=]*= \{{(.*?)\}};", text, re.S).group(1)
    return [int(number) for number in re.findall(r"\d+", body)]


def pictures():
    """A line of JSON, names and labels, then the pixels."""
    text = SAMPLES.read_text()
    names = re.findall(r'"([^"]*)"', re.search(r"class_names\[.*?\};", text, re.S).group(0))
    pixels = bytes(numbers_of(text, "pixels"))
    labels = numbers_of(text, "labels")
    assert len(names) == 10 and len(pixels) == 784 * len(labels)
    return json.dumps({"names": names, "labels": labels}).encode() + b"\n" + pixels


def machine():
    """What the processor calls itself."""
    try:
        found = re.search(r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    except OSError:
        found = None
    return found.group(1) if found else "an unknown processor"


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--native", required=True)
    parser.add_argument("--compiler", required=True)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for source in SOURCES.iterdir():
        if source.suffix in (".html", ".css", ".js"):
            shutil.copy(source, options.out)
    for name, constant in MODULES.items():
        build_module(name, constant, options.out)
    pack(pictures(), "pictures", "packedPictures", options.out)
    pack(WEIGHTS.read_bytes(), "language.weights", "languageWeights", options.out)
    version = run([options.compiler, "-dumpfullversion", "-dumpversion"], stdout=subprocess.PIPE).strip()
    native = {"machine": machine(), "compiler": f"{pathlib.Path(options.compiler).name} {version}",
              "microseconds": json.loads(run([options.native, "time"], stdout=subprocess.PIPE))}
    (options.out / "figures.js").write_text(f"const native = {json.dumps(native)};\n")
    print(f"the page: {options.out / 'index.html'}")


if __name__ == "__main__":
    main()
