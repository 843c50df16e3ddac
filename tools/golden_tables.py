# SPDX-License-Identifier: BSL-1.0
"""The tables of golden.py: which calls of attention are answered, and by whom."""

from __future__ import annotations

from functools import partial

from golden_calls import Call, case_of
from golden_support import Header

SELF = dict(queries=7, keys=7, inputs=1)


def header(file: str, what: str, seed: int, calls: list[Call], **how: bool) -> Header:
    """Seeds are in order: a new call goes to the end of its table."""
    return Header(file, what + " The words of the masks: tools/golden_calls.py.",
                  [case_of(seed + i, call, **how) for i, call in enumerate(calls)], types=True)


def torch_masks() -> Header:
    mask = partial(Call, keys=11)
    return header("torch_masks.hpp", "torch.nn.MultiheadAttention with masks.", 1001, [
        Call("bool_mask", ("drop:qk",), **SELF),
        mask("bool_mask_cross", ("drop:qk",)),
        Call("float_mask", ("bias:qk",), **SELF, weights="average"),
        mask("float_mask_cross", ("bias:qk",)),
        mask("float_mask_minus_infinity", ("hide:qk",), weights="by_head"),
        mask("bool_mask_by_head", ("drop:bhqk",), weights="by_head"),
        mask("float_mask_by_head", ("bias:bhqk",), weights="average"),
        Call("key_padding", ("drop:bk",), **SELF, batch=3),
        mask("key_padding_cross", ("drop:bk",), has_bias=False, weights="average"),
        mask("key_padding_and_bool_mask", ("drop:bk", "drop:qk")),
        mask("key_padding_and_float_mask", ("drop:bk", "bias:qk"), weights="by_head"),
        Call("causal_self", ("causal",), **SELF, weights="by_head"),
        Call("causal_more_keys", ("causal",), queries=5, keys=11),
        Call("causal_more_queries", ("causal",), queries=11, keys=5),
        Call("causal_and_key_padding", ("causal", "drop:bk"), **SELF, batch=3),
        Call("causal_and_float_mask_by_head", ("causal", "bias:bhqk"), **SELF),
        Call("lengths_and_bool_mask", ("lens:b", "drop:qk"), batch=3, lengths=(11, 1, 4)),
        mask("every_kind", ("lens:b", "causal:6", "drop:qk", "bias:bhqk"), lengths=(9, 2),
             weights="average"),
    ], of_torch=True)


def torch_sizes() -> Header:
    widths = dict(key_hidden=20, value_hidden=12, inputs=3)
    return header("torch_sizes.hpp", "torch.nn.MultiheadAttention: widths, float64, lengths.", 1101, [
        Call("key_and_value_widths", **widths),
        Call("key_and_value_widths_bool_mask", ("drop:qk", "drop:bk"), has_bias=False, **widths,
             weights="by_head"),
        Call("key_width_one", ("bias:hqk",), key_hidden=1, value_hidden=37, inputs=3),
        Call("three_inputs", ("drop:bk",), inputs=3),
        Call("float64", double=True, **SELF),
        Call("float64_key_padding_float_mask", ("drop:bk", "bias:bhqk"), double=True,
             weights="by_head", **widths),
        Call("float64_causal", ("causal",), queries=19, keys=19, inputs=1, double=True),
        Call("length_257", batch=1, queries=257, keys=257, hidden=32, heads=2, inputs=1),
        Call("length_257_causal", ("causal",), batch=1, queries=257, keys=257, hidden=32, heads=2,
             inputs=1),
        Call("keys_257_padding", ("drop:bk",), queries=3, keys=257, hidden=32, heads=4),
        Call("keys_513_bool_mask_float64", ("drop:qk",), batch=1, queries=2, keys=513, hidden=8,
             heads=1, double=True),
        Call("head_dim_128", batch=1, queries=9, keys=9, hidden=256, heads=2, inputs=1),
        Call("head_dim_128_padding", ("drop:bk", "bias:hqk"), queries=3, keys=17, hidden=128,
             heads=1),
        Call("one_of_everything", batch=1, queries=1, keys=1, hidden=1, heads=1, inputs=1),
        Call("one_query", ("lens:b",), queries=1, keys=19, lengths=(19, 7), weights="by_head"),
        Call("odd_sizes", ("drop:qk", "bias:bhqk"), batch=3, queries=7, keys=13, hidden=35, heads=5),
        Call("head_dim_1", ("drop:bk",), hidden=6, heads=6),
        Call("sixteen_heads", ("causal",), queries=17, keys=17, hidden=64, heads=16, inputs=1),
        Call("large_scores", ("drop:qk",), hidden=32, heads=2, input_scale=4.0),
    ], of_torch=True)


def torch_dot_product() -> Header:
    dot = partial(Call, queries=5, keys=9, heads=3, head_dim=8)
    return header("torch_dot_product.hpp",
                  "torch.nn.functional.scaled_dot_product_attention.", 1201, [
        dot("dot"),
        dot("dot_keep_mask", ("keep:bhqk",)),
        dot("dot_keep_by_key", ("keep:bk",)),
        dot("dot_causal", ("causal",)),
        dot("dot_causal_more_queries", ("causal",), queries=9, keys=5),
        dot("dot_value_width", ("keep:qk",), value_dim=13),
        dot("dot_shared_heads", ("keep:bk",), heads=6, kv_heads=2),
        dot("dot_float64", ("keep:hqk",), double=True),
        dot("dot_one", batch=1, queries=1, keys=1, heads=1, head_dim=1),
        dot("dot_wide", batch=1, queries=17, keys=33, heads=2, head_dim=128),
    ], heads_only=True, of_torch=True)


def formula() -> Header:
    shared = dict(hidden=48, heads=6)
    return header("formula.hpp",
                  "What torch.nn.MultiheadAttention has not, composed of torch's operations.", 1301, [
        Call("grouped_heads", ("drop:qk",), kv_heads=2, **shared),
        Call("one_kv_head", ("causal",), kv_heads=1, **SELF, **shared),
        Call("rope_halves", ("causal",), rope="halves", **SELF),
        Call("rope_adjacent", ("drop:bk",), rope="adjacent"),
        Call("rope_of_four_features", rope="halves", rope_width=4, rope_base=500.0, kv_heads=3,
             queries=33, keys=33, inputs=1, **shared),
        Call("alibi_causal", ("alibi", "causal"), queries=9, keys=9, inputs=1, hidden=32, heads=4),
        Call("alibi_six_heads", ("alibi:6", "causal:6"), **shared),
        Call("window", ("window:2,1",), queries=19, keys=19, inputs=1),
        Call("window_causal_padding", ("window:3,0", "drop:bk"), **SELF),
        Call("window_of_the_last", ("window:2,0,6",)),
        Call("softcap_bias", ("bias:bhqk", "drop:bk"), softcap=1.5, input_scale=4.0),
        Call("scaled", ("causal:6",), scale=0.125),
        Call("lengths_by_query", ("lens:bq",), lengths=(11, 3, 1, 2, 7, 5, 5, 9, 1, 4)),
        Call("free_widths", ("bias:hqk",), heads=4, head_dim=6, value_dim=9, output=10),
        Call("everything", ("lens:b", "window:7,2,3", "bias:hqk", "alibi:3"), lengths=(10, 6),
             rope="adjacent", softcap=5.0, scale=0.25, kv_heads=2, value_dim=5, output=7,
             key_hidden=9, value_hidden=11, inputs=3, **shared),
        Call("no_key", ("lens:b",), lengths=(0, 11)),
        Call("some_queries_without_keys", ("causal:-2", "drop:bk"), **SELF),
        Call("dropout_and_masks", ("causal", "drop:bk", "dropout:10,3"), queries=19, keys=19, inputs=1,
             weights="by_head"),
    ])


def books() -> Header:
    d2l = partial(Call, queries=4, keys=6, hidden=100, heads=5, has_bias=False, fill=-1e6)
    haiku = partial(Call, queries=12, keys=12, hidden=64, heads=8, fill=-1e30, inputs=1)
    return header("books.hpp",
                  "The layers of \"Dive into Deep Learning\" (keys past a length filled with -1e6) and "
                  "Haiku (filled with -1e30), written out in torch.", 1401, [
        d2l("d2l_lengths_by_query", ("lens:bq",), lengths=(1, 2, 3, 4, 6, 5, 4, 3),
            weights="by_head"),
        d2l("d2l_length_0", ("lens:b",), lengths=(0, 4), weights="by_head"),
        d2l("d2l_length_0_by_query", ("lens:bq",), lengths=(0, 2, 6, 0, 1, 0, 0, 3)),
        d2l("d2l_decoder", ("lens:bq",), queries=4, keys=4, inputs=1,
            lengths=(1, 2, 3, 4, 1, 2, 3, 4)),
        haiku("haiku_tutorial", ("keep:b1k",), weights="by_head"),
        haiku("haiku_causal", ("keep:b1k", "causal")),
        haiku("haiku_widths", ("keep:bk",), queries=5, inputs=3, key_hidden=20, value_hidden=30,
              heads=4, head_dim=10, value_dim=7, output=48),
        haiku("haiku_no_key", ("lens:b",), lengths=(0, 3), weights="by_head"),
        d2l("d2l_dropout", ("lens:b", "dropout:50,2021"), lengths=(3, 2), weights="by_head"),
        d2l("d2l_dropout_without_keys", ("lens:bq", "dropout:50,7"),
            lengths=(1, 2, 3, 4, 0, 5, 0, 3), weights="by_head"),
    ])


def tables() -> list[Header]:
    return [torch_masks(), torch_sizes(), torch_dot_product(), formula(), books()]
