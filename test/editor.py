#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""What tools/editor makes of a compiler's error: VS Code's problem matchers, read as it reads them; vim, if it is there, by itself.
And the members that umbel.natvis names.

    editor.py ROOT -- COMPILER...       TAP
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

sys.dont_write_bytecode = True
from tap import Tap, split_command  # noqa: E402

WRONG = """\
#include <umbel/bare.hpp>
using namespace umbel;
using namespace umbel::axes;
int main() {
  tensor<float, batch<2>, hidden<100>> x{};
  auto parts = split<hidden, heads<7>, head_dim>(x);
}
"""
SENTENCE = re.compile(r"split\W.*hidden\W+100.*into.*heads\W+7.*remainder.?of.*2")


def problems(matcher, lines):
    """As VS Code: patterns of lines that follow one another, the last one again and again; a problem has a file, a line and a message."""
    patterns, i = matcher["pattern"], 0
    keys = [key for key in ("file", "line", "message")]

    def fill(data, pattern, found):
        for key in keys:
            if key in pattern and found[pattern[key]]:
                data[key] = found[pattern[key]]
        if all(key in data for key in keys):
            return dict(data)

    while i + len(patterns) <= len(lines):
        found = [re.search(pattern["regexp"], line) for pattern, line in zip(patterns, lines[i:])]
        if not all(found):
            i += 1
            continue
        data = {}
        for pattern, one in zip(patterns[:-1], found):
            fill(data, pattern, one)
        i += len(patterns) - 1
        while i < len(lines) and (one := re.search(patterns[-1]["regexp"], lines[i])):
            if problem := fill(dict(data), patterns[-1], one):
                yield problem
            i += 1


def quickfix(script, output, folder):
    """[[file, line, text]] of vim's list, without lines that are no error."""
    result = folder / "list.json"
    expression = "map(filter(getqflist(), 'v:val.valid'), '[bufname(v:val.bufnr), v:val.lnum, v:val.text]')"
    subprocess.run(["vim", "-u", "NONE", "-N", "-es", "-c", f"source {script}", "-c", f"cgetfile {output}",
                    "-c", f"call writefile([json_encode({expression})], '{result}')", "-c", "qa!"],
                   stdin=subprocess.DEVNULL, capture_output=True, timeout=60, cwd=folder)
    return json.loads(result.read_text()) if result.exists() else None


def main():
    (root,), compiler = split_command(sys.argv[1:])
    tap, editor = Tap(), pathlib.Path(root).resolve() / "tools/editor"
    tasks = json.loads(re.sub(r"^ *//.*$", "", (editor / "tasks.json").read_text(), flags=re.M))
    with tempfile.TemporaryDirectory() as path:
        folder = pathlib.Path(path)
        (folder / "wrong.cpp").write_text(WRONG)
        done = subprocess.run([*compiler, "-std=c++20", "-I", str(pathlib.Path(root).resolve() / "include"), "-fsyntax-only", "wrong.cpp"], capture_output=True, text=True,
                              cwd=folder, env={"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8"})
        (folder / "output").write_text(done.stderr)
        of_umbel = [matcher for matcher in tasks["tasks"][0]["problemMatcher"] if isinstance(matcher, dict)]
        found = [problem for matcher in of_umbel for problem in problems(matcher, done.stderr.splitlines())]
        good = len(found) == 1 and found[0]["file"] == "wrong.cpp" and found[0]["line"] == "6" and SENTENCE.search(found[0]["message"])
        tap.check("VS Code: one problem, at the line of the call, with the sentence", good, f"{found}\n{done.stderr}")
        if shutil.which("vim") and (listed := quickfix(editor / "umbel.vim", folder / "output", folder)) is not None:
            good = len(listed) == 1 and listed[0][:2] == ["wrong.cpp", 6] and SENTENCE.search(listed[0][2])
            tap.check("vim: one error, at the line of the call, with the sentence", good, f"{listed}\n{done.stderr}")
        else:
            print("# there is no vim with a quickfix list: not tried")
    names = "{http://schemas.microsoft.com/vstudio/debugger/natvis/2010}"
    headers = "".join(path.read_text() for path in (pathlib.Path(root) / "include/umbel").rglob("*.hpp"))
    for kind in xml.etree.ElementTree.parse(editor / "umbel.natvis").getroot().iter(f"{names}Type"):
        name = kind.get("Name").partition("<")[0].rpartition("::")[2]
        members = set(re.findall(r"\b(elements_|data_|weight|bits)\b", "".join(kind.itertext())))
        tap.check(f"natvis: {name}", members and re.search(rf"\b(?:class|struct) (?:UMBEL_\w+ )?{name}\b", headers)
                  and all(re.search(rf"\b{member}(?:;|\[|\{{| =)", headers) for member in members), f"{members}")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
