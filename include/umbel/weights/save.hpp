// SPDX-License-Identifier: BSL-1.0
// Weights as a safetensors file, by the paths of their parameters, matrices (in, out), with a
// checksum. verify_checksum checks the file, and names::umbel loads it. The options of layers that
// a struct lists (layer_options.hpp) are in the file, and load compares them.
//
//   save([&](const char* bytes, std::size_t count) { std::fwrite(bytes, 1, count, file); }, w);
#pragma once

#include <umbel/config.hpp>
#include <umbel/file/write.hpp>
#include <umbel/parameters/parameters.hpp>
#include <umbel/weights/layer_options.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

namespace detail {
UMBEL_SAYS(expects_a_sink_and_the_weights_so_write_save_of_both,
           "expects a sink and the weights; write save(sink, w)");
// The requirements of save on a parameter, by the type of its view.
struct saved {
  using operation = say::save;
  template <class X>
  using of = rules::written<operation, X>;
};
template <class Sink, class Weights>
constexpr auto can_be_saved() {
  using to = rules::sink_of_bytes<say::save, Sink>;
  if constexpr (to::ok)
    return rules::parameters<saved, const Weights>{};
  else
    return to{};
}
}  // namespace detail

// sink: called with (const char*, std::size_t); may throw; its return value is ignored.
//   "umbel: save: expects first a sink, called with (const char*, std::size_t), not a
//    pointer to FILE"
// and, for structs, the messages of for_each_parameter.
template <class Sink, class Weights>
constexpr void save(Sink&& sink, const Weights& w) {
  using verdict = decltype(detail::can_be_saved<std::remove_reference_t<Sink>, Weights>());
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok)
    detail::put_safetensors(
        sink,
        [&](auto put) {  // the rules have checked the names
          const auto put_one = [&](const parameter_path& path, const auto& x) {
            put(path.c_str(), x);
          };
          detail::visit_parameters(parameter_path{}, w, put_one);
        },
        [&](auto& out) { detail::put_options(out, w); });
}

// Without a sink, or with more: refused.
template <class... Given>
  requires(sizeof...(Given) != 2 && (... || detail::listed_by_name<std::remove_cvref_t<Given>>))
constexpr void save(Given&&...) noexcept {
  using verdict =
      detail::verdict<detail::one_is_invalid<Given...>, detail::say::save,
                      detail::say::expects_a_sink_and_the_weights_so_write_save_of_both>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
}

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
