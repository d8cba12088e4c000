// Tests which stages each pattern inlines.
#include "schedule/directives/auto_inline.h"

#include <gtest/gtest.h>

#include "tests/schedule/te.h"

namespace texloom::schedule {
namespace {

using namespace testing;
using ir::Exprs;
using ir::IterVar;
using ir::Tensor;

// One stage of each pattern; the last stage reads all others.
class AutoInline : public ::testing::Test {
 protected:
  std::string inlined_by(InlinePattern pattern) {
    auto_inline(te.s, pattern, line(30));
    std::string text;
    for (const StageId id : te.s.order()) {
      const Stage& stage = te.s.stage(id);
      if (stage.attachment.kind == AttachKind::Inline) text += stage.name() + " ";
    }
    return text;
  }

  Tensor a = placeholder("A", {4, 4}), row = placeholder("R", {4});
  IterVar k = reduce_axis("k", 4);
  Tensor same = plus_one(a, "same");
  Tensor spread = compute("spread", {4, 4}, [this](const Exprs& x) { return at(row, {x[1]}); });
  Tensor turned = compute("turned", {4, 4}, [this](const Exprs& x) { return at(a, {x[1], x[0]}); });
  Tensor sums =
      compute("sums", {4}, [this](const Exprs& x) { return sum(at(a, {x[0], k->var}), {k}); });
  Tensor out = compute("out", {4, 4}, [this](const Exprs& x) {
    return at(same, x) + at(spread, x) + at(turned, x) + at(sums, {x[0]});
  });
  Te te{{out}};
};

TEST_F(AutoInline, ElementWise) { EXPECT_EQ(inlined_by(InlinePattern::ElementWise), "same "); }
TEST_F(AutoInline, Broadcast) { EXPECT_EQ(inlined_by(InlinePattern::Broadcast), "same spread "); }
TEST_F(AutoInline, Injective) {
  EXPECT_EQ(inlined_by(InlinePattern::Injective), "same spread turned ");
}

}  // namespace
}  // namespace texloom::schedule
