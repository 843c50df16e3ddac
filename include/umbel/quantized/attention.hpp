// SPDX-License-Identifier: BSL-1.0
// Multi-head attention in integers: projections, softmax and values in 8 bits, sums in 32.
//
// Masks: which keys a query sees (lengths, keep_mask, causal, windows, and their like). What
// changes scores or drops weights has no form in integers and is refused by name; so are softcap
// and empty_rows<uniform_weights>. A query that sees no key gets zeros from the heads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/attention/multi_head.hpp>
#include <umbel/config.hpp>
#include <umbel/kernel/integer_attend.hpp>
#include <umbel/quantized/linear.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace say {
struct masks_that_change_scores_or_drop_weights_have_no_form_in_integers;
struct rope_softcap_and_empty_rows_have_no_form_in_integers;
struct lets_a_sum_of_8_bit_products_pass_2_to_the_31;
struct is_the_most;
}  // namespace say
template <>
inline constexpr const char*
    spoken<say::masks_that_change_scores_or_drop_weights_have_no_form_in_integers> =
        "masks that change scores, drop weights or observe them have no form in integers; lengths, "
        "causal, window and keep_mask do";
template <>
inline constexpr const char* spoken<say::rope_softcap_and_empty_rows_have_no_form_in_integers> =
    "rope, softcap and empty_rows<uniform_weights> have no form in integers";
template <>
inline constexpr const char* spoken<say::lets_a_sum_of_8_bit_products_pass_2_to_the_31> =
    "lets a sum of 8-bit products pass 2^31;";
template <>
inline constexpr const char* spoken<say::is_the_most> = "is the most";

namespace rules {
// The sum over an axis of so many products stays within 32 bits.
template <class Axis, std::size_t Most>
using sums_fit =
    verdict<Axis::size <= Most, say::quantized, typename Axis::plain,
            say::lets_a_sum_of_8_bit_products_pass_2_to_the_31, number<Most>, say::is_the_most>;
template <class Mask, class Scores, class Fits>
struct integer_mask {
  using type = Fits;
};
template <class Mask, class Scores>
struct integer_mask<Mask, Scores, accepted> {
  using policy = decltype(std::declval<const Mask&>().template policy<Scores>(mask_place{}));
  using type =
      verdict<!policy::changes && !kernel::scores::drops<policy> && !Mask::observes, say::quantized,
              say::masks_that_change_scores_or_drop_weights_have_no_form_in_integers>;
};
}  // namespace rules

namespace integers {

struct attention_ranges {
  static constexpr const char* part_names[] = {"queries", "keys", "values", "q",
                                               "k",       "v",    "output"};
  range queries, keys, values;  // what the layer is given
  range q, k, v;                // what its projections give
  range output;
};

// The projections and the softmax of a multi_head_attention. Heads lie in whole words.
template <class Layer>
struct attention_numbers {
  static constexpr head_sizes sizes = Layer::sizes;
  static constexpr std::size_t head_dim = kernel::in_words(sizes.head_dim);
  static constexpr std::size_t value_dim = kernel::in_words(sizes.value_dim);
  static constexpr std::size_t query_width = sizes.heads * head_dim;
  static constexpr std::size_t key_width = sizes.kv_heads * head_dim;
  static constexpr std::size_t value_width = sizes.kv_heads * value_dim;
  static constexpr std::size_t context_width = sizes.heads * value_dim;
  using of_keys = features_of_heads<sizes.head_dim>;
  using of_values = features_of_heads<sizes.value_dim>;

  kernel::integer_panels<sizes.hidden, query_width> q;
  kernel::integer_panels<sizes.key_hidden, key_width> k;
  kernel::integer_panels<sizes.value_hidden, value_width> v;
  kernel::integer_panels<context_width, sizes.output> o;
  kernel::integer_softmax softmax;

  // Units: of what is given, of the projections, of the result.
  struct units {
    double queries, keys, values, q, k, v, output;
  };
  template <class View>
  constexpr void pack_attention(const View& w, const units& u) noexcept {
    pack_map<whole_features, of_keys>(q, w.q, u.queries, u.q);
    pack_map<whole_features, of_keys>(k, w.k, u.keys, u.k);
    pack_map<whole_features, of_values>(v, w.v, u.values, u.v);
    pack_map<of_values, whole_features>(o, w.o, u.v, u.output);
    softmax = integers::softmax(u.q, u.k, Layer::scoring::template scale<double>(sizes.head_dim));
  }

  template <std::size_t Queries, std::size_t Keys>
  static constexpr kernel::integer_attend_shape head = {
      Queries, Keys, head_dim, value_dim, query_width, key_width, value_width, context_width};

  template <std::size_t Queries, std::size_t Keys>
  struct scratch_for : workspace_base {
    using positions = std::index_sequence<Queries, Keys>;
    alignas(64) std::int8_t q[Queries * query_width];
    alignas(64) std::int8_t k[Keys * key_width];
    alignas(64) std::int8_t v[Keys * value_width];
    alignas(64) std::int8_t context[Queries * context_width];
    kernel::integer_attend_scratch<head<Queries, Keys>> of_head;
  };

  // Rows of int8, one after another; mask: a sequence_mask. out: rows of the result, which finish
  // writes.
  template <std::size_t Queries, std::size_t Keys, class Mask, class T, class Finish, class Work>
  constexpr void attend(const std::int8_t* x, const std::int8_t* y, const std::int8_t* z,
                        const Mask& mask, T* out, const Finish& finish, Work& work) const noexcept {
    using kernel::integer_linear, kernel::integer_linear_shape;
    constexpr integer_linear_shape of_q = {Queries, sizes.hidden, query_width, sizes.hidden,
                                           query_width};
    constexpr integer_linear_shape of_k = {Keys, sizes.key_hidden, key_width, sizes.key_hidden,
                                           key_width};
    constexpr integer_linear_shape of_v = {Keys, sizes.value_hidden, value_width,
                                           sizes.value_hidden, value_width};
    constexpr integer_linear_shape of_o = {Queries, context_width, sizes.output, context_width,
                                           sizes.output};
    constexpr kernel::finish::as_int8 to_int8{};
    integer_linear<of_q>(q, x, work.q, to_int8);
    integer_linear<of_k>(k, y, work.k, to_int8);
    integer_linear<of_v>(v, z, work.v, to_int8);
    attend_heads<Queries, Keys>(work.q, work.k, work.v, mask, work.context, work.of_head);
    integer_linear<of_o>(o, work.context, out, finish);
  }
  template <std::size_t Queries, std::size_t Keys, class Mask, class Work>
  constexpr void attend_heads(const std::int8_t* from_q, const std::int8_t* from_k,
                              const std::int8_t* from_v, const Mask& mask, std::int8_t* context,
                              Work& work) const noexcept {
    constexpr std::size_t share = sizes.heads / sizes.kv_heads;
    for (std::size_t h = 0; h < sizes.heads; ++h)
      kernel::integer_attend<head<Queries, Keys>>(
          from_q + h * head_dim, from_k + h / share * head_dim, from_v + h / share * value_dim,
          softmax, mask(h).policy, context + h * value_dim, work);
  }
};

// Would the layer have a form in integers?
template <class Layer>
using attention_has_integers = first_error<
    rules::sums_fit<axes::hidden<Layer::sizes.hidden>, kernel::most_input_products>,
    verdict<std::is_same_v<typename Layer::rope_option, no_rope> && Layer::scoring::only_scales,
            say::quantized, say::rope_softcap_and_empty_rows_have_no_form_in_integers>>;

// Widens the ranges of the projections of x, in T.
template <class W, class X>
constexpr void widen_projected(range& seen, const W& w, const X& x) noexcept {
  const auto y = linear<typename W::map::value_type, typename W::map::in, typename W::map::out,
                        bias<W::map::has_bias>>{w}(x);
  widen(seen, y.data(), y.size());
}

}  // namespace integers
}  // namespace detail

// Self-attention of x, or queries x to keys y and values z, int8, row-major: (batch,) positions,
// hidden. Gives int8 or int16 (gives<>) of the axes of the queries.
template <class T, class Hidden, class Heads, class... OfLayer, class... Options>
class quantized<multi_head_attention<T, Hidden, Heads, OfLayer...>, Options...>
    : detail::integers::attention_numbers<multi_head_attention<T, Hidden, Heads, OfLayer...>> {
  using numbers =
      detail::integers::attention_numbers<multi_head_attention<T, Hidden, Heads, OfLayer...>>;

 public:
  using layer = multi_head_attention<T, Hidden, Heads, OfLayer...>;
  using result_type =
      typename detail::option_or<detail::option::gives, gives<std::int8_t>, Options...>::type;
  using ranges = detail::integers::attention_ranges;
  using weights_to_pack = detail::in_any_order<typename layer::weights_view>;

 private:
  static_assert(detail::reported<detail::first_error<
                    detail::integers::attention_has_integers<layer>,
                    detail::rules::options<detail::say::quantized,
                                           detail::option_kinds<detail::option::gives>, Options...>,
                    detail::rules::integer_result<result_type>>>::ok,
                "umbel: shapes do not fit");

 public:
  // Scratch for one call at a time.
  template <class Queries, class Keys = Queries>
  using workspace = typename numbers::template scratch_for<Queries::size, Keys::size>;

  constexpr quantized() noexcept = default;
  constexpr quantized(const weights_to_pack& w, const ranges& seen) noexcept {
    static_cast<void>(pack(w, seen));
  }
  // Zeros where a range is missing; the result names it.
  constexpr pack_result pack(const weights_to_pack& w, const ranges& seen) noexcept {
    using namespace detail::integers;
    if (const auto found = all_seen(seen); !found) return found;
    const auto unit = [](const range& r) { return unit_of_int8(static_cast<double>(r())); };
    this->pack_attention(
        w, {unit(seen.queries), unit(seen.keys), unit(seen.values), unit(seen.q), unit(seen.k),
            unit(seen.v), unit_of<result_type>(static_cast<double>(seen.output()))});
    return {};
  }
  // layer{w}(x, mask), whose tensors widen the ranges.
  template <detail::tensor_like X, mask_like Mask = detail::every_key>
  static constexpr auto observe(ranges& seen, const typename layer::weights_view& w, const X& x,
                                const Mask& mask = {}) noexcept {
    observe_inputs(seen, w, x, x, x);
    auto y = layer{w}(x, mask);
    detail::integers::widen(seen.output, y.data(), y.size());
    return y;
  }
  template <detail::tensor_like X, detail::tensor_like Y, detail::tensor_like Z,
            mask_like Mask = detail::every_key>
  static constexpr auto observe(ranges& seen, const typename layer::weights_view& w, const X& x,
                                const Y& y, const Z& z, const Mask& mask = {}) noexcept {
    observe_inputs(seen, w, x, y, z);
    auto result = layer{w}(x, y, z, mask);
    detail::integers::widen(seen.output, result.data(), result.size());
    return result;
  }

  template <detail::tensor_like X, mask_like Mask = detail::every_key,
            workspace_like Workspace = detail::on_stack>
  constexpr auto operator()(const X& x, const Mask& mask = {},
                            Workspace&& work = {}) const noexcept {
    return attend_self(x, mask, work, detail::by_value{});
  }
  template <detail::tensor_like X, detail::tensor_like Y, detail::tensor_like Z,
            mask_like Mask = detail::every_key, workspace_like Workspace = detail::on_stack>
  constexpr auto operator()(const X& x, const Y& y, const Z& z, const Mask& mask = {},
                            Workspace&& work = {}) const noexcept {
    return attend_to(x, y, z, mask, work, detail::by_value{});
  }
  // out must not overlap the arguments.
  template <detail::tensor_like Out, detail::tensor_like X, mask_like Mask = detail::every_key,
            workspace_like Workspace = detail::on_stack>
  constexpr void into(Out&& out, const X& x, const Mask& mask = {},
                      Workspace&& work = {}) const noexcept {
    attend_self(x, mask, work, static_cast<Out&&>(out));
  }
  template <detail::tensor_like Out, detail::tensor_like X, detail::tensor_like Y,
            detail::tensor_like Z, mask_like Mask = detail::every_key,
            workspace_like Workspace = detail::on_stack>
  constexpr void into(Out&& out, const X& x, const Y& y, const Z& z, const Mask& mask = {},
                      Workspace&& work = {}) const noexcept {
    attend_to(x, y, z, mask, work, static_cast<Out&&>(out));
  }
  [[nodiscard]] constexpr const numbers& get_weights() const noexcept { return *this; }

 private:
  template <class X, class Y, class Z>
  static constexpr void observe_inputs(ranges& seen, const typename layer::weights_view& w,
                                       const X& x, const Y& y, const Z& z) noexcept {
    using namespace detail::integers;
    const auto xs = contiguous(x);
    const auto ys = contiguous(y);
    const auto zs = contiguous(z);
    widen(seen.queries, xs.data(), xs.size());
    widen(seen.keys, ys.data(), ys.size());
    widen(seen.values, zs.data(), zs.size());
    widen_projected(seen.q, w.q, xs);
    widen_projected(seen.k, w.k, ys);
    widen_projected(seen.v, w.v, zs);
  }

  template <class X, class Axis>
  using rows =
      detail::first_error<detail::rules::rows_of<detail::say::quantized, X, std::int8_t, Axis>,
                          detail::rules::batch_first<detail::say::quantized, X>>;

  template <class Queries, class Keys, class X, class Y, class Z, class Mask, class Workspace,
            class Out>
  constexpr auto run(const X& x, const Y& y, const Z& z, const Mask& mask, Workspace& work,
                     Out&& out) const noexcept {
    using namespace detail;
    using result = typename layer::template result_of<layout_of<X>>;
    using scratch = workspace<Queries, Keys>;
    using scores = scores_of<float, layout_of<X>::template size_of<rules::batch_family>,
                             layer::sizes.heads, Queries::size, Keys::size>;
    using fits = first_error<
        rules::row_major_out<say::quantized, Out, result_type, result>,
        rules::sums_fit<Keys, kernel::most_value_products>,
        typename rules::integer_mask<mask_of<Mask>, scores,
                                     rules::mask_fits<say::quantized, mask_of<Mask>, scores>>::type,
        rules::scratch_fits<say::quantized, Workspace, scratch, shape<Queries, Keys>>>;
    static_assert(report<fits>::ok, "umbel: shapes do not fit");
    if constexpr (fits::ok) {
      constexpr std::size_t of_x = Queries::size * layer::sizes.hidden;
      constexpr std::size_t of_y = Keys::size * layer::sizes.key_hidden;
      constexpr std::size_t of_z = Keys::size * layer::sizes.value_hidden;
      constexpr std::size_t of_out = Queries::size * layer::sizes.output;
      const auto& masks = as_mask(mask);
      return computed<tensor_of<result_type, result>, scratch>(
          out, work, [&](auto& to, scratch& own) {
            for (std::size_t b = 0; b < layout_of<X>::count / of_x; ++b)
              this->template attend<Queries::size, Keys::size>(
                  x.data() + b * of_x, y.data() + b * of_y, z.data() + b * of_z,
                  at_sequence<scores>(masks, b), to.data() + b * of_out,
                  integers::finish_as<result_type>{}, own);
          });
    } else {
      return invalid{};
    }
  }
  template <class X, class Mask, class Workspace, class Out>
  constexpr auto attend_self(const X& x, const Mask& mask, Workspace& work,
                             Out&& out) const noexcept {
    using namespace detail;
    using hidden = typename layer::hidden_axis;
    using verdict = first_error<rules::no_second_sequence<say::quantized, Mask>,
                                rules::self_attend<say::quantized, X, std::int8_t, hidden>,
                                rules::one_width<say::quantized, hidden, typename layer::keys_axis,
                                                 typename layer::values_axis>,
                                rows<X, hidden>>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok) {
      using positions = axis_of<layout_of<X>, rules::sequence_family<layout_of<X>, hidden>>;
      return run<positions, positions>(x, x, x, mask, work, static_cast<Out&&>(out));
    } else {
      return invalid{};
    }
  }
  template <class X, class Y, class Z, class Mask, class Workspace, class Out>
  constexpr auto attend_to(const X& x, const Y& y, const Z& z, const Mask& mask, Workspace& work,
                           Out&& out) const noexcept {
    using namespace detail;
    using verdict = first_error<
        rules::attend_to<say::quantized, X, Y, Z, std::int8_t, typename layer::hidden_axis,
                         typename layer::keys_axis, typename layer::values_axis>,
        rows<X, typename layer::hidden_axis>, rows<Y, typename layer::keys_axis>,
        rows<Z, typename layer::values_axis>>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok)
      return run<axis_of<layout_of<X>, rules::query_family>,
                 axis_of<layout_of<Y>, rules::key_family>>(x, y, z, mask, work,
                                                           static_cast<Out&&>(out));
    else
      return invalid{};
  }
};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
