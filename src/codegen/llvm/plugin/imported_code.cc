#include "codegen/llvm/plugin/imported_code.h"

#include <llvm/IRReader/IRReader.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/TargetParser/Triple.h>

#include <map>
#include <string>
#include <utility>

#include "codegen/llvm/foreign_symbols.h"
#include "codegen/llvm/plugin/machine.h"

namespace texloom::codegen::native {

namespace {

constexpr const char* kHelp =
    "compile it by clang -O2 -emit-llvm -c, or -S, of version 19 or older, for the processor that "
    "you build for";

std::string name_of(const std::string& library) {
  return is_code_file(library) ? "the file '" + library + "'" : "the text of import_llvm";
}

std::unique_ptr<llvm::Module> parsed(const std::string& library, const llvm::Module& like) {
  llvm::SMDiagnostic problem;
  std::unique_ptr<llvm::Module> module =
      is_code_file(library) ? llvm::parseIRFile(library, problem, like.getContext())
                            : llvm::parseIR(llvm::MemoryBufferRef(library, "import_llvm"), problem,
                                            like.getContext());
  if (!module) {
    throw Refusal("LLVM cannot read " + name_of(library) + ": " + problem.getMessage().str(),
                  kHelp);
  }
  const llvm::Triple own(module->getTargetTriple()), wanted(like.getTargetTriple());
  if (own.getArch() != llvm::Triple::UnknownArch && own.getArch() != wanted.getArch()) {
    throw Refusal(name_of(library) + " is for " + own.getArchName().str() +
                      ", and the kernels are "
                      "for " +
                      wanted.getArchName().str(),
                  kHelp);
  }
  module->setTargetTriple(like.getTargetTriple());
  module->setDataLayout(like.getDataLayout());
  return module;
}

// Makes all functions of imported code the module's own.
void keep_inside(llvm::Module& code) {
  for (llvm::Function& function : code) {
    if (function.isDeclaration()) continue;
    for (const char* attribute : {"target-cpu", "target-features", "tune-cpu"})
      function.removeFnAttr(attribute);
    if (!function.hasLocalLinkage()) function.setLinkage(llvm::Function::LinkOnceODRLinkage);
    function.setComdat(nullptr);
  }
}

}  // namespace

llvm::Value* emit_imported_call(llvm::IRBuilder<>& b, std::string_view name, llvm::Type* result,
                                llvm::ArrayRef<llvm::Value*> arguments) {
  std::vector<llvm::Type*> types;
  for (const llvm::Value* each : arguments) types.push_back(each->getType());
  return b.CreateCall(b.GetInsertBlock()->getModule()->getOrInsertFunction(
                          name, llvm::FunctionType::get(result, types, false)),
                      arguments);
}

void link_imported_code(llvm::Module& module, const ir::Program& program) {
  std::map<std::string, std::vector<std::string>> names;  // by library
  for (const ir::Foreign& each : program.foreign) {
    if (is_imported_code(each.library)) names[each.library].push_back(each.text);
  }
  if (names.empty()) return;
  for (const auto& [library, functions] : names) {
    std::unique_ptr<llvm::Module> code = parsed(library, module);
    for (const std::string& name : functions) {
      const llvm::Function* called = module.getFunction(name);
      const llvm::Function* given = code->getFunction(name);
      if (called == nullptr) continue;  // no kernel of this module calls it
      if (given == nullptr || given->isDeclaration())
        throw Refusal(name_of(library) + " has no function '" + name + "'",
                      "define it with C's linkage: extern \"C\" in C++");
      if (given->getFunctionType() != called->getFunctionType())
        throw Refusal("'" + name + "' has other types in " + name_of(library) + " than in its call",
                      "pass what the function takes: pointers by access_ptr, and numbers of its "
                      "types by te.const or astype; name its result first");
    }
    keep_inside(*code);
    if (llvm::Linker::linkModules(module, std::move(code), llvm::Linker::LinkOnlyNeeded))
      throw Refusal("LLVM cannot link " + name_of(library), kHelp);
    for (const std::string& name : functions) {
      llvm::Function* function = module.getFunction(name);
      if (function == nullptr) continue;
      function->removeFnAttr(llvm::Attribute::NoInline);
      function->removeFnAttr(llvm::Attribute::OptimizeNone);
      function->addFnAttr(llvm::Attribute::AlwaysInline);
      function->setLinkage(llvm::Function::InternalLinkage);
    }
  }
  for (llvm::Function& function : module) {
    if (function.hasLinkOnceODRLinkage()) function.setLinkage(llvm::Function::InternalLinkage);
  }
}

}  // namespace texloom::codegen::native
