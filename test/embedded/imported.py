#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""A keyword spotter as an ONNX file, by tools/import as a function of C, and its probe as a header, for imported.cpp:

    imported.py FOLDER [--check]      writes keywords.hpp, keywords.h, keywords_c.cpp and keywords_probe.hpp; --check: can it?
"""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHANNELS, POSITIONS, WIDTH, CLASSES = 10, 24, 16, 4


def model():
    """Two convolutions, self-attention over what they leave, a mean, a linear map."""
    import numpy as np
    from onnx import TensorProto, helper
    random, weights, nodes = np.random.default_rng(42), [], []

    def weight(name, *shape):
        values = random.standard_normal(shape).astype(np.float32) * np.float32(np.prod(shape[1:]) ** -0.5 if len(shape) > 1 else 0.1)
        weights.append(helper.make_tensor(name, TensorProto.FLOAT, shape, values.reshape(-1).tolist()))
        return name

    def add(op, output, *inputs, **about):
        nodes.append(helper.make_node(op, inputs, [output], f"/{output}/{op}", **about))
        return output
    x = add("Relu", "first", add("Conv", "conv1", "sound", weight("w1", WIDTH, CHANNELS, 3), weight("b1", WIDTH), pads=[1, 1]))
    x = add("Relu", "second", add("Conv", "conv2", x, weight("w2", WIDTH, WIDTH, 3), weight("b2", WIDTH), pads=[1, 1], strides=[2]))
    x = add("Transpose", "rows", x, perm=[0, 2, 1])
    query, key, value = (add("MatMul", name, x, weight(f"w_{name}", WIDTH, WIDTH)) for name in ("query", "key", "value"))
    scores = add("MatMul", "scores", query, add("Transpose", "turned", key, perm=[0, 2, 1]))
    weights.append(helper.make_tensor("scale", TensorProto.FLOAT, [], [WIDTH ** -0.5]))
    x = add("Add", "sum", x, add("MatMul", "context", add("Softmax", "attends", add("Mul", "scaled", scores, "scale"), axis=-1), value))
    x = add("ReduceMean", "mean", x, axes=[1], keepdims=0)
    add("Gemm", "logits", x, weight("w3", WIDTH, CLASSES), weight("b3", CLASSES))
    given = helper.make_tensor_value_info("sound", TensorProto.FLOAT, [1, CHANNELS, POSITIONS])
    result = helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, CLASSES])
    return helper.make_model(helper.make_graph(nodes, "keywords", [given], [result], weights), opset_imports=[helper.make_opsetid("", 13)])


def main():
    folder = pathlib.Path(sys.argv[1])
    try:
        import onnx
    except ModuleNotFoundError:
        return 1
    if "--check" in sys.argv:
        return 0
    onnx.save(model(), str(folder / "keywords.onnx"))
    subprocess.run([sys.executable, ROOT / "tools" / "import", folder / "keywords.onnx", "--c", "--out", folder, "--license", "BSL-1.0"],
                   check=True, stdout=subprocess.DEVNULL)
    sys.path.insert(0, str(ROOT / "tools"))
    import export_read
    probe = export_read.read_model(folder / "keywords.safetensors", False).probe
    arrays = "\n".join(f"constexpr float {name}[] = {{{', '.join(f'{v}F' for v in probe[path].reshape(-1))}}};"
                       for name, path in (("probe_input", "probe.input.0"), ("probe_output", "probe.output.0")))
    (folder / "keywords_probe.hpp").write_text(f"// Written by test/embedded/imported.py.\n#pragma once\n\n{arrays}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
