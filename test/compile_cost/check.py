#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Compiling stays fast: template instantiations of some programs of bench/compile against the numbers in baseline.json.

Counts, not seconds: they are exactly the same in every run, whatever else the machine does. Those of a program are
beyond the include, so that a new header shows in the line "include" only. 2 % more are allowed (and 10 of the small
counts); more than that is either a mistake or on purpose, and then the baseline is changed by --update and the commit
says why.
Baselines are by compiler, standard library and processor; for another one there is nothing to compare, and it is
skipped. `tools/bench compile` measures what the counts stand for: seconds and memory.

    check.py -- COMPILER...             TAP: old, new and per cent of each program
    check.py --update -- COMPILER...    these counts are the baseline from now on
"""
import json
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent / "bench" / "compile")]
import sources  # noqa: E402
from compiler import Compiler, Refused  # noqa: E402
from tap import Tap, split_command  # noqa: E402

BASELINE = HERE / "baseline.json"
ALLOWED, ALWAYS = 0.02, 10
PROGRAMS = {
    "1 shape": sources.attention_shapes(1),
    "10 shapes": sources.attention_shapes(10),
    "1 layer with kernels": sources.layers(1),
    "1 attention by the function": sources.ATTENTION_FUNCTION,
    "1 attention by a formula": sources.ATTENTION_FORMULA,
    "1 multi-head attention by a formula": sources.LAYER_FORMULA,
}


def count(compiler, text):
    """All kinds together: one function more among twelve is no news."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "counted.cpp"
        source.write_text(text)
        return sum(compiler.count(source, folder).values())


def count_all(compiler):
    include = count(compiler, sources.BARE)
    return {"include": include} | {name: count(compiler, text) - include for name, text in PROGRAMS.items()}


def compare(old, new):
    """(what, passed, how to cure it) of each program of the baseline and each new one."""
    for name in {**old, **new}:
        was, now = old.get(name), new.get(name)
        if was is None or now is None:
            yield f"{name}: {was} -> {now}", False, "the baseline has other programs: --update"
            continue
        text = f"{name}: {was} -> {now} ({100 * (now - was) / was:+.1f} %)"
        yield text, now <= was + max(was * ALLOWED, ALWAYS), f"more than +{100 * ALLOWED:g} %. On purpose? --update, and say why"


def self_test(compiler):
    """Does the comparison notice what it should notice, and is the count what it says?"""
    old = {"x": 1000}
    verdicts = {now: all(passed for _, passed, _ in compare(old, {"x": now})) for now in (900, 1020, 1021)}
    if verdicts != {900: True, 1020: True, 1021: False}:
        return f"wrong verdicts: {verdicts}"
    if [all(passed for _, passed, _ in compare({"x": 100}, {"x": now})) for now in (110, 111)] != [True, False]:
        return "wrong verdict on a small count"
    if all(passed for _, passed, _ in compare(old, {**old, "y": 1})):
        return "a program without a baseline passed"
    one, two = (count(compiler, sources.attention_shapes(n)) for n in (1, 2))
    if two <= one:
        return f"one more shape does not count: {one}, {two}"
    again = count(compiler, sources.attention_shapes(2))
    return "" if again == two else f"two runs differ: {two}, {again}"


def main():
    options, command = split_command(sys.argv[1:])
    compiler = Compiler(command)
    baselines = json.loads(BASELINE.read_text()) if BASELINE.is_file() else {}
    key = f"{compiler.name}, {compiler.library}, {compiler.machine}"
    if "--update" in options:
        baselines[key] = count_all(compiler)
        BASELINE.write_text(json.dumps(dict(sorted(baselines.items())), indent=2) + "\n")
        return 0
    if key not in baselines:
        print(f"TAP version 13\n1..0 # SKIP no baseline for {key}")
        return 0
    tap = Tap()
    wrong = self_test(compiler)
    tap.check("self-test", not wrong, wrong)
    for text, passed, cure in compare(baselines[key], count_all(compiler)):
        tap.check(text, passed, cure)
    return tap.finish()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Refused as refusal:
        sys.exit(str(refusal))
