# SPDX-License-Identifier: BSL-1.0
"""Models as their authors write them in PyTorch, small and with random weights, for the test of tools/import."""
import inspect
import math
import os
import warnings

import torch
from torch import nn
from torch.nn import functional as F

WIDTH, HEADS, LENGTH = map(int, os.environ.get("UMBEL_MODEL_SIZES", "16 4 10").split())


def heads_of(x, heads):
    return x.view(x.shape[0], x.shape[1], heads, -1).transpose(1, 2)


def rows_of(x):
    return x.transpose(1, 2).reshape(x.shape[0], x.shape[2], -1)


def hidden_later(length, number=float("-inf")):
    return torch.full((length, length), number).triu(1)


# ---- parts -----------------------------------------------------------------------------------------


class Attention(nn.Module):
    """change: of the scores before the softmax."""

    def __init__(self, change=None, width=WIDTH, heads=HEADS):
        super().__init__()
        self.query, self.key, self.value, self.output = (nn.Linear(width, width) for _ in range(4))
        self.heads, self.change = heads, change

    def forward(self, x, memory=None):
        memory = x if memory is None else memory
        q, k, v = heads_of(self.query(x), self.heads), heads_of(self.key(memory), self.heads), heads_of(self.value(memory), self.heads)
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        scores = scores if self.change is None else self.change(scores)
        return self.output(rows_of(scores.softmax(-1) @ v))


class Block(nn.Module):
    def __init__(self, change=None, activation=F.gelu, width=WIDTH):
        super().__init__()
        self.attention, self.norm1, self.norm2 = Attention(change, width), nn.LayerNorm(width), nn.LayerNorm(width)
        self.up, self.down, self.activation = nn.Linear(width, 2 * width), nn.Linear(2 * width, width), activation

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.down(self.activation(self.up(self.norm2(x))))


class FusedAttention(nn.Module):
    """As timm has it."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.qkv, self.proj = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        b, n, c = x.shape
        q, k, v = self.qkv(x).reshape(b, n, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        weights = ((q @ k.transpose(-2, -1)) * (c // self.heads) ** -0.5).softmax(dim=-1)
        return self.proj((weights @ v).transpose(1, 2).reshape(b, n, c))


def network(width, hidden, activation):
    return nn.Sequential(nn.Linear(width, hidden), activation(), nn.Linear(hidden, width))


# ---- the seven of the prototype --------------------------------------------------------------------


class Encoder(nn.Module):
    """torch's own layers."""

    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 2 * WIDTH, dropout=0.0, batch_first=True)
        self.encoder, self.head = nn.TransformerEncoder(layer, 2, nn.LayerNorm(WIDTH)), nn.Linear(WIDTH, 5)

    def forward(self, x):
        return self.head(self.encoder(x))

    def example(self):
        return torch.randn(1, LENGTH, WIDTH),


class PositionsFirst(nn.Module):
    """torch's own layers with their own order of axes, a causal mask and padding; a decoder that attends to a wider memory."""

    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 2 * WIDTH, dropout=0.0, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, nn.LayerNorm(WIDTH), enable_nested_tensor=False)
        self.cross, self.norm = nn.MultiheadAttention(WIDTH, HEADS, kdim=12, vdim=12), nn.LayerNorm(WIDTH)

    def forward(self, x, memory, padding, of_memory):
        y = self.encoder(x, mask=hidden_later(LENGTH), src_key_padding_mask=padding)
        return self.norm(y + self.cross(y, memory, memory, key_padding_mask=of_memory, need_weights=False)[0])

    def example(self):
        return torch.randn(LENGTH, 3, WIDTH), torch.randn(7, 3, 12), torch.arange(LENGTH) > torch.tensor([[4], [7], [9]]), torch.arange(7)[None] > torch.tensor([[2], [4], [6]])


class Decoder(nn.Module):
    """torch's own decoder, for two sequences."""

    def __init__(self):
        super().__init__()
        layer = nn.TransformerDecoderLayer(WIDTH, HEADS, 2 * WIDTH, dropout=0.0, batch_first=True)
        self.decoder, self.later = nn.TransformerDecoder(layer, 1), torch.ones(LENGTH, LENGTH, dtype=torch.bool).triu(1)

    def forward(self, x, memory, padding, of_memory):
        return self.decoder(x, memory, tgt_mask=self.later, tgt_key_padding_mask=padding, memory_key_padding_mask=of_memory)

    def example(self):
        return torch.randn(2, LENGTH, WIDTH), torch.randn(2, 7, WIDTH), torch.arange(LENGTH) > torch.tensor([[4], [8]]), torch.arange(7) > torch.tensor([[6], [3]])


class VisionTransformer(nn.Module):
    """timm's: patches by a convolution, a class token."""

    def __init__(self):
        super().__init__()
        self.proj = nn.Conv2d(3, WIDTH, 4, 4)
        self.cls_token, self.pos_embed = nn.Parameter(torch.randn(1, 1, WIDTH)), nn.Parameter(torch.randn(1, 17, WIDTH))
        self.blocks = nn.ModuleList([nn.ModuleList([nn.LayerNorm(WIDTH, eps=1e-6), FusedAttention(WIDTH, HEADS), nn.LayerNorm(WIDTH, eps=1e-6),
                                                    network(WIDTH, 2 * WIDTH, nn.GELU)]) for _ in range(2)])
        self.norm, self.head = nn.LayerNorm(WIDTH, eps=1e-6), nn.Linear(WIDTH, 5)

    def forward(self, x):
        x = self.proj(x).flatten(2).transpose(1, 2)
        x = torch.cat((self.cls_token.expand(x.shape[0], -1, -1), x), dim=1) + self.pos_embed
        for norm1, attention, norm2, mlp in self.blocks:
            x = x + attention(norm1(x))
            x = x + mlp(norm2(x))
        return self.head(self.norm(x)[:, 0])

    def example(self):
        return torch.randn(1, 3, 16, 16),


class KeywordTransformer(nn.Module):
    """KWT (Berg 2021): one head, norms last."""

    def __init__(self):
        super().__init__()
        self.proj, self.cls, self.pos = nn.Linear(8, WIDTH), nn.Parameter(torch.randn(1, 1, WIDTH)), nn.Parameter(torch.randn(1, LENGTH + 3, WIDTH))
        self.layers = nn.ModuleList([nn.ModuleList([FusedAttention(WIDTH, 1), nn.LayerNorm(WIDTH), network(WIDTH, 2 * WIDTH, nn.GELU), nn.LayerNorm(WIDTH)])
                                     for _ in range(2)])
        self.head = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 5))

    def forward(self, x):
        x = torch.cat((self.cls.expand(x.shape[0], -1, -1), self.proj(x.transpose(1, 2))), dim=1) + self.pos
        for attention, norm1, mlp, norm2 in self.layers:
            x = norm1(attention(x) + x)
            x = norm2(mlp(x) + x)
        return self.head(x[:, 0])

    def example(self):
        return torch.randn(1, 8, LENGTH + 2),


class Bert(nn.Module):
    """transformers' BertModel: three embeddings, a mask of kept tokens, a pooler."""

    def __init__(self):
        super().__init__()
        self.word, self.place, self.kind = nn.Embedding(30, WIDTH), nn.Embedding(LENGTH, WIDTH), nn.Embedding(2, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, eps=1e-12)
        self.layers = nn.ModuleList([nn.ModuleList([Attention(), nn.LayerNorm(WIDTH, eps=1e-12), network(WIDTH, 2 * WIDTH, nn.GELU),
                                                    nn.LayerNorm(WIDTH, eps=1e-12)]) for _ in range(2)])
        self.pooler, self.classifier = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, 3)

    def forward(self, ids, attention_mask):
        mask = (1.0 - attention_mask[:, None, None, :].to(torch.float32)) * torch.finfo(torch.float32).min
        x = self.norm(self.word(ids) + self.kind(torch.zeros_like(ids)) + self.place.weight)
        for attention, norm1, mlp, norm2 in self.layers:
            attention.change = lambda scores: scores + mask
            x = norm1(attention(x) + x)
            x = norm2(mlp(x) + x)
        return self.classifier(torch.tanh(self.pooler(x[:, 0])))

    def example(self):
        return torch.randint(0, 30, (1, LENGTH)), torch.ones(1, LENGTH, dtype=torch.long)


class Whisper(nn.Module):
    """Two convolutions, positions, layers whose key has no bias."""

    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv1d(6, WIDTH, 3, padding=1), nn.Conv1d(WIDTH, WIDTH, 3, stride=2, padding=1)
        self.positions, self.layers, self.norm = nn.Embedding(LENGTH - 2, WIDTH), nn.ModuleList([Block() for _ in range(2)]), nn.LayerNorm(WIDTH)
        for layer in self.layers:
            layer.attention.key = nn.Linear(WIDTH, WIDTH, bias=False)

    def forward(self, x):
        x = F.gelu(self.conv2(F.gelu(self.conv1(x)))).permute(0, 2, 1) + self.positions.weight
        for layer in self.layers:
            x = layer(x)
        return self.norm(x)

    def example(self):
        return torch.randn(1, 6, 2 * LENGTH - 4),


class RmsNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(width) + 0.5)

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5))


class LlamaLayer(nn.Module):
    def __init__(self, width, heads, groups):
        super().__init__()
        self.heads, self.groups, features = heads, groups, width // heads
        self.q_proj, self.o_proj = nn.Linear(width, width, False), nn.Linear(width, width, False)
        self.k_proj, self.v_proj = nn.Linear(width, groups * features, False), nn.Linear(width, groups * features, False)
        self.gate_proj, self.up_proj, self.down_proj = nn.Linear(width, 3 * width // 2, False), nn.Linear(width, 3 * width // 2, False), nn.Linear(3 * width // 2, width, False)
        self.norm1, self.norm2 = RmsNorm(width), RmsNorm(width)

    def rotated(self, x, cosines, sines):
        half = x.shape[-1] // 2
        return x * cosines + torch.cat((-x[..., half:], x[..., :half]), dim=-1) * sines

    def forward(self, x, cosines, sines, mask):
        y = self.norm1(x)
        q, k, v = heads_of(self.q_proj(y), self.heads), heads_of(self.k_proj(y), self.groups), heads_of(self.v_proj(y), self.groups)
        q, k = self.rotated(q, cosines, sines), self.rotated(k, cosines, sines)
        b, g, n, e = k.shape
        k, v = (z[:, :, None].expand(b, g, self.heads // g, n, e).reshape(b, self.heads, n, e) for z in (k, v))
        scores = torch.max(q @ k.transpose(2, 3) / math.sqrt(e) + mask, torch.tensor(torch.finfo(torch.float32).min))
        x = x + self.o_proj(rows_of(scores.softmax(-1) @ v))
        y = self.norm2(x)
        return x + self.down_proj(F.silu(self.gate_proj(y)) * self.up_proj(y))


class Llama(nn.Module):
    """transformers': grouped heads, rotary positions by halves, a gated network."""
    options = ["--decode", "key=10"]

    def __init__(self):
        super().__init__()
        self.embed, self.norm, self.head = nn.Embedding(24, WIDTH), RmsNorm(WIDTH), nn.Linear(WIDTH, 24, False)
        nn.init.normal_(self.embed.weight, std=0.1)  # transformers' are small, too: an epsilon shows
        self.layers = nn.ModuleList([LlamaLayer(WIDTH, HEADS, HEADS // 2) for _ in range(2)])
        features = WIDTH // HEADS
        angles = torch.outer(torch.arange(LENGTH).float(), 10000.0 ** -(torch.arange(0, features, 2).float() / features))
        self.register_buffer("angles", torch.cat((angles, angles), -1))

    def forward(self, ids):
        cosines, sines = self.angles.cos()[None, None], self.angles.sin()[None, None]
        x, mask = self.embed(ids), hidden_later(LENGTH, torch.finfo(torch.float32).min)[None, None]
        for layer in self.layers:
            x = layer(x, cosines, sines, mask)
        return self.head(self.norm(x))

    def example(self):
        return torch.randint(0, 24, (1, LENGTH)),


class Conformer(nn.Module):
    """torchaudio's layer: half networks, a depthwise convolution with a gate and a batch norm."""

    def __init__(self):
        super().__init__()
        self.ffn1, self.ffn2 = (nn.Sequential(nn.LayerNorm(WIDTH), *network(WIDTH, 2 * WIDTH, nn.SiLU)) for _ in range(2))
        self.norm, self.attention, self.final, self.norm_of_conv = nn.LayerNorm(WIDTH), Attention(), nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.conv = nn.Sequential(nn.Conv1d(WIDTH, 2 * WIDTH, 1), nn.GLU(dim=1), nn.Conv1d(WIDTH, WIDTH, 5, padding=2, groups=WIDTH),
                                  nn.BatchNorm1d(WIDTH), nn.SiLU(), nn.Conv1d(WIDTH, WIDTH, 1))
        self.conv[3].running_mean.normal_()
        self.conv[3].running_var.uniform_(0.5, 2)

    def forward(self, x):
        x = x + 0.5 * self.ffn1(x)
        x = x + self.attention(self.norm(x))
        x = x + self.conv(self.norm_of_conv(x).transpose(1, 2)).transpose(1, 2)
        return self.final(x + 0.5 * self.ffn2(x))

    def example(self):
        return torch.randn(1, LENGTH, WIDTH),


# ---- others ------------------------------------------------------------------------------------------


class T5(nn.Module):
    """A relative bias from a table of buckets."""

    def __init__(self):
        super().__init__()
        self.embed, self.table = nn.Embedding(30, WIDTH), nn.Embedding(8, HEADS)
        at = torch.arange(LENGTH)
        self.register_buffer("buckets", (at[None] - at[:, None]).clamp(-4, 3) + 4)
        self.layers = nn.ModuleList([Block(self.biased, F.relu) for _ in range(2)])

    def biased(self, scores):
        return scores + self.table(self.buckets).permute(2, 0, 1)[None]

    def forward(self, ids):
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x)
        return x

    def example(self):
        return torch.randint(0, 30, (1, LENGTH)),


class Alibi(nn.Module):
    """ALiBi as a buffer, a mask by masked_fill, LogSoftmax."""
    options = ["--decode", "key=10"]

    def __init__(self):
        super().__init__()
        at = torch.arange(LENGTH)
        self.register_buffer("bias", 2.0 ** -torch.tensor([2.0, 4, 6, 8])[:, None, None] * (at[None] - at[:, None]).float())
        self.register_buffer("later", torch.ones(LENGTH, LENGTH).triu(1).bool())
        self.layers, self.head = nn.ModuleList([Block(self.changed) for _ in range(2)]), nn.Linear(WIDTH, 5)

    def changed(self, scores):
        return (scores + self.bias).masked_fill(self.later, float("-inf"))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return F.log_softmax(self.head(x), -1)

    def example(self):
        return torch.randn(1, LENGTH, WIDTH),


class Gpt2(nn.Module):
    """A mask by Where, GELU by tanh, fused matrices, logits by the embedding."""
    options = ["--decode", "key=10"]

    def __init__(self):
        super().__init__()
        self.wte, self.wpe, self.norm = nn.Embedding(30, WIDTH), nn.Embedding(LENGTH, WIDTH), nn.LayerNorm(WIDTH)
        self.h = nn.ModuleList([nn.ModuleList([nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH), nn.LayerNorm(WIDTH),
                                               nn.Linear(WIDTH, 32), nn.Linear(32, WIDTH)]) for _ in range(2)])
        self.register_buffer("seen", torch.tril(torch.ones(LENGTH, LENGTH)).bool()[None, None])

    def forward(self, ids):
        x = self.wte(ids) + self.wpe.weight
        for norm1, qkv, projection, norm2, up, down in self.h:
            q, k, v = (heads_of(z, HEADS) for z in qkv(norm1(x)).split(WIDTH, 2))
            scores = torch.where(self.seen, q @ k.transpose(-1, -2) / math.sqrt(WIDTH // HEADS), torch.tensor(-20000.0))
            x = x + projection(rows_of(scores.softmax(-1) @ v))
            y = up(norm2(x))
            x = x + down(0.5 * y * (1 + torch.tanh(math.sqrt(2 / math.pi) * (y + 0.044715 * y**3))))
        return self.norm(x) @ self.wte.weight.T

    def example(self):
        return torch.randint(0, 30, (1, LENGTH)),


class Perceiver(nn.Module):
    """Learned latents read the input; the mean of what they read."""

    def __init__(self):
        super().__init__()
        self.latents, self.cross, self.block, self.head = nn.Parameter(torch.randn(1, 6, WIDTH)), Attention(), Block(), nn.Linear(WIDTH, 3)

    def forward(self, x):
        return self.head(self.block(self.latents + self.cross(self.latents, x)).mean(1))

    def example(self):
        return torch.randn(1, LENGTH, WIDTH),


class SetTransformer(nn.Module):
    """Induced points, and a seed that pools."""

    def __init__(self):
        super().__init__()
        self.points, self.seed = nn.Parameter(torch.randn(1, 3, WIDTH)), nn.Parameter(torch.randn(1, 1, WIDTH))
        self.read, self.write, self.pool, self.head = Attention(), Attention(), Attention(), nn.Linear(WIDTH, 2)

    def forward(self, x):
        x = x + F.relu(self.write(x, self.read(self.points, x)))
        return self.head(self.pool(self.seed, x)).squeeze(1)

    def example(self):
        return torch.randn(1, LENGTH, WIDTH),


class CausalConvolution(nn.Module):
    """As WaveNet: zeros before, dilation, gates; then strides."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.last = nn.Conv1d(8, 16, 3, dilation=2), nn.Conv1d(8, 16, 3, stride=2, padding=1), nn.Conv1d(8, 4, 1)

    def forward(self, x):
        for conv, zeros in ((self.first, 4), (self.second, 0)):
            a, b = conv(F.pad(x, (zeros, 0))).chunk(2, 1)
            x = torch.tanh(a) * torch.sigmoid(b)
        return self.last(F.leaky_relu(x))

    def example(self):
        return torch.randn(1, 8, 12),


class Mobile(nn.Module):
    """Convolutions in two dimensions, depthwise and grouped; pooling; a norm of groups."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.ReLU6(), nn.Conv2d(8, 8, 3, 1, 1, groups=8), nn.Hardswish(),
                                    nn.MaxPool2d(2), nn.Conv2d(8, 16, 3, 1, 1, groups=2), nn.GroupNorm(4, 16), nn.SiLU(), nn.AvgPool2d(2),
                                    nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 4))

    def forward(self, x):
        return self.layers(x)

    def example(self):
        return torch.randn(1, 3, 16, 16),


class Chosen(nn.Module):
    """Rows replaced by a learned one, as wav2vec 2.0 does, rows of padding set to zero, one of two branches by a flag."""
    weights = 8 + 2 * 72

    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(8, 8), nn.Linear(8, 8)
        self.masked_row = nn.Parameter(torch.zeros(8))

    def forward(self, x, is_masked, is_padding, is_new):
        y = torch.where(is_masked[..., None], self.masked_row, x)
        y = torch.tanh(self.up(y)).masked_fill(is_padding[..., None], 0.0)
        z = torch.where(is_new[:, None, None] & ~is_padding[..., None], self.down(y), x - y)
        return z, z.masked_fill(is_padding[..., None], 0.0).sum(1)

    def example(self):
        return (torch.randn(2, 5, 8), torch.tensor([[True, False, True, False, False], [False, True, True, False, False]]),
                torch.tensor([[False] * 4 + [True], [False] * 3 + [True] * 2]), torch.tensor([True, False]))


class Masked(nn.Module):
    """Masks of each type that authors write; one map used twice; reflected and repeated positions."""
    weights = 72  # of one map

    def __init__(self):
        super().__init__()
        self.map = nn.Linear(8, 8)

    def forward(self, x, keep, other, ids, weights):
        y = torch.tanh(self.map(torch.tanh(self.map(x))))
        scores = y @ y.transpose(1, 2)
        a = scores.masked_fill(~keep[:, None], -1e9).softmax(-1)
        b = scores.masked_fill(keep[:, None] & ~other[:, None], float("-inf")).softmax(-1)
        c = scores.masked_fill(ids[:, None] == 0, -1e9) + scores.masked_fill(weights[:, None] == 0, 0.0)
        return a @ x, b @ x, c, F.pad(y, (2, 3), mode="reflect"), F.pad(y, (1, 2), mode="replicate")

    def example(self):
        keep, other = torch.tensor([[True] * 4 + [False]]), torch.tensor([[True, False, True, True, False]])
        return torch.randn(1, 5, 8), keep, other, torch.tensor([[3, 0, 1, 2, 0]]), torch.tensor([[0.0, 1, 2, 0, 1]])


class Masks(nn.Module):
    """Cross attention to a wider memory, softcap, a window, a bias before the scale, and keys that conditions drop and keep."""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = nn.Linear(16, 16), nn.Linear(24, 16), nn.Linear(24, 16), nn.Linear(16, 16)
        self.capped, self.windowed, self.biased = (Attention(change) for change in (lambda s: 3 * torch.tanh(s / 3), self.window, self.bias))
        self.dropped, self.kept = Attention(), Attention()
        self.table, self.distance = nn.Parameter(torch.randn(4, 10, 10)), torch.arange(10) - torch.arange(10)[:, None]

    def window(self, scores):
        return scores.masked_fill((self.distance > 2) | (self.distance < -1), float("-inf"))

    def bias(self, scores):
        return (scores * 2 + self.table) * 0.5 + hidden_later(10)

    def forward(self, x, memory, drop, keep):
        q, k, v = heads_of(self.q(x), 4), heads_of(self.k(memory), 4), heads_of(self.v(memory), 4)
        y = x + self.o(rows_of((q @ k.transpose(-1, -2) * 0.5).softmax(-1) @ v))
        y = y + self.capped(y) + self.windowed(y) + self.biased(y)
        self.dropped.change = lambda s: s.masked_fill(drop[:, None, None], float("-inf"))
        self.kept.change = lambda s: s + torch.where(keep[:, None, None] == 0, float("-inf"), 0.0)
        return y + self.dropped(y) + self.kept(y)

    def example(self):
        return torch.randn(1, 10, 16), torch.randn(1, 7, 24), torch.tensor([[False] * 7 + [True] * 3]), torch.tensor([[1, 1, 0, 1, 1, 1, 1, 1, 1, 0]])


class AddedMasks(nn.Module):
    """Causal and padded by one condition, by a product of both, by GPT-2's weights; numbers that are added to the scores."""

    def __init__(self):
        super().__init__()
        self.each, self.seen = nn.ModuleList([Attention() for _ in range(5)]), torch.ones(LENGTH, LENGTH).tril()

    def forward(self, x, kept, added, of_pairs):
        hidden, seen = kept[:, None, None] == 0, self.seen * kept[:, None, None]
        changes = (lambda s: s.masked_fill(hidden | (self.seen == 0), float("-inf")), lambda s: s + (1 - seen) * -1e9,
                   lambda s: s * self.seen - 1e4 * (1 - self.seen), lambda s: s + added[:, None, None], lambda s: s + of_pairs)
        for attention, change in zip(self.each, changes):
            attention.change = change
            x = x + attention(x)
        return x

    def example(self):
        return torch.randn(2, LENGTH, WIDTH), (torch.arange(LENGTH) < torch.tensor([[6], [9]])).float(), torch.randn(2, LENGTH), torch.randn(LENGTH, LENGTH)


class SharedKeys(nn.Module):
    """Queries and keys with norms of their own, as in Qwen3; keys and values repeated by head, or one for all heads."""

    def __init__(self):
        super().__init__()
        self.q, self.o, self.q_norm, self.k_norm = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH), RmsNorm(4), RmsNorm(4)
        self.k, self.v, self.k_of_all, self.v_of_all = nn.Linear(WIDTH, 8), nn.Linear(WIDTH, 8), nn.Linear(WIDTH, 4), nn.Linear(WIDTH, 4)
        self.q_of_all, self.o_of_all = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.register_buffer("angles", torch.outer(torch.arange(LENGTH).float(), 10000.0 ** -(torch.arange(0, 4, 2).float() / 4)).repeat(1, 2))

    def turned(self, x):
        return x * self.angles.cos() + torch.cat((-x[..., 2:], x[..., :2]), -1) * self.angles.sin()

    def forward(self, x):
        q, k, v = self.turned(self.q_norm(heads_of(self.q(x), 4))), self.turned(self.k_norm(heads_of(self.k(x), 2))), heads_of(self.v(x), 2)
        k, v = (torch.cat([one[:, i:i + 1].expand(-1, 2, -1, -1) for i in (0, 1)], 1) for one in (k, v))
        x = x + self.o(rows_of((q @ k.transpose(2, 3) / 2).softmax(-1) @ v))
        q, k, v = self.turned(heads_of(self.q_of_all(x), 4) / 2), self.turned(self.k_of_all(x)), self.v_of_all(x)  # scaled first, as in ESM-2
        return x + self.o_of_all(rows_of((q @ k[:, None].transpose(2, 3)).softmax(-1) @ v[:, None]))

    def example(self):
        return torch.randn(1, LENGTH, WIDTH),


class Gpt2OfRows(nn.Module):
    """transformers' GPT-2: maps of rows of all sequences, padding by _expand_mask of numbers; the first sequence is all padding."""

    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block() for _ in range(2)])
        for block in self.blocks:
            block.up, block.down, block.attention.output = (OfRows(one) for one in (block.up, block.down, block.attention.output))

    def forward(self, x, attention_mask):
        hidden = 1.0 - attention_mask[:, None, None].expand(-1, 1, x.shape[1], -1).to(x.dtype)
        mask = hidden.masked_fill(hidden.to(torch.bool), torch.finfo(x.dtype).min)
        for block in self.blocks:
            block.attention.change = lambda scores: scores + mask
            x = block(x)
        return torch.stack((x, x), 1)

    def example(self):
        return torch.randn(2, LENGTH, WIDTH), torch.tensor([[0] * LENGTH, [1] * 7 + [0] * (LENGTH - 7)])


class OfRows(nn.Module):
    def __init__(self, linear):
        super().__init__()
        self.linear = linear

    def forward(self, x):
        return self.linear(x.view(-1, x.shape[-1])).view(*x.shape[:-1], -1)


class Detection(nn.Module):
    """DETR's decoder: positions are added to queries and keys, and not to values."""

    def __init__(self):
        super().__init__()
        self.own, self.cross = (nn.MultiheadAttention(WIDTH, HEADS, batch_first=True) for _ in range(2))
        self.wanted, self.places = nn.Parameter(torch.randn(5, WIDTH)), nn.Parameter(torch.randn(LENGTH, WIDTH))

    def forward(self, x, memory):
        placed = x + self.wanted
        x = x + self.own(placed, placed, x, need_weights=False)[0]
        return x + self.cross(x + self.wanted, memory + self.places, memory, need_weights=False)[0]

    def example(self):
        return torch.randn(2, 5, WIDTH), torch.randn(2, LENGTH, WIDTH)


class Padded(nn.Module):
    """One head of keys with rotary positions, padding by the mask and by the number 0 of a word, and the mean of what isn't padding."""

    def __init__(self):
        super().__init__()
        self.embed, self.attention = nn.Embedding(20, WIDTH), Attention()
        self.query, self.key, self.value, self.output = (nn.Linear(WIDTH, n, False) for n in (WIDTH, 4, 4, WIDTH))
        angles = torch.outer(torch.arange(LENGTH).float(), 10000.0 ** -(torch.arange(0, 4, 2).float() / 4)).repeat(1, 2)
        self.register_buffer("cosines", angles.cos())
        self.register_buffer("sines", angles.sin())

    def rotated(self, x):
        a, b = x.chunk(2, -1)
        return x * self.cosines + torch.cat((-b, a), -1) * self.sines

    def forward(self, ids, mask):
        x = self.embed(ids)
        self.attention.change = lambda scores: scores.masked_fill(ids[:, None, None] == 0, float("-inf"))
        x = x + self.attention(x)
        k = self.rotated(heads_of(self.key(x), 1)).expand(1, 4, LENGTH, 4)
        scores = self.rotated(heads_of(self.query(x), 4)) @ k.transpose(-1, -2) / 2
        weights = scores.masked_fill(~~mask[:, None, None], float("-inf")).softmax(-1)
        x = x + self.output(rows_of(weights @ heads_of(self.value(x), 1).expand(1, 4, LENGTH, 4)))
        kept = (~F.pad(mask[:, 1:], (1, 0))).float()
        return (x * kept[..., None]).sum(1) / kept.sum(1, keepdim=True).clamp(min=1e-9)

    def example(self):
        return torch.tensor([[3, 4, 5, 6, 7, 8, 9, 0, 0, 0]]), torch.arange(LENGTH)[None] > 6


class ClassToken(nn.Module):
    """Padding without a flag for the class token; batch and heads are one axis in torch's own layers."""

    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 32, dropout=0.0, batch_first=True)
        self.proj, self.encoder, self.head = nn.Linear(8, WIDTH), nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), nn.Linear(WIDTH, 3)
        self.class_token = nn.Parameter(torch.randn(1, 1, WIDTH))

    def forward(self, x, padding):
        x = torch.cat((self.class_token.expand(x.shape[0], -1, -1), self.proj(x)), 1)
        return self.head(self.encoder(x, src_key_padding_mask=F.pad(padding, (1, 0)))[:, 0])

    def example(self):
        return torch.randn(3, LENGTH, 8), torch.arange(LENGTH)[None] > torch.tensor([[4], [7], [9]])


class PaddedWords(nn.Module):
    """Masks by the number of a word: torch's own layers with a class token, then causal layers, whose blocks share the mask."""

    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 32, dropout=0.0, batch_first=True)
        self.embed, self.encoder = nn.Embedding(3000, WIDTH), nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.class_token, self.blocks = nn.Parameter(torch.randn(1, 1, WIDTH)), nn.ModuleList([Block() for _ in range(2)])
        self.gates = nn.ModuleList([nn.Linear(WIDTH, WIDTH) for _ in range(2)])

    def forward(self, ids):
        x = torch.cat((self.class_token.expand(ids.shape[0], -1, -1), self.embed(ids)), 1)
        x = self.encoder(x, src_key_padding_mask=F.pad(ids == 1, (1, 0)))
        x = x[:, 1:] + x[:, :1]
        kept = (ids != 1).float()[:, None, None] * torch.ones(LENGTH, LENGTH).tril()
        for block, gate in zip(self.blocks, self.gates):
            block.attention.change = lambda scores: scores + (1 - kept) * torch.finfo(torch.float32).min
            x = block(x) * torch.sigmoid(gate(x))
        return x

    def example(self):
        return torch.tensor([[3, 4, 5, 6, 7, 8, 9, 1, 1, 1], [3, 4, 1, 1, 1, 1, 1, 1, 1, 1]]),


class Named(nn.Module):
    """Modules and an input are called as what a header with steps has."""
    options = ["--decode", "key=10"]

    def __init__(self):
        super().__init__()
        self.capacity, self.cache, self.step = nn.Embedding(24, WIDTH), nn.Linear(WIDTH, 24), nn.LayerNorm(WIDTH)
        self.size, self.reset, self.sliding_window = (Block(lambda scores: scores + hidden_later(LENGTH)) for _ in range(3))

    def forward(self, next):
        return self.cache(self.step(self.sliding_window(self.reset(self.size(self.capacity(next))))))

    def example(self):
        return torch.randint(0, 24, (1, LENGTH)),


class Fresh(nn.Module):
    """Not trained: gammas are 1 and betas 0. A causal mask and one of padding, both with -inf, by where."""
    is_fresh = True

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Block() for _ in range(2)])

    def forward(self, x, padding):
        hidden = torch.full((), float("-inf"))
        for layer in self.layers:
            layer.attention.change = lambda scores: torch.where(~padding[:, None, None], scores, hidden) + hidden_later(LENGTH)
            x = layer(x)
        return x

    def example(self):
        return torch.randn(1, LENGTH, WIDTH), torch.arange(LENGTH)[None] > 6


class Each(nn.Module):
    """Every part by itself, of one input."""

    def __init__(self, *parts):
        super().__init__()
        self.parts = nn.ModuleList(parts)

    def forward(self, x):
        return tuple(part(x) for part in self.parts)


class Convolutions(Each):
    """Along one axis: strides, padding, dilation, groups, one output channel, one position."""

    def __init__(self):
        super().__init__(nn.Conv1d(8, 6, 3, stride=2, padding=1), nn.Conv1d(8, 6, 3, dilation=2, padding=2, bias=False),
                         nn.Conv1d(8, 8, 5, groups=8, padding=2), nn.Conv1d(8, 1, 3), nn.Conv1d(8, 6, 12), nn.AvgPool1d(3, 2, 1, count_include_pad=False))

    def example(self):
        return torch.randn(1, 8, 12),


class ConvolutionsOfImages(Each):
    """Of images: kernels of one row or column, one result, pooling with padding."""

    def __init__(self):
        super().__init__(nn.Conv2d(3, 6, (3, 1), stride=2), nn.Conv2d(3, 3, (8, 3), groups=3), nn.Conv2d(3, 6, (8, 9)), nn.AvgPool2d(3, 2, 1),
                         nn.Conv2d(3, 6, 3, stride=2, padding=(1, 0), dilation=(2, 1)), nn.MaxPool2d((8, 1)))

    def example(self):
        return torch.randn(1, 3, 8, 9),


class OneChannel(Each):
    """Of one channel, or of one row that padding makes several."""

    def __init__(self):
        super().__init__(nn.Conv2d(1, 6, (1, 3), padding=(0, 1)), nn.Conv2d(1, 6, 3, padding=(2, 0)), nn.Conv2d(1, 1, (1, 3)), nn.Conv2d(1, 1, 1),
                         nn.MaxPool2d((1, 2)))

    def example(self):
        return torch.randn(1, 1, 1, 9),


class ConvolutionsOfBatch(Each):
    """Of two images at once."""

    def __init__(self):
        super().__init__(nn.Conv2d(3, 6, 3, padding=1), nn.Conv2d(3, 6, 4, stride=4), nn.Conv2d(3, 3, 3, groups=3), nn.MaxPool2d(2),
                         nn.Conv2d(3, 6, (8, 9)), nn.AvgPool2d(3, 2, 1, count_include_pad=False))

    def example(self):
        return torch.randn(2, 3, 8, 9),


class Resized(nn.Module):
    """Transposed convolutions, and images of other sizes."""

    def __init__(self):
        super().__init__()
        self.twice, self.wide = nn.ConvTranspose2d(3, 4, 3, stride=2, padding=1, output_padding=1), nn.ConvTranspose2d(4, 2, (1, 2), (1, 3), dilation=(1, 2), groups=2)

    def forward(self, x):
        y = self.wide(torch.relu(self.twice(x)))
        return (y, F.interpolate(x, scale_factor=2), F.interpolate(x, scale_factor=2, mode="bilinear"),
                F.interpolate(x, size=(9, 5), mode="bilinear", align_corners=True), F.interpolate(x, size=(3, 2)))

    def example(self):
        return torch.randn(2, 3, 5, 4),


class DecisionTransformer(nn.Module):
    """Kinds of tokens, stacked and interleaved; four inputs and two results."""

    def __init__(self):
        super().__init__()
        self.reward, self.state, self.action, self.time = nn.Linear(2, WIDTH), nn.Linear(3, WIDTH), nn.Linear(4, WIDTH), nn.Embedding(4, WIDTH)
        self.norm, self.block = nn.LayerNorm(WIDTH), Block(lambda scores: scores + hidden_later(12, -1e9))
        self.next_action, self.next_state = nn.Linear(WIDTH, 4), nn.Linear(WIDTH, 3)

    def forward(self, rewards, states, actions, times):
        time = self.time(times)
        kinds = torch.stack((self.reward(rewards) + time, self.state(states) + time, self.action(actions) + time), 1)
        x = self.block(self.norm(kinds.permute(0, 2, 1, 3).reshape(1, 12, WIDTH))).reshape(1, 4, 3, WIDTH).permute(0, 2, 1, 3)
        return torch.tanh(self.next_action(x[:, 1])), self.next_state(x[:, 2])

    def example(self):
        return torch.randn(1, 4, 2), torch.randn(1, 4, 3), torch.randn(1, 4, 4), torch.arange(4)[None]


class GptJ(nn.Module):
    """Rotary positions of a part of the head, in adjacent pairs; attention and network side by side."""
    options = ["--decode", "key=10"]

    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.output = (nn.Linear(32, 32, False) for _ in range(4))
        self.norm, self.up, self.down = nn.LayerNorm(32), nn.Linear(32, 64), nn.Linear(64, 32)
        angles = torch.outer(torch.arange(LENGTH).float(), 10000 ** -(torch.arange(0, 4, 2).float() / 4)).repeat_interleave(2, 1)
        self.register_buffer("cosines", angles.cos())
        self.register_buffer("sines", angles.sin())

    def rotated(self, x):
        first, rest = x[..., :4], x[..., 4:]
        turned = torch.stack((-first[..., 1::2], first[..., ::2]), -1).flatten(-2)
        return torch.cat((first * self.cosines + turned * self.sines, rest), -1)

    def forward(self, x):
        y = self.norm(x)
        q, k, v = self.rotated(heads_of(self.query(y), 4)), self.rotated(heads_of(self.key(y), 4)), heads_of(self.value(y), 4)
        weights = (q @ k.transpose(-1, -2) / 8**0.5 + hidden_later(LENGTH, torch.finfo(torch.float32).min)).softmax(-1)
        return x + self.output(rows_of(weights @ v)) + self.down(F.gelu(self.up(y), approximate="tanh"))

    def example(self):
        return torch.randn(1, LENGTH, 32),


class GptNeoX(nn.Module):
    """Queries, keys and values of each head side by side; rotary positions of a part of the head, in halves."""
    options = ["--decode", "key=10"]

    def __init__(self):
        super().__init__()
        self.qkv, self.output = nn.Linear(32, 96), nn.Linear(32, 32)
        angles = torch.outer(torch.arange(LENGTH).float(), 500000 ** -(torch.arange(0, 4, 2).float() / 4)).repeat(1, 2)
        self.register_buffer("cosines", angles.cos())
        self.register_buffer("sines", angles.sin())

    def rotated(self, x):
        first, rest = x[..., :4], x[..., 4:]
        turned = torch.cat((-first[..., 2:], first[..., :2]), -1)
        return torch.cat((first * self.cosines + turned * self.sines, rest), -1)

    def forward(self, x):
        q, k, v = self.qkv(x).view(1, LENGTH, 4, 24).transpose(1, 2).split(8, -1)
        scores = self.rotated(q) @ self.rotated(k).transpose(-1, -2) / 8**0.5 + hidden_later(LENGTH)
        return self.output(rows_of(scores.softmax(-1) @ v))

    def example(self):
        return torch.randn(1, LENGTH, 32),


class LlamaOfMeta(nn.Module):
    """Rotary positions in adjacent pairs, by products of each part with cosines and sines."""
    options = ["--decode", "key=10"]

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(16, 16, False) for _ in range(4))
        angles = torch.outer(torch.arange(LENGTH).float(), 10000.0 ** -(torch.arange(0, 4, 2).float() / 4))[None, :, None]
        self.register_buffer("cosines", angles.cos())
        self.register_buffer("sines", angles.sin())

    def turned(self, x):
        first, second = x.reshape(*x.shape[:-1], -1, 2).unbind(-1)
        turned = first * self.cosines - second * self.sines, first * self.sines + second * self.cosines
        return torch.stack(turned, -1).flatten(3).transpose(1, 2)

    def forward(self, x):
        q, k, v = (f(x).view(1, LENGTH, 4, 4) for f in (self.q, self.k, self.v))
        scores = self.turned(q) @ self.turned(k).transpose(2, 3) / 2 + hidden_later(LENGTH)
        return x + self.o(rows_of(scores.softmax(-1) @ v.transpose(1, 2)))

    def example(self):
        return torch.randn(1, LENGTH, 16),


class Swin(nn.Module):
    """Attention in shifted windows with a bias from a table; patches are merged."""

    def __init__(self):
        super().__init__()
        self.norm, self.attention = nn.LayerNorm(WIDTH), Attention(self.biased)
        self.merge, self.norm_of_merge = nn.Linear(64, 32, False), nn.LayerNorm(64)
        self.table = nn.Parameter(torch.randn(HEADS, 49))
        self.register_buffer("places", torch.randint(0, 49, (16, 16)))

    def biased(self, scores):
        return scores + self.table[:, self.places]

    def forward(self, x):
        y = torch.roll(self.norm(x), (-2, -2), (1, 2)).view(1, 2, 4, 2, 4, WIDTH).permute(0, 1, 3, 2, 4, 5).reshape(4, 16, WIDTH)
        y = self.attention(y).view(1, 2, 2, 4, 4, WIDTH).permute(0, 1, 3, 2, 4, 5).reshape(1, 8, 8, WIDTH)
        x = x + torch.roll(y, (2, 2), (1, 2))
        return self.merge(self.norm_of_merge(torch.cat([x[:, i::2, j::2] for j in (0, 1) for i in (0, 1)], -1)))

    def example(self):
        return torch.randn(1, 8, 8, WIDTH),


class SwinV2(nn.Module):
    """Cosine attention: normalized queries and keys, a bounded scale for each head, a bias from a network of distances."""

    def __init__(self):
        super().__init__()
        self.qkv, self.proj, self.network = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH), network(2, 8, nn.ReLU)
        self.scale, self.heads = nn.Parameter(torch.log(10 + torch.arange(4.0))[:, None, None]), nn.Linear(2, HEADS, False)
        ahead = torch.arange(16) - torch.arange(16)[:, None]
        self.register_buffer("apart", torch.stack((ahead // 4, ahead % 4), -1).float())

    def forward(self, x):
        b, n, c = x.shape
        q, k, v = self.qkv(x).reshape(b, n, 3, HEADS, -1).permute(2, 0, 3, 1, 4).unbind(0)
        scores = F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-2, -1) * torch.clamp(self.scale, max=math.log(100)).exp()
        bias = 16 * torch.sigmoid(self.heads(self.network(self.apart))).permute(2, 0, 1)
        return self.proj(((scores + bias).softmax(-1) @ v).transpose(1, 2).reshape(b, n, c))

    def example(self):
        return torch.randn(4, 16, WIDTH),


class Olmo(nn.Module):
    """OLMo 2: a norm of the queries of all heads, and of the keys; norms after attention and network. Its attention is none of Umbel's
    layers, so a step is of the whole model as a formula."""
    options = ["--decode", "key=10"]

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([LlamaLayer(WIDTH, 4, 4) for _ in range(2)])
        for layer in self.layers:
            layer.q_proj, layer.k_proj = (nn.Sequential(nn.Linear(WIDTH, WIDTH, False), RmsNorm(WIDTH)) for _ in range(2))
            layer.o_proj, layer.down_proj = nn.Sequential(layer.o_proj, layer.norm1), nn.Sequential(layer.down_proj, layer.norm2)
            layer.norm1 = layer.norm2 = nn.Identity()
        self.register_buffer("angles", torch.outer(torch.arange(LENGTH).float(), 10000.0 ** -(torch.arange(0, 4, 2).float() / 4)).repeat(1, 2))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x, self.angles.cos(), self.angles.sin(), hidden_later(LENGTH))
        return x

    def example(self):
        return torch.randn(1, LENGTH, WIDTH),


class PatchTst(nn.Module):
    """Overlapping patches by slices; each series is normalized by its mean and variance."""

    def __init__(self):
        super().__init__()
        self.embed, self.block, self.head = nn.Linear(8, WIDTH), Block(), nn.Linear(7 * WIDTH, 4)

    def forward(self, x):
        mean = x.mean(1, keepdim=True)
        deviation = torch.sqrt(x.var(1, keepdim=True, unbiased=False) + 1e-5)
        patches = torch.stack([((x - mean) / deviation).transpose(1, 2)[..., i:i + 8] for i in range(0, 28, 4)], 2)
        y = self.block(self.embed(patches)[0]).reshape(1, 3, -1)
        return self.head(y).transpose(1, 2) * deviation + mean

    def example(self):
        return torch.randn(1, 32, 3),


class Tabular(nn.Module):
    """Categories and numbers as tokens, several embeddings; ELU and softplus."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.class_token = nn.Embedding(5, WIDTH), nn.Embedding(7, WIDTH), nn.Parameter(torch.randn(1, 1, WIDTH))
        self.weight, self.bias = nn.Parameter(torch.randn(4, WIDTH)), nn.Parameter(torch.randn(4, WIDTH))
        self.block, self.head = Block(activation=F.elu), nn.Linear(WIDTH, 2)

    def forward(self, first, second, numbers):
        tokens = (self.class_token, self.first(first)[:, None], self.second(second)[:, None], numbers[..., None] * self.weight + self.bias)
        return F.softplus(self.head(self.block(torch.cat(tokens, 1))[:, 0]))

    def example(self):
        return torch.tensor([3]), torch.tensor([2]), torch.randn(1, 4)


class Corners(nn.Module):
    """What a generator of random graphs found: axes of one element, fixed positions, joined integers, what cancels."""

    def __init__(self):
        super().__init__()
        self.conv, self.table = nn.Conv1d(1, 6, 1), nn.Embedding(9, 4)
        self.places = torch.tensor([[[2, 0, 1], [1, 1, 0]]])

    def forward(self, x, ids):
        outer = self.conv(x[:, :1, 0]) + x[:, 1, :, 2, None].sum()
        joined = self.table(torch.cat((ids, ids.flip(1)), 1))
        one = F.adaptive_avg_pool2d(x[:, :, :1, :1], 1) + F.max_pool1d(x[:, :, 0, :1], 1)[..., None]
        return outer, joined, one, x[:, 0, :2].gather(2, self.places), (x - x) + F.pad(x, (0, 0), mode="constant"), ids

    def example(self):
        return torch.randn(1, 2, 3, 4), torch.tensor([[3, 1, 8]])


class Axial(nn.Module):
    """Attention along rows, then along columns, of two images."""

    def __init__(self):
        super().__init__()
        self.row, self.column = Attention(), Attention()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)

    def forward(self, x):
        b, h, w, c = x.shape
        x = x + self.row(self.norm1(x).reshape(b * h, w, c)).reshape(b, h, w, c)
        y = self.norm2(x).transpose(1, 2).reshape(b * w, h, c)
        return x + self.column(y).reshape(b, w, h, c).transpose(1, 2)

    def example(self):
        return torch.randn(2, 4, 5, WIDTH),


class Deberta(nn.Module):
    """Scores with products by distance: bounded, and in buckets; elements at places that have no order, along one axis and all axes."""
    weights = 1_813  # at most one number for each position or pair of positions

    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.output = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.relative, self.places = nn.Parameter(torch.randn(12, WIDTH)), nn.Parameter(torch.randn(12, 4))
        ahead = torch.arange(LENGTH)[:, None] - torch.arange(LENGTH)
        buckets = ahead.sign() * torch.where(ahead.abs() < 3, ahead.abs(), 2 + (ahead.abs() / 2).log2().ceil().long())
        self.of_query, self.of_key = ((ahead + 6).clamp(0, 11)[None].repeat(HEADS, 1, 1), (buckets + 6)[None].repeat(HEADS, 1, 1))
        self.mixed, self.order = torch.randint(0, 12, (1, LENGTH, 7)), torch.randperm(LENGTH * 4).reshape(4, LENGTH)

    def forward(self, x):
        q, k, v = (heads_of(f(x), HEADS) for f in (self.query, self.key, self.value))
        of_key, of_query = (heads_of(f(self.relative)[None], HEADS) for f in (self.key, self.query))
        by_query, by_key = (q @ of_key.transpose(-1, -2))[0], (k @ of_query.transpose(-1, -2))[0]
        scores = q @ k.transpose(-1, -2) / 3.5 + by_query.gather(-1, self.of_query) / 3.5
        scores = scores + by_key.gather(-1, self.of_key).transpose(-1, -2)
        products = x @ self.places.repeat(1, 4).T
        apart = (products[0].gather(-1, self.of_query[0]), products[0].gather(-1, self.of_key[0]).T * 2, products.gather(-1, self.mixed))
        return self.output(rows_of(scores.softmax(-1) @ v)), *apart, x[..., :4].flatten()[self.order]

    def example(self):
        return torch.randn(1, LENGTH, WIDTH),


class Batch(nn.Module):
    """Two sequences at once, a mask for each; the largest of each feature."""

    def __init__(self):
        super().__init__()
        self.block, self.cross = Block(), Attention()

    def forward(self, x, memory, mask, of_both):
        self.block.attention.change = lambda scores: scores.masked_fill(mask[:, None, None] == 0, float("-inf"))
        self.cross.change = lambda scores: scores.masked_fill(of_both[:, None, None], float("-inf"))
        x = self.block(x)
        return (x + self.cross(x, memory)).amax(1)

    def example(self):
        mask = (torch.arange(LENGTH) < torch.tensor([[4], [LENGTH]])).long()
        return torch.randn(2, LENGTH, WIDTH), torch.randn(2, 7, WIDTH), mask, torch.arange(7)[None] > 4


class Linformer(nn.Module):
    """Keys projected along the sequence, linear attention, a reversed cumulative sum."""

    def __init__(self):
        super().__init__()
        self.along, self.query, self.key = nn.Linear(LENGTH, 5), nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        keys = self.along(self.key(x).transpose(1, 2))
        features = F.elu((self.query(x) @ keys / 4).softmax(-1) @ keys.transpose(1, 2)) + 1
        summed = torch.einsum("btd,btc->bdc", features.softmax(1), x)
        total = (features * features).sum(-1, keepdim=True).clamp(min=1e-3)
        return torch.einsum("btd,bdc->btc", features, summed) / total + x.flip(1).cumsum(1)

    def example(self):
        return torch.randn(1, LENGTH, WIDTH),


class Functions(nn.Module):
    """Functions of elements, powers by a number and by a tensor, sums up to a position, elements by integers."""

    def __init__(self):
        super().__init__()
        self.speed = nn.Parameter(torch.randn(WIDTH))

    def forward(self, x, at):
        angle, size = self.speed * x, x.abs() + 0.5
        y = torch.sin(angle) * torch.cos(x) + torch.erf(x) - torch.floor(angle) * 0.1 + size.pow(1.7) + size.pow(x) + x.pow(7)
        y = F.softplus(y) + F.elu(x) + x.flip(1).cumsum(1) - x.cumsum(2) + torch.sign(x) + torch.logsumexp(x, -1, keepdim=True)
        y = y + x.argmax(1, keepdim=True).float() * 0.1 - x.argmin(2, keepdim=True).float() * 0.1
        moved = torch.gather(y, 1, at) + self.speed[at]  # elements of the sequence, and of a constant by numbers that are computed
        return moved + y[..., WIDTH - 1 - at[0, 0]] * 0.1 + torch.gather(y, 2, at[:, :4])[:, :1]

    def example(self):
        return torch.randn(1, LENGTH, WIDTH), torch.randint(0, LENGTH, (1, LENGTH, WIDTH))


# The layers that tools/import names for each, and the models of CI: the fewest that use every part of the importer.
EXPECTED = {
    Encoder: "2 encoder layers, 1 norm, 1 linear map", VisionTransformer: "2 linear maps, 2 encoder layers, 1 norm",
    KeywordTransformer: "2 linear maps, 2 encoder layers, 1 norm", Bert: "1 embedding, 1 norm, 2 encoder layers, 2 linear maps",
    Whisper: "2 convolutions, 2 encoder layers, 1 norm", Llama: "1 embedding, 2 encoder layers, 1 norm, 1 linear map",
    Conformer: "5 norms, 2 feed-forward networks, 1 attention, 3 linear maps, 1 depthwise convolution", T5: "1 embedding, 2 encoder layers, 0 other operations",
    Alibi: "2 encoder layers, 1 linear map", Gpt2: "1 embedding, 2 encoder layers", Perceiver: "4 linear maps, 1 encoder layer",
    LlamaOfMeta: "2 statements: 1 attention", GptNeoX: "1 statement: 1 attention", SetTransformer: "7 linear maps, 1 attention", Masks: "12 statements: 6 attentions",
    Padded: "1 embedding, 2 attentions", ClassToken: "2 linear maps, 2 encoder layers", PaddedWords: "4 of them 2 times: 1 embedding, 3 encoder layers, 2 linear maps", Fresh: "2 encoder layers, 0 other operations", Named: "1 embedding, 3 encoder layers, 1 norm, 1 linear map",
    CausalConvolution: "2 convolutions, 1 linear map", Mobile: "3 convolutions, 1 depthwise convolution, 1 linear map",
    Convolutions: "4 convolutions, 1 depthwise convolution", ConvolutionsOfImages: "3 convolutions, 1 depthwise convolution",
    OneChannel: "4 convolutions", Resized: "", ConvolutionsOfBatch: "2 convolutions, 1 linear map, 1 depthwise convolution", DecisionTransformer: "5 linear maps, 1 embedding, 1 norm, 1 encoder layer", GptJ: "1 norm, 1 attention, 1 feed-forward network, 2 other",
    Swin: "2 norms, 1 attention, 1 linear map", Axial: "2 norms, 2 attentions", SwinV2: "22 statements: 2 linear maps", Olmo: "24 of them 2 times: 8 linear maps, 8 norms, 2 feed-forward networks", Deberta: "5 linear maps, 24 other", PatchTst: "17 statements: 2 linear maps, 1 encoder layer", Tabular: "", Batch: "1 encoder layer, 1 attention", Corners: "", Linformer: "",
    PositionsFirst: "2 encoder layers, 2 norms, 1 attention", Decoder: "1 statement: 1 decoder layer, 0 other", AddedMasks: "5 attentions, 5 other", SharedKeys: "2 attentions, 2 other", Detection: "2 attentions, 5 other", Gpt2OfRows: "2 encoder layers",
    Functions: "1 embedding", Masked: "2 linear maps", Chosen: "2 linear maps"}
IN_CI = [Llama, Bert, PositionsFirst, DecisionTransformer, Swin, CausalConvolution, Functions, Masked, PaddedWords, Deberta, Named, Fresh]


def slow_path(model):
    """torch 1.13 can't export its fused encoder layers."""
    for one in model.modules():
        if isinstance(one, nn.TransformerEncoderLayer):
            one.activation_relu_or_gelu = 0
        if isinstance(one, nn.MultiheadAttention):
            one.training = True
    return model


def made(kind):
    torch.manual_seed(1)
    model = kind().eval()
    for parameter in model.parameters():
        parameter.requires_grad_(False)
        if parameter.dim() == 1 and not hasattr(kind, "is_fresh"):  # biases away from 0, gammas from 1
            parameter += 0.1 * torch.randn_like(parameter)
    return slow_path(model)


def export(model, path, opset=17):
    names = list(inspect.signature(model.forward).parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(model, model.example(), str(path), opset_version=opset, input_names=names, training=torch.onnx.TrainingMode.PRESERVE,
                          do_constant_folding=True)
