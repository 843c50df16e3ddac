#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Are the files of a built page as large as sizes.txt says, which the pages quote (tools/figures.py)? 1 % more or less fails.

    sizes.py PAGE             in TAP
    sizes.py PAGE --update    writes sizes.txt and the pages: `tools/test page --update`
"""
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from tap import Tap  # noqa: E402

TABLE = HERE / "sizes.txt"
HEADING = "# Bytes of what tools/demo page builds, by clang 19. `tools/test page` compares them, and with --update writes this file.\n"
ALLOWED = 0.01


def main():
    page = pathlib.Path(sys.argv[1])
    now = {name: (page / name).stat().st_size for name in ("network.wasm", "language.wasm", "shapes.wasm")}
    if sys.argv[2:] == ["--update"]:
        TABLE.write_text(HEADING + "".join(f"{name} {size}\n" for name, size in now.items()))
        return subprocess.run([sys.executable, str(HERE.parents[1] / "tools/figures.py")]).returncode
    was = {name: int(size) for name, size in (line.split() for line in TABLE.read_text().splitlines() if not line.startswith("#"))}
    tap = Tap()
    tap.check("sizes.txt has every module", was.keys() == now.keys(), f"{sorted(was)} and {sorted(now)}")
    for name in was.keys() & now.keys():
        tap.check(name, abs(now[name] - was[name]) <= ALLOWED * was[name],
                  f"{now[name]:,} bytes, sizes.txt: {was[name]:,}; `tools/test page --update` accepts it")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
