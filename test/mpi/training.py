#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""examples/14_learn_over_ranks.cpp learns the weights of examples/learn_fashion, by 1, 2 and 4 processes; and a rank that is killed ends
the job, with a checkpoint from which it goes on to the same bits, by another number of processes.

    training.py MPIRUN PROGRAM
"""
import hashlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE), str(HERE.parent.parent / "examples" / "learn_fashion")]
from check import SECONDS, Mpirun  # noqa: E402
from tap import Tap  # noqa: E402
from test_training import TINY, TRAINED  # noqa: E402
from trainings import CHECKPOINT, LOCK, WEIGHTS  # noqa: E402

LONG = ["--synthetic", "--epochs", "25", "--checkpoint-every", "1"]


def files(folder):
    return sorted(path.name for path in folder.iterdir())


def ranks_of(job):
    """The processes that mpirun has started."""
    return [int(pid) for pid in pathlib.Path(f"/proc/{job.pid}/task/{job.pid}/children").read_text().split()]


def killed(mpirun, program, folder):
    """(exit code, what was said) of a job of two ranks whose second is killed after its first checkpoint."""
    job = subprocess.Popen([*mpirun.command, "-n", "2", program, *LONG, "--out", folder], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           text=True, env=mpirun.environment, stdin=subprocess.DEVNULL)
    end = time.monotonic() + SECONDS
    while not (folder / CHECKPOINT).exists() and job.poll() is None and time.monotonic() < end:
        time.sleep(0.005)
    try:
        os.kill(ranks_of(job)[-1], signal.SIGKILL)
        said = job.communicate(timeout=SECONDS)[0]
    except (IndexError, OSError, subprocess.TimeoutExpired) as problem:
        job.kill()
        return None, f"{problem}: {job.communicate()[0]}"
    return job.returncode, said


def main():
    tap = Tap()
    mpirun, program = Mpirun(sys.argv[1]), sys.argv[2]
    with tempfile.TemporaryDirectory() as root:
        root = pathlib.Path(root)
        for ranks in (1, 2, 4):
            out = root / str(ranks)
            code, _, said = mpirun.run(ranks, program, *TINY, "--out", out)
            found = code == 0 and hashlib.sha256((out / WEIGHTS).read_bytes()).hexdigest()
            tap.check(f"{ranks} ranks: the weights of one process", found in TRAINED, said)
        code, _, said = mpirun.run(3, program, *TINY, "--out", root / "3")
        tap.check("3 ranks: one sentence", code not in (0, None) and "four chains are shared by 1, 2 or 4 processes, not 3" in said, said)

        whole, broken = root / "whole", root / "broken"
        code, _, said = mpirun.run(1, program, *LONG, "--out", whole)
        tap.check("a training that nothing interrupts", code == 0, said)
        code, said = killed(mpirun, program, broken)
        tap.check("a rank that is killed ends the job", code not in (0, None), said)
        tap.check("and a message says so", re.search(r"signal 9|KILLED", said, re.I), said)
        tap.check("before its end", WEIGHTS not in files(broken), str(files(broken)))
        # Ranks wait by asking again and again, so more of them than free cores take many times as long.
        code, out, said = mpirun.run(4, program, *LONG, "--out", broken, seconds=4 * SECONDS)
        tap.check("it goes on, by other ranks", code == 0 and re.search(r"begins after step [1-9]", out), said)
        tap.check("to the same bits", files(broken) == files(whole) == [CHECKPOINT, LOCK, WEIGHTS]
                  and all((broken / name).read_bytes() == (whole / name).read_bytes() for name in files(whole)), str(files(broken)))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
