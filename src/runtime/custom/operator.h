// Custom operators: parts of a program that its user writes, in addition to compiled kernels.
//
// An operator describes itself (OperatorInfo). Loading a program prepares each of its calls once
// (CustomOperator::prepare), and recording the program encodes them (PreparedCall::encode) into the
// command buffer that also has the compiled kernels. So no wait separates the operators from the
// kernels. An operator that the package gives a payload is a delegate: it stands for a part of the
// graph.
//
// There are three ways to encode:
//   portable  appends HAL commands, once for each recording; every submission repeats them
//   native    EncodeContext::native: a function that each submission calls with the driver's own
//             handles, lent until it returns
//   host      HostOperator (host_operator.h): a function over arrays, called in the queue's order
//
// Operators must not throw; an exception becomes the error of the call, with StatusCode::Internal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/hal/binding.h"
#include "runtime/hal/command_buffer.h"
#include "runtime/hal/device.h"
#include "runtime/hal/queue.h"
#include "runtime/hal/types.h"
#include "runtime/plan/plan.h"
#include "support/status.h"

namespace texloom::runtime {

// The device on which an operator works.
enum class OperatorDevice : std::uint8_t { Program, Host };
std::string_view to_string(OperatorDevice device);  // "program", "host"

enum class ArgumentStorage : std::uint8_t { Any, Buffer, Texture };
std::string_view to_string(ArgumentStorage storage);  // "any", "buffer", "texture"

// The axes of a tensor that its rows, columns and lanes consist of, most significant first. A
// layout fits if the axes of its digits that are longer than 1 occur in this order (TensorLayout).
// An axis may be divided: "rows (0, 1), cols (2, 3), lanes (3)".
struct LayoutPattern {
  std::vector<std::uint32_t> rows = {}, cols = {}, lanes = {};

  bool operator==(const LayoutPattern&) const = default;
};
std::string to_string(const LayoutPattern& pattern);
bool fits(const LayoutPattern& pattern, const TensorLayout& layout);

struct OperatorArgument {
  std::string name;                        // an identifier
  hal::Access access = hal::Access::Read;  // ReadWrite: in-out
  ArgumentStorage storage = ArgumentStorage::Any;
  std::optional<LayoutPattern> layout = {};  // if absent, any layout

  bool operator==(const OperatorArgument&) const = default;
};

enum class AttributeType : std::uint8_t { Integer, Float, Text };
std::string_view to_string(AttributeType type);  // "integer", "float", "text"

struct AttributeSpec {
  std::string name;  // an identifier
  AttributeType type = AttributeType::Float;
  std::optional<AttributeValue> default_value = {};  // if absent, calls must give a value
};

struct OperatorInfo {
  std::string name;           // "domain::name": identifiers; a domain may have dots
  std::uint32_t version = 1;  // of its arguments, attributes and meaning
  OperatorDevice device = OperatorDevice::Program;
  bool is_native = false;  // encodes by EncodeContext::native
  // The drivers with which it works (DeviceInfo::driver); empty: all.
  std::vector<std::string> drivers = {};
  std::vector<OperatorArgument> arguments = {};
  std::vector<AttributeSpec> attributes = {};
  // Each variant lists the element types of the arguments, in order; empty: any types.
  std::vector<std::vector<hal::ElementType>> variants = {};
};

// The way in which calls of the operator reach the device.
Encoding encoding_of(const OperatorInfo& info);

// Fails with InvalidArgument, and names the fault, if a name is not an identifier or occurs twice,
// a variant has another number of types than there are arguments, a default value has another type
// than its attribute, or the name of a driver is not an identifier.
Status validate(const OperatorInfo& info);

// The attributes of a call: one value for each that the operator declares.
class Attributes {
 public:
  Attributes() = default;
  // Adds default values. Fails with InvalidArgument if an attribute is unknown, missing or given
  // twice, or if a value has another type than its attribute. A float may be given as an integer.
  static Result<Attributes> complete(const OperatorInfo& info, std::span<const Attribute> given);

  // NotFound if the operator declares no attribute of this name and type.
  Result<std::int64_t> integer(std::string_view name) const;
  Result<double> number(std::string_view name) const;
  Result<std::string> text(std::string_view name) const;

  const std::vector<Attribute>& values() const { return values_; }  // in the order of declaration

 private:
  template <typename T>
  Result<T> find(std::string_view name, std::string_view type) const;

  std::vector<Attribute> values_;
};

// The type of a tensor in a graph.
struct TensorType {
  hal::ElementType element = hal::ElementType::Float32;
  std::vector<std::int64_t> shape;

  bool operator==(const TensorType&) const = default;
};

// The step before or after a call.
struct CallNeighbor {
  std::string name;  // of a kernel or an operator
  OperatorDevice device = OperatorDevice::Program;
};

class CustomOperator;

// The facts about one call that an operator gets when a program is loaded.
struct PrepareContext {
  std::shared_ptr<const CustomOperator> op;  // the operator itself
  std::shared_ptr<hal::Device> device;
  // The element type, shape, storage and layout of each argument.
  std::vector<TensorSpec> tensors = {};
  Attributes attributes = {};
  std::vector<std::byte> payload = {};  // of a delegate
  std::size_t variant = 0;              // of OperatorInfo::variants; 0 without variants
  std::uint32_t number = 0;             // of the call among the plan's launches and calls, from 0
  std::optional<CallNeighbor> previous = {}, next = {};  // the launches or calls around it
  bool checks_writes = false;                            // PrepareOptions::check_writes
  // Another queue of the device, on which host calls copy tensors; null unless the operator works
  // on the host.
  std::shared_ptr<hal::Queue> transfers = {};

  // Set by the operator: the bytes of device memory that each recording needs while it runs.
  std::uint64_t workspace_bytes = 0;
};

// The objects that an operator gets for one recording.
struct EncodeContext {
  std::string_view name;  // of the operator; errors of native() begin with it
  hal::CommandBuffer& commands;
  std::span<const hal::BindingRef> tensors;  // by argument; memory, or slots
  std::span<const hal::Offset2D> origins;    // of textures
  // A buffer of PrepareContext::workspace_bytes, with undefined contents.
  std::optional<hal::BufferBinding> workspace;
  std::span<const hal::NativeAccess> accesses;  // of the arguments, then of the workspace

  // Appends a function that each submission calls (CommandBuffer::native) with the memory of the
  // arguments, then of the workspace. The objects behind NativeCommands::handles are lent until the
  // function returns. The function must not wait for the device.
  Status native(hal::EncodeNative encode) const;
};

// A call of an operator in a loaded program. Thread safe: several programs may be recorded at once.
class PreparedCall {
 public:
  virtual ~PreparedCall() = default;

  // Appends the call to a recording. Must also append barriers between commands that depend on each
  // other: a command buffer with Barriers::Explicit inserts none. Objects to which the commands
  // refer must outlive this object. Must not wait for the device: waits through the HAL fail.
  virtual Status encode(const EncodeContext& context) const = 0;
};

// An operator. Thread safe.
class CustomOperator {
 public:
  virtual ~CustomOperator() = default;

  // Returns the same object in each call.
  virtual const OperatorInfo& info() const = 0;

  // The types of the arguments that the operator writes without reading, in order. `inputs` are the
  // types of the arguments that it reads. Called when a graph is built.
  virtual Result<std::vector<TensorType>> shapes(std::span<const TensorType> inputs,
                                                 const Attributes& attributes) const = 0;

  // Makes the objects that the call needs, such as executables. The context has passed the checks
  // of prepare_calls().
  virtual Result<std::unique_ptr<PreparedCall>> prepare(PrepareContext& context) const = 0;
};

}  // namespace texloom::runtime
