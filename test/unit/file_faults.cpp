// SPDX-License-Identifier: BSL-1.0
// Files while something goes wrong. Every call of the system that writes or opens fails in turn:
// the old file is there or the new one, whole, and one sentence. Another program writes into a file
// that is open: nothing is read outside of it (the sanitizers see to that).
#include <boost/test/unit_test.hpp>

#include <umbel/file/mapped_file.hpp>
#include <umbel/file/read_file.hpp>
#include <umbel/files.hpp>
#include <umbel/umbel.hpp>
#include <umbel/weights.hpp>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../examples/learning/checkpoint.hpp"
#include "../../examples/learning/folder.hpp"

// ---- a system whose calls fail ------------------------------------------------------------------

namespace {

// The calls below, counted while `is_on`: the one of number `fails_at` fails with `error`, and with
// it, if the machine is to stop there, all after it.
struct faults {
  bool is_on = false, stops = false;
  int error = 0;
  std::size_t fails_at = 0, calls = 0;
  std::string log = {};  // a letter a call

  bool fails(char call) {
    if (!is_on) return false;
    log += call;
    const std::size_t number = calls++;
    if (number != fails_at && !(stops && number > fails_at)) return false;
    errno = error;
    return true;
  }
} system_calls;

}  // namespace

// In the place of the C library's: what the programs call, not what Boost.Test or a stream does.
extern "C" {
ssize_t write(int file, const void* bytes, size_t count) {
  if (system_calls.fails('w')) {
    // A disk that is full takes what has room.
    if (system_calls.error == ENOSPC && count > 1)
      return static_cast<ssize_t>(::syscall(SYS_write, file, bytes, count / 2));
    return -1;
  }
  return static_cast<ssize_t>(::syscall(SYS_write, file, bytes, count));
}
int fsync(int file) {
  return system_calls.fails('s') ? -1 : static_cast<int>(::syscall(SYS_fsync, file));
}
int rename(const char* from, const char* to) noexcept {
  if (system_calls.fails('r')) return -1;
  return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}
int unlink(const char* path) noexcept {
  if (system_calls.fails('u')) return -1;
  return static_cast<int>(::syscall(SYS_unlinkat, AT_FDCWD, path, 0));
}
int open(const char* path, int flags, ...) {
  std::va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  if (system_calls.fails('o')) return -1;
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}
}

namespace {

using namespace umbel;
using namespace umbel::axes;

struct temporary_folder {
  std::string path = (std::filesystem::temp_directory_path() / "umbel_faults_XXXXXX").string();

  temporary_folder() { BOOST_REQUIRE(::mkdtemp(path.data()) != nullptr); }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  ~temporary_folder() { std::filesystem::remove_all(path); }
};

std::string content_of(const std::string& path) {
  std::ifstream in{path, std::ios::binary};
  return {std::istreambuf_iterator<char>(in), {}};
}
std::size_t open_files() {
  std::size_t count = 0;
  for (const auto& one : std::filesystem::directory_iterator("/proc/self/fd"))
    count += !one.path().empty();
  return count;
}

// More than a writer holds at once, so that several calls write.
struct plan_of_nothing {
  static constexpr const char* part_names[] = {"number"};
  tensor<std::int32_t, token<1>> number{7};
  std::string options() const { return "--number " + std::to_string(number(0)); }
};
struct checkpoint_state {
  static constexpr const char* part_names[] = {"plan", "x"};
  plan_of_nothing plan{};
  tensor<float, query<40>, key<10>> x{};
};

checkpoint_state filled(float value) {
  checkpoint_state made;
  for (float& x : made.x) x = value;
  return made;
}

// What went wrong while write() ran with the faults; empty where nothing did.
template <class Write>
std::string error_with(const faults& wanted, const Write& write) {
  system_calls = wanted;
  system_calls.is_on = true;
  std::string error;
  try {
    write();
  } catch (const fashion::input_error& problem) {
    error = problem.what();
  }
  system_calls.is_on = false;
  return error;
}

// write(): writes the new file to the destination. Each call fails in turn, by each error.
template <class Write>
void each_call_fails(const Write& write) {
  const temporary_folder folder;
  const learning::destination to(folder.path, "file");
  const std::string old = "the old file\n";
  const auto begin = [&] {
    std::filesystem::remove(to.beside);
    std::ofstream{to.file, std::ios::binary} << old;
  };
  begin();
  BOOST_REQUIRE(error_with({.fails_at = ~std::size_t{0}}, [&] { write(to); }) == "");
  const std::string all = system_calls.log, made = content_of(to.file);
  // The bytes are on the disk before they get the name, and then the name is.
  BOOST_TEST(all.find_first_not_of('w', 2) == all.find('s'));
  BOOST_TEST(all.substr(0, 3) == "uow");
  BOOST_TEST(all.substr(all.find('s')) == "sros");
  BOOST_TEST((made != old && made.size() > 1000));
  const std::size_t files = open_files();
  for (const int error : {ENOSPC, EIO, EFBIG, EINTR})
    for (const bool stops : {false, true})
      for (std::size_t call = 0; call < all.size(); ++call) {
        begin();
        if (error == EINTR && (stops || all[call] != 'w')) continue;
        const std::string sentence =
            error_with({.stops = stops, .error = error, .fails_at = call}, [&] { write(to); });
        BOOST_TEST_CONTEXT("call " << call << " of " << all << ", " << std::strerror(error)) {
          const std::string now = content_of(to.file);
          BOOST_TEST((now == old || now == made));
          BOOST_TEST((now == old) == !sentence.empty());
          BOOST_TEST(sentence.find('\n') == std::string::npos);
          if (!sentence.empty()) {
            const bool is_short = error == ENOSPC && all[call] == 'w' && !stops;
            BOOST_TEST(!is_short);
            BOOST_TEST(sentence == to.file + ": cannot be written (" + std::strerror(error) + ")");
          }
          if (!stops) BOOST_TEST(!std::filesystem::exists(to.beside));
          BOOST_TEST(open_files() == files);
        }
        // Whatever is left, the next one is written.
        BOOST_TEST(error_with({.fails_at = ~std::size_t{0}}, [&] { write(to); }) == "");
        BOOST_TEST((content_of(to.file) == made));
      }
}

BOOST_AUTO_TEST_SUITE(file_faults)

BOOST_AUTO_TEST_CASE(a_checkpoint) {
  each_call_fails([](const auto& to) { learning::write_whole(to, filled(2)); });
}

BOOST_AUTO_TEST_CASE(files_of_every_format) {
  const auto x = filled(3).x;
  const auto put_x = [&](auto put) { put("x", x); };
  each_call_fails([&](const auto& to) {
    learning::write_whole_by(to, [&](const auto& sink) { write_npy(sink, x); });
  });
  each_call_fails([&](const auto& to) {
    learning::write_whole_by(to, [&](const auto& sink) { return write_safetensors(sink, put_x); });
  });
  each_call_fails([&](const auto& to) {
    learning::write_whole_by(to, [&](const auto& sink) { return write_npz(sink, put_x); });
  });
}

// What cannot be written for another reason than the system's: the old file stays, too.
BOOST_AUTO_TEST_CASE(a_writer_that_refuses) {
  const temporary_folder folder;
  const learning::destination to(folder.path, "file");
  std::ofstream{to.file} << "old";
  const std::string error = error_with({.fails_at = ~std::size_t{0}}, [&] {
    learning::write_whole_by(to, [](const auto& sink) {
      return write_safetensors(sink, [](auto put) { put("__metadata__", filled(1).x); });
    });
  });
  BOOST_TEST(error.find("a tensor cannot have the name __metadata__") != std::string::npos, error);
  BOOST_TEST(content_of(to.file) == "old");
  BOOST_TEST(!std::filesystem::exists(to.beside));
}

// What lies where a file goes, or is written, and is none. A pipe is not waited for, a link not
// followed, a folder not emptied.
BOOST_AUTO_TEST_CASE(what_is_no_file_is_not_replaced) {
  const temporary_folder folder;
  const learning::destination to(folder.path, "checkpoint.safetensors");
  const std::string victim = folder.path + "/victim";
  std::ofstream{victim} << "precious";
  for (const std::string& place : {to.file, to.beside}) {
    const auto is_refused = [&](const char* what) {
      const std::string error =
          error_with({.fails_at = ~std::size_t{0}}, [&] { learning::write_whole(to, filled(1)); });
      BOOST_TEST(error == place + ": is no regular file, so it is not replaced: remove it", what);
      BOOST_TEST(content_of(victim) == "precious");
      BOOST_TEST(std::filesystem::exists(std::filesystem::symlink_status(place)));
      std::filesystem::remove(place);
    };
    BOOST_REQUIRE(::mkfifo(place.c_str(), 0600) == 0);
    is_refused("a pipe");
    std::filesystem::create_symlink(victim, place);
    is_refused("a link");
    std::filesystem::create_symlink("nowhere", place);
    is_refused("a link to nothing");
    std::filesystem::create_directory(place);
    is_refused("a folder");
  }
  // A second name of a file is one of its names, and goes; the file stays.
  std::filesystem::create_hard_link(victim, to.beside);
  BOOST_TEST(error_with({.fails_at = ~std::size_t{0}},
                        [&] { learning::write_whole(to, filled(1)); }) == "");
  BOOST_TEST(content_of(victim) == "precious");
}

BOOST_AUTO_TEST_CASE(opening_fails) {
  const temporary_folder folder;
  const learning::destination to(folder.path, "file");
  learning::write_whole(to, filled(4));
  checkpoint_state now;
  const auto take_up = [&] { learning::take_up(to, true, now); };
  BOOST_TEST(error_with({.fails_at = ~std::size_t{0}}, take_up) == "");
  BOOST_TEST(now.x(0, 0) == 4.0F);
  const std::size_t files = open_files();
  for (const int error : {EIO, EMFILE, EACCES}) {
    BOOST_TEST(error_with({.error = error}, take_up) ==
               to.file + ": is no whole checkpoint (mapped_file: " + to.file +
                   " cannot be opened)");
    unsigned char memory[4];
    std::string said;
    BOOST_TEST(error_with({.error = error},
                          [&] { said = read_file(to.file.c_str(), memory, 4).error(); }) == "");
    BOOST_TEST(said == "umbel: read_file: " + to.file + " cannot be opened");
    BOOST_TEST(error_with({.error = error}, [&] {
                 learning::training_folder{folder.path};
               }).find(folder.path + "/lock: cannot be locked (") == 0U);
  }
  BOOST_TEST(open_files() == files);
}

// ---- a file that changes ------------------------------------------------------------------------

struct model {
  static constexpr const char* part_names[] = {"map", "first", "ids", "x"};
  linear<float, hidden<2>, classes<3>, bias<true>>::weights map;
  tensor<float, out_features<3>> first;
  tensor<std::int32_t, token<4>> ids;
  tensor<float, query<2>, key<3>> x;
};
constexpr parameter_name rows_of_model[] = {
    {"map.weight", "map.weight", out_in},
    {"first", "both", as_they_are.part_of(0, 2)},
    {"map.bias", "both", as_they_are.part_of(1, 2)},
    {"ids", "ids"},
    {"x", "x \"\\\x01\u00f6"},
};

// Of every kind of name and tensor: escapes, integers of 64 bits, of 8 bits with scales, a part.
template <class Put>
void put_model(const Put& put) {
  put("map.weight", tensor<std::int8_t, out_features<3>, in_features<2>>{1, 2, 3, 4, 5, 6});
  put("map.weight_scale", tensor<float, out_features<3>>{1, 2, 3});
  put("both", tensor<float, out_features<6>>{0, 0, 0, 1, 2, 3});
  put("ids", tensor<std::int64_t, token<4>>{1, 2, 3, 4});
  put("x \"\\\x01\u00f6", tensor<float16, query<2>, key<3>>{});
}

using bytes = std::vector<unsigned char>;
bytes written(bool as_npz) {
  bytes made;
  const auto sink = [&](const char* from, std::size_t count) {
    made.insert(made.end(), from, from + count);
  };
  const auto put_all = [](auto put) { put_model(put); };
  const auto done = as_npz ? write_npz(sink, put_all) : write_safetensors(sink, put_all);
  BOOST_REQUIRE(done);
  return made;
}

template <class T>
void read_as(const stored_tensor& x) {
  const std::size_t size = x.size() <= 64 ? x.size() : 0;
  const std::unique_ptr<T[]> out(new T[size]);
  static_cast<void>(x.read(out.get(), size));
}

// All that can be done with a file. The number of parameters that were not loaded.
std::size_t use(const tensor_file& file) {
  for (const stored_tensor& x : file) {
    char name[8];
    static_cast<void>(x.name.copy_to(name, sizeof(name)));
    static_cast<void>(x.type_name.size());
    static_cast<void>(file.find(x.name));
    read_as<float>(x);
    read_as<std::int32_t>(x);
    for (std::size_t i = 0; i < x.rank; ++i)
      if (x.extents[i] > 1) read_as<double>(x.slice(i, 1, 1));
  }
  float one[3];
  static_cast<void>(file.read("map.weight_scale", one));
  static_cast<void>(verify_checksum(file));
  static model w;
  return load(w, file, rows_of_model).problems();
}

// In memory of exactly its size, so that a sanitizer sees what is read beyond.
struct exact {
  explicit exact(const bytes& from) : size(from.size()), memory(new unsigned char[from.size()]) {
    std::copy(from.begin(), from.end(), memory.get());
  }
  std::size_t size;
  std::unique_ptr<unsigned char[]> memory;
};

constexpr unsigned char others[] = {'\\', '"', 'u', '9', ']', 0xff};

// Every byte becomes others between opening and using, and back.
BOOST_AUTO_TEST_CASE(bytes_that_change_after_opening) {
  for (const bool as_npz : {false, true}) {
    const bytes original = written(as_npz);
    const exact now(original);
    const auto file = tensor_file::in_memory(now.memory.get(), now.size);
    BOOST_TEST_REQUIRE(!!file);
    BOOST_TEST(use(*file) == 0U);
    std::size_t refused = 0;
    for (std::size_t i = 0; i < now.size; ++i)
      for (const unsigned char other : others) {
        now.memory[i] = other;
        refused += use(*file) != 0;
        now.memory[i] = original[i];
      }
    BOOST_TEST(refused > now.size);
    BOOST_TEST(use(*file) == 0U);
    // Two at once: a name that goes on into what follows it, a shape and its offsets.
    std::uint64_t drawn = 1;
    const auto draw = [&](std::uint64_t below) {
      drawn = drawn * 6364136223846793005u + 1442695040888963407u;
      return (drawn >> 33) % below;
    };
    for (int round = 0; round < 2000; ++round) {
      for (std::uint64_t changes = 1 + draw(6); changes-- != 0;)
        now.memory[draw(now.size)] = others[draw(std::size(others))];
      static_cast<void>(use(*file));
      std::copy(original.begin(), original.end(), now.memory.get());
    }
    BOOST_TEST(use(*file) == 0U);
  }
}

// While it is opened and used. UMBEL_RACE_ROUNDS: how often it is opened, of each format.
BOOST_AUTO_TEST_CASE(bytes_that_change_at_any_time) {
  const char* const asked = std::getenv("UMBEL_RACE_ROUNDS");
  const unsigned long rounds = asked == nullptr ? 500 : std::strtoul(asked, nullptr, 10);
  for (const bool as_npz : {false, true}) {
    const bytes original = written(as_npz);
    const exact now(original);
    std::atomic<bool> ends{false};
    // Through volatile: of two programs none sees what the other does.
    std::thread writer([&] {
      volatile unsigned char* const to = now.memory.get();
      std::uint64_t drawn = 7;
      const auto draw = [&](std::uint64_t below) {
        drawn = drawn * 6364136223846793005u + 1442695040888963407u;
        return (drawn >> 33) % below;
      };
      const auto wait = [&](std::uint64_t most) {
        const std::uint64_t turns = draw(most);
        for (volatile std::uint64_t turn = 0; turn < turns;) turn = turn + 1;
      };
      while (!ends) {
        wait(50'000);  // as long as opening takes with sanitizers
        std::size_t places[3];
        for (std::size_t& at : places) to[at = draw(now.size)] = others[draw(std::size(others))];
        wait(5'000);
        for (const std::size_t at : places) to[at] = original[at];
      }
    });
    unsigned long opened = 0, refused = 0, whole = 0;
    while (opened < rounds) {
      const auto file = tensor_file::in_memory(now.memory.get(), now.size);
      if (file) {
        ++opened;
        whole += use(*file) == 0;
      } else {
        ++refused;
        std::this_thread::yield();
      }
    }
    ends = true;
    writer.join();
    BOOST_TEST_MESSAGE(opened << " opened, " << refused << " not, " << whole << " loaded");
    BOOST_TEST(use(*tensor_file::in_memory(now.memory.get(), now.size)) == 0U);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
