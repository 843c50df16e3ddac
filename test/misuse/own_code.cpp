// SPDX-License-Identifier: BSL-1.0
// Mistakes in the user's own templates, lambdas and functions.
#include <misuse/preamble.hpp>

#if defined CASE_template_over_the_heads
// fact: hidden=100
// fact: heads=7
template <std::size_t N, class X>
auto by_heads(const X& v) {
  return v | split<hidden, heads<N>, head_dim>;
}
auto r = by_heads<7>(x);
#elif defined CASE_template_over_the_axis
// fact: token
// fact: query=4
template <template <std::size_t> class Axis, class X>
auto weights_over(const X& v) {
  return softmax<Axis>(v);
}
auto r = weights_over<token>(x);
#elif defined CASE_template_of_a_block
// fact: hidden=64
// fact: heads=6
template <class T, std::size_t Width, std::size_t Heads>
struct block {
  using attention = multi_head_attention<T, hidden<Width>, heads<Heads>>;
  typename attention::weights weights;
  auto operator()(const auto& v) const { return attention{weights}(v, causal); }
};
block<float, 64, 6> b;
auto r = b(t);
#elif defined CASE_template_of_a_network
// fact: hidden=64
// fact: hidden=32
template <class X, class... Layers>
auto through(const X& v, const Layers&... layers) {
  return (v | ... | layers);
}
auto f(const linear<float, hidden<64>, hidden<32>>& up,
       const linear<float, hidden<64>, classes<10>>& down) {
  return through(t, up, down);
}
#elif defined CASE_residual_lambda
// fact: query=4
// fact: key=6
constexpr auto residual = [](const auto& v, auto&& layer) { return v + layer(v); };
auto r = residual(x, [](const auto&) { return context{}; });
#elif defined CASE_apply_in_a_pipe
// fact: hidden=100
// fact: heads=7
constexpr auto by_seven = split<hidden, heads<7>, head_dim>;
auto r = x | by_seven;
#elif defined CASE_pipe_kept_for_later
// fact: key
// fact: query=4
constexpr auto summary = mean<key>;
auto f() { return x | summary; }
#elif defined CASE_two_pipes_in_one
// fact: permute
// fact: tensor
constexpr auto both = split<hidden, heads<7>, head_dim> | permute<batch, heads, query, head_dim>;
auto r = x | both;
#elif defined CASE_pipe_into_my_function
// fact: hidden=100
// fact: heads=7
auto to_heads(const queries& q) { return q | split<hidden, heads<7>, head_dim>; }
auto r = to_heads(x)(0, 0, 0, 0);
#elif defined CASE_namespace_of_a_model
// fact: hidden=64
// fact: hidden=100
namespace model {
using head = linear<float, hidden<64>, classes<10>, bias<true>>;
struct parameters {
  typename head::weights head_weights;
};
auto logits(const parameters& p, const queries& q) { return model::head{p.head_weights}(q); }
}  // namespace model
#elif defined CASE_member_function_of_a_model
// fact: query
// fact: key=6
class model {
 public:
  queries run(const queries& q, const context& c) const { return attention{weights_}(c, q, q); }

 private:
  attention::weights weights_;
};
#elif defined CASE_crtp_layer
// fact: heads
// fact: hidden=100
template <class Self>
struct layer_base {
  auto forward(const auto& v) const { return static_cast<const Self&>(*this).run(v); }
};
struct merger : layer_base<merger> {
  auto run(const auto& v) const { return v | merge<heads, head_dim, hidden>; }
};
auto r = merger{}.forward(x);
#elif defined CASE_constexpr_if_on_the_wrong_axis
// fact: token
// fact: query=4
template <class X>
auto pool(const X& v) {
  if constexpr (X::rank == 3)
    return v | mean<token>;
  else
    return v | mean<hidden>;
}
auto r = pool(x);
#elif defined CASE_concept_of_mine
// fact: hidden=100
// fact: heads=7
template <class X>
concept splits_in_seven = requires(const X& v) { v | split<hidden, heads<7>, head_dim>; };
template <class X>
auto by_seven(const X& v) {
  static_assert(true);
  return v | split<hidden, heads<7>, head_dim>;
}
auto r = by_seven(x);
#elif defined CASE_own_axis_wrong_size
// fact: frames=24
// fact: frames=12
using half = tensor<float, frames<12>, hidden<32>>;
auto mix(const half& a, const auto& b) { return a + b; }
auto r = mix(half{}, sound);
#elif defined CASE_own_axis_without_the_base
// fact: item\W+1|speaker
// fact: axis
template <std::size_t N>
struct speaker {};
tensor<float, speaker<3>, hidden<8>> r;
#elif defined CASE_own_axis_as_a_plain_struct
// fact: axis
// fact: speaker
struct speaker : axis<frames, 3> {};
tensor<float, speaker, hidden<8>> r;
#elif defined CASE_std_apply_of_shapes
// fact: query=4
// fact: key=6
auto r =
    std::apply([](const auto& a, const auto& b) { return a + b; }, std::tuple<queries, context>{});
#elif defined CASE_std_transform_of_layers
// fact: hidden=100
// fact: heads=7
auto f(const std::array<queries, 3>& many) {
  std::size_t n = 0;
  std::for_each(many.begin(), many.end(),
                [&](const queries& q) { n += (q | split<hidden, heads<7>, head_dim>).size(); });
  return n;
}
#elif defined CASE_fold_over_sizes
// fact: hidden=100
// fact: heads=3
template <std::size_t... N>
auto each(std::index_sequence<N...>) {
  return ((x | split<hidden, heads<N + 3>, head_dim>).size() + ...);
}
auto r = each(std::index_sequence<0>{});
#elif defined CASE_function_pointer_of_mine
// fact: query=4
// fact: key=6
auto add_them(const queries& a, const context& b) { return a + b; }
auto* r = &add_them;
#elif defined CASE_layer_as_a_template_parameter
// fact: query
// fact: key=12
template <class Layer, class X>
auto call(const typename Layer::weights& v, const X& in) {
  return Layer{v}(in, in, in);
}
auto r = call<self_attention>(sw, t | rename_axis<token, key>);
#elif defined CASE_mask_made_by_my_function
// fact: batch=3
// fact: batch=2
auto padding(const auto& lengths) { return lengths & causal_top_left; }
auto r = attention{w}(x, y, y, padding(tensor<int, batch<3>>{1, 2, 3}));
#elif defined CASE_shape_from_decltype
// fact: query=4
// fact: key=6
decltype(x + x) r = y;
#endif
