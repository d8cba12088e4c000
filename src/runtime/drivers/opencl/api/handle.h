// An OpenCL object that is released with its owner.
#pragma once

#include <memory>
#include <utility>

#include "runtime/drivers/opencl/api/api.h"

namespace texloom::hal::opencl {

// Owns one reference to `Object`, and shares the function table that releases it. Move-only.
template <typename Object, auto Api::* Release>
class Handle {
 public:
  Handle() = default;
  Handle(std::shared_ptr<const Api> api, Object object) : api_(std::move(api)), object_(object) {}
  Handle(Handle&& other) noexcept
      : api_(std::move(other.api_)), object_(std::exchange(other.object_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(api_, other.api_);
    std::swap(object_, other.object_);
    return *this;
  }
  ~Handle() {
    if (object_ != nullptr) ((*api_).*Release)(object_);
  }

  Object get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  std::shared_ptr<const Api> api_;
  Object object_ = nullptr;
};

using ContextHandle = Handle<cl_context, &Api::clReleaseContext>;
using QueueHandle = Handle<cl_command_queue, &Api::clReleaseCommandQueue>;
using MemoryHandle = Handle<cl_mem, &Api::clReleaseMemObject>;
using ProgramHandle = Handle<cl_program, &Api::clReleaseProgram>;
using KernelHandle = Handle<cl_kernel, &Api::clReleaseKernel>;
using EventHandle = Handle<cl_event, &Api::clReleaseEvent>;
// The event of a command that several objects wait for; not null.
using SharedEvent = std::shared_ptr<const EventHandle>;

}  // namespace texloom::hal::opencl
