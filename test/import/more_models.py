# SPDX-License-Identifier: BSL-1.0
"""Models of families that tools/import wasn't written for, for `check.py --all`: none is a layer as a whole, and all come in."""
import math

import torch
from torch import nn
from torch.nn import functional as F

from models import HEADS, WIDTH, Block, heads_of, hidden_later, rows_of


class RelativeShift(nn.Module):
    """Transformer-XL: a memory before the sequence, and scores by distance, which a padding and two views shift."""

    def __init__(self):
        super().__init__()
        self.q, self.r, self.o = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(3))
        self.kv, self.norm = nn.Linear(WIDTH, 2 * WIDTH, bias=False), nn.LayerNorm(WIDTH)
        self.u, self.v = (nn.Parameter(torch.randn(HEADS, 1, WIDTH // HEADS)) for _ in range(2))
        angles = torch.arange(11, -1, -1.0)[:, None] * 1e4 ** -(torch.arange(0, WIDTH, 2.0) / WIDTH)
        self.register_buffer("distances", torch.cat((angles.sin(), angles.cos()), -1))

    def shifted(self, x):
        b, h, n, m = x.shape
        return F.pad(x, (1, 0)).view(b, h, m + 1, n)[:, :, 1:].reshape(b, h, n, m)

    def forward(self, x, memory):
        n, both = x.shape[1], torch.cat((memory, x), 1)
        q, (k, v) = heads_of(self.q(x), HEADS), (heads_of(one, HEADS) for one in self.kv(both).chunk(2, -1))
        r = heads_of(self.r(self.distances)[None], HEADS)
        scores = (q + self.u) @ k.transpose(2, 3) + self.shifted((q + self.v) @ r.transpose(2, 3))
        scores = (scores * 0.5).masked_fill(torch.ones(n, 12).triu(13 - n).bool(), -1e30)
        return self.norm(x + self.o(rows_of(scores.softmax(-1) @ v)))

    def example(self):
        return torch.randn(2, 7, WIDTH), torch.randn(2, 5, WIDTH)


class Triangles(nn.Module):
    """Evoformer: products over the edges of triangles, and gated attention along rows with a bias from the pairs."""

    def __init__(self):
        super().__init__()
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(8) for _ in range(3))
        self.a, self.b, self.gate_a, self.gate_b, self.gate, self.out, self.q, self.k, self.v, self.gate2, self.out2 = (nn.Linear(8, 8) for _ in range(11))
        self.bias = nn.Linear(8, 2, bias=False)

    def forward(self, z, mask):
        y = self.norm1(z)
        a, b = (mask[..., None] * gate(y).sigmoid() * of(y) for gate, of in ((self.gate_a, self.a), (self.gate_b, self.b)))
        z = z + self.gate(y).sigmoid() * self.out(self.norm2(torch.einsum("ikc,jkc->ijc", a, b)))
        y = self.norm3(z)
        q, k, v = (heads_of(of(y), 2) for of in (self.q, self.k, self.v))
        scores = q @ k.transpose(2, 3) * 0.5 + self.bias(y).permute(2, 0, 1) + (1e9 * (mask - 1))[:, None, None]
        return z + self.out2(self.gate2(y).sigmoid() * rows_of(scores.softmax(-1) @ v))

    def example(self):
        return torch.randn(6, 6, 8), (torch.arange(6) < torch.tensor([[6], [4], [5], [6], [3], [6]])).float()


class Matching(nn.Module):
    """SuperGlue: features before positions, cross attention, and Sinkhorn's steps on scores with a bin."""

    def __init__(self):
        super().__init__()
        self.places = nn.Sequential(nn.Conv1d(3, 8, 1), nn.BatchNorm1d(8), nn.ReLU(), nn.Conv1d(8, WIDTH, 1))
        self.maps = nn.ModuleList([nn.Conv1d(WIDTH, WIDTH, 1) for _ in range(3)])
        self.mixed, self.last, self.bin = nn.Conv1d(2 * WIDTH, WIDTH, 1), nn.Conv1d(WIDTH, WIDTH, 1), nn.Parameter(torch.tensor(1.0))

    def crossed(self, x, source):
        q, k, v = (of(y).view(1, WIDTH // HEADS, HEADS, -1) for of, y in zip(self.maps, (x, source, source)))
        weights = (torch.einsum("bdhn,bdhm->bhnm", q, k) * 0.5).softmax(-1)
        return x + self.mixed(torch.cat((x, torch.einsum("bhnm,bdhm->bdhn", weights, v).reshape(1, WIDTH, -1)), 1))

    def forward(self, x, at_x, y, at_y):
        x, y = x + self.places(at_x), y + self.places(at_y)
        x, y = self.crossed(x, y), self.crossed(y, x)
        scores = torch.einsum("bdn,bdm->bnm", self.last(x), self.last(y)) / 4
        _, m, n = scores.shape
        scores = torch.cat((torch.cat((scores, self.bin.expand(1, m, 1)), 2), self.bin.expand(1, 1, n + 1)), 1)
        rows, columns = (torch.cat((torch.zeros(1, size), torch.full((1, 1), math.log(other))), 1) - math.log(m + n) for size, other in ((m, n), (n, m)))
        u, v = torch.zeros(1, m + 1), torch.zeros(1, n + 1)
        for _ in range(3):
            u = rows - torch.logsumexp(scores + v[:, None], 2)
            v = columns - torch.logsumexp(scores + u[:, :, None], 1)
        return scores + u[:, :, None] + v[:, None]

    def example(self):
        return torch.randn(1, WIDTH, 6), torch.randn(1, 3, 6), torch.randn(1, WIDTH, 5), torch.randn(1, 3, 5)


class TwoTowers(nn.Module):
    """CLIP: the words' row at the place of the largest id, and cosines of all pairs, twice."""

    def __init__(self):
        super().__init__()
        self.patches, self.first, self.table = nn.Conv2d(3, WIDTH, 4, 4, bias=False), nn.Parameter(torch.randn(WIDTH)), nn.Parameter(torch.randn(10, WIDTH))
        self.words, self.places, self.scale = nn.Embedding(30, WIDTH), nn.Parameter(torch.randn(8, WIDTH)), nn.Parameter(torch.tensor(1.0))
        self.sees, self.reads = Block(), Block(lambda scores: scores + hidden_later(8))
        self.of_image, self.of_words = nn.Parameter(torch.randn(WIDTH, 12)), nn.Parameter(torch.randn(WIDTH, 12))

    def forward(self, image, ids):
        x = self.patches(image).flatten(2).transpose(1, 2)
        x = self.sees(torch.cat((self.first.expand(x.shape[0], 1, -1), x), 1) + self.table)[:, 0] @ self.of_image
        y = self.reads(self.words(ids) + self.places)
        y = y[torch.arange(y.shape[0]), ids.argmax(-1)] @ self.of_words
        cosines = self.scale.exp() * (x / x.norm(dim=-1, keepdim=True)) @ (y / y.norm(dim=-1, keepdim=True)).t()
        return cosines, cosines.t()

    def example(self):
        return torch.randn(2, 3, 12, 12), torch.randint(0, 30, (3, 8))


class Correlation(nn.Module):
    """SiamRPN: the features of a template are the kernel of a convolution. A kernel whose inputs are scaled, as in StyleGAN."""

    def __init__(self):
        super().__init__()
        self.features, self.head = nn.Sequential(nn.Conv2d(3, 6, 3), nn.BatchNorm2d(6), nn.ReLU()), nn.Conv2d(6, 2, 1)
        self.weight, self.style = nn.Parameter(torch.randn(4, 2, 3, 3)), nn.Linear(6, 2)

    def forward(self, template, image):
        template, image = self.features(template), self.features(image)
        y = F.conv2d(image.reshape(1, 12, 7, 7), template.reshape(12, 1, 3, 3), groups=12).view(2, 6, 5, 5)
        weight = self.weight * (1 + self.style(template.mean((2, 3))))[0, None, :, None, None]
        return F.conv2d(self.head(y), weight * torch.rsqrt(weight.pow(2).sum((1, 2, 3), keepdim=True) + 1e-8), padding=1, stride=2)

    def example(self):
        return torch.randn(2, 3, 5, 5), torch.randn(2, 3, 9, 9)


EXPECTED = {RelativeShift: "4 linear maps, 1 norm", Triangles: "3 norms, 12 linear maps", Matching: "14 linear maps", TwoTowers: "3 linear maps, 2 encoder layers, 1 embedding",
            Correlation: "2 convolutions, 2 linear maps"}
