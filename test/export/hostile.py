#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""tools/export, of bad files and on bad disks: every outcome is a file that is whole, or one sentence and the old one. It replaces
nothing but plain files, runs no pickle, takes no more memory than a file's length allows, and leaves nothing behind.

    hostile.py PROJECT_ROOT -- COMPILER...
    hostile.py --faults PROJECT_ROOT LIBRARY FOLDER      of itself, with faults.cpp preloaded: JSON of what happened
    hostile.py --fuzz PROJECT_ROOT ROUNDS SEED           the fuzz alone, for longer
"""
import copy
import ctypes
import errno
import io
import json
import os
import pathlib
import pickle
import re
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import time
import traceback
import zipfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tap import Tap, split_command  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import check  # noqa: E402
from check import pickle_if_torch, read_safetensors, safetensors  # noqa: E402

FUZZ_ROUNDS = 2500
STARTED = 300  # seconds by the clock, which only end what would wait for ever: a FIFO


def torch_or_none():
    try:
        import torch
        return torch
    except ImportError:
        return None


class Hostile(check.Checks):
    def run(self, *arguments):
        try:
            return super().run(*arguments)
        except Exception:  # noqa: BLE001
            return "traceback", "", traceback.format_exc()[-600:]

    def refused(self, name, wanted, *arguments, code=1):
        got, out, err = self.run(*arguments)
        self.tap.check(f"refused: {name}", got == code and wanted in err and err.count("\n") == 1 and out == "" and len(err) < 500,
                       f"{got} {out}{err}")

    def started(self, *arguments, stdout=subprocess.PIPE, **more):
        """(exit code, standard output, standard error) of a process of its own."""
        done = subprocess.run([sys.executable, self.root / "tools" / "export", *arguments], stdout=stdout, stderr=subprocess.PIPE,
                              timeout=STARTED, **more)
        return done.returncode, (done.stdout or b"").decode(errors="replace"), done.stderr.decode(errors="replace")

    def seeds(self):
        """The same small model in each format."""
        np, torch = self.np, torch_or_none()
        x, half = np.float32([[1, -2.5], [1 / 3, 4]]), np.float16([0.1, 2])
        np.savez(self.folder / "same.npz", x=np.asfortranarray(x), half=half)
        np.savez_compressed(self.folder / "packed.npz", x=x, half=half)
        (self.folder / "same.safetensors").write_bytes(safetensors({"x": ("F32", x), "half": ("F16", half)}))
        if torch:
            torch.save({"x": torch.tensor(x), "half": torch.tensor(half)}, self.folder / "same.pt")
            torch.save({"x": torch.tensor(x), "half": torch.tensor(half)}, self.folder / "old.pt", _use_new_zipfile_serialization=False)

    def check_refused(self):
        np, folder = self.np, self.folder
        one, out = np.float32([1, 2]), folder / "never.safetensors"
        np.savez(folder / "fine.npz", x=one)
        np.savez(folder / "objects.npz", x=np.array([{}], dtype=object))
        np.savez(folder / "complex.npz", x=np.complex64([1]))
        np.savez(folder / "integers.npz", x=np.arange(2))
        np.savez(folder / "nothing.npz")
        np.savez(folder / "collide.npz", **{"a.b": one, "a_b": one})
        np.savez(folder / "shapes.npz", **{"a": one, "a.shape": one})
        np.savez(folder / "probe_name.npz", **{"a": one, "probe.output": one})
        np.savez(folder / "probe_one.npz", output=one)
        np.savez(folder / "probe_large.npz", output=one, input=np.int64([2**31]))
        np.savez(folder / "probe_good.npz", output=one, input=one)
        np.savez(folder / "attention.npz", **{f"W_{one}.weight": np.zeros((6, 6), "<f4") for one in "qkvo"})
        (folder / "empty.npz").write_bytes(b"")
        (folder / "text.pt").write_text("no model")
        offsets = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}
        headers = {
            "duplicate": f'{{"a":{json.dumps(offsets)},"a":{json.dumps(offsets)}}}',
            "json": '{"a":', "list": '{"a": [1]}', "gap": json.dumps({"a": offsets}),
            "overlap": json.dumps({"a": offsets, "b": offsets | {"shape": [2], "data_offsets": [0, 8]}}),
            "negative": json.dumps({"a": offsets | {"shape": [-1]}}), "size": json.dumps({"a": offsets | {"shape": [3]}}),
            "type": json.dumps({"a": offsets | {"dtype": "F8_E4M3"}}),
            "end": json.dumps({"a": offsets | {"data_offsets": [0, 400]}}),
            "nested": '{"a":' + "[" * 100000, "surrogate": '{"\\ud800":' + json.dumps(offsets) + "}",
            "unknown": json.dumps({"a": offsets | {"strides": [1]}}), "type_list": json.dumps({"a": offsets | {"dtype": []}}),
            "shape_text": json.dumps({"a": offsets | {"shape": "11"}}), "minus_zero": '{"a":' + json.dumps(offsets).replace("0,", "-0,") + "}",
            "axes": json.dumps({"a": offsets | {"shape": [1] * 9}}), "huge": json.dumps({"a": offsets | {"shape": [0, 2**62, 2]}}),
            "metadata": '{"__metadata__":[]}', "metadata_number": '{"__metadata__":{"a":1}}',
            "metadata_surrogate": '{"__metadata__":{"a":"\\udfff"}}', "long": json.dumps({"a" * 100000: offsets | {"shape": [3]}}),
        }
        for name, header in headers.items():
            (folder / f"{name}.safetensors").write_bytes(safetensors({"x": ("F32", one)}, header))
        for name, wanted in {"duplicate": "same name", "json": "not JSON", "list": "something else of 'a'", "gap": "belong to none",
                             "overlap": "bytes of no", "negative": "not a number from 0", "size": "not what its shape",
                             "type": "'F8_E4M3', which is not supported", "end": "behind the end of the file", "nested": "not JSON",
                             "surrogate": "half of a pair",
                             "unknown": "something else of 'a'", "type_list": "element type [], which", "shape_text": "no such list",
                             "minus_zero": "not a number from 0", "axes": "9 axes, more than 8", "huge": "overflows",
                             "metadata": "not texts by name", "metadata_number": "not texts by name",
                             "metadata_surrogate": "half of a pair", "long": "... (100,002 characters)"}.items():
            self.refused(name, wanted, folder / f"{name}.safetensors", "--binary", out)
        for name, wanted in {"objects.npz": "objects are not loaded", "complex.npz": "complex64, which is not supported",
                             "integers.npz": "no tensors of floating-point", "nothing.npz": "no tensors of floating-point",
                             "empty.npz": "neither safetensors", "text.pt": "neither safetensors",
                             "not_there.npz": "No such file", ".": "it is a folder"}.items():
            self.refused(name, wanted, folder / name, "--binary", out)
        header = ["--header", folder / "never.hpp", "--namespace"]
        self.refused("two names that are one", "'a.b' and 'a_b' would both be called a_b", folder / "collide.npz", *header, "m")
        self.refused("a name and a shape", "would both be called a_shape", folder / "shapes.npz", *header, "m")
        for bad in ("1x", "a b", "class", "a::", "a__b", "_a"):
            self.refused(f"namespace {bad}", "no name that C++ takes", folder / "fine.npz", *header, bad, code=2)
        self.refused("no namespace", "--header needs --namespace", folder / "fine.npz", "--header", out, code=2)
        self.refused("type", "invalid choice", folder / "fine.npz", "--type", "int4", code=2)
        self.refused("heads", "from 1 on", folder / "fine.npz", "--heads", 0, code=2)
        for bad in ("norm_first", "norm_first<true>,", "bias_on<'q'>", "activation<relu>; x<1>"):
            self.refused(f"options {bad}", "not a list as", folder / "fine.npz", "--options", bad, code=2)
        self.refused("one file for both", "are the same file", folder / "fine.npz", "--binary", out, *header[:1], folder / "." / out.name,
                     "--namespace", "m", code=2)
        for bad in ("std", "a::umbel"):
            self.refused(f"namespace {bad}", "no name that C++ takes", folder / "fine.npz", *header, bad, code=2)
        for bad in ("", "MIT\n#error", "MIT  ", "x;"):
            self.refused(f"license {bad!r}", "not an identifier of SPDX", folder / "fine.npz", "--license", bad, code=2)
        self.refused("no heads", "say --heads N", folder / "attention.npz", "--types", "--binary", out)
        self.refused("uneven heads", "does not divide", folder / "attention.npz", "--types", "--heads", 4, "--binary", out)
        self.refused("a tensor of the probe's name", "a name of the probe", folder / "probe_name.npz", "--probe",
                     folder / "probe_good.npz", "--binary", out)
        self.refused("a probe without input", "numpy.savez(file, input=x, output=y)", folder / "fine.npz", "--probe",
                     folder / "probe_one.npz", "--binary", out)
        self.refused("a probe of large integers", "do not fit 32 bits", folder / "fine.npz", "--probe",
                     folder / "probe_large.npz")
        self.refused("a folder that is not there", "No such file", folder / "fine.npz", "--binary", folder / "none" / "x")
        left = [path.name for path in folder.glob("never*")] + [path.name for path in folder.glob(".export*")]
        self.tap.check("nothing was written", not left, str(left))

    def check_which(self):
        """A damaged safetensors file is called that, whatever its first bytes look like."""
        folder, tap = self.folder, self.tap
        one = self.np.float32([1, 2])
        fine = safetensors({"x": ("F32", one)})
        size = 0x4B50  # its bytes are "PK"
        header = json.dumps({"x": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode()
        (folder / "pk.safetensors").write_bytes(struct.pack("<Q", size) + header.ljust(size) + one.tobytes())
        code, out, err = self.run(folder / "pk.safetensors")
        tap.check("a header of 19,280 bytes is no zip archive", code == 0 and out.startswith("x "), err)
        for name, content in (("overlong", struct.pack("<Q", 2**40) + fine[8:]), ("brace", fine[:8] + b"[" + fine[9:]), ("short", fine[:5]),
                              ("size", b"PK" + fine[2:]), ("cut", fine[:-1]), ("none", b"")):
            (folder / f"{name}.safetensors").write_bytes(content)
            code, _, err = self.run(folder / f"{name}.safetensors")
            tap.check(f"damaged safetensors: {name}", code == 1 and "zip" not in err and "damaged" in err and err.count("\n") == 1, err)

    def check_odd_names(self):
        """Names and shapes that are allowed, and that no framework gives."""
        np, tap, out = self.np, self.tap, self.folder / "odd.safetensors"
        matrix = np.ones((2, 2), "<f4")
        for tensors in ({"": matrix}, {"layers.\u00b2.weight": matrix}, {"layers.01.weight": matrix, "layers.1.weight": matrix},
                        {"a*b.weight": matrix}, {"*": matrix}, {".": matrix}, {"\u2028\n": matrix}, {"layers." + "9" * 5000 + ".weight": matrix},
                        {"fc.weight": np.zeros((0, 2), "<f4")}, {f"W_{one}.weight": np.zeros((0, 6), "<f4") for one in "qkvo"}):
            (self.folder / "odd_in.safetensors").write_bytes(safetensors({name: ("F32", x) for name, x in tensors.items()}))
            for more in (["--types", "--heads", 2], ["--type", "int8"], ["--header", self.folder / "odd.hpp", "--namespace", "m", "--types",
                                                                         "--heads", 2]):
                code, _, err = self.run(self.folder / "odd_in.safetensors", "--binary", out, *more)
                wanted = 1 if "--header" in more and not any(x.size for x in tensors.values()) else 0
                tap.check(f"odd: {str(list(tensors))[:40]} {more[0]}", code == wanted, err)
        np.savez(self.folder / "metadata.npz", __metadata__=matrix)
        self.refused("a tensor called __metadata__", "keeps for texts", self.folder / "metadata.npz", "--binary", out)
        np.savez(self.folder / "empty_probe.npz", input=np.zeros(0), output=np.zeros(0))
        np.savez(self.folder / "wide_probe.npz", input=np.ones(1), output=np.float64([1e39]))
        self.refused("a probe of large numbers", "do not fit 32 bits", self.folder / "odd_in.safetensors", "--probe", self.folder / "wide_probe.npz")
        for rows in (2, 4, 7):  # in_proj_weight is three in one
            np.savez(self.folder / "uneven.npz", **{"self_attn.in_proj_weight": np.ones((rows, 6), "<f4"), "self_attn.out_proj.weight": np.ones((6, 6))})
            code, _, err = self.run(self.folder / "uneven.npz", "--types", "--heads", 2)
            tap.check(f"{rows} rows of three in one", code == 0, err)
        self.refused("a probe of nothing", "has no elements", self.folder / "odd_in.safetensors", "--probe", self.folder / "empty_probe.npz")

    # ---- what is no plain file

    def special(self):
        """name -> path, in a folder of its own. The device is ours, with the numbers of /dev/null; the link leads to it, or to a file."""
        folder = self.folder / "special"
        folder.mkdir()
        (folder / "file").write_bytes(b"old")
        made = {"a FIFO": folder / "fifo", "a link": folder / "link", "a link to nothing": folder / "dangling", "a socket": folder / "socket",
                "a folder": folder / "folder"}
        os.mkfifo(folder / "fifo")
        (folder / "link").symlink_to("file")
        (folder / "dangling").symlink_to("nothing")
        (folder / "folder").mkdir()
        here = os.getcwd()
        os.chdir(folder)  # a socket's path is short
        with socket.socket(socket.AF_UNIX) as one:
            one.bind("socket")
        os.chdir(here)
        try:
            os.mknod(folder / "device", stat.S_IFCHR | 0o666, os.makedev(1, 3))
            (folder / "to_device").symlink_to("device")
            made |= {"a device": folder / "device", "a link to a device": folder / "to_device"}
        except PermissionError:
            self.tap.skip("a device", "only root makes one")
        return made

    def check_special(self):
        tap, fine = self.tap, self.folder / "fine.npz"
        special = self.special()
        folder = self.folder / "special"

        def picture():
            return {path.name: (os.lstat(path).st_ino, os.lstat(path).st_mode, os.lstat(path).st_rdev) for path in folder.iterdir()}
        before = picture()
        for name, path in special.items():
            for options in (["--binary", path], ["--header", path, "--namespace", "m"],
                            ["--binary", folder / "first", "--header", path, "--namespace", "m"]):
                code, out, err = self.started(fine, *options)
                tap.check(f"{name} is not replaced: {options[0]}", code == 1 and out == "" and err ==
                          f"export: {path}: it is no plain file, and is not replaced\n", err)
        tap.check("all are what they were, and nothing is beside them", picture() == before and (folder / "file").read_bytes() == b"old",
                  f"{before}\n{picture()}")
        for name in ("a FIFO", "a device", "a folder", "a socket"):
            if name in special:
                code, out, err = self.started(special[name], "--probe", special[name])
                tap.check(f"{name} is not read", code == 1 and out == "" and err.count("\n") == 1 and
                          {"a socket": "No such device", "a folder": "it is a folder"}.get(name, "is no plain file") in err, err)
        (folder / "model").symlink_to(fine)
        code, out, err = self.started(folder / "model")
        tap.check("a model is read through a link, as caches of models have them", code == 0, err)
        (folder / "file").chmod(0o640)
        code, _, err = self.started(fine, "--binary", folder / "file")
        tap.check("a plain file is replaced, and keeps its mode", code == 0 and (folder / "file").read_bytes() != b"old" and
                  stat.S_IMODE((folder / "file").stat().st_mode) == 0o640, err)

    def check_standard_output(self):
        """It is full, closed, or has no such letters."""
        (self.folder / "letters.safetensors").write_bytes(safetensors({"gr\u00f6\u00dfe": ("F32", self.np.float32([1]))}))
        with open("/dev/full", "wb") as full:
            code, _, err = self.started(self.folder / "fine.npz", stdout=full)
        self.tap.check("standard output is full", code == 1 and err == "export: standard output: No space left on device\n", err)
        reading, writing = os.pipe()
        os.close(reading)
        code, _, err = self.started(self.folder / "fine.npz", stdout=writing)
        os.close(writing)
        self.tap.check("nobody reads", code == 0 and err == "", err)
        code, out, err = self.started(self.folder / "letters.safetensors", env=os.environ | {"PYTHONIOENCODING": "ascii"})
        self.tap.check("a terminal of ASCII", code == 0 and out.startswith("gr\\xf6\\xdfe"), out + err)

    # ---- memory

    def check_expansion(self):
        """A small file becomes no large one, whatever it says of itself."""
        np, folder = self.np, self.folder
        zeros = io.BytesIO()
        np.save(zeros, np.zeros(20_000_000, "<f4"))
        content = zeros.getvalue()

        def archive(name, how, *names):
            with zipfile.ZipFile(folder / name, "w", how) as file:
                for one in names:
                    file.writestr(one, content)
            return bytearray((folder / name).read_bytes())
        bomb = archive("bomb.npz", zipfile.ZIP_DEFLATED, "x.npy")
        self.refused(f"{len(content):,} bytes in {len(bomb):,}", "more than 20 times", folder / "bomb.npz")
        archive("bz2.npz", zipfile.ZIP_BZIP2, "x.npy")
        self.refused("bzip2, whose lengths are not kept to", "neither numpy nor torch", folder / "bz2.npz")
        # The lengths in the local header and in the directory, of 4 bytes each, are a lie.
        for at in (found.start() for found in re.finditer(re.escape(struct.pack("<I", len(content))), bytes(bomb))):
            bomb[at:at + 4] = struct.pack("<I", 1000)
        (folder / "lie.npz").write_bytes(bomb)
        header = b"\x93NUMPY\1\0" + struct.pack("<H", 80) + b"{'descr': '<f4', 'fortran_order': False, 'shape': (10000000000,), }".ljust(79) + b"\n"
        with zipfile.ZipFile(folder / "shape.npz", "w") as file:
            file.writestr("x.npy", header)
        measure = ("import resource, runpy, sys\nsys.argv = sys.argv[1:]\ntry:\n  runpy.run_path(sys.argv[0], run_name='__main__')\n"
                   "finally:\n  print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)")
        peaks = []
        if torch_or_none():
            # The old format says how many numbers are allocated, before there is one.
            said = (self.folder / "old.pt").read_bytes()
            lie, count = re.subn(rb"(cpuq.)K\x04", lambda found: found[1] + b"J\xff\xff\xff\x1f", said)
            (folder / "lie.pt").write_bytes(lie)
            for name in ("old.pt", "lie.pt"):
                done = subprocess.run([sys.executable, "-c", measure, self.root / "tools" / "export", folder / name, "--pickle"], capture_output=True,
                                      text=True, env=os.environ | {"MALLOC_PERTURB_": "1"})  # so that what is allocated is touched
                peaks.append(int(done.stdout.split()[-1]))
                self.tap.check(f"{name}: done or refused", done.returncode == (name == "lie.pt"), done.stderr)
            self.tap.check("a pickle that asks for 2 GB gets none", count == 1 and peaks[1] < peaks[0] + 400_000, f"{count} {peaks} kB")
        peaks = []
        for name in ("fine.npz", "bomb.npz", "lie.npz", "shape.npz"):
            done = subprocess.run([sys.executable, "-c", measure, self.root / "tools" / "export", folder / name], capture_output=True, text=True)
            peaks.append(int(done.stdout.split()[-1]))
            self.tap.check(f"{name}: one sentence", done.returncode == (name != "fine.npz") and done.stderr.count("\n") == (name != "fine.npz"),
                           done.stderr)
        self.tap.check("and no memory", max(peaks) < peaks[0] + 8000, f"{peaks} kB")
        np.savez_compressed(folder / "sparse.npz", x=np.zeros(1_000_000, "<f4"))
        code, _, err = self.run(folder / "sparse.npz")
        self.tap.check("a few zeros are fine", code == 0, err)

    # ---- pickles

    def check_pickles(self):
        torch, tap, out = torch_or_none(), self.tap, self.folder / "never.safetensors"
        ran = self.folder / "ran"

        class Program:
            def __reduce__(self):
                return pathlib.Path.touch, (ran,)
        (self.folder / "raw.pt").write_bytes(pickle.dumps({"x": Program()}))
        programs = ["raw.pt"]
        objects = self.np.array([Program()], dtype=object)
        self.np.savez(self.folder / "program.npz", x=objects)
        for more in ([], ["--pickle"]):
            self.refused(f"objects in an .npz {more}", "objects are not loaded", self.folder / "program.npz", *more)
        if torch:
            torch.save({"x": Program()}, self.folder / "program.pt")
            torch.save(torch.nn.Linear(2, 2), self.folder / "module.pt")
            torch.save(torch.zeros(2), self.folder / "tensor.pt")
            programs += ["program.pt", "module.pt"]
        for name in (*programs, *(["same.pt", "old.pt"] if torch else [])):
            code, _, err = self.started(self.folder / name, "--binary", out, env=os.environ | {"PYTHONPATH": str(self.folder / "no_torch")})
            tap.check(f"{name}: no pickle is read, and no torch imported, unless --pickle asks for it", code == 1 and "--pickle reads it" in err and
                      err.count("\n") == 1, err)
        if not torch:
            return tap.skip("pickles", "no torch here")
        for name in programs:
            self.refused(name, "a pickle is a program", self.folder / name, "--binary", out, "--pickle")
        self.refused("a tensor without a name", "holds a Tensor, not named tensors", self.folder / "tensor.pt", "--binary", out, "--pickle")
        tap.check("no pickle was run", not ran.exists())
        torch.save({"x": torch.zeros(1).expand(2**26)}, self.folder / "wide.pt")
        self.refused("one number that is said to be many", "more than 20 times", self.folder / "wide.pt", "--pickle")
        torch.save({1: torch.zeros(1), "1": torch.ones(1)}, self.folder / "twice.pt")
        self.refused("names that are one as texts", "two tensors have the name '1'", self.folder / "twice.pt", "--pickle")
        there, reader = torch.__version__, sys.modules["export_read"]
        try:
            for version, code, wanted in (("1.12.1", 1, "take torch 1.13 or newer"), ("2.5.1+cu121", 0, "can run a program before torch 2.6"),
                                          ("2.6.0", 0, ""), ("10.0", 0, "")):
                torch.__version__ = version
                got, _, err = self.run(self.folder / "same.pt", "--pickle")
                tap.check(f"torch {version}", got == code and (wanted in err if wanted else err == ""), err)
        finally:
            torch.__version__ = there
        tap.check("the version is a constant of the tool", reader.SAFE_TORCH == (2, 6))

    # ---- damage

    @staticmethod
    def sound(code, out, err):
        """What is wrong with an outcome; nothing if it is a success or one sentence."""
        if code == 1:
            return "" if err.startswith("export: ") and err.count("\n") == 1 and out == "" and len(err) < 2000 else f"1: {out}{err}"
        notes = all(line.startswith("export: note: ") for line in err.splitlines())
        return "" if code == 0 and notes else f"{code}: {err}"

    def check_truncated(self):
        wrong = []
        for name in ("same.npz", "same.safetensors", "same.pt"):
            path = self.folder / name
            if not path.exists():
                continue
            content = path.read_bytes()
            cut = self.folder / ("cut_" + name)
            for size in range(0, len(content), 1 if name != "same.pt" else 37):
                cut.write_bytes(content[:size])
                outcome = self.run(cut, "--binary", self.folder / "never.safetensors", *pickle_if_torch(name))
                if outcome[0] != 1 or self.sound(*outcome):
                    wrong.append((name, size, outcome))
        self.tap.check("refused: files that are cut off", not wrong, str(wrong[:3]))

    def check_fuzz(self, rounds, seed):
        """Files of every format, a little or much damaged, and odd models that are not; with the options that look at them most. Each
        is done or refused in one sentence, and what is written can be read."""
        fuzz, wrong, counts = Fuzz(self.np, seed, self.folder), [], {"done": 0, "refused": 0}
        path, out = self.folder / "fuzzed", self.folder / "fuzzed.out"
        for at in range(rounds):
            name, content, options = fuzz.one()
            path.write_bytes(content)
            out.unlink(missing_ok=True)
            begun = time.process_time()
            code, printed, err = self.run(path, *(option if option != "OUT" else out for option in options))
            problem = self.sound(code, printed, err)
            counts["done" if code == 0 else "refused"] += 1
            if code == 1 and out.exists():
                problem = "it was refused, and written"
            if code == 0 and "--binary" in options:
                try:
                    read_safetensors(out.read_bytes())
                except Exception as wrongly_written:  # noqa: BLE001
                    problem = f"what was written: {wrongly_written!r}"
            if time.process_time() - begun > 2:
                problem = problem or f"{time.process_time() - begun:.1f} s"
            if problem:
                wrong.append((at, name, options, problem))
                (self.folder / f"wrong{len(wrong)}").write_bytes(content)
        left = [one.name for one in self.folder.glob(".export*")]
        self.tap.check(f"{rounds} files, {counts}", not wrong and not left and min(counts.values()) > rounds / 8,
                       f"{len(wrong)} wrong, {left}\n" + "\n".join(map(str, wrong[:5])))

    # ---- disks

    def check_faults(self):
        """Each open, write, fsync, chmod and rename in turn does not succeed, or a signal comes: the old file or the new one, no other,
        and one sentence."""
        library, folder = self.folder / "faults.so", self.folder / "faults"
        made = subprocess.run([*self.compiler, "-std=c++20", "-O1", "-shared", "-fPIC", "-U_FORTIFY_SOURCE", "-D_LARGEFILE64_SOURCE",
                               self.root / "test" / "export" / "faults.cpp", "-o", library, "-ldl"], capture_output=True, text=True)
        self.tap.check("faults.cpp compiles", made.returncode == 0, made.stderr)
        folder.mkdir()
        done = subprocess.run([sys.executable, __file__, "--faults", self.root, library, folder], capture_output=True, text=True,
                              env=os.environ | {"LD_PRELOAD": str(library)})
        rounds = [json.loads(line) for line in done.stdout.splitlines()] if done.returncode == 0 else []
        failing = [one for one in rounds if one["fault"]]
        self.tap.check("every operation failed once", len(failing) > 3 * 14 and len(rounds) == len(failing) + 4, done.stderr + str(rounds)[-2000:])
        wrong = [one for one in rounds if one["wrong"]]
        self.tap.check(f"{len(failing)} faults: the old file or the new one, and one sentence", not wrong, "\n".join(map(str, wrong[:5])))
        with_signal = [one for one in failing if one["why"] == "signal"]
        self.tap.check("a signal: nothing is left", with_signal and all(one["code"] == 128 + signal.SIGTERM for one in with_signal))

    def faults(self, library):
        """In the process that has them. Prints a line of JSON for each round."""
        faults = ctypes.CDLL(str(library))
        faults.faults_operations.restype = ctypes.c_char_p
        model, target = self.folder.parent / "fine.npz", self.folder / "out"
        target.mkdir()
        binary, header = target / "model.safetensors", target / "model.hpp"
        arguments = [model, "--binary", binary, "--header", header, "--namespace", "m"]
        code, _, err = self.run(*arguments)
        assert code == 0, err
        new = {binary: binary.read_bytes(), header: header.read_bytes()}
        for why, number in (("disk full", errno.ENOSPC), ("input/output", errno.EIO), ("denied", errno.EACCES), ("signal", 0)):
            at, happened = 0, True
            while happened:
                at += 1
                for path in new:
                    path.write_bytes(b"old")
                faults.faults_arm(str(target).encode(), at, number)
                code, out, err = self.run(*arguments)
                happened = faults.faults_seen() >= at
                operations = re.findall(r"open write.*?fsync|rename.*?fsync|\w+", faults.faults_operations().decode())
                faults.faults_arm(b"", 0, 0)
                names = sorted(path.name for path in target.iterdir())
                contents = {path: path.read_bytes() for path in new}
                wrong = []
                if names != sorted(path.name for path in new):
                    wrong.append(f"left: {names}")
                if any(content not in (b"old", new[path]) for path, content in contents.items()):
                    wrong.append("neither the old nor the new file")
                if not happened and (code != 0 or contents != new):
                    wrong.append(f"no fault, and {code}: {err}")
                if happened and number and (code != 1 or err.count("\n") != 1 or os.strerror(number) not in err or out):
                    wrong.append(f"{code}: {out}{err}")
                if happened and number and contents[binary] == new[binary] and contents[header] == b"old" and f"; {binary} is written" not in err:
                    wrong.append(f"it does not say what is written: {err}")
                if not happened and operations != ["open write fchmod fsync"] * 2 + ["rename open fsync"] * 2:
                    wrong.append(f"not on the disk before and after it is renamed: {operations}")
                print(json.dumps({"why": why, "at": at, "fault": happened, "code": code, "wrong": wrong}))


class Fuzz:
    """One seeded stream of files."""
    NASTY = (None, True, False, -1, 0, 1, 2, 4, 2**31, 2**32, 2**62, 2**63, 2**64, 10**30, 0.5, 1e308, "", "F32", "BF16", "U8", "x", "\u00e9",
             "a" * 300, [], [0], [[]], [0, 0], [1, 2], [2**62, 4], [0] * 9, [1] * 40, {}, {"a": 1}, {"dtype": "F32"})
    NAMES = ("", ".", "..", "*", "x.*", "a*b.weight", "__metadata__", "probe.", "probe.input", "probe.output", "\u00b2", "layers.\u00b2.weight",
             "layers.\u0663.weight", "layers.007.weight", "layers.0.weight", "layers.1.weight", "layers.1.bias", "a\nb", 'a"b\\', "a\u2028b",
             "class", "1", "a.b", "a_b", "a.shape", "fc.weight", "fc.weight_scale", "fc.bias", "head.weight", "norm.weight", "norm.bias", "W_q.weight",
             "W_k.weight", "W_v.weight", "W_o.weight", "W_q.bias", "self_attn.in_proj_weight", "self_attn.in_proj_bias", "h.0.attn.c_attn.weight",
             "h.0.attn.c_attn.bias", "z" * 300, "wte", "wte.weight", "/etc/passwd", "../x", "std", "umbel", "checksum", "for_each_array")
    OPTIONS = (["--binary", "OUT"], ["--types"], ["--types", "--heads", "2"], ["--binary", "OUT", "--type", "int8"],
               ["--header", "OUT", "--namespace", "m", "--types", "--heads", "1"], ["--header", "OUT", "--namespace", "m", "--type", "bfloat16"], [],
               ["--header", "OUT", "--namespace", "m", "--types", "--heads", "3", "--type", "int8"])
    TYPES = {"F32": "<f4", "F16": "<f2", "F64": "<f8", "BF16": "<u2", "I64": "<i8", "U8": "|u1", "BOOL": "|b1", "I8": "|i1"}

    def __init__(self, np, seed, folder):
        import random
        self.np, self.random, self.numbers, self.folder = np, random.Random(seed), np.random.default_rng(seed), folder
        self.tables = sys.modules["export_types"].read_tables()
        self.torch = [name for name in ("same.pt", "old.pt") if (folder / name).exists()]
        self.forms = (self.damaged, self.damaged, self.header, self.header, self.odd, self.odd, self.odd, self.npy, self.npy)

    def one(self):
        name, content = self.random.choice(self.forms)()
        options = list(self.random.choice(self.OPTIONS))
        return name, content, options + (["--pickle"] if name in self.torch or self.random.random() < 0.05 else [])

    def damaged(self):
        """Bytes are others, fewer or more."""
        name = self.random.choice(["same.npz", "packed.npz", "same.safetensors", "same.safetensors", *self.torch])
        content = bytearray((self.folder / name).read_bytes())
        for _ in range(self.random.choice((1, 1, 2, 5))):
            if not content:
                break
            at, how = self.random.randrange(len(content)), self.random.random()
            if how < 0.7:
                content[at] = self.random.choice((0, 1, 0x7F, 0x80, 0xFF, self.random.randrange(256)))
            elif how < 0.8:
                del content[at:at + self.random.randrange(1, 9)]
            elif how < 0.9:
                content[at:at] = self.random.randbytes(self.random.randrange(1, 9))
            else:
                content[at:at + 4] = self.random.choice((b"\xff\xff\xff\xff", b"\0\0\0\0", b"\xff\xff\xff\x7f", b"{}[]"))
        return name, bytes(content)

    def header(self):
        """JSON that is right and says something else."""
        header = {"x": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}, "y": {"dtype": "F16", "shape": [2], "data_offsets": [16, 20]}}
        for _ in range(self.random.choice((1, 1, 2, 3))):
            place = self.random.choice([header, *(one for one in header.values() if isinstance(one, dict))])
            key = self.random.choice([*place, "__metadata__", "extra"])
            how = self.random.random()
            if how < 0.15:
                place.pop(key, None)
            elif how < 0.3 and isinstance(place.get(key), list) and place[key]:
                place[key][self.random.randrange(len(place[key]))] = self.random.choice(self.NASTY)
            elif how < 0.4 and key in place:
                place[self.random.choice(self.NAMES)] = place.pop(key)
            else:
                place[key] = copy.deepcopy(self.random.choice(self.NASTY))
        text = json.dumps(header)
        if self.random.random() < 0.1:
            text = text.replace('"x"', '"y"', 1)
        if self.random.random() < 0.1:
            text = text.replace("0", self.random.choice(("-0", "00", "NaN", "Infinity", "1e5", "9" * 5000)), 1)
        return "header", safetensors({"x": ("F32", self.np.ones((2, 2), "<f4")), "y": ("F16", self.np.ones(2, "<f2"))}, text)

    def odd_model(self):
        """Tensors by name: nasty ones, and layers of the tables with sizes that may not fit."""
        tensors = {}
        if self.random.random() < 0.6:
            rows = self.random.choice(list(self.tables.values()))
            prefix = self.random.choice(("", "layers.0.", "layers.1.", "*.", "\u00b2.", "a."))
            sizes = [self.random.choice((0, 1, 2, 3, 4, 6)) for _ in range(3)]
            for row in rows:
                if self.random.random() < 0.95:
                    tensors[prefix + row.tensor] = [self.random.choice(sizes) * row.parts ** (i == 0) for i in range(row.rank)]
        for _ in range(self.random.randrange(4)):
            tensors[self.random.choice(self.NAMES)] = [self.random.choice((0, 1, 2, 3)) for _ in range(self.random.choice((0, 1, 1, 2, 2, 3, 5, 9)))]
        made = {}
        for name, shape in tensors.items():
            kind = self.random.choice(list(self.TYPES)) if self.random.random() < 0.2 else "F32"
            values = self.numbers.standard_normal(shape) * 10 ** self.random.choice((0, 0, 0, 30, 300))
            values = self.np.where(self.numbers.random(shape) < 0.02, self.random.choice((float("nan"), float("inf"), 0)), values)
            with self.np.errstate(all="ignore"):
                made[name] = (kind, (values if self.TYPES[kind][1] == "f" else self.np.clip(self.np.nan_to_num(values), 0, 100)).astype(self.TYPES[kind]))
        return made

    def odd(self):
        return "odd", safetensors(self.odd_model())

    def npy(self):
        """A zip archive of arrays whose headers, names and methods are odd."""
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w") as file:
            for name, (_, array) in list(self.odd_model().items())[:5]:
                one = io.BytesIO()
                self.np.save(one, array if self.random.random() < 0.7 else self.np.asfortranarray(array))
                content = one.getvalue()
                if self.random.random() < 0.6:
                    for old, new in (self.random.choice(self.WORDS) for _ in range(self.random.choice((1, 1, 2)))):
                        content = content.replace(old, new, 1)
                entry = zipfile.ZipInfo(name.replace("\0", "") + self.random.choice((".npy", ".npy", ".npy", "", ".npy.npy")))
                entry.compress_type = self.random.choice((zipfile.ZIP_STORED,) * 4 + (zipfile.ZIP_DEFLATED,) * 2 + (zipfile.ZIP_BZIP2,))
                file.writestr(entry, content)
        return "npy", made.getvalue()
    WORDS = ((b"<f4", b"|O8"), (b"<f4", b"<c8"), (b"<f4", b"|V2"), (b"<f4", b"<U4"), (b"<f4", b"|S4"), (b"<f4", b"<M8"), (b"<f4", b">f4"), (b"<f4", b"f4,"),
             (b"'<f4'", b"[('a', '<f4')]"), (b"<f4", b"<f16"), (b"<f4", b"<f0"), (b"<f4", b"|V0"), (b"False", b"True"), (b"False", b"None"),
             (b"(", b"(-"), (b"(", b"(9999999999999999999, "), (b"(", b"[" * 50), (b"(", b"(0, 4611686018427387904, "), (b"}", b", 'x': 1}"),
             (b"descr", b"shape"), (b"'shape'", b"'\xff'"), (b"NUMPY\1", b"NUMPY\2"), (b"NUMPY\1", b"NUMPY\3"), (b"NUMPY\1", b"NUMPY\4"), (b"{", b" {"),
             (b"{", b""), (b"\n", b""), (b"v\0", b"\xff\xff"), (b"v\0", b"\0\0"), (b"(2, 2)", b"(2, 2,)"), (b"(2, 2)", b"(2L, 2L)"), (b"(2,)", b"2"))


def with_numpy(tap):
    try:
        import numpy  # noqa: F401
        return True
    except ImportError:
        tap.skip("tools/export", "no numpy here")
        return False


def main():
    words = sys.argv[1:]
    if words[:1] == ["--faults"]:
        _, root, library, folder = words
        Hostile(None, pathlib.Path(root), [], folder).faults(library)
        return 0
    tap = Tap()
    if not with_numpy(tap):
        return tap.finish()
    with tempfile.TemporaryDirectory() as folder:
        if words[:1] == ["--fuzz"]:
            hostile = Hostile(tap, pathlib.Path(words[1]), [], folder)
            hostile.seeds()
            hostile.check_fuzz(int(words[2]), int(words[3]))
            return tap.finish()
        (root,), compiler = split_command(words)
        hostile = Hostile(tap, pathlib.Path(root).resolve(), compiler, folder)
        hostile.seeds()
        hostile.check_refused()
        hostile.check_which()
        hostile.check_odd_names()
        hostile.check_special()
        hostile.check_standard_output()
        hostile.check_expansion()
        hostile.check_pickles()
        hostile.check_truncated()
        hostile.check_fuzz(FUZZ_ROUNDS, 1)
        hostile.check_faults()
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
