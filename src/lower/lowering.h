// What passes work on: a schedule with its arguments at first, a program later.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/program.h"
#include "ir/target/target.h"
#include "schedule/schedule.h"
#include "support/diagnostic.h"

namespace texloom::lower {

// How a parameter's array lies in memory, when that is not what the schedule says: decl_buffer
// in Python.
struct BufferDeclaration {
  std::string name;
  ir::Type type;
  ir::Exprs shape;  // the tensor's
  ir::StorageScope scope;
  // A texture whose place in its image is given at each call.
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
  size_t position = 0;  // among all that the caller passes
  ir::Type type;        // which the value has; kernels may get it in a wider one
};

// An index that check_accesses tests.
struct CheckedIndex {
  std::string buffer;
  size_t axis = 0;
  ir::Expr extent;  // which it lies below; of constants or symbols
  SourceLocation location;
};

struct Lowering {
  schedule::Schedule schedule;  // a copy: passes change it
  std::vector<Argument> arguments;
  std::vector<SymbolArgument> symbol_arguments;  // between those, in the order of their positions
  ir::Target target;
  SourceLocation location;  // of the call of lower or build
  ir::Program program;      // empty until build_loops
  // How the caller's arrays lie, in the order of the arguments: as the parameters of the program,
  // but of the shape that transform_layout gave.
  std::vector<ir::Layout> array_layouts;
  // What a bad index means that the program writes into its last parameter (check_accesses.h), by
  // its place there; empty when there is no such parameter.
  std::vector<CheckedIndex> checks;
  std::vector<Diagnostic> warnings;
  bool verify_each = false;  // verify the program after every pass, not only at the end
};

}  // namespace texloom::lower
