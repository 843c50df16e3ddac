#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Writes what shows the table of docs/race.md elsewhere: docs/race.svg (how many times Umbel's time the fastest peer needs, row
by row) and five rows of README.md. tools/bench peers --write calls it.

    python3 bench/peers/pages.py            writes both
    python3 bench/peers/pages.py --check    exit code 1 if one of them is of another table
"""
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE, PICTURE, README = ROOT / "docs/race.md", ROOT / "docs/race.svg", ROOT / "README.md"
sys.path.insert(0, str(ROOT / "bench"))
import bars  # noqa: E402

BEGIN, END = "<!-- race: begin (tools/bench peers --write) -->", "<!-- race: end -->"
TITLE = "The fastest of the others, in times of Umbel's time. Dashed: Umbel; blue: Umbel is ahead"
README_ROWS = {"linear 32x128x128": "Linear map, 32 rows, 128 to 128 features",
               "softmax 128x128": "Softmax, 128 rows of 128",
               "attend 1,8,128,128,32": "Attention, 8 heads, 128 tokens, head_dim 32",
               "mha C 1,32,64,8": "Whole layer, 32 tokens, 64 features, 8 heads",
               "mha E 1,128,256,8": "Whole layer, 128 tokens, 256 features, 8 heads"}


def cells_of(page):
    """The rows of run.py's short table: | linear 16x32x32 | us | % | fastest peer | us | ratio | PyTorch us | ratio |"""
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 8 and re.fullmatch(r"\d+\.\d+", cells[5]):
            yield cells


def rows(page):
    for name, ours, _, peer, its, ratio, _, torch in cells_of(page):
        yield name, float(ratio), f"{ratio} {peer}" + (f", {torch} PyTorch" if torch else ""), float(ours) <= float(its)


def conditions(page):
    """Their paragraph as one line."""
    return " ".join(re.search(r"^\d{4}-\d\d-\d\d, .*(\n.+)*", page, re.M)[0].split())


def picture():
    page = PAGE.read_text()
    return bars.drawing(bars.Panel(TITLE, conditions(page).split(";")[0], list(rows(page)), line=1))


def versions(line):
    """libxsmm 1.17, oneDNN 2.6.3, ...: without the revisions of Debian's packages."""
    found = re.findall(r"(\w[\w ]*?) (\d[\w.+~-]*?)(?=[,;]|\. |\.?$)", line.partition("Debian's ")[2])
    return ", ".join(f"{name} {re.match(r'[0-9.]+[0-9]', version)[0]}" for name, version in found)


def readme_table():
    page = PAGE.read_text()
    yield "| microseconds, one core | Umbel | fastest peer | PyTorch |"
    yield "|---|--:|--:|--:|"
    for name, ours, _, peer, its, _, torch, _ in cells_of(page):
        if name in README_ROWS:
            yield f"| {README_ROWS[name]} | {ours} | {its} ({peer}) | {torch or '-'} |"
    line = conditions(page)
    yield ""
    yield from textwrap.wrap(f"{line.split(', one thread')[0]}, against {versions(line)}.", 100)


def replaced(page, table):
    """The text of a page with a table between its marks."""
    text = page.read_text()
    if BEGIN not in text or END not in text:
        sys.exit(f"{page}: no place for the table: want the lines\n{BEGIN}\n{END}")
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    return f"{before}{BEGIN}\n\n{table}\n{END}{after}"


def readme():
    return replaced(README, "\n".join([*readme_table(), ""]))


def write(short=None):
    """With a new table for docs/race.md, or the one that it has."""
    if short is not None:
        PAGE.write_text(replaced(PAGE, short))
    PICTURE.write_text(picture())
    README.write_text(readme())


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        for file, wanted in (PICTURE, picture()), (README, readme()):
            if not file.is_file() or file.read_text() != wanted:
                sys.exit(f"{file.name} does not show the table of {PAGE.name}: run bench/peers/pages.py")
    else:
        write()
