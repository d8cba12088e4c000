// Finds memory that a call of an operator writes without declaring it as written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/custom/operator.h"
#include "runtime/hal/buffer.h"
#include "runtime/hal/device.h"
#include "runtime/hal/host_call.h"
#include "runtime/hal/queue.h"
#include "runtime/hal/texture.h"
#include "runtime/plan/plan.h"
#include "support/status.h"

namespace texloom::runtime {

// Compares memory objects before and after one recorded call. Its functions are for host calls of
// one queue; they move memory through another queue of the device.
class WriteCheck {
 public:
  WriteCheck(const std::shared_ptr<hal::Device>& device, std::shared_ptr<hal::Queue> transfers,
             const OperatorInfo& info, std::vector<TensorSpec> tensors);

  // Reads back and keeps every object that the memory belongs to.
  Status remember(const hal::HostCallMemory& memory);
  // InvalidArgument, naming the tensor, if anything changed that the operator may not write.
  Status compare(const hal::HostCallMemory& memory);

 private:
  // Bytes of an object: of a root buffer, or of a texture's texels, row by row.
  struct Range {
    std::uint64_t begin = 0, end = 0;
  };
  // A whole memory object: a root buffer, or a texture with memory of its own.
  struct Object {
    std::shared_ptr<hal::Buffer> buffer;
    std::shared_ptr<hal::Texture> texture;  // if `buffer` is null
    std::string seen_as;                    // the object's name in errors
    std::vector<std::byte> bytes = {};
  };

  static Object object_of(const hal::Binding& binding, std::string seen_as);
  std::vector<Object> objects_of(const hal::HostCallMemory& memory) const;
  Status read(std::vector<Object>& objects) const;
  std::vector<Range> ranges_of(const hal::Binding& binding, const TensorStorage& storage) const;
  Status report(const hal::HostCallMemory& memory, const Object& object, std::uint64_t byte) const;

  std::weak_ptr<hal::Device> device_;
  std::shared_ptr<hal::Queue> transfers_;
  std::vector<OperatorArgument> arguments_;
  std::vector<TensorSpec> tensors_;
  std::vector<Object> before_;
};

}  // namespace texloom::runtime
