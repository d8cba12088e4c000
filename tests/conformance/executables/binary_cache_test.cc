// Tests drivers with a cache of compiled programs: a driver uses the cache's entries, and no entry
// can break a build.
#include "runtime/hal/binary_cache.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "tests/conformance/fixture.h"
#include "tests/runtime/cache_entry.h"

namespace texloom::hal::conformance {
namespace {

namespace fs = std::filesystem;

class CachedPrograms : public On<> {
 protected:
  void SetUp() override {
    On<>::SetUp();
    if (IsSkipped()) return;
    if (tested().create_cached == nullptr) GTEST_SKIP() << "the driver compiles nothing";
    std::string name = (fs::temp_directory_path() / "texloom-cache-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    reopen(folder_);
  }
  void TearDown() override {
    On<>::TearDown();
    if (!folder_.empty()) fs::remove_all(folder_);
  }

  // Opens the device with a new driver and a new cache over the folder, as a new process would.
  void reopen(const fs::path& folder) {
    cache_ = std::make_shared<BinaryCache>(BinaryCacheOptions{.folder = folder.string()});
    const auto driver = tested().create_cached(cache_);
    TL_ASSERT_OK(driver.status());
    const auto opened = (*driver)->open(std::get<0>(GetParam())->ordinal);
    TL_ASSERT_OK(opened.status());
    use(*opened);
  }
  ExecutableDesc add_one() const { return tested().kernels({kernels::add_one()}); }
  // Makes an executable whose first kernel is add_one, and runs that kernel.
  void expect_that_it_adds(const ExecutableDesc& desc) {
    const auto made = device().create_executable(desc);
    TL_ASSERT_OK(made.status());
    const auto in = make_buffer(bytes_of(std::vector<std::int32_t>{1, 2, 3}));
    const auto out = make_buffer(12);
    const auto commands = begin();
    TL_ASSERT_OK(
        commands->dispatch(*made, 0, {3, 1, 1}, {{BufferBinding{in}, BufferBinding{out}}}, {}));
    TL_ASSERT_OK(run(commands));
    expect_values<std::int32_t>(out, {2, 3, 4});
  }
  fs::path entry_file() const { return fs::directory_iterator(folder_)->path(); }
  bool is_empty() const { return fs::is_empty(folder_); }

  fs::path folder_;
  std::shared_ptr<BinaryCache> cache_;
};
TL_ON_EVERY_DEVICE(CachedPrograms);

TEST_P(CachedPrograms, AreThoseOfTheProcessBefore) {
  expect_that_it_adds(add_one());
  EXPECT_EQ(cache_->counts().misses, 1U);
  EXPECT_EQ(cache_->counts().stored, 1U);
  reopen(folder_);
  expect_that_it_adds(add_one());
  EXPECT_EQ(cache_->counts().hits, 1U);
  EXPECT_EQ(cache_->counts().stored, 0U);
}

TEST_P(CachedPrograms, AreFoundByWhatTheyDependOn) {
  std::vector<ExecutableDesc> all(5, add_one());
  all[1].codes[0].build_options.push_back("-DUNUSED=1");
  all[2].math = MathMode::Fast;
  all[3].codes[0].code += "\n";
  all[4] = tested().kernels({kernels::add_one(), kernels::nothing()});
  for (const ExecutableDesc& each : all) expect_that_it_adds(each);
  EXPECT_EQ(cache_->counts().hits, 0U);
  EXPECT_EQ(cache_->counts().stored, all.size());
  for (const ExecutableDesc& each : all) expect_that_it_adds(each);
  EXPECT_EQ(cache_->counts().hits, all.size());
  EXPECT_EQ(cache_->counts().stored, all.size());
}

TEST_P(CachedPrograms, AreReplacedIfTheirFileIsDamaged) {
  expect_that_it_adds(add_one());
  fs::resize_file(entry_file(), fs::file_size(entry_file()) - 1);
  expect_that_it_adds(add_one());
  EXPECT_EQ(cache_->counts().rejected, 1U);
  EXPECT_EQ(cache_->counts().stored, 2U);
  expect_that_it_adds(add_one());
  EXPECT_EQ(cache_->counts().hits, 1U);
}

// A change of the system that is not part of the key can make a cached program unusable.
TEST_P(CachedPrograms, AreReplacedIfTheDeviceRefusesThem) {
  expect_that_it_adds(add_one());
  TL_ASSERT_OK(cache_->store(read_entry(entry_file()).key, "nothing that a compiler wrote"));
  expect_that_it_adds(add_one());
  EXPECT_EQ(cache_->counts().hits, 1U);
  EXPECT_EQ(cache_->counts().stored, 3U);
  reopen(folder_);
  expect_that_it_adds(add_one());
  EXPECT_EQ(cache_->counts().hits, 1U);
  EXPECT_EQ(cache_->counts().stored, 0U);
}

TEST_P(CachedPrograms, DoNotLetAWrongTablePass) {
  expect_that_it_adds(add_one());
  ExecutableDesc wrong = add_one();
  wrong.entry_points[0].params.pop_back();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(device().create_executable(wrong).status().code(), StatusCode::InvalidArgument);
  }
  EXPECT_EQ(cache_->counts().stored, 1U);
}

TEST_P(CachedPrograms, AreNotThoseThatCannotBeBuilt) {
  EXPECT_THAT(device().create_executable(tested().broken()).status(),
              fails_with(StatusCode::BuildFailed, tested().broken_says));
  EXPECT_TRUE(is_empty());
}

TEST_P(CachedPrograms, NeedNoFolderThatCanBeWritten) {
  std::ofstream(folder_ / "file") << "in the way";
  reopen(folder_ / "file" / "cache");
  expect_that_it_adds(add_one());
  EXPECT_EQ(cache_->counts().store_failures, 1U);
}

}  // namespace
}  // namespace texloom::hal::conformance
