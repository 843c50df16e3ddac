# SPDX-License-Identifier: BSL-1.0
"""What is compiled to know what compiling costs: small programs, each one line or a list of instantiations.

Every program is a text; those of more than a few lines include a header beside this file. test/compile_cost
counts the instantiations of some of them.
"""

UNIT = "array + concepts + span"
DOOR = ("integral_constant", "map", "pair", "tuple", "type")  # what shape/hana.hpp includes

# batch, queries, keys, hidden, heads: models people know, and sizes that leave tails.
LAYERS = [(2, 4, 6, 100, 5), (1, 16, 16, 32, 2), (1, 32, 32, 64, 8), (1, 49, 49, 32, 4), (1, 64, 64, 64, 4),
          (4, 8, 24, 96, 6), (2, 10, 20, 72, 3), (1, 128, 128, 256, 8), (1, 197, 197, 192, 3), (1, 128, 128, 384, 12)]


def shapes(count):
    """batch, queries, keys, heads, head_dim: all different."""
    return [(1 + i % 4, 4 + i, 6 + 2 * i, 2 + i % 5, 8 + i % 7) for i in range(count)]


def includes(*headers):
    return "".join(f"#include <{header}>\n" for header in headers)


def instances(header, template, sizes):
    lines = [f'#include "{header}"']
    lines += [f"template struct compile_cost::{template}<{', '.join(map(str, row))}>;" for row in sizes]
    return "\n".join(lines) + "\n"


def attention_shapes(count):
    return instances("shapes.hpp", "attention_shape", shapes(count))


def layers(count):
    return instances("layer.hpp", "layer", LAYERS[:count])


ATTENTION_FUNCTION = instances("formula.hpp", "attention_function", [(4, 33, 16)])
ATTENTION_FORMULA = instances("formula.hpp", "attention_formula", [(4, 33, 16)])
LAYER_FORMULA = instances("formula.hpp", "layer_formula", [(33, 64, 4)])
ENCODER_LAYER = instances("formula.hpp", "encoder_by_the_layer", [(16, 64, 4)])
ENCODER_FORMULA = instances("formula.hpp", "encoder_formula", [(16, 64, 4)])
TEN_LAYERS = instances("program.hpp", "ten_layers", [(32, 64, 4)])
BLOCK_IN_SIX_USES = instances("program.hpp", "block_in_six_uses", [(16, 64, 4)])
FORMULA_OF_25_OPERATIONS = instances("program.hpp", "formula_of_25_operations", [(128, 32)])


def eigen_layers(count):
    return instances("peer_eigen.hpp", "eigen_layer", LAYERS[:count])


def hana_shapes(count):
    return instances("peer_hana.hpp", "hana_shape", shapes(count))


NOTHING = ""
UNIT_SOURCE = includes("array", "concepts", "span")
BARE = includes("umbel/bare.hpp")
WITH_HANA = includes("umbel/umbel.hpp")
EIGEN = includes("Eigen/Core")
HANA_DOOR = includes(*(f"boost/hana/{name}.hpp" for name in DOOR))
HANA = includes("boost/hana.hpp")
