// Arrays as Python objects.
#pragma once

#include <pybind11/numpy.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/handles.h"
#include "core/runtime/open_devices.h"
#include "ir/layout/layout.h"
#include "ir/type.h"
#include "runtime/hal/binding.h"

namespace texloom::python {

// A tensor on a device. The binding owns its memory.
struct PyArray {
  PyDevice device;
  ir::Type type;
  ir::Shape shape;    // as the caller gave it
  ir::Layout layout;  // of the memory: an extent of 0 counts as 1, so that there always is memory
  ir::StorageScope scope;
  hal::Binding binding;

  // The size of the whole buffer, or of the array's rectangle in an image, including padding.
  uint64_t bytes() const;
};

// Whether the value is a NumPy array.
bool is_numpy_array(const py::handle& value);

// Whether a library such as ml_dtypes has added bfloat16 to NumPy.
bool numpy_has_bfloat16();

// Copies a NumPy array of the array's shape and dtype, in any order of bytes.
void copy_from_numpy(const PyArray& array, const py::array& source);
// A NumPy copy, after waiting for all work on the device. An array of bfloat16 requires
// numpy_has_bfloat16().
py::array copy_to_numpy(const PyArray& array);

// The shape with 1 instead of 0: that of the memory of an array.
ir::Shape shape_in_memory(ir::Shape shape);

// A new array of this shape, with undefined values; `layout` is that of shape_in_memory(shape). A
// texture array gets an image of its own and begins at the image's corner. Its scope is "texture",
// the name for textures with a given layout.
PyArray make_array(const PyDevice& device, ir::Type type, const ir::Shape& shape,
                   const ir::Layout& layout);

std::string shape_text(const std::vector<int64_t>& shape);  // as Python's tuples: "(8, 4)", "(8,)"

}  // namespace texloom::python
