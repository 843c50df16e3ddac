// SPDX-License-Identifier: BSL-1.0
// says<Verdict>("umbel: ..."): is this the sentence of a check, letter for letter? accepted says
// "".
#pragma once

#include <umbel/shape/verdict.hpp>

#include <cstddef>

template <class Verdict>
constexpr bool says(const char* expected) {
  constexpr auto message = Verdict::message;
  std::size_t i = 0;
  while (i < message.size() && expected[i] != '\0' && message.data()[i] == expected[i]) ++i;
  return i == message.size() && expected[i] == '\0' && Verdict::ok == (message.size() == 0);
}
