#include "tests/conformance/tested_driver.h"

#include <algorithm>
#include <utility>

namespace texloom::hal::conformance {

namespace {

std::vector<TestedDriver>& registered() {
  static std::vector<TestedDriver> drivers;
  return drivers;
}

std::vector<TestedDevice> find_devices() {
  std::vector<TestedDriver>& drivers = registered();
  std::sort(drivers.begin(), drivers.end(),
            [](const TestedDriver& a, const TestedDriver& b) { return a.name < b.name; });
  std::vector<TestedDevice> devices;
  for (const TestedDriver& tested : drivers) {
    const Result<std::shared_ptr<Driver>> driver = tested.create();
    const std::size_t count = driver.ok() ? (*driver)->devices().size() : 1;
    for (std::size_t i = 0; i < count; ++i) {
      devices.push_back({.tested = &tested,
                         .driver = driver.ok() ? *driver : nullptr,
                         .ordinal = i,
                         .label = i == 0 ? tested.name : tested.name + std::to_string(i + 1),
                         .missing = driver.status()});
    }
  }
  return devices;
}

std::vector<TestedDevice>& devices() {
  static std::vector<TestedDevice> devices = find_devices();
  return devices;
}

}  // namespace

Registration::Registration(TestedDriver driver) { registered().push_back(std::move(driver)); }

std::string TestedDevice::described() const {
  if (driver == nullptr) return missing.to_string();
  const DeviceInfo& info = driver->devices()[ordinal];
  return info.name == info.platform ? info.name : info.name + " (" + info.platform + ")";
}

const Exclusion* TestedDevice::exclusion_of(std::string_view test) const {
  const std::string device = driver == nullptr ? "" : described();
  for (const Exclusion& exclusion : tested->exclusions) {
    const bool whole = test == exclusion.test;
    const bool instance = test.starts_with(exclusion.test + "/");
    if ((whole || instance) && device.find(exclusion.device) != std::string::npos)
      return &exclusion;
  }
  return nullptr;
}

const std::vector<TestedDevice>& tested_devices() { return devices(); }

}  // namespace texloom::hal::conformance
