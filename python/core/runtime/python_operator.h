// Python functions as custom operators of the host.
#pragma once

#include <memory>

#include "core/handles.h"
#include "runtime/custom/operator.h"
#include "runtime/custom/shapes_like.h"

namespace texloom::python {

// The operator may run on any thread; it takes the GIL for its calls. If `shapes` is None, `like`
// determines the types of outputs from those of inputs.
std::shared_ptr<const runtime::CustomOperator> python_operator(runtime::OperatorInfo info,
                                                               py::object function,
                                                               py::object shapes,
                                                               runtime::LikeInputs like);

}  // namespace texloom::python
