// Runs a program as it is after each pass, and bounds how far the results may differ, for
// texloom_fuzz.

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <cstring>

#include "core/compile/program.h"
#include "ir/program.h"
#include "validation/rounding_bound.h"
#include "validation/versions.h"

namespace texloom::python {

namespace {

using validation::Bytes;

using Symbols = std::map<std::string, ir::SymbolValue>;

validation::Invocation call_of(const py::list& arrays, Symbols symbols) {
  validation::Invocation call{{}, std::move(symbols)};
  for (const py::handle& each : arrays) {
    if (each.is_none()) {
      call.inputs.emplace_back();
      continue;
    }
    const auto text = each.cast<std::string_view>();  // bytes
    Bytes bytes(text.size());
    std::memcpy(bytes.data(), text.data(), text.size());
    call.inputs.emplace_back(std::move(bytes));
  }
  return call;
}

// For each tensor argument: its name, dtype and shape, whether it is an input, whether it may begin
// anywhere in its image, the shape of its array, and the positions of its elements in that array.
py::list arguments_at_call(const PyProgram& program, Symbols symbols) {
  py::list rows;
  const validation::Invocation call{{}, std::move(symbols)};
  for (const validation::CallArgument& at : validation::arguments_at_call(*program.state, call)) {
    rows.append(py::make_tuple(at.tensor->name, to_string(at.tensor->type), at.shape, at.is_input,
                               at.has_origin, at.array_shape, at.places));
  }
  return rows;
}

// For each argument that is a number: its position among all arguments, and its name.
py::list symbol_arguments(const PyProgram& program) {
  py::list rows;
  for (const lower::SymbolArgument& argument : program.state->symbol_arguments) {
    rows.append(py::make_tuple(argument.position, ir::as<ir::Var>(argument.symbol)->name));
  }
  return rows;
}

void run_versions(const PyProgram& program, Symbols symbols, const py::list& inputs,
                  int64_t max_steps, const py::function& see) {
  const validation::Invocation call = call_of(inputs, std::move(symbols));
  validation::run_versions(
      *program.state, call, max_steps, [&](const validation::Version& version) {
        py::list reports, arrays;
        for (const ir::Report& report : version.reports) {
          reports.append(py::make_tuple(to_string(report.kind), report_text(report)));
        }
        if (!version.wrong_traffic.empty()) {
          reports.append(py::make_tuple("wrong traffic", version.wrong_traffic));
        }
        for (const Bytes& bytes : version.arrays) {
          arrays.append(py::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
        }
        see(version.pass, reports, arrays);
      });
}

}  // namespace

void bind_validation(py::module_& m) {
  m.def("arguments_at_call", arguments_at_call);
  m.def("symbol_arguments", symbol_arguments);
  m.def("run_versions", run_versions);
  m.def("rounding_bound",
        [](const PyProgram& program, Symbols symbols, const py::list& inputs, int64_t max_steps) {
          const validation::Invocation call = call_of(inputs, std::move(symbols));
          return validation::rounding_bound(*program.state, call, max_steps);
        });
}

}  // namespace texloom::python
