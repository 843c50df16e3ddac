#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Every command of tools/, with --help and with a wrong argument: help is printed and exit code 0; a wrong argument is one
sentence and exit code 2; and nothing is built or installed for either.

    commands.py ROOT -- CXX       TAP

They run in a copy of the checkout that cannot be written to, in a folder with a space and an umlaut, as a user who may do
nothing, without a terminal, without the packages of Python that they need for their work, and with compilers and installers
that only say that they were called.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from tap import Tap, split_command  # noqa: E402

NOBODY = 65534
# What a script may call before it knows what is wanted of it.
HARMLESS = ["bash", "basename", "cat", "cut", "dirname", "env", "grep", "id", "mktemp", "nproc", "sed", "tr", "uname"]
FORBIDDEN = ["apt-get", "sudo", "dpkg-query", "meson", "ninja", "make", "g++", "c++", "clang++", "clang++-19", "git", "clang-format-19", "node",
             "pkg-config", "mkdir", "rm"]
PACKAGES = ["numpy", "onnx", "torch"]
COPIED = ["tools", "bench", "cross", "test", "include", "examples", "meson.build", "LICENSE", "docs/comparison.md"]
WRONG = {"tools/test embedded": ["nosuch"], "tools/test page": ["nosuch"], "tools/demo": ["nosuch"], "tools/bench": ["nosuch", "--benchmark_nosuch=1"],
         "tools/bench peers": ["--only nosuch", "--machine"], "tools/bench integers": ["--rounds 0", "--rounds x"],
         "tools/bench compile": ["--only nosuch"], "tools/bench plan": ["--only nosuch"], "tools/bench cores": ["nosuch"],
         "tools/demo text": ["--tokens 0", "--tokens 1e3", "--seed -1", "--temperature nan", "--top-p 2", "one two"], "tools/demo learn": ["--epochs", "--threads 3", "nosuch"],
         "tools/test": ["--compiler nosuch", "--optimization 4", "--suite", "--all nosuch", "--ci nosuch", "--stage", "--stage nosuch", "--stages nosuch",
                        "unit/nosuch", "--quick nosuch unit/plan", "reject/shapes/nosuch", "--suite nosuch", "--no-suite nosuch", "--march=", "--suite --quick",
                        "--repeat=0", "--repeat=-1", "--maxfail=x", "--num-processes=", "--timeout-multiplier=x", "--wrapper="], "tools/format": ["--check --check"]}


class Commands:
    def __init__(self, root, folder):
        self.tap, self.folder, self.checkout = Tap(), folder, folder / "Umbel für alle"
        for name in COPIED:
            (self.checkout / name).parent.mkdir(parents=True, exist_ok=True)
            if (root / name).is_dir():
                shutil.copytree(root / name, self.checkout / name,
                                ignore=shutil.ignore_patterns("__pycache__", "build", "data", "trained"))
            else:
                shutil.copy(root / name, self.checkout / name)
        programs = folder / "bin"
        programs.mkdir()
        usual = "/usr/local/bin:/usr/bin:/bin"
        for name in HARMLESS:
            (programs / name).symlink_to(shutil.which(name, path=usual) or shutil.which(name))
        (programs / "python3").symlink_to(shutil.which("python3", path=usual) or sys.executable)
        for name in FORBIDDEN:
            (programs / name).write_text(f'#!/bin/sh\necho "forbidden: {name} $*" >&2\nexit 99\n')
            (programs / name).chmod(0o755)
        for name in PACKAGES:
            (folder / "packages").mkdir(exist_ok=True)
            (folder / "packages" / f"{name}.py").write_text(f"raise ModuleNotFoundError('no {name}', name='{name}')\n")
        # UTF-8 is not taken for granted either.
        self.environment = {"PATH": str(programs), "PYTHONPATH": str(folder / "packages"), "LC_ALL": "C"}
        for path in [folder, *folder.rglob("*")]:
            if not path.is_symlink():
                path.chmod(path.stat().st_mode & ~0o222 | 0o444 | (0o111 if path.is_dir() else 0))
        self.before = self.files()

    def files(self):
        return sorted(str(path) for path in self.checkout.rglob("*"))

    def run(self, words, out=subprocess.PIPE):
        who = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        tool, *arguments = words
        # By its first line: a script of Bash or of Python.
        first = (self.checkout / tool).read_text().split("\n")[0]
        done = subprocess.run([first.split()[-1], tool, *arguments], cwd=self.checkout, env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=out, stderr=subprocess.PIPE, text=True, encoding="utf-8", **who)
        return done.returncode, done.stdout, done.stderr

    def full(self, command):
        """Help that cannot be printed is all the same nothing but help."""
        with open("/dev/full", "w") as out:
            code, _, error = self.run(command.split(), out)
        self.tap.check(f"{command}: standard output is full", code != 0 and error.count("\n") == 1 and "No space left" in error, f"exit code {code}\n{error}")

    def names_of(self, tool, sentence):
        """The names of parts that a tool lists when it is given another one."""
        error = self.run([tool, "nosuch"])[2]
        found = re.search(sentence, error)
        self.tap.check(f"{tool}: a wrong name lists the right ones", bool(found), error)
        return re.findall(r"\w+", re.sub(r"\b(or|nor)\b", "", found[1])) if found else []

    def all(self):
        tools = sorted(path for path in (self.checkout / "tools").iterdir() if path.is_file())
        yield from (f"tools/{path.name}" for path in tools if path.stat().st_mode & 0o100)
        yield from (f"tools/bench {name}" for name in self.names_of("tools/bench", "is neither (.*), nor an option"))
        yield from (f"tools/demo {name}" for name in self.names_of("tools/demo", "is neither (.*), nor an option"))
        yield from ("tools/demo learn text", "tools/test embedded", "tools/test page", "tools/test fuzz")

    def help(self, command):
        code, out, error = self.run([*command.split(), "--help"])
        self.tap.check(f"{command} --help", code == 0 and len(out.splitlines()) > 1 and not error, f"exit code {code}\n{out}{error}")

    def wrong(self, command, arguments):
        code, out, error = self.run([*command.split(), *arguments.split()])
        good = code == 2 and not out and error.count("\n") == 1 and error.startswith(("tools/", "test/"))
        self.tap.check(f"{command} {arguments}", good, f"exit code {code}\n{out}{error}")

    def without(self, command, said, *arguments):
        """What is right goes on to what it needs, and says what is not there."""
        code, out, error = self.run([*command.split(), *arguments])
        self.tap.check(f"{command}: right arguments go on", code != 0 and said in error, f"exit code {code}\n{out}{error}")

    def of_the_race(self, compiler):
        """Are the names that tools/bench peers lists, read from workloads.hpp, those that its programs have?"""
        text = "".join(f"for (const auto& one : race::{array}_raced) std::puts(race::name(one).c_str());"
                       for array in ("linears", "softmaxes", "contracts", "attentions", "layers"))
        program = self.folder / "program"
        subprocess.run([*compiler, "-std=c++20", "-I", self.checkout / "bench/peers", "-x", "c++", "-", "-o", program], text=True, check=True,
                       input=f'#include "workloads.hpp"\n#include <cstdio>\nint main() {{ {text} }}\n')
        names = subprocess.run([program], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
        error = self.run(["tools/bench", "peers", "--only", "nosuch"])[2]
        self.tap.check("tools/bench peers lists the workloads", f"there are: {'; '.join(names)} (" in error, f"{names}\n{error}")


def main():
    (root,), compiler = split_command(sys.argv[1:])
    with tempfile.TemporaryDirectory() as path:
        commands = Commands(pathlib.Path(root), pathlib.Path(path))
        for command in commands.all():
            commands.help(command)
            for arguments in ["--nosuch", *WRONG.get(command, [])]:
                commands.wrong(command, arguments)
        for command in ("tools/test --help", "tools/amalgamate"):
            commands.full(command)
        commands.without("tools/export", "has no numpy", "model.safetensors")
        commands.without("tools/import", "has no numpy", "model.onnx")
        commands.without("tools/quantize", "has no numpy", "model.hpp", "--parts", "embed", "--samples", "x.npy")
        commands.without("tools/bench scaling", "please install")
        commands.without("tools/demo", "please install")
        commands.tap.check("nothing was written", commands.files() == commands.before)
        for folder in (commands.folder, commands.checkout):
            folder.chmod(0o755)
        commands.of_the_race(compiler)
        for path in commands.folder.rglob("*"):
            if path.is_dir():
                path.chmod(0o755)  # to be removed
        return commands.tap.finish()


if __name__ == "__main__":
    sys.exit(main())
