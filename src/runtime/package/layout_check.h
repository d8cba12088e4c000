// Checks layouts that come from files.
#pragma once

#include "runtime/plan/plan.h"
#include "support/status.h"

namespace texloom::runtime {

// Ok if the tensor's layout gives each element of the array one place of its own, and if the places
// are those of the storage: the texels of a texture, the bytes of a buffer. InvalidArgument says
// what is wrong.
Status check_layout(const TensorSpec& tensor);

// Like check_layout(), for a tensor whose shape has symbols: its storage is a texture, and its
// layout gives each element of an array of any such shape a place of its own.
Status check_open_layout(const TensorSpec& tensor);

}  // namespace texloom::runtime
