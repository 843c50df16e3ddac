// SPDX-License-Identifier: BSL-1.0
// oneDNN (libdnnl-dev, 2.x): inner product and matmul with weights in the layout it asks for, bias
// included; attention by one matmul for all heads, or block by block like the others. Each
// primitive is made once and has a fixed cost a call, which is what decides small shapes.
#include <dnnl.hpp>

#include "race.hpp"

namespace {

using dnnl::memory;
using dims = memory::dims;

const dnnl::engine& cpu() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}
dnnl::stream& stream() {
  static dnnl::stream stream(cpu());
  return stream;
}

memory::desc described(const dims& sizes, const dims& steps) {
  return memory::desc(sizes, memory::data_type::f32, steps);
}
memory::desc any(const dims& sizes) {
  return memory::desc(sizes, memory::data_type::f32, memory::format_tag::any);
}
dnnl_memory_t of(const float* data, const memory& m) {
  m.set_data_handle(const_cast<float*>(data));
  return m.get();
}

// A primitive with its memories, whose data is given at each call; through the C functions, which
// cost less.
struct step {
  dnnl::primitive run;
  memory source, weights, bias, to;

  void operator()(const float* a, const float* b, float* c) const {
    dnnl_exec_arg_t arguments[] = {{DNNL_ARG_SRC, of(a, source)},
                                   {DNNL_ARG_WEIGHTS, b ? of(b, weights) : weights.get()},
                                   {DNNL_ARG_DST, of(c, to)},
                                   {DNNL_ARG_BIAS, bias.get(true)}};
    const int count = bias ? 4 : 3;
    dnnl_primitive_execute(run.get(), stream().get(), count, arguments);
  }
};

step make_matmul(const memory::desc& a, const memory::desc& b, const memory::desc& c) {
  const dnnl::matmul::primitive_desc made(dnnl::matmul::desc(a, b, c), cpu());
  return {dnnl::matmul(made), memory(a, cpu(), nullptr), memory(b, cpu(), nullptr), memory(),
          memory(c, cpu(), nullptr)};
}

// Weights (out, in) and bias, copied into what the primitive likes.
template <class Made>
step with_constants(const Made& made, const memory::desc& natural, const float* w,
                    const memory::desc& bias, const float* b) {
  memory given(natural, cpu(), const_cast<float*>(w)), weights(made.weights_desc(), cpu());
  memory biases(bias, cpu());
  dnnl::reorder(given, weights).execute(stream(), given, weights);
  std::copy_n(b, bias.get_size() / sizeof(float), static_cast<float*>(biases.get_data_handle()));
  return {dnnl::primitive(made.get()), memory(made.src_desc(), cpu(), nullptr), weights, biases,
          memory(made.dst_desc(), cpu(), nullptr)};
}

struct onednn {
  static constexpr bool reads_transposed = true;
  static constexpr bool few_ways = false;
  using query_blocks = std::integer_sequence<int, 64, 128>;

  template <race::form F>
  struct product {
    step run = make_matmul(
        described({F.rows, F.inner}, F.a_transposed ? dims{1, F.a_row} : dims{F.a_row, 1}),
        described({F.inner, F.columns}, F.b_transposed ? dims{1, F.b_row} : dims{F.b_row, 1}),
        described({F.rows, F.columns}, {F.c_row, 1}));

    void operator()(const float* a, const float* b, float* c) const { run(a, b, c); }
  };

  template <race::linear_shape S>
  static race::ways<race::linear_call> linears(const float* w, const float* b) {
    const auto x = described({S.rows, S.in}, {S.x_row, 1});
    const auto y = described({S.rows, S.out}, {S.y_row, 1});
    const dnnl::inner_product_forward::primitive_desc inner(
        {dnnl::prop_kind::forward_inference, x, any({S.out, S.in}), described({S.out}, {1}), y},
        cpu());
    const dnnl::matmul::primitive_desc matmul(
        {x, any({S.in, S.out}), described({1, S.out}, {S.out, 1}), y}, cpu());
    const auto way = [](step run) {
      return race::repeated([=](const float* from, float* to) { run(from, nullptr, to); });
    };
    return {{"inner product", way(with_constants(inner, described({S.out, S.in}, {S.in, 1}), w,
                                                 described({S.out}, {1}), b))},
            {"matmul", way(with_constants(matmul, described({S.in, S.out}, {1, S.in}), w,
                                          described({1, S.out}, {S.out, 1}), b))}};
  }

  template <race::softmax_shape S>
  static race::ways<race::softmax_call> softmaxes() {
    const auto desc = described({S.rows, S.columns}, {S.columns, 1});
    const dnnl::softmax_forward::primitive_desc made({dnnl::prop_kind::forward_inference, desc, 1},
                                                     cpu());
    const step run = {dnnl::softmax_forward(made), memory(desc, cpu(), nullptr),
                      memory(desc, cpu(), nullptr), memory(), memory(desc, cpu(), nullptr)};
    return {{"softmax", race::repeated([=](const float* x, float* y) { run(x, x, y); })}};
  }

  template <race::attention_shape S>
  static race::ways<race::attention_call> attentions() {
    auto all = race::composed_attentions<onednn, S>();
    constexpr int room = race::row_of(S.keys), rows = S.queries * room;
    const auto heads = [](int height, int width, const race::strides& s, bool transposed) {
      return described({S.batch, S.heads, height, width},
                       {s.batch, s.head, transposed ? 1 : s.row, transposed ? s.row : 1});
    };
    const auto scores = heads(S.queries, S.keys, {S.heads * rows, rows, room}, false);
    const step to_scores = make_matmul(heads(S.queries, S.head_dim, S.q, false),
                                       heads(S.head_dim, S.keys, S.k, true), scores);
    const step to_context = make_matmul(scores, heads(S.keys, S.head_dim, S.v, false),
                                        heads(S.queries, S.head_dim, S.o, false));
    const race::memory s = race::allocate(S.batch * S.heads * rows);
    const race::memory inverse = race::allocate(S.batch * S.heads * S.queries);
    all.push_back({"all heads at once",
                   race::repeated([=](const float* q, const float* k, const float* v, float* o) {
                     to_scores(q, k, s.get());
                     race::softmax_rows<S.keys>(
                         s.get(), room, S.batch * S.heads * S.queries,
                         umbel::detail::simd::rsqrt(static_cast<float>(S.head_dim)), inverse.get());
                     to_context(s.get(), v, o);
                     for (int head = 0; head < S.batch * S.heads; ++head) {
                       race::scale_rows(o + head / S.heads * S.o.batch + head % S.heads * S.o.head,
                                        S.o.row, S.queries, S.head_dim,
                                        inverse.get() + head * S.queries);
                     }
                   })});
    return all;
  }
};

}  // namespace

int main(int argc, char** argv) { return race::main<onednn>(argc, argv); }
