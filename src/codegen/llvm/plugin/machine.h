// LLVM's optimizer and code generator, for one processor.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <string>

#include "codegen/llvm/plugin_api.h"

namespace texloom::codegen::native {

// Throws std::runtime_error, with LLVM's words, for a triple, a processor or a feature that LLVM
// does not know.
std::unique_ptr<llvm::TargetMachine> make_machine(const texloom_llvm_machine& machine);

void optimize(llvm::Module& module, llvm::TargetMachine& machine);

// The bytes of an object file. Throws std::runtime_error if LLVM cannot write one.
std::string object_of(llvm::Module& module, llvm::TargetMachine& machine);

// The bytes of a shared object with the functions of an object file, which the system's loader can
// load. Throws std::runtime_error with the linker's messages. Calls run one after another.
std::string shared_object_of(const std::string& object);

}  // namespace texloom::codegen::native
