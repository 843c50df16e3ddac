#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Each public header by itself and twice, two units that link, and a bare.hpp that pulls in no Boost.

    check.py INCLUDE_DIR THIS_DIR -- COMPILER ARGUMENTS...
"""
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tap import Tap, compile_text, split_command  # noqa: E402


def compile_twice(command, header):
    line = f"#include <{header}>\n"
    return compile_text([*command, "-fsyntax-only"], line + line)


def link_two_units(command, sources):
    """Two units that include the whole library must link (everything inline) and run."""
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/two_units"
        for step in ([*command, *sources, "-o", program], [program]):
            run = subprocess.run(step, capture_output=True, text=True, stdin=subprocess.DEVNULL)
            if run.returncode != 0:
                return False, run.stdout + run.stderr + f"exit code {run.returncode}"
    return True, ""


def boost_headers_of(command, header):
    code, output = compile_text([*command, "-M"], f"#include <{header}>\n")
    if code != 0:
        return output
    return "\n".join(word for word in output.split() if "/boost/" in word)


def main():
    (include_dir, here), command = split_command(sys.argv[1:])
    headers = sorted(p.relative_to(include_dir).as_posix() for p in pathlib.Path(include_dir).rglob("*.hpp"))
    tap = Tap()
    tap.check("there are headers", bool(headers), include_dir)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda header: compile_twice(command, header), headers)
        for header, (code, output) in zip(headers, results):
            tap.check(header, code == 0 and not output, output)
    linked, output = link_two_units(command, [f"{here}/one.cpp", f"{here}/two.cpp"])
    tap.check("two units link", linked, output)
    boost = boost_headers_of(command, "umbel/bare.hpp")
    tap.check("umbel/bare.hpp includes no Boost", not boost, boost)
    code, output = compile_text([*command, "-fsyntax-only", "-fno-exceptions", "-fno-rtti"],
                                "#include <umbel/bare.hpp>\n")
    tap.check("umbel/bare.hpp without exceptions and RTTI", code == 0, output)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
