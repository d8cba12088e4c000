// Tests the code that printers of C-like languages share: control flow, variables, indentation.
#include "codegen/c/stmt_printer.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/ir/accesses.h"

namespace texloom::codegen {
namespace {

using ir::at;
using ir::Expr;
using ir::global;
using ir::kFloat32;
using ir::kInt32;
using ir::make_int;
using ir::put;
using ir::Stmt;

constexpr ReservedWords kNoWords = {};
constexpr Dialect kPlain = {};

// A minimal language: only the shared code of printers, and plain array elements.
class PlainExprs : public ExprPrinter {
 public:
  explicit PlainExprs(const KernelForm& form) : ExprPrinter(kNoWords, form, kPlain) {}

  std::string_view address_space(ir::MemoryScope) const override { return "space"; }

 protected:
  void see(ir::Type) override {}
  std::string vector(ir::Type, const ir::Exprs& elements, Precedence) override {
    return "(" + list(elements) + ")";
  }
  std::string cast(const ir::Cast& n, Precedence) override { return text(n.value); }
  std::string call(const ir::Call& n) override { return "call(" + list(n.arguments) + ")"; }
  std::string load(const ir::Load& n) override {
    return name(n.buffer) + "[" + list(n.indices) + "]";
  }
  std::string texel(const ir::TextureLoad& n) override { return name(n.texture) + ".texel"; }
};

class PlainStmts : private StmtPrinter {
 public:
  PlainStmts(PlainExprs& exprs, const KernelForm& form) : StmtPrinter(exprs, form), exprs_(exprs) {}

  std::string print(const Stmt& s) {
    stmt(s);
    return lines();
  }

 private:
  void store(const ir::Store& n) override {
    line(exprs_.name(n.buffer) + "[" + exprs_.text(n.indices.front()) +
         "] = " + exprs_.text(n.value) + ";");
  }
  void store_texel(const ir::TextureStore& n) override {
    line(exprs_.name(n.texture) + ".write(" + exprs_.text(n.value) + ");");
  }
  std::string barrier() override { return "barrier;"; }
  std::string fragment_step(const ir::FragmentStep&) override { return "step"; }
  void async_copies(const ir::AsyncCopies& n) override { stmt(n.body); }
  std::string await_copies(const ir::AwaitCopies&) override { return "await"; }
  std::string shuffle(const ir::Shuffle& n) override {
    return "shuffle(" + exprs_.text(n.value) + ", " + exprs_.text(n.offset) + ")";
  }
  std::string is_in_last_block(const ir::LastBlock& n) override {
    return "last(" + exprs_.name(n.counters) + ", " + exprs_.text(n.count) + ")";
  }
  std::string declaration(const ir::Buffer& buffer) override {
    return "array " + exprs_.name(buffer) + ";";
  }
  std::string_view pragma(UnrollHint hint) override {
    return hint == UnrollHint::Unroll ? "#unroll" : "#leave";
  }

  PlainExprs& exprs_;
};

// Returns the printed lines of the statement, indented once, as in a kernel's function.
std::string printed(const Stmt& s, const KernelForm& form) {
  PlainExprs exprs(form);
  return PlainStmts(exprs, form).print(s);
}
std::string printed(const Stmt& s) { return printed(s, {}); }

class StmtPrinterTest : public ::testing::Test {
 protected:
  ir::Buffer y = global("y", kInt32, 8);
  Expr i = ir::make_var("i"), v = ir::make_var("v");
  Stmt one = put(y, make_int(0), make_int(1)), two = put(y, make_int(1), make_int(2));
};

TEST_F(StmtPrinterTest, StatementsFollowOneAnother) {
  EXPECT_EQ(printed(ir::make_seq({one, ir::make_barrier(), two})),
            "  y[0] = 1;\n"
            "  barrier;\n"
            "  y[1] = 2;\n");
}

TEST_F(StmtPrinterTest, TheLastBlockIsABranch) {
  const ir::Buffer counters = ir::make_counters("n", make_int(4));
  const ir::Buffer flag = ir::make_buffer("f", kInt32, {1}, ir::MemoryScope::Shared);
  EXPECT_EQ(printed(make_last_block(counters, i, make_int(3), flag, one)),
            "  if (last(n, 3)) {\n"
            "    y[0] = 1;\n"
            "  }\n");
}

TEST_F(StmtPrinterTest, BlocksAreIndented) {
  const Stmt inner = make_while(at(y, 0) < make_int(3), two);
  EXPECT_EQ(printed(make_if(v < make_int(2), ir::make_seq({one, inner}))),
            "  if (v < 2) {\n"
            "    y[0] = 1;\n"
            "    while (y[0] < 3) {\n"
            "      y[1] = 2;\n"
            "    }\n"
            "  }\n");
}

// The scope of a variable or of an array needs no braces: names are unique in a kernel.
TEST_F(StmtPrinterTest, DefinitionsOpenNoBlock) {
  EXPECT_EQ(printed(make_let(v, at(y, 0), make_allocate(ir::local("l", kFloat32, 4), one))),
            "  const int v = y[0];\n"
            "  array l;\n"
            "  y[0] = 1;\n");
}

TEST_F(StmtPrinterTest, LoopsHaveTheirVariablesType) {
  const Expr wide = ir::make_var("w", ir::kInt64);
  const Stmt narrow_loop = make_for(i, at(y, 1), ir::LoopKind::Serial, one);
  const Stmt wide_loop = make_for(wide, ir::make_int(8, ir::kInt64), ir::LoopKind::Serial, two);
  KernelForm form;
  for (const Stmt& loop : {narrow_loop, wide_loop}) form.loops[loop.get()] = UnrollHint::None;
  EXPECT_EQ(printed(ir::make_seq({narrow_loop, wide_loop}), form),
            "  for (int i = 0; i < y[1]; ++i) {\n"
            "    y[0] = 1;\n"
            "  }\n"
            "  for (long w = 0; w < 8L; ++w) {\n"
            "    y[1] = 2;\n"
            "  }\n");
}

// The kernel's form, not the loop's kind, decides on the hint, since an `Unrolled` loop may have an
// unknown extent or a large body.
TEST_F(StmtPrinterTest, HintsStandInFrontOfLoops) {
  const Stmt loop = make_for(i, make_int(8), ir::LoopKind::Unrolled, one);
  const std::string plain = "  for (int i = 0; i < 8; ++i) {\n    y[0] = 1;\n  }\n";
  const auto with = [&](UnrollHint hint) {
    KernelForm form;
    form.loops[loop.get()] = hint;
    return printed(loop, form);
  };
  EXPECT_EQ(with(UnrollHint::None), plain);
  EXPECT_EQ(with(UnrollHint::Unroll), "  #unroll\n" + plain);
  EXPECT_EQ(with(UnrollHint::Leave), "  #leave\n" + plain);
}

TEST_F(StmtPrinterTest, CallsAndTexelsAreStatements) {
  const ir::Buffer t = ir::texture("t", kFloat32, 4, 4);
  const Expr call = ir::make_foreign_call(kInt32, "f", false, {v});
  const Stmt texel = make_texture_store(t, v, v, ir::texel(t, v, v));
  EXPECT_EQ(printed(ir::make_seq({ir::make_evaluate(call), texel})),
            "  f(v);\n"
            "  t.write(t.texel);\n");
}

}  // namespace
}  // namespace texloom::codegen
