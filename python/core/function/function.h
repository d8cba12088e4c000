// Compiled functions as Python objects.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "compile/module.h"
#include "core/function/call_shapes.h"
#include "core/function/call_signature.h"
#include "runtime/executor/device_program.h"

namespace texloom::python {

// A compiled module, with a program for each device. The first call with arrays of a device creates
// the device's program.
struct PyFunction {
  explicit PyFunction(compile::CompiledModule m) : module(std::move(m)) {}

  const compile::CompiledModule module;
  const CallSignature signature{module};
  const CallShapes shapes{module};
  std::mutex mutex;
  std::map<const hal::Device*, std::shared_ptr<runtime::DeviceProgram>> programs;
};

}  // namespace texloom::python
