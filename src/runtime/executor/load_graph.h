// Loads a graph from a package: chooses the variant for a device, and makes a program from the
// variant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/commit/policy.h"
#include "runtime/executor/device_program.h"
#include "runtime/executor/executor.h"
#include "runtime/hal/device.h"
#include "runtime/package/package.h"
#include "runtime/package/package_file.h"
#include "runtime/plan/record.h"
#include "support/status.h"

namespace texloom::runtime {

// The first variant whose kernels the device's driver can prepare and whose needs the device meets.
// Unimplemented if there is none; the message says what the device lacks for each variant.
Result<std::size_t> choose_variant(const Package& package, const hal::DeviceInfo& device);

// Describes each variant that choose_variant() never chooses: every device that can run it can also
// run an earlier variant, which the text names.
std::vector<std::string> shadowed_variants(const Package& package);

// The bytes of a constant of a variant, in the layout of ConstantSource::bytes().
using PackageConstants =
    std::function<Result<std::span<const std::byte>>(std::size_t variant, std::uint32_t constant)>;

struct GraphOptions {
  std::optional<CommitPolicy> policy = {};  // see ProgramOptions
  // Makes the recorder for the calls of custom operators; required by graphs that have them.
  std::function<Result<std::shared_ptr<CallRecorder>>(const std::shared_ptr<hal::Device>&,
                                                      const LaunchPlan&)>
      prepare_calls = {};
  bool checks_barriers = false;  // see ProgramOptions
  // Called while kernels are built, with the plan whose kernels they are; see
  // DeviceProgram::create(). If it is empty, every build is completed.
  std::function<bool(const KernelProgress&, const LaunchPlan&)> goes_on = {};
};

// The parts from which executors are made.
struct LoadedGraph {
  std::shared_ptr<DeviceProgram> program;
  GraphInterface interface;
  std::size_t variant = 0;
};

// `package` is valid. `constants` is called at the first run, and lives until then. The errors of
// choose_variant(), DeviceProgram::create() and prepare_calls(); InvalidArgument for an output that
// the plan does not compute.
Result<LoadedGraph> load_graph(const std::shared_ptr<hal::Device>& device, const Package& package,
                               PackageConstants constants, const GraphOptions& options = {});
// Loads a graph from a file, which is kept open until the first run: its first package, or the one
// with that name (NotFound, listing the names).
Result<LoadedGraph> load_graph(const std::shared_ptr<hal::Device>& device,
                               std::shared_ptr<const PackageFile> file,
                               const GraphOptions& options = {}, std::string_view name = {});

}  // namespace texloom::runtime
