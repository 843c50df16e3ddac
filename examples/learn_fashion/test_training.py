#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The program that trains the classifier: what every one must do (learning/trainings.py), and it takes heads from the demo's model.

    test_training.py PROGRAM [ARGUMENT...]     PROGRAM may be an emulator, the program its argument
"""
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "learning"))
import trainings  # noqa: E402
from trainings import CURVES, WEIGHTS  # noqa: E402

EPOCHS, STEPS = 2, 8  # of the pictures that --synthetic makes
# The weights then: with fused multiply-adds (AVX2, AVX-512, AArch64), and without (docs/numerics.md).
TRAINED = {"b645b03356480e596d5c47994ee5500f513e151ca79c402fb8826a3790d232ee", "9a18a3db99dd19e7c0992ce544b9326e759e91c8d928d5868c618a60327a0c0f"}
DEMO, PRUNED = HERE.parent / "fashion" / "trained" / "weights.npz", "pruned-heads.svg"
HEADS = 8
SVG = "{http://www.w3.org/2000/svg}"
TINY = ["--synthetic", "--epochs", str(EPOCHS)]


def learns(bench):
    lines = bench.lines(bench.said)
    if len(lines) != EPOCHS or "s left" not in bench.said:
        return f"said {bench.said!r}"
    losses = [float(line.split("loss")[1].split()[0]) for line in lines]
    if not losses[0] > losses[1] > 0:
        return f"losses {losses}"
    return "" if "\n0 allocations while learning" in bench.said else f"said {bench.said!r}"


def drawn(path):
    """Of a picture: the points of each line, y downwards, and all texts."""
    picture = ElementTree.parse(path).getroot()
    paths = [e.get("d") for e in picture.iter(SVG + "path") if (e.get("class") or "").startswith("line")]
    lines = [[float(y) for _, y in re.findall(r"[ML]([\d.]+) ([\d.]+)", d)] for d in paths if "L" in d]
    return lines, {e.text for e in picture.iter(SVG + "text")}


def curves(bench):
    """Loss and accuracy, a point an epoch."""
    lines, texts = drawn(bench.whole / CURVES)
    if [len(line) for line in lines] != [EPOCHS, EPOCHS] or not lines[0][0] < lines[0][1]:
        return f"lines {lines}"
    return "" if {"loss of the training pictures", "test pictures that are right, %", "1", "2"} <= texts else f"texts {texts}"


def pruned(bench):
    """Both measures of each head, then three columns by the number of heads left and as many lines; by two threads the same."""
    folder = bench.folder("pruned")
    said = []
    for threads in (1, 2):
        done = bench.run("--synthetic", "--prune", DEMO, "--out", folder, "--threads", threads)
        if done.returncode != 0:
            return f"exit code {done.returncode}: {done.stderr}"
        said.append(done.stdout)
    rows = [[float(cell) for cell in row.strip("|").split("|")] for row in re.findall(r"^\|[ +\-.\d|]*\d \|$", said[0], re.M)]
    heads, left = rows[:HEADS], rows[HEADS:]
    if [row[:2] for row in heads] != [[h // 4, h % 4] for h in range(HEADS)] or not all(row[3] > 0 for row in heads):
        return f"heads {heads}"
    if [row[0] for row in left] != list(range(HEADS, 0, -1)) or left[0][1] != left[0][2]:
        return f"by heads left {left}"
    order = [sorted(range(HEADS), key=lambda h, c=c: -heads[h][c]) for c in (2, 3)]
    if any((set(order[0][:row[0]]) == set(order[1][:row[0]])) and row[1] != row[2] for row in [[int(r[0]), *r[1:]] for r in left]):
        return f"the same heads, another share: {left}"
    lines, texts = drawn(folder / PRUNED)
    if [len(line) for line in lines] != [HEADS] * 3 or "heads left" not in texts:
        return f"lines {lines}, texts {texts}"
    return "" if said[0] == said[1] else f"two threads: {said[1]}"


WRONG_ARGUMENTS = [
    *trainings.wrong_options(["--synthetic"]),
    ("no pictures", [], "--data DIR or --synthetic"),
    ("two kinds of pictures", ["--synthetic", "--data", "."], "--data DIR or --synthetic"),
    ("no such folder", ["--data", "nowhere"], "nowhere"),
    ("no epochs", ["--synthetic", "--epochs", "0"], "from 1 to 1000"),
    ("no such model", ["--synthetic", "--prune", "nowhere.npz"], "nowhere.npz"),
    ("another model", ["--synthetic", "--prune", Path(__file__).resolve()], "test_training.py"),
    ("pruning that goes on", ["--synthetic", "--prune", DEMO, "--resume"], "--prune makes no checkpoint"),
]


def results(program, root):
    bench = trainings.Bench(program, root, "learn_fashion", TINY, "epoch ")
    return [("learns", learns(bench)), ("the bits of other compilers", trainings.bits(bench, TRAINED)), ("draws its curves", curves(bench)),
            ("the checksum of its weights", trainings.checksum((bench.whole / WEIGHTS).read_bytes())),
            ("prunes heads", pruned(bench)),
            ("two threads", trainings.threads(bench, 2)), ("four threads", trainings.threads(bench, 4)),
            ("stopped within an epoch", trainings.interrupted(bench, 3, STEPS)),
            ("stopped after an epoch", trainings.interrupted(bench, 4, STEPS)),
            ("killed", trainings.killed(bench)), ("two in one folder", trainings.two_at_once(bench)), *trainings.what_cannot_be_written(bench), *trainings.all_damaged(bench),
            ("another seed", trainings.of_another(bench, ["--seed", "2"], "--seed 1")),
            ("other epochs", trainings.of_another(bench, ["--epochs", "3"], "--epochs 2")),
            ("not overwritten", trainings.not_overwritten(bench)), ("finished", trainings.finished(bench)),
            *trainings.wrong_arguments(bench, WRONG_ARGUMENTS)]


if __name__ == "__main__":
    sys.exit(trainings.report(results, __doc__))
