// Tests that memory is limited by containers and by the address space, not only by the machine.
#include "runtime/hal/internal/memory/machine_memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

#include "runtime/hal/device_info.h"
#include "support/sanitizer.h"

namespace texloom::hal {
namespace {

namespace fs = std::filesystem;

class ControlGroups : public ::testing::Test {
 protected:
  ControlGroups() {
    std::string folder = (fs::temp_directory_path() / "machine_memory_XXXXXX").string();
    EXPECT_NE(mkdtemp(folder.data()), nullptr);
    root_ = folder;
  }
  ~ControlGroups() override { fs::remove_all(root_); }
  void write(const fs::path& file, const char* text) {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }

  fs::path root_;
};

TEST_F(ControlGroups, OfVersion2AndThoseAroundThem) {
  write("memory.max", "9000\n");
  write("a/memory.max", "4000\n");
  write("a/b/memory.max", "max\n");
  EXPECT_EQ(control_group_memory(root_, "0::/a/b\n"), 4000U);
  EXPECT_EQ(control_group_memory(root_, "0::/\n"), 9000U);
  // The path may be one of the host, which does not exist in a container.
  EXPECT_EQ(control_group_memory(root_, "0::/elsewhere/c\n"), 9000U);
}

TEST_F(ControlGroups, OfVersion1AreThoseOfTheMemoryController) {
  write("memory/a/memory.limit_in_bytes", "5000\n");
  write("cpu/a/memory.limit_in_bytes", "1\n");
  EXPECT_EQ(control_group_memory(root_, "3:cpu:/a\n2:hugetlb,memory:/a\n"), 5000U);
}

TEST_F(ControlGroups, WithoutLimits) {
  EXPECT_EQ(control_group_memory(root_, "0::/a\n"), kNoLimit64);
  EXPECT_EQ(control_group_memory(root_, ""), kNoLimit64);
  EXPECT_EQ(control_group_memory(root_, "no colon\nmemory:/a"), kNoLimit64);
}

TEST(MachineMemory, IsNotMoreThanTheMachineHas) {
  const std::uint64_t bytes = machine_memory_bytes();
  EXPECT_GT(bytes, std::uint64_t{1} << 26);
  EXPECT_LE(bytes, static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                       static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)));
}

// Runs in a separate process, since a lowered limit cannot be raised again.
TEST(MachineMemoryDeathTest, IsWithinTheLimitOfTheAddressSpace) {
  if (kAddressSanitizer) GTEST_SKIP() << "AddressSanitizer ends a process that has no memory";
  EXPECT_EXIT(
      {
        rlimit limit = {};
        getrlimit(RLIMIT_AS, &limit);
        limit.rlim_cur = std::uint64_t{1} << 20;  // less than is in use
        setrlimit(RLIMIT_AS, &limit);
        _exit(machine_memory_bytes() == 0 ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace texloom::hal
