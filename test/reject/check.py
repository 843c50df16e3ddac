#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Must-not-compile tests: the compiler must refuse one case of a file, once, briefly, in the promised words.

A file holds its cases in one #if chain; each case says what the message must match:

    #if defined CASE_split_uneven
    // expect: hidden[=<]100.*heads[=<]7                      either compiler
    // expect-gcc: "umbel: split: hidden=100 into heads=7 ... g++ prints the sentence; errors.py wants all of it, in quotes
    // expect-clang: split, .*hidden<100>, .*into, ...        clang prints its words as types
    // lines-clang: 15                                        if a function of the user's makes them more than 12
    // lines-gcc-14: 17                                       by g++ 14 and newer, which print more frames
    // sentence-gcc: 4                                        the line that has the message, if g++ prints frames before it
    // cause: The axis cannot be cut into that many parts.    for docs/errors.md (tools/errors.py); not used here
    // cure: Take a number of parts that divides it.
    auto r = split<hidden, heads<7>, head_dim>(x);
    #elif defined CASE_...
    #else
    auto r = split<hidden, heads<5>, head_dim>(x);            the control
    #endif

A case passes when the compiler fails, prints exactly one error in at most 12 lines, and every expectation
matches in one of the first 3, "In file included from" lines and all, and in the line of the error, which is all that editors list. The control (no case defined) must
compile, or the refusals prove nothing.

The cases of a file are compiled together (together.py), with every header of this folder precompiled: that is a fifth of the
time. What does not pass so is compiled as a user would, and that decides. UMBEL_ONE_BY_ONE=1 in the environment compiles every
case by itself, with the headers of its file precompiled, and the controls as a user would; then it is an error if together they
were told anything else.

    check.py --id gcc|clang FILE [--precompiled FOLDER] -- COMPILER    the control and every case, in TAP
    check.py --self-test --id gcc|clang -- COMPILER                    does this script notice what it should notice?

The variable UMBEL_CASES of the environment, "FILE/CASE ..." with FILE without .cpp, leaves those cases of a file that it names.
"""
import argparse
import difflib
import functools
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from precompiled import precompiled  # noqa: E402
from tap import Tap, split_command  # noqa: E402
import together  # noqa: E402

CONTROL = "control"
LINES_WITH_SENTENCE = 3
LINES_AT_MOST = 12
MANY = 9
DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(if|elif|else|endif|ifdef|ifndef)\b(.*)$")
CASE = re.compile(r"^\s*defined\s*\(?\s*CASE_(\w+)\s*\)?\s*$")
LINES = re.compile(r"^\s*// (?:lines-)?(gcc|clang|gcc-14|sentence-gcc): (\d+)\s*$")
EXPECT = re.compile(r"^\s*// expect(?:-(gcc|clang))?: (.*?)\s*$")


class Malformed(Exception):
    """The file does not follow the rules above."""


def read_cases(source):
    """Case name -> [(compiler id or None, regex, or at most how many lines)], in the order of the file."""
    cases, current = {}, None
    for number, line in enumerate(source.read_text().splitlines(), 1):
        if directive := DIRECTIVE.match(line):
            current = None
            if case := CASE.match(directive[2]):
                current = case[1]
                if current in cases or current == CONTROL:
                    raise Malformed(f"{source}:{number}: a second case {current}")
                cases[current] = []
            elif "CASE_" in line:
                raise Malformed(f"{source}:{number}: not '#if defined CASE_name': {line.strip()}")
        elif expected := EXPECT.match(line):
            if current is None:
                raise Malformed(f"{source}:{number}: an expectation outside of a case")
            re.compile(expected[2])
            cases[current].append((expected[1], expected[2]))
        elif lines := LINES.match(line):
            cases[current].append((lines[1], int(lines[2])))
        elif line.lstrip().startswith("// expect"):
            raise Malformed(f"{source}:{number}: not '// expect: regex': {line.strip()}")
    if not cases:
        raise Malformed(f"{source}: no case")
    return cases


# g++ 14 prints the text of an assertion without quotes, and quotes the source of each frame, which no library can prevent: those
# lines are not counted.
ASSERTION = re.compile(r"(static assertion failed: )(umbel: .*)")
QUOTED_FRAME = re.compile(r"^(.*: +(?:recursively )?required (?:from|by) .*\n)(?: +\d+ \|.*\n +\|.*\n)+", re.M)


@functools.cache
def version(command):
    run = subprocess.run([*command, "-dumpversion"], capture_output=True, text=True)
    return int(run.stdout.partition(".")[0] or 0)


def most_lines(expectations, compiler_id, command):
    found = {only: n for only, n in expectations if isinstance(n, int)}
    newer = found.get("gcc-14") if compiler_id == "gcc" and version(tuple(command)) >= 14 else None
    return newer or found.get(compiler_id, LINES_AT_MOST)


def complaints(output, code, expectations, compiler_id, command):
    """What is wrong with the compiler's refusal: empty when it is as promised."""
    wrong = []
    if code == 0:
        return ["it compiled"]
    lines = output.splitlines()
    wanted = [regex for only, regex in expectations if only in (None, compiler_id) and isinstance(regex, str)]
    most = most_lines(expectations, compiler_id, command)
    first = dict(expectations).get(f"sentence-{compiler_id}", LINES_WITH_SENTENCE)
    if not wanted:
        wrong.append(f"nothing is expected of {compiler_id}")
    for regex in wanted:
        if not any(re.search(regex, line) for line in QUOTED_FRAME.sub(r"\1", output).splitlines()[:first]):
            late = next((n for n, line in enumerate(lines, 1) if re.search(regex, line)), None)
            where = f"matches line {late}, want it" if late else "matches no line; want it"
            wrong.append(f"/{regex}/ {where} in the first {first}")
        elif not any(re.search(regex, ASSERTION.sub(r'\1"\2"', line)) for line in lines if " error: " in line):
            wrong.append(f"/{regex}/ does not match the line of the error, which is all that editors list")
    errors = len(re.findall(r"\berror:", output))
    if errors != 1:
        wrong.append(f"{errors} errors, want exactly 1")
    if (count := len(QUOTED_FRAME.sub(r"\1", output).splitlines())) > most:
        wrong.append(f"{count} lines of output, want at most {most}")
    return wrong


# A user includes umbel.hpp itself, not a file that does (precompiled). By clang that file is included by the user's; g++ names
# it in place of the user's.
OF_PRECOMPILED = re.compile(r"^(In file included from .*:\d+:\n)In file included from .*/[0-9a-f]{12}\.hpp:\d+:\n", re.M)


def without_precompiled(output):
    return OF_PRECOMPILED.sub(r"\1", output)


def compile_case(command, source, case):
    define = [] if case == CONTROL else [f"-DCASE_{case}"]
    run = subprocess.run([*command, *define, str(source)], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return run.returncode, without_precompiled(run.stdout + run.stderr)


def judge(command, source, case, expectations, compiler_id):
    """(compiler's output, complaints)."""
    code, output = compile_case(command, source, case)
    if case == CONTROL:
        return output, [] if code == 0 and not output else ["the control does not compile cleanly"]
    return output, complaints(output, code, expectations, compiler_id, command)


def own_macros(source):
    """Does the file define a macro before it includes anything? Then no precompiled header stands for what it includes."""
    return re.search(r"^[ \t]*#[ \t]*define", re.split(r"^[ \t]*#[ \t]*include", source.read_text(), maxsplit=1, flags=re.M)[0], re.M)


def headers_of(*sources):
    """What these files include, each header once."""
    lines = dict.fromkeys(line for source in sources for line in together.INCLUDES.findall(source.read_text()))
    return "".join(f"#if __has_include(<mpi.h>)\n{line}\n#endif\n" if "umbel/mpi" in line else f"{line}\n" for line in lines)


def faster(command, source, compiler_id, folder, alone):
    """The command with headers precompiled: those of all files beside this one, so that they are precompiled once, or of this
    file alone. None if there is no folder for them, or if nothing can stand for the headers of this file."""
    if folder is None or own_macros(source):
        return None
    files = [source] if alone else sorted(source.parent.glob("*.cpp"))
    return precompiled(command, folder, headers_of(*files))


def check(command, source, case, compiler_id, folder=None):
    """(compiler's output, complaints) for one case or the control."""
    cases = read_cases(source)
    if case != CONTROL and case not in cases:
        return "", [f"there is no case {case}"]
    # Parsing the library is nearly all the time of a case.
    if not (case == CONTROL and together.one_by_one()):
        if quick := faster(command, source, compiler_id, folder, together.one_by_one()):
            output, wrong = judge(quick, source, case, cases.get(case), compiler_id)
            if not wrong:
                return output, []
    return judge(command, source, case, cases.get(case), compiler_id)


def confirmed(command, source, chosen, compiler_id, folder):
    """Case -> output of those that pass together."""
    cases, found = read_cases(source), {}
    for alone in (False, True):
        left = [case for case in chosen if case not in found and case != CONTROL]
        # By which headers an error came there is part of what is printed. Where that is why many are left, this file's own
        # headers are worth the time to precompile them.
        if len(left) > (MANY if alone else 1):
            if quick := faster(command, source, compiler_id, folder, alone):
                found |= together.confirmed(quick, source, left, lambda case, output: not complaints(
                    output, 1, cases[case], compiler_id, command), compiler_id, without_precompiled)
    return found


def told_apart(source, whole, alone):
    """What the unit of all cases told differently: another error, or fewer lines than the compiler prints for the case alone."""
    def errors(output):  # more names are similar if more headers are there
        return [line.partition(" error: ")[2].partition("; did you mean ")[0] for line in output.splitlines() if " error: " in line]

    return "\n".join(f"{source.stem}/{case}: together:\n{output}alone:\n{alone[case]}" for case, output in whole.items()
                     if errors(output) != errors(alone[case]) or len(output.splitlines()) < len(alone[case].splitlines()))


SELF_TEST_HEADER = r"""
#pragma once
template <int Rest> struct a_fixed_sentence { static_assert(Rest == 0, "a fixed sentence"); };
struct base { template <class T> base(T) { static_assert(sizeof(T) == 0, "of the base"); } };
struct derived : base { using base::base; };
"""
SELF_TEST = r"""
#include <self_test.hpp>
namespace own { struct type; }
#if defined CASE_good
// expect: a.fixed.sentence
// expect-clang: static_assert failed|static assertion failed
// cause: What is said here: is for people only.
// cure: None.
a_fixed_sentence<2> r;
#elif defined CASE_good_by_another_number
// expect: a.fixed.sentence
a_fixed_sentence<4> r;
#elif defined CASE_good_as_well
// expect: a.fixed.sentence
a_fixed_sentence<2> r;
#elif defined CASE_good_about_an_own_type
// expect: own::type.*incomplete type|incomplete type.*own::type
own::type r;
#elif defined CASE_wrong_words
// expect: another sentence
a_fixed_sentence<2> r;
#elif defined CASE_compiles
// expect: a.fixed.sentence
a_fixed_sentence<0> r;
#elif defined CASE_two_errors
// expect: a.fixed.sentence
a_fixed_sentence<5> r;
a_fixed_sentence<3> s;
#elif defined CASE_good_with_a_name
// expect: a.fixed.sentence
a_fixed_sentence<8> r;
extern "C" int a_name();
#elif defined CASE_two_errors_and_a_name_of_another_case
// expect: a.fixed.sentence
a_fixed_sentence<9> r;
extern "C" void a_name();
extern "C" int a_name();
#elif defined CASE_second_error_says_not_of_what
// expect: a.fixed.sentence
a_fixed_sentence<6> r;
derived s(1);
#elif defined CASE_expects_nothing
a_fixed_sentence<2> r;
#elif defined CASE_too_late
// expect: the last one
#warning 1
#warning 2
#warning 3
#error the last one
#elif defined CASE_not_in_the_line_of_the_error
// expect: early words
#warning early words
#error nothing
#elif defined CASE_too_long
// expect: the first one
#error the first one
#warning 1
#warning 2
#warning 3
#warning 4
#warning 5
#else
a_fixed_sentence<0> r;
#endif
"""
TOO_LATE = """
import subprocess, sys, tap
t = tap.Tap(seconds=1)
for _ in range(2):
    subprocess.run([sys.executable, "-c", "while True: pass"])
t.check("late", True)
"""
SELF_TEST_WANTS = {
    CONTROL: None,
    "good": None,
    "good_by_another_number": None,
    "good_as_well": None,
    "good_about_an_own_type": None,
    "good_with_a_name": None,
    "wrong_words": "matches no line",
    "compiles": "it compiled",
    "two_errors": "2 errors",
    "two_errors_and_a_name_of_another_case": "2 errors",
    "second_error_says_not_of_what": "2 errors",
    "expects_nothing": "nothing is expected",
    "too_late": "want it in the first 3",
    "not_in_the_line_of_the_error": "does not match the line of the error",
    "too_long": "lines of output",
    "absent": "there is no case",
}


def self_test(command, compiler_id):
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        command = [*command, "-I", folder]
        source = pathlib.Path(folder) / "self_test.cpp"
        source.write_text(SELF_TEST)
        source.with_suffix(".hpp").write_text(SELF_TEST_HEADER)
        alone = {}
        for case, want in SELF_TEST_WANTS.items():
            alone[case], wrong = check(command, source, case, compiler_id)
            noticed = not wrong if want is None else any(want in w for w in wrong)
            if not noticed:
                failures.append(f"{case}: want {want or 'no complaint'}, got {wrong}\n{alone[case]}")
        # Together: what is refused alone is not confirmed, and what is confirmed is printed as it is alone.
        cases = read_cases(source)
        # With an error of nobody or of two cases others are not confirmed either.
        spoil = {"second_error_says_not_of_what", "two_errors_and_a_name_of_another_case"}
        for some in (set(cases), *(set(cases) - {case} for case in spoil), set(cases) - spoil, {"good", "good_as_well", "wrong_words"}):
            whole = together.confirmed(command, source, [case for case in cases if case in some],
                                       lambda case, output: not complaints(output, 1, cases[case], compiler_id, command), compiler_id,
                                       without_precompiled)
            good = {case for case in some if SELF_TEST_WANTS[case] is None}
            # The last of them may be left for a run by itself.
            if not set(whole) <= good or (not spoil & some and len(whole) < len(good) - 1):
                failures.append(f"together: want {good}, got {set(whole)}")
            if different := told_apart(source, whole, alone):
                failures.append(different)
        # A limit of processor time (tap.py) ends what computes for ever, and the test.
        late = subprocess.run([sys.executable, "-c", TOO_LATE], cwd=pathlib.Path(__file__).parents[1], capture_output=True, text=True)
        if late.returncode != 1 or "processor time" not in late.stderr:
            failures.append(f"no limit of processor time: {late.stdout}{late.stderr}")
        broken = pathlib.Path(folder) / "broken.cpp"
        broken.write_text(SELF_TEST.replace("#else\na_fixed_sentence<0>", "#else\na_fixed_sentence<1>"))
        if not check(command, broken, CONTROL, compiler_id)[1]:
            failures.append("a control that does not compile passed")
        for text in ("// expect: x\n", "#if defined CASE_a && 1\n#endif\n", "int x;\n",
                     "#if defined CASE_a\n// expected: x\n#endif\n"):
            broken.write_text(text)
            try:
                read_cases(broken)
                failures.append(f"no complaint about {text!r}")
            except Malformed:
                pass
    return failures


def chosen_cases(source, asked):
    """The cases of a file that UMBEL_CASES asks for: all of a file that it does not name."""
    known = [CONTROL, *read_cases(source)]
    named = [case for file, _, case in (name.partition("/") for name in asked) if file == source.stem]
    for case in named:
        if case not in known:
            close = difflib.get_close_matches(case, known, n=1, cutoff=0)
            raise Malformed(f"there is no case {case} in {source}; did you mean {close[0]}?")
    return named or known


def check_file(command, source, compiler_id, folder):
    tap = Tap(seconds=300)
    try:
        chosen = chosen_cases(source, os.environ.get("UMBEL_CASES", "").split())
        whole = confirmed(command, source, chosen, compiler_id, folder)
        alone = {}
        for case in chosen:
            wrong = []
            if case not in whole or together.one_by_one():
                alone[case], wrong = check(command, source, case, compiler_id, folder)
            tap.check(case, not wrong, f"{alone.get(case)}\n{source}: {case}: {'; '.join(wrong)}")
        if together.one_by_one():
            different = told_apart(source, whole, alone)
            tap.check(f"{len(whole)} of {len(chosen) - 1} cases told the same together", not different, different)
    except (Malformed, re.error) as problem:
        tap.check(source.stem, False, str(problem))
    return tap.finish()


def main():
    arguments, command = split_command(sys.argv[1:])
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("source", nargs="?", type=lambda name: pathlib.Path(name).resolve())
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("--id", choices=["gcc", "clang"], required=True)
    parser.add_argument("--precompiled", metavar="FOLDER", type=pathlib.Path)
    options = parser.parse_args(arguments)
    if options.self_test:
        tap = Tap()
        failures = self_test(command, options.id)
        tap.check("self-test", not failures, "\n".join(failures))
        return tap.finish()
    return check_file(command, options.source, options.id, options.precompiled)


if __name__ == "__main__":
    sys.exit(main())
