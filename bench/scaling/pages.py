#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Draws docs/scaling.svg from the tables of docs/scaling.md. tools/bench scaling calls it.

    python3 bench/scaling/pages.py            draws it
    python3 bench/scaling/pages.py --check    exit code 1 if the picture is of other tables
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import curves  # noqa: E402

PAGE, PICTURE = ROOT / "docs/scaling.md", ROOT / "docs/scaling.svg"
CURVES = {
    "tokens": "Attention, 4 heads of 32, against the length of the sequence",
    "batch": "Attention, 4 heads of 32, 64 tokens, against the batch",
    "heads": "Attention, heads of 32, 64 tokens, against the heads",
    "head_dim": "Attention, 4 heads, 128 tokens, against the width of a head",
    "layer": "The whole layer, hidden 256, 8 heads, against the length of the sequence",
}


def table(page, title):
    """[(size, us, model, scratch, scores)] under the heading."""
    lines = page.split(f"\n## {title}\n")[1].split("\n## ")[0].splitlines()
    for line in lines:
        cells = line.replace(",", "").strip("|").split("|")
        if re.fullmatch(r"\s*\d+\s*", cells[0]):
            size, us, model, _, scratch, scores = map(float, cells)
            yield round(size), us, model, scratch, scores


def picture():
    page = PAGE.read_text()
    found = {curve: list(table(page, title)) for curve, title in CURVES.items()}

    def column(curve, at):
        return [(row[0], row[at]) for row in found[curve]]
    panels = [curves.Panel(title.rsplit(", against", 1)[0], "tokens" if curve == "layer" else curve, "us",
                           [curves.Curve("measured", column(curve, 1)), curves.Curve("model", column(curve, 2), dashed=True)])
              for curve, title in CURVES.items()]
    panels.append(curves.Panel("Memory", "tokens", "bytes", [
        curves.Curve("scratch of attention", column("tokens", 3)), curves.Curve("workspace of the layer", column("layer", 3)),
        curves.Curve("all scores of the layer, never stored", column("layer", 4), dashed=True)]))
    return curves.drawing("Time and memory against tokens, batch, heads and head_dim", panels)


def write():
    PICTURE.write_text(picture())


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        if not PICTURE.is_file() or PICTURE.read_text() != picture():
            sys.exit(f"{PICTURE.name} does not show the tables of {PAGE.name}: run bench/scaling/pages.py")
    else:
        write()
