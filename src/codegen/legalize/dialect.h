// Describes what a kernel language can express, as a value.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "ir/buffer.h"
#include "ir/expr.h"
#include "ir/type.h"

namespace texloom::codegen {

// How many lanes vectors may have.
class VectorWidths {
 public:
  constexpr VectorWidths(std::initializer_list<int> widths) {
    for (const int lanes : widths) mask_ |= bit(lanes);
  }
  constexpr bool contains(int lanes) const {
    return lanes >= 1 && lanes <= ir::kMaxLanes && (mask_ & bit(lanes)) != 0;
  }
  constexpr bool operator==(const VectorWidths&) const = default;

 private:
  static_assert(ir::kMaxLanes <= 64);
  static constexpr uint64_t bit(int lanes) { return uint64_t{1} << (lanes - 1); }

  uint64_t mask_ = 0;
};

// A set of element functions.
class FunctionSet {
 public:
  static constexpr FunctionSet all() { return FunctionSet(~uint64_t{0}); }
  constexpr FunctionSet without(std::initializer_list<ir::Intrinsic> functions) const {
    FunctionSet rest = *this;
    for (const ir::Intrinsic each : functions) rest.mask_ &= ~bit(each);
    return rest;
  }
  constexpr FunctionSet without_dots() const {
    return without({ir::Intrinsic::DotU8S8, ir::Intrinsic::DotS8S8, ir::Intrinsic::DotU8U8,
                    ir::Intrinsic::DotS16S16});
  }
  constexpr bool contains(ir::Intrinsic function) const { return (mask_ & bit(function)) != 0; }
  constexpr bool operator==(const FunctionSet&) const = default;

 private:
  constexpr explicit FunctionSet(uint64_t mask) : mask_(mask) {}
  static constexpr uint64_t bit(ir::Intrinsic function) {
    return uint64_t{1} << static_cast<unsigned>(function);
  }

  uint64_t mask_;
};
static_assert(static_cast<unsigned>(ir::Intrinsic::DotS16S16) < 64, "a set has 64 functions");

// How vectors are accessed in an array.
enum class PointerModel : uint8_t {
  Casts,    // through a pointer to vectors: one array may have accesses of different widths
  Logical,  // the array has one type of elements: all accesses have one number of lanes
};

// The foreign code that kernels can call (ir::Foreign).
enum class ForeignCode : uint8_t { None, Text, Symbols };

// The semantics of the language's operations on integers.
enum class IntegerRules : uint8_t {
  C,      // scalars of less than 32 bits are promoted; overflow of signed integers is not defined
  Wraps,  // integers of every width wrap
};

// How a language chooses between the lanes of two vectors.
enum class VectorConditions : uint8_t {
  None,   // not at all: scalar conditions choose each lane, or whole vectors
  Bools,  // with vectors of bools, which are values like any other
  Masks,  // with comparisons, which give integers as wide as their operands: 0 or -1
};

// Where float16 may occur.
enum class HalfSupport : uint8_t {
  None,    // nowhere
  Memory,  // only in memory: values are float32, rounded as float32(float16(x))
  Values,  // everywhere
};

// Legalizing steps rewrite kernels into a dialect, and verify_dialect checks the result. The fields
// describe how languages differ; verify_dialect.h has the complete rules.
struct Dialect {
  std::string_view name;  // the language's name in messages
  VectorWidths vector_widths{2, 3, 4};
  VectorConditions vector_conditions = VectorConditions::None;
  PointerModel pointers = PointerModel::Casts;
  IntegerRules integers = IntegerRules::C;
  ForeignCode foreign = ForeignCode::Text;
  FunctionSet functions = FunctionSet::all();
  // Whether the backend prints definitions of float32 functions that the language lacks
  // (function_definitions.h).
  bool defines_functions = false;
  int storage_bits = 8;  // the width of the smallest elements in memory: 8, 16 or 32
  HalfSupport half = HalfSupport::Memory;
  // Whether memory holds bfloat16 as elements of this type; else as their bits, which are uint16.
  // Values are float32, rounded as float32(bfloat16(x)).
  bool bfloat16 = false;
  bool bools_in_memory = false;  // else memory holds them as uint8, 0 or 1
  bool float64 = false;
  bool int64 = true;
  bool shuffles = false;            // threads of a SIMD-group exchange values: ir::Shuffle
  bool fragments = false;           // SIMD-groups make steps of fragments: ir::FragmentStep
  bool async_copies = false;        // threads copy without waiting: ir::AsyncCopies
  bool device_fence = false;        // blocks of a launch exchange values: ir::LastBlock
  bool vector_trigonometry = true;  // sin, cos and tan of vectors are exact
  // The alignment in bytes of arguments and of arrays that threads share: a vector up to that size
  // is accessed at once if its index is a multiple of its lanes.
  int64_t alignment = 16;
  // The alignment in bytes of a thread's own arrays, which compilers keep in registers. Compilers
  // keep whole vectors only if all accesses of the array are of whole vectors.
  int64_t private_alignment = 16;
  // Help for users whose program needs a type that the language lacks.
  std::string_view without_float64 = "compute it in float32, or for a target with -float64=1";

  int64_t alignment_of(const ir::BufferNode& buffer) const;
  // Whether values with this number of lanes, of bools or of numbers, can be computed.
  bool has_lanes(ir::Type type) const;
  // Whether a value of this type can be computed. Masks are not values.
  bool has_values(ir::Type type) const;
  // Whether memory may hold elements of this type, whose values are float32.
  bool is_memory_alone(ir::Type element) const;
  // Whether threads may exchange values of this type.
  bool has_shuffles(ir::Type type) const;
  // Whether there are elements of this type at all, in memory or as values.
  bool has_type(ir::Type element) const;
  // Whether memory may hold elements of this type.
  bool has_memory(ir::Type element) const;
  // The type of a variable that holds a value loaded from memory of this type, with the same lanes.
  ir::Type loaded(ir::Type stored) const;
  // The type of a texel that is read from or written to a texture of this element type.
  ir::Type texel(ir::Type element) const;
};

}  // namespace texloom::codegen
