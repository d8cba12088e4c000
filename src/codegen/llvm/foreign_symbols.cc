#include "codegen/llvm/foreign_symbols.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "codegen/llvm/mmt4d.h"
#include "support/diagnostic.h"

namespace texloom::codegen::native {

namespace {

void check_code(const ir::Foreign& symbol) {
  std::error_code unknown;
  if (!is_code_file(symbol.library) || std::filesystem::is_regular_file(symbol.library, unknown))
    return;
  fail(symbol.location, Code::FileError, "give the path of a file that clang -emit-llvm wrote",
       "there is no file '{}', from which '{}' is imported", symbol.library, symbol.text);
}

// The signature of micro-kernels, with the meaning of mmt4d_tile (microkernels/mmt4d.h):
// (pointer sums, pointer left, pointer right, int64 k1, int32 flags): int32, which is 0.
bool has_types_of_microkernels(const ir::Foreign& symbol) {
  const auto pointer = [](const ir::ForeignParam& param) { return param.is_pointer; };
  return symbol.result == ir::kInt32 && symbol.params.size() == 5 &&
         std::all_of(symbol.params.begin(), symbol.params.begin() + 3, pointer) &&
         symbol.params[3] == ir::ForeignParam{ir::kInt64} &&
         symbol.params[4] == ir::ForeignParam{ir::kInt32};
}

void check_microkernel(const ir::Foreign& symbol, const ir::Target& target,
                       const std::vector<Mmt4dVariant>& variants) {
  const bool is_known = std::ranges::any_of(
      variants, [&](const Mmt4dVariant& variant) { return variant.name == symbol.text; });
  if (!is_known) {
    fail(symbol.location, Code::NotProvided,
         "choose a tile by texloom.target.mmt4d_tile for the target that you build for",
         "'{}' is not a micro-kernel that the target '{}' can run", symbol.text, to_string(target));
  }
  if (has_types_of_microkernels(symbol)) return;
  fail(symbol.location, Code::BadForeignCall,
       "pass pointers to the sums, the left and the right side, k1 as int64 and flags as int32",
       "the arguments of '{}' are not those of a micro-kernel", symbol.text);
}

}  // namespace

void check_symbols(const ir::Program& program, const ir::Target& target) {
  if (program.foreign.empty()) return;
  const std::vector<Mmt4dVariant> variants = mmt4d_variants(target);
  for (const ir::Foreign& each : program.foreign) {
    if (each.library == kMicrokernels) {
      check_microkernel(each, target, variants);
    } else if (is_imported_code(each.library)) {
      check_code(each);
    } else {
      fail(each.location, Code::NotProvided,
           "import functions of the library \"mmt4d\", or of a file with LLVM's code, such as "
           "functions.bc",
           "the target '{}' has no library '{}', which '{}' is from", to_string(target),
           each.library, each.text);
    }
  }
}

}  // namespace texloom::codegen::native
