# SPDX-License-Identifier: BSL-1.0
"""Reads the tensors of a model, for tools/export: safetensors, .npz of numpy, .pt of torch. Which of them a file is, its
content says. What is wrong is one Refused; nothing in a file is run."""
from __future__ import annotations

import inspect
import json
import math
import struct
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

# As safetensors spells them; BF16 is widened to float, which holds every one of its numbers.
SAFETENSORS = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "I32": "<i4", "I16": "<i2",
               "I8": "|i1", "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1", "BOOL": "|b1"}
MOST_AXES = 8  # of a tensor that Umbel reads


class Refused(Exception):
    """Why a file or an option is not taken: one sentence."""


@dataclass
class Model:
    """Tensors by name in the order of the file, and what the user should know of it."""
    tensors: dict[str, np.ndarray]
    notes: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)  # tensors of integers
    probe: dict[str, np.ndarray] = field(default_factory=dict)  # those named probe.*, which are no weights


def widen_bfloat16(bits: np.ndarray) -> np.ndarray:
    return (bits.ravel().astype("<u4") << np.uint32(16)).view("<f4").reshape(bits.shape)


def no_two(pairs: list[tuple[str, object]]) -> dict:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise Refused("in its header two tensors, or two facts about one, have the same name")
    return made


def tensor_of_safetensors(name: str, about, data: bytes) -> tuple[int, np.ndarray]:
    """The tensor, and where its bytes begin."""
    if any("\ud800" <= c <= "\udfff" for c in name):
        raise Refused(f"the name {name!r} is not Unicode: it has half of a pair")
    try:
        dtype, shape, (begin, end) = about["dtype"], about["shape"], about["data_offsets"]
        sizes = [*shape, begin, end]
    except (TypeError, KeyError, ValueError):
        raise Refused(f"the header says no dtype, shape or data_offsets of {name!r}") from None
    if not all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in sizes):
        raise Refused(f"a size or an offset of {name!r} is not a number from 0 on")
    if dtype not in SAFETENSORS:
        raise Refused(f"{name!r} has the element type {dtype!r}, which is not read")
    kind = np.dtype(SAFETENSORS[dtype])
    if begin > end or end > len(data):
        raise Refused(f"{name!r} ends behind the end of the file: it is cut off or damaged")
    if end - begin != math.prod(shape) * kind.itemsize:
        raise Refused(f"{name!r} has {end - begin} bytes, which is not what its shape {shape} needs")
    array = np.frombuffer(data, kind, math.prod(shape), begin).reshape(shape)
    return begin, widen_bfloat16(array) if dtype == "BF16" else array


def read_safetensors(content: bytes) -> Model:
    size, = struct.unpack_from("<Q", content)
    if size > len(content) - 8:
        raise Refused("the header ends behind the end of the file: it is cut off or damaged")
    try:
        header = json.loads(content[8:8 + size].decode(), object_pairs_hook=no_two)
    except (ValueError, RecursionError) as problem:
        raise Refused(f"its header is not JSON in UTF-8: {problem}") from None
    if not isinstance(header, dict):
        raise Refused("its header is not an object of JSON")
    header.pop("__metadata__", None)
    data = content[8 + size:]
    placed = {name: tensor_of_safetensors(name, about, data) for name, about in header.items()}
    end = 0
    for name, (begin, array) in sorted(placed.items(), key=lambda item: (item[1][0], header[item[0]]["data_offsets"][1])):
        if begin != end:
            raise Refused(f"before {name!r} there are bytes of no tensor or of two")
        end = header[name]["data_offsets"][1]
    if end != len(data):
        raise Refused(f"{len(data) - end} bytes behind the last tensor belong to none")
    return Model({name: array for name, (_, array) in placed.items()})


def read_npz(path: Path) -> Model:
    tensors = {}
    try:
        with np.load(path, allow_pickle=False) as file:
            if len(set(file.files)) != len(file.files):
                raise Refused("two arrays have one name")
            for name in file.files:
                array = file[name]
                if not isinstance(array, np.ndarray):
                    raise Refused(f"it holds {name!r}, which is not of numpy.savez")
                if array.dtype == np.dtype("V2"):  # bfloat16 of ml_dtypes
                    array = widen_bfloat16(array.view("<u2"))
                tensors[name] = array
    except Refused:
        raise
    except Exception as problem:  # of zipfile, zlib, tokenize, ...: numpy lets them through
        raise Refused(f"numpy does not read it, and objects are not loaded: {problem}") from None
    return Model(tensors)


def state_of(loaded, notes: list[str]) -> dict:
    """The dict with the tensors: the file's own, or in a checkpoint of a training under one of the usual names."""
    if isinstance(loaded, dict):
        for key in ("state_dict", "model_state_dict", "model"):
            if isinstance(loaded.get(key), dict):
                notes.append(f"the tensors are those of its entry {key!r}")
                return loaded[key]
        return loaded
    raise Refused(f"it holds a {type(loaded).__name__}, not named tensors: torch.save(model.state_dict(), file)")


def read_pt(path: Path) -> Model:
    try:
        import torch
    except ImportError:
        raise Refused("a .pt is read by torch, which is not installed here: apt-get install python3-torch, or save "
                      "the model as safetensors or .npz") from None
    if "weights_only" not in inspect.signature(torch.load).parameters:
        raise Refused(f"torch {torch.__version__} would run the program that a .pt can be; take torch 1.13 or newer")
    notes: list[str] = []
    try:
        loaded = torch.load(str(path), map_location="cpu", weights_only=True)
    except Exception as problem:  # whatever a damaged pickle makes torch raise
        first = str(problem).strip().splitlines() or [type(problem).__name__]
        raise Refused("it is damaged or holds more than tensors, which is not loaded since a pickle is a program: "
                      f"torch.save(model.state_dict(), file) ({first[0]})") from None
    tensors = {}
    for name, value in state_of(loaded, notes).items():
        if not isinstance(value, torch.Tensor):
            notes.append(f"{name} is left out: it is a {type(value).__name__}, not a tensor")
            continue
        try:
            value = value.detach().to_dense() if value.is_sparse else value.detach()
            tensors[str(name)] = (value.float() if value.dtype == torch.bfloat16 else value).contiguous().numpy()
        except (RuntimeError, TypeError, NotImplementedError):
            raise Refused(f"{name!r} has the element type {value.dtype}, which is not read") from None
    return Model(tensors, notes)


def read_file(path: Path) -> Model:
    try:
        with path.open("rb") as file:
            start = file.read(10)
            if start[:2] == b"PK":
                with zipfile.ZipFile(path) as archive:
                    is_torch = any(name.endswith("data.pkl") for name in archive.namelist())
                return read_pt(path) if is_torch else read_npz(path)
            if start[8:9] == b"{":
                return read_safetensors(start + file.read())
    except OSError as problem:
        raise Refused(problem.strerror or str(problem)) from None
    except (zipfile.BadZipFile, NotImplementedError, ValueError, EOFError, struct.error) as problem:  # as zipfile does
        raise Refused(f"it begins as a zip archive, as .npz and .pt are, and is cut off or damaged: {problem}") from None
    if start[:1] == b"\x80":  # a pickle of torch before 1.6
        return read_pt(path)
    raise Refused("it is neither safetensors, nor .npz of numpy.savez, nor .pt of torch.save")


def read_model(path: Path) -> Model:
    """The floating-point tensors; what else there is, is left out, and said. Refused, with the name of the file."""
    try:
        model = read_file(path)
        for name in [name for name in model.tensors if name.startswith("probe.")]:
            model.probe[name] = probe_array(name, model.tensors.pop(name))
        for name, array in model.tensors.items():
            if array.dtype == np.int8 and name + "_scale" in model.tensors:
                raise Refused(f"{name!r} holds integers of 8 bits with scales; load reads them as they are, export takes the floats")
        model.left_out = [name for name, array in model.tensors.items() if not is_number(name, array, model.notes)]
        for name in model.left_out:
            del model.tensors[name]
        if not model.tensors:
            raise Refused("it has no tensors of floating-point numbers")
        return model
    except Refused as problem:
        raise Refused(f"{path}: {problem}") from None


def is_number(name: str, array: np.ndarray, notes: list[str]) -> bool:
    if array.ndim > MOST_AXES:
        raise Refused(f"{name!r} has {array.ndim} axes, more than {MOST_AXES}")
    if array.dtype.kind == "f" and array.dtype.itemsize <= 8:
        return True
    if array.dtype.kind in "iub":
        notes.append(f"{name} is left out: its elements are {array.dtype}, not floating-point numbers")
        return False
    raise Refused(f"{name!r} has the element type {array.dtype}, which is not read")


def probe_array(name: str, array: np.ndarray) -> np.ndarray:
    """As it goes into the file: float or int32."""
    if array.dtype.kind in "iub":
        if array.size and (array.min() < -2**31 or array.max() >= 2**31):
            raise Refused(f"{name!r} holds integers that do not fit 32 bits")
        return array.astype("<i4")
    if array.dtype.kind == "f":
        return array.astype("<f4")
    raise Refused(f"{name!r} has the element type {array.dtype}, which is not read")


def read_probe(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a probe as they go into the file: probe.output, probe.input or others by name."""
    try:
        arrays = read_file(path).tensors
        if "output" not in arrays or len(arrays) < 2:
            raise Refused("a probe is an array output and at least one more, input: "
                          "numpy.savez(file, input=x, output=y)")
        return {"probe." + name: probe_array(name, array) for name, array in arrays.items()}
    except Refused as problem:
        raise Refused(f"{path}: {problem}") from None
