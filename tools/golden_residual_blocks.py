# SPDX-License-Identifier: BSL-1.0
"""The blocks of examples/blocks for golden.py: what PyTorch (examples/blocks/reference.py) answers.

x (token, hidden) is drawn first, then the parameters in the order of the weights; scales as in golden.py.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

from torch import Tensor

from golden_support import BIAS_SCALE, Case, Header, Lcg, agree, weight_scale

TOKENS, HIDDEN, WIDE, KV = 12, 32, 64, 16
SEED = 39

spec = importlib.util.spec_from_file_location(
    "reference", Path(__file__).resolve().parent.parent / "examples/blocks/reference.py")
reference = importlib.util.module_from_spec(spec)
spec.loader.exec_module(reference)


def norm(name: str, beta: bool) -> list:
    return [(name + ".gamma", (HIDDEN,))] + ([(name + ".beta", (HIDDEN,))] if beta else [])


def maps(bias: bool, *named: tuple[str, int, int]) -> list:
    return [p for name, i, o in named
            for p in [(name + ".weight", (i, o))] + ([(name + ".bias", (o,))] if bias else [])]


def attention(bias: bool, kv: int) -> list:
    return maps(bias, ("attention.q", HIDDEN, HIDDEN), ("attention.k", HIDDEN, kv),
                ("attention.v", HIDDEN, kv), ("attention.o", HIDDEN, HIDDEN))


def network(name: str, bias: bool, gated: bool) -> list:
    gate = [(name + ".gate", HIDDEN, WIDE)] if gated else []
    return maps(bias, *gate, (name + ".up", HIDDEN, WIDE), (name + ".down", WIDE, HIDDEN))


PARAMETERS = {
    "parallel": norm("norm", True) + attention(False, HIDDEN) + network("feed_forward", True, False),
    "sandwich": norm("norm1", False) + attention(False, KV) + norm("norm2", False)
                + norm("norm3", False) + network("feed_forward", False, True) + norm("norm4", False),
    "scaled": norm("norm1", False) + attention(False, KV) + norm("norm2", False)
              + network("feed_forward", False, True),
    "conformer": norm("norm1", True) + network("feed_forward1", True, False) + norm("norm2", True)
                 + attention(True, HIDDEN) + norm("norm3", True) + maps(True, ("linear", HIDDEN, HIDDEN))
                 + norm("norm4", True) + network("feed_forward2", True, False) + norm("final_norm", True),
    "star_relu": norm("norm1", False) + attention(False, HIDDEN) + norm("norm2", False)
                 + maps(False, ("feed_forward.up", HIDDEN, WIDE))
                 + [("feed_forward.scale", ()), ("feed_forward.shift", ())]
                 + maps(False, ("feed_forward.down", WIDE, HIDDEN)),
}


def drawn(lcg: Lcg, path: str, shape: tuple) -> Tensor:
    scale = (weight_scale(shape[0]) if path.endswith(".weight")
             else 1.0 if path.endswith(".gamma") else BIAS_SCALE)
    return lcg.draw(*shape, scale=scale)


def residual_block_cases() -> Header:
    header = Header("residual_blocks.hpp",
                    "The blocks of examples/blocks, causal, by examples/blocks/reference.py")
    for name, parameters in PARAMETERS.items():
        lcg = Lcg(SEED)
        x = lcg.draw(TOKENS, HIDDEN)
        w = {path: drawn(lcg, path, shape) for path, shape in parameters}
        block = getattr(reference, name)
        output = agree(name, block(w, x), block({p: t.double() for p, t in w.items()}, x.double()))
        header.cases.append(Case(name, "input; the parameters in the order of the weights",
                                 {"seed": SEED}, {"output": output}))
    return header
