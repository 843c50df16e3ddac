#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""tools/import: models of PyTorch (models.py) come in, and compute PyTorch's numbers; the layers are recognized; the same model
gives the same files; a wrong weight, order or epsilon fails the probe; and what isn't imported is refused in a sentence.

    check.py PROJECT_ROOT [--all] -- COMPILER...

Without --all: the models of CI. It needs numpy and onnx, and torch for the models."""
import importlib.machinery
import importlib.util
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parent.parent)]
from precompiled import precompiled  # noqa: E402
from tap import Tap, run_tool, split_command  # noqa: E402

FLAGS = ["-std=c++20", "-Wall", "-Wextra", "-Wconversion", "-Werror"]


class Checks:
    def __init__(self, root, compiler, folder):
        import numpy
        self.np, self.root, self.folder, self.tap = numpy, root, folder, Tap()
        self.compiler, self.with_warnings = compiler, [*compiler, *FLAGS, "-I", root / "include"]
        self.with_headers = precompiled(self.with_warnings, folder / "precompiled") or self.with_warnings
        loader = importlib.machinery.SourceFileLoader("import_tool", str(root / "tools" / "import"))
        self.tool = importlib.util.module_from_spec(importlib.util.spec_from_loader("import_tool", loader))
        loader.exec_module(self.tool)
        import export_read
        import export_write
        self.read, self.write = export_read, export_write

    def run(self, *arguments):
        """(exit code, standard output, standard error) of tools/import."""
        return run_tool(self.tool, "import", *arguments)

    def compiled(self, name, folder=None):
        """The test that the tool wrote, as a program; nothing if it doesn't compile."""
        folder = folder or self.folder
        program = folder / f"{name}_test"
        done = subprocess.run([*self.with_headers, folder / f"{name}_test.cpp", "-o", program], capture_output=True, text=True)
        self.tap.check(f"{name}: compiles", done.returncode == 0, done.stderr[-3000:])
        return program if done.returncode == 0 else None

    def verdict(self, program, weights):
        done = subprocess.run([program, weights], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    # ---- models
    def model(self, kind, layers):
        import models
        import torch
        name = kind.__name__
        model = models.made(kind)
        models.export(model, self.folder / f"{name}.onnx")
        code, out, err = self.run(self.folder / f"{name}.onnx", "--out", self.folder, *getattr(kind, "options", []))
        self.tap.check(f"{name}: comes in", code == 0 and layers in out, out + err)
        if hasattr(kind, "weights"):
            self.tap.check(f"{name}: has {kind.weights} weights", f"\n{kind.weights:,} weights" in out, out)
        if code != 0:
            return None
        file = self.folder / f"{name}.safetensors"
        probe = self.read.read_model(file, False).probe
        types = {torch.int64: "i8", torch.bool: "?"}
        with torch.no_grad():
            inputs = [torch.from_numpy(probe[f"probe.input.{k}"].astype(types.get(example.dtype, "f4"))).reshape(example.shape)
                      for k, example in enumerate(model.example())]
            answers = model(*inputs)
        for k, answer in enumerate(answers if isinstance(answers, tuple) else [answers]):
            wanted = probe[f"probe.output.{k}"].reshape(-1)
            far = self.np.abs(answer.numpy().reshape(-1) - wanted).max()
            self.tap.check(f"{name}: the probe is PyTorch's output {k}", far <= 2e-6 * max(1, self.np.abs(wanted).max()), f"{far}")
        program = self.compiled(name)
        if program:
            code, out = self.verdict(program, file)
            self.tap.check(f"{name}: computes the probe", code == 0, out)
            if hasattr(kind, "options"):
                self.tap.check(f"{name}: has the same bits step by step", "step by step, 0 of " in out, out)
        return program

    def older(self, kind, layers):
        """Older opsets write shapes, axes and norms in other ways, and the layers are the same."""
        import models
        name = kind.__name__
        for opset in (9, 11, 13):
            models.export(models.made(kind), self.folder / f"{name}_{opset}.onnx", opset)
            code, out, err = self.run(self.folder / f"{name}_{opset}.onnx", "--out", self.folder)
            self.tap.check(f"{name}: comes in with opset {opset}", code == 0 and layers in out, out + err)

    def newest(self, compiles):
        """Operators of opset 23, and what older ones write as functions of others."""
        import functions
        import onnx
        functions.check(self.tap, self.tool)
        onnx.save(functions.decoder_layer(), str(self.folder / "newest.onnx"))
        code, out, err = self.run(self.folder / "newest.onnx", "--out", self.folder)
        onnx.save(functions.decoder_layer(interleaved=1), str(self.folder / "pairs.onnx"))
        pairs = self.run(self.folder / "pairs.onnx", "--out", self.folder)
        self.tap.check("pairs: is a layer", pairs[0] == 0 and "rope<adjacent_pairs>" in (self.folder / "pairs.hpp").read_text(), pairs[1] + pairs[2])
        self.tap.check("newest: is a layer", code == 0 and "16 nodes are 1 statement: 1 encoder layer, 0 other operations" in out, out + err)
        if compiles and (program := self.compiled("newest")):
            code, out = self.verdict(program, self.folder / "newest.safetensors")
            self.tap.check("newest: computes the probe", code == 0, out)

    def of_torch(self):
        """A module of a Python file, and files that have none."""
        source = self.folder / "net.py"
        source.write_text("""import torch
from torch import nn
def tiny():
    return nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 32), 2), torch.rand(9, 2, 16)
module = nn.Linear(4, 3), (torch.rand(5, 4),)
alone = nn.Linear(4, 3)
numbers = nn.Linear(4, 3), [1.0]
def narrow():
    return nn.Linear(4, 3), torch.rand(5, 3)
def zero():
    return 1 / 0
def leave():
    raise SystemExit(3)
class Branch(nn.Module):
    def forward(self, x):
        return x * 2 if x.sum() > 0 else x * 3
class Counted(nn.Module):
    calls = 0
    def forward(self, x):
        self.calls += 1
        return x * self.calls
class Positive(nn.Module):
    def forward(self, x):
        return x > 0, x * 2
def positive():
    return Positive(), torch.ones(4)
def branch():
    return Branch(), torch.ones(4)
def counted():
    return Counted(), torch.ones(4)
def half():
    return nn.Linear(4, 3).half(), torch.rand(5, 4)
class Returns(nn.Module):
    def __init__(self, change):
        super().__init__()
        self.change = change
    def forward(self, x):
        return self.change(x)
def real():
    return Returns(lambda x: (x, x.sum().item())), torch.ones(4)
def nothing():
    return Returns(lambda x: None), torch.ones(4)
def parts():
    return Returns(lambda x: slice(x, x)), torch.ones(4)
def key():
    return Returns(lambda x: {}["a"]), torch.ones(4)
def spectrum():
    return Returns(lambda x: torch.fft.rfft(x).abs()), torch.ones(4)
""")
        for name, wanted in (("tiny", "2 encoder layers, 2 other operations"), ("module", "1 linear map, 0 other operations"),
                             ("positive", "4 nodes are 3 statements"), ("branch", "net.py, line 16: Python reads a value of a tensor there, or a size;")):
            code, out, err = self.run(f"{source}:{name}", "--out", self.folder)
            files = all((self.folder / f"{name}{end}").exists() for end in (".hpp", ".safetensors", "_test.cpp"))
            self.tap.check(f"of torch: {name}", code == 0 and wanted in out and files, out + err)
        for name, wanted in (("alone", "it is Linear; return (module, inputs)"), ("numbers", "its inputs are no tensors"),
                             ("narrow", "narrow: RuntimeError: mat1 and mat2"), ("half", "half: weight has 16 bits (float16); return module.float()"),
                             ("real", "its forward returns a number of type float; return a tensor"), ("nothing", "its forward returns no tensor"),
                             ("parts", "its forward returns an object of type slice; return tensors, alone"), ("key", "line 46: KeyError: 'a'"),
                             ("spectrum", "'aten::fft_rfft' to ONNX opset version 14 is not supported; write that part in another way"), ("zero", "line 11: ZeroDivisionError: division by zero"),
                             ("leave", "it ends the program with 3"), ("counted", "torch.onnx.export wrote a model that differs from the module by 1"), ("other", "it defines no other")):
            code, out, err = self.run(f"{source}:{name}", "--out", self.folder)
            self.tap.check(f"of torch: {name} is refused", code == 1 and wanted in err and err.count("\n") == 1, out + err)
        self.tap.check("of torch: no name", self.run(source)[0] == 2)
        self.tap.check("of torch: no file", "no such file" in self.run(f"{source.with_name('no.py')}:tiny")[2])

    def constants(self, models):
        """Masks and positions that are inputs, as transformers exports them, are constants of a step."""
        import onnx
        import torch
        from torch import nn

        class Causal(nn.Module):
            def __init__(self):
                super().__init__()
                self.words, self.places, self.block = nn.Embedding(9, models.WIDTH), nn.Embedding(7, models.WIDTH), models.Block(self.hidden)

            def hidden(self, scores):
                return scores + models.hidden_later(7) + self.mask

            def forward(self, ids, attention_mask, position_ids):
                self.mask = (1.0 - attention_mask[:, None, None].float()) * torch.finfo(torch.float32).min
                return self.block(self.words(ids) + self.places(position_ids))

            def example(self):
                return torch.arange(7)[None], torch.ones(1, 7, dtype=torch.long), torch.arange(7)[None]
        path = self.folder / "constants.onnx"
        models.export(Causal().eval(), path)
        code, out, err = self.run(path, "--decode", "key=7", "--out", self.folder, "--constant", "attention_mask=1", "--constant", "position_ids=position")
        header = (self.folder / "constants.hpp").read_text() if code == 0 else ""
        self.tap.check("constants: a step", code == 0 and "1 encoder layer" in out and "mask" not in header and "bool step(" in header, out + err)
        refused = onnx.load(str(path))
        self.refused("steps with a mask", "make masks and positions constants, --constant attention_mask=1", refused, "--decode", "key=7")
        self.refused("a constant of no input", "--constant z: the model has no such input, only ids, ", refused, "--constant", "z=1")
        self.refused("constants only", "--constant: no input is left", refused, *(word for one in ("ids=1", "attention_mask=1", "position_ids=2")
                                                                                  for word in ("--constant", one)))
        self.refused("a constant that is no number", "not as mask=1 or ids=position", refused, "--constant", "ids=one", code=2)

    def found(self, name, old, new, wanted):
        """--find names the statement that was changed, and none before."""
        folder = self.folder / "found"
        folder.mkdir(exist_ok=True)
        shutil.copy(self.folder / f"{name}.safetensors", folder)
        text = (self.folder / f"{name}.hpp").read_text()
        self.tap.check(f"{name}: the header has {old}", old in text, text)
        os.environ["CXX"] = f"{shlex.join(self.compiler)}"
        for title, change in (("none", old), (f"that of {new}", new)):
            (folder / f"{name}.hpp").write_text(text.replace(old, change))
            code, out, err = self.run(self.folder / f"{name}.onnx", "--find", "--out", folder)
            self.tap.check(f"{name}: --find names {title}", code == 0 and ("no statement differs" if change == old else wanted) in out, out + err)

    def search(self, name, changed):
        """The search of --find, without a compiler: of a header that computes all after a statement otherwise."""
        import import_find

        def check(finder, names):
            finder.checked |= {one: 1.0 if one == changed or changed in finder.before(one, set()) else None for one in names}
            finder.program(names)
        compiles, import_find.Finder.check = import_find.Finder.check, check
        code, out, err = self.run(self.folder / f"{name}.onnx", "--find", "--out", self.folder)
        import_find.Finder.check = compiles
        self.tap.check(f"{name}: the search finds {changed}", code == 0 and f"the first statement that differs is {changed}; the largest" in out, out + err)

    def no_steps(self, models):
        """Models that aren't computed step by step."""
        import onnx
        import torch
        from torch import nn

        class Rows(nn.Module):
            def __init__(self, block):
                super().__init__()
                self.wte, self.block = nn.Embedding(9, models.WIDTH), block

            def forward(self, ids):
                return self.block(self.wte(ids))

            def example(self):
                return (torch.arange(7)[None],)

        class Call(nn.Module):
            def __init__(self, function):
                super().__init__()
                self.forward = function
        causal = models.Block(lambda scores: scores + models.hidden_later(7))
        for title, wanted, model in (
                ("not causal", "it has no causal mask or window", Rows(models.Block())), ("no attention", "no attention or encoder layer was recognized",
                                                                                     Rows(nn.LayerNorm(models.WIDTH))),
                ("one result for all", "its result has the axes hidden<16>", Rows(nn.Sequential(causal, Call(lambda x: x.mean(1))))),
                ("a flip", "it isn't part of a layer that was recognized", Rows(nn.Sequential(causal, Call(lambda x: x.flip(1)))))):
            models.export(model.eval(), self.folder / "steps.onnx")
            self.refused(f"steps, {title}", wanted, onnx.load(str(self.folder / "steps.onnx")), "--decode", "key=7")
        self.refused("steps, a short table", "its table has 10 positions; export the model with 11", onnx.load(str(self.exported(models.Gpt2))), "--decode", "key=11")
        self.np.save(self.folder / "ids.npy", self.np.arange(20 * models.LENGTH).reshape(20, -1) % 9)
        self.refused("steps in integers, a short table", "its table has 10 positions, and the cache room for 11; export the model with 11, or use",
                     onnx.load(str(self.exported(models.Llama))), "--decode", "key=11", "--int8", self.folder / "ids.npy")
        self.step_of_a_formula(models, Rows)
        self.refused("steps, two inputs", "the model has 4 inputs and 2 outputs", onnx.load(str(self.exported(models.DecisionTransformer))), "--decode", "key=7")
        self.refused("steps, no number", "not as key=256", b"", "--decode", "256", code=2)

    def step_of_a_formula(self, models, rows):
        """A causal convolution, a mask of some earlier keys and a bias for each pair: the step is of the whole model."""
        import torch
        from torch import nn

        class Convolution(nn.Module):
            def __init__(self):
                super().__init__()
                self.of_three = nn.Conv1d(models.WIDTH, models.WIDTH, 3)

            def forward(self, x):
                return x + self.of_three(nn.functional.pad(x.transpose(1, 2), (2, 0))).transpose(1, 2)
        bias, places = torch.randn(7, 7), torch.arange(7)
        hidden = (places[:, None] - places) % 3 == 1
        block = models.Block(lambda scores: scores + bias + models.hidden_later(7) + hidden * -1e9)
        models.export(rows(nn.Sequential(Convolution(), block)).eval(), self.folder / "whole.onnx")
        code, out, err = self.run(self.folder / "whole.onnx", "--decode", "key=7", "--out", self.folder)
        self.tap.check("whole: comes in", code == 0 and "the model is one formula of operations, for the steps: " in out, out + err)
        if code == 0 and (program := self.compiled("whole")):
            code, out = self.verdict(program, self.folder / "whole.safetensors")
            self.tap.check("whole: step by step", code == 0 and "step by step, 0 of 112 numbers differ" in out, out)

    def exported(self, kind):
        import models
        path = self.folder / f"{kind.__name__}.onnx"
        if not path.exists():
            models.export(models.made(kind), path)
        return path

    def of_c(self, kind):
        """The same numbers from C, and the same steps."""
        name, options = kind.__name__, getattr(kind, "options", [])
        code, _, err = self.run(self.folder / f"{name}.onnx", "--c", *options, "--out", self.folder)
        self.tap.check(f"{name}: comes in as C", code == 0, err)
        self.called_from_c(name, "step by step, 0 of 20 steps are wrong" if options else "largest difference")

    def called_from_c(self, name, said):
        c_compiler = shutil.which("gcc") or shutil.which("cc")
        object_, program = self.folder / f"{name}_c_test.o", self.folder / f"{name}_c_test"
        for title, command in (("the test in C", [c_compiler, "-std=c99", "-pedantic", *FLAGS[1:], "-c", self.folder / f"{name}_c_test.c", "-o", object_]),
                               ("the function", [*self.with_warnings, self.folder / f"{name}_c.cpp", object_, "-o", program])):
            done = subprocess.run(command, capture_output=True, text=True)
            self.tap.check(f"{name}: {title} compiles", done.returncode == 0, done.stderr[-3000:])
        done = subprocess.run([program], capture_output=True, text=True)
        self.tap.check(f"{name}: computes the probe in C", done.returncode == 0 and said in done.stdout, done.stdout)

    def in_integers(self, kind, *options):
        """Comes in with --int8, near its floats, and the integers of the probe are those of this compiler. With --decode, those of steps
        are, too."""
        import models
        name, random = kind.__name__, self.np.random.default_rng(5)
        inputs = self.tool.import_onnx.inputs_of(self.tool.import_onnx.read(self.exported(kind)), {})
        samples = self.folder / f"{name}.npz"
        drawn = {one: random.standard_normal((200, *shape)).astype("f4") for one, (_, shape) in inputs.items()}
        for one, (dtype, _) in inputs.items():  # masks, which keep the first position
            if dtype.kind != "f":
                drawn[one] = (random.random(drawn[one].shape) < 0.3).astype(dtype)
                drawn[one][..., 0] = dtype.kind != "b"
        self.np.savez(samples, **drawn)
        code, out, err = self.run(self.folder / f"{name}.onnx", "--int8", samples, *options, "--c", "--out", self.folder)
        error = re.search(r"in integers: ([\d.]+) % error .*(?:\nin integers: .*)*\non 40 of 200 samples, which gave no ranges", out)
        self.tap.check(f"{name}: comes in with --int8", code == 0 and error and float(error[1]) < 3, out + err)
        if code == 0 and (program := self.compiled(f"{name}_int8")):
            code, out = self.verdict(program, self.folder / f"{name}_int8.safetensors")
            self.tap.check(f"{name}: computes the integers of the probe", code == 0 and ": 0 of " in out, out)
            self.tap.check(f"{name}: computes them step by step", ("step by step, 0 of " in out) == ("--decode" in options), out)
            self.called_from_c(f"{name}_int8", "step by step, 0 of " if "--decode" in options else ": 0 of ")

    def two_results_in_integers(self, model):
        """model: of x, 4 rows of 8 numbers; its outputs are a and b. Labels are of the first."""
        import onnx
        onnx.save(model, str(self.folder / "both.onnx"))
        x = self.np.random.default_rng(5).standard_normal((50, 4, 8)).astype("f4")
        self.np.savez(self.folder / "both.npz", x=x, labels=x.argmax(-1))
        code, out, err = self.run(self.folder / "both.onnx", "--int8", self.folder / "both.npz", "--c", "--out", self.folder)
        errors, right = re.findall(r"in integers: ([\d.]+) % error of ([ab]) relative", out), re.search(r"right of a: 100.00 % in floats, ([\d.]+) %", out)
        near = [name for error, name in errors if float(error) < 2]
        self.tap.check("two outputs in integers", code == 0 and near == ["a", "b"] and right and float(right[1]) > 90, out + err)
        if program := self.compiled("both_int8"):
            self.tap.check("two outputs in integers: the probe", self.verdict(program, self.folder / "both_int8.safetensors")[0] == 0)
        self.called_from_c("both_int8", ": 0 of 64 ")

    def same_files(self, kind):
        name, again = kind.__name__, self.folder / "again"
        self.run(self.folder / f"{name}.onnx", "--out", again, *kind.options)
        different = [path.name for path in again.iterdir() if path.read_bytes() != (self.folder / path.name).read_bytes()]
        self.tap.check(f"{name}: the same files again", not different, " ".join(different))

    def names(self, kind, lines):
        """Tensors have the names that the author gave them, layers those of their modules, axes those of their roles."""
        import models
        name, folder = kind.__name__, self.folder / "names"
        models.export(models.made(kind), self.folder / f"{name}_names.onnx")
        code, out, err = self.run(self.folder / f"{name}_names.onnx", "--out", folder, "--name", name)
        header = (folder / f"{name}.hpp").read_text() if code == 0 else out + err
        missing = [line for line in lines if line not in header]
        self.tap.check(f"{name}: readable names", not missing, f"{missing}\n{header}")

    # ---- wrong weights
    def wrong_weights(self, name, program, mutations):
        """Each must fail the probe of the same program."""
        if not program:
            return
        model = self.read.read_model(self.folder / f"{name}.safetensors", False)
        for title, change in mutations.items():
            tensors = dict(model.tensors)
            changed = change(tensors)
            path = self.folder / "wrong.safetensors"
            path.write_bytes(self.write.safetensors_bytes(tensors | changed, model.probe, "float")[0])
            code, out = self.verdict(program, path)
            self.tap.check(f"{name}: fails with {title}", code == 1 and "largest difference" in out, out)

    def wrong_text(self, name, title, old, new, is_option=True):
        """A change of the header must fail the probe; one of an option, load first."""
        folder = self.folder / re.sub(r"\W+", "_", title)
        folder.mkdir()
        text = (self.folder / f"{name}.hpp").read_text()
        self.tap.check(f"{name}: the header has {old}", old in text, text)
        (folder / f"{name}.hpp").write_text(text.replace(old, new))
        shutil.copy(self.folder / f"{name}_test.cpp", folder)
        program = self.compiled(name, folder)
        if program:
            model = self.read.read_model(self.folder / f"{name}.safetensors", False)
            (folder / "without_options.safetensors").write_bytes(self.write.safetensors_bytes(model.tensors, model.probe, "float")[0])
            code, out = self.verdict(program, folder / "without_options.safetensors")
            self.tap.check(f"{name}: fails with {title}", code == 1 and "largest difference" in out, out)
            code, out = self.verdict(program, self.folder / f"{name}.safetensors")
            wanted = " in the type, " if is_option else "largest difference"
            self.tap.check(f"{name}: the options tell of {title}" if is_option else f"{name}: no option tells of {title}", code == 1 and wanted in out, out)

    # ---- refusals
    def refused(self, title, wanted, model, *arguments, code=1):
        import onnx
        path = self.folder / "refused.onnx"
        if isinstance(model, bytes):
            path.write_bytes(model)
        else:
            onnx.save(model, str(path))
        got, out, err = self.run(path, "--out", self.folder / "refused", *arguments)
        written = (self.folder / "refused").exists()
        shutil.rmtree(self.folder / "refused", ignore_errors=True)
        self.tap.check(f"refused: {title}", got == code and wanted in err and err.count("\n") == 1 and not out and not written, f"{got} {out}{err}")

    def refusals(self):
        import onnx
        from onnx import TensorProto, helper
        import numpy as np
        real, whole, half = TensorProto.FLOAT, TensorProto.INT64, TensorProto.FLOAT16

        def graph(nodes, shape=(4, 8), kind=real, weights=(), outputs=("y",), inputs=()):
            given = [helper.make_tensor_value_info("x", kind, shape), *(helper.make_tensor_value_info(*one) for one in inputs)]
            results = [helper.make_tensor_value_info(name, real, None) for name in outputs]
            stored = [helper.make_tensor(name, TensorProto.INT64 if value.dtype == np.int64 else real, value.shape, value.ravel().tolist())
                      for name, value in weights]
            return helper.make_model(helper.make_graph(nodes, "g", given, results, stored), opset_imports=[helper.make_opsetid("", 17)])

        def one(op, inputs=("x",), outputs=("y",), **about):
            return helper.make_node(op, list(inputs), list(outputs), name="/layer/it", **about)
        weight = ("w", np.ones((4, 8), np.float32))
        place, flag, state = (helper.make_tensor_value_info(name, kind, []) for name, kind in (("i", whole), ("go", TensorProto.BOOL), ("s", real)))
        empty = helper.make_graph([], "empty", [place, flag, state], [flag, state])
        cases = [
            ("a recurrent layer", "/layer/it (LSTM): it is recurrent", graph([one("LSTM", ("x", "w", "w"), hidden_size=2)], weights=[weight])),
            ("a loop that an input ends", "/layer/it (Loop): how often it runs is computed from an input", graph([
                helper.make_node("Cast", ["x"], ["n"], to=7), one("Loop", ("n", "", "x"), body=empty)])),
            ("a choice by an input", "/layer/it (If): which branch it takes depends on an input: it is control flow", graph([
                helper.make_node("Cast", ["x"], ["c"], to=9), one("If", ("c",), then_branch=empty, else_branch=empty)])),
            ("a loop without an end", "/layer/it (Loop): the loops of the model run more than 1024 times", graph([one("Loop", ("", "", "x"), body=empty)])),
            ("sizes by values", "/layer/it (NonZero): its sizes depend on values", graph([one("NonZero")])),
            ("the largest k", "/layer/it (TopK): which elements it selects depends on values", graph([one("TopK", ("x", "k"))], weights=[("k", np.array([2]))])),
            ("a loss", "/layer/it (SoftmaxCrossEntropyLoss): it is a loss, for training", graph([one("SoftmaxCrossEntropyLoss", ("x", "w"))], weights=[weight])),
            ("training", "/layer/it (BatchNormalization): it is in training mode",
             graph([one("BatchNormalization", ("x", *["v"] * 4), training_mode=1)], weights=[("v", np.ones(8, np.float32))])),
            ("arithmetic in 16 bits", "it computes in 16 bits; export the model in float32", graph([one("Cast", to=half)])),
            ("an input of 16 bits", "input x: float16 isn't an element type", graph([one("Relu")], kind=half)),
            ("another domain", "the operator is of com.microsoft", graph([one("FusedGelu", domain="com.microsoft")])),
            ("an unknown operator", "/layer/it (Det): the operator is unknown", graph([one("Det")])),
            ("random numbers", "/layer/it (RandomNormalLike): it draws random numbers", graph([one("RandomNormalLike")])),
            ("a dimension without size", "its dimension 'n' has no size; give it one, --size n=N", graph([one("Relu")], shape=("n", 8))),
            ("a shape that is computed", "/layer/it (Reshape): its shape is computed from an input",
             graph([one("Reshape", ("x", "s"))], shape=(1, 1), inputs=[("s", whole, (2,))])),
            ("a quotient of integers", "/layer/it (Div): it divides integers",
             graph([one("Div", ("x", "d"), ("i",)), one("Gather", ("w", "i"))], shape=(3,), kind=whole, weights=[weight, ("d", np.array(2))])),
            ("integers of numbers", "integers are computed from numbers", graph([one("Cast", outputs=("i",), to=whole), one("Gather", ("w", "i"))],
                                                                               weights=[weight])),
            ("a constant as output", "output y: it depends on no input", graph([one("Relu", outputs=("z",)), one("Relu", ("w",))], weights=[weight])),
            ("seven outputs", "the model has 7 outputs",
             graph([one("Relu", outputs=(f"y{k}",)) for k in range(7)], outputs=[f"y{k}" for k in range(7)])),
            ("a product that doesn't fit", "/layer/it (MatMul): ", graph([one("MatMul", ("x", "w"))], weights=[weight])),
            ("no finite output", "output y: numpy computes numbers for the probe that aren't finite",
             graph([one("Div", ("x", "z"))], weights=[("z", np.zeros((), np.float32))])),
            ("no input", "the graph has no input", helper.make_model(helper.make_graph(
                [one("Relu", ("w",))], "g", [], [helper.make_tensor_value_info("y", real, None)], [helper.make_tensor("w", real, [1], [1.0])]))),
            ("another file", "not an ONNX file", b"PK\x03\x04 is no model"),
        ]
        for title, wanted, model in cases:
            self.refused(title, wanted, model)
        good = graph([one("Relu")])
        looked_up = one("Gather", ("w", "x"), ("e",))
        self.wrong_samples(good, [graph(nodes, kind=whole, weights=[weight]) for nodes in (
            [looked_up, one("Relu", ("e",))],
            [looked_up, one("Cast", ("x",), ("f",), to=real), one("ReduceMean", ("f",), ("m",)), one("Mul", ("e", "m"))])])
        self.refused("axes of no input", "the model has no such input, only x", good, "--axes", "z=token")
        self.refused("too few axes", "--axes names 1 axes for [4, 8]", good, "--axes", "x=token")
        self.refused("an axis twice", "an axis is named twice", good, "--axes", "x=token,token")
        self.refused("axes that are no list", "not as x=token,hidden", good, "--axes", "x", code=2)
        self.refused("a size that is no number", "not as sequence=16", good, "--size", "n=0", code=2)
        self.refused("an axis called as what the header has", "float has a different meaning", good, "--axes", "x=token,float")
        self.refused("a size of no dimension", "--size m: no input has such a dimension, only n", graph([one("Relu")], shape=("n", 8)),
                     "--size", "n=4", "--size", "m=4")
        self.refused("a size that no memory holds", "at most 16,777,216", graph([one("Relu")], shape=("n", 8)), "--size", "n=999999999")
        self.refused("a name that isn't one", "not a C++ name", good, "--name", "a-b", code=2)
        large = graph([one("MatMul", ("x", "w"))], shape=(4, 400), weights=[("w", np.ones((400, 300), np.float32))])
        self.refused("too many weights for C", "--c: the model has 120,000 weights", large, "--c")
        of_two = graph([one("Relu", outputs=("a",)), one("Tanh", outputs=("b",))], outputs=["a", "b"])
        self.refused("no such output", "--output c: the model has no such output, only a, b", of_two, "--output", "b", "--output", "c")
        onnx.save(of_two, str(self.folder / "two.onnx"))
        self.two_results_in_integers(graph([one("Relu", outputs=("a",)), one("Add", ("x", "a"), outputs=("b",))], outputs=["a", "b"]))
        code, out, err = self.run(self.folder / "two.onnx", "--output", "b", "--out", self.folder)
        self.tap.check("one of two outputs", code == 0 and "1 statement" in out and "tanh(x)" in (self.folder / "two.hpp").read_text(), out + err)
        missing = self.run(self.folder / "nosuch.onnx")
        self.tap.check("refused: no file", missing[0] == 1 and missing[2].count("\n") == 1 and "nosuch.onnx: No such file" in missing[2], str(missing))

    def wrong_samples(self, model, of_integers):
        """model: of x, 4 rows of 8 numbers."""
        x = self.np.random.default_rng(5).standard_normal((6, 4, 8)).astype("f4")
        file = self.folder / "wrong.npz"
        for title, wanted, arrays in (
                ("a number that is not finite", "x has a number that is not finite", {"x": self.np.where(x > 2, self.np.nan, x)}),
                ("samples of another shape", "x has the shape [6, 4, 7], not samples of float32 along the first axis, [samples, 4, 8]", {"x": x[..., 1:]}),
                ("samples of integers", "x is of int64, not samples of float32", {"x": x.astype("i8")}),
                ("no samples", "x has no samples", {"x": x[:0]}), ("one number", "x has the shape [], not samples", {"x": x[0, 0, 0]}),
                ("other names", "the model has no input a, only x; save numpy.savez(file, x=...)", {"a": x, "x": x}),
                ("a number beyond float32", "x has a number that is not finite in float32", {"x": x * 1e300}),
                ("labels of floats", "labels are float64 of shape [6]", {"x": x, "labels": self.np.zeros(6)}),
                ("too few labels", "labels are int64 of shape [2]", {"x": x, "labels": self.np.zeros(2, "i8")}),
                ("one label", "labels are int64 of shape []", {"x": x, "labels": self.np.int64(1)}),
                ("a label beyond the classes", "--int8: the labels are [6, 4] numbers from 8 to 8, but the results have 24 rows, whose largest has a place from 0 to 7",
                 {"x": x, "labels": self.np.full((6, 4), 8)}),
                ("zeros", "--int8: the value of input x is 0 for all samples", {"x": 0 * x})):
            self.np.savez(file, **arrays)
            self.refused(f"samples, {title}", wanted, model, "--int8", file)
        self.np.savez(file, x=x)
        looked_up, also = of_integers
        self.refused("ids of floats", "x is of float32, not samples of integers", looked_up, "--int8", file)
        self.np.savez(file, x=self.np.arange(6 * 4 * 8).reshape(6, 4, 8) % 5)
        self.refused("ids beyond the table", "/layer/it (Gather): a sample of input x is 4, and its table has rows 0 to 3", looked_up, "--int8", file)
        self.refused("ids as numbers", "--int8: input x is of int64, and more than masks and embeddings read it", also, "--int8", file)
        file.write_text("text")
        self.refused("samples, a text", "wrong.npz: it isn't .npy or .npz of numpy", model, "--int8", file)
        self.refused("samples, a folder", "it is a folder", model, "--int8", self.folder)

    # ---- the page
    def page(self):
        """docs/how-to/import.md: its files and commands as they stand there, and what the last one prints."""
        folder = self.folder / "page"
        (folder / "bin").mkdir(parents=True)
        text = (self.root / "docs" / "how-to" / "import.md").read_text()
        (script,), commands, printed = (re.findall(rf"^```{kind}\n(.*?)^```$", text, re.M | re.S) for kind in ("python", "sh", "text"))
        (folder / "net.py").write_text(script)
        compiler = [shutil.which(self.compiler[0]), *self.compiler[1:]]
        for name, command in (("g++", compiler), ("python3", [sys.executable])):
            (folder / "bin" / name).write_text(f'#!/bin/sh\nexec {shlex.join(map(str, command))} "$@"\n')
            (folder / "bin" / name).chmod(0o755)
        environment = os.environ | {"UMBEL": str(self.root), "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
        said = ""
        for command in commands:
            done = subprocess.run(["bash", "-euc", command], cwd=folder, env=environment, capture_output=True, text=True)
            self.tap.check(f"page: {command.splitlines()[0]}", done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:])
            said += done.stdout
        for block in printed:
            for line in block.splitlines():
                pattern = re.sub(r"[\d.,]+(e-\d+)?", "[0-9.,e-]+", re.escape(line).replace(r"\.", ".").replace(r"\-", "-"))
                self.tap.check(f"page: prints {line[:50]}", bool(re.search(pattern, said)), said)


def swapped(a, b):
    """The tensors whose names have a, exchanged with those that have b instead."""
    def change(tensors):
        to_a = {name: tensors[name.replace(a, b)] for name in tensors if a in name}
        return to_a | {name: tensors[name.replace(b, a)] for name in tensors if b in name}
    return change


def changed(pattern, function):
    return lambda tensors: {name: function(array).copy() for name, array in tensors.items() if re.fullmatch(pattern, name)}


def transposed(pattern):
    return changed(pattern, lambda array: array.T)


def in_other_heads(array):
    """The columns of the first two heads, of 4 features each, exchanged."""
    return array[..., [4, 5, 6, 7, 0, 1, 2, 3, *range(8, array.shape[-1])]]


def in_pairs(array):
    """The columns of each head as rotary positions of adjacent features have them."""
    return array[..., [first + i for first in range(0, array.shape[-1], 4) for i in (0, 2, 1, 3)]]


def rows_on(array):
    return array[[*range(1, len(array)), 0]]


def main():
    arguments, compiler = split_command(sys.argv[1:])
    every, root = "--all" in arguments, pathlib.Path(arguments[0])
    try:
        import numpy  # noqa: F401
        import onnx  # noqa: F401
    except ModuleNotFoundError as missing:
        print(f"1..0 # SKIP {sys.executable} has no {missing.name}")
        return 0
    compiler.append("-O1" if every else "-O0")  # -O0 takes two thirds of the time
    with tempfile.TemporaryDirectory() as path:
        folder = pathlib.Path(path) / "Modelle für alle"
        folder.mkdir()
        checks = Checks(root.resolve(), compiler, folder)
        checks.refusals()
        try:
            import models
        except ModuleNotFoundError:
            checks.tap.skip("models", "no torch here")
            return checks.tap.finish()
        checks.newest(every)
        checks.of_torch()
        programs = {}
        for kind, layers in models.EXPECTED.items():
            if every or kind in models.IN_CI:
                programs[kind] = checks.model(kind, layers)
        if every:
            import more_models
            for kind, layers in more_models.EXPECTED.items():
                checks.model(kind, layers)
        checks.same_files(models.Llama)
        checks.names(models.KeywordTransformer, [
            "auto x0 = x | permute<token, hidden>;", "use<proj_type>(w.proj)(contiguous(x0));", "concat<token>(w.cls, x1)", "x2 + w.pos;",
            "use<layers_type>(w.layers[1])(x4);"])
        checks.names(models.VisionTransformer, ["concat<token>(w.cls_token, x1)", "x2 + w.pos_embed;", "use<blocks_type>(w.blocks_[1])(x4);"])
        checks.names(models.Whisper, ["x6 + w.positions_weight;"])
        checks.constants(models)
        checks.search("PaddedWords", "block_1_x1")
        checks.no_steps(models)
        for kind in (models.Llama, *([models.Bert, models.OneChannel, models.Gpt2] if every else [])):
            checks.of_c(kind)
        for kind in (models.Llama, models.Bert, models.Fresh):
            checks.older(kind, models.EXPECTED[kind])
        checks.wrong_weights("Llama", programs[models.Llama], {
            "layers exchanged": swapped("layers.0.", "layers.1."), "norms exchanged": swapped("norm1.", "norm2."),
            "gate and up exchanged": swapped(".gate.", ".up."), "a transposed square matrix": transposed(r"layers.0.attention\.o\.weight"),
            "keys and values exchanged": swapped("attention.k.", "attention.v."),
            "two heads of the queries exchanged": changed(r"layers.0.attention\.q\.weight", in_other_heads),
            "two heads of the keys exchanged": changed(r"layers.0.attention\.k\.weight", in_other_heads),
            "rotary positions in pairs": changed(r".*attention\.[qk]\.weight", in_pairs),
            "keys of another layer": swapped("layers.0.attention.k.", "layers.1.attention.k."),
            "the words shifted by one": changed("embed", rows_on), "the logits shifted by one": changed(r"head\.weight", lambda w: rows_on(w.T).T),
            "a gamma of 1 + gamma": changed(r"layers.1.norm1\.gamma", lambda g: 1 + g), "no last norm": changed(r"norm\.gamma", lambda g: 0 * g + 1),
            "the features of the network reversed": changed(r"layers.1.feed_forward\.up\.weight", lambda w: w[:, ::-1]),
            "one weight in a hundred off by 1 %": changed(r"layers.0.attention\.o\.weight", lambda w: w * (1 + 0.01 * (w.argsort(None).reshape(w.shape) < 3)).astype("f4")),
            "16 bits": changed(r"layers.*weight", lambda w: (w.view("u4") & 0xFFFF0000).view("f4"))})
        checks.wrong_weights("Bert", programs[models.Bert], {
            "queries and keys exchanged": swapped("attention.q.", "attention.k."),
            "all square matrices transposed": transposed(r".*attention\.[qkvo]\.weight"),
            "values, keys and queries in this order": lambda tensors: swapped("attention.q.", "attention.v.")(tensors),
            "the positions shifted by one": changed("place_weight", rows_on), "the kinds of tokens left out": changed("word_table", lambda t: 0 * t),
            "no biases of the attention": changed(r".*attention\.[qvo]\.bias", lambda b: 0 * b),
            "the betas of two norms exchanged": swapped("layers.0.norm1.beta", "layers.0.norm2.beta"),
            "gamma and beta exchanged": swapped("norm2.gamma", "norm2.beta"), "the classes reversed": changed(r"classifier\..*", lambda w: w[..., ::-1]),
            "the pooler transposed": transposed(r"pooler\.weight"), "the layers exchanged": swapped("layers.0.", "layers.1."),
            "a bias added twice": changed(r"layers.1.feed_forward\.down\.bias", lambda b: 2 * b)})
        checks.in_integers(models.Llama, "--decode", "key=10")
        checks.wrong_text("Llama", "another epsilon", "norm_epsilon<1, 100000>", "norm_epsilon<1, 1000000>")
        if every:
            for kind in (models.DecisionTransformer, models.ConvolutionsOfImages, models.Chosen, models.Masks, models.Encoder, models.Whisper, models.CausalConvolution, models.Perceiver, models.SetTransformer, models.Conformer,
                         models.VisionTransformer, models.Swin, models.Batch, models.PositionsFirst, models.ClassToken, models.Bert, models.PaddedWords):
                checks.in_integers(kind)
            for kind, keys in ((models.Gpt2, 10), (models.Alibi, 10), (models.LlamaOfMeta, 7), (models.GptJ, 10), (models.Named, 12)):
                checks.in_integers(kind, "--decode", f"key={keys}")
            checks.found("Swin", "roll<row, 6>(x0)", "roll<row, 5>(x0)", "the first statement that differs is x1; the largest")
            checks.wrong_text("Bert", "half of the heads", "heads<4>", "heads<2>")
            checks.wrong_text("Bert", "another GELU", "gelu_exact", "gelu_tanh")
            checks.wrong_text("Bert", "a causal mask", "keep_mask(attention_mask)", "keep_mask(attention_mask) & causal", is_option=False)
            checks.wrong_text("Encoder", "norms first", "norm_first<false>", "norm_first<true>")
            checks.wrong_text("Llama", "another base of rope", "rope<split_halves>", "rope<split_halves, 500000>")
        checks.page()
        return checks.tap.finish()


if __name__ == "__main__":
    sys.exit(main())
