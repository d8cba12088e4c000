// Adds metallibs to the Metal kernels of a package. The front end, which runs Apple's compiler,
// gives them.

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "compile/package.h"
#include "core/compile/packages.h"
#include "core/handles.h"
#include "runtime/package/package_file.h"
#include "runtime/package/package_writer.h"
#include "support/diagnostic.h"

namespace texloom::python {

namespace {

using hal::KernelFormat;

// The source in MSL, its options, and whether its arithmetic may be relaxed.
using MetalSource = std::tuple<std::string, std::vector<std::string>, bool>;

const hal::KernelCode* msl_of(const runtime::ModuleSpec& module) {
  const auto found = std::ranges::find(module.codes, KernelFormat::Msl, &hal::KernelCode::format);
  return found == module.codes.end() ? nullptr : &*found;
}

MetalSource source_of(const runtime::ModuleSpec& module, const hal::KernelCode& code) {
  return {code.code, code.build_options, allows(module.math, hal::MathMode::Fast)};
}

// Calls `act` for each module with MSL.
template <typename Act>
void for_metal(std::vector<runtime::Package>& packages, Act act) {
  for (runtime::Package& package : packages) {
    for (runtime::PackageVariant& variant : package.variants) {
      for (runtime::ModuleSpec& module : variant.plan.modules) {
        if (const hal::KernelCode* code = msl_of(module)) act(module, *code);
      }
    }
  }
}

// The packages of a file, with the bytes of their constants, which are the file's.
std::vector<runtime::Package> whole_packages(const runtime::PackageFile& file) {
  std::vector<runtime::Package> packages(file.packages().begin(), file.packages().end());
  for (std::size_t p = 0; p < packages.size(); ++p) {
    for (std::size_t v = 0; v < packages[p].variants.size(); ++v) {
      runtime::PackageVariant& variant = packages[p].variants[v];
      variant.constants.resize(variant.plan.constants.size());
      for (std::size_t c = 0; c < variant.constants.size(); ++c) {
        const auto bytes = file.constant(v, c, p);
        if (!bytes.ok()) compile::refuse_module_file(bytes.status().message(), user_location());
        variant.constants[c] = {*bytes};
      }
    }
  }
  return packages;
}

// Gives all different sources to `compile`, which returns a metallib for each, and writes the file
// again. `path` is in the file system's encoding. Returns how many there are.
std::size_t add_metallibs(const py::bytes& path, const py::function& compile) {
  const std::string name(path);
  const auto file = runtime::PackageFile::open(name);
  if (!file.ok()) compile::refuse_module_file(file.status().message(), user_location());
  std::vector<runtime::Package> packages = whole_packages(**file);
  std::map<MetalSource, std::size_t> places;
  std::vector<MetalSource> sources;
  for_metal(packages, [&](const runtime::ModuleSpec& module, const hal::KernelCode& code) {
    if (places.emplace(source_of(module, code), sources.size()).second)
      sources.push_back(source_of(module, code));
  });
  if (sources.empty())
    fail(user_location(), Code::BadModuleFile, "compile it for Metal: --target metal",
         "{} has no kernel in Metal's language, of which there could be a metallib", name);
  const auto metallibs = compile(sources).cast<std::vector<std::string>>();
  for_metal(packages, [&](runtime::ModuleSpec& module, const hal::KernelCode& code) {
    const std::size_t place = places.at(source_of(module, code));
    hal::KernelCode made{KernelFormat::Metallib, metallibs.at(place), code.build_options};
    std::erase_if(module.codes, [](const hal::KernelCode& each) {
      return each.format == KernelFormat::Metallib;
    });
    module.codes.push_back(std::move(made));
  });
  throw_if_not_written(runtime::write_packages(packages, name));
  return sources.size();
}

}  // namespace

void bind_metallibs(py::module_& m) { m.def("add_metallibs", add_metallibs); }

}  // namespace texloom::python
