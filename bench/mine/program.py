# SPDX-License-Identifier: BSL-1.0
"""The program that tools/bench mine compiles, from what the user typed: `program(layer, axes, mask)` gives its files.

call.cpp is the call and nothing else: its object is what the code bytes and the seconds of compilation are of. get.cpp
makes the weights and arguments, and says what is known of the call (subject.hpp). A file of the user's takes the place
of call.cpp and has `void run()`.
"""
import dataclasses
import re

LAYER = re.compile(r"^\s*(?:umbel\s*::\s*)?(prepacked\s*<)?\s*(?:umbel\s*::\s*)?(\w+)")
AXIS = re.compile(r"^\s*(\w+)\s*<[^<>]+>\s*$")

HEADER = """#pragma once
#include <umbel/umbel.hpp>
using namespace umbel;
using namespace umbel::axes;
namespace mine {
%(types)s
using result = decltype(std::declval<const callable&>()(%(declared)s));
%(externs)s
}
"""
CALL = """#include "mine.hpp"
namespace mine {
void call();
void call() { f.into(y%(given)s); }
}
"""
GET = """#include "mine.hpp"
#include <umbel/inspect/describe.hpp>
#include <umbel/inspect/footprint.hpp>
#include "subject.hpp"
namespace mine {
%(definitions)s
result y;
void call();
subject get() {
  subject s{call};
%(fills)s  s.others = {range_of(y)%(work_range)s};
%(facts)s  return s;
}
}
"""
GET_OF_FILE = """#include "subject.hpp"
void run();
namespace mine {
subject get() { return {run}; }
}
"""


class Mistake(Exception):
    """What the user typed cannot be measured; the text says why."""


@dataclasses.dataclass
class Call:
    """How something is called, in C++."""
    arguments: list  # types
    packs: bool | None = True  # has it weights, and does prepacked pack them? None: it has none
    masks: bool = False  # does it take a mask?
    works: bool = True  # does it take a workspace?
    mask: str = "all_keys"  # the mask when none was asked for
    plan: str | None = None  # the page to read
    layer: tuple | None = None  # axes of batch, queries and keys, for the race
    number: str = "layer::value_type"  # what it computes with
    made: str = ""  # what it is made of beside its weights


def tensor(*axes, element="number"):
    return f"tensor<{', '.join([element, *axes])}>"


def sequences(axes, counts, example):
    """(the axis batch in a list, the others)"""
    batch = [axis for axis in axes if AXIS.match(axis)[1] == "batch"]
    others = [axis for axis in axes if axis not in batch]
    if len(others) not in counts or len(batch) > 1:
        raise Mistake(f"wants the axes of its sequences, such as {example}; a batch<2> may stand before them")
    return batch, others


def of_attention(axes):
    batch, others = sequences(axes, (1, 2), "'token<20>', or 'query<4>' 'key<6>' for keys of another sequence")
    own = [tensor(*batch, others[0], "layer::hidden_axis")]
    second = [tensor(*batch, axis, f"layer::{whose}_axis") for axis in others[1:] for whose in ("keys", "values")]
    sizes = ", ".join(others)
    return Call(own + second, masks=True, plan=f"describe<layer, {sizes}>()", layer=(batch, others[0], others[-1]))


def of_additive(axes):
    batch, (query, key) = sequences(axes, (2,), "'query<4>' 'key<6>'")
    keys = tensor(*batch, key, "layer::keys_axis")
    return Call([tensor(*batch, query, "layer::hidden_axis"), keys, keys], masks=True)


def of_encoder(axes):
    batch, others = sequences(axes, (1,), "'token<20>'")
    return Call([tensor(*batch, *others, "layer::hidden_axis")], masks=True,
                plan=f"describe<layer::attention, {others[0]}>()")


def of_decoder(axes):
    batch, (own, other) = sequences(axes, (2,), "'token<20>' 'key<6>', its own and those that it attends to")
    return Call([tensor(*batch, own, "layer::hidden_axis"), tensor(*batch, other, "layer::hidden_axis")], masks=True,
                mask="causal", plan=f"describe<layer::self_attention, {own}>()")


def of_feed_forward(axes):
    return Call([tensor(*axes, "layer::hidden_axis")])


def of_linear(axes):
    return Call([tensor(*axes, "layer::map::in")], works=False)


def of_norm(axes):
    return Call([tensor(*axes, "layer::axis")], packs=False, works=False, made=", number(1e-5)")


def of_positions(axes):
    return Call([tensor(*axes, "layer::hidden_axis")], packs=False, works=False, number="layer::weights::value_type")


def of_sinusoids(axes):
    return Call([tensor(*axes, "layer::hidden_axis")], packs=None, works=False)


def of_operation(axes):
    if not axes:
        raise Mistake("wants all axes of its argument, such as 'token<20>' 'hidden<64>'")
    return Call([tensor(*axes, element="float")], packs=None, works=False)


def of_dot_product(axes):
    by_name = {AXIS.match(axis)[1]: axis for axis in axes}
    if not {"query", "key", "head_dim"} <= set(by_name) <= {"batch", "heads", "query", "key", "head_dim"}:
        raise Mistake("wants 'query<4>' 'key<6>' 'head_dim<16>', and before them batch<2> or heads<8> or both")
    before = [by_name[name] for name in ("batch", "heads") if name in by_name]
    queries = tensor(*before, by_name["query"], by_name["head_dim"], element="float")
    keys = tensor(*before, by_name["key"], by_name["head_dim"], element="float")
    return Call([queries, keys, keys], packs=None, masks=True)


KINDS = {"multi_head_attention": of_attention, "additive_attention": of_additive, "encoder_layer": of_encoder,
         "decoder_layer": of_decoder, "feed_forward": of_feed_forward, "linear": of_linear, "layer_norm": of_norm,
         "rms_norm": of_norm, "learned_positions": of_positions, "sinusoidal_positions": of_sinusoids,
         "scaled_dot_product_attention": of_dot_product, "scaled_dot_product_attention_with": of_dot_product,
         **dict.fromkeys(("softmax", "mean", "gelu_exact", "gelu_tanh", "silu", "relu"), of_operation)}
VALUES = {"scaled_dot_product_attention", "scaled_dot_product_attention_with"} | {
    name for name, kind in KINDS.items() if kind is of_operation}  # functions, not types


def program(text, axes, mask=None):
    """{file: text} of a layer or block, called with one tensor for each sequence."""
    found = LAYER.match(text)
    name = found[2] if found else text
    if name not in KINDS:
        raise Mistake(f"{name} is not one of {', '.join(KINDS)}; anything else can be timed from a file with "
                      "`void run()`")
    for axis in axes:
        if not AXIS.match(axis):
            raise Mistake(f"{axis} is not an axis, a name and a size, such as token<20>")
    try:
        call = KINDS[name](axes)
    except Mistake as mistake:
        raise Mistake(f"{name} {mistake}") from None
    if mask and not call.masks:
        raise Mistake(f"{name} takes no mask")
    return files_of(call, name, text, bool(found[1]), mask or call.mask)


def types_of(call, name, text, is_packed):
    if name in VALUES:
        yield f"using callable = std::remove_cvref_t<decltype({text})>;"
    else:
        yield f"using given = {text};"
        yield f"using layer = given{'::layer' if is_packed else ''};"
        yield f"using callable = {'prepacked<given>' if call.packs and not is_packed else 'given'};"
        yield f"using number = {call.number};"
    for at, argument in enumerate(call.arguments):
        yield f"using argument{at} = {argument};"
    if call.works:
        arguments = ", ".join(f"argument{at}" for at in range(len(call.arguments)))
        yield f"using scratch = workspace_for<callable, {arguments}>;"


def facts_of(call):
    arguments = ", ".join(f"argument{at}" for at in range(len(call.arguments)))
    yield f"s.flops = static_cast<double>(footprint<callable, {arguments}>.flops);"
    if call.works:
        yield "s.workspace = sizeof(work);"
    if call.plan:
        yield f"s.plan = {call.plan};"
    if call.layer:
        batch, query, key = call.layer
        numbers = [f"{batch[0]}::size" if batch else "1", f"{query}::size", f"{key}::size", "layer::sizes.hidden",
                   "layer::sizes.heads"]
        text = ' + "," + '.join(f"std::to_string({number})" for number in numbers)
        yield f"if (is_in_the_race<layer>()) s.layer = {text};"


def files_of(call, name, text, is_packed, mask):
    count_of = range(len(call.arguments))
    is_decoder = name == "decoder_layer"
    masks = [f"self_mask({mask})" if is_decoder else mask] if call.masks else []
    works = ["work"] if call.works else []
    declared = [f"std::declval<const argument{at}&>()" for at in count_of] + masks + (
        ["std::declval<scratch&>()"] if call.works else [])
    externs = [f"extern argument{at} x{at};" for at in count_of] + ["extern result y;"] + (
        ["extern scratch work;"] if call.works else [])
    definitions = [f"argument{at} x{at};" for at in count_of] + (["scratch work;"] if call.works else [])
    fills = [f"fill<argument{at}::value_type>(x{at});" for at in count_of]
    inputs = [f"range_of(x{at})" for at in count_of]
    if name in VALUES:
        externs.append(f"inline constexpr auto& f = {text};")
    elif call.packs is None:
        externs.append("inline constexpr callable f{};")
        inputs.append("range_of(layer::table)")
    else:
        externs.append("extern const callable f;")
        definitions += ["layer::weights weights;",
                        f"const callable f{{(fill<number>(weights), weights){call.made}}};"]
        inputs.append("range_of(f)" if call.packs else "range_of(weights)")
    fills.append(f"s.inputs = {{{', '.join(inputs)}}};")
    return {
        "mine.hpp": HEADER % {"types": "\n".join(types_of(call, name, text, is_packed)),
                              "declared": ", ".join(declared), "externs": "\n".join(externs)},
        "call.cpp": CALL % {"given": "".join(f", {one}" for one in [f"x{at}" for at in count_of] + masks + works)},
        "get.cpp": GET % {"definitions": "\n".join(definitions), "fills": "".join(f"  {line}\n" for line in fills),
                          "work_range": ", range_of(work)" if call.works else "",
                          "facts": "".join(f"  {line}\n" for line in facts_of(call))}}
