// Externs: what a statement must be, and what the operation then has.
#include "schedule/extern_operation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/stmt.h"
#include "tests/schedule/te.h"

namespace texloom::schedule {
namespace {

using namespace testing;
using ir::Buffer;
using ir::Expr;
using ir::Stmt;
using ir::Tensor;
using ::testing::HasSubstr;

// E[0] = A[0], or what `around` makes of that.
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

TEST_F(Extern, BuffersAreThoseOfTheTensors) {
  from = buffer("A", {7}, ir::MemoryScope::Global);
  EXPECT_THAT(faults([&] { make(copy()); }),
              HasSubstr("te.py:7: extern 'E': the buffer 'A' has another shape or dtype"));
  from = buffer("A", {8}, ir::MemoryScope::Shared);
  EXPECT_THAT(faults([&] { make(copy()); }),
              HasSubstr("the buffer 'A' is not row-major in global memory"));
}

// A statement may use what it was given or allocates.
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

}  // namespace
}  // namespace texloom::schedule
