#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The readers of files beside those in Python: tools/export_read.py and, of one .npy, numpy. Both get the corpus, and files made of it by
drawn changes. What Umbel takes, Python takes, with the same names, extents and numbers; what Umbel refuses and Python does not, Umbel
refuses for a reason that docs/files.md has.

    differential.py THIS_DIR INCLUDE_DIR -- COMPILER...     TAP; skipped where there is no numpy

UMBEL_DIFFERENTIAL: how many changed files are made of each of the corpus that Umbel reads (20); of others, one.
"""
import io
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import zlib

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent), str(pathlib.Path(__file__).resolve().parents[2] / "tools")]
from tap import Tap, split_command  # noqa: E402

try:
    import numpy as np
    from export_read import Refused, read_file, widen_bfloat16
except ImportError:
    np = None

# What Umbel refuses though Python reads it: limits, and rules of the formats that Python's readers do not look at.
STRICTER = re.compile("|".join((
    "more than (8 axes|16384|the maximum of 100000000)", "overflows", "same hash",  # limits
    "compressed", "encrypted", "not stored", "multi-part", "not a .npy", "end like a zip", "central directory", "zip64 record",  # of archives
    "records", "not a NumPy dictionary",  # of a .npy: Python has literals that numpy does not write
    "one other than dtype, shape and data_offsets", "invalid escape")))  # of JSON: other keys, half of a pair

WORDS = [b'"', b"\\", b"\\u0061", b"\\ud83d", b",", b"[0,4]", b"{}", b"1", b"0", b"-1", b"1e3", b" ", b"\n", b"\xff", b"\xc3\xb6", b"F32", b"F16",
         b"BF16", b"I64", b"<f8", b">i2", b"|b1", b"True", b"(3,)", b"__metadata__", b"PK\1\2", b"\0\0", b"\xff\xff\xff\xff"]


def changed(content, draw):
    """A file that is another: some bytes, words of the formats, pieces left out or twice; of safetensors often with the right length.
    Or, every second time, other numbers."""
    made = bytearray(content)
    data = 8 + int.from_bytes(content[:8], "little") if content[8:9] == b"{" else content.find(b"\n") + 1
    if 0 < data < len(content) and draw.random() < 0.5:
        for _ in range(draw.randint(1, 8)):
            made[draw.randrange(data, len(made))] = draw.choice((0, 1, 0x7f, 0x80, 0xff, draw.randrange(256)))
        return bytes(made)
    for _ in range(draw.randint(1, 3)):
        at = draw.randrange(len(made) + 1)
        kind = draw.randrange(5)
        if kind == 0 and at < len(made):
            made[at] ^= 1 << draw.randrange(8)
        elif kind == 1 and at < len(made):
            made[at] = draw.choice(b"0123456789{}[]\":,\\ ")
        elif kind == 2:
            made[at:at] = draw.choice(WORDS)
        elif kind == 3:
            del made[at:at + draw.randint(1, 8)]
        else:
            made[at:at] = made[at:at + draw.randint(1, 40)]
    if content[8:9] == b"{" and draw.random() < 0.9:  # the header ends where its braces say
        size = int.from_bytes(content[:8], "little") + len(made) - len(content)
        made[:8] = max(size, 0).to_bytes(8, "little")
    return bytes(made)


def text_of(array):
    numbers = array.astype("<f8", order="C")
    numbers[np.isnan(numbers)] = np.nan
    return f"{zlib.crc32(numbers.tobytes()):08x}"


def read_npy(content):
    stream = io.BytesIO(content)
    array = np.lib.format.read_array(stream, allow_pickle=False)
    if stream.read(1):
        raise ValueError("bytes behind the array")
    return {"": widen_bfloat16(array.view("<u2")) if array.dtype == np.dtype("V2") else array}


def by_python(content, path):
    """{name: array}, or why not."""
    try:
        if content[:6] == b"\x93NUMPY":
            return read_npy(content)
        path.write_bytes(content)
        return dict(read_file(path, pickles=False).tensors)
    except Refused as problem:
        return str(problem)
    except Exception as problem:  # what numpy and ast raise of a damaged header
        return f"{type(problem).__name__}: {problem}"


def by_umbel(program, contents):
    """Of each file {name: (type, content, extents)}, or the sentence."""
    run = subprocess.run([program], input=b"".join(len(c).to_bytes(4, "little") + c for c in contents), capture_output=True, check=True)
    lines = iter(run.stdout.decode("utf-8", "replace").splitlines())
    found = []
    for line in lines:
        kind, rest = line.split(" ", 1)
        if kind == "refused":
            found.append(rest)
            continue
        tensors = {}
        for _ in range(int(rest)):
            name, dtype, content, *extents = next(lines).split()
            tensors[bytes.fromhex(name.strip("-")).decode()] = (bytes.fromhex(dtype.strip("-")).decode(), content, tuple(map(int, extents)))
        found.append(tensors)
    return found


def difference(umbel, python):
    """What is wrong, or nothing."""
    if isinstance(umbel, str):
        return "" if isinstance(python, str) or STRICTER.search(umbel) else f"Umbel refuses: {umbel}"
    contents = [content for _, content, _ in umbel.values()]
    if isinstance(python, str):
        return "" if {"unread", "damaged", "large"} & set(contents) else f"Python refuses: {python}"
    if list(umbel) != list(python):
        return f"names {list(umbel)} and {list(python)}"
    for name, (dtype, content, extents) in umbel.items():
        array = python[name]
        if extents != array.shape:
            return f"{name!r}: {extents} and {array.shape}"
        if content not in ("unread", "large") and content != text_of(array):
            return f"{name!r}, {dtype}: {content} and {text_of(array)}"
    return ""


def main():
    arguments, command = split_command(sys.argv[1:])
    here, include_dir = map(pathlib.Path, arguments)
    if np is None:
        print("TAP version 13\n1..0 # SKIP fuzz/differential: no numpy")
        return 0
    np.seterr(all="ignore")
    tap = Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        made = subprocess.run([*command, "-std=c++20", "-O1", "-I", include_dir, here / "list.cpp", "-o", folder / "list"],
                              capture_output=True, text=True)
        tap.check("the program compiles", made.returncode == 0, made.stderr)
        if made.returncode != 0:
            return tap.finish()
        corpus = [path.read_bytes() for path in sorted((here / "corpus").iterdir())]
        draw = random.Random(38)
        many = int(os.environ.get("UMBEL_DIFFERENTIAL", "20"))
        contents = corpus + [changed(content, draw) for content, umbel in zip(corpus, by_umbel(folder / "list", corpus), strict=True)
                             for _ in range(1 if isinstance(umbel, str) else many)]
        both_take, wrong = 0, []
        for content, umbel in zip(contents, by_umbel(folder / "list", contents), strict=True):
            python = by_python(content, folder / "file")
            both_take += not isinstance(umbel, str) and not isinstance(python, str)
            why = difference(umbel, python)
            if why:
                wrong.append(f"{why}\n  {content!r}")
        tap.check(f"{len(contents)} files, of which both read {both_take}", not wrong and both_take > 100,
                  f"{len(wrong)} differ\n" + "\n".join(wrong[:int(os.environ.get("UMBEL_SHOWN", "20"))]))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
