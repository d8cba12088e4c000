#include "compile/native/static_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "codegen/llvm/emit.h"
#include "support/check.h"
#include "support/identifiers.h"
#include "support/processor/native_code.h"

namespace texloom::compile {

namespace {

std::string identifier_of(const std::string& name) {
  std::string made = name.empty() || is_digit(name.front()) ? "_" : "";
  for (const char c : name) made += is_identifier_character(c) ? c : '_';
  return made;
}

// The name by which the package finds the library: a package runs with its own object alone.
std::string library_name(const std::string& name, const runtime::LaunchPlan& plan) {
  std::string all;
  for (const runtime::KernelSpec& kernel : plan.kernels) all += kernel.entry.name + "\n";
  return fmt::format("{}:{:012x}", name, codegen::native::digest({all}));
}

std::string header_of(const std::string& name, const std::string& library,
                      const runtime::PackageVariant& variant) {
  std::set<std::string> kernels;
  for (const runtime::KernelSpec& kernel : variant.plan.kernels) kernels.insert(kernel.entry.name);
  std::string declarations, rows;
  for (const std::string& kernel : kernels) {
    declarations += fmt::format("texloom_native_kernel {};\n", kernel);
    rows += fmt::format("  {{\"{0}\", {0}}},\n", kernel);
  }
  std::string upper = name;
  std::ranges::transform(upper, upper.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return fmt::format(R"(/* The kernels of an object file that Texloom made for "{target}".
 * Link the object, and give &texloom_{name} to texloom_device_open_linked() or, in C++, to
 * texloom::hal::host::DriverOptions::linked: the package that was written with it then runs. */
#ifndef TEXLOOM_KERNELS_{upper}_H_
#define TEXLOOM_KERNELS_{upper}_H_

#include <texloom/runtime/drivers/host/linked_kernels.h>

#ifdef __cplusplus
extern "C" {{
#endif

{declarations}
#ifdef __cplusplus
}}
#endif

static const texloom_linked_kernel texloom_{name}_functions[] = {{
{rows}}};
static const texloom_linked_kernels texloom_{name} = {{"{library}", texloom_{name}_functions, {count}}};

#endif
)",
                     fmt::arg("target", variant.target), fmt::arg("name", name),
                     fmt::arg("upper", upper), fmt::arg("declarations", declarations),
                     fmt::arg("rows", rows), fmt::arg("library", library),
                     fmt::arg("count", kernels.size()));
}

}  // namespace

StaticKernels static_kernels(runtime::Package package, std::span<const std::string> objects,
                             const std::string& name, const SourceLocation& where) {
  TL_CHECK(package.variants.size() == 1);
  runtime::PackageVariant& variant = package.variants.front();
  if (objects.empty() || variant.plan.modules.size() != 1) {
    fail(where, Code::BadOption,
         "compile for native code: --target \"llvm -mcpu=haswell\", with kernels alone",
         "kernels for '{}' do not become an object file", variant.target);
  }
  const std::string identifier = identifier_of(name);
  const std::string library = library_name(identifier, variant.plan);
  StaticKernels made;
  made.header = header_of(identifier, library, variant);
  const std::vector<std::string_view> given(objects.begin(), objects.end());
  made.object = codegen::native::link(given, codegen::native::Linked::Relocatable);
  variant.plan.modules.front().codes = {{KernelFormat::HostFunctions, library}};
  made.package = std::move(package);
  return made;
}

std::vector<std::string> objects_of(const CompiledModule& module) {
  std::vector<std::string> objects;
  for (size_t i = 0; i < module.kernels.size(); ++i) {
    const codegen::CompiledCode& code = *module.kernels[i].code;
    if (code.format != KernelFormat::NativeObject || code.entries.front().kernel != i) continue;
    const auto native = read_native_code(code.bytes);
    if (native.ok() && native->is_relocatable) objects.push_back(code.bytes);
  }
  return objects;
}

}  // namespace texloom::compile
