#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Print the version of Umbel as MAJOR.MINOR.PATCH, read from its only home, include/umbel/version.hpp."""
import pathlib
import re
import sys

header = pathlib.Path(__file__).resolve().parent.parent / "include/umbel/version.hpp"
text = header.read_text()
parts = [re.search(rf"^#define UMBEL_VERSION_{part} (\d+)$", text, re.M) for part in ("MAJOR", "MINOR", "PATCH")]
if not all(parts):
    sys.exit(f"{header}: no UMBEL_VERSION_MAJOR, _MINOR and _PATCH")
print(".".join(part[1] for part in parts))
