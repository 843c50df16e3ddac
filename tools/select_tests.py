#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Which tests are meant, and what has to be built for them: read from a configured build directory.

    select_tests.py BUILD [--suite SUITE]... [--no-suite SUITE]... [NAME]...

NAME is a test, a folder of tests, or a case of a file of reject: reject/shapes/split_uneven. Without a name: every test of
the suites; without a suite: of all suites. Prints "test NAME", "target PATH" and "case FILE/CASE" lines; exit code 1, and a
sentence on standard error, when something is named that does not exist, or when nothing is left. (Whether a file has the
case, its test says.)
"""
import argparse
import difflib
import json
import pathlib
import sys


def suites_of(test):
    """'umbel:unit' -> 'unit'."""
    return {suite.partition(":")[2] or suite for suite in test["suite"]}


def matches(name, test_name):
    return test_name == name or test_name.startswith(name.rstrip("/") + "/")


def split_case(name, known):
    """reject/shapes/split_uneven -> the test reject/shapes and shapes/split_uneven; any other name as it is, and None."""
    test, _, case = name.rpartition("/")
    is_case = name not in known and test.startswith("reject/") and test in known
    return (test, name.removeprefix("reject/")) if is_case else (name, None)


def unknown(what, name, known):
    close = difflib.get_close_matches(name, sorted(known), n=3, cutoff=0.5)
    return f"there is no {what} {name}" + (f"; did you mean {' or '.join(close)}?" if close else "")


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


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--suite", action="append", default=[])
    parser.add_argument("--no-suite", action="append", default=[])
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
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
