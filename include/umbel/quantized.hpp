// SPDX-License-Identifier: BSL-1.0
// Layers in integers: quantized<layer>. Not included by umbel.hpp; needs bare.hpp. It
// includes every header directly, dependencies first, for the reason in bare.hpp.
#pragma once

// clang-format off: the order counts.
#include <umbel/shape/verdict.hpp>

#include <umbel/layer/computing.hpp>

#include <umbel/bare.hpp>

#include <umbel/quantized/pack.hpp>
#include <umbel/quantized/ranges.hpp>
#include <umbel/quantized/histogram.hpp>
#include <umbel/quantized/quantized.hpp>
#include <umbel/quantized/rules.hpp>
#include <umbel/quantized/linear.hpp>
#include <umbel/quantized/convert.hpp>
#include <umbel/quantized/mean.hpp>
#include <umbel/quantized/tables.hpp>
#include <umbel/quantized/norm.hpp>
#include <umbel/quantized/feed_forward.hpp>
#include <umbel/quantized/prepared_heads.hpp>
#include <umbel/quantized/attention_numbers.hpp>
#include <umbel/quantized/attention.hpp>
#include <umbel/quantized/block_parts.hpp>
#include <umbel/quantized/block_numbers.hpp>
#include <umbel/quantized/block_observed.hpp>
#include <umbel/quantized/block.hpp>
#include <umbel/quantized/past.hpp>
#include <umbel/quantized/cache_of_blocks.hpp>
#include <umbel/formula/word_names.hpp>
#include <umbel/quantized/formula_plan.hpp>
#include <umbel/quantized/formula_numbers.hpp>
#include <umbel/quantized/formula_steps.hpp>
#include <umbel/quantized/formula_ranges.hpp>
#include <umbel/quantized/formula_form.hpp>
#include <umbel/quantized/formula.hpp>
// clang-format on
