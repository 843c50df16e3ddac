#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The stages of the tests, at most two side by side: tools/test --ci, --all and --stage run them.

    stages.py ci | all [--again]   runs what .ci/run has, or every stage; `all` leaves out those that have passed with the same
                                   files, so that it goes on where it was stopped, and --again runs them all the same
    stages.py stage NAME           runs one
    stages.py stages               a line a stage: its name, who has it, the arguments of tools/test
    stages.py table                the table of CONTRIBUTING.md; --check: does CONTRIBUTING.md have it?

What a stage prints comes when it ends. The last line is "N passed, N failed", over all of them.
"""
import dataclasses
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time

import command_line
import progress

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "build" / "stages"
CLOSING_LINE = re.compile(r"^(\d+) passed, (\d+) failed(?:, \d+ skipped)?$")


@dataclasses.dataclass(frozen=True)
class Stage:
    name: str
    ci: bool  # or only `tools/test --all`
    arguments: str  # of tools/test
    proves: str


# Kernels and layers: what multiplies, and so may fuse.
NOT_FUSED = " ".join(sorted(path.relative_to(ROOT / "test").with_suffix("").as_posix() for pattern in (
    "unit/kernel_*", "unit/simd_*", "unit/half*", "golden/attention*", "golden/blocks*", "golden/tiny*") for path in (ROOT / "test").glob(pattern + ".cpp")))

# Those of many minutes begin first. Nothing is compiled twice for one answer: that optimising changes no result, and that two
# compilers and two targets compute the same, is what `bits` proves, so that the rest is compiled as is cheapest.
STAGES = (
    Stage("lint", True, "--lint", "format, lists of files, includes, names and generated pages, before anything is compiled"),
    Stage("sanitizers", True, "--compiler clang++ --sanitize --suite unit --suite law --suite fuzz",
          "units and laws without memory errors or undefined behavior, of which those of files, texts and plans only here; "
          "file readers on hostile files"),
    Stage("proofs", True, "--optimization 1 --suite bits --suite dispatch --suite examples --suite export --suite import "
          "--suite formulas_some --suite counts --suite system --suite frames --suite package --suite tools --suite bench --suite one_header "
          "--suite misuse --suite march --no-suite alone",
          "equal bits for compilers, levels and instruction sets; equal instructions for all values; programs "
          "as users write and install them"),
    Stage("clang++", True, "--compiler clang++ --suite static --suite reject --suite alone --suite asm --suite checking --suite gdb "
          "--suite compile_cost --suite snippets --suite golden --suite plain --suite uses --suite mpi",
          "clang's messages and code; parity with the frameworks; every use of every block; MPI ranks"),
    Stage("g++", True, "--daily --no-suite golden --no-suite lint --no-suite any_compiler --suite realtime --suite compile_cost",
          "kernels, layers, short laws and error messages with g++; no allocation, lock or system call, and a bounded stack, which is hardest without optimization"),
    Stage("embedded", True, "embedded", "one target of each instruction set, in emulators"),
    Stage("not fused", True, "--compiler clang++ --march none " + NOT_FUSED, "the second set of bits, without fused multiply-adds"),
    Stage("page", True, "page", "the demo in a browser"),
    Stage("all g++", False, "--optimization 2 --one-by-one --suite static --suite reject --suite unit --suite law --suite golden --suite formulas "
          "--suite bits_more --suite import_more --suite counts_more --suite examples --suite checking --suite gdb --suite snippets "
          "--suite alone --suite asm --suite asm_more --suite misuse",
          "the same with g++, optimized"),
    Stage("all uses", False, "--suite uses --suite mpi", "every use of every block and MPI ranks, with g++"),
    Stage("all clang++", False, "--compiler clang++ --optimization 1 --one-by-one --suite unit --suite law --suite examples "
          "--suite realtime --suite reject --suite misuse --suite one_header --suite counts --suite counts_more --suite asm_more",
          "the same with clang, optimized"),
    Stage("all not fused", False, "--march none " + NOT_FUSED + " formulas/1", "the same with g++"),
    Stage("all embedded", False, "embedded --all", "every target, with two compilers and code sizes"),
    Stage("all newer compilers", False, "debian-13", "g++ 13 and 14, in a Debian 13 root"),
)


def find(name):
    for stage in STAGES:
        if stage.name == name:
            return stage
    command_line.refuse("tools/test --stage", f"there is no stage {name}; the stages are: {', '.join(stage.name for stage in STAGES)}")


def state_of_the_files():
    """One word for what git sees of the working tree: the committed files, and what differs from them. Nothing without git."""
    def git(*arguments):
        return subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, check=True).stdout
    try:
        digest = hashlib.sha256(git("rev-parse", "HEAD^{tree}") + git("diff", "HEAD"))
        for name in git("ls-files", "-z", "--others", "--exclude-standard").split(b"\0")[:-1]:
            digest.update(name + (ROOT / os.fsdecode(name)).read_bytes())
        return digest.hexdigest()
    except (OSError, subprocess.CalledProcessError):
        return ""


def result_file(stage):
    return RESULTS / f"{stage.name.replace(' ', '-')}.json"


def result_of(stage):
    try:
        return json.loads(result_file(stage).read_text())
    except (OSError, ValueError):
        return {"passed": 0, "failed": 1, "state": ""}


def run_one(stage):
    """Its output, the time that it took, and its result into build/stages."""
    print(f"== {stage.name}: {stage.proves}", flush=True)
    result_file(stage).unlink(missing_ok=True)
    state, start, last = state_of_the_files(), time.monotonic(), ""
    child = subprocess.Popen(["bash", ROOT / "tools" / "test", *stage.arguments.split()], stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    for line in child.stdout:
        last = line.strip() or last
        print(line, end="", flush=True)
    _, status, used = os.wait4(child.pid, 0)
    found = CLOSING_LINE.match(last)
    passed, failed = map(int, found.groups()) if found else (0, 1)
    # A run that did nothing, or that says all is well and ends badly, is a failure.
    if failed == 0 and (status != 0 or passed == 0):
        failed = 1
    print(f"   {stage.name}: {time.monotonic() - start:.0f} s, {used.ru_utime + used.ru_stime:.0f} s of processor time", flush=True)
    RESULTS.mkdir(parents=True, exist_ok=True)
    result_file(stage).write_text(json.dumps({"passed": passed, "failed": failed, "state": state}))
    return int(failed != 0)


def run(which, again):
    chosen = [stage for stage in STAGES if which == "all" or stage.ci]
    here = state_of_the_files()
    done = [stage for stage in chosen if which == "all" and not again and here
            and result_of(stage)["state"] == here and result_of(stage)["failed"] == 0]
    for stage in done:
        print(f"== {stage.name}: has passed with these files (--again runs it once more)", flush=True)
    left = [stage for stage in chosen if stage not in done]
    processors = len(os.sched_getaffinity(0))
    side_by_side = min(2, processors)
    os.environ["UMBEL_JOBS"] = str(processors // side_by_side)
    command = ["--", sys.executable, __file__, "stage"]
    # Before anything is compiled; and it installs what all of them need.
    first = [stage.name for stage in left if stage.arguments == "--lint"]
    rest = [stage.name for stage in left if stage.arguments != "--lint"]
    for stage in left:
        result_file(stage).unlink(missing_ok=True)
    for names in filter(None, (first, rest)):
        progress.pool(f"tools/test --{which}", side_by_side, *names, *command)
    results = {stage.name: result_of(stage) for stage in chosen}
    for name, result in results.items():
        if result["failed"]:
            print(f"failed: {name}; tools/test --stage '{name}' runs it again")
    failed = sum(result["failed"] for result in results.values())
    print(f"{sum(result['passed'] for result in results.values())} passed, {failed} failed")
    return int(failed != 0)


def table():
    rows = ["| stage | in CI | proves |", "|---|---|---|"]
    return "\n".join(rows + [f"| {stage.name} | {'yes' if stage.ci else ''} | {stage.proves} |" for stage in STAGES])


def main():
    command, *arguments = sys.argv[1:] or ["--help"]
    if {"-h", "--help"} & {command, *arguments}:
        print(__doc__)
        return 0
    wrong = [word for word in arguments if word not in {"all": ["--again"], "table": ["--check"]}.get(command, [])]
    if command == "stage" and len(arguments) != 1:
        command_line.refuse("tools/test --stage", "wants the name of one stage; tools/test --stages lists them")
    if command != "stage" and wrong:
        command_line.refuse(f"tools/test --{command}", f"there is no option {wrong[0]}")
    try:
        if command in ("ci", "all"):
            return run(command, "--again" in arguments)
        if command == "stage":
            return run_one(find(arguments[0]))
    except KeyboardInterrupt:
        how = {"all": "goes on with the stages that are left", "ci": "begins anew", "stage": "begins the stage anew; what is compiled stays"}
        print(f"stopped; tools/test --{command} {how[command]}")
        return progress.INTERRUPTED
    if command == "stages":
        for stage in STAGES:
            print(f"{stage.name:16} {'ci ' if stage.ci else 'all'} tools/test {stage.arguments}")
    elif command == "table":
        if "--check" not in arguments:
            print(table())
        elif table() not in (ROOT / "CONTRIBUTING.md").read_text():
            print("CONTRIBUTING.md differs from the table of tools/stages.py (python3 tools/stages.py table)")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
