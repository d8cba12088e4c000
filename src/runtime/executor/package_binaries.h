// Puts the binaries that a device's driver makes of kernels into packages, so that first runs on
// equal devices with an equal driver compile nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "runtime/executor/load_graph.h"
#include "runtime/hal/device.h"
#include "runtime/package/package.h"
#include "runtime/package/package_file.h"
#include "support/status.h"

namespace texloom::runtime {

// Called while kernels are built; see GraphOptions::goes_on.
using BuildProgress = std::function<bool(const KernelProgress&, const LaunchPlan&)>;

// Builds the kernels of each package's variant for the device, and puts the driver's binary beside
// each source, in place of an earlier one of that driver. On a device that compiles kernels when
// they first run (DeviceFeatures), a graph is run once with zero inputs, so packages must have the
// bytes of their constants. Graphs with symbols, custom operators, parts on the host or loops are
// not run: a loop whose end depends on data may never end on zeros. Their binaries lack the code
// that the device makes at the first run. A device uses a binary only if it and
// its driver are the same, and if the driver would build the same source in the same way; otherwise
// it builds the source. Binaries of several devices may stand side by side. Returns the number of
// binaries.
//
// The errors of choose_variant(), create_kernels(), build_side_by_side() and of a run;
// Unimplemented if the driver gives no binaries back, or if kernels have no source. After an error,
// the packages are unchanged.
Result<std::size_t> add_binaries(std::span<Package> packages,
                                 const std::shared_ptr<hal::Device>& device,
                                 const BuildProgress& goes_on = {});

// Writes the packages of a file, with the binaries, to `output`, which may be the same file. The
// errors of add_binaries() above, of PackageFile::constant() and of write_packages(). After an
// error, `output` is unchanged.
Result<std::size_t> add_binaries(const PackageFile& file, const std::filesystem::path& output,
                                 const std::shared_ptr<hal::Device>& device,
                                 const BuildProgress& goes_on = {});

}  // namespace texloom::runtime
