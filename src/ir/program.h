// A program: what a schedule lowers to, at each stage of the pipeline.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "ir/buffer.h"
#include "ir/stmt.h"

namespace texloom::ir {

// What may stand in a program; each pass states its stage in and out (lower/pipeline.cc).
enum class ProgramStage : uint8_t {
  Te,         // computes and their schedule (src/schedule); the program itself is empty
  Loops,      // one loop nest for each root stage, N-d accesses, thread axes as loops
  Flattened,  // texels and linear offsets
  Kernels,    // kernels of their own and a launch plan
  Legalised,  // only what the backend's printer spells
};
std::string_view to_string(ProgramStage stage);

// A buffer or texture (then `buffer` is set) or a scalar constant (then `scalar` is): an origin
// word of a texture, a loop variable of the plan or a symbol of the program.
struct KernelParam {
  Buffer buffer;
  Access access = Access::Read;
  Expr scalar;
  Expr extent = {};  // of the plan's loop, where `scalar` is its variable: from 0 to extent - 1
};
// What a kernel takes by value: of 32 or 64 bits.
inline bool is_kernel_scalar(Type type) { return type.is_scalar() && type.bits >= 32; }

// `var` is what the kernel's body calls this thread index.
struct ThreadAxis {
  ThreadTag tag;
  Expr var;
  Expr extent;  // of threads a constant; of blocks what the plan knows where it launches them
};

struct Kernel {
  std::string name;
  std::vector<KernelParam> params;
  std::vector<ThreadAxis> axes;  // blockIdx before threadIdx, x before y; each tag once
  std::array<Expr, 3> grid{make_int(1), make_int(1), make_int(1)};  // blocks
  std::array<int64_t, 3> block{1, 1, 1};                            // threads of a block
  Stmt body;
  SourceLocation location;
};

// A symbol is a scalar variable that has a value for each call: extents of the call's arrays, or an
// argument. Those of int32 may be in extents, and are then not beyond 2^30. Extents of parameters
// are at least 1, and no array of symbolic extents has more than 2^30 elements: the call checks it.
struct Program {
  std::string name;
  ProgramStage stage = ProgramStage::Loops;
  Exprs symbols;  // Vars; kernels get those that they use as scalar parameters
  std::vector<Buffer> params;
  // The loops, with a Nest for each kernel to be; from stage Kernels on the launch plan:
  // allocations, loops, launches. Each iteration of a loop outside the nests launches anew.
  Stmt body;
  std::vector<Kernel> kernels;  // from stage Kernels on
  // Global memory that the call makes for the kernels: there from the first statement of the body
  // that uses it until a Free. A list, not allocations around one another, because there may be as
  // many as there are stages; an Allocate in the body is for memory that each iteration of a loop
  // has anew.
  std::vector<Buffer> temporaries = {};
  // C text for the front of the kernels' source, each once: it defines what foreign calls call.
  std::vector<std::string> foreign = {};
};

struct PrintOptions {
  // Behind statements, parameters and kernels ` @"file":line`, or ` @?` where it is not known.
  bool locations = false;
};

// The text form (.tl): docs/text_form.md. Of a whole program it holds everything that parse_program
// (ir/parse.h) needs to make it again.
std::string to_string(const Program& program, PrintOptions options = {});
std::string to_string(const Kernel& kernel);
std::string to_string(const Stmt& stmt);
std::string to_string(const Expr& expr);

}  // namespace texloom::ir
