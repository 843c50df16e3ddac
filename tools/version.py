#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The version of Umbel as MAJOR.MINOR.PATCH, from its only home, include/umbel/version.hpp:

    tools/version.py            prints it
    tools/version.py --write    writes it into the files of package managers, which cannot ask (test/package_files.py)
"""
import pathlib
import re
import sys

sys.dont_write_bytecode = True
import command_line  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Where it stands in each of these.
COPIES = {"library.json": r'(?<="version": ")[^"]*', "library.properties": r"(?m)(?<=^version=).*",
          "idf_component.yml": r'(?m)(?<=^version: ")[^"]*', "CITATION.cff": r"(?m)(?<=^version: ).*"}


def version():
    header = ROOT / "include/umbel/version.hpp"
    try:
        text = header.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        sys.exit(f"{header}: {getattr(problem, 'strerror', None) or 'is no text'}")
    parts = [re.search(rf"^#define UMBEL_VERSION_{part} (\d+)$", text, re.M) for part in ("MAJOR", "MINOR", "PATCH")]
    if not all(parts):
        sys.exit(f"{header}: no UMBEL_VERSION_MAJOR, _MINOR and _PATCH")
    return ".".join(part[1] for part in parts)


if __name__ == "__main__":
    if command_line.one_of("tools/version.py", __doc__, "--write"):
        for name, place in COPIES.items():
            (ROOT / name).write_text(re.sub(place, version(), (ROOT / name).read_text(), count=1))
    else:
        print(version())
