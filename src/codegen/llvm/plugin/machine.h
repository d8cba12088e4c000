// LLVM's optimizer and code generator, for one processor.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "codegen/llvm/plugin_api.h"

namespace texloom::codegen::native {

// What a user can mend, and how: a machine that LLVM does not know, a full disk. Any other
// exception is a bug in Texloom.
class Refusal : public std::runtime_error {
 public:
  Refusal(const std::string& message, std::string help)
      : std::runtime_error(message), help_(std::move(help)) {}
  const std::string& help() const { return help_; }

 private:
  std::string help_;
};

// Throws Refusal for a triple, a processor or a feature that LLVM does not know, or for which it
// makes no 64-bit code in ELF objects.
std::unique_ptr<llvm::TargetMachine> make_machine(const texloom_llvm_machine& machine);

void optimize(llvm::Module& module, llvm::TargetMachine& machine);

// The bytes of an object file. Throws Refusal if LLVM writes none for the processor. Long blocks
// are scheduled once only: the machine's level of optimization is lowered for them.
std::string object_of(llvm::Module& module, llvm::TargetMachine& machine);

// Gives the module its note (support/processor/native_code.h).
void add_note(llvm::Module& module, const llvm::TargetMachine& machine);

// The bytes of one object with the functions of object files. Throws Refusal if there is no room
// for temporary files. Calls run one after another.
std::string linked(std::span<const std::string_view> objects, texloom_llvm_linked kind);

}  // namespace texloom::codegen::native
