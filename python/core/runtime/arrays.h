// Arrays as Python holds them.
#pragma once

#include "core/runtime/open_devices.h"
#include "ir/layout/layout.h"
#include "ir/type.h"
#include "runtime/hal/binding.h"

namespace texloom::python {

// A tensor on a device. The binding holds its memory.
struct PyArray {
  PyDevice device;
  ir::Type type;
  ir::Layout layout;
  ir::StorageScope scope;
  hal::Binding binding;

  // Of the whole buffer, or of the array's rectangle in an image, padding included.
  uint64_t bytes() const;
};

}  // namespace texloom::python
