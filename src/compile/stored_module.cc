#include "compile/stored_module.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "compile/array_accesses.h"
#include "compile/requirements.h"
#include "ir/text/parse.h"
#include "ir/text/parse_layout.h"
#include "lower/build/widen_symbols.h"
#include "support/diagnostic.h"

namespace texloom::compile {

using namespace ir;  // the whole file works on IR types

namespace {

std::vector<StoredArray> stored_arrays(const CompiledModule& module) {
  std::vector<StoredArray> arrays;
  for (size_t number = 0; number < module.array_layouts.size(); ++number) {
    const Layout& layout = module.array_layouts[number];
    std::vector<std::string> names;
    for (size_t i = 0; i < layout.shape.size(); ++i) names.push_back(fmt::format("d{}", i));
    arrays.push_back({layout.shape, to_string(pattern_of(layout, std::move(names))),
                      module.array_accesses[number] == Access::Write});
  }
  return arrays;
}

std::vector<StoredValue> stored_values(const CompiledModule& module) {
  std::vector<StoredValue> values;
  const Exprs& symbols = module.program.symbols;
  for (const lower::SymbolArgument& argument : module.symbol_arguments) {
    const auto symbol = std::find_if(symbols.begin(), symbols.end(),
                                     [&](const Expr& s) { return s.same_as(argument.symbol); });
    values.push_back({argument.position, static_cast<size_t>(symbol - symbols.begin()),
                      to_string(argument.type)});
  }
  return values;
}

// The array must be as large as the parameter, whose shape transform_layout may have changed.
Layout loaded_layout(const StoredArray& array, const BufferNode& param,
                     const SourceLocation& where) {
  std::optional<LayoutPattern> pattern;
  try {
    pattern = parse_layout(array.layout, array.shape, {});
  } catch (const UserError& error) {
    refuse_module_file(fmt::format("the layout of the argument '{}': {}", param.name,
                                   error.diagnostics().front().message),
                       where);
  }
  Layout layout = layout_for(*pattern, array.shape);
  if (layout.object != param.layout.object || layout.row_count() != param.layout.row_count() ||
      layout.col_count() != param.layout.col_count()) {
    refuse_module_file(
        fmt::format("the argument '{}' has no layout '{}'", param.name, array.layout), where);
  }
  return layout;
}

std::vector<lower::SymbolArgument> loaded_values(const std::vector<StoredValue>& values,
                                                 const Program& program,
                                                 const SourceLocation& where) {
  std::vector<lower::SymbolArgument> arguments;
  size_t least = 0;
  for (const auto& [position, number, dtype] : values) {
    const std::optional<Type> type = parse_type(dtype);
    const bool known = number < program.symbols.size() && position >= least &&
                       position < program.params.size() + values.size();
    if (!known || !type || lower::passed_as(*type) != program.symbols[number]->type) {
      refuse_module_file(fmt::format("no argument {} is the value of symbol {}", position, number),
                         where);
    }
    arguments.push_back({program.symbols[number], position, *type});
    least = position + 1;
  }
  return arguments;
}

}  // namespace

StoredModule store(const CompiledModule& module) {
  StoredModule stored;
  stored.program = to_string(module.program);
  stored.target = to_string(module.target);
  for (const CompiledKernel& kernel : module.kernels) {
    stored.kernels.push_back({kernel.name, kernel.source});
  }
  stored.arrays = stored_arrays(module);
  stored.values = stored_values(module);
  if (module.operations) stored.operations = total(*module.operations, {});
  return stored;
}

CompiledModule load(const StoredModule& stored, const std::string& file,
                    const SourceLocation& where) {
  CompiledModule module;
  module.target = parse_target(stored.target, where);
  Program program = parse_program(stored.program, file);
  if (program.stage != ProgramStage::Legalized || program.kernels.size() != stored.kernels.size() ||
      program.params.size() != stored.arrays.size()) {
    refuse_module_file(
        fmt::format("the kernels or the arguments of {} are not those of its program", file),
        where);
  }
  ComputedArrays computed;
  for (size_t i = 0; i < stored.arrays.size(); ++i) {
    module.array_layouts.push_back(loaded_layout(stored.arrays[i], *program.params[i], where));
    computed.emplace_back(stored.arrays[i].is_output);
  }
  module.array_accesses = array_accesses(program, computed);
  for (size_t i = 0; i < stored.kernels.size(); ++i) {
    const Kernel& kernel = program.kernels[i];
    const auto& [name, source] = stored.kernels[i];
    module.kernels.push_back({name, kernel.grid, kernel.block, kernel.params, source});
  }
  if (stored.operations) module.operations = OperationCount{{*stored.operations}};
  module.symbol_arguments = loaded_values(stored.values, program, where);
  module.symbols = plan_symbols(program);
  module.requirements = requirements_of(program, module.target);
  module.program = std::move(program);
  if (const Expr scalar = find_scalar_without_value(module.symbols, module.symbol_arguments)) {
    refuse_module_file(fmt::format("no argument says what '{}' is", as<Var>(scalar)->name), where);
  }
  return module;
}

void refuse_module_file(std::string_view problem, const SourceLocation& where) {
  fail(where, Code::BadModuleFile, "write it again with export_library, by this version of Texloom",
       "{}", problem);
}

}  // namespace texloom::compile
