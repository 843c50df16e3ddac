# SPDX-License-Identifier: BSL-1.0
"""For tools/import: the ONNX model of a module of PyTorch, from a Python file with a function that returns (module, inputs)."""
import contextlib
import importlib.util
import inspect
import pathlib
import sys
import tempfile
import traceback
import warnings

from command_line import Refused

OPSETS = (17, 14)  # the newest that the versions of torch in use write
EXAMPLE = "return (module, inputs), with the inputs as a tensor or a tuple of tensors of the sizes that you'll use"


def exported(path, function):
    """The bytes of the model in ONNX, the inputs of the user and what torch computes of them, by names and in order, and the places at
    which torch took a value of an input for a constant."""
    try:
        import torch
    except ImportError as problem:
        lacking = "has no torch" if isinstance(problem, ModuleNotFoundError) else f"cannot import torch ({first_line(problem)})"
        raise Refused(f"{path}: {sys.executable} {lacking}: install it, or export the model elsewhere with torch.onnx.export") from None
    called = f"{path}:{function}"
    module, inputs = of_user(path, function, called, torch)
    inputs = (inputs,) if isinstance(inputs, torch.Tensor) else inputs
    if not isinstance(module, torch.nn.Module):
        raise Refused(f"{called}: its first part is {type(module).__name__} and no module; {EXAMPLE}")
    if not isinstance(inputs, (tuple, list)) or not inputs or not all(isinstance(x, torch.Tensor) for x in inputs):
        raise Refused(f"{called}: its inputs are no tensors; {EXAMPLE}")
    refuse_16_bits(module, inputs, called, torch)
    module.eval()
    without_fast_path(module, torch)
    with code_of_user(path, called), torch.no_grad():
        results = tensors_of(module(*inputs), called, torch)
    if not results:
        raise Refused(f"{called}: its forward returns no tensor; return the results")
    options = {"dynamo": False} if "dynamo" in inspect.signature(torch.onnx.export).parameters else {}
    names = list(inspect.signature(module.forward).parameters)[:len(inputs)]
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        file = pathlib.Path(folder) / "model.onnx"
        for opset in OPSETS:
            try:
                torch.onnx.export(module, tuple(inputs), str(file), opset_version=opset, input_names=names, do_constant_folding=True,
                                  training=torch.onnx.TrainingMode.PRESERVE, **options)
                feeds = {name: x.detach().numpy() for name, x in zip(names, inputs)}
                return file.read_bytes(), feeds, results, frozen(told, path)
            except Exception as problem:  # torch has no class for all that an exporter and the code of the user raise
                reason = problem
    text = first_line(reason).split(" Please feel free")[0].rstrip(".")
    raise Refused(f"{called}: torch.onnx.export: {text}; write that part in another way, or do it outside of the module")


def refuse_16_bits(module, inputs, called, torch):
    named = [*(("an input", x) for x in inputs), *module.named_parameters(), *module.named_buffers()]
    for name, x in named:
        if x.dtype in (torch.float16, torch.bfloat16):
            raise Refused(f"{called}: {name} has 16 bits ({str(x.dtype).removeprefix('torch.')}); return module.float() with inputs of float32, and store "
                          "the weights in 16 bits with prepacked")
        if name == "an input" and not x.numel():
            raise Refused(f"{called}: an input has the shape {list(x.shape)}, without elements; {EXAMPLE}")


def tensors_of(results, called, torch):
    """The arrays of results that may be in one another, in the order of torch's export."""
    if isinstance(results, torch.Tensor):
        return [results.detach().numpy()]
    if results is None:
        return []
    if not isinstance(results, (dict, tuple, list)):
        number = isinstance(results, (bool, int, float))
        cure = "a tensor, x.sum() instead of x.sum().item()" if number else "tensors, alone or in a tuple or a dict"
        raise Refused(f"{called}: its forward returns {'a number' if number else 'an object'} of type {type(results).__name__}; return {cure}")
    parts = results.values() if isinstance(results, dict) else results
    return [array for part in parts for array in tensors_of(part, called, torch)]


def frozen(told, path):
    """Sentences for the lines of the user at which a branch or a number is that of the example."""
    lines = sorted({(one.filename, one.lineno) for one in told if one.category.__name__ == "TracerWarning" and "Python" in str(one.message)
                    and pathlib.Path(one.filename).resolve() == pathlib.Path(path).resolve()})
    return [f"{path}, line {line}: Python reads a value of a tensor there, or a size; the model has the branch and the number of the example"
            for _, line in lines]


def first_line(problem):
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    return f"{type(problem).__name__}{f': {lines[0]}' if lines else ''}"


def of_user(path, function, called, torch):
    """What the function of the user returns."""
    if not pathlib.Path(path).is_file():
        raise Refused(f"{path}: no such file")
    spec = importlib.util.spec_from_file_location("model_of_user", path)
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(pathlib.Path(path).resolve().parent))
    sys.modules[spec.name] = module
    with code_of_user(path, called):
        spec.loader.exec_module(module)
        made = getattr(module, function, None)
        if made is None:
            raise Refused(f"{path}: it defines no {function}")
        made = made() if callable(made) and not isinstance(made, torch.nn.Module) else made
        if not isinstance(made, tuple) or len(made) != 2:
            raise Refused(f"{called}: it is {type(made).__name__}; {EXAMPLE}")
        return made


@contextlib.contextmanager
def code_of_user(path, called):
    """What it raises is a sentence with its line."""
    try:
        yield
    except Refused:
        raise
    except SystemExit as problem:
        code = "" if problem.code is None else f" with {problem.code}"
        raise Refused(f"{called}: it ends the program{code}; {EXAMPLE}") from None
    except Exception as problem:
        lines = [frame.lineno for frame in traceback.extract_tb(problem.__traceback__) if pathlib.Path(frame.filename).name == pathlib.Path(path).name]
        where = f"line {lines[-1]}: " if lines else ""
        raise Refused(f"{called}: {where}{first_line(problem)}") from None


def without_fast_path(module, torch):
    """Encoder layers are exported as the operators of attention, not as the one that torch has for its own use."""
    if hasattr(torch.backends, "mha"):
        torch.backends.mha.set_fastpath_enabled(False)
    for one in module.modules():
        if isinstance(one, torch.nn.TransformerEncoderLayer):
            one.activation_relu_or_gelu = 0
        if isinstance(one, torch.nn.MultiheadAttention):
            one.training, one.dropout = True, 0.0
