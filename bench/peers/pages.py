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
TITLE = "Time of the fastest other library, in multiples of Umbel's time"
NOTE = "blue: Umbel is faster"
README_ROWS = ["linear 32x128x128", "softmax 128x128", "attend 1,8,128,128,32", "mha C 1,32,64,8", "mha E 1,128,256,8"]


def counted(count, name):
    return f"{count} {name if count == '1' else {'query': 'queries'}.get(name, name + 's')}"


def tokens(queries, keys):
    """Queries and keys in words: they are tokens if there are as many of them."""
    return [counted(keys, "token")] if queries == keys else [counted(queries, "query"), counted(keys, "key")]


def described(row):
    """A row of docs/race.md, such as "linear 32x128x128", in words. The README and the picture call it so."""
    family, _, sizes = row.partition(" ")
    if family == "linear":
        rows, outputs, inputs = sizes.split("x")
        parts = ["Linear map", counted(rows, "row"), f"{inputs} to {outputs} features"]
    elif family == "softmax":
        rows, columns = sizes.split("x")
        parts = ["Softmax", f"{counted(rows, 'row')} of {columns}"]
    elif family == "attend":
        batch, heads, queries, keys, head_dim = sizes.split(",")
        parts = ["Attention", f"batch {batch}", counted(heads, "head"), *tokens(queries, keys), f"head_dim {head_dim}"]
    else:
        batch, both, features, heads = sizes.split(" ", 1)[1].split(",")  # after the letter of the layer
        queries, _, keys = both.partition(" to ")
        parts = ["Whole layer", f"batch {batch}", *tokens(queries, keys or queries), counted(features, "feature"), counted(heads, "head")]
    return ", ".join(part for part in parts if part != "batch 1")


def cells_of(page):
    """The rows of run.py's short table: | linear 16x32x32 | us | % | fastest peer | us | ratio | PyTorch us | ratio |"""
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 8 and re.fullmatch(r"\d+\.\d+", cells[5]):
            yield cells


def rows(page):
    for name, ours, _, peer, its, ratio, _, torch in cells_of(page):
        yield described(name), float(ratio), f"{ratio} {peer}" + (f", {torch} PyTorch" if torch else ""), float(ours) <= float(its)


def conditions(page):
    """Their paragraph as one line."""
    return " ".join(re.search(r"^\d{4}-\d\d-\d\d, .*(\n.+)*", page, re.M)[0].split())


def picture():
    page = PAGE.read_text()
    return bars.drawing(bars.Panel(TITLE, f"{conditions(page).split(' -std')[0]}; {NOTE}", list(rows(page)), start=1, ratios=True))


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
            yield f"| {described(name)} | {ours} | {its} ({peer}) | {torch or '-'} |"
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
