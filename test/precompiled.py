# SPDX-License-Identifier: BSL-1.0
"""Headers that many programs of a test include, parsed once."""
import fcntl
import functools
import hashlib
import os
import pathlib
import subprocess


@functools.cache
def is_clang(compiler):
    return "clang" in subprocess.run([compiler, "--version"], capture_output=True, text=True).stdout


def precompiled(command, folder, text="#include <umbel/umbel.hpp>\n"):
    """The command with a text precompiled in `folder`, as if it stood first in the file; compiled again when a header is newer.
    None where the compiler does not do it."""
    command = [str(argument) for argument in command]
    places = [pathlib.Path(command[at + 1]) for at, argument in enumerate(command) if argument == "-I"]
    name = hashlib.sha256("\0".join([text, *command]).encode()).hexdigest()[:12]
    header = folder / f"{name}.hpp"
    made = header.with_suffix(".hpp.pch" if is_clang(command[0]) else ".hpp.gch")
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        newest = max(p.stat().st_mtime for place in places for p in place.rglob("*.hpp"))
        if not made.exists() or made.stat().st_mtime <= newest:
            header.write_text(text)
            compile_it = [c for c in command if c != "-fsyntax-only"] + ["-x", "c++-header", str(header)]
            run = subprocess.run([*compile_it, "-o", f"{made}.new"], capture_output=True, stdin=subprocess.DEVNULL)
            if run.returncode != 0:
                return None
            os.replace(f"{made}.new", made)
    # clang does not always survive a precompiled header, and takes a second run and a file in /tmp to say so.
    return [*command, *(["-fno-crash-diagnostics", "-include-pch", str(made)] if is_clang(command[0])
                        else ["-include", str(header)])]
