// Checks a program against the rules of the IR. A program that breaks one is a bug of the pass
// that made it, never the user's mistake.
//
// Each distinct node is looked at once for each scope that it stands in, so that the time is
// linear in the size of the program even where expressions share their parts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/program.h"
#include "ir/target/target.h"
#include "support/source_location.h"

namespace texloom::ir {

enum class Rule : uint8_t {
  Nodes,        // a node stands only at the stages of its row in the table of verify_stages.cc
  Types,        // operands agree in type and lanes; conditions are bool, indices int32 or int64;
                // memory is read and written as its element type (Legalized: or a wider one)
  Buffers,      // a buffer's shape, layout, memory scope, element type and origin fit together
  Definitions,  // variables and buffers are used inside their definition only, and not defined
                // again there
  Visibility,   // a kernel uses its parameters and its own shared and local buffers, nothing else
  Textures,     // from Flattened on textures are accessed by texture nodes only, in Loops never;
                // buffers never by texture nodes
  Access,       // a kernel's parameters are declared as what the body does to them, and no
                // texture is both read and written
  Axes,         // a kernel has each thread tag once, in order, and its grid and block are their
                // extents
  Barriers,     // no barrier stands where some threads of a block pass and others do not
  Bounds,       // an index is proven to lie inside its buffer, unless a condition guards it: of a
                // statement around, or of an operand that may go unevaluated; nothing is asked of
                // arrays of symbolic extents
  Padding,      // nothing is computed from padding that is undefined, and padding that is stated
                // to be zero is written so: see verify_padding.h for how far that is looked into
  Plan,         // kernels exist from stage Kernels on, have names of their own, and are launched
                // with what the plan can see, in the loops that their parameters say; what it
                // allocates is freed once, in the same loop, and not used afterwards
  Limits,       // a kernel needs no more than the target has
};
// "nodes", "types", ...
std::string_view to_string(Rule rule);

struct Violation {
  Rule rule = Rule::Nodes;
  std::string node;         // its text; of a large expression the kind alone
  std::string problem;      // lower case, without a final stop
  SourceLocation location;  // of the node, else of the statement around it
};

struct VerifyOptions {
  const Target* target = nullptr;  // whose Limits hold; null: of none
  // Without it Bounds and Padding are not asked: of a program that the interpreter is to run, which
  // looks at every access.
  bool check_accesses = true;
};

// What is wrong with `program`, in the order of its text: the first 50 of it.
std::vector<Violation> find_violations(const Program& program, VerifyOptions options = {});

// Throws an InternalError that lists them when there are any.
void verify(const Program& program, VerifyOptions options = {});

}  // namespace texloom::ir
