// SPDX-License-Identifier: BSL-1.0
// embedding: a table of weights, with one row per token, as a layer: embed(ids) returns its rows,
// embed.logits(x) the products of x with all rows, an output that is tied to the embedding.
#pragma once

#include <umbel/config.hpp>
#include <umbel/layer/borrowing.hpp>
#include <umbel/layer/computing.hpp>
#include <umbel/layer/project.hpp>
#include <umbel/layer/table.hpp>
#include <umbel/mask/in_formula.hpp>
#include <umbel/operation/lookup.hpp>
#include <umbel/shape/template_arguments.hpp>
#include <umbel/tensor/contract.hpp>
#include <umbel/tensor/refusal.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace say {
struct but_the_formula_computes_in;
struct embedding;
struct logits;
}  // namespace say
UMBEL_SAYS(
    sizes_are_template_arguments_not_numbers_in_a_call_so_write_embedding_of_float_and_two_axes,
    "sizes are template arguments, not numbers in a call; write embedding<float, vocabulary<5000>, "
    "hidden<64>>{weights}");

namespace rules {
template <class T, class Vocabulary, class Hidden>
using embedding =
    first_error<floating<say::embedding, T>, in_place<say::embedding, Vocabulary, axes::vocabulary>,
                in_place<say::embedding, Hidden, axes::hidden>, well_formed<Vocabulary, Hidden>>;

// Extra rules of a call in a formula.
template <class X, class Table>
struct embed_in_formula {
  using type = accepted;
};
template <traced X, class Table>
struct embed_in_formula<X, Table> {
  using entry = typename Table::value_type;
  using type = first_error<
      verdict<std::is_same_v<typename X::T, entry>, say::embedding, say::the_table_has_type,
              element<entry>, say::but_the_formula_computes_in, element<typename X::T>>,
      rows_in_a_formula<say::embedding, typename layout_of<Table>::template axis_at<0>, entry>>;
};
template <class X, class Table>
using embed = first_error<rows_by_integers<say::embedding, Table, X>,
                          typename embed_in_formula<X, Table>::type>;
}  // namespace rules

// The table in panels: logits use the kernel of linear maps, and rows are gathered from it.
template <class T, class Vocabulary, class Hidden, class Stored>
struct packed_embedding : packed_linear<T, Hidden, Vocabulary, false, Stored> {
  constexpr void pack(const portable::table_in_any_order<T, Vocabulary, Hidden>& w) noexcept {
    portable::linear_in_any_order<T, Hidden, Vocabulary, false> transposed;
    transposed.weight = w.data();
    transposed.strides = {w.feature_stride(), w.row_stride()};
    packed_linear<T, Hidden, Vocabulary, false, Stored>::pack(transposed);
  }
};
template <class T, class Vocabulary, class Hidden>
constexpr void copy_row(const portable::table_view<T, Vocabulary, Hidden>& w, std::size_t row,
                        T* to) noexcept {
  const T* const from = w.data() + row * Hidden::size;
  for (std::size_t i = 0; i < Hidden::size; ++i) to[i] = from[i];
}
template <class T, class Vocabulary, class Hidden, class Stored>
constexpr void copy_row(const packed_embedding<T, Vocabulary, Hidden, Stored>& w, std::size_t row,
                        T* to) noexcept {
  kernel::unpack_output<Hidden::size, Vocabulary::size>(w.panels, w.bias(), row, to);
}

template <class X, class T, class Vocabulary, class Hidden, class Y>
constexpr void write_logits(const X& x, const portable::table_view<T, Vocabulary, Hidden>& w,
                            Y& y) noexcept {
  contract_into<false, layout_of<X>, layout<Vocabulary, Hidden>, layout_of<Y>,
                typename Hidden::family>(x.data(), w.data(), y.data());
}
template <class X, class T, class Vocabulary, class Hidden, class Stored, class Y>
constexpr void write_logits(const X& x, const packed_embedding<T, Vocabulary, Hidden, Stored>& w,
                            Y& y) noexcept {
  project_tensor(x, w, y);
}

// Logits in the graph of a gradient: training/layers.hpp.
template <class T, class Vocabulary, class Hidden>
struct logits_block;

// Calls of the layer and of prepacked<layer>.
template <class Derived, class T, class Vocabulary, class Hidden>
struct embedding_calls : computing<Derived, say::embedding> {
  using table = tensor<T, Vocabulary, Hidden>;
  using tied = linear_map<T, Hidden, Vocabulary, false>;
  static constexpr bool by_rows = true;  // in a formula: each integer's row is independent

  // embed(ids): the row of each integer of a tensor or view, along a new last axis Hidden: ids
  // (batch, token) return (batch, token, hidden), row-major; embed.into(out, ids). As with lookup,
  // an integer outside of the vocabulary returns zeros.
  template <class Ids>
  using rule = rules::embed<Ids, table>;
  template <class Ids>
  using result = typename looked_up<layout_of<table>, layout_of<Ids>>::joined::type;
  template <class>
  using value = T;
  template <class Ids, class Y>
  constexpr void write(const Ids& ids, Y& y) const noexcept {
    write_checked<(UMBEL_CHECK != 0) && std::is_integral_v<typename Ids::value_type>>(ids,
                                                                                      y.data());
  }

  // embed.logits(x): for each token the sum of the products of x with its row: Vocabulary instead
  // of Hidden, a row-major tensor; x has any axes with Hidden. The bits of contract<hidden>(x,
  // table).
  template <shaped X>
  constexpr auto logits(const X& x) const noexcept {
    using verdict = in_its_line<logits_rule<X>, X>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok && traced<X>)
      return call_with_weights<logits_steps<view_of_node<X>>>(self(), x);
    else if constexpr (verdict::ok)
      return filled<tensor_of<T, projected<layout_of<X>, tied>>>(
          [&](auto& y) { write_logits(x, self().get_weights(), y); });
    else
      return refusal<verdict>();
  }
  template <class... Arguments>
  constexpr invalid logits(const Arguments&...) const noexcept {
    static_assert(
        report<rules::arguments<say::logits, say::expects_one_tensor_or_view, Arguments...>>::ok,
        "umbel: shapes do not fit");
    return {};
  }
  // The same into a row-major tensor or view with those axes, which must not overlap x.
  template <tensor_like Out, tensor_like X>
  constexpr void logits_into(Out&& out, const X& x) const noexcept {
    using verdict = logits_rule<X>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok) {
      using wanted = projected<layout_of<X>, tied>;
      using out_fits = rules::row_major_out<say::logits, Out, T, wanted>;
      static_assert(report<out_fits>::ok, "umbel: shapes do not fit");
      if constexpr (out_fits::ok) {
        view_of<T, wanted> y(out.data());
        write_logits(x, self().get_weights(), y);
      }
    }
  }

 private:
  template <class X>
  using logits_rule = rules::project<say::logits, layout_of<X>, typename X::value_type, tied>;
  // For a call in a formula (formula/node.hpp).
  template <class X>
  struct logits_steps {
    using block = logits_block<T, Vocabulary, Hidden>;
    static constexpr bool by_rows = true;
    using result = projected<layout_of<X>, tied>;
    using scratch = on_stack;
    static constexpr std::uint64_t flops =
        kernel::product_flops(layout_of<X>::count / Hidden::size, Hidden::size, Vocabulary::size);
    template <class Y>
    static constexpr void run(const Derived& words, Y& y, const X& x) noexcept {
      write_logits(x, words.get_weights(), y);
    }
  };
  // Checked: see one_hot_rows. (Formulas do not check.)
  template <bool Checked, class Ids>
  constexpr void write_checked(const Ids& ids, T* to) const noexcept {
    for_each(
        [&](const auto& id) {
          const std::size_t row = row_number(id);
          if constexpr (std::is_integral_v<typename Ids::value_type>)
            offset_along<Vocabulary, 1>("embedding", row);
          if (row < Vocabulary::size)
            copy_row(self().get_weights(), row, to);
          else
            for (std::size_t i = 0; i < Hidden::size; ++i) to[i] = T{};
          to += Hidden::size;
        },
        ids);
  }
  constexpr const Derived& self() const noexcept { return static_cast<const Derived&>(*this); }
};

template <class T, class Vocabulary, class Hidden>
struct embedding_types {
  using value_type = T;
  using vocabulary_axis = Vocabulary;
  using hidden_axis = Hidden;
  using weights = tensor<T, Vocabulary, Hidden>;
  using weights_view = portable::table_view<T, Vocabulary, Hidden>;
  template <class Stored>
  using packed_weights = packed_embedding<T, Vocabulary, Hidden, Stored>;
  template <class Derived>
  using calls = embedding_calls<Derived, T, Vocabulary, Hidden>;
};
template <class T, class Vocabulary, class Hidden>
using embedding_types_of =
    std::conditional_t<rules::embedding<T, Vocabulary, Hidden>::ok,
                       embedding_types<T, typename axis_or_none<Vocabulary>::plain,
                                       typename axis_or_none<Hidden>::plain>,
                       embedding_types<float, axes::vocabulary<1>, no_axis<1>>>;

}  // namespace detail

// A table with a row of weights per token, called with integers (torch.nn.Embedding), and the
// logits of an output that is tied to it (Press and Wolf 2017). T: float or double. Vocabulary,
// Hidden: vocabulary<5000>, hidden<64>. The table (Vocabulary, Hidden), row-major, is borrowed from
// a tensor or view, or from view_as<vocabulary, hidden>(memory). prepacked<embedding<...>> owns it,
// optionally in 16 bits, so that logits take half the time.
template <class T, class Vocabulary, class Hidden = detail::nothing>
UMBEL_EXPECTS(
    "embedding: expects an element type, then two axes; write embedding<float, vocabulary<5000>, "
    "hidden<64>>")
class embedding : public detail::embedding_types_of<T, Vocabulary, Hidden>,
                  public detail::embedding_calls<
                      embedding<T, Vocabulary, Hidden>,
                      typename detail::embedding_types_of<T, Vocabulary, Hidden>::value_type,
                      typename detail::embedding_types_of<T, Vocabulary, Hidden>::vocabulary_axis,
                      typename detail::embedding_types_of<T, Vocabulary, Hidden>::hidden_axis>,
                  public detail::borrowing<
                      detail::say::embedding, embedding<T, Vocabulary, Hidden>,
                      typename detail::embedding_types_of<T, Vocabulary, Hidden>::weights_view> {
  static_assert(detail::reported<detail::rules::embedding<T, Vocabulary, Hidden>>::ok,
                "umbel: shapes do not fit");

 public:
  using detail::borrowing<
      detail::say::embedding, embedding,
      typename detail::embedding_types_of<T, Vocabulary, Hidden>::weights_view>::borrowing;
};

// embedding(5000, 64): refused, since sizes are template arguments.
template <class Given>
class embedding<portable::arguments_of_a_call, Given> : public detail::invalid {
  static_assert(
      detail::reported<detail::rules::made_of_a_call<
          detail::say::embedding,
          detail::say::
              sizes_are_template_arguments_not_numbers_in_a_call_so_write_embedding_of_float_and_two_axes,
          Given>>::ok,
      "umbel: shapes do not fit");

 public:
  template <class... Arguments>
  constexpr explicit embedding(const Arguments&...) noexcept {}
};
template <class... Given>
embedding(const Given&...) -> embedding<portable::arguments_of_a_call, char>;

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
