// The plug-in's functions (codegen/llvm/plugin_api.h).

#include <llvm/IR/FMF.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Support/raw_ostream.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/llvm/plugin/debug_lines.h"
#include "codegen/llvm/plugin/dot_products.h"
#include "codegen/llvm/plugin/imported_code.h"
#include "codegen/llvm/plugin/kernel_emitter.h"
#include "codegen/llvm/plugin/machine.h"
#include "codegen/llvm/plugin/math/branches.h"
#include "codegen/llvm/plugin/math/functions.h"
#include "codegen/llvm/plugin/math/scaling.h"
#include "codegen/llvm/plugin/microkernels.h"
#include "codegen/llvm/plugin_api.h"
#include "ir/text/parse.h"

namespace texloom::codegen::native {

namespace {

void give(const std::string& text, char*& bytes, size_t& count) {
  bytes = static_cast<char*>(std::malloc(text.size() + 1));
  if (bytes == nullptr) throw std::bad_alloc();
  std::memcpy(bytes, text.data(), text.size());
  count = text.size();
}

// Allows LLVM to compute what the kernels' instructions say as with real numbers. Infinities and
// NaN stay what they are: masks of attention are infinite.
void relax(llvm::Module& module) {
  llvm::FastMathFlags flags;
  flags.setAllowReassoc();
  flags.setAllowContract();
  flags.setAllowReciprocal();
  flags.setNoSignedZeros();
  for (llvm::Function& function : module) {
    for (llvm::Instruction& each : llvm::instructions(function)) {
      if (llvm::isa<llvm::FPMathOperator>(each)) each.setFastMathFlags(flags);
    }
  }
}

void compile(std::string_view text, const texloom_llvm_machine& machine, bool fast_math,
             texloom_llvm_result& result) {
  const ir::Program program = ir::parse_program(text, "kernels.tl", {.check_accesses = false});
  const std::unique_ptr<llvm::TargetMachine> target = make_machine(machine);
  llvm::LLVMContext context;
  llvm::Module module(program.name, context);
  module.setTargetTriple(target->getTargetTriple().str());
  module.setDataLayout(target->createDataLayout());
  DebugLines lines(module);
  const DotUnit dots = DotUnit::of(*target);
  for (const ir::Kernel& kernel : program.kernels) emit_kernel(module, kernel, dots, lines);
  if (fast_math) relax(module);  // not the math functions, whose formulas need each rounding
  math::define_functions(module, *target);
  lines.finish();
  link_microkernels(module);
  link_imported_code(module, program);
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    function.setUWTableKind(llvm::UWTableKind::Default);  // stacks of kernels can be unwound
    function.addFnAttr("target-cpu", target->getTargetCPU());
    function.addFnAttr("target-features", target->getTargetFeatureString());
  }
  add_note(module, *target);
  std::string problem;
  llvm::raw_string_ostream problems(problem);
  if (llvm::verifyModule(module, &problems)) throw std::logic_error("LLVM's verifier: " + problem);
  optimize(module, *target);
  math::define_scaling(module);
  math::inline_variants(module);
  std::string listing;
  llvm::raw_string_ostream(listing) << module;
  give(listing, result.listing, result.listing_bytes);
  give(object_of(module, *target), result.object, result.object_bytes);
}

void link(std::span<const texloom_llvm_object> objects, texloom_llvm_linked kind,
          texloom_llvm_result& result) {
  std::vector<std::string_view> given;
  for (const texloom_llvm_object& each : objects) given.emplace_back(each.bytes, each.count);
  give(linked(given, kind), result.object, result.object_bytes);
}

void describe(const texloom_llvm_machine& machine, texloom_llvm_result& result) {
  const std::unique_ptr<llvm::TargetMachine> target = make_machine(machine);
  std::string words = target->getTargetTriple().getArchName().str();
  const llvm::MCSubtargetInfo& info = *target->getMCSubtargetInfo();
  for (const auto& feature : info.getAllProcessorFeatures()) {
    if (info.checkFeatures(std::string("+") + feature.Key)) words += std::string(" ") + feature.Key;
  }
  words += "\n" + target->getTargetTriple().str() + "\n" + target->getTargetCPU().str() + "\n" +
           target->getTargetFeatureString().str();
  give(words, result.listing, result.listing_bytes);
}

// Runs a function of the plug-in; an exception becomes the result's error.
template <class Function>
void run(const Function& function, texloom_llvm_result& result) {
  result = {};
  try {
    try {
      function();
    } catch (const Refusal& refusal) {
      texloom_llvm_free(&result);
      give(refusal.help(), result.help, result.help_bytes);
      give(refusal.what(), result.error, result.error_bytes);
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      texloom_llvm_free(&result);
      give(error.what(), result.error, result.error_bytes);
    }
  } catch (const std::bad_alloc&) {
    texloom_llvm_free(&result);
  }
}

}  // namespace

}  // namespace texloom::codegen::native

extern "C" {

__attribute__((visibility("default"))) int texloom_llvm_version(void) {
  return TEXLOOM_LLVM_VERSION;
}

__attribute__((visibility("default"))) void texloom_llvm_compile(
    const char* program, size_t program_bytes, const texloom_llvm_machine* machine, int fast_math,
    texloom_llvm_result* result) {
  using namespace texloom::codegen::native;
  run([&] { compile({program, program_bytes}, *machine, fast_math != 0, *result); }, *result);
}

__attribute__((visibility("default"))) void texloom_llvm_describe(
    const texloom_llvm_machine* machine, texloom_llvm_result* result) {
  using namespace texloom::codegen::native;
  run([&] { describe(*machine, *result); }, *result);
}

__attribute__((visibility("default"))) void texloom_llvm_link(const texloom_llvm_object* objects,
                                                              size_t count,
                                                              texloom_llvm_linked kind,
                                                              texloom_llvm_result* result) {
  using namespace texloom::codegen::native;
  run([&] { texloom::codegen::native::link({objects, count}, kind, *result); }, *result);
}

__attribute__((visibility("default"))) void texloom_llvm_free(texloom_llvm_result* result) {
  std::free(result->object);
  std::free(result->listing);
  std::free(result->error);
  std::free(result->help);
  *result = {};
}
}
