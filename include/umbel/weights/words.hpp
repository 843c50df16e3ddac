// SPDX-License-Identifier: BSL-1.0
// The words of the sentences about names of parameters, files and callbacks, and the rules of what
// an argument is. What the weights must be like: parameter_rules.hpp.
#pragma once

#include <umbel/config.hpp>

#include <cstddef>
#include <umbel/shape/words.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {
namespace say {
// operations
struct at;
struct compare_parameters;
struct count_parameters;
struct for_each_parameter;
struct load;
struct parameter_name;
struct replay;
struct save;
struct write_parameter_table;

// phrases
struct a_row_is_empty_so_give_it_a_path_and_a_name_in_the_file;
struct a_null_pointer;
struct arguments;
struct takes_a_path_a_name_in_the_file_and_the_order_there_but_argument;
struct takes_a_path_in_w_a_path_in_the_file_and_a_table_of_names_but_argument;
struct takes_a_path_in_w_a_path_in_the_file_and_a_table_of_names_not;
}  // namespace say
template <>
inline constexpr const char* spoken<say::a_row_is_empty_so_give_it_a_path_and_a_name_in_the_file> =
    "a row is empty; give it a path and a name in the file";
template <>
inline constexpr const char*
    spoken<say::takes_a_path_a_name_in_the_file_and_the_order_there_but_argument> =
        "takes a path, a name in the file and, of a matrix, in_out or out_in, but argument";
template <>
inline constexpr const char*
    spoken<say::takes_a_path_in_w_a_path_in_the_file_and_a_table_of_names_but_argument> =
        "takes a path in w, a path in the file and a table of names, but argument";
template <>
inline constexpr const char*
    spoken<say::takes_a_path_in_w_a_path_in_the_file_and_a_table_of_names_not> =
        "takes a path in w, a path in the file and a table of names, not";

// Text ended by a zero; not nullptr, nor 0, which as a literal would be one.
template <class X>
concept c_string = std::is_convertible_v<X, const char*> && !std::is_same_v<X, std::nullptr_t>;

// The word for an argument that has another type than it should.
template <class X>
struct word_for_argument {
  using type = type_of_given<std::decay_t<X>>;
};
template <>
struct word_for_argument<std::nullptr_t> {
  using type = say::a_null_pointer;
};

namespace rules {
// One argument: what the operation takes, and that it is something else.
template <bool Ok, class Operation, class Takes, std::size_t Number, class X>
using argument = verdict<Ok, Operation, Takes, number<Number>, say::is,
                         typename word_for_argument<std::remove_cvref_t<X>>::type>;
}  // namespace rules

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
