// Checks that a kernel language can spell a legalized program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "codegen/legalize/dialect.h"
#include "ir/program.h"
#include "support/source_location.h"

namespace texloom::codegen {

// The rules that printers rely on in addition to those of stage Legalized (ir/verify/verify.h),
// which specify the nodes of a kernel and that shared arrays are allocated around everything else.
enum class DialectRule : uint8_t {
  Widths,      // vectors have numbers of lanes that the dialect has
  Lanes,       // Lane has a constant index inside the vector
  Accesses,    // a vector access has the index ramp(base, 1, lanes); there is no other Ramp. With
               // PointerModel::Logical, all accesses of an array have one width, and are aligned
  Types,       // values have types that the dialect computes in; a float16 or bfloat16 that is only
               // in memory occurs only in roundings float32(float16(x)) of a float32 or float64 x;
               // nothing is cast to bool: a comparison does that
  Memory,      // a load or a store has the type that holds the buffer's elements
               // (Dialect::loaded), and so have the arrays that a kernel allocates
  Texels,      // texels are float32x4, int32x4 or uint32x4, or float16x4 if values may be float16
  Promotions,  // there is no arithmetic of bools; with IntegerRules::C, operations on scalar
               // integers have at least 32 bits, so that C's promotions change nothing;
               // comparisons, And, Or, Min and Max of integers, and Selects of bools are exempt
  Divisions,   // FloorDiv and FloorMod are of int32 and int64, with IntegerRules::Wraps of all
               // signed integers
  Conditions,  // vectors of bools occur only where the dialect allows. As Masks they are conditions
               // of Selects: comparisons of elements as wide as the Select's, or And, Or and Not of
               // these. Both branches may be evaluated. A Select with a scalar condition evaluates
               // only one branch
  Shuffles,    // threads exchange only values that the dialect shuffles
  Fragments,   // steps of fragments are only in dialects that have them
  Copies,      // asynchronous copies are only in dialects that have them
  Fences,      // blocks exchange values only if the dialect has a fence for them
  Functions,   // calls are of functions that the dialect has, or that have a definition for
               // languages without them (function_definitions.h)
  Foreign,     // foreign code is called only where the dialect has it, and pointers exist
};
// "widths", "lanes", ...
std::string_view to_string(DialectRule rule);

struct DialectViolation {
  DialectRule rule = DialectRule::Widths;
  std::string node;     // its text
  std::string problem;  // lower case, without a final stop
  SourceLocation location;
};

// The first 50 nodes of the program's kernels that break a rule, in the order of the program's
// text. The program is at stage Legalized and keeps the rules of that stage.
std::vector<DialectViolation> find_violations(const ir::Program& program, const Dialect& dialect);

// Purpose: checks that kernels contain only what the printer can spell.
// Requires: stage legalized.
// Ensures: the same program; there are no violations. Throws an InternalError that lists them if
//   there are any.
// Order: last, before the printer.
// Example:
//   a vector of 5 lanes    ->    internal error
void verify_dialect(const ir::Program& program, const Dialect& dialect);

}  // namespace texloom::codegen
