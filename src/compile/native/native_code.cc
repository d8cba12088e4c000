#include "compile/native/native_code.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "codegen/llvm/emit.h"
#include "support/check.h"
#include "support/processor/native_code.h"

namespace texloom::compile {

namespace {

// The native code of a module; null if the module has none.
const hal::KernelCode* native_code_of(const runtime::ModuleSpec& module) {
  for (const hal::KernelCode& code : module.codes) {
    if (code.format == KernelFormat::NativeObject) return &code;
  }
  return nullptr;
}

NativeCode read(const hal::KernelCode& code) {
  auto native = read_native_code(code.code);
  TL_CHECK(native.ok(), native.status().message());
  return *std::move(native);
}

constexpr std::uint32_t kLinked = ~0U;

bool is_object_file(const runtime::ModuleSpec& module) {
  const hal::KernelCode* code = native_code_of(module);
  return code != nullptr && read(*code).is_relocatable;
}

}  // namespace

std::vector<std::string> link_native_code(runtime::LaunchPlan& plan) {
  std::vector<std::string> objects;
  std::vector<runtime::ModuleSpec> modules;  // the others, then the linked one
  std::vector<std::uint32_t> numbers;        // the new number of each module
  for (const runtime::ModuleSpec& module : plan.modules) {
    if (is_object_file(module)) {
      objects.push_back(native_code_of(module)->code);
      numbers.push_back(kLinked);
    } else {
      numbers.push_back(static_cast<std::uint32_t>(modules.size()));
      modules.push_back(module);
    }
  }
  if (objects.empty()) return {};
  const std::vector<std::string_view> given(objects.begin(), objects.end());
  const auto linked = static_cast<std::uint32_t>(modules.size());
  modules.push_back({.codes = {{KernelFormat::NativeObject,
                                codegen::native::link(given, codegen::native::Linked::Shared)}}});
  for (runtime::KernelSpec& kernel : plan.kernels) {
    const std::uint32_t number = numbers[kernel.module];
    kernel.module = number == kLinked ? linked : number;
  }
  plan.modules = std::move(modules);
  return objects;
}

runtime::VariantNeeds processor_needs(const runtime::LaunchPlan& plan) {
  runtime::VariantNeeds needs;
  for (const runtime::ModuleSpec& module : plan.modules) {
    const hal::KernelCode* code = native_code_of(module);
    if (code == nullptr) continue;
    const NativeCode native = read(*code);
    needs.require(native.architecture);
    for (const std::string& feature : native.features) needs.require(feature);
  }
  return needs;
}

}  // namespace texloom::compile
