#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Is every public name used wrongly in three programs at least? What no program has, gets no sentence.

    every_name.py

Counts the public names (docs/names.md) in the code of the wrong programs of this folder and of the cases of test/reject; a
program may count for several. EXEMPT is exempt.
"""
import collections
import pathlib
import re
import sys

TEST = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TEST), str(TEST / "misuse")]
sys.dont_write_bytecode = True
import tables  # noqa: E402
from tap import Tap  # noqa: E402

AT_LEAST = 3
EXEMPT = {
    "npos": "a number",
    "file_error": "only compared",
    "vector_bits": "only read",
    "vector_check": "has no arguments",
}
NAME = re.compile(r"^\| \[`(\w+)`\]\([^)]*\) \| (.*) \|$", re.M)
CASE = re.compile(r"^#\s*(?:if|elif)\s+defined\s*\(?\s*CASE_\w+\s*\)?\s*$", re.M)
END = re.compile(r"^#\s*(?:else|endif)", re.M)
NO_CODE = re.compile(r'//[^\n]*|"(?:\\.|[^"\\\n])*"')


def names_in(page):
    return [name for name, _ in NAME.findall(page)]


def programs_of(text):
    """The words of each case of a file."""
    for body in CASE.split(text)[1:]:
        yield set(re.findall(r"[A-Za-z_]\w*", NO_CODE.sub(" ", END.split(body)[0])))


def too_few(names, texts):
    count = collections.Counter(word for text in texts for words in programs_of(text) for word in words)
    return {name: count[name] for name in names if count[name] < AT_LEAST}


def wrong_programs():
    for folder in ("misuse", "reject"):
        for file in sorted((TEST / folder).glob("*.cpp")):
            if not file.name.startswith("right_"):
                yield tables.expanded(file.read_text())


def main():
    public = set(names_in((TEST.parent / "docs" / "names.md").read_text()))
    wanted = public - EXEMPT.keys()
    texts = list(wrong_programs())
    found = too_few(wanted, texts)
    tap = Tap()
    tap.check(f"each of {len(wanted)} names is in {AT_LEAST} wrong programs", not found,
              ", ".join(f"{name}: {count}" for name, count in sorted(found.items())))
    needless = sorted(EXEMPT.keys() - too_few(EXEMPT.keys() & public, texts).keys())
    tap.check("what is exempt is public and in fewer", not needless, ", ".join(needless))
    self_test = '#if defined CASE_a\n// it\n"it";\n#elif defined CASE_b\nit(it);\n#else\nit;\n#endif\nit;\n'
    tap.check("what is counted is code of cases, once each", too_few({"it"}, [self_test]) == {"it": 1})
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
