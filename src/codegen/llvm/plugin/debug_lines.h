// Debug information: the user's lines in the code of kernels.
#pragma once

#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/Module.h>

#include <map>
#include <string>

#include "ir/program.h"
#include "support/source_location.h"

namespace texloom::codegen::native {

class DebugLines {
 public:
  explicit DebugLines(llvm::Module& module);

  // Gives the function a place, the kernel's.
  void begin(llvm::Function& function, const ir::Kernel& kernel);
  // The place of an instruction of the function; the function's own for an unknown location.
  llvm::DebugLoc at(const llvm::Function& function, const SourceLocation& location);
  // Call this once, after the last function.
  void finish() { builder_.finalize(); }

 private:
  llvm::DIFile* file(const SourceLocation& location);

  llvm::DIBuilder builder_;
  llvm::DICompileUnit* unit_ = nullptr;
  std::map<std::string, llvm::DIFile*> files_;
};

}  // namespace texloom::codegen::native
