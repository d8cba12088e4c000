// Devices and arrays as Python holds them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ir/layout.h"
#include "ir/type.h"
#include "runtime/hal/binding.h"
#include "runtime/hal/device.h"

namespace texloom::python {

// A number; opened when it is first used.
struct PyDevice {
  size_t ordinal = 0;
};

// Fails with NoDevice when there is no loader, no device or no device of that number. Devices
// stay open for the life of the process.
const std::shared_ptr<hal::Device>& open_device(const PyDevice& device);

// A tensor on a device. The binding holds its memory.
struct PyArray {
  PyDevice device;
  ir::Type type;
  ir::Layout layout;
  ir::StorageScope scope;
  hal::Binding binding;

  // Of the whole object, or of the array's rectangle in an image: padding included.
  uint64_t bytes() const;
};

// Fails with the diagnostic that fits the status, unless it is ok.
void throw_if_error(const Status& status);

}  // namespace texloom::python
