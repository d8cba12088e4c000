#include "tests/conformance/kernels.h"

namespace texloom::hal::conformance::kernels {

namespace {

BufferParam read(std::string name) { return {.name = std::move(name), .access = Access::Read}; }
BufferParam write(std::string name) { return {.name = std::move(name), .access = Access::Write}; }
ConstantParam constant(std::string name, ElementType type = ElementType::Int32) {
  return {.name = std::move(name), .type = type};
}

// Returns a name such as "copy_texels_float": one kernel serves all formats of a class.
std::string for_class_of(TexelFormat format, const std::string& name) {
  if (is_normalized(format)) return name + "_float";
  switch (channel_type(format)) {
    case ElementType::Int8:
    case ElementType::Int16:
    case ElementType::Int32:
      return name + "_int";
    case ElementType::UInt8:
    case ElementType::UInt16:
    case ElementType::UInt32:
      return name + "_uint";
    default:
      return name + "_float";
  }
}

}  // namespace

EntryPoint nothing() { return {.name = "nothing", .params = {}}; }

EntryPoint add_one() { return {.name = "add_one", .params = {read("a"), write("b")}}; }

EntryPoint advance() {
  return {.name = "advance",
          .params = {BufferParam{.name = "x", .access = Access::ReadWrite, .min_bytes = 4},
                     constant("k")}};
}

EntryPoint constants() {
  return {.name = "constants",
          .params = {write("out"), constant("a"), constant("b", ElementType::UInt32),
                     constant("c", ElementType::Int64), constant("d", ElementType::UInt64),
                     constant("e", ElementType::Float32)}};
}

EntryPoint double_bits() {
  return {.name = "double_bits", .params = {write("out"), constant("a", ElementType::Float64)}};
}

EntryPoint sum_of_eight() {
  EntryPoint entry{.name = "sum_of_eight", .params = {}};
  for (int i = 0; i < 8; ++i) entry.params.emplace_back(read("a" + std::to_string(i)));
  entry.params.emplace_back(write("out"));
  return entry;
}

EntryPoint walk() {
  return {.name = "walk", .params = {write("out"), constant("steps", ElementType::UInt32)}};
}

EntryPoint index() {
  return {.name = "index",
          .params = {write("out"), constant("width"), constant("height")},
          .workgroup_size = {2, 3, 1}};
}

std::vector<std::int32_t> written_by_index(int width, int height, int depth) {
  std::vector<std::int32_t> written(width * height * depth);
  for (int i = 0; i < width * height * depth; ++i) {
    const int x = i % width, y = i / width % height, z = i / width / height;
    written[i] = 1000 * (x / 2 + 10 * (y / 3) + 100 * z) + i;
  }
  return written;
}

EntryPoint reverse() {
  return {.name = "reverse", .params = {read("in"), write("out")}, .workgroup_size = {16, 1, 1}};
}

EntryPoint reverse_and_rotate() {
  return {.name = "reverse_and_rotate",
          .params = {read("in"), LocalParam{"first", 64}, constant("k"), LocalParam{"second", 80},
                     write("out")},
          .workgroup_size = {16, 1, 1}};
}

EntryPoint copy_texels(TexelFormat format) {
  return {.name = for_class_of(format, "copy_texels"),
          .params = {TextureParam{.name = "in", .format = format},
                     TextureParam{.name = "out", .format = format, .access = Access::Write}}};
}

EntryPoint read_texels(TexelFormat format) {
  return {
      .name = for_class_of(format, "read_texels"),
      .params = {TextureParam{.name = "in", .format = format}, write("out"), constant("width")}};
}

EntryPoint read_texels_around(TexelFormat format) {
  EntryPoint entry = read_texels(format);
  entry.name = for_class_of(format, "read_texels_around");
  return entry;
}

EntryPoint write_texels(TexelFormat format) {
  return {
      .name = for_class_of(format, "write_texels"),
      .params = {read("in"), TextureParam{.name = "out", .format = format, .access = Access::Write},
                 constant("width")}};
}

EntryPoint twice_at_origins() {
  const TextureParam in{.name = "in", .min_extent = {4, 3}, .origin = TextureOrigin::Constants};
  TextureParam out = in;
  out.name = "out";
  out.access = Access::Write;
  return {.name = "twice_at_origins",
          .params = {in, constant("in_x"), constant("in_y"), out, constant("out_x"),
                     constant("out_y")}};
}

}  // namespace texloom::hal::conformance::kernels
