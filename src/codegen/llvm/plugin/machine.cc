#include "codegen/llvm/plugin/machine.h"

#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/SubtargetFeature.h>

#include <stdexcept>
#include <string_view>

namespace texloom::codegen::native {

namespace {

void initialize() {
  static const bool kDone = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
    return true;
  }();
  static_cast<void>(kDone);
}

std::string host_features() {
  llvm::SubtargetFeatures all;
  for (const auto& feature : llvm::sys::getHostCPUFeatures())
    all.AddFeature(feature.first(), feature.second);
  return all.getString();
}

// Throws if a processor of this architecture does not know one of the features "+a,-b".
void check_features(const llvm::MCSubtargetInfo& info, llvm::StringRef features) {
  const llvm::SubtargetFeatures all(features);
  for (const std::string& feature : all.getFeatures()) {
    const llvm::StringRef name = llvm::SubtargetFeatures::StripFlag(feature);
    bool known = false;
    for (const auto& each : info.getAllProcessorFeatures()) known = known || name == each.Key;
    if (!known) throw std::runtime_error("unknown feature '" + name.str() + "'");
  }
}

}  // namespace

std::unique_ptr<llvm::TargetMachine> make_machine(const texloom_llvm_machine& machine) {
  initialize();
  const std::string triple = *machine.triple == '\0' ? llvm::sys::getDefaultTargetTriple()
                                                     : llvm::Triple::normalize(machine.triple);
  const llvm::Triple::ArchType architecture = llvm::Triple(triple).getArch();
  if (architecture != llvm::Triple::x86_64 && architecture != llvm::Triple::aarch64)
    throw std::runtime_error("'" + triple + "' is neither x86_64 nor aarch64");
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (target == nullptr) throw std::runtime_error(error);
  std::string cpu = machine.cpu, features = machine.features;
  const std::unique_ptr<llvm::MCSubtargetInfo> info(target->createMCSubtargetInfo(triple, "", ""));
  check_features(*info, features);
  if (cpu == "native") {
    if (llvm::Triple(triple).getArch() != llvm::Triple(llvm::sys::getProcessTriple()).getArch())
      throw std::runtime_error("-mcpu=native is not a processor of '" + triple + "'");
    cpu = llvm::sys::getHostCPUName();
    const std::string own = host_features();
    features = features.empty() ? own : own + "," + features;
  } else if (!cpu.empty() && !info->isCPUStringValid(cpu)) {
    throw std::runtime_error("unknown processor '" + cpu + "' of '" + triple + "'");
  }
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, cpu, features, options, llvm::Reloc::PIC_, std::nullopt,
                                  llvm::CodeGenOptLevel::Default));
}

void optimize(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = true;
  tuning.SLPVectorization = true;
  tuning.LoopInterleaving = true;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(module, modules);
}

std::string object_of(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    throw std::runtime_error("LLVM writes no objects for this processor");
  passes.run(module);
  return {bytes.begin(), bytes.end()};
}

}  // namespace texloom::codegen::native
