#include "ir/tensor.h"

#include <gtest/gtest.h>

#include "ir/expr.h"
#include "support/check.h"

namespace texloom::ir {
namespace {

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

}  // namespace
}  // namespace texloom::ir
