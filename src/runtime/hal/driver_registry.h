// Looks up a program's drivers by name.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/hal/driver.h"
#include "support/status.h"

namespace texloom::hal {

// A program adds the drivers that it uses, so that it links only those, or all of them
// (drivers/all/drivers.h):
//
//   DriverRegistry drivers;
//   drivers.add("opencl", [] { return opencl::create_driver(); });
//   auto device = drivers.open("opencl:0");
//
// Thread safe.
class DriverRegistry {
 public:
  using Factory = std::function<Result<std::shared_ptr<Driver>>()>;

  DriverRegistry() = default;
  DriverRegistry(const DriverRegistry&) = delete;
  DriverRegistry& operator=(const DriverRegistry&) = delete;

  // InvalidArgument: a name that is empty, contains a colon, or was already added; an empty
  // factory.
  Status add(std::string name, Factory factory);

  // The names, in the order in which they were added.
  std::vector<std::string> names() const;

  // Returns the driver, which is created at first use and then kept. A failure is not kept: the
  // next call tries again. NotFound, listing the known names, for a name that was not added. The
  // factory must not call the registry.
  Result<std::shared_ptr<Driver>> find(std::string_view name);

  // Opens the device with this path: "<driver>" (the first device), "<driver>:<ordinal>", or
  // "<driver>:<id>"; as a URL, with "://" for the colon. InvalidArgument for any other form;
  // otherwise the errors of find() and Driver::open().
  Result<std::shared_ptr<Device>> open(std::string_view path, const DeviceOptions& options = {});

 private:
  struct Entry {
    std::string name;
    Factory factory;
    std::shared_ptr<Driver> driver;  // null until its first use
  };

  mutable std::mutex mutex_;
  std::vector<Entry> entries_;  // under mutex_
};

}  // namespace texloom::hal
