// SPDX-License-Identifier: BSL-1.0
// Files of tensors, read from memory and written to a sink: .npy, .npz, safetensors. umbel.hpp does
// not include it. umbel/file/mapped_file.hpp maps a file into memory; without mmap,
// umbel/file/read_file.hpp reads it.
#pragma once

// clang-format off: each level of inclusion adds a line before the sentence of a compile error.
#include <umbel/file/stored_tensor.hpp>
#include <umbel/file/listing.hpp>

#include <umbel/file/tensor_file.hpp>
#include <umbel/file/write.hpp>
