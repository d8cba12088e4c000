#include "tests/runtime/drivers/metal/random_kernels.h"

namespace texloom::hal::metal {

const char* const kByAddress = R"(
#include <metal_stdlib>
using namespace metal;
struct Two { device const uint* in [[id(0)]]; device uint* out [[id(1)]]; };
struct By { uint k; };
kernel void add(constant Two& t [[buffer(0)]], constant By& by [[buffer(1)]],
                uint i [[thread_position_in_grid]]) {
  t.out[i] = t.in[i] + by.k;
}
struct Three {
  device const uint* a [[id(0)]]; device uint* out [[id(1)]]; device const uint* b [[id(2)]];
};
struct Mixed { int a; ulong b; uint c; };
kernel void mix(constant Three& t [[buffer(0)]], constant Mixed& by [[buffer(1)]],
                uint i [[thread_position_in_grid]]) {
  t.out[i] = 3 * t.a[i] + 5 * t.b[i] + uint(by.a) + uint(by.b >> 7) + by.c;
}
struct One { device uint* x [[id(0)]]; };
kernel void step(constant One& t [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  t.x[i] = 5 * t.x[i] + 1;
}
struct Reading { texture2d<uint, access::read> from [[id(0)]]; device uint* to [[id(1)]]; };
kernel void load(constant Reading& t [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  t.to[i] = t.from.read(uint2(i / 4, 0))[i % 4] + 1;
}
struct Writing { device const uint* from [[id(0)]]; texture2d<uint, access::write> to [[id(1)]]; };
struct Wide { ulong a; int b; };
kernel void save(constant Writing& t [[buffer(0)]], constant Wide& by [[buffer(1)]],
                 uint i [[thread_position_in_grid]]) {
  if (i >= 2) return;
  const uint k = uint(by.a) + uint(by.b);
  t.to.write(uint4(t.from[4 * i] + k, t.from[4 * i + 1] + k, t.from[4 * i + 2] + k,
                   t.from[4 * i + 3] + k), uint2(i, 0));
}
)";
const char* const kBySlot = R"(
#include <metal_stdlib>
using namespace metal;
struct By { uint k; };
kernel void plain(device const uint* in [[buffer(0)]], device uint* out [[buffer(1)]],
                  constant By& by [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  out[i] = 7 * in[i] + by.k;
}
)";

const std::vector<RandomKernel>& random_kernels() {
  using enum ElementType;
  constexpr RandomKernel::Argument kIn = {false, Access::Read}, kOut = {false, Access::Write},
                                   kBoth = {false, Access::ReadWrite},
                                   kTexels = {true, Access::Read}, kTarget = {true, Access::Write};
  const auto each = [](auto value) {
    return [value](std::span<Values> v, std::uint32_t k) {
      for (std::size_t i = 0; i < kWords; ++i) value(v, i, k);
    };
  };
  static const auto* const all = new std::vector<RandomKernel>{
      {"add", {kIn, kOut}, {UInt32}, 8, each([](auto v, auto i, auto k) {
         v[1][i] = v[0][i] + k;
       })},
      {"mix", {kIn, kOut, kIn}, {Int32, UInt64, UInt32}, 4, each([](auto v, auto i, auto k) {
         v[1][i] = 3 * v[0][i] + 5 * v[2][i] + k;
       })},
      {"step", {kBoth}, {}, 1, each([](auto v, auto i, auto) { v[0][i] = 5 * v[0][i] + 1; })},
      {"load", {kTexels, kOut}, {}, 2, each([](auto v, auto i, auto) { v[1][i] = v[0][i] + 1; })},
      {"save", {kIn, kTarget}, {UInt64, Int32}, 8, each([](auto v, auto i, auto k) {
         v[1][i] = v[0][i] + k;
       })},
      {"plain", {kIn, kOut}, {UInt32}, 4, each([](auto v, auto i, auto k) {
         v[1][i] = 7 * v[0][i] + k;
       })},
  };
  return *all;
}
EntryPoint entry_of(const RandomKernel& kernel) {
  EntryPoint entry;
  entry.name = kernel.name;
  entry.workgroup_size = {kernel.threads, 1, 1};
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
    const auto& [is_texture, access] = kernel.arguments[i];
    const std::string name = "p" + std::to_string(i);
    if (is_texture) {
      entry.params.emplace_back(TextureParam{
          .name = name, .format = TexelFormat::Rgba32UInt, .access = access, .min_extent = {2, 1}});
    } else {
      entry.params.emplace_back(BufferParam{.name = name, .access = access, .min_bytes = kBytes});
    }
  }
  for (std::size_t i = 0; i < kernel.constants.size(); ++i)
    entry.params.emplace_back(
        ConstantParam{.name = "c" + std::to_string(i), .type = kernel.constants[i]});
  return entry;
}

}  // namespace texloom::hal::metal
