// Tests of the file that an internal error writes.
#include "support/dump.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace texloom {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
namespace fs = std::filesystem;

// Gives each test a temporary directory.
class Dump : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directory(folder_);
    setenv("TMPDIR", folder_.c_str(), 1);
  }
  void TearDown() override {
    unsetenv("TMPDIR");
    fs::remove_all(folder_);
  }

  static InternalError dump(const std::string& text) {
    return with_dump(InternalError("it\nfailed"), "--pass=p", [&] { return text; });
  }
  std::vector<fs::path> files() const {
    std::vector<fs::path> paths;
    for (const auto& entry : fs::directory_iterator(folder_)) paths.push_back(entry.path());
    return paths;
  }

  fs::path folder_ = fs::path(testing::TempDir()) / "texloom_dump_test";
};

TEST_F(Dump, HoldsTheProgramAndHowItFailed) {
  const std::string message = dump("program p\n").what();
  ASSERT_EQ(files().size(), 1U);
  const std::string path = files().front();
  EXPECT_THAT(path, MatchesRegex(".*/texloom-error-......\\.tl"));
  EXPECT_EQ(message, "it\nfailed\n  note: the program that triggers it is in " + path +
                         ": please attach it\n  note: texloom-opt " + path +
                         " --pass=p reproduces it");
  std::ifstream in(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}),
            "// it\n// failed\n// texloom-opt " + path + " --pass=p\nprogram p\n");
}

// The command can be pasted into a shell, whatever the folder's name.
TEST_F(Dump, QuotesThePathInTheCommand) {
  const fs::path odd = folder_ / "a user's folder";
  fs::create_directory(odd);
  setenv("TMPDIR", odd.c_str(), 1);
  EXPECT_THAT(dump("program p\n").what(),
              HasSubstr("texloom-opt '" + folder_.string() + "/a user'\\''s folder/texloom-"));
}

// No existing file is overwritten, and only the owner may read the dump.
TEST_F(Dump, IsAFileOfItsOwn) {
  dump("one");
  dump("other");
  ASSERT_EQ(files().size(), 2U);
  for (const fs::path& path : files()) {
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  }
}

// The oldest dumps are deleted, but no files with other names, and no links.
TEST_F(Dump, DeletesTheOldestOnes) {
  const auto write = [&](const std::string& name, int age) {
    std::ofstream(folder_ / name) << "old";
    fs::last_write_time(folder_ / name, fs::file_time_type::clock::now() - std::chrono::hours(age));
  };
  for (int i = 0; i < 30; ++i) write(fmt::format("texloom-error-old{:03}.tl", i), 30 - i);
  write("texloom-error-mine.tl", 100);
  write("texloom-errors.tl", 100);
  const fs::path link = folder_ / "texloom-error-linked.tl";
  fs::create_symlink(folder_ / "texloom-errors.tl", link);
  dump("program p\n");
  EXPECT_EQ(files().size(), kKeptDumps + 3);
  EXPECT_TRUE(fs::exists(folder_ / "texloom-error-mine.tl"));
  EXPECT_TRUE(fs::exists(link));
  EXPECT_FALSE(fs::exists(folder_ / "texloom-error-old010.tl"));
  EXPECT_TRUE(fs::exists(folder_ / "texloom-error-old011.tl"));
  dump("program p\n");
  EXPECT_EQ(files().size(), kKeptDumps + 3);
}

// If the file cannot be written, or there is no text, the error does not change.
TEST_F(Dump, DoesNotHideTheError) {
  const auto fails = []() -> std::string { throw InternalError("nor can it be printed"); };
  EXPECT_STREQ(with_dump(InternalError("it failed"), "", fails).what(), "it failed");
  EXPECT_TRUE(files().empty());
  fs::remove_all(folder_);
  EXPECT_STREQ(dump("program p\n").what(), "it\nfailed");
}

}  // namespace
}  // namespace texloom
