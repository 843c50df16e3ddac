#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The demo refuses unusable input: a line on stderr that names the culprit, exit code 2, no output.

    test_bad_input.py PROGRAM [ARGUMENT...]     PROGRAM may be an emulator, the demo its argument

Each case damages one thing of a set that is accepted undamaged: that is the control. The control's
pictures are black, so its exit code is 0 or 1 (the predictions are not PyTorch's); only 2 is wrong.
"""
import json
import math
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "test"))
import tap  # noqa: E402

COUNT, SIDE, CLASSES = 10_000, 28, 10
IMAGES, LABELS, LOGITS = "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte", "logits.f32"
OUTPUTS = ("report.json", "attention.html")


def images(count=COUNT, rows=SIDE, columns=SIDE):
    return struct.pack(">4I", 0x803, count, rows, columns) + bytes(count * rows * columns)


def labels(count=COUNT):
    return struct.pack(">2I", 0x801, count) + bytes(count)


GOOD = {IMAGES: images(), LABELS: labels(), LOGITS: bytes(4 * COUNT * CLASSES)}


def with_byte(content, at, value):
    return content[:at] + bytes([value]) + content[at + 1:]


# The name of a case, the file it damages, what is in that file (None: no file), a word of the line.
DAMAGED = [
    ("no images", IMAGES, None, "not found"),
    ("no labels", LABELS, None, "not found"),
    ("no logits", LOGITS, None, "not found"),
    ("empty images", IMAGES, b"", "header"),
    ("empty labels", LABELS, b"", "header"),
    ("empty logits", LOGITS, b"", "expected 400000"),
    ("short header", IMAGES, GOOD[IMAGES][:15], "header"),
    ("labels as images", IMAGES, GOOD[LABELS], "magic"),
    ("images as labels", LABELS, GOOD[IMAGES], "magic"),
    ("still packed", IMAGES, b"\x1f\x8b\x08" + bytes(99), "magic"),
    ("fewer pictures", IMAGES, images(count=9_999), "9999 pictures"),
    ("more pictures than bytes", IMAGES, with_byte(GOOD[IMAGES], 4, 255), "pictures"),
    ("other rows", IMAGES, images(rows=14), "14 rows"),
    ("other columns", IMAGES, images(columns=56), "56 columns"),
    ("truncated images", IMAGES, GOOD[IMAGES][:-1], "truncated"),
    ("trailing images", IMAGES, GOOD[IMAGES] + b"\0", "trailing"),
    ("fewer labels", LABELS, labels(count=60), "60 labels"),
    ("truncated labels", LABELS, GOOD[LABELS][:-1], "truncated"),
    ("trailing labels", LABELS, GOOD[LABELS] + b"\0", "trailing"),
    ("label 10", LABELS, with_byte(GOOD[LABELS], 8 + 77, 10), "label 77 is 10"),
    ("truncated logits", LOGITS, GOOD[LOGITS][:-4], "expected 400000"),
    ("trailing logits", LOGITS, GOOD[LOGITS] + b"\0", "expected 400000"),
    ("a logit that is no number", LOGITS, struct.pack("<f", math.nan) + GOOD[LOGITS][4:], "finite"),
]

WRONG_ARGUMENTS = [
    ("unknown option", ["--dta", "x"], "--dta"),
    ("stray word", ["x"], "'x'"),
    ("option without its folder", ["--data"], "--data"),
    ("option with an empty folder", ["--out="], "--out"),
]


class Folders:
    """A good set and an output folder, in a temporary folder."""

    def __init__(self, root, contents):
        self.data, self.out = Path(root, "data"), Path(root, "out")
        self.data.mkdir()
        for name, content in contents.items():
            if content is not None:
                (self.data / name).write_bytes(content)

    def arguments(self):
        return ["--data", self.data, "--trained", self.data, "--out", self.out]


def run(program, arguments, cwd):
    command = [*program, *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=600,
                          check=False)


def refused(done, word, written):
    """What is wrong with a refusal, or nothing."""
    if done.returncode != 2:
        return f"exit code {done.returncode}, expected 2"
    if done.stderr.count("\n") != 1 or not done.stderr.endswith("\n"):
        return f"not one line: {done.stderr!r}"
    if word not in done.stderr:
        return f"no {word!r} in {done.stderr!r}"
    if done.stdout:
        return f"printed {done.stdout[:80]!r}"
    if left := [path.name for path in written.rglob("*") if path.is_file()]:
        return f"wrote {left}"
    return ""


def check_damaged(program, file, content, word):
    with tempfile.TemporaryDirectory() as root:
        folders = Folders(root, GOOD | {file: content})
        done = run(program, folders.arguments(), root)
        wrong = refused(done, word, folders.out)
        return wrong or ("" if file in done.stderr else f"no file name in {done.stderr!r}")


def check_arguments(program, arguments, word):
    with tempfile.TemporaryDirectory() as root:
        return refused(run(program, arguments, root), word, Path(root))


def check_output_is_a_file(program):
    with tempfile.TemporaryDirectory() as root:
        folders = Folders(root, {})
        folders.out.touch()
        done = run(program, ["--out", folders.out / "deeper"], root)
        return refused(done, str(folders.out), folders.data)


def check_control(program):
    with tempfile.TemporaryDirectory() as root:
        folders = Folders(root, GOOD)
        done = run(program, folders.arguments(), root)
        if done.returncode not in (0, 1):
            return f"exit code {done.returncode}: {done.stderr}"
        written = sorted(path.name for path in folders.out.iterdir())
        if written != sorted(OUTPUTS):
            return f"wrote {written}"
        report = json.loads((folders.out / OUTPUTS[0]).read_text())
        return "" if report["images"] == COUNT else f"images: {report['images']}"


def main():
    program = [str(Path(word).resolve()) if Path(word).exists() else word for word in sys.argv[1:]]
    if not program:
        sys.exit(__doc__)
    results = [("control", check_control(program)),
               ("output under a file", check_output_is_a_file(program))]
    results += [(name, check_damaged(program, *case)) for name, *case in DAMAGED]
    results += [(name, check_arguments(program, *case)) for name, *case in WRONG_ARGUMENTS]
    return tap.report(results)


if __name__ == "__main__":
    sys.exit(main())
