// The text form of statements and programs.

#include <fmt/format.h>

#include "ir/program.h"
#include "ir/text/lexer.h"
#include "ir/text/print_expr.h"
#include "ir/text/print_names.h"
#include "ir/visit.h"

namespace texloom::ir {
namespace {

class Printer : public ExprPrinter {
 public:
  // `program` has the kernels that statements launch; null if they launch none.
  explicit Printer(PrintNames& names, PrintOptions options = {}, const Program* program = nullptr)
      : ExprPrinter(names, options), program_(program) {}

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

  static std::string_view object_word(const Buffer& b) {
    return b->is_texture() ? "texture2d" : "buffer";
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

  const Program* program_;
  std::string out_;
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
  PrintNames names;
  Printer printer(names, options, &program);
  printer.program();
  return printer.take();
}
std::string to_string(const Kernel& kernel) {
  PrintNames names;
  Printer printer(names);
  printer.kernel(kernel);
  return printer.take();
}
std::string to_string(const Stmt& stmt) {
  PrintNames names;
  Printer printer(names);
  printer.stmt(stmt, 0);
  return printer.take();
}
std::string to_string(const Expr& expr) {
  PrintNames names;
  return ExprPrinter(names, {}).text(expr);
}

std::string to_string(const Expr& expr, PrintNames& names, PrintOptions options) {
  return ExprPrinter(names, options).text(expr);
}
std::string to_string(const IterVar& axis, PrintNames& names, PrintOptions options) {
  return ExprPrinter(names, options).iter_var(*axis);
}
std::string to_string(const Buffer& buffer, PrintNames& names, PrintOptions options) {
  return ExprPrinter(names, options).declared(buffer);
}
std::string to_string(const Stmt& stmt, int depth, PrintNames& names, PrintOptions options) {
  Printer printer(names, options);
  printer.stmt(stmt, depth);
  return printer.take();
}

}  // namespace texloom::ir
