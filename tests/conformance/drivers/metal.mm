// Registers the driver `metal` for every device of the system; on Linux, softmetal has the devices.
#include "runtime/drivers/metal/driver.h"

#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

#include "runtime/drivers/metal/api/native.h"
#include "tests/conformance/tested_driver.h"

namespace texloom::hal::conformance {
namespace {

constexpr const char* kSource = R"(
#include <metal_stdlib>
using namespace metal;

kernel void nothing() {}
kernel void add_one(device const int* a [[buffer(0)]], device int* b [[buffer(1)]],
                    uint i [[thread_position_in_grid]]) {
  b[i] = a[i] + 1;
}
struct Advance { int k; };
kernel void advance(device uint* x [[buffer(0)]], constant Advance& by [[buffer(1)]],
                    uint i [[thread_position_in_grid]]) {
  x[i] = x[i] * 3 + uint(by.k);
}
struct Constants { int a; uint b; long c; ulong d; float e; };
kernel void constants(device long* out [[buffer(0)]], constant Constants& in [[buffer(1)]]) {
  out[0] = in.a;
  out[1] = in.b;
  out[2] = in.c;
  out[3] = as_type<long>(in.d);
  out[4] = as_type<int>(in.e);
}
kernel void sum_of_eight(device const int* a0 [[buffer(0)]], device const int* a1 [[buffer(1)]],
                         device const int* a2 [[buffer(2)]], device const int* a3 [[buffer(3)]],
                         device const int* a4 [[buffer(4)]], device const int* a5 [[buffer(5)]],
                         device const int* a6 [[buffer(6)]], device const int* a7 [[buffer(7)]],
                         device int* out [[buffer(8)]], uint i [[thread_position_in_grid]]) {
  out[i] = a0[i] + a1[i] + a2[i] + a3[i] + a4[i] + a5[i] + a6[i] + a7[i];
}
struct Walk { uint steps; };
kernel void walk(device uint* out [[buffer(0)]], constant Walk& walk [[buffer(1)]],
                 uint i [[thread_position_in_grid]]) {
  uint x = i + 1;
  for (uint step = 0; step < walk.steps; ++step) x = x * 1664525u + 1013904223u;
  out[i] = x;
}
struct Size { int width, height; };
kernel void index(device int* out [[buffer(0)]], constant Size& size [[buffer(1)]],
                  uint3 at [[thread_position_in_grid]],
                  uint3 group [[threadgroup_position_in_grid]]) {
  const int i = (int(at.z) * size.height + int(at.y)) * size.width + int(at.x);
  out[i] = 1000 * int(group.x + 10 * group.y + 100 * group.z) + i;
}
kernel void reverse(device const int* in [[buffer(0)]], device int* out [[buffer(1)]],
                    uint at [[thread_position_in_grid]],
                    uint i [[thread_position_in_threadgroup]]) {
  threadgroup int tile[16];
  tile[i] = in[at];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[at] = tile[15 - i];
}
struct Factor { int k; };
kernel void reverse_and_rotate(device const int* in [[buffer(0)]],
                               threadgroup int* first [[threadgroup(0)]],
                               constant Factor& factor [[buffer(2)]],
                               threadgroup int* second [[threadgroup(1)]],
                               device int* out [[buffer(1)]],
                               uint at [[thread_position_in_grid]],
                               uint i [[thread_position_in_threadgroup]]) {
  first[i] = in[at];
  second[i] = factor.k * first[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[at] = first[15 - i] + second[(i + 1) % 16];
}

constexpr sampler border(coord::pixel, address::clamp_to_zero, filter::nearest);
struct Width { int width; };
#define FOR_CLASS(CLASS, TYPE)                                                                  \
  kernel void copy_texels_##CLASS(texture2d<TYPE, access::read> in [[texture(0)]],              \
                                  texture2d<TYPE, access::write> out [[texture(1)]],            \
                                  uint2 at [[thread_position_in_grid]]) {                       \
    out.write(in.read(at), at);                                                                 \
  }                                                                                             \
  kernel void read_texels_##CLASS(texture2d<TYPE, access::read> in [[texture(0)]],              \
                                  device TYPE* out [[buffer(0)]],                               \
                                  constant Width& row [[buffer(1)]],                            \
                                  uint2 at [[thread_position_in_grid]]) {                       \
    const vec<TYPE, 4> texel = in.read(at);                                                     \
    for (uint i = 0; i < 4; ++i) out[4 * (at.y * uint(row.width) + at.x) + i] = texel[i];       \
  }                                                                                             \
  kernel void read_texels_around_##CLASS(texture2d<TYPE, access::sample> in [[texture(0)]],     \
                                         device TYPE* out [[buffer(0)]],                        \
                                         constant Width& row [[buffer(1)]],                     \
                                         uint2 at [[thread_position_in_grid]]) {                \
    const vec<TYPE, 4> texel = in.sample(border, float2(at) - 0.5f);                            \
    for (uint i = 0; i < 4; ++i) out[4 * (at.y * uint(row.width) + at.x) + i] = texel[i];       \
  }                                                                                             \
  kernel void write_texels_##CLASS(device const TYPE* in [[buffer(0)]],                         \
                                   texture2d<TYPE, access::write> out [[texture(0)]],           \
                                   constant Width& row [[buffer(1)]],                           \
                                   uint2 at [[thread_position_in_grid]]) {                      \
    vec<TYPE, 4> texel;                                                                         \
    for (uint i = 0; i < 4; ++i) texel[i] = in[4 * (at.y * uint(row.width) + at.x) + i];        \
    out.write(texel, at);                                                                       \
  }
FOR_CLASS(float, float)
FOR_CLASS(int, int)
FOR_CLASS(uint, uint)
struct Origins { int in_x, in_y, out_x, out_y; };
kernel void twice_at_origins(texture2d<float, access::read> in [[texture(0)]],
                             texture2d<float, access::write> out [[texture(1)]],
                             constant Origins& origins [[buffer(0)]],
                             uint2 at [[thread_position_in_grid]]) {
  const uint2 from = at + uint2(uint(origins.in_x), uint(origins.in_y));
  const uint2 to = at + uint2(uint(origins.out_x), uint(origins.out_y));
  out.write(2.0f * in.read(from), to);
}
)";

ExecutableDesc kernels(std::vector<EntryPoint> entry_points) {
  return kernels_in(KernelFormat::Msl, kSource, std::move(entry_points));
}

ExecutableDesc broken() {
  return kernels_in(KernelFormat::Msl, "kernel void broken() { undeclared_name = 1; }",
                    {{.name = "broken", .params = {}}});
}

EncodeNative native_fill(std::uint64_t bytes, std::byte value) {
  return [=](const NativeCommands& commands) -> Status {
    const metal::NativeHandles& handles = *metal::native_handles(commands);
    const auto& place = std::get<BoundBuffer>(commands.memory[0]);
    id<MTLBlitCommandEncoder> encoder = (id<MTLBlitCommandEncoder>)handles.leases->blit_encoder();
    if (encoder == nil) return make_error(StatusCode::DeviceError, "no encoder");
    [encoder fillBuffer:(id<MTLBuffer>)metal::native_memory(place)
                  range:NSMakeRange(place.offset, bytes)
                  value:std::to_integer<std::uint8_t>(value)];
    return {};
  };
}

const Registration kMetal(
    {.name = "metal",
     .create = []() -> Result<std::shared_ptr<Driver>> { return metal::create_driver(); },
     .create_cached = [](std::shared_ptr<BinaryCache> cache) -> Result<std::shared_ptr<Driver>> {
       return metal::create_driver({.binary_cache = std::move(cache)});
     },
     .kernels = kernels,
     .broken = broken,
     .broken_says = "undeclared_name",
     .native_fill = native_fill,
     .make_application = make_metal_application});

}  // namespace
}  // namespace texloom::hal::conformance
