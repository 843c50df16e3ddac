// SPDX-License-Identifier: BSL-1.0
// As much of ONNX (onnx.proto3, Protocol Buffers) as it takes to write a model down: nodes,
// constants, and inputs and outputs of known shape. Nothing is checked here: the runtime does that
// when it reads the model.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace race::onnx {

using shape = std::vector<std::int64_t>;

inline std::int64_t elements(const shape& s) {
  std::int64_t count = 1;
  for (const std::int64_t size : s) count *= size;
  return count;
}

// The fields of a message, in the order added.
class message {
 public:
  message& number(int field, std::int64_t value) {
    put_number(static_cast<std::uint64_t>(field) << 3);
    put_number(static_cast<std::uint64_t>(value));
    return *this;
  }
  message& text(int field, const std::string& value) {
    put_number(static_cast<std::uint64_t>(field) << 3 | 2);
    put_number(value.size());
    bytes_ += value;
    return *this;
  }
  message& texts(int field, const std::vector<std::string>& values) {
    for (const std::string& value : values) text(field, value);
    return *this;
  }
  message& nested(int field, const message& value) { return text(field, value.bytes_); }

  const std::string& bytes() const { return bytes_; }

 private:
  void put_number(std::uint64_t value) {
    for (; value > 127; value >>= 7) bytes_.push_back(static_cast<char>(value | 128));
    bytes_.push_back(static_cast<char>(value));
  }

  std::string bytes_;
};

// The operators' own names and attributes: onnx.ai/onnx/operators, and docs/ContribOperators.md of
// ONNX Runtime.
class model {
 public:
  // Numbers of onnx.proto3 for what a tensor holds; the C functions have the same.
  enum element : std::int32_t { of_float = 1, of_uint8 = 2, of_int8 = 3 };
  // A tensor that the caller gives or takes.
  struct port {
    std::string name;
    shape sizes;
    bool is_output;
    element type = of_float;
    std::size_t bytes() const {
      return static_cast<std::size_t>(elements(sizes)) * (type == of_float ? sizeof(float) : 1);
    }
  };
  using names = std::vector<std::string>;
  using attributes = std::vector<std::pair<std::string, std::int64_t>>;

  static constexpr const char* contributed = "com.microsoft";

  // opset: the version of ONNX's own operators.
  explicit model(int opset) : opset_(opset) {}

  void input(const std::string& name, const shape& sizes, element type = of_float) {
    add_port({name, sizes, false, type});
  }
  void output(const std::string& name, const shape& sizes, element type = of_float) {
    add_port({name, sizes, true, type});
  }

  void constant(const std::string& name, const shape& sizes, const float* values) {
    add_constant(name, sizes, of_float, values, sizeof(float));
  }
  void constant(const std::string& name, const shape& sizes, const std::int32_t* values) {
    add_constant(name, sizes, 6, values, sizeof(std::int32_t));
  }
  void constant(const std::string& name, const shape& sizes, const std::uint8_t* values) {
    add_constant(name, sizes, of_uint8, values, 1);
  }
  void constant(const std::string& name, const shape& sizes, const std::int8_t* values) {
    add_constant(name, sizes, of_int8, values, 1);
  }
  void constant(const std::string& name, const shape& values) {
    add_constant(name, {static_cast<std::int64_t>(values.size())}, 7, values.data(),
                 sizeof(std::int64_t));
  }

  void node(const std::string& op, const names& from, const names& to, const attributes& with = {},
            const std::string& domain = "") {
    message made;
    made.texts(1, from).texts(2, to).text(4, op).text(7, domain);
    for (const auto& [name, value] : with) {
      made.nested(5, message().text(1, name).number(3, value).number(20, 2));
    }
    graph_.nested(1, made);
  }
  // Numbers, as an attribute.
  void node(const std::string& op, const std::string& from, const std::string& to,
            const std::string& attribute, const shape& values) {
    message with;
    with.text(1, attribute).number(20, 7);
    for (const std::int64_t value : values) with.number(8, value);
    graph_.nested(1, message().text(1, from).text(2, to).text(4, op).nested(5, with));
  }

  // Those of the caller, in the order added.
  const std::vector<port>& ports() const { return ports_; }

  std::string bytes() const {
    message graph = graph_;
    return message()
        .number(1, opset_ < 23 ? 8 : 11)  // the version of the format itself
        .nested(8, message().number(2, opset_))
        .nested(8, message().text(1, contributed).number(2, 1))
        .nested(7, graph.text(2, "race"))
        .bytes();
  }

 private:
  void add_port(const port& added) {
    message sizes;
    for (const std::int64_t size : added.sizes) sizes.nested(1, message().number(1, size));
    const message type = message().nested(1, message().number(1, added.type).nested(2, sizes));
    graph_.nested(added.is_output ? 12 : 11, message().text(1, added.name).nested(2, type));
    ports_.push_back(added);
  }
  void add_constant(const std::string& name, const shape& sizes, int type, const void* values,
                    std::size_t size) {
    message made;
    for (const std::int64_t one : sizes) made.number(1, one);
    std::string raw(static_cast<std::size_t>(elements(sizes)) * size, '\0');
    std::memcpy(raw.data(), values, raw.size());
    graph_.nested(5, made.number(2, type).text(8, name).text(9, raw));
  }

  int opset_;
  message graph_;
  std::vector<port> ports_;
};

}  // namespace race::onnx
