// SPDX-License-Identifier: BSL-1.0
// The model's weights from a file with Hugging Face's tensor names. Nothing is allocated.
#pragma once

#include <umbel/files.hpp>
#include <umbel/weights.hpp>

#include "model.hpp"

namespace tiny {

// File: tensor_file, or safetensors_file if no other format is needed.
template <class File>
load_result load_named(weights& w, const File& file) noexcept {
  return load(w, file, at("embedding", "model.embed_tokens", names::torch_embedding),
              at("blocks.*", "model.layers.*", names::llama_layer),
              at("norm", "model.norm", names::torch_layer_norm));
}

}  // namespace tiny
