# SPDX-License-Identifier: BSL-1.0
"""Reads the tensors of a model, for tools/export: safetensors, .npz of numpy, .pt of torch. Which of them a file is, its
content says. What is wrong is one Refused. Nothing in a file is run, and no more memory is taken than its length allows; a .pt is
a pickle, which is a program, and is read only for who asks for pickles."""
from __future__ import annotations

import contextlib
import json
import math
import os
import re
import resource
import stat
import struct
import warnings
import zipfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Iterable

import numpy as np

from command_line import Refused

# As safetensors spells them; BF16 is widened to float, which holds every one of its numbers.
SAFETENSORS = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "I32": "<i4", "I16": "<i2",
               "I8": "|i1", "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1", "BOOL": "|b1"}
MOST_AXES = 8  # of a tensor that Umbel reads
# Of what a compressed file may become: weights hardly shrink, and zeros do a thousandfold.
MOST_TIMES, ALWAYS_FINE = 20, 64 << 20
OF_TORCH = 256 << 20  # bytes for itself, while it reads
SAFE_TORCH = (2, 6)  # before it a file can get round weights_only and run a program (CVE-2025-32434)
PICKLE = ("it is a pickle, which is a program: --pickle reads it, if you trust where it is from; or save the model as safetensors "
          "or .npz")


@dataclass
class Model:
    """Tensors by name in the order of the file, and what the user should know of it."""
    tensors: dict[str, np.ndarray]
    notes: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)  # tensors of integers
    probe: dict[str, np.ndarray] = field(default_factory=dict)  # those named probe.*, which are no weights
    options: str = ""  # of layers, as the file has them for load


def widen_bfloat16(bits: np.ndarray) -> np.ndarray:
    return (bits.ravel().astype("<u4") << np.uint32(16)).view("<f4").reshape(bits.shape)


def quoted(value: object) -> str:
    """For a sentence: what a damaged file holds may be long."""
    text = repr(value)
    return text if len(text) <= 100 else f"{text[:80]}... ({len(text):,} characters)"


def check_unicode(*texts: str) -> None:
    for text in texts:
        if any("\ud800" <= c <= "\udfff" for c in text):
            raise Refused(f"the text {quoted(text)} is not Unicode: it has half of a pair")


def check_shape(name: str, shape: Iterable[int], bytes_of_one: int) -> None:
    shape = tuple(shape)
    if len(shape) > MOST_AXES:
        raise Refused(f"{quoted(name)} has {len(shape)} axes, more than {MOST_AXES}")
    if math.prod(n for n in shape if n) * bytes_of_one >= 2**63:  # numpy says so of empty arrays, too
        raise Refused(f"the shape of {quoted(name)} overflows")


def most_bytes(length: int) -> int:
    return max(MOST_TIMES * length, ALWAYS_FINE)


def check_expansion(what: str, becomes: int, length: int) -> None:
    if becomes > most_bytes(length):
        raise Refused(f"its {what} would be {becomes:,} bytes, more than {MOST_TIMES} times the {length:,} of the file: save the "
                      "model without compression")


# ---- safetensors --------------------------------------------------------------------------------


def no_two(pairs: list[tuple[str, object]]) -> dict:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise Refused("in its header two tensors, or two facts about one, have the same name")
    return made


def tensor_of_safetensors(name: str, about, data: memoryview) -> tuple[int, int, np.ndarray]:
    """The tensor, and where its bytes begin and end."""
    check_unicode(name)
    if not isinstance(about, dict) or about.keys() != {"dtype", "shape", "data_offsets"}:
        raise Refused(f"the header says something else of {quoted(name)} than its dtype, shape and data_offsets")
    dtype, shape, offsets = about["dtype"], about["shape"], about["data_offsets"]
    if not isinstance(shape, list) or not isinstance(offsets, list) or len(offsets) != 2:
        raise Refused(f"the shape or the data_offsets of {quoted(name)} are no such list")
    begin, end = offsets
    if not all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in (*shape, begin, end)):
        raise Refused(f"a size or an offset of {quoted(name)} is not a number from 0 on")
    if not isinstance(dtype, str) or dtype not in SAFETENSORS:
        raise Refused(f"{quoted(name)} has the element type {quoted(dtype)}, which is not supported")
    kind = np.dtype(SAFETENSORS[dtype])
    check_shape(name, shape, kind.itemsize)
    if begin > end or end > len(data):
        raise Refused(f"{quoted(name)} ends behind the end of the file: it is cut off or damaged")
    if end - begin != math.prod(shape) * kind.itemsize:
        raise Refused(f"{quoted(name)} has {end - begin} bytes, which is not what its shape {shape} needs")
    array = np.frombuffer(data[begin:end], kind).reshape(shape)
    return begin, end, widen_bfloat16(array) if dtype == "BF16" else array


def integer(text: str) -> int:
    """-0 is none: such a number is refused as a negative one."""
    return -1 if text[0] == "-" else int(text)


def read_safetensors(content: bytes) -> Model:
    size, = struct.unpack_from("<Q", content)
    if size > len(content) - 8:
        raise Refused("its header ends behind the end of the file: this safetensors file is cut off or damaged")
    try:
        header = json.loads(content[8:8 + size].decode(), object_pairs_hook=no_two, parse_int=integer)
    except (ValueError, RecursionError) as problem:
        raise Refused(f"its header is not JSON in UTF-8: {problem}") from None
    if not isinstance(header, dict):
        raise Refused("its header is not an object of JSON")
    metadata = header.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(text, str) for text in metadata.values()):
        raise Refused("the __metadata__ of its header are not texts by name")
    check_unicode(*metadata, *metadata.values())
    data = memoryview(content)[8 + size:]
    placed = {name: tensor_of_safetensors(name, about, data) for name, about in header.items()}
    last = 0
    for name, (begin, end, _) in sorted(placed.items(), key=lambda item: item[1][:2]):
        if begin != last:
            raise Refused(f"before {quoted(name)} there are bytes of no tensor or of two")
        last = end
    if last != len(data):
        raise Refused(f"{len(data) - last} bytes behind the last tensor belong to none")
    return Model({name: array for name, (_, _, array) in placed.items()}, options=metadata.get("umbel.options", ""))


# ---- .npz ---------------------------------------------------------------------------------------

NPY_FACT = re.compile(rb"""\s*(['"])(descr|fortran_order|shape)\1\s*:\s*(True|False|(['"])[^'"]*\4|\([\dL,\s]*\))\s*(,|\Z)""")
NPY_TYPE = re.compile(r"[<>|=]?[a-zA-Z?][0-9]{0,4}")


def npy_array(name: str, content: bytes) -> np.ndarray:
    """As numpy.save writes it: a magic number, the version, the length of a dictionary of Python's, that, and the elements."""
    if len(content) < 12 or content[:6] != b"\x93NUMPY" or content[6] not in (1, 2, 3):
        raise Refused(f"it holds {quoted(name)}, which is not of numpy.savez")
    size, begin = (int.from_bytes(content[8:10], "little"), 10) if content[6] == 1 else (
        int.from_bytes(content[8:12], "little"), 12)
    text = content[begin:begin + size].strip()
    facts, at, inside = {}, 0, text[1:-1]
    while fact := NPY_FACT.match(inside, at):
        if fact[2] in facts:
            break
        facts[fact[2]], at = fact[3].decode("latin-1"), fact.end()
    if len(text) < 2 or text[:1] + text[-1:] != b"{}" or len(facts) != 3 or inside[at:].strip():
        raise Refused(f"the header of {quoted(name)} says something else than descr, fortran_order and shape of numbers")
    kind, order, shape = facts[b"descr"][1:-1], facts[b"fortran_order"], facts[b"shape"]
    if not NPY_TYPE.fullmatch(kind) or order not in ("True", "False") or not re.fullmatch(
            r"\(\s*(\d{1,19}L?\s*,\s*)*(\d{1,19}L?\s*)?\)", shape):
        raise Refused(f"the header of {quoted(name)} has no such descr, fortran_order or shape")
    try:
        element = np.dtype(kind)
    except TypeError:
        raise Refused(f"{quoted(name)} has the element type {quoted(kind)}, which is not supported") from None
    if element.hasobject:
        raise Refused(f"{quoted(name)} holds objects, and objects are not loaded: they are pickles, which are programs")
    sizes = [int(n) for n in re.findall(r"\d+", shape)]
    check_shape(name, sizes, element.itemsize)
    if element.itemsize == 0 or len(content) - begin - size != math.prod(sizes) * element.itemsize:
        raise Refused(f"{quoted(name)} has {max(len(content) - begin - size, 0)} bytes, which is not what its shape {sizes} of "
                      f"{element} needs")
    array = np.frombuffer(content, element, offset=begin + size) if math.prod(sizes) else np.zeros(0, element)
    return array.reshape(sizes[::-1]).T if order == "True" else array.reshape(sizes)


def read_npz(archive: zipfile.ZipFile) -> Model:
    tensors: dict[str, np.ndarray] = {}
    for entry in archive.infolist():
        name = entry.filename.removesuffix(".npy")
        if name in tensors:
            raise Refused(f"two arrays have the name {quoted(name)}")
        check_unicode(name)
        array = npy_array(name, archive.read(entry))
        if array.dtype == np.dtype("V2"):  # bfloat16 of ml_dtypes
            array = widen_bfloat16(array.view("<u2"))
        tensors[name] = array
    return Model(tensors)


# ---- .pt ----------------------------------------------------------------------------------------


def state_of(loaded, notes: list[str]) -> dict:
    """The dict with the tensors: the file's own, or in a checkpoint of a training under one of the usual names."""
    if isinstance(loaded, dict):
        for key in ("state_dict", "model_state_dict", "model"):
            if isinstance(loaded.get(key), dict):
                notes.append(f"the tensors are those of its entry {key!r}")
                return loaded[key]
        return loaded
    raise Refused(f"it holds a {type(loaded).__name__}, not named tensors: torch.save(model.state_dict(), file)")


@contextlib.contextmanager
def limited_memory(more: int):
    """A pickle says how much torch is to allocate for it, which nobody else can check: at most that much. (Linux only.)"""
    try:
        now = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        limits = resource.getrlimit(resource.RLIMIT_AS)
    except OSError:
        yield
        return
    wanted = now + more
    if limits[0] == resource.RLIM_INFINITY or wanted < limits[0]:
        resource.setrlimit(resource.RLIMIT_AS, (wanted, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)


def read_pt(file: BinaryIO, length: int) -> Model:
    try:
        import torch
    except ImportError:
        raise Refused("a .pt is read by torch, which is not installed here: apt-get install python3-torch, or save "
                      "the model as safetensors or .npz") from None
    version = tuple(map(int, re.findall(r"\d+", torch.__version__)[:2]))
    if version < (1, 13):
        raise Refused(f"torch {torch.__version__} would run the program that a .pt can be; take torch 1.13 or newer")
    notes: list[str] = []
    if version < SAFE_TORCH:
        notes.append(f"torch {torch.__version__} read a pickle; a forged one can run a program before torch "
                     f"{'.'.join(map(str, SAFE_TORCH))}")
    file.seek(0)
    try:
        with warnings.catch_warnings(), limited_memory(most_bytes(length) + OF_TORCH):
            warnings.simplefilter("ignore")
            loaded = torch.load(file, map_location="cpu", weights_only=True)
    except Exception as problem:  # whatever a damaged pickle makes torch raise
        first = str(problem).strip().splitlines() or [type(problem).__name__]
        raise Refused("it is damaged or holds more than tensors, which is not loaded since a pickle is a program: "
                      f"torch.save(model.state_dict(), file) ({first[0]})") from None
    tensors: dict[str, np.ndarray] = {}
    total = 0
    for key, value in state_of(loaded, notes).items():
        name = str(key)
        check_unicode(name)
        if not isinstance(value, torch.Tensor):
            notes.append(f"{name} is left out: it is a {type(value).__name__}, not a tensor")
            continue
        if name in tensors:
            raise Refused(f"two tensors have the name {quoted(name)}")
        check_shape(name, value.shape, value.element_size())
        total += value.numel() * value.element_size()
        check_expansion("tensors", total, length)
        try:
            value = value.detach().to_dense() if value.is_sparse else value.detach()
            tensors[name] = (value.float() if value.dtype == torch.bfloat16 else value).contiguous().numpy()
        except (RuntimeError, TypeError, NotImplementedError):
            raise Refused(f"{quoted(name)} has the element type {value.dtype}, which is not supported") from None
    return Model(tensors, notes)


# ---- any ----------------------------------------------------------------------------------------


def read_zip(file: BinaryIO, length: int, pickles: bool) -> Model:
    try:
        with zipfile.ZipFile(file) as archive:
            entries = archive.infolist()
            # numpy and torch write no others, and of those the lengths are not kept to while they are read.
            if any(entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for entry in entries):
                raise Refused("it is compressed in a way that neither numpy nor torch does")
            check_expansion("contents", sum(entry.file_size for entry in entries), length)
            if not any(entry.filename.endswith("data.pkl") for entry in entries):
                return read_npz(archive)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, ValueError, EOFError, struct.error) as problem:
        raise Refused(f"it begins as a zip archive, as .npz and .pt are, and is cut off or damaged: {problem}") from None
    if not pickles:
        raise Refused(PICKLE)
    return read_pt(file, length)


def open_plain(path: Path) -> BinaryIO:
    """Of a FIFO or a device there may be no end, nor even a beginning."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if stat.S_ISDIR(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise Refused("it is a folder")
    file = os.fdopen(descriptor, "rb")
    if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        return file
    file.close()
    raise Refused("it is no plain file")


def read_file(path: Path, pickles: bool) -> Model:
    try:
        with open_plain(path) as file:
            length = os.fstat(file.fileno()).st_size
            start = file.read(10)
            if start[8:9] == b"{":
                return read_safetensors(start + file.read())
            if start[:4] in (b"PK\3\4", b"PK\5\6"):
                return read_zip(file, length, pickles)
            if start[:1] == b"\x80":  # a pickle of torch before 1.6
                if not pickles:
                    raise Refused(PICKLE)
                return read_pt(file, length)
    except OSError as problem:
        raise Refused(problem.strerror or str(problem)) from None
    if path.suffix == ".safetensors":
        raise Refused("behind the length of its header there is no brace: this safetensors file is cut off or damaged")
    raise Refused("it is neither safetensors, nor .npz of numpy.savez, nor .pt of torch.save")


def read_model(path: Path, pickles: bool = False) -> Model:
    """The floating-point tensors; what else there is, is left out, and said. Refused, with the name of the file."""
    try:
        model = read_file(path, pickles)
        for name in [name for name in model.tensors if name.startswith("probe.")]:
            model.probe[name] = probe_array(name, model.tensors.pop(name))
        for name, array in model.tensors.items():
            if array.dtype == np.int8 and name + "_scale" in model.tensors:
                raise Refused(f"{quoted(name)} holds integers of 8 bits with scales; load reads them as they are, export takes the floats")
        model.left_out = [name for name, array in model.tensors.items() if not is_number(name, array, model.notes)]
        for name in model.left_out:
            del model.tensors[name]
        if not model.tensors:
            raise Refused("it has no tensors of floating-point numbers")
        return model
    except Refused as problem:
        raise Refused(f"{path}: {problem}") from None


def is_number(name: str, array: np.ndarray, notes: list[str]) -> bool:
    if array.dtype.kind == "f" and array.dtype.itemsize <= 8:
        return True
    if array.dtype.kind in "iub":
        notes.append(f"{name} is left out: its elements are {array.dtype}, not floating-point numbers")
        return False
    raise Refused(f"{quoted(name)} has the element type {array.dtype}, which is not supported")


def probe_array(name: str, array: np.ndarray) -> np.ndarray:
    """As it goes into the file: float or int32."""
    if array.size == 0:
        raise Refused(f"{quoted(name)} has no elements, and shows nothing")
    if array.dtype.kind in "iub":
        if array.size and (array.min() < -2**31 or array.max() >= 2**31):
            raise Refused(f"{quoted(name)} holds integers that do not fit 32 bits")
        return array.astype("<i4")
    if array.dtype.kind == "f":
        made = array.astype("<f4")
        if (np.isinf(made) & np.isfinite(array)).any():
            raise Refused(f"{quoted(name)} holds numbers that do not fit 32 bits")
        return made
    raise Refused(f"{quoted(name)} has the element type {array.dtype}, which is not supported")


def read_probe(path: Path, pickles: bool = False) -> dict[str, np.ndarray]:
    """The arrays of a probe as they go into the file: probe.output, probe.input or others by name."""
    try:
        arrays = read_file(path, pickles).tensors
        if "output" not in arrays or len(arrays) < 2:
            raise Refused("a probe is an array output and at least one more, input: "
                          "numpy.savez(file, input=x, output=y)")
        return {"probe." + name: probe_array(name, array) for name, array in arrays.items()}
    except Refused as problem:
        raise Refused(f"{path}: {problem}") from None
