#include "ir/tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/expr.h"
#include "ir/program.h"
#include "support/check.h"

namespace texloom::ir {
namespace {

using testing::HasSubstr;

TEST(ThreadTag, NamesGoBothWays) {
  const std::vector<std::pair<std::string, ThreadTag>> tags = {
      {"blockIdx.x", {true, 0}},   {"blockIdx.y", {true, 1}},   {"blockIdx.z", {true, 2}},
      {"threadIdx.x", {false, 0}}, {"threadIdx.y", {false, 1}}, {"threadIdx.z", {false, 2}},
  };
  for (const auto& [name, tag] : tags) {
    EXPECT_EQ(to_string(tag), name);
    EXPECT_EQ(parse_thread_tag(name), tag) << name;
  }
  for (const char* text :
       {"", "blockIdx", "blockIdx.w", "threadidx.x", "vthread", "threadIdx.xy", "blockIdx.x "}) {
    EXPECT_EQ(parse_thread_tag(text), std::nullopt) << text;
  }
}

TEST(IterVar, HoldsWhatItIsMadeOf) {
  const SourceLocation where = SourceLocation::make("a.py", 4);
  const Expr var = make_var("k"), min = make_int(1), extent = make_int(8);
  const IterVar axis = make_iter_var(var, min, extent, IterKind::Reduction, where);
  EXPECT_EQ(axis->name(), "k");
  EXPECT_TRUE(axis->var.same_as(var));
  EXPECT_TRUE(axis->min.same_as(min));
  EXPECT_TRUE(axis->extent.same_as(extent));
  EXPECT_EQ(axis->kind, IterKind::Reduction);
  EXPECT_EQ(axis->location.line, 4);
  EXPECT_THROW(make_iter_var(min, min, extent, IterKind::Data), InternalError);
}

TEST(IterVar, ThreadAxesAreNamedByTheirTag) {
  const SourceLocation where = SourceLocation::make("a.py", 5);
  const IterVar axis = make_thread_axis({true, 1}, where);
  EXPECT_EQ(axis->name(), "blockIdx.y");
  EXPECT_EQ(axis->var->type, kInt32);
  EXPECT_EQ(axis->kind, IterKind::Thread);
  EXPECT_EQ(axis->tag, (ThreadTag{true, 1}));
  EXPECT_EQ(axis->location.line, 5);
  EXPECT_EQ(axis->var->location.line, 5);
  EXPECT_FALSE(axis->extent);
}

struct Producer : RefCounted {};

TEST(Tensor, IsNamedByProducerAndOutput) {
  const Ref<RefCounted> one(new Producer), other(new Producer);
  const auto make = [](const Ref<RefCounted>& producer, int output) {
    auto* node = new TensorNode;
    node->producer = producer;
    node->output = output;
    return Tensor(node);
  };
  EXPECT_TRUE(make(one, 0)->same_tensor(*make(one, 0)));
  EXPECT_FALSE(make(one, 0)->same_tensor(*make(one, 1)));
  EXPECT_FALSE(make(one, 0)->same_tensor(*make(other, 0)));
}

// Indices have the type of axes, so lowering can substitute indices for axes.
TEST(Tensor, IsReadAtIndicesOfTheTypeOfAxes) {
  auto* node = new TensorNode;
  node->type = kInt32;
  node->shape = {make_int(8)};
  const Tensor tensor(node);
  const auto index = [&](const Expr& written) {
    return as<TensorRead>(make_tensor_read(tensor, {written}))->indices.front();
  };
  const Expr i = make_var("i"), wide = make_cast(kInt64, i);
  EXPECT_TRUE(index(i).same_as(i));
  EXPECT_TRUE(index(wide).same_as(i));
  EXPECT_TRUE(index(make_cast(Type::u(32), i)).same_as(i));
  EXPECT_TRUE(index(make_cast(kInt32, wide)).same_as(i));
  EXPECT_EQ(to_string(index(make_cast(Type::u(8), i))), "int32(uint8(i))");
  EXPECT_EQ(to_string(index(wide + 1)), "int32(int64(i) + int64(1))");
  EXPECT_EQ(to_string(index(make_int(5, kInt64))), "5");
}

// An out-of-range constant does not wrap to a valid index.
TEST(Tensor, IsReadOutsideAtAConstantBeyondInt32) {
  auto* node = new TensorNode;
  node->type = kInt32;
  node->shape = {make_int(8)};
  const Tensor tensor(node);
  const auto index = [&](int64_t value, Type type) {
    return to_string(make_tensor_read(tensor, {make_int(value, type)}));
  };
  EXPECT_THAT(index(int64_t{1} << 32, kInt64), HasSubstr("[2147483647]"));
  EXPECT_THAT(index(-(int64_t{1} << 32), kInt64), HasSubstr("[-2147483648]"));
  EXPECT_THAT(index(-1, Type::u(64)), HasSubstr("[2147483647]"));
}

}  // namespace
}  // namespace texloom::ir
