#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Each public header by itself and twice, two units that link, and a bare.hpp that pulls in no Boost.

    check.py INCLUDE_DIR THIS_DIR [--conditions] -- COMPILER ARGUMENTS...

--conditions: of headers by themselves, only those with lines under a condition, which other flags choose.

A unit that includes a header a, then a header b that includes a, shows of both that they stand alone: before the code of b
there is nothing that b does not include itself. So 316 headers take 72 units (chains), a third of the time. A header of a unit
that does not compile is compiled by itself; with UMBEL_ONE_BY_ONE=1 in the environment all are.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tap import Tap, compile_text, split_command  # noqa: E402


def has_mpi(command):
    return compile_text([*command, "-fsyntax-only"], "#include <mpi.h>\n")[0] == 0


def is_of_mpi(header):
    return header.startswith("umbel/mpi")


def compile_twice(command, *headers):
    lines = "".join(f"#include <{header}>\n" for header in headers)
    return compile_text([*command, "-fsyntax-only"], lines + lines)


INCLUDE = re.compile(r"^\s*#\s*include\s*<([^>]*)>")
NO_CODE = re.compile(r"^\s*(?:#.*|//.*|UMBEL_WARNINGS_\w+)?$")


CONDITION = re.compile(r"^\s*#\s*(?:if|ifdef|ifndef|elif)\b(?!\s+!?UMBEL_(?:CLANG|GCC)$)", re.M)


def includes_of(text):
    """(what a header includes whatever the target, does all that it includes stand before its code?)"""
    included, depth, code, before_code = [], 0, False, True
    for line in text.splitlines():
        depth += bool(re.match(r"\s*#\s*if", line)) - bool(re.match(r"\s*#\s*endif", line))
        code = code or not NO_CODE.match(line)
        if found := INCLUDE.match(line):
            before_code = before_code and not code
            if depth == 0:
                included.append(found[1])
    return included, before_code


def chains(texts):
    """Lists of headers, each of which includes the one before it, that together hold every header once: as few as there can be,
    and of the headers that include most, which take longest to compile, those that no other chain can end in. texts: header ->
    text."""
    direct = {header: includes_of(text) for header, text in texts.items()}
    inside = {}

    def all_of(header):
        if header not in inside:
            inside[header] = set().union(*({h} | all_of(h) for h in direct[header][0] if h in texts))
        return inside[header]

    by_size = sorted(texts, key=lambda header: (len(all_of(header)), header))
    before = {}  # header -> the one before it in its chain

    def find_next(header, tried):
        """Gives `header` one to follow it, if need be one that another header can do without."""
        for after in by_size:
            if header in inside[after] and direct[after][1] and after not in tried:
                tried.add(after)
                if after not in before or find_next(before[after], tried):
                    before[after] = header
                    return True
        return False

    for header in reversed(by_size):
        find_next(header, set())
    lists = []
    for last in set(texts) - set(before.values()):
        chain = [last]
        while chain[0] in before:
            chain.insert(0, before[chain[0]])
        lists.append(chain)
    return sorted(lists)


def compile_chain(command, chain):
    """Header -> what is wrong with it, or nothing."""
    code, output = compile_twice(command, *chain)
    if code == 0 and not output and os.environ.get("UMBEL_ONE_BY_ONE", "0") in ("", "0"):
        return dict.fromkeys(chain, "")
    alone = {}
    for header in chain:
        own_code, own_output = compile_twice(command, header)
        alone[header] = own_output or (f"exit code {own_code}" if own_code else "")
    if (code or output) and not any(alone.values()):
        alone[chain[-1]] = f"after {' '.join(chain[:-1])}:\n{output}"
    return alone


def link_two_units(command, sources):
    """Two units that include the whole library must link (everything inline) and run."""
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/two_units"
        for step in ([*command, *sources, "-o", program], [program]):
            run = subprocess.run(step, capture_output=True, text=True, stdin=subprocess.DEVNULL)
            if run.returncode != 0:
                return False, run.stdout + run.stderr + f"exit code {run.returncode}"
    return True, ""


# What a declaration gives a name to: a parameter, a variable, a member.
DECLARED = re.compile(r"(?:\b(?:auto|T|V|W|X|Y|Z|float|double|bool|char|int|size_t|ptrdiff_t)\b[ &*]+)([a-z]\w*)\b")
COMMON = ("w x y z q k v o h i j n m one two width rows columns count size first last mask lens weights queries keys "
          "values heads hidden out work scratch result state maximum sum scale seed rate axis shape").split()
KEYWORDS = set("and or not for if this const constexpr static auto noexcept operator requires typename template class struct "
               "using return inline".split())
# In the global namespace already, where <cmath> and <cstring> are: not the user's to declare.
TAKEN = set("index exp exp2 sin cos pow tanh erf log log2 free sqrt fma gamma remainder round floor select y0".split())


# A member before a comparison: x.size < 4, which is a list of arguments if there is a template of that name.
COMPARED = re.compile(r"(?:\.|->)([a-z]\w*) <(?![<=])")


def silent_beside_any_global(command, include_dir):
    """(passed, output): every local name of the headers is a global of the user's, declared before, and in a second run a template
    of the user's, such as an axis."""
    headers = sorted(pathlib.Path(include_dir).rglob("*.hpp"))
    sources = [re.sub("//.*", "", header.read_text()) for header in headers]
    names = {name for source in sources for name in DECLARED.findall(source)}.union(COMMON) - TAKEN - KEYWORDS
    compared = {name for source in sources for name in COMPARED.findall(source)}.union(COMMON) - TAKEN - KEYWORDS
    outputs = []
    for declared in ("".join(f"extern int {name};\n" for name in sorted(names)),
                     "".join(f"template <unsigned long> struct {name};\n" for name in sorted(compared))):
        code, output = compile_text([*command, "-fsyntax-only", "-Wshadow"], declared + whole_library(command))
        outputs += [output or f"exit code {code}"] if code or output else []
    return not outputs, f"{len(names)} names, {len(compared)} templates\n{''.join(outputs)}"


def whole_library(command):
    text = "#include <umbel/umbel.hpp>\n#include <umbel/decode/cache_of_formula.hpp>\n#include <umbel/formula/row_formula.hpp>\n#include <umbel/inspect/describe.hpp>\n#include <umbel/inspect/heat_map.hpp>\n#include <umbel/files.hpp>\n#include <umbel/quantized.hpp>\n#include <umbel/training.hpp>\n#include <umbel/weights.hpp>\n"
    return text + ("#include <umbel/mpi.hpp>\n" if has_mpi(command) else "")


def boost_headers_of(command, header):
    code, output = compile_text([*command, "-M"], f"#include <{header}>\n")
    if code != 0:
        return output
    return "\n".join(word for word in output.split() if "/boost/" in word)


def main():
    (include_dir, here, *options), command = split_command(sys.argv[1:])
    headers = sorted(p.relative_to(include_dir).as_posix() for p in pathlib.Path(include_dir).rglob("*.hpp"))
    tap = Tap(seconds=600)
    tap.check("there are headers", bool(headers), include_dir)
    if not has_mpi(command):
        for header in filter(is_of_mpi, headers):
            tap.skip(header, "there is no MPI")
        headers = [header for header in headers if not is_of_mpi(header)]
    texts = {header: (pathlib.Path(include_dir) / header).read_text() for header in headers}
    if "--conditions" in options:
        headers = [header for header in headers if CONDITION.search(texts[header])]
        texts = {header: texts[header] for header in headers}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda chain: compile_chain(command, chain), chains(texts))
        wrong = {header: output for result in results for header, output in result.items()}
    for header in headers:
        tap.check(header, not wrong[header], wrong[header])
    quiet, output = silent_beside_any_global(command, include_dir)
    tap.check("no -Wshadow whatever the user's globals are called", quiet, output)
    linked, output = link_two_units(command, [f"{here}/one.cpp", f"{here}/two.cpp"])
    tap.check("two units link", linked, output)
    boost = boost_headers_of(command, "umbel/bare.hpp")
    tap.check("umbel/bare.hpp includes no Boost", not boost, boost)
    code, output = compile_text([*command, "-fsyntax-only", "-fno-exceptions", "-fno-rtti"],
                                "#include <umbel/bare.hpp>\n")
    tap.check("umbel/bare.hpp without exceptions and RTTI", code == 0, output)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
