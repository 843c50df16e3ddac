// SPDX-License-Identifier: BSL-1.0
// Weights by parameter name: listed, loaded from files of tensors, saved, compared, and renamed to
// frameworks' names. Not included by umbel.hpp.
#pragma once

// clang-format off: all that this needs, in order; bare.hpp explains (test/layering.py --lists).
#include <umbel/config.hpp>
#include <umbel/shape/axis.hpp>
#include <umbel/shape/invalid.hpp>
#include <umbel/shape/verdict.hpp>
#include <umbel/shape/words.hpp>
#include <umbel/parameters/words.hpp>
#include <umbel/weights/names.hpp>
#include <umbel/shape/axes.hpp>
#include <umbel/shape/layout.hpp>
#include <umbel/shape/algebra.hpp>
#include <umbel/shape/rules.hpp>
#include <umbel/shape/concepts.hpp>
#include <umbel/shape/memory_rules.hpp>
#include <umbel/tensor/calls_of_other_libraries.hpp>
#include <umbel/tensor/check.hpp>
#include <umbel/tensor/iterator.hpp>
#include <umbel/tensor/view.hpp>
#include <umbel/tensor/loop.hpp>
#include <umbel/tensor/elements.hpp>
#include <umbel/tensor/tensor.hpp>
#include <umbel/tensor/interop.hpp>
#include <umbel/tensor/other_calls.hpp>
#include <umbel/layer/named_memory.hpp>
#include <umbel/layer/options.hpp>
#include <umbel/layer/parts.hpp>
#include <umbel/layer/workspace.hpp>
#include <umbel/layer/rules.hpp>
#include <umbel/layer/weights_rules.hpp>
#include <umbel/layer/weights.hpp>
#include <umbel/layer/packed_weights.hpp>
#include <umbel/layer/stored_as.hpp>
#include <umbel/layer/prepacked.hpp>
#include <umbel/layer/stacked.hpp>
#include <umbel/parameters/members.hpp>
#include <umbel/parameters/rules.hpp>
#include <umbel/parameters/parameters.hpp>
#include <umbel/file/fnv1a.hpp>
#include <umbel/weights/array_checksum.hpp>
#include <umbel/file/numbers.hpp>
#include <umbel/file/text.hpp>
#include <umbel/file/result.hpp>
#include <umbel/file/stored_tensor.hpp>
#include <umbel/weights/checksum.hpp>
#include <umbel/weights/d2l.hpp>
#include <umbel/weights/hugging_face.hpp>
#include <umbel/weights/jax.hpp>
#include <umbel/file/clash.hpp>
#include <umbel/file/name_hash.hpp>
#include <umbel/file/listing.hpp>
#include <umbel/weights/asked_names.hpp>
#include <umbel/weights/load_result.hpp>
#include <umbel/weights/load_rules.hpp>
#include <umbel/weights/found_row.hpp>
#include <umbel/weights/scales.hpp>
#include <umbel/weights/load.hpp>
#include <umbel/weights/meta.hpp>
#include <umbel/weights/probe.hpp>
#include <umbel/file/crc32.hpp>
#include <umbel/file/write_rules.hpp>
#include <umbel/file/write_names.hpp>
#include <umbel/file/write.hpp>
#include <umbel/weights/save.hpp>
#include <umbel/weights/table.hpp>
#include <umbel/weights/torch.hpp>
// clang-format on

// clang-format off: each level of inclusion adds a line before the message of a compile error.
#include <umbel/parameters/words.hpp>
#include <umbel/weights/names.hpp>
#include <umbel/parameters/parameters.hpp>
// clang-format on

#include <umbel/weights/array_checksum.hpp>
#include <umbel/weights/checksum.hpp>
#include <umbel/weights/d2l.hpp>
#include <umbel/weights/hugging_face.hpp>
#include <umbel/weights/jax.hpp>
#include <umbel/weights/load.hpp>
#include <umbel/weights/load_result.hpp>
#include <umbel/weights/meta.hpp>
#include <umbel/weights/probe.hpp>
#include <umbel/weights/save.hpp>
#include <umbel/weights/table.hpp>
#include <umbel/weights/torch.hpp>
