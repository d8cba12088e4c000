#include "ir/text/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <set>

#include "ir/layout/layout_fold.h"
#include "ir/verify/verify_stages.h"
#include "tests/ir/samples.h"
#include "tests/ir/text/program_texts.h"
#include "tests/ir/text/round_trip.h"

namespace texloom::ir {
namespace {

void round_trip(const Program& program, PrintOptions options = {}) {
  expect_round_trip(program, options);
}

// A program that binds all variables of an expression, and a new variable to the expression itself.
// In stage legalized, a kernel contains the bindings.
Program program_of(const Expr& e, ProgramStage stage = ProgramStage::Loops) {
  Program program;
  program.name = "p";
  program.stage = stage;
  Exprs variables;
  std::vector<KernelParam> params;
  const auto seen = [&](const Buffer& b) {
    program.params.push_back(b);
    params.push_back({b, Access::Read, nullptr});
  };
  walk(
      e,
      [&](const Var& n) {
        for (const Expr& known : variables) {
          if (known.get() == &n) return;
        }
        variables.emplace_back(&n);
      },
      [&](const Load& n) { seen(n.buffer); }, [&](const TextureLoad& n) { seen(n.texture); });
  Stmt body = make_let(make_var("result", e->type), e, make_empty());
  for (const Expr& variable : variables) {
    body = make_let(variable, make_const(1, variable->type), std::move(body));
  }
  if (stage == ProgramStage::Legalized) {
    Kernel kernel;
    kernel.name = "k";
    kernel.params = std::move(params);
    kernel.body = body;
    program.kernels.push_back(std::move(kernel));
    body = make_launch(0);
  }
  program.body = std::move(body);
  return program;
}

void round_trip(const Expr& e, ProgramStage stage = ProgramStage::Loops) {
  round_trip(program_of(e, stage));
}

// The kinds of nodes found in one place: a plan, or code of one stage.
struct Found {
  std::set<ExprKind> exprs;
  std::set<StmtKind> stmts;
  std::set<LoopKind> loops;

  void look(const Expr& e) {
    exprs.insert(e->kind);
    for_each_child(e, [this](const Expr& child) { look(child); });
  }
  void look(const Stmt& s) {
    stmts.insert(s->kind);
    if (const auto* loop = as<For>(s)) loops.insert(loop->loop);
    for_each_child(
        s, [this](const Expr& e) { look(e); }, [this](const Stmt& child) { look(child); });
  }
};

constexpr ExprKind kExprKinds[] = {
#define TL_EXPR(Name, summary) ExprKind::Name,
#define TL_STMT(Name, summary)
#include "ir/nodes.def"
#undef TL_EXPR
#undef TL_STMT
};
constexpr StmtKind kStmtKinds[] = {
#define TL_EXPR(Name, summary)
#define TL_STMT(Name, summary) StmtKind::Name,
#include "ir/nodes.def"
#undef TL_EXPR
#undef TL_STMT
};

std::vector<std::string_view> all_texts() {
  std::vector<std::string_view> texts(kProgramTexts.begin(), kProgramTexts.end());
  texts.insert(texts.end(), kTicketTexts.begin(), kTicketTexts.end());
  texts.insert(texts.end(), kStepTexts.begin(), kStepTexts.end());
  return texts;
}

// A node that the parser does not know fails here once the table of stages allows it.
TEST(Parse, TextsHaveEveryNodeAtEveryStage) {
  std::map<CodeKind, Found> found;
  for (const std::string_view text : all_texts()) {
    const Program program = parse_program(text, "p.tl");
    const bool plan = program.stage >= ProgramStage::Kernels;
    found[plan                                       ? CodeKind::Plan
          : program.stage == ProgramStage::Flattened ? CodeKind::Flattened
                                                     : CodeKind::Loops]
        .look(program.body);
    const CodeKind place =
        program.stage == ProgramStage::Legalized ? CodeKind::Legalized : CodeKind::Kernel;
    for (const Kernel& kernel : program.kernels) found[place].look(kernel.body);
  }
  for (const CodeKind place : {CodeKind::Loops, CodeKind::Flattened, CodeKind::Plan,
                               CodeKind::Kernel, CodeKind::Legalized}) {
    for (const ExprKind kind : kExprKinds) {
      EXPECT_EQ(found[place].exprs.contains(kind), allows(place, kind))
          << name_of(kind) << " in " << to_string(place);
    }
    for (const StmtKind kind : kStmtKinds) {
      EXPECT_EQ(found[place].stmts.contains(kind), allows(place, kind))
          << name_of(kind) << " in " << to_string(place);
    }
    for (const LoopKind kind :
         {LoopKind::Serial, LoopKind::Unrolled, LoopKind::Vectorized, LoopKind::Thread}) {
      EXPECT_EQ(found[place].loops.contains(kind), allows(place, kind))
          << static_cast<int>(kind) << " in " << to_string(place);
    }
  }
}

TEST(Parse, TextsComeBack) {
  for (const std::string_view text : all_texts()) {
    const Program program = parse_program(text, "p.tl");
    EXPECT_EQ(to_string(program), text);
    round_trip(program);
    round_trip(program, {.locations = true});
  }
}

TEST(Parse, Expressions) {
  const Leaves l;
  for (const ExprSample& sample : expr_samples(l)) {
    const bool te_only = sample.e->kind == ExprKind::TensorRead ||
                         sample.e->kind == ExprKind::Reduce || sample.e->kind == ExprKind::Tuple;
    if (te_only || sample.e->kind == ExprKind::Pointer) continue;  // only an argument
    const bool texel = sample.e->kind == ExprKind::TextureLoad;
    round_trip(sample.e, texel ? ProgramStage::Flattened : ProgramStage::Loops);
  }
}

TEST(Parse, EveryOperator) {
  const Leaves l;
  for (int i = 0; i <= static_cast<int>(BinaryOp::BitXor); ++i) {
    const auto op = static_cast<BinaryOp>(i);
    const Expr& a = is_logical(op) ? l.p : l.i;
    const Expr& b = is_logical(op) ? l.q : l.j;
    const Expr once = make_binary(op, a, b);
    round_trip(once);
    for (int k = 0; k <= static_cast<int>(BinaryOp::BitXor); ++k) {
      const auto outer = static_cast<BinaryOp>(k);
      const Expr& other = once->type.is_bool() ? l.q : l.n;
      if (is_logical(outer) != is_logical(op) && is_logical(outer) != once->type.is_bool())
        continue;
      if (is_logical(outer) && !once->type.is_bool()) continue;
      round_trip(make_binary(outer, once, other));
      round_trip(make_binary(outer, other, once));
    }
  }
}

TEST(Parse, EveryFunction) {
  const Leaves l;
  const Expr unsigned_bits = make_var("bits", Type::u(32)), word = make_var("word", kInt32);
#define TL_INTRINSIC(Name, te_name, arity)                                 \
  {                                                                        \
    const bool floats = takes(Intrinsic::Name, kFloat32);                  \
    const Expr bits = dot_of(Intrinsic::Name) ? word : unsigned_bits;      \
    Exprs arguments(arity, floats ? l.x : bits);                           \
    round_trip(make_call(Intrinsic::Name, arguments));                     \
    for (Expr & e : arguments) e = floats ? l.v : make_broadcast(bits, 4); \
    round_trip(make_call(Intrinsic::Name, arguments));                     \
  }
#include "ir/intrinsics.def"
#undef TL_INTRINSIC
}

TEST(Parse, IntegerConstants) {
  for (const int bits : {8, 16, 32, 64}) {
    for (const Type type : {Type::i(bits), Type::u(bits)}) {
      for (const int64_t value : {int64_t{0}, int64_t{1}, int64_t{-1}, int64_t{127}, int64_t{-128},
                                  std::numeric_limits<int64_t>::min(),
                                  std::numeric_limits<int64_t>::max(), int64_t{1} << 31}) {
        round_trip(make_int(value, type));
        round_trip(make_binary(BinaryOp::Sub, make_var("i", type), make_int(value, type)));
      }
    }
  }
  round_trip(make_bool(true));
  EXPECT_EQ(to_string(make_int(-1, Type::u(64))), "uint64(18446744073709551615)");
}

TEST(Parse, FloatConstants) {
  using Limits = std::numeric_limits<double>;
  for (const Type type : {kFloat32, Type::f(64), Type::f(16), Type{TypeCode::BFloat, 16, 1}}) {
    for (const double value :
         {0.0, -0.0, 1.0, -1.5, 0.1, 1e20, 1.5e-10, 1e-45, Limits::max(), Limits::min(),
          Limits::denorm_min(), Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(),
          -Limits::quiet_NaN(), static_cast<double>(0.1F),
          static_cast<double>(std::numeric_limits<float>::denorm_min()),
          static_cast<double>(std::numeric_limits<float>::max())}) {
      round_trip(make_float(value, type));
      round_trip(make_var("x", type) - make_float(value, type));
    }
  }
}

// A constant of one type may be cast to another type.
TEST(Parse, ConvertedConstants) {
  const Type types[] = {Type::i(8),  kInt32,      kInt64,
                        Type::u(64), kBool,       Type::f(16),
                        kFloat32,    Type::f(64), {TypeCode::BFloat, 16, 1}};
  for (const Type from : types) {
    for (const Type to : types) {
      for (const double value : {0.0, 1.0, 0.5, -1.0}) {
        const Expr constant =
            from.is_float() ? make_float(value, from) : make_int(static_cast<int64_t>(value), from);
        round_trip(make_cast(to, constant));
        round_trip(make_cast(from, make_cast(to, constant)));
        round_trip(make_cast(to.with_lanes(4), make_broadcast(constant, 4)));
      }
    }
  }
  EXPECT_EQ(to_string(make_cast(Type::f(16), make_float(0.5))), "float16(float32(0.5))");
}

// `!p.lane[i]` negates the lane.
TEST(Parse, LanesOfNegations) {
  const Leaves l;
  const Expr vector = make_var("w", kBool.with_lanes(4));
  const Expr a = make_not(make_lane(vector, l.i)), b = make_lane(make_not(vector), l.i);
  EXPECT_EQ(to_string(a), "!w.lane[i]");
  EXPECT_EQ(to_string(b), "(!w).lane[i]");
  round_trip(a);
  round_trip(b);
  round_trip(make_lane(make_var("a.b.1", kFloat32.with_lanes(4)), l.i));
}

// A name need not be a word of the text form, and may look like another name.
TEST(Parse, Names) {
  for (const char* name : {"",
                           "x.1",
                           "blockIdx.x",
                           "my name",
                           "a\"b\\c\n\t\x01",
                           "1st",
                           ".x",
                           "x.",
                           "x..y",
                           "größe",
                           "true",
                           "inf",
                           "nan",
                           "nan_7ff8000000000001",
                           "nan_1",
                           "v.lane",
                           "lane",
                           "for",
                           "kernel",
                           "axis",
                           "param",
                           "barrier",
                           "select",
                           "x4",
                           "int32",
                           "texture2d.load",
                           "//",
                           "program"}) {
    const Buffer b = make_buffer(name, kFloat32, {8}, MemoryScope::Global);
    const Expr i = make_var(name), v = make_var(name, kFloat32.with_lanes(4));
    Program p{name, ProgramStage::Loops, {}, {b}, nullptr, {}};
    p.body = make_let(v, make_const(1, v->type),
                      make_for(i, make_int(4), LoopKind::Serial,
                               make_seq({make_store(b, {i}, make_lane(v, i)),
                                         make_store(b, {i + 1}, make_load(b, {i}))})));
    round_trip(p);
    p.stage = ProgramStage::Kernels;
    Kernel k;
    k.name = name;
    k.params = {{b, Access::ReadWrite, nullptr}};
    k.body = p.body;
    p.kernels = {k};
    p.body = make_for(make_var(name), make_int(2), LoopKind::Serial, make_launch(0));
    round_trip(p);
  }
}

// Variables and buffers with the same name stay distinct.
TEST(Parse, EqualNames) {
  const Expr a = make_var("x"), b = make_var("x"), c = make_var("x.1");
  round_trip(a + b * c - b);
}

// Parsing restores where the scope of a Let or an Allocate ends, although no braces are printed.
TEST(Parse, Blocks) {
  const Expr x = make_var("x"), y = make_var("y");
  const Buffer a = make_buffer("A", kInt32, {8}, MemoryScope::Global);
  const Buffer local = make_buffer("L", kInt32, {8}, MemoryScope::Local);
  const auto store = [](const Buffer& b, const Expr& e) { return make_store(b, {e}, e); };
  const Stmt let = make_let(x, make_int(1), store(a, x));
  const Stmt both = make_seq(
      {let, let, make_allocate(local, make_seq({store(local, make_int(0)), store(a, make_int(1))})),
       make_let(y, make_int(2), make_empty())});
  const Program p{"p", ProgramStage::Loops, {}, {a}, make_nest(a, both), {}};
  EXPECT_EQ(to_string(p),
            "program p stage=loops\n  param A: global int32[8]\n  nest A {\n"
            "    {\n      let x: int32 = 1\n      A[x] = x\n    }\n"
            "    {\n      let x: int32 = 1\n      A[x] = x\n    }\n"
            "    {\n      buffer.alloca L: local int32[8]\n      L[0] = 0\n      A[1] = 1\n    }\n"
            "    let y: int32 = 2\n  }\n");
  round_trip(p);
}

TEST(Parse, TypesOfVariables) {
  const Leaves l;
  const Expr wide = make_var("k", kInt64);
  const Buffer a = make_buffer("A", kFloat32, {8}, MemoryScope::Global);
  const Stmt store = make_store(a, {wide}, make_float(1));
  round_trip(Program{"p",
                     ProgramStage::Loops,
                     {},
                     {a},
                     make_for(wide, make_int(8, kInt64), LoopKind::Serial, store),
                     {}});
  Kernel k;
  k.name = "k";
  k.params = {{a, Access::Write, nullptr}};
  k.axes = {{{false, 2}, wide, make_int(8)}};
  k.block = {1, 1, 8};
  k.body = store;
  round_trip(Program{"p", ProgramStage::Kernels, {}, {a}, make_launch(0), {k}});
  EXPECT_THAT(to_string(k), testing::HasSubstr("  axis k: int64 = threadIdx.z < 8\n"));
  // If a loop's variable and extent differ in type, the verifier reports it; the text shows both.
  EXPECT_EQ(to_string(make_for(wide, make_int(8), LoopKind::Serial, make_empty())),
            "for k: int64 < 8 {\n}\n");
}

// A global alloca before all statements is a temporary, but an alloca in a block is not.
TEST(Parse, Temporaries) {
  const Buffer a = make_buffer("A", kFloat32, {8}, MemoryScope::Global);
  const Buffer b = make_buffer("B", kFloat32, {8}, MemoryScope::Global);
  const Stmt body = make_store(a, {make_int(0)}, make_load(b, {make_int(1)}));
  Program program{"p", ProgramStage::Loops, {}, {}, make_allocate(b, body), {}};
  program.temporaries = {a};
  EXPECT_EQ(to_string(program),
            "program p stage=loops\n"
            "  buffer.alloca A: global float32[8]\n"
            "  {\n"
            "    buffer.alloca B: global float32[8]\n"
            "    A[0] = B[1]\n"
            "  }\n");
  round_trip(program);
  program.temporaries = {a, b};
  program.body = body;
  round_trip(program);
}

TEST(Parse, WidenedLoads) {
  const Leaves l;
  const Buffer half = make_buffer("H", Type::f(16), {64}, MemoryScope::Global);
  const Buffer bits = make_buffer("P", kBool, {64}, MemoryScope::Global);
  const Expr ramp = make_ramp(l.i, make_int(1), 4);
  EXPECT_EQ(to_string(make_load_as(kFloat32.with_lanes(4), half, {ramp})),
            "H[ramp(i, 1, 4): float32x4]");
  round_trip(make_load_as(kFloat32, half, {l.i}), ProgramStage::Legalized);
  round_trip(make_load_as(kFloat32.with_lanes(4), half, {ramp}), ProgramStage::Legalized);
  round_trip(make_load_as(Type::u(8), bits, {l.i}), ProgramStage::Legalized);
}

TEST(Parse, Layouts) {
  const auto allocated = [](const Buffer& b) {
    return Program{"p", ProgramStage::Loops, {}, {}, make_allocate(b, make_empty()), {}};
  };
  const auto texture = [&](Layout layout, TextureOrigin origin = {}) {
    round_trip(allocated(make_texture("T", Type::u(8), std::move(layout), std::move(origin))));
  };
  for (const TextureRule rule : {TextureRule::Activation, TextureRule::Weight, TextureRule::Nhwc}) {
    for (const std::vector<int64_t>& shape :
         {std::vector<int64_t>{4}, {7}, {1, 1, 1}, {5, 3, 4}, {2, 3, 9, 7}, {64, 4096}}) {
      const Layout layout = texture_layout(shape, rule);
      texture(layout);
      Layout zero = layout;
      zero.padding = Padding::Zero;
      texture(zero, {make_var("ox"), make_var("oy")});
      for (const int64_t limit : {3, 8, 16, 100}) {
        if (const auto folded = best_fold(layout, {limit, 10000})) texture(*folded);
        if (const auto folded = best_fold(layout, {10000, limit})) texture(*folded);
      }
    }
  }
  for (const MemoryScope scope : {MemoryScope::Global, MemoryScope::Shared, MemoryScope::Local}) {
    round_trip(allocated(make_buffer("A", kFloat32, {}, scope)));
    round_trip(allocated(make_buffer("A", kBool, {3, 5}, scope)));
  }
  // The layout has more columns than the axis needs.
  Layout wide = linear_layout({6});
  wide.cols = {{0, 4, 3}, {0, 1, 4}};
  EXPECT_EQ(to_string(wide), "buffer[(d0) -> cols=(d0/4%3, d0%4)]");
  auto* node = new BufferNode;
  const Buffer odd(node);
  node->name = "A";
  node->shape = {6};
  node->layout = wide;
  round_trip(allocated(odd));
  EXPECT_EQ(to_string(Layout{{8}, {}, {{0, 1, 8}}, {}, MemoryObject::Image1dBuffer, {}}),
            "image1d_buffer[(d0) -> rows=(), cols=(d0), lanes=()]");
  EXPECT_EQ(to_string(Layout{{8}, {}, {{0, 1, 8}}, {}, MemoryObject::Image2dArray, {}}),
            "image2d_array[(d0) -> rows=(), cols=(d0), lanes=()]");
}

// -- Text written by hand.

TEST(Parse, CommentsAndBlanks) {
  const std::string_view text =
      "// a program\nprogram p // it\r\nstage=loops\n\n\tparam A:global float32[8]\n"
      "for i<8{A[i]=1.0 // one\n}// end";
  EXPECT_EQ(to_string(parse_program(text, "p.tl")),
            "program p stage=loops\n  param A: global float32[8]\n  for i < 8 {\n"
            "    A[i] = 1.0\n  }\n");
}

TEST(Parse, ConstantsFold) {
  const std::string_view text =
      "program p stage=loops\n param A: global float32[8]\n if true {\n A[1 + 2 * 3] = (1.0)\n }\n"
      "if 2 < 1 {\n A[0] = float32(3)\n }\n A[0] = float32(3)\n";
  EXPECT_EQ(to_string(parse_program(text, "p.tl")),
            "program p stage=loops\n  param A: global float32[8]\n  A[7] = 1.0\n  A[0] = 3.0\n");
}

TEST(Parse, AxesOfALayoutHaveAnyNames) {
  const std::string_view text =
      "program p stage=loops\n"
      "param T: texture2d<float32>[8, 16] 4 x 8 texels, "
      "texture[(n, c) -> rows=(n), cols=(c/4), lanes=(c%4)]\n";
  EXPECT_EQ(to_string(parse_program(text, "p.tl")),
            "program p stage=loops\n"
            "  param T: texture2d<float32>[8, 16] 4 x 8 texels, "
            "texture[(d0, d1) -> rows=(d0), cols=(d1/4), lanes=(d1%4)]\n");
}

// -- Source locations.

TEST(Parse, LocationsAreThoseOfTheText) {
  const Program p = parse_program(
      "program p stage=loops\nparam A: global float32[8]\n\nfor i < 8 {\n  A[i] = 1.0\n}\n",
      "p.tl");
  EXPECT_EQ(*p.params[0]->location.file, "p.tl");
  EXPECT_EQ(p.params[0]->location.line, 2);
  EXPECT_EQ(p.body->location.line, 4);
  EXPECT_EQ(as<For>(p.body)->body->location.line, 5);
  EXPECT_EQ(p.body->location.column, 0);
}

TEST(Parse, LocationsOnDemand) {
  const std::string text =
      "program p stage=kernels\n"
      "  param A: global float32[8] @\"a \\\"b\\\".py\":3\n"
      "  buffer.alloca B: global float32[8] @\"a.py\":7\n"
      "  for i < 2 @? {\n"
      "    launch k(A) grid=(1, 1, 1) block=(1, 1, 1) @\"b.py\":8\n"
      "  }\n"
      "  buffer.free B @\"a.py\":9\n"
      "\n"
      "kernel k grid=(1, 1, 1) block=(1, 1, 1) @\"k.py\":1\n"
      "  param A: write global float32[8]\n"
      "  let x: float32 = 1.0 @\"a.py\":2\n"
      "  if x < 2.0 @\"a.py\":3 {\n"
      "    A[0] = x @\"a.py\":4\n"
      "    barrier @\"a.py\":0\n"
      "  }\n";
  const Program p = parse_program(text, "p.tl");
  // A node without a location takes the location of its contents.
  std::string expected = text;
  expected.replace(expected.find("@?"), 2, "@\"b.py\":8");
  EXPECT_EQ(to_string(p, {.locations = true}), expected);
  round_trip(p, {.locations = true});
  EXPECT_EQ(p.kernels[0].location.line, 1);
  EXPECT_EQ(*p.params[0]->location.file, "a \"b\".py");
  EXPECT_THAT(to_string(p), testing::Not(testing::HasSubstr("@")));
}

TEST(Parse, UnknownLocationsStayUnknown) {
  const Program p =
      parse_program("program p stage=loops\nparam A: global float32[8] @?\nbarrier @?\n", "p.tl");
  EXPECT_FALSE(p.body->location.known());
  EXPECT_FALSE(p.params[0]->location.known());
  EXPECT_EQ(to_string(p, {.locations = true}),
            "program p stage=loops\n  param A: global float32[8] @?\n  barrier @?\n");
}

}  // namespace
}  // namespace texloom::ir
