#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""tools/export: every number arrives with its bits, in the header and in the file; the types that it writes compile, load
and give what the constants of the header give; a model of torch gives torch's output, and so do the commands of
docs/how-to/port-from-pytorch.md. (Bad input: hostile.py.)

    check.py PROJECT_ROOT -- COMPILER...
"""
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tap import Tap, run_tool, split_command  # noqa: E402

KINDS = ("float", "bfloat16", "float16")
FLAGS = ["-std=c++20", "-O1", "-Wall", "-Wextra", "-Wconversion", "-Werror"]


def load_export(root):
    """tools/export as a module: hundreds of calls, and numpy is loaded once."""
    loader = importlib.machinery.SourceFileLoader("export", str(root / "tools" / "export"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("export", loader))
    loader.exec_module(module)
    return module


def pickle_if_torch(name):
    return ["--pickle"] if str(name).endswith(".pt") else []


# ---- files ---------------------------------------------------------------------------------------


def safetensors(tensors, header=None):
    """By the text of the format. tensors: name -> (dtype, array of that many bytes)."""
    about, data = {}, b""
    for name, (dtype, array) in tensors.items():
        content = array.tobytes()
        about[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = (json.dumps(about) if header is None else header).encode()
    return struct.pack("<Q", len(text)) + text + data


def read_safetensors(content):
    """name -> (dtype, shape, bytes, where they begin in the file), and the metadata."""
    size, = struct.unpack_from("<Q", content)
    header = json.loads(content[8:8 + size])
    metadata = header.pop("__metadata__", {})
    return {name: (one["dtype"], one["shape"], content[8 + size + one["data_offsets"][0]:8 + size + one["data_offsets"][1]],
                   8 + size + one["data_offsets"][0]) for name, one in header.items()}, metadata


def fnv_1a(content):
    value = 0xCBF29CE484222325
    for byte in content:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def special_numbers(np):
    """Ends of the ranges of float, bfloat16 and float16, halves between their neighbours, and many others."""
    fixed = [0.0, -0.0, 1.0, 1 / 3, -2.5, 1e-45, 1.2e-38, 3.4028234663852886e38, 3.3961775292304957e38, 65504, 65519.99, 65520,
             5.9e-8, 2.9e-8, 1e-40, 1 + 2**-8, 1 + 2**-8 + 2**-40, 1 + 3 * 2**-8, 1 + 2**-11, 1 + 2**-24, 1 + 2**-24 + 2**-50,
             float("nan"), float("inf"), -float("inf"), 16777217.0, 1e39, -1e300]
    drawn = np.random.default_rng(1).standard_normal(300) * 10.0 ** np.random.default_rng(2).integers(-46, 40, 300)
    return np.concatenate([fixed, drawn])


def nearest(np, values, to_float):
    """By search among all numbers of 16 bits: to nearest, ties to even, without the rounding of the tool."""
    bits = np.arange(2**15, dtype="<u2")
    with np.errstate(invalid="ignore"):  # signalling NaN
        table = to_float(bits).astype("f8")
    finite = int(np.isfinite(table).sum())
    table = np.append(table[:finite], 2 * table[finite - 1] - table[finite - 2])  # where infinity begins to be nearer
    made = []
    for value in values:
        if np.isnan(value):
            made.append(None)
            continue
        size = min(abs(value), table[-1])
        high = int(np.searchsorted(table, size))
        low = max(high - 1, 0)
        below, above = size - table[low], table[high] - size
        near = low if below < above or (below == above and low % 2 == 0) else high
        made.append(near | (0x8000 if np.signbit(value) else 0))
    return made


# ---- the checks ------------------------------------------------------------------------------------


class Checks:
    def __init__(self, tap, root, compiler, folder):
        import numpy
        self.np, self.tap, self.root, self.compiler, self.folder = numpy, tap, root, compiler, pathlib.Path(folder)
        self.tool = load_export(root)

    def run(self, *arguments):
        """(exit code, standard output, standard error) of tools/export."""
        return run_tool(self.tool, "export", *arguments)

    def program(self, name, text):
        """What it prints, or None, said, when it does not compile or fails."""
        source, program = self.folder / f"{name}.cpp", self.folder / name
        source.write_text(text)
        folders = ["-I", self.root / "include", "-iquote", self.folder]
        made = subprocess.run([*self.compiler, *FLAGS, *folders, source, "-o", program], capture_output=True, text=True,
                              errors="replace")
        said = (line[:600] for line in made.stderr.splitlines() if "error" in line or "umbel: " in line)
        self.tap.check(f"{name} compiles", made.returncode == 0, "\n".join(said))
        if made.returncode:
            return None
        ran = subprocess.run([program, self.folder], capture_output=True)
        self.tap.check(f"{name} runs", ran.returncode == 0, (ran.stdout[-2000:] + ran.stderr).decode(errors="replace"))
        return ran.stdout if ran.returncode == 0 else None

    def wanted_bytes(self, values, kind):
        """Of float64 values; None where it is NaN."""
        np = self.np
        with np.errstate(over="ignore"):
            if kind == "float":
                return [None if np.isnan(v) else np.float32(v).tobytes() for v in values]
            found = nearest(np, values, lambda bits: self.widened(bits, kind))
            return [None if bits is None else struct.pack("<H", bits) for bits in found]

    def widened(self, bits, kind):
        return (bits.astype("<u4") << 16).view("<f4") if kind == "bfloat16" else bits.view("<f2").astype("<f4")

    def check_numbers(self):
        np, tap = self.np, self.tap
        values = special_numbers(np)
        count = len(values)
        whole = np.arange(32, dtype="<f4").reshape(2, 16)
        tensors = {"weird name/0": values, "a.0.weight": whole, "scalar": np.float32(7), "8.class": np.float64([1, 2]),
                   "ids": np.arange(3), "none": np.zeros((0, 4), "<f4")}
        np.savez(self.folder / "numbers.npz", **tensors)
        np.savez(self.folder / "numbers_probe.npz", input=np.int64([[5, -2**31]]), output=np.float64([0.1, np.nan]))
        includes = ""
        for kind in KINDS:
            code, out, err = self.run(self.folder / "numbers.npz", "--binary", self.folder / f"{kind}.safetensors", "--header",
                                      self.folder / f"{kind}.hpp", "--namespace", f"n::of_{kind}", "--type", kind, "--probe",
                                      self.folder / "numbers_probe.npz")
            tap.check(f"{kind}: exported", code == 0, err)
            for said in ("weird name/0: 1 number is NaN, and kept", "weird name/0: 2 numbers are infinite, and kept",
                         "ids is left out: its elements are int64", "weird name/0 is called weird_name_0 in C++",
                         "8.class is called tensor_8_class in C++", "none is left out of the header: it has no elements",
                         f"too large for {kind}, and infinite now"):
                tap.check(f"{kind}: {said!r}", said in err, err)
            content = (self.folder / f"{kind}.safetensors").read_bytes()
            read, metadata = read_safetensors(content)
            tap.check(f"{kind}: tensors of the file", set(read) == {"weird name/0", "a.0.weight", "scalar", "8.class", "none",
                                                                    "probe.input", "probe.output"}, str(list(read)))
            size = 4 if kind == "float" else 2
            _, shape, bytes_of, begin = read["weird name/0"]
            wanted = self.wanted_bytes(values, kind)
            got = [bytes_of[i:i + size] for i in range(0, len(bytes_of), size)]
            wrong = [(values[i], g.hex(), w.hex()) for i, (g, w) in enumerate(zip(got, wanted)) if w is not None and g != w]
            tap.check(f"{kind}: every number of the file", shape == [count] and len(got) == count and not wrong, str(wrong))
            nan = got[int(np.argmax(np.isnan(values)))]
            as_float = np.frombuffer(nan, "<f4") if size == 4 else self.widened(np.frombuffer(nan, "<u2"), kind)
            tap.check(f"{kind}: NaN stays NaN", bool(np.isnan(as_float[0])), nan.hex())
            data = b"".join(one[2] for one in read.values())
            tap.check(f"{kind}: checksum of the file", metadata.get("checksum") == f"{fnv_1a(data):016x}" and
                      metadata["checksum"] in out, str(metadata))
            whole_lines = [one[3] for one in read.values() if one[2] and len(one[2]) % 64 == 0]
            tap.check(f"{kind}: aligned to 64 bytes", whole_lines and not any(begin % 64 for begin in whole_lines),
                      str({name: one[3] for name, one in read.items()}))
            tap.check(f"{kind}: the probe is not rounded", read["probe.output"][2][:4] == np.float32(0.1).tobytes() and
                      read["probe.input"][2] == struct.pack("<2i", 5, -2**31), str(read["probe.output"]))
            includes += f'#include "{kind}.hpp"\n'
        printed = self.program("numbers", includes + NUMBERS)
        if printed is None:
            return
        parts = printed.split(b"[next]")
        for kind, part in zip(KINDS, parts):
            read, _ = read_safetensors((self.folder / f"{kind}.safetensors").read_bytes())
            widened = b"".join(self.as_float(read[name], kind) for name in ("weird name/0", "a.0.weight", "scalar", "8.class"))
            tap.check(f"{kind}: the header has the bits of the file", part.startswith(widened), f"{len(part)} {len(widened)}")

    def as_float(self, tensor, kind):
        dtype, _, content, _ = tensor
        if dtype == "BF16":
            return (self.np.frombuffer(content, "<u2").astype("<u4") << 16).tobytes()
        return self.np.frombuffer(content, {"F32": "<f4", "F16": "<f2"}[dtype]).astype("<f4").tobytes()

    def check_formats(self):
        """The same tensors from each format are the same file."""
        np, tap = self.np, self.tap
        x, half = np.float32([[1, -2.5], [1 / 3, 4]]), np.float16([0.1, 2])
        np.savez(self.folder / "same.npz", x=np.asfortranarray(x), half=half)
        (self.folder / "same.safetensors").write_bytes(safetensors({"x": ("F32", x), "half": ("F16", half)}))
        names = ["same.npz", "same.safetensors"]
        try:
            import torch
            torch.save({"x": torch.tensor(x.T.copy()).T, "half": torch.tensor(half)}, self.folder / "same.pt")
            torch.save({"epoch": 3, "state_dict": {"x": torch.tensor(x), "half": torch.tensor(half)}}, self.folder / "nested.pt")
            torch.save({"x": torch.tensor(x), "half": torch.tensor(half)}, self.folder / "old.pt",
                       _use_new_zipfile_serialization=False)
            torch.save({"w": torch.tensor([1.0, -3]).bfloat16()}, self.folder / "brain.pt")
            names += ["same.pt", "nested.pt", "old.pt"]
        except ImportError:
            tap.skip("files of torch", "no torch here")
        made = {}
        for name in names:
            code, _, err = self.run(self.folder / name, "--binary", self.folder / "out.safetensors", *pickle_if_torch(name))
            tap.check(f"{name}: exported", code == 0, err)
            made[name] = (self.folder / "out.safetensors").read_bytes() if code == 0 else b""
        tap.check("every format gives the same file", len(set(made.values())) == 1, str({n: len(c) for n, c in made.items()}))
        brain = np.uint16([0x3F80, 0xC040])
        (self.folder / "brain.safetensors").write_bytes(safetensors({"w": ("BF16", brain)}))
        for name in ["brain.safetensors"] + (["brain.pt"] if "same.pt" in names else []):
            self.run(self.folder / name, "--binary", self.folder / "out.safetensors", "--type", "bfloat16", *pickle_if_torch(name))
            read, _ = read_safetensors((self.folder / "out.safetensors").read_bytes())
            tap.check(f"{name}: bfloat16 in, bfloat16 out", read["w"][2] == brain.tobytes(), str(read))

    def tables(self):
        """A model in the names of each table of the library: table -> tensors, two layers of random numbers."""
        np, types = self.np, sys.modules["export_types"]
        random = np.random.default_rng(3)
        sizes = {"gate": (8, 12), "up": (8, 12), "down": (12, 8), "q_norm": (8, 4), "k_norm": (8, 4)}  # in and out; (8, 8) of all others
        made = {}
        for table, rows in types.read_tables().items():
            names = {}
            for row in rows:
                path = row.parameter.split(".")
                if not row.parameter:
                    names |= {f"net.{layer}.{row.tensor}": np.zeros((1, 1, 4), "<f4") for layer in range(2)}
                    continue  # left out on purpose: load takes no notice of it
                usual = (8, 12) if table == "paddle_linear" else (8, 8)  # a square one is taken for torch's
                ins, outs = next((sizes[part] for part in reversed(path) if part in sizes), usual)
                in_axes = [2, ins // 2] if row.in_heads else [ins]
                out_axes = [2, outs // 2] if row.out_heads else [outs * row.parts]
                shape = in_axes + out_axes if row.order == "in_out" else out_axes + in_axes if row.order else out_axes
                if path[-1] == "score":
                    shape = [8]
                if row.tensor.endswith(("q_proj_weight", "k_proj_weight", "v_proj_weight")):
                    continue  # in_proj_weight is there
                for layer in range(2):
                    names[f"net.{layer}.{row.tensor}"] = (random.standard_normal(shape) / 3).astype("<f4")
            made[table] = names | {"scalar": np.ones((), "<f4"), "four.axes": np.ones((2, 1, 2, 2), "<f4")}
        return made

    def check_8_bits(self):
        """Steps of a scale of each output, whichever axis the outputs have; biases, norms and unknown matrices stay floats."""
        np, tap = self.np, self.tap
        random = np.random.default_rng(6)
        tensors = {"fc.weight": random.standard_normal((3, 5)).astype("f4"), "fc.bias": np.float32([1, 2, 3]),
                   "h.0.ln_1.weight": np.ones(4, "f4"), "h.0.ln_1.bias": np.zeros(4, "f4"),
                   "h.0.attn.c_attn.weight": random.standard_normal((4, 12)).astype("f4"),
                   "h.0.attn.c_attn.bias": np.zeros(12, "f4"),
                   "h.0.attn.c_proj.weight": random.standard_normal((4, 4)).astype("f4"),
                   "h.0.attn.c_proj.bias": np.zeros(4, "f4"), "h.0.ln_2.weight": np.ones(4, "f4"),
                   "h.0.ln_2.bias": np.zeros(4, "f4"), "h.0.mlp.c_fc.weight": np.zeros((4, 6), "f4"),
                   "h.0.mlp.c_fc.bias": np.zeros(6, "f4"),
                   "h.0.mlp.c_proj.weight": random.standard_normal((6, 4)).astype("f4"),
                   "h.0.mlp.c_proj.bias": np.zeros(4, "f4"), "wte": np.ones((7, 4), "f4")}
        model, out = self.folder / "bytes.npz", self.folder / "bytes.safetensors"
        np.savez(model, **tensors)
        code, _, err = self.run(model, "--type", "int8", "--binary", out, "--header", self.folder / "bytes.hpp", "--namespace",
                                "n", "--types", "--heads", "2")
        tap.check("8 bits", code == 0 and "5 matrices of layers are of 8 bits, 10 tensors float" in err, err)
        read, _ = read_safetensors(out.read_bytes())
        for name, axis in (("fc.weight", 0), ("h.0.attn.c_attn.weight", 1), ("h.0.mlp.c_fc.weight", 1)):
            dtype, shape, data, _ = read[name]
            steps = np.frombuffer(data, "i1").reshape(shape).astype("f8")
            scales = np.expand_dims(np.frombuffer(read[name + "_scale"][2], "<f4").astype("f8"), 1 - axis)
            largest = abs(steps).max(axis=1 - axis)
            tap.check(f"{name} in 8 bits", dtype == "I8" and np.all((largest == 127) | (scales.ravel() == 0)) and
                      np.all(abs(steps * scales - tensors[name]) <= scales * 0.5001), str(steps * scales - tensors[name]))
        tap.check("others are floats", read["wte"][0] == read["fc.bias"][0] == "F32" and "wte_scale" not in read)
        for name, wrong, sentence in (("fc.weight", np.float32([[1, np.inf]]), "8 bits cannot say so"),
                                      ("fc.weight_scale", np.float32([1]), "the scales of fc.weight would have this name")):
            np.savez(model, **({"fc.weight": np.ones((2, 2), "f4")} | {name: wrong}))
            code, _, err = self.run(model, "--type", "int8", "--binary", out)
            tap.check(f"refused: {sentence}", code == 1 and sentence in err, err)
        code, _, err = self.run(out, "--types")
        tap.check("a file of 8 bits is not exported again", code == 1 and "export takes the floats" in err, err)

        # And load makes the same floats of them.
        np.savez(model, **{name: tensors[name] for name in ("fc.weight", "fc.bias")})
        code, _, err = self.run(model, "--type", "int8", "--binary", out)
        tap.check("a map of 8 bits", code == 0, err)
        read, _ = read_safetensors(out.read_bytes())
        wanted = (np.frombuffer(read["fc.weight"][2], "i1").reshape(3, 5).astype("<f4") *
                  np.frombuffer(read["fc.weight_scale"][2], "<f4")[:, None]).T
        made = self.program("load_8_bits", LOAD_8_BITS)
        tap.check("is loaded", made is not None and made == wanted.tobytes(), str(made))

    def check_tables(self):
        tap, np = self.tap, self.np
        text, calls, rows = "", "", sys.modules["export_types"].read_tables()
        for table, tensors in self.tables().items():
            np.savez(self.folder / f"{table}.npz", **tensors)
            np.savez(self.folder / "input.npz", input=np.float32([1]), output=np.float32([1]))
            code, out, err = self.run(self.folder / f"{table}.npz", "--types", "--heads", 2, "--namespace", f"loaded::{table}")
            left_out = [row.tensor for row in rows[table] if not row.parameter]
            tap.check(f"{table}: recognised", code == 0 and f"names::{table}" in out and not any(one in out for one in left_out),
                      out + err)
            (self.folder / f"{table}_types.hpp").write_text(out)
            code, out, err = self.run(self.folder / f"{table}.npz", "--types", "--heads", 2, "--header",
                                      self.folder / f"{table}.hpp", "--namespace", f"constant::{table}")
            tap.check(f"{table}: constants", code == 0, err)
            text += f'#include "{table}_types.hpp"\n#include "{table}.hpp"\n'
            loaded = f'loaded_from<loaded::{table}::weights>("{table}", argv[1], []<class F>(auto& w, const F& file) {{ ' \
                     f"return loaded::{table}::load_weights(w, file); }})"
            if " net[2]" in (self.folder / f"{table}.hpp").read_text():
                calls += f'  same<loaded::{table}::net_type>("{table}", {loaded}, constant::{table}::net);\n'
            else:  # additive attention is not packed
                tap.check(f"{table}: no constants, and why", "// net:" in (self.folder / f"{table}.hpp").read_text())
                calls += f"  {loaded};\n"
        printed = self.program("tables", text + TABLES.replace("CALLS", calls))
        if printed is not None:
            tap.check("constants give what loaded weights give", b"differ" not in printed, printed.decode())

    def check_kinds(self):
        """Embeddings and positions by their names, equal layers as a stack, (in, out) by the length of the bias."""
        np, random = self.np, self.np.random.default_rng(9)
        sizes = {"ln_1": (4,), "ln_2": (4,), "attn.c_attn": (4, 12), "attn.c_proj": (4, 4), "mlp.c_fc": (4, 6), "mlp.c_proj": (6, 4)}
        tensors = {"wte.weight": (7, 4), "wpe.weight": (5, 4), "square.weight": (4, 4), "square.bias": (4,), "wide.weight": (4, 6), "wide.bias": (6,),
                   "tall.weight": (6, 4), "tall.bias": (6,)}
        for i in range(3):
            for name, shape in sizes.items():
                tensors |= {f"h.{i}.{name}.weight": shape, f"h.{i}.{name}.bias": shape[-1:]}
        model = self.folder / "kinds.npz"
        np.savez(model, **{name: random.standard_normal(shape).astype("f4") for name, shape in tensors.items()})
        code, out, err = self.run(model, "--types", "--heads", 2)
        for wanted in ("using wte_type = embedding<float, vocabulary<7>, hidden<4>>;", "using wpe_type = learned_positions<float, token<5>, hidden<4>>;",
                       "  wte_type::weights wte;", "using h_stack = layer_stack<h_type, 3>;", "  h_stack::weights h;",
                       'at("wide", "wide", names::paddle_linear)', 'at("tall", "tall", names::torch_linear)',
                       "// square: taken as (out, in); if the file has (in, out), write names::paddle_linear"):
            self.tap.check(f"kinds: {wanted.strip()}", code == 0 and wanted in out, out + err)

    def check_biases(self):
        golden = self.root / "test" / "golden" / "data" / "weights"
        for name, wanted in (("torch_encoder", " bias<true>>;"), ("torch_encoder_without_bias", " bias<false>, norm_bias<false>>;"),
                             ("qwen2_square", " bias_on<'q', 'k', 'v'>, feed_forward_bias<false>>;"),
                             ("llama_biases", " bias<true>>;")):
            code, out, err = self.run(golden / f"{name}.safetensors", "--types", "--heads", 2)
            types = next((line for line in out.splitlines() if line.startswith("using layers_type = ")), "")
            self.tap.check(f"{name}: biases", code == 0 and types.endswith(wanted), out + err)

    def check_norms_of_heads(self):
        """The gamma of a norm of queries is as wide as a head: nobody has to say how many there are."""
        model = self.root / "test" / "golden" / "data" / "weights" / "qwen3_wide.safetensors"
        code, out, err = self.run(model, "--types")
        types = next((line for line in out.splitlines() if line.startswith("using layers_type = ")), "")
        self.tap.check("queries and keys are normed", code == 0 and all(
            one in types for one in (" heads<3>,", " query_key_norm<rms_norm>,", " head_dim<6>, kv_heads<1>>;")), out + err)

    def check_options(self):
        """What the user knows of a block stands in place of the guess, and nobody is told to look it up."""
        model = self.root / "test" / "golden" / "data" / "weights" / "torch_encoder.safetensors"
        for given, wanted in (("norm_first<true>, activation<gelu_exact>", "norm_first<true>, activation<gelu_exact>"),
                              ("norm_epsilon<1, 1'000'000>", "norm_first<false>, activation<relu>, norm_epsilon<1, 1'000'000>")):
            code, out, err = self.run(model, "--types", "--heads", 2, "--options", given)
            types = next((line for line in out.splitlines() if line.startswith("using layers_type = ")), "")
            self.tap.check(f"--options {given}", code == 0 and f", {wanted}, bias<true>>;" in types and "look yours up" not in out,
                           out + err)

    def check_stored_options(self):
        """What the user says of layers is in the file, also after it is exported again, and load compares it with the types."""
        model, out = self.root / "test" / "golden" / "data" / "weights" / "torch_encoder.safetensors", self.folder / "told.safetensors"
        said = "norm_first<false>, activation<relu>, norm_epsilon<1, 100'000>, gated<false>, norm_bias<true>, softcap<30>, rope<split_halves, 500'000>"
        wanted = "encoder.layers.*: heads=2, norm_first=false, activation=relu, norm_epsilon=1e-05, gated=false, softcap=30, rope=split_halves, rope_base=500000"
        for title, arguments, text in (("options", ("--heads", 2, "--options", said), wanted), ("heads", ("--heads", 2), "encoder.layers.*: heads=2"),
                                       ("no options", (), None), ("a quotient by 0", ("--options", "norm_epsilon<1, 0>"), "encoder.layers.*: norm_epsilon=1")):
            code, _, err = self.run(model, "--binary", out, *arguments)
            of_file = read_safetensors(out.read_bytes())[1].get("umbel.options")
            self.tap.check(f"file: {title}", code == 0 and of_file == text, f"{of_file} {err}")
            self.run(out, "--binary", self.folder / "again.safetensors")
            again = read_safetensors((self.folder / "again.safetensors").read_bytes())[1].get("umbel.options")
            self.tap.check(f"file: {title}, exported again", again == text, str(again))
        self.run(model, "--binary", out, "--heads", 2, "--options", "norm_first<false>, activation<relu>")
        for namespace, options, heads in (("right", "norm_first<false>, activation<relu>", 2), ("wrong", "norm_first<true>, activation<silu>", 4)):
            _, types, _ = self.run(model, "--types", "--heads", heads, "--options", options, "--namespace", namespace)
            (self.folder / f"{namespace}_types.hpp").write_text(types)
        printed = self.program("told", TOLD)
        self.tap.check("load compares them", printed is not None and printed.decode() == "".join(
            f"umbel: load: layers.0: {line} in the type, encoder_layer\n"
            for line in ("heads is 2 in the file but 4", "norm_first is false in the file but true", "activation is relu in the file but silu")), str(printed))

    def check_committed(self):
        """The constants of the examples are what the tool writes, so that their tests are tests of these layers (examples/fashion)."""
        examples, data = self.root / "examples", self.root / "test" / "golden" / "data"
        clothing = "norm_first<true>, activation<gelu_exact>"
        gestures = "norm_first<true>, norm_epsilon<1, 100'000>, activation<silu>"
        for header, model, heads, options in (("fashion/trained/weights.hpp", examples / "fashion/trained/weights.npz", 4, clothing),
                                              ("fashion/small/weights.hpp", examples / "fashion/small/weights.npz", 3, clothing),
                                              ("learn_on_device/weights.hpp", data / "gestures.safetensors", 4, gestures)):
            there = (examples / header).read_text()
            code, _, err = self.run(model, "--header", self.folder / "committed.hpp", "--namespace",
                                    re.search(r"^namespace (\S+) ", there, re.M)[1], "--types", "--heads", heads, "--options", options,
                                    "--license", "BSL-1.0")
            self.tap.check(f"{header} is that of its weights", code == 0 and (self.folder / "committed.hpp").read_text() == there,
                           err or "tools/train_fashion.py and train_gestures.py have the commands")

    def check_assertions(self):
        """The compiler compares: if a digit of an array, a sum or the checksum is another, the header does not compile. A large
        array is compared in parts, so that the limits of compilers hold."""
        np, tap, write = self.np, self.tap, sys.modules["export_write"]
        header, source, at_once = self.folder / "sums.hpp", self.folder / "sums.cpp", write.NUMBERS_AT_ONCE
        source.write_text('#include "sums.hpp"\n')
        np.savez(self.folder / "sums_probe.npz", input=np.int64([7, 8]), output=np.float32([0.5]))

        def exported(**tensors):
            np.savez(self.folder / "sums.npz", **tensors)
            code, _, err = self.run(self.folder / "sums.npz", "--header", header, "--namespace", "umbels::n", "--probe",
                                    self.folder / "sums_probe.npz", "--license", "MIT OR Apache-2.0")
            tap.check("constants are exported", code == 0, err)
            return header.read_text()

        def compiled(text, *more):
            header.write_text(text)
            return subprocess.run([*self.compiler, *FLAGS, *more, "-fsyntax-only", "-I", self.root / "include", source],
                                  capture_output=True, text=True, errors="replace")
        large = exported(b=np.random.default_rng(4).standard_normal(at_once + 10).astype("f4"))
        done = compiled(large)
        tap.check("a large array: in two parts, by the compiler's own limits", done.returncode == 0 and
                  large.count("\nstatic_assert(") == 4, done.stderr[:600])
        write.NUMBERS_AT_ONCE = 2
        try:
            text = exported(a=np.float32([1.25, -3.5, 2.75]))
        finally:
            write.NUMBERS_AT_ONCE = at_once
        tap.check("SPDX is the first line", text.startswith("// SPDX-License-Identifier: MIT OR Apache-2.0\n"), text[:100])
        done = compiled(text)
        tap.check("an assertion for each part", done.returncode == 0 and text.count("\nstatic_assert(") == 4, done.stderr[:600] + text)
        digits = [found.start(1) for one in (r"1\.2(5)f", r"-3\.(5)f", r"2\.7(5)f", r" (7), 8}", r", (8)}", r" 0\.(5)f",
                                             r"checksum = 0x(\w)", r" ==\n +0x\w+?(\w)\);", r"checksum_of\(a, 0x(\w)")
                  for found in re.finditer(one, text)]
        tap.check("digits to change", len(digits) == 12, str(digits))
        for at in digits:
            changed = text[:at] + ("3" if text[at] != "3" else "4") + text[at + 1:]
            done = compiled(changed)
            tap.check(f"another digit after {text[at - 12:at + 1]!r}", done.returncode != 0 and
                      re.search("static.assert", done.stderr) is not None, done.stderr[:600])
        tap.check("UMBEL_UNCHECKED_CONSTANTS leaves the assertions out", compiled(changed, "-DUMBEL_UNCHECKED_CONSTANTS").returncode == 0)

    def check_torch(self):
        try:
            import torch
        except ImportError:
            return self.tap.skip("a model of torch", "no torch here")
        np, tap = self.np, self.tap
        torch.manual_seed(1)
        torch.set_num_threads(1)
        embed, head = torch.nn.Linear(16, 32), torch.nn.Linear(32, 10)
        layer = torch.nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
        encoder, norm = torch.nn.TransformerEncoder(layer, 2), torch.nn.LayerNorm(32)
        model = torch.nn.Sequential(embed, encoder, norm, head).eval()
        for parameter in model.parameters():
            torch.nn.init.normal_(parameter, std=0.3)
        state = {name + key: value for name, one in (("embed.", embed), ("encoder.", encoder), ("norm.", norm), ("head.", head))
                 for key, value in one.state_dict().items()}
        torch.save(state, self.folder / "torch.pt")
        x = torch.randn(1, 9, 16)
        with torch.no_grad():
            y = head(norm(encoder(embed(x))).mean(1))
        np.savez(self.folder / "probe.npz", input=x.numpy()[0], output=y.numpy()[0])
        code, out, err = self.run(self.folder / "torch.pt", "--pickle", "--types", "--heads", 4, "--namespace", "loaded")
        (self.folder / "torch_types.hpp").write_text(out)
        code_2, _, err_2 = self.run(self.folder / "torch.pt", "--pickle", "--types", "--heads", 4, "--namespace", "constant",
                                    "--probe", self.folder / "probe.npz", "--header", self.folder / "torch.hpp", "--binary",
                                    self.folder / "torch.safetensors")
        numbers = {name: value.numpy() for name, value in state.items()}
        np.savez(self.folder / "with_probe.npz", **numbers, **{"probe.input": x.numpy()[0], "probe.output": y.numpy()[0],
                                                               "probe.ids": np.int64([3, -1])})
        _, of_both, _ = self.run(self.folder / "with_probe.npz", "--types", "--heads", 4, "--namespace", "loaded")
        tap.check("the probe in the file of the model is none of its weights", of_both == out, of_both)
        code_3, _, err_3 = self.run(self.folder / "with_probe.npz", "--binary", self.folder / "with_probe.safetensors", "--type",
                                    "bfloat16")
        kept = read_safetensors((self.folder / "with_probe.safetensors").read_bytes())[0] if code_3 == 0 else {}
        tap.check("and it is kept, unrounded", [kept[f"probe.{name}"][0] for name in ("input", "output", "ids")] ==
                  ["F32", "F32", "I32"] if kept else False, err_3)
        tap.check("a model of torch: exported", code == 0 and code_2 == 0, err + err_2)
        code, _, err_4 = self.run(self.folder / "torch.pt", "--pickle", "--binary", self.folder / "no_probe.safetensors")
        tap.check("a file without a probe is a note", code == 0 and "export: note: no probe: nothing will find" in err_4 and
                  "no probe" not in err_2 + err_3, err_2 + err_3 + err_4)
        printed = self.program("torch", TORCH)
        if printed is not None:
            tap.check("it gives torch's output, loaded and of constants", printed.decode().split() == ["right"] * 2,
                      printed.decode())

    def check_port(self):
        """docs/how-to/port-from-pytorch.md: its files, its commands as they stand there, and what the last one prints. g++ is
        the compiler of this test. Without torch the same files are written by numpy."""
        np, tap, folder = self.np, self.tap, self.folder / "port für alle"
        (folder / "bin").mkdir(parents=True)
        page = (self.root / "docs" / "how-to" / "port-from-pytorch.md").read_text()
        (script,), (program,), commands, (printed,) = (re.findall(rf"^```{kind}\n(.*?)^```$", page, re.M | re.S)
                                                       for kind in ("python", "cpp", "sh", "text"))
        try:
            import torch  # noqa: F401
        except ImportError:
            save_encoder(np, folder)
            tap.skip("save.py", "no torch here: numpy's encoder stands in")
            script = ""
        (folder / "save.py").write_text(script)
        (folder / "main.cpp").write_text(program)
        compiler = [shutil.which(self.compiler[0]), *self.compiler[1:]]  # by its path: g++ is the script itself
        (folder / "bin" / "g++").write_text(f'#!/bin/sh\nexec {shlex.join(compiler)} "$@"\n')
        (folder / "bin" / "python3").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
        for name in ("g++", "python3"):
            (folder / "bin" / name).chmod(0o755)
        environment = os.environ | {"UMBEL": str(self.root), "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}

        def run(text):
            return subprocess.run(["bash", "-euc", text], cwd=folder, env=environment, capture_output=True, text=True)
        for text in commands:
            done = run(text)
            tap.check(f"port: {text.split()[0]}", done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:])
        tap.check("port: the verdict", done.stdout == printed, done.stdout)

        # Another output in the probe: the same program says what is wrong.
        probe = dict(np.load(folder / "probe.npz"))
        probe["output"][-1, -1] += 1
        np.savez(folder / "probe.npz", **probe)
        done = run(commands[0].replace("python3 save.py", "") + "./port")
        tap.check("port: a difference", done.returncode == 1 and "umbel: probe: the output differs by 1" in done.stdout,
                  done.stdout + done.stderr)


def save_encoder(np, folder):
    """What save.py saves, from drawn weights, by the equations of the layers."""
    random, hidden, heads, tokens = np.random.default_rng(3), 64, 4, 9
    state = {}

    def drawn(name, *shape):
        state[name] = (random.standard_normal(shape) * 0.2).astype("f4")
        return state[name].astype("f8")

    def linear(x, name, outputs):
        parts = (f"{name}_weight", f"{name}_bias") if name.endswith("in_proj") else (f"{name}.weight", f"{name}.bias")
        return x @ drawn(parts[0], outputs, x.shape[-1]).T + drawn(parts[1], outputs)

    def norm(x, name):
        mean = x.mean(-1, keepdims=True)
        return (x - mean) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * drawn(f"{name}.weight", hidden) + drawn(f"{name}.bias", hidden)

    y = x = random.standard_normal((tokens, hidden)).astype("f4").astype("f8")
    for name in ("encoder.layers.0", "encoder.layers.1"):
        q, k, v = np.split(linear(y, f"{name}.self_attn.in_proj", 3 * hidden).reshape(tokens, -1, hidden // heads).swapaxes(0, 1), 3)
        scores = np.exp(q @ k.swapaxes(1, 2) / np.sqrt(hidden // heads))
        context = (scores / scores.sum(-1, keepdims=True) @ v).swapaxes(0, 1).reshape(tokens, hidden)
        y = norm(y + linear(context, f"{name}.self_attn.out_proj", hidden), f"{name}.norm1")
        y = norm(y + linear(np.maximum(linear(y, f"{name}.linear1", 128), 0), f"{name}.linear2", hidden), f"{name}.norm2")
    y = linear(norm(y, "encoder.norm"), "head", 10)
    np.savez(folder / "model.npz", **state)
    np.savez(folder / "probe.npz", input=x.astype("f4"), output=y.astype("f4"))


NUMBERS = r"""
#include <cstdio>
#include <umbel/weights/checksum.hpp>
static_assert(n::of_float::a_0_weight_shape[0] == 2 && n::of_float::a_0_weight_shape[1] == 16);
static_assert(alignof(decltype(n::of_float::a_0_weight)) <= 64 && n::of_float::probe_input[1] == -2147483647 - 1);
template <class Each>
bool print(const Each& each, std::uint64_t wanted) {
  each([](const auto& array) { std::fwrite(array, 1, sizeof(array), stdout); });
  std::fputs("[next]", stdout);
  return umbel::checksum_of(each) == wanted;
}
int main() {
  const bool a = print(n::of_float::for_each_array, n::of_float::checksum);
  const bool b = print(n::of_bfloat16::for_each_array, n::of_bfloat16::checksum);
  const bool c = print(n::of_float16::for_each_array, n::of_float16::checksum);
  return a && b && c && reinterpret_cast<std::uintptr_t>(n::of_float::a_0_weight) % 64 == 0 ? 0 : 1;
}
"""

TABLES = r"""
#include <cstdio>
#include <string>
#include <umbel/file/mapped_file.hpp>
using namespace umbel;
using namespace umbel::axes;
using sequence = tensor<float, token<3>, hidden<8>>;
template <class Layer, class F>
auto call(const F& layer, const sequence& x) {
  if constexpr (requires(typename Layer::weights w) { w.cross_attention; })
    return layer(x, tensor<float, key<3>, hidden<8>>(x | rename_axis<token, key>), self_mask(all_keys));
  else
    return layer(x);
}
template <class Layer, class Constant>
auto call_constant(const Constant& packed_or_weights, const sequence& x) {
  if constexpr (requires { packed_or_weights.get_weights(); })
    return call<Layer>(packed_or_weights, x);
  else
    return call<Layer>(Layer{packed_or_weights}, x);
}
template <class Weights, class Load>
const auto& loaded_from(const char* table, const char* folder, const Load& load_into) {
  static Weights w;
  const auto memory = mapped_file::open((std::string(folder) + "/" + table + ".npz").c_str());
  const auto file = tensor_file::in_memory(memory.value());
  if (const auto done = load_into(w, file.value()); !done) std::printf("%s differ\n%s", table, done.error());
  return w.net;
}
template <class Layer, class Loaded, class Constants>
void same(const char* table, const Loaded& w, const Constants& constants) {
  sequence x;
  float next = -1;
  for (float& one : x) one = next += 0.083F;
  for (std::size_t i = 0; i < 2; ++i)
    if (!(call<Layer>(Layer{w[i]}, x) == call_constant<Layer>(constants[i], x))) std::printf("%s differ\n", table);
}
int main(int, char** argv) {
CALLS  return argv[1] == nullptr;
}
"""

TORCH = r"""
#include "torch_types.hpp"
#include "torch.hpp"
#include <cstdio>
#include <string>
#include <umbel/file/mapped_file.hpp>
using namespace umbel;
using namespace umbel::axes;
static loaded::weights w;
static tensor<float, token<9>, hidden<16>> x;
static tensor<float, classes<10>> wanted;
using sequence = tensor<float, token<9>, hidden<32>>;
int main(int, char** argv) {
  const auto memory = mapped_file::open((std::string(argv[1]) + "/torch.safetensors").c_str());
  const tensor_file file = tensor_file::in_memory(memory.value()).value();
  if (const auto same = verify_checksum(file); !same) std::puts(same.error());
  if (const auto done = loaded::load_weights(w, file); !done) std::puts(done.error());

  const auto replayed = replay(file, [](const auto& in) {
        sequence h = in | loaded::embed_type(w.embed);
        h = loaded::layers_stack(w.layers)(h);
        return tensor<float, classes<10>>(h | loaded::norm_type(w.norm) | mean<token> | loaded::head_type(w.head));
      }, wanted, x);
  std::puts(replayed ? "right" : replayed.error());
  sequence h = view_as<token<9>, hidden<16>>(constant::probe_input) | constant::embed;
  for (const auto& layer : constant::layers) h = layer(h);
  const tensor<float, classes<10>> y = h | loaded::norm_type(constant::norm) | mean<token> | constant::head;
  const auto of_constants = compare_with_probe(y, view_as<classes<10>>(constant::probe_output));
  std::puts(of_constants ? "right" : of_constants.error());
}
"""


LOAD_8_BITS = r"""
#include <cstdio>
#include <string>
#include <umbel/file/mapped_file.hpp>
#include <umbel/files.hpp>
#include <umbel/umbel.hpp>
#include <umbel/weights.hpp>
using namespace umbel;
using namespace umbel::axes;
int main(int, char** words) {
  static linear<float, hidden<5>, classes<3>, bias<true>>::weights w;
  const auto memory = mapped_file::open((std::string(words[1]) + "/bytes.safetensors").c_str());
  const auto file = tensor_file::in_memory(*memory);
  if (!file) return std::puts(file.error()), 1;
  const auto loaded = load(w, *file, at("", "fc", names::torch_linear));
  if (!loaded) return std::puts(loaded.error()), 1;
  std::fwrite(w.weight, 1, sizeof w.weight, stdout);
}
"""


TOLD = r"""
#include <cstdio>
#include <string>
#include <umbel/file/mapped_file.hpp>
#include "right_types.hpp"
#include "wrong_types.hpp"
int main(int, char** words) {
  static right::weights w;
  static wrong::weights other;
  const auto memory = umbel::mapped_file::open((std::string(words[1]) + "/told.safetensors").c_str());
  const auto file = umbel::tensor_file::in_memory(*memory);
  if (!file) return std::puts(file.error()), 1;
  std::fputs(right::load_weights(w, *file).error(), stdout);
  std::fputs(wrong::load_weights(other, *file).error(), stdout);
}
"""


def main():
    (root,), compiler = split_command(sys.argv[1:])
    tap = Tap()
    try:
        import numpy  # noqa: F401
    except ImportError:
        tap.skip("tools/export", "no numpy here")
        return tap.finish()
    with tempfile.TemporaryDirectory() as folder:
        checks = Checks(tap, pathlib.Path(root), compiler, folder)
        checks.check_numbers()
        checks.check_formats()
        checks.check_8_bits()
        checks.check_tables()
        checks.check_kinds()
        checks.check_biases()
        checks.check_norms_of_heads()
        checks.check_options()
        checks.check_stored_options()
        checks.check_committed()
        checks.check_assertions()
        checks.check_torch()
        checks.check_port()
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
