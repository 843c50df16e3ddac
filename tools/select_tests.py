#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Which tests are meant, and what has to be built for them: read from a configured build directory.

    select_tests.py BUILD [--suite SUITE]... [--no-suite SUITE]... [NAME]...
    select_tests.py --before ...       the same, before there is such a directory: refuses what is surely wrong, and prints nothing

NAME is a test, a folder of tests, or a case of a file of reject: reject/shapes/split_uneven. Without a name: every test of
the suites; without a suite: of all suites. Prints "test NAME", "target PATH" and "case FILE/CASE" lines; exit code 1, and a
sentence on standard error, when something is named that does not exist, or when nothing is left. (Whether a file has the
case, --before says.)
"""
import argparse
import difflib
import json
import pathlib
import re
import sys

sys.dont_write_bytecode = True
import command_line  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent


def suites_of(test):
    """'umbel:unit' -> 'unit'."""
    return {suite.partition(":")[2] or suite for suite in test["suite"]}


def matches(name, test_name):
    return f"{test_name}/".startswith(f"{name}/")


def split_case(name, known):
    """reject/shapes/split_uneven -> the test reject/shapes and shapes/split_uneven; any other name as it is, and None."""
    test, _, case = name.rpartition("/")
    is_case = name not in known and test.startswith("reject/") and test in known
    return (test, name.removeprefix("reject/")) if is_case else (name, None)


def unknown(what, name, known, where=""):
    close = difflib.get_close_matches(name, sorted(known), n=3, cutoff=0.5)
    return (f"there is no {what} {name}" if name else f"the name of a {what} is empty") + where + (
        f"; did you mean {' or '.join(close)}?" if close else "")


def select(tests, names, suites, excluded):
    """(the tests meant, complaints)."""
    known_names = {test["name"] for test in tests}
    known_suites = set().union(*map(suites_of, tests))
    wrong = [unknown("test", name, known_names) for name in names
             if not any(matches(name, known) for known in known_names)]
    wrong += [unknown("suite", suite, known_suites) for suite in [*suites, *excluded] if suite not in known_suites]
    chosen = [test for test in tests
              if (not names or any(matches(name, test["name"]) for name in names))
              and (not suites or suites_of(test) & set(suites))
              and not suites_of(test) & set(excluded)]
    if not wrong and not chosen:
        wrong.append("no test is in all that was asked for")
    return chosen, wrong


# ---- before there is a build directory ------------------------------------------------------------------
def written():
    """What the files of Meson say before it reads them: names of tests, what others begin with, and suites."""
    text = "\n".join(re.sub(r"#.*", "", file.read_text(encoding="utf-8")) for folder in ("test", "examples")
                     for file in sorted((ROOT / folder).rglob("meson.build")))
    names = set(re.findall(r"\btest\('([^']+)',", text))
    for files in re.findall(r"^ *(?:static|reject|unit|law|golden|uses|system)_files \+?= (\[.*?\]|'[^']*')", text, re.M | re.S):
        names |= set(re.findall(r"'([^']+)\.cpp'", files))
    names |= set(re.findall(r"'([^']+)':", re.search(r"^lint = \{.*?^\}", text, re.M | re.S)[0]))
    begins = set(re.findall(r"\btest\('([^']+)' *[+/]", text))
    # Of a suite the file says the word, or it is the folder of the test, or the key of a list that is gone through.
    suites = set(re.findall(r"'(\w+)'", " ".join(re.findall(r"suite:.*", text)))) | set(re.findall(r"'(\w+)':", text))
    return names, begins, suites | {name.partition("/")[0] for name in names if "/" in name}


def surely_wrong(given, suites, excluded):
    names, begins, known = written()
    wrong = []
    for test, case in (split_case(name, names) for name in given):
        if not any(matches(test, name) for name in names) and not any(
                test and (test.startswith(begin) or matches(test, begin)) for begin in begins):
            wrong.append(unknown("test", test, names))
        elif case:
            file = ROOT / "test" / f"{test}.cpp"
            cases = set(re.findall(r"\bCASE_(\w+)", file.read_text(encoding="utf-8")))
            if (asked := case.rpartition("/")[2]) not in cases:
                wrong.append(unknown("case", asked, cases, f" in {file.relative_to(ROOT)}"))
    return wrong + [unknown("suite", suite, known) for suite in [*suites, *excluded] if suite not in known]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    if before := sys.argv[1:2] == ["--before"]:
        del sys.argv[1]
    else:
        parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--suite", action="append", default=[])
    parser.add_argument("--no-suite", action="append", default=[])
    parser.add_argument("names", nargs="*")
    options = parser.parse_intermixed_args()
    options.names = [name.rstrip("/") for name in options.names]
    if before:
        if wrong := surely_wrong(options.names, options.suite, options.no_suite):
            command_line.refuse("tools/test", "; ".join(wrong))
        return 0
    info = options.build / "meson-info"
    tests = json.loads((info / "intro-tests.json").read_text())
    known = {test["name"] for test in tests}
    names, cases = zip(*(split_case(name, known) for name in options.names)) if options.names else ((), ())
    # Who names a file and a case of it wants the whole file.
    cases = [case for name, case in zip(options.names, cases) if case and name.rpartition("/")[0] not in options.names]
    chosen, wrong = select(tests, names, options.suite, options.no_suite)
    if wrong:
        print("\n".join(wrong), file=sys.stderr)
        return 1
    needed = set().union(*(test["depends"] for test in chosen))
    build = options.build.resolve()
    for test in chosen:
        print("test", test["name"])
    for case in cases:
        print("case", case)
    for target in json.loads((info / "intro-targets.json").read_text()):
        if target["id"] in needed:
            for path in target["filename"]:
                print("target", pathlib.Path(path).relative_to(build).as_posix())
    return 0


if __name__ == "__main__":
    sys.exit(main())
