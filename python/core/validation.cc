// Running the versions of a program, and how far their results may differ: for texloom.fuzz.

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <cstring>

#include "codegen/opencl/legalize.h"
#include "compiled.h"
#include "ir/program.h"
#include "validation/rounding_bound.h"
#include "validation/versions.h"

namespace texloom::python {

namespace {

using validation::Bytes;

std::vector<std::optional<Bytes>> inputs_of(const py::list& arrays) {
  std::vector<std::optional<Bytes>> inputs;
  for (const py::handle& each : arrays) {
    if (each.is_none()) {
      inputs.emplace_back();
      continue;
    }
    const auto text = each.cast<std::string_view>();  // bytes
    Bytes bytes(text.size());
    std::memcpy(bytes.data(), text.data(), text.size());
    inputs.emplace_back(std::move(bytes));
  }
  return inputs;
}

// For each argument its name, dtype and shape, whether it is an input, and whether it may begin
// anywhere in its image.
py::list arguments(const PyProgram& program) {
  py::list rows;
  for (const lower::Argument& argument : program.state->arguments) {
    const schedule::Op op = schedule::operation_of(argument.tensor);
    rows.append(py::make_tuple(
        argument.tensor->name, to_string(argument.tensor->type),
        schedule::constant_shape(argument.tensor->shape, op->name, op->location),
        op->is_placeholder(), argument.declaration && argument.declaration->has_origin));
  }
  return rows;
}

void run_versions(const PyProgram& program, const py::list& inputs, int64_t max_steps,
                  const py::function& see) {
  validation::run_versions(
      *program.state, inputs_of(inputs), max_steps, [&](const validation::Version& version) {
        py::list reports, arrays;
        for (const ir::Report& report : version.reports) {
          reports.append(py::make_tuple(to_string(report.kind), report_text(report)));
        }
        for (const Bytes& bytes : version.arrays) {
          arrays.append(py::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
        }
        see(version.pass, reports, arrays);
      });
}

}  // namespace

void bind_validation(py::module_& m) {
  m.def("arguments", arguments);
  m.def("run_versions", run_versions);
  m.def("rounding_bound", [](const PyProgram& program, const py::list& inputs, int64_t max_steps) {
    return validation::rounding_bound(*program.state, inputs_of(inputs), max_steps);
  });
}

}  // namespace texloom::python
