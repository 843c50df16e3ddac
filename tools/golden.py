# SPDX-License-Identifier: BSL-1.0
"""Writes the golden vectors: what PyTorch answers for small cases, as C++ headers.

    /usr/bin/python3 tools/golden.py            rewrites test/golden/data
    /usr/bin/python3 tools/golden.py --check    compares only; exits 1 when a file differs
    ... --check --tolerance 1e-6                the same, but for rounding

It needs torch and numpy (on Debian and Ubuntu: apt-get install python3-torch python3-numpy).

Only answers are stored. Inputs and weights are drawn, here and in the C++ tests alike, from one
linear congruential generator whose state starts at the case's seed:

    each draw:   s = s * 1664525 + 1013904223 (mod 2^32);   value = ((s >> 8) * 2^-23 - 1) * scale

The scale is a power of two, so every value is exact in float32. Arrays are drawn whole, one after
another, row-major, in the order that each header's comment gives. A weight is (in, out), the
transpose of torch's. The order is always the same; what a case has not, it does not draw:

    attention      query input (batch, queries, hidden); key/value input (batch, keys, hidden), not
                   in self attention; weights q, k, v, o (hidden, hidden); biases q, k, v, o
    encoder layer  input (batch, tokens, hidden); weights q, k, v, o; biases q, k, v, o;
                   norm1 gamma, beta; up weight (hidden, feed_forward), up bias;
                   down weight (feed_forward, hidden), down bias; norm2 gamma, beta
    decoder layer  input (batch, tokens, hidden); memory (batch, keys, hidden); self attention: weights,
                   biases; norm1 gamma, beta; attention to the memory: weights, biases; norm2 gamma,
                   beta; up weight, bias; down weight, bias; norm3 gamma, beta
    linear         input, weight, bias
    layer norm     input, gamma, beta

Layers in integers are not torch's: golden_integers.py computes them as docs/integers.md defines them.
Gradients (golden_gradients.py) are those of torch's autograd, in double, of arrays of scale 1.
The calls with masks (golden_tables.py, golden_calls.py) have an order of their own, said there.
Two examples have their output checked: data/*.txt is what golden_examples.py makes of theirs.

Scales: inputs and gammas 1; biases and betas 1/8; a weight the power of two nearest (by ratio) to
1.7 / sqrt(in). Every case is also computed in float64 and must agree with float32; attention is
checked as well against the published formula, written out in golden_attention.py.

The committed files were made with the reference BLAS (Debian's libblas3) and come out byte for byte
the same there. Another BLAS rounds differently in the last bits, and so may another processor:
with OpenBLAS every file differs, and `--check --tolerance 1e-6` passes (tried).
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import torch

import command_line
from golden_attention import additive_cases, d2l_cases, torch_attention_cases
from golden_blocks import (decoder_cases, encoder_cases, function_cases, llama_cases,
                           sinusoid_cases)
from golden_examples import texts
from golden_gradients import gradient_cases
from golden_integers import integer_cases
from golden_operations import operation_cases
from golden_residual_blocks import residual_block_cases
from golden_support import header_text
from golden_tables import tables
from golden_variants import variant_cases
from progress import Progress

DATA = Path(__file__).resolve().parent.parent / "test" / "golden" / "data"


# ---- files ------------------------------------------------------------------------------------

NUMBER = re.compile(r"-?(?:\d+\.\d*(?:e[+-]?\d+)?f?|\d+e[+-]?\d+f?|\d+f)")


def same(old: str, new: str, tolerance: float) -> bool:
    """Equal text, or equal but for numbers with a point within `tolerance` (absolute and relative)."""
    if old == new or tolerance == 0:
        return old == new
    skeletons = [" ".join(NUMBER.sub("#", text).split()) for text in (old, new)]
    if skeletons[0] != skeletons[1]:
        return False
    a, b = (np.array([float(n.rstrip("f")) for n in NUMBER.findall(text)]) for text in (old, new))
    return bool(np.all(np.abs(a - b) <= tolerance * (1 + np.abs(b))))


def main() -> int:
    parser = command_line.Parser("tools/golden.py", "Writes or checks the golden vectors.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 on a change")
    parser.add_argument("--tolerance", type=float, default=0.0, help="with --check: allowed error")
    options = parser.parse(interrupted="stopped; the same command begins anew")

    torch.set_num_threads(1)
    different = 0
    made = [d2l_cases, torch_attention_cases, encoder_cases, decoder_cases, llama_cases, function_cases, sinusoid_cases,
            additive_cases, operation_cases, variant_cases, integer_cases, gradient_cases,
            residual_block_cases]
    with torch.no_grad(), Progress("tools/golden.py", len(made) + 2) as progress:
        headers = []
        for cases in made:
            progress.step(cases.__name__)
            headers.append(cases())
        progress.step("tables")
        headers += tables()
        progress.step("texts")
        files = {h.file: header_text(h) for h in headers} | texts()
    for file, text in files.items():
        path = DATA / file
        if options.check:
            old = path.read_text() if path.exists() else ""
            ok = same(old, text, options.tolerance)
            different += not ok
            print(f"{file}: {'same' if ok else 'DIFFERENT'}")
        else:
            DATA.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            print(f"{file}: {len(text)} bytes")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
