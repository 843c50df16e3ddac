#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Heat maps are XML, and every cell of every map has the colour of its weight, once.

    check.py FORMS_PROGRAM
    check.py --example PROGRAM      writes one into the file that it is given, or to standard output
"""
import bisect
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tap import Tap  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"
POINTS = [(0, 0, 4), (31, 12, 72), (85, 15, 109), (136, 34, 106), (186, 54, 85), (227, 89, 51), (249, 140, 10),
          (249, 201, 50), (252, 255, 164)]
LEVELS = 64
STROKE = re.compile(r"M(\d+) (\d+)\.5h(\d+)")
OPTIONS = {"turned": {"top": 0.5}, "large": {"root": 3}, "by_row": {"by_row": True}}


def colour_of(share, root):
    """The colour as heat_map_scale.hpp says it, computed in another way."""
    if math.isnan(share):
        return "#00bebe"
    from_share = [(i / LEVELS) ** root for i in range(1, LEVELS)]
    place = bisect.bisect_right(from_share, share) / (LEVELS - 1) * 8
    low = min(int(place), 7)
    return "#" + "".join(f"{int(a + (place - low) * (b - a) + 0.5):02x}" for a, b in zip(POINTS[low], POINTS[low + 1]))


def cells_of(group):
    """(query, key) -> colour, of one map; a cell drawn twice or outside is an error."""
    ground, *paths = group
    keys, queries = int(ground.get("width")), int(ground.get("height"))
    cells = {}
    for path in paths:
        assert STROKE.sub("", path.get("d")) == "", path.get("d")
        for key, query, length in (map(int, m) for m in STROKE.findall(path.get("d"))):
            for k in range(key, key + length):
                assert (query, k) not in cells and k < keys and query < queries, (query, k)
                cells[query, k] = path.get("stroke")
    return [[cells.get((q, k), ground.get("fill")) for k in range(keys)] for q in range(queries)]


def maps_of(svg):
    return [cells_of(g) for g in svg.iter(f"{SVG}g") if g.get("shape-rendering") == "crispEdges"]


def inside(svg):
    """Is everything that is placed on the drawing? (Rotated labels end where they are placed.)"""
    _, _, width, height = map(int, svg.get("viewBox").split())
    for panel in svg.findall(f"{SVG}g"):
        left, top = map(int, re.match(r"translate\((\d+) (\d+)\)", panel.get("transform")).groups())
        for text in panel.iter(f"{SVG}text"):
            at = re.match(r"translate\((\d+) (\d+)\)", text.get("transform", ""))
            x, y = map(int, at.groups() if at else (text.get("x"), text.get("y")))
            assert left + x < width and top + y < height, (text.text, x, y)


def wanted_maps(text, top=1.0, root=1, by_row=False):
    first, *rest = text.splitlines()
    batch, heads, queries, keys = map(int, first.split())
    values = list(map(float, rest))
    maps = []
    for at in range(0, len(values), queries * keys):
        rows = [values[at + q * keys:at + (q + 1) * keys] for q in range(queries)]
        maps.append([[colour_of(v / (max(row) if by_row else top), root) for v in row] for row in rows])
    assert len(maps) == max(batch, 1) * max(heads, 1)
    return maps


def check_forms(tap, program, folder):
    ran = subprocess.run([program, folder]).returncode == 0
    files = sorted(pathlib.Path(folder).glob("*.txt"))
    tap.check("six maps are written", ran and len(files) == 6, str(files))
    for file in files:
        for ending in (".svg", ".html"):
            try:
                text = file.with_suffix(ending).read_text()
                root = ElementTree.fromstring(text.removeprefix("<!DOCTYPE html>\n"))
                svg = root if ending == ".svg" else root.find(f"body/{SVG}svg")
                inside(svg)
                same = maps_of(svg) == wanted_maps(file.read_text(), **OPTIONS.get(file.stem, {}))
                tap.check(file.stem + ending, same, "other colours than those of the weights")
            except (AssertionError, AttributeError, ElementTree.ParseError, UnicodeDecodeError) as problem:
                tap.check(file.stem + ending, False, repr(problem))


def check_example(tap, program, folder):
    svg = pathlib.Path(folder) / "example.svg"
    ran = subprocess.run([program, svg], stdout=subprocess.PIPE)
    maps = maps_of(ElementTree.parse(svg).getroot()) if svg.exists() else []
    tap.check("the example's maps", ran.returncode == 0 and bool(maps), f"exit code {ran.returncode}, {len(maps)} maps")
    to_stdout = subprocess.run([program], stdout=subprocess.PIPE, text=True).stdout
    tap.check("without an argument, on standard output", svg.exists() and svg.read_text() in to_stdout, to_stdout)


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        if sys.argv[1] == "--example":
            check_example(tap, sys.argv[2], folder)
        else:
            check_forms(tap, sys.argv[1], folder)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
