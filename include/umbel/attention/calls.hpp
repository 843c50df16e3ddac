// SPDX-License-Identifier: BSL-1.0
// The calls of attention: queries to keys and values, or a sequence to itself, with a mask and a
// workspace; the result is new or written into a tensor; also in a formula. See
// multi_head_call.hpp, additive.hpp and scaled_dot_product.hpp for the computations.
#pragma once

#include <umbel/attention/rules.hpp>
#include <umbel/config.hpp>
#include <umbel/layer/memory.hpp>
#include <umbel/mask/combine.hpp>
#include <umbel/mask/in_formula.hpp>
#include <umbel/tensor/refusal.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

// The verdict on a call: on its shapes, then by Made::call on the rest.
template <class Shapes, class Made>
struct call_rule {
  using type = Shapes;
  using made = Made;
};
template <class Made>
struct call_rule<accepted, Made> {
  using type = typename Made::call::verdict;
  using made = Made;
};

// A call in a formula. Call<Mask>: the computation; of_mask: tensors of the mask (parts.hpp).
template <template <class> class Call>
struct attention_steps {
  using scratch = typename Call<every_key>::scratch;
  using result = row_major<typename Call<every_key>::result::layout>;
  static constexpr std::uint64_t flops = Call<every_key>::flops;
  static constexpr std::size_t tables = Call<every_key>::steps::tables;

  template <class Given, class To, class X, class Y, class Z, class... OfMask>
  static constexpr void run(const Given& given, To& to, scratch& work, const X& x, const Y& y,
                            const Z& z, const OfMask&... of_mask) noexcept {
    const auto mask = given.mask(of_mask...);
    Call<std::remove_const_t<decltype(mask)>>::each_sequence(given.weights(), x, y, z, mask, to,
                                                             work);
  }
};

// Queries to keys and values. Forms: cross<X, Y, Z, Mask, Workspace, Out>, a call_rule;
// cross_workspace<X, Y, Z>; for formulas, cross_steps<X, Y, Z>. Derived: a layer or
// prepacked<layer>, which has get_weights(), or an operation. Each form asserts its verdict itself:
// a function in between would add three lines to clang's output.
template <class Derived, class Forms, class Word, class Takes>
struct attention_calls : other_calls_with_mask<Word, Takes> {
  using refused = other_calls_with_mask<Word, Takes>;
  using refused::operator();
  using refused::into;
  using refused::workspace_of;

  // Queries (batch, query, hidden) to keys and values (batch, key, hidden), axes in any order,
  // batch optional. Returns a row-major tensor with the axes of the queries and the features of the
  // result. work: a Layer::workspace<query<..>, key<..>>, or several.
  template <tensor_like X, tensor_like Y, tensor_like Z, mask_like Mask = every_key,
            workspace_like Workspace = on_stack>
  constexpr auto operator()(const X& x, const Y& y, const Z& z, const Mask& mask = {},
                            Workspace&& work = {}) const noexcept {
    using rule =
        typename Forms::template cross<X, Y, Z, Mask, std::remove_reference_t<Workspace>, by_value>;
    static_assert(report<typename rule::type>::ok, "umbel: shapes do not fit");
    return attend<rule>(x, y, z, mask, work, by_value{});
  }

  // In a formula.
  template <traced X, traced Y, traced Z, mask_of_a_node Mask = every_key, class Of = Forms>
    requires Of::in_formulas
  constexpr auto operator()(const X& x, const Y& y, const Z& z,
                            const Mask& mask = {}) const noexcept {
    using rule = in_its_line<
        first_error<typename Of::template cross<X, Y, Z, Mask, in_formula, by_value>::type,
                    rules::mask_in_a_formula<Word, Mask>>,
        X>;
    static_assert(report<rule>::ok, "umbel: shapes do not fit");
    if constexpr (rule::ok)
      return call_with_mask<
          typename Of::template cross_steps<view_of_node<X>, view_of_node<Y>, view_of_node<Z>>>(
          self(), mask, x, y, z);
    else
      return refusal<rule>();
  }

  // The same, written into a tensor or view with the axes of the queries in any order and any
  // strides. out must not overlap the arguments.
  template <tensor_like Out, tensor_like X, tensor_like Y, tensor_like Z,
            mask_like Mask = every_key, workspace_like Workspace = on_stack>
  constexpr void into(Out&& out, const X& x, const Y& y, const Z& z, const Mask& mask = {},
                      Workspace&& work = {}) const noexcept {
    using rule =
        typename Forms::template cross<X, Y, Z, Mask, std::remove_reference_t<Workspace>, Out>;
    static_assert(report<typename rule::type>::ok, "umbel: shapes do not fit");
    attend<rule>(x, y, z, mask, work, static_cast<Out&&>(out));
  }

  // See workspace_for.
  template <tensor_like X, tensor_like Y, tensor_like Z, mask_like Mask = every_key,
            class Of = Forms>
  static auto workspace_of(const X&, const Y&, const Z&, const Mask& = {}) {
    using shapes = typename Of::template cross<X, Y, Z, every_key, in_formula, by_value>::type;
    static_assert(report<shapes>::ok, "umbel: shapes do not fit");
    if constexpr (shapes::ok) {
      using work = typename Of::template cross_workspace<X, Y, Z>;
      using rule = typename Of::template cross<X, Y, Z, Mask, work, by_value>::type;
      static_assert(report<rule>::ok, "umbel: shapes do not fit");
      return of_type<work>();
    } else {
      return invalid{};
    }
  }

 protected:
  // The result of a call that Rule accepts, in its memory.
  template <class Rule, class X, class Y, class Z, class Mask, class Workspace, class Out>
  constexpr auto attend(const X& x, const Y& y, const Z& z, const Mask& mask, Workspace& work,
                        Out&& out) const noexcept {
    if constexpr (Rule::type::ok) {
      using call = typename Rule::made::call;
      return computed<typename call::result, typename call::place>(
          out, work, [&](auto& to, auto& buffers) UMBEL_LAMBDA_INLINE {
            call::each_sequence(self(), x, y, z, mask, to, buffers);
          });
    } else {
      return invalid{};
    }
  }
  constexpr const auto& self() const noexcept {
    const auto& derived = *static_cast<const Derived*>(this);
    if constexpr (requires { derived.get_weights(); })
      return derived.get_weights();
    else
      return derived;
  }
};

// Adds a sequence to itself. Forms: also self<X, Mask, Workspace, Out>, self_steps<X>.
template <class Derived, class Forms, class Word, class Takes>
struct self_attention_calls : attention_calls<Derived, Forms, Word, Takes> {
  using to_keys = attention_calls<Derived, Forms, Word, Takes>;
  using to_keys::operator();
  using to_keys::into;
  using to_keys::workspace_of;

  // Self-attention of x: an optional batch axis, hidden, and one axis of any name along which the
  // positions lie. Returns a row-major tensor with the same axes.
  //   mask  lengths, causal ... (mask/combine.hpp); along query and key its memory has the size of
  //         the sequence
  //   work  a Layer::workspace<sequence axis>, or several with an executor, parallel(executor,
  //         work) (layer/executor.hpp); without one, scratch is on the stack, up to
  //         UMBEL_STACK_BUDGET bytes
  template <tensor_like X, mask_like Mask = every_key, workspace_like Workspace = on_stack>
  constexpr auto operator()(const X& x, const Mask& mask = {},
                            Workspace&& work = {}) const noexcept {
    using rule =
        typename Forms::template self<X, Mask, std::remove_reference_t<Workspace>, by_value>;
    static_assert(report<typename rule::type>::ok, "umbel: shapes do not fit");
    return this->template attend<rule>(x, x, x, mask, work, by_value{});
  }

  // In a formula.
  template <traced X, mask_of_a_node Mask = every_key, class Of = Forms>
    requires Of::in_formulas
  constexpr auto operator()(const X& x, const Mask& mask = {}) const noexcept {
    using rule =
        in_its_line<first_error<typename Of::template self<X, Mask, in_formula, by_value>::type,
                                rules::mask_in_a_formula<Word, Mask>>,
                    X>;
    static_assert(report<rule>::ok, "umbel: shapes do not fit");
    if constexpr (rule::ok)
      return call_with_mask<typename Of::template self_steps<view_of_node<X>>>(this->self(), mask,
                                                                               x);
    else
      return refusal<rule>();
  }

  // Into a tensor or view with the axes of x in any order and any strides. out must not overlap x.
  template <tensor_like Out, tensor_like X, mask_like Mask = every_key,
            workspace_like Workspace = on_stack>
  constexpr void into(Out&& out, const X& x, const Mask& mask = {},
                      Workspace&& work = {}) const noexcept {
    using rule = typename Forms::template self<X, Mask, std::remove_reference_t<Workspace>, Out>;
    static_assert(report<typename rule::type>::ok, "umbel: shapes do not fit");
    this->template attend<rule>(x, x, x, mask, work, static_cast<Out&&>(out));
  }

  // See workspace_for.
  template <tensor_like X, mask_like Mask = every_key, class Of = Forms>
  static auto workspace_of(const X&, const Mask& = {}) {
    using shapes = typename Of::template self<X, every_key, in_formula, by_value>::type;
    static_assert(report<shapes>::ok, "umbel: shapes do not fit");
    if constexpr (shapes::ok) {
      using work = typename Of::template self_workspace<X>;
      using rule = typename Of::template self<X, Mask, work, by_value>::type;
      static_assert(report<rule>::ok, "umbel: shapes do not fit");
      return of_type<work>();
    } else {
      return invalid{};
    }
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
