#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""A layer in integers that the compiler packs without one of its ranges does not compile, and the error has the range's name.
(Not in reject/: how the compiler got there is before it.)

    missing_range.py INCLUDE_DIR -- COMPILER...
"""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tap import Tap, compile_text, split_command  # noqa: E402

TEXT = """#include <umbel/quantized.hpp>
using namespace umbel;
using namespace umbel::axes;
using map = linear<float, hidden<4>, classes<3>, bias<true>>;
constexpr map::weights weights{};
constexpr quantized<map>::ranges seen{{1.0F}, {OUTPUT}};
constexpr quantized<map> packed{weights, seen};
"""


def main():
    (include,), compiler = split_command(sys.argv[1:])
    command = [*compiler, "-std=c++20", "-fsyntax-only", "-fno-diagnostics-color", "-I", include]
    tap = Tap()
    code, out = compile_text(command, TEXT.replace("OUTPUT", "2.0F"))
    tap.check("with its ranges it compiles", code == 0, out)
    for missing in ("0.0F", "-1.0F", "__builtin_inff()", '__builtin_nanf("")'):
        code, out = compile_text(command, TEXT.replace("OUTPUT", missing))
        named = re.search(r'error: .*this_range_is_missing.*"output"', out) or re.search(r"note: .*seen\.output", out)
        tap.check(f"{missing} does not", code != 0 and named and "this_range_is_missing" in out and out.count("error:") == 1, out)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
