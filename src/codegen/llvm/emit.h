// Has the LLVM plug-in make native code of kernels.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/compiled_code.h"
#include "ir/program.h"
#include "ir/target/target.h"
#include "support/function_ref.h"

namespace texloom::codegen::native {

// An object file (support/processor/native_code.h) with all kernels of a legalized program. Fails
// with UnknownTarget if the plug-in is not installed, and for a processor that LLVM does not know.
std::vector<CompiledCode> emit(const ir::Program& program, const ir::Target& target,
                               FunctionRef<void()> interruption);

// Where the plug-in is, why it cannot be used, and what to do: both empty if it can.
struct PluginState {
  std::string path;  // empty if no library was loaded
  std::string problem, help;
};
PluginState plugin_state();

// A processor, as LLVM knows it.
struct MachineDescription {
  std::string architecture;           // "x86_64", "aarch64"
  std::vector<std::string> features;  // "avx2", "fma"
  ir::Machine named;                  // with what "" and "native" stand for on this machine
};

// The machine of a target of kind Llvm. Fails as emit() does.
MachineDescription describe_machine(const ir::Target& target);

// The target with its processor by name, for keys of what outlives the process: "native" and a
// machine without a triple are others elsewhere. Fails as emit() does.
ir::Target with_named_processor(ir::Target target);

// A number of 48 bits that stands for texts in names (XXH3).
std::uint64_t digest(std::initializer_list<std::string_view> texts);

// Links object files, made for one target, to one object: a shared object, which the driver "host"
// loads, or again an object file. Fails like emit() without the plug-in, and with FileError if
// there is no room for temporary files.
enum class Linked { Shared, Relocatable };
std::string link(std::span<const std::string_view> objects, Linked kind);

}  // namespace texloom::codegen::native
