// LLVM's optimizer and code generator, for one processor.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "codegen/llvm/plugin_api.h"

namespace texloom::codegen::native {

// Throws std::runtime_error, with LLVM's words, for a triple, a processor or a feature that LLVM
// does not know.
std::unique_ptr<llvm::TargetMachine> make_machine(const texloom_llvm_machine& machine);

void optimize(llvm::Module& module, llvm::TargetMachine& machine);

// The bytes of an object file. Throws std::runtime_error if LLVM cannot write one.
std::string object_of(llvm::Module& module, llvm::TargetMachine& machine);

// Gives the module its note (support/processor/native_code.h).
void add_note(llvm::Module& module, const llvm::TargetMachine& machine);

// The bytes of one object with the functions of object files. Throws std::runtime_error with the
// linker's messages. Calls run one after another.
std::string linked(std::span<const std::string_view> objects, texloom_llvm_linked kind);

}  // namespace texloom::codegen::native
