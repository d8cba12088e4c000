// Compiled functions as plain values, for module files (python/texloom/module_file.py), and back.

#include <pybind11/stl.h>

#include <algorithm>

#include "compiled.h"
#include "ir/layout_pattern.h"
#include "ir/parse.h"
#include "lower/symbols.h"
#include "scalar_arguments.h"
#include "support/diagnostic.h"

namespace texloom::python {

using namespace ir;  // the whole file speaks of IR types

namespace {

// A kernel as the device gets it: its name in the source, and the source.
using StoredKernel = std::pair<std::string, std::string>;
// Of an array that a call takes: its shape and its layout.
using StoredArray = std::pair<Shape, std::string>;
// Of a number that a call takes: its place among the arguments, that of its symbol among those of
// the program, and its type.
using StoredValue = std::tuple<size_t, size_t, std::string>;

std::vector<StoredKernel> stored_kernels(const CompiledFunction& f) {
  std::vector<StoredKernel> kernels;
  for (const auto& kernel : f.module.kernels) kernels.emplace_back(kernel.name, kernel.source);
  return kernels;
}

std::vector<StoredArray> stored_arrays(const CompiledFunction& f) {
  std::vector<StoredArray> arrays;
  for (const Layout& layout : f.array_layouts) {
    std::vector<std::string> names;
    for (size_t i = 0; i < layout.shape.size(); ++i) names.push_back(fmt::format("d{}", i));
    arrays.emplace_back(layout.shape, to_string(pattern_of(layout, std::move(names))));
  }
  return arrays;
}

std::vector<StoredValue> stored_values(const CompiledFunction& f) {
  std::vector<StoredValue> values;
  const Exprs& symbols = f.module.program.symbols;
  for (const lower::SymbolArgument& argument : f.symbol_arguments) {
    const auto symbol = std::find_if(symbols.begin(), symbols.end(),
                                     [&](const Expr& s) { return s.same_as(argument.symbol); });
    values.emplace_back(argument.position, symbol - symbols.begin(), to_string(argument.type));
  }
  return values;
}

[[noreturn]] void refuse(std::string problem) {
  fail(user_location(), Code::BadModuleFile,
       "write it again with export_library, by this version of Texloom", "{}", problem);
}

// Its object is as large as the parameter's, whose shape transform_layout may have changed.
Layout stored_layout(const StoredArray& array, const BufferNode& param) {
  const auto& [shape, text] = array;
  std::optional<LayoutPattern> pattern;
  try {
    pattern = parse_layout(text, shape, {});
  } catch (const UserError& error) {
    refuse(fmt::format("the layout of the argument '{}': {}", param.name,
                       error.diagnostics().front().message));
  }
  Layout layout = layout_for(*pattern, shape);
  if (layout.object != param.layout.object || layout.row_count() != param.layout.row_count() ||
      layout.col_count() != param.layout.col_count()) {
    refuse(fmt::format("the argument '{}' has no layout '{}'", param.name, text));
  }
  return layout;
}

void load_values(const std::vector<StoredValue>& values, const Program& program,
                 CompiledFunction& f) {
  size_t least = 0;
  for (const auto& [position, number, dtype] : values) {
    const std::optional<Type> type = parse_type(dtype);
    const bool known = number < program.symbols.size() && position >= least &&
                       position < program.params.size() + values.size();
    if (!known || !type || lower::passed_as(*type) != program.symbols[number]->type) {
      refuse(fmt::format("no argument {} is the value of symbol {}", position, number));
    }
    f.symbol_arguments.push_back({program.symbols[number], position, *type});
    least = position + 1;
  }
}

// What the file says is checked like any text: by its parser, and by the verifier.
std::shared_ptr<CompiledFunction> load(const std::string& text, const std::string& file,
                                       const std::string& target,
                                       const std::vector<StoredKernel>& kernels,
                                       const std::vector<StoredArray>& arrays,
                                       const std::vector<StoredValue>& values) {
  auto f = std::make_shared<CompiledFunction>();
  f->target = parse_target(target, user_location());
  Program program = parse_program(text, file);
  if (program.stage != ProgramStage::Legalised || program.kernels.size() != kernels.size() ||
      program.params.size() != arrays.size()) {
    refuse(fmt::format("the kernels or the arguments of {} are not those of its program", file));
  }
  for (size_t i = 0; i < arrays.size(); ++i) {
    f->array_layouts.push_back(stored_layout(arrays[i], *program.params[i]));
  }
  for (size_t i = 0; i < kernels.size(); ++i) {
    const Kernel& kernel = program.kernels[i];
    f->module.kernels.push_back(
        {kernels[i].first, kernel.grid, kernel.block, kernel.params, kernels[i].second});
  }
  load_values(values, program, *f);
  f->module.program = std::move(program);
  if (const Expr scalar = divide_symbols(*f)) {
    refuse(fmt::format("no argument says what '{}' is", as<Var>(scalar)->name));
  }
  return f;
}

}  // namespace

void bind_stored_functions(py::module_& m) {
  m.def("store_function", [](const CompiledFunction& f) {
    if (!f.checks.empty()) {
      throw py::value_error(
          "a checked function is not kept in a file, which has no place for the lines that it "
          "reports: build it without checked=True");
    }
    py::dict parts;
    parts["program"] = to_string(f.module.program);
    parts["target"] = to_string(f.target);
    parts["kernels"] = stored_kernels(f);
    parts["arrays"] = stored_arrays(f);
    parts["values"] = stored_values(f);
    return parts;
  });
  m.def("load_function", load, py::arg("program"), py::arg("file"), py::arg("target"),
        py::arg("kernels"), py::arg("arrays"), py::arg("values"));
  m.def("refuse_module_file", refuse);
}

}  // namespace texloom::python
