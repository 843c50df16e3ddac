// SPDX-License-Identifier: BSL-1.0
// The tensors of a file that a call of load asks for, by name, found in one walk, in linear time.
// Memory depends only on the names asked for: a file can't decide how much stack is used.
#pragma once

#include <umbel/config.hpp>

#include <umbel/file/listing.hpp>
#include <umbel/weights/names.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

// The hash of a name, and the place of its tensor.
struct asked_name {
  static constexpr std::uint32_t nowhere = 0xffffffff;
  std::uint64_t hash = 0;
  std::uint32_t place = nowhere;  // enough for a header of 100 MB and the directory of a .npz
  friend constexpr bool operator<(const asked_name& a, const asked_name& b) noexcept {
    return a.hash < b.hash;
  }
};

// The places of the tensors asked for or, with count 0, of any.
template <class File>
class asked_tensors {
 public:
  // names: `count` asked-for names; sorted here.
  asked_tensors(const File& file, asked_name* names, std::size_t count) noexcept
      : file_(file), names_(names), count_(count) {
    sort_items(names, count);
    for (auto i = file.begin(); count != 0 && i != file.end(); ++i) {
      if (i->name.is_longer(name_text::most)) continue;
      const std::uint64_t hash = hash_of(i->name).hash;
      for (std::size_t k = first_of(hash); k < count && names[k].hash == hash; ++k)
        names[k].place = static_cast<std::uint32_t>(i.place());
    }
  }

  // Copies the tensor with this name to x; false if there is none.
  bool find(const char* name, stored_tensor& x) const noexcept {
    if (count_ == 0) {
      const auto found = file_.find(name);
      if (found) x = *found;
      return static_cast<bool>(found);
    }
    const std::uint64_t hash = hash_of(name).hash;
    const std::size_t k = first_of(hash);
    if (k == count_ || names_[k].hash != hash || names_[k].place == asked_name::nowhere)
      return false;
    const tensor_iterator<File> there(file_, names_[k].place);
    if (there == file_.end() || !(there->name == name)) return false;
    x = *there;
    return true;
  }

 private:
  std::size_t first_of(std::uint64_t hash) const noexcept {
    return count_first(names_, count_, [&](const asked_name& x) { return x.hash < hash; });
  }
  const File& file_;
  const asked_name* names_;
  std::size_t count_;
};

// Calls f(tensors), asked_tensors of all names that ask(g) passes to g, twice in the same order.
template <std::size_t Capacity, class File, class Ask, class F>
UMBEL_NOINLINE void with_asked_by(const File& file, const Ask& ask, const F& f) noexcept {
  asked_name names[Capacity];
  std::size_t count = 0;
  ask([&](const name_text& name) {
    if (count < Capacity) names[count++].hash = hash_of(name.chars).hash;
  });
  f(asked_tensors<File>(file, names, count));
}
template <class File, class Ask, class F>
void with_asked(const File& file, const Ask& ask, const F& f) noexcept {
  std::size_t count = 0;
  ask([&](const name_text&) { ++count; });
  if (count <= 128)
    with_asked_by<128>(file, ask, f);  // 2 kB of stack
  else if (count <= 2048)
    with_asked_by<2048>(file, ask, f);  // 32 kB
  else  // more than a thousand parameters: searches the file from the beginning for each
    f(asked_tensors<File>(file, nullptr, 0));
}

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
