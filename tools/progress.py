#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""What a tool does, how far it is and the time left, on standard error; tools/setup.sh calls it, Python tools import it.

    progress.py ninja WHAT LOG -- ninja ARGUMENT...       as the steps of Ninja; what fails is printed as it comes
    progress.py tests WHAT LOG -- meson test ARGUMENT...  as the tests of Meson; what fails is printed as it comes
    progress.py apt WHAT LOG -- COMMAND...                as the percents of apt-get -o APT::Status-Fd=1
    progress.py run WHAT LOG -- COMMAND...                the time that it takes; what it prints goes into the log only
    progress.py show WHAT TOTAL -- COMMAND...             its lines as they come. TOTAL: of lines with a figure; 0: "3/32" says it
    progress.py pool WHAT JOBS NAME... -- COMMAND...      COMMAND NAME for each, so many at a time; each one's output when it ends
    progress.py lock FD FILE HOLDER                       waits for the lock of an open file, and names who has it

On a terminal it is one line, drawn again each second. Without one it is a line a stage and one every 60 s. Under `pool` the
line goes into the file $UMBEL_PROGRESS_FILE, and the pool shows it. The exit code is the command's; 130 after Ctrl-C.
"""
import contextlib
import ctypes
import fcntl
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
QUIET_SECONDS = 60  # between two lines, without a terminal
INTERRUPTED = 130


def clock(seconds):
    seconds = int(seconds)
    hours, minutes = seconds // 3600, seconds // 60 % 60
    return f"{hours}:{minutes:02}:{seconds % 60:02}" if hours else f"{minutes}:{seconds % 60:02}"


class Progress:
    """A stage: `with Progress("measuring", 12) as progress: ...; progress.update(done=3, now="softmax")`."""

    shown = None

    def __init__(self, what, total=0, begin=True):
        """begin: a line at once where there is no terminal."""
        self.what, self.total, self.done, self.now, self.more, self.doing = what, total, 0, "", "", ""
        self.start = self.printed = time.monotonic()
        self.begin = begin
        self.ends = 0  # when a command that says it expects to
        self.file = os.environ.get("UMBEL_PROGRESS_FILE")
        self.live = not self.file and sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self.lock, self.ended = threading.RLock(), threading.Event()
        self.drawn = False

    def __enter__(self):
        self.within, Progress.shown = Progress.shown, self
        if self.within:  # a stage of a stage: that one is shown
            self.live, self.file = False, ""
            return self
        if self.begin or self.live:
            self.show()
        self.thread = threading.Thread(target=self.tick, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        Progress.shown = self.within
        if self.within:
            return
        self.ended.set()
        self.thread.join()
        with self.lock:
            self.clear()
            if self.file:
                pathlib.Path(self.file).unlink(missing_ok=True)

    def tick(self):
        while not self.ended.wait(1):
            if self.live or self.file or time.monotonic() - self.printed >= QUIET_SECONDS:
                self.show()

    def update(self, done=None, total=None, now=None, more=None):
        with self.lock:
            self.done = self.done if done is None else done
            self.total = self.total if total is None else total
            self.now = self.now if now is None else now
            self.more = self.more if more is None else more
            if self.live and time.monotonic() - self.printed > 0.05:
                self.draw()

    def step(self, now):
        """What came before is done; this is next."""
        self.update(done=self.done + bool(self.doing), now=now)
        self.doing = now

    def detail(self, what):
        """Of what is being done."""
        self.update(now=f"{self.doing}, {what}")

    def left(self, passed):
        """Seconds: what was said last, or as what is done took."""
        if self.ends:
            return max(self.ends - time.monotonic(), 0)
        return passed * (self.total - self.done) / self.done if 0 < self.done < self.total and passed >= 5 else 0

    def line(self):
        passed = time.monotonic() - self.start
        words = [self.what]
        if self.total:
            words.append(f"{self.done} of {self.total}{self.more}")
        if passed >= 1:
            words.append(clock(passed))
        if left := self.left(passed):
            words.append(f"about {clock(left)} left")
        return ", ".join(words) + (f": {self.now}" if self.now else "")

    def show(self):
        with self.lock:
            if self.file:
                with contextlib.suppress(OSError):
                    pathlib.Path(self.file).write_text(self.line())
            elif self.live:
                self.draw()
            else:
                self.printed = time.monotonic()
                self.write(f"{self.line()}\n")

    def draw(self):
        self.printed = time.monotonic()
        width = shutil.get_terminal_size().columns - 1
        self.write(f"\r{self.line()[:width]}\x1b[K")
        self.drawn = True

    def clear(self):
        if self.drawn:
            self.write("\r\x1b[K")
            self.drawn = False

    def say(self, text, stream=None):
        """A line that stays, on standard output unless it is said."""
        with self.lock:
            self.clear()
            with contextlib.suppress(BrokenPipeError):
                print(text, file=stream or sys.stdout, flush=True)
            if self.live:
                self.draw()

    @staticmethod
    def write(text):
        with contextlib.suppress(OSError):
            sys.stderr.write(text)
            sys.stderr.flush()


# ---- a command under it --------------------------------------------------------------------------
def output_of(command, environment=None, terminal=False, errors=None):
    """Its lines as they come, and its exit code as the last. With a terminal of its own Ninja says what it starts, too. `errors`
    takes the lines of its standard error, which else are among the others."""
    reader = writer = None
    if terminal:
        with contextlib.suppress(OSError, ImportError):
            import pty
            reader, writer = pty.openpty()
    if reader is None:
        reader, writer = os.pipe()
    try:
        # Whoever holds the lock of the folder hands it on: it is free when all of them have ended.
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=writer,
                                 stderr=subprocess.PIPE if errors else subprocess.STDOUT, close_fds=False, env=os.environ | (environment or {}))
    except OSError as problem:
        yield f"{command[0]}: {problem.strerror}"
        yield 127
        return
    finally:
        os.close(writer)
    aside = threading.Thread(target=lambda: [errors(line.decode(errors="replace").rstrip()) for line in child.stderr], daemon=True)
    if errors:
        aside.start()
    try:
        rest = b""
        while part := read_some(reader):
            *lines, rest = re.split(rb"\r\n|\r|\n|\x1b\[K", rest + part)
            for line in lines:
                yield re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", line.decode(errors="replace"))
        if rest:
            yield rest.decode(errors="replace")
        code = child.wait()
        if errors:
            aside.join(5)
        yield code
    except (KeyboardInterrupt, GeneratorExit):
        stop(child)
        raise
    finally:
        os.close(reader)


def read_some(descriptor):
    try:
        return os.read(descriptor, 1 << 16)
    except OSError:  # EIO: the other end of a terminal is closed
        return b""


def stop(child):
    """A child that Ctrl-C may have reached already ends what it is at."""
    for ask in (child.terminate, child.kill):
        if child.poll() is None:
            ask()
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(20)


def exit_code(status):
    return status if status >= 0 else 128 - status


def follow(log, command, read, **how):
    """Runs a command, each of its lines into the log and to `read`; the exit code."""
    with open(log, "w") as file:
        for line in output_of(command, **how):
            if isinstance(line, int):
                return exit_code(line)
            if read(line):
                print(line, file=file, flush=True)


def under_ninja(what, log, command):
    status = re.compile(r"\[(\d+)/(\d+)\] (.*)")
    running, failing, finished = [], False, 0
    said = []

    def name(step):
        """Of the file that it makes: "Compiling C++ object a.p/a.cpp.o", "Generating b with a custom command"."""
        words = step.partition(" with ")[0].split()
        return words[-1].rpartition("/")[2].removesuffix(".o") if words else ""

    def read(line):
        nonlocal failing, finished
        if found := status.fullmatch(line):
            failing = False
            done, step = int(found[1]), found[3]
            if done > finished or step in running:
                if step in running:
                    running.remove(step)
            else:
                running.append(step)
            finished = done
            progress.update(done=done, total=int(found[2]), now=", ".join(map(name, running)) or name(step))
            return True
        failing = failing or line.startswith("FAILED: ")
        if failing and line and not line.startswith("ninja: "):
            said.append(line)
            progress.say(line, sys.stderr)
        return bool(line)

    with Progress(what) as progress:
        code = follow(log, command, read, environment={"NINJA_STATUS": "[%f/%t] "}, terminal=True)
        if code and not said:
            progress.say(pathlib.Path(log).read_text().rstrip(), sys.stderr)
    return code


def tests_of(command):
    """The names that a call of meson test gives, or all those of its folder; none where it is told in another way."""
    if any("suite" in word for word in command):
        return set()
    try:
        tests = json.loads(pathlib.Path(command[command.index("-C") + 1], "meson-info/intro-tests.json").read_text())
    except (OSError, ValueError):
        return set()
    known = {test["name"] for test in tests}
    return known.intersection(command) or known


def under_tests(what, log, command):
    result = re.compile(r" *(\d+)/(\d+) +(?:\S+ / )?(\S.*?) +(OK|SKIP|EXPECTEDFAIL|FAIL|TIMEOUT|ERROR|INTERRUPT|UNEXPECTEDPASS)\b.*")
    good = ("OK", "SKIP", "EXPECTEDFAIL")
    failed, saying, summed_up = 0, False, False
    left = tests_of(command)

    def read(line):
        nonlocal failed, saying, summed_up
        summed_up = summed_up or line == "Summary of Failures:"
        found = result.fullmatch(line)
        if found and not summed_up:
            failed += found[4] not in good
            done, total = int(found[1]), int(found[2])
            left.discard(found[3])
            now = f"waiting for {', '.join(sorted(left))}" if 0 < total - done == len(left) < 5 else found[3]
            progress.update(done=done, total=total, now=now, more=f", {failed} failed" if failed else "")
        saying = saying or failed > 0 or line.startswith(("▶ ", "| ")) or "time out (After" in line
        if saying and line.strip() and not (found and found[4] in good) and not line.startswith("ninja: "):
            progress.say(line)
        return True

    with Progress(what, len(left)) as progress:
        code = follow(log, command, read)
        if code and not saying:
            progress.say(pathlib.Path(log).read_text().rstrip())
    return code


def under_apt(what, log, command):
    def read(line):
        if found := re.match(r"(dl|pm)status:([^:]*):([\d.]+):(.*)", line):
            progress.update(done=int(float(found[3])), total=100, now=found[4], more=" %")
        return not found

    with Progress(what) as progress:
        return follow(log, command, read)


def under_nothing(what, log, command):
    with Progress(what):
        return follow(log, command, lambda line: True)


def under_show(what, total, command):
    counted = int(total)
    row = re.compile(r"\S.* \d+\.\d{1,3}( .*)?" if counted else r"\w+ (\d+)/(\d+)\b.*")

    def read(line):
        if found := row.fullmatch(line):
            progress.update(done=progress.done + 1 if counted else int(found[1]), total=counted or int(found[2]))
        if found := re.search(r"\b(\d+) s left$", line):
            progress.ends = time.monotonic() + int(found[1])
        progress.say(line)

    with Progress(what, counted) as progress:
        for line in output_of(command, terminal=True, errors=lambda line: progress.say(line, sys.stderr)):
            if isinstance(line, int):
                return exit_code(line)
            read(line)
    return 0


# ---- several at a time -----------------------------------------------------------------------------
def pool(what, jobs, *rest):
    """The exit code is 1 if any of them ends with another one than 0."""
    split = rest.index("--")
    names, command = list(rest[:split]), list(rest[split + 1:])
    running, code = {}, 0
    with tempfile.TemporaryDirectory() as path, Progress(what, len(names)) as progress:
        folder = pathlib.Path(path)

        def start(number, name):
            output = open(folder / f"{number}.output", "wb")
            state = folder / f"{number}.state"
            with output:
                child = subprocess.Popen([*command, name], stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                                         start_new_session=True, close_fds=False, env=os.environ | {"UMBEL_PROGRESS_FILE": str(state)})
            running[child] = (name, folder / f"{number}.output", state)

        def states():
            for name, _, state in running.values():
                with contextlib.suppress(OSError):
                    stage = state.read_text().partition(": ")[2]
                    yield stage if name in stage else f"{name} {stage}"

        waiting = list(enumerate(names))
        try:
            while waiting or running:
                while waiting and len(running) < int(jobs):
                    start(*waiting.pop(0))
                for child in [child for child in running if child.poll() is not None]:
                    _, output, _ = running.pop(child)
                    code = code or int(child.returncode != 0)
                    if text := output.read_text(errors="replace").rstrip():
                        progress.say(text)
                    progress.update(done=progress.done + 1)
                progress.update(now="; ".join(states()))
                time.sleep(0.2)
        except KeyboardInterrupt:
            for child in running:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGTERM)
            for child in running:
                stop(child)
            raise
    return code


# ---- the lock of a folder --------------------------------------------------------------------------
def lock(descriptor, file, holder):
    descriptor, file = int(descriptor), pathlib.Path(file)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        with Progress(f"waiting for {file.parent}, in use by {file.read_text().strip() or 'another tool'}"):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"{holder}\n".encode(), 0)
    return 0


def end_with_parent():
    """Who kills the tool that a message names as the holder of a folder means what it runs, too."""
    with contextlib.suppress(AttributeError, OSError):  # Linux has it
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG


def main():
    way, *arguments = sys.argv[1:]
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    end_with_parent()
    try:
        if way == "pool":
            return pool(*arguments)
        if way == "lock":
            return lock(*arguments)
        ways = {"ninja": under_ninja, "tests": under_tests, "apt": under_apt, "run": under_nothing, "show": under_show}
        what, log, _, *command = arguments
        return ways[way](what, log, command)
    except KeyboardInterrupt:
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
