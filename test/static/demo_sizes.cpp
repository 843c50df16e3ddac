// SPDX-License-Identifier: BSL-1.0
// flags-gcc: -march=icelake-server
// flags-clang: -march=icelake-server
// The bytes that docs/demo.md quotes from here (tools/figures.py), those of processors with AVX-512
// and its dot products of 8 bits: what tools/demo and tools/demo text print there.
#include "../../examples/fashion/integers.hpp"
#include "../../examples/fashion/model.hpp"
#include "../../examples/tiny_language_model/integers.hpp"
#include "../../examples/tiny_language_model/model.hpp"

static_assert(fashion::model::weights_bytes == 80'448);
static_assert(fashion::model::workspace_bytes == 66'176);
static_assert(fashion::model::stack_bytes == 3'072);
static_assert(fashion::integer_model::weights_bytes == 26'252);
static_assert(fashion::integer_model::workspace_bytes == 14'592);

static_assert(tiny::reader<>::weights_bytes == 935'744);
static_assert(tiny::reader<>::cache_bytes == 327'744);
static_assert(tiny::reader<>::workspace_bytes == 39'424);
static_assert(tiny::integer::reader::weights_bytes == 268'288);
static_assert(tiny::integer::reader::cache_bytes == 81'984);
static_assert(tiny::integer::reader::workspace_bytes == 31'744);
