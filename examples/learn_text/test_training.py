#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The program that trains the language model: what every one must do (learning/trainings.py), and the weights are of the model that writes.

    test_training.py TEXT WRITER PROGRAM [ARGUMENT...]     TEXT: of 4,097 characters; WRITER: tiny_language_model; PROGRAM may be an
                                                           emulator, the program its argument
"""
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "learning"))
import trainings  # noqa: E402
from trainings import WEIGHTS  # noqa: E402

STEPS, LINES = 5, [2, 4, 5]  # the last step is of pieces of the whole context
# The weights then: with fused multiply-adds (AVX2, AVX-512, AArch64), and without (docs/numerics.md).
TRAINED = {"f8a457d1d3aa0686b8d538de304adb2875349bbbf2810da895f51ccb9f475b49", "a332eff78bb6cbbf5e53e5b8b8cc9d3f7d350d7f6dedcf67d7bb1706472dc77f"}


def learns(bench):
    lines = bench.lines(bench.said)
    if [line.split()[1] for line in lines] != [f"{at}/{STEPS}" for at in LINES] or "s left" not in bench.said:
        return f"said {bench.said!r}"
    losses, perplexities = ([float(line.split(word)[1].split()[0]) for line in lines] for word in ("loss", "perplexity"))
    if not losses[0] > losses[-1] > 0 or not 64 > perplexities[0] > perplexities[-1] > 1:
        return f"losses {losses}, perplexities {perplexities}"
    return "" if "\n0 allocations while learning" in bench.said else f"said {bench.said!r}"


def writes(bench, writer):
    """The text that it writes is of little sense by now, but its weights are those that were learned, as its probe says."""
    done = subprocess.run([writer, "--weights", bench.whole / WEIGHTS, "--tokens", "20"], capture_output=True, text=True, timeout=60, check=False)
    return "" if done.returncode == 0 and "20 characters" in done.stdout else f"exit code {done.returncode}: {done.stderr!r}"


def damaged(bench, writer):
    """The program that writes takes no weights but those that were learned."""
    file = bench.root / "damaged.safetensors"
    for where, content in trainings.damages((bench.whole / WEIGHTS).read_bytes()):
        file.write_bytes(content)
        done = subprocess.run([writer, "--weights", file, "--tokens", "1"], capture_output=True, text=True, timeout=60, check=False)
        if done.returncode != 1 or file.name not in done.stderr or done.stdout:
            return f"{where}: exit code {done.returncode}: {done.stderr!r}"
    return ""


def results(program, root):
    text, writer, *program = program
    tiny = ["--text", text, "--held-out", 1537, "--characters", 1024, "--steps", STEPS]
    bench = trainings.Bench(program, root, "learn_text", tiny, "step ")
    digit, short = bench.root / "digit.txt", bench.root / "short.txt"
    digit.write_text("Psalm 23\n" * 500)
    short.write_text("In the beginning God created the heaven and the earth.\n" * 10)
    return [("learns", learns(bench)), ("the bits of other compilers", trainings.bits(bench, TRAINED)),
            ("writes", writes(bench, writer)), ("damaged weights", damaged(bench, writer)),
            ("two threads", trainings.threads(bench, 2)), ("four threads", trainings.threads(bench, 4)),
            ("stopped between two lines", trainings.interrupted(bench, 3, STEPS)),
            ("stopped after a line", trainings.interrupted(bench, 4, STEPS)),
            ("killed", trainings.killed(bench)), ("two in one folder", trainings.two_at_once(bench)), *trainings.what_cannot_be_written(bench), *trainings.all_damaged(bench),
            ("another seed", trainings.of_another(bench, ["--seed", "2"], "--seed 1")),
            ("more steps", trainings.of_another(bench, ["--steps", "9"], "--steps 5")),
            ("another text", trainings.of_another(bench, ["--held-out", "1600"], "--held-out 1537")),
            ("not overwritten", trainings.not_overwritten(bench)), ("finished", trainings.finished(bench)),
            *trainings.wrong_arguments(bench, [
                *trainings.wrong_options(tiny),
                ("no text", [], "--text FILE"),
                ("no such text", ["--text", "nowhere"], "nowhere"),
                ("a character that is not in the alphabet", ["--text", digit], "byte 7"),
                ("a short text", ["--text", short, "--held-out", "300"], "550 characters"),
                ("no steps", [*tiny, "--steps", "0"], "from 1"),
                ("half a piece", [*tiny, "--characters", "1500"], "multiple of 1024"),
                ("one piece", [*tiny, "--characters", "256"], "from 1024"),
                ("nothing held out", [*tiny, "--held-out", "0"], "from 257")])]


if __name__ == "__main__":
    sys.exit(trainings.report(results, __doc__))
