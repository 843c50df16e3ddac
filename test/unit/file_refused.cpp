// SPDX-License-Identifier: BSL-1.0
// Damaged and hostile files: each gives the error that it should, in the words that it should, and
// no byte outside of it is read (the sanitizers see to that).
#include <boost/test/unit_test.hpp>
#include <umbel/files.hpp>
#include <umbel/umbel.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "../golden/data/files.hpp"

namespace {

using namespace umbel;
using namespace umbel_test;

using bytes = std::vector<unsigned char>;

template <std::size_t Size>
bytes copy(const unsigned char (&from)[Size]) {
  return bytes(std::begin(from), std::end(from));
}
template <class U>
void put(bytes& out, U value) {
  for (std::size_t i = 0; i < sizeof(U); ++i)
    out.push_back(static_cast<unsigned char>(value >> 8 * i));
}
void put(bytes& out, const std::string& text) { out.insert(out.end(), text.begin(), text.end()); }

// In memory of exactly its size, so that a sanitizer sees what is read beyond.
template <class File>
file_result<File> opened(const bytes& file) {
  const std::unique_ptr<unsigned char[]> exact(new unsigned char[file.size()]);
  std::copy(file.begin(), file.end(), exact.get());
  auto result = File::in_memory(exact.get(), file.size());
  if (!result) return result;
  for (const stored_tensor& x : *result) {  // while the memory is there
    std::vector<float> out(x.size() < 1000 ? x.size() : 0);
    static_cast<void>(x.read(out.data(), out.size()));
  }
  return result;
}

template <class File>
void refused(const bytes& file, file_error code, const std::string& words) {
  const auto result = opened<File>(file);
  BOOST_TEST_CONTEXT(words) {
    BOOST_TEST((result.code() == code), "the code is " << static_cast<int>(result.code()));
    BOOST_TEST(result.error() == "umbel: " + words);
  }
}
template <class File>
std::string accepted(const bytes& file) {
  return opened<File>(file).error();
}

// ---- npy ---------------------------------------------------------------------------------------

bytes npy(const std::string& header, std::size_t data = 0, unsigned version = 1) {
  bytes file = {0x93, 'N', 'U', 'M', 'P', 'Y', static_cast<unsigned char>(version), 0};
  if (version == 1)
    put(file, static_cast<std::uint16_t>(header.size()));
  else
    put(file, static_cast<std::uint32_t>(header.size()));
  put(file, header);
  file.resize(file.size() + data);
  return file;
}
bytes npy_of(const std::string& shape, std::size_t data, const std::string& type = "<f4") {
  return npy("{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }\n", data);
}

// ---- safetensors -------------------------------------------------------------------------------

bytes safetensors(const std::string& header, std::size_t data = 0) {
  bytes file;
  put(file, static_cast<std::uint64_t>(header.size()));
  put(file, header);
  file.resize(file.size() + data);
  return file;
}
std::string info(const std::string& type, const std::string& shape, const std::string& offsets) {
  return "{\"dtype\":\"" + type + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}";
}

// ---- npz ---------------------------------------------------------------------------------------

struct member {
  std::string name;
  bytes content = npy_of("(1,)", 4);
  std::uint16_t method = 0, flags = 0;
  std::uint32_t more = 0;       // bytes than there are, in both headers
  std::string local_name = {};  // where it is another one
  std::int64_t offset = -1;     // where it is not its own
};

bytes npz(const std::vector<member>& members, const std::string& comment = "",
          int count_is_off_by = 0) {
  bytes file;
  std::vector<std::uint32_t> offsets;
  const auto header = [&](const member& m, const std::string& name) {
    put(file, m.flags);
    put(file, m.method);
    put(file, std::uint32_t{0});
    put(file, umbel::detail::crc32(m.content.data(), m.content.size()));
    put(file, static_cast<std::uint32_t>(m.content.size() + m.more));
    put(file, static_cast<std::uint32_t>(m.content.size() + m.more));
    put(file, static_cast<std::uint16_t>(name.size()));
    put(file, std::uint16_t{0});
  };
  for (const member& m : members) {
    const std::string name = m.local_name.empty() ? m.name : m.local_name;
    offsets.push_back(static_cast<std::uint32_t>(file.size()));
    put(file, std::uint32_t{0x04034b50});
    put(file, std::uint16_t{20});
    header(m, name);
    put(file, name);
    file.insert(file.end(), m.content.begin(), m.content.end());
  }
  const auto directory = static_cast<std::uint32_t>(file.size());
  for (std::size_t i = 0; i < members.size(); ++i) {
    const member& m = members[i];
    put(file, std::uint32_t{0x02014b50});
    put(file, std::uint32_t{20 << 16 | 20});
    header(m, m.name);
    file.resize(file.size() + 10);
    put(file, m.offset < 0 ? offsets[i] : static_cast<std::uint32_t>(m.offset));
    put(file, m.name);
  }
  const auto size = static_cast<std::uint32_t>(file.size()) - directory;
  const auto count = static_cast<std::uint16_t>(static_cast<int>(members.size()) + count_is_off_by);
  put(file, std::uint32_t{0x06054b50});
  put(file, std::uint32_t{0});
  put(file, count);
  put(file, count);
  put(file, size);
  put(file, directory);
  put(file, static_cast<std::uint16_t>(comment.size()));
  put(file, comment);
  return file;
}

BOOST_AUTO_TEST_SUITE(file_refused)

BOOST_AUTO_TEST_CASE(npy_headers) {
  const auto no = [](const bytes& file, file_error code, const std::string& words) {
    refused<npy_file>(file, code, "npy: the file " + words);
  };
  no({'P', 'K', 3, 4}, file_error::wrong_format, "does not begin like a .npy file");
  no({}, file_error::truncated, "ends before the length of its header");
  no({0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, 4, 0}, file_error::truncated,
     "ends before the length of its header");
  no(npy("", 20, 4), file_error::unsupported, "has version 4.0 of the format, not 1.0, 2.0 or 3.0");
  no(npy("", 20, 0), file_error::unsupported, "has version 0.0 of the format, not 1.0, 2.0 or 3.0");
  bytes long_header = npy_of("(1,)", 4);
  long_header[9] = 0xff;
  no(long_header, file_error::truncated, "declares a header of 65338 bytes but only 62 follow");
  const std::string cannot = "cannot be read: ";
  const auto malformed = [&](const std::string& header, const std::string& words) {
    no(npy(header, 4), file_error::malformed, cannot + words);
  };
  const std::string no_dictionary = "its header is not a NumPy dictionary";
  malformed("", no_dictionary);
  malformed("[]", no_dictionary);
  malformed("{'descr' '<f4'}", no_dictionary);
  malformed("{'descr': '<f4' 'shape': (1,)}", no_dictionary);
  malformed("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)", no_dictionary);
  malformed("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x", no_dictionary);
  malformed("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}}", no_dictionary);
  malformed("{,}", no_dictionary);
  malformed("{descr: '<f4'}", no_dictionary);
  malformed("{'des\\x63r': '<f4'}", no_dictionary);
  const std::string lacks = "its header lacks one of the keys descr, fortran_order and shape";
  malformed("{}", lacks);
  malformed("{'descr': '<f4', 'shape': (1,)}", lacks);
  const std::string twice =
      "its header has a duplicate key, or one other than descr, fortran_order and shape";
  malformed("{'descr': '<f4', 'descr': '<f4'}", twice);
  malformed("{'shape': (1,), 'shape': (1,)}", twice);
  malformed("{'other': 1}", twice);
  malformed("{'descr': <f4}", "its descr is not a type in quotes");
  malformed("{'descr': '<f4", "its descr is not a type in quotes");
  malformed("{'fortran_order': false}", "its fortran_order is not True or False");
  malformed("{'fortran_order': 1}", "its fortran_order is not True or False");
  const std::string no_tuple = "its shape is not a tuple of sizes";
  for (const char* shape : {"(1)", "[1]", "(,)", "(-1,)", "(1,,)", "(1 2)", "(1.0,)", "(01,)",
                            "((1,),)", "(0x1,)", "(1", "(True,)", "1", "('1',)"})
    malformed("{'shape': " + std::string(shape) + "}", no_tuple);
  no(npy("{'shape': (18446744073709551616,)}"), file_error::too_large,
     cannot + "its shape has a number that overflows");
  no(npy("{'shape': (1, 1, 1, 1, 1, 1, 1, 1, 1)}"), file_error::too_large,
     cannot + "it has more than 8 axes");
  no(copy(files::npy_records), file_error::unsupported,
     cannot + "its elements are records, which are not supported");
}

BOOST_AUTO_TEST_CASE(npy_sizes) {
  const auto no = [](const bytes& file, file_error code, const std::string& words) {
    refused<npy_file>(file, code, "npy: the file " + words);
  };
  no(npy_of("(2, 3)", 23), file_error::truncated,
     "needs 24 bytes for its shape but 23 follow the header");
  no(npy_of("(2, 3)", 25), file_error::malformed,
     "needs 24 bytes for its shape but 25 follow the header");
  no(npy_of("(4611686018427387904,)", 0), file_error::too_large,
     "cannot be read: its shape overflows");
  no(npy_of("(4294967296, 4294967296)", 0), file_error::too_large,
     "cannot be read: its shape overflows");
  no(npy_of("(4294967296, 4294967296, 0)", 0), file_error::too_large,
     "cannot be read: its shape overflows");
  BOOST_TEST(accepted<npy_file>(npy_of("(0, 4294967296, 4294967296)", 0)) == "");
  BOOST_TEST(accepted<npy_file>(npy_of("(2L, 3L)", 24)) == "");  // of Python 2
  BOOST_TEST(accepted<npy_file>(
                 npy("{\"shape\":(2,),\"descr\":\"<f4\",\"fortran_order\":True}", 8)) == "");
  // Types that are listed only: nothing is known of their size.
  for (const char* type :
       {"<c8", "|O", "<U5", "|S3", "<M8[ns]", "=f4", "f4", "<V2x", ">V2", "|f4", ""})
    BOOST_TEST(accepted<npy_file>(npy_of("(1,)", 3, type)) == "");
}

BOOST_AUTO_TEST_CASE(safetensors_lengths) {
  const auto no = [](const bytes& file, file_error code, const std::string& words) {
    refused<safetensors_file>(file, code, "safetensors: " + words);
  };
  no({}, file_error::truncated,
     "the file has 0 bytes, fewer than the 8 bytes of its header's length");
  no({2, 0, 0, 0, 0, 0, 0}, file_error::truncated,
     "the file has 7 bytes, fewer than the 8 bytes of its header's length");
  no({3, 0, 0, 0, 0, 0, 0, 0, '{', '}'}, file_error::truncated,
     "the header claims 3 bytes but only 2 follow");
  no({1, 225, 245, 5, 0, 0, 0, 0, '{', '}'}, file_error::too_large,
     "the header claims 100000001 bytes, more than the maximum of 100000000");
  no(bytes(16, 255), file_error::too_large,
     "the header claims 18446744073709551615 bytes, more than the maximum of 100000000");
  const std::string no_brace =
      "the header does not begin with a brace; this is not a safetensors file";
  no(bytes(8, 0), file_error::wrong_format, no_brace);
  no(safetensors(" {}"), file_error::wrong_format, no_brace);
  no(safetensors("[]"), file_error::wrong_format, no_brace);
  no(safetensors("{}", 3), file_error::overlapping,
     "the last 3 bytes of the file belong to no tensor");
  BOOST_TEST(accepted<safetensors_file>(safetensors("{} \n\t\r ")) == "");
}

BOOST_AUTO_TEST_CASE(safetensors_json) {
  const auto no = [](const std::string& header, std::size_t at, const std::string& words,
                     file_error code = file_error::malformed) {
    refused<safetensors_file>(
        safetensors(header, 4), code,
        "safetensors: the header is malformed at byte " + std::to_string(at) + ": " + words);
  };
  const std::string good = info("F32", "[1]", "[0,4]");
  BOOST_TEST(accepted<safetensors_file>(safetensors("{\"a\":" + good + "}", 4)) == "");
  no("{", 1, "a string in quotes expected");
  no("{,}", 1, "a string in quotes expected");
  no("{'a':1}", 1, "a string in quotes expected");
  no("{\"a\"}", 4, "a colon expected");
  no("{\"a\":1}", 5, "the value of a name is not an object");
  no("{\"a\":[[[[[[", 5, "the value of a name is not an object");
  no("{\"a\":{\"a\":{\"a\":{", 10,
     "a duplicate key, or one other than dtype, shape and data_offsets");
  no("{\"a\":" + good, 5 + good.size(), "a comma or a brace expected");
  no("{\"a\":" + good + "\"b\":" + good + "}", 5 + good.size(), "a comma or a brace expected");
  no("{\"a\":" + good + ",}", 6 + good.size(), "a string in quotes expected");
  no("{\"a\":" + good + "}}", 6 + good.size(), "text follows the last brace");
  no("{\"a\":" + good + "}" + std::string(1, '\0'), 6 + good.size(), "text follows the last brace");
  no("{\"a\":{}}", 7, "one of the keys dtype, shape and data_offsets is missing");
  no("{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\"}}", 28,
     "a duplicate key, or one other than dtype, shape and data_offsets");
  no("{\"a\":{\"dtype\":32}}", 14, "a string in quotes expected");
  no("{\"a\":{\"shape\":{}}}", 14, "the shape is not a list");
  no("{\"a\":{\"shape\":[1,]}}", 17, "an integer expected that is not negative");
  for (const char* number : {"-1", "+1", "null", "\"1\"", "[1]", "true"})
    no("{\"a\":{\"shape\":[" + std::string(number) + "]}}", 15,
       "an integer expected that is not negative");
  for (const char* number : {"1.0", "1e3", "1E3"})
    no("{\"a\":{\"shape\":[" + std::string(number) + "]}}", 16,
       "an integer expected that is not negative");
  no("{\"a\":{\"shape\":[01]}}", 17, "an integer expected that is not negative");
  no("{\"a\":{\"shape\":[18446744073709551616]}}", 34, "a number that overflows",
     file_error::too_large);
  no("{\"a\":{\"shape\":[1,1,1,1,1,1,1,1,1]}}", 32, "a tensor with more than 8 axes",
     file_error::too_large);
  no("{\"a\":{\"data_offsets\":[0]}}", 23, "a comma expected");
  no("{\"a\":{\"data_offsets\":[0,4,5]}}", 25, "a bracket expected");
  no("{\"a\":{\"data_offsets\":4}}", 21, "the data_offsets are not a list");
  no("{\"__metadata__\":[]}", 16, "the metadata are not an object");
  no("{\"__metadata__\":{\"a\":1}}", 21, "a string in quotes expected");
  no("{\"__metadata__\":{\"a\":{}}}", 21, "a string in quotes expected");
  no("{\"__metadata__\":{\"a\":\"b\",}}", 25, "a string in quotes expected");
  no("{\"__meta", 8, "a string without an end");
  // Deeper than any stack: the first level that the format does not have ends it.
  no("{\"a\":{\"dtype\":" + std::string(1000000, '['), 14, "a string in quotes expected");
}

BOOST_AUTO_TEST_CASE(safetensors_texts) {
  const std::string good = info("F32", "[1]", "[0,4]");
  const auto no = [&](const std::string& name, std::size_t at, const std::string& words) {
    refused<safetensors_file>(
        safetensors("{\"" + name + "\":" + good + "}", 4), file_error::malformed,
        "safetensors: the header is malformed at byte " + std::to_string(at) + ": " + words);
  };
  no("a\nb", 3, "a control character in a string");
  no("\\x", 3, "an invalid escape in a string");
  no("\\u12g4", 3, "an invalid escape in a string");
  no("\\ud800", 7, "an invalid escape in a string");
  no("\\ud800\\u0041", 13, "an invalid escape in a string");
  no("\\udc00", 3, "an invalid escape in a string");
  const auto not_utf_8 = [&](const std::string& name) {
    refused<safetensors_file>(safetensors("{\"" + name + "\":" + good + "}", 4),
                              file_error::malformed,
                              "safetensors: the header is not UTF-8 at byte 2");
  };
  not_utf_8("\x80");
  not_utf_8("\xc0\x80");  // overlong
  not_utf_8("\xe0\x80\x80");
  not_utf_8("\xf0\x80\x80\x80");
  not_utf_8("\xed\xa0\x80");      // a surrogate
  not_utf_8("\xf4\x90\x80\x80");  // past the last one
  not_utf_8("\xf8\x88\x80\x80\x80");
  not_utf_8("\xc3");  // the quote is no continuation
  const auto file =
      safetensors("{\"\\u0077\\u00f6\\ud83d\\uDE00\\/\\b\\f\\n\\r\\t\\\\\\\"\":" + good + "}", 4);
  const auto opened_file = safetensors_file::in_memory(file.data(), file.size());
  BOOST_TEST(opened_file->find("w\u00f6\U0001F600/\b\f\n\r\t\\\"").has_value());
  BOOST_TEST(opened_file->read("w", static_cast<float*>(nullptr), 0).error() ==
             std::string("umbel: the file has no tensor w"));
  // What is printed of a name cannot write to a terminal.
  const auto hostile =
      safetensors("{\"\\u001b[2J\\u009b\\u007f\":" + info("X", "[1]", "[0,4]") + "}", 4);
  const auto terminal = safetensors_file::in_memory(hostile.data(), hostile.size());
  float out[1];
  BOOST_TEST(terminal->begin()->read(out).error() ==
             std::string("umbel: read: ?[2J?? has the element type X, which is not supported"));
}

BOOST_AUTO_TEST_CASE(safetensors_offsets) {
  const auto no = [](const std::string& header, std::size_t data, file_error code,
                     const std::string& words) {
    refused<safetensors_file>(safetensors("{" + header + "}", data), code, "safetensors: " + words);
  };
  const auto at = [](const std::string& name, const std::string& offsets,
                     const std::string& shape = "[1]") {
    return "\"" + name + "\":" + info("F32", shape, offsets);
  };
  no(at("a", "[0,4]"), 3, file_error::truncated,
     "the data of a end at byte 4 but the file has only 3");
  no(at("a", "[18446744073709551612,18446744073709551615]"), 4, file_error::truncated,
     "the data of a end at byte 18446744073709551615 but the file has only 4");
  no(at("a", "[4,0]"), 4, file_error::malformed, "the data of a end before they begin");
  no(at("a", "[0,4]", "[2]"), 4, file_error::malformed,
     "a needs 8 bytes for its shape but its data_offsets have 4");
  no(at("a", "[0,3]"), 3, file_error::malformed,
     "a needs 4 bytes for its shape but its data_offsets have 3");
  no(at("a", "[0,4]", "[4611686018427387905]"), 4, file_error::too_large,
     "the shape of a overflows");
  no(at("a", "[0,0]", "[4294967296,4294967296,0]"), 0, file_error::too_large,
     "the shape of a overflows");
  // Of types that are listed only, too: their number of elements is asked for.
  no("\"a\":" + info("X", "[4294967296,4294967296]", "[0,4]"), 4, file_error::too_large,
     "the shape of a overflows");
  no(at("a", "[0,4]") + "," + at("b", "[0,4]"), 4, file_error::overlapping,
     "the data of b begin at byte 0 but those before end at 4");
  no(at("a", "[4,8]") + "," + at("b", "[2,6]") + "," + at("c", "[0,4]"), 8, file_error::overlapping,
     "the data of b begin at byte 2 but those before end at 4");
  no(at("a", "[1,5]"), 5, file_error::overlapping,
     "the data of a begin at byte 1 but those before end at 0");
  no(at("a", "[0,4]") + "," + at("b", "[8,12]"), 12, file_error::overlapping,
     "the data of b begin at byte 8 but those before end at 4");
  no(at("a", "[0,4]"), 5, file_error::overlapping,
     "the last 1 bytes of the file belong to no tensor");
  no(at("a", "[0,4]") + "," + at("b", "[4,8]") + "," + at("a", "[8,12]"), 12, file_error::duplicate,
     "two tensors have the name a");
  no(at("a", "[0,4]") + "," + at("\\u0061", "[4,8]"), 8, file_error::duplicate,
     "two tensors have the name a");
  no("\"__metadata__\":{},\"\\u005f_metadata__\":{}", 0, file_error::duplicate,
     "the header has __metadata__ twice");
  no("\"__metadata__\":{\"checksum\":\"0\",\"b\":\"1\",\"c\\u0068ecksum\":\"0\"}", 0,
     file_error::duplicate, "two strings of the metadata have the name checksum");
  std::string texts = "\"__metadata__\":{\"\":\"\"";
  for (std::size_t i = 1; i < 16384; ++i) texts += ",\"" + std::to_string(i) + "\":\"\"";
  BOOST_TEST(accepted<safetensors_file>(safetensors("{" + texts + "}}")) == "");
  no(texts + ",\"x\":\"\"}", 0, file_error::too_large, "the metadata have more than 16384 texts");
  // In another order than their bytes.
  no(at("b", "[8,12]") + "," + at("a", "[0,4]"), 12, file_error::overlapping,
     "4 bytes of the data belong to no tensor");
  no(at("b", "[4,8]") + "," + at("a", "[0,4]") + "," + at("c", "[2,2]", "[0]"), 8,
     file_error::overlapping, "the data of c begin at byte 2 but those before end at 4");
  BOOST_TEST(accepted<safetensors_file>(safetensors(
                 "{" + at("b", "[4,8]") + "," + at("a", "[0,4]") + "," + at("c", "[4,4]", "[0]") +
                     "," + at("d", "[0,0]", "[0]") + "," + at("e", "[8,8]", "[0]") + "}",
                 8)) == "");
  // Tensors without elements lie anywhere between others.
  BOOST_TEST(accepted<safetensors_file>(safetensors("{" + at("b", "[4,4]", "[0]") + "," +
                                                        at("a", "[0,4]") + "," +
                                                        at("c", "[0,0]", "[2,0]") + "}",
                                                    4)) == "");
}

// In an order that takes several walks: more tensors than one remembers. twice: it has the name of
// the 7th, moved: its bytes begin one earlier.
std::string descending(std::size_t count, std::size_t twice, std::size_t moved = ~std::size_t{0}) {
  std::string header = "{";
  for (std::size_t i = count; i-- > 0;) {
    const std::string name = std::to_string(100000 + (i == twice ? 7 : i));
    const std::size_t begin = i - (i == moved);
    header +=
        "\"" + name + "\":" +
        info("I8", "[1]", "[" + std::to_string(begin) + "," + std::to_string(begin + 1) + "]") +
        (i ? "," : "}");
  }
  return header;
}
// More than a block has, in every place of two blocks and the one after them.
BOOST_AUTO_TEST_CASE(safetensors_of_most_tensors) {
  constexpr std::size_t most = 16384;
  BOOST_TEST(accepted<safetensors_file>(safetensors(descending(most, most), most)) == "");
  for (const std::size_t i : {8U, 2000U, 12287U, 12288U, 16383U}) {
    refused<safetensors_file>(safetensors(descending(most, i), most), file_error::duplicate,
                              "safetensors: two tensors have the name 100007");
    refused<safetensors_file>(safetensors(descending(most, most, i), most), file_error::overlapping,
                              "safetensors: the data of " + std::to_string(99999 + i) +
                                  " begin at byte " + std::to_string(i - 1) +
                                  " but those before end at " + std::to_string(i));
  }
}
BOOST_AUTO_TEST_CASE(safetensors_of_many_tensors) {
  BOOST_TEST(accepted<safetensors_file>(safetensors(descending(1000, 1000), 1000)) == "");
  refused<safetensors_file>(safetensors(descending(1000, 900), 1000), file_error::duplicate,
                            "safetensors: two tensors have the name 100007");
  refused<safetensors_file>(safetensors(descending(1000, 1000), 1001), file_error::overlapping,
                            "safetensors: the last 1 bytes of the file belong to no tensor");
  std::string none = "{";
  for (std::size_t i = 0; i < 16385; ++i)
    none += (i ? ",\"" : "\"") + std::to_string(i) + "\":" + info("I8", "[0]", "[0,0]");
  refused<safetensors_file>(safetensors(none + "}"), file_error::too_large,
                            "safetensors: the file has more than 16384 tensors");
}

BOOST_AUTO_TEST_CASE(npz_members) {
  const auto no = [](const bytes& file, file_error code, const std::string& words) {
    refused<npz_file>(file, code, "npz: " + words);
  };
  BOOST_TEST(accepted<npz_file>(npz({{"a.npy"}, {"b.npy"}})) == "");
  BOOST_TEST(accepted<npz_file>(npz({{"a.npy"}}, "a comment")) == "");
  BOOST_TEST(accepted<npz_file>(npz({{"a.npy"}}, std::string(65535, 'x'))) == "");
  no(copy(files::npz_compressed), file_error::unsupported,
     "l.weight.npy is compressed; write the file with np.savez, not savez_compressed");
  no(npz({{.name = "a.npy", .method = 93}}), file_error::unsupported,
     "a.npy is not stored but has method 93");
  no(npz({{.name = "a.npy", .flags = 1}}), file_error::unsupported, "a.npy is encrypted");
  no(npz({{"archive/data.pkl"}}), file_error::unsupported,
     "the archive holds archive/data.pkl, which is not a .npy file; write the archive with "
     "np.savez");
  no(npz({{"folder/"}}), file_error::unsupported,
     "the archive holds folder/, which is not a .npy file; write the archive with np.savez");
  no(npz({{""}}), file_error::unsupported,
     "the archive holds the tensor without a name, which is not a .npy file; write the archive "
     "with np.savez");
  no(npz({{"\xff.npy"}}), file_error::malformed, "the name of a member is not UTF-8");
  no(npz({{"a.npy"}, {"b.npy"}, {"a.npy"}}), file_error::duplicate,
     "two members have the name a.npy");
  no(npz({{.name = "a.npy", .content = {}}}), file_error::truncated,
     "a ends before the length of its header");
  no(npz({{.name = "a.npy", .content = npy_of("(2,)", 4)}}), file_error::truncated,
     "a needs 8 bytes for its shape but 4 follow the header");
  no(npz({{.name = "a.npy", .content = copy(files::npz)}}), file_error::wrong_format,
     "a does not begin like a .npy file");
}

BOOST_AUTO_TEST_CASE(npz_places) {
  const auto no = [](const bytes& file, file_error code, const std::string& words) {
    refused<npz_file>(file, code, "npz: " + words);
  };
  no(npz({{.name = "a.npy", .more = 1000000}}), file_error::truncated,
     "a.npy ends after its place in the archive");
  no(npz({{.name = "a.npy", .more = 0xf0000000}}), file_error::truncated,
     "a.npy ends after its place in the archive");
  no(npz({{.name = "a.npy", .offset = 0xfffffff0}}), file_error::malformed,
     "a.npy begins after its place in the archive");
  no(npz({{.name = "a.npy", .offset = 1}}), file_error::malformed,
     "a.npy differs in its own header and in the central directory");
  no(npz({{.name = "a.npy", .local_name = "b.npy"}}), file_error::malformed,
     "a.npy differs in its own header and in the central directory");
  no(npz({{"a.npy"}, {.name = "b.npy", .local_name = "a.npy", .offset = 0}}), file_error::malformed,
     "b.npy differs in its own header and in the central directory");
  no(npz({{"a.npy"}}, "", 1), file_error::malformed, "its central directory is damaged");
  no(npz({{"a.npy"}, {"b.npy"}}, "", -1), file_error::malformed,
     "its central directory has data after its members");
  // One member within the data of another.
  const bytes inner = npz({{"b.npy"}});
  const std::size_t inner_bytes = 30 + 5 + npy_of("(1,)", 4).size();
  bytes outer = npy_of("(" + std::to_string(inner_bytes) + ",)", 0, "|u1");
  const auto offset = static_cast<std::int64_t>(30 + 5 + outer.size());
  outer.insert(outer.end(), inner.begin(),
               inner.begin() + static_cast<std::ptrdiff_t>(inner_bytes));
  no(npz({{.name = "a.npy", .content = outer}, {.name = "b.npy", .offset = offset}}),
     file_error::overlapping, "b.npy begins within the member before it");
}

// The directory in another order than the members, and more of them than one block has.
BOOST_AUTO_TEST_CASE(npz_of_many_members) {
  std::vector<member> members(1000);
  for (std::size_t i = 0; i < members.size(); ++i)
    members[i].name = std::to_string(100000 + i * 7919 % members.size()) + ".npy";
  BOOST_TEST(accepted<npz_file>(npz(members)) == "");
  members[990].name = members[3].name;
  refused<npz_file>(npz(members), file_error::duplicate,
                    "npz: two members have the name " + members[3].name);
  // Members 1 and 2 lie in the other order than in the directory.
  const std::size_t size = 30 + 10 + members[0].content.size();
  members[990].name = "109990.npy";
  std::swap(members[1].name, members[2].name);
  members[1].offset = static_cast<std::int64_t>(2 * size);
  members[2].offset = static_cast<std::int64_t>(size);
  bytes file = npz(members);
  std::swap_ranges(file.begin() + static_cast<std::ptrdiff_t>(size),
                   file.begin() + static_cast<std::ptrdiff_t>(2 * size),
                   file.begin() + static_cast<std::ptrdiff_t>(2 * size));
  BOOST_TEST(accepted<npz_file>(file) == "");
}

BOOST_AUTO_TEST_CASE(npz_ends) {
  const auto no = [](const bytes& file, file_error code, const std::string& words) {
    refused<npz_file>(file, code, "npz: " + words);
  };
  no({}, file_error::wrong_format, "the file does not begin like a zip archive");
  no({'P'}, file_error::wrong_format, "the file does not begin like a zip archive");
  no({'P', 'K', 3, 4}, file_error::truncated, "the file does not end like a zip archive");
  bytes file = npz({{"a.npy"}});
  file.push_back(0);
  no(file, file_error::truncated, "the file does not end like a zip archive");
  file.pop_back();
  const std::size_t end = file.size() - 22;
  const auto changed = [&](std::size_t at, unsigned char value) {
    bytes other = file;
    other[end + at] = value;
    return other;
  };
  no(changed(4, 1), file_error::unsupported, "it is one part of a multi-part archive");
  no(changed(8, 2), file_error::unsupported, "it is one part of a multi-part archive");
  const std::string elsewhere = "its central directory is in the wrong place";
  no(changed(12, 0), file_error::malformed, elsewhere);
  no(changed(16, 0), file_error::malformed, elsewhere);
  no(changed(19, 255), file_error::malformed, elsewhere);
  bytes large = copy(files::npz_64);
  large[large.size() - 22 - 12] ^= 1;  // where the record of zip64 is
  no(large, file_error::malformed, "its zip64 record is in the wrong place");
}

// Whatever is damaged in the bytes of an array is noticed when they are read.
BOOST_AUTO_TEST_CASE(npz_checksum) {
  bytes file = npz({{"a.npy"}});
  file[30 + 5 + npy_of("(1,)", 4).size() - 1] ^= 0x40;
  const auto archive = npz_file::in_memory(file.data(), file.size());
  float out[1] = {3};
  const auto done = archive->read("a", out);
  BOOST_TEST((done.code() == file_error::checksum));
  BOOST_TEST(std::string(done.error()) ==
             "umbel: read: the checksum of a does not match its bytes; the file is damaged");
  BOOST_TEST(out[0] == 3);
}

BOOST_AUTO_TEST_CASE(of_no_format) {
  refused<tensor_file>(bytes(100, 'x'), file_error::wrong_format,
                       "the file does not begin like a .npy, .npz or safetensors file");
  refused<tensor_file>(
      {}, file_error::truncated,
      "safetensors: the file has 0 bytes, fewer than the 8 bytes of its header's length");
  const auto named = [](const std::string& begin, const char* sentence) {
    const std::string file = begin + std::string(100, '\1');
    refused<tensor_file>(bytes(file.begin(), file.end()), file_error::wrong_format, sentence);
    refused<safetensors_file>(bytes(file.begin(), file.end()), file_error::wrong_format, sentence);
  };
  named("\x1f\x8b\b", "the file is compressed by gzip; decompress it");
  named("BZh9", "the file is compressed by bzip2; decompress it");
  named(
      "\xfd"
      "7zXZ",
      "the file is compressed by xz; decompress it");
  named("\x28\xb5\x2f\xfd", "the file is compressed by zstd; decompress it");
  named("\x89HDF\r\n\x1a\n",
        "the file is HDF5, as Keras and h5py write it; save the tensors as .npz or safetensors");
  named("version https://git-lfs.github.com/spec/v1\noid sha256:",
        "the file is a pointer of Git LFS, not the tensors; fetch them with git lfs pull");
  named("GGUF", "the file is GGUF; convert it to safetensors");
  named("<!DOCTYPE html>", "the file is a web page, perhaps of a download that failed");
  for (const char* const protocol : {"\x80\2", "\x80\5"})
    named(protocol,
          "the file is a Python pickle, as torch.save and joblib write it; save the tensors as "
          "safetensors");
  for (const char* const text :
       {"{\"metadata\": {\"total_size\"", "{\n      {\"a\"", "[1, 2, 3, 4]"})
    named(text, "the file is JSON; if it is an index of several files, open those");
  // Headers of safetensors whose lengths begin like such files.
  for (const std::size_t length :
       {std::size_t{0x0280}, std::size_t{0x8b1f}, std::size_t{0x5b}, std::size_t{0x7b}})
    BOOST_TEST(accepted<tensor_file>(safetensors("{}" + std::string(length - 2, ' '))) == "");
  // A header of safetensors whose length begins with PK.
  const std::string padded = "{}" + std::string(0x4b50 - 2, ' ');
  BOOST_TEST(accepted<tensor_file>(safetensors(padded)) == "");
}

// All good files, cut off anywhere: always an error, as the format can see that it is not whole.
BOOST_AUTO_TEST_CASE(truncated_at_every_byte) {
  const auto check = [](const bytes& file) {
    BOOST_TEST(accepted<tensor_file>(file) == "");
    for (std::size_t size = 0; size < file.size(); ++size) {
      const auto result = opened<tensor_file>(
          bytes(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size)));
      if (result) BOOST_TEST_CONTEXT("of size " << size) BOOST_TEST(!result);
    }
  };
  check(copy(files::npy_fortran));
  check(copy(files::npy_version_2));
  check(copy(files::npy_scalar));
  check(copy(files::npz));
  check(copy(files::npz_descriptors));
  check(copy(files::npz_64));
  check(copy(files::safetensors));
  check(copy(files::safetensors_shuffled));
}

// Every byte of the headers, changed to each other value: an error, or a file that is whole.
BOOST_AUTO_TEST_CASE(every_byte_changed) {
  const auto check = [](bytes file, std::size_t headers) {
    std::size_t good = 0;
    for (std::size_t at = 0; at < headers; ++at) {
      const unsigned char before = file[at];
      for (const int change : {1, 2, 4, 8, 16, 32, 64, 128, 255}) {
        file[at] = static_cast<unsigned char>(before ^ change);
        const auto result = opened<tensor_file>(file);
        good += result.has_value();
        BOOST_TEST_REQUIRE((std::string(result.error()).empty() == result.has_value()));
      }
      file[at] = before;
    }
    return good;
  };
  // In text, some changes make another good text: a name, a space that becomes a line end.
  BOOST_TEST(check(copy(files::npy_i1), 128) < 60U);
  BOOST_TEST(check(copy(files::npz), sizeof(files::npz)) > 0U);
  BOOST_TEST(check(copy(files::npz_64), sizeof(files::npz_64)) > 0U);
  BOOST_TEST(check(copy(files::safetensors), 560) > 0U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
