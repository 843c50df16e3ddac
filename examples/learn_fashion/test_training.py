#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The program that trains gives the same bits however it is interrupted, by however many threads and by whichever compiler, and
refuses unusable input: a line on stderr that names the culprit, exit code 2, nothing written. It also takes heads from the demo's model.

    test_training.py PROGRAM [ARGUMENT...]     PROGRAM may be an emulator, the program its argument

Checkpoints hold all that a step depends on, so equal files are equal trainings.
"""
import hashlib
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from xml.etree import ElementTree

CHECKPOINT, WEIGHTS, CURVES = "checkpoint.safetensors", "weights.safetensors", "curves.svg"
EPOCHS, STEPS = 2, 8  # of the pictures that --synthetic makes
# The weights then: with fused multiply-adds (AVX2, AVX-512, AArch64), and without (docs/numerics.md).
TRAINED = {"eeb30ea62b308d8e9a46bd233239351e69ee6f0049878d74b79a75e293adb26d", "bf428a39462eba1a3418e893709918bb21445b59065bfc7eb709334347fb4244"}
DEMO, PRUNED = Path(__file__).resolve().parent.parent / "fashion" / "trained" / "weights.npz", "pruned-heads.svg"
HEADS = 8
SVG = "{http://www.w3.org/2000/svg}"
TINY = ["--synthetic", "--epochs", str(EPOCHS)]


class Bench:
    """Folders for trainings, and the one that nothing interrupted."""

    def __init__(self, program, root):
        self.program, self.root = program, Path(root)
        self.whole = self.folder("whole")
        self.said = self.train(self.whole)

    def folder(self, name):
        path = self.root / name
        path.mkdir()
        return path

    def command(self, arguments):
        return [*self.program, *map(str, arguments)]

    def run(self, *arguments):
        return subprocess.run(self.command(arguments), cwd=self.root, capture_output=True, text=True, timeout=300, check=False)

    def train(self, folder, *more):
        done = self.run(*TINY, "--out", folder, *more)
        if done.returncode != 0:
            raise AssertionError(f"exit code {done.returncode}: {done.stderr}")
        return done.stdout

    def is_whole(self, folder):
        """What differs from the training that nothing interrupted, or nothing."""
        for name in (CHECKPOINT, WEIGHTS, CURVES):
            if (folder / name).read_bytes() != (self.whole / name).read_bytes():
                return f"another {name}"
        left = sorted(path.name for path in folder.iterdir())
        return "" if left == [CHECKPOINT, CURVES, WEIGHTS] else f"left {left}"


def learns(bench):
    lines = [line for line in bench.said.splitlines() if line.startswith("epoch ")]
    if len(lines) != EPOCHS or "s left" not in lines[0]:
        return f"said {bench.said!r}"
    losses = [float(line.split("loss")[1].split()[0]) for line in lines]
    if not losses[0] > losses[1] > 0:
        return f"losses {losses}"
    return "" if "\n0 allocations while learning" in bench.said else f"said {bench.said!r}"


def bits(bench):
    found = hashlib.sha256((bench.whole / WEIGHTS).read_bytes()).hexdigest()
    return "" if found in TRAINED else f"other weights than of other targets: {found}"


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


def threads(bench, count):
    folder = bench.folder(f"threads-{count}")
    bench.train(folder, "--threads", count)
    return bench.is_whole(folder)


def interrupted(bench, steps):
    """Stopped after so many steps, also within an epoch."""
    folder = bench.folder(f"interrupted-{steps}")
    said = bench.train(folder, "--steps", steps)
    if f"stopped after step {steps} of {STEPS}" not in said or (folder / WEIGHTS).exists():
        return f"said {said!r}"
    said = bench.train(folder, "--resume")
    lines = [line for line in said.splitlines() if line.startswith("epoch 2")]
    wanted = [line for line in bench.said.splitlines() if line.startswith("epoch 2")]
    if [line.rsplit("  ", 1)[0] for line in lines] != [line.rsplit("  ", 1)[0] for line in wanted]:
        return f"said {lines}, expected {wanted}"
    return bench.is_whole(folder)


def killed(bench):
    """Each time a little later, with a checkpoint a step; what is there then goes on."""
    folder = bench.folder("killed")
    checkpoint = folder / CHECKPOINT
    for turn in range(4):
        command = bench.command([*TINY, "--out", folder, "--checkpoint-every", 1, *["--resume"] * checkpoint.exists()])
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as running:
            before = checkpoint.stat().st_mtime_ns if checkpoint.exists() else 0
            until = time.monotonic() + 60
            while running.poll() is None and time.monotonic() < until:
                if checkpoint.exists() and checkpoint.stat().st_mtime_ns != before:
                    break
                time.sleep(0.001)
            time.sleep(0.005 * turn)
            running.send_signal(signal.SIGKILL)
            if running.wait() not in (0, -signal.SIGKILL):
                return f"exit code {running.returncode}: {running.stderr.read()!r}"
    bench.train(folder, "--resume")
    (folder / (CHECKPOINT + ".part")).unlink(missing_ok=True)  # of a kill while it was written
    return bench.is_whole(folder)


def finished(bench):
    """What is trained is measured again, and stays."""
    bench.train(bench.whole, "--resume")
    return ""


def refused(done, word):
    if done.returncode != 2:
        return f"exit code {done.returncode}, expected 2"
    if done.stderr.count("\n") != 1 or not done.stderr.startswith("learn_fashion: "):
        return f"not one line: {done.stderr!r}"
    if word not in done.stderr:
        return f"no {word!r} in {done.stderr!r}"
    return f"printed {done.stdout[:80]!r}" if done.stdout else ""


def damaged(bench, name, content, word):
    folder = bench.folder("damaged-" + name.replace(" ", "-"))
    if content is not None:
        (folder / CHECKPOINT).write_bytes(content)
    wrong = refused(bench.run(*TINY, "--out", folder, "--resume"), word)
    left = {path.name: path.read_bytes() for path in folder.iterdir()}
    return wrong or ("" if left == ({} if content is None else {CHECKPOINT: content}) else f"wrote {list(left)}")


def flipped(content, at):
    return content[:at] + bytes([content[at] ^ 16]) + content[at + 1:]


def all_damaged(bench):
    good = (bench.whole / CHECKPOINT).read_bytes()
    middle = len(good) // 2
    cases = [("missing", None, "does not exist"), ("empty", b"", CHECKPOINT),
             ("cut off", good[:-1], CHECKPOINT), ("half", good[:middle], CHECKPOINT),
             ("longer", good + b"\0", CHECKPOINT), ("a text", b"not a checkpoint", CHECKPOINT),
             ("other weights", (bench.whole / WEIGHTS).read_bytes(), "is no whole checkpoint"),
             ("a number", flipped(good, middle), "not those that were written"),
             ("its checksum", flipped(good, len(good) - 1), "not those that were written"),
             ("its header", flipped(good, 100), CHECKPOINT)]
    return [("damaged: " + name, damaged(bench, name, content, word)) for name, content, word in cases]


def of_another(bench, more, word):
    before = (bench.whole / CHECKPOINT).read_bytes()
    wrong = refused(bench.run(*TINY, "--out", bench.whole, "--resume", *more), word)
    return wrong or ("" if (bench.whole / CHECKPOINT).read_bytes() == before else "overwritten")


def not_overwritten(bench):
    wrong = refused(bench.run(*TINY, "--out", bench.whole), "--resume goes on from it")
    return wrong or bench.is_whole(bench.whole)


WRONG_ARGUMENTS = [
    ("unknown option", ["--synthetic", "--epoch", "3"], "'--epoch'"),
    ("stray word", ["--synthetic", "x"], "'x'"),
    ("no pictures", [], "--data DIR or --synthetic"),
    ("two kinds of pictures", ["--synthetic", "--data", "."], "--data DIR or --synthetic"),
    ("no such folder", ["--data", "nowhere"], "nowhere"),
    ("option without a value", ["--synthetic", "--seed"], "--seed"),
    ("an empty folder", ["--synthetic", "--out="], "--out"),
    ("no epochs", ["--synthetic", "--epochs", "0"], "from 1 to 1000"),
    ("three threads", ["--synthetic", "--threads", "3"], "1, 2 or 4"),
    ("five threads", ["--synthetic", "--threads", "5"], "from 1 to 4"),
    ("half a step", ["--synthetic", "--steps", "1.5"], "'1.5'"),
    ("a negative seed", ["--synthetic", "--seed", "-1"], "'-1'"),
    ("no such model", ["--synthetic", "--prune", "nowhere.npz"], "nowhere.npz"),
    ("another model", ["--synthetic", "--prune", Path(__file__).resolve()], "test_training.py"),
    ("pruning that goes on", ["--synthetic", "--prune", DEMO, "--resume"], "--prune makes no checkpoint"),
    ("no steps between", ["--synthetic", "--checkpoint-every", "0"], "from 1"),
]


def main():
    program = [str(Path(word).resolve()) if Path(word).exists() else word for word in sys.argv[1:]]
    if not program:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as root:
        bench = Bench(program, root)
        results = [("learns", learns(bench)), ("the bits of other compilers", bits(bench)), ("draws its curves", curves(bench)), ("prunes heads", pruned(bench)),
                   ("two threads", threads(bench, 2)), ("four threads", threads(bench, 4)),
                   ("stopped within an epoch", interrupted(bench, 3)), ("stopped after an epoch", interrupted(bench, 4)),
                   ("killed", killed(bench)), *all_damaged(bench),
                   ("another seed", of_another(bench, ["--seed", "2"], "--seed 1")),
                   ("other epochs", of_another(bench, ["--epochs", "3"], "--epochs 2")),
                   ("not overwritten", not_overwritten(bench)), ("finished", finished(bench))]
        results += [(name, refused(bench.run(*arguments), word)) for name, arguments, word in WRONG_ARGUMENTS]
        here = sorted(path.name for path in bench.root.iterdir() if "fashion" in path.name)
        results.append(("nothing written of what was refused", f"wrote {here}" if here else ""))
    print(f"TAP version 13\n1..{len(results)}")
    for number, (name, wrong) in enumerate(results, 1):
        print(f"{'not ok' if wrong else 'ok'} {number} - {name}")
        if wrong:
            print(f"# {wrong}")
    return 1 if any(wrong for _, wrong in results) else 0


if __name__ == "__main__":
    sys.exit(main())
