#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""tools/quantize: its ranges are those that numpy sees, its figures those of the model, in every format; bad input is one
sentence.

    quantize.py PROJECT_ROOT -- COMPILER...
"""
import errno
import importlib.machinery
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from precompiled import is_clang, precompiled  # noqa: E402
from tap import Tap, run_tool, split_command  # noqa: E402


def load_tool(root):
    loader = importlib.machinery.SourceFileLoader("quantize", str(root / "tools" / "quantize"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("quantize", loader))
    loader.exec_module(module)
    return module


class Checks:
    def __init__(self, tap, root, folder):
        import numpy
        self.np, self.tap, self.root, self.folder = numpy, tap, root, pathlib.Path(folder)
        self.random = numpy.random.default_rng(1)
        self.tool = load_tool(root)

    def run(self, *arguments):
        return run_tool(self.tool, "quantize", *arguments)

    def some(self, *shape):
        return self.random.standard_normal(shape).astype("f4")

    def export(self, name, tensors, *more):
        model = self.folder / f"{name}_weights.npz"
        self.np.savez(model, **tensors)
        return self.header_of(name, model, *more)

    def header_of(self, name, model, *more):
        header = self.folder / f"{name}.hpp"
        done = subprocess.run([sys.executable, self.root / "tools" / "export", model, "--header", header, "--types",
                               "--namespace", f"models::{name}", *more], capture_output=True, text=True)
        self.tap.check(f"{name} is exported", done.returncode == 0, done.stderr)
        return header

    def save(self, name, array):
        self.np.save(self.folder / name, array)
        return self.folder / name

    # ---- what it computes

    def check_map(self):
        np, tap = self.np, self.tap
        weight, bias, x, test = self.some(3, 6), self.some(3), self.some(50, 6), self.some(20, 6)
        header = self.export("map", {"head.weight": weight, "head.bias": bias})
        y = test @ weight.T + bias
        labels = y.argmax(1)
        labels[:5] = (labels[:5] + 1) % 3
        ranges, picture = self.folder / "map.npz", self.folder / "map.svg"
        code, out, err = self.run(header, "--parts", "head", "--samples", self.save("map_x.npy", x), "--test",
                                  self.save("map_test.npy", test), "--labels", self.save("map_labels.npy", labels),
                                  "--ranges", ranges, "--picture", picture)
        tap.check("a map", code == 0, err)
        read = np.load(ranges)
        tap.check("its ranges", set(read) == {"head.input", "head.output"} and read["head.input"] == abs(x).max() and
                  np.isclose(read["head.output"], abs(x @ weight.T + bias).max(), rtol=1e-6), str(dict(read)))
        tap.check("right in floats", "right: 75.00 % in floats" in out, out)
        alone = re.search(r"head +([0-9.]+) % +([0-9.]+) % +([0-9.]+) % +([0-9.]+) %", out)
        tap.check("an error of 8 bits", alone and alone[1] == alone[2] and 0.1 < float(alone[1]) < 2, out)
        tap.check("the accuracy of its one part is that of the whole", alone and alone[3] == alone[4] and
                  f"{alone[4]} % in integers" in out, out)
        drawn = picture.read_text()
        less = f"{float(alone[4]) - 75:+.2f}".replace("+0.00", "0.00")
        tap.check("a picture of errors, and of the answers as the difference from the floats", drawn.count(">head<") == 2 and
                  drawn.count(f">{float(alone[1]):.2f}<") == 2 and drawn.count(f">{less}<") == 2 and "</svg>" in drawn, drawn)

        code, _, err = self.run(header, "--parts", "head", "--samples", self.folder / "map_x.npy", "--percentile", "80",
                                "--ranges", ranges)
        tap.check("a percentile", code == 0, err)
        wanted = np.percentile(abs(x), 80)
        tap.check("within 1/16", wanted <= np.load(ranges)["head.input"] * 1.01 and
                  np.load(ranges)["head.input"] <= wanted * 17 / 16 * 1.01, str(np.load(ranges)["head.input"]))

        # The largest results of all samples are 0.
        code, _, err = self.run(header, "--parts", "head", "--samples", self.save("zeros.npy", 0 * x), "--ranges", ranges)
        tap.check("samples of zeros", code == 1 and "head.input" in err, err)

    def check_committed_picture(self):
        """docs/quantize.svg is drawn from the table above it."""
        page = (self.root / "docs/export.md").read_text()
        parts = [(name, (float(alone), float(right)), (float(so_far), float(right_so_far))) for name, alone, so_far, right, right_so_far in
                 re.findall(r"^    (\S+) +([\d.]+) % +([\d.]+) % +([\d.]+) % +([\d.]+) %$", page, re.M)]
        lines = re.findall(r"^    (right: .*|the same largest result: .*)$", page, re.M)
        drawn = self.tool.picture_of(parts, float(lines[0].split()[1]), lines, "right")
        committed = self.root / "docs/quantize.svg"
        self.tap.check("docs/quantize.svg shows the table of docs/export.md", len(parts) == 7 and committed.read_text() == drawn, drawn)
        width = {label: float(size) for size, label in re.findall(r'width="([\d.]+)" height="17"/>\n<text [^>]*>([-+][\d.]+)<', drawn)}
        self.tap.check("the longest difference in right answers has the longest bar", width["+0.15"] > 2.5 * width["+0.05"] > 0, str(width))

    def check_formats(self):
        ranges = {"embed.input": 1.0, "layers.0.q": 0.1, "layers.12.up": 3e-20}
        written = {}
        for ending in ("hpp", "npz", "safetensors"):
            options = self.tool.options_of([str(self.folder / "weights.hpp"), "--parts", "x", "--samples", "x.npy", "--ranges",
                                            str(self.folder / f"formats.{ending}")])
            written[ending] = self.tool.ranges_bytes(options, "a::b", ranges)
            options.ranges.write_bytes(written[ending])
        text = written["hpp"].decode()
        for line in ("namespace a::b {", "  seen.embed.input() = 1.0F;", "  seen.layers[0].q() = 0.1F;",
                     "  seen.layers[12].up() = 3e-20F;"):
            self.tap.check(f"the header has {line.strip()}", line in text.splitlines(), text)
        self.tap.check(".npz", float(self.np.load(self.folder / "formats.npz")["layers.0.q"]) == self.np.float32(0.1))
        self.tap.check(".safetensors", b'"layers.12.up"' in written["safetensors"] and
                       self.np.float32(0.1).tobytes() in written["safetensors"])

    def encoder(self, at):
        return {f"encoder.layers.{at}.{name}": self.some(*shape) / 3 for name, shape in {
            "self_attn.in_proj_weight": (24, 8), "self_attn.in_proj_bias": (24,), "self_attn.out_proj.weight": (8, 8),
            "self_attn.out_proj.bias": (8,), "linear1.weight": (12, 8), "linear1.bias": (12,), "linear2.weight": (8, 12),
            "linear2.bias": (8,), "norm1.weight": (8,), "norm1.bias": (8,), "norm2.weight": (8,), "norm2.bias": (8,)}.items()}

    def check_model(self):
        np, tap = self.np, self.tap
        tensors = {"embed.weight": self.some(8, 6), "embed.bias": self.some(8), "positions": self.some(5, 8),
                   **self.encoder(0), **self.encoder(1), "norm.weight": self.some(8), "norm.bias": self.some(8),
                   "head.weight": self.some(3, 8), "head.bias": self.some(3)}
        header = self.export("model", tensors, "--heads", "2", "--options", "norm_first<true>, activation<gelu_exact>")
        self.header = header
        x = self.save("model_x.npy", self.some(40, 5, 6))
        ranges = self.folder / "model.npz"
        code, out, err = self.run(header, "--parts", "embed,positions,layers,norm,mean:token,head", "--samples", x,
                                  "--ranges", ranges)
        tap.check("a model", code == 0, err)
        names = re.findall(r"^([a-z.0-9]+) +[0-9.]+ % +([0-9.]+) % +[0-9.]+ % +[0-9.]+ %$", out, re.M)
        tap.check("its parts", [name for name, _ in names] == ["embed", "positions", "layers.0", "layers.1", "norm", "mean",
                                                               "head"], out)
        tap.check("their errors", names and all(0 < float(error) < 15 for _, error in names), out)
        labels = self.save("model_labels.npy", np.zeros((40, 5), int))
        code, causal, err = self.run(header, "--parts", "embed,positions,layers", "--samples", x, "--labels", labels, "--causal")
        errors = [re.search(r"layers.0 +([0-9.]+)", text)[1] for text in (out, causal)]
        tap.check("causal, with a label for each position", code == 0 and "right: " in causal and errors[0] != errors[1], err)
        read = np.load(ranges) if ranges.exists() else {}
        residuals = {float(read[name]) for name in read if name.endswith("residual") or name in ("embed.output", "norm.input")}
        tap.check("one unit of the residual sum", len(read) == 26 and len(residuals) == 1, str(residuals))
        embedded = np.load(x) @ tensors["embed.weight"].T + tensors["embed.bias"]
        tap.check("at least as large as it was", residuals and min(residuals) >= abs(embedded).max() * (1 - 1e-6))

    # What padding holds changes nothing: neither ranges nor errors nor answers.
    def check_lengths(self):
        np, tap, header = self.np, self.tap, self.header
        lengths = self.save("lengths.npy", np.arange(40) % 5 + 1)
        zeros, garbage = (self.some(40, 5, 6) for _ in range(2))
        for i in range(40):
            n = i % 5 + 1
            garbage[i, n:], garbage[i, :n], zeros[i, n:] = garbage[i, n:] * 1000, zeros[i, :n], 0
        given = [self.save("zeros.npy", zeros), self.save("garbage.npy", garbage)]
        labels = self.save("of_tokens.npy", self.random.integers(0, 8, (40, 5)))
        ranges = [self.folder / f"{x.stem}_ranges.npz" for x in given]
        done = [self.run(header, "--parts", "embed,positions,layers", "--samples", x, "--lengths", lengths, "--ranges", to, "--causal",
                         "--labels", labels) for x, to in zip(given, ranges)]
        tap.check("lengths: errors and answers", all(code == 0 for code, *_ in done) and done[0][1] == done[1][1], str(done))
        seen = [dict(np.load(to)) if to.exists() else {} for to in ranges]
        tap.check("lengths: ranges", seen[0] and seen[0] == seen[1], str(seen))
        for pool in ("mean", "first"):
            code, _, err = self.run(header, "--parts", f"embed,positions,layers,norm,{pool}:token,head", "--samples", given[1],
                                    "--lengths", lengths, "--ranges", ranges[0])
            most = max(np.load(ranges[0]).values())
            tap.check(f"lengths: {pool}:token", code == 0 and most < 100, f"{most} {err}")
        parts = ("--parts", "embed,positions", "--samples", given[0])
        self.refused("the lengths are an integer for each of 40 samples", header, *parts, "--lengths", labels)
        self.refused("the lengths are 1 to 6, but the samples have 5", header, *parts, "--lengths",
                     self.save("long.npy", np.arange(40) % 6 + 1))
        self.refused("--test-lengths", header, *parts, "--lengths", lengths, "--test", given[1], code=2)
        self.refused("--memory-lengths", header, *parts, "--memory-lengths", lengths, code=2)
        self.refused("no part makes the positions", header, "--parts", "first:token,embed", "--samples", given[0])
        self.refused("first:query: the samples have the axes", header, "--parts", "embed,first:query", "--samples", given[0])

    # One part has weights that 8 bits lose: it alone costs answers, and from it on all that is in integers.
    def check_accuracy(self):
        np, tap = self.np, self.tap
        eye = np.eye(8, dtype="f4")
        lost = eye[:6].copy()
        lost[:, 7] = 2000  # of a feature that is 0: the unit of the other weights
        header = self.export("accuracy", {"first.weight": eye, "lost.weight": lost, "head.weight": np.eye(6, dtype="f4")})
        x = self.some(60, 8)
        x[:, 7] = 0
        code, out, err = self.run(header, "--parts", "first,lost,head", "--samples", self.save("accuracy.npy", x), "--labels",
                                  self.save("accuracy_labels.npy", x[:, :6].argmax(1)))
        got = {name: (float(alone), float(so_far)) for name, alone, so_far in
               re.findall(r"^(\w+) +[0-9.]+ % +[0-9.]+ % +([0-9.]+) % +([0-9.]+) %$", out, re.M)}
        tap.check("accuracy by part", code == 0 and "right: 100.00 % in floats" in out and len(got) == 3, out + err)
        chance = 100 * np.mean(x[:, :6].argmax(1) == 0)  # all results are 0: the first is the largest
        tap.check("a part alone", got and got["first"][0] > 95 and got["head"][0] > 95 and abs(got["lost"][0] - chance) < 0.01,
                  str(got))
        tap.check("all parts up to one", got and got["first"][1] > 95 and got["lost"][1] == got["head"][1] == got["lost"][0],
                  str(got))

    def decoder(self, at):
        attention = {f"{name}.{part}": self.some(*shape) / 3 for name in ("self_attn", "multihead_attn") for part, shape in {
            "in_proj_weight": (24, 8), "in_proj_bias": (24,), "out_proj.weight": (8, 8), "out_proj.bias": (8,)}.items()}
        others = {f"norm{i}.{part}": self.some(8) for i in (1, 2, 3) for part in ("weight", "bias")}
        network = {f"linear{i}.{part}": self.some(*shape) / 3 for i, part, shape in (
            (1, "weight", (12, 8)), (1, "bias", (12,)), (2, "weight", (8, 12)), (2, "bias", (8,)))}
        return {f"decoder.layers.{at}.{name}": array for name, array in {**attention, **others, **network}.items()}

    def check_decoder(self):
        np, tap = self.np, self.tap
        header = self.export("decoder", {
            "source.weight": self.some(9, 8), "words.weight": self.some(11, 8), **self.decoder(0), **self.decoder(1),
            "source_norm.weight": self.some(8), "source_norm.bias": self.some(8), "norm.weight": self.some(8),
            "norm.bias": self.some(8), "head.weight": self.some(11, 8)}, "--heads", "2", "--options",
            "norm_first<true>, activation<relu>")
        words, memory = self.save("words.npy", self.random.integers(0, 11, (30, 5))), self.save(
            "memory.npy", self.random.integers(0, 9, (30, 7)))
        parts = ("--parts", "embedding:words_weight,sinusoidal:adjacent_pairs,layers,norm,head", "--samples", words)
        made = ("--memory", memory, "--memory-parts", "embedding:source_weight,sinusoidal:split_halves:500,source_norm")
        ranges = self.folder / "decoder.npz"
        code, out, err = self.run(header, *parts, *made, "--causal", "--ranges", ranges)
        tap.check("a decoder and what makes its memory", code == 0, err)
        found = re.findall(r"^([a-z_.0-9]+) +[0-9.]+ % +([0-9.]+) % +([0-9.]+) % +([0-9.]+) %$", out, re.M)
        tap.check("their parts", [name for name, *_ in found] == [
            "memory.source_weight", "memory.sinusoidal", "memory.source_norm", "words_weight", "sinusoidal", "layers.0",
            "layers.1", "norm", "head"], out)
        tap.check("their errors", found and all(0 < float(error) < 15 for _, error, *_ in found), out)
        tap.check("answers, same by part", found and all(float(same) > 80 for _, _, *both in found for same in both) and
                  f"the same largest result: {found[-1][3]} %" in out, out)
        read = np.load(ranges) if ranges.exists() else {}
        units = {float(read[name]) for name in read if name.endswith(".memory") or name == "memory.source_norm.output"}
        tap.check("one unit of the memory", len(units) == 1, str(units))
        padded = (memory, self.save("of_memory.npy", self.random.integers(1, 8, 30)))
        code, of_lengths, err = self.run(header, *parts, *made, "--causal", "--lengths", self.save(
            "of_words.npy", self.random.integers(1, 6, 30)), "--memory-lengths", padded[1])
        tap.check("a decoder with lengths of words and memory", code == 0 and of_lengths != out, err)
        rows, as_it_is = self.save("rows.npy", self.some(30, 7, 8)), ("--parts", "layers", "--samples", self.folder / "rows.npy")
        tap.check("a memory as it is", self.run(header, *as_it_is, "--memory", rows)[0] == 0)
        self.refused("is a decoder layer, which attends to a memory: say --memory", header, *parts)
        self.refused("takes 8 of the memory: put a norm", header, *parts, "--memory", memory, "--memory-parts",
                     "embedding:source_weight")
        self.refused("a decoder layer does not make the memory", header, *parts, "--memory", rows, "--memory-parts",
                     "layers,norm")
        self.refused("no part is a decoder layer", header, "--parts", "embedding:words_weight", "--samples", words, *made)
        self.refused("has 3 samples, but words.npy 30", header, *parts, "--memory", self.save("3.npy", self.some(3, 7, 8)))
        self.refused("--test-memory", header, *parts, *made, "--test", words, code=2)
        self.refused("--memory-parts", header, *parts, "--memory-parts", "x", code=2)
        self.refused("sinusoidal is followed by adjacent_pairs", header, "--parts", "embedding:words_weight,sinusoidal:halves",
                     "--samples", words)

    def check_words(self):
        header = self.export("words", {"words.weight": self.some(11, 8), "norm.weight": self.some(8),
                                       "norm.bias": self.some(8)})
        ids = self.save("ids.npy", self.random.integers(0, 11, (30, 4)))
        code, out, err = self.run(header, "--parts", "embedding:words_weight,norm", "--samples", ids)
        self.tap.check("an embedding", code == 0 and "words_weight " in out, err)

    # A trained model, a file of Hugging Face's names: rotary positions, grouped heads, RMS norms, gated networks.
    def check_gestures(self):
        from gestures import FIRST_TEST, gestures
        header = self.header_of("gestures", self.root / "test" / "golden" / "data" / "gestures.safetensors", "--heads", "4")
        test, labels = gestures(FIRST_TEST, 1000)
        ranges = self.folder / "gestures.npz"
        code, out, err = self.run(header, "--parts", "embed,layers,norm,mean:token,head", "--causal", "--samples",
                                  self.save("gestures.npy", gestures(0, 200)[0]), "--test",
                                  self.save("gestures_test.npy", test), "--labels",
                                  self.save("gestures_labels.npy", labels), "--ranges", ranges)
        self.tap.check("a trained model", code == 0, err)
        right = [float(percent) for percent in re.findall(r"([0-9.]+) % in (?:floats|integers)", out)]
        self.tap.check("as often right in integers, but for a point", len(right) == 2 and right[0] > 96 and
                       right[1] >= right[0] - 1, out)

    # ---- what is written

    def check_written(self):
        """Ranges and picture are both there and whole, or what was there before is."""
        folder = self.folder / "written"
        folder.mkdir()
        ranges, picture, fifo, link = (folder / name for name in ("ranges.npz", "picture.svg", "fifo.npz", "link.npz"))
        os.mkfifo(fifo)
        link.symlink_to("ranges.npz")
        for path in (ranges, picture):
            path.write_text("old")
        words = [self.folder / "map.hpp", "--parts", "head", "--samples", self.folder / "map_x.npy"]

        def kept(name):
            found = sorted(path.name for path in folder.iterdir())
            self.tap.check(name, found == ["fifo.npz", "link.npz", "picture.svg", "ranges.npz"] and link.is_symlink() and
                           {ranges.read_text(), picture.read_text()} == {"old"}, str(found))
        self.refused("is no plain file, and is not replaced", *words, "--ranges", ranges, "--picture", fifo)
        self.refused("is no plain file, and is not replaced", *words, "--ranges", fifo, "--picture", picture)
        self.refused("is no plain file, and is not replaced", *words, "--ranges", link)
        self.refused("No such file or directory", *words, "--ranges", ranges, "--picture", folder / "none" / "x.svg")
        self.refused("are the same file", *words, "--ranges", ranges, "--picture", folder / "." / "ranges.npz", code=2)
        kept("what cannot be written changes nothing")
        synced = os.fsync

        def full(opened):
            if os.readlink(f"/proc/self/fd/{opened}").startswith(str(folder)):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            synced(opened)
        os.fsync = full
        try:
            self.refused("No space left on device", *words, "--ranges", ranges, "--picture", picture)
        finally:
            os.fsync = synced
        kept("a full disk changes nothing")
        code, _, err = self.run(*words, "--ranges", ranges, "--picture", picture)
        self.tap.check("and then both are written", code == 0 and "head.input" in self.np.load(ranges) and "</svg>" in picture.read_text(), err)

    # ---- what is refused

    def refused(self, sentence, *arguments, code=1):
        got, _, err = self.run(*arguments)
        lines = err.strip().splitlines()
        self.tap.check(f"refused: {sentence}", got == code and sentence in err and (code == 2 or len(lines) == 1) and
                       "Traceback" not in err, f"exit code {got}\n{err}")

    def check_refused(self):
        np, header = self.np, self.header
        good = self.folder / "model_x.npy"

        def given(parts, samples=good):
            return [header, "--parts", parts, "--samples", samples]
        (self.folder / "no.hpp").write_text("#pragma once\n")
        self.refused("tools/export MODEL --header", self.folder / "no.hpp", "--parts", "x", "--samples", good)
        self.refused("is no text", self.folder / "model.npz", "--parts", "x", "--samples", good)
        self.refused("No such file", self.folder / "none.hpp", "--parts", "x", "--samples", good)
        self.refused("heads: the header has no such layer or table; it has embed, ", *given("embed,heads"))
        self.refused("mean is followed by the name of an axis", *given("embed,mean:"))
        self.refused("positions: an embedding is the first part", *given("embed,embedding:positions"))
        self.refused("norm gives 8 bits, but layers.0 takes 16", *given("embed,norm,layers"))
        self.refused("positions gives 16 bits, but head takes 8: put a norm", *given("embed,positions,head"))
        self.refused("mean:query: the samples have the axes token, hidden", *given("embed,positions,norm,mean:query"))
        self.refused("holds no samples", *given("embed", self.save("empty.npy", np.zeros((0, 5, 6), "f4"))))
        self.refused("embed takes floats, not int64", *given("embed", self.save("int.npy", np.zeros((2, 5, 6), int))))
        self.refused("has one axis", *given("embed", self.save("flat.npy", np.zeros(6, "f4"))))
        self.refused("a number is not finite", *given("embed", self.save("nan.npy", np.full((2, 5, 6), np.nan, "f4"))))
        self.refused("a sample has 3 axes", *given("embed", self.save("deep.npy", np.zeros((2, 5, 6, 6), "f4"))))
        self.refused("is an .npz", *given("embed", self.folder / "model.npz"))
        os.mkfifo(self.folder / "fifo")
        self.refused("is no plain file", *given("embed", self.folder / "fifo"))
        self.refused("is no plain file", self.folder / "fifo", "--parts", "embed", "--samples", good)
        (self.folder / "cut.npy").write_bytes(good.read_bytes()[:300])
        self.refused("has 172 bytes, which is not what its shape", *given("embed", self.folder / "cut.npy"))
        (self.folder / "lie.npy").write_bytes(good.read_bytes().replace(b"(40, 5, 6), }       ", b"(400000000, 5, 6), }"))
        self.refused("which is not what its shape", *given("embed", self.folder / "lie.npy"))
        self.refused("do not fit 32 bits", *given("embed", self.save("large.npy", np.full((2, 5, 6), 1e300))))
        self.refused("do not fit 32 bits", *given("embed"), "--labels", self.save("large_labels.npy", np.full(40, 2**32)))
        self.refused("integers for each of 40 samples", *given("embed"), "--labels", self.save("l.npy", np.zeros(3, int)))
        self.refused("a sample has the shape [5, 7]", *given("embed"), "--test", self.save("w.npy", np.zeros((2, 5, 7), "f4")))
        self.refused("the parts do not fit each other or the samples: ", *given("embed", self.folder / "w.npy"))
        self.refused("the labels are 40, but the results of the samples are 200", *given("embed"), "--labels",
                     self.save("few.npy", np.zeros(40, int)))
        self.refused("--percentile", *given("embed"), "--percentile", "0", code=2)
        self.refused("the name must end in", *given("embed"), "--ranges", "x.txt", code=2)
        self.refused("not a list of names", *given("embed"), "--axes", "Token", code=2)


def with_headers(compiler, root, folder):
    """The command that tools/quantize completes, with the headers of its programs parsed once."""
    limit = "-fconstexpr-steps=100000000" if is_clang(compiler[0]) else "-fconstexpr-ops-limit=1000000000"
    command = [*compiler, "-O0", "-std=c++20", limit, "-I", root / "include"]
    return precompiled(command, pathlib.Path(folder), f'#include "{root.resolve() / "tools" / "quantize.hpp"}"\n') or command


def main():
    (root,), compiler = split_command(sys.argv[1:])
    tap = Tap()
    try:
        import numpy  # noqa: F401
    except ImportError:
        tap.skip("tools/quantize", "no numpy here")
        return tap.finish()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["CXX"] = " ".join(map(str, with_headers(compiler, pathlib.Path(root), folder)))
        checks = Checks(tap, pathlib.Path(root), folder)
        checks.check_committed_picture()
        checks.check_formats()
        checks.check_map()
        checks.check_written()
        checks.check_model()
        checks.check_lengths()
        checks.check_accuracy()
        checks.check_decoder()
        checks.check_words()
        checks.check_gestures()
        checks.check_refused()
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
