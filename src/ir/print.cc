// The text form of expressions, statements and programs.
//
// Variables of one name within one program are told apart by a number behind the name.

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

#include "ir/ir.h"

namespace texloom::ir {
namespace {

// fmt::format with arguments that are evaluated from left to right, which a call does not promise:
// names are numbered in the order of the text.
struct InOrder {
  template <class... Args>
  explicit InOrder(fmt::format_string<Args...> format, Args&&... args)
      : text(fmt::format(format, std::forward<Args>(args)...)) {}
  std::string text;
};

class Printer {
 public:
  explicit Printer(const Program* program = nullptr) : program_(program) {}

  std::string take() { return std::move(out_); }

  void program() {
    out_ += fmt::format("program {} stage={}\n", program_->name, to_string(program_->stage));
    for (const Buffer& param : program_->params) {
      out_ += InOrder{"  param {}: {}\n", name(param), declaration(*param)}.text;
    }
    stmt(program_->body, 1);
    for (const Kernel& k : program_->kernels) {
      out_ += "\n";
      kernel(k);
    }
  }

  void kernel(const Kernel& k) {
    out_ += fmt::format("kernel {} grid=({}, {}, {}) block=({}, {}, {})\n", k.name, k.grid[0],
                        k.grid[1], k.grid[2], k.block[0], k.block[1], k.block[2]);
    for (const KernelParam& p : k.params) {
      if (p.scalar) {
        out_ += fmt::format("  param {}: {}\n", text(p.scalar), to_string(p.scalar->type));
      } else {
        out_ += InOrder{"  param {}: {} {}\n", name(p.buffer), to_string(p.access),
                        declaration(*p.buffer)}
                    .text;
      }
    }
    for (const ThreadAxis& axis : k.axes) {
      out_ +=
          fmt::format("  axis {} = {} < {}\n", text(axis.var), to_string(axis.tag), axis.extent);
    }
    stmt(k.body, 1);
  }

  void stmt(const Stmt& s, int depth) {
    const std::string indent(static_cast<size_t>(depth) * 2, ' ');
    visit(
        s,
        [&](const Store& n) {
          out_ += InOrder{"{}{}[{}] = {}\n", indent, name(n.buffer), list(n.indices), text(n.value)}
                      .text;
        },
        [&](const TextureStore& n) {
          out_ += InOrder{"{}texture2d.store({}, x={}, y={}, {}: {})\n",
                          indent,
                          name(n.texture),
                          text(n.x),
                          text(n.y),
                          text(n.value),
                          to_string(n.value->type)}
                      .text;
        },
        [&](const For& n) {
          out_ +=
              InOrder{"{}{} {} < {} {{\n", indent, loop_word(n), text(n.var), text(n.extent)}.text;
          stmt(n.body, depth + 1);
          out_ += indent + "}\n";
        },
        [&](const If& n) {
          out_ += fmt::format("{}if {} {{\n", indent, text(n.condition));
          stmt(n.then, depth + 1);
          out_ += indent + "}\n";
        },
        [&](const Seq& n) {
          for (const Stmt& each : n.statements) stmt(each, depth);
        },
        [&](const Let& n) {
          out_ += InOrder{"{}let {}: {} = {}\n", indent, text(n.var), to_string(n.var->type),
                          text(n.value)}
                      .text;
          stmt(n.body, depth);
        },
        [&](const Nest& n) {
          out_ += fmt::format("{}nest {} {{\n", indent, name(n.result));
          stmt(n.body, depth + 1);
          out_ += indent + "}\n";
        },
        [&](const Allocate& n) {
          out_ += InOrder{"{}{}.alloca {}: {}\n", indent, object_word(n.buffer), name(n.buffer),
                          declaration(*n.buffer)}
                      .text;
          stmt(n.body, depth);
        },
        [&](const Free& n) {
          out_ += fmt::format("{}{}.free {}\n", indent, object_word(n.buffer), name(n.buffer));
        },
        [&](const Barrier&) { out_ += indent + "barrier\n"; },
        [&](const Launch& n) { launch(n, indent); });
  }

  std::string text(const Expr& e, int parent = 0) {
    return visit(
        e,
        [&](const IntImm& n) {
          if (n.type.is_bool()) return std::string(n.value != 0 ? "true" : "false");
          return n.type == kInt32 ? fmt::format("{}", n.value)
                                  : fmt::format("{}({})", to_string(n.type), n.value);
        },
        [&](const FloatImm& n) { return float_text(n); },
        [&](const Var& n) { return unique(&n, n.name); },
        [&](const Binary& n) { return binary(n, parent); },
        [&](const Not& n) { return "!" + text(n.value, kTightest); },
        [&](const Select& n) {
          return InOrder{"select({}, {}, {})", text(n.condition), text(n.if_true), text(n.if_false)}
              .text;
        },
        [&](const Cast& n) { return fmt::format("{}({})", to_string(n.type), text(n.value)); },
        [&](const Call& n) {
          return fmt::format("{}({})", info(n.function).te_name, list(n.arguments));
        },
        [&](const Fma& n) {
          return InOrder{"fma({}, {}, {})", text(n.a), text(n.b), text(n.c)}.text;
        },
        [&](const Ramp& n) {
          return InOrder{"ramp({}, {}, {})", text(n.base), text(n.stride), n.type.lanes}.text;
        },
        [&](const Broadcast& n) { return fmt::format("x{}({})", n.type.lanes, text(n.value)); },
        [&](const Lane& n) {
          return InOrder{"{}.lane[{}]", text(n.vector, kTightest), text(n.index)}.text;
        },
        [&](const Pack& n) { return fmt::format("pack({})", list(n.elements)); },
        [&](const TensorRead& n) { return fmt::format("{}({})", n.tensor->name, list(n.indices)); },
        [&](const Reduce& n) { return reduce(n); },
        [&](const Load& n) { return InOrder{"{}[{}]", name(n.buffer), list(n.indices)}.text; },
        [&](const TextureLoad& n) {
          return InOrder{"texture2d.load({}, x={}, y={}: {})", name(n.texture), text(n.x),
                         text(n.y), to_string(n.type)}
              .text;
        });
  }

 private:
  static constexpr int kTightest = 100;

  static std::string_view object_word(const Buffer& b) {
    return b->is_texture() ? "texture2d" : "buffer";
  }

  static int precedence(BinaryOp op) {
    switch (op) {
      case BinaryOp::Or:
        return 1;
      case BinaryOp::And:
        return 2;
      case BinaryOp::BitOr:
        return 3;
      case BinaryOp::BitXor:
        return 4;
      case BinaryOp::BitAnd:
        return 5;
      case BinaryOp::Shl:
      case BinaryOp::Shr:
        return 7;
      case BinaryOp::Add:
      case BinaryOp::Sub:
        return 8;
      case BinaryOp::Mul:
      case BinaryOp::Div:
        return 9;
      default:
        return is_comparison(op) ? 6 : kTightest;
    }
  }

  std::string binary(const Binary& n, int parent) {
    if (!is_infix(n.op)) {
      return InOrder{"{}({}, {})", spelling(n.op), text(n.a), text(n.b)}.text;
    }
    const int own = precedence(n.op);
    std::string inner =
        InOrder{"{} {} {}", text(n.a, own), spelling(n.op), text(n.b, own + 1)}.text;
    return own < parent ? "(" + inner + ")" : inner;
  }

  static std::string float_text(const FloatImm& n) {
    std::string digits;
    if (!std::isfinite(n.value)) {
      digits = std::isnan(n.value) ? "nan" : n.value > 0 ? "inf" : "-inf";
    } else {
      digits = n.type.bits == 64 ? fmt::format("{}", n.value)
                                 : fmt::format("{}", static_cast<float>(n.value));
      if (digits.find_first_of(".en") == std::string::npos) digits += ".0";
    }
    return n.type == kFloat32 ? digits : fmt::format("{}({})", to_string(n.type), digits);
  }

  std::string reduce(const Reduce& n) {
    std::string axes;
    for (const IterVar& axis : n.axes) {
      if (!axes.empty()) axes += ", ";
      axes +=
          InOrder{"{} in {}..{}", text(axis->var), text(axis->min), text(axis->min + axis->extent)}
              .text;
    }
    std::string out = fmt::format("{}({}, axis=[{}]", n.reducer.name, text(n.source), axes);
    if (n.condition) out += ", where=" + text(n.condition);
    return out + ")";
  }

  static std::string_view loop_word_of(LoopKind kind) {
    switch (kind) {
      case LoopKind::Serial:
        return "for";
      case LoopKind::Unrolled:
        return "unrolled";
      case LoopKind::Vectorized:
        return "vectorized";
      case LoopKind::Thread:
        return "thread";
    }
    TL_UNREACHABLE();
  }
  static std::string loop_word(const For& n) {
    if (n.loop != LoopKind::Thread) return std::string(loop_word_of(n.loop));
    return fmt::format("thread<{}>", to_string(n.tag));
  }

  void launch(const Launch& n, const std::string& indent) {
    TL_CHECK(program_ != nullptr);
    const Kernel& k = program_->kernels[static_cast<size_t>(n.kernel)];
    std::string operands;
    for (const KernelParam& p : k.params) {
      if (!operands.empty()) operands += ", ";
      operands += p.scalar ? text(p.scalar) : name(p.buffer);
    }
    out_ +=
        fmt::format("{}launch {}({}) grid=({}, {}, {}) block=({}, {}, {})\n", indent, k.name,
                    operands, k.grid[0], k.grid[1], k.grid[2], k.block[0], k.block[1], k.block[2]);
  }

  std::string declaration(const BufferNode& b) {
    std::string shape;
    for (const int64_t extent : b.shape) {
      shape += fmt::format("{}{}", shape.empty() ? "" : ", ", extent);
    }
    if (!b.is_texture()) {
      return fmt::format("{} {}[{}]", to_string(b.memory), to_string(b.type), shape);
    }
    std::string text_form =
        fmt::format("texture2d<{}>[{}] {} x {} texels, {}", to_string(b.type), shape,
                    b.layout.col_count(), b.layout.row_count(), to_string(b.layout));
    if (!b.origin.is_zero()) {
      text_form += InOrder{", origin=({}, {})", text(b.origin.x), text(b.origin.y)}.text;
    }
    return text_form;
  }

  std::string list(const Exprs& exprs) {
    std::string joined;
    for (const Expr& e : exprs) {
      if (!joined.empty()) joined += ", ";
      joined += text(e);
    }
    return joined;
  }

  std::string name(const Buffer& b) { return unique(b.get(), b->name); }

  // The name itself for its first owner, then name.1, name.2, ... (those that are not taken).
  std::string unique(const void* owner, const std::string& base) {
    const auto [place, added] = names_.try_emplace(owner, base);
    if (added) {
      while (!taken_.insert(place->second).second) {
        place->second = fmt::format("{}.{}", base, ++used_[base]);
      }
    }
    return place->second;
  }

  const Program* program_;
  std::string out_;
  std::unordered_map<const void*, std::string> names_;
  std::map<std::string, int> used_;
  std::set<std::string> taken_;
};

}  // namespace

std::string_view to_string(Stage stage) {
  switch (stage) {
    case Stage::Te:
      return "te";
    case Stage::Loops:
      return "loops";
    case Stage::Flattened:
      return "flattened";
    case Stage::Kernels:
      return "kernels";
    case Stage::Legalised:
      return "legalised";
  }
  TL_UNREACHABLE();
}

std::string_view to_string(Access access) {
  switch (access) {
    case Access::Read:
      return "read";
    case Access::Write:
      return "write";
    case Access::ReadWrite:
      return "read_write";
  }
  TL_UNREACHABLE();
}

std::string to_string(const Program& program) {
  Printer printer(&program);
  printer.program();
  return printer.take();
}
std::string to_string(const Kernel& kernel) {
  Printer printer;
  printer.kernel(kernel);
  return printer.take();
}
std::string to_string(const Stmt& stmt) {
  Printer printer;
  printer.stmt(stmt, 0);
  return printer.take();
}
std::string to_string(const Expr& expr) { return Printer().text(expr); }

}  // namespace texloom::ir
