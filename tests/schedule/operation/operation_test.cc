// Operations: which expressions a compute may contain, and its inputs.
#include "schedule/operation/operation.h"

#include <gtest/gtest.h>

#include "tests/schedule/te.h"

namespace texloom::schedule {
namespace {

using namespace testing;
using ir::Expr;
using ir::Exprs;
using ir::IterVar;
using ir::kFloat32;
using ir::kInt32;
using ir::make_int;
using ir::make_var;
using ir::Tensor;

TEST(Operation, Placeholder) {
  const Op op = make_placeholder("A", ir::Type::i(8), {make_int(4), make_int(6)}, line(7));
  EXPECT_TRUE(op->is_placeholder());
  EXPECT_EQ(op->name, "A");
  EXPECT_EQ(op->types, std::vector<ir::Type>{ir::Type::i(8)});
  ASSERT_EQ(op->shape.size(), 2U);
  EXPECT_EQ(to_string(op->shape[1]), "6");
  EXPECT_EQ(op->location.line, 7);
  EXPECT_TRUE(op->inputs.empty());
}

TEST(Operation, Compute) {
  const Tensor a = placeholder("A", {4, 6}, kInt32);
  const IterVar i = data_axis("i", 4), k = reduce_axis("k", 6);
  const Op op = make_compute("B", "tagged", {i}, sum(at(a, {i->var, k->var}), {k}), line(8));
  EXPECT_FALSE(op->is_placeholder());
  EXPECT_EQ(op->name, "B");
  EXPECT_EQ(op->tag, "tagged");
  EXPECT_EQ(op->types, std::vector<ir::Type>{kInt32});
  ASSERT_EQ(op->shape.size(), 1U);
  EXPECT_EQ(to_string(op->shape[0]), "4");
  EXPECT_EQ(names(op->axes), "i");
  EXPECT_EQ(names(op->reduce_axes), "k");
  EXPECT_EQ(to_string(op->body), "reduce(sum, [k < 6], A[i, k])");
  EXPECT_EQ(op->location.line, 8);
}

TEST(Operation, ItsTensor) {
  const Op op = make_placeholder("A", ir::Type::u(16), {make_int(4)}, line(7));
  const Tensor tensor = output_of(op);
  EXPECT_EQ(tensor->name, "A");
  EXPECT_EQ(tensor->type, ir::Type::u(16));
  ASSERT_EQ(tensor->shape.size(), 1U);
  EXPECT_TRUE(tensor->shape[0].same_as(op->shape[0]));
  EXPECT_EQ(tensor->location.line, 7);
  EXPECT_TRUE(operation_of(tensor).same_as(op));
}

TEST(Operation, ReductionsStandAtTheTop) {
  const Tensor a = placeholder("A", {6});
  const IterVar i = data_axis("i", 4), k = reduce_axis("k", 6), r = reduce_axis("r", 6);
  const Expr inner = sum(at(a, {k->var}), {k});
  const auto made = [&](const Expr& body) {
    return faults([&] { make_compute("B", "", {i}, body, line(8)); });
  };
  const std::string refused =
      "TL1004 te.py:8: 'B' has a reduction inside its expression; only the whole expression may be "
      "a reduction";
  EXPECT_EQ(made(inner), "");
  EXPECT_EQ(made(inner + at(a, {i->var})), refused);
  EXPECT_EQ(made(sum(inner, {r})), refused);
}

TEST(Operation, ScalarsAreWhatIsNoAxis) {
  const Tensor a = placeholder("A", {6});
  const IterVar i = data_axis("i", 4), k = reduce_axis("k", 6);
  const Expr n = make_var("n");
  const auto scalars = [&](const Expr& body) {
    std::string names;
    for (const Expr& scalar : scalars_in(*make_compute("B", "", {i}, body, line(8))))
      names += ir::as<ir::Var>(scalar)->name;
    return names;
  };
  EXPECT_EQ(scalars(sum(at(a, {k->var + i->var}), {k})), "");
  EXPECT_EQ(scalars(at(a, {k->var}) + make_cast(ir::kFloat32, n * n)), "kn");
}

TEST(Operation, BodiesAreBounded) {
  const IterVar i = data_axis("i", 4);
  Expr body = i->var;
  while (body->size <= ir::kMaxSize) body = body * body;
  EXPECT_EQ(
      faults([&] { make_compute("B", "", {i}, body, line(8)); }),
      fmt::format("TL3018 te.py:8: the expression of 'B' has more than {} parts", ir::kMaxSize));
}

// Returns an expression with this many nodes, most of them shared.
Expr expression_of(uint64_t parts) {
  if (parts == 1) return make_var("x", kFloat32);
  if (parts % 2 == 0) return make_call(ir::Intrinsic::Exp, {expression_of(parts - 1)});
  const Expr half = expression_of(parts / 2);
  return half * half;
}

TEST(Operation, LargestBody) {
  const Expr largest = expression_of(ir::kMaxSize);
  ASSERT_EQ(largest->size, ir::kMaxSize);
  EXPECT_EQ(faults([&] { check_body_size(largest, "B", line(8)); }), "");
}

TEST(Operation, Reads) {
  const Tensor a = placeholder("A", {4, 6});
  const Expr i = make_var("i"), x = make_var("x", kFloat32);
  const Expr element = read(a, {i, make_var("j", ir::Type::u(8))}, line(5));
  EXPECT_EQ(to_string(element), "A[i, int32(j)]");
  EXPECT_EQ(element->type, kFloat32);
  EXPECT_EQ(element->location.line, 5);
  EXPECT_EQ(faults([&] { read(a, {i}, line(5)); }),
            "TL1002 te.py:5: 'A' has 2 axes but is read with 1 index");
  EXPECT_EQ(faults([&] { read(a, {i, i, i}, line(5)); }),
            "TL1002 te.py:5: 'A' has 2 axes but is read with 3 indices");
  EXPECT_EQ(faults([&] { read(a, {i, x}, line(5)); }),
            "TL1003 te.py:5: an index of 'A' has type float32, not an integer");
  EXPECT_EQ(faults([&] { read(a, {i, i < i}, line(5)); }),
            "TL1003 te.py:5: an index of 'A' has type bool, not an integer");
}

TEST(Operation, ConstantShape) {
  EXPECT_EQ(constant_shape({make_int(3), make_int(1)}, "A", line(5)), (std::vector<int64_t>{3, 1}));
  EXPECT_EQ(faults([&] { constant_shape({make_int(3), make_int(0)}, "A", line(5)); }),
            "TL1001 te.py:5: the shape of 'A' has the extent 0, which is not a positive constant");
  EXPECT_EQ(faults([&] { constant_shape({make_var("n")}, "A", line(5)); }),
            "TL1001 te.py:5: the shape of 'A' has the extent n, which is not a positive constant");
}

// Inputs are unique and in order of appearance, even if different handles refer to one tensor.
TEST(Operation, Inputs) {
  const Tensor a = placeholder("A", {4}), b = placeholder("B", {4});
  const Tensor again = output_of(operation_of(b));
  const Tensor c = compute("C", {4}, [&](const Exprs& i) {
    return at(b, {i[0]}) + at(a, {i[0]}) * at(again, {i[0]}) - at(b, {make_int(0)});
  });
  const std::vector<Tensor> inputs = operation_of(c)->inputs;
  ASSERT_EQ(inputs.size(), 2U);
  EXPECT_TRUE(inputs[0].same_as(b));
  EXPECT_TRUE(inputs[1].same_as(a));
}

}  // namespace
}  // namespace texloom::schedule
