#include "ir/stmt.h"

#include <gtest/gtest.h>

#include "support/check.h"
#include "support/diagnostic.h"
#include "tests/ir/samples.h"

namespace texloom::ir {
namespace {

const SourceLocation kThere = SourceLocation::make("there.py", 2);

class StmtTest : public testing::Test {
 protected:
  Leaves l;
  Stmt store = make_store(l.a, {l.i, l.j}, l.x, kThere);
};

TEST_F(StmtTest, Store) {
  const Stmt s = make_store(l.a, {l.i, l.j}, l.x, kHere);
  const auto* n = as<Store>(s);
  ASSERT_NE(n, nullptr);
  EXPECT_TRUE(n->buffer.same_as(l.a));
  EXPECT_TRUE(n->indices[0].same_as(l.i) && n->indices[1].same_as(l.j));
  EXPECT_TRUE(n->value.same_as(l.x));
  EXPECT_EQ(s->location.line, 1);
  EXPECT_EQ(s->depth, 1);
  EXPECT_EQ(as<For>(s), nullptr);
}

TEST_F(StmtTest, StoreNeedsAValueOfTheLanesOfItsIndex) {
  const Expr ramp = make_ramp(l.j, make_int(1), 4);
  EXPECT_NO_THROW(make_store(l.a, {l.i, ramp}, l.v));
  EXPECT_THROW(make_store(l.a, {l.i, ramp}, l.x), InternalError);
  EXPECT_THROW(make_store(l.a, {l.i, l.j}, l.v), InternalError);
  EXPECT_THROW(make_store(l.a, {ramp, make_ramp(l.i, l.i, 2)}, make_broadcast(l.x, 2)),
               InternalError);
}

TEST_F(StmtTest, TextureStore) {
  const Stmt s = make_texture_store(l.t, l.i, l.j, l.v, kHere);
  const auto* n = as<TextureStore>(s);
  ASSERT_NE(n, nullptr);
  EXPECT_TRUE(n->texture.same_as(l.t));
  EXPECT_TRUE(n->x.same_as(l.i) && n->y.same_as(l.j) && n->value.same_as(l.v));
  EXPECT_EQ(s->location.line, 1);
  EXPECT_THROW(make_texture_store(l.a, l.i, l.j, l.v), InternalError);
  EXPECT_THROW(make_texture_store(l.t, l.i, l.j, l.x), InternalError);
}

TEST_F(StmtTest, For) {
  const Expr var = make_var("k");
  const Stmt s = make_for(var, l.n, LoopKind::Unrolled, store, kHere);
  const auto* n = as<For>(s);
  ASSERT_NE(n, nullptr);
  EXPECT_TRUE(n->var.same_as(var) && n->extent.same_as(l.n) && n->body.same_as(store));
  EXPECT_EQ(n->loop, LoopKind::Unrolled);
  EXPECT_EQ(s->location.line, 1);
  EXPECT_EQ(s->depth, 2);
  EXPECT_THROW(make_for(make_int(1), l.n, LoopKind::Serial, store), InternalError);
  EXPECT_THROW(make_for(var, l.n, LoopKind::Thread, store), InternalError);
}

TEST_F(StmtTest, ThreadFor) {
  const Expr var = make_var("k");
  const Stmt s = make_thread_for(var, l.n, {true, 2}, store, kHere);
  const auto* n = as<For>(s);
  ASSERT_NE(n, nullptr);
  EXPECT_TRUE(n->var.same_as(var) && n->extent.same_as(l.n) && n->body.same_as(store));
  EXPECT_EQ(n->loop, LoopKind::Thread);
  EXPECT_EQ(n->tag, (ThreadTag{true, 2}));
  EXPECT_EQ(s->location.line, 1);
}

TEST_F(StmtTest, IfFoldsConstantConditions) {
  EXPECT_TRUE(make_if(make_bool(true), store).same_as(store));
  EXPECT_TRUE(is_empty(make_if(make_bool(false), store)));
  const Stmt s = make_if(l.p, store, kHere);
  const auto* n = as<If>(s);
  ASSERT_NE(n, nullptr);
  EXPECT_TRUE(n->condition.same_as(l.p) && n->then.same_as(store));
  EXPECT_EQ(s->location.line, 1);
  EXPECT_EQ(s->depth, 2);
  EXPECT_THROW(make_if(l.i, store), InternalError);
}

TEST_F(StmtTest, WhileThatNeverHoldsIsEmpty) {
  EXPECT_TRUE(is_empty(make_while(make_bool(false), store)));
  const Stmt s = make_while(l.p, store, kHere);
  const auto* n = as<While>(s);
  ASSERT_NE(n, nullptr);
  EXPECT_TRUE(n->condition.same_as(l.p) && n->body.same_as(store));
  EXPECT_EQ(s->location.line, 1);
  EXPECT_EQ(s->depth, 2);
  EXPECT_THROW(make_while(l.i, store), InternalError);
}

TEST_F(StmtTest, SequencesAreFlat) {
  const Stmt other = make_barrier();
  const Stmt two = make_seq({store, other});
  ASSERT_NE(as<Seq>(two), nullptr);
  EXPECT_EQ(two->depth, 2);
  EXPECT_EQ(two->location.line, 2);
  const Stmt nested = make_seq({two, make_empty(), other, two});
  const auto* n = as<Seq>(nested);
  ASSERT_NE(n, nullptr);
  ASSERT_EQ(n->statements.size(), 5U);
  const Stmt expected[] = {store, other, other, store, other};
  for (size_t i = 0; i < 5; ++i) EXPECT_TRUE(n->statements[i].same_as(expected[i])) << i;
  EXPECT_TRUE(make_seq({store}).same_as(store));
  EXPECT_TRUE(make_seq({make_empty(), store}).same_as(store));
  EXPECT_EQ(make_seq({make_for(l.i, l.n, LoopKind::Serial, store), other})->depth, 3);
}

TEST_F(StmtTest, Empty) {
  EXPECT_TRUE(is_empty(make_empty()));
  EXPECT_TRUE(is_empty(make_seq({make_empty(), make_empty()})));
  EXPECT_FALSE(is_empty(store));
  EXPECT_FALSE(is_empty(make_seq({store, store})));
}

TEST_F(StmtTest, Let) {
  const Expr var = make_var("b", kFloat32);
  const Stmt s = make_let(var, l.x, store, kHere);
  const auto* n = as<Let>(s);
  ASSERT_NE(n, nullptr);
  EXPECT_TRUE(n->var.same_as(var) && n->value.same_as(l.x) && n->body.same_as(store));
  EXPECT_EQ(s->location.line, 1);
  EXPECT_THROW(make_let(var, l.i, store), InternalError);
}

TEST_F(StmtTest, Nest) {
  const Stmt s = make_nest(l.a, store, kHere);
  ASSERT_NE(as<Nest>(s), nullptr);
  EXPECT_TRUE(as<Nest>(s)->result.same_as(l.a));
  EXPECT_TRUE(as<Nest>(s)->body.same_as(store));
  EXPECT_EQ(s->location.line, 1);
  EXPECT_EQ(s->depth, 2);
}

TEST_F(StmtTest, AllocateAndFree) {
  const Stmt s = make_allocate(l.a, store, kHere);
  ASSERT_NE(as<Allocate>(s), nullptr);
  EXPECT_TRUE(as<Allocate>(s)->buffer.same_as(l.a));
  EXPECT_TRUE(as<Allocate>(s)->body.same_as(store));
  EXPECT_EQ(s->location.line, 1);
  const Stmt end = make_free(l.a, kHere);
  ASSERT_NE(as<Free>(end), nullptr);
  EXPECT_TRUE(as<Free>(end)->buffer.same_as(l.a));
  EXPECT_EQ(end->location.line, 1);
}

TEST_F(StmtTest, BarrierAndLaunch) {
  const Stmt barrier = make_barrier(kHere);
  ASSERT_NE(as<Barrier>(barrier), nullptr);
  EXPECT_EQ(barrier->location.line, 1);
  const Stmt launch = make_launch(4, kHere);
  ASSERT_NE(as<Launch>(launch), nullptr);
  EXPECT_EQ(as<Launch>(launch)->kernel, 4);
  EXPECT_EQ(launch->location.line, 1);
}

// A statement without its own location takes the location of its body.
TEST_F(StmtTest, Locations) {
  EXPECT_EQ(make_for(l.i, l.n, LoopKind::Serial, store)->location.line, 2);
  EXPECT_EQ(make_thread_for(l.i, l.n, {}, store)->location.line, 2);
  EXPECT_EQ(make_if(l.p, store)->location.line, 2);
  EXPECT_EQ(make_let(l.i, l.j, store)->location.line, 2);
  EXPECT_EQ(make_allocate(l.a, store)->location.line, 2);
  EXPECT_EQ(make_nest(l.a, store)->location.line, 2);
  EXPECT_FALSE(make_barrier()->location.known());
  EXPECT_FALSE(make_empty()->location.known());
}

TEST_F(StmtTest, DepthIsLimited) {
  const auto nest = [&](int levels) {
    Stmt s = store;
    for (int i = 1; i < levels; ++i) s = make_for(l.i, l.n, LoopKind::Serial, s);
    return s;
  };
  EXPECT_EQ(nest(kMaxDepth)->depth, kMaxDepth);
  try {
    nest(5'000);
    FAIL() << "it was accepted";
  } catch (const UserError& error) {
    const Diagnostic& d = error.diagnostics().front();
    EXPECT_EQ(d.code, Code::ProgramTooDeep);
    EXPECT_EQ(d.message, "loops and allocations are nested more than 1000 levels deep");
    EXPECT_EQ(d.help, "use fewer nested loops, or divide the stages among several functions");
    EXPECT_EQ(d.location.line, 2);
  }
}

}  // namespace
}  // namespace texloom::ir
