// Checks a program against the rules of the IR. A broken rule is a bug in the pass that made the
// program, never the user's mistake.
//
// Each distinct node is checked once in each scope where it occurs, so that the time is linear in
// the size of the program even if expressions share parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/program.h"
#include "ir/target/target.h"
#include "support/source_location.h"

namespace texloom::ir {

enum class Rule : uint8_t {
  Nodes,        // a node occurs only at the stages of its row in the table of verify_stages.cc
  Types,        // operands agree in type and lanes; conditions are bool, indices int32 or int64;
                // memory is read and written as its element type (Legalized: or a wider one)
  Buffers,      // a buffer's shape, layout, memory scope, element type and origin fit together
  Definitions,  // variables and buffers are used only inside their definition, and not defined
                // again there
  Visibility,   // a kernel uses its parameters and its own shared and local buffers, nothing else
  Textures,     // texture nodes access textures, from stage Flattened on, and nothing else
  Access,       // a kernel's parameters are declared with the accesses that its body makes, and no
                // texture is both read and written
  Axes,         // a kernel has each thread tag once, in order, and its grid and block are their
                // extents
  Barriers,     // all threads of a block reach a barrier or a shuffle, or none does
  Bounds,       // an index is proven to be inside its buffer, unless a condition of an enclosing
                // statement or operation guards it; arrays of symbolic extents are not checked
  Padding,      // nothing is computed from undefined padding, and padding that is stated to be
                // zero is written as zero; verify_padding.h says how far this is checked
  Plan,         // kernels exist from stage Kernels on and have distinct names; a launch is
                // inside the loops whose variables it passes, and passes only variables and
                // buffers of the plan; memory of the plan is freed once, in the loop that
                // allocates it, and not used later
  Limits,       // a kernel needs no more than the target has, and shuffles only in SIMD-groups
  Fragments,    // kernels access elements of fragments that are known: registers have no addresses
};
// "nodes", "types", ...
std::string_view to_string(Rule rule);

// An index of a buffer's element that is not proven to be in 0..extent of the axis.
struct IndexFault {
  std::string index;  // the text of the index
  std::string buffer;
  size_t axis = 0;
  int64_t extent = 0;
};

struct Violation {
  Rule rule = Rule::Nodes;
  std::string node;                                // the node's text, or its kind if it is large
  std::string problem;                             // lower case, without a final stop
  SourceLocation location;                         // of the node, else of the enclosing statement
  std::optional<IndexFault> index = std::nullopt;  // for rule Bounds and an element of a buffer
};

struct VerifyOptions {
  const Target* target = nullptr;  // whose limits apply; null: no limits
  // Whether to check Bounds and Padding. Not needed if the interpreter is to run the program, since
  // it checks every access.
  bool check_accesses = true;
};

// The first 50 violations in `program`, in the order of its text.
std::vector<Violation> find_violations(const Program& program, VerifyOptions options = {});

// Throws an InternalError that lists the violations, if there are any.
void verify(const Program& program, VerifyOptions options = {});

}  // namespace texloom::ir
