#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ir/visit.h"
#include "tests/ir/samples.h"

namespace texloom::ir {
namespace {

// Expressions no two of which are equal: every kind, and for each kind one that differs in one
// respect alone.
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
      make_iter_var(make_var("k"), make_int(0), make_int(8), IterKind::Reduction);
  static const Reducer kSum = Leaves::make_sum();

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
           make_reduce(kSum, l.x, {l.axis}, l.p),
           make_reduce(l.sum, l.y, {l.axis}, l.p),
           make_reduce(l.sum, l.x, {kAxis}, l.p),
           make_reduce(l.sum, l.x, {l.axis, kAxis}, l.p),
           make_reduce(l.sum, l.x, {l.axis}, l.q),
           make_reduce(l.sum, l.x, {l.axis}, nullptr),
           make_load(kBuffer, {l.i, l.j}),
           make_load(l.a, {l.j, l.i}),
           make_load(l.a, {l.i}),
           make_load_as(Type::f(64), l.a, {l.i, l.j}),
           make_texture_load(kTexture, l.i, l.j),
           make_texture_load(l.t, l.n, l.j),
           make_texture_load(l.t, l.i, l.n),
           make_texture_load_as(Type::f(16).with_lanes(4), l.t, l.i, l.j),
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
      // The last of the samples that make a variable of their own is equal to nothing.
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

// Not a promise, but what makes hashing worth while: here all differ.
TEST(StructuralHash, TellsExpressionsApart) {
  const Leaves l;
  const std::vector<Expr> all = expr_samples(l).size() > 1 ? different(l) : std::vector<Expr>();
  size_t collisions = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      collisions += structural_hash(all[i]) == structural_hash(all[j]) ? 1 : 0;
    }
  }
  // Tensors, reducers and axes are told apart by equal alone: one pair and six pairs.
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

// Two variables of one name are two variables.
TEST(Equal, OfVariables) {
  const Expr x = make_var("x");
  EXPECT_TRUE(equal(x + 1, x + 1));
  EXPECT_FALSE(equal(x + 1, make_var("x") + 1));
}

}  // namespace
}  // namespace texloom::ir
