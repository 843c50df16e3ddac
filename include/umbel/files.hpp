// SPDX-License-Identifier: BSL-1.0
// Files of tensors, read from memory and written to a sink: .npy, .npz, safetensors. umbel.hpp does
// not include it. To get a file into memory, use umbel/file/mapped_file.hpp or, without mmap,
// umbel/file/read_file.hpp.
#pragma once

// clang-format off: all that this needs, in order; bare.hpp explains (test/layering.py --lists).
#include <umbel/config.hpp>
#include <umbel/file/clash.hpp>
#include <umbel/shape/axis.hpp>
#include <umbel/shape/invalid.hpp>
#include <umbel/shape/verdict.hpp>
#include <umbel/file/text.hpp>
#include <umbel/file/name_hash.hpp>
#include <umbel/shape/layout.hpp>
#include <umbel/shape/algebra.hpp>
#include <umbel/shape/words.hpp>
#include <umbel/shape/rules.hpp>
#include <umbel/shape/computing_rules.hpp>
#include <umbel/shape/concepts.hpp>
#include <umbel/shape/memory_rules.hpp>
#include <umbel/shape/template_arguments.hpp>
#include <umbel/tensor/calls_of_other_libraries.hpp>
#include <umbel/tensor/check.hpp>
#include <umbel/tensor/iterator.hpp>
#include <umbel/tensor/view.hpp>
#include <umbel/tensor/print.hpp>
#include <umbel/file/numbers.hpp>
#include <umbel/file/result.hpp>
#include <umbel/tensor/loop.hpp>
#include <umbel/tensor/elements.hpp>
#include <umbel/tensor/tensor.hpp>
#include <umbel/file/stored_tensor.hpp>
#include <umbel/file/listing.hpp>
#include <umbel/file/npy.hpp>
#include <umbel/file/crc32.hpp>
#include <umbel/file/npz.hpp>
#include <umbel/file/other_formats.hpp>
#include <umbel/file/json.hpp>
#include <umbel/file/safetensors.hpp>
#include <umbel/file/tensor_file.hpp>
#include <umbel/file/fnv1a.hpp>
#include <umbel/file/write_rules.hpp>
#include <umbel/file/write_names.hpp>
#include <umbel/file/write.hpp>
// clang-format on

#include <umbel/file/listing.hpp>
#include <umbel/file/stored_tensor.hpp>
#include <umbel/file/tensor_file.hpp>
#include <umbel/file/write.hpp>
