// An OpenCL object that is released with its owner.
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "runtime/drivers/opencl/api/api.h"
#include "runtime/drivers/opencl/api/error.h"
#include "support/status.h"

namespace texloom::hal::opencl {

// Owns one reference to `Object`, and shares the function table that releases it. Move-only.
template <typename Object, auto Api::* Release>
class Handle {
 public:
  Handle() = default;
  Handle(std::shared_ptr<const Api> api, Object object) : api_(std::move(api)), object_(object) {}
  // Adds a reference to an application's object.
  template <auto Api::* Retain>
  static Result<Handle> retain(std::shared_ptr<const Api> api, Object object,
                               std::string_view call) {
    TL_RETURN_IF_ERROR(to_status(((*api).*Retain)(object), call));
    return Handle(std::move(api), object);
  }
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
