# SPDX-License-Identifier: BSL-1.0
"""Bytes of code of a linked program by kernel, from its symbols: nm reads programs for every processor."""
import pathlib
import re
import subprocess

# The numbers of a kernel's shape that its name needs: the first ones.
SHAPES = {"linear_shape": 3, "integer_linear_shape": 3, "contract_shape": 3, "attend_shape": 4, "integer_attend_shape": 4,
          "norm_shape": 2}
SYMBOL = re.compile(r"^[0-9a-f]+ ([0-9a-f]+) [tTwW] (.+)$")


class Unreadable(Exception):
    pass


def without_arguments(name):
    """A demangled name without what is in <> and (), but with its words."""
    depth, kept = 0, ""
    for i, letter in enumerate(name):
        if letter in "<({":
            depth += 1
        elif letter in ">)}" and name[i - 1] != "-":
            depth -= 1
        elif depth == 0:
            kept += letter
    return re.sub(r"\[.*|\bconst$", "", kept).strip()


def kernel(symbol):
    """The kernel of a symbol, and its shape in numbers."""
    if symbol.startswith("_Z"):  # too long for nm
        words = []
        rest = symbol
        while found := re.search(r"(\d+)([a-z_]\w*)", rest):
            length = int(found[1])
            words.append(found[2][:length])
            rest = rest[found.start(2) + length:]
        inner = words[words.index("detail") + 1:] if "detail" in words else words
        return inner[0] if inner else symbol, ""
    whole = without_arguments(symbol).split()[-1:]
    parts = [part for part in (whole[0] if whole else symbol).split("::") if part]
    name = parts[-1] if len(parts) < 2 or parts[-2] not in ("attend_block", "attend_few", "scores_block") else parts[-2]
    shape = re.search(r"(\w+_shape)\{([^}]*)\}", symbol)
    if shape is None or shape[1] not in SHAPES:
        return name, ""
    numbers = re.findall(r"\d+", shape[2].replace("u", ""))[:SHAPES[shape[1]]]
    return name, " x ".join(numbers)


def by_kernel(program, nm="nm"):
    """[(bytes, functions, kernel, shape)], the largest first."""
    listing = subprocess.run([nm, "--print-size", "--demangle", program], capture_output=True, text=True)
    if listing.returncode != 0:
        raise Unreadable(listing.stderr.strip() or f"{nm} can't read {program}")
    sums = {}
    for line in listing.stdout.splitlines():
        if found := SYMBOL.match(line):
            size, count = sums.get(kernel(found[2]), (0, 0))
            sums[kernel(found[2])] = size + int(found[1], 16), count + 1
    return sorted(((size, count, *of) for of, (size, count) in sums.items()), key=lambda row: (-row[0], row[2:]))


def table(program, nm="nm"):
    rows = by_kernel(program, nm)
    lines = [f"| {pathlib.Path(program).name}: kernel | shape | functions | bytes |", "|---|---|--:|--:|"]
    lines += [f"| {name} | {shape} | {count} | {size:,} |" for size, count, name, shape in rows]
    return [*lines, f"| all | | {sum(row[1] for row in rows)} | {sum(row[0] for row in rows):,} |"]
