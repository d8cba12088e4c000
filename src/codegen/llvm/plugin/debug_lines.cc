#include "codegen/llvm/plugin/debug_lines.h"

#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/DebugInfoMetadata.h>

namespace texloom::codegen::native {

DebugLines::DebugLines(llvm::Module& module) : builder_(module) {
  module.addModuleFlag(llvm::Module::Warning, "Debug Info Version",
                       uint32_t{llvm::DEBUG_METADATA_VERSION});
  module.addModuleFlag(llvm::Module::Warning, "Dwarf Version", uint32_t{4});
  unit_ =
      builder_.createCompileUnit(llvm::dwarf::DW_LANG_C99, builder_.createFile("kernels", "."),
                                 "Texloom", true, "", 0, "", llvm::DICompileUnit::LineTablesOnly);
}

llvm::DIFile* DebugLines::file(const SourceLocation& location) {
  const std::string name = location.known() ? *location.file : "kernels";
  llvm::DIFile*& made = files_[name];
  if (made == nullptr) {
    const size_t slash = name.rfind('/');
    made = slash == name.npos ? builder_.createFile(name, ".")
                              : builder_.createFile(name.substr(slash + 1), name.substr(0, slash));
  }
  return made;
}

void DebugLines::begin(llvm::Function& function, const ir::Kernel& kernel) {
  llvm::DIFile* place = file(kernel.location);
  const auto line = static_cast<unsigned>(kernel.location.line);
  llvm::DISubroutineType* type = builder_.createSubroutineType(builder_.getOrCreateTypeArray({}));
  function.setSubprogram(builder_.createFunction(
      place, kernel.name, function.getName(), place, line, type, line, llvm::DINode::FlagZero,
      llvm::DISubprogram::SPFlagDefinition | llvm::DISubprogram::SPFlagOptimized |
          llvm::DISubprogram::SPFlagLocalToUnit));
}

llvm::DebugLoc DebugLines::at(const llvm::Function& function, const SourceLocation& location) {
  llvm::DISubprogram* function_place = function.getSubprogram();
  llvm::LLVMContext& context = function.getContext();
  if (!location.known())
    return llvm::DILocation::get(context, function_place->getLine(), 0, function_place);
  llvm::DILocalScope* scope = function_place;
  llvm::DIFile* place = file(location);
  if (place != function_place->getFile())
    scope = builder_.createLexicalBlockFile(function_place, place);
  return llvm::DILocation::get(context, static_cast<unsigned>(location.line), 0, scope);
}

}  // namespace texloom::codegen::native
