#include "codegen/opencl/print.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "codegen/c/bfloat_functions.h"
#include "codegen/c/kernel_form.h"
#include "codegen/c/kernel_printer.h"
#include "codegen/legalize/align_access.h"
#include "codegen/opencl/async_copies.h"
#include "codegen/opencl/fragment_functions.h"
#include "codegen/opencl/half_functions.h"
#include "codegen/opencl/intrinsics.h"
#include "codegen/opencl/opencl_dialect.h"
#include "codegen/opencl/reserved_words.h"
#include "codegen/opencl/take_ticket.h"
#include "ir/visit.h"
#include "support/check.h"

namespace texloom::codegen::opencl {

using ir::Buffer;
using ir::Expr;
using ir::Type;

namespace {

constexpr std::string_view kSampler =
    "__constant sampler_t tl_sampler =\n"
    "    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;\n\n";

std::string_view image_function_suffix(Type value) {
  if (value.is_half()) return "h";
  return value.is_float() ? "f" : value.is_int() ? "i" : "ui";
}

std::string converted(Type to, const std::string& integer) {
  return fmt::format(fmt::runtime(to.is_scalar() ? "({}){}" : "convert_{}({})"),
                     value_type_name(to), integer);
}

std::string reinterpreted(Type to, const std::string& value) {
  return fmt::format("as_{}({})", value_type_name(to), value);
}

constexpr BitSpelling kBits{converted, reinterpreted};

// Also records which extensions the source needs, and whether it needs the sampler.
class OpenCLExprPrinter : public ExprPrinter {
 public:
  // The arguments must outlive this object.
  OpenCLExprPrinter(const KernelForm& form, const Dialect& dialect)
      : ExprPrinter(reserved_words(), form, dialect) {}

  std::string coordinates(const Expr& x, const Expr& y) {
    return fmt::format("(int2)({}, {})", text(x), text(y));
  }

  // Whether the access can be spelled as an lvalue: an array element or an aligned vector.
  bool is_place(const Buffer& buffer, const Expr& index) const {
    return has_place(buffer, index) && !(index->type.is_scalar() && is_half_alone(buffer));
  }

  // Whether memory holds halves, and the device computes in float32.
  bool is_half_alone(const Buffer& buffer) const {
    return buffer->type.is_half() && is_memory_alone(buffer);
  }

  // What memory holds for the values of a store. Not for single halves, which vstore_half converts.
  std::string stored(const Buffer& buffer, const Expr& value) {
    if (is_held_as_bits(buffer->type)) return bits_of_bfloats(value);
    if (!is_half_alone(buffer)) return text(value);
    return fmt::format("{}({})", narrow_to_halves(prelude, value->type), text(value));
  }

  // Whether values of this type are the bits of halves in memory.
  bool are_bits(const Buffer& buffer, Type value) const {
    return is_half_alone(buffer) && value.element() == Type::u(16);
  }

  // The bits of halves in memory, as an lvalue. For an element, or a vector that has a place.
  std::string bits(const Buffer& buffer, const Expr& index) {
    if (!index->type.is_scalar()) return place(buffer, index);
    return fmt::format("({})[{}]", words(buffer), text(index));
  }
  // An element or vector in memory, as an lvalue.
  std::string element(const Buffer& buffer, const Expr& index) {
    return is_half_alone(buffer) ? bits(buffer, index) : place(buffer, index);
  }
  // A pointer to the bits of a vector of halves.
  std::string pointer_to_bits(const Buffer& buffer, const Expr& index) {
    return fmt::format("{} + {}", words(buffer),
                       text(as<ir::Ramp>(index)->base, Precedence::Product));
  }

  // The part between "vload" or "vstore" and the rounding: "4", "_half", "_half4".
  std::string access_form(const Buffer& buffer, const Expr& index) const {
    const std::string width = index->type.is_scalar() ? "" : std::to_string(index->type.lanes);
    return fmt::format("{}{}", is_half_alone(buffer) ? "_half" : "", width);
  }

  // The offset and pointer: "2, x" for vload_half, "0, x + 8" for vload4.
  std::string offset_and_pointer(const Buffer& buffer, const Expr& index) {
    // A kernel's own array of halves is declared as one of their bits.
    const bool is_of_bits = is_half_alone(buffer) && buffer->memory != ir::MemoryScope::Global;
    const std::string array =
        is_of_bits ? fmt::format("({} half*){}", address_space(buffer->memory), name(buffer))
                   : name(buffer);
    if (index->type.is_scalar()) return fmt::format("{}, {}", text(index), array);
    const Expr& base = as<ir::Ramp>(index)->base;
    if (is_int(base, 0)) return fmt::format("0, {}", array);
    return fmt::format("0, {} + {}", array, text(base, Precedence::Product));
  }

  std::string_view address_space(ir::MemoryScope scope) const override {
    switch (scope) {
      case ir::MemoryScope::Global:
        return "__global";
      case ir::MemoryScope::Shared:
        return "__local";
      case ir::MemoryScope::Local:
      case ir::MemoryScope::Fragment:
        return "__private";
    }
    TL_UNREACHABLE();
  }

  bool uses_sampler = false;
  bool uses_float64 = false;
  bool uses_float16 = false;  // for values, not only for memory

 protected:
  // If halves are a storage type only, there are no vectors of halves.
  std::string vector_element(const Buffer& buffer) const override {
    return is_half_alone(buffer) ? "ushort" : ExprPrinter::vector_element(buffer);
  }

  // Hides from the device's compiler that a number is NaN: PoCL's compiler drops stores of
  // floor(NAN), exp(NAN) and others. The number of dimensions only sets bits that do not matter.
  std::string constant(const ir::FloatImm& n) const override {
    if (!std::isnan(n.value)) return ExprPrinter::constant(n);
    constexpr std::string_view kHidden = "as_float(0x7fc00000u | get_work_dim())";
    return n.type == Type::f(32) ? std::string(kHidden)
                                 : fmt::format("({}){}", value_type_name(n.type), kHidden);
  }

  void see(Type type) override {
    uses_float64 |= type.element() == Type::f(64);
    uses_float16 |= type.is_half();
  }

  std::string vector(Type type, const ir::Exprs& elements, Precedence parent) override {
    return wrap(fmt::format("({})({})", value_type_name(type), list(elements)), Precedence::Unary,
                parent);
  }

  std::string cast(const ir::Cast& n, Precedence parent) override {
    const auto* inner = as<ir::Cast>(n.value);
    if (inner != nullptr && is_held_as_bits(inner->type)) {
      return values_of_bits(bits_of_bfloats(inner->value), n.type.lanes);
    }
    if (inner != nullptr && inner->type.is_half() && dialect().half == HalfSupport::Memory) {
      return fmt::format("{}({})", round_to_half(prelude, inner->value->type), text(inner->value));
    }
    if (!n.type.is_scalar()) {
      return fmt::format("convert_{}({})", value_type_name(n.type), text(n.value));
    }
    return wrap(fmt::format("({}){}", value_type_name(n.type), text(n.value, Precedence::Unary)),
                Precedence::Unary, parent);
  }

  std::string call(const ir::Call& n) override {
    if (n.function == ir::Intrinsic::Ldexp) {
      const std::string type = value_type_name(ir::kInt32.with_lanes(n.type.lanes));
      return fmt::format("ldexp({}, convert_{}_sat({}))", text(n.arguments[0]), type,
                         text(n.arguments[1]));
    }
    return fmt::format("{}({})", function_name(n.function), list(n.arguments));
  }

  std::string load(const ir::Load& n) override {
    const Expr& index = n.indices.front();
    if (are_bits(n.buffer, n.type)) {
      if (index->type.is_scalar() || has_place(n.buffer, index)) return bits(n.buffer, index);
      return fmt::format("vload{}(0, {})", n.type.lanes, pointer_to_bits(n.buffer, index));
    }
    const bool is_in_place = is_place(n.buffer, index);
    const std::string found = is_in_place ? place(n.buffer, index)
                                          : fmt::format("vload{}({})", access_form(n.buffer, index),
                                                        offset_and_pointer(n.buffer, index));
    if (is_held_as_bits(n.buffer->type)) return values_of_bits(found, n.type.lanes);
    if (!is_in_place || !is_half_alone(n.buffer)) return found;
    return fmt::format("{}({})", widen_halves(prelude, index->type.lanes), found);
  }

  std::string texel(const ir::TextureLoad& n) override {
    uses_sampler = true;
    return fmt::format("read_image{}({}, tl_sampler, {})", image_function_suffix(n.type),
                       name(n.texture), coordinates(n.x, n.y));
  }

 private:
  std::string words(const Buffer& buffer) {
    return fmt::format("({} ushort*){}", address_space(buffer->memory), name(buffer));
  }

  std::string values_of_bits(const std::string& bits, int lanes) {
    return fmt::format("{}({})", widen_bfloats(prelude, kBits, lanes), bits);
  }

  // The bits of the nearest bfloat16 of float32 or float64 numbers.
  std::string bits_of_bfloats(const Expr& value) {
    std::string floats = text(value);
    if (value->type.element() == Type::f(64)) {
      floats = fmt::format("{}({})", round_to_odd(prelude, value->type.lanes), floats);
    }
    return fmt::format("{}({})", narrow_to_bfloats(prelude, kBits, value->type.lanes), floats);
  }
};

// The parts of a kernel's printer that must be constructed before its base class.
struct KernelParts {
  KernelParts(const ir::Kernel& kernel, const ir::Target& target)
      : dialect(opencl_dialect(target)),
        form(form_of(kernel, dialect)),
        roles(ir::fragment_roles(kernel.body)),
        exprs(form, dialect) {}

  const Dialect dialect;
  const KernelForm form;
  const ir::FragmentRoles roles;
  OpenCLExprPrinter exprs;
};

class OpenCLKernelPrinter : private KernelParts, public KernelPrinter {
 public:
  OpenCLKernelPrinter(const ir::Kernel& kernel, const std::vector<ir::Foreign>& foreign,
                      const ir::Target& target)
      : KernelParts(kernel, target),
        KernelPrinter(exprs, kernel, foreign),
        is_fast_(target.math.fast) {}

 private:
  std::string preamble() override {
    std::string text = is_fast_ ? "" : "#pragma OPENCL FP_CONTRACT OFF\n";
    if (exprs.uses_float16) text += "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n";
    if (exprs.uses_float64) text += "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n";
    if (!text.empty()) text += "\n";
    if (exprs.uses_sampler) text += kSampler;
    return text;
  }

  std::string axis_value(const ir::ThreadAxis& axis) override {
    return fmt::format("({})get_{}_id({})", value_type_name(axis.var->type),
                       axis.tag.block ? "group" : "local", axis.tag.dim);
  }

  std::string aligned(const std::string& array, int64_t bytes) override {
    return fmt::format("{} __attribute__((aligned({})))", array, bytes);
  }

  std::string signature(const std::string& name) override {
    std::string params;
    for (const ir::KernelParam& param : kernel().params) {
      params += fmt::format("{}\n    {}", params.empty() ? "" : ",", parameter(param));
    }
    const auto& [x, y, z] = kernel().block;
    return fmt::format(
        "__kernel __attribute__((reqd_work_group_size({}, {}, {})))\nvoid {}({}) {{\n", x, y, z,
        name, params);
  }

  std::string parameter(const ir::KernelParam& param) {
    if (param.scalar) {
      return fmt::format("const {} {}", value_type_name(param.scalar->type),
                         exprs.text(param.scalar));
    }
    const bool reads = param.access == ir::Access::Read;
    const std::string name = exprs.name(param.buffer);
    if (param.buffer->is_texture()) {
      return fmt::format("{} image2d_t {}", reads ? "__read_only" : "__write_only", name);
    }
    return fmt::format("__global {}{}*{} {}", reads ? "const " : "",
                       exprs.memory_type(param.buffer->type),
                       form.exchanged.contains(param.buffer.get()) ? "" : " restrict", name);
  }

  void store(const ir::Store& n) override {
    const Expr& index = n.indices.front();
    if (in_copies_ && copies_asynchronously(n)) return;
    if (exprs.are_bits(n.buffer, n.value->type)) return store_bits(n);
    if (exprs.is_place(n.buffer, index)) {
      const std::string value = exprs.stored(n.buffer, n.value);
      return line(fmt::format("{} = {};", exprs.place(n.buffer, index), value));
    }
    const bool rounds = exprs.is_half_alone(n.buffer);
    const std::string value = rounds ? exprs.text(n.value) : exprs.stored(n.buffer, n.value);
    line(fmt::format("vstore{}{}({}, {});", exprs.access_form(n.buffer, index),
                     rounds ? "_rte" : "", value, exprs.offset_and_pointer(n.buffer, index)));
  }

  void store_bits(const ir::Store& n) {
    const Expr& index = n.indices.front();
    const std::string value = exprs.text(n.value);
    if (index->type.is_scalar() || exprs.has_place(n.buffer, index)) {
      return line(fmt::format("{} = {};", exprs.bits(n.buffer, index), value));
    }
    line(fmt::format("vstore{}({}, 0, {});", index->type.lanes, value,
                     exprs.pointer_to_bits(n.buffer, index)));
  }

  void store_texel(const ir::TextureStore& n) override {
    line(fmt::format("write_image{}({}, {}, {});", image_function_suffix(n.value->type),
                     exprs.name(n.texture), exprs.coordinates(n.x, n.y), exprs.text(n.value)));
  }

  std::string barrier() override {
    return form.fences_parameters ? "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);"
                                  : "barrier(CLK_LOCAL_MEM_FENCE);";
  }

  std::string shuffle(const ir::Shuffle&) override {
    TL_UNREACHABLE("OpenCL C 1.2 has no shuffles");
  }

  void async_copies(const ir::AsyncCopies& n) override {
    in_copies_ = true;
    stmt(n.body);
    in_copies_ = false;
    line(kCommitCopies);
  }
  std::string await_copies(const ir::AwaitCopies& n) override {
    return await_groups_of_copies(n.pending);
  }

  // Prints a store as an asynchronous copy, if the device has one of that size.
  bool copies_asynchronously(const ir::Store& n) {
    const std::optional<AsyncCopy> copy = async_copy_of(n);
    if (!copy) return false;
    const ir::Load& source = *copy->source;
    if (!exprs.has_place(n.buffer, n.indices.front())) return false;
    if (!exprs.has_place(source.buffer, source.indices.front())) return false;
    const std::string bytes = fmt::to_string(copy->bytes);
    line(fmt::format(
        "{}(&{}, &{}, {});", copy_async(exprs.prelude, copy->bytes),
        exprs.element(n.buffer, n.indices.front()),
        exprs.element(source.buffer, source.indices.front()),
        copy->condition
            ? fmt::format("{} ? {} : 0", exprs.text(copy->condition, Precedence::Or), bytes)
            : bytes));
    return true;
  }

  std::string fragment_step(const ir::FragmentStep& n) override {
    const auto call = [&](const std::string& function, const std::string& arguments) {
      return fmt::format("{}({});", function, arguments);
    };
    switch (n.op) {
      case ir::FragmentOp::Fill:
        return call(fill_fragment(exprs.prelude),
                    fmt::format("{}, {}", registers(n.pointer(0)), exprs.text(n.operands[1])));
      case ir::FragmentOp::Load:
        return call(load_fragment(exprs.prelude, roles.at(n.pointer(0).buffer.get()), memory(n, 1)),
                    fmt::format("{}, {}, {}", registers(n.pointer(0)), elements(n.pointer(1)),
                                exprs.text(n.operands[2])));
      case ir::FragmentOp::Mma:
        return call(multiply_fragments(exprs.prelude, n.operands[1]->type),
                    fmt::format("{}, {}, {}", registers(n.pointer(0)), registers(n.pointer(1)),
                                registers(n.pointer(2))));
      case ir::FragmentOp::Store:
        return call(store_fragment(exprs.prelude, memory(n, 0)),
                    fmt::format("{}, {}, {}", elements(n.pointer(0)), exprs.text(n.operands[2]),
                                registers(n.pointer(1))));
    }
    TL_UNREACHABLE();
  }

  // A lane's registers of the part that the pointer names.
  std::string registers(const ir::Pointer& pointer) {
    const int64_t number = ir::fragment_part(pointer).value() * registers_of(pointer.buffer);
    const std::string name = exprs.name(pointer.buffer);
    return number == 0 ? name : fmt::format("{} + {}", name, number);
  }
  int registers_of(const Buffer& fragment) const {
    const bool is_sums = roles.at(fragment.get()) == ir::FragmentRole::Sums;
    return is_sums ? kSumRegisters : kFactorRegisters;
  }

  // A pointer to the elements of a step in memory; to the bits of 16-bit ones.
  std::string elements(const ir::Pointer& pointer) {
    const Buffer& buffer = pointer.buffer;
    const bool is_read = pointer.access == ir::Access::Read;
    const std::string name =
        buffer->type == ir::kFloat32
            ? exprs.name(buffer)
            : fmt::format("({}{} ushort*){}", is_read ? "const " : "",
                          exprs.address_space(buffer->memory), exprs.name(buffer));
    return fmt::format("{} + {}", name,
                       exprs.text(pointer.indices.front() + pointer.offset, Precedence::Sum));
  }
  StepMemory memory(const ir::FragmentStep& n, size_t operand) const {
    const Buffer& buffer = n.pointer(operand).buffer;
    return {exprs.address_space(buffer->memory), buffer->type, form.aligned_steps.contains(&n)};
  }

  std::string declaration(const Buffer& buffer) override {
    const auto role = roles.find(buffer.get());
    const auto& [lanes, widest] = form.array(buffer);
    if (role == roles.end() && exprs.is_half_alone(buffer)) {
      // OpenCL C has no arrays of its type half without cl_khr_fp16.
      const std::string array = fmt::format("{} ushort {}[{}]", exprs.address_space(buffer->memory),
                                            exprs.name(buffer), buffer->layout.col_count());
      return aligned(array, std::max(lanes, widest) * buffer->type.bytes()) + ";";
    }
    if (role == roles.end()) return KernelPrinter::declaration(buffer);
    const bool is_sums = role->second == ir::FragmentRole::Sums;
    const int64_t parts = buffer->layout.col_count() / ir::kFragmentElements;
    return fmt::format("{} {}[{}];", is_sums ? "float" : "uint", exprs.name(buffer),
                       parts * registers_of(buffer));
  }

  std::string is_in_last_block(const ir::LastBlock& n) override {
    return fmt::format("{}(&{}[{}], {}, {})", take_ticket(exprs.prelude), exprs.name(n.counters),
                       exprs.text(n.index), exprs.text(n.count), exprs.name(n.flag));
  }

  const bool is_fast_;
  bool in_copies_ = false;  // whether the statement is in an AsyncCopies
};

}  // namespace

PrintedKernel print(const ir::Kernel& kernel, const std::vector<ir::Foreign>& foreign,
                    const ir::Target& target) {
  return OpenCLKernelPrinter(kernel, foreign, target).print();
}

}  // namespace texloom::codegen::opencl
