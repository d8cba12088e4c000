// Tests which runs of the compiler the binary cache saves. The software Metal counts these runs.
// The conformance suite tests which entries are used.
#include "runtime/hal/binary_cache.h"

#include <array>
#include <filesystem>
#include <string>

#include "runtime/hal/transfer.h"
#include "tests/runtime/cache_entry.h"
#include "tests/runtime/drivers/metal/device_test.h"
#include "tests/runtime/drivers/metal/message_counts.h"
#include "tests/softmetal/compile/cache.h"
#include "tests/softmetal/compile/process.h"
#include "tests/softmetal/compile/scratch_folder.h"

namespace texloom::hal::metal {
namespace {

const std::string kSource = std::string(kAddSource) + "kernel void nothing() {}\n";

// The first half of a compilation runs the preprocessor and clang, the second half clang again.
constexpr std::uint64_t kFirstHalf = 2, kBothHalves = 3;

class StoredArchives : public DeviceTest {
 protected:
  void TearDown() override { softmetal::set_cache_folder(""); }

  // Opens the device as in a new process, in which Metal's own cache is empty.
  void start(std::size_t ordinal = 0) {
    softmetal::set_cache_folder(folder_.path() + "/metal" + std::to_string(++starts_));
    cache_ =
        std::make_shared<BinaryCache>(BinaryCacheOptions{.folder = folder_.path() + "/archives"});
    const auto driver = create_driver({.binary_cache = cache_});
    TL_ASSERT_OK(driver.status());
    device = *(*driver)->open(ordinal);
    before_ = softmetal::processes_run();
  }
  std::uint64_t runs() const { return softmetal::processes_run() - before_; }

  // The files of the archives.
  std::filesystem::directory_iterator entries() const {
    return std::filesystem::directory_iterator(folder_.path() + "/archives");
  }

  softmetal::ScratchFolder folder_;
  int starts_ = 0;
  std::uint64_t before_ = 0;
  std::shared_ptr<BinaryCache> cache_;
};

TEST_F(StoredArchives, SpareTheSecondHalfOfACompilation) {
  start();
  expect_that_it_adds(add_desc(kSource));
  EXPECT_EQ(runs(), kBothHalves);
  start();
  expect_that_it_adds(add_desc(kSource));
  EXPECT_EQ(runs(), kFirstHalf);
  EXPECT_EQ(cache_->counts().hits, 1U);
}

// A pipeline comes from its archive: otherwise it is compiled twice, for the archive and for
// itself. The software Metal caches compilations, so the number of runs would not show a second
// compilation.
TEST_F(StoredArchives, AreWherePipelinesAreTakenOutOf) {
  start();
  const MessageCounts counts;
  expect_that_it_adds(add_desc(kSource));
  EXPECT_EQ(counts.of("addComputePipelineFunctionsWithDescriptor:error:"), 1);
  EXPECT_EQ(counts.of("setBinaryArchives:"), 1);
}

// A kernel with an argument buffer has two pipelines, one of them for indirect commands.
TEST_F(StoredArchives, HavePipelinesForIndirectCommands) {
  for (const std::uint64_t expected : {kBothHalves, kFirstHalf}) {
    start();
    const auto made = device->create_executable(add_desc(kArgumentBufferSource));
    TL_ASSERT_OK(made.status());
    const auto in = make(4), out = make(4);
    const auto commands = device->create_command_buffer({.reusable = true});
    for (int i = 0; i < 4; ++i)
      TL_ASSERT_OK(commands->dispatch(*made, 0, {1, 1, 1},
                                      std::array<Binding, 2>{BufferBinding{in}, BufferBinding{out}},
                                      std::array{Constant(i)}));
    const MessageCounts counts;
    TL_ASSERT_OK(run_and_wait(*device, commands));
    EXPECT_EQ(counts.of("executeCommandsInBuffer:withRange:"), 1);
    EXPECT_EQ(runs(), expected);
  }
}

TEST_F(StoredArchives, AreThoseOfOneDevice) {
  start(0);
  expect_that_it_adds(add_desc(kSource));
  start(1);
  expect_that_it_adds(add_desc(kSource));
  EXPECT_EQ(runs(), kBothHalves);
  EXPECT_EQ(cache_->counts().misses, 1U);
  EXPECT_EQ(cache_->counts().stored, 1U);
}

// Simulates an archive without the kernel by storing another executable's archive under its key.
TEST_F(StoredArchives, AreReplacedIfTheyLackAKernel) {
  start();
  ExecutableDesc nothing = add_desc(kSource);
  nothing.entry_points = {{.name = "nothing", .params = {}}};
  TL_ASSERT_OK(device->create_executable(nothing).status());
  const std::filesystem::path first = entries()->path();
  const std::string other = read_entry(first).binary;
  std::filesystem::remove(first);
  expect_that_it_adds(add_desc(kSource));
  TL_ASSERT_OK(cache_->store(read_entry(entries()->path()).key, other));
  start();
  expect_that_it_adds(add_desc(kSource));
  EXPECT_EQ(cache_->counts().hits, 1U);
  EXPECT_EQ(cache_->counts().stored, 1U);
  start();
  expect_that_it_adds(add_desc(kSource));
  EXPECT_EQ(runs(), kFirstHalf);
}

// The kernels for transfers are one executable, which all queues of a device share.
TEST_F(StoredArchives, HaveTheKernelsForTransfers) {
  for (const std::uint64_t expected : {kBothHalves, kFirstHalf}) {
    start();
    const auto buffer = make(8);
    const auto commands = device->create_command_buffer();
    TL_ASSERT_OK(commands->fill(buffer, 1, 6, std::array{std::byte{1}, std::byte{2}}));
    TL_ASSERT_OK(run_and_wait(*device, commands));
    EXPECT_EQ(runs(), expected);
  }
}

}  // namespace
}  // namespace texloom::hal::metal
