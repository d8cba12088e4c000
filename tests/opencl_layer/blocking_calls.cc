// A layer of the OpenCL loader that counts blocking calls on threads that must not wait.
//
// The loader opens the libraries that OPENCL_LAYERS names, and passes all OpenCL calls of the
// process through these libraries (CL/cl_layer.h). By the functions of blocking_calls.h, the
// process tells which threads must not wait.
#include "tests/opencl_layer/blocking_calls.h"

#include <CL/cl_layer.h>

#include <atomic>
#include <cstddef>
#include <cstring>

#define TEXLOOM_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

cl_icd_dispatch below;  // the functions that the layer calls
cl_icd_dispatch layer;
std::atomic<bool (*)()> must_not_wait = nullptr;
std::atomic<int> blocking_calls = 0;

void look(cl_bool blocks = CL_TRUE) {
  const auto is_refused = must_not_wait.load();
  if (blocks == CL_TRUE && is_refused != nullptr && is_refused()) ++blocking_calls;
}

template <auto Member>
struct Blocking;

// A call that always blocks.
template <typename... Args, cl_int (CL_API_CALL* cl_icd_dispatch::*Member)(Args...)>
struct Blocking<Member> {
  static cl_int CL_API_CALL call(Args... args) {
    look();
    return (below.*Member)(args...);
  }
};

template <auto Member>
struct Transfer;

// A call whose third argument says whether it blocks.
template <typename Returned, typename Memory, typename... Args,
          Returned (CL_API_CALL* cl_icd_dispatch::*Member)(cl_command_queue, Memory, cl_bool,
                                                           Args...)>
struct Transfer<Member> {
  static Returned CL_API_CALL call(cl_command_queue queue, Memory memory, cl_bool blocks,
                                   Args... args) {
    look(blocks);
    return (below.*Member)(queue, memory, blocks, args...);
  }
};

template <auto Member>
void count_blocking() {
  layer.*Member = &Blocking<Member>::call;
}

template <auto Member>
void count_transfer() {
  layer.*Member = &Transfer<Member>::call;
}

}  // namespace

TEXLOOM_EXPORT cl_int clGetLayerInfo(cl_layer_info name, std::size_t size, void* value,
                                     std::size_t* needed) {
  if (name != CL_LAYER_API_VERSION) return CL_INVALID_VALUE;
  constexpr cl_layer_api_version kVersion = CL_LAYER_API_VERSION_100;
  if (needed != nullptr) *needed = sizeof kVersion;
  if (value == nullptr) return CL_SUCCESS;
  if (size < sizeof kVersion) return CL_INVALID_VALUE;
  std::memcpy(value, &kVersion, sizeof kVersion);
  return CL_SUCCESS;
}

TEXLOOM_EXPORT cl_int clInitLayer(cl_uint entries, const cl_icd_dispatch* target, cl_uint* own,
                                  const cl_icd_dispatch** made) {
  if (entries < sizeof below / sizeof below.clGetPlatformIDs) return CL_INVALID_VALUE;
  below = layer = *target;
  count_blocking<&cl_icd_dispatch::clFinish>();
  count_blocking<&cl_icd_dispatch::clWaitForEvents>();
  count_transfer<&cl_icd_dispatch::clEnqueueReadBuffer>();
  count_transfer<&cl_icd_dispatch::clEnqueueWriteBuffer>();
  count_transfer<&cl_icd_dispatch::clEnqueueReadBufferRect>();
  count_transfer<&cl_icd_dispatch::clEnqueueWriteBufferRect>();
  count_transfer<&cl_icd_dispatch::clEnqueueReadImage>();
  count_transfer<&cl_icd_dispatch::clEnqueueWriteImage>();
  count_transfer<&cl_icd_dispatch::clEnqueueMapBuffer>();
  count_transfer<&cl_icd_dispatch::clEnqueueMapImage>();
  *own = entries;
  *made = &layer;
  return CL_SUCCESS;
}

TEXLOOM_EXPORT void texloom_count_blocking_calls(bool (*refused)()) {
  blocking_calls = 0;
  must_not_wait = refused;
}

TEXLOOM_EXPORT int texloom_blocking_calls() { return blocking_calls; }
