#include "runtime/drivers/opencl/platform/assembler.h"

#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace texloom::hal::opencl {
namespace {

// The part of CUDA's driver interface that is used here, as cuda.h declares it (CUDA Driver API,
// module management). A result of 0 is success.
struct CudaApi {
  using Device = int;
  using Context = void*;
  using Link = void*;
  static constexpr int kPtx = 1;                           // CU_JIT_INPUT_PTX
  static constexpr int kErrorLog = 5, kErrorLogBytes = 6;  // CU_JIT_ERROR_LOG_BUFFER[_SIZE_BYTES]

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

// Links PTX in the current context.
Result<std::string> linked(const CudaApi& cuda, std::string ptx) {
  std::array<char, 16384> log{};  // the last zero stays
  // The link uses the values until it is destroyed: it writes the log, and the size of the log.
  std::array<int, 2> keys{CudaApi::kErrorLog, CudaApi::kErrorLogBytes};
  const std::uintptr_t log_bytes = log.size() - 1;
  std::array<void*, 2> values{log.data(), reinterpret_cast<void*>(log_bytes)};
  CudaApi::Link link = nullptr;
  int result = cuda.begin(keys.size(), keys.data(), values.data(), &link);
  if (result != 0)
    return make_error(StatusCode::DeviceError, "CUDA's driver links nothing (error {})", result);
  std::string code;
  void* bytes = nullptr;
  std::size_t size = 0;
  // The text ends with a zero, which counts.
  result =
      cuda.add(link, CudaApi::kPtx, ptx.data(), ptx.size() + 1, "kernels", 0, nullptr, nullptr);
  if (result == 0) result = cuda.complete(link, &bytes, &size);
  if (result == 0) code.assign(static_cast<const char*>(bytes), size);
  cuda.end(link);
  if (result != 0)
    return make_error(StatusCode::BuildFailed, "CUDA's driver refuses the PTX (error {}): {}",
                      result, log.data());
  return code;
}

}  // namespace

Assembler::~Assembler() {
  if (cuda_) CudaApi::get()->release(cuda_->device);
}

std::optional<Assembler::Cuda> Assembler::cuda() {
  const std::scoped_lock lock(opening_);
  if (std::exchange(was_opened_, true)) return cuda_;
  const CudaApi* api = CudaApi::get();
  int count = 0;
  if (api == nullptr || api->count(&count) != 0) return {};
  for (CudaApi::Device each = 0; each < count; ++each) {
    std::array<char, 256> name{};
    if (api->name(name.data(), name.size() - 1, each) != 0 || device_ != name.data()) continue;
    CudaApi::Context context = nullptr;
    if (api->retain(&context, each) == 0) cuda_ = Cuda{each, context};
    break;
  }
  return cuda_;
}

Result<std::string> Assembler::machine_code_of(std::string binary) {
  if (!is_ptx(binary)) return std::string();
  const std::optional<Cuda> own = cuda();
  if (!own) return std::string();
  const CudaApi& api = *CudaApi::get();
  if (const int result = api.push(own->context); result != 0)
    return make_error(StatusCode::DeviceError, "CUDA's driver enters no context (error {})",
                      result);
  Result<std::string> code = linked(api, std::move(binary));
  CudaApi::Context left = nullptr;
  api.pop(&left);
  return code;
}

}  // namespace texloom::hal::opencl
