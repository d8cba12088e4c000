#include "core/runtime/default_device.h"

#include "codegen/backend.h"
#include "core/runtime/open_devices.h"
#include "runtime/executor/load_graph.h"

namespace texloom::python {

namespace {

// The driver of the devices for which a variant was compiled.
std::string driver_of(const runtime::PackageVariant& variant) {
  // The first word of a target is its kind.
  const std::string& target = variant.target;
  const codegen::Backend* backend = codegen::find_backend(target.substr(0, target.find(' ')));
  return backend == nullptr ? PyDevice().driver : std::string(backend->driver);
}

}  // namespace

DefaultDevice default_device_of(const runtime::Package& package) {
  const DefaultDevice first{driver_of(package.variants.front()) + ":0"};
  if (package.variants.size() == 1) return first;
  for (const runtime::PackageVariant& variant : package.variants) {
    const std::string driver = driver_of(variant);
    const auto devices = device_infos(driver);
    if (!devices.ok()) continue;
    for (std::size_t i = 0; i < devices->size(); ++i) {
      const auto chosen = runtime::choose_variant(package, (*devices)[i]);
      if (chosen.ok()) return {driver + ":" + std::to_string(i), *chosen};
    }
  }
  return first;
}

}  // namespace texloom::python
