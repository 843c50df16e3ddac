// SPDX-License-Identifier: BSL-1.0
// key_value_cache of a formula: computes a causal attention written as a formula for the new
// positions only, with the bits of the whole pass:
//
//   #include <umbel/decode/cache_of_formula.hpp>  // umbel.hpp does not include it
//   using past = key_value_cache<decltype(layer), key<256>, called_with<tokens, weights>>;
//   static past cache;                            // tokens: tensor<float, token<1>, hidden<64>>
//   while (cache.step(out, layer, x, w)) ...      // x: the next positions, one or more
//
// The sequence is the axis token of the first tensor. The cache keeps what the formula renames to
// key, or computes from it row by row, if scores or sums read it. `position` counts from the start
// of the sequence. Operations that mix positions in other ways are refused.
//
// See also formula/positions.hpp (kept values), formula/next_positions.hpp (the graph of a step).
#pragma once

#include <umbel/config.hpp>
#include <umbel/decode/cache.hpp>
#include <umbel/decode/step_of_formula.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
// The key_value_cache of a formula. Keys: the number of positions that fit in memory. Options:
// called_with<...>, which is required.
template <class Formula, class Keys, class... Options>
  requires detail::decodes_as_formula<Formula>
class key_value_cache<Formula, Keys, Options...>
    : public detail::other_cache_calls<detail::rules::calls_of_formula> {
  using F = typename detail::function_of_formula<std::remove_cv_t<Formula>>::type;
  using types = detail::formulas::types_of_cache<F, Keys, Options...>;
  using decoded = typename types::decoded;
  static constexpr bool fits = types::verdict::ok;
  static_assert(detail::reported<typename types::verdict>::ok, "umbel: shapes do not fit");

 public:
  using detail::other_cache_calls<detail::rules::calls_of_formula>::step;
  using layer = formula<F>;
  using value_type = typename types::sizes::T;
  static constexpr std::size_t capacity = types::capacity;
  static constexpr std::size_t positions = capacity;

  // The number of positions so far.
  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
  // Forgets everything.
  constexpr void reset() noexcept { forget(0); }
  // Forgets the positions from `count` on. Returns false and changes nothing if there are fewer.
  [[nodiscard]] constexpr bool rewind(std::size_t count) noexcept {
    if (count > size_) return false;
    forget(count);
    return true;
  }

  // Scratch for steps of this many positions, workspace<token<1>>.
  template <class Positions = axes::token<1>>
  using workspace = typename types::sizes::template workspace<Positions::size>;
  // See workspace_for, for the arguments of a step.
  template <class... X>
  static typename types::sizes::template workspace<detail::formulas::new_positions<X...>>
  workspace_of(const X&...);

  // The formula's result for the next positions: the rows of the whole pass. out: row-major; for
  // several results std::tie(a, b). x: the arguments of the formula, optionally followed by a
  // workspace. An argument with an axis key has as many keys as the cache has room for. Returns
  // false and changes nothing if the positions don't fit.
  template <detail::formulas::memory_of_results Out, class Given, class... X>
    requires(!detail::formulas::last_is_workspace<X...>)
  [[nodiscard]] constexpr bool step(Out&& out, const Given& layer_of, const X&... x) noexcept {
    detail::on_stack on_stack;
    return step_with<Out>(out, layer_of, on_stack, x...);
  }
  template <detail::formulas::memory_of_results Out, class Given, class... X>
    requires detail::formulas::last_is_workspace<X...>
  [[nodiscard]] constexpr bool step(Out&& out, const Given& layer_of, X&&... x) noexcept {
    return workspace_first<Out>(std::make_index_sequence<sizeof...(X) - 1>{}, out, layer_of, x...);
  }

 private:
  template <class Out, std::size_t... I, class Given, class... X>
  constexpr bool workspace_first(std::index_sequence<I...>, std::remove_reference_t<Out>& out,
                                 const Given& layer_of, X&... x) noexcept {
    const detail::formulas::references<std::index_sequence_for<X...>, X...> all{{x}...};
    return step_with<Out>(out, layer_of, detail::formulas::reference_at<sizeof...(I)>(all),
                          detail::formulas::reference_at<I>(all)...);
  }

  template <class Out, class Given, class Work, class... X>
  struct call {
    static constexpr std::size_t count = detail::formulas::new_positions<X...>;
    using decoding = detail::formulas::decoded<F, capacity, detail::formulas::list<X...>>;
    using declared_for =
        detail::verdict<std::is_same_v<std::remove_cv_t<Given>, formula<F>>,
                        detail::say::key_value_cache,
                        detail::say::the_layer_is_not_the_one_that_the_cache_was_declared_for>;
    using has_positions = detail::rules::called_with_a_sequence<X...>;
    template <bool Ok, class Decoded>
    struct rest {
      using type = detail::accepted;
    };
    template <class Decoded>
    struct rest<true, Decoded> {
      using type = detail::verdict<
          detail::never<Decoded>, detail::say::key_value_cache,
          detail::say::the_arguments_do_not_match_called_with_in_the_type_of_the_cache>;
    };
    template <class Decoded>
      requires(std::is_same_v<typename Decoded::whole, typename decoded::whole>)
    struct rest<true, Decoded> {
      using new_axis = axes::token<count>;
      using room = detail::rules::fits_into_cache<new_axis, Keys, capacity>;
      template <bool HasRoom, class Of>
      struct of_step {
        using type = room;
      };
      template <class Of>
      struct of_step<true, Of> {
        using step = typename Of::template step<count>;
        using layouts = detail::formulas::row_major_layouts<typename Of::template result<count>>;
        using type = detail::first_error<
            detail::verdict<
                step::is_the_same, detail::say::key_value_cache,
                detail::say::the_formula_uses_the_size_of_token_which_differs_in_a_step>,
            typename detail::formulas::step_outs_fit<value_type, layouts, Out>::type,
            detail::rules::scratch_fits<detail::say::key_value_cache, std::remove_reference_t<Work>,
                                        typename types::sizes::template workspace<count>,
                                        detail::shape<new_axis>>>;
      };
      using type = typename of_step<room::ok, Decoded>::type;
    };
    using verdict = detail::first_error<
        declared_for, has_positions,
        typename rest<fits && declared_for::ok && has_positions::ok, decoding>::type>;
  };

  template <class Out, class Given, class Work, class... X>
  constexpr bool step_with(std::remove_reference_t<Out>& out, const Given&, Work& work,
                           const X&... x) noexcept {
    if constexpr (fits) {
      using called = call<Out, Given, Work, X...>;
      static_assert(detail::report<typename called::verdict>::ok, "umbel: shapes do not fit");
      if constexpr (called::verdict::ok) {
        using decoding = typename called::decoding;
        using runs = typename decoding::template run<called::count>;
        if (called::count > capacity - size_) return false;
        using needed = typename types::sizes::template workspace<called::count>;
        detail::with_scratch<needed>(work, [&](auto& scratch) UMBEL_LAMBDA_INLINE {
          detail::formulas::formula_call<false, F, X...>::template step<
              runs, detail::formulas::binder<value_type, false, capacity>,
              typename decoding::template arguments<called::count, called::count>>(
              {kept_, size_}, out, scratch.memory, x...);
        });
        size_ += called::count;
        return true;
      }
    }
    return false;
  }

  // Unused keys must be finite numbers: 0, so that a weight of 0 adds nothing.
  constexpr void forget(std::size_t from) noexcept {
    if constexpr (fits)
      for (const auto& memory : decoded::whole::memories.of)
        for (std::size_t outer = 0; outer < memory.outer; ++outer)
          for (std::size_t i = from * memory.key_step; i < size_ * memory.key_step; ++i)
            kept_[memory.place + outer * memory.outer_step + i] = 0;
    size_ = from;
  }

  std::size_t size_ = 0;
  alignas(64) value_type kept_[types::sizes::room]{};
};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
