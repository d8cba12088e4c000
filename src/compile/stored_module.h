// Converts compiled modules to plain values for files, and back.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compile/module.h"

namespace texloom::compile {

struct StoredKernel {
  std::string name, source;  // as passed to the device
};
// An array that is passed to a call.
struct StoredArray {
  ir::Shape shape;
  std::string layout;
  bool is_output = false;  // the program computes it
};
// A number that is passed to a call.
struct StoredValue {
  size_t position = 0;  // among the arguments
  size_t symbol = 0;    // the symbol it is the value of, by its number in the program
  std::string dtype;
};

struct StoredModule {
  std::string program;  // the text form, at stage legalized
  std::string target;
  std::vector<StoredKernel> kernels = {};
  std::vector<StoredArray> arrays = {};
  std::vector<StoredValue> values = {};
  std::optional<double> operations = {};  // of a run, if they are known and depend on no symbol
};

// The checks of a checked module are not stored.
StoredModule store(const CompiledModule& module);

// `file` is the name of the program's text in messages. Does not trust stored values: the parser
// and the verifier check the program. Fails with BadModuleFile, at `where`, if the parts do not fit
// each other.
CompiledModule load(const StoredModule& stored, const std::string& file,
                    const SourceLocation& where);

// Fails with BadModuleFile.
[[noreturn]] void refuse_module_file(std::string_view problem, const SourceLocation& where);

}  // namespace texloom::compile
