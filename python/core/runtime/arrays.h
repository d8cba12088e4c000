// Arrays as Python objects.
#pragma once

#include "core/runtime/open_devices.h"
#include "ir/layout/layout.h"
#include "ir/type.h"
#include "runtime/hal/binding.h"

namespace texloom::python {

// A tensor on a device. The binding owns its memory.
struct PyArray {
  PyDevice device;
  ir::Type type;
  ir::Layout layout;
  ir::StorageScope scope;
  hal::Binding binding;

  // The size of the whole buffer, or of the array's rectangle in an image, including padding.
  uint64_t bytes() const;
};

}  // namespace texloom::python
