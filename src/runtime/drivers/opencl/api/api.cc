#include "runtime/drivers/opencl/api/api.h"

#include <dlfcn.h>

namespace texloom::hal::opencl {
namespace {

template <typename Function>
bool find_function(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  return function != nullptr;
}

Result<std::shared_ptr<const Api>> read_functions(void* library, const std::string& path) {
  auto api = std::make_shared<Api>();
#define TL_OPENCL_FIND(name)                                                                 \
  if (!find_function(library, #name, api->name))                                             \
    return make_error(StatusCode::Unavailable,                                               \
                      "the OpenCL loader {} lacks {}: it is older than OpenCL 1.2 (Debian: " \
                      "install ocl-icd-libopencl1)",                                         \
                      path, #name);
  TL_OPENCL_FUNCTIONS(TL_OPENCL_FIND)
  TL_OPENCL_SHARING_FUNCTIONS(TL_OPENCL_FIND)
#undef TL_OPENCL_FIND
#define TL_OPENCL_FIND(name) find_function(library, #name, api->name);
  TL_OPENCL_2_FUNCTIONS(TL_OPENCL_FIND)
#undef TL_OPENCL_FIND
  return std::shared_ptr<const Api>(std::move(api));
}

}  // namespace

Result<std::shared_ptr<const Api>> load_api(std::span<const std::string> library_paths) {
  std::string tried;
  for (const std::string& path : library_paths) {
    if (void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL))
      return read_functions(library, path);
    const char* reason = dlerror();
    tried += tried.empty() ? "" : "; ";
    tried += reason != nullptr ? reason : path;
  }
  return make_error(StatusCode::Unavailable,
                    "no OpenCL loader ({}); install one and an implementation (Debian: "
                    "ocl-icd-libopencl1 and, for running on the CPU, pocl-opencl-icd)",
                    tried);
}

}  // namespace texloom::hal::opencl
