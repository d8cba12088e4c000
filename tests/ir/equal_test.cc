#include "ir/equal.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/ir/samples.h"

namespace texloom::ir {
namespace {

// Expressions of every kind, no two of which are equal; some differ from another in one respect
// only.
std::vector<Expr> different(const Leaves& l) {
  const Buffer other_buffer = l.a->is_texture() ? l.t : make_buffer("A", kFloat32, {8, 16}, {});
  static const Buffer kBuffer = other_buffer;
  static const Buffer kTexture =
      make_texture("T", kFloat32, texture_layout({8, 16, 4}, TextureRule::Activation));
  static const Tensor kTensor = [] {
    auto* node = new TensorNode;
    node->name = "B";
    node->type = kFloat32;
    node->shape = {make_int(8), make_int(16)};
    node->output = 1;
    return Tensor(node);
  }();
  static const IterVar kAxis =
      make_iter_var(make_var("k"), make_int(0), make_int(9), IterKind::Reduction);
  static const Reducer kSum = [] {
    Reducer other = Leaves::make_sum();
    other.identities = {make_float(1)};
    return other;
  }();

  std::vector<Expr> all;
  for (const ExprSample& sample : expr_samples(l)) all.push_back(sample.e);
  const Expr v4 = l.v, b = l.x;
  for (const Expr& e : {
           make_int(8),
           make_int(7, kInt64),
           make_float(2.5),
           make_float(1.5, Type::f(64)),
           make_float(0.0),
           make_float(-0.0),
           make_float(std::numeric_limits<double>::quiet_NaN()),
           make_float(std::numeric_limits<double>::infinity()),
           l.j,
           make_binary(BinaryOp::Add, l.i, l.j),
           make_binary(BinaryOp::Sub, l.j, l.i),
           make_binary(BinaryOp::Sub, l.i, l.n),
           make_binary(BinaryOp::Sub, l.n, l.j),
           make_not(l.q),
           make_select(l.q, l.x, l.y),
           make_select(l.p, l.z, l.y),
           make_select(l.p, l.x, l.z),
           make_cast(kFloat32, l.j),
           make_cast(Type::f(64), l.i),
           make_call(Intrinsic::Fmod, {l.x, l.y}),
           make_call(Intrinsic::Power, {l.z, l.y}),
           make_call(Intrinsic::Power, {l.x, l.z}),
           make_fma(l.z, l.y, l.z),
           make_fma(l.x, l.z, l.z),
           make_fma(l.x, l.y, l.x),
           make_ramp(l.n, l.j, 4),
           make_ramp(l.i, l.n, 4),
           make_ramp(l.i, l.j, 8),
           make_broadcast(l.y, 4),
           make_broadcast(l.x, 8),
           make_lane(make_var("v", kFloat32.with_lanes(4)), l.i),
           make_lane(l.v, l.j),
           make_pack({l.z, l.y, l.z}),
           make_pack({l.x, l.y, l.x}),
           make_pack({l.x, l.y}),
           make_tensor_read(kTensor, {l.i, l.j}),
           make_tensor_read(l.tensor, {l.j, l.i}),
           make_reduce(kSum, {l.x}, {l.axis}, l.p),
           make_reduce(l.sum, {l.y}, {l.axis}, l.p),
           make_reduce(l.sum, {l.x}, {kAxis}, l.p),
           make_reduce(l.sum, {l.x}, {l.axis, kAxis}, l.p),
           make_reduce(l.sum, {l.x}, {l.axis}, l.q),
           make_reduce(l.sum, {l.x}, {l.axis}, nullptr),
           make_reduce(l.sum, {l.x}, {l.axis}, nullptr, {l.z}),
           make_reduce(l.pair, {l.i, l.x}, {l.axis}, l.p, {l.i, l.y}),
           make_reduce(l.pair, {l.j, l.x}, {l.axis}, l.p, {l.j, l.y}),
           make_tuple({l.i, l.y}),
           make_tuple({l.i}),
           make_load(kBuffer, {l.i, l.j}),
           make_load(l.a, {l.j, l.i}),
           make_load(l.a, {l.i}),
           make_load_as(Type::f(64), l.a, {l.i, l.j}),
           make_texture_load(kTexture, l.i, l.j),
           make_texture_load(l.t, l.n, l.j),
           make_texture_load(l.t, l.i, l.n),
           make_texture_load_as(Type::f(16).with_lanes(4), l.t, l.i, l.j),
           make_foreign_call(kFloat32, "g", true, {l.x, l.i}),
           make_foreign_call(kFloat32, "f", true, {l.y, l.i}),
           make_pointer(Access::Write, l.a, {l.i, l.j}, {l.n, make_int(4)}, l.i),
           make_pointer(Access::Read, kBuffer, {l.i, l.j}, {l.n, make_int(4)}, l.i),
           make_pointer(Access::Read, l.a, {l.i, l.i}, {l.n, make_int(4)}, l.i),
           make_pointer(Access::Read, l.a, {l.i, l.j}, {l.n, make_int(5)}, l.i),
           make_pointer(Access::Read, l.a, {l.i, l.j}, {l.n, make_int(4)}, l.j),
       }) {
    all.push_back(e);
  }
  return all;
}

TEST(Equal, ComparesStructure) {
  const Leaves l;
  const std::vector<Expr> once = different(l), again = different(l);
  ASSERT_EQ(once.size(), again.size());
  for (size_t i = 0; i < once.size(); ++i) {
    EXPECT_TRUE(equal(once[i], once[i]));
    for (size_t j = 0; j < again.size(); ++j) {
      // The last sample makes its own variable, so this sample equals no other.
      const bool fresh_variable =
          to_string(once[i]) == "v.lane[i]" && !as<Lane>(once[i])->vector.same_as(l.v);
      EXPECT_EQ(equal(once[i], again[j]), i == j && !fresh_variable)
          << to_string(once[i]) << " (" << i << ") and " << to_string(again[j]) << " (" << j << ")";
    }
  }
}

TEST(StructuralHash, AgreesWithEqual) {
  const Leaves l;
  const std::vector<Expr> once = different(l), again = different(l);
  for (size_t i = 0; i < once.size(); ++i) {
    for (size_t j = 0; j < again.size(); ++j) {
      if (equal(once[i], again[j])) {
        EXPECT_EQ(structural_hash(once[i]), structural_hash(again[j])) << to_string(once[i]);
      }
    }
  }
}

// Distinct hashes are not guaranteed, but they make hashing worthwhile.
TEST(StructuralHash, TellsExpressionsApart) {
  const Leaves l;
  const std::vector<Expr> all = expr_samples(l).size() > 1 ? different(l) : std::vector<Expr>();
  size_t collisions = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      collisions += structural_hash(all[i]) == structural_hash(all[j]) ? 1 : 0;
    }
  }
  // Hashes ignore which tensor, reducer or axis is used, so seven pairs of samples collide.
  EXPECT_LE(collisions, 7U);
}

TEST(Equal, OfConstants) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(equal(make_float(nan), make_float(nan)));
  EXPECT_FALSE(equal(make_float(0.0), make_float(-0.0)));
  EXPECT_TRUE(equal(make_float(-0.0), make_float(-0.0)));
  EXPECT_FALSE(equal(make_bool(true), make_int(1)));
  EXPECT_TRUE(equal(make_bool(true), make_bool(true)));
}

// Two variables with the same name are different variables.
TEST(Equal, OfVariables) {
  const Expr x = make_var("x");
  EXPECT_TRUE(equal(x + 1, x + 1));
  EXPECT_FALSE(equal(x + 1, make_var("x") + 1));
}

// Each impure call has its own value, but programs that contain impure calls can be equal.
TEST(Equal, OfForeignCalls) {
  const Leaves l;
  const auto call = [&](bool pure) { return make_foreign_call(kFloat32, "f", pure, {l.x}); };
  EXPECT_TRUE(equal(call(true), call(true)));
  EXPECT_FALSE(equal(call(true), call(false)));
  EXPECT_FALSE(equal(call(false), call(false)));
  const Expr one = call(false);
  EXPECT_TRUE(equal(one, one));
  EXPECT_TRUE(equal(make_evaluate(call(false)), make_evaluate(call(false))));
}

// for v in 0..n: if (p) A[v, j] = x
Stmt loop_over(const Leaves& l, const Expr& v, const Expr& inner) {
  return make_for(v, l.n, LoopKind::Serial, make_if(l.p, make_store(l.a, {inner, l.j}, l.x)));
}

// Variables defined inside a statement only have to correspond; free variables must be the same.
TEST(EqualStatements, UpToTheirOwnVariables) {
  const Leaves l;
  const Expr v = make_var("v"), w = make_var("w");
  const Stmt a = loop_over(l, v, v), b = loop_over(l, w, w);
  EXPECT_TRUE(equal(a, b));
  EXPECT_EQ(structural_hash(a), structural_hash(b));
  EXPECT_FALSE(equal(a, loop_over(l, v, l.i))) << "one uses a variable from outside";
  EXPECT_FALSE(equal(loop_over(l, v, l.i), loop_over(l, l.i, l.i)));
  EXPECT_FALSE(equal(loop_over(l, v, l.i), loop_over(l, v, l.n)));
}

TEST(EqualStatements, OneVariableInTwoLoopsOrTwo) {
  const Leaves l;
  const Expr v = make_var("v"), w = make_var("w");
  const Stmt once = make_seq({loop_over(l, v, v), loop_over(l, v, v)});
  const Stmt twice = make_seq({loop_over(l, v, v), loop_over(l, w, w)});
  EXPECT_TRUE(equal(once, twice));
  EXPECT_TRUE(equal(twice, once));
  EXPECT_EQ(structural_hash(once), structural_hash(twice));
}

// Two loop nests that swap their variables inside are not equal.
TEST(EqualStatements, TellDefinedVariablesApart) {
  const Leaves l;
  const auto nest = [&](const Expr& outer, const Expr& inner, const Expr& row, const Expr& col) {
    return make_for(outer, l.n, LoopKind::Serial,
                    make_for(inner, l.n, LoopKind::Serial, make_store(l.a, {row, col}, l.x)));
  };
  const Expr u = make_var("u"), v = make_var("v");
  EXPECT_TRUE(equal(nest(u, v, u, v), nest(v, u, v, u)));
  EXPECT_FALSE(equal(nest(u, v, u, v), nest(u, v, v, u)));
  EXPECT_NE(structural_hash(nest(u, v, u, v)), structural_hash(nest(u, v, v, u)));
}

TEST(EqualStatements, EachFieldMatters) {
  const Leaves l;
  const Stmt store = make_store(l.a, {l.i, l.j}, l.x);
  const Buffer local = make_buffer("L", kFloat32, {8}, MemoryScope::Local);
  const Buffer wider = make_buffer("L", kFloat32, {9}, MemoryScope::Local);
  const std::vector<Stmt> all = {
      store,
      make_store(l.a, {l.i, l.j}, l.y),
      make_for(l.n, make_int(4), LoopKind::Serial, store),
      make_for(l.n, make_int(5), LoopKind::Serial, store),
      make_for(l.n, make_int(4), LoopKind::Unrolled, store),
      make_thread_for(l.n, make_int(4), {.block = true, .dim = 0}, store),
      make_thread_for(l.n, make_int(4), {.block = true, .dim = 1}, store),
      make_if(l.p, store),
      make_if(l.q, store),
      make_while(l.p, store),
      make_while(l.q, store),
      make_seq({store, store}),
      make_seq({store, store, store}),
      make_let(l.z, l.y, store),
      make_let(l.z, l.x, store),
      make_nest(l.a, store),
      make_nest(l.t, store),
      make_allocate(local, store),
      make_allocate(wider, store),
      make_free(l.a),
      make_free(local),
      make_barrier(),
      make_launch(0),
      make_launch(1),
  };
  for (size_t i = 0; i < all.size(); ++i) {
    for (size_t j = 0; j < all.size(); ++j) {
      EXPECT_EQ(equal(all[i], all[j]), i == j) << to_string(all[i]) << to_string(all[j]);
      EXPECT_EQ(structural_hash(all[i]) == structural_hash(all[j]),
                equal(all[i], all[j]) ||
                    // Allocated buffers only have to correspond.
                    (as<Allocate>(all[i]) != nullptr && as<Allocate>(all[j]) != nullptr));
    }
  }
}

// A copy of a program with its own variables and buffers is equal to it; a program that differs in
// any part is not.
TEST(EqualPrograms, UpToWhatTheyDefine) {
  const auto program = [](int64_t extent, Access access, std::string name) {
    const Buffer x = make_buffer("X", kFloat32, {64}, MemoryScope::Global);
    const Expr t = make_var("t");
    Kernel k;
    k.name = "copy";
    k.params = {{.buffer = x, .access = access, .scalar = {}}};
    k.axes = {{{.block = false, .dim = 0}, t, make_int(extent)}};
    k.block = {extent, 1, 1};
    k.body = make_store(x, {t}, make_float(1));
    Program p;
    p.name = std::move(name);
    p.stage = ProgramStage::Kernels;
    p.params = {x};
    p.body = make_launch(0);
    p.kernels = {k};
    return p;
  };
  const Program p = program(4, Access::Write, "main");
  EXPECT_TRUE(equal(p, program(4, Access::Write, "main")));
  EXPECT_FALSE(equal(p, program(8, Access::Write, "main")));
  EXPECT_FALSE(equal(p, program(4, Access::Read, "main")));
  EXPECT_FALSE(equal(p, program(4, Access::Write, "other")));
  Program with_text = p;
  with_text.foreign = {{.text = "int f();"}};
  EXPECT_FALSE(equal(p, with_text));
  Program without = p;
  without.kernels.clear();
  EXPECT_FALSE(equal(p, without));
  // A program of stage te has no body.
  without.body = nullptr;
  EXPECT_TRUE(equal(without, without));
  EXPECT_FALSE(equal(without, p));
}

// Reductions can be equal although each has its own axes and its own reducer.
TEST(Equal, OfReductionsUpToTheirOwnVariables) {
  const Leaves l;
  const auto sum_of = [&](int64_t extent, const auto& body) {
    const IterVar k =
        make_iter_var(make_var("k"), make_int(0), make_int(extent), IterKind::Reduction);
    return make_reduce(Leaves::make_sum(), {body(k->var)}, {k}, nullptr);
  };
  const auto element = [&](const Expr& k) { return make_load(l.a, {l.i, k}); };
  const auto other = [&](const Expr&) { return make_load(l.a, {l.i, l.j}); };
  EXPECT_TRUE(equal(sum_of(8, element), sum_of(8, element)));
  EXPECT_EQ(structural_hash(sum_of(8, element)), structural_hash(sum_of(8, element)));
  EXPECT_FALSE(equal(sum_of(8, element), sum_of(9, element)));
  EXPECT_FALSE(equal(sum_of(8, element), sum_of(8, other)));
}

}  // namespace
}  // namespace texloom::ir
