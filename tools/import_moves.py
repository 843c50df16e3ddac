# SPDX-License-Identifier: BSL-1.0
"""How elements are moved, in operations of Umbel, for tools/import: an index for each element of the result becomes slice,
split_into, select_at, windows, permute, merge, and broadcast for repeated elements."""
import math
import re

import numpy as np


class NoView(Exception):
    """No list of views has these elements."""


def digits(numbers):
    """The numbers along one axis as sizes and strides, slow to fast: 0 1 2 10 11 12 is [(2, 10), (3, 1)]."""
    count = len(numbers)
    if count == 1:
        return []
    step, run = int(numbers[1]) - int(numbers[0]), 1
    while run < count and numbers[run] == run * step:
        run += 1
    if step < 0 or count % run:
        raise NoView
    outer = digits(numbers[::run]) if run < count else []
    for i in range(count // run):
        if not np.array_equal(numbers[i * run:(i + 1) * run], numbers[i * run] + np.arange(run) * step):
            raise NoView
    return outer + [(run, step)]


def numbers_along(index):
    """The first number, and for each axis how it grows along it, if that doesn't depend on the other axes; else nothing."""
    first = int(index.reshape(-1)[0])
    grows = [index[(0,) * d + (slice(None),) + (0,) * (index.ndim - d - 1)].astype(np.int64) - first for d in range(index.ndim)]
    total = np.int64(first)
    for d, numbers in enumerate(grows):
        total = total + numbers.reshape((-1,) + (1,) * (index.ndim - d - 1))
    return (first, grows) if np.array_equal(np.broadcast_to(total, index.shape), index) else None


def are_views(index):
    """May views have these elements, which are in rows of a node?"""
    found = numbers_along(index)
    try:
        return found is not None and [digits(numbers) for numbers in found[1]] is not None
    except NoView:
        return False


def plain(name):
    """The axis of which one is a part, or which it begins with."""
    return re.sub(r"^((part_(\d+_)?of|merged|skipped|repeated|selected)_)+", "", name)


class Views:
    """text: the operations; names: of the axes of the result; strided: is the result row-major no longer?

    axes: names and sizes of what is moved, which may be strided itself; extra(name): a new axis."""

    def __init__(self, axes, index, extra, strided=False):
        self.axes, self.extra, self.text, self.strided = axes, extra, [], strided
        found = numbers_along(index)
        if found is None:
            raise NoView
        self.first, grows = found
        self.strides = [math.prod(n for _, n in axes[i + 1:]) for i in range(len(axes))]
        self.of_axis = [[] for _ in axes]  # pieces of each axis that is moved
        of_result = [self.pieces(numbers) for numbers in grows]
        order = []
        for i in range(len(axes)):
            before, outer = len(self.text), any(piece["size"] > 1 for piece in order)
            order += self.cut(i)
            self.strided |= outer and any(not one.startswith("split_into") for one in self.text[before:])
        wanted = [piece for pieces in of_result for piece in pieces]
        if [id(piece) for piece in wanted] != [id(piece) for piece in order]:
            self.text.append(f"permute<{', '.join(piece['name'] for piece in wanted)}>")
            self.strided = True
        self.names = self.merged(of_result)
        self.repeat(grows, index.shape)

    def pieces(self, numbers):
        """Of the axes that are moved, those that one axis of the result consists of, slow to fast."""
        made = []
        for size, stride in digits(numbers):
            if stride == 0:
                made.append(None)
                continue
            end = len(made)
            while size > 1:
                i = next((i for i, s in enumerate(self.strides) if s <= stride < s * self.axes[i][1]), None)
                if i is None or stride % self.strides[i]:
                    raise NoView
                end_of_axis = self.strides[i] * self.axes[i][1]
                inner = min(size, end_of_axis // stride)
                if size % inner:
                    raise NoView
                piece = {"size": inner, "step": stride // self.strides[i]}
                self.of_axis[i].append(piece)
                made.insert(end, piece)
                size //= inner
                stride = end_of_axis if size > 1 else stride
        if None in made and len(made) > 1:
            raise NoView
        return [piece for piece in made if piece]

    def cut(self, i):
        """Cuts axis i into its pieces; what is left out is selected or sliced away. Returns the pieces, slow to fast."""
        (name, size), offset = self.axes[i], self.first // self.strides[i] % self.axes[i][1]
        pieces = sorted(self.of_axis[i], key=lambda piece: piece["step"])
        if not pieces:
            self.text.append(f"select_at<{name}, {offset}>")
            return []
        if len(pieces) == 2 and pieces[1]["step"] < pieces[0]["step"] * pieces[0]["size"]:
            return self.windows(name, size, offset, *pieces)
        span = pieces[-1]["step"] * pieces[-1]["size"]
        parts, rest, width = [], offset, 1  # (size, piece or none, place), fast to slow
        for piece in pieces:
            if piece["step"] % width:
                raise NoView
            if piece["step"] > width:
                skipped = piece["step"] // width
                parts.append((skipped, None, rest // width % skipped))
                rest -= rest // width % skipped * width
            parts.append((piece["size"], piece, 0))
            width = piece["step"] * piece["size"]
        if size % span == 0 and size > width:
            parts.append((size // width, None, rest // width))
            rest -= rest // width * width
        if rest or size % span:  # not at a multiple: a slice first
            if offset + span > size:
                raise NoView
            self.text.append(f"slice<{name}, from<{offset}>, extent<{span}>>")
            parts, width = [], 1
            for piece in pieces:
                if piece["step"] > width:
                    parts.append((piece["step"] // width, None, 0))
                parts.append((piece["size"], piece, 0))
                width = piece["step"] * piece["size"]
        for piece in pieces:
            piece["name"] = name
        if len(parts) > 1:
            self.split(name, parts, pieces)
        return pieces[::-1]

    def windows(self, name, size, offset, kernel, window):
        """Pieces that overlap."""
        used = (window["size"] - 1) * window["step"] + (kernel["size"] - 1) * kernel["step"] + 1
        if offset or size - used >= window["step"]:
            self.text.append(f"slice<{name}, from<{offset}>, extent<{used}>>")
        window["name"], kernel["name"] = name, self.extra("kernel_size")
        options = [f"{word}<{n}>" for word, n in (("stride", window["step"]), ("dilation", kernel["step"])) if n > 1]
        self.text.append(f"windows<{', '.join([name, '{name}<{size}>'.format(**kernel), *options])}>")
        self.strided = True
        return [window, kernel]

    def split(self, name, parts, pieces):
        if name == "hidden" and len(pieces) == 2:
            pieces[0]["name"], pieces[1]["name"] = self.extra("head_dim"), self.extra("heads")
        else:
            for k, piece in enumerate(pieces[1:]):
                piece["name"] = self.extra(f"part_of_{plain(name)}" if k == 0 else f"part_{k + 1}_of_{plain(name)}")
        selected, text = [], []
        for size, piece, place in reversed(parts):
            if piece is None:
                skipped = self.extra(f"skipped_{plain(name)}")
                selected.append((skipped, place))
                text.append(f"{skipped}<{size}>")
            else:
                text.append(f"{piece['name']}<{size}>")
        self.text.append(f"split_into<{name}, {', '.join(text)}>")
        self.text += [f"select_at<{skipped}, {place}>" for skipped, place in selected]

    def merged(self, of_result):
        """Names of the axes of the result; those of several pieces are merged."""
        merges = any(len(pieces) > 1 for pieces in of_result)
        if merges and self.strided:
            self.text.append("contiguous")
        if merges:
            self.strided = False
        taken, names = {piece["name"] for pieces in of_result for piece in pieces}, []
        for d, pieces in enumerate(of_result):
            if len(pieces) < 2:
                names.append(pieces[0]["name"] if pieces else None)
                continue
            name = "hidden" if d == len(of_result) - 1 and len(of_result) > 1 else "token"
            if name in taken and not (name == pieces[0]["name"] and len(of_result) == 1):
                name = self.extra(f"merged_{plain(pieces[0]['name'])}")
            taken.add(name)
            names.append(name)
            self.text.append(f"merge<{', '.join(piece['name'] for piece in pieces)}, {name}>")
        return names

    def repeat(self, grows, shape):
        """Axes along which nothing grows."""
        if None not in self.names:
            return
        self.names = [name or self.extra("repeated") for name in self.names]
        self.text.append(f"broadcast<{', '.join(f'{name}<{n}>' for name, n in zip(self.names, shape))}>")
        self.strided = True


def runs(numbers):
    """Numbers that follow each other: [(first, how many, backwards)], the first the smallest."""
    found, at = [], 0
    while at < len(numbers):
        end = at + 1
        step = int(numbers[end]) - int(numbers[at]) if end < len(numbers) else 0
        while step in (1, -1) and end < len(numbers) and int(numbers[end]) - int(numbers[end - 1]) == step:
            end += 1
        found.append((min(int(numbers[at]), int(numbers[end - 1])), end - at, step == -1 and end - at > 1))
        at = end
    return found
