// Sets the arguments of a kernel object, and remembers them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/drivers/opencl/memory/buffer_parts.h"
#include "runtime/drivers/opencl/platform/context.h"
#include "runtime/hal/segment.h"
#include "support/function_ref.h"
#include "support/status.h"

namespace texloom::hal::opencl {

// For each parameter of a kernel, whether it gets an address (OpenClBuffer::address); empty if no
// parameter does. A kernel object has one choice for all of its calls: NVIDIA's driver refuses a
// launch if a parameter that had an address has got a memory object.
using AddressedParams = std::vector<bool>;
AddressedParams addressed_params(const Context& context, const KernelCall& call,
                                 std::span<const Binding> table);

// The arguments that one kernel object has. Memory is remembered by the number of the buffer or
// texture (Buffer::id), because the object may be destroyed, and a new one may have its address:
// neither an OpenCL kernel nor this object keeps memory alive. Used by one thread at a time.
class KernelArguments {
 public:
  // Sets those arguments of the call that the kernel does not have yet. The constants and the
  // parameters are assumed to be those of the previous call, unless forget() was called in between.
  Status set(const Context& context, const KernelCall& call, std::span<const Binding> table,
             cl_kernel kernel);
  // Forgets the arguments, so that the next call sets all of them, and releases parts of buffers.
  void forget() { arguments_.clear(); }

 private:
  struct Argument {
    bool is_set = false;
    // For memory: the object, and the range of a buffer, or 0 and 0 for the whole buffer.
    std::uint64_t object = 0;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    PartUse part = {};

    bool has(const Argument& other) const {
      return is_set && object != 0 && object == other.object && offset == other.offset &&
             bytes == other.bytes;
    }
  };
  // The value of an argument as the API takes it.
  struct Value {
    std::size_t bytes;
    const void* data;
  };

  Status set_buffer(const Context& context, const BufferParam& param, const BoundBuffer& bound,
                    cl_uint index, cl_kernel kernel);
  Status set_texture(const Context& context, const BoundTexture& bound, cl_uint index,
                     cl_kernel kernel);
  // Sets the argument unless the kernel has it.
  Status set_once(const Context& context, cl_uint index, const Value& value, cl_kernel kernel);
  // Sets a memory argument of the kernel by calling `set`.
  Status replace(cl_uint index, Argument argument, FunctionRef<Status()> set);
  Status replace(const Context& context, cl_uint index, Argument argument, cl_mem memory,
                 cl_kernel kernel);
  bool needs_part(const BoundBuffer& bound) const;

  std::vector<Argument> arguments_;   // by parameter
  std::vector<BoundBuffer> buffers_;  // of the call that is being set
};

}  // namespace texloom::hal::opencl
