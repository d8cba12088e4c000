// The table of backends: how programs become kernels for each kind of target.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "codegen/compiled_code.h"
#include "codegen/legalize/dialect.h"
#include "ir/program.h"
#include "ir/target/target.h"
#include "lower/pass.h"
#include "support/function_ref.h"

namespace texloom::codegen {

// A new backend is a new row in backend.cc.
struct Backend {
  ir::TargetKind kind;
  std::string_view driver;                          // the driver of devices that run the kernels
  std::span<const ir::DeviceClass> device_classes;  // the classes of these devices
  std::span<const KernelFormat> formats;            // the formats of the emitted code
  // The dialect: the constructs that the kernel language has on a target of this kind.
  Dialect (*dialect)(const ir::Target& target);
  // From stage Kernels to stage Legalized, for targets of this kind. Fails with UnsupportedType.
  const lower::Pass& legalize;
  // Makes code of all kernels of a legalized program: each kernel is an entry of one code.
  // `interruption` is called between kernels; an exception that it throws ends the work.
  std::vector<CompiledCode> (*emit)(const ir::Program& program, const ir::Target& target,
                                    FunctionRef<void()> interruption);
  // Whether users must name the kind: no device's target is of this kind.
  bool is_named_only = false;

  bool serves(ir::DeviceClass device_class) const;
  // Whether a driver that prepares codes of these formats can run this backend's kernels.
  bool is_prepared(std::span<const KernelFormat> formats_of_driver) const;
};

std::span<const Backend> backends();
const Backend& backend_of(ir::TargetKind kind);
// Finds the backend of a kind by its name, such as "metal"; null if there is none.
const Backend* find_backend(std::string_view kind);
// The first backend that serves the device class and emits one of the driver's formats, unless
// users must name it. If no backend does, the driver interprets kernels: then returns the first
// backend that serves the class.
const Backend& backend_for(ir::DeviceClass device_class,
                           std::span<const KernelFormat> formats_of_driver);

// Every pass for targets of this kind, in the order they run: the pipeline, then legalize.
std::vector<lower::Pass> all_passes(ir::TargetKind kind);

}  // namespace texloom::codegen
