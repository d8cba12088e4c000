// Registers the driver `host`: the suite's kernels as functions of the program.
#include <algorithm>
#include <bit>

#include "runtime/drivers/host/driver.h"
#include "runtime/drivers/host/native.h"
#include "tests/conformance/tested_driver.h"

namespace texloom::hal::conformance {
namespace {

using host::WorkGroup;

// Calls `item` with the global position of each work item of a group.
template <typename Item>
Status for_each_item(const WorkGroup& group, const Item& item) {
  for (std::uint32_t z = 0; z < group.size[2]; ++z)
    for (std::uint32_t y = 0; y < group.size[1]; ++y)
      for (std::uint32_t x = 0; x < group.size[0]; ++x)
        item(group.id[0] * group.size[0] + x, group.id[1] * group.size[1] + y,
             group.id[2] * group.size[2] + z);
  return {};
}

// Calls `item` with the global position along the first axis of each work item of a group.
template <typename Item>
Status for_each_number(const WorkGroup& group, const Item& item) {
  return for_each_item(group, [&](std::uint32_t x, std::uint32_t, std::uint32_t) { item(x); });
}

Status nothing(const WorkGroup&) { return {}; }

Status add_one(const WorkGroup& group) {
  const auto a = group.buffer<std::uint32_t>(0), b = group.buffer<std::uint32_t>(1);
  return for_each_number(group, [&](std::uint32_t i) { b[i] = a[i] + 1; });
}

Status advance(const WorkGroup& group) {
  const auto x = group.buffer<std::uint32_t>(0);
  const auto k = static_cast<std::uint32_t>(group.constant<std::int32_t>(1));
  return for_each_number(group, [&](std::uint32_t i) { x[i] = x[i] * 3 + k; });
}

Status constants(const WorkGroup& group) {
  const auto out = group.buffer<std::int64_t>(0);
  out[0] = group.constant<std::int32_t>(1);
  out[1] = group.constant<std::uint32_t>(2);
  out[2] = group.constant<std::int64_t>(3);
  out[3] = static_cast<std::int64_t>(group.constant<std::uint64_t>(4));
  out[4] = std::bit_cast<std::int32_t>(group.constant<float>(5));
  return {};
}

Status double_bits(const WorkGroup& group) {
  group.buffer<std::int64_t>(0)[0] = std::bit_cast<std::int64_t>(group.constant<double>(1));
  return {};
}

Status sum_of_eight(const WorkGroup& group) {
  return for_each_number(group, [&](std::uint32_t i) {
    std::uint32_t sum = 0;
    for (std::size_t a = 0; a < 8; ++a) sum += group.buffer<std::uint32_t>(a)[i];
    group.buffer<std::uint32_t>(8)[i] = sum;
  });
}

Status walk(const WorkGroup& group) {
  const auto out = group.buffer<std::uint32_t>(0);
  const auto steps = group.constant<std::uint32_t>(1);
  return for_each_number(group, [&](std::uint32_t i) {
    std::uint32_t x = i + 1;
    for (std::uint32_t step = 0; step < steps; ++step) x = x * 1664525U + 1013904223U;
    out[i] = x;
  });
}

Status index(const WorkGroup& group) {
  const auto out = group.buffer<std::uint32_t>(0);
  const auto width = static_cast<std::uint32_t>(group.constant<std::int32_t>(1));
  const auto height = static_cast<std::uint32_t>(group.constant<std::int32_t>(2));
  const std::uint32_t number = group.id[0] + 10 * group.id[1] + 100 * group.id[2];
  return for_each_item(group, [&](std::uint32_t x, std::uint32_t y, std::uint32_t z) {
    const std::uint32_t i = (z * height + y) * width + x;
    out[i] = 1000 * number + i;
  });
}

Status reverse(const WorkGroup& group) {
  const auto in = group.buffer<std::uint32_t>(0), out = group.buffer<std::uint32_t>(1);
  const std::span<std::uint32_t> tile(reinterpret_cast<std::uint32_t*>(group.scratch.data()), 16);
  const std::uint32_t first = 16 * group.id[0];
  for (std::uint32_t i = 0; i < 16; ++i) tile[i] = in[first + i];
  for (std::uint32_t i = 0; i < 16; ++i) out[first + i] = tile[15 - i];
  return {};
}

Status reverse_and_rotate(const WorkGroup& group) {
  const auto in = group.buffer<std::uint32_t>(0), out = group.buffer<std::uint32_t>(4);
  const auto first = group.local<std::uint32_t>(1), second = group.local<std::uint32_t>(3);
  const auto k = static_cast<std::uint32_t>(group.constant<std::int32_t>(2));
  const std::uint32_t begin = 16 * group.id[0];
  for (std::uint32_t i = 0; i < 16; ++i) {
    first[i] = in[begin + i];
    second[i] = k * first[i];
  }
  for (std::uint32_t i = 0; i < 16; ++i) out[begin + i] = first[15 - i] + second[(i + 1) % 16];
  return {};
}

template <typename T>
Status copy_texels(const WorkGroup& group) {
  return for_each_item(group, [&](std::uint32_t x, std::uint32_t y, std::uint32_t) {
    group.texture(1).image.write<T>(x, y, group.texture(0).image.read<T>(x, y));
  });
}

template <typename T>
Status read_texels_from(const WorkGroup& group, std::int64_t distance) {
  const auto out = group.buffer<T>(1);
  const auto width = static_cast<std::uint32_t>(group.constant<std::int32_t>(2));
  return for_each_item(group, [&](std::uint32_t x, std::uint32_t y, std::uint32_t) {
    const std::array<T, 4> texel =
        group.texture(0).image.read<T>(std::int64_t{x} - distance, std::int64_t{y} - distance);
    for (std::size_t c = 0; c < 4; ++c) out[4 * (std::size_t{y} * width + x) + c] = texel[c];
  });
}
template <typename T>
Status read_texels(const WorkGroup& group) {
  return read_texels_from<T>(group, 0);
}
template <typename T>
Status read_texels_around(const WorkGroup& group) {
  return read_texels_from<T>(group, 1);
}

template <typename T>
Status write_texels(const WorkGroup& group) {
  const auto in = group.buffer<T>(0);
  const auto width = static_cast<std::uint32_t>(group.constant<std::int32_t>(2));
  return for_each_item(group, [&](std::uint32_t x, std::uint32_t y, std::uint32_t) {
    std::array<T, 4> texel;
    for (std::size_t c = 0; c < 4; ++c) texel[c] = in[4 * (std::size_t{y} * width + x) + c];
    group.texture(1).image.write<T>(x, y, texel);
  });
}

Status twice_at_origins(const WorkGroup& group) {
  const auto at = [&](std::size_t constant, std::uint32_t item) {
    return std::int64_t{item} + group.constant<std::int32_t>(constant);
  };
  return for_each_item(group, [&](std::uint32_t x, std::uint32_t y, std::uint32_t) {
    std::array<float, 4> texel = group.texture(0).image.read<float>(at(1, x), at(2, y));
    for (float& channel : texel) channel *= 2;
    group.texture(3).image.write<float>(at(4, x), at(5, y), texel);
  });
}

host::FunctionLibrary library() {
  return {.name = "conformance",
          .functions = {{"nothing", nothing},
                        {"add_one", add_one},
                        {"advance", advance},
                        {"constants", constants},
                        {"double_bits", double_bits},
                        {"sum_of_eight", sum_of_eight},
                        {"walk", walk},
                        {"index", index},
                        {"reverse", reverse},
                        {"reverse_and_rotate", reverse_and_rotate},
                        {"copy_texels_float", copy_texels<float>},
                        {"copy_texels_int", copy_texels<std::int32_t>},
                        {"copy_texels_uint", copy_texels<std::uint32_t>},
                        {"read_texels_float", read_texels<float>},
                        {"read_texels_int", read_texels<std::int32_t>},
                        {"read_texels_uint", read_texels<std::uint32_t>},
                        {"read_texels_around_float", read_texels_around<float>},
                        {"read_texels_around_int", read_texels_around<std::int32_t>},
                        {"read_texels_around_uint", read_texels_around<std::uint32_t>},
                        {"write_texels_float", write_texels<float>},
                        {"write_texels_int", write_texels<std::int32_t>},
                        {"write_texels_uint", write_texels<std::uint32_t>},
                        {"twice_at_origins", twice_at_origins}}};
}

EncodeNative host_fill(std::uint64_t bytes, std::byte value) {
  return [=](const NativeCommands& commands) {
    std::byte* memory = host::native_memory(std::get<BoundBuffer>(commands.memory[0]));
    std::fill_n(memory, bytes, value);
    return Status();
  };
}

const Registration kHost({.name = "host",
                          .create = []() -> Result<std::shared_ptr<Driver>> {
                            return host::create_driver({.threads = 2,
                                                        .memory_bytes = std::uint64_t{1} << 28,
                                                        .libraries = {library()}});
                          },
                          .kernels =
                              [](std::vector<EntryPoint> entry_points) {
                                return kernels_in(KernelFormat::HostFunctions, "conformance",
                                                  std::move(entry_points));
                              },
                          .native_fill = host_fill,
                          .exhaustible = true});

}  // namespace
}  // namespace texloom::hal::conformance
