// The text form of expressions, statements and programs.
//
// A number after the name distinguishes variables of the same name. The text omits what the parser
// can infer: the type of a loop variable if it equals the extent's type, and the type of a load if
// it equals the buffer's element type.

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
    for (const Foreign& each : program_->foreign) foreign(each);
    for (const Buffer& param : program_->params) declare("param", param);
    for (const Buffer& temporary : program_->temporaries) {
      declare(fmt::format("{}.alloca", object_word(temporary)), temporary);
    }
    // Inside a block, the parser does not take an allocation for a temporary.
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
    const Line line{std::string(static_cast<size_t>(depth) * 2, ' '), location(s->location), depth};
    visit(s, [&](const auto& node) { print(node, line); });
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

  // `parent` is the precedence of the operator whose operand this is.
  std::string text(const Expr& e, int parent = 0) {
    if (const auto* n = as<Binary>(e)) return binary(*n, parent);
    return visit(e, [&](const auto& node) { return spelled(node); });
  }

 private:
  void foreign(const Foreign& f) {
    if (!f.is_symbol()) {
      out_ += fmt::format("  foreign {}\n", quote(f.text));
      return;
    }
    std::string params;
    for (const ForeignParam& param : f.params) {
      params += fmt::format("{}{}{}", params.empty() ? "" : ", ",
                            param.is_pointer ? "pointer " : "", to_string(param.type));
    }
    out_ += fmt::format("  foreign symbol {}({}): {} in {}\n", spell_name(f.text), params,
                        to_string(f.result), quote(f.library));
  }

  static constexpr int kTightest = 100;

  // -- Statements.

  // The first and the last lines of a statement, and their depth of nesting.
  struct Line {
    std::string indent;
    std::string place;
    int depth;
  };

  void print(const Store& n, const Line& line) {
    out_ += InOrder{"{}{}[{}] = {}{}\n", line.indent,   name(n.buffer),
                    list(n.indices),     text(n.value), line.place}
                .text;
  }
  void print(const TextureStore& n, const Line& line) {
    out_ += InOrder{"{}texture2d.store({}, x={}, y={}, {}: {}){}\n",
                    line.indent,
                    name(n.texture),
                    text(n.x),
                    text(n.y),
                    text(n.value),
                    to_string(n.value->type),
                    line.place}
                .text;
  }
  void print(const Evaluate& n, const Line& line) {
    out_ += fmt::format("{}evaluate {}{}\n", line.indent, text(n.call), line.place);
  }
  void print(const Prefetch& n, const Line& line) {
    out_ +=
        InOrder{"{}prefetch {}[{}]{}\n", line.indent, name(n.buffer), list(n.indices), line.place}
            .text;
  }
  void print(const For& n, const Line& line) {
    out_ += InOrder{"{}{} {} < {}{} {{\n",        line.indent,    opening_word(n),
                    index(n.var, n.extent->type), text(n.extent), line.place}
                .text;
    stmt(n.body, line.depth + 1);
    out_ += line.indent + "}\n";
  }
  void print(const If& n, const Line& line) {
    out_ += fmt::format("{}if {}{} {{\n", line.indent, text(n.condition), line.place);
    stmt(n.then, line.depth + 1);
    out_ += line.indent + "}\n";
  }
  void print(const While& n, const Line& line) {
    out_ += fmt::format("{}while {}{} {{\n", line.indent, text(n.condition), line.place);
    stmt(n.body, line.depth + 1);
    out_ += line.indent + "}\n";
  }
  void print(const Seq& n, const Line& line) {
    for (const Stmt& each : n.statements) {
      // The scope of a definition reaches to the end of its block, so that the definition may need
      // its own block.
      const bool defines =
          as<Let>(each) != nullptr || as<Allocate>(each) != nullptr || as<Shuffle>(each) != nullptr;
      const bool block = defines && &each != &n.statements.back();
      if (block) out_ += line.indent + "{\n";
      stmt(each, block ? line.depth + 1 : line.depth);
      if (block) out_ += line.indent + "}\n";
    }
  }
  void print(const Let& n, const Line& line) {
    out_ += InOrder{"{}let {}: {} = {}{}\n", line.indent,   text(n.var),
                    to_string(n.var->type),  text(n.value), line.place}
                .text;
    stmt(n.body, line.depth);
  }
  void print(const Nest& n, const Line& line) {
    out_ += fmt::format("{}nest {}{} {{\n", line.indent, name(n.result), line.place);
    stmt(n.body, line.depth + 1);
    out_ += line.indent + "}\n";
  }
  void print(const Pipelined& n, const Line& line) {
    out_ += fmt::format("{}pipelined {} stages={}{}{} {{\n", line.indent, name(n.buffer), n.stages,
                        n.is_async ? " async" : "", line.place);
    stmt(n.body, line.depth + 1);
    out_ += line.indent + "}\n";
  }
  void print(const AsyncCopies& n, const Line& line) {
    out_ += fmt::format("{}async_copies{} {{\n", line.indent, line.place);
    stmt(n.body, line.depth + 1);
    out_ += line.indent + "}\n";
  }
  void print(const AwaitCopies& n, const Line& line) {
    out_ += fmt::format("{}await_copies pending={}{}\n", line.indent, n.pending, line.place);
  }
  void print(const LastBlock& n, const Line& line) {
    out_ += InOrder{"{}last_block {}[{}] of {} flag={}{} {{\n",
                    line.indent,
                    name(n.counters),
                    text(n.index),
                    text(n.count),
                    name(n.flag),
                    line.place}
                .text;
    stmt(n.body, line.depth + 1);
    out_ += line.indent + "}\n";
  }
  void print(const Allocate& n, const Line& line) {
    out_ += InOrder{"{}{}.alloca {}: {}{}\n", line.indent, object_word(n.buffer), name(n.buffer),
                    declaration(*n.buffer),   line.place}
                .text;
    stmt(n.body, line.depth);
  }
  void print(const Free& n, const Line& line) {
    out_ += fmt::format("{}{}.free {}{}\n", line.indent, object_word(n.buffer), name(n.buffer),
                        line.place);
  }
  void print(const Shuffle& n, const Line& line) {
    out_ += InOrder{"{}shuffle {}: {} = {} by {} of {}{}\n",
                    line.indent,
                    text(n.var),
                    to_string(n.var->type),
                    text(n.value),
                    text(n.offset),
                    n.width,
                    line.place}
                .text;
    stmt(n.body, line.depth);
  }
  void print(const FragmentStep& n, const Line& line) {
    std::string operands;
    for (size_t i = 0; i < n.operands.size(); ++i) {
      const bool transposed = (i == 1 && n.left_transposed) || (i == 2 && n.right_transposed);
      operands += fmt::format("{}{}{}", i == 0 ? "" : ", ", transposed ? "transposed " : "",
                              text(n.operands[i]));
    }
    out_ +=
        fmt::format("{}fragment.{}({}){}\n", line.indent, to_string(n.op), operands, line.place);
  }
  void print(const Barrier&, const Line& line) {
    out_ += fmt::format("{}barrier{}\n", line.indent, line.place);
  }

  void print(const Launch& n, const Line& line) {
    TL_CHECK(program_ != nullptr);
    const Kernel& k = program_->kernels[static_cast<size_t>(n.kernel)];
    std::string operands;
    for (const KernelParam& p : k.params) {
      if (!operands.empty()) operands += ", ";
      operands += p.scalar ? text(p.scalar) : name(p.buffer);
    }
    out_ += fmt::format("{}launch {}({}) grid={} block={}{}\n", line.indent, spell_name(k.name),
                        operands, extents(k.grid), extents(k.block), line.place);
  }

  // -- Expressions.

  std::string spelled(const IntImm& n) {
    if (n.type.is_bool()) return std::string(n.value != 0 ? "true" : "false");
    if (n.type == kInt32) return fmt::format_int(n.value).str();
    if (n.type.is_int()) return fmt::format("{}({})", to_string(n.type), n.value);
    return fmt::format("{}({})", to_string(n.type), static_cast<uint64_t>(n.value));
  }
  std::string spelled(const FloatImm& n) {
    const std::string digits = spell_float(n.value, n.type.bits);
    return n.type == kFloat32 ? digits : fmt::format("{}({})", to_string(n.type), digits);
  }
  std::string spelled(const Var& n) { return names_.name(&n, n.name); }
  std::string spelled(const Binary& n) { return binary(n, 0); }
  std::string spelled(const Not& n) { return "!" + text(n.value, kTightest); }
  std::string spelled(const Select& n) {
    return InOrder{"select({}, {}, {})", text(n.condition), text(n.if_true), text(n.if_false)}.text;
  }
  std::string spelled(const Call& n) {
    return fmt::format("{}({})", info(n.function).te_name, list(n.arguments));
  }
  std::string spelled(const Fma& n) {
    return InOrder{"fma({}, {}, {})", text(n.a), text(n.b), text(n.c)}.text;
  }
  std::string spelled(const Ramp& n) {
    return InOrder{"ramp({}, {}, {})", text(n.base), text(n.stride), n.type.lanes}.text;
  }
  std::string spelled(const Broadcast& n) {
    return fmt::format("x{}({})", n.type.lanes, text(n.value));
  }
  std::string spelled(const Lane& n) {
    std::string vector = text(n.vector, kTightest);
    if (as<Not>(n.vector) != nullptr) vector = "(" + vector + ")";
    return fmt::format("{}.lane[{}]", vector, text(n.index));
  }
  std::string spelled(const Pack& n) { return fmt::format("pack({})", list(n.elements)); }
  std::string spelled(const TensorRead& n) {
    return InOrder{"{}[{}]", tensor(*n.tensor), list(n.indices)}.text;
  }
  std::string spelled(const Tuple& n) { return fmt::format("tuple({})", list(n.elements)); }
  std::string spelled(const Load& n) {
    std::string out = name(n.buffer);
    out += '[';
    out += list(n.indices);
    if (n.type.element() != n.buffer->type) out += ": " + to_string(n.type);
    out += ']';
    return out;
  }
  std::string spelled(const TextureLoad& n) {
    return InOrder{"texture2d.load({}, x={}, y={}: {})", name(n.texture), text(n.x), text(n.y),
                   to_string(n.type)}
        .text;
  }
  std::string spelled(const ForeignCall& n) {
    return fmt::format("{}({}{}{}: {})", n.pure ? "call_pure_extern" : "call_extern",
                       spell_name(n.function), n.arguments.empty() ? "" : ", ", list(n.arguments),
                       to_string(n.type));
  }
  std::string spelled(const Pointer& n) {
    const bool first = is_int(n.offset, 0);
    return InOrder{"access_ptr({}, {}[{}], extents=({}){})",
                   to_string(n.access),
                   name(n.buffer),
                   list(n.indices),
                   list(n.extents),
                   first ? std::string() : ", offset=" + text(n.offset)}
        .text;
  }

  static std::string_view object_word(const Buffer& b) {
    return b->is_texture() ? "texture2d" : "buffer";
  }

  std::string binary(const Binary& n, int parent) {
    if (!is_infix(n.op)) {
      return InOrder{"{}({}, {})", spelling(n.op), text(n.a), text(n.b)}.text;
    }
    const int own = precedence(n.op);
    // Most of a long text is operations and indices, which are appended faster than formatted.
    std::string inner = own < parent ? "(" : "";
    inner += text(n.a, own);
    inner += ' ';
    inner += spelling(n.op);
    inner += ' ';
    inner += text(n.b, own + 1);
    if (own < parent) inner += ')';
    return inner;
  }

  std::string spelled(const Cast& n) {
    std::string operand = text(n.value);
    // float16(0.5) is the constant itself, not a float32 that is rounded.
    if (n.value->kind == ExprKind::FloatImm && n.value->type == kFloat32 && n.type.is_float()) {
      operand = fmt::format("float32({})", operand);
    }
    return fmt::format("{}({})", to_string(n.type), operand);
  }

  std::string spelled(const Reduce& n) {
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

  static std::string_view use_of(const BufferNode& b) {
    return b.counts ? ", counters" : b.nontemporal ? ", nontemporal" : "";
  }

  std::string declaration(const BufferNode& b) {
    if (b.is_symbolic() && !b.is_texture()) {
      return fmt::format("{} {}[{}]{}", to_string(b.memory), to_string(b.type), list(b.extents),
                         use_of(b));
    }
    std::string shape;
    for (const int64_t extent : b.shape) {
      shape += fmt::format("{}{}", shape.empty() ? "" : ", ", extent);
    }
    if (!b.is_texture()) {
      const bool linear = b.layout == linear_layout(b.shape);
      return fmt::format("{} {}[{}]{}{}", to_string(b.memory), to_string(b.type), shape,
                         linear ? "" : ", " + to_string(b.layout), use_of(b));
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
