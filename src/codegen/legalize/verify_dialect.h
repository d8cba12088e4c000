// Checks that a language can spell a legalized program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "codegen/legalize/dialect.h"
#include "ir/program.h"
#include "support/source_location.h"

namespace texloom::codegen {

// The rules that printers rely on besides those of stage Legalized (ir/verify/verify.h), which say
// which nodes stand in a kernel, and that shared arrays are allocated around everything else.
enum class DialectRule : uint8_t {
  Widths,      // vectors have lanes that the dialect has
  Lanes,       // Lane has a constant index, inside the vector
  Accesses,    // a vector access has the index ramp(base, 1, lanes); there is no other Ramp
  Types,       // a value is of a type that the dialect computes in; of float16 that stands in
               // memory alone there are roundings, float32(float16(x)) of a float32 or float64 x;
               // nothing is cast to bool, for that is a comparison
  Memory,      // a load or a store is of the type that holds the buffer's elements
               // (Dialect::loaded), and so are the arrays that a kernel allocates
  Texels,      // texels are float32x4, int32x4 or uint32x4, and float16x4 if values may be
  Promotions,  // an operation on scalar integers is of at least 32 bits and not of bools, so that
               // C's promotions change nothing: comparisons, And, Or, Min and Max of integers, and
               // Selects of bools are of any
  Divisions,   // FloorDiv and FloorMod are of int32 and int64
  Conditions,  // a vector of bools stands where the dialect has it. As Masks they are the condition
               // of a Select: comparisons of elements as wide as the Select's, or And, Or and Not
               // of such. Both branches may be evaluated. A Select with a scalar condition
               // evaluates one of them
};
// "widths", "lanes", ...
std::string_view to_string(DialectRule rule);

struct DialectViolation {
  DialectRule rule = DialectRule::Widths;
  std::string node;     // its text
  std::string problem;  // lower case, without a final stop
  SourceLocation location;
};

// The first 50 nodes of the program's kernels that break a rule, in the order of its text. The
// program is at stage Legalized and keeps the rules of that stage.
std::vector<DialectViolation> find_violations(const ir::Program& program, const Dialect& dialect);

// Throws an InternalError that lists them when there are any.
void verify_dialect(const ir::Program& program, const Dialect& dialect);

}  // namespace texloom::codegen
