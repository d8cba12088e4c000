// Programs, and an introduction to the intermediate representation of Texloom.
//
// A *tensor* (tensor.h) names the values of an index space that an operation of the te stage
// computes. A *schedule* says how to compute them. Lowering turns both into a *program*: parameters
// and a body, later kernels. The body is a tree of *statements* (stmt.h) over *expressions*
// (expr.h). All these objects are immutable and shared through reference-counted handles; passes
// build new ones. nodes.def lists the kinds of nodes once, visit.h visits and rewrites them,
// accesses.h finds their accesses to memory.
//
// *Buffers* (buffer.h) declare memory. A buffer has an element type, a logical shape, a memory
// scope (global, shared, local) and a *layout* (layout/layout.h), the map from logical indices to
// rows, columns and lanes. A layout of the object kind Image2d makes the buffer a texture, which
// only TextureLoad and TextureStore access: one texel of four lanes at column x and row y. The
// *origin* of a texture is the place of its rectangle in its image: (0, 0), or two scalar
// parameters of the kernel. The layout also says what padding (coordinates without an element)
// holds: zeros or unspecified values. Scope strings such as "texture:weight" spell a memory scope
// and a layout rule; only their parser (scope.h) knows them.
//
// A program passes through *stages*: Loops (N-d Load and Store, thread axes as For loops with a
// tag), Flattened (linear offsets and texels), Kernels (kernels and a launch plan) and Legalized
// (only what the backend's printer can spell). verify/verify.h lists what each stage allows,
// lower/pipeline.h the passes.
//
// Rounding is explicit: a product and a sum round twice, Fma rounds once, and printers never let a
// device compiler choose. Index expressions are int32; the linear offset into a buffer is int64
// where int32 may not suffice.
//
// Index arithmetic does not overflow: sums and products of signed integers of 32 or 64 bits stay
// within their type. The exception is arithmetic on values from memory (arith/linear.h defines
// them), which wraps. The creator of a program guarantees this: lower/schedule/check_schedule.h
// refuses schedules that would overflow, and a variable without known bounds is assumed to be far
// from the ends of its type. Proofs about indices and signed arithmetic in printed code rely on it,
// so a rewriting may not introduce a sum that could leave its type.
//
// interpret/interpret.h defines the meaning of programs by running them. It reports races,
// divergent barriers, out-of-bounds accesses and uses of undefined values. At stage te it runs
// computes, scans and externs without a schedule (validation/unscheduled.h): the oracle that
// lowered programs are compared with.
//
// A program may call *foreign* functions, which its C text defines (ForeignCall). Their behavior is
// unknown; they are trusted to access no more than their pointers allow. They are not interpreted.
//
// Every node knows the line of the user's program that it came from; passes preserve it.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "ir/buffer.h"
#include "ir/stmt.h"

namespace texloom::ir {

// The kinds of nodes that a program may contain. Each pass states the stages of its input and its
// output (lower/pipeline.cc).
enum class ProgramStage : uint8_t {
  Te,         // computes and their schedule (src/schedule); the program itself is empty
  Loops,      // a loop nest for each root stage, N-d accesses, thread axes as loops
  Flattened,  // texels and linear offsets
  Kernels,    // separate kernels and a launch plan
  Legalized,  // only what the backend's printer can spell
};
std::string_view to_string(ProgramStage stage);

// A buffer or texture (then `buffer` is set) or a scalar constant (then `scalar` is set): a
// coordinate of a texture's origin, a loop variable of the plan or a symbol of the program.
struct KernelParam {
  Buffer buffer;
  Access access = Access::Read;
  Expr scalar;
  Expr extent = {};  // if `scalar` is a loop variable of the plan: it runs from 0 to extent - 1
};
// Whether a kernel can take a value of this type: scalars of 32 or 64 bits.
inline bool is_kernel_scalar(Type type) { return type.is_scalar() && type.bits >= 32; }

// A thread index, which the kernel's body reads as `var`.
struct ThreadAxis {
  ThreadTag tag;
  Expr var;
  Expr extent;  // constant for threads; for blocks an expression that the plan evaluates
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

// A parameter of a foreign function: a scalar, or a pointer to elements of the type.
struct ForeignParam {
  Type type;
  bool is_pointer = false;

  bool operator==(const ForeignParam&) const = default;
};

// Code from outside of the IR, which defines functions that kernels call.
struct Foreign {
  enum class Kind : uint8_t {
    Text,    // C: it goes once in front of the kernels' source
    Symbol,  // a function of a library that is linked to the code of the kernels
  };
  Kind kind = Kind::Text;
  std::string text;  // the C text, or the name of the symbol
  // For a symbol: its signature, and the library that has its code.
  std::vector<ForeignParam> params = {};
  Type result = kInt32;
  std::string library = {};
  SourceLocation location = {};

  bool is_symbol() const { return kind == Kind::Symbol; }
  // Compares everything but the locations.
  bool operator==(const Foreign& other) const {
    return kind == other.kind && text == other.text && params == other.params &&
           result == other.result && library == other.library;
  }
};

// A symbol is a scalar variable with one value for each call: an extent of the call's arrays, or an
// argument. Extents may contain int32 symbols, which are then at most 2^30. Extents of parameters
// are 0 or more, and an array of symbolic extents has at most 2^30 elements: each call checks
// these limits.
struct Program {
  std::string name = {};
  ProgramStage stage = ProgramStage::Loops;
  Exprs symbols = {};  // Vars; scalar parameters of the kernels that use them
  std::vector<Buffer> params = {};
  // The loops, with a Nest for each future kernel. From stage Kernels on it is the launch plan:
  // allocations, loops and launches. A loop outside the nests launches its kernels in every
  // iteration.
  Stmt body = {};
  std::vector<Kernel> kernels = {};  // from stage Kernels on
  // Global memory that the call allocates for the kernels. A buffer lives from the first statement
  // of the body that uses it until a Free. The buffers are a list rather than nested allocations,
  // because there may be as many temporaries as stages. An Allocate in the body is memory that each
  // iteration of a loop allocates again.
  std::vector<Buffer> temporaries = {};
  std::vector<Foreign> foreign = {};  // the definitions of the foreign functions

  // The entry that declares a function as a symbol; null if there is none.
  const Foreign* symbol_named(std::string_view function) const {
    const auto found = std::ranges::find_if(
        foreign, [&](const Foreign& each) { return each.is_symbol() && each.text == function; });
    return found == foreign.end() ? nullptr : &*found;
  }
};

struct PrintOptions {
  // Prints ` @"file":line` after statements, parameters and kernels, or ` @?` if the place is
  // unknown.
  bool locations = false;
};

// The text form (.tl), docs/text_form.md. The text of a program contains all that parse_program
// (ir/text/parse.h) needs to restore it.
std::string to_string(const Program& program, PrintOptions options = {});
std::string to_string(const Kernel& kernel);
std::string to_string(const Stmt& stmt);
std::string to_string(const Expr& expr);

}  // namespace texloom::ir
