#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Is every test in a stage, and what .ci/run had before it was made shorter still in .ci/run or in tools/test --all?

    stages.py BUILD       TAP; BUILD: a configured build directory, whose list of tests is taken for that of all builds

stages_before.txt has the tests of .ci/run at dcc5a9a, a line each: how they were compiled, and the name.
"""
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "test")]
import select_tests  # noqa: E402
import stages  # noqa: E402
from tap import Tap  # noqa: E402

# A test that has another name now, and one that other tests have taken in, with those, apart by spaces.
RENAMED = {
    "law/attention_long": "law/attention_large",
    "law/attention_wide": "law/attention_large",
    "law/blocks": "law/encoder_layer law/linear law/operations law/positions unit/prepacked",
    "law/cache_blocks": "law/cache_of_blocks",
    "law/cache_decoders": "law/cache_of_blocks",
    "law/decoder": "law/decoder_layer",
    "law/decoder_stack": "law/layer_stack",
    "law/functions": "law/operations",
    "race_picture": "race_pages",
    "unit/initialise": "unit/initialize",
    "law/masks_drawn": "law/masks_large",
    "law/masks_wide": "law/masks_large",
    "law/quantized_cache": "law/cache law/cache_of_blocks",
    "law/quantized_decoder": "law/decoder_layer law/layer_stack law/cache_of_blocks law/quantized_limits",
}


def kind_of(options):
    """How a stage compiles: the compiler, sanitized or not, and the target if it is not this machine."""
    return " ".join([options["compiler"]] + ["sanitize"] * options["sanitize"] + [options["march"]] * (options["march"] != "native"))


def parsed(stage):
    """What tools/test makes of the arguments of a stage: it says so itself."""
    done = subprocess.run(["bash", ROOT / "tools" / "test", "--dry-run", *stage.arguments.split()], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{stage.name}: {done.stderr}")
    return json.loads(done.stdout)


def tests_of(stage, tests):
    """'g++: unit/plan' for each test that the stage runs, and complaints."""
    options = parsed(stage)
    names, suites, excluded, words = [], [], [], iter(options["selection"])
    for word in words:
        name, _, value = word.partition("=")
        if name in ("--suite", "--no-suite"):
            (suites if name == "--suite" else excluded).append(value or next(words))
        else:
            names.append(word)
    chosen, wrong = select_tests.select(tests, names, suites, excluded)
    return {f"{kind_of(options)}: {test['name']}" for test in chosen}, wrong


def main():
    tests = json.loads(pathlib.Path(sys.argv[1], "meson-info", "intro-tests.json").read_text())
    here = {test["name"] for test in tests}
    before = (ROOT / "test" / "stages_before.txt").read_text().splitlines()
    tap, run = Tap(), set()
    for stage in stages.STAGES:
        if stage.arguments.split()[:1] in (["embedded"], ["page"], ["debian-13"]):
            continue
        chosen, wrong = tests_of(stage, tests)
        run |= chosen
        tap.check(f"the stage {stage.name} selects tests", chosen and not wrong, "\n".join(wrong))
    never = sorted(here - {line.partition(": ")[2] for line in run})
    tap.check("every test is in a stage", not never, "\n".join(never))
    # Which warnings are tested depends on the compiler of this build.
    now = [f"{kind}: {one}" for kind, _, name in (line.partition(": ") for line in before) for one in RENAMED.get(name, name).split()]
    gone = sorted(line for line in set(now) - run if "static/warned/" not in line)
    tap.check("what was in .ci/run is in a stage", not gone, "\n".join(gone))
    wrong = select_tests.surely_wrong([test["name"] for test in tests], sorted(set().union(*map(select_tests.suites_of, tests))), [])
    tap.check("what there is, tools/test does not refuse before it knows", not wrong, "\n".join(wrong))
    cases = [name for name in ("unit/plan", "reject/shapes") if select_tests.select(tests, [name], ["quick"], [])[0]]
    done = subprocess.run([sys.executable, ROOT / "tools/select_tests.py", sys.argv[1], "--suite", "quick", *cases], capture_output=True, text=True)
    tap.check("a name behind a suite", done.returncode == 0 and [line for line in done.stdout.splitlines() if line.startswith("test ")] ==
              [f"test {test['name']}" for test in tests if test["name"] in cases], done.stdout + done.stderr)
    code = ("import stages, sys\ndef stop(_): raise KeyboardInterrupt\nstages.run_one = stop\n"
            "sys.argv = ['stages.py', 'stage', 'lint']\nsys.exit(stages.main())")
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT / "tools", capture_output=True, text=True)
    tap.check("Ctrl-C ends one stage, too", done.returncode == 130 and done.stdout.startswith("stopped; ") and not done.stderr, str(done))
    embedded = [stage.arguments for stage in stages.STAGES if stage.arguments.startswith("embedded")]
    tap.check("the targets are in a stage of CI, and all of them in one", {"embedded", "embedded --all"} <= set(embedded), str(embedded))
    tap.check("CONTRIBUTING.md has the table of the stages", stages.table() in (ROOT / "CONTRIBUTING.md").read_text(),
              "python3 tools/stages.py table writes it")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
