// SPDX-License-Identifier: BSL-1.0
// key_value_cache: the keys and values of the positions so far, projected once, in memory of constant
// size. Decoding a sequence step by step gives the bits of the whole causal pass:
//
//   static key_value_cache<attention, key<256>> past;       // of one sequence; batch<2>: of two
//   past.step(attend, out, prompt);                         // (token<12>, hidden): twelve positions
//   while (past.step(attend, out, next)) ...                // (token<1>, hidden): one more
//
//   key_value_cache<attention, key<64>, sliding<4096>>      // sees the last 64 positions, of 4096 in all
//   key_value_cache<attention, key<256>, stored_as<bfloat16>>    // half the bytes: keys and values rounded
//
// For attention to another sequence, append its keys and values once and recall as often as wanted.
// A step past the capacity returns false and changes nothing. Keys are stored (head_dim, key), values
// (key, value_dim): that is how one query reads them in runs. A sliding cache drops the oldest positions
// in blocks, so that a step has the order of sums of the whole pass with its window; it has no recall.
//
// Not here: masks (mask.hpp), which mean positions of the cache by the axis key.
#pragma once

#include <umbel/attention/cache_rules.hpp>
#include <umbel/attention/multi_head.hpp>

namespace umbel {

// Option of a cache: it keeps what the last positions need, as many as its axis key says, and the
// sequence may be Positions long. Chunk: how many positions one step brings at most.
template <std::size_t Positions, std::size_t Chunk = 1>
struct sliding {
  using kind = option::sliding;
  static constexpr std::size_t positions = Positions, chunk = Chunk;
};

namespace detail {

struct not_sliding {
  static constexpr std::size_t positions = 0, chunk = 0;
};

// One step over one sequence: everything but names. Queries new positions against Rows stored ones, whose
// keys and values are of type Stored.
template <class Layer, class Stored, std::size_t Queries, std::size_t Rows, std::size_t Positions>
struct cached_forward {
  using T = typename Layer::value_type;
  using rotary = typename Layer::rotary;
  using scoring = typename Layer::scoring;
  static constexpr head_sizes S = Layer::sizes;
  static constexpr std::size_t lanes = plan::lanes<T>(plan::native_target);
  static constexpr std::size_t query_row = round_up(S.query_width(), lanes);
  static constexpr std::size_t key_row = round_up(S.key_width(), lanes);
  static constexpr std::size_t value_row = round_up(S.value_width(), lanes);
  static constexpr std::size_t key_step = round_up(Rows, lanes);  // from one feature to the next
  static constexpr bool stores_t = std::is_same_v<Stored, T>;
  static constexpr context_strides of_context = place_context(Queries, S.context_width(), lanes);
  static constexpr kernel::attend_shape head = {.queries = Queries,
                                                .keys = Rows,
                                                .head_dim = S.head_dim,
                                                .value_dim = S.value_dim,
                                                .q_row = query_row,
                                                .q_dim = 1,
                                                .k_row = 1,
                                                .k_dim = key_step,
                                                .v_row = value_row,
                                                .v_dim = 1,
                                                .o_row = of_context.query,
                                                .o_dim = of_context.feature,
                                                .o_room = of_context.room};
  static constexpr kernel::heads_shape all_heads = {
      S.heads,     S.heads / S.kv_heads, S.head_dim, S.head_dim * key_step,
      S.value_dim, S.value_dim * of_context.feature};

  struct workspace : workspace_base {
    alignas(64) T q[Queries * query_row];
    // What is stored next: keys, then values where they have to be converted.
    alignas(64) T projected[Queries * (key_row < value_row && !stores_t ? value_row : key_row)];
    alignas(64) T context[of_context.size];
    alignas(64) T scratch[kernel::attend_scratch<head, T>];
  };

  // Keys and values of the positions from `position` on, stored from `row` on.
  template <sequence_strides Y, sequence_strides Z, class Parameters>
  static constexpr void store(const Parameters& p, const T* y, const T* z, std::size_t position,
                              std::size_t row, Stored* keys, Stored* values,
                              T* projected) noexcept {
    p.k.template run<kernel::linear_shape{Queries, S.key_hidden, S.key_width(), Y.position,
                                          Y.feature, key_row, 1, S.k_bias}>(y, projected);
    rotary::template turn<Queries, S.kv_heads, S.head_dim, key_row, Positions>(projected, position);
    for (std::size_t d = 0; d < S.key_width(); ++d)
      for (std::size_t i = 0; i < Queries; ++i)
        keys[d * key_step + row + i] = static_cast<Stored>(projected[i * key_row + d]);
    constexpr kernel::linear_shape to_values = {Queries,   S.value_hidden, S.value_width(), Z.position,
                                                Z.feature, value_row,      1,               S.v_bias};
    if constexpr (stores_t) {
      p.v.template run<to_values>(z, values + row * value_row);
    } else {
      p.v.template run<to_values>(z, projected);
      for (std::size_t i = 0; i < Queries; ++i)
        for (std::size_t d = 0; d < S.value_width(); ++d)
          values[(row + i) * value_row + d] = static_cast<Stored>(projected[i * value_row + d]);
    }
  }

  // Queries, of which the first stands at `position`, to what is stored. mask(h): a head_mask.
  template <sequence_strides X, sequence_strides Out, class Parameters, class Mask>
  static constexpr void attend(const Parameters& p, const T* x, std::size_t position, const Stored* keys,
                               const Stored* values, const Mask& mask, T* out,
                               workspace& work) noexcept {
    p.q.template run<kernel::linear_shape{Queries, S.hidden, S.query_width(), X.position, X.feature,
                                          query_row, 1, S.q_bias}>(x, work.q);
    rotary::template turn<Queries, S.heads, S.head_dim, query_row, Positions>(work.q, position);
    attend_heads(keys, values, mask, work);
    p.o.template run<kernel::linear_shape{Queries, S.context_width(), S.output, of_context.query,
                                          of_context.feature, Out.position, Out.feature, S.o_bias}>(
        work.context, out);
  }

 private:
  template <class Mask>
  static constexpr void attend_heads(const Stored* keys, const Stored* values, const Mask& mask,
                                     workspace& work) noexcept {
    if constexpr (kernel::each_fits_lanes<head, all_heads, T> &&
                  scoring::template sees_a_run<decltype(mask(0))>) {
      if (!std::is_constant_evaluated()) {
        const kernel::scores::key_range seen = mask(0).policy.range(0, 1, Rows);
        kernel::attend_each<head, all_heads>(work.q, keys, values,
                                             scoring::template scale<T>(S.head_dim), seen.begin,
                                             seen.end, work.context, work.scratch);
        return;
      }
    }
    for (std::size_t h = 0; h < S.heads; ++h) {
      const std::size_t kv = h / all_heads.share;
      scoring::attend(
          dot_product_head<head, T, scoring, Stored>{
              work.q + h * all_heads.q_head, keys + kv * all_heads.k_head,
              values + kv * all_heads.v_head, work.context + h * all_heads.o_head, work.scratch},
          mask(h));
    }
  }
};

}  // namespace detail

// Layer: a multi_head_attention; calls take it or its prepacked form. Keys: key<256>, how many positions
// there is room for. Options: batch<2>, sliding<4096>,
// stored_as<bfloat16> (or float16): keys and values are rounded to 16 bits when they are stored, for layers
// of float; results are those of attention to the rounded ones.
template <class Layer, class Keys, class... Options>
class key_value_cache {
  using batch_option = option_or<rules::batch_family, void, Options...>;
  using sliding_option = option_or<option::sliding, detail::not_sliding, Options...>;
  using stored_option =
      option_or<option::stored_as, stored_as<typename Layer::value_type>, Options...>;
  using verdict = rules::cache<Layer, Keys, sliding_option, stored_option, Options...>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");

 public:
  using layer = Layer;
  using value_type = typename Layer::value_type;
  // What keys and values are stored as.
  using stored_type =
      std::conditional_t<verdict::ok, typename stored_option::type, typename Layer::value_type>;
  static constexpr bool slides = sliding_option::positions != 0;
  // Positions that a query sees at most, and positions that a sequence may have.
  static constexpr std::size_t capacity = Keys::size;
  static constexpr std::size_t positions = slides ? sliding_option::positions : capacity;
  // Positions that there is memory for. A sliding cache drops whole blocks of the softmax, so it may hold
  // nearly one more than its queries see.
  static constexpr std::size_t rows =
      slides ? capacity + plan::key_block + sliding_option::chunk - 2 : capacity;

  // How many positions there are.
  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
  // Forgets everything.
  constexpr void reset() noexcept { size_ = dropped_ = 0; }
  // Forgets the positions from `count` on. false, and nothing changed, where there are fewer, or where
  // a sliding cache has dropped what they would see.
  constexpr bool rewind(std::size_t count) noexcept {
    if (count > size_ || (dropped_ != 0 && count + 1 < dropped_ + capacity)) return false;
    size_ = count;
    return true;
  }

 private:
  // A recall may have more queries than there are positions; theirs count from 0.
  template <std::size_t Queries>
  using forward = detail::cached_forward<Layer, stored_type, Queries, rows,
                                         (Queries > positions ? Queries : positions)>;

 public:
  // Scratch for calls of so many positions: workspace<token<1>>. Its contents between calls do not
  // matter.
  template <class Positions>
  using workspace = typename forward<Positions::size>::workspace;

  // Self-attention of the next positions, x (batch, token, hidden) with the batch of the cache, to
  // themselves and all before: the rows of the whole causal pass. out: a tensor or view of the axes of
  // x, in any order. mask: more masks (mask.hpp); key counts positions of the cache, queries stand where
  // they are.
  template <class Attend, tensor_like Out, tensor_like X, mask_like Mask = every_key,
            workspace_like Workspace = on_stack>
  [[nodiscard]] constexpr bool step(const Attend& attend, Out&& out, const X& x,
                                    const Mask& mask = {}, Workspace&& work = {}) noexcept {
    using verdict =
        first_error<rules::layer_of_cache<Layer, Attend>,
                    rules::self_attend<say::cache, X, value_type, typename Layer::hidden_axis>,
                    rules::one_width<say::cache, typename Layer::hidden_axis,
                                     typename Layer::keys_axis, typename Layer::values_axis>,
                    rules::batch_of_cache<layout_of<X>, batch_option>,
                    rules::out_fits<say::cache, Out, value_type,
                                    typename Layer::template result_of<layout_of<X>>>>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok) {
      using family = rules::sequence_family<layout_of<X>, typename Layer::hidden_axis>;
      using call = call_of<axis_of<layout_of<X>, family>, true, Mask, Workspace>;
      static_assert(report<typename call::verdict>::ok, "umbel: shapes do not fit");
      if constexpr (call::verdict::ok) {
        if (!make_room(call::count)) return false;
        detail::with_scratch<typename call::scratch>(work, [&](auto& scratch) {
          store<call, family, family>(attend, x, x, scratch.projected);
          look<call, family>(attend, out, x, size_, mask, scratch);
        });
        size_ += call::count;
        return true;
      }
    }
    return false;
  }

  // The keys and values of more positions, (batch, key, hidden) each, without asking anything: as steps
  // do whose results nobody wants. work: a workspace<key<..>>.
  template <class Attend, tensor_like Y, tensor_like Z, workspace_like Workspace = on_stack>
  [[nodiscard]] constexpr bool append(const Attend& attend, const Y& y, const Z& z,
                                      Workspace&& work = {}) noexcept {
    using verdict =
        first_error<rules::layer_of_cache<Layer, Attend>,
                    rules::attention_argument<say::cache, say::the_keys, Y, value_type,
                                              rules::key_family, typename Layer::keys_axis>,
                    rules::attention_argument<say::cache, say::the_values, Z, value_type,
                                              rules::key_family, typename Layer::values_axis>,
                    rules::same_size<say::cache, rules::key_family, layout_of<Y>, say::the_keys,
                                     layout_of<Z>, say::but_the_values>,
                    rules::batch_of_cache<layout_of<Y>, batch_option>,
                    rules::batch_of_cache<layout_of<Z>, batch_option>>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok) {
      using call = call_of<axis_of<layout_of<Y>, rules::key_family>, true, every_key, Workspace>;
      static_assert(report<typename call::verdict>::ok, "umbel: shapes do not fit");
      if constexpr (call::verdict::ok) {
        if (!make_room(call::count)) return false;
        detail::with_scratch<typename call::scratch>(work, [&](auto& scratch) {
          store<call, rules::key_family, rules::key_family>(attend, y, z, scratch.projected);
        });
        size_ += call::count;
        return true;
      }
    }
    return false;
  }

  // Attention of queries, (batch, query, hidden), to all that is stored, whatever its position. Rotary
  // positions of the queries count from 0. A sliding cache has no recall: what it still stores is a matter
  // of how its sequence was cut into steps.
  template <class Attend, tensor_like Out, tensor_like X, mask_like Mask = every_key,
            workspace_like Workspace = on_stack>
  constexpr void recall(const Attend& attend, Out&& out, const X& x, const Mask& mask = {},
                        Workspace&& work = {}) const noexcept {
    using verdict =
        first_error<rules::layer_of_cache<Layer, Attend>, rules::recall_of_cache<slides>,
                    rules::attention_argument<say::cache, say::the_queries, X, value_type,
                                              rules::query_family, typename Layer::hidden_axis>,
                    rules::batch_of_cache<layout_of<X>, batch_option>,
                    rules::out_fits<say::cache, Out, value_type,
                                    typename Layer::template result_of<layout_of<X>>>>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok) {
      using call = call_of<axis_of<layout_of<X>, rules::query_family>, false, Mask, Workspace>;
      static_assert(report<typename call::verdict>::ok, "umbel: shapes do not fit");
      if constexpr (call::verdict::ok)
        detail::with_scratch<typename call::scratch>(work, [&](auto& scratch) {
          look<call, rules::query_family>(attend, out, x, 0, mask, scratch);
        });
    }
  }

 private:
  static constexpr std::size_t batches = rules::size_or_1<batch_option>;
  using storage = forward<1>;

  // What is the same for all calls of one number of positions. Appends: do they become part of what is
  // stored, or only look at it?
  template <class Positions, bool Appends, class Mask, class Workspace>
  struct call_of {
    static constexpr std::size_t count = Positions::size;
    static constexpr bool appends = Appends;
    using forward = key_value_cache::forward<count>;
    using scratch = typename forward::workspace;
    using scores = detail::scores_of<value_type, rules::size_or_0<batch_option>, Layer::sizes.heads,
                                     count, rows, true>;
    using verdict = first_error<
        rules::fits_into_cache<Positions, Keys,
                               !Appends ? npos : (slides ? sliding_option::chunk : capacity)>,
        rules::mask_of_cache<detail::mask_of<Mask>, slides>,
        rules::mask_fits<say::cache, detail::mask_of<Mask>, scores>,
        rules::scratch_fits<say::cache, std::remove_reference_t<Workspace>, scratch,
                            shape<Positions>>>;
  };

  // Room for so many more positions, by dropping the oldest if need be. false: there is none.
  constexpr bool make_room(std::size_t count) noexcept {
    if (count > positions - size_) return false;
    if constexpr (slides) {
      // The first of them sees this position; the block that it lies in must stay.
      const std::size_t oldest = size_ + 1 > capacity ? size_ + 1 - capacity : 0;
      if (size_ - dropped_ + count > rows) drop(oldest / plan::key_block * plan::key_block);
    }
    return true;
  }
  constexpr void drop(std::size_t until) noexcept {
    const std::size_t gone = until - dropped_, left = size_ - until;
    for (std::size_t d = 0; d < batches * Layer::sizes.key_width(); ++d) {
      stored_type* const row = keys_ + d * storage::key_step;
      for (std::size_t i = 0; i < left; ++i) row[i] = row[gone + i];
    }
    for (std::size_t b = 0; b < batches; ++b) {
      stored_type* const to = values_of(b);
      for (std::size_t i = 0; i < left * storage::value_row; ++i)
        to[i] = to[gone * storage::value_row + i];
    }
    dropped_ = until;
  }

  template <class Self>
  static constexpr auto* keys_in(Self& self, std::size_t b) noexcept {
    return self.keys_ + b * Layer::sizes.key_width() * storage::key_step;
  }
  constexpr stored_type* values_of(std::size_t b) noexcept {
    return values_ + b * rows * storage::value_row;
  }
  constexpr const stored_type* values_of(std::size_t b) const noexcept {
    return values_ + b * rows * storage::value_row;
  }

  template <class Call, class KeyFamily, class ValueFamily, class Attend, class Y, class Z>
  constexpr void store(const Attend& attend, const Y& y, const Z& z,
                       value_type* projected) noexcept {
    constexpr auto ys =
        detail::strides_along<layout_of<Y>, KeyFamily, typename Layer::keys_axis::family>;
    constexpr auto zs =
        detail::strides_along<layout_of<Z>, ValueFamily, typename Layer::values_axis::family>;
    for (std::size_t b = 0; b < batches; ++b)
      Call::forward::template store<ys, zs>(attend.parameters(), y.data() + b * ys.batch,
                                            z.data() + b * zs.batch, size_, size_ - dropped_,
                                            keys_in(*this, b), values_of(b), projected);
  }

  // Attention to what is stored. position: where the first query stands; in a step, what is stored after
  // it is not seen.
  template <class Call, class QueryFamily, class Attend, class Out, class X, class Mask,
            class Scratch>
  constexpr void look(const Attend& attend, Out& out, const X& x, std::size_t position,
                      const Mask& mask, Scratch& work) const noexcept {
    using scores = typename Call::scores;
    constexpr auto xs =
        detail::strides_along<layout_of<X>, QueryFamily, typename Layer::hidden_axis::family>;
    constexpr auto outs =
        detail::strides_along<layout_of<Out>, QueryFamily, typename Layer::output_axis::family>;
    const auto& masks = detail::as_mask(mask);
    const auto first = static_cast<std::ptrdiff_t>(position - dropped_);
    // The queries of a step are the last positions.
    const auto bottom_right = Call::appends ? first
                                            : static_cast<std::ptrdiff_t>(size_) -
                                                  static_cast<std::ptrdiff_t>(Call::count);
    for (std::size_t b = 0; b < batches; ++b)
      Call::forward::template attend<xs, outs>(
          attend.parameters(), x.data() + b * xs.batch, position, keys_in(*this, b), values_of(b),
          [&](std::size_t h) {
            const auto given = detail::at_head<scores>(masks, {b, h, first, bottom_right});
            return detail::among(seen<Call::appends, Call::count>(first), given);
          },
          out.data() + b * outs.batch, work);
  }

  // What a query sees whatever the mask says.
  template <bool Appends, std::size_t Count>
  constexpr auto seen(std::ptrdiff_t first) const noexcept {
    namespace scores = kernel::scores;
    if constexpr (!Appends)
      return scores::first_keys(size_ - dropped_);
    else if constexpr (slides)
      return scores::window{capacity - 1, 0, first};
    else if constexpr (Count == 1)
      return scores::first_keys(static_cast<std::size_t>(first) + 1);
    else
      return scores::causal{first};
  }

  std::size_t size_ = 0, dropped_ = 0;  // positions so far; of these no longer in memory
  alignas(64) stored_type keys_[batches * Layer::sizes.key_width() * storage::key_step]{};
  alignas(64) stored_type values_[batches * rows * storage::value_row]{};
};

}  // namespace umbel
