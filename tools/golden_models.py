# SPDX-License-Identifier: BSL-1.0
"""Whole models for golden_weights.py, as functions of a checkpoint: the names and shapes of its tensors are those of
Hugging Face's transformers (BertForMaskedLM, ViTForImageClassification, GPT2LMHeadModel, LlamaForCausalLM,
Qwen2ForCausalLM; of Whisper and StarCoder2 the layers) and of Meta's llama/model.py; the formulas are those of their forward passes. Two sizes each: "square", where every matrix that
can be is square and no shape tells one axis from the other, and "wide", where no two sizes are equal."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Callable

import torch
from torch import Tensor
from torch.nn import functional

from golden_support import Lcg

Shapes = dict[str, tuple[int, ...]]
Weights = dict[str, Tensor]


def draw(lcg: Lcg, shapes: Shapes, half: bool = False) -> Weights:
    """Matrices in [-1/2, 1/2), the weights of norms in [0, 2), biases in [-1, 1); with half every number is one of
    float16."""
    def one(name: str, shape: tuple[int, ...]) -> Tensor:
        x = lcg.draw(*shape, scale=0.5 if len(shape) > 1 else 1.0)
        if len(shape) == 1 and name.endswith("weight"):
            x = x + 1
        return x.half().float() if half else x

    return {name: one(name, shape) for name, shape in shapes.items()}


def split(x: Tensor, heads: int) -> Tensor:
    return x.unflatten(2, (heads, -1)).transpose(1, 2)


def attend(q: Tensor, k: Tensor, v: Tensor, heads: int, kv_heads: int = 0, hidden: Tensor | None = None,
           rotate: Callable[[Tensor], Tensor] = lambda x: x) -> Tensor:
    """softmax(q k^T / sqrt(head_dim)) v for each head; hidden: true where a query does not see a key."""
    groups = heads // kv_heads if kv_heads else 1
    q, k, v = split(q, heads), split(k, kv_heads or heads), split(v, kv_heads or heads)
    q, k = rotate(q), rotate(k)
    k, v = (x.repeat_interleave(groups, dim=1) for x in (k, v))
    scores = q @ k.transpose(2, 3) / math.sqrt(q.shape[-1])
    if hidden is not None:
        scores = scores.masked_fill(hidden, float("-inf"))
    return (torch.softmax(scores, -1) @ v).transpose(1, 2).flatten(2)


def future(tokens: int) -> Tensor:
    return torch.ones(tokens, tokens, dtype=torch.bool).triu(1)


@dataclass(frozen=True)
class Sizes:
    hidden: int
    heads: int
    intermediate: int
    vocabulary: int
    tokens: int
    layers: int = 2
    kv_heads: int = 0
    head_dim: int = 0
    biases: str = ""  # the projections of Llama with one: "q k v"


SQUARE = Sizes(hidden=8, heads=2, intermediate=8, vocabulary=8, tokens=8)
WIDE = Sizes(hidden=12, heads=3, intermediate=20, vocabulary=17, tokens=7)


class Model:
    half = True

    def __init__(self, sizes: Sizes) -> None:
        self.sizes = sizes

    def shapes(self) -> Shapes:
        raise NotImplementedError

    def inputs(self, lcg: Lcg) -> list[Tensor]:
        """Two sequences of token numbers."""
        s = self.sizes
        return [((lcg.draw(2, s.tokens) + 1) / 2 * s.vocabulary).int()]

    def tie(self, p: Weights) -> None:
        """Tensors that a checkpoint has twice, or that are no weights."""

    def draw(self, lcg: Lcg) -> tuple[Weights, list[Tensor]]:
        p = draw(lcg, self.shapes(), half=True)
        self.tie(p)
        return p, self.inputs(lcg)

    def answer(self, p: Weights, *inputs: Tensor) -> Tensor:
        raise NotImplementedError


def linear(p: Weights, name: str, x: Tensor) -> Tensor:
    """nn.Linear: (out, in)."""
    return functional.linear(x, p[name + ".weight"], p.get(name + ".bias"))


def conv1d(p: Weights, name: str, x: Tensor) -> Tensor:
    """Conv1D of transformers/pytorch_utils.py: (in, out)."""
    return x @ p[name + ".weight"] + p[name + ".bias"]


def layer_norm(p: Weights, name: str, x: Tensor, epsilon: float) -> Tensor:
    return functional.layer_norm(x, x.shape[-1:], p[name + ".weight"], p[name + ".bias"], epsilon)


def rms_norm(p: Weights, name: str, x: Tensor, epsilon: float) -> Tensor:
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + epsilon) * p[name + ".weight"]


def with_bias(name: str, out: int, *others: int) -> Shapes:
    return {name + ".weight": (out, *others), name + ".bias": (out,)}


class Bert(Model):
    """BertForMaskedLM: the second sequence is three tokens shorter (attention_mask), and half of each is the second
    segment (token_type_ids)."""

    def shapes(self) -> Shapes:
        s = self.sizes
        shapes: Shapes = {"bert.embeddings.word_embeddings.weight": (s.vocabulary, s.hidden),
                          "bert.embeddings.position_embeddings.weight": (s.tokens, s.hidden),
                          "bert.embeddings.token_type_embeddings.weight": (2, s.hidden)}
        shapes |= with_bias("bert.embeddings.LayerNorm", s.hidden)
        for i in range(s.layers):
            layer = f"bert.encoder.layer.{i}."
            for name in ("self.query", "self.key", "self.value", "output.dense"):
                shapes |= with_bias(f"{layer}attention.{name}", s.hidden, s.hidden)
            shapes |= with_bias(layer + "attention.output.LayerNorm", s.hidden)
            shapes |= with_bias(layer + "intermediate.dense", s.intermediate, s.hidden)
            shapes |= with_bias(layer + "output.dense", s.hidden, s.intermediate)
            shapes |= with_bias(layer + "output.LayerNorm", s.hidden)
        shapes |= {"cls.predictions.bias": (s.vocabulary,)}
        shapes |= with_bias("cls.predictions.transform.dense", s.hidden, s.hidden)
        return shapes | with_bias("cls.predictions.transform.LayerNorm", s.hidden)

    def tie(self, p: Weights) -> None:
        p["bert.embeddings.position_ids"] = torch.arange(self.sizes.tokens)[None]
        p["cls.predictions.decoder.weight"] = p["bert.embeddings.word_embeddings.weight"]
        p["cls.predictions.decoder.bias"] = p["cls.predictions.bias"]

    def answer(self, p: Weights, ids: Tensor) -> Tensor:
        s, epsilon = self.sizes, 1e-12
        position = torch.arange(s.tokens)
        lengths = torch.tensor([s.tokens, s.tokens - 3])
        past = (position[None] >= lengths[:, None])[:, None, None]
        tables = "bert.embeddings.{}_embeddings.weight"
        x = (p[tables.format("word")][ids.long()] + p[tables.format("position")]
             + p[tables.format("token_type")][(position >= s.tokens // 2).long()])
        x = layer_norm(p, "bert.embeddings.LayerNorm", x, epsilon)
        for i in range(s.layers):
            layer = f"bert.encoder.layer.{i}."
            q, k, v = (linear(p, f"{layer}attention.self.{name}", x) for name in ("query", "key", "value"))
            y = linear(p, layer + "attention.output.dense", attend(q, k, v, s.heads, hidden=past))
            x = layer_norm(p, layer + "attention.output.LayerNorm", x + y, epsilon)
            y = functional.gelu(linear(p, layer + "intermediate.dense", x))
            x = layer_norm(p, layer + "output.LayerNorm", x + linear(p, layer + "output.dense", y), epsilon)
        x = functional.gelu(linear(p, "cls.predictions.transform.dense", x))
        x = layer_norm(p, "cls.predictions.transform.LayerNorm", x, epsilon)
        return linear(p, "cls.predictions.decoder", x)


class Vit(Model):
    """ViTForImageClassification, of pictures of 2 channels, 4 by 6, cut into patches of 2 by 2; the vocabulary are the
    classes."""

    def shapes(self) -> Shapes:
        s = self.sizes
        shapes: Shapes = {"vit.embeddings.cls_token": (1, 1, s.hidden),
                          "vit.embeddings.position_embeddings": (1, 7, s.hidden)}
        shapes |= with_bias("vit.embeddings.patch_embeddings.projection", s.hidden, 2, 2, 2)
        for i in range(s.layers):
            layer = f"vit.encoder.layer.{i}."
            for name in ("attention.query", "attention.key", "attention.value", "output.dense"):
                shapes |= with_bias(f"{layer}attention.{name}", s.hidden, s.hidden)
            shapes |= with_bias(layer + "intermediate.dense", s.intermediate, s.hidden)
            shapes |= with_bias(layer + "output.dense", s.hidden, s.intermediate)
            shapes |= with_bias(layer + "layernorm_before", s.hidden) | with_bias(layer + "layernorm_after", s.hidden)
        return shapes | with_bias("vit.layernorm", s.hidden) | with_bias("classifier", s.vocabulary, s.hidden)

    def inputs(self, lcg: Lcg) -> list[Tensor]:
        return [lcg.draw(1, 2, 4, 6)]

    def answer(self, p: Weights, picture: Tensor) -> Tensor:
        s, epsilon = self.sizes, 1e-12
        name = "vit.embeddings.patch_embeddings.projection"
        patches = functional.conv2d(picture, p[name + ".weight"], p[name + ".bias"], stride=2)
        x = torch.cat((p["vit.embeddings.cls_token"], patches.flatten(2).transpose(1, 2)), 1)
        x = x + p["vit.embeddings.position_embeddings"]
        for i in range(s.layers):
            layer = f"vit.encoder.layer.{i}."
            y = layer_norm(p, layer + "layernorm_before", x, epsilon)
            q, k, v = (linear(p, f"{layer}attention.attention.{name}", y) for name in ("query", "key", "value"))
            x = x + linear(p, layer + "attention.output.dense", attend(q, k, v, s.heads))
            y = layer_norm(p, layer + "layernorm_after", x, epsilon)
            y = functional.gelu(linear(p, layer + "intermediate.dense", y))
            x = x + linear(p, layer + "output.dense", y)
        return linear(p, "classifier", layer_norm(p, "vit.layernorm", x, epsilon)[:, 0])


class Gpt2(Model):
    """GPT2LMHeadModel, as the checkpoint gpt2 has it: without "transformer." before the names, with attn.bias."""

    def shapes(self) -> Shapes:
        s = self.sizes
        shapes: Shapes = {"wte.weight": (s.vocabulary, s.hidden), "wpe.weight": (s.tokens, s.hidden)}
        for i in range(s.layers):
            for name, inputs, outputs in (("attn.c_attn", s.hidden, 3 * s.hidden), ("attn.c_proj", s.hidden, s.hidden),
                                          ("mlp.c_fc", s.hidden, s.intermediate),
                                          ("mlp.c_proj", s.intermediate, s.hidden)):
                shapes |= {f"h.{i}.{name}.weight": (inputs, outputs), f"h.{i}.{name}.bias": (outputs,)}
            shapes |= with_bias(f"h.{i}.ln_1", s.hidden) | with_bias(f"h.{i}.ln_2", s.hidden)
        return shapes | with_bias("ln_f", s.hidden)

    def tie(self, p: Weights) -> None:
        for i in range(self.sizes.layers):
            p[f"h.{i}.attn.bias"] = (~future(self.sizes.tokens)).float()[None, None]

    def answer(self, p: Weights, ids: Tensor) -> Tensor:
        s, epsilon = self.sizes, 1e-5
        x = p["wte.weight"][ids.long()] + p["wpe.weight"]
        for i in range(s.layers):
            q, k, v = conv1d(p, f"h.{i}.attn.c_attn", layer_norm(p, f"h.{i}.ln_1", x, epsilon)).chunk(3, -1)
            x = x + conv1d(p, f"h.{i}.attn.c_proj", attend(q, k, v, s.heads, hidden=future(s.tokens)))
            y = conv1d(p, f"h.{i}.mlp.c_fc", layer_norm(p, f"h.{i}.ln_2", x, epsilon))
            x = x + conv1d(p, f"h.{i}.mlp.c_proj", functional.gelu(y, approximate="tanh"))
        return layer_norm(p, "ln_f", x, epsilon) @ p["wte.weight"].T


LLAMA = {"table": "model.embed_tokens", "layer": "model.layers.{}.", "norm1": "input_layernorm", "q": "self_attn.q_proj",
         "k": "self_attn.k_proj", "v": "self_attn.v_proj", "o": "self_attn.o_proj", "norm2": "post_attention_layernorm",
         "gate": "mlp.gate_proj", "up": "mlp.up_proj", "down": "mlp.down_proj", "norm": "model.norm", "head": "lm_head"}
META = {"table": "tok_embeddings", "layer": "layers.{}.", "norm1": "attention_norm", "q": "attention.wq",
        "k": "attention.wk", "v": "attention.wv", "o": "attention.wo", "norm2": "ffn_norm", "gate": "feed_forward.w1",
        "up": "feed_forward.w3", "down": "feed_forward.w2", "norm": "norm", "head": "output"}


class Llama(Model):
    """LlamaForCausalLM, whose rotate_half pairs feature i with i + head_dim / 2; biases: attention_bias and mlp_bias.
    Qwen2ForCausalLM has the same names and formulas, and biases of q, k and v."""
    names, epsilon = LLAMA, 1e-6

    def shapes(self) -> Shapes:
        s, n = self.sizes, self.names
        head_dim = s.head_dim or s.hidden // s.heads
        wide, narrow = head_dim * s.heads, head_dim * (s.kv_heads or s.heads)
        shapes: Shapes = {n["table"] + ".weight": (s.vocabulary, s.hidden)}
        for i in range(s.layers):
            layer = n["layer"].format(i)
            for name, out, inputs in (("q", wide, s.hidden), ("k", narrow, s.hidden), ("v", narrow, s.hidden),
                                      ("o", s.hidden, wide), ("gate", s.intermediate, s.hidden),
                                      ("up", s.intermediate, s.hidden), ("down", s.hidden, s.intermediate)):
                shapes[f"{layer}{n[name]}.weight"] = (out, inputs)
                if name in s.biases.split():
                    shapes[f"{layer}{n[name]}.bias"] = (out,)
            shapes |= {f"{layer}{n[name]}.weight": (s.hidden,) for name in ("norm1", "norm2")}
        return shapes | {n["norm"] + ".weight": (s.hidden,), n["head"] + ".weight": (s.vocabulary, s.hidden)}

    def rotate(self, x: Tensor) -> Tensor:
        cosine, sine = self.turns(x)
        half = x.shape[-1] // 2
        turned = torch.cat((-x[..., half:], x[..., :half]), -1)
        return x * torch.cat((cosine, cosine), -1) + turned * torch.cat((sine, sine), -1)

    def prepare(self, p: Weights, layer: str, q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        """Projected queries and keys, all heads side by side, before they are rotated."""
        return q, k

    def turns(self, x: Tensor) -> tuple[Tensor, Tensor]:
        frequencies = 1.0 / 10000 ** (torch.arange(0, x.shape[-1], 2, dtype=torch.float64) / x.shape[-1])
        angles = torch.outer(torch.arange(x.shape[-2], dtype=torch.float64), frequencies)
        return angles.cos(), angles.sin()

    def answer(self, p: Weights, ids: Tensor) -> Tensor:
        s, n = self.sizes, self.names
        x = p[n["table"] + ".weight"][ids.long()]
        for i in range(s.layers):
            layer = n["layer"].format(i)
            y = rms_norm(p, layer + n["norm1"], x, self.epsilon)
            q, k, v = (linear(p, layer + n[name], y) for name in "qkv")
            q, k = self.prepare(p, layer, q, k)
            y = attend(q, k, v, s.heads, s.kv_heads, future(s.tokens), self.rotate)
            x = x + linear(p, layer + n["o"], y)
            y = rms_norm(p, layer + n["norm2"], x, self.epsilon)
            y = functional.silu(linear(p, layer + n["gate"], y)) * linear(p, layer + n["up"], y)
            x = x + linear(p, layer + n["down"], y)
        return linear(p, n["head"], rms_norm(p, n["norm"], x, self.epsilon))


class Qwen3(Llama):
    """Qwen3ForCausalLM: the row of each head of q and of k goes through an RMS norm."""

    def shapes(self) -> Shapes:
        shapes, s = super().shapes(), self.sizes
        for i in range(s.layers):
            layer = self.names["layer"].format(i)
            shapes |= {f"{layer}self_attn.{name}.weight": (s.head_dim or s.hidden // s.heads,) for name in ("q_norm", "k_norm")}
        return shapes

    def prepare(self, p: Weights, layer: str, q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        def normed(name: str, x: Tensor) -> Tensor:
            gamma = p[f"{layer}self_attn.{name}.weight"]
            return rms_norm({"own.weight": gamma}, "own", x.unflatten(-1, (-1, len(gamma))), self.epsilon).flatten(-2)

        return normed("q_norm", q), normed("k_norm", k)


class Meta(Llama):
    """Transformer of llama/model.py: feature 2 i and 2 i + 1 are a complex number."""
    names, epsilon = META, 1e-5

    def rotate(self, x: Tensor) -> Tensor:
        turned = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous()) * torch.complex(*self.turns(x))
        return torch.view_as_real(turned).flatten(-2)


class Layers(Model):
    """Layers without what is around them, of random numbers: two, square or with no two sizes equal."""
    projections = {"q": "q_proj", "k": "k_proj", "v": "v_proj", "o": "out_proj"}
    without_bias = ""

    def of_attention(self, name: str) -> Shapes:
        s, shapes = self.sizes, {}
        for letter, projection in self.projections.items():
            out = s.hidden // s.heads * (s.kv_heads or s.heads) if letter in "kv" else s.hidden
            shapes[f"{name}.{projection}.weight"] = (out, s.hidden)
            if letter not in self.without_bias:
                shapes[f"{name}.{projection}.bias"] = (out,)
        return shapes

    def of_layer(self) -> Shapes:
        raise NotImplementedError

    def shapes(self) -> Shapes:
        return {f"layers.{i}.{name}": shape for i in range(self.sizes.layers) for name, shape in self.of_layer().items()}

    def inputs(self, lcg: Lcg) -> list[Tensor]:
        return [lcg.draw(1, self.sizes.tokens, self.sizes.hidden)]

    def attend_by(self, p: Weights, name: str, x: Tensor, y: Tensor, **options) -> Tensor:
        s = self.sizes
        q, k, v = (linear(p, f"{name}.{self.projections[letter]}", z) for letter, z in (("q", x), ("k", y), ("v", y)))
        return linear(p, f"{name}.{self.projections['o']}", attend(q, k, v, s.heads, s.kv_heads, **options))


class Starcoder2(Layers):
    """Starcoder2DecoderLayer: layer norms with a beta, biases everywhere, gelu_pytorch_tanh."""
    projections = {"q": "q_proj", "k": "k_proj", "v": "v_proj", "o": "o_proj"}

    def of_layer(self) -> Shapes:
        s = self.sizes
        return (self.of_attention("self_attn") | with_bias("input_layernorm", s.hidden)
                | with_bias("post_attention_layernorm", s.hidden) | with_bias("mlp.c_fc", s.intermediate, s.hidden)
                | with_bias("mlp.c_proj", s.hidden, s.intermediate))

    def answer(self, p: Weights, x: Tensor) -> Tensor:
        s, epsilon = self.sizes, 1e-5
        for i in range(s.layers):
            layer = f"layers.{i}."
            y = layer_norm(p, layer + "input_layernorm", x, epsilon)
            x = x + self.attend_by(p, layer + "self_attn", y, y, hidden=future(s.tokens), rotate=Llama(s).rotate)
            y = linear(p, layer + "mlp.c_fc", layer_norm(p, layer + "post_attention_layernorm", x, epsilon))
            x = x + linear(p, layer + "mlp.c_proj", functional.gelu(y, approximate="tanh"))
        return x


class WhisperEncoder(Layers):
    """WhisperEncoderLayer: norms first, k without a bias."""
    without_bias = "k"

    def of_layer(self) -> Shapes:
        s = self.sizes
        return (self.of_attention("self_attn") | with_bias("self_attn_layer_norm", s.hidden)
                | with_bias("fc1", s.intermediate, s.hidden) | with_bias("fc2", s.hidden, s.intermediate)
                | with_bias("final_layer_norm", s.hidden))

    def feed_forward(self, p: Weights, layer: str, x: Tensor) -> Tensor:
        y = linear(p, layer + "fc1", layer_norm(p, layer + "final_layer_norm", x, 1e-5))
        return x + linear(p, layer + "fc2", functional.gelu(y))

    def answer(self, p: Weights, x: Tensor) -> Tensor:
        for i in range(self.sizes.layers):
            layer = f"layers.{i}."
            y = layer_norm(p, layer + "self_attn_layer_norm", x, 1e-5)
            x = self.feed_forward(p, layer, x + self.attend_by(p, layer + "self_attn", y, y))
        return x


class WhisperDecoder(WhisperEncoder):
    """WhisperDecoderLayer: causal, then attention to what the encoder gives."""

    def of_layer(self) -> Shapes:
        return (super().of_layer() | self.of_attention("encoder_attn")
                | with_bias("encoder_attn_layer_norm", self.sizes.hidden))

    def inputs(self, lcg: Lcg) -> list[Tensor]:
        return super().inputs(lcg) + [lcg.draw(1, self.sizes.tokens + 2, self.sizes.hidden)]

    def answer(self, p: Weights, x: Tensor, memory: Tensor) -> Tensor:
        for i in range(self.sizes.layers):
            layer = f"layers.{i}."
            y = layer_norm(p, layer + "self_attn_layer_norm", x, 1e-5)
            x = x + self.attend_by(p, layer + "self_attn", y, y, hidden=future(self.sizes.tokens))
            y = layer_norm(p, layer + "encoder_attn_layer_norm", x, 1e-5)
            x = self.feed_forward(p, layer, x + self.attend_by(p, layer + "encoder_attn", y, memory))
        return x


MODELS = {
    "bert_square": Bert(SQUARE), "bert_wide": Bert(WIDE),
    "vit_square": Vit(SQUARE), "vit_wide": Vit(WIDE),
    "gpt2_square": Gpt2(SQUARE), "gpt2_wide": Gpt2(WIDE),
    "llama_square": Llama(SQUARE), "llama_wide": Llama(replace(WIDE, kv_heads=1)),
    "llama_biases": Llama(replace(SQUARE, biases="q k v o gate up down")),
    "meta_square": Meta(SQUARE), "meta_wide": Meta(replace(WIDE, kv_heads=1)),
    "qwen2_square": Llama(replace(SQUARE, biases="q k v")), "qwen2_wide": Llama(replace(WIDE, kv_heads=1, biases="q k v")),
    "starcoder2_square": Starcoder2(SQUARE), "starcoder2_wide": Starcoder2(replace(WIDE, kv_heads=1)),
    "whisper_encoder_square": WhisperEncoder(SQUARE), "whisper_encoder_wide": WhisperEncoder(WIDE),
    "whisper_decoder_square": WhisperDecoder(SQUARE), "whisper_decoder_wide": WhisperDecoder(WIDE),
    "qwen3_square": Qwen3(SQUARE), "qwen3_wide": Qwen3(replace(WIDE, kv_heads=1, head_dim=6)),
}
