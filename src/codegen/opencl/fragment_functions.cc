#include "codegen/opencl/fragment_functions.h"

#include <fmt/format.h>

#include "support/check.h"

namespace texloom::codegen::opencl {

using ir::FragmentRole;

namespace {

constexpr std::string_view kLane = "const int lane = (int)get_local_id(0);";

bool is_transposed(FragmentRole role) {
  return role == FragmentRole::LeftTransposed || role == FragmentRole::RightTransposed;
}
bool is_right(FragmentRole role) {
  return role == FragmentRole::Right || role == FragmentRole::RightTransposed;
}

std::string_view name_of(FragmentRole role) {
  switch (role) {
    case FragmentRole::Sums:
      return "sums";
    case FragmentRole::Left:
      return "left";
    case FragmentRole::LeftTransposed:
      return "left_transposed";
    case FragmentRole::Right:
      return "right";
    case FragmentRole::RightTransposed:
      return "right_transposed";
  }
  TL_UNREACHABLE();
}

std::string suffix(const StepMemory& memory) {
  return fmt::format("{}{}", memory.space == "__local" ? "local" : "global",
                     memory.aligned ? "_aligned" : "");
}

// Each of four matrices of 8 x 8 elements is loaded from the addresses of eight lanes. Memory whose
// rows are not the rows of the instruction's operand is transposed on the way.
std::string load_aligned(const std::string& name, FragmentRole role) {
  const bool transposes = is_right(role) != is_transposed(role);
  const std::string_view at = is_transposed(role)
                                  ? "(lane % 8 + lane / 16 * 8) * stride + lane / 8 % 2 * 8"
                                  : "lane % 16 * stride + lane / 16 * 8";
  return fmt::format(
      "void {0}(uint* f, const __local ushort* source, int stride) {{\n"
      "  {1}\n"
      "  const __local ushort* row = source + {2};\n"
      "  asm volatile(\"ldmatrix.sync.aligned.m8n8.x4{3}.shared.b16 {{%0, %1, %2, %3}}, [%4];\"\n"
      "               : \"=r\"(f[0]), \"=r\"(f[1]), \"=r\"(f[2]), \"=r\"(f[3])\n"
      "               : \"r\"((uint)(size_t)row) : \"memory\");\n"
      "}}\n",
      name, kLane, at, transposes ? ".trans" : "");
}

// Loads the two elements of each register one by one.
std::string load_elements(const std::string& name, FragmentRole role, std::string_view space) {
  // Of the left factor, register r has rows from 8 * (r % 2) and steps from 8 * (r / 2) on; of the
  // right one, steps from 8 * (r % 2) and columns from 8 * (r / 2) on.
  const bool right = is_right(role);
  const std::string_view along = right ? "r / 2 * 8 + lane / 4" : "r % 2 * 8 + lane / 4";
  const std::string_view step = right ? "r % 2 * 8 + lane % 4 * 2" : "r / 2 * 8 + lane % 4 * 2";
  // Whether steps are neighbors in memory.
  const bool by_row = right == is_transposed(role);
  const std::string_view at = by_row ? "along * stride + step" : "step * stride + along";
  const std::string_view next = by_row ? "1" : "stride";
  return fmt::format(
      "void {0}(uint* f, const {1} ushort* source, int stride) {{\n"
      "  {2}\n"
      "#pragma unroll\n"
      "  for (int r = 0; r < 4; ++r) {{\n"
      "    const int along = {3}, step = {4};\n"
      "    const {1} ushort* pair = source + {5};\n"
      "    f[r] = (uint)pair[0] | (uint)pair[{6}] << 16;\n"
      "  }}\n"
      "}}\n",
      name, space, kLane, along, step, at, next);
}

constexpr std::string_view kSumPlace =
    "(i / 2 % 2 * 8 + lane / 4) * stride + i / 4 * 8 + lane % 4 * 2 + i % 2";

}  // namespace

std::string fill_fragment(Prelude& prelude) {
  return prelude.use("tl_fragment_fill",
                     "void tl_fragment_fill(float* f, float value) {\n"
                     "#pragma unroll\n"
                     "  for (int i = 0; i < 8; ++i) f[i] = value;\n"
                     "}\n");
}

std::string load_fragment(Prelude& prelude, FragmentRole role, const StepMemory& memory) {
  const std::string name = fmt::format("tl_fragment_load_{}_{}", name_of(role), suffix(memory));
  if (role == FragmentRole::Sums) {
    return prelude.use(name,
                       fmt::format("void {}(float* f, const {} float* source, int stride) {{\n"
                                   "  {}\n"
                                   "#pragma unroll\n"
                                   "  for (int i = 0; i < 8; ++i) f[i] = source[{}];\n"
                                   "}}\n",
                                   name, memory.space, kLane, kSumPlace));
  }
  const bool is_matrix = memory.aligned && memory.space == "__local";
  return prelude.use(
      name, is_matrix ? load_aligned(name, role) : load_elements(name, role, memory.space));
}

std::string multiply_fragments(Prelude& prelude, ir::Type factors) {
  const std::string_view type = factors.is_half() ? "f16" : "bf16";
  const std::string name = fmt::format("tl_fragment_mma_{}", type);
  const auto half = [&](int c, int b) {
    return fmt::format(
        "  asm(\"mma.sync.aligned.m16n8k16.row.col.f32.{0}.{0}.f32 {{%0, %1, %2, %3}}, \"\n"
        "      \"{{%4, %5, %6, %7}}, {{%8, %9}}, {{%0, %1, %2, %3}};\"\n"
        "      : \"+f\"(c[{1}]), \"+f\"(c[{2}]), \"+f\"(c[{3}]), \"+f\"(c[{4}])\n"
        "      : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"r\"(b[{5}]), "
        "\"r\"(b[{6}]));\n",
        type, c, c + 1, c + 2, c + 3, b, b + 1);
  };
  return prelude.use(name, fmt::format("void {}(float* c, const uint* a, const uint* b) {{\n"
                                       "{}{}"
                                       "}}\n",
                                       name, half(0, 0), half(4, 2)));
}

std::string store_fragment(Prelude& prelude, const StepMemory& memory) {
  const std::string name = fmt::format("tl_fragment_store_{}", suffix(memory));
  if (!memory.aligned) {
    return prelude.use(name, fmt::format("void {}({} float* to, int stride, const float* f) {{\n"
                                         "  {}\n"
                                         "#pragma unroll\n"
                                         "  for (int i = 0; i < 8; ++i) to[{}] = f[i];\n"
                                         "}}\n",
                                         name, memory.space, kLane, kSumPlace));
  }
  // Two neighbors at once.
  return prelude.use(name, fmt::format("void {0}({1} float* to, int stride, const float* f) {{\n"
                                       "  {2}\n"
                                       "#pragma unroll\n"
                                       "  for (int i = 0; i < 8; i += 2) {{\n"
                                       "    *({1} float2*)(to + {3}) = (float2)(f[i], f[i + 1]);\n"
                                       "  }}\n"
                                       "}}\n",
                                       name, memory.space, kLane, kSumPlace));
}

}  // namespace texloom::codegen::opencl
