#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Print "N passed, N failed" for a run of meson test, from its testlog.json; exit code 1 unless all of some passed.

    count_tests.py [--skipped] TESTLOG       --skipped: ", N skipped" too
    count_tests.py --failing TESTLOG         the names of the tests that failed

A test that speaks TAP counts as its checks (a Boost.Test program: its test cases), any other test as one.
"""
import json
import re
import sys

PASSED = {"OK", "EXPECTEDFAIL"}


def count(test):
    """(passed, failed, skipped) of one line of the log."""
    good = test["result"] in PASSED
    if test["result"] == "SKIP":
        return 0, 0, 1
    output = test.get("stdout") or ""
    if not output.startswith("TAP version"):
        return int(good), int(not good), 0
    skipped = len(re.findall(r"^ok\b.*# SKIP\b", output, re.M))
    passed = len(re.findall(r"^ok\b", output, re.M)) - skipped
    failed = len(re.findall(r"^not ok\b", output, re.M))
    # It ended badly without naming a check: a crash, a time-out, a sanitizer's report.
    return passed, max(failed, int(not good)), skipped


def main():
    *options, path = sys.argv[1:]
    try:
        with open(path) as log:
            tests = [json.loads(line) for line in log if line.strip()]
        if "--failing" in options:
            print("\n".join(test["name"].rpartition(" / ")[2] for test in tests if count(test)[1]))
            return 0
        counts = [count(test) for test in tests]
    except FileNotFoundError:
        print("no test ran")
        counts = [(0, 1, 0)]
    passed, failed, skipped = (sum(column) for column in zip(*counts)) if counts else (0, 0, 0)
    if passed + failed == 0:
        print("no test ran")
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if "--skipped" in options else ""))
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
