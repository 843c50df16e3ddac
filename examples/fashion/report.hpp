// SPDX-License-Identifier: BSL-1.0
// The figures of one run: as aligned lines for people, as report.json for programs, and the broken
// promises.
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string>

#include "evaluate.hpp"

namespace fashion {

// printf to a string. Uses the C locale: this program never sets a different one.
template <class... Values>
std::string text(const char* format, Values... values) {
  std::array<char, 512> buffer{};
  std::snprintf(buffer.data(), buffer.size(), format, values...);
  return buffer.data();
}

// 12345678 as 12,345,678.
inline std::string grouped(std::size_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

// JSON has no NaN and no infinity: they become null.
inline std::string json_number(double value) {
  if (!std::isfinite(value)) return "null";
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return {buffer.data(), end};
}

inline std::size_t stack_figure(const evaluation& run) {
  return run.stack.value_or(model::stack_bytes);
}

inline std::string to_json(const evaluation& run) {
  const auto number = [](std::size_t value) { return std::to_string(value); };
  return "{\n"
         "  \"images\": " +
         number(run.images) +
         ",\n"
         "  \"accuracy\": " +
         json_number(run.accuracy()) +
         ",\n"
         "  \"integer_accuracy\": " +
         json_number(run.integer_accuracy()) +
         ",\n"
         "  \"torch_agreement\": " +
         json_number(run.torch_agreement()) +
         ",\n"
         "  \"max_logit_diff\": " +
         json_number(run.max_logit_diff) +
         ",\n"
         "  \"images_per_second\": " +
         json_number(run.images_per_second) +
         ",\n"
         "  \"integer_latency_us\": {\n"
         "    \"p50\": " +
         json_number(run.integer_latency.p50) +
         ",\n"
         "    \"p99\": " +
         json_number(run.integer_latency.p99) +
         "\n"
         "  },\n"
         "  \"latency_us\": {\n"
         "    \"p50\": " +
         json_number(run.latency.p50) +
         ",\n"
         "    \"p99\": " +
         json_number(run.latency.p99) +
         ",\n"
         "    \"p999\": " +
         json_number(run.latency.p999) +
         ",\n"
         "    \"max\": " +
         json_number(run.latency.max) +
         "\n"
         "  },\n"
         "  \"preempted\": " +
         std::to_string(run.preempted) +
         ",\n"
         "  \"bytes\": {\n"
         "    \"weights\": " +
         number(model::weights_bytes) +
         ",\n"
         "    \"workspace\": " +
         number(model::workspace_bytes) +
         ",\n"
         "    \"stack\": " +
         number(stack_figure(run)) +
         "\n"
         "  },\n"
         "  \"allocations\": " +
         number(run.heap.allocations) +
         "\n"
         "}\n";
}

inline std::string line(const char* name, const std::string& words) {
  return text("  %-13s", name) + words + "\n";
}

// The slowest of a thousand calls and of all: of the model only if no other program ran in between.
inline std::string slowest(const evaluation& run) {
  if (run.preempted != 0) return "";
  return text("   p99.9 %.1f us   max %.1f us", run.latency.p999, run.latency.max);
}

inline std::string to_lines(const evaluation& run) {
  const std::string images = grouped(run.images);
  const std::string core = run.core < 0 ? "on one thread" : "on core " + std::to_string(run.core);
  const std::string preempted =
      run.preempted == 0 ? "" : text("; other programs interrupted %ld times", run.preempted);
  const std::string bound = grouped(model::stack_bytes);
  const std::string stack = run.stack ? grouped(*run.stack) + " measured, at most " + bound
                                      : "at most " + bound + " (not measured in this build)";
  return line("accuracy", text("%.2f %%, ", 100 * run.accuracy()) + grouped(run.correct) + " of " +
                              images + " right") +
         line("as PyTorch",
              grouped(run.agreeing) + " of " + images +
                  text(" predictions equal, worst logit difference %.1e", run.max_logit_diff)) +
         line("in integers", text("%.2f %%, ", 100 * run.integer_accuracy()) +
                                 grouped(run.integer_correct) + " right, " +
                                 grouped(run.integer_agreeing) + " predictions as above") +
         line("throughput", grouped(static_cast<std::size_t>(run.images_per_second)) +
                                " pictures a second, one thread") +
         line("latency",
              text("p50 %.1f us   p99 %.1f us", run.latency.p50, run.latency.p99) + slowest(run)) +
         line("  integers",
              text("p50 %.1f us   p99 %.1f us", run.integer_latency.p50, run.integer_latency.p99)) +
         line("  measured",
              grouped(run.latency.calls) + " forwards one by one, " + core + preempted) +
         line("bytes", "weights " + grouped(model::weights_bytes) + "   workspace " +
                           grouped(model::workspace_bytes) + "   stack " + stack) +
         line("  integers", "weights " + grouped(integer_model::weights_bytes) + "   workspace " +
                                grouped(integer_model::workspace_bytes)) +
         line("allocations", std::to_string(run.heap.allocations) + " during inference (" +
                                 heap::counted() + " counted)");
}

// For logits compared with PyTorch's, which reach 7: rounding is 5e-6, gelu_tanh instead of
// gelu_exact 3e-3, with the same predictions. So the logits reveal what the weights alone don't.
constexpr double largest_difference = 1e-4;

// For the accuracy with integers: one standard error of 10,000 pictures.
constexpr double largest_loss = 0.003;

// A message about the first broken promise, or nothing.
inline std::string broken_promise(const evaluation& run) {
  if (!run.heap_counter_works) return "the allocation counter of this build sees no allocation";
  if (run.heap.allocations != 0 || run.heap.releases != 0) {
    return "inference called the heap: " + std::to_string(run.heap.allocations) +
           " allocations and " + std::to_string(run.heap.releases) + " releases, promised 0";
  }
  if (!std::isfinite(run.max_logit_diff)) return "the model computed a logit that is not finite";
  if (run.agreeing != run.images) {
    return std::to_string(run.images - run.agreeing) + " of " + std::to_string(run.images) +
           " predictions differ from PyTorch's, promised 0";
  }
  if (run.integer_accuracy() < run.accuracy() - largest_loss) {
    return text("in integers %.2f %% are right, of floats %.2f %%, promised at most %.1f less",
                100 * run.integer_accuracy(), 100 * run.accuracy(), 100 * largest_loss);
  }
  if (run.max_logit_diff > largest_difference) {
    return text("a logit differs from PyTorch's by %.1e, promised at most %.1e", run.max_logit_diff,
                largest_difference);
  }
  if (run.stack && *run.stack > model::stack_bytes) {
    return "one forward used " + std::to_string(*run.stack) + " bytes of stack, promised at most " +
           std::to_string(model::stack_bytes);
  }
  return {};
}

}  // namespace fashion
