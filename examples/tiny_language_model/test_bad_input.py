#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The program that writes text refuses unusable input: it says on stderr what is wrong, writes nothing, exit code 1.

    test_bad_input.py WEIGHTS PROGRAM [ARGUMENT...]     PROGRAM may be an emulator, the program its argument

Each damaged file differs in one thing from WEIGHTS, which are accepted: that is the control.
"""
import json
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "test"))
import tap  # noqa: E402


def renamed(content, before, after):
    """The same file with another name of the same length in its header."""
    assert len(before) == len(after) and before in content
    return content.replace(before, after, 1)


def with_header(content, change):
    size, = struct.unpack_from("<Q", content)
    header = json.loads(content[8:8 + size])
    change(header)
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + content[8 + size:]


def transposed(header):
    header["model.layers.0.mlp.up_proj.weight"]["shape"].reverse()


def without_checksum(header):
    del header["__metadata__"]


def with_other_probe(content):
    """Weights that are not those of the probe, with the checksum that is right for them."""
    size, = struct.unpack_from("<Q", content)
    header, data = json.loads(content[8:8 + size]), bytearray(content[8 + size:])
    begin, end = header["model.norm.weight"]["data_offsets"]
    data[begin:end] = bytes(end - begin)
    value = 14695981039346656037
    for byte in data:
        value = ((value ^ byte) * 1099511628211) & 0xFFFFFFFFFFFFFFFF
    header["__metadata__"]["checksum"] = f"{value:016x}"
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + bytes(data)


# The name of a case, what it makes of the file, a word of the message.
DAMAGED = [
    ("empty file", lambda good: b"", "safetensors"),
    ("a text", lambda good: b"In the beginning God created", "does not begin like"),
    ("header cut off", lambda good: good[:1000], "992 follow"),
    ("data cut off", lambda good: good[:-1], "the file has only"),
    ("trailing bytes", lambda good: good + bytes(64), "belong"),
    ("a byte of the data", lambda good: good[:100_000] + bytes([good[100_000] ^ 1]) + good[100_001:], "do not match"),
    ("no checksum", lambda good: with_header(good, without_checksum), "checksum"),
    ("another name", lambda good: renamed(good, b"model.norm.weight", b"model.born.weight"), "model.norm.weight"),
    ("transposed", lambda good: with_header(good, transposed), "transposed"),
    ("other weights", with_other_probe, "probe"),
]

WRONG_ARGUMENTS = [
    ("unknown option", ["--token", "5"], "'--token'"),
    ("two prompts", ["In the", "beginning"], "quotes"),
    ("empty prompt", [""], "empty"),
    ("a digit", ["Psalm 23"], "byte 7 of the prompt, 0x32"),
    ("UTF-8", ["caf\u00e9"], "byte 4 of the prompt, 0xc3"),
    ("not UTF-8", [b"\xff"], "0xff"),
    ("long prompt", ["a" * 256], "256 characters"),
    ("option without a value", ["--seed"], "--seed"),
    ("option with an empty value", ["--tokens="], "--tokens"),
    ("no tokens", ["--tokens", "0"], "from 1"),
    ("many tokens", ["--tokens", "1000001"], "to 1000000"),
    ("more than any number", ["--tokens", "9" * 30], "to 1000000"),
    ("half a token", ["--tokens", "1.5"], "'1.5'"),
    ("fewer than none", ["--top-k", "-1"], "from 0"),
    ("more than there are", ["--top-k", "65"], "to 64"),
    ("NaN", ["--temperature", "nan"], "'nan'"),
    ("infinite", ["--temperature", "inf"], "'inf'"),
    ("cold", ["--temperature=-1"], "'-1'"),
    ("too large for a float", ["--temperature", "1e99"], "'1e99'"),
    ("more than certain", ["--top-p", "1.1"], "--top-p"),
    ("NaN of --top-p", ["--top-p", "nan"], "--top-p"),
    ("no penalty", ["--penalty", "0"], "--penalty"),
    ("a word as the seed", ["--seed", "x"], "'x'"),
    ("a seed of 65 bits", ["--seed", str(2**64)], "2^64 - 1"),
    ("no such file", ["--weights", "nowhere"], "nowhere"),
    ("a folder", ["--weights", "."], "regular"),
    ("an empty name", ["--weights="], "exist"),
]

ACCEPTED = [
    ("defaults", []),
    ("the most likely", ["--temperature", "0"]),
    ("all options", ["And God said", "--tokens", "300", "--temperature=1.5", "--top-k", "64", "--top-p", "0.5",
                     "--penalty", "1.2", "--seed", str(2**64 - 1)]),
    ("nothing but the best", ["--top-p", "0", "--top-k", "1"]),
    ("one character", ["A", "--tokens", "1"]),
    ("a full context", ["a" * 255, "--tokens", "3"]),
]


def run(program, arguments):
    return subprocess.run([*program, *arguments], capture_output=True, timeout=600, check=False)


def refused(done, word):
    """What is wrong with a refusal, or nothing."""
    said = done.stderr.decode(errors="replace")
    if done.returncode != 1:
        return f"exit code {done.returncode}, expected 1: {said!r}"
    if not said.startswith("tiny_language_model: ") or not said.endswith("\n"):
        return f"not a message: {said!r}"
    if word not in said:
        return f"no {word!r} in {said!r}"
    return f"printed {done.stdout[:80]!r}" if done.stdout else ""


def check_damaged(program, good, damage, word):
    with tempfile.TemporaryDirectory() as root:
        file = Path(root, "damaged.safetensors")
        file.write_bytes(damage(good))
        return refused(run(program, ["--weights", file]), word)


def check_accepted(program, weights, arguments):
    done = run(program, ["--weights", weights, *arguments])
    if done.returncode != 0:
        return f"exit code {done.returncode}: {done.stderr!r}"
    return "" if b"\n0 allocations while writing" in done.stdout else f"printed {done.stdout[-200:]!r}"


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    weights, *program = sys.argv[1:]
    good = Path(weights).read_bytes()
    results = [(name, check_accepted(program, weights, arguments)) for name, arguments in ACCEPTED]
    results += [(name, check_damaged(program, good, *case)) for name, *case in DAMAGED]
    results += [(name, refused(run(program, ["--weights", weights, *arguments]), word))
                for name, arguments, word in WRONG_ARGUMENTS]
    return tap.report(results)


if __name__ == "__main__":
    sys.exit(main())
