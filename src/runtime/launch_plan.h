// A compiled program in the form that the runtime takes: tensors, kernels, and the order of their
// launches. Plain data without pointers into the compiler; PlanExecutor runs it on a device.
//
//     arguments    X float32 [32, 32, 4] texture 32x32 rgba32float, Y float32 [32, 32, 4] buffer
//     temporaries  X.texture
//     kernels      copy_in, add_one
//     steps        allocate X.texture; launch copy_in; launch add_one; free X.texture
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "runtime/hal/executable.h"
#include "runtime/hal/grid.h"
#include "runtime/hal/size_expression.h"
#include "runtime/hal/types.h"
#include "support/status.h"

namespace texloom::runtime {

using hal::LoopValues;
using hal::Size;

struct BufferStorage {
  std::uint64_t bytes = 0;
};
struct TextureStorage {
  hal::Extent2D extent = {};
  hal::TexelFormat format = hal::TexelFormat::Rgba32Float;
  // For an argument: kernels rely on the values outside of the image, which has exactly this
  // extent.
  bool exact_extent = false;
};
using TensorStorage = std::variant<BufferStorage, TextureStorage>;
// "a buffer of 64 bytes", "a texture rgba32float of 32x32 texels"
std::string describe(const TensorStorage& storage);

struct TensorSpec {
  std::string name;
  hal::ElementType element = hal::ElementType::Float32;
  std::vector<Size> shape;  // logical
  // With symbols in the shape a buffer of no bytes: the shape gives its size at the call.
  TensorStorage storage;
};

// A number that a call passes to kernels; no size depends on it.
struct ScalarSpec {
  std::string name;
  hal::ElementType element = hal::ElementType::Float32;  // that a hal::Constant may have
};

struct KernelSpec {
  std::vector<hal::KernelCode> codes;  // a driver takes the first that it understands
  hal::EntryPoint entry;
  hal::MathMode math = hal::MathMode::Strict;
};

// A tensor of the plan.
struct TensorRef {
  enum class Kind : std::uint8_t { Argument, Temporary };
  Kind kind = Kind::Argument;
  std::uint32_t index = 0;
};

// The texel coordinate at which a texture tensor begins.
struct OriginOf {
  enum class Axis : std::uint8_t { X, Y };
  TensorRef tensor;
  Axis axis = Axis::X;
};

struct Immediate {
  std::int64_t value = 0;
};

// The present value of a loop around the launch.
struct LoopVariable {
  std::uint32_t slot = 0;
};

// The value of a symbol of the plan.
struct SymbolValue {
  std::uint32_t symbol = 0;
};

// The value of a scalar of the plan.
struct ScalarValue {
  std::uint32_t scalar = 0;
};

// One argument of a launch: a tensor for a buffer or texture parameter; else a number for a
// constant, of an integer unless it is a scalar's.
using Operand =
    std::variant<TensorRef, OriginOf, Immediate, LoopVariable, SymbolValue, ScalarValue>;

struct AllocateStep {
  std::uint32_t temporary = 0;
};
struct FreeStep {
  std::uint32_t temporary = 0;
};
struct LaunchStep {
  std::uint32_t kernel = 0;
  hal::Grid groups = {1, 1, 1};   // none launched when one is zero or less
  std::vector<Operand> operands;  // in the order of the kernel's parameters
};
struct LoopStep;
using Step = std::variant<AllocateStep, FreeStep, LaunchStep, LoopStep>;
// Runs the body for 0, 1, …, extent - 1, in order.
struct LoopStep {
  std::uint32_t slot = 0;  // names the variable for operands and sizes inside
  Size extent = 0;         // not run when it is zero or less
  std::vector<Step> body;
};

// A temporary is allocated by one step at most and freed by one at most, in the same body of
// steps; one allocated inside a loop is freed inside it. Its contents are undefined when
// allocated. One that is never freed lives to the end of the run.
struct LaunchPlan {
  // Names of int32 symbols, which get values at the call and which sizes depend on:
  // runtime/plan_symbols.h. Without symbols all sizes are numbers.
  std::vector<std::string> symbols = {};
  std::vector<ScalarSpec> scalars = {};
  std::vector<TensorSpec> arguments;
  std::vector<TensorSpec> temporaries;
  std::vector<KernelSpec> kernels;
  std::vector<Step> steps;
};

inline constexpr int kMaxLoopDepth = 32;
// For one run, including loops and iterations that launch nothing. More would take hours, and most
// likely belong to a loop that was meant for threads.
inline constexpr std::int64_t kMaxLaunches = 1'000'000;

}  // namespace texloom::runtime
