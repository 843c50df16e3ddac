# SPDX-License-Identifier: BSL-1.0
"""The race (bench/peers) for one layer: the peers that are installed, each by its fastest way."""
import importlib.util
import os
import pathlib
import shutil
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def load_race():
    """bench/peers/run.py, as a module."""
    spec = importlib.util.spec_from_file_location("race", ROOT / "bench/peers/run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


race = load_race()
progress = sys.modules["progress"]  # of tools/, which the race imports


def workload(layer):
    """The name that a layer has in the race: "M 2,4 to 6,100,5"."""
    batch, queries, keys, hidden, heads = layer.split(",")
    return f"M {batch},{queries}{'' if keys == queries else f' to {keys}'},{hidden},{heads}"


def build(folder, layer, march):
    """Those peers whose library is there, and what went wrong, if something did. Anew each time: Meson remembers
    libraries that it did not find, and another layer is another program anyway."""
    options = ["-Dtests=disabled", "-Dbench=auto", "-Dexamples=disabled", "-Doptimization=3", f"-Dmarch={march}",
               f"-Drace_layer={layer}"]
    if runtime := os.environ.get("ONNXRUNTIME_ROOT"):
        options.append(f"-Donnxruntime={os.path.abspath(runtime)}")
    what, log = "tools/bench mine: building the peers", folder / "log"
    if progress.under_nothing(what, log, ["meson", "setup", str(folder), str(ROOT), *options]):
        return [], log.read_text().strip()
    rules = (folder / "build.ninja").read_text()
    there = [program for name, program, _ in race.PEERS if program and name != race.OURS
             and f"build bench/peers/{program}:" in rules]
    targets = [f"bench/peers/{one}" for one in [*there, "libfma_peak.so"]]
    return there, "a peer" if progress.under_ninja(what, log, ["ninja", "-C", str(folder), *targets]) else ""


def results(folder, layer, there):
    """{peer: its Result}"""
    folder, found = folder / "bench/peers", {}
    with progress.Progress("tools/bench mine: measuring", len(there) + race.has_torch()) as shown:
        for name, program, _ in race.PEERS:
            if program in there:
                shown.step(name)
                found[name] = race.run([str(folder / program)])
            elif not program and race.has_torch():
                shown.step(name)
                peer, peak = ROOT / "bench/peers/torch_peer.py", folder / "libfma_peak.so"
                found[name] = race.run([race.PYTHON, str(peer), str(peak), f"mha={workload(layer)}"])
    return {name: one for name, lines in found.items() for one in lines.values()}


def report(measured, mask, march, pin):
    """Prints the peers, and gives (name, us, way) of each, fastest first. measured: what measure.cpp found."""
    if "layer" not in measured or mask:
        print("\n  no peers: the race has multi-head attention of float, without a mask, heads of hidden / heads")
        return []
    if not shutil.which("meson") or not shutil.which("ninja"):
        print("\n  no peers: meson and ninja, which build them, are not installed")
        return []
    with tempfile.TemporaryDirectory() as path:
        there, failed = build(pathlib.Path(path), measured["layer"], march)
        if failed:
            print(f"\n  no peers, they do not build: {failed.splitlines()[-1]}")
            return []
        pin()
        found = results(pathlib.Path(path), measured["layer"], there)
    # Microseconds at the clock of our own figure.
    others = sorted(((name, one.us * one.peak / measured["peak"], one.way) for name, one in found.items() if one.right),
                    key=lambda row: row[1])
    print("\n  the same layer, with biases, by others:\n")
    for name, us, way in others:
        print(f"  {name:12}{us:>11.3g} us   {us / measured['warm']:.2f} times; {way}")
    wrong = [name for name, one in found.items() if not one.right]
    missing = [name for name, _, _ in race.PEERS if name not in found and name != race.OURS]
    if wrong:
        print(f"  wrong results: {', '.join(wrong)}")
    if missing:
        print(f"  not installed: {', '.join(missing)} (tools/bench peers installs those that Debian has)")
    return others
