#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Writes small files of tensors: as numpy makes them, and safetensors by the text of its format.

    /usr/bin/python3 tools/golden_files.py            test/golden/data/files.hpp, and seeds in test/fuzz/corpus
    /usr/bin/python3 tools/golden_files.py --check    compares only; exits 1 when a file differs

It needs numpy (on Debian and Ubuntu: apt-get install python3-numpy); the committed files are of numpy 1.24 and
Python 3.11. The bytes are committed, so that the tests need neither.
"""
from __future__ import annotations

import io
import json
import struct
import sys
import zipfile
from pathlib import Path
from unittest import mock

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
HEADER = ROOT / "test" / "golden" / "data" / "files.hpp"
SEEDS = ROOT / "test" / "fuzz" / "corpus"

TYPES = ["|b1", "|u1", "|i1", "<i2", ">i2", "<i4", ">i4", "<i8", ">i8", "<f2", ">f2", "<f4", ">f4", "<f8", ">f8"]
VALUES = [[0, 1, 2], [3, 100, 127]]
SIGNED = [[0, 1, -2], [3, 100, -128]]


def npy(array: np.ndarray, version: tuple[int, int] | None = None) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, array, version=version)
    return file.getvalue()


class Pipe(io.RawIOBase):
    """What cannot go back: zip archives that are written to it have data descriptors."""

    def __init__(self) -> None:
        self.bytes = b""

    def writable(self) -> bool:
        return True

    def write(self, data) -> int:
        self.bytes += bytes(data)
        return len(data)


def npz(save=np.savez, file=None, **arrays: np.ndarray) -> bytes:
    file = file or io.BytesIO()
    save(file, **arrays)
    return file.bytes if isinstance(file, Pipe) else file.getvalue()


def zip64(**arrays: np.ndarray) -> bytes:
    """With the records of large archives, as if each number were too large for the others."""
    with mock.patch.multiple(zipfile, ZIP64_LIMIT=0, ZIP_FILECOUNT_LIMIT=0):
        return npz(**arrays)


def safetensors(tensors: dict[str, tuple[str, list[int], bytes]], metadata=None, pad: int = 8) -> bytes:
    header, data = {}, b""
    if metadata is not None:
        header["__metadata__"] = metadata
    for name, (dtype, shape, content) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % pad)
    return struct.pack("<Q", len(text)) + text + data


def files() -> dict[str, bytes]:
    made = {}
    for dtype in TYPES:
        name = {"<": "", ">": "big_", "|": ""}[dtype[0]] + dtype[1:]
        made[f"npy_{name}"] = npy(np.array(SIGNED if dtype[1] in "if" else VALUES, dtype=dtype))
    floats = np.arange(24, dtype="<f4").reshape(2, 3, 4)
    made["npy_fortran"] = npy(np.asfortranarray(floats))
    made["npy_fortran_big"] = npy(np.asfortranarray(floats).astype(">f8", order="F"))
    made["npy_version_2"] = npy(floats, (2, 0))
    made["npy_version_3"] = npy(floats, (3, 0))
    made["npy_scalar"] = npy(np.array(7, dtype="<i4"))
    made["npy_vector"] = npy(np.arange(3, dtype="<f4"))
    made["npy_empty"] = npy(np.zeros((3, 0, 2), dtype="<f4"))
    made["npy_8_axes"] = npy(np.arange(6, dtype="|i1").reshape(1, 1, 2, 1, 1, 3, 1, 1))
    # As ml_dtypes' bfloat16 is written: 1 and -2.
    made["npy_bfloat16"] = npy(np.array([0x3F80, 0xC000], dtype="<u2").view("V2"))
    made["npy_complex"] = npy(np.array([1 + 2j], dtype="<c8"))
    made["npy_records"] = npy(np.array([(1, 2.0)], dtype=[("a", "<i4"), ("b", "<f4")]))
    arrays = {"l.weight": floats[0], "l.bias": floats[1, 0], "t": np.asfortranarray(floats[0]),
              "n": np.array([1, -2], dtype="<i8")}
    made["npz"] = npz(**arrays)
    made["npz_descriptors"] = npz(file=Pipe(), **arrays)
    made["npz_64"] = zip64(**arrays)
    made["npz_compressed"] = npz(np.savez_compressed, **arrays)
    made["npz_none"] = npz()
    floats_16 = np.array([1, -2], dtype="<f2").tobytes()
    tensors = {
        "w": ("F32", [2, 3], np.arange(6, dtype="<f4").tobytes()),
        "double": ("F64", [2], np.array([0.1, -3], dtype="<f8").tobytes()),
        "half": ("F16", [2, 1], floats_16),
        "brain": ("BF16", [2], struct.pack("<2H", 0x3F80, 0xC000)),
        "byte": ("I8", [3], bytes([0, 127, 128])),
        "wörter \U0001F600 \"x\"": ("I64", [], struct.pack("<q", -5)),
        "none": ("F32", [0, 4], b""),
        "float8": ("F8_E4M3", [2], bytes([1, 2])),
    }
    made["safetensors"] = safetensors(tensors, {"format": "pt", "step": "1000"})
    made["safetensors_misaligned"] = safetensors(tensors, pad=1)
    made["safetensors_none"] = safetensors({})
    # In another order than their names, and than their data.
    shuffled = sorted(tensors.items(), key=lambda item: len(item[0]))
    text = json.loads(safetensors(dict(shuffled))[8:].split(b"}}")[0] + b"}}")
    again = json.dumps({name: text[name] for name in sorted(text, reverse=True)}).encode()
    data = b"".join(content for _, (_, _, content) in shuffled)
    made["safetensors_shuffled"] = struct.pack("<Q", len(again)) + again + data
    return made


def header_text(made: dict[str, bytes]) -> str:
    lines = ["// SPDX-License-Identifier: BSL-1.0", "// Files of tensors, byte by byte: written by tools/golden_files.py.",
             "#pragma once", "", "namespace umbel_test::files {", ""]
    for name, content in made.items():
        lines.append(f"inline constexpr unsigned char {name}[] = {{")
        numbers = [str(byte) for byte in content]
        lines += ["  " + ",".join(numbers[i:i + 30]) + "," for i in range(0, len(numbers), 30)]
        lines += ["};"]
    return "\n".join([*lines, "", "}  // namespace umbel_test::files", ""])


def main() -> int:
    made = files()
    written = {HEADER: header_text(made).encode()} | {SEEDS / f"seed_{name}": made[name] for name in made}
    different = 0
    for path, content in written.items():
        if "--check" in sys.argv[1:]:
            same = path.exists() and path.read_bytes() == content
            different += not same
            print(f"{path.relative_to(ROOT)}: {'same' if same else 'DIFFERENT'}")
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
