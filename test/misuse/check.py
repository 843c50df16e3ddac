#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Wrong programs as users write them, and right ones that they expect to work: how many fare as they should?

Not each must: this corpus shows classes of mistakes that the library does not know yet. test/reject holds what it knows.
A file holds its programs in one #if chain, as those of test/reject do:

    #if defined CASE_split_into_eight
    // fact: hidden=100                 the two facts that the sentence must hold, as regexes; what clang writes as
    // fact: heads=8                    hidden<100> is read as hidden=100, a_word as "a word"
    auto r = x | split<hidden, heads<8>, head_dim>;
    #elif defined CASE_...

One case may stand for a program of each row of a table (tables.py).

Of a wrong program there should be one error, Umbel's sentence in the first 3 lines, at most 12 lines, and both facts in the
sentence. A right one, in right_*.cpp, should compile. counts.json says how many did, by compiler, file and property, and
which right ones are refused; the test fails when fewer do. messages.txt has the message that g++ prints for each wrong one,
from which docs/api ranks the errors of a name. Right ones are compiled as one program, each in a namespace of
its own, and so are wrong ones (reject/together.py); what falls short there is compiled by itself, and that counts. counts.json
also says what each wrong one that falls short passes: one that passes just that among the others is not compiled again. With
UMBEL_ONE_BY_ONE=1 in the environment all are compiled by themselves, and must fare as they do together, or better.

    check.py --precompiled FOLDER FILE... -- COMPILER             TAP, one line a file
    check.py ... --update FILE... -- COMPILER                     these counts are the ones to keep
    check.py ... --failures FILE... -- COMPILER                   every program that fell short, and why
    check.py ... --only NAME FILE... -- COMPILER                  the compiler's output for one program
"""
import argparse
import concurrent.futures
import functools
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]
import tables  # noqa: E402
from precompiled import precompiled  # noqa: E402
from tap import Tap, split_command  # noqa: E402

specification = importlib.util.spec_from_file_location("reject_check", HERE.parent / "reject" / "check.py")
reject = importlib.util.module_from_spec(specification)
specification.loader.exec_module(reject)

COUNTS = HERE / "counts.json"
MESSAGES = HERE / "messages.txt"
PREAMBLE = re.compile(r"^#include <(misuse/\w+\.hpp)>", re.M)  # what a file starts with, which is precompiled
RIGHT = "right_"  # how the names of files of right programs begin
CHECKS = ("one error", "sentence", "lines", "facts")
BAD = "compiled wrongly"  # the one count that may only fall
FACT = re.compile(r"^\s*// fact: (.*?)\s*$")
# What the assertion says by itself is no sentence.
SENTENCE = re.compile(r"error: static.assert.*shape_error<|umbel: (?!shapes do not fit)")
MESSAGE = re.compile(r'"(umbel: (?!shapes do not fit)[^"]*)"|static assertion failed: (umbel: (?!shapes do not fit).*)')  # of g++


def written_out(source, folder):
    """The file itself, or one in `folder` if it has tables."""
    text = source.read_text()
    if (whole := tables.expanded(text)) == text:
        return source
    folder = folder.resolve() / "written_out"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / source.name).write_text(whole)
    return folder / source.name


def read_programs(source):
    """Name -> facts, in the order of the file."""
    programs, current = {}, None
    for number, line in enumerate(source.read_text().splitlines(), 1):
        if directive := reject.DIRECTIVE.match(line):
            if case := reject.CASE.match(directive[2]):
                current = case[1]
                if current in programs:
                    raise reject.Malformed(f"{source}:{number}: a second program {current}")
                programs[current] = []
            elif directive[1] != "endif":
                raise reject.Malformed(f"{source}:{number}: not '#if defined CASE_name': {line.strip()}")
        elif fact := FACT.match(line):
            programs[current].append(fact[1])
    for name, facts in programs.items():
        if len(facts) != (0 if is_right(source) else 2):
            raise reject.Malformed(f"{source}: {name} has {len(facts)} facts")
    return programs


def as_english(line):
    """clang's list of types in the words of the sentence."""
    line = re.sub(r"umbel::(?:\w+::)*", "", line)
    line = re.sub(r"\b(?:number|element|axis_family)<(\w+)>", r"\1", line)
    line = re.sub(r"(\w)<(\d+)>", r"\1=\2", line)
    return line + "\n" + line.replace("_", " ")


def judge(code, output, facts):
    """Which of CHECKS the refusal of a wrong program passes; BAD when there was none."""
    if code == 0:
        return {BAD}
    lines = output.splitlines()
    sentences = [number for number, line in enumerate(lines) if SENTENCE.search(line)]
    said = lines[sentences[0]] if sentences else ""
    said = said + "\n" + as_english(said)
    passed = {
        "one error": len(re.findall(r"\berror:", output)) == 1,
        "sentence": bool(sentences) and sentences[0] < reject.LINES_WITH_SENTENCE,
        "lines": len(lines) <= reject.LINES_AT_MOST,
        "facts": all(re.search(fact, said) for fact in facts),
    }
    return {name for name, holds in passed.items() if holds}


class Compiler:
    def __init__(self, command, folder):
        version = subprocess.run([command[0], "--version"], capture_output=True, text=True, check=True).stdout
        self.id = "clang" if "clang" in version else "gcc"
        self.name = f"{self.id} {re.search(r'(?:version | )([0-9]+)[.]', version)[1]}"
        self.plain = [command[0], "-I", str(HERE.parent), *command[1:], "-fsyntax-only"]
        self.folder = folder

    @functools.cache
    def command(self, preamble):
        command = precompiled(self.plain, self.folder, (HERE.parent / preamble).read_text())
        return command or sys.exit(f"{preamble} does not compile")

    def outcome(self, source, name, facts):
        """(CHECKS passed, output)"""
        code, output = reject.compile_case(self.command(preamble_of(source)), source, name)
        if is_right(source):
            return ({"compiled"} if code == 0 else set()), output
        return judge(code, output, facts), output

    def compile_together(self, source, names):
        """Do all of these right programs compile?"""
        text = "".join(f"#define CASE_{name}\nnamespace program_{name} {{\n#include \"{source}\"\n}}\n#undef CASE_{name}\n"
                       for name in names)
        with tempfile.TemporaryDirectory() as folder:
            together = pathlib.Path(folder) / "together.cpp"
            together.write_text(f"#include <{preamble_of(source)}>\n{text}")
            return subprocess.run([*self.command(preamble_of(source)), together], capture_output=True, stdin=subprocess.DEVNULL).returncode == 0

    def outcomes(self, source, programs, refused, short, pool):
        """Name -> (CHECKS passed, output). refused: those right programs that are known not to compile. short: those wrong ones
        that are known to pass only these CHECKS; one that passes just these among the others is not compiled by itself."""
        if is_right(source):
            together = [name for name in programs if name not in refused]
            if len(together) < 2 or not self.compile_together(source, together):
                together = []
            told = {name: ({"compiled"}, "") for name in together}
        else:
            command = self.command(preamble_of(source))
            told = {name: (set(CHECKS), output) for name, output in reject.together.confirmed(
                command, source, [name for name in programs if name not in short],
                lambda name, output: judge(1, output, programs[name]).issuperset(CHECKS),
                self.id, reject.without_precompiled).items()}
            if known := [name for name in programs if name in short and BAD not in short[name]]:
                outputs, _ = reject.together.compile_together(command, source, known, self.id, reject.without_precompiled)
                told |= {name: (set(short[name]), output) for name, output in outputs.items() if judge(1, output, programs[name]) == set(short[name])}
        alone = {name: facts for name, facts in programs.items() if name not in told or reject.together.one_by_one()}
        results = dict(zip(alone, pool.map(lambda item: self.outcome(source, *item), alone.items())))
        if other := [name for name in results if name in told and not results[name][0].issuperset(told[name][0])]:
            raise reject.Malformed(f"{source}: alone they fare worse than together, or than counts.json says: {', '.join(other)}")
        return {name: results.get(name, told.get(name)) for name in programs}


def preamble_of(source):
    return PREAMBLE.search(source.read_text())[1]


def is_right(source):
    return source.stem.startswith(RIGHT)


def count(source, outcomes):
    """What counts.json holds of a file."""
    if is_right(source):
        refused = sorted(name for name, (passed, _) in outcomes.items() if "compiled" not in passed)
        return {"programs": len(outcomes), "compiled": len(outcomes) - len(refused), "refused": refused}
    counts = {"programs": len(outcomes)}
    for check in CHECKS:
        counts[check] = sum(check in passed for passed, _ in outcomes.values())
    counts["all four"] = sum(passed.issuperset(CHECKS) for passed, _ in outcomes.values())
    counts[BAD] = sum(BAD in passed for passed, _ in outcomes.values())
    counts["short"] = {name: sorted(passed) for name, (passed, _) in sorted(outcomes.items()) if not passed.issuperset(CHECKS)}
    return counts


def messages_of(source, outcomes):
    """What messages.txt holds of a file: program -> message."""
    found = ((name, MESSAGE.search(output)) for name, (_, output) in outcomes.items())
    return {f"{source.stem}/{name}": message[1] or message[2] for name, message in found if message}


def read_messages():
    lines = MESSAGES.read_text().splitlines() if MESSAGES.exists() else []
    return dict(line.split(": ", 1) for line in lines if not line.startswith("#"))


def of_file(messages, source):
    return {name: message for name, message in messages.items() if name.startswith(f"{source.stem}/")}


def compare(kept, now):
    """(is nothing worse, what to say)"""
    if kept is None:
        return False, "counts.json lacks this file: --update"
    worse = [f"{what} {kept[what]} -> {now[what]}" for what in now if what not in ("refused", "short")
             if (now[what] > kept[what] if what == BAD else now[what] < kept[what])]
    better = now != kept and not worse
    return not worse, ", ".join(worse) if worse else "better than counts.json: keep it, --update" if better else ""


def failures_of(outcomes):
    for name, (passed, output) in outcomes.items():
        if not passed.issuperset(CHECKS) and "compiled" not in passed:
            missed = BAD if BAD in passed else "not: " + ", ".join(c for c in CHECKS if c not in passed)
            first = next((line for line in output.splitlines() if re.search(r"\berror:", line)), "")
            yield name, missed, first, output


def main():
    arguments, command = split_command(sys.argv[1:])
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("sources", nargs="+", type=lambda name: pathlib.Path(name).resolve())
    parser.add_argument("--precompiled", metavar="FOLDER", type=pathlib.Path, required=True)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--failures", action="store_true")
    parser.add_argument("--only", metavar="NAME")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args(arguments)
    compiler = Compiler(command, options.precompiled)
    kept = json.loads(COUNTS.read_text()) if COUNTS.exists() else {}
    if compiler.name not in kept and not (options.update or options.failures or options.only):
        if os.environ.get("CI"):
            sys.exit(f"counts.json has nothing of {compiler.name}: --update")
        print(f"1..0 # SKIP no counts for {compiler.name}")
        return 0
    messages = read_messages()
    wanted = kept.setdefault(compiler.name, {}) if options.update else kept.get(compiler.name)
    tap = None if options.failures or options.only else Tap(seconds=600)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for source in (written_out(source, options.precompiled) for source in options.sources):
            programs = {name: facts for name, facts in read_programs(source).items() if options.only in (None, name)}
            of_source = (wanted or {}).get(source.stem, {})
            short = {} if options.update or options.failures or options.only else of_source.get("short", {})
            outcomes = compiler.outcomes(source, programs, of_source.get("refused", []), short, pool)
            if options.only:
                for passed, output in outcomes.values():
                    print(output + f"passed: {', '.join(sorted(passed)) or 'nothing'}")
                continue
            if options.failures:
                for name, missed, first, _ in failures_of(outcomes):
                    print(f"{source.stem}: {name}: {missed}\n    {first}")
                continue
            now = count(source, outcomes)
            said = messages_of(source, outcomes) if compiler.id == "gcc" and not is_right(source) else of_file(messages, source)
            if options.update:
                wanted[source.stem] = now
                messages = {name: said_then for name, said_then in messages.items() if name not in of_file(messages, source)} | said
            summary = f"{source.stem}: " + ", ".join(f"{what} {number}" for what, number in now.items()
                                                      if number != [] and what != "short")
            passed, remark = compare(wanted.get(source.stem), now)
            tap.check(summary + (f" ({remark})" if passed and remark else ""), passed,
                      f"{remark}\n" + "\n".join(f"{name}: {missed}" for name, missed, *_ in failures_of(outcomes)))
            changed = sorted(name for name in {*said, *of_file(messages, source)} if said.get(name) != messages.get(name))
            tap.check(f"{source.stem}: the messages are those of messages.txt", not changed,
                      "".join(f"{name}: {said.get(name)}\n" for name in changed) + "keep them: --update, then tools/names.py")
    if options.update:
        MESSAGES.write_text("# SPDX-License-Identifier: BSL-1.0\n# Written by check.py --update: the message of g++ for each wrong program.\n"
                            + "".join(f"{name}: {message}\n" for name, message in sorted(messages.items())))
        COUNTS.write_text(json.dumps(kept, indent=2) + "\n")
    return tap.finish() if tap else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (reject.Malformed, re.error) as problem:
        sys.exit(str(problem))
