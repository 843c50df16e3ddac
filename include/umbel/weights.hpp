// SPDX-License-Identifier: BSL-1.0
// Weights by parameter name: listed, loaded from files of tensors, saved, compared, and renamed to
// frameworks' names. Not included by umbel.hpp.
#pragma once

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
