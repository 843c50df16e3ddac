# SPDX-License-Identifier: BSL-1.0
"""What every program that trains must do, for their tests: give the same bits however it is interrupted, by however many threads and
by whichever compiler, and refuse unusable input: a line on stderr that names the culprit, exit code 2, nothing written.

Checkpoints hold all that a step depends on, so equal files are equal trainings.
"""
import hashlib
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "test"))
import tap  # noqa: E402

CHECKPOINT, WEIGHTS, CURVES, LOCK = "checkpoint.safetensors", "weights.safetensors", "curves.svg", "lock"


class Bench:
    """Folders for trainings, and the one that nothing interrupted."""

    def __init__(self, program, root, name, tiny, progress):
        """tiny: the options of a short training; progress: how its lines begin."""
        self.program, self.root, self.name, self.tiny, self.progress = program, Path(root), name, tiny, progress
        self.whole = self.folder("whole")
        self.said = self.train(self.whole)

    def folder(self, name):
        path = self.root / name
        path.mkdir()
        return path

    def command(self, arguments):
        return [*self.program, *map(str, arguments)]

    def run(self, *arguments, **how):
        return subprocess.run(self.command(arguments), cwd=self.root, capture_output=True, text=True, timeout=300, check=False, **how)

    def train(self, folder, *more):
        done = self.run(*self.tiny, "--out", folder, *more)
        if done.returncode != 0:
            raise AssertionError(f"exit code {done.returncode}: {done.stderr}")
        return done.stdout

    def lines(self, said):
        """How the training went, without the time that is left."""
        return [line.rsplit("  ", 1)[0] for line in said.splitlines() if line.startswith(self.progress)]

    def is_whole(self, folder):
        """What differs from the training that nothing interrupted, or nothing."""
        for name in (CHECKPOINT, WEIGHTS, CURVES):
            if (folder / name).read_bytes() != (self.whole / name).read_bytes():
                return f"another {name}"
        left = sorted(path.name for path in folder.iterdir())
        return "" if left == [CHECKPOINT, CURVES, LOCK, WEIGHTS] else f"left {left}"

    def refused(self, done, word):
        return self.failed(done, word) or (f"printed {done.stdout[:80]!r}" if done.stdout else "")

    def failed(self, done, word):
        """As refused, but perhaps after it began."""
        if done.returncode != 2:
            return f"exit code {done.returncode}, expected 2"
        if done.stderr.count("\n") != 1 or not done.stderr.startswith(f"{self.name}: "):
            return f"not one line: {done.stderr!r}"
        return "" if word in done.stderr else f"no {word!r} in {done.stderr!r}"


def bits(bench, trained):
    found = hashlib.sha256((bench.whole / WEIGHTS).read_bytes()).hexdigest()
    return "" if found in trained else f"other weights than of other targets: {found}"


def threads(bench, count):
    folder = bench.folder(f"threads-{count}")
    bench.train(folder, "--threads", count)
    return bench.is_whole(folder)


def interrupted(bench, step, steps):
    """Stopped after so many steps, wherever that is between two lines."""
    folder = bench.folder(f"interrupted-{step}")
    first = bench.train(folder, "--stop-after", step)
    if f"stopped after step {step} of {steps}" not in first or (folder / WEIGHTS).exists():
        return f"said {first!r}"
    rest = bench.train(folder, "--resume")
    if bench.lines(first) + bench.lines(rest) != bench.lines(bench.said):
        return f"said {first!r}, then {rest!r}, expected {bench.said!r}"
    return bench.is_whole(folder)


def killed(bench):
    """Each time a little later, with a checkpoint a step; what is there then goes on."""
    folder = bench.folder("killed")
    checkpoint = folder / CHECKPOINT
    for turn in range(4):
        command = bench.command([*bench.tiny, "--out", folder, "--checkpoint-every", 1, *["--resume"] * checkpoint.exists()])
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


def two_at_once(bench):
    """The second is refused as long as the first runs, and goes on from what it left when it was killed."""
    folder = bench.folder("two")
    checkpoint = folder / CHECKPOINT
    with subprocess.Popen(bench.command([*bench.tiny, "--out", folder, "--checkpoint-every", 1]), stdout=subprocess.DEVNULL) as first:
        until = time.monotonic() + 60
        while not checkpoint.exists() and first.poll() is None and time.monotonic() < until:
            time.sleep(0.001)
        first.send_signal(signal.SIGSTOP)
        before = checkpoint.read_bytes()
        wrong = [bench.refused(bench.run(*bench.tiny, "--out", folder, *more), f"{folder}: another training runs in this folder")
                 for more in ([], ["--resume"])]
        if checkpoint.read_bytes() != before:
            wrong.append("another checkpoint")
        first.kill()
    if any(wrong) or first.returncode != -signal.SIGKILL:
        return f"{wrong}, the first ended with {first.returncode}"
    bench.train(folder, "--resume")
    (folder / (CHECKPOINT + ".part")).unlink(missing_ok=True)
    return bench.is_whole(folder)


def no_file_in_the_way(bench):
    """A pipe is not waited for and a link not followed, where a checkpoint is written and where it goes."""
    wrong = []
    for number, place in enumerate((CHECKPOINT + ".part", CHECKPOINT)):
        for kind in ("pipe", "link"):
            folder = bench.folder(f"{kind}-{number}")
            victim = folder / "victim"
            victim.write_text("precious")
            if kind == "pipe":
                os.mkfifo(folder / place)
            else:
                (folder / place).symlink_to(victim)
            word = "is no regular file" if place != CHECKPOINT else CHECKPOINT
            wrong.append(bench.failed(bench.run(*bench.tiny, "--out", folder), word))
            if victim.read_text() != "precious":
                wrong.append(f"the {kind} was followed")
    return "; ".join(filter(None, wrong))


def output_is_closed(bench):
    """Nothing that is said goes into a file that was opened since."""
    wrong = []
    for number in (1, 2):
        folder = bench.folder(f"closed-{number}")
        done = subprocess.run(["sh", "-c", f'exec "$@" {number}>&-', "sh", *bench.command([*bench.tiny, "--out", folder, "--stop-after", 1])],
                              cwd=bench.root, capture_output=True, text=True, timeout=300, check=False)
        wrong.append(bench.failed(done, "standard output cannot be written") if number == 1 else done.returncode and f"exit code {done.returncode}")
        if (folder / LOCK).read_bytes():
            wrong.append(f"the lock holds {(folder / LOCK).read_bytes()!r}")
    return "; ".join(filter(None, wrong))


def size_is_limited(bench):
    """ulimit -f: a sentence, and the checkpoint that was there stays."""
    folder = bench.folder("limited")
    bench.train(folder, "--stop-after", 1)
    before = (folder / CHECKPOINT).read_bytes()
    limit = len(before) // 2
    done = bench.run(*bench.tiny, "--out", folder, "--resume", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    if wrong := bench.failed(done, f"{CHECKPOINT}: cannot be written (File too large)"):
        return wrong
    left = sorted(path.name for path in folder.iterdir())
    return "" if left == [CHECKPOINT, LOCK] and (folder / CHECKPOINT).read_bytes() == before else f"left {left}"


def what_cannot_be_written(bench):
    return [("no file in the way", no_file_in_the_way(bench)), ("closed output", output_is_closed(bench)),
            ("a limit of the size", size_is_limited(bench))]


def finished(bench):
    """What is trained is measured again, and stays."""
    bench.train(bench.whole, "--resume")
    return ""


def damaged(bench, name, content, word):
    folder = bench.folder("damaged-" + re.sub(r"\W", "-", name))
    if content is not None:
        (folder / CHECKPOINT).write_bytes(content)
    wrong = bench.refused(bench.run(*bench.tiny, "--out", folder, "--resume"), word)
    left = {path.name: path.read_bytes() for path in folder.iterdir() if path.name != LOCK}
    return wrong or ("" if left == ({} if content is None else {CHECKPOINT: content}) else f"wrote {list(left)}")


def damages(content):
    """A safetensors file with one bit that is another, in every kind of place, or without its end: (where, what is then there)."""
    begin = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:begin])
    tensors = [name for name in header if name != "__metadata__"]
    words = ["{", "__metadata__", "checksum", header["__metadata__"]["checksum"], tensors[0], tensors[-1], "dtype", "F32", "shape", "data_offsets"]
    places = [("the length of its header", 0), ("the length of its header, high", 7), ("its header, the end", begin - 1)]
    places += [(f"its header, {word}", content.index(f'"{word}"'.encode() if word != "{" else b"{") + 1) for word in words]
    places += [("its header, an extent", content.index(b'"shape":[') + 9), ("its header, an offset", content.rindex(b'"data_offsets":[') + 16)]
    for number, name in enumerate(tensors):
        first, end = header[name]["data_offsets"]
        places.append((name, begin + first + number * 7 % (end - first)))
    places.append(("its last byte", len(content) - 1))
    for number, (where, at) in enumerate(places):
        yield where, content[:at] + bytes([content[at] ^ 1 << number % 8]) + content[at + 1:]
    for end in (0, 7, begin // 2, begin, (begin + len(content)) // 2, len(content) - 1):
        yield f"{end} bytes of it", content[:end]


def all_damaged(bench):
    good = (bench.whole / CHECKPOINT).read_bytes()
    cases = [("missing", None, "does not exist"), ("longer", good + b"\0", CHECKPOINT), ("a text", b"not a checkpoint", CHECKPOINT),
             ("other weights", (bench.whole / WEIGHTS).read_bytes(), "is no whole checkpoint"),
             ("a number", good[:-3] + bytes([good[-3] ^ 16]) + good[-2:], "do not match its checksum"),
             *((where, content, CHECKPOINT) for where, content in damages(good))]
    wrong = [(name, damaged(bench, name, content, word)) for name, content, word in cases]
    return [("damaged checkpoints", "; ".join(f"{name}: {why}" for name, why in wrong if why))]


def checksum(content):
    """What the header of weights says that they are, and they are: umbel/weights/checksum.hpp."""
    begin = 8 + int.from_bytes(content[:8], "little")
    value = 14695981039346656037
    for byte in content[begin:]:
        value = ((value ^ byte) * 1099511628211) & 0xFFFFFFFFFFFFFFFF
    said = json.loads(content[8:begin])["__metadata__"]["checksum"]
    return "" if said == f"{value:016x}" else f"says {said}, is {value:016x}"


def of_another(bench, more, word):
    before = (bench.whole / CHECKPOINT).read_bytes()
    wrong = bench.refused(bench.run(*bench.tiny, "--out", bench.whole, "--resume", *more), word)
    return wrong or ("" if (bench.whole / CHECKPOINT).read_bytes() == before else "overwritten")


def not_overwritten(bench):
    wrong = bench.refused(bench.run(*bench.tiny, "--out", bench.whole), "--resume goes on from it")
    return wrong or bench.is_whole(bench.whole)


def wrong_arguments(bench, cases):
    """Each (name, arguments, word); and nothing was written then."""
    results = [(name, bench.refused(bench.run(*arguments), word)) for name, arguments, word in cases]
    here = sorted(path.name for path in bench.root.iterdir() if path.name.endswith("-learned"))
    return [*results, ("nothing written of what was refused", f"wrote {here}" if here else "")]


# Of options that all programs have; `tiny` as in Bench.
def wrong_options(tiny):
    return [("stray word", [*tiny, "x"], "'x'"), ("unknown option", [*tiny, "--epoch", "3"], "'--epoch'"),
            ("option without a value", [*tiny, "--seed"], "--seed"), ("an empty folder", [*tiny, "--out="], "--out"),
            ("three threads", [*tiny, "--threads", "3"], "1, 2 or 4"), ("five threads", [*tiny, "--threads", "5"], "from 1 to 4"),
            ("half a step", [*tiny, "--stop-after", "1.5"], "'1.5'"), ("a negative seed", [*tiny, "--seed", "-1"], "'-1'"),
            ("no steps between", [*tiny, "--checkpoint-every", "0"], "from 1")]


def report(results_of, document):
    """results_of(program, root): (name, what is wrong or nothing) of each check. The exit code."""
    program = [str(Path(word).resolve()) if Path(word).exists() else word for word in sys.argv[1:]]
    if not program:
        sys.exit(document)
    with tempfile.TemporaryDirectory() as root:
        results = results_of(program, root)
    return tap.report(results)
