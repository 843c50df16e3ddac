#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Writes files of weights as frameworks name and order them, and what the models answer.

    /usr/bin/python3 tools/golden_weights.py            test/golden/data/weights
    /usr/bin/python3 tools/golden_weights.py --check    compares only; exits 1 when a file differs

It needs torch and numpy (on Debian and Ubuntu: apt-get install python3-torch python3-numpy); the committed files are of
torch 1.13 and numpy 1.24. torch's modules and those of d2l compute their own answers, from their state_dict. Keras, Flax
and Haiku are laid out by hand, as their documentation says, and so are the models of golden_models.py. Answers are
computed in float64 and stored in float32, in answers.safetensors: NAME.x ..., the inputs, and NAME.y.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from golden_files import npz, safetensors
from golden_models import MODELS, attend, draw
from golden_support import Lcg

DATA = Path(__file__).resolve().parent.parent / "test" / "golden" / "data" / "weights"


def tensor_file(tensors: dict[str, Tensor], half: bool = False) -> bytes:
    types = {torch.float32: "F32", torch.int32: "I32", torch.int64: "I64"}
    content = {}
    for name, x in tensors.items():
        if half and x.dtype == torch.float32:
            assert torch.equal(x.half().float(), x), name
            content[name] = ("F16", list(x.shape), x.half().numpy().tobytes())
        else:
            content[name] = (types[x.dtype], list(x.shape), x.contiguous().numpy().tobytes())
    return safetensors(content, {"format": "pt"})


# ---- torch and d2l: their own modules ---------------------------------------------------------


class DotProduct(nn.Module):
    """d2l.MultiHeadAttention (chapter 11.5 of Dive into Deep Learning), without dropout."""

    def __init__(self, hidden: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(hidden, hidden, bias=True) for _ in range(4))

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return self.W_o(attend(self.W_q(x), self.W_k(y), self.W_v(y), self.heads))


class Additive(nn.Module):
    """d2l.AdditiveAttention (chapter 11.3), without dropout."""

    def __init__(self, query: int, key: int, hidden: int) -> None:
        super().__init__()
        self.W_k = nn.Linear(key, hidden, bias=False)
        self.W_q = nn.Linear(query, hidden, bias=False)
        self.w_v = nn.Linear(hidden, 1, bias=False)

    def forward(self, x: Tensor, y: Tensor, z: Tensor) -> Tensor:
        features = torch.tanh(self.W_q(x).unsqueeze(2) + self.W_k(y).unsqueeze(1))
        return torch.softmax(self.w_v(features).squeeze(-1), dim=-1) @ z


class Attention(nn.MultiheadAttention):
    def forward(self, *inputs: Tensor) -> Tensor:
        x, y, z = inputs * 3 if len(inputs) == 1 else inputs
        return super().forward(x, y, z, need_weights=False)[0]


class Encoder(nn.Module):
    """Two layers with torch's defaults, its final norm and a linear map."""

    def __init__(self, hidden: int, heads: int, feed_forward: int) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(hidden, heads, feed_forward, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, nn.LayerNorm(hidden), enable_nested_tensor=False)
        self.head = nn.Linear(hidden, hidden)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.encoder(x))


class Decoder(nn.TransformerDecoder):
    """Two layers, norm first, exact GELU, causal."""

    def __init__(self, hidden: int, heads: int, feed_forward: int) -> None:
        super().__init__(nn.TransformerDecoderLayer(hidden, heads, feed_forward, batch_first=True, norm_first=True,
                                                    activation="gelu"), 2)

    def forward(self, x: Tensor, memory: Tensor) -> Tensor:
        return super().forward(x, memory, tgt_mask=torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1))


class TimmBlock(nn.Module):
    """Block of timm's vision_transformer.py, two of them, with norms of queries and keys."""

    class Attention(nn.Module):
        def __init__(self, hidden: int, heads: int) -> None:
            super().__init__()
            self.heads, width = heads, hidden // heads
            self.qkv, self.proj = nn.Linear(hidden, 3 * hidden), nn.Linear(hidden, hidden)
            self.q_norm, self.k_norm = nn.LayerNorm(width, eps=1e-6), nn.LayerNorm(width, eps=1e-6)

        def forward(self, x: Tensor) -> Tensor:
            q, k, v = self.qkv(x).chunk(3, -1)
            q, k = (norm(y.unflatten(2, (self.heads, -1))).flatten(2) for norm, y in ((self.q_norm, q), (self.k_norm, k)))
            return self.proj(attend(q, k, v, self.heads))

    class Mlp(nn.Module):
        def __init__(self, hidden: int, feed_forward: int) -> None:
            super().__init__()
            self.fc1, self.fc2 = nn.Linear(hidden, feed_forward), nn.Linear(feed_forward, hidden)

        def forward(self, x: Tensor) -> Tensor:
            return self.fc2(nn.functional.gelu(self.fc1(x)))

    def __init__(self, hidden: int, heads: int, feed_forward: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(hidden, eps=1e-6), nn.LayerNorm(hidden, eps=1e-6)
        self.attn, self.mlp = self.Attention(hidden, heads), self.Mlp(hidden, feed_forward)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class InOut(nn.Module):
    """paddle.nn.Linear, whose matrix is (in, out)."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.zeros(inputs, outputs)), nn.Parameter(torch.zeros(outputs))

    def forward(self, x: Tensor) -> Tensor:
        return x @ self.weight + self.bias


class PaddleAttention(nn.Module):
    """paddle.nn.MultiHeadAttention, by its documentation."""

    def __init__(self, hidden: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (InOut(hidden, hidden) for _ in range(4))

    def forward(self, x: Tensor) -> Tensor:
        return self.out_proj(attend(self.q_proj(x), self.k_proj(x), self.v_proj(x), self.heads))


class PaddleEncoderLayer(nn.Module):
    """paddle.nn.TransformerEncoderLayer, by its documentation."""

    def __init__(self, hidden: int, heads: int, feed_forward: int) -> None:
        super().__init__()
        self.self_attn, self.norm1, self.norm2 = PaddleAttention(hidden, heads), nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.linear1, self.linear2 = InOut(hidden, feed_forward), InOut(feed_forward, hidden)

    def forward(self, x: Tensor) -> Tensor:
        x = self.norm1(x + self.self_attn(x))
        return self.norm2(x + self.linear2(self.linear1(x).relu()))


# Name, module, shapes of the inputs. Square wherever the module can be.
MODULES = [
    ("torch_attention", Attention(8, 2, batch_first=True), [(1, 8, 8)]),
    ("torch_attention_widths", Attention(8, 2, kdim=6, vdim=4, batch_first=True), [(1, 5, 8), (1, 7, 6), (1, 7, 4)]),
    ("torch_attention_bias_kv", Attention(8, 2, add_bias_kv=True, batch_first=True), [(1, 8, 8)]),
    ("torch_encoder", Encoder(8, 2, 8), [(1, 8, 8)]),
    ("torch_encoder_wide", Encoder(8, 2, 12), [(1, 5, 8)]),
    ("torch_decoder", Decoder(8, 2, 8), [(1, 8, 8), (1, 8, 8)]),
    ("torch_decoder_wide", Decoder(8, 2, 12), [(1, 5, 8), (1, 7, 8)]),
    ("d2l_attention", DotProduct(8, 2), [(1, 8, 8), (1, 8, 8)]),
    ("d2l_additive_attention", Additive(8, 8, 8), [(1, 8, 8), (1, 8, 8), (1, 8, 8)]),
    ("timm_block", TimmBlock(8, 2, 8), [(1, 5, 8)]),
    ("paddle_attention", PaddleAttention(8, 2), [(1, 8, 8)]),
    ("paddle_encoder", PaddleEncoderLayer(8, 2, 8), [(1, 8, 8)]),
]
# The same with bias=False, which torch has from 2.1 on: the file has no tensor whose name ends in bias, norms included,
# and the module here has zeros there.
WITHOUT_BIAS = [
    ("torch_encoder_without_bias", Encoder(8, 2, 8), [(1, 8, 8)]),
    ("torch_encoder_wide_without_bias", Encoder(8, 2, 12), [(1, 5, 8)]),
    ("torch_decoder_without_bias", Decoder(8, 2, 8), [(1, 8, 8), (1, 8, 8)]),
    ("torch_decoder_wide_without_bias", Decoder(8, 2, 12), [(1, 5, 8), (1, 7, 8)]),
]


# ---- Keras, Flax and Haiku: by their documentation ----------------------------------------------


def jax_attention(p: dict[str, Tensor], out: str, x: Tensor) -> Tensor:
    """keras.layers.MultiHeadAttention, flax.linen.MultiHeadDotProductAttention: projections (in, heads, head_dim) by
    einsum "bte,ehd->bthd", the last one (heads, head_dim, out) by "bthd,hdo->bto". (TensorFlow.js's MultiHeadAttention, a
    translation of Keras's, gives the same answers with these weights, to 1.2e-7.)"""
    def project(name: str) -> Tensor:
        return (torch.einsum("bte,ehd->bthd", x, p[f"{name}/kernel"]) + p[f"{name}/bias"]).flatten(2)

    heads = p["query/bias"].shape[0]
    context = attend(project("query"), project("key"), project("value"), heads).unflatten(2, (heads, -1))
    return torch.einsum("bthd,hdo->bto", context, p[f"{out}/kernel"]) + p[f"{out}/bias"]


def jax_shapes(out: str, hidden: int, heads: int) -> dict[str, tuple[int, ...]]:
    d = hidden // heads
    shapes = {}
    for name in ("query", "key", "value"):
        shapes |= {f"{name}/kernel": (hidden, heads, d), f"{name}/bias": (heads, d)}
    return shapes | {f"{out}/kernel": (heads, d, hidden), f"{out}/bias": (hidden,)}


def haiku_attention(p: dict[str, Tensor], heads: int, x: Tensor) -> Tensor:
    """hk.MultiHeadAttention: hk.Linear is x w + b."""
    q, k, v = (x @ p[f"{name}/w"] + p[f"{name}/b"] for name in ("query", "key", "value"))
    return attend(q, k, v, heads) @ p["linear/w"] + p["linear/b"]


def haiku_shapes(hidden: int) -> dict[str, tuple[int, ...]]:
    names = ("query", "key", "value", "linear")
    return {f"{name}/w": (hidden, hidden) for name in names} | {f"{name}/b": (hidden,) for name in names}


# Name, what stands before the names in the file, shapes, formula.
LAID_OUT = [
    ("keras_attention", "block/multi_head_attention/", jax_shapes("attention_output", 4, 2),
     lambda p, x: jax_attention(p, "attention_output", x)),
    ("keras_attention_3", "block/multi_head_attention/", jax_shapes("attention_output", 6, 3),
     lambda p, x: jax_attention(p, "attention_output", x)),
    ("flax_attention", "params/MultiHeadDotProductAttention_0/", jax_shapes("out", 4, 2),
     lambda p, x: jax_attention(p, "out", x)),
    ("haiku_attention", "transformer/multi_head_attention/", haiku_shapes(8), lambda p, x: haiku_attention(p, 2, x)),
]


# ---- files --------------------------------------------------------------------------------------


def doubles(p: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: x.double() if x.is_floating_point() else x for name, x in p.items()}


def files() -> dict[str, bytes]:
    made, answers = {}, {}

    def answer(name: str, inputs: list[Tensor], y: Tensor) -> None:
        answers.update({f"{name}.{letter}": x for letter, x in zip("xuvw", inputs)})
        answers[f"{name}.y"] = y.float()

    def of_module(seed: int, name: str, module: nn.Module, shapes: list[tuple[int, ...]], has_bias: bool) -> None:
        lcg = Lcg(seed)
        state = module.state_dict()
        p = draw(lcg, {n: tuple(x.shape) for n, x in state.items() if has_bias or not n.endswith("bias")})
        module.load_state_dict({n: p.get(n, torch.zeros_like(x)) for n, x in state.items()})
        inputs = [lcg.draw(*shape) for shape in shapes]
        made[f"{name}.safetensors"] = tensor_file(p)
        answer(name, inputs, module.double().eval()(*(x.double() for x in inputs)))

    for seed, (name, module, shapes) in enumerate(MODULES, 700):
        of_module(seed, name, module, shapes, has_bias=True)
    for seed, (name, module, shapes) in enumerate(WITHOUT_BIAS, 720):
        of_module(seed, name, module, shapes, has_bias=False)
    for seed, (name, prefix, shapes, formula) in enumerate(LAID_OUT, 750):
        lcg = Lcg(seed)
        p = draw(lcg, shapes)
        x = lcg.draw(1, 5, shapes[next(iter(shapes))][0])
        made[f"{name}.npz"] = npz(**{prefix + n: np.ascontiguousarray(w.numpy()) for n, w in p.items()})
        answer(name, [x], formula(doubles(p), x.double()))
    for seed, (name, model) in enumerate(MODELS.items(), 800):
        p, inputs = model.draw(Lcg(seed))
        made[f"{name}.safetensors"] = tensor_file(p, half=True)
        answer(name, inputs, model.answer(doubles(p), *doubles(dict(enumerate(inputs))).values()))
    made["answers.safetensors"] = tensor_file(answers)
    return made


def main() -> int:
    torch.set_num_threads(1)
    with torch.no_grad():
        made = files()
    different = 0
    for name, content in made.items():
        path = DATA / name
        if "--check" in sys.argv[1:]:
            same = path.exists() and path.read_bytes() == content
            different += not same
            print(f"{name}: {'same' if same else 'DIFFERENT'}")
        else:
            DATA.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            print(f"{name}: {len(content)} bytes")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
