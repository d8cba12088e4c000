// A compiled program in the form that the runtime executes: tensors, kernels, and the order of
// launches. Plain data without pointers into the compiler; DeviceProgram runs it on a device.
//
//     arguments    X float32 [32, 32, 4] texture 32x32 rgba32float, Y float32 [32, 32, 4] buffer
//     temporaries  X.texture
//     kernels      copy_in, add_one
//     steps        allocate X.texture; launch copy_in; launch add_one; free X.texture
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/hal/executable.h"
#include "runtime/hal/grid.h"
#include "runtime/hal/size_expression.h"
#include "runtime/hal/types.h"
#include "runtime/plan/tensor_layout.h"
#include "support/status.h"

namespace texloom::runtime {

using hal::LoopValues;
using hal::Size;

struct BufferStorage {
  std::uint64_t bytes = 0;
  // Counters of blocks, a temporary: zero before and after each launch. Several counters may share
  // memory, since a launch that uses one is complete before the next that uses it, but they share
  // none with other temporaries.
  bool counters = false;
};
struct TextureStorage {
  hal::Extent2D extent = {};
  hal::TexelFormat format = hal::TexelFormat::Rgba32Float;
  // The image must have exactly this extent, because kernels rely on the values of reads outside of
  // it.
  bool exact_extent = false;
};
using TensorStorage = std::variant<BufferStorage, TextureStorage>;
// "a buffer of 64 bytes", "a texture rgba32float of 32x32 texels"
std::string describe(const TensorStorage& storage);
std::uint64_t bytes_of(const TensorStorage& storage);
inline bool are_counters(const TensorStorage& storage) {
  const auto* buffer = std::get_if<BufferStorage>(&storage);
  return buffer != nullptr && buffer->counters;
}

struct TensorSpec {
  std::string name;
  hal::ElementType element = hal::ElementType::Float32;
  std::vector<Size> shape;  // logical
  // If the shape has symbols, a buffer of zero bytes or a texture of zero texels; the shape then
  // gives the size at the call.
  TensorStorage storage;
  // The places of the elements of the caller's array. The layout's shape may differ from `shape`
  // above, whose axes are those of the kernels. If the shape has symbols, the layout has no shape.
  // A buffer's layout is then empty, and its array row-major. A texture's layout, also of a
  // temporary, then has digits that reach to the ends of their axes, and gives the rows and columns
  // at the call.
  TensorLayout layout = {};
};

// A number that a call passes to kernels, and on which no size depends.
struct ScalarSpec {
  std::string name;
  hal::ElementType element = hal::ElementType::Float32;  // a type that hal::Constant supports
};

// Code that a device compiles as a whole.
struct ModuleSpec {
  std::vector<hal::KernelCode> codes;  // a driver uses the first that it supports
  hal::MathMode math = hal::MathMode::Strict;

  bool operator==(const ModuleSpec&) const = default;
};
// A kernel of a module. The names of a module's kernels differ.
struct KernelSpec {
  std::uint32_t module = 0;
  hal::EntryPoint entry;

  bool operator==(const KernelSpec&) const = default;
};

// A tensor of the plan.
struct TensorRef {
  enum class Kind : std::uint8_t { Argument, Temporary, Constant };
  Kind kind = Kind::Argument;
  std::uint32_t index = 0;

  bool operator==(const TensorRef&) const = default;
};
// "argument", "temporary", "constant"
std::string_view to_string(TensorRef::Kind kind);

// The texel coordinate at which a texture tensor begins.
struct OriginOf {
  enum class Axis : std::uint8_t { X, Y };
  TensorRef tensor;
  Axis axis = Axis::X;
};

struct Immediate {
  std::int64_t value = 0;
};

// The current value of an enclosing loop's variable.
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

// The value of an expression of the plan's symbols, without loop variables.
struct SizeValue {
  Size size = 0;
};

// One argument of a launch: a tensor for a buffer or texture parameter, or a number for a constant.
// The constant is an integer unless the number is a ScalarValue.
using Operand =
    std::variant<TensorRef, OriginOf, Immediate, LoopVariable, SymbolValue, ScalarValue, SizeValue>;

struct AllocateStep {
  std::uint32_t temporary = 0;
};
struct FreeStep {
  std::uint32_t temporary = 0;
};
struct LaunchStep {
  std::uint32_t kernel = 0;
  hal::Grid groups = {1, 1, 1};   // nothing is launched if an axis is zero or negative
  std::vector<Operand> operands;  // in the order of the kernel's parameters
};
// Calls a custom operator (runtime/custom/operator.h).
struct CallStep {
  std::uint32_t call = 0;          // index in the plan's calls
  std::vector<TensorRef> tensors;  // in the order of the operator's arguments
};
// Later steps wait for all earlier ones. Only in plans that name their barriers.
struct BarrierStep {};
struct LoopStep;
using Step = std::variant<AllocateStep, FreeStep, LaunchStep, CallStep, BarrierStep, LoopStep>;
// Runs the body for 0, 1, …, extent - 1, in order.
struct LoopStep {
  std::uint32_t slot = 0;  // identifies the variable in operands and sizes of the body
  Size extent = 0;         // the body does not run if it is zero or negative
  std::vector<Step> body;
};

// A number or a text that a custom operator is given.
using AttributeValue = std::variant<std::int64_t, double, std::string>;
struct Attribute {
  std::string name;
  AttributeValue value;

  bool operator==(const Attribute&) const = default;
};

// The way in which the commands of a step reach the device.
enum class Encoding : std::uint8_t {
  Kernels,  // the command buffer: dispatches and transfers
  Native,   // a custom operator, through the driver's native handle
  Host,     // not encoded: it runs on the host
};
std::string_view to_string(Encoding encoding);  // "kernels", "native", "host"

// A call of a custom operator that the program's user provides, and the call's attributes.
struct OperatorCall {
  std::string op;                          // its registered name, such as "mine::softshrink"
  std::uint32_t version = 0;               // the operator's version at compile time
  std::vector<hal::Access> accesses = {};  // of its arguments
  Encoding encoding = Encoding::Kernels;   // the encoding when the plan was made
  std::vector<Attribute> attributes = {};
  std::vector<std::byte> payload = {};  // opaque data of a delegate (operator.h)

  bool operator==(const OperatorCall&) const = default;
};

// A temporary that is a part of another one, the whole: its memory begins at a byte offset (of a
// buffer) or at a texel (of a texture) of the whole.
struct PartOfTemporary {
  std::uint32_t temporary = 0;
  std::uint32_t whole = 0;  // itself no part
  std::uint64_t offset = 0;
  hal::Offset2D origin = {};

  bool operator==(const PartOfTemporary&) const = default;
};

// The place of a temporary: an object, and the byte offset (of a buffer) or the texel (of a
// texture) at which the temporary begins.
struct Placement {
  std::uint32_t object = 0;
  std::uint64_t offset = 0;
  hal::Offset2D origin = {};

  bool operator==(const Placement&) const = default;
};

// Whether two tensors share memory. A tensor must be of the kind of the object that it is in.
bool places_meet(const TensorStorage& a, const Placement& at_a, const TensorStorage& b,
                 const Placement& at_b);

// The place of a part whose whole is at `whole`.
Placement place_in(const Placement& whole, const PartOfTemporary& part);

// The memory of a plan's temporaries. Temporaries that are live at the same time do not overlap,
// except that parts lie in their wholes.
struct WorkspacePlan {
  std::vector<TensorStorage> objects;
  std::vector<Placement> places;  // by temporary; without meaning if it is never allocated
};

// A condition on symbols that the kernels of a plan assume; each call checks it.
struct SizeCondition {
  enum class Kind : std::uint8_t { Equal, AtLeast };
  std::string subject;  // the subject in messages: "the node 'add'"
  Kind kind = Kind::Equal;
  Size left = 0, right = 0;

  bool operator==(const SizeCondition&) const = default;
};

// At most one step allocates a temporary and at most one frees it, in the same list of steps; a
// temporary that is allocated in a loop must be freed in it. Its contents are initially undefined.
// A temporary that is never freed lives until the end of the run.
struct LaunchPlan {
  // The names of the int32 symbols on which sizes depend; each call gives them values
  // (runtime/plan/symbols.h). Without symbols all sizes are numbers.
  std::vector<std::string> symbols = {};
  std::vector<SizeCondition> conditions = {};
  std::vector<ScalarSpec> scalars = {};
  std::vector<TensorSpec> arguments;
  std::vector<TensorSpec> temporaries;
  // Ordered by temporary. No step allocates or frees a part: a part lives as long as its whole.
  std::vector<PartOfTemporary> parts = {};
  // Constants are only read. Their values are not part of the plan: the code that loads the plan
  // provides their memory.
  std::vector<TensorSpec> constants = {};
  std::vector<ModuleSpec> modules;
  std::vector<KernelSpec> kernels;
  std::vector<OperatorCall> calls = {};
  std::vector<Step> steps;
  // Whether the steps name every barrier that they need; otherwise the command buffer finds them.
  bool names_barriers = false;
  // If absent, the code that runs the plan places temporaries when sizes are known.
  std::optional<WorkspacePlan> workspace = {};
};

const std::vector<TensorSpec>& tensors_of(const LaunchPlan& plan, TensorRef::Kind kind);
inline const TensorSpec& tensor_of(const LaunchPlan& plan, TensorRef ref) {
  return tensors_of(plan, ref.kind)[ref.index];
}

// The whole of which the temporary is a part; null if it is not a part.
const PartOfTemporary* part_at(const LaunchPlan& plan, std::uint32_t temporary);
// The temporary whose allocation has its memory: the whole of a part, otherwise the temporary
// itself.
std::uint32_t memory_of(const LaunchPlan& plan, std::uint32_t temporary);

inline constexpr int kMaxLoopDepth = 32;
// The limit for one run, including loop iterations that launch nothing. More would take hours, and
// most likely come from a loop that should have been bound to threads.
inline constexpr std::int64_t kMaxLaunches = 1'000'000;

}  // namespace texloom::runtime
