// Externs: requirements on the statement, and properties of the operation.
#include "schedule/operation/extern_operation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/stmt.h"
#include "tests/schedule/te.h"

namespace texloom::schedule {
namespace {

using namespace testing;
using ir::Buffer;
using ir::Expr;
using ir::Exprs;
using ir::Stmt;
using ir::Tensor;
using ::testing::HasSubstr;

// An extern that computes E[0] = A[0], or a variant of this statement.
class Extern : public ::testing::Test {
 protected:
  Op make(const Stmt& statement) {
    return make_extern("E", "tag", {{a, from}}, {to, second}, statement, line(7));
  }
  static Buffer buffer(const char* name, std::vector<int64_t> shape, ir::MemoryScope memory) {
    return ir::make_buffer(name, ir::kFloat32, std::move(shape), memory);
  }
  Stmt copy() const {
    return ir::make_store(to, {ir::make_int(0)}, ir::make_load(from, {ir::make_int(0)}), line(8));
  }

  Tensor a = placeholder("A", {8});
  Buffer from = buffer("A", {8}, ir::MemoryScope::Global);
  Buffer to = buffer("E", {6}, ir::MemoryScope::Global);
  Buffer second = buffer("F", {2, 3}, ir::MemoryScope::Global);
};

TEST_F(Extern, HasTheShapesOfItsBuffers) {
  const Op op = make(copy());
  EXPECT_EQ(op->tag, "tag");
  ASSERT_EQ(op->shape.size(), 1U);
  EXPECT_TRUE(is_int(op->shape[0], 6));
  EXPECT_EQ(output_of(op, 1)->shape.size(), 2U);
  ASSERT_EQ(op->inputs.size(), 1U);
  EXPECT_TRUE(op->inputs[0]->same_tensor(*a));
}

TEST_F(Extern, OtherInputsKeepTheRest) {
  const Tensor other = placeholder("B", {8});
  const Op op = with_inputs(*make(copy()), {other});
  EXPECT_TRUE(op->inputs[0]->same_tensor(*other));
  EXPECT_TRUE(op->reads[0].buffer.same_as(from));
  EXPECT_EQ(op->tag, "tag");
  EXPECT_TRUE(is_int(op->shape[0], 6));
  EXPECT_EQ(output_of(op, 1)->shape.size(), 2U);
}

TEST_F(Extern, OtherTypesAreConvertedAtAccesses) {
  const Tensor narrow = output_of(make_placeholder("B", ir::Type::f(16), a->shape, {}));
  const Op op = with_types(*make(copy()), {narrow}, {ir::Type::f(16), ir::kFloat32});
  ASSERT_TRUE(op);
  EXPECT_EQ(op->types, (std::vector{ir::Type::f(16), ir::kFloat32}));
  EXPECT_EQ(op->reads[0].buffer->type, ir::Type::f(16));
  const auto* store = ir::as<ir::Store>(op->statement);
  ASSERT_NE(store, nullptr);
  EXPECT_EQ(store->value->type, ir::Type::f(16));
  EXPECT_TRUE(op->writes[1].same_as(second));
}

// What is stored, and loaded again, would be rounded in between.
TEST_F(Extern, OutputsThatAreLoadedKeepTheirTypes) {
  const Expr zero = ir::make_int(0);
  const Stmt again =
      ir::make_store(to, {zero}, ir::make_load(to, {zero}) + ir::make_load(from, {zero}));
  const Op op = make(again);
  EXPECT_FALSE(with_types(*op, {a}, {ir::Type::f(16), ir::kFloat32}));
  EXPECT_TRUE(with_types(*op, {a}, {ir::kFloat32, ir::Type::f(16)}));
}

TEST_F(Extern, BuffersAreThoseOfTheTensors) {
  from = buffer("A", {7}, ir::MemoryScope::Global);
  EXPECT_THAT(faults([&] { make(copy()); }),
              HasSubstr("te.py:7: extern 'E': the buffer 'A' has another shape or dtype"));
  from = buffer("A", {8}, ir::MemoryScope::Shared);
  EXPECT_THAT(faults([&] { make(copy()); }),
              HasSubstr("the buffer 'A' is not row-major in global memory"));
}

// A statement may use only the buffers that it was given or allocates.
TEST_F(Extern, StatementsNameWhatTheyKnow) {
  const Buffer strange = buffer("G", {8}, ir::MemoryScope::Global);
  EXPECT_THAT(faults([&] { make(ir::make_store(strange, {ir::make_int(0)}, ir::make_float(0))); }),
              HasSubstr("extern 'E'"));
}

// Shared memory belongs to the block, wherever the statement allocates it.
TEST_F(Extern, SharedMemoryInsideOfThreads) {
  const Buffer tile = buffer("tile", {8}, ir::MemoryScope::Shared);
  const Expr x = ir::make_var("x");
  const Stmt inside = ir::make_allocate(
      tile, ir::make_seq(
                {ir::make_store(tile, {x}, ir::make_load(from, {x})),
                 ir::make_store(to, {ir::make_int(0)}, ir::make_load(tile, {ir::make_int(3)}))}));
  EXPECT_EQ(faults([&] { make(ir::make_thread_for(x, ir::make_int(8), {false, 0}, inside)); }), "");
}

// -- Extents that are known only at the call.

class SymbolicExtern : public ::testing::Test {
 protected:
  static Buffer array(const char* name, const ir::Exprs& extents) {
    return ir::make_array(name, ir::kFloat32, extents);
  }
  Op make(const Stmt& statement) const {
    return make_extern("E", "", {{a, from}}, {to}, statement, line(7));
  }

  Expr n = ir::make_var("n"), k = ir::make_var("k"), i = ir::make_var("i");
  Tensor a = output_of(make_placeholder("A", ir::kFloat32, {n, ir::make_int(4)}, line(1)));
  Buffer from = array("A", {n, ir::make_int(4)}), to = array("E", {n + ir::make_int(2)});
  Stmt copy = ir::make_store(to, {i}, ir::make_load(from, {i, ir::make_int(0)}));
};

TEST_F(SymbolicExtern, HasTheShapesOfItsBuffers) {
  const Op op = make(ir::make_for(i, n, ir::LoopKind::Serial, copy));
  ASSERT_EQ(op->shape.size(), 1U);
  EXPECT_EQ(to_string(op->shape[0]), "n + 2");
}

// Equal extents match, whatever their form.
TEST_F(SymbolicExtern, BuffersAreThoseOfTheTensors) {
  const Stmt loop = ir::make_for(i, n, ir::LoopKind::Serial, copy);
  a = output_of(make_placeholder("A", ir::kFloat32, {n * ir::make_int(2), k}, line(1)));
  from = array("A", {n + n, k});
  copy = ir::make_store(to, {i}, ir::make_load(from, {i, ir::make_int(0)}));
  EXPECT_EQ(faults([&] { make(ir::make_for(i, n, ir::LoopKind::Serial, copy)); }), "");
  from = array("A", {n, k});
  EXPECT_THAT(faults([&] { make(loop); }), HasSubstr("has another shape or dtype"));
}

TEST_F(SymbolicExtern, ScalarsAreWhatTheStatementDoesNotDefine) {
  const Buffer more = array("more", {k});
  const Stmt loop = ir::make_for(i, n, ir::LoopKind::Serial, copy);
  const Exprs scalars = scalars_in(*make(ir::make_allocate(more, loop)));
  ASSERT_EQ(scalars.size(), 2U);
  EXPECT_TRUE(scalars[0].same_as(n));
  EXPECT_TRUE(scalars[1].same_as(k));
}

TEST_F(SymbolicExtern, LoopVariablesEndWithTheirLoops) {
  const Stmt loop = ir::make_for(i, n, ir::LoopKind::Serial, copy);
  EXPECT_THAT(faults([&] { make(ir::make_seq({loop, copy})); }),
              HasSubstr("it is not defined here"));
}

}  // namespace
}  // namespace texloom::schedule
