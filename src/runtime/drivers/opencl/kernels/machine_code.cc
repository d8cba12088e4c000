#include "runtime/drivers/opencl/kernels/machine_code.h"

#include <dlfcn.h>

#include <array>
#include <cstddef>

namespace texloom::hal::opencl {
namespace {

// The part of CUDA's driver interface that is used here, as cuda.h declares it (CUDA Driver API,
// module management). A result of 0 is success.
struct CudaApi {
  using Device = int;
  using Context = void*;
  using Link = void*;
  static constexpr int kPtx = 1;  // CU_JIT_INPUT_PTX

  int (*init)(unsigned flags);
  int (*count)(int* count);
  int (*name)(char* name, int length, Device device);
  int (*retain)(Context* context, Device device);
  int (*release)(Device device);
  int (*push)(Context context);
  int (*pop)(Context* context);
  int (*begin)(unsigned options, int* keys, void** values, Link* link);
  int (*add)(Link link, int kind, void* data, std::size_t size, const char* name, unsigned options,
             int* keys, void** values);
  int (*complete)(Link link, void** code, std::size_t* size);
  int (*end)(Link link);

  // Null if the library or a function is missing. The library stays loaded.
  static const CudaApi* get() {
    static const CudaApi api = load();
    return api.init == nullptr ? nullptr : &api;
  }

 private:
  static CudaApi load() {
    CudaApi api{};
    void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return api;
    bool found = true;
    const auto find = [&]<class Function>(Function*& function, const char* symbol) {
      function = reinterpret_cast<Function*>(dlsym(library, symbol));
      found = found && function != nullptr;
    };
    find(api.count, "cuDeviceGetCount");
    find(api.name, "cuDeviceGetName");
    find(api.retain, "cuDevicePrimaryCtxRetain");
    find(api.release, "cuDevicePrimaryCtxRelease_v2");
    find(api.push, "cuCtxPushCurrent_v2");
    find(api.pop, "cuCtxPopCurrent_v2");
    find(api.begin, "cuLinkCreate_v2");
    find(api.add, "cuLinkAddData_v2");
    find(api.complete, "cuLinkComplete");
    find(api.end, "cuLinkDestroy");
    find(api.init, "cuInit");
    if (!found || api.init(0) != 0) api.init = nullptr;
    return api;
  }
};

bool is_ptx(const std::string& binary) {
  const std::size_t version = binary.find(".version ");
  return version != std::string::npos && binary.find(".target sm_", version) != std::string::npos;
}

std::string linked(const CudaApi& cuda, std::string ptx) {
  CudaApi::Link link = nullptr;
  if (cuda.begin(0, nullptr, nullptr, &link) != 0) return {};
  std::string code;
  void* bytes = nullptr;
  std::size_t size = 0;
  // The text ends with a zero, which counts.
  if (cuda.add(link, CudaApi::kPtx, ptx.data(), ptx.size() + 1, "kernels", 0, nullptr, nullptr) ==
          0 &&
      cuda.complete(link, &bytes, &size) == 0) {
    code.assign(static_cast<const char*>(bytes), size);
  }
  cuda.end(link);
  return code;
}

}  // namespace

std::string machine_code_of(const std::string& binary, const std::string& device) {
  if (!is_ptx(binary)) return {};
  const CudaApi* cuda = CudaApi::get();
  int count = 0;
  if (cuda == nullptr || cuda->count(&count) != 0) return {};
  for (CudaApi::Device each = 0; each < count; ++each) {
    std::array<char, 256> name{};
    if (cuda->name(name.data(), name.size() - 1, each) != 0 || device != name.data()) continue;
    CudaApi::Context context = nullptr;
    if (cuda->retain(&context, each) != 0) return {};
    std::string code;
    if (cuda->push(context) == 0) {
      code = linked(*cuda, binary);
      cuda->pop(&context);
    }
    cuda->release(each);
    return code;
  }
  return {};
}

}  // namespace texloom::hal::opencl
