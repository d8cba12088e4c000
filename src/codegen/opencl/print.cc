#include "codegen/opencl/print.h"

#include <fmt/format.h>

#include <string_view>
#include <unordered_set>

#include "codegen/opencl/align_access.h"
#include "codegen/opencl/kernel_form.h"
#include "codegen/opencl/names.h"
#include "codegen/opencl/prelude.h"
#include "codegen/opencl/spelling.h"
#include "ir/visit.h"

namespace texloom::codegen::opencl {

using ir::Buffer;
using ir::Expr;
using ir::Stmt;
using ir::Type;

namespace {

constexpr std::string_view kSampler =
    "__constant sampler_t tl_sampler =\n"
    "    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;\n\n";

bool is_half(Type type) { return type.element() == Type::f(16); }

std::string_view image_function_suffix(Type value) {
  if (is_half(value)) return "h";
  return value.is_float() ? "f" : value.is_int() ? "i" : "ui";
}

// Prints expressions and notes what else the source needs: prelude functions, the sampler.
class ExprPrinter {
 public:
  // The form outlives it.
  ExprPrinter(const KernelForm& form, bool half_arithmetic)
      : form_(form), half_arithmetic_(half_arithmetic) {}

  std::string text(const Expr& e, Precedence parent = Precedence::Conditional) {
    uses_float64 |= e->type.element() == Type::f(64);
    uses_float16 |= is_half(e->type);
    TL_CHECK(half_arithmetic_ || !is_half(e->type), "half is rounded to within float32");
    return visit(
        e, [&](const ir::IntImm& n) { return literal(n); },
        [&](const ir::FloatImm& n) { return literal(n); },
        [&](const ir::Var& n) { return names.of(&n, n.name); },
        [&](const ir::Binary& n) { return binary(n, parent); },
        [&](const ir::Not& n) {
          return wrap("!" + text(n.value, Precedence::Unary), Precedence::Unary, parent);
        },
        [&](const ir::Select& n) { return select(n, parent); },
        [&](const ir::Cast& n) { return cast(n, parent); },
        [&](const ir::Call& n) { return call(n); },
        [&](const ir::Fma& n) {
          return fmt::format("fma({}, {}, {})", text(n.a), text(n.b), text(n.c));
        },
        [&](const ir::Broadcast& n) { return vector_literal(n.type, {n.value}, parent); },
        [&](const ir::Pack& n) { return vector_literal(n.type, n.elements, parent); },
        [&](const ir::Lane& n) {
          const int64_t lane = *int_value(n.index);
          return text(n.vector, Precedence::Postfix) + lane_suffix(n.vector->type.lanes, lane);
        },
        [&](const ir::Load& n) { return load(n); },
        [&](const ir::TextureLoad& n) {
          uses_sampler = true;
          return fmt::format("read_image{}({}, tl_sampler, {})", image_function_suffix(n.type),
                             name(n.texture), coordinates(n.x, n.y));
        },
        [&](const ir::ForeignCall& n) {
          calls_foreign = true;
          return fmt::format("{}({})", n.function, list(n.arguments));
        },
        [&](const ir::Pointer& n) { return pointer(n); },
        [](const auto& n) -> std::string {
          TL_UNREACHABLE("not legalised: node kind " + std::to_string(static_cast<int>(n.kind)));
        });
  }

  std::string name(const Buffer& buffer) { return names.of(buffer.get(), buffer->name); }

  std::string coordinates(const Expr& x, const Expr& y) {
    return fmt::format("(int2)({}, {})", text(x), text(y));
  }

  // The element or the aligned vector itself, to be read or assigned.
  std::string place(const Buffer& buffer, const Expr& index) {
    if (index->type.is_scalar()) return fmt::format("{}[{}]", name(buffer), text(index));
    const std::string number = text(*vector_number(*buffer, index));
    if (form_.array(buffer).lanes > 1) return fmt::format("{}[{}]", name(buffer), number);
    return fmt::format("(({} {}{}*){})[{}]", address_space(buffer->memory),
                       memory_type_name(buffer->type), index->type.lanes, name(buffer), number);
  }

  // Whether its elements are no values of OpenCL C.
  bool is_memory_alone(const Buffer& buffer) const {
    return is_half(buffer->type) && !half_arithmetic_;
  }

  // Whether the buffer is accessed like an array of its elements or of vectors of them.
  bool is_place(const Buffer& buffer, const Expr& index) const {
    return !is_memory_alone(buffer) && (index->type.is_scalar() || vector_number(*buffer, index));
  }

  // What is between "vload" or "vstore" and the rounding: "4", "_half", "a_half4".
  std::string access_form(const Buffer& buffer, const Expr& index) const {
    const bool scalar = index->type.is_scalar(), converts = is_memory_alone(buffer);
    const std::string width = scalar ? "" : std::to_string(index->type.lanes);
    const bool aligned = converts && vector_number(*buffer, index);
    return fmt::format("{}{}{}", aligned ? "a" : "", converts ? "_half" : "", width);
  }

  // "2, x" as the offset and pointer of vload_half or vloada_half4, or "0, x + 8" of vload4.
  std::string offset_and_pointer(const Buffer& buffer, const Expr& index) {
    if (index->type.is_scalar()) return fmt::format("{}, {}", text(index), name(buffer));
    if (const auto number = vector_number(*buffer, index)) {
      return fmt::format("{}, {}", text(*number), name(buffer));
    }
    const Expr& base = as<ir::Ramp>(index)->base;
    if (is_int(base, 0)) return fmt::format("0, {}", name(buffer));
    return fmt::format("0, {} + {}", name(buffer), text(base, Precedence::Product));
  }

  Names names;
  Prelude prelude;
  bool uses_sampler = false;
  bool uses_float64 = false;
  bool uses_float16 = false;  // values, not only memory
  bool calls_foreign = false;

 private:
  static std::string wrap(const std::string& inner, Precedence own, Precedence parent) {
    return own < parent ? "(" + inner + ")" : inner;
  }

  std::string list(const ir::Exprs& exprs) {
    std::string joined;
    for (const Expr& e : exprs) {
      if (!joined.empty()) joined += ", ";
      joined += text(e);
    }
    return joined;
  }

  std::string vector_literal(Type type, const ir::Exprs& elements, Precedence parent) {
    return wrap(fmt::format("({})({})", value_type_name(type), list(elements)), Precedence::Unary,
                parent);
  }

  std::string binary(const ir::Binary& n, Precedence parent) {
    if (n.op == ir::BinaryOp::FloorDiv || n.op == ir::BinaryOp::FloorMod) {
      return fmt::format("{}({}, {})", prelude.floor_operation(n.op, n.type), text(n.a), text(n.b));
    }
    const OperatorSpelling spelled = operator_spelling(n.op, n.a->type);
    if (!spelled.infix) return fmt::format("{}({}, {})", spelled.text, text(n.a), text(n.b));
    const auto* first = as<ir::Binary>(n.a);
    const bool chained = first != nullptr && first->op == n.op && !is_comparison(n.op);
    const std::string left = text(n.a, chained ? spelled.precedence : spelled.left);
    return wrap(fmt::format("{} {} {}", left, spelled.text, text(n.b, spelled.right)),
                spelled.precedence, parent);
  }

  // With a scalar condition only the chosen value is evaluated, with a vector of them both are.
  std::string select(const ir::Select& n, Precedence parent) {
    if (!n.condition->type.is_scalar()) {
      return fmt::format("select({}, {}, {})", text(n.if_false), text(n.if_true),
                         text(n.condition));
    }
    return wrap(fmt::format("{} ? {} : {}", text(n.condition, Precedence::Or), text(n.if_true),
                            text(n.if_false)),
                Precedence::Conditional, parent);
  }

  std::string cast(const ir::Cast& n, Precedence parent) {
    const auto* inner = as<ir::Cast>(n.value);
    if (inner != nullptr && is_half(inner->type) && !half_arithmetic_) {
      TL_CHECK(n.type.element() == ir::kFloat32, "half is rounded to within float32");
      return fmt::format("{}({})", prelude.round_to_half(inner->value->type), text(inner->value));
    }
    if (!n.type.is_scalar()) {
      return fmt::format("convert_{}({})", value_type_name(n.type), text(n.value));
    }
    return wrap(fmt::format("({}){}", value_type_name(n.type), text(n.value, Precedence::Unary)),
                Precedence::Unary, parent);
  }

  std::string call(const ir::Call& n) {
    if (n.function == ir::Intrinsic::Ldexp) {
      const std::string type = value_type_name(ir::kInt32.with_lanes(n.type.lanes));
      return fmt::format("ldexp({}, convert_{}_sat({}))", text(n.arguments[0]), type,
                         text(n.arguments[1]));
    }
    return fmt::format("{}({})", info(n.function).opencl_name, list(n.arguments));
  }

  std::string load(const ir::Load& n) {
    const Expr& index = n.indices.front();
    if (is_place(n.buffer, index)) return place(n.buffer, index);
    return fmt::format("vload{}({})", access_form(n.buffer, index),
                       offset_and_pointer(n.buffer, index));
  }

  std::string pointer(const ir::Pointer& n) {
    const Expr first = n.indices.front();
    const std::string array = name(n.buffer);
    const bool moved = !is_int(n.offset, 0);
    if (is_int(first, 0) && !moved) return array;
    const std::string element = fmt::format("{} + {}", array, text(first, Precedence::Product));
    return moved ? fmt::format("{} + {}", element, text(n.offset, Precedence::Product)) : element;
  }

  const KernelForm& form_;
  const bool half_arithmetic_;
};

class KernelPrinter {
 public:
  KernelPrinter(const ir::Kernel& kernel, const std::vector<std::string>& foreign,
                const ir::Target& target)
      : kernel_(kernel),
        foreign_(foreign),
        form_(form_of(kernel)),
        exprs_(form_, target.float16_arithmetic) {}

  PrintedKernel print() {
    ir::walk(kernel_.body, [&](const ir::ForeignCall& n) { exprs_.names.keep_free(n.function); });
    const std::string name = exprs_.names.of(&kernel_, kernel_.name);
    const std::string head = signature(name);
    std::unordered_set<const ir::ExprNode*> used;
    ir::walk(kernel_.body, [&](const ir::Var& v) { used.insert(&v); });
    for (const ir::ThreadAxis& axis : kernel_.axes) {
      if (!used.contains(axis.var.get())) continue;
      line(fmt::format("const {0} {1} = ({0})get_{2}_id({3});", value_type_name(axis.var->type),
                       exprs_.text(axis.var), axis.tag.block ? "group" : "local", axis.tag.dim));
    }
    stmt(kernel_.body);
    return {name, preamble() + head + body_ + "}\n"};
  }

 private:
  std::string preamble() {
    std::string text = "#pragma OPENCL FP_CONTRACT OFF\n";
    if (exprs_.uses_float16) text += "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n";
    if (exprs_.uses_float64) text += "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n";
    text += "\n";
    if (exprs_.uses_sampler) text += kSampler;
    text += exprs_.prelude.text();
    if (!exprs_.calls_foreign) return text;
    for (const std::string& each : foreign_) text += each + "\n\n";
    return text;
  }

  std::string signature(const std::string& name) {
    std::string params;
    for (const ir::KernelParam& param : kernel_.params) {
      params += fmt::format("{}\n    {}", params.empty() ? "" : ",", parameter(param));
    }
    const auto& [x, y, z] = kernel_.block;
    return fmt::format(
        "__kernel __attribute__((reqd_work_group_size({}, {}, {})))\nvoid {}({}) {{\n", x, y, z,
        name, params);
  }

  std::string parameter(const ir::KernelParam& param) {
    if (param.scalar) {
      return fmt::format("const {} {}", value_type_name(param.scalar->type),
                         exprs_.text(param.scalar));
    }
    const bool reads = param.access == ir::Access::Read;
    const std::string name = exprs_.name(param.buffer);
    if (param.buffer->is_texture()) {
      return fmt::format("{} image2d_t {}", reads ? "__read_only" : "__write_only", name);
    }
    return fmt::format("__global {}{}*{} {}", reads ? "const " : "",
                       memory_type_name(param.buffer->type),
                       form_.exchanged.contains(param.buffer.get()) ? "" : " restrict", name);
  }

  void stmt(const Stmt& s) {
    visit(
        s, [&](const ir::Store& n) { store(n); },
        [&](const ir::TextureStore& n) {
          line(fmt::format("write_image{}({}, {}, {});", image_function_suffix(n.value->type),
                           exprs_.name(n.texture), exprs_.coordinates(n.x, n.y),
                           exprs_.text(n.value)));
        },
        [&](const ir::Evaluate& n) { line(exprs_.text(n.call) + ";"); },
        [&](const ir::For& n) {
          const UnrollHint hint = form_.loops.at(&n);
          if (hint == UnrollHint::Unroll) line("#pragma unroll");
          if (hint == UnrollHint::Leave) line("#pragma unroll 1");
          const std::string var = exprs_.text(n.var);
          block(fmt::format("for ({0} {1} = 0; {1} < {2}; ++{1})", value_type_name(n.var->type),
                            var, exprs_.text(n.extent, Precedence::Sum)),
                n.body);
        },
        [&](const ir::If& n) { block(fmt::format("if ({})", exprs_.text(n.condition)), n.then); },
        [&](const ir::While& n) {
          block(fmt::format("while ({})", exprs_.text(n.condition)), n.body);
        },
        [&](const ir::Seq& n) {
          for (const Stmt& each : n.statements) stmt(each);
        },
        [&](const ir::Let& n) {
          const std::string value = exprs_.text(n.value);
          line(fmt::format("const {} {} = {};", value_type_name(n.var->type), exprs_.text(n.var),
                           value));
          stmt(n.body);
        },
        [&](const ir::Allocate& n) {
          line(declaration(n.buffer));
          stmt(n.body);
        },
        [&](const ir::Barrier&) { line(fmt::format("barrier({});", fences())); },
        [](const auto&) { TL_UNREACHABLE("a statement of the launch plan inside a kernel"); });
  }

  std::string_view fences() const {
    return form_.exchanged.empty() ? "CLK_LOCAL_MEM_FENCE"
                                   : "CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE";
  }

  std::string declaration(const Buffer& buffer) {
    const std::string_view space = buffer->memory == ir::MemoryScope::Shared ? "__local " : "";
    const std::string name = exprs_.name(buffer), type = memory_type_name(buffer->type);
    const int64_t count = buffer->layout.col_count();
    const auto [lanes, aligned] = form_.array(buffer);
    if (lanes > 1) {
      return fmt::format("{}{}{} {}[{}];", space, type, lanes, name, (count + lanes - 1) / lanes);
    }
    const std::string alignment =
        aligned ? fmt::format(" __attribute__((aligned({})))", kAlignment) : "";
    return fmt::format("{}{} {}[{}]{};", space, type, name, count, alignment);
  }

  void store(const ir::Store& n) {
    const Expr& index = n.indices.front();
    const std::string value = exprs_.text(n.value);
    if (exprs_.is_place(n.buffer, index)) {
      line(fmt::format("{} = {};", exprs_.place(n.buffer, index), value));
      return;
    }
    line(fmt::format("vstore{}{}({}, {});", exprs_.access_form(n.buffer, index),
                     exprs_.is_memory_alone(n.buffer) ? "_rte" : "", value,
                     exprs_.offset_and_pointer(n.buffer, index)));
  }

  void block(const std::string& head, const Stmt& body) {
    line(head + " {");
    ++depth_;
    stmt(body);
    --depth_;
    line("}");
  }

  void line(std::string_view text) { body_ += fmt::format("{:{}}{}\n", "", 2 * depth_, text); }

  const ir::Kernel& kernel_;
  const std::vector<std::string>& foreign_;
  const KernelForm form_;
  ExprPrinter exprs_;
  std::string body_;
  int depth_ = 1;
};

}  // namespace

PrintedKernel print(const ir::Kernel& kernel, const std::vector<std::string>& foreign,
                    const ir::Target& target) {
  return KernelPrinter(kernel, foreign, target).print();
}

}  // namespace texloom::codegen::opencl
