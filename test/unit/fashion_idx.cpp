// SPDX-License-Identifier: BSL-1.0
// The demo's reader of IDX files: takes a good file, refuses every damaged one with a sentence that
// names the file.
#include <boost/test/unit_test.hpp>

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "../../examples/fashion/idx.hpp"

namespace {

using bytes = std::vector<std::uint8_t>;
namespace idx = fashion::idx;

// A file in the temporary folder, gone with the fixture.
struct one_file {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("umbel_idx_" + std::to_string(::getpid()));

  one_file() = default;
  one_file(const one_file&) = delete;
  one_file& operator=(const one_file&) = delete;
  ~one_file() { std::filesystem::remove(path); }

  void holds(const bytes& content) const {
    std::ofstream out{path, std::ios::binary};
    for (const std::uint8_t byte : content) out.put(static_cast<char>(byte));
  }
};

// Two pictures of 2 rows and 3 columns, and three labels.
const bytes images{0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2,  0,  0,
                   0, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 255};
const bytes labels{0, 0, 8, 1, 0, 0, 0, 3, 9, 0, 4};

template <class Read>
std::string refusal(const Read& read) {
  try {
    read();
  } catch (const fashion::input_error& error) {
    return error.what();
  }
  return "accepted";
}

std::string images_refusal(const one_file& file) {
  return refusal([&] { idx::read_images(file.path, 2, 2, 3); });
}

std::string labels_refusal(const one_file& file) {
  return refusal([&] { idx::read_labels(file.path, 3, 10); });
}

bytes with(bytes file, std::size_t at, std::uint8_t value) {
  file.at(at) = value;
  return file;
}

bytes resized(bytes file, std::size_t size) {
  file.resize(size);
  return file;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(fashion_idx, one_file)

BOOST_AUTO_TEST_CASE(a_good_image_file_gives_its_pixels) {
  holds(images);
  const bytes expected(images.begin() + 16, images.end());
  BOOST_TEST(idx::read_images(path, 2, 2, 3) == expected);
}

BOOST_AUTO_TEST_CASE(a_good_label_file_gives_its_labels) {
  holds(labels);
  const bytes expected{9, 0, 4};
  BOOST_TEST(idx::read_labels(path, 3, 10) == expected);
}

BOOST_AUTO_TEST_CASE(a_missing_file) {
  BOOST_TEST(images_refusal(*this) == path.string() + ": not found");
}

BOOST_AUTO_TEST_CASE(a_folder_is_not_a_file) {
  std::filesystem::create_directory(path);
  BOOST_TEST(images_refusal(*this) == path.string() + ": not a regular file");
}

BOOST_AUTO_TEST_CASE(an_empty_file) {
  holds({});
  BOOST_TEST(images_refusal(*this) ==
             path.string() + ": the file holds 0 bytes, expected a header of 16");
}

BOOST_AUTO_TEST_CASE(every_short_header) {
  for (std::size_t size = 0; size < 16; ++size) {
    holds(resized(images, size));
    BOOST_TEST(images_refusal(*this).find("expected a header of 16") != std::string::npos);
  }
  for (std::size_t size = 0; size < 8; ++size) {
    holds(resized(labels, size));
    BOOST_TEST(labels_refusal(*this).find("expected a header of 8") != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(a_wrong_magic_number) {
  for (std::size_t at = 0; at < 4; ++at) {
    holds(with(images, at, 0x55));
    BOOST_TEST(images_refusal(*this).find("expected 0x00000803") != std::string::npos);
  }
  holds(with(labels, 3, 3));
  BOOST_TEST(labels_refusal(*this) ==
             path.string() + ": the magic number is 0x00000803, expected 0x00000801");
}

BOOST_AUTO_TEST_CASE(wrong_sizes_in_the_header) {
  holds(with(images, 7, 3));
  BOOST_TEST(images_refusal(*this) == path.string() + ": the header says 3 pictures, expected 2");
  holds(with(images, 11, 28));
  BOOST_TEST(images_refusal(*this) == path.string() + ": the header says 28 rows, expected 2");
  holds(with(images, 12, 255));
  BOOST_TEST(images_refusal(*this) ==
             path.string() + ": the header says 4278190083 columns, expected 3");
  holds(with(labels, 7, 2));
  BOOST_TEST(labels_refusal(*this) == path.string() + ": the header says 2 labels, expected 3");
}

BOOST_AUTO_TEST_CASE(truncated_at_every_byte) {
  for (std::size_t size = 16; size < images.size(); ++size) {
    holds(resized(images, size));
    BOOST_TEST(images_refusal(*this).find("(truncated)") != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(trailing_bytes) {
  holds(resized(images, images.size() + 1));
  BOOST_TEST(images_refusal(*this) == path.string() +
                                          ": the file holds 29 bytes, its header asks for 28 "
                                          "(trailing bytes)");
}

BOOST_AUTO_TEST_CASE(a_label_outside_the_classes) {
  holds(with(labels, 9, 10));
  BOOST_TEST(labels_refusal(*this) == path.string() + ": label 1 is 10, expected 0 to 9");
}

BOOST_AUTO_TEST_SUITE_END()
