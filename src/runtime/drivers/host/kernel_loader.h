// The interfaces of the host driver's kernels: loaders that make kernels from code, and the
// arguments of a launch.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/drivers/host/image.h"
#include "runtime/hal/binding.h"
#include "runtime/hal/executable.h"
#include "support/status.h"

namespace texloom::hal::host {

// The size of each thread's scratch memory, which is aligned to kMemoryAlignment.
inline constexpr std::size_t kScratchBytes = std::size_t{64} << 10;
// The alignment, in bytes, of memory that the driver allocates: buffers, textures and scratch.
inline constexpr std::size_t kMemoryAlignment = 64;
// The alignment, in bytes, of a kernel's buffer argument, which may begin at an offset or be the
// caller's imported memory. Rows of a texture are not aligned.
inline constexpr std::size_t kBufferAlignment = 16;

// A buffer as a kernel sees it: the bytes of the bound buffer or subspan from the offset on.
struct BufferArgument {
  std::byte* data = nullptr;  // aligned to kBufferAlignment
  std::uint64_t bytes = 0;
};

struct TextureArgument {
  Image image;
  Offset2D origin = {};  // of the tensor in the image
};

// Local memory: a range of the scratch memory. Scratch begins with all local memory.
struct LocalArgument {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

using Argument = std::variant<BufferArgument, TextureArgument, Constant, LocalArgument>;

// One dispatch; valid only during Kernel::run().
struct Launch {
  const EntryPoint& entry;
  std::array<std::uint32_t, 3> groups;  // none is zero
  std::span<const Argument> arguments;  // in the order of entry.params
};

// A range of work groups. Group (x, y, z) has the number x + groups[0] * (y + groups[1] * z).
struct GroupRange {
  std::uint64_t begin = 0, end = 0;
};

// One entry point, ready to run. Thread safe.
class Kernel {
 public:
  virtual ~Kernel() = default;

  // Whether several threads may share a launch, each running some of its groups. Otherwise run() is
  // called once for each launch, with all groups.
  virtual bool is_divisible() const = 0;
  // Whether the thread that waits for a submission may run the launch itself, between looking at
  // the deadline of its wait: launches never wait for other threads, and end soon. A kernel that
  // may take seconds (the interpreter's) or runs the user's own function is left to the workers.
  virtual bool may_run_while_waiting() const { return false; }

  // Runs these groups of a launch. An error ends the submission with its message. Must not throw.
  virtual Status run(const Launch& launch, GroupRange groups,
                     std::span<std::byte> scratch) const = 0;

  // The nanoseconds of a group by earlier launches; 0 before the first one. Only divisible kernels
  // are measured.
  float group_nanoseconds() const { return group_nanoseconds_.load(std::memory_order_relaxed); }
  // Whether to measure the next run: each of the first ones, later one of several, since reading
  // the clock twice takes as long as a small kernel.
  bool wants_measurement() const {
    const std::uint32_t run = runs_.load(std::memory_order_relaxed);
    runs_.store(run + 1, std::memory_order_relaxed);
    return run < 16 || run % 8 == 0;
  }
  void add_measurement(float nanoseconds_of_group) const {
    const float old = group_nanoseconds();
    const float next = old == 0 ? nanoseconds_of_group : old + (nanoseconds_of_group - old) / 8;
    group_nanoseconds_.store(next, std::memory_order_relaxed);
  }

 private:
  mutable std::atomic<float> group_nanoseconds_ = 0;
  mutable std::atomic<std::uint32_t> runs_ = 0;  // about: threads may miss each other's
};

// Makes kernels from code of one format. Thread safe. A driver keeps its loaders alive.
class KernelLoader {
 public:
  virtual ~KernelLoader() = default;

  virtual KernelFormat format() const = 0;

  // Returns one kernel for each entry point, in order, which serves as long as it lives: it keeps
  // what it needs of the code, `code` and `entries` are the caller's. Formats that know the
  // parameters of a function (the interpreter's) check them against those of its entry point; code
  // without such a description (native code, functions of the program) is trusted to match, as
  // whoever named the entry point made both.
  //
  // Errors: BuildFailed, saying what is wrong with the code; NotFound for an entry point or a
  // library that is not there; InvalidArgument for code that is damaged or parameters that are
  // known not to match; Unimplemented and Unavailable for code of another processor or interface.
  // Must not throw.
  virtual Result<std::vector<std::shared_ptr<const Kernel>>> load(
      std::string_view code, std::span<const EntryPoint> entries) const = 0;
};

}  // namespace texloom::hal::host
