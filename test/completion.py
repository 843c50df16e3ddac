#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The names that an editor with clangd offers after `x.`, `layer.`, `cache.` and `umbel::`: documented ones only, and none of the
members of other libraries that exist for their error message (tensor/calls_of_other_libraries.hpp).

    completion.py ROOT       TAP; every clangd in the path, one of each version
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from tap import Tap  # noqa: E402

PROGRAM = """\
#include <umbel/umbel.hpp>
using namespace umbel;
using namespace umbel::axes;
using attention = multi_head_attention<float, hidden<100>, heads<5>, bias<true>>;
void complete(tensor<float, batch<2>, hidden<100>>& x, view<float, hidden<100>> row, attention& layer,
              prepacked<attention>& packed, key_value_cache<attention, key<16>>& cache) {
HERE
}
"""
# Exactly these have to be offered. (x.extent<hidden> never is: no clangd lists variable templates after a dot.)
OF_A_TENSOR = {"begin", "data", "end", "rank", "size"}
MEMBERS = {
    "x.": OF_A_TENSOR,
    "row.": OF_A_TENSOR,
    "layer.": {"get_weights", "into"},
    "packed.": {"get_weights", "in_memory", "into", "pack"},
    "cache.": {"append", "attend", "capacity", "positions", "reset", "rewind", "rows", "size", "slides", "step"},
}
# Members that users reach by another name: workspace_for and multi_head_attention's template arguments.
BEHIND_NAMES = {"workspace_of", "sizes"}


def public_names(root):
    """The names in docs/names.md, those that docs/api lists with a type (plain(formula)), and the beginnings of targets' names."""
    text = (root / "docs/names.md").read_text()
    names = set(re.findall(r"^\| \[`(\w+)`\]", text, re.M)) | set(re.findall(r"^\| `umbel::(\w+)` \|", text, re.M))
    for page in (root / "docs/api").glob("*.md"):
        names.update(re.findall(r"^- `(\w+)", page.read_text(), re.M))
    targets = re.findall(r"`(\w+)_\.\.\.`", text)
    return names, tuple(target + "_" for target in targets)


class Clangd:
    """A session in the Language Server Protocol: JSON after its length, through pipes."""

    def __init__(self, program, folder):
        options = ["--log=error", "--limit-results=0", "--background-index=false", "--clang-tidy=false", "--pch-storage=memory", "-j=1"]
        self.process = subprocess.Popen([program, *options], cwd=folder,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.calls = 0
        self.call("initialize", processId=None, rootUri=None, capabilities={})

    def send(self, **message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def receive(self):
        length = 0
        while line := self.process.stdout.readline().strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        if not length:
            raise EOFError("clangd ended")
        return json.loads(self.process.stdout.read(length))

    def call(self, method, **parameters):
        self.calls += 1
        self.send(id=self.calls, method=method, params=parameters or None)
        while True:
            message = self.receive()
            if message.get("id") == self.calls and "method" not in message:
                return message.get("result")

    def open(self, uri, text):
        """Returns the errors. Until clangd sends them, it completes without the headers."""
        self.send(method="textDocument/didOpen", params={"textDocument": {"uri": uri, "languageId": "cpp", "version": 1, "text": text}})
        while True:
            message = self.receive()
            if message.get("method") == "textDocument/publishDiagnostics" and message["params"]["uri"] == uri:  # not those of .clangd
                return [problem["message"] for problem in message["params"]["diagnostics"] if problem["severity"] == 1]

    def offered(self, uri, line, column):
        items = self.call("textDocument/completion", textDocument={"uri": uri}, position={"line": line, "character": column})["items"]
        # Not a name: a deduction guide, which clangd lists by its signature.
        return {name for item in items if re.fullmatch(r"\w+", name := item.get("filterText") or item["label"].strip())}

    def close(self):
        self.call("shutdown")
        self.send(method="exit", params=None)
        self.process.communicate(timeout=60)


def clangds():
    """{version: program} of those in the path."""
    found = {}
    for name in ["clangd", *(f"clangd-{version}" for version in range(14, 30))]:
        if program := shutil.which(name):
            version = re.search(r"clangd version (\d+)", subprocess.run([program, "--version"], capture_output=True, text=True).stdout)
            found.setdefault(int(version[1]) if version else name, program)
    return found


def main():
    root, tap = pathlib.Path(sys.argv[1]).resolve(), Tap()
    names, targets = public_names(root)
    wanted = [*MEMBERS, "umbel::"]
    lines = PROGRAM.splitlines()
    at = lines.index("HERE")
    lines[at:at + 1] = [f"{before};" for before in wanted]
    page = (root / "docs/how-to/editor.md").read_text()
    options = re.search(r"^    CompileFlags:\n(?:    .*\n)+", page, re.M)[0].replace("/path/to/umbel", str(root))
    found = clangds()
    if not found:
        tap.skip("completion", "there is no clangd")
    for version, program in found.items():
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / ".clangd").write_text(options)
            clangd = Clangd(program, folder)
            uri = (pathlib.Path(folder) / "program.cpp").as_uri()
            errors = clangd.open(uri, "\n".join(lines))
            offered = {before: clangd.offered(uri, at + i, len(before)) for i, before in enumerate(wanted)}
            clangd.close()
        for before, real in MEMBERS.items():
            here = offered[before] - BEHIND_NAMES
            tap.check(f"clangd {version}: {before} offers {len(real)} names", here == real,
                      f"not documented: {len(here - real)}, {sorted(here - real)[:20]}\nmissing: {sorted(real - here)}\n{errors}")
        here = offered["umbel::"]
        strangers = {name for name in here - names if not name.startswith(("operator", *targets))}
        tap.check(f"clangd {version}: umbel:: offers documented names", not strangers and {"tensor", "multi_head_attention", "softmax"} <= here,
                  f"not in docs/names.md or docs/api: {len(strangers)}, {sorted(strangers)[:20]}\n{errors}")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
