#include "compile/package.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "compile/array_accesses.h"
#include "compile/interpreted_kernels.h"
#include "compile/launch_plan.h"
#include "compile/native/native_code.h"
#include "compile/needs.h"
#include "ir/text/parse.h"
#include "ir/text/parse_layout.h"
#include "ir/visit.h"
#include "lower/build/widen_symbols.h"
#include "support/check.h"
#include "support/diagnostic.h"

namespace texloom::compile {

using namespace ir;  // the whole file works on IR types

namespace {

using runtime::TensorRole;

// Tensors of a package need different names; arguments of a program do not.
std::string unused_name(std::string name, std::set<std::string>& used) {
  if (name.empty()) name = "tensor";
  const std::string first = name;
  for (int i = 1; !used.insert(name).second; ++i) name = fmt::format("{}_{}", first, i);
  return name;
}

// The spelling of the memory that a tensor with this layout is in.
std::string scope_of(const Layout& layout) {
  StorageScope scope;
  if (layout.object != MemoryObject::Image2d) return to_string(scope);
  scope.texture = TextureRule::Activation;
  for (const TextureRule rule : {TextureRule::Weight, TextureRule::Nhwc}) {
    const bool is_rule = same_places(layout, texture_layout(layout.shape, rule));
    if (is_rule && !same_places(layout, texture_layout(layout.shape, TextureRule::Activation)))
      scope.texture = rule;
  }
  return to_string(scope);
}

std::string text_of(const Layout& layout) {
  if (layout == linear_layout(layout.shape)) return "";
  return to_string(pattern_of(layout, axis_names(layout.shape.size())));
}

Exprs all_symbols(const PlanSymbols& symbols) {
  Exprs all = symbols.sizes;
  all.insert(all.end(), symbols.scalars.begin(), symbols.scalars.end());
  return all;
}

std::vector<runtime::PackageNumber> numbers_of(const CompiledModule& module) {
  std::vector<runtime::PackageNumber> numbers;
  const Exprs symbols = all_symbols(module.symbols);
  for (const lower::SymbolArgument& argument : module.symbol_arguments) {
    const auto symbol = std::find_if(symbols.begin(), symbols.end(),
                                     [&](const Expr& s) { return s.same_as(argument.symbol); });
    TL_CHECK(symbol != symbols.end());
    numbers.push_back({static_cast<uint32_t>(argument.position),
                       static_cast<uint32_t>(symbol - symbols.begin()),
                       element_type(argument.type)});
  }
  return numbers;
}

// Adds the module's arguments as tensors of the package, and their storage in the variant.
void add_tensors(const CompiledModule& module, runtime::Package& package,
                 runtime::PackageVariant& variant) {
  const std::vector<Buffer>& params = module.program.params;
  const std::vector<Access> accesses =
      module.array_accesses.size() == params.size()
          ? module.array_accesses
          : array_accesses(module.program, ComputedArrays(params.size()));
  std::set<std::string> names;
  for (uint32_t i = 0; i < params.size(); ++i) {
    const runtime::TensorSpec& argument = variant.plan.arguments[i];
    runtime::PackageTensor tensor{unused_name(params[i]->name, names), argument.element,
                                  argument.shape,
                                  writes(accesses[i]) ? TensorRole::Output : TensorRole::Input};
    runtime::TensorStore store{.tensor = runtime::TensorRef{{}, i},
                               .storage_id = i,
                               .storage_scope = to_string(StorageScope{})};
    if (!params[i]->is_symbolic() || params[i]->is_texture()) {
      const bool is_known = i < module.array_layouts.size();
      const Layout& layout = is_known ? module.array_layouts[i] : params[i]->layout;
      if (!layout.is_open()) tensor.shape.assign(layout.shape.begin(), layout.shape.end());
      store.storage_scope = scope_of(layout);
      store.layout = text_of(layout);
    }
    if (reads(accesses[i])) package.inputs.push_back(i);
    if (writes(accesses[i])) package.outputs.push_back(i);
    package.tensors.push_back(std::move(tensor));
    variant.stores.push_back(std::move(store));
  }
}

// The layout of an argument. The array must be as large as the parameter, whose shape
// transform_layout may have changed.
Layout loaded_layout(const Shape& shape, const std::string& text, const BufferNode& param,
                     const SourceLocation& where) {
  Layout layout = linear_layout(shape);
  if (!text.empty()) {
    try {
      layout = layout_for(parse_layout(text, shape, {}), shape);
    } catch (const UserError& error) {
      refuse_module_file(fmt::format("the layout of the argument '{}': {}", param.name,
                                     error.diagnostics().front().message),
                         where);
    }
  }
  if (layout.object != param.layout.object || layout.row_count() != param.layout.row_count() ||
      layout.col_count() != param.layout.col_count()) {
    refuse_module_file(fmt::format("the argument '{}' cannot have the layout '{}', which is not as "
                                   "large as the program's parameter",
                                   param.name, text),
                       where);
  }
  return layout;
}

void load_arrays(const runtime::Package& package, const runtime::PackageVariant& variant,
                 CompiledModule& module, const SourceLocation& where) {
  const std::vector<Buffer>& params = module.program.params;
  ComputedArrays computed;
  for (uint32_t i = 0; i < params.size(); ++i) {
    const auto is_in = [&](const std::vector<uint32_t>& list) {
      return std::find(list.begin(), list.end(), i) != list.end();
    };
    computed.emplace_back(is_in(package.outputs) && !is_in(package.inputs));
    if (params[i]->is_symbolic()) {
      module.array_layouts.push_back(params[i]->layout);
      continue;
    }
    module.array_layouts.push_back(loaded_layout(variant.plan.arguments[i].layout.shape,
                                                 variant.stores[i].layout, *params[i], where));
  }
  module.array_accesses = array_accesses(module.program, computed);
}

std::vector<lower::SymbolArgument> loaded_numbers(const runtime::Package& package,
                                                  const CompiledModule& module,
                                                  const SourceLocation& where) {
  const Exprs symbols = all_symbols(module.symbols);
  std::vector<lower::SymbolArgument> arguments;
  for (const auto& [position, number, element] : package.numbers) {
    const std::optional<Type> type = parse_type(hal::to_string(element));
    if (number >= symbols.size() || !type || lower::passed_as(*type) != symbols[number]->type) {
      refuse_module_file(
          fmt::format("the argument {} cannot be the value of the symbol {}: there is no such "
                      "symbol, or its type differs",
                      position, number),
          where);
    }
    arguments.push_back({symbols[number], position, *type});
  }
  return arguments;
}

// The code that the compiler made for each module of the plan: the module's first code.
std::vector<std::shared_ptr<const codegen::CompiledCode>> loaded_codes(
    const runtime::LaunchPlan& plan) {
  std::vector<codegen::CompiledCode> codes;
  for (const runtime::ModuleSpec& module : plan.modules) {
    const hal::KernelCode& first = module.codes.front();
    codes.push_back({.format = first.format, .bytes = first.code, .options = first.build_options});
  }
  for (size_t i = 0; i < plan.kernels.size(); ++i)
    codes[plan.kernels[i].module].entries.push_back({i, plan.kernels[i].entry.name});
  std::vector<std::shared_ptr<const codegen::CompiledCode>> shared;
  for (codegen::CompiledCode& code : codes)
    shared.push_back(std::make_shared<const codegen::CompiledCode>(std::move(code)));
  return shared;
}

// The module with the names that a reader of its text gets, because printing makes names unique.
// Otherwise a function that is loaded and stored again would get other names.
CompiledModule reread(const CompiledModule& module, const std::string& text) {
  CompiledModule again;
  again.program = parse_program(text, module.program.name);
  again.kernels = module.kernels;
  return again;
}

// Whether the tensors of the package are the arguments of the variant's plan, in order, as in the
// packages that package_of() makes.
bool has_arguments_alone(const runtime::PackageVariant& variant) {
  const std::vector<runtime::TensorStore>& stores = variant.stores;
  for (uint32_t i = 0; i < stores.size(); ++i) {
    if (stores[i].tensor != runtime::TensorRef{{}, i}) return false;
  }
  return true;
}

}  // namespace

runtime::Package package_of(const CompiledModule& module, const SourceLocation& where) {
  if (!module.checks.empty()) {
    fail(where, Code::BadPackage, "build it without checks",
         "a checked function cannot be saved: a file does not store the lines that it reports");
  }
  runtime::Package package;
  runtime::PackageVariant variant;
  package.name = module.program.name;
  variant.target = to_string(module.target);
  variant.plan = make_launch_plan(module);
  const CompiledModule* modules[] = {&module};
  variant.needs = needs_of(variant.plan, modules);
  variant.nodes.assign(variant.plan.steps.size(), 0U);
  variant.program = to_string(module.program);
  add_interpreted_code(reread(module, variant.program), variant.plan, CodeLocations::LeaveOut);
  link_native_code(variant.plan);
  package.symbols = variant.plan.symbols;
  add_tensors(module, package, variant);
  package.nodes = {{package.name, package.name, package.inputs, package.outputs}};
  package.numbers = numbers_of(module);
  if (module.operations) package.operations = total(*module.operations, {});
  package.variants.push_back(std::move(variant));
  return package;
}

CompiledModule module_of(const runtime::Package& package, size_t number, const std::string& file,
                         const SourceLocation& where) {
  const runtime::PackageVariant& variant = package.variants.at(number);
  if (variant.program.empty()) {
    fail(where, Code::BadPackage,
         "load it as a graph: texloom.graph.load(file); load_module loads what build made",
         "'{}' in {} is not a compiled function: it has no program", package.name, file);
  }
  CompiledModule module;
  module.target = parse_target(variant.target, where);
  module.program = parse_program(variant.program, file);
  const Program& program = module.program;
  const runtime::LaunchPlan& plan = variant.plan;
  if (program.stage != ProgramStage::Legalized || program.kernels.size() != plan.kernels.size() ||
      program.params.size() != plan.arguments.size() || !has_arguments_alone(variant)) {
    refuse_module_file(
        fmt::format("the kernels or the arguments in {} do not match its program", file), where);
  }
  if (std::ranges::any_of(plan.modules, [](const auto& each) { return each.codes.empty(); })) {
    fail(where, Code::BadPackage,
         "load it with native=True if you trust the file: native code runs with the rights of this "
         "process",
         "'{}' in {} has only native code, which is refused", package.name, file);
  }
  load_arrays(package, variant, module, where);
  const std::vector<std::shared_ptr<const codegen::CompiledCode>> codes = loaded_codes(plan);
  for (size_t i = 0; i < plan.kernels.size(); ++i) {
    const Kernel& kernel = program.kernels[i];
    module.kernels.push_back({plan.kernels[i].entry.name, kernel.grid, kernel.block, kernel.params,
                              codes[plan.kernels[i].module]});
  }
  if (package.operations) module.operations = OperationCount{{*package.operations}};
  module.symbols = plan_symbols(program);
  module.symbol_arguments = loaded_numbers(package, module, where);
  module.features = features_of(program, module.target);
  if (const Expr scalar = find_scalar_without_value(module.symbols, module.symbol_arguments)) {
    refuse_module_file(
        fmt::format("no argument gives the symbol '{}' a value", as<Var>(scalar)->name), where);
  }
  return module;
}

void refuse_module_file(std::string_view problem, const SourceLocation& where) {
  fail(where, Code::BadPackage, "write it again with export_library, by this version of Texloom",
       "{}", problem);
}

}  // namespace texloom::compile
