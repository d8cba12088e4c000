// Tests inserting barriers between conflicting accesses of threads to shared buffers.
#include "lower/barriers/insert_barriers.h"

#include <gtest/gtest.h>

#include "lower/barriers/drop_barriers.h"
#include "tests/ir/accesses.h"
#include "tests/lower/passes.h"

namespace texloom::lower {
namespace {

using namespace testing;
using ir::Buffer;
using ir::Expr;
using ir::kFloat32;
using ir::LoopKind;
using ir::make_float;
using ir::make_for;
using ir::make_if;
using ir::make_int;
using ir::make_seq;
using ir::make_var;
using ir::put;
using ir::Stmt;

class InsertBarriers : public ::testing::Test {
 protected:
  static void insert_barriers(Lowering& lowering) {
    place_barriers(lowering);
    drop_barriers(lowering);
  }
  static std::string inserted(const Stmt& body) { return in_kernel(insert_barriers, body); }
  // The number of barriers for four threads, on a target with conditional barriers.
  int barriers(const Stmt& body) const {
    Lowering lowering;
    lowering.target.quirks.conditional_barriers = true;
    ir::Kernel& kernel = lowering.program.kernels.emplace_back();
    kernel.axes.push_back({{.block = false, .dim = 0}, tx, make_int(4)});
    kernel.block = {4, 1, 1};
    kernel.body = body;
    insert_barriers(lowering);
    int count = 0;
    walk(kernel.body, [&](const ir::Barrier&) { ++count; });
    return count;
  }
  Stmt loop(const Stmt& body) const { return make_for(i, make_int(4), LoopKind::Serial, body); }
  Stmt write_s() const { return put(s, tx, at(a, tx)); }
  Stmt read_s() const { return put(y, tx, at(s, 0)); }

  Expr i = make_var("i"), tx = make_var("tx");
  Buffer s = ir::shared("s", kFloat32, 16), r = ir::shared("r", kFloat32, 16);
  Buffer a = ir::global("a", kFloat32, 16), y = ir::global("y", kFloat32, 16);
  Buffer t = ir::texture("t", kFloat32, 4, 4), kept = ir::local("kept", kFloat32, 1);
  const std::string write = "s[tx] = a[tx]\n", read = "y[tx] = s[0]\n", barrier = "barrier\n";
};

TEST_F(InsertBarriers, ReadAfterWrite) {
  EXPECT_EQ(inserted(make_seq({write_s(), read_s()})), write + barrier + read);
}

TEST_F(InsertBarriers, WriteAfterRead) {
  EXPECT_EQ(inserted(make_seq({read_s(), write_s()})), read + barrier + write);
}

TEST_F(InsertBarriers, OneBarrierServesAll) {
  EXPECT_EQ(inserted(make_seq({write_s(), read_s(), read_s(), write_s(), write_s(), read_s()})),
            write + barrier + read + read + barrier + write + write + barrier + read);
}

TEST_F(InsertBarriers, OtherMemoryNeedsNone) {
  const Stmt body =
      make_seq({put(a, tx, make_float(1)), put(y, tx, at(a, 0)), put(a, tx, make_float(2))});
  EXPECT_EQ(inserted(body), to_string(body));
}

TEST_F(InsertBarriers, BuffersAreToldApart) {
  const Stmt body = make_seq({write_s(), put(y, tx, at(r, 0)), put(s, tx, at(y, 1))});
  EXPECT_EQ(inserted(body), to_string(body));
  EXPECT_EQ(inserted(make_seq({write_s(), put(r, tx, at(y, 0)), put(y, tx, at(r, 1)), read_s()})),
            write + "r[tx] = y[0]\n" + barrier + "y[tx] = r[1]\n" + read);
}

// A thread that reads an element and writes it back owns the element and needs no barrier.
TEST_F(InsertBarriers, ElementsReadBack) {
  const Stmt own = make_seq({put(s, tx, make_float(0)), put(s, tx, at(s, tx) + at(a, tx))});
  EXPECT_EQ(inserted(own), to_string(own));
  EXPECT_EQ(inserted(make_seq({put(s, tx, make_float(0)), put(s, tx, at(s, tx + 1))})),
            "s[tx] = 0.0\nbarrier\ns[tx] = s[tx + 1]\n");
  EXPECT_EQ(inserted(make_seq({put(r, tx, make_float(0)), put(s, tx, at(r, tx))})),
            "r[tx] = 0.0\nbarrier\ns[tx] = r[tx]\n");
}

// Reads in indices, conditions, definitions and texel values all count.
TEST_F(InsertBarriers, AllPlacesOfReads) {
  const Buffer n = ir::shared("n", ir::kInt32, 16);
  const Stmt write_n = put(n, tx, make_int(1));
  const auto needs = [&](const Stmt& first, const Stmt& second) {
    return inserted(make_seq({first, second})) == to_string(first) + barrier + to_string(second);
  };
  EXPECT_TRUE(needs(write_n, put(y, at(n, 0), make_float(0))));
  EXPECT_TRUE(needs(write_n, put(y, tx, at(a, at(n, 0)))));
  EXPECT_TRUE(needs(write_n, make_if(at(n, 0) < make_int(3), put(y, tx, make_float(0)))));
  EXPECT_TRUE(needs(write_n, make_let(i, at(n, 0), put(y, i, make_float(0)))));
  EXPECT_TRUE(needs(write_s(), make_texture_store(t, tx, tx, make_broadcast(at(s, 0), 4))));
  EXPECT_TRUE(needs(read_s(), make_if(tx < make_int(3), write_s())));
  EXPECT_FALSE(needs(write_n, make_if(at(s, 0) < make_float(3), put(y, tx, make_float(0)))));
}

// The barrier precedes the guard, which not all threads pass.
TEST_F(InsertBarriers, NotUnderGuards) {
  EXPECT_EQ(inserted(make_seq({write_s(), make_if(tx < make_int(3), read_s())})),
            write + barrier + "if tx < 3 {\n  y[tx] = s[0]\n}\n");
}

TEST_F(InsertBarriers, LoopsWithoutSharedAccesses) {
  const Stmt body = make_seq({write_s(), loop(put(y, i, at(a, i)))});
  EXPECT_EQ(inserted(body), to_string(body));
  EXPECT_EQ(inserted(make_seq({body, read_s()})), to_string(body) + barrier + read);
}

// The end of an iteration conflicts with the start of the next.
TEST_F(InsertBarriers, Loops) {
  EXPECT_EQ(inserted(loop(make_seq({write_s(), read_s()}))),
            "for i < 4 {\n  barrier\n  s[tx] = a[tx]\n  barrier\n  y[tx] = s[0]\n}\n");
  EXPECT_EQ(inserted(loop(write_s())), "for i < 4 {\n  s[tx] = a[tx]\n}\n");
  EXPECT_EQ(inserted(loop(read_s())), "for i < 4 {\n  y[tx] = s[0]\n}\n");
}

// A conflict with a statement before a loop gets one barrier before the loop.
TEST_F(InsertBarriers, BeforeLoops) {
  EXPECT_EQ(inserted(make_seq({write_s(), loop(read_s())})),
            write + barrier + "for i < 4 {\n  y[tx] = s[0]\n}\n");
  EXPECT_EQ(inserted(make_seq({read_s(), loop(write_s())})),
            read + barrier + "for i < 4 {\n  s[tx] = a[tx]\n}\n");
}

// A conflict with a statement after a loop gets a barrier after the loop.
TEST_F(InsertBarriers, AfterLoops) {
  EXPECT_EQ(inserted(make_seq({loop(write_s()), read_s()})),
            "for i < 4 {\n  s[tx] = a[tx]\n}\n" + barrier + read);
}

TEST_F(InsertBarriers, NestedLoops) {
  const Expr j = make_var("j");
  const Stmt inner = make_for(j, make_int(2), LoopKind::Serial, read_s());
  EXPECT_EQ(inserted(loop(make_seq({write_s(), inner}))),
            "for i < 4 {\n"
            "  barrier\n"
            "  s[tx] = a[tx]\n"
            "  barrier\n"
            "  for j < 2 {\n"
            "    y[tx] = s[0]\n"
            "  }\n"
            "}\n");
}

// A loop that may run zero times separates nothing, whatever its body contains.
TEST_F(InsertBarriers, AfterLoopsThatMayNotRun) {
  const Expr n = make_var("n");
  const Stmt both = make_seq({put(r, tx, make_float(0)), put(y, tx, at(r, 0))});
  const auto barriers = [&](const Expr& extent) {
    const Stmt other = make_for(i, extent, LoopKind::Serial, both);
    const std::string text = inserted(make_seq({write_s(), other, read_s()}));
    return text.ends_with(barrier + read);
  };
  EXPECT_FALSE(barriers(make_int(1)));
  EXPECT_TRUE(barriers(n));
}

// A nested loop is visited once although the enclosing loop is visited twice.
TEST_F(InsertBarriers, ManyLoopsInEachOther) {
  Stmt nest = make_seq({write_s(), read_s()});
  for (int depth = 0; depth < 40; ++depth) {
    nest = make_for(make_var("i" + std::to_string(depth)), make_int(1), LoopKind::Serial, nest);
  }
  EXPECT_EQ(barriers(nest), 2);  // at the start of the innermost body, and after the write
}

// Values that are stored together are an update if each reads the element that its own store
// replaces, or elements that no thread replaces.
TEST_F(InsertBarriers, Updates) {
  const Expr v = make_var("v", kFloat32), w = make_var("w", kFloat32);
  const auto update = [&](const Expr& first, const Expr& second) {
    const Stmt stored = make_seq({put(s, tx, v), put(r, tx, w)});
    return make_let(v, first, make_let(w, second, stored));
  };
  EXPECT_EQ(barriers(update(at(s, tx) + at(r, tx), at(s, tx))), 0);
  EXPECT_EQ(barriers(update(at(s, make_int(3) - tx), at(r, tx))), 1);
  EXPECT_EQ(barriers(update(at(s, tx), at(a, tx) + at(s, tx + 2))), 1);
  // The guard excludes threads that would replace elements that other threads read.
  const Stmt folded = update(at(s, tx) + at(s, tx + 2), at(r, tx) + at(r, tx + 2));
  EXPECT_EQ(barriers(make_if(tx < make_int(2), folded)), 0);
  EXPECT_THROW(barriers(make_if(tx < make_int(3), folded)), UserError);
  // Either of two nested guards may exclude the threads that replace elements that others read.
  const Stmt inner = make_if(tx < make_int(2), folded);
  EXPECT_EQ(barriers(make_if(make_int(0) <= tx, inner)), 0);
  EXPECT_EQ(barriers(make_if(tx < make_int(2), make_if(make_int(0) <= tx, folded))), 0);
}

// A condition on a loaded value is uniform if all threads read the same element.
TEST_F(InsertBarriers, ConditionsOnValues) {
  const Expr v = make_var("v", kFloat32);
  const auto guarded = [&](const Expr& value) {
    return make_let(v, value, make_if(v < make_float(1), make_seq({write_s(), read_s()})));
  };
  EXPECT_EQ(barriers(guarded(at(a, 0))), 1);
  EXPECT_THROW(barriers(guarded(at(a, tx))), UserError);
}

// Threads need no barrier under a condition if each touches elements of its own.
TEST_F(InsertBarriers, OwnElementsUnderConditions) {
  const auto under = [&](const Expr& condition, const Expr& low, const Expr& high) {
    const Stmt swap = make_seq(
        {put(kept, make_int(0), at(s, low)), put(s, low, at(s, high)), put(s, high, at(kept, 0))});
    return make_seq({write_s(), make_if(condition, swap), read_s()});
  };
  const Expr compared = at(s, tx * 2) < at(s, tx * 2 + 1);
  EXPECT_EQ(barriers(under(compared, tx * 2, tx * 2 + 1)), 2);
  EXPECT_EQ(barriers(under(tx < make_int(3), tx, tx + 4)), 2);
  const Expr up = floormod(tx, make_int(2)) < make_int(1);
  EXPECT_EQ(
      barriers(under(tx < make_int(3), make_select(up, tx, tx + 4), make_select(up, tx + 4, tx))),
      2);
  // The conditions leave the threads, or the thread, to which both elements belong.
  EXPECT_EQ(barriers(under(tx < make_int(2), tx, tx + 2)), 2);
  EXPECT_EQ(barriers(under(tx < make_int(1), make_int(0), make_int(1))), 2);
  const Stmt stores = make_seq({put(s, tx, make_float(1)), put(s, tx + 2, make_float(2))});
  const auto twice = [&](const Expr& outer, const Expr& inner) {
    return make_seq({write_s(), make_if(outer, make_if(inner, stores)), read_s()});
  };
  const Expr loaded = at(a, tx) < make_float(1);
  EXPECT_EQ(barriers(twice(tx < make_int(2), loaded)), barriers(twice(loaded, tx < make_int(2))));
  EXPECT_THROW(barriers(under(tx < make_int(3), tx, tx + 2)), UserError);
  // Only threads below 2 compare the elements, or all threads do.
  const Expr halves = at(s, tx) < at(s, tx + 2), below = tx < make_int(2);
  EXPECT_EQ(barriers(under(below && halves, tx, tx + 2)), 2);
  EXPECT_EQ(barriers(under(loaded && below && halves, tx, tx + 2)), 2);
  EXPECT_THROW(barriers(under(halves && below, tx, tx + 2)), UserError);
  EXPECT_THROW(barriers(under(make_binary(ir::BinaryOp::Or, below, halves), tx, tx + 2)),
               UserError);
  // Element tx + 1 belongs to the next thread.
  EXPECT_THROW(barriers(under(tx < make_int(3), tx, tx + 1)), UserError);
}

// An existing barrier counts.
TEST_F(InsertBarriers, OwnBarriers) {
  const Stmt body =
      make_seq({write_s(), ir::make_barrier(), read_s(), ir::make_barrier(), write_s()});
  EXPECT_EQ(inserted(body), to_string(body));
}

TEST_F(InsertBarriers, InsideAllocations) {
  EXPECT_EQ(inserted(make_allocate(s, make_seq({write_s(), read_s()}))),
            "buffer.alloca s: shared float32[16]\n" + write + barrier + read);
}

TEST_F(InsertBarriers, LinesAndKinds) {
  Lowering lowering;
  const SourceLocation here = schedule::testing::line(7), there = schedule::testing::line(8);
  lowering.program.kernels.emplace_back().body =
      make_seq({write_s(), make_for(i, make_int(2), LoopKind::Unrolled, read_s(), here),
                make_store(s, {tx}, make_float(0), there)});
  lowering.program.kernels.front().block = {4, 1, 1};
  insert_barriers(lowering);
  std::vector<int> lines;
  walk(
      lowering.program.kernels[0].body,
      [&](const ir::Barrier& b) { lines.push_back(b.location.line); },
      [&](const ir::For& loop) {
        EXPECT_EQ(loop.location.line, 7);
        EXPECT_EQ(loop.loop, LoopKind::Unrolled);
      });
  EXPECT_EQ(lines, (std::vector<int>{7, 8}));
}

// Barriers do not consider accesses of other kernels.
TEST_F(InsertBarriers, EachKernelByItself) {
  Lowering lowering;
  lowering.program.kernels.emplace_back().body = write_s();
  lowering.program.kernels.emplace_back().body = make_seq({read_s(), write_s()});
  for (ir::Kernel& kernel : lowering.program.kernels) kernel.block = {1, 2, 1};
  insert_barriers(lowering);
  EXPECT_EQ(to_string(lowering.program.kernels[0].body), write);
  EXPECT_EQ(to_string(lowering.program.kernels[1].body), read + barrier + write);
}

TEST_F(InsertBarriers, OneThreadWaitsForNobody) {
  Lowering lowering;
  lowering.program.kernels.emplace_back().body = make_seq({read_s(), write_s()});
  lowering.program.kernels.front().block = {1, 1, 1};
  insert_barriers(lowering);
  EXPECT_EQ(to_string(lowering.program.kernels[0].body), read + write);
}

// The order of writes by different statements matters. In a loop inside of the one over threads,
// each statement writes in no defined order; in a loop around it, the last iteration is the last.
TEST_F(InsertBarriers, WritesOfOneNest) {
  const auto threads = [&](const Stmt& body) {
    return make_thread_for(tx, make_int(4), {false, 0}, body);
  };
  const auto loop = [&](const Stmt& body) {
    return make_for(i, make_int(4), LoopKind::Serial, body);
  };
  const auto inserted_in = [&](const Stmt& body) {
    const Stmt nest = insert_nest_barriers(make_nest(y, body), {});
    int count = 0;
    walk(nest, [&](const ir::Barrier&) { ++count; });
    return count;
  };
  const Stmt moving = put(s, ir::floormod(tx + i, make_int(4)), make_float(1));
  const Stmt last = put(s, make_int(3) - tx, make_float(2));
  EXPECT_EQ(inserted_in(threads(make_seq({loop(moving), last}))), 1);
  EXPECT_EQ(inserted_in(make_seq({loop(threads(moving)), threads(last)})), 2);
  EXPECT_EQ(inserted_in(threads(loop(moving))), 0);
}

}  // namespace
}  // namespace texloom::lower
