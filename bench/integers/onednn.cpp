// SPDX-License-Identifier: BSL-1.0
// oneDNN (libdnnl-dev, 2.x): linear maps with a scale for the result and weights in the layout that
// it asks for, of unsigned bytes where activations have 7 bits, else of signed ones. It has no
// attention in integers.
#include <dnnl.hpp>

#include "race.hpp"

namespace {

using dnnl::memory;
using dims = memory::dims;
using type = memory::data_type;
using tag = memory::format_tag;

struct onednn {
  // Both ways are described alike: of weights (out, in) or (in, out), bias (out) or (1, out).
  template <class X, class Descriptor, class Primitive, race::linear_shape S>
  static integers::way made(const char* name, const Descriptor& wanted, const dims& w_sizes,
                            tag w_given, const dims& b_sizes, tag b_given,
                            const integers::map_data& d) {
    const auto x = integers::quantized<X>(d.x.data(), d.x.size());
    auto w = integers::quantized<std::int8_t>(d.w.get(), static_cast<std::size_t>(S.out * S.in));
    std::vector<std::int32_t> b;
    for (int o = 0; o < S.out; ++o)
      b.push_back(static_cast<std::int32_t>(std::lround(d.b[o] / (x.unit * w.unit))));
    const float unit = integers::largest(d.right) / 127;
    dnnl::primitive_attr scaled;
    scaled.set_output_scales(0, {x.unit * w.unit / unit});
    const typename Primitive::primitive_desc description(wanted, scaled, cpu());
    const memory source(description.src_desc(), cpu()), result(description.dst_desc(), cpu());
    const memory weights(description.weights_desc(), cpu());
    memory given({w_sizes, type::s8, w_given}, cpu(), w.values.data());
    dnnl::reorder(given, weights).execute(stream(), given, const_cast<memory&>(weights));
    const memory biases({b_sizes, type::s32, b_given}, cpu());
    std::copy(x.values.begin(), x.values.end(), static_cast<X*>(source.get_data_handle()));
    std::copy(b.begin(), b.end(), static_cast<std::int32_t*>(biases.get_data_handle()));
    const Primitive primitive(description);
    // Through the C function, which costs less.
    return {name, race::repeated([=] {
              dnnl_exec_arg_t arguments[] = {{DNNL_ARG_SRC, source.get()},
                                             {DNNL_ARG_WEIGHTS, weights.get()},
                                             {DNNL_ARG_DST, result.get()},
                                             {DNNL_ARG_BIAS, biases.get()}};
              dnnl_primitive_execute(primitive.get(), stream().get(), 4, arguments);
            }),
            [=] {
              return integers::as_floats(static_cast<const std::int8_t*>(result.get_data_handle()),
                                         d.right.size(), unit);
            }};
  }

  template <race::linear_shape S, integers::range R>
  static integers::ways maps(const integers::map_data& d) {
    constexpr bool is_signed = R == integers::range::eight_bits;
    using X = std::conditional_t<is_signed, std::int8_t, std::uint8_t>;
    const memory::desc x({S.rows, S.in}, is_signed ? type::s8 : type::u8, tag::ab);
    const memory::desc y({S.rows, S.out}, type::s8, tag::ab);
    const dnnl::inner_product_forward::desc inner(dnnl::prop_kind::forward_inference, x,
                                                  {{S.out, S.in}, type::s8, tag::any},
                                                  {{S.out}, type::s32, tag::a}, y);
    const dnnl::matmul::desc product(x, {{S.in, S.out}, type::s8, tag::any},
                                     {{1, S.out}, type::s32, tag::ab}, y);
    return {made<X, dnnl::inner_product_forward::desc, dnnl::inner_product_forward, S>(
                "inner product", inner, {S.out, S.in}, tag::ab, {S.out}, tag::a, d),
            made<X, dnnl::matmul::desc, dnnl::matmul, S>("matmul", product, {S.in, S.out}, tag::ba,
                                                         {1, S.out}, tag::ab, d)};
  }

  static const dnnl::engine& cpu() {
    static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    return engine;
  }
  static dnnl::stream& stream() {
    static dnnl::stream stream(cpu());
    return stream;
  }
};

}  // namespace

int main() {
  integers::run_all<onednn>();
  return 0;
}
