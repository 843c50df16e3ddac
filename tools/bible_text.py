#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The text that the tiny language model learns, on standard output: the King James Version of the Bible, one verse a line, without its
place and without the marks around words that translators added.

    bible_text.py >TEXT

On Debian and Ubuntu it is in a package: apt-get install bible-kjv
"""
import re
import subprocess
import sys

sys.dont_write_bytecode = True
import command_line  # noqa: E402


def read_text() -> str:
    try:
        printed = subprocess.run(["bible", "-f", "gen1:1-rev22:21"], stdin=subprocess.DEVNULL, capture_output=True,
                                 check=True).stdout.decode("ascii")
    except FileNotFoundError:
        sys.exit("bible_text.py: there is no program bible: apt-get install bible-kjv")
    return re.sub(r"^\w+:\d+ ", "", printed, flags=re.M).strip() + "\n"


if __name__ == "__main__":
    command_line.one_of("tools/bible_text.py", __doc__)
    sys.stdout.write(read_text())
