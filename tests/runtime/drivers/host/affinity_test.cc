#include "runtime/drivers/host/affinity.h"

#if defined(__linux__)

#include <gtest/gtest.h>
#include <sched.h>

#include <latch>
#include <thread>

namespace texloom::hal::host {
namespace {

cpu_set_t processors() {
  cpu_set_t made;
  EXPECT_EQ(sched_getaffinity(0, sizeof made, &made), 0);
  return made;
}

TEST(Affinity, AThreadIsKeptOffTheCallersProcessorUntilItsAffinityIsRestored) {
  const cpu_set_t all = processors();
  const Affinity affinity = Affinity::of_this_thread();
  std::latch is_kept_off(1);
  cpu_set_t others, restored;
  std::thread thread([&] {
    is_kept_off.wait();
    others = processors();
    affinity.restore();
    restored = processors();
  });
  affinity.keep_off_this_processor(thread);
  is_kept_off.count_down();
  thread.join();
  cpu_set_t both;
  CPU_AND(&both, &others, &all);
  EXPECT_TRUE(CPU_EQUAL(&both, &others));
  EXPECT_EQ(CPU_COUNT(&others), CPU_COUNT(&all) == 1 ? 1 : CPU_COUNT(&all) - 1);
  EXPECT_TRUE(CPU_EQUAL(&restored, &all));
}

}  // namespace
}  // namespace texloom::hal::host

#endif
