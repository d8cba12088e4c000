// Registers the driver `opencl`, over every device that the OpenCL loader knows. OCL_ICD_VENDORS
// selects another implementation.
#include "runtime/drivers/opencl/api/api.h"
#include "runtime/drivers/opencl/api/native.h"
#include "runtime/drivers/opencl/driver.h"
#include "tests/conformance/tested_driver.h"

namespace texloom::hal::conformance {
namespace {

constexpr const char* kBufferKernels = R"(
__kernel void nothing() { }
__kernel void add_one(__global const int* a, __global int* b) {
  b[get_global_id(0)] = a[get_global_id(0)] + 1;
}
__kernel void advance(__global uint* x, int k) {
  x[get_global_id(0)] = x[get_global_id(0)] * 3 + k;
}
__kernel void constants(__global long* out, int a, uint b, long c, ulong d, float e) {
  out[0] = a; out[1] = b; out[2] = c; out[3] = as_long(d); out[4] = as_int(e);
}
__kernel void sum_of_eight(__global const int* a0, __global const int* a1, __global const int* a2,
                           __global const int* a3, __global const int* a4, __global const int* a5,
                           __global const int* a6, __global const int* a7, __global int* out) {
  size_t i = get_global_id(0);
  out[i] = a0[i] + a1[i] + a2[i] + a3[i] + a4[i] + a5[i] + a6[i] + a7[i];
}
__kernel void walk(__global uint* out, uint steps) {
  uint x = get_global_id(0) + 1;
  for (uint i = 0; i < steps; ++i) x = x * 1664525u + 1013904223u;
  out[get_global_id(0)] = x;
}
__kernel void index(__global int* out, int width, int height) {
  int i = (get_global_id(2) * height + get_global_id(1)) * width + get_global_id(0);
  out[i] = 1000 * (get_group_id(0) + 10 * get_group_id(1) + 100 * get_group_id(2)) + i;
}
__kernel void reverse(__global const int* in, __global int* out) {
  __local int tile[16];
  tile[get_local_id(0)] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = tile[15 - get_local_id(0)];
}
__kernel void reverse_and_rotate(__global const int* in, __local int* first, int k,
                                 __local int* second, __global int* out) {
  int i = get_local_id(0);
  first[i] = in[get_global_id(0)];
  second[i] = k * first[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = first[15 - i] + second[(i + 1) % 16];
}
#ifdef cl_khr_fp64
__kernel void double_bits(__global long* out, double a) { out[0] = as_long(a); }
#endif
)";

constexpr const char* kTextureKernels = R"(
__constant sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
#define AT (int2)(get_global_id(0), get_global_id(1))
#define PLACE (get_global_id(1) * width + get_global_id(0))
#define FOR_CLASS(CLASS, LETTER, TYPE)                                                       \
  __kernel void copy_texels_##CLASS(__read_only image2d_t in, __write_only image2d_t out) {  \
    write_image##LETTER(out, AT, read_image##LETTER(in, s, AT));                             \
  }                                                                                          \
  __kernel void read_texels_##CLASS(__read_only image2d_t in, __global TYPE* out, int width) { \
    vstore4(read_image##LETTER(in, s, AT), PLACE, out);                                      \
  }                                                                                          \
  __kernel void read_texels_around_##CLASS(__read_only image2d_t in, __global TYPE* out,     \
                                           int width) {                                      \
    vstore4(read_image##LETTER(in, s, AT - 1), PLACE, out);                                  \
  }                                                                                          \
  __kernel void write_texels_##CLASS(__global const TYPE* in, __write_only image2d_t out,    \
                                     int width) {                                            \
    write_image##LETTER(out, AT, vload4(PLACE, in));                                         \
  }
FOR_CLASS(float, f, float)
FOR_CLASS(int, i, int)
FOR_CLASS(uint, ui, uint)
__kernel void twice_at_origins(__read_only image2d_t in, int in_x, int in_y,
                               __write_only image2d_t out, int out_x, int out_y) {
  write_imagef(out, AT + (int2)(out_x, out_y), 2.0f * read_imagef(in, s, AT + (int2)(in_x, in_y)));
}
)";

bool takes_textures(const EntryPoint& entry) {
  for (const KernelParam& param : entry.params)
    if (std::holds_alternative<TextureParam>(param)) return true;
  return false;
}

// Devices without images get kernels without images.
ExecutableDesc kernels(std::vector<EntryPoint> entry_points) {
  std::string source = kBufferKernels;
  for (const EntryPoint& entry : entry_points) {
    if (!takes_textures(entry)) continue;
    source += kTextureKernels;
    break;
  }
  return kernels_in(KernelFormat::OpenClC, std::move(source), std::move(entry_points));
}

ExecutableDesc broken() {
  return kernels_in(KernelFormat::OpenClC, "__kernel void broken() { undeclared_name = 1; }",
                    {{.name = "broken", .params = {}}});
}

EncodeNative opencl_fill(std::uint64_t bytes, std::byte value) {
  return [=](const NativeCommands& commands) -> Status {
    TL_ASSIGN_OR_RETURN(const auto api, opencl::load_api(opencl::DriverOptions().loader_paths));
    const opencl::NativeHandles& handles = *opencl::native_handles(commands);
    const auto& place = std::get<BoundBuffer>(commands.memory[0]);
    const cl_int code =
        api->clEnqueueFillBuffer(handles.queue, opencl::native_memory(place), &value, 1,
                                 place.offset, bytes, 0, nullptr, nullptr);
    return code == CL_SUCCESS ? Status() : make_error(StatusCode::DeviceError, "{}", code);
  };
}

const Registration kOpenCl(
    {.name = "opencl",
     .create = []() -> Result<std::shared_ptr<Driver>> { return opencl::create_driver(); },
     .create_cached = [](std::shared_ptr<BinaryCache> cache) -> Result<std::shared_ptr<Driver>> {
       return opencl::create_driver({.binary_cache = std::move(cache)});
     },
     .kernels = kernels,
     .broken = broken,
     .broken_says = "undeclared_name",
     .native_fill = opencl_fill,
     .make_application = make_opencl_application,
     .exclusions = {{.test = "Dispatches.OfAKernelThatTakesItsTime",
                     .device = "llvmpipe",
                     .reason = "llvmpipe leaves any loop after 65,535 "
                               "rounds"}}});

}  // namespace
}  // namespace texloom::hal::conformance
