#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The paper, the equation and the formula of each variant in docs/variants.md, quoted from examples/variants/*.hpp.

    variants.py            write what stands between <!-- NAME: begin --> and <!-- NAME: end -->
    variants.py --check    exit code 1 when that is not what would be written, or when a variant is missing
"""
import pathlib
import re
import sys

sys.dont_write_bytecode = True
import command_line  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/variants.md"


def quoted(text):
    """The first comment as a paragraph, equations indented, and the code."""
    comment, code = re.fullmatch(r"// SPDX.*?\n(.*?)#pragma once\n.*?using namespace umbel::axes;\n(.*?)\n}  // namespace variants\n",
                                 text, re.S).groups()
    prose = re.sub(r"^// ?", "", comment, flags=re.M)
    prose = re.sub(r"^  (?=\S)", "    ", prose, flags=re.M).strip("\n")
    return f"{prose}\n\n```cpp\n{code.strip()}\n```"


def written(page):
    for file in sorted((ROOT / "examples/variants").glob("[0-9]*.hpp")):
        begin, end = f"<!-- {file.stem}: begin (tools/variants.py) -->", f"<!-- {file.stem}: end -->"
        if page.count(begin) != 1 or page.count(end) != 1:
            sys.exit(f"{PAGE} has no place for {file.stem}: {begin} and {end}")
        head, rest = page.split(begin)
        page = f"{head}{begin}\n{quoted(file.read_text())}\n{end}{rest.split(end)[1]}"
    return page


def main():
    chosen = command_line.one_of("tools/variants.py", __doc__, "--check")
    page = PAGE.read_text()
    if chosen == "--check":
        if written(page) != page:
            sys.exit(f"{PAGE} is not what examples/variants say: run tools/variants.py")
    else:
        PAGE.write_text(written(page))


if __name__ == "__main__":
    main()
