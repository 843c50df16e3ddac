// SPDX-License-Identifier: BSL-1.0
// Files of tensors, read from memory and written to a sink: .npy, .npz, safetensors. umbel.hpp does
// not include it. A file becomes memory by umbel/file/mapped_file.hpp or, where there is no mmap,
// umbel/file/read_file.hpp.
#pragma once

#include <umbel/file/tensor_file.hpp>
#include <umbel/file/write.hpp>
