// SPDX-License-Identifier: BSL-1.0
// Rules of load (load.hpp): weights, file and names.
#pragma once

#include <umbel/config.hpp>

#include <cstdint>
#include <umbel/file/stored_tensor.hpp>
#include <umbel/parameters/rules.hpp>
#include <umbel/weights/names.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

UMBEL_SAYS(expects_the_weights_and_a_file_so_write_load_of_both,
           "expects the weights and a file, then tables of names; write load(w, *file)");

namespace rules {

// The requirements of load on a parameter, by the type of its view.
struct loaded {
  using operation = say::load;
  template <class X>
  using of = first_error<
      verdict<!std::is_const_v<typename X::element_type>, operation,
              say::the_weights_are_borrowed_and_const_so_load_the_weights_that_they_view>,
      verdict<readable_as<typename X::value_type>, operation,
              say::needs_elements_of_float_double_bfloat16_float16_int8_or_int32_not,
              element<typename X::value_type>>>;
};

template <class Weights>
using loadable_weights =
    first_error<verdict<std::is_lvalue_reference_v<Weights>, say::load,
                        say::the_weights_are_a_temporary_so_store_them_in_a_variable>,
                verdict<!std::is_const_v<std::remove_reference_t<Weights>>, say::load,
                        say::the_weights_are_const>>;

// Names: the type of argument Number.
template <std::size_t Number, class Names>
using loadable_names =
    argument<table_of_names<Names>, say::load,
             say::expects_tables_of_names_arrays_of_parameter_name_or_at_but_argument, Number,
             Names>;

template <class Weights, class File, class Numbers, class... Names>
struct load_rule;
template <class Weights, class File, std::size_t... I, class... Names>
struct load_rule<Weights, File, std::index_sequence<I...>, Names...> {
  using arguments =
      first_error<file<say::load, File>,
                  verdict<sizeof...(Names) != 0, say::load,
                          say::needs_the_names_in_the_file_so_write_names_umbel_for_a_file_of_save>,
                  loadable_names<I + 3, Names>..., loadable_weights<Weights>>;
};

// One verdict for the whole call. Weights are examined last: the file may be passed for them.
template <class Weights, class File, class... Names>
constexpr auto load_call() {
  using arguments =
      typename load_rule<Weights, File, std::index_sequence_for<Names...>, Names...>::arguments;
  if constexpr (!arguments::ok)
    return arguments{};
  else
    return parameters<loaded, std::remove_reference_t<Weights>>{};
}

}  // namespace rules
}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
