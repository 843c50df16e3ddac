#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""tools/setup.sh and tools/progress.py on a small project: nothing but Meson's own files is ever removed, a folder is of one
tool at a time, what is done is shown, and Ctrl-C says how to go on.

    building.py ROOT       TAP
"""
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from tap import Tap  # noqa: E402

PROJECT = """project('small', 'cpp', version: '1')
foreach number : ['1', '2', '3']
  custom_target('step' + number, output: 'step' + number,
    command: ['sh', '-c', 'sleep ' + get_option('seconds') + '; touch "$0"', '@OUTPUT@'],
    build_by_default: true)
endforeach
test('good', find_program('true'))
test('slow', find_program('sleep'), args: '1')
test('bad', find_program('sh'), args: ['-c', 'echo this is wrong; exit 1'], suite: 'bad')
"""
OPTIONS = "option('seconds', type: 'string', value: '0')\n"
TOOL = """#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
configure "$root/build/small" "-Dseconds=$2"
case $1 in
  configure) ;;
  compile) compile "$root/build/small" all ;;
  test) compile "$root/build/small" all && run_tests "$root/build/small" "${@:3}" ;;
esac
"""


class Building:
    def __init__(self, root, folder):
        self.tap, self.root = Tap(), folder / "Umbel für alle"
        (self.root / "tools").mkdir(parents=True)
        for name in ("setup.sh", "progress.py"):
            shutil.copy(root / "tools" / name, self.root / "tools")
        (self.root / "meson.build").write_text(PROJECT)
        (self.root / "meson_options.txt").write_text(OPTIONS)
        (self.root / "tools/small").write_text(TOOL)
        self.build = self.root / "build/small"
        self.environment = os.environ | {"LC_ALL": "C.UTF-8"}
        self.environment.pop("UMBEL_PROGRESS_FILE", None)

    def start(self, *arguments):
        return subprocess.Popen(["bash", self.root / "tools/small", *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, env=self.environment, start_new_session=True)

    def run(self, *arguments):
        child = self.start(*arguments)
        out, error = child.communicate()
        return child.returncode, out, error

    def on_terminal(self, *arguments, until=None):
        """(exit code, what it shows, at which seconds). Ctrl-C as soon as it shows `until`."""
        child, terminal = pty.fork()
        if child == 0:
            os.execvpe("bash", ["bash", str(self.root / "tools/small"), *arguments], self.environment | {"TERM": "xterm", "COLUMNS": "200"})
        shown, times, begin = "", [], time.monotonic()
        while True:
            try:
                part = os.read(terminal, 4096) if select.select([terminal], [], [], 60)[0] else b""
            except OSError:
                part = b""
            if not part:
                break
            shown += part.decode(errors="replace")
            times.append(time.monotonic() - begin)
            if until and until in shown:
                os.write(terminal, b"\x03")
                until = None
        os.close(terminal)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), shown, times

    # ---- what is removed -------------------------------------------------------------------------------
    def keeps(self, name, *arguments, code=0):
        """A tool ends as it should, and what else is in the folder stays."""
        kept = {self.build / "learned/checkpoint.safetensors": "trained", self.build / "step9": "built"}
        for file, text in kept.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        found, out, error = self.run(*arguments)
        self.tap.check(name, found == code and all(file.is_file() and file.read_text() == text for file, text in kept.items()), out + error)
        return error

    def removes_nothing(self):
        self.keeps("a folder with something in it", "compile", "0")
        self.keeps("other options", "compile", "0.01")
        (self.build / "meson-private/coredata.dat").write_text("damaged")
        self.keeps("coredata.dat is damaged", "compile", "0.02")
        (self.build / "build.ninja").unlink()
        self.keeps("a setup that was cut short", "compile", "0.02")
        for name, text in (("meson-info/intro-tests.json", None), ("meson-info/intro-targets.json", "[{"), ("meson-private/build.dat", None),
                           ("meson-private/build.dat", "cut"), ("meson-private/meson_test_setup.dat", "")):
            file = self.build / name
            os.truncate(file, 0) if text is not None else file.unlink()
            if text:
                file.write_text(text)
            self.keeps(f"{name} is {'damaged' if text is not None else 'lost'}", "test", "0.02", "--no-suite=bad")
            self.tap.check("and made again", file.exists() and file.stat().st_size > 10)
        self.tap.check("nothing is left of it", not (self.build / "before").exists())
        # What is wrong in the project costs no built file either.
        project, stamp = self.root / "meson.build", (self.build / "step1").stat().st_mtime_ns
        project.write_text(PROJECT + "wrong(\n")
        error = self.keeps("a project that cannot be read", "compile", "0.02", code=1)
        self.tap.check("its error is printed", "meson.build:" in error, error)
        project.write_text(PROJECT)
        self.keeps("the project repaired", "compile", "0.02")
        self.tap.check("nothing was built again", (self.build / "step1").stat().st_mtime_ns == stamp)

    # ---- one tool at a time --------------------------------------------------------------------------------
    def locks(self):
        first = self.start("compile", "100")
        while "compiling" not in first.stderr.readline():
            pass
        second = self.start("compile", "0.003")
        line = second.stderr.readline()
        self.tap.check("the second tool names the holder", f"build/small, in use by {first.pid} (tools/small compile 100)" in line, line)
        self.tap.check("and waits", second.poll() is None and first.poll() is None)
        first.kill()
        out, error = second.communicate(timeout=60)
        self.tap.check("a holder that was killed holds nothing: what it ran ends, too", second.returncode == 0, out + error)
        first.communicate(timeout=60)
        several = [self.start("compile", "0.004"), self.start("compile", "0.003")]
        said = [child.communicate() for child in several]
        self.tap.check("two at once", all(child.returncode == 0 for child in several), str(said))

    # ---- what is shown ---------------------------------------------------------------------------------------
    def shows(self):
        code, out, error = self.run("test", "0.003", "--no-suite=bad")
        stages = [f"tools/small: {stage} build/small" for stage in ("configuring", "compiling", "testing")]
        self.tap.check("without a terminal a line a stage", code == 0 and not out and
                       [line.partition(", ")[0] for line in error.splitlines()] == stages, out + error)
        code, shown, times = self.on_terminal("test", "1.5", "--no-suite=bad")
        self.tap.check("on a terminal what is done, how far it is", code == 0 and re.search(r"compiling build/small, \d of 3, 0:0\d: step", shown) and
                       "testing build/small, 1 of 2" in shown, shown)
        self.tap.check("and every second", max(after - before for before, after in zip([0, *times], times)) < 5, str(times))
        self.tap.check("without a line that stays", shown.count("\n") == 0, shown)
        code, out, error = self.run("test", "1.5")
        self.tap.check("a failed test is printed", code != 0 and "this is wrong" in out, out + error)
        (self.root / "meson.build").write_text(PROJECT.replace("touch", "echo in vain; false; #"))
        code, out, error = self.run("compile", "0")
        self.tap.check("a failed step is printed", code != 0 and "in vain" in error and "FAILED: " in error, out + error)
        (self.root / "meson.build").write_text(PROJECT)
        command = ("import sys, time, progress\nprogress.QUIET_SECONDS = 0.5\n"
                   "with progress.Progress('learning', 9) as shown:\n    shown.update(done=3)\n    time.sleep(2.5)\n    shown.say('result')")
        lines = subprocess.run([sys.executable, "-c", command], cwd=self.root / "tools", capture_output=True, text=True, env=self.environment)
        self.tap.check("without a terminal a line now and then", re.fullmatch(r"learning, 0 of 9\n(learning, 3 of 9, 0:0\d\n)+", lines.stderr) and
                       lines.stdout == "result\n", str(lines))

    def time_left(self):
        sys.path.insert(0, str(self.root / "tools"))
        import progress  # a copy of the one under test
        shown = progress.Progress("learning", 8)
        shown.start -= 120
        shown.done = 2
        self.tap.check("the time left", re.fullmatch(r"learning, 2 of 8, 2:00, about 6:0\d left", shown.line()), shown.line())

    def stops(self):
        self.environment["UMBEL_JOBS"] = "1"
        code, shown, _ = self.on_terminal("compile", "30", until="0 of 3, 0:01: step1")
        self.tap.check("Ctrl-C says how to go on", code == 130 and "tools/small: stopped; the same command goes on" in shown, f"{code} {shown}")
        self.tap.check("without a traceback", "Traceback" not in shown, shown)
        code, out, error = self.run("compile", "0.003")
        self.tap.check("and the same command goes on", code == 0, out + error)

    def pools(self):
        said = 'echo "$1 begins"; sleep 0.$1; echo "$1 ends"; test "$1" != 3'
        done = subprocess.run([sys.executable, self.root / "tools/progress.py", "pool", "tools/small", "3", "9", "3", "1", "--", "bash", "-c", said, "bash"],
                              capture_output=True, text=True, env=self.environment)
        self.tap.check("a pool prints what ends first", done.stdout == "".join(f"{n} begins\n{n} ends\n" for n in "139"), str(done))
        self.tap.check("one that fails is its failure", done.returncode == 1, str(done))


def of_the_tools(tap, root, folder):
    """The tools themselves, with programs that do nothing: which folders they take, and what stays."""
    checkout = folder / "checkout"
    for name in ("tools", "examples", "bench"):
        shutil.copytree(root / name, checkout / name, ignore=shutil.ignore_patterns("__pycache__", "trained"))
    programs = folder / "programs"
    programs.mkdir()
    for name in ("g++", "clang++", "pkg-config", "ninja", "taskset", "gzip", "apt-get", "sudo"):
        (programs / name).write_text("#!/bin/sh\n[ ! -p /dev/stdin ] || cat >/dev/null\nexit 0\n")  # nobody writes to a closed pipe
    # As Meson: remembers the compiler that it was first called with.
    (programs / "meson").write_text('#!/bin/sh\n[ "$1" = setup ] || exit 0\necho "$CXX" >"$2/compiler"\ntouch "$2/build.ninja"\n'
                                    'mkdir -p "$2/bench"\necho "#!/bin/sh" >"$2/bench/bench"\nchmod +x "$2/bench/bench"\n')
    for file in programs.iterdir():
        file.chmod(0o755)
    data = folder / "data"
    data.mkdir()
    for name in ("images-idx3", "labels-idx1"):
        (data / f"t10k-{name}-ubyte.gz").write_text("")
    environment = os.environ | {"UMBEL_FASHION_DATASET": str(data), "PATH": f"{programs}:{os.environ['PATH']}"}
    for compiler in ("g++", "clang++"):
        subprocess.run(["bash", checkout / "tools/bench"], env=environment | {"CXX": compiler}, stdin=subprocess.DEVNULL, capture_output=True)
    found = {path.parent.name: path.read_text().strip() for path in (checkout / "build").glob("*/compiler")}
    tap.check("a folder for each compiler", found == {"bench": "g++", "bench-clang++": "clang++"}, str(found))
    # The race, of a program that knows one workload.
    (folder / "umbel").write_text("#!/bin/sh\nprintf 'mha\\tC 1,32,64,8\\t9.5\\t80\\t100\\tok\\tso\\n'\n")
    (folder / "umbel").chmod(0o755)
    code = "import sys, run; run.has_torch = lambda: False; sys.exit(run.main())"
    done = subprocess.run([sys.executable, "-c", code, folder, "--only", "C 1,"], cwd=checkout / "bench/peers", capture_output=True, text=True)
    tap.check("a race in one workload", done.returncode == 0 and "| C 1,32,64,8 | 9.5 (80 %) |" in done.stdout, str(done))
    kept = {checkout / "results" / name: name for name in ("report.json", "attention.html", "learned/checkpoint.safetensors", "page/index.html")}
    for file, text in kept.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    done = subprocess.run(["bash", checkout / "tools/format", "--check"], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    tap.check("tools/format has no files without git", done.returncode == 2 and done.stderr.count("\n") == 1 and "knows none" in done.stderr, str(done))
    for arguments in (["--nope"], ["learn", "--nope"], ["learn", "text", "--nope"], ["text", "--nope"], ["prune", "--nope"], ["page", "--nope"]):
        done = subprocess.run(["bash", checkout / "tools/demo", *arguments], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        tap.check(f"tools/demo {' '.join(arguments)} removes nothing", done.returncode == 2 and all(
            file.is_file() and file.read_text() == text for file, text in kept.items()), str(done))
    # A program that cannot do its work: what was there stays, too.
    done = subprocess.run(["bash", checkout / "tools/demo"], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    tap.check("a demo that fails removes nothing", "examples/fashion: No such file" in done.stderr and all(file.is_file() and file.read_text() == text for file, text in kept.items()), str(done))


def main():
    with tempfile.TemporaryDirectory() as path:
        folder = pathlib.Path(path)
        building = Building(pathlib.Path(sys.argv[1]), folder)
        building.removes_nothing()
        building.locks()
        building.shows()
        building.time_left()
        building.stops()
        building.pools()
        of_the_tools(building.tap, pathlib.Path(sys.argv[1]), folder)
        return building.tap.finish()


if __name__ == "__main__":
    sys.exit(main())
