#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Draws the table of docs/race.md into docs/race.svg: how many times Umbel's time the fastest of the others takes, row
by row. tools/bench peers --write does it, too.

    python3 bench/peers/draw.py            writes the picture
    python3 bench/peers/draw.py --check    exit code 1 when it is of another table
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE, PICTURE = ROOT / "docs/race.md", ROOT / "docs/race.svg"
sys.path.insert(0, str(ROOT / "bench"))
import bars  # noqa: E402

TITLE = "The fastest of the others, in times of Umbel's time. Dashed: Umbel; blue: Umbel is ahead"


def rows(page):
    """Of run.py's short table: | linear 16x32x32 | us | % | fastest peer | us | ratio | PyTorch us | ratio |"""
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) != 8 or not re.fullmatch(r"\d+\.\d+", cells[5]):
            continue
        name, ours, peer, its, ratio, torch = cells[0], float(cells[1]), cells[3], float(cells[4]), cells[5], cells[7]
        yield name, float(ratio), f"{ratio} {peer}" + (f", {torch} PyTorch" if torch else ""), ours <= its


def picture():
    page = PAGE.read_text()
    conditions = re.search(r"^\d{4}-\d\d-\d\d, [^;\n]*", page, re.M)[0]
    return bars.drawing(bars.Panel(TITLE, conditions, list(rows(page)), line=1))


def draw():
    PICTURE.write_text(picture())


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        if not PICTURE.is_file() or PICTURE.read_text() != picture():
            sys.exit(f"{PICTURE.name} is not of the table of {PAGE.name}: run bench/peers/draw.py")
    else:
        draw()
