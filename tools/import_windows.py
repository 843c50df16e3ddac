# SPDX-License-Identifier: BSL-1.0
"""Reads what has windows for tools/import: convolutions, transposed ones, pooling; and resizing. import_onnx.py reads the rest."""
import math

import numpy as np

import import_graph as graph
import import_layers as layers
import import_operators as operators
from import_graph import Node, constant, move, part, without_ones


class WindowReader:
    """The base of import_onnx.Reader: the node at hand is self.node, with the attributes self.about."""

    def windows(self, x, kernel, fill, last):
        """x (batch, channel, positions...), padded, without axes that have one position before and after, and without a batch and
        channels of 1; last: the channels last. And the windows, (axis, size, stride, dilation, count) of each. Of an axis of one
        position one place of the kernel reads it: the third result has those places, for numpy."""
        about, full = self.about, x.shape
        if about.get("ceil_mode"):
            self.refuse("its windows reach over the end (ceil_mode); pad the input before")
        strides, dilations, pads = operators.window_of(about, full[2:], kernel)
        out = self.values[self.output].shape[2:]
        single = [n == count == 1 and pad[0] % dilation == 0 for n, count, pad, dilation in zip(full[2:], out, pads, dilations)]
        places = [pad[0] // dilation if one else slice(None) for one, pad, dilation in zip(single, pads, dilations)]
        positions = [2 + i for i, one in enumerate(single) if not one]
        axes = [i for i in (0, 1) if full[i] != 1] + positions
        index = graph.identity(full).reshape([full[i] for i in axes])
        wanted = [i for i in axes if i != 1] + [1] * (1 in axes) if last else axes
        made = move(x, index.transpose([axes.index(i) for i in wanted]))
        windows = []
        for i in positions:
            at, k = wanted.index(i), i - 2
            made = graph.padded(made, at, *pads[k], fill, self.scope)
            windows.append((at, kernel[k], strides[k], dilations[k], out[k]))
        return made, windows, tuple(places)

    def pooled(self, kind, fill):
        x, windows, _ = self.windows(graph.reshaped(self.arg(0), self.full(0)), self.about["kernel_shape"], fill, last=False)
        if not windows:
            return x
        counts = {at: count for at, _, _, _, count in windows}
        shape = without_ones([counts.get(i, n) for i, n in enumerate(x.shape)])
        return Node("pooled", [x], shape, self.scope, kind=kind, windows=windows)

    def read_MaxPool(self):
        if len(self.node.output) > 1 and self.node.output[1]:
            self.refuse("the places of its maxima are an output; export it without them")
        return graph.reshaped(self.pooled("max", -np.inf), self.shape)

    def read_AveragePool(self):
        total = self.pooled("sum", 0.0)
        sizes = operators.windows(np.ones(self.full(0)), self.about, self.about["kernel_shape"], 0)
        axes = tuple(range(-len(self.about["kernel_shape"]), 0))
        padded = self.about.get("count_include_pad", 0)
        divisor = np.full(sizes.shape[:axes[0]], math.prod(self.about["kernel_shape"])) if padded else sizes.sum(axes)
        divisor = divisor.reshape(without_ones(divisor.shape))
        if (divisor == divisor.flat[0]).all():
            return graph.reshaped(graph.times(total, 1 / float(divisor.flat[0])), self.shape)
        return graph.reshaped(graph.both("mul", total, constant((1 / divisor).astype(np.float32)), self.scope), self.shape)

    def read_Conv(self):
        full, weight, bias = self.full(0), self.fixed(1, "its kernel"), self.fixed(2, "its bias")
        groups, outputs, inputs = self.about.get("group", 1), weight.shape[0], weight.shape[1]
        x = graph.reshaped(self.arg(0), full)
        if groups == full[1] == outputs and groups > 1:
            made = self.convolution(x, weight[:, 0], bias, "depthwise")
        else:
            parts = []
            for group in range(groups):
                channels = part(x, (slice(None), slice(group * inputs, (group + 1) * inputs))) if groups > 1 else x
                of_group = slice(group * outputs // groups, (group + 1) * outputs // groups)
                parts.append(self.product_of_windows(channels, weight[of_group], None if bias is None else bias[of_group]))
            made = joined_columns(parts, self.scope)
        return self.channels_first(made, outputs)

    def channels_first(self, made, outputs):
        batch, positions = self.full(0)[0], math.prod(self.values[self.output].shape[2:])
        if batch == 1:
            return graph.reshaped(graph.turn(graph.reshaped(made, (positions, outputs))), self.shape)
        index = graph.identity((batch, positions, outputs)).transpose(0, 2, 1)
        return move(graph.reshaped(made, (batch, positions, outputs)), index.reshape(self.shape))

    def convolution(self, x, weight, bias, op="convolution"):
        """weight (outputs, channels, kernel...), of a depthwise one (channels, kernel...)."""
        x, windows, places = self.windows(x, weight.shape[2 - (op == "depthwise"):], 0.0, last=True)
        weight = weight[(..., *places)]
        counts = {at: count for at, _, _, _, count in windows}
        rows = len(windows) + (self.full(0)[0] != 1)
        shape = without_ones([*(counts.get(i, n) for i, n in enumerate(x.shape[:rows])), weight.shape[0]])
        return Node(op, [x], shape, self.scope, weight=weight, bias=bias, windows=windows, rows=rows)

    def product_of_windows(self, x, weight, bias):
        """(rows, outputs): a linear map of the windows if they neither overlap nor are padded; each is a row."""
        kernel, outputs = weight.shape[2:], weight.shape[0]
        strides, dilations, pads = operators.window_of(self.about, x.shape[2:], kernel)
        overlap = any(stride < (size - 1) * dilation + 1 for stride, size, dilation in zip(strides, kernel, dilations))
        rows = x.shape[0] * math.prod(self.values[self.output].shape[2:])
        if overlap or any(map(any, pads)) or min(outputs, math.prod(weight.shape[1:])) == 1:
            return graph.reshaped(self.convolution(x, weight, bias), (rows, outputs))
        seen = np.lib.stride_tricks.sliding_window_view(graph.identity(x.shape), [(n - 1) * d + 1 for n, d in zip(kernel, dilations)],
                                                        tuple(range(2, 2 + len(kernel))))
        seen = seen[(slice(None), slice(None), *(slice(None, None, s) for s in strides), *(slice(None, None, d) for d in dilations))]
        inputs = move(x, np.moveaxis(seen, 1, 1 + len(kernel)).reshape(rows, -1))
        return layers.linear(inputs, np.ascontiguousarray(weight.reshape(outputs, -1).T), bias, self.scope)


    def read_ConvTranspose(self):
        """A convolution by the kernel from its end, of x with zeros between its elements."""
        full, weight, bias = self.full(0), self.fixed(1, "its kernel"), self.fixed(2, "its bias")
        kernel, groups, inputs = weight.shape[2:], self.about.get("group", 1), weight.shape[0]
        strides, dilations, pads, more = operators.of_transposed(self.about, kernel)
        x, shape = graph.reshaped(self.arg(0), full), list(full)
        for i, stride in enumerate(strides):
            if stride > 1:
                x = graph.padded(graph.reshaped(x, [*shape[:3 + i], 1, *shape[3 + i:]]), 3 + i, 0, stride - 1, 0.0, self.scope)
                shape[2 + i] *= stride
                x = graph.reshaped(x, shape)
        ends = []
        for i, (size, stride, dilation, (before, after)) in enumerate(zip(kernel, strides, dilations, pads)):
            reach = (size - 1) * dilation
            first, last = reach - before, reach - after + more[i] - (stride - 1)
            cut = slice(max(-first, 0), shape[2 + i] - max(-last, 0))
            x = part(x, (*[slice(None)] * (2 + i), cut))
            ends.append((max(first, 0), max(last, 0)))
        self.about = {"dilations": dilations, "pads": [a for a, _ in ends] + [b for _, b in ends]}
        flipped = weight[(slice(None), slice(None), *[slice(None, None, -1)] * len(kernel))]
        parts = []
        for group in range(groups):
            of_group = slice(group * inputs // groups, (group + 1) * inputs // groups)
            outputs = slice(group * weight.shape[1], (group + 1) * weight.shape[1])
            parts.append(self.product_of_windows(part(x, (slice(None), of_group)), np.ascontiguousarray(flipped[of_group].swapaxes(0, 1)),
                                                 None if bias is None else bias[outputs]))
        return self.channels_first(joined_columns(parts, self.scope), weight.shape[1] * groups)

    def read_Resize(self):
        x, full = self.arg(0), list(self.full(0))
        given = [self.fixed(i, "a size") if self.has(i) else None for i in range(1, len(self.inputs))]
        for axis, matrix in operators.resize_matrices(self.about, full, *given):
            x = graph.reshaped(x, full)
            after = matrix.shape[1]
            if after % full[axis] == 0 and np.array_equal(matrix, np.repeat(np.eye(full[axis]), after // full[axis], 1)):
                wide = [*full[:axis + 1], after // full[axis], *full[axis + 1:]]
                x = move(x, np.broadcast_to(np.expand_dims(graph.identity(full), axis + 1), wide), self.scope)
                full[axis] = after
                x = graph.reshaped(x, full)
            else:
                order = [*(i for i in range(len(full)) if i != axis), axis]
                rows = [full[i] for i in order]
                x = graph.reshaped(move(x, graph.identity(full).transpose(order)), without_ones(rows))
                y = graph.matmul(x, constant(matrix.astype(np.float32)),
                                 rows, matrix.shape, self.scope)
                full[axis] = after
                rows[-1] = after
                x = move(graph.reshaped(y, rows), graph.identity(rows).transpose([order.index(i) for i in range(len(full))]))
        return graph.reshaped(x, self.shape)

    read_Upsample = read_Resize


def joined_columns(parts, scope):
    if len(parts) == 1:
        return parts[0]
    return graph.joined(parts, (parts[0].shape[0], sum(x.shape[1] for x in parts)), 1, scope)
