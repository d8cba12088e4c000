#include "compile/compile.h"

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "codegen/backend.h"
#include "compile/array_accesses.h"
#include "compile/large_kernels.h"
#include "compile/needs.h"
#include "lower/pipeline.h"
#include "support/check.h"
#include "support/dump.h"

namespace texloom::compile {

using ir::ProgramStage;

std::optional<SourceProgram> for_target(const SourceProgram& program, ir::Target target) {
  const bool is_schedule = program.state->program.stage == ProgramStage::Te;
  const auto& scheduled = is_schedule ? program.state : program.scheduled;
  if (!scheduled) return std::nullopt;
  lower::Lowering lowering = *scheduled;
  lowering.target = std::move(target);
  return SourceProgram{std::make_shared<const lower::Lowering>(std::move(lowering))};
}

namespace {

bool checks_indices(const SourceProgram& program, const CompileOptions& options) {
  return options.checked || program.state->target.checked;
}

}  // namespace

lower::Lowering schedule_of(const SourceProgram& program, const CompileOptions& options) {
  lower::Lowering lowering = *program.state;
  if (lowering.program.stage != ProgramStage::Te) {
    fail(options.location, Code::BadArguments, "use the schedule that the program was made from",
         "the program '{}' is at stage {}, but only a schedule, at stage te, can be {}",
         lowering.program.name, to_string(lowering.program.stage),
         checks_indices(program, options) ? "compiled with tests of indices" : "lowered");
  }
  lowering.verify_each = options.verify_each;
  return lowering;
}

lower::Lowering lower_to_kernels(const SourceProgram& program, const CompileOptions& options,
                                 Interruption interruption) {
  const auto after_pass = [&](const lower::Pass&, const lower::Lowering&) { interruption(); };
  const ProgramStage stage = program.state->program.stage;
  // Index tests can no longer be added to loops over flat storage.
  if (stage == ProgramStage::Flattened && !checks_indices(program, options)) {
    return lower::make_kernels(*program.state, after_pass);
  }
  if (stage == ProgramStage::Loops || stage == ProgramStage::Legalized) {
    fail(
        options.location, Code::BadArguments,
        "use the schedule that the program was made from, or texloom-opt, which runs single passes",
        "the program '{}' is at stage {}, but only programs at stage te, flattened or "
        "kernels can be compiled",
        program.state->program.name, to_string(stage));
  }
  lower::Lowering lowering = schedule_of(program, options);
  lowering.target.checked |= options.checked;
  return lower::lower(std::move(lowering), after_pass);
}

namespace {

// Lowering refuses a schedule with textures, at its line. A program of kernels, which is not
// lowered again, is checked here.
void check_images(const lower::Lowering& kernels) {
  if (kernels.target.features.images) return;
  for (const ir::Kernel& kernel : kernels.program.kernels) {
    for (const ir::KernelParam& param : kernel.params) {
      if (!param.buffer || !param.buffer->is_texture()) continue;
      fail(kernel.location, Code::NoImages, "compile for a target with -images=1, or use a buffer",
           "the kernel '{}' accesses the texture '{}', but the target has no images", kernel.name,
           param.buffer->name);
    }
  }
}

// Foreign symbols need a target whose code is linked; foreign C text needs one that compiles C.
void check_foreign(const lower::Lowering& kernels) {
  const codegen::Dialect dialect = codegen::backend_of(kernels.target.kind).dialect(kernels.target);
  for (const ir::Foreign& each : kernels.program.foreign) {
    const bool is_text = !each.is_symbol();
    if (dialect.foreign == (is_text ? codegen::ForeignCode::Text : codegen::ForeignCode::Symbols))
      continue;
    fail(each.location, Code::NotProvided,
         is_text ? "declare the functions as symbols of a library"
                 : "give the C text that defines it: foreign \"float f(float x) { ... }\"",
         "{} {}", dialect.name,
         is_text ? "cannot contain foreign code as C text"
                 : fmt::format("has no linker, which '{}' needs", each.text));
  }
}

CompiledModule emit_kernels(lower::Lowering legalized, Interruption interruption) {
  CompiledModule module;
  module.target = std::move(legalized.target);
  module.program = std::move(legalized.program);
  const codegen::Backend& backend = codegen::backend_of(module.target.kind);
  for (const ir::Kernel& kernel : module.program.kernels)
    module.kernels.push_back({{}, kernel.grid, kernel.block, kernel.params, {}});
  for (codegen::CompiledCode& each : backend.emit(module.program, module.target, interruption)) {
    const auto code = std::make_shared<const codegen::CompiledCode>(std::move(each));
    for (const codegen::CodeEntry& entry : code->entries) {
      CompiledKernel& kernel = module.kernels[entry.kernel];
      kernel.name = entry.name;
      kernel.code = code;
    }
  }
  for (const CompiledKernel& kernel : module.kernels) TL_CHECK(kernel.code, "a kernel has no code");
  module.symbols = plan_symbols(module.program);
  module.features = features_of(module.program, module.target);
  module.array_accesses = array_accesses(module.program, computed_arrays(legalized));
  module.array_layouts = std::move(legalized.array_layouts);
  module.symbol_arguments = std::move(legalized.symbol_arguments);
  module.checks = std::move(legalized.checks);
  module.warnings = std::move(legalized.warnings);
  for (Diagnostic& warning : large_kernel_warnings(module, legalized.unrollings)) {
    module.warnings.push_back(std::move(warning));
  }
  return module;
}

// Lowers a program of kernels again only if index tests are wanted, since tests can be added only
// to a schedule.
lower::Lowering kernels_of(const SourceProgram& program, const CompileOptions& options,
                           Interruption interruption) {
  if (program.state->program.stage == ProgramStage::Kernels && !checks_indices(program, options)) {
    lower::Lowering lowering = *program.state;
    lowering.warnings.clear();  // already reported when it was lowered
    lowering.verify_each = options.verify_each;
    return lowering;
  }
  const SourceProgram source{program.scheduled ? program.scheduled : program.state};
  return lower_to_kernels(source, options, interruption);
}

}  // namespace

CompiledModule generate(lower::Lowering kernels, Interruption interruption) {
  check_images(kernels);
  check_foreign(kernels);
  const ir::Program program = kernels.program;
  const ir::Target target = kernels.target;
  lower::run_passes({&codegen::backend_of(target.kind).legalize, 1}, kernels,
                    [&](const lower::Pass&, const lower::Lowering&) { interruption(); });
  try {
    return emit_kernels(std::move(kernels), interruption);
  } catch (const std::logic_error& error) {  // an InternalError, or from the standard library
    throw with_dump(error,
                    fmt::format("--pass=legalize --emit={} --target='{}'", to_string(target.kind),
                                to_string(target)),
                    [&] { return to_string(program, {.locations = true}); });
  }
}

CompiledModule generate(const ir::Program& program, const ir::Target& target) {
  lower::Lowering kernels;
  kernels.program = program;
  kernels.target = target;
  return generate(std::move(kernels), [] {});
}

CompiledModule compile(const SourceProgram& program, const CompileOptions& options,
                       Interruption interruption) {
  lower::Lowering lowering = kernels_of(program, options, interruption);
  CompiledModule module = generate(std::move(lowering), interruption);
  const bool is_schedule = program.state->program.stage == ProgramStage::Te;
  if (const auto& scheduled = is_schedule ? program.state : program.scheduled) {
    module.operations = count_operations(scheduled->schedule);
  }
  if (const ir::Expr scalar = find_scalar_without_value(module.symbols, module.symbol_arguments)) {
    fail(options.location, Code::BadArguments,
         "add the line \"value 0: symbol 0\" before the program, with the number of the argument "
         "of a call and the number of the symbol",
         "no argument gives the symbol '{}' a value", ir::as<ir::Var>(scalar)->name);
  }
  return module;
}

CompiledModule compile(const SourceProgram& program, const CompileOptions& options) {
  return compile(program, options, [] {});
}

}  // namespace texloom::compile
