#include "codegen/backend.h"

#include <algorithm>
#include <array>

#include "codegen/llvm/emit.h"
#include "codegen/llvm/legalize.h"
#include "codegen/llvm/llvm_dialect.h"
#include "codegen/msl/emit.h"
#include "codegen/msl/legalize.h"
#include "codegen/msl/msl_dialect.h"
#include "codegen/opencl/emit.h"
#include "codegen/opencl/legalize.h"
#include "codegen/opencl/opencl_dialect.h"
#include "lower/pipeline.h"
#include "support/check.h"

namespace texloom::codegen {

bool Backend::serves(ir::DeviceClass device_class) const {
  return std::ranges::find(device_classes, device_class) != device_classes.end();
}

bool Backend::is_prepared(std::span<const KernelFormat> formats_of_driver) const {
  return std::ranges::find_first_of(formats, formats_of_driver) != formats.end();
}

std::span<const Backend> backends() {
  using enum ir::DeviceClass;
  static constexpr std::array kAll = {Cpu, Gpu};
  static constexpr std::array kGpus = {Gpu};
  static constexpr std::array kCpus = {Cpu};
  static constexpr std::array kOpenCl = {KernelFormat::OpenClC};
  static constexpr std::array kMetal = {KernelFormat::Msl};
  static constexpr std::array kNative = {KernelFormat::NativeObject};
  static const Backend rows[] = {
      {ir::TargetKind::OpenCL, "opencl", kAll, kOpenCl, opencl::opencl_dialect,
       opencl::legalize_pass(), opencl::emit},
      {ir::TargetKind::Metal, "metal", kGpus, kMetal, msl::msl_dialect, msl::legalize_pass(),
       msl::emit},
      {ir::TargetKind::Llvm, "host", kCpus, kNative, native::llvm_dialect, native::legalize_pass(),
       native::emit, true},
  };
  return rows;
}

const Backend& backend_of(ir::TargetKind kind) {
  for (const Backend& row : backends()) {
    if (row.kind == kind) return row;
  }
  TL_UNREACHABLE("a kind of target without a backend");
}

const Backend* find_backend(std::string_view kind) {
  for (const Backend& row : backends()) {
    if (to_string(row.kind) == kind) return &row;
  }
  return nullptr;
}

const Backend& backend_for(ir::DeviceClass device_class,
                           std::span<const KernelFormat> formats_of_driver) {
  const Backend* any = nullptr;
  for (const Backend& row : backends()) {
    if (!row.serves(device_class) || row.is_named_only) continue;
    if (row.is_prepared(formats_of_driver)) return row;
    if (any == nullptr) any = &row;
  }
  TL_CHECK(any != nullptr, std::string(to_string(device_class)));
  return *any;
}

std::vector<lower::Pass> all_passes(ir::TargetKind kind) {
  std::vector<lower::Pass> passes(lower::pipeline().begin(), lower::pipeline().end());
  passes.push_back(backend_of(kind).legalize);
  return passes;
}

}  // namespace texloom::codegen
