// Tests bind, vectorize, unroll, and the directives that attach stages.
#include <gtest/gtest.h>

#include "schedule/ignored_annotation.h"
#include "tests/schedule/te.h"

namespace texloom::schedule {
namespace {

using namespace testing;
using ir::Exprs;
using ir::IterVar;
using ir::LoopKind;
using ir::Tensor;

// A -> B -> C, with B a copy and C a sum over k.
class Directives : public ::testing::Test {
 protected:
  const AxisAttributes& attributes(const IterVar& axis) const {
    return *te.stage(c).attributes_of(axis);
  }

  IterVar k = reduce_axis("k", 9);
  Tensor a = placeholder("A", {8, 9}), b = plus_one(a, "B");
  Tensor c =
      compute("C", {8, 4}, [this](const Exprs& x) { return sum(at(b, {x[0], k->var}), {k}); });
  Te te{{c}};
  IterVar i = te.axis(c, 0), j = te.axis(c, 1);
};

TEST_F(Directives, Bind) {
  const IterVar thread = ir::make_thread_axis({false, 1});
  EXPECT_FALSE(te.s.bind(te.id(c), i, thread, line(15)).has_value());
  EXPECT_EQ(attributes(i).loop, LoopKind::Thread);
  EXPECT_TRUE(attributes(i).thread.same_as(thread));
  EXPECT_EQ(attributes(i).location.line, 15);
}

TEST_F(Directives, BindTwiceWarns) {
  te.bind(c, i, "blockIdx.x");
  const std::optional<Diagnostic> warning = te.bind(c, i, "threadIdx.y", 25);
  ASSERT_TRUE(warning.has_value());
  EXPECT_EQ(warning->severity, Severity::Warning);
  EXPECT_EQ(warning->code, Code::AxisBoundAlready);
  EXPECT_EQ(warning->location.line, 25);
  EXPECT_EQ(warning->message,
            "the axis 'i' of 'C' was bound to blockIdx.x and is now bound to threadIdx.y");
  EXPECT_EQ(to_string(attributes(i).thread->tag), "threadIdx.y");
  EXPECT_FALSE(te.bind(c, j, "blockIdx.x").has_value());
}

// A binding replaces an annotation, in either order.
TEST_F(Directives, BindOfAnAnnotatedAxis) {
  te.unroll(c, i);
  const std::optional<Diagnostic> dropped = te.bind(c, i, "blockIdx.x");
  ASSERT_TRUE(dropped.has_value());
  EXPECT_EQ(dropped->code, Code::AnnotationIgnored);
  EXPECT_EQ(dropped->location.line, 15);
  EXPECT_EQ(dropped->message,
            "the axis 'i' of 'C' was unrolled and is now bound to blockIdx.x, which drops the "
            "annotation");
  EXPECT_EQ(attributes(i).loop, LoopKind::Thread);
  const std::optional<Diagnostic> ignored = ignored_annotation(te.stage(c), i, "unroll", line(17));
  ASSERT_TRUE(ignored.has_value());
  EXPECT_EQ(ignored->code, Code::AnnotationIgnored);
  EXPECT_EQ(ignored->location.line, 17);
  EXPECT_EQ(ignored->message,
            "unroll of 'i' of 'C' has no effect: the axis is bound to blockIdx.x");
  te.unroll(c, i);
  EXPECT_EQ(attributes(i).loop, LoopKind::Thread);
  te.s.annotate(te.id(c), i, LoopKind::Parallel, line(18));
  EXPECT_EQ(attributes(i).loop, LoopKind::Thread);
  te.s.annotate(te.id(c), j, LoopKind::Parallel, line(18));
  EXPECT_EQ(attributes(j).loop, LoopKind::Parallel);
  EXPECT_FALSE(ignored_annotation(te.stage(c), j, "unroll", line(17)).has_value());
  EXPECT_TRUE(te.bind(c, j, "threadIdx.x").has_value());
  EXPECT_EQ(attributes(j).loop, LoopKind::Thread);
}

TEST_F(Directives, BadBinds) {
  EXPECT_EQ(faults([&] { te.s.bind(te.id(c), i, j, line(15)); }),
            "TL2006 te.py:15: cannot bind 'i' to 'j': 'j' is not a thread axis");
  EXPECT_EQ(faults([&] { te.bind(c, k, "blockIdx.x"); }),
            "TL2014 te.py:15: cannot bind the reduction axis 'k' to blockIdx.x: results cannot be "
            "combined across it");
  EXPECT_EQ(faults([&] { te.bind(c, te.axis(b, 0), "threadIdx.x"); }),
            "TL2005 te.py:15: bind on the stage of 'C': the axis 'i' is not an axis of this stage, "
            "but of 'B'");
  EXPECT_EQ(faults([&] { te.bind(a, i, "threadIdx.x"); }),
            "TL2015 te.py:15: cannot apply bind to 'A': it is a placeholder and has no loops to "
            "schedule");
}

TEST_F(Directives, Annotate) {
  te.vectorize(c, j);
  te.unroll(c, k);
  EXPECT_EQ(attributes(j).loop, LoopKind::Vectorized);
  EXPECT_FALSE(attributes(j).thread);
  EXPECT_EQ(attributes(j).location.line, 16);
  EXPECT_EQ(attributes(k).loop, LoopKind::Unrolled);
  te.unroll(c, j);
  EXPECT_EQ(attributes(j).loop, LoopKind::Unrolled);
}

TEST_F(Directives, BadAnnotations) {
  EXPECT_EQ(faults([&] { te.vectorize(c, k); }),
            "TL2010 te.py:16: cannot vectorize 'k' of 'C': it is a reduction axis");
  EXPECT_EQ(faults([&] { te.vectorize(c, te.axis(b, 0)); }),
            "TL2005 te.py:16: vectorize on the stage of 'C': the axis 'i' is not an axis of this "
            "stage, but of 'B'");
  EXPECT_EQ(faults([&] { te.unroll(c, te.axis(b, 0)); }),
            "TL2005 te.py:17: unroll on the stage of 'C': the axis 'i' is not an axis of this "
            "stage, but of 'B'");
  EXPECT_EQ(faults([&] { te.unroll(a, i); }),
            "TL2015 te.py:17: cannot apply unroll to 'A': it is a placeholder and has no loops to "
            "schedule");
}

TEST_F(Directives, ComputeAt) {
  te.compute_at(b, c, j);
  const Attachment& at = te.stage(b).attachment;
  EXPECT_EQ(at.kind, AttachKind::At);
  EXPECT_EQ(at.stage, te.id(c));
  EXPECT_TRUE(at.axis.same_as(j));
  EXPECT_EQ(at.location.line, 18);
}

// The last of several directives wins.
TEST_F(Directives, ComputeElsewhere) {
  te.compute_at(b, c, j);
  te.compute_inline(b);
  EXPECT_EQ(te.stage(b).attachment.kind, AttachKind::Inline);
  EXPECT_EQ(te.stage(b).attachment.stage, -1);
  EXPECT_FALSE(te.stage(b).attachment.axis);
  EXPECT_EQ(te.stage(b).attachment.location.line, 19);
  te.compute_at(b, c, j);
  te.compute_root(b);
  EXPECT_EQ(te.stage(b).attachment.kind, AttachKind::Root);
  EXPECT_EQ(te.stage(b).attachment.stage, -1);
  EXPECT_EQ(te.stage(b).attachment.location.line, 20);
}

TEST_F(Directives, BadAttachments) {
  EXPECT_EQ(faults([&] { te.compute_at(b, b, te.axis(b, 0)); }),
            "TL2013 te.py:18: 'B' cannot be computed at its own loop 'i'");
  EXPECT_EQ(faults([&] { te.compute_at(b, c, te.axis(b, 0)); }),
            "TL2005 te.py:18: compute_at on the stage of 'C': the axis 'i' is not an axis of this "
            "stage, but of 'B'");
  const std::string placeholder = " to 'A': it is a placeholder and has no loops to schedule";
  EXPECT_EQ(faults([&] { te.compute_at(a, c, i); }),
            "TL2015 te.py:18: cannot apply compute_at" + placeholder);
  EXPECT_EQ(faults([&] { te.compute_at(b, a, i); }),
            "TL2015 te.py:18: cannot apply compute_at" + placeholder);
  EXPECT_EQ(faults([&] { te.compute_root(a); }),
            "TL2015 te.py:20: cannot apply compute_root" + placeholder);
  EXPECT_EQ(te.stage(b).attachment.kind, AttachKind::Root);
}

TEST_F(Directives, BadInlines) {
  EXPECT_EQ(faults([&] { te.compute_inline(a); }),
            "TL2015 te.py:19: cannot apply compute_inline to 'A': it is a placeholder and has no "
            "loops to schedule");
  const Tensor d = plus_one(c, "D");
  Te reader({d});
  EXPECT_EQ(faults([&] { reader.compute_inline(c); }),
            "TL2012 te.py:19: cannot inline 'C': it is a reduction");
  EXPECT_EQ(faults([&] { reader.compute_inline(b); }), "");
}

// Help texts name a fused axis, and handle a stage without axes.
TEST_F(Directives, HelpNamesTheLeaves) {
  const Tensor scalar =
      compute("S", {}, [&](const Exprs&) { return at(a, {ir::make_int(0), ir::make_int(0)}); });
  Te te_scalar({scalar});
  try {
    te_scalar.unroll(scalar, i);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.diagnostics()[0].help, "use a leaf axis of this stage: none");
  }
}

// The empty scope resets the scope.
TEST_F(Directives, EmptyScope) {
  te.set_scope(b, "texture");
  te.set_scope(b, "");
  EXPECT_FALSE(te.stage(b).scope.has_value());
  EXPECT_FALSE(te.stage(b).scope_location.known());
  te.s.set_scope(te.id(c), "", line(21), "texture[(h, c) -> rows=h, lanes=c]");
  EXPECT_TRUE(te.stage(c).scope->texture.has_value());
}

}  // namespace
}  // namespace texloom::schedule
