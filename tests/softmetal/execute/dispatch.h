// Runs a function over a grid. This is the interface for API layers and programs.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/softmetal/execute/library.h"
#include "tests/softmetal/execute/report.h"
#include "tests/softmetal/execute/texture.h"

namespace softmetal {

// Memory that a kernel may use. It must exist while the dispatch runs.
struct MemoryRange {
  void* begin = nullptr;
  size_t size = 0;
  bool writable = true;
  std::string name = {};  // for messages; empty: named by its index
};

// The arguments of a kernel, by index.
struct Arguments {
  std::map<int, MemoryRange> buffers;  // from the offset of the binding to the end of the buffer
  std::map<int, std::vector<uint8_t>> bytes;      // copied into the command, as setBytes does
  std::map<int, std::vector<Texture*>> textures;  // several for an array of textures
  std::map<int, std::vector<SamplerState>> samplers;
  std::map<int, size_t> threadgroup_sizes;
  // The resources that argument buffers may refer to.
  std::vector<MemoryRange> resident;
  std::vector<Texture*> resident_textures;
};

struct Grid {
  std::array<uint32_t, 3> threadgroups{1, 1, 1};
  std::array<uint32_t, 3> threads_per_threadgroup{1, 1, 1};
  // The number of threads, if it is not a multiple of the threadgroup's size.
  std::optional<std::array<uint32_t, 3>> threads = std::nullopt;
};

// A kernel's accesses to one range of its arguments, for the search for hazards.
struct Touched {
  const void* begin = nullptr;       // of the range, or of a texture's first texel
  const Texture* texture = nullptr;  // null for other memory
  std::vector<std::pair<size_t, size_t>> read, written;  // bytes
};

struct RunOptions {
  uint32_t simd_width = 32;
  uint64_t seed = 1;  // of the order of threadgroups and threads; 0: ascending
  size_t threadgroup_memory_limit = 32768;
  uint32_t max_threads = 1024;
  bool find_races = true;
  bool report_texture_bounds = false;
  double time_limit = 60;  // seconds of computation
  // If set, gets the accesses to each range; needs find_races.
  std::function<void(const Touched&)> on_touched = nullptr;
};

// Runs all threadgroups, unless the arguments do not fit or a thread makes an error. The reports
// are in order; the last one may be an error.
std::vector<Report> dispatch(const Function& function, const Arguments& arguments, const Grid& grid,
                             const RunOptions& options = {});

// Returns the errors in the arguments, without running the kernel.
std::vector<Report> check_arguments(const Function& function, const Arguments& arguments,
                                    const Grid& grid, const RunOptions& options = {});

}  // namespace softmetal
