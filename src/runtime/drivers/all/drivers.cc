#include "runtime/drivers/all/drivers.h"

#include <array>
#include <optional>
#include <utility>

#include "runtime/drivers/host/driver.h"
#include "runtime/drivers/host/native_objects.h"
#include "runtime/drivers/metal/api/capture.h"
#include "runtime/drivers/metal/driver.h"
#include "runtime/drivers/null/driver.h"
#include "runtime/drivers/opencl/driver.h"

namespace texloom::hal {
namespace {

using Made = Result<std::shared_ptr<Driver>>;

struct Row {
  const char* name;
  Made (*create)(const DriversOptions& options);
  std::optional<Capture> capture = {};
};

constexpr std::array kDrivers = {
    Row{"opencl",
        [](const DriversOptions& options) {
          return opencl::create_driver({.binary_cache = options.binary_cache()});
        }},
#if TEXLOOM_HAS_METAL
    Row{"metal",
        [](const DriversOptions& options) {
          return metal::create_driver({.binary_cache = options.binary_cache()});
        },
        Capture{metal::check_capture, metal::start_capture, metal::stop_capture}},
#endif
    Row{"host",
        [](const DriversOptions& options) {
          auto loaders = options.loaders;
          loaders.insert(loaders.begin(),
                         host::make_native_loader({.keeps_files = options.keeps_native_code}));
          return Made(host::create_driver({.loaders = std::move(loaders)}));
        }},
    Row{"null", [](const DriversOptions&) { return Made(null::create_driver()); }},
};

}  // namespace

Status add_drivers(DriverRegistry& registry, const DriversOptions& options) {
  for (const Row& row : kDrivers)
    TL_RETURN_IF_ERROR(registry.add(row.name, [row, options] { return row.create(options); }));
  return {};
}

const Capture* capture_of(std::string_view driver) {
  for (const Row& row : kDrivers) {
    if (row.name == driver && row.capture) return &*row.capture;
  }
  return nullptr;
}

}  // namespace texloom::hal
