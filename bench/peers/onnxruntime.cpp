// SPDX-License-Identifier: BSL-1.0
// ONNX Runtime, from a folder that the user names (tools/bench peers): models written here, weights
// as constants so that it may pack them. A call costs about a microsecond before anything is
// computed, and a node a part of one.
#include "onnx_session.hpp"
#include "race.hpp"

namespace {

using race::onnx::add_way;
using race::onnx::model;
using race::onnx::shape;

// ---- parts of models ----------------------------------------------------------------------------

// to = from w^T + b, both matrices, w: (out, in).
void add_map(model& m, const std::string& from, const std::string& to, int out, int in,
             const float* w, const float* b) {
  m.constant(to + "_weights", {out, in}, w);
  m.constant(to + "_bias", {out}, b);
  m.node("Gemm", {from, to + "_weights", to + "_bias"}, {to}, {{"transB", 1}});
}

// As (in, out).
race::memory turned(const float* w, int out, int in) {
  const race::memory result = race::allocate(static_cast<std::size_t>(in * out));
  race::transpose<false>(w, in, out, in, result.get(), out);
  return result;
}

void add_reshape(model& m, const std::string& from, const std::string& to, const shape& sizes) {
  m.constant(to + "_sizes", sizes);
  m.node("Reshape", {from, to + "_sizes"}, {to});
}

enum class attend_by { products, attention, multi_head_attention };
constexpr attend_by all_attend_by[] = {attend_by::products, attend_by::attention,
                                       attend_by::multi_head_attention};

const char* name(attend_by by) {
  return by == attend_by::products    ? "MatMul, Softmax, MatMul"
         : by == attend_by::attention ? "Attention"
                                      : "MultiHeadAttention";
}
constexpr int opset_of(attend_by by) { return by == attend_by::attention ? 23 : 17; }

// o = softmax(q kt / sqrt(head_dim)) v, all (batch, heads, rows, columns).
void add_products(model& m, int head_dim, const std::string& q, const std::string& kt,
                  const std::string& v, const std::string& o) {
  const float scale = 1 / std::sqrt(static_cast<float>(head_dim));
  m.constant("scale", {}, &scale);
  m.node("MatMul", {q, kt}, {"products"});
  m.node("Mul", {"products", "scale"}, {"scores"});
  m.node("Softmax", {"scores"}, {"weights"}, {{"axis", -1}});
  m.node("MatMul", {"weights", v}, {o});
}

// The same of keys (batch, heads, tokens, head_dim), by an operator of the model's opset or by
// products.
void add_attention(model& m, attend_by by, int head_dim, const std::string& q, const std::string& k,
                   const std::string& v, const std::string& o) {
  if (by == attend_by::attention) {
    m.node("Attention", {q, k, v}, {o});
  } else {
    m.node("Transpose", k, "kt", "perm", {0, 1, 3, 2});
    add_products(m, head_dim, q, "kt", v, o);
  }
}

// ---- whole layers -------------------------------------------------------------------------------

// x, z and y are matrices of tokens, as Gemm wants them; q, k, v and the context (batch, tokens,
// hidden), as the operators of attention do. Projections in one Gemm were no faster: Split copies
// what it makes.
template <race::layer_shape S>
struct layer {
  static constexpr int e = S.hidden, rows = S.batch * S.queries, columns = S.batch * S.keys;

  // Ports in the order of a call; self-attention has no z.
  static model begin(int opset) {
    model m(opset);
    m.input("x", {rows, e});
    if (!S.self()) m.input("z", {columns, e});
    m.output("y", {rows, e});
    return m;
  }

  static void add_projections(model& m, const race::layer_data& d) {
    for (int which = 0; which < 3; ++which) {
      const std::string to(1, "qkv"[which]);
      add_map(m, which == 0 || S.self() ? "x" : "z", to + "_flat", e, e, d.w.get() + which * e * e,
              d.b.get() + which * e);
      add_reshape(m, to + "_flat", to, {S.batch, which == 0 || S.self() ? S.queries : S.keys, e});
    }
  }

  // To y, of the context in any shape.
  static void end(race::ways<race::layer_call>& all, const std::string& name, model& m,
                  const race::layer_data& d, const std::vector<race::memory>& fixed = {}) {
    add_reshape(m, "context", "context_flat", {rows, e});
    add_map(m, "context_flat", "y", e, e, d.w_o.get(), d.b_o.get());
    if constexpr (S.self()) {
      race::ways<race::linear_call> found;
      add_way(found, name, m, fixed);
      for (const auto& [_, run] : found) {
        all.push_back({name, [run = run](long times, const float* x, const float*, float* y) {
                         run(times, x, y);
                       }});
      }
    } else {
      add_way(all, name, m, fixed);
    }
  }

  static void add(race::ways<race::layer_call>& all, attend_by by, const race::layer_data& d) {
    model m = begin(opset_of(by));
    add_projections(m, d);
    if (by == attend_by::products) {
      for (const std::string one : {"q", "k", "v"}) {
        add_reshape(m, one, one + "_split",
                    {S.batch, one == "q" ? S.queries : S.keys, S.heads, S.head_dim()});
        m.node("Transpose", one + "_split", one + "_heads", "perm",
               one == "k" ? shape{0, 2, 3, 1} : shape{0, 2, 1, 3});
      }
      add_products(m, S.head_dim(), "q_heads", "k_heads", "v_heads", "o_heads");
      m.node("Transpose", "o_heads", "context", "perm", {0, 2, 1, 3});
    } else if (by == attend_by::attention) {
      m.node("Attention", {"q", "k", "v"}, {"context"},
             {{"q_num_heads", S.heads}, {"kv_num_heads", S.heads}});
    } else {
      m.node("MultiHeadAttention", {"q", "k", "v"}, {"context"}, {{"num_heads", S.heads}},
             model::contributed);
    }
    end(all, name(by), m, d);
  }

  // The runtime's older Attention, which projects too.
  static void add_projecting(race::ways<race::layer_call>& all, const race::layer_data& d) {
    model m = begin(17);
    m.constant("weights", {e, 3 * e}, turned(d.w.get(), 3 * e, e).get());
    m.constant("bias", {3 * e}, d.b.get());
    add_reshape(m, "x", "x_tokens", {S.batch, S.queries, e});
    m.node("Attention", {"x_tokens", "weights", "bias"}, {"context"}, {{"num_heads", S.heads}},
           model::contributed);
    end(all, "Attention that projects", m, d);
  }

  // The cache, (batch, heads, tokens, head_dim), is the same memory before and after, so that only
  // the new token is written. GroupQueryAttention, with as many heads of keys as of queries, is
  // made for that, and stands in for MultiHeadAttention, which copies the cache.
  static void add_decoding(race::ways<race::layer_call>& all, attend_by by,
                           const race::layer_data& d) {
    constexpr int width = S.head_dim();
    const bool grouped = by == attend_by::multi_head_attention;
    model m = begin(opset_of(by));
    for (const char* const one : {"past_k", "past_v"}) m.input(one, {1, S.heads, S.keys, width});
    for (const char* const one : {"all_k", "all_v"}) m.output(one, {1, S.heads, S.keys, width});
    add_projections(m, d);
    if (grouped) {
      const std::int32_t last = S.keys - 1, total = S.keys;
      m.constant("last", {1}, &last);
      m.constant("total", {1}, &total);
      m.node("GroupQueryAttention", {"q", "k", "v", "past_k", "past_v", "last", "total"},
             {"context", "all_k", "all_v"}, {{"num_heads", S.heads}, {"kv_num_heads", S.heads}},
             model::contributed);
    } else {
      shape places;
      for (int h = 0; h < S.heads; ++h) places.insert(places.end(), {0, h, S.keys - 1});
      m.constant("places", places);
      add_reshape(m, "places", "places_of_heads", {S.heads, 3});
      for (const std::string one : {"k", "v"}) {
        add_reshape(m, one, one + "_heads", {S.heads, width});
        m.node("ScatterND", {"past_" + one, "places_of_heads", one + "_heads"}, {"all_" + one});
      }
      add_reshape(m, "q", "q_heads", {1, S.heads, 1, width});
      add_attention(m, by, width, "q_heads", "all_k", "all_v", "context");
    }

    const auto past = race::reference(race::linear_shape{S.keys, 2 * e, e}, d.z.get(),
                                      d.w.get() + e * e, d.b.get() + e);
    const race::memory k = race::allocate(S.keys * e), v = race::allocate(S.keys * e);
    for (int token = 0; token < S.keys; ++token) {
      const double* const key = past.data() + token * 2 * e;
      for (int i = 0; i < e; ++i) {
        const int to = (i / width * S.keys + token) * width + i % width;
        k[to] = static_cast<float>(key[i]), v[to] = static_cast<float>(key[e + i]);
      }
    }
    end(all, grouped ? "GroupQueryAttention" : std::string("ScatterND; ") + name(by), m, d,
        {k, v, k, v});
  }
};

// ---- the peer -----------------------------------------------------------------------------------

struct onnxruntime {
  // MatMul and Add of matrices would be made one Gemm; of a sequence they are not.
  template <race::linear_shape S>
  static race::ways<race::linear_call> linears(const float* w, const float* b) {
    race::ways<race::linear_call> all;
    model gemm(17), matmul(17);
    gemm.input("x", {S.rows, S.in});
    gemm.output("y", {S.rows, S.out});
    add_map(gemm, "x", "y", S.out, S.in, w, b);
    add_way(all, "Gemm", gemm);

    matmul.input("x", {1, S.rows, S.in});
    matmul.output("y", {1, S.rows, S.out});
    matmul.constant("weights", {S.in, S.out}, turned(w, S.out, S.in).get());
    matmul.constant("bias", {S.out}, b);
    matmul.node("MatMul", {"x", "weights"}, {"products"});
    matmul.node("Add", {"products", "bias"}, {"y"});
    add_way(all, "MatMul, Add", matmul);
    return all;
  }

  template <race::softmax_shape S>
  static race::ways<race::softmax_call> softmaxes() {
    model m(17);
    m.input("x", {S.rows, S.columns});
    m.output("y", {S.rows, S.columns});
    m.node("Softmax", {"x"}, {"y"}, {{"axis", -1}});
    race::ways<race::softmax_call> all;
    add_way(all, "Softmax", m);
    return all;
  }

  template <race::attention_shape S>
  static race::ways<race::attention_call> attentions() {
    race::ways<race::attention_call> all;
    for (const attend_by by : all_attend_by) {
      model m(opset_of(by));
      m.input("q", {S.batch, S.heads, S.queries, S.head_dim});
      m.input("k", {S.batch, S.heads, S.keys, S.head_dim});
      m.input("v", {S.batch, S.heads, S.keys, S.head_dim});
      m.output("o", {S.batch, S.heads, S.queries, S.head_dim});
      if (by == attend_by::multi_head_attention) {  // queries and context: (batch, tokens, hidden)
        m.node("Transpose", "q", "q_tokens", "perm", {0, 2, 1, 3});
        add_reshape(m, "q_tokens", "q_merged", {S.batch, S.queries, S.heads * S.head_dim});
        m.node("MultiHeadAttention", {"q_merged", "k", "v"}, {"o_merged"}, {{"num_heads", S.heads}},
               model::contributed);
        add_reshape(m, "o_merged", "o_tokens", {S.batch, S.queries, S.heads, S.head_dim});
        m.node("Transpose", "o_tokens", "o", "perm", {0, 2, 1, 3});
      } else {
        add_attention(m, by, S.head_dim, "q", "k", "v", "o");
      }
      add_way(all, name(by), m);
    }
    return all;
  }

  template <race::layer_shape S>
  static race::ways<race::layer_call> layers(const race::layer_data& d) {
    race::ways<race::layer_call> all;
    for (const attend_by by : all_attend_by) {
      if constexpr (S.decodes) {
        layer<S>::add_decoding(all, by, d);
      } else {
        layer<S>::add(all, by, d);
      }
    }
    if constexpr (S.self() && !S.decodes) layer<S>::add_projecting(all, d);
    return all;
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "--version") {
    std::puts(OrtGetApiBase()->GetVersionString());
    return 0;
  }
  race::onnx::api();  // throws when the library and its header do not fit
  return race::main<onnxruntime>(argc, argv);
}
