// Tests the binary cache: find() returns exactly the stored binary or nothing, whatever happens to
// the files.
#include "runtime/hal/binary_cache.h"

#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/runtime/opencl_fixture.h"

namespace texloom::hal {
namespace {

namespace fs = std::filesystem;

BinaryKey key_of(std::string_view source, std::string_view device = "gpu") {
  return BinaryKey().add(source).add(device);
}

class BinaryCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "texloom-cache-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  BinaryCacheOptions options() const { return {.folder = folder_.string()}; }
  std::vector<fs::path> files() const {
    std::vector<fs::path> files;
    for (const auto& each : fs::directory_iterator(folder_)) files.push_back(each.path());
    return files;
  }
  // Returns the file of the only entry.
  fs::path entry() const {
    EXPECT_EQ(files().size(), 1u);
    return files().front();
  }
  static std::string read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static void write(const fs::path& path, std::string_view content) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
  }

  fs::path folder_;
};

TEST_F(BinaryCacheTest, FindsWhatAnotherCacheStored) {
  const std::string binary("\0\xff binary \n", 12);
  BinaryCache first(options());
  EXPECT_EQ(first.find(key_of("a")), std::nullopt);
  TL_ASSERT_OK(first.store(key_of("a"), binary));
  TL_ASSERT_OK(first.store(key_of("b"), ""));
  BinaryCache second(options());
  EXPECT_EQ(second.find(key_of("a")), binary);
  EXPECT_EQ(second.find(key_of("b")), "");
  EXPECT_EQ(second.find(key_of("a", "another gpu")), std::nullopt);
  TL_ASSERT_OK(second.store(key_of("a"), "newer"));
  EXPECT_EQ(first.find(key_of("a")), "newer");
  EXPECT_EQ(first.counts().misses, 1u);
  EXPECT_EQ(first.counts().hits, 1u);
  EXPECT_EQ(first.counts().stored, 2u);
}

TEST_F(BinaryCacheTest, KeysWithOtherFieldsDiffer) {
  EXPECT_NE(BinaryKey().add("ab").add("c").text(), BinaryKey().add("a").add("bc").text());
  EXPECT_NE(BinaryKey().add("a").add("").text(), BinaryKey().add("a").text());
  EXPECT_NE(BinaryKey().add("1:a").text(), BinaryKey().add("1").add("a").text());
}

TEST_F(BinaryCacheTest, AnEntryWithAChangedByteIsNotFound) {
  BinaryCache cache(options());
  TL_ASSERT_OK(cache.store(key_of("source"), "binary"));
  const fs::path path = entry();
  const std::string whole = read(path);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const char bits : {'\x01', '\x80', '\xff'}) {
      std::string damaged = whole;
      damaged[i] = static_cast<char>(damaged[i] ^ bits);
      write(path, damaged);
      EXPECT_EQ(cache.find(key_of("source")), std::nullopt) << "byte " << i;
    }
  }
  EXPECT_EQ(cache.counts().rejected, 3 * whole.size());
  write(path, whole);
  EXPECT_EQ(cache.find(key_of("source")), "binary");
}

TEST_F(BinaryCacheTest, AnEntryOfAnotherLengthIsNotFound) {
  BinaryCache cache(options());
  TL_ASSERT_OK(cache.store(key_of("source"), "binary"));
  const fs::path path = entry();
  const std::string whole = read(path);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    write(path, whole.substr(0, length));
    EXPECT_EQ(cache.find(key_of("source")), std::nullopt) << "of " << length << " bytes";
  }
  write(path, whole + '\0');
  EXPECT_EQ(cache.find(key_of("source")), std::nullopt);
  TL_ASSERT_OK(cache.store(key_of("source"), "again"));
  EXPECT_EQ(cache.find(key_of("source")), "again");
}

// Simulates two keys with the same hash.
TEST_F(BinaryCacheTest, AnEntryUnderTheNameOfAnotherKeyIsNotFound) {
  BinaryCache cache(options());
  TL_ASSERT_OK(cache.store(key_of("source", "gpu 1"), "binary 1"));
  const fs::path first = entry();
  const std::string whole = read(first);
  fs::remove(first);
  TL_ASSERT_OK(cache.store(key_of("source", "gpu 2"), "binary 2"));
  write(entry(), whole);
  EXPECT_EQ(cache.find(key_of("source", "gpu 2")), std::nullopt);
  EXPECT_EQ(cache.counts().rejected, 1u);
}

TEST_F(BinaryCacheTest, WhatIsNoFileIsNotFound) {
  BinaryCache cache(options());
  TL_ASSERT_OK(cache.store(key_of("source"), "binary"));
  const fs::path path = entry();
  fs::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(cache.find(key_of("source")), std::nullopt);
  fs::remove(path);
  fs::create_directory(path);
  EXPECT_EQ(cache.find(key_of("source")), std::nullopt);
  EXPECT_THAT(cache.store(key_of("source"), "binary"),
              fails_with(StatusCode::Unavailable, "writing"));
  EXPECT_EQ(files().size(), 1u);  // no temporary file is left
}

TEST_F(BinaryCacheTest, TheEntriesUsedLongestAgoMakeRoom) {
  BinaryCacheOptions small = options();
  small.max_bytes = 4000;
  BinaryCache cache(small);
  const std::string binary(900, 'x');
  const auto age = [&](std::string_view source, int hours) {
    // The content shows which key a file belongs to.
    for (const fs::path& path : files()) {
      if (read(path).find(key_of(source).text()) != std::string::npos)
        fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(hours));
    }
  };
  write(folder_ / "letter.txt", std::string(5000, 'l'));
  for (const char* source : {"a", "b", "c", "d"}) {
    TL_ASSERT_OK(cache.store(key_of(source), binary));
  }
  age("a", 4);
  age("b", 3);
  age("c", 2);
  age("d", 1);
  EXPECT_EQ(cache.find(key_of("a")), binary);  // now b was used least recently
  TL_ASSERT_OK(cache.store(key_of("e"), binary));
  EXPECT_EQ(cache.find(key_of("b")), std::nullopt);
  for (const char* source : {"a", "c", "d", "e"}) EXPECT_EQ(cache.find(key_of(source)), binary);
  EXPECT_EQ(cache.counts().removed, 1u);
  EXPECT_TRUE(fs::exists(folder_ / "letter.txt"));
  EXPECT_THAT(cache.store(key_of("f"), std::string(4000, 'x')),
              fails_with(StatusCode::LimitExceeded, "a binary cache of 4000 bytes"));
  EXPECT_EQ(cache.find(key_of("e")), binary);
}

TEST_F(BinaryCacheTest, WhatAnInterruptedProcessLeftIsRemovedLater) {
  BinaryCache cache(options());
  write(folder_ / "old.AbCdEf.tltmp", "half");
  write(folder_ / "new.AbCdEf.tltmp", "half");
  fs::last_write_time(folder_ / "old.AbCdEf.tltmp",
                      fs::file_time_type::clock::now() - std::chrono::hours(2));
  TL_ASSERT_OK(cache.store(key_of("a"), "binary"));
  EXPECT_FALSE(fs::exists(folder_ / "old.AbCdEf.tltmp"));
  EXPECT_TRUE(fs::exists(folder_ / "new.AbCdEf.tltmp"));  // another process may be writing it
}

// While an object exists, its thread has another user's rights, since root may write anywhere.
class NoSuperuser {
 public:
  NoSuperuser() : user_(::setfsuid(65534)) {}
  ~NoSuperuser() { ::setfsuid(static_cast<uid_t>(user_)); }

 private:
  int user_;
};

TEST_F(BinaryCacheTest, AFolderThatMayNotBeWrittenStillServes) {
  BinaryCache cache(options());
  TL_ASSERT_OK(cache.store(key_of("a"), "binary"));
  fs::permissions(entry(), fs::perms(0444));
  fs::permissions(folder_, fs::perms(0555));
  {
    const NoSuperuser rights;
    EXPECT_EQ(cache.find(key_of("a")), "binary");
    EXPECT_THAT(cache.store(key_of("b"), "binary"),
                fails_with(StatusCode::Unavailable, "Permission denied"));
  }
  fs::permissions(folder_, fs::perms(0755));
  EXPECT_EQ(cache.counts().store_failures, 1u);
}

TEST_F(BinaryCacheTest, AFolderIsMadeWhereItCanBe) {
  BinaryCache deep({.folder = (folder_ / "a" / "b").string()});
  EXPECT_EQ(deep.find(key_of("x")), std::nullopt);
  EXPECT_TRUE(files().empty());  // a lookup creates nothing
  TL_ASSERT_OK(deep.store(key_of("x"), "binary"));
  EXPECT_EQ(deep.find(key_of("x")), "binary");
  write(folder_ / "file", "");
  BinaryCache under_file({.folder = (folder_ / "file" / "cache").string()});
  EXPECT_THAT(under_file.store(key_of("x"), "binary"),
              fails_with(StatusCode::Unavailable, "cannot make the folder"));
}

std::string binary_number(int number) {
  return std::string(static_cast<std::size_t>(20'000 + number), static_cast<char>('a' + number));
}
bool is_one_of_the_binaries(const std::string& binary) {
  for (int i = 0; i < 8; ++i) {
    if (binary == binary_number(i)) return true;
  }
  return false;
}
// Stores and finds one key many times, in a folder too small for all entries. Returns whether every
// binary found was intact.
bool use_heavily(BinaryCache& cache, int number) {
  bool whole = true;
  for (int i = 0; i < 60; ++i) {
    whole &= cache.store(key_of("shared"), binary_number(number)).ok();
    whole &= cache.store(key_of(fmt::format("{}", (number + i) % 5)), binary_number(1)).ok();
    const std::optional<std::string> found = cache.find(key_of("shared"));
    whole &= !found || is_one_of_the_binaries(*found);
  }
  return whole && cache.counts().rejected == 0;
}

TEST_F(BinaryCacheTest, ThreadsAndProcessesShareAFolder) {
  BinaryCacheOptions small = options();
  small.max_bytes = 90'000;
  std::vector<pid_t> children;
  for (int number = 0; number < 2; ++number) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      BinaryCache cache(small);
      ::_exit(use_heavily(cache, number) ? 0 : 1);
    }
    children.push_back(child);
  }
  BinaryCache cache(small);
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int number = 2; number < 4; ++number) {
    threads.emplace_back([&, number] { right += use_heavily(cache, number) ? 1 : 0; });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 2);
  for (const pid_t child : children) {
    int state = -1;
    ASSERT_EQ(::waitpid(child, &state, 0), child);
    EXPECT_EQ(state, 0);
  }
  TL_ASSERT_OK(cache.store(key_of("last"), "x"));
  std::uintmax_t bytes = 0;
  for (const fs::path& path : files()) bytes += fs::file_size(path);
  EXPECT_LE(bytes, small.max_bytes);
}

// Sets environment variables (null unsets a variable), and restores them in its destructor.
class Environment {
 public:
  using Values = std::vector<std::pair<const char*, const char*>>;

  explicit Environment(const Values& values) {
    for (const auto& [name, value] : values) {
      const char* before = std::getenv(name);
      before_.emplace_back(name, before == nullptr ? std::nullopt : std::optional(before));
      set(name, value);
    }
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment() {
    for (const auto& [name, value] : before_) set(name, value ? value->c_str() : nullptr);
  }

 private:
  static void set(const char* name, const char* value) {
    value == nullptr ? ::unsetenv(name) : ::setenv(name, value, 1);
  }

  std::vector<std::pair<const char*, std::optional<std::string>>> before_;
};

TEST_F(BinaryCacheTest, TheEnvironmentNamesAFolderOrNone) {
  for (const char* none : {static_cast<const char*>(nullptr), ""}) {
    const Environment environment(Environment::Values{{"TEXLOOM_CACHE_DIR", none}});
    EXPECT_EQ(binary_cache_of_environment(), nullptr);
  }
  const Environment environment(Environment::Values{{"TEXLOOM_CACHE_DIR", folder_.c_str()}});
  const auto cache = binary_cache_of_environment();
  ASSERT_NE(cache, nullptr);
  TL_ASSERT_OK(cache->store(key_of("a"), "binary"));
  EXPECT_EQ(files().size(), 1u);
}

std::string folder_in(const char* named, const char* caches, const char* home) {
  const Environment environment(Environment::Values{
      {"TEXLOOM_CACHE_DIR", named}, {"XDG_CACHE_HOME", caches}, {"HOME", home}});
  return binary_cache_folder_of_user();
}

TEST(BinaryCacheFolder, IsNamedByTheUserOrAmongCaches) {
  EXPECT_EQ(folder_in("/named", "/caches", "/home/me"), "/named");
  EXPECT_EQ(folder_in("", "/caches", "/home/me"), "");
  EXPECT_EQ(folder_in(nullptr, nullptr, nullptr), "");
#if !defined(__APPLE__)
  EXPECT_EQ(folder_in(nullptr, "/caches", "/home/me"), "/caches/texloom");
  EXPECT_EQ(folder_in(nullptr, nullptr, "/home/me"), "/home/me/.cache/texloom");
  EXPECT_EQ(folder_in(nullptr, "relative", "/home/me"), "/home/me/.cache/texloom");
#endif
}

}  // namespace
}  // namespace texloom::hal
