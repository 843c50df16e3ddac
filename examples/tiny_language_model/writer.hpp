// SPDX-License-Identifier: BSL-1.0
// Writes text: draws each token from the model's logits and reads it in turn. A text may exceed the
// context: when that is full, the model forgets all but the last half.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <umbel/decode/sample.hpp>

#include "model.hpp"

namespace tiny {

// Reader: the float one with Stored, or integer::reader (integers.hpp).
template <class Stored = float, class Reader = reader<Stored>>
class writer {
 public:
  writer(const weights& trained, std::uint64_t seed) noexcept : model_(trained), draw_(seed) {}

  // Starts a text with 1 to context - 1 tokens; otherwise returns false and reads nothing. Random
  // numbers continue.
  bool begin(const int* prompt, std::size_t count) noexcept {
    if (count == 0 || count >= context) return false;
    model_.forget();
    std::copy_n(prompt, count, text_);
    size_ = count;
    return model_.read(prompt, count);
  }

  // The next token. penalty: for tokens among the last 32 (penalize_repetition); 1: none.
  std::size_t write(const sampling& how, float penalty = 1) noexcept {
    logits<1> scores = model_.next();
    if (penalty != 1) penalize_repetition(scores, last_tokens(), penalty);
    const std::size_t next = draw_(scores, how);
    if (size_ == context) {
      std::copy_n(text_ + context / 2, context / 2, text_);
      size_ = context / 2;
      model_.forget();
      (void)model_.read(text_, size_);
    }
    text_[size_] = static_cast<int>(next);
    (void)model_.read(text_ + size_++, 1);
    return next;
  }

 private:
  // A shorter text is padded with -1, which is not a token.
  tokens<32> last_tokens() const noexcept {
    tokens<32> last;
    for (std::size_t i = 0; i < 32; ++i) last(i) = i < size_ ? text_[size_ - 1 - i] : -1;
    return last;
  }

  Reader model_;
  sampler<float, vocabulary<characters>> draw_;
  int text_[context];
  std::size_t size_ = 0;
};

}  // namespace tiny
