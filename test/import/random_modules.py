# SPDX-License-Identifier: BSL-1.0
"""Random models of torch, as people write them, for random_graphs.py. A model is a function of torch that asks a Part for the
weights it needs. It draws the same choices at every call, so torch can export it."""
import math
import random
import warnings

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


class Draw(random.Random):
    def of(self, *choices):
        return self.choice(choices)

    def chance(self, share):
        return self.random() < share

    def array(self, *shape, scale=1.0):
        return np.asarray(np.random.default_rng(self.getrandbits(32)).standard_normal(shape) * scale, np.float32)


def expressions(arguments, names, text):
    """Functions of the arguments: each line has one or more expressions."""
    return [eval(f"lambda {arguments}: ({one})", names) for line in text.strip().splitlines() for one in line.split(" ; ")]


class Part(nn.Module):
    """function(part, draw, *tensors)"""

    def __init__(self, function, seed):
        super().__init__()
        self.function, self.seed = function, seed

    def forward(self, *given):
        self.count = 0
        return self.function(self, Draw(self.seed), *given)

    def child(self, make, *given):
        """What the call before made at this place, or a new module or weight. No weights are 0 or 1."""
        name, self.count = f"part{self.count}", self.count + 1
        if not hasattr(self, name):
            setattr(self, name, make(*given))
            for tensor in [*self.get_submodule(name).eval().parameters(), *self.get_submodule(name).buffers()] if make != nn.Parameter else []:
                if tensor.is_floating_point() and tensor.dim() == 1:
                    tensor.data += 0.2 * torch.rand_like(tensor)
        return getattr(self, name)

    def weight(self, *shape):
        return self.child(nn.Parameter, torch.randn(*shape))

    def linear(self, x, out, bias=True):
        return self.child(nn.Linear, int(x.shape[-1]), out, bias)(x)

    def lookup(self, ids, width, rows=9):
        return self.child(nn.Embedding, rows, width)(ids)

    def part(self, function, draw, *given):
        return self.child(Part, function, draw if isinstance(draw, int) else draw.getrandbits(32))(*given)

    def layer(self, name, x, *given, **options):
        """nn.Conv2d and the like, by the axes of x."""
        return self.child(lambda: getattr(nn, f"{name}{x.dim() - 2}d")(*given, **options))(x)


ACTIVATIONS = expressions("x", globals(), """
F.relu(x) ; F.gelu(x) ; F.gelu(x, approximate="tanh") ; F.silu(x) ; F.hardswish(x) ; F.leaky_relu(x, 0.2) ; F.relu(x) ** 2 ; F.celu(x, 1.3)
F.relu6(x) ; F.hardtanh(x) ; F.softsign(x) ; x * torch.sigmoid(1.702 * x) ; F.logsigmoid(x) + F.hardsigmoid(x) ; F.elu(x) - torch.tanh(x)
F.selu(x) + torch.sin(x) ** 2 ; x * torch.tanh(F.softplus(x)) ; 0.5 * x * (1 + torch.erf(x / math.sqrt(2.0)))
0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * torch.pow(x, 3))))
""")
NORMS = expressions("p, d, x, n", globals(), """
p.child(nn.LayerNorm, n, d.of(1e-5, 1e-6, 1e-12))(x) ; x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * p.weight(n) ; F.layer_norm(x, (n,))
p.weight(n) * (x / torch.sqrt(torch.mean(x ** 2, dim=-1, keepdim=True) + 1e-3)) ; x * torch.pow(x.pow(2).mean(-1, keepdim=True) + 1e-5, -0.5) ; x
x / (x.norm(2, -1, keepdim=True) * n ** -0.5 + 1e-5) * (1 + p.weight(n)) ; F.normalize(x, dim=-1) * n ** 0.5
p.weight(n) * (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True, unbiased=d.of(False, True)) + 1e-5) + p.weight(n)
(x - x.mean(-1, keepdim=True)) / torch.sqrt(x.var(-1, keepdim=True, unbiased=d.of(False, True)) + 1e-5) * p.weight(n)
p.child(nn.GroupNorm, d.choice([g for g in (1, 2, 3) if n % g == 0]), n)(x.transpose(1, 2)).transpose(1, 2)
p.child(nn.BatchNorm1d, n)(x.transpose(1, 2)).transpose(1, 2) ; p.weight(n) * torch.tanh(p.weight(1) * x) + p.weight(n)
""")
NETWORKS = expressions("p, d, x, n, m, f", globals(), """
p.linear(f(p.linear(x, m, d.chance(0.7))), n, d.chance(0.7)) ; p.linear(f(p.linear(x, m, False)) * p.linear(x, m, d.chance(0.3)), n, d.chance(0.3))
p.linear((lambda a, b: f(a) * b)(*p.linear(x, 2 * m).chunk(2, -1)), n) ; p.linear((lambda a, b: a * f(b))(*p.linear(x, 2 * m).split(m, -1)), n)
p.child(nn.Conv1d, m, n, 1)(f(p.child(nn.Conv1d, n, m, 1)(x.transpose(1, 2)))).transpose(1, 2)
""")


def activation(d):
    return d.choice(ACTIVATIONS[:4] if d.chance(0.5) else ACTIVATIONS)


def norm(p, d, x, kind=None):
    return (kind or d.choice(NORMS[:2] * 2 + NORMS))(p, d, x, int(x.shape[-1]))


def network(p, d, x):
    return d.choice(NETWORKS)(p, d, x, int(x.shape[-1]), d.of(2, 3, 5, 8, 12, 24), activation(d))


def rotated(x, adjacent):
    t, dim = int(x.shape[-2]), int(x.shape[-1])
    angles = np.arange(t)[:, None] * 10000.0 ** (-np.arange(0, dim, 2) / dim)
    cosines, sines = torch.tensor(np.cos(angles).astype("f4")), torch.tensor(np.sin(angles).astype("f4"))
    if adjacent:
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack((a * cosines - b * sines, a * sines + b * cosines), -1).flatten(-2)
    a, b = x.chunk(2, -1)
    return x * torch.cat((cosines, cosines), -1) + torch.cat((-b, a), -1) * torch.cat((sines, sines), -1)


# Of n examples, t queries and s keys, h heads, g heads of keys, e features of each.
UNITS = expressions("p, d, x", globals(), "x ; x ; F.normalize(x, dim=-1) ; norm(p, d, x, NORMS[0]) ; norm(p, d, x, NORMS[1])")
TURNS = expressions("x", globals(), "x ; x ; rotated(x, False) ; rotated(x, True) ; torch.cat((rotated(x[..., :2], False), x[..., 2:]), -1)")
SPLITS = expressions("p, x, y, n, t, s, h, g, e, b", globals(), """
p.linear(x, 3 * h * e).reshape(n, t, 3, h, e).permute(2, 0, 3, 1, 4).unbind(0)
[one.view(n, t, h, e).transpose(1, 2) for one in p.linear(x, 3 * h * e).chunk(3, dim=-1)]
[p.linear(one, k * e, bias).view(n, -1, k, e).transpose(1, 2) for one, k, bias in ((x, h, b[0]), (y, g, b[1]), (y, g, b[2]))]
[p.linear(one, k * e, bias).view(n, m, k, e).permute(0, 2, 1, 3) for one, m, k, bias in zip((x, y, y), (t, s, s), (h, g, g), b)]
""")
PRODUCTS = expressions("q, k, n, t, h, e", globals(), """
q @ k.transpose(-2, -1) * e ** -0.5 ; (q * e ** -0.5) @ k.permute(0, 1, 3, 2) ; torch.matmul(q, k.transpose(2, 3)) / math.sqrt(e)
(q * e ** -0.25) @ (k * e ** -0.25).transpose(-2, -1) ; torch.einsum("bhid,bhjd->bhij", q, k) * e ** -0.5
torch.bmm(q.reshape(n * h, t, e), k.reshape(n * h, -1, e).transpose(1, 2)).view(n, h, t, -1) / e
""")
BIASES = expressions("p, apart, h", globals(), """
-torch.tensor([2.0 ** -(i + 1) for i in range(h)])[:, None, None] * apart.abs() ; p.lookup(apart.clamp(-4, 4) + 4, h).permute(2, 0, 1).unsqueeze(0)
torch.tensor([2.0 ** -(i + 1) for i in range(h)])[:, None, None] * apart ; p.weight(1, h, *apart.shape)
p.weight(sum(apart.shape) - 1, h)[(apart + apart.shape[0] - 1).view(-1)].view(*apart.shape, -1).permute(2, 0, 1).contiguous()
""")
HIDDEN = expressions("scores, kept", globals(), """
scores.masked_fill(~kept, -math.inf) ; torch.where(kept, scores, torch.full_like(scores, -1e9)) ; scores + (1.0 - kept.to(scores.dtype)) * -10000.0
scores.masked_fill(kept == 0, torch.finfo(torch.float32).min)
""")
WEIGHTS = expressions("p, y, h", globals(), """
torch.softmax(y, dim=-1) ; F.relu(y) ** 2 / y.shape[-1] ; torch.sigmoid(y - 1.5) ; torch.softmax(4.0 * torch.tanh(y / 4.0), dim=-1)
torch.cat((y, p.weight(h).view(1, h, 1, 1).expand(y.shape[0], h, y.shape[2], 1)), -1).softmax(-1)[..., :-1]
p.linear(y.softmax(-1).permute(0, 2, 3, 1), h, False).permute(0, 3, 1, 2)
""")
MERGED = expressions("y, n, t, h, e", globals(), """
y.transpose(1, 2).contiguous().view(n, t, h * e) ; y.transpose(1, 2).flatten(2) ; torch.cat([y[:, i] for i in range(h)], -1)
""")


def attention(p, d, x, y=None, kept=None, causal=None):
    """y: what keys and values come from, if it isn't x."""
    cross, h, turn, unit = y is not None, d.of(1, 2, 2, 3, 4), d.choice(TURNS), d.choice(UNITS)
    y, turn = (y, TURNS[0]) if cross else (x, turn)
    n, t, s, e = x.shape[0], int(x.shape[1]), int(y.shape[1]), d.of(4, 4, 6, 8) if turn in TURNS[2:] else d.of(2, 3, 4, 5)
    split = d.choice(SPLITS[2 * cross:])
    g = d.choice([g for g in (1, 2, h, h) if h % g == 0]) if split in SPLITS[2:] else h
    q, k, v = split(p, x, y, n, t, s, h, g, e, [d.chance(0.6) for _ in "qkv"])
    q, k = (turn(unit(p, d, one)) for one in (q, k))
    if g != h:
        k, v = ((one.repeat_interleave(h // g, dim=1) for one in (k, v)) if d.chance(0.5) else
                (one[:, :, None].expand(n, g, h // g, s, e).reshape(n, h, s, e) for one in (k, v)))
    scores, apart, hide = d.choice(PRODUCTS)(q, k, n, t, h, e), torch.tensor(np.arange(s) - np.arange(t)[:, None]), d.choice(HIDDEN)
    scores = scores + d.choice(BIASES)(p, apart, h) if d.chance(0.4) else scores
    if (d.chance(0.4) and not cross) if causal is None else causal:
        scores = hide(scores, torch.tensor(((apart <= 0) & (apart > -d.of(2, 99, 99))).numpy()))
    scores = scores if kept is None else hide(scores, kept[:, None, None, :])
    weights = d.choice(WEIGHTS[:1] * 4 + WEIGHTS)(p, scores, h)
    y = torch.einsum("bhij,bhjd->bhid", weights, v) if d.chance(0.2) else torch.matmul(weights, v)
    y = d.choice(MERGED)(y, n, t, h, e)
    return p.linear(y * torch.sigmoid(p.linear(x, h * e)) if d.chance(0.2) else y, int(x.shape[-1]), d.chance(0.6))


def block(p, d, x, y=None, kept=None, causal=None):
    """A layer of a transformer."""
    order, scale, kind, first = d.of("before", "before", "after", "both", "parallel"), d.of(None, None, 0.5, p), d.choice(NORMS), d.getrandbits(32)
    if order == "parallel":
        z = norm(p, d, x, kind)
        return x + p.part(attention, first, z, y, kept, causal) + p.part(network, d, z)
    for function, given in ((attention, (y, kept, causal)), (network, ())):
        z = p.part(function, first, x if order == "after" else norm(p, d, x, kind), *given)
        z = norm(p, d, z, kind) if order == "both" else z
        z = z * (p.weight(int(x.shape[-1])) if scale is p else scale) if scale else z
        x = norm(p, d, x + z, kind) if order == "after" else x + z
    return x


HEADS = expressions("p, x", globals(), """
p.linear(x.mean(1), 3) ; p.linear(x.max(dim=1)[0], 4) ; p.linear(x.flatten(1), 3) ; F.log_softmax(p.linear(x, 6, False), -1)
p.linear(x[:, 0], 5), p.linear(F.relu(p.linear(x[:, -1, :], 4)), 2).sigmoid() ; F.normalize(p.linear(x.mean(dim=1), 3), dim=-1)
""")
# Of n examples, t tokens, a features.
IDEAS = expressions("p, d, x, n, t, a", globals(), """
x + p.part(network, d, norm(p, d, x).transpose(1, 2)).transpose(1, 2) ; x * activation(d)(p.child(nn.Conv1d, t, t, 1)(norm(p, d, x))) ; norm(p, d, x)
p.part(block, d, x) ; torch.cumsum(x * torch.exp(torch.arange(t)[:, None] * 0.1), dim=1) ; x[:, ::2].exp().log1p() ; x.softmax(1)
(lambda q, k: torch.einsum("ntd,ntde->nte", q, torch.cumsum(k.unsqueeze(-1) * x.unsqueeze(-2), 1)))(x.abs(), F.elu(p.linear(x, a)) + 1)
(lambda g: ((x.unsqueeze(-1) * p.weight(3) * g).cumsum(1) / g).sum(-1))((F.softplus(p.linear(x, a)) * 0.3).cumsum(1)[..., None].exp())
torch.einsum("tsd,nsd->ntd", torch.exp(-torch.arange(t)[:, None, None] * p.weight(a).abs()).expand(t, t, a), x) ; x.repeat_interleave(2, d.of(1, 2))
(x @ x.transpose(1, 2) * torch.tril(torch.full((t, t), 0.5))) @ x ; (x.sum(1) ** 2 - (x ** 2).sum(1)).sum(1, keepdim=True)
(lambda s: torch.exp(-(s + s.transpose(1, 2) - 2 * x @ x.transpose(1, 2)).clamp(min=0)))((x * x).sum(-1, keepdim=True)) ; x.unfold(2, 2, 1).flatten(2)
(lambda g: g * F.gelu(p.linear(x, a)) + (1 - g) * x)(torch.sigmoid(p.linear(x, a))) ; p.linear(x, 12).view(n, t, -1, 3).max(-1)[0]
torch.tanh(p.child(nn.Conv1d, a, a, 3, 1, 0, 2)(F.pad(x.transpose(1, 2), (4, 0)))).transpose(1, 2) ; F.cosine_similarity(x, x.flip(2), dim=-1)
p.child(nn.Conv1d, a, a, 3, 1, 2, 1, a)(x.transpose(1, 2))[..., :t].transpose(1, 2) ; torch.bmm(x, p.linear(x.mean(1), 3 * a).view(n, a, 3)).tanh()
(lambda s, m: x * (1 + s) + m)(*p.linear(x[:, 0], 2 * a).unsqueeze(1).chunk(2, -1)) ; (lambda w: F.relu(x @ w.t()) @ w)(p.weight(5, a))
p.linear(x.permute(0, 2, 1).unfold(2, 2, d.of(1, 2)), 4).flatten(1, 2) ; torch.floor((torch.tanh(x) + 1) * 1.99) - 1.5
(x - x.mean(1, True)) / torch.sqrt(torch.var(x, dim=1, keepdim=True, unbiased=False) + 1e-5) ; torch.cat(x.split(3, 1)[::-1], 1)
(lambda y: (F.softmax(-y, -1), y.argmin(-1)))(((x[:, :, None] - p.weight(4, a)) ** 2).sum(-1)) ; F.pad(x, (1, 1), mode=d.of("reflect", "replicate"))
torch.stack([x.mean(1), x.std(1), x.var(1, unbiased=False), x.norm(dim=1), x.logsumexp(1), x.abs().amax(1)], -1) ; sum(x.unbind(1)).unsqueeze(1) + x
(torch.einsum("nta,eaw->ntew", x, p.weight(3, a, 4)) * p.linear(x, 3).softmax(-1).unsqueeze(-1)).sum(-2) ; x.roll(d.of(1, 2), d.of(1, 2)) - 0.5 * x
(lambda y: torch.where(x @ x.transpose(1, 2) > 0, F.leaky_relu(y + y.transpose(1, 2), 0.2), torch.tensor(-9e15)).softmax(-1) @ x)(p.linear(x, 1))
(x @ x.transpose(1, 2)).abs().sum(-1).add(1).pow(-0.5).unsqueeze(-1) * x ; x.gather(1, torch.arange(t).flip(0)[None, :, None].expand(x.shape)) + x
F.relu(p.linear(torch.cat([x[:, :, None].expand(n, t, t, a), x[:, None].expand(n, t, t, a)], -1), 3)).sum(2) ; x * (x >= x.mean(1, keepdim=True))
torch.bmm(x, x.transpose(1, 2))[(slice(None), *torch.triu_indices(t, t, d.of(0, 1)))] ; ((x > 0) & (x < 1) | (x < -1)).to(x.dtype) + x
x.masked_fill(torch.ones(t, a, dtype=torch.bool).tril(d.of(-1, 0)), 0.5) ; torch.stack([x, x * x, x.abs()], d.of(1, 2, 3)).reshape(n, -1, a)
""")
CONVOLUTIONS = expressions("p, d, x, c, f, k, y, m", globals(), """
x + f(y) ; torch.cat([x, f(y)], dim=1) ; f(p.layer("BatchNorm", y, c)) ; f(p.child(nn.GroupNorm, m, c)(y)) ; p.child(nn.PReLU, c)(y)
f(p.layer("Conv", x, c, m * d.of(1, 2, 3, 4), k, d.of(1, 2), k // 2, d.of(1, 1, k // 2 or 1), m, bias=d.chance(0.5)))
torch.cat((p.layer("Conv", x, c, d.of(1, 3, 5), 1), y), 1) ; p.layer("Conv", f(p.layer("Conv", x, c, c, k, padding=k // 2, groups=c)), c, 5, 1)
F.glu(p.layer("Conv", x, c, 2 * c, k), dim=1) ; (lambda a, b: f(a) * torch.sigmoid(b))(*p.layer("Conv", x, c, 2 * c, 1).chunk(2, 1))
y * torch.sigmoid(p.linear(F.relu(p.linear(x.mean(list(range(2, x.dim()))), 3)), c)).view(x.shape[0], c, *[1] * (x.dim() - 2))
y.view(x.shape[0], m, c // m, *x.shape[2:]).transpose(1, 2).reshape(x.shape) ; f(p.layer("InstanceNorm", y, c, affine=d.chance(0.5)))
p.layer("MaxPool", x, d.of(2, 3), d.of(1, 2), d.of(0, 1)) ; p.layer("AvgPool", x, d.of(2, 3), d.of(1, 2), d.of(0, 1), count_include_pad=d.chance(0.5))
p.layer("ConvTranspose", x, c, d.of(2, 4, 6), d.of(3, 4), 2, d.of(0, 1), d.of(0, 1), bias=d.chance(0.6))
F.interpolate(x, scale_factor=2, mode="nearest") ; F.interpolate(x, size=[int(n) + int(n) // 2 + 1 for n in x.shape[2:]], mode="nearest")
F.interpolate(x, scale_factor=2, mode="linear" if x.dim() == 3 else "bilinear", align_corners=d.chance(0.5))
""")
ENDS = expressions("p, x", globals(), """
p.linear(p.layer("AdaptiveAvgPool", x, 1).flatten(1), 3) ; x.flatten(1) ; x ; x.flatten(2).max(-1)[0] ; x.mean(list(range(2, x.dim()))).softmax(1)
""")


def idea(p, d, x):
    for _ in range(d.of(1, 2, 3, 4)):
        x = d.choice(IDEAS)(p, d, x, *map(int, x.shape))
        if not isinstance(x, torch.Tensor) or x.dim() != 3:
            return x
        x = x[:, :9, :9]
    return x


def encoder(p, d, x, kept=None):
    width = d.of(4, 6, 9, 16) if x.dim() == 2 else int(x.shape[2])
    x, t = p.lookup(x, width) if x.dim() == 2 else x, int(x.shape[1])
    sines = torch.tensor([[math.sin(i / 7.0 ** j) for j in range(width)] for i in range(t)])
    x = d.of(lambda: x, lambda: x + p.lookup(torch.arange(t)[None], width, t), lambda: x * math.sqrt(width) + sines)()
    first, kept = d.getrandbits(32), None if kept is None else kept.to(torch.bool)
    for seed in d.of([first], [first, first]):
        x = p.part(block, seed, x, None, kept)
    return d.choice(HEADS)(p, norm(p, d, x))


def perceiver(p, d, x, kept=None):
    start = p.weight(1, d.of(1, 2, 4, 6), d.of(4, 6, 9))
    z = start.expand(x.shape[0], -1, -1) if d.chance(0.5) else start.repeat(x.shape[0], 1, 1)
    z = p.part(block, d, p.part(block, d, z, norm(p, d, x), kept), None, None, False)
    return x + p.part(attention, d, x, z) if d.chance(0.4) else d.choice(HEADS)(p, norm(p, d, z))


def convolutions(p, d, x):
    for _ in range(d.of(2, 3, 4)):
        c, k, mode = int(x.shape[1]), d.of(1, 3, 3, 5), d.of("zeros", "zeros", "reflect", "replicate")
        y = p.layer("Conv", x, c, c, k, padding=k // 2, bias=d.chance(0.5), padding_mode=mode) if min(x.shape[2:]) > k // 2 else x
        x = d.choice(CONVOLUTIONS)(p, d, x, c, activation(d), k, y, d.choice([m for m in (1, 2, 3) if c % m == 0]))
    return d.choice(ENDS)(p, x)


FAMILIES = (  # and the axes of inputs: one with ? may be left out
    (encoder, "x n t w; mask? n t"), (idea, "x n t t"), (convolutions, "x n c l"), (encoder, "ids n t; intmask? n t"), (idea, "x n t a"),
    (convolutions, "x n c h h"), (perceiver, "x n t a; mask? n t"), (encoder, "x n t w; intmask? n t"))


def made(d, number, path, inputs_of, values_of):
    """Writes a model; its inputs, and options for the tool."""
    function, text = FAMILIES[number % len(FAMILIES)]
    inputs, part, named = inputs_of(d, text), Part(function, d.getrandbits(32)).eval(), d.chance(0.15)
    torch.manual_seed(d.getrandbits(32))
    values = tuple(values_of(d, name, shape) for name, shape in inputs.items())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        part(*values)
        torch.onnx.export(part, values, str(path), opset_version=d.of(11, 12, 13, 14, 15, 16, 17, 17), do_constant_folding=d.chance(0.8),
                          input_names=list(inputs), dynamic_axes={name: {0: "batch"} for name in inputs} if named else {})
    return inputs, ["--size", f"batch={values[0].shape[0]}"] if named else []
