// SPDX-License-Identifier: BSL-1.0
// Files of tensors, read from memory and written to a sink: .npy, .npz, safetensors. umbel.hpp does
// not include it. To get a file into memory, use umbel/file/mapped_file.hpp or, without mmap,
// umbel/file/read_file.hpp.
#pragma once

// clang-format off: each level of inclusion adds a line before the message of a compile error.
#include <umbel/file/stored_tensor.hpp>
#include <umbel/file/listing.hpp>

#include <umbel/file/tensor_file.hpp>
#include <umbel/file/write.hpp>
