// The drivers of a program, by name.
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

// A program adds the drivers that it wants, and so links those alone:
//
//   DriverRegistry drivers;
//   drivers.add("opencl", [] { return opencl::create_driver(); });
//   auto device = drivers.open("opencl://0");
//
// Thread safe.
class DriverRegistry {
 public:
  using Factory = std::function<Result<std::shared_ptr<Driver>>()>;

  DriverRegistry() = default;
  DriverRegistry(const DriverRegistry&) = delete;
  DriverRegistry& operator=(const DriverRegistry&) = delete;

  // InvalidArgument: a name that is empty, has a colon, or is there already; a factory that is
  // empty.
  Status add(std::string name, Factory factory);

  // In the order in which they were added.
  std::vector<std::string> names() const;

  // Makes the driver when it is first asked for, and keeps it; a failure is not kept, so that a
  // later call tries again. NotFound, with the names there are, for a name that was not added. The
  // factory must not call the registry.
  Result<std::shared_ptr<Driver>> find(std::string_view name);

  // "<driver>", "<driver>://" (the first device), "<driver>://<ordinal>", "<driver>://<id>".
  // InvalidArgument for another form; else the errors of find and of Driver::open.
  Result<std::shared_ptr<Device>> open(std::string_view path, const DeviceOptions& options = {});

 private:
  struct Entry {
    std::string name;
    Factory factory;
    std::shared_ptr<Driver> driver;  // null until it is asked for
  };

  mutable std::mutex mutex_;
  std::vector<Entry> entries_;  // under mutex_
};

}  // namespace texloom::hal
