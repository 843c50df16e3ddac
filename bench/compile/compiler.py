# SPDX-License-Identifier: BSL-1.0
"""A compiler, asked what a program costs: processor seconds, peak memory, template instantiations, object size.

Only what the compiler itself and the operating system say; no tool beside them but `size`.
"""
import os
import pathlib
import re
import shlex
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE.parent.parent / "include"


class Refused(Exception):
    """The compiler did not compile it."""


class Compiler:
    def __init__(self, command, arguments=()):
        self.command = [*(shlex.split(command) if isinstance(command, str) else command), "-std=c++20",
                        f"-I{INCLUDE}", f"-I{HERE}", *arguments]
        self.defines = subprocess.run([*self.command, "-dM", "-E", "-x", "c++", "-"], input="#include <cstddef>\n",
                                      check=True, capture_output=True, text=True).stdout
        self.id = "clang" if "__clang_major__" in self.defines else "gcc"
        self.major = self.number("__clang_major__" if self.id == "clang" else "__GNUC__")

    def number(self, macro):
        return int(re.search(rf"^#define {macro} (\d+)$", self.defines, re.M)[1])

    @property
    def name(self):
        return f"{'clang' if self.id == 'clang' else 'g++'} {self.major}"

    @property
    def full_name(self):
        macros = ("__clang_major__", "__clang_minor__", "__clang_patchlevel__") if self.id == "clang" else \
            ("__GNUC__", "__GNUC_MINOR__", "__GNUC_PATCHLEVEL__")
        return f"{'clang' if self.id == 'clang' else 'g++'} {'.'.join(str(self.number(macro)) for macro in macros)}"

    @property
    def library(self):
        """The standard library, whose templates count too."""
        macro = "_GLIBCXX_RELEASE" if "_GLIBCXX_RELEASE" in self.defines else "_LIBCPP_VERSION"
        return f"{'libstdc++' if 'GLIBCXX' in macro else 'libc++'} {self.number(macro)}"

    @property
    def machine(self):
        """Of the target: x86_64, aarch64, ..."""
        run = subprocess.run([self.command[0], "-dumpmachine"], capture_output=True, text=True, check=True)
        return run.stdout.split("-")[0]

    def cost(self, source, target, arguments):
        """(user + system seconds, peak MB) of compiling a file to an object. The whole family of processes counts."""
        command = [*self.command, *arguments, "-c", str(source), "-o", str(target)]
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        complaint = child.stderr.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            raise Refused(f"{shlex.join(command)}\n{complaint}")
        return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024

    def count(self, source, folder):
        """Template instantiations: {kind: how many}. Exactly the same in every run of one compiler.

        clang: classes and functions that it instantiates, in the events of -ftime-trace. g++: specialisations that it
        knows at the end (-fstats), of types and of declarations (functions, variables); also those only named.
        """
        stem = pathlib.Path(folder) / "counted"
        if self.id == "clang":
            self.run("-O0", "-ftime-trace", "-ftime-trace-granularity=0", "-c", str(source), "-o", f"{stem}.o")
            trace = stem.with_suffix(".json").read_text()
            return {kind: trace.count(f'"name":"{event}"')
                    for kind, event in (("classes", "InstantiateClass"), ("functions", "InstantiateFunction"))}
        said = self.run("-fstats", "-fsyntax-only", str(source))
        return {kind: int(re.search(rf"^{table}: size \d+, (\d+) elements", said, re.M)[1])
                for kind, table in (("types", "type_specializations"), ("declarations", "decl_specializations"))}

    def run(self, *arguments):
        run = subprocess.run([*self.command, *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if run.returncode:
            raise Refused(f"{shlex.join(run.args)}\n{run.stdout}{run.stderr}")
        return run.stdout + run.stderr


def text_bytes(target):
    """Code and constants of an object file."""
    run = subprocess.run(["size", str(target)], capture_output=True, text=True)
    return int(run.stdout.splitlines()[1].split()[0]) if run.returncode == 0 else None
