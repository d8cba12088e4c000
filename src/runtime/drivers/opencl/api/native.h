// The OpenCL driver's interface for native commands (CommandBuffer::native). The types are those of
// CL/cl.h, which this header does not include.
#pragma once

#include "runtime/hal/segment.h"

struct _cl_context;
struct _cl_device_id;
struct _cl_command_queue;
struct _cl_mem;

namespace texloom::hal::opencl {

// NativeCommands::handles points to this. The queue is in order: commands that a function enqueues
// follow the commands before it and precede those after it, without barriers or events. The
// function must not flush or finish the queue.
struct NativeHandles {
  _cl_context* context = nullptr;
  _cl_device_id* device = nullptr;
  _cl_command_queue* queue = nullptr;
};

// Null for the commands of another driver.
inline const NativeHandles* native_handles(const NativeCommands& commands) {
  return commands.driver == "opencl" ? static_cast<const NativeHandles*>(commands.handles)
                                     : nullptr;
}

// The OpenCL object of memory of this driver. A buffer's offset is BoundBuffer::offset.
_cl_mem* native_memory(const BoundBuffer& place);
_cl_mem* native_memory(const BoundTexture& place);

}  // namespace texloom::hal::opencl
