#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs the race: every peer that was built, one after another on one core, and PyTorch where it is installed. Prints a
table; with --write also into bench/results/DATE.md, the short form into docs/race.md and five of its rows into README.md.
"""
import dataclasses
import datetime
import os
import pathlib
import re
import statistics
import subprocess
import sys
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "bench" / "compile"), str(HERE)]
import command_line  # noqa: E402
import pages  # noqa: E402
from compiler import Compiler  # noqa: E402
from progress import Progress  # noqa: E402

PYTHON = "/usr/bin/python3"  # Debian's, whose packages are meant
OURS = "Umbel"
RUNTIME = "ONNX Runtime"  # no package: there only when the user points to it
# Name, program, package whose version is shown; a program without one tells its library's version itself.
PEERS = [(OURS, "umbel", None), ("libxsmm", "libxsmm", "libxsmm-dev"), ("oneDNN", "onednn", "libdnnl-dev"),
         ("OpenBLAS", "openblas", "libopenblas-dev"), ("Eigen", "eigen", "libeigen3-dev"),
         ("PyTorch", None, "python3-torch"), (RUNTIME, "onnxruntime", None)]
FAMILIES = {"linear": "Linear map with bias, rows x out x in", "softmax": "Softmax along rows, rows x columns",
            "contract": "Contraction alone of heads of (token, heads, head_dim), rows x depth x columns",
            "attend": "Attention alone: batch, heads, queries, keys, head_dim",
            "mha": "The whole layer: batch, tokens, hidden, heads"}


@dataclasses.dataclass
class Result:
    us: float
    percent: float
    peak: float
    right: bool
    way: str


def environment():
    """What lets every peer do its best; machines preset some of these to slow kernels."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("OPENBLAS_")}
    flags = pathlib.Path("/proc/cpuinfo").read_text()
    blis = {"BLIS_ARCH_TYPE": "skx"} if "avx512f" in flags else {}  # BLIS 0.9 does not know newer processors
    return kept | blis | {"OMP_NUM_THREADS": "1"}


def run(command, found=lambda workload: None):
    """{(family, workload): Result} of the lines that a peer prints; nothing when it does not come to its end. Each workload
    is given to `found` as it comes."""
    results = {}
    with subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, text=True) as child:
        for line in child.stdout:
            family, workload, us, percent, peak, verdict, way = line.rstrip("\n").split("\t")
            results[family, workload] = Result(float(us), float(percent), float(peak), verdict == "ok", way)
            found(f"{family} {workload}")
    if child.returncode != 0:
        print(f"{command[0]}: ended with {child.returncode}", file=sys.stderr)
        return {}
    return results


def workloads():
    """{family: names}, of workloads.hpp: what a peer may race in."""
    text = (HERE / "workloads.hpp").read_text()

    def rows(array):
        body = re.search(rf"{array}\[\] = \{{(?!\{{'M')(.*?)\}};", text, re.S)[1]
        return [row.replace(" ", "").replace("'", "").split(",") for row in re.findall(r"[{(]([^{}()]+)[})]", body)]

    layers = [f"{name} {batch},{queries}{'' if keys == queries else f' to {keys}'},{hidden},{heads}"
              for name, batch, queries, keys, hidden, heads, *_ in rows("layers_raced")]
    contracts = [f"{queries}x{keys}x{depth} values, {heads} heads" if values == "true" else
                 f"{queries}x{depth}x{keys} scores, {heads} heads"
                 for heads, queries, keys, depth, values in rows("contracts_raced")]
    return {"linear": ["x".join(row) for row in rows("linears_raced")],
            "softmax": ["x".join(row) for row in rows("softmaxes_raced")], "contract": contracts,
            "attend": [",".join(row) for row in rows("attentions_raced")], "mha": layers}


def raced(only):
    return [(family, name) for family, names in workloads().items() for name in names if only in name]


def has_torch():
    return subprocess.run([PYTHON, "-c", "import torch"], stderr=subprocess.DEVNULL).returncode == 0


def race(build, only):
    """{peer: its results}, of those that are there."""
    found, wanted = {}, raced(only)
    with Progress("tools/bench peers") as progress:
        there = [(name, program) for name, program, _ in PEERS if ((build / program).exists() if program else has_torch())]
        progress.update(total=len(there) * len(wanted))
        for number, (name, program) in enumerate(there):
            command = [str(build / program), only] if program else [
                PYTHON, str(HERE / "torch_peer.py"), str(build / "libfma_peak.so"), *(f"{family}={one}" for family, one in wanted)]
            progress.update(done=number * len(wanted), now=name)
            found[name] = run(command, lambda one: progress.update(done=progress.done + 1, now=f"{name}, {one}"))  # noqa: B023
    if set(found.get(OURS, {})) != set(wanted):
        sys.exit("tools/bench peers: Umbel's own program ended early, or workloads.hpp is read wrongly: nothing to compare with")
    return {name: results for name, results in found.items() if results}


def at_one_clock(found):
    """The median peak; microseconds become those at that clock, so that they can be compared."""
    peak = statistics.median(one.peak for results in found.values() for one in results.values() if one.right)
    for results in found.values():
        for one in results.values():
            one.us *= one.peak / peak
    return peak


def figure(us):
    return f"{us:.3g}" if us < 1000 else f"{us:.0f}"


def cell(family, one, ours):
    if one is None:
        return "-"
    if not one.right:
        return "wrong"
    percent = "" if family == "softmax" else f" ({one.percent:.0f} %)"
    ratio = one.us / ours.us
    if one is ours:
        return f"{figure(one.us)}{percent}"
    return f"{figure(one.us)}{percent} {ratio:.2f}x" if ratio >= 1 else f"**{figure(one.us)}{percent} {ratio:.2f}x**"


def whole_table(found):
    for family, title in FAMILIES.items():
        rows = [workload for kind, workload in found[OURS] if kind == family]
        peers = [name for name in found if any(kind == family for kind, _ in found[name])]
        if not rows:
            continue
        yield from ("", f"### {title}", "", f"| | {' | '.join(peers)} |", "|---|" + "--:|" * len(peers))
        for workload in rows:
            ours = found[OURS][family, workload]
            cells = (cell(family, found[name].get((family, workload)), ours) for name in peers)
            yield f"| {workload} | {' | '.join(cells)} |"


def rivals(found, key):
    """(name, result) of the others that are right, fastest first."""
    them = [(name, results[key]) for name, results in found.items() if name != OURS and key in results]
    return sorted(((name, one) for name, one in them if one.right), key=lambda pair: pair[1].us)


def short_table(found):
    yield "| | Umbel us | % of peak | fastest peer | its us | ratio | PyTorch us | ratio |"
    yield "|---|--:|--:|---|--:|--:|--:|--:|"
    for key, ours in found[OURS].items():
        family, workload = key
        them = rivals(found, key)
        percent = "" if family == "softmax" else f"{ours.percent:.0f}"
        row = [f"{family} {workload}", figure(ours.us), percent]
        for name, one in them[:1] or [("-", None)]:
            row += [name] + ([figure(one.us), f"{one.us / ours.us:.2f}"] if one else ["", ""])
        torch = dict(them).get("PyTorch")
        row += [figure(torch.us), f"{torch.us / ours.us:.1f}"] if torch else ["", ""]
        yield f"| {' | '.join(row)} |"


def losses(found):
    """Workloads in which somebody is faster than Umbel."""
    for key, ours in found[OURS].items():
        faster = [f"{name} by {100 * (ours.us / one.us - 1):.1f} %" for name, one in rivals(found, key)
                  if one.us < ours.us]
        if faster:
            yield f"{' '.join(key)}: {', '.join(faster)}"


def version_of(package):
    asked = subprocess.run(["dpkg-query", "-W", "-f=${Version}", package], capture_output=True, text=True)
    return asked.stdout if asked.returncode == 0 else "?"


def machine_name():
    found = re.search(r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    return found[1].strip() if found else "an unnamed machine"


def conditions(found, peak, machine, build):
    compiler = Compiler(os.environ.get("CXX", "g++")).full_name
    versions = ", ".join(f"{name} {version_of(package)}" for name, _, package in PEERS if package and name in found)
    if RUNTIME in found:
        asked = subprocess.run([str(build / "onnxruntime"), "--version"], stdout=subprocess.PIPE, text=True, check=True)
        versions += f"; {RUNTIME} {asked.stdout.strip()}"
    missing = [name for name, program, package in PEERS
               if name not in found and (package or (build / program).exists())]
    yield (f"{datetime.date.today()}, {machine}, one thread on one core, {compiler} -std=c++20 -O3 "
           f"-march=native; Debian's {versions}." + (f" Not installed, or ended early, and left out: {', '.join(missing)}." if missing else ""))
    yield ""
    yield (f"Microseconds at a peak of {peak:.0f} GFLOP/s (the median of those measured beside each figure), percent of "
           "that peak, and how many times Umbel's time that is; bold: faster than Umbel. Every result was checked against float64. "
           "Constant weights are packed as each likes best, and each peer's fastest way counts.")


EXPLAINED = """
Libraries of matrix products have attention and layers composed of them: projections fused or separate, heads by stride,
scores by rows or by columns, several blocks of queries, with our softmax in hand-written vectors in place of theirs (oneDNN, Eigen and
PyTorch show their own in the softmax table). Fewer of these ways are tried with Eigen, whose products take a second each
to compile. PyTorch pays Python's calls, as its users do. ONNX Runtime, in the race when the user points to it, runs models
of its own operators, softmax and attention included. Clocks wander and machines are shared: a difference of 2 % is none.
""".strip()


def write(full, short):
    folder = ROOT / "bench" / "results"
    folder.mkdir(exist_ok=True)
    page = folder / f"{datetime.date.today()}.md"
    page.write_text(full)
    pages.write(short)
    print(f"written: {page.relative_to(ROOT)}, docs/race.md, docs/race.svg, README.md")


def complaint(options):
    if options.write and options.only:
        return "--write wants all workloads"
    if not raced(options.only):
        return f"no workload has '{options.only}' in its name; there are: {'; '.join(name for _, name in raced(''))}"
    return None


def arguments():
    names = "\n".join(f"  {family:9} {'; '.join(names)}" for family, names in workloads().items())
    parser = command_line.Parser("tools/bench peers", f"{__doc__}\nWorkloads:\n\n{names}")
    parser.add_argument("build", type=pathlib.Path, help=command_line.HIDDEN)
    parser.add_argument("--only", default="", metavar="WORKLOAD", help="those with this in their names")
    parser.add_argument("--write", action="store_true", help="into bench/results, docs/race.md and README.md")
    parser.add_argument("--machine", default=machine_name(), metavar="NAME", help="what the page calls this machine")
    return parser.parse(complaint)


def main():
    options = arguments()
    found = race(options.build, options.only)
    peak = at_one_clock(found)
    lost = list(losses(found))
    heading = list(conditions(found, peak, options.machine, options.build))
    lost_lines = [f"Lost: {len(lost)} of {len(found[OURS])}.", ""] + [f"- {line}" for line in lost]
    ways = ["", "### The fastest way of each", ""] + [
        f"- {' '.join(key)}: {'; '.join(f'{name}: {results[key].way}' for name, results in found.items() if key in results)}"
        for key in found[OURS]]
    full = "\n".join(["# The race", "", *heading, "", EXPLAINED, *whole_table(found), "", "### Losses", "",
                      *lost_lines, *ways, ""])
    today = f"bench/results/{datetime.date.today()}.md"
    count = f"{len(lost)} of {len(found[OURS])}"
    short = "\n".join([*textwrap.wrap(heading[0], 100, break_on_hyphens=False), "", *short_table(found), "",
                       f"Lost: {count}. All peers, and how each was run: [{today}](../{today}).", ""])
    print(full)
    if options.write:
        write(full, short)
    return 0 if all(one.right for results in found.values() for one in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
