// Measures how long a process takes until its first result: with the kernel built from source, and
// with the program in TEXLOOM_CACHE_DIR; with and without the OpenCL implementation's own cache.
//
//     build/apps/texloom-startup [ROUNDS]
// Each run is a separate process; arms take turns; times are medians, in milliseconds.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "apps/startup/convolution.h"
#include "runtime/drivers/opencl/driver.h"
#include "runtime/hal/transfer.h"

namespace texloom::startup {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

struct Times {
  double build = 0;  // Device::create_executable
  double first = 0;  // the first dispatch, until it is complete
};

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

hal::ExecutableDesc convolution() {
  using hal::TextureParam;
  return {.codes = {{KernelFormat::OpenClC, kConvolution, {"-cl-std=CL1.2"}}},
          .entry_points = {{.name = "conv2d_texture_kernel0",
                            .params = {TextureParam{.name = "data", .min_extent = {56, 896}},
                                       TextureParam{.name = "weight", .min_extent = {576, 16}},
                                       TextureParam{.name = "output",
                                                    .access = hal::Access::Write,
                                                    .min_extent = {56, 896}}},
                            .workgroup_size = {14, 4, 1},
                            .grid = hal::Grid{1, 14, 16}}}};
}

// Measures in this process: opens the first device, builds the kernel, runs it once.
Result<Times> measure() {
  TL_ASSIGN_OR_RETURN(const auto driver, hal::opencl::create_driver(
                                             {.binary_cache = hal::binary_cache_of_environment()}));
  TL_ASSIGN_OR_RETURN(const auto device, driver->open(0));
  const hal::ExecutableDesc desc = convolution();
  std::vector<hal::Binding> bindings;
  for (const hal::KernelParam& param : desc.entry_points[0].params) {
    const auto& texture = std::get<hal::TextureParam>(param);
    TL_ASSIGN_OR_RETURN(auto made, device->create_texture({.extent = texture.min_extent}));
    bindings.emplace_back(hal::TextureBinding{.texture = std::move(made)});
  }
  Times times;
  auto start = Clock::now();
  TL_ASSIGN_OR_RETURN(const auto executable, device->create_executable(desc));
  times.build = milliseconds_since(start);
  start = Clock::now();
  const auto commands = device->create_command_buffer();
  TL_RETURN_IF_ERROR(commands->dispatch_workload(executable, 0, {}, bindings, {}));
  TL_RETURN_IF_ERROR(hal::run_and_wait(*device, commands));
  times.first = milliseconds_since(start);
  return times;
}

int run_child() {
  const Result<Times> times = measure();
  if (!times.ok()) {
    fmt::print(stderr, "{}\n", times.status().to_string());
    return 1;
  }
  fmt::print("{} {}\n", times->build, times->first);
  return 0;
}

struct Arm {
  const char* name;
  bool from_cache;   // TEXLOOM_CACHE_DIR is set
  bool drivers_own;  // the implementation's own cache is available
};
constexpr std::array<Arm, 3> kArms = {{
    {"from source", false, false},
    {"from TEXLOOM_CACHE_DIR", true, false},
    {"from the driver's own cache", false, true},
}};

// Runs this program as a new process, with folders for the caches of PoCL and NVIDIA's driver.
std::optional<Times> run_process(const std::string& program, const Arm& arm,
                                 const fs::path& folder) {
  const fs::path own = folder / (arm.drivers_own ? "kept" : "fresh");
  fs::create_directories(own);
  ::setenv("POCL_CACHE_DIR", own.c_str(), 1);
  ::setenv("CUDA_CACHE_PATH", own.c_str(), 1);
  ::setenv("TEXLOOM_CACHE_DIR", arm.from_cache ? (folder / "texloom").c_str() : "", 1);
  std::FILE* output = ::popen(fmt::format("'{}' --once", program).c_str(), "r");
  if (output == nullptr) return std::nullopt;
  Times times;
  const bool was_read = std::fscanf(output, "%lf %lf", &times.build, &times.first) == 2;
  const int state = ::pclose(output);
  fs::remove_all(folder / "fresh");
  return was_read && state == 0 ? std::optional(times) : std::nullopt;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

int run_all(const std::string& program, int rounds) {
  std::string name = (fs::temp_directory_path() / "texloom-startup-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) return 1;
  std::array<std::vector<Times>, kArms.size()> runs;
  bool failed = false;
  // The first round fills the caches.
  for (int round = 0; round <= rounds && !failed; ++round) {
    for (std::size_t i = 0; i < kArms.size() && !failed; ++i) {
      const std::optional<Times> times = run_process(program, kArms[i], name);
      failed = !times;
      if (times && round > 0) runs[i].push_back(*times);
    }
  }
  fs::remove_all(name);
  if (failed) return 1;
  fmt::print("{:30}{:>10}{:>16}{:>10}\n", "medians, ms", "build", "first dispatch", "both");
  for (std::size_t i = 0; i < kArms.size(); ++i) {
    std::vector<double> build;
    std::vector<double> first;
    std::vector<double> both;
    for (const Times& times : runs[i]) {
      build.push_back(times.build);
      first.push_back(times.first);
      both.push_back(times.build + times.first);
    }
    fmt::print("{:30}{:10.2f}{:16.2f}{:10.2f}\n", kArms[i].name, median(build), median(first),
               median(both));
  }
  return 0;
}

}  // namespace
}  // namespace texloom::startup

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--once") == 0) return texloom::startup::run_child();
  const int rounds = argc == 2 ? std::atoi(argv[1]) : 11;
  if (argc > 2 || rounds < 1) {
    fmt::print(stderr, "usage: texloom-startup [ROUNDS]\n");
    return 2;
  }
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? 1 : texloom::startup::run_all(program.string(), rounds);
}
