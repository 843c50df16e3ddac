// SPDX-License-Identifier: BSL-1.0
// Layers in integers: quantized<layer>. umbel.hpp does not include it; it needs what bare.hpp has.
#pragma once

// clang-format off: each level of inclusion adds a line before the sentence of a compile error.
#include <umbel/shape/verdict.hpp>

#include <umbel/layer/computing.hpp>

#include <umbel/bare.hpp>
#include <umbel/quantized/attention.hpp>
#include <umbel/quantized/convert.hpp>
#include <umbel/quantized/decoder.hpp>
#include <umbel/quantized/encoder.hpp>
#include <umbel/quantized/feed_forward.hpp>
#include <umbel/quantized/linear.hpp>
#include <umbel/quantized/mean.hpp>
#include <umbel/quantized/norm.hpp>
#include <umbel/quantized/quantized.hpp>
#include <umbel/quantized/tables.hpp>

#include <umbel/quantized/cache.hpp>
#include <umbel/quantized/cache_of_blocks.hpp>
#include <umbel/quantized/cache_of_decoders.hpp>
