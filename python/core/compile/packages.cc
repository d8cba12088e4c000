// Writes compiled functions to packages, and loads them.

#include "core/compile/packages.h"

#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compile/package.h"
#include "core/function/function.h"
#include "core/handles.h"
#include "core/runtime/default_device.h"
#include "core/runtime/open_devices.h"
#include "runtime/executor/load_graph.h"
#include "runtime/package/package_file.h"
#include "runtime/package/package_writer.h"
#include "support/diagnostic.h"

namespace texloom::python {

namespace {

[[noreturn]] void refuse_output_file(const std::string& problem) {
  fail(user_location(), Code::FileError, "choose another file, or make room for it", "{}", problem);
}

// The variant for `device`, or for the default device of the package if none is given.
size_t variant_for(const runtime::Package& package, const std::optional<PyDevice>& device) {
  if (!device) return default_device_of(package).variant;
  const auto chosen = runtime::choose_variant(package, open_device(*device)->info());
  throw_if_error(chosen.status());
  return *chosen;
}

// `path` is in the file system's encoding.
void write_functions(const std::vector<std::shared_ptr<PyFunction>>& functions,
                     const py::bytes& path) {
  std::vector<runtime::Package> packages;
  packages.reserve(functions.size());
  for (const auto& function : functions)
    packages.push_back(compile::package_of(function->module, user_location()));
  throw_if_not_written(runtime::write_packages(packages, std::string(path)));
}

std::pair<py::bytes, std::string> save_object(const PyFunction& function, const std::string& name,
                                              const std::optional<py::bytes>& path) {
  return write_static(
      compile::static_kernels(compile::package_of(function.module, user_location()),
                              compile::objects_of(function.module), name, user_location()),
      path);
}

std::vector<std::shared_ptr<PyFunction>> load_functions(const py::bytes& path,
                                                        const std::optional<PyDevice>& device,
                                                        bool native) {
  const std::string file(path);
  const auto opened = open_package(file, native ? NativeKernels::Take : NativeKernels::Refuse);
  std::vector<std::shared_ptr<PyFunction>> functions;
  for (const runtime::Package& package : opened->packages())
    functions.push_back(std::make_shared<PyFunction>(
        compile::module_of(package, variant_for(package, device), file, user_location())));
  return functions;
}

}  // namespace

std::shared_ptr<const runtime::PackageFile> open_package(const std::string& path,
                                                         NativeKernels native) {
  auto opened = runtime::PackageFile::open(
      path, {.kernels = {.takes_native = native == NativeKernels::Take}});
  if (opened.ok()) return *std::move(opened);
  const auto [problem, help] = parted_help(opened.status().message());
  if (!help.empty()) fail(user_location(), Code::BadPackage, help, "{}", problem);
  if (opened.status().code() == StatusCode::Unavailable)
    fail(user_location(), Code::FileError, "name another file", "{}", problem);
  compile::refuse_module_file(problem, user_location());
}

std::pair<py::bytes, std::string> write_static(const compile::StaticKernels& kernels,
                                               const std::optional<py::bytes>& path) {
  if (path) throw_if_not_written(runtime::write_package(kernels.package, std::string(*path)));
  return {py::bytes(kernels.object), kernels.header};
}

void throw_if_not_written(const Status& status) {
  if (status.code() == StatusCode::Unavailable) refuse_output_file(status.message());
  if (status.ok()) return;
  const auto [message, help] = parted_help(status.message());
  if (help.empty()) compile::refuse_module_file(message, user_location());
  fail(user_location(), Code::BadPackage, help, "{}", message);
}

void bind_packages(py::module_& m) {
  m.def("write_functions", write_functions);
  m.def("save_object", save_object);
  m.def("load_functions", load_functions);
  m.def("refuse_output_file", refuse_output_file);
}

}  // namespace texloom::python
