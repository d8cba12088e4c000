// Tests set_scope, cache_read and cache_write.
#include <gtest/gtest.h>

#include "tests/schedule/te.h"

namespace texloom::schedule {
namespace {

using namespace testing;
using ir::Exprs;
using ir::IterVar;
using ir::MemoryScope;
using ir::Tensor;
using ir::TextureRule;

// A -> B -> C and A -> D; E reads C and D.
class Caches : public ::testing::Test {
 protected:
  std::string order() const { return names(te.s, te.s.order()); }
  std::string body(const Tensor& t) const { return to_string(te.stage(t).op->body); }

  Tensor a = placeholder("A", {8, 9}), b = plus_one(a, "B"), c = plus_one(b, "C");
  Tensor d = plus_one(a, "D");
  Tensor e = compute("E", {8, 9}, [this](const Exprs& i) { return at(c, i) * at(d, i); });
  Te te{{e}};
};

TEST_F(Caches, SetScope) {
  te.set_scope(b, "texture:weight");
  const ir::StorageScope weight{MemoryScope::Global, TextureRule::Weight};
  EXPECT_EQ(te.stage(b).scope, weight);
  EXPECT_EQ(te.stage(b).scope_location.line, 21);
  te.set_scope(a, "texture");
  EXPECT_EQ(te.stage(a).scope->texture, TextureRule::Activation);
}

TEST_F(Caches, BadScopes) {
  EXPECT_EQ(faults([&] { te.set_scope(b, "register"); }),
            "TL2001 te.py:21: set_scope of 'B': unknown memory scope 'register'");
  EXPECT_EQ(faults([&] { te.cache_read(a, "l2", {b}); }),
            "TL2001 te.py:22: cache_read of 'A': unknown memory scope 'l2'");
  EXPECT_EQ(faults([&] { te.cache_write(b, "l3"); }),
            "TL2001 te.py:23: cache_write of 'B': unknown memory scope 'l3'");
  EXPECT_EQ(
      faults([&] { te.set_scope(a, "shared"); }),
      "TL3009 te.py:21: cannot put the input 'A' in shared memory: it is in the caller's memory");
  EXPECT_FALSE(te.stage(a).scope.has_value());
  EXPECT_EQ(faults([&] { te.set_scope(b, "shared"); }), "");
  try {
    te.set_scope(b, "register");
  } catch (const UserError& error) {
    EXPECT_EQ(error.diagnostics()[0].help,
              "use one of global, shared, local, fragment, texture, texture:weight, texture:nhwc");
  }
}

TEST_F(Caches, Layouts) {
  const std::string_view packed = "texture[(h, c) -> rows=h, cols=c/4, lanes=c%4]";
  const Tensor copy = te.s.cache_read(a, "texture", Te::ops({b}), line(40), packed);
  ASSERT_TRUE(te.stage(copy).layout.has_value());
  EXPECT_EQ(to_string(*te.stage(copy).layout),
            "texture[(h, c) -> rows=(h), cols=(c/4), lanes=(c%4)]");
  // The last directive wins.
  te.s.set_scope(te.id(b), "", line(41), packed);
  EXPECT_TRUE(te.stage(b).scope->texture.has_value());
  te.set_scope(b, "texture");
  EXPECT_FALSE(te.stage(b).layout.has_value());
  EXPECT_EQ(faults([&] { te.s.set_scope(te.id(b), "shared", line(42), packed); }),
            "TL2017 te.py:42: set_scope of 'B': a layout of kind 'texture' does not fit the scope "
            "'shared'");
  EXPECT_EQ(faults([&] {
              te.s.set_scope(te.id(b), "texture", line(42), "buffer[(h, c) -> cols=(c, h)]");
            }),
            "TL2017 te.py:42: set_scope of 'B': a layout of kind 'buffer' does not fit the scope "
            "'texture'");
  EXPECT_EQ(faults([&] { te.s.cache_write(d, "global", line(43), "buffer[(h) -> cols=h]"); }),
            "TL2017 te.py:43: cache_write of 'D': the layout has 1 axes, but the shape has 2");
}

TEST_F(Caches, CacheRead) {
  const Tensor copy = te.cache_read(a, "shared", {b});
  EXPECT_EQ(order(), "A, A.shared, B, C, D, E");
  EXPECT_EQ(copy->name, "A.shared");
  EXPECT_EQ(body(copy), "A[ax0, ax1]");
  EXPECT_EQ(body(b), "A.shared[i, j] + 1.0");
  EXPECT_EQ(body(d), "A[i, j] + 1.0");
  const Stage& stage = te.stage(copy);
  EXPECT_EQ(names(stage.leaves), "ax0, ax1");
  EXPECT_EQ(to_string(stage.op->shape[1]), "9");
  EXPECT_EQ(to_string(stage.op->axes[1]->min), "0");
  EXPECT_EQ(stage.op->axes[0]->kind, ir::IterKind::Data);
  EXPECT_EQ(stage.op->axes[0]->var->type, ir::kInt32);
  EXPECT_EQ(stage.op->axes[0]->location.line, 22);
  EXPECT_EQ(stage.op->location.line, 22);
  EXPECT_EQ(stage.op->body->location.line, 22);
  EXPECT_EQ(stage.scope->memory, MemoryScope::Shared);
  EXPECT_EQ(stage.scope_location.line, 22);
  EXPECT_FALSE(stage.is_output);
  EXPECT_TRUE(te.axis(b, 0).same_as(operation_of(b)->axes[0]));
}

// A copy comes directly after the stage that it copies; the newest copy comes first.
TEST_F(Caches, CacheReadOfSeveralReaders) {
  te.cache_read(a, "local", {b, d});
  EXPECT_EQ(body(b), "A.local[i, j] + 1.0");
  EXPECT_EQ(body(d), "A.local[i, j] + 1.0");
  te.cache_read(d, "texture", {e});
  EXPECT_EQ(order(), "A, A.local, B, C, D, D.texture, E");
  EXPECT_EQ(body(e), "C[i, j] * D.texture[i, j]");
}

// The cache of a cache reads the first cache and becomes its only reader.
TEST_F(Caches, CacheReadTwice) {
  const Tensor texture = te.cache_read(a, "texture", {b});
  const Tensor local = te.cache_read(texture, "local", {b});
  EXPECT_EQ(local->name, "A.texture.local");
  EXPECT_EQ(order(), "A, A.texture, A.texture.local, B, C, D, E");
  EXPECT_EQ(body(b), "A.texture.local[i, j] + 1.0");
}

TEST_F(Caches, CacheReadWantsReaders) {
  EXPECT_EQ(faults([&] { te.cache_read(a, "shared", {b, c}); }),
            "TL2002 te.py:22: cache_read of 'A': 'C' does not read it");
  EXPECT_EQ(faults([&] { te.cache_read(a, "shared", {plus_one(a, "F")}); }),
            "TL2002 te.py:22: cache_read of 'A': 'F' does not read it");
  EXPECT_EQ(faults([&] { te.cache_read(a, "shared", {}); }),
            "TL2002 te.py:22: cache_read of 'A' was given no readers");
  EXPECT_EQ(faults([&] { te.cache_read(plus_one(a, "F"), "shared", {b}); }),
            "TL2007 te.py:22: cannot apply cache_read to 'F': it is not part of this schedule");
  EXPECT_EQ(order(), "A, B, C, D, E");
  const auto help = [&](const Tensor& t) -> std::string {
    try {
      te.cache_read(t, "shared", {t});
    } catch (const UserError& error) {
      return error.diagnostics()[0].help;
    }
    return {};
  };
  EXPECT_EQ(help(a), "name stages that read it: B, D");
  EXPECT_EQ(help(e), "no stage reads it; cache its inputs instead");
}

TEST_F(Caches, CacheWrite) {
  const Tensor cache = te.cache_write(b, "local");
  EXPECT_EQ(order(), "A, B.local, B, C, D, E");
  EXPECT_EQ(cache->name, "B.local");
  EXPECT_EQ(body(cache), "A[i.c, j.c] + 1.0");
  EXPECT_EQ(body(b), "B.local[i, j]");
  EXPECT_EQ(body(c), "B[i, j] + 1.0");
  const Stage& stage = te.stage(cache);
  EXPECT_EQ(names(stage.leaves), "i.c, j.c");
  EXPECT_EQ(to_string(stage.op->axes[1]->extent), "9");
  EXPECT_EQ(to_string(stage.op->axes[1]->min), "0");
  EXPECT_EQ(stage.op->axes[0]->kind, ir::IterKind::Data);
  EXPECT_EQ(stage.op->axes[0]->location.line, 23);
  EXPECT_EQ(stage.op->location.line, 4);
  EXPECT_EQ(stage.scope->memory, MemoryScope::Local);
  EXPECT_EQ(stage.scope_location.line, 23);
  EXPECT_EQ(te.stage(b).op->body->location.line, 23);
  EXPECT_FALSE(te.stage(b).scope.has_value());
}

// The reduction goes to the cache; the stage keeps its data axes.
TEST_F(Caches, CacheWriteOfAReduction) {
  const IterVar k = reduce_axis("k", 9);
  const Tensor f = output_of(
      make_compute("F", "tagged", {data_axis("i", 8)}, sum(at(a, {k->var, k->var}), {k}), line(8)));
  Te own({f});
  const Tensor cache = own.cache_write(f, "local");
  EXPECT_EQ(names(own.stage(f).leaves), "i");
  EXPECT_TRUE(own.stage(f).op->reduce_axes.empty());
  EXPECT_EQ(names(own.stage(cache).leaves), "i.c, k");
  EXPECT_TRUE(own.reduction(cache).same_as(k));
  EXPECT_EQ(own.stage(cache).op->tag, "tagged");
  EXPECT_EQ(own.stage(cache).op->location.line, 8);
  EXPECT_FALSE(own.stage(cache).is_output);
  EXPECT_TRUE(own.stage(f).is_output);
}

TEST_F(Caches, BadCacheWrites) {
  EXPECT_EQ(faults([&] { te.cache_write(a, "local"); }),
            "TL2015 te.py:23: cannot apply cache_write to 'A': it is a placeholder and has no "
            "loops to schedule");
  EXPECT_EQ(faults([&] { te.cache_write(plus_one(a, "F"), "local"); }),
            "TL2007 te.py:23: cannot apply cache_write to 'F': it is not part of this schedule");
}

// The loops become axes of the cache; the relations of the original stage are removed.
TEST_F(Caches, WriteOfScheduledLoops) {
  const IterVar i = te.axis(b, 0);
  const auto [outer, inner] = te.split(b, i, 3);
  te.bind(b, outer, "threadIdx.x");
  const Tensor cache = te.cache_write(b, "local");
  EXPECT_EQ(names(te.stage(cache).op->axes).substr(0, 18), "i.outer.c, i.inner");
  EXPECT_TRUE(te.stage(b).relations.empty());
  EXPECT_TRUE(te.stage(b).attributes.empty());
  EXPECT_TRUE(te.stage(b).leaves.front().same_as(i));
}

// Fusing no axes gives a loop of one iteration, which becomes an axis of the cache.
TEST_F(Caches, WriteWithALoopOfOneIteration) {
  te.fuse(b, {});
  const Tensor cache = te.cache_write(b, "local");
  EXPECT_EQ(body(cache), "A[i.c, j.c] + 1.0");
  EXPECT_EQ(body(b), "B.local[0, i, j]");
}

}  // namespace
}  // namespace texloom::schedule
