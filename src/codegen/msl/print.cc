#include "codegen/msl/print.h"

#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

#include "codegen/c/bfloat_functions.h"
#include "codegen/c/border_reads.h"
#include "codegen/c/defined_functions.h"
#include "codegen/c/kernel_form.h"
#include "codegen/c/kernel_printer.h"
#include "codegen/msl/fragment_functions.h"
#include "codegen/msl/functions.h"
#include "codegen/msl/msl_dialect.h"
#include "codegen/msl/reserved_words.h"
#include "ir/analysis/fragments.h"
#include "ir/analysis/limits.h"
#include "ir/visit.h"
#include "support/check.h"

namespace texloom::codegen::msl {

using ir::Buffer;
using ir::Expr;
using ir::Type;

namespace {

// For formats with four channels, the border is zero in all of them, alpha included.
constexpr std::string_view kSampler =
    "constexpr sampler tl_sampler(coord::pixel, address::clamp_to_zero, filter::nearest);\n\n";

std::string converted(Type to, const std::string& integer) {
  return fmt::format("{}({})", value_type_name(to), integer);
}

std::string reinterpreted(Type to, const std::string& value) {
  return fmt::format("as_type<{}>({})", value_type_name(to), value);
}

constexpr BitSpelling kBits{converted, reinterpreted};

class MslExprPrinter : public ExprPrinter {
 public:
  // The arguments must outlive this object.
  MslExprPrinter(const ir::Kernel& kernel, const KernelForm& form, const Dialect& dialect,
                 ir::LanguageVersion language)
      : ExprPrinter(reserved_words(), form, dialect),
        language_(language),
        with_border_(textures_with_border(kernel)) {}

  std::string_view address_space(ir::MemoryScope scope) const override {
    switch (scope) {
      case ir::MemoryScope::Global:
        return "device";
      case ir::MemoryScope::Shared:
        return "threadgroup";
      case ir::MemoryScope::Local:
      case ir::MemoryScope::Fragment:
        return "thread";
    }
    TL_UNREACHABLE();
  }

  // An lvalue for any access, of the type that memory has.
  std::string memory(const Buffer& buffer, const Expr& index) {
    if (has_place(buffer, index)) return place(buffer, index);
    const Expr& base = as<ir::Ramp>(index)->base;
    const std::string pointer =
        is_int(base, 0) ? name(buffer)
                        : fmt::format("({} + {})", name(buffer), text(base, Precedence::Product));
    return fmt::format("*({} packed_{}{}*){}", address_space(buffer->memory),
                       memory_type(buffer->type), index->type.lanes, pointer);
  }

  // What memory holds for the values of a store.
  std::string stored(const Buffer& buffer, const Expr& value) {
    if (!is_memory_alone(buffer)) return text(value);
    return narrowed(buffer->type.with_lanes(value->type.lanes), value);
  }

  bool has_border(const Buffer& texture) const { return with_border_.contains(texture.get()); }

  bool uses_sampler = false;

 protected:
  void see(Type) override {}

  std::string vector(Type type, const ir::Exprs& elements, Precedence) override {
    return fmt::format("{}({})", value_type_name(type), list(elements));
  }

  std::string cast(const ir::Cast& n, Precedence) override {
    const auto* inner = as<ir::Cast>(n.value);
    if (inner != nullptr && is_held_as_bits(inner->type)) {
      return widened(n.type, inner->type, narrowed(inner->type, inner->value));
    }
    return fmt::format("{}({})", value_type_name(n.type), text(n.value));
  }

  std::string call(const ir::Call& n) override {
    const std::string name = dialect().functions.contains(n.function)
                                 ? function_name(n.function, n.type, language_, prelude)
                                 : define(n.function, n.type);
    if (n.function != ir::Intrinsic::Ldexp) return fmt::format("{}({})", name, list(n.arguments));
    return fmt::format("{}({}, {}({}))", name, text(n.arguments[0]),
                       value_type_name(ir::kInt32.with_lanes(n.type.lanes)), text(n.arguments[1]));
  }

  // A packed vector becomes a vector, and a half that exists only in memory becomes a float.
  std::string load(const ir::Load& n) override {
    const Expr& index = n.indices.front();
    const std::string access = memory(n.buffer, index);
    const bool is_value = has_place(n.buffer, index) && !is_memory_alone(n.buffer);
    return is_value ? access : widened(n.type, n.buffer->type, access);
  }

  std::string texel(const ir::TextureLoad& n) override {
    const std::string x = text(n.x), y = text(n.y);
    if (!has_border(n.texture)) return fmt::format("{}.read(uint2({}, {}))", name(n.texture), x, y);
    uses_sampler = true;
    // Samples the middle of the texel, which float32 represents exactly: images are small enough.
    return fmt::format("{}.sample(tl_sampler, float2({}, {}) + 0.5f)", name(n.texture), x, y);
  }

 private:
  // Values of a type that exists only in memory, as memory holds them, and back.
  std::string narrowed(Type stored, const Expr& value) {
    const std::string function = is_held_as_bits(stored)
                                     ? narrow_to_bfloats(prelude, kBits, stored.lanes)
                                     : value_type_name(stored);
    return fmt::format("{}({})", function, text(value));
  }
  std::string widened(Type values, Type stored, const std::string& access) {
    const std::string function = is_held_as_bits(stored)
                                     ? widen_bfloats(prelude, kBits, values.lanes)
                                     : value_type_name(values);
    return fmt::format("{}({})", function, access);
  }

  // Adds a function that the language lacks to the prelude, and returns its name.
  std::string define(ir::Intrinsic function, Type type) {
    const std::string name = defined_name(function);
    const auto definition = definition_of(function);
    TL_CHECK(definition.has_value() && type.element() == ir::kFloat32, name);
    MslExprPrinter own({}, form(), dialect(), language_);  // with names of its own
    prelude.use(name, function_text(own, name, *definition));
    prelude.add(own.prelude);
    if (type.is_scalar()) return name;
    const std::string wide = fmt::format("{}_{}", name, value_type_name(type));
    const auto arity = static_cast<int>(definition->parameters.size());
    return prelude.use(wide, function_by_lanes(name, wide, type, arity));
  }

  const ir::LanguageVersion language_;
  const std::unordered_set<const ir::BufferNode*> with_border_;
};

// The parts of a kernel's printer that must be constructed before its base class.
struct KernelParts {
  KernelParts(const ir::Kernel& kernel, const ir::Target& target)
      : dialect(msl_dialect(target)),
        form(form_of(kernel, dialect)),
        exprs(kernel, form, dialect, target.language) {}

  const Dialect dialect;
  const KernelForm form;
  MslExprPrinter exprs;
};

class MslKernelPrinter : private KernelParts, public KernelPrinter {
 public:
  MslKernelPrinter(const ir::Kernel& kernel, const std::vector<ir::Foreign>& foreign,
                   const ir::Target& target)
      : KernelParts(kernel, target),
        KernelPrinter(exprs, kernel, foreign),
        target_(target),
        uses_table_(ir::uses_argument_buffer(kernel, target)),
        roles_(ir::fragment_roles(kernel.body)) {}

 private:
  std::string preamble() override {
    std::string text = "#include <metal_stdlib>\n\nusing namespace metal;\n\n";
    // Repeats the executable's math mode, in versions of the language with a pragma for it.
    const bool is_safe = !target_.math.fast;
    if (is_safe && target_.language >= ir::LanguageVersion{3, 2})
      text += "#pragma METAL fp math_mode(safe)\n";
    if (is_safe) text += "#pragma clang fp contract(off)\n\n";
    if (exprs.uses_sampler) text += kSampler;
    return text;
  }

  std::string signature(const std::string& name) override {
    std::vector<std::string> params;
    std::string table;
    if (uses_table_) {
      table = in_table(params);
    } else {
      in_slots(params);
    }
    const std::string constants = constants_after(params);
    for (const bool block : {true, false}) {
      if (uses_axes(block)) params.push_back(axis_parameter(block));
    }
    if (uses_lane()) params.push_back("uint tl_lane [[thread_index_in_simdgroup]]");
    const auto& [x, y, z] = kernel().block;
    return fmt::format("{}{}[[max_total_threads_per_threadgroup({})]]\nkernel void {}({}{}) {{\n",
                       table, constants, x * y * z, name, params.empty() ? "" : "\n    ",
                       fmt::join(params, ",\n    "));
  }

  // Adds a parameter for each buffer and texture.
  void in_slots(std::vector<std::string>& params) {
    int textures = 0;
    for (const ir::KernelParam& param : kernel().params) {
      if (param.scalar) continue;
      const bool is_texture = param.buffer->is_texture();
      params.push_back(fmt::format("{} [[{}({})]]", resource(param),
                                   is_texture ? "texture" : "buffer",
                                   (is_texture ? textures : buffers_)++));
    }
  }

  // Adds the parameter for the table of buffers and textures, and returns the definition of its
  // type.
  std::string in_table(std::vector<std::string>& params) {
    std::string members;
    int id = 0;
    for (const ir::KernelParam& param : kernel().params) {
      if (!param.scalar) members += fmt::format("  {} [[id({})]];\n", resource(param), id++);
    }
    params.push_back(fmt::format("constant tl_resources& tl_table [[buffer({})]]", buffers_++));
    return fmt::format("struct tl_resources {{\n{}}};\n\n", members);
  }

  // Adds the parameter for constants, if there are any, and returns the definition of its type.
  std::string constants_after(std::vector<std::string>& params) {
    std::string members;
    for (const ir::KernelParam& param : kernel().params) {
      if (!param.scalar) continue;
      members +=
          fmt::format("  {} {};\n", value_type_name(param.scalar->type), exprs.text(param.scalar));
    }
    if (members.empty()) return {};
    params.push_back(fmt::format("constant tl_constants& tl_args [[buffer({})]]", buffers_));
    return fmt::format("struct tl_constants {{\n{}}};\n\n", members);
  }

  // The declaration of a buffer or a texture.
  std::string resource(const ir::KernelParam& param) {
    const Buffer& buffer = param.buffer;
    if (!buffer->is_texture()) {
      const bool is_exchanged = form.exchanged.contains(buffer.get());
      return fmt::format("device {}{}*{} {}", param.access == ir::Access::Read ? "const " : "",
                         exprs.memory_type(buffer->type), is_exchanged ? "" : " __restrict",
                         exprs.name(buffer));
    }
    const std::string_view access = param.access != ir::Access::Read ? "write"
                                    : exprs.has_border(buffer)       ? "sample"
                                                                     : "read";
    return fmt::format("texture2d<{}, access::{}> {}",
                       value_type_name(dialect.texel(buffer->type).element()), access,
                       exprs.name(buffer));
  }

  bool uses_axes(bool block) const {
    for (const ir::ThreadAxis& axis : kernel().axes) {
      if (axis.tag.block == block && is_used(axis.var)) return true;
    }
    return false;
  }

  static std::string axis_parameter(bool block) {
    return block ? "uint3 tl_block [[threadgroup_position_in_grid]]"
                 : "uint3 tl_thread [[thread_position_in_threadgroup]]";
  }

  void begin_body() override {
    for (const ir::KernelParam& param : kernel().params) {
      if (!param.scalar && uses_table_)
        line(fmt::format("{} = tl_table.{};", resource(param), exprs.name(param.buffer)));
      if (!param.scalar || !is_used(param.scalar)) continue;
      line(fmt::format("const {0} {1} = tl_args.{1};", value_type_name(param.scalar->type),
                       exprs.text(param.scalar)));
    }
  }

  std::string aligned(const std::string& array, int64_t bytes) override {
    return fmt::format("alignas({}) {}", bytes, array);
  }

  std::string axis_value(const ir::ThreadAxis& axis) override {
    return fmt::format("{}({}.{})", value_type_name(axis.var->type),
                       axis.tag.block ? "tl_block" : "tl_thread", "xyz"[axis.tag.dim]);
  }

  void store(const ir::Store& n) override {
    const std::string value = exprs.stored(n.buffer, n.value);
    line(fmt::format("{} = {};", exprs.memory(n.buffer, n.indices.front()), value));
  }

  void store_texel(const ir::TextureStore& n) override {
    line(fmt::format("{}.write({}, uint2({}, {}));", exprs.name(n.texture), exprs.text(n.value),
                     exprs.text(n.x), exprs.text(n.y)));
  }

  // In a block that is not larger than a SIMD-group, threads wait only for their SIMD-group.
  std::string barrier() override {
    return fmt::format("{}_barrier(mem_flags::mem_threadgroup{});",
                       ir::is_one_simd_group(kernel(), target_) ? "simdgroup" : "threadgroup",
                       form.fences_parameters ? " | mem_flags::mem_device" : "");
  }

  std::string fragment_step(const ir::FragmentStep& n) override {
    const auto call = [&](bool transposed, const std::string& arguments) {
      return fmt::format("{}({});", fragment_function(exprs.prelude, n.op, transposed), arguments);
    };
    switch (n.op) {
      case ir::FragmentOp::Fill:
        return call(false, fmt::format("{}, {}", part(n.pointer(0)), exprs.text(n.operands[1])));
      case ir::FragmentOp::Load: {
        const ir::FragmentRole role = roles_.at(n.pointer(0).buffer.get());
        const bool transposed =
            role == ir::FragmentRole::LeftTransposed || role == ir::FragmentRole::RightTransposed;
        return call(transposed, fmt::format("{}, {}, {}", part(n.pointer(0)),
                                            elements(n.pointer(1)), exprs.text(n.operands[2])));
      }
      case ir::FragmentOp::Mma:
        return call(false, fmt::format("{}, {}, {}", part(n.pointer(0)), part(n.pointer(1)),
                                       part(n.pointer(2))));
      case ir::FragmentOp::Store:
        return call(false, fmt::format("{}, {}, {}", elements(n.pointer(0)),
                                       exprs.text(n.operands[2]), part(n.pointer(1))));
    }
    TL_UNREACHABLE();
  }

  // A pointer to the matrices of a part.
  std::string part(const ir::Pointer& pointer) {
    const int64_t first = ir::fragment_part(pointer).value() * kMatricesOfPart;
    const std::string name = exprs.name(pointer.buffer);
    return first == 0 ? name : fmt::format("{} + {}", name, first);
  }
  // A pointer to the first element of a part in memory.
  std::string elements(const ir::Pointer& pointer) {
    const Expr index = pointer.indices.front() + pointer.offset;
    return fmt::format("{} + {}", exprs.name(pointer.buffer), exprs.text(index, Precedence::Sum));
  }

  std::string declaration(const Buffer& buffer) override {
    if (!roles_.contains(buffer.get())) return KernelPrinter::declaration(buffer);
    return fmt::format("simdgroup_matrix<{}, 8, 8> {}[{}];", exprs.memory_type(buffer->type),
                       exprs.name(buffer),
                       buffer->layout.col_count() / ir::kFragmentElements * kMatricesOfPart);
  }

  // With a constant offset, threads at an end of the SIMD-group may have no source thread:
  // simd_shuffle_up and simd_shuffle_down are defined in this case, simd_shuffle is not.
  std::string shuffle(const ir::Shuffle& n) override {
    const std::string value = exprs.text(n.value);
    if (const int64_t* offset = int_value(n.offset)) {
      return fmt::format("simd_shuffle_{}({}, {})", *offset < 0 ? "up" : "down", value,
                         std::abs(*offset));
    }
    return fmt::format("simd_shuffle({}, ushort(int(tl_lane) + {}))", value,
                       exprs.text(n.offset, Precedence::Product));
  }

  void async_copies(const ir::AsyncCopies&) override {
    TL_UNREACHABLE("Metal has no asynchronous copies of threads");
  }
  std::string await_copies(const ir::AwaitCopies&) override {
    TL_UNREACHABLE("Metal has no asynchronous copies of threads");
  }

  std::string is_in_last_block(const ir::LastBlock&) override {
    TL_UNREACHABLE("Metal's fences are of threadgroups");
  }

  bool uses_lane() const {
    return any_of(kernel().body,
                  [](const ir::Shuffle& n) { return int_value(n.offset) == nullptr; });
  }

  const ir::Target& target_;
  const bool uses_table_;
  const ir::FragmentRoles roles_;
  int buffers_ = 0;  // slots for buffers that have been given to parameters
};

}  // namespace

PrintedKernel print(const ir::Kernel& kernel, const std::vector<ir::Foreign>& foreign,
                    const ir::Target& target) {
  return MslKernelPrinter(kernel, foreign, target).print();
}

}  // namespace texloom::codegen::msl
