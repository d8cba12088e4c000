// Makes a program at stage te from a schedule and the arguments of lower() or build().
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ir/target/target.h"
#include "lower/lowering.h"
#include "schedule/schedule.h"

namespace texloom::compile {

// The storage of an argument as decl_buffer declares it. Strides and offset must hold for every
// array of the shape.
struct DeclaredArgument {
  lower::BufferDeclaration declaration;
  std::string name;  // the name of the buffer in messages
  ir::Exprs strides = {};
  ir::Expr offset = {};

  bool is_view() const { return !strides.empty() || offset; }
};

struct Binding {
  ir::Tensor tensor;
  DeclaredArgument buffer;
};

// An argument of a call: a tensor, or a variable that is passed by value.
using ProgramArgument = std::variant<ir::Tensor, ir::Expr>;

struct TeProgramDesc {
  schedule::Schedule schedule;
  std::vector<ProgramArgument> arguments;
  std::vector<Binding> bindings;  // for tensors among the arguments
  std::string name;
  ir::Target target;
  SourceLocation location;  // where the user's call is
};

// Fails with BadArguments for a variable that is not a scalar, and with BadBinding for a binding of
// a tensor that is not an argument, or whose strides or offset do not hold for every array.
lower::Lowering te_program(TeProgramDesc desc);

}  // namespace texloom::compile
