// The state that passes transform: first a schedule with its arguments, later a program.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/program.h"
#include "ir/target/target.h"
#include "schedule/schedule.h"
#include "support/diagnostic.h"

namespace texloom::lower {

// The storage of a parameter's array if it differs from the schedule's: decl_buffer in Python.
struct BufferDeclaration {
  std::string name;
  ir::Type type;
  ir::Exprs shape;  // the tensor's
  ir::StorageScope scope;
  // A texture whose position in its image is passed with each call.
  bool has_origin = false;
  bool exact_image = false;  // ir/buffer.h
  SourceLocation location;
  std::optional<ir::LayoutPattern> layout = {};  // instead of the scope's own rule
};

struct Argument {
  ir::Tensor tensor;
  std::optional<BufferDeclaration> declaration;
};

// A variable whose value the caller passes, as a number.
struct SymbolArgument {
  ir::Expr symbol;
  size_t position = 0;  // among all values that the caller passes
  ir::Type type;        // of the value; kernels may get it in a wider type
};

// An index that check_accesses tests.
struct CheckedIndex {
  std::string buffer;
  size_t axis = 0;
  ir::Expr extent;  // the exclusive upper bound; made of constants or symbols
  SourceLocation location;
};

// A loop whose directive made copies of its body.
struct Unrolling {
  SourceLocation location;  // of the directive
  std::string loop;
  int64_t copies = 0;
  int64_t stores = 0;  // the stores in all copies together
  // The number of the kernel that contains the loop, which is the number of the loop's nest, since
  // no pass before split_kernels drops a nest.
  size_t kernel = 0;
};

struct Lowering {
  schedule::Schedule schedule;  // a copy: passes change it
  std::vector<Argument> arguments;
  std::vector<SymbolArgument> symbol_arguments;  // the symbols among the arguments, by position
  ir::Target target;
  SourceLocation location;  // of the call of lower or build
  // Empty, and at stage Te, until build_loops makes the program.
  ir::Program program = {.stage = ir::ProgramStage::Te};
  // The layouts of the caller's arrays, in the order of the arguments: the layouts of the program's
  // parameters, but with the shapes that transform_layout gave.
  std::vector<ir::Layout> array_layouts;
  // Describes each bad index that the program may write to its last parameter (check_accesses.h),
  // in the order of that parameter's elements; empty if there is no such parameter.
  std::vector<CheckedIndex> checks;
  std::vector<Unrolling> unrollings;
  std::vector<Diagnostic> warnings;
  bool verify_each = false;  // verify the program after every pass, not only at the end
};

}  // namespace texloom::lower
