#include "codegen/llvm/plugin/machine.h"

#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/AArch64TargetParser.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/SubtargetFeature.h>
#include <llvm/TargetParser/X86TargetParser.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include <algorithm>
#include <functional>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "ir/target/nearest_names.h"
#include "support/processor/detect.h"
#include "support/processor/native_code.h"
#include "support/processor/processor.h"

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

using Names = std::set<std::string, std::less<>>;

Names enabled_in(const llvm::MCSubtargetInfo& info) {
  Names names;
  for (const llvm::SubtargetFeatureKV& each : info.getAllProcessorFeatures()) {
    if (info.getFeatureBits()[each.Value]) names.insert(each.Key);
  }
  return names;
}

std::unique_ptr<llvm::MCSubtargetInfo> subtarget(const llvm::Target& target,
                                                 const llvm::Triple& triple, llvm::StringRef cpu,
                                                 llvm::StringRef features) {
  return std::unique_ptr<llvm::MCSubtargetInfo>(
      target.createMCSubtargetInfo(triple.str(), cpu, features));
}

// The sets of instructions among the features of an architecture; the others are ways of tuning.
Names instruction_sets(const llvm::Triple& triple) {
  Names sets;
  if (triple.getArch() == llvm::Triple::aarch64) {
    for (const llvm::AArch64::ExtensionInfo& each : llvm::AArch64::Extensions)
      sets.insert(each.PosTargetFeature.ltrim('+').str());
    return sets;
  }
  llvm::SmallVector<llvm::StringRef> processors, features;
  llvm::X86::fillValidCPUArchList(processors, true);
  for (const llvm::StringRef processor : processors)
    llvm::X86::getFeaturesForCPU(processor, features);
  for (const llvm::StringRef feature : features) sets.insert(feature.str());
  return sets;
}

// The features that are not those of every processor of the architecture.
Names needed_by(const llvm::Target& target, const llvm::Triple& triple, llvm::StringRef cpu,
                llvm::StringRef features) {
  Names names = enabled_in(*subtarget(target, triple, cpu, features));
  const char* least = triple.getArch() == llvm::Triple::x86_64 ? "x86-64" : "generic";
  for (const std::string& name : enabled_in(*subtarget(target, triple, least, "")))
    names.erase(name);
  return names;
}

// The time of scheduling after the allocation of registers grows with the square of a block's
// length: of longer blocks it took half of the time of a network, and made no kernel faster.
constexpr size_t kLongBlock = 1000;

size_t longest_block(const llvm::Module& module) {
  size_t longest = 0;
  for (const llvm::Function& function : module) {
    for (const llvm::BasicBlock& block : function) longest = std::max(longest, block.size());
  }
  return longest;
}

bool is_checked(const llvm::Triple& triple, std::string_view feature) {
  const auto known = known_processor_features(triple.getArchName().str());
  return std::ranges::find(known, feature) != known.end();
}

// Names for help lines.
struct Examples {
  std::string processors, features;
};

Examples examples(const llvm::Triple& triple) {
  if (triple.getArch() == llvm::Triple::aarch64)
    return {"cortex-a55, cortex-a76, neoverse-n1 or apple-m1", "+dotprod,+fp16fml"};
  return {"x86-64-v3, haswell, skylake-avx512 or znver4", "+avx2,+fma"};
}

std::string processor_help(const llvm::Target& target, const llvm::Triple& triple,
                           std::string_view cpu) {
  std::vector<std::string> known;
  for (const llvm::SubtargetSubTypeKV& each :
       subtarget(target, triple, "", "")->getAllProcessorDescriptions())
    if (each.Key != nullptr && std::string_view(each.Key).find('_') == std::string_view::npos)
      known.emplace_back(each.Key);  // those with '_' are second spellings
  std::string near;
  for (const std::string& name : ir::nearest_names(cpu, known))
    near += (near.empty() ? "write -mcpu=" : " or -mcpu=") + name;
  if (!near.empty()) return near;
  return "name one that LLVM knows, as -mcpu=" + examples(triple).processors +
         "; native is this machine's";
}

// The architecture and the system of code; the interface of kernels has pointers of 64 bits.
llvm::Triple checked_triple(const texloom_llvm_machine& machine) {
  const std::string text = *machine.triple == '\0' ? llvm::sys::getDefaultTargetTriple()
                                                   : llvm::Triple::normalize(machine.triple);
  const llvm::Triple triple(text);
  const char* help = "name another, as -mtriple=x86_64-linux-gnu or -mtriple=aarch64-linux-gnu";
  if (triple.getArch() != llvm::Triple::x86_64 && triple.getArch() != llvm::Triple::aarch64)
    throw Refusal("'" + text + "' is neither x86_64 nor aarch64", help);
  if (!triple.isOSBinFormatELF()) {
    throw Refusal("native code is in ELF objects, but those of '" + text + "' are in " +
                      (triple.isOSBinFormatMachO() ? "Mach-O" : "another format"),
                  triple.isOSDarwin() ? "build for \"metal\", or for Linux on such a machine: "
                                        "\"apple-m1\""
                                      : help);
  }
  if (triple.isX32() || triple.getEnvironment() == llvm::Triple::GNUILP32)
    throw Refusal("native code has pointers of 64 bits, but '" + text + "' has 32", help);
  return triple;
}

// What code of an architecture takes for granted ('+'), and what changes how kernels are called.
constexpr const char* kNeededOfX86[] = {"+64bit-mode", "-32bit-mode", "-16bit-mode",
                                        "+64bit",      "+sse2",       "-soft-float"};
constexpr const char* kNeededOfArm[] = {"+neon"};

// Throws if a processor of this architecture does not know one of the features "+a,-b", or if
// nothing could check for it where the code is loaded.
void check_features(const llvm::Target& target, const llvm::Triple& triple,
                    llvm::StringRef features) {
  const auto info = subtarget(target, triple, "", "");
  const Names sets = instruction_sets(triple);
  const llvm::SubtargetFeatures all(features);
  for (const std::string& feature : all.getFeatures()) {
    const std::string name = llvm::SubtargetFeatures::StripFlag(feature).str();
    if (!llvm::SubtargetFeatures::hasFlag(feature))
      throw Refusal("the feature '" + name + "' has no sign",
                    "write '+" + name + "', or '-" + name + "' to leave it out");
    bool known = false;
    for (const auto& each : info->getAllProcessorFeatures()) known = known || name == each.Key;
    if (!known) {
      throw Refusal("unknown feature '" + name + "'",
                    "name features as LLVM does, as -mattr=" + examples(triple).features);
    }
    const bool is_on = llvm::SubtargetFeatures::isEnabled(feature);
    if (is_on && sets.contains(name) && !is_checked(triple, name)) {
      throw Refusal("no loader could check for the feature '" + name + "'",
                    "leave it out, so that every program that loads the code can check what it "
                    "needs");
    }
  }
}

// Throws for a machine for which LLVM makes no code that keeps to the interface of kernels: it ends
// the process for some of them.
void check_code(const llvm::Triple& triple, const llvm::MCSubtargetInfo& info,
                const texloom_llvm_machine& machine) {
  const bool is_x86 = triple.getArch() == llvm::Triple::x86_64;
  using Features = std::span<const char* const>;
  const Features needed = is_x86 ? Features(kNeededOfX86) : Features(kNeededOfArm);
  const std::string what = *machine.features == '\0'
                               ? "the processor '" + std::string(machine.cpu) + "'"
                               : "-mattr=" + std::string(machine.features);
  for (const char* feature : needed) {
    const bool is_needed = *feature == '+';
    if (info.checkFeatures(std::string("+") + (feature + 1)) == is_needed) continue;
    throw Refusal("code for '" + triple.str() + "' needs '" + feature + "', unlike " + what,
                  *machine.features == '\0'
                      ? "name another processor, as -mcpu=" + examples(triple).processors
                      : "leave out what changes this feature");
  }
}

// Whether the code uses the tile registers of AMX, which the system gives to a process that asks
// for them. LLVM uses them where the code says so, so all other code can do without.
bool uses_tile_registers(const llvm::Module& module) {
  return std::ranges::any_of(module, [](const llvm::Function& each) {
    const llvm::StringRef name = each.getName();
    return name == "llvm.x86.ldtilecfg" || name.starts_with("llvm.x86.tileload");
  });
}

// Leaves out the sets of instructions that nothing could check for where the code is loaded.
std::string without_unchecked(const llvm::Target& target, const llvm::Triple& triple,
                              llvm::StringRef cpu, std::string features) {
  const Names sets = instruction_sets(triple);
  for (const std::string& name : needed_by(target, triple, cpu, features)) {
    if (sets.contains(name) && !is_checked(triple, name))
      features += (features.empty() ? "-" : ",-") + name;
  }
  return features;
}

// Uses vectors of 512 bits, where there are any. LLVM prefers half of that for many processors, for
// programs with few vectors among much other code; kernels are loops of vectors, and these
// processors do twice as many products by wide ones.
std::string with_wide_vectors(const llvm::Triple& triple, std::string features) {
  constexpr std::string_view kHalves = "prefer-256-bit";
  const bool is_given = features.find(kHalves) != std::string::npos;
  if (triple.getArch() != llvm::Triple::x86_64 || is_given) return features;
  return features + (features.empty() ? "-" : ",-") + std::string(kHalves);
}

// The features with the registers of 512 bits that AVX-512 means. LLVM 19 adds them for the
// assembler, but for code only if no processor is named: it ends the process for haswell with
// +avx512f.
std::string with_wide_registers(std::string features) {
  const bool adds = features.find("+avx512") != std::string::npos;
  return adds && features.find("evex512") == std::string::npos ? features + ",+evex512" : features;
}

}  // namespace

std::unique_ptr<llvm::TargetMachine> make_machine(const texloom_llvm_machine& machine) {
  initialize();
  const llvm::Triple parsed = checked_triple(machine);
  const std::string& triple = parsed.str();
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (target == nullptr) throw Refusal(error, "build with an LLVM that has this architecture");
  std::string cpu = machine.cpu, features = machine.features;
  check_features(*target, parsed, features);
  features = with_wide_registers(with_wide_vectors(parsed, std::move(features)));
  if (cpu == "native") {
    if (parsed.getArch() != llvm::Triple(llvm::sys::getProcessTriple()).getArch())
      throw Refusal("-mcpu=native is not a processor of '" + triple + "'",
                    "name one, as -mcpu=" + examples(parsed).processors);
    cpu = llvm::sys::getHostCPUName();
    const std::string own = host_features();
    features = features.empty() ? own : own + "," + features;
  } else if (!cpu.empty() && !subtarget(*target, parsed, "", "")->isCPUStringValid(cpu)) {
    throw Refusal("unknown processor '" + cpu + "' of '" + triple + "'",
                  processor_help(*target, parsed, cpu));
  }
  check_code(parsed, *subtarget(*target, parsed, cpu, features), machine);
  features = without_unchecked(*target, parsed, cpu, std::move(features));
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, cpu, features, options, llvm::Reloc::PIC_, std::nullopt,
                                  llvm::CodeGenOptLevel::Default));
}

void add_note(llvm::Module& module, const llvm::TargetMachine& machine) {
  std::string text(kNativeAbi);
  char before = ' ';
  const bool has_tiles = uses_tile_registers(module);
  for (const std::string& name :
       needed_by(machine.getTarget(), machine.getTargetTriple(), machine.getTargetCPU(),
                 machine.getTargetFeatureString())) {
    if (!is_checked(machine.getTargetTriple(), name)) continue;
    if (!has_tiles && texloom_is_tile_feature(name.data(), name.size()) != 0) continue;
    text += before + name;
    before = ',';
  }
  if (before == ' ') text += ' ';
  const auto text_bytes = static_cast<uint32_t>(text.size());
  text.resize((text.size() + 3) / 4 * 4);
  llvm::LLVMContext& context = module.getContext();
  const auto number = [&](size_t value) -> llvm::Constant* {
    return llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), value);
  };
  const llvm::StringRef owner(kNativeNoteOwner.data(), kNativeNoteOwner.size());
  llvm::Constant* value = llvm::ConstantStruct::getAnon(
      {number(owner.size() + 1), number(text_bytes), number(kNativeNoteType),
       llvm::ConstantDataArray::getString(context, owner, true),
       llvm::ConstantDataArray::getString(context, text, false)});
  auto* note = new llvm::GlobalVariable(module, value->getType(), true,
                                        llvm::GlobalValue::WeakODRLinkage, value, "texloom.note");
  note->setVisibility(llvm::GlobalValue::HiddenVisibility);
  note->setSection(std::string(kNativeNoteSection));
  note->setAlignment(llvm::Align(4));
  llvm::appendToCompilerUsed(module, {note});
}

void optimize(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = true;
  // Off, because LLVM 19.1.7 makes arithmetic shifts of logical ones when it joins shifts of both
  // kinds: sums of products of unsigned and signed bytes were wrong. Schedules state their vectors.
  tuning.SLPVectorization = false;
  tuning.LoopInterleaving = true;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
}

std::string object_of(llvm::Module& module, llvm::TargetMachine& machine) {
  if (longest_block(module) > kLongBlock) machine.setOptLevel(llvm::CodeGenOptLevel::Less);
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    throw Refusal("LLVM writes no objects for this processor", "name another by -mcpu=");
  passes.run(module);
  return {bytes.begin(), bytes.end()};
}

}  // namespace texloom::codegen::native
