# SPDX-License-Identifier: BSL-1.0
"""Writes tensors for Umbel, for tools/export, tools/quantize and those that train: a safetensors file whose tensors are aligned,
or a C++ header of constants. Both have a checksum, 64-bit FNV-1a, which umbel/weights/array_checksum.hpp computes, too."""
from __future__ import annotations

import errno
import json
import os
import re
import secrets
import stat
import struct
from pathlib import Path

import numpy as np

from command_line import Refused
from export_read import widen_bfloat16

COLUMNS = 100
NUMBERS_AT_ONCE = 1 << 16  # compared by one static_assert
ALIGNMENT = 64  # bytes: a cache line, and the widest vector
TYPES = {"float": "F32", "bfloat16": "BF16", "float16": "F16", "int8": "I8"}
KEYWORDS = set("""alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class
    compl concept const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default
    delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable
    namespace new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast
    requires return short signed sizeof static static_assert static_cast struct switch template this thread_local throw
    true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq
    linux unix NULL EOF assert errno stdin stdout stderr""".split())
OURS = {"checksum", "for_each_array", "std"}  # names of the header itself


# ---- numbers ------------------------------------------------------------------------------------


def to_odd(array: np.ndarray) -> np.ndarray:
    """float64 to float so that a second rounding is as if it were the first: inexact ones are cut, their last bit set."""
    with np.errstate(over="ignore"):
        near = array.astype("<f4")
        past = np.abs(near.astype("<f8")) > np.abs(array)
        cut = np.where(past, np.nextafter(near, np.float32(0)), near)
    bits = cut.astype("<f4").view("<u4")
    inexact = (cut.astype("<f8") != array) & ~np.isnan(array)
    return np.where(inexact, bits | 1, bits).astype("<u4").view("<f4")


def bfloat16_bits(array: np.ndarray) -> np.ndarray:
    """To nearest, ties to even; NaN stays NaN."""
    bits = (to_odd(array) if array.dtype.itemsize == 8 else array.astype("<f4")).view("<u4")
    wide = bits.astype("<i8")
    return np.where(np.isnan(array), wide >> 16 | 0x40, (wide + 0x7FFF + (wide >> 16 & 1)) >> 16).astype("<u2")


def stored(array: np.ndarray, kind: str) -> np.ndarray:
    """The elements as their bytes are in a file, bfloat16 as <u2; integers, of a probe or in_8_bits, as they are. Of int8
    what is not in_8_bits is float."""
    if array.dtype.kind == "i":
        return array if array.dtype == np.int8 else array.astype("<i4")
    if kind == "bfloat16":
        return bfloat16_bits(array.ravel()).reshape(array.shape)
    with np.errstate(over="ignore"):
        return array.astype("<f2" if kind == "float16" else "<f4")


def rounded(array: np.ndarray, kind: str) -> np.ndarray:
    """The same numbers as float."""
    made = stored(array, kind)
    if kind == "bfloat16" and array.dtype.kind == "f":
        return widen_bfloat16(made)
    return made if made.dtype.kind == "i" else made.astype("<f4")


SCALE = "_scale"  # what load adds to the name of a matrix


def in_8_bits(tensors: dict[str, np.ndarray], axes: dict[str, int]) -> dict[str, np.ndarray]:
    """The matrices of `axes`, whose outputs lie along that axis, as steps of a scale that each output has."""
    made = {}
    for name, array in tensors.items():
        made[name] = array
        if name not in axes:
            continue
        if name + SCALE in tensors:
            raise Refused(f"{name + SCALE}: the scales of {name} would have this name")
        if not np.isfinite(array).all():
            raise Refused(f"{name}: a number is not finite, and 8 bits cannot say so")
        by_output = np.moveaxis(array.astype("<f8"), axes[name], 0)
        scales = (np.abs(by_output).max(axis=1) / 127).astype("<f4")
        if not np.isfinite(scales).all():
            raise Refused(f"{name}: a number is too large for a scale of 32 bits")
        steps = np.divide(by_output, scales[:, None].astype("<f8"), out=np.zeros(by_output.shape), where=scales[:, None] > 0)
        made[name] = np.ascontiguousarray(np.moveaxis(np.clip(np.rint(steps), -127, 127), 0, axes[name])).astype("i1")
        made[name + SCALE] = scales
    return made


def from_8_bits(tensors: dict[str, np.ndarray], axes: dict[str, int]) -> dict[str, np.ndarray]:
    """The floats that these stand for, by the original names."""
    scales = {name: np.expand_dims(tensors[name + SCALE], 1 - axis) for name, axis in axes.items()}
    return {name: array.astype("<f4") * scales[name] if name in axes else array for name, array in tensors.items()
            if name.removesuffix(SCALE) not in axes or name in axes}


def count_text(count: int, what: str) -> str:
    return f"{count} number is {what}" if count == 1 else f"{count} numbers are {what}"


def notes_of(name: str, array: np.ndarray, kind: str) -> list[str]:
    """What should be said of the numbers of a tensor."""
    if array.dtype.kind != "f":
        return []
    became = rounded(array, kind)
    counts = [(np.isnan(array), "NaN, and kept"), (np.isinf(array), "infinite, and kept"),
              (np.isinf(became) & np.isfinite(array), f"too large for {kind}, and infinite now")]
    return [f"{name}: {count_text(int(where.sum()), what)}" for where, what in counts if where.any()]


NO_BYTES = 14695981039346656037  # the checksum of nothing


def checksum(part: bytes, before: int = NO_BYTES) -> int:
    """Of bytes that follow those whose sum is `before`."""
    value = before
    for byte in part:
        value = ((value ^ byte) * 1099511628211) & 0xFFFFFFFFFFFFFFFF
    return value


# ---- files --------------------------------------------------------------------------------------


def check_plain(path: Path) -> None:
    """What is not a plain file stays what it is: a device, a FIFO, a link and what is behind it."""
    try:
        kind = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(kind):
        raise Refused(f"{path}: it is no plain file, and is not replaced")


def mode_of(path: Path) -> int:
    """That of the file that is replaced, or that of a new one."""
    try:
        return os.lstat(path).st_mode & 0o777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def write_synced(name: Path, content: bytes, mode: int) -> None:
    opened = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(opened, rest):]
        os.fchmod(opened, mode)
        os.fsync(opened)
    finally:
        os.close(opened)


def sync_folder(folder: Path) -> None:
    """So that the new names are on the disk, too."""
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(opened)
    except OSError as problem:
        if problem.errno != errno.EINVAL:  # of file systems that have no such thing
            raise
    finally:
        os.close(opened)


def write_files(contents: dict[Path, bytes]) -> None:
    """Each is whole, or what it was: all are on the disk under other names before the first is renamed, and none of those
    names is left, however it ends."""
    names = {path: path.parent / f".export-{secrets.token_hex(8)}" for path in contents}
    path, written = Path(), ""
    try:
        for path, content in contents.items():
            check_plain(path)
            write_synced(names[path], content, mode_of(path))
        for path in contents:
            check_plain(path)
            os.replace(names[path], path)
            written += f"; {path} is written"
            sync_folder(path.parent)
    except OSError as problem:
        raise Refused(f"{path}: {problem.strerror}{written}") from None
    finally:
        for name in names.values():
            try:
                os.unlink(name)
            except OSError:
                pass  # it was renamed, or not begun; or nothing more can be done, and what went wrong first is said


# ---- safetensors --------------------------------------------------------------------------------


def safetensors_bytes(tensors: dict[str, np.ndarray], probe: dict[str, np.ndarray], kind: str, options: str = "") -> tuple[bytes, int]:
    """The file, and its checksum. options: of its layers, which load compares (umbel/weights/stored_options.hpp). The data begin at a multiple of 64 bytes, and so does every tensor that is as long as
    one: those come first, since the format allows no gaps."""
    def type_of(array: np.ndarray) -> str:
        return TYPES["int8" if array.dtype == np.int8 else "float" if kind == "int8" else kind]
    parts = [(name, type_of(array), stored(array, kind)) for name, array in tensors.items()]
    parts += [(name, "I32" if array.dtype.kind == "i" else "F32", stored(array, "float")) for name, array in probe.items()]
    if any(name == "__metadata__" for name, _, _ in parts):
        raise Refused("a tensor is called __metadata__, which safetensors keeps for texts: rename it")
    parts.sort(key=lambda part: (part[2].nbytes % ALIGNMENT != 0, -part[2].itemsize))
    contents = [part[2].tobytes() for part in parts]
    value = NO_BYTES
    for content in contents:
        value = checksum(content, value)
    texts = {"checksum": f"{value:016x}", "checksum_of": "FNV-1a 64 of all data", "umbel.options": options}
    header: dict[str, object] = {"__metadata__": {key: text for key, text in texts.items() if text}}
    end = 0
    for (name, dtype, array), content in zip(parts, contents):
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [end, end + len(content)]}
        end += len(content)
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-(8 + len(text)) % ALIGNMENT)
    return struct.pack("<Q", len(text)) + text + b"".join(contents), value


# ---- C++ ----------------------------------------------------------------------------------------


def identifier(name: str) -> str:
    made = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_") or "tensor"
    if made[0].isdigit():
        made = "tensor_" + made
    return made + "_" if made in KEYWORDS or made in OURS else made


def identifiers(names) -> tuple[dict[str, str], list[str]]:
    """An identifier for each name, and notes of those that are more than its parts joined. Two that are one: Refused."""
    made: dict[str, str] = {}
    notes, taken = [], {}
    for name in names:
        made[name] = identifier(name)
        if made[name] != name.replace(".", "_"):
            notes.append(f"{name} is called {made[name]} in C++")
        for of_it in (made[name], made[name] + "_shape"):
            if of_it in taken:
                raise Refused(f"{taken[of_it]!r} and {name!r} would both be called {of_it} in C++: rename one of them")
            taken[of_it] = name
    return made, notes


def float_text(value) -> str:
    """Nine significant digits name a float32 exactly; the literal must look like a float."""
    if np.isnan(value):
        return f"__builtin_bit_cast(float, {int(np.float32(value).view('<u4')):#x}u)"
    if np.isinf(value):
        return "-__builtin_inff()" if value < 0 else "__builtin_inff()"
    text = f"{value:.9g}"
    return (text if re.search(r"[.e]", text) else text + ".0") + "f"


def number_text(value) -> str:
    if not isinstance(value, np.integer):
        return float_text(value)
    return str(value) if value != -2**31 else "-2147483647 - 1"  # there is no literal for it


def wrap(words: list[str], indent: str = "    ") -> str:
    lines, line = [], indent
    for word in words:
        if len(line) + 1 + len(word) > COLUMNS:
            lines.append(line)
            line = indent
        line += word if line == indent else " " + word
    return "\n".join(lines + [line])


def array_text(name: str, extents: str, words: list[str], kind: str = "float") -> str:
    listed = [word + "," for word in words[:-1]] + [words[-1]]
    return f"inline constexpr {kind} {name}{extents} = {{\n{wrap(listed)}}};\n"


def constant_text(name: str, array: np.ndarray, kind: str = "float") -> str:
    """An aligned array of constants, row-major."""
    words = [number_text(value) for value in array.ravel()]
    extents = " * ".join(str(n) for n in array.shape) or "1"
    return f"alignas({ALIGNMENT}) " + array_text(name, f"[{extents}]", words, kind)


def assertions_text(arrays: dict[str, np.ndarray]) -> tuple[str, int]:
    """That the numbers which the compiler reads are those that were written, one array behind another; and their checksum.
    Compilers evaluate at most some hundred thousand steps at once, so a large array is compared in parts."""
    sums, before = [], NO_BYTES
    for called, array in arrays.items():
        content = array.tobytes()
        for begin in range(0, array.size, NUMBERS_AT_ONCE):
            end = min(begin + NUMBERS_AT_ONCE, array.size)
            after = checksum(content[begin * array.itemsize:end * array.itemsize], before)
            part = f", {begin}, {end}" if array.size > NUMBERS_AT_ONCE else ""
            sums.append((f"umbel::checksum_of({called}, {before:#018x}{part})", f"{after:#018x}"))
            before = after
    sums[-1] = (sums[-1][0], "checksum")
    return "".join(f"static_assert({of_it} ==\n              {wanted});\n" for of_it, wanted in sums), before


def tensor_text(name: str, called: str, array: np.ndarray, axes: str) -> str:
    shape = ", ".join(str(n) for n in array.shape) or "1"
    kind = "std::int32_t" if array.dtype.kind == "i" else "float"
    return (f"// {safe(name)}: {axes or '(' + ', '.join(map(str, array.shape)) + ')'}\n"
            f"inline constexpr std::size_t {called}_shape[{max(array.ndim, 1)}] = {{{shape}}};\n"
            + constant_text(called, array, kind))


def safe(text: str) -> str:
    """For a comment of one line: without what could end it, or is no letter."""
    return "".join(c if c.isprintable() and c != "\\" else "?" for c in text)


def header_text(source: str, license_name: str, namespace: str, tensors: dict[str, np.ndarray], probe: dict[str, np.ndarray],
                kind: str, axes: dict[str, str], more=None) -> tuple[str, int, list[str]]:
    """The header, its checksum, notes. axes: of the tensors of which they are known; more(identifiers): C++ of Umbel behind
    the arrays."""
    notes = [f"{name} is left out of the header: it has no elements" for name, x in tensors.items() if x.size == 0]
    arrays = {name: rounded(x, kind) for name, x in tensors.items() if x.size}
    arrays |= {name: rounded(x, "float") for name, x in probe.items()}
    if not arrays:
        raise Refused(f"{source}: no tensor has an element, so there is nothing for a header")
    called, mapped = identifiers(arrays)
    assertions, value = assertions_text({called[name]: x for name, x in arrays.items()})
    count = sum(x.size for x in arrays.values())
    rounding = "" if kind == "float" else (
        "// Matrices of layers are rounded to 8 bits, steps of a scale of each output: prepacked<layer, stored_as<std::int8_t>>\n"
        "// stores the same steps.\n") if kind == "int8" else (
        f"// Each is rounded to {kind}: prepacked<layer, stored_as<{kind}>> stores it without a further loss.\n")
    body = "\n".join(tensor_text(name, called[name], x, axes.get(name, "")) for name, x in arrays.items())
    calls = "\n".join(f"  f({called[name]});" for name in arrays)
    behind, umbel = (more(called), "#include <umbel/bare.hpp>\n") if more else ("", "")
    text = (f"// SPDX-License-Identifier: {license_name}\n"
            f"// Written by tools/export from {safe(source)}: do not edit. {len(arrays)} arrays, {count:,} numbers.\n"
            f"{rounding}#pragma once\n\n#include <cstddef>\n#include <cstdint>\n{umbel}"
            "#ifndef UMBEL_UNCHECKED_CONSTANTS\n#include <umbel/weights/array_checksum.hpp>\n#endif\n\n"
            f"namespace {namespace} {{\n\n"
            "// 64-bit FNV-1a of the bytes of all arrays, as they follow each other here.\n"
            f"inline constexpr std::uint64_t checksum = {value:#018x};\n\n{body}\n"
            "// The compiler compares each array, behind the sum of those before it. Where many files include a large header,\n"
            "// one can do it for all, and the others define this.\n"
            f"#ifndef UMBEL_UNCHECKED_CONSTANTS\n{assertions}#endif\n\n"
            "// f(array) for each, in that order: checksum_of(for_each_array) == checksum compares at run time.\n"
            f"inline constexpr auto for_each_array = [](const auto& f) {{\n{calls}\n}};\n\n{behind}"
            f"}}  // namespace {namespace}\n")
    return text, value, notes + mapped
