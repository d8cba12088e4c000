// The text form of expressions, statements and programs.
//
// A number after the name distinguishes variables of the same name. The text omits what the parser
// can infer: the type of a loop variable if it is that of the extent, and of a load if it is that
// of the buffer.

#include <fmt/format.h>

#include "ir/program.h"
#include "ir/reducer.h"
#include "ir/text/lexer.h"
#include "ir/text/print_names.h"
#include "ir/visit.h"

namespace texloom::ir {
namespace {

// fmt::format with arguments evaluated from left to right, which a function call does not
// guarantee: names get their numbers in the order of the text.
struct InOrder {
  template <class... Args>
  explicit InOrder(fmt::format_string<Args...> format, Args&&... args)
      : text(fmt::format(format, std::forward<Args>(args)...)) {}
  std::string text;
};

class Printer {
 public:
  explicit Printer(const Program* program = nullptr, PrintOptions options = {})
      : program_(program), options_(options) {}
  // Takes names from the surrounding text, and adds new ones to it.
  Printer(PrintNames& names, PrintOptions options)
      : program_(nullptr), options_(options), names_(names) {}

  std::string take() { return std::move(out_); }

  void program() {
    out_ += fmt::format("program {} stage={}\n", spell_name(program_->name),
                        to_string(program_->stage));
    for (const Expr& symbol : program_->symbols) {
      out_ += fmt::format("  symbol {}: {}\n", text(symbol), to_string(symbol->type));
    }
    for (const std::string& text : program_->foreign) {
      out_ += fmt::format("  foreign {}\n", quote(text));
    }
    for (const Buffer& param : program_->params) declare("param", param);
    for (const Buffer& temporary : program_->temporaries) {
      declare(fmt::format("{}.alloca", object_word(temporary)), temporary);
    }
    // Inside a block, it is not read as a temporary.
    const auto* first = as<Allocate>(program_->body);
    const bool block = first != nullptr && first->buffer->memory == MemoryScope::Global;
    if (block) out_ += "  {\n";
    stmt(program_->body, block ? 2 : 1);
    if (block) out_ += "  }\n";
    for (const Kernel& k : program_->kernels) {
      out_ += "\n";
      kernel(k);
    }
  }

  void declare(std::string_view what, const Buffer& b) {
    out_ += InOrder{"  {} {}: {}{}\n", what, name(b), declaration(*b), location(b->location)}.text;
  }

  void kernel(const Kernel& k) {
    out_ += fmt::format("kernel {} grid={} block={}{}\n", spell_name(k.name), extents(k.grid),
                        extents(k.block), location(k.location));
    for (const KernelParam& p : k.params) {
      if (p.scalar) {
        out_ += InOrder{"  param {}: {}{}\n", text(p.scalar), to_string(p.scalar->type),
                        p.extent ? " < " + text(p.extent) : ""}
                    .text;
      } else {
        out_ += InOrder{"  param {}: {} {}\n", name(p.buffer), to_string(p.access),
                        declaration(*p.buffer)}
                    .text;
      }
    }
    for (const ThreadAxis& axis : k.axes) {
      out_ += fmt::format("  axis {} = {} < {}\n", index(axis.var, kInt32), to_string(axis.tag),
                          text(axis.extent));
    }
    stmt(k.body, 1);
  }

  void stmt(const Stmt& s, int depth) {
    const std::string indent(static_cast<size_t>(depth) * 2, ' ');
    const std::string place = location(s->location);
    visit(
        s,
        [&](const Store& n) {
          out_ += InOrder{"{}{}[{}] = {}{}\n", indent,        name(n.buffer),
                          list(n.indices),     text(n.value), place}
                      .text;
        },
        [&](const TextureStore& n) {
          out_ += InOrder{"{}texture2d.store({}, x={}, y={}, {}: {}){}\n",
                          indent,
                          name(n.texture),
                          text(n.x),
                          text(n.y),
                          text(n.value),
                          to_string(n.value->type),
                          place}
                      .text;
        },
        [&](const Evaluate& n) {
          out_ += fmt::format("{}evaluate {}{}\n", indent, text(n.call), place);
        },
        [&](const For& n) {
          out_ += InOrder{"{}{} {} < {}{} {{\n",        indent,         opening_word(n),
                          index(n.var, n.extent->type), text(n.extent), place}
                      .text;
          stmt(n.body, depth + 1);
          out_ += indent + "}\n";
        },
        [&](const If& n) {
          out_ += fmt::format("{}if {}{} {{\n", indent, text(n.condition), place);
          stmt(n.then, depth + 1);
          out_ += indent + "}\n";
        },
        [&](const While& n) {
          out_ += fmt::format("{}while {}{} {{\n", indent, text(n.condition), place);
          stmt(n.body, depth + 1);
          out_ += indent + "}\n";
        },
        [&](const Seq& n) {
          for (const Stmt& each : n.statements) {
            // Their definitions reach to the end of the block, so they may need a block of their
            // own.
            const bool defines = as<Let>(each) != nullptr || as<Allocate>(each) != nullptr ||
                                 as<Shuffle>(each) != nullptr;
            const bool block = defines && &each != &n.statements.back();
            if (block) out_ += indent + "{\n";
            stmt(each, block ? depth + 1 : depth);
            if (block) out_ += indent + "}\n";
          }
        },
        [&](const Let& n) {
          out_ += InOrder{"{}let {}: {} = {}{}\n", indent,        text(n.var),
                          to_string(n.var->type),  text(n.value), place}
                      .text;
          stmt(n.body, depth);
        },
        [&](const Nest& n) {
          out_ += fmt::format("{}nest {}{} {{\n", indent, name(n.result), place);
          stmt(n.body, depth + 1);
          out_ += indent + "}\n";
        },
        [&](const Pipelined& n) {
          out_ += fmt::format("{}pipelined {} stages={}{} {{\n", indent, name(n.buffer), n.stages,
                              place);
          stmt(n.body, depth + 1);
          out_ += indent + "}\n";
        },
        [&](const Allocate& n) {
          out_ += InOrder{"{}{}.alloca {}: {}{}\n", indent, object_word(n.buffer), name(n.buffer),
                          declaration(*n.buffer),   place}
                      .text;
          stmt(n.body, depth);
        },
        [&](const Free& n) {
          out_ +=
              fmt::format("{}{}.free {}{}\n", indent, object_word(n.buffer), name(n.buffer), place);
        },
        [&](const Shuffle& n) {
          out_ += InOrder{"{}shuffle {}: {} = {} by {} of {}{}\n",
                          indent,
                          text(n.var),
                          to_string(n.var->type),
                          text(n.value),
                          text(n.offset),
                          n.width,
                          place}
                      .text;
          stmt(n.body, depth);
        },
        [&](const Barrier&) { out_ += fmt::format("{}barrier{}\n", indent, place); },
        [&](const Launch& n) { launch(n, indent); });
  }

  // Requires an axis with a domain.
  std::string iter_var(const IterVarNode& axis) {
    const std::string place = location(axis.location);
    if (is_int(axis.min, 0)) {
      return InOrder{"{} < {}{}", index(axis.var, kInt32), text(axis.extent), place}.text;
    }
    return InOrder{"{} from {} extent {}{}", index(axis.var, kInt32), text(axis.min),
                   text(axis.extent), place}
        .text;
  }

  std::string declared(const Buffer& b) { return name(b) + ": " + declaration(*b); }

  std::string text(const Expr& e, int parent = 0) {
    return visit(
        e,
        [&](const IntImm& n) {
          if (n.type.is_bool()) return std::string(n.value != 0 ? "true" : "false");
          if (n.type == kInt32) return fmt::format("{}", n.value);
          if (n.type.is_int()) return fmt::format("{}({})", to_string(n.type), n.value);
          return fmt::format("{}({})", to_string(n.type), static_cast<uint64_t>(n.value));
        },
        [&](const FloatImm& n) {
          const std::string digits = spell_float(n.value, n.type.bits);
          return n.type == kFloat32 ? digits : fmt::format("{}({})", to_string(n.type), digits);
        },
        [&](const Var& n) { return names_.name(&n, n.name); },
        [&](const Binary& n) { return binary(n, parent); },
        [&](const Not& n) { return "!" + text(n.value, kTightest); },
        [&](const Select& n) {
          return InOrder{"select({}, {}, {})", text(n.condition), text(n.if_true), text(n.if_false)}
              .text;
        },
        [&](const Cast& n) { return cast(n); },
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
          std::string vector = text(n.vector, kTightest);
          if (as<Not>(n.vector) != nullptr) vector = "(" + vector + ")";
          return fmt::format("{}.lane[{}]", vector, text(n.index));
        },
        [&](const Pack& n) { return fmt::format("pack({})", list(n.elements)); },
        [&](const TensorRead& n) {
          return InOrder{"{}[{}]", tensor(*n.tensor), list(n.indices)}.text;
        },
        [&](const Reduce& n) { return reduce(n); },
        [&](const Tuple& n) { return fmt::format("tuple({})", list(n.elements)); },
        [&](const Load& n) {
          const bool other = n.type.element() != n.buffer->type;
          return InOrder{"{}[{}{}]", name(n.buffer), list(n.indices),
                         other ? ": " + to_string(n.type) : std::string()}
              .text;
        },
        [&](const TextureLoad& n) {
          return InOrder{"texture2d.load({}, x={}, y={}: {})", name(n.texture), text(n.x),
                         text(n.y), to_string(n.type)}
              .text;
        },
        [&](const ForeignCall& n) {
          return fmt::format("{}({}{}{}: {})", n.pure ? "call_pure_extern" : "call_extern",
                             spell_name(n.function), n.arguments.empty() ? "" : ", ",
                             list(n.arguments), to_string(n.type));
        },
        [&](const Pointer& n) {
          const bool first = is_int(n.offset, 0);
          return InOrder{"access_ptr({}, {}[{}], extents=({}){})",
                         to_string(n.access),
                         name(n.buffer),
                         list(n.indices),
                         list(n.extents),
                         first ? std::string() : ", offset=" + text(n.offset)}
              .text;
        });
  }

 private:
  static constexpr int kTightest = 100;

  static std::string_view object_word(const Buffer& b) {
    return b->is_texture() ? "texture2d" : "buffer";
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

  std::string cast(const Cast& n) {
    std::string operand = text(n.value);
    // float16(0.5) is the constant itself, not a float32 that is rounded.
    if (n.value->kind == ExprKind::FloatImm && n.value->type == kFloat32 && n.type.is_float()) {
      operand = fmt::format("float32({})", operand);
    }
    return fmt::format("{}({})", to_string(n.type), operand);
  }

  std::string reduce(const Reduce& n) {
    std::string axes;
    for (const IterVar& axis : n.axes) axes += (axes.empty() ? "" : ", ") + iter_var(*axis);
    std::string reducer = names_.name(n.reducer.lhs.front().get(), n.reducer.name);
    if (const Exprs used = parameters_of(n.reducer); !used.empty()) {
      reducer += fmt::format("({})", list(used));
    }
    std::string out = InOrder{"reduce({}, [{}], {}", reducer, axes, values(n.sources)}.text;
    if (n.condition) out += ", where=" + text(n.condition);
    if (!n.init.empty()) out += ", init=" + values(n.init);
    return out + ")";
  }
  // One value, or several as a tuple.
  std::string values(const Exprs& list_of_values) {
    if (list_of_values.size() == 1) return text(list_of_values.front());
    return fmt::format("tuple({})", list(list_of_values));
  }

  static std::string opening_word(const For& n) {
    if (n.loop != LoopKind::Thread) return std::string(loop_word(n.loop));
    return fmt::format("{}<{}>", loop_word(n.loop), to_string(n.tag));
  }

  void launch(const Launch& n, const std::string& indent) {
    TL_CHECK(program_ != nullptr);
    const Kernel& k = program_->kernels[static_cast<size_t>(n.kernel)];
    std::string operands;
    for (const KernelParam& p : k.params) {
      if (!operands.empty()) operands += ", ";
      operands += p.scalar ? text(p.scalar) : name(p.buffer);
    }
    out_ += fmt::format("{}launch {}({}) grid={} block={}{}\n", indent, spell_name(k.name),
                        operands, extents(k.grid), extents(k.block), location(n.location));
  }

  static std::string extents(const std::array<int64_t, 3>& e) {
    return fmt::format("({}, {}, {})", e[0], e[1], e[2]);
  }
  std::string extents(const std::array<Expr, 3>& e) {
    return InOrder{"({}, {}, {})", text(e[0]), text(e[1]), text(e[2])}.text;
  }

  // A variable where it is bound. `expected` is the type that the parser assumes.
  std::string index(const Expr& var, Type expected) {
    const std::string type = var->type == expected ? "" : ": " + to_string(var->type);
    return text(var) + type;
  }

  std::string location(const SourceLocation& where) const { return location_text(where, options_); }

  std::string declaration(const BufferNode& b) {
    if (b.is_symbolic() && !b.is_texture()) {
      return fmt::format("{} {}[{}]", to_string(b.memory), to_string(b.type), list(b.extents));
    }
    std::string shape;
    for (const int64_t extent : b.shape) {
      shape += fmt::format("{}{}", shape.empty() ? "" : ", ", extent);
    }
    if (!b.is_texture()) {
      const bool linear = b.layout == linear_layout(b.shape);
      return fmt::format("{} {}[{}]{}", to_string(b.memory), to_string(b.type), shape,
                         linear ? "" : ", " + to_string(b.layout));
    }
    std::string text_form =
        b.is_symbolic()
            ? fmt::format("texture2d<{}>[{}], {}", to_string(b.type), list(b.extents),
                          to_string(b.layout))
            : fmt::format("texture2d<{}>[{}] {} x {} texels, {}", to_string(b.type), shape,
                          b.layout.col_count(), b.layout.row_count(), to_string(b.layout));
    if (!b.origin.is_zero()) {
      text_form +=
          InOrder{", origin=({}, {})", index(b.origin.x, kInt32), index(b.origin.y, kInt32)}.text;
    }
    if (b.origin.exact_image) text_form += ", exact_image";
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

  std::string tensor(const TensorNode& t) {
    const void* producer = t.producer.get();
    return names_.name(producer == nullptr ? &t : producer, t.name) + output_text(t.output);
  }
  std::string name(const Buffer& b) { return names_.name(b.get(), b->name); }

  const Program* program_;
  PrintOptions options_;
  std::string out_;
  PrintNames own_names_;
  PrintNames& names_ = own_names_;
};

}  // namespace

std::string_view to_string(ProgramStage stage) {
  switch (stage) {
    case ProgramStage::Te:
      return "te";
    case ProgramStage::Loops:
      return "loops";
    case ProgramStage::Flattened:
      return "flattened";
    case ProgramStage::Kernels:
      return "kernels";
    case ProgramStage::Legalized:
      return "legalized";
  }
  TL_UNREACHABLE();
}

std::string to_string(const Program& program, PrintOptions options) {
  Printer printer(&program, options);
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

std::string to_string(const Expr& expr, PrintNames& names, PrintOptions options) {
  return Printer(names, options).text(expr);
}
std::string to_string(const IterVar& axis, PrintNames& names, PrintOptions options) {
  return Printer(names, options).iter_var(*axis);
}
std::string to_string(const Buffer& buffer, PrintNames& names, PrintOptions options) {
  return Printer(names, options).declared(buffer);
}
std::string to_string(const Stmt& stmt, int depth, PrintNames& names, PrintOptions options) {
  Printer printer(names, options);
  printer.stmt(stmt, depth);
  return printer.take();
}

}  // namespace texloom::ir
