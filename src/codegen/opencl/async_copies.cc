#include "codegen/opencl/async_copies.h"

#include <fmt/format.h>

#include <cmath>

namespace texloom::codegen::opencl {

using ir::Expr;

namespace {

bool is_zero(const Expr& e) {
  const auto* vector = as<ir::Broadcast>(e);
  if (vector != nullptr) return is_zero(vector->value);
  const auto* number = as<ir::FloatImm>(e);
  return is_int(e, 0) ||
         (number != nullptr && number->value == 0.0 && !std::signbit(number->value));
}

// Whether memory holds the bytes of the values that an access has.
bool holds(const ir::Buffer& buffer, ir::Type value) {
  return buffer->type.bits == value.bits && !buffer->is_texture();
}

}  // namespace

std::optional<AsyncCopy> async_copy_of(const ir::Store& n) {
  AsyncCopy copy{nullptr, nullptr, n.value->type.lanes * n.value->type.bits / 8};
  Expr value = n.value;
  if (const auto* choice = as<ir::Select>(value)) {
    if (!choice->condition->type.is_scalar() || !is_zero(choice->if_false)) return {};
    copy.condition = choice->condition;
    value = choice->if_true;
  }
  copy.source = as<ir::Load>(value);
  if (copy.source == nullptr || copy.source->buffer->memory != ir::MemoryScope::Global) return {};
  if (n.buffer->memory != ir::MemoryScope::Shared) return {};
  if (!holds(n.buffer, value->type) || !holds(copy.source->buffer, value->type)) return {};
  if (copy.bytes != 4 && copy.bytes != 8 && copy.bytes != 16) return {};
  return copy;
}

// Copies of 16 bytes leave out the L1 cache (.cg), since no thread reads them there again. Smaller
// ones exist with it alone (.ca).
const std::string& copy_async(Prelude& prelude, int64_t bytes) {
  const std::string name = fmt::format("tl_copy_async{}", bytes);
  return prelude.use(
      name,
      fmt::format(
          "void {0}(__local void* to, const __global void* from, int bytes) {{\n"
          "  asm volatile(\"cp.async.{2}.shared.global [%0], [%1], {1}, %2;\"\n"
          "               :: \"r\"((uint)(size_t)to), \"l\"(from), \"r\"(bytes) : \"memory\");\n"
          "}}\n",
          name, bytes, bytes == 16 ? "cg" : "ca"));
}

std::string await_groups_of_copies(int pending) {
  return fmt::format(R"(asm volatile("cp.async.wait_group {};" ::: "memory");)", pending);
}

}  // namespace texloom::codegen::opencl
