#include "ir/visit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/ir/samples.h"

namespace texloom::ir {
namespace {

using testing::ElementsAre;

TEST(Visit, CallsTheLambdaOfTheKind) {
  const Leaves l;
  EXPECT_EQ(visit(l.i + l.j, [](const Binary&) { return 1; }, [](const auto&) { return 2; }), 1);
  EXPECT_EQ(visit(l.i, [](const Binary&) { return 1; }, [](const auto&) { return 2; }), 2);
  EXPECT_EQ(
      visit(make_barrier(), [](const Barrier&) { return 1; }, [](const auto&) { return 2; }), 1);
}

TEST(Visit, ReachesEveryKind) {
  const Leaves l;
  std::set<ExprKind> exprs;
  for (const ExprSample& sample : expr_samples(l)) {
    visit(sample.e, [&](const auto& n) {
      EXPECT_EQ(static_cast<const ExprNode*>(&n), sample.e.get());
      EXPECT_EQ(n.kKind, sample.e->kind);
      exprs.insert(n.kKind);
    });
  }
  std::set<StmtKind> stmts;
  std::vector<StmtSample> samples = stmt_samples(l);
  samples.push_back({make_launch(0), ""});
  for (const StmtSample& sample : samples) {
    visit(sample.s, [&](const auto& n) {
      EXPECT_EQ(static_cast<const StmtNode*>(&n), sample.s.get());
      stmts.insert(n.kKind);
    });
  }
#define TL_EXPR(Name, summary) EXPECT_TRUE(exprs.contains(ExprKind::Name)) << #Name;
#define TL_STMT(Name, summary) EXPECT_TRUE(stmts.contains(StmtKind::Name)) << #Name;
#include "ir/nodes.def"
#undef TL_EXPR
#undef TL_STMT
}

TEST(Walk, SeesParentsFirst) {
  const Leaves l;
  std::vector<std::string> seen;
  walk((l.i + l.j) * l.n, [&](const Var& n) { seen.push_back(n.name); },
       [&](const Binary& n) { seen.emplace_back(spelling(n.op)); });
  EXPECT_THAT(seen, ElementsAre("*", "+", "i", "j", "n"));
}

TEST(Walk, GoesThroughStatements) {
  const Leaves l;
  std::vector<std::string> seen;
  const Stmt store = make_store(l.a, {l.i, l.j}, l.x);
  walk(
      make_seq({make_for(l.j, l.n, LoopKind::Serial, make_if(l.p, store)), make_barrier()}),
      [&](const Var& n) { seen.push_back(n.name); }, [&](const For&) { seen.emplace_back("for"); },
      [&](const If&) { seen.emplace_back("if"); },
      [&](const Store&) { seen.emplace_back("store"); },
      [&](const Barrier&) { seen.emplace_back("barrier"); });
  EXPECT_THAT(seen, ElementsAre("for", "n", "if", "p", "store", "i", "j", "x", "barrier"));
}

// The names of the direct children, with "s" for each statement.
std::vector<std::string> children_of(const Expr& e) {
  std::vector<std::string> names;
  for_each_child(e, [&](const Expr& child) { names.push_back(to_string(child)); });
  return names;
}
std::vector<std::string> children_of(const Stmt& s) {
  std::vector<std::string> names;
  for_each_child(
      s, [&](const Expr& child) { names.push_back(to_string(child)); },
      [&](const Stmt&) { names.emplace_back("s"); });
  return names;
}

TEST(Children, AreSeenInOrder) {
  const Leaves l;
  const std::vector<std::vector<std::string>> expected = {
      {},
      {},
      {},
      {"i", "j"},
      {"p"},
      {"p", "x", "y"},
      {"i"},
      {"x", "y"},
      {"x", "y", "z"},
      {"i", "j"},
      {"x"},
      {"v", "i"},
      {"x", "y", "z"},
      {"i", "j"},
      {"lhs + rhs", "0.0", "x", "p"},
      {"lhs + rhs", "0.0", "x", "y"},
      {"n + m", "lhs + rhs", "0", "0.0", "i", "x", "p", "j", "y"},
      {"i", "x"},
      {"i", "j"},
      {"i", "j"},
      {"x", "i"},
      {"i", "j", "n", "4", "i"}};
  const std::vector<ExprSample> samples = expr_samples(l);
  ASSERT_EQ(samples.size(), expected.size());
  for (size_t i = 0; i < samples.size(); ++i) {
    EXPECT_EQ(children_of(samples[i].e), expected[i]) << samples[i].text;
  }
  const std::vector<std::vector<std::string>> expected_stmts = {
      {"i", "j", "x"},
      {"i", "j", "v"},
      {"n", "s"},
      {"p", "s"},
      {"p", "s"},
      {"s", "s"},
      {"z", "s"},
      {"s"},
      {"s"},
      {"s"},
      {"s"},
      {"s"},
      {},
      {},
      {},
      {"z", "n", "s"},
      {"call_extern(g, access_ptr(read_write, A[i, j], extents=(n, n)): int32)"},
      {"i", "j"},
      {"n", "n", "s"},
      {"access_ptr(write, A[i, j], extents=(n, n))", "z"}};
  const std::vector<StmtSample> stmts = stmt_samples(l);
  ASSERT_EQ(stmts.size(), expected_stmts.size());
  for (size_t i = 0; i < stmts.size(); ++i) {
    EXPECT_EQ(children_of(stmts[i].s), expected_stmts[i]) << stmts[i].text;
  }
  EXPECT_THAT(children_of(make_reduce(l.sum, {l.x}, {l.axis}, nullptr)),
              ElementsAre("lhs + rhs", "0.0", "x"));
}

Stmt map_exprs(const Stmt& s, ExprMap map) {
  return map_children(s, map, [](const Stmt& child) { return child; });
}

// A node whose children stay the same is returned, not a copy of it.
TEST(MapChildren, KeepsWhatDoesNotChange) {
  const Leaves l;
  const auto same = [](const Expr& child) { return child; };
  for (const ExprSample& sample : expr_samples(l)) {
    EXPECT_TRUE(map_children(sample.e, same).same_as(sample.e)) << sample.text;
  }
  for (const StmtSample& sample : stmt_samples(l)) {
    EXPECT_TRUE(map_exprs(sample.s, same).same_as(sample.s)) << sample.text;
  }
  const Expr no_condition = make_reduce(l.sum, {l.x}, {l.axis}, nullptr);
  EXPECT_TRUE(map_children(no_condition, same).same_as(no_condition));
}

// `text` with the name of one variable replaced by "new".
std::string renamed(const std::string& text, const std::string& name) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto is_word = [&](size_t k) {
      return k < text.size() && (std::isalnum(text[k]) != 0 || text[k] == '_');
    };
    const bool alone = text.substr(i, name.size()) == name && !is_word(i - 1) &&
                       !is_word(i + name.size()) && text[i + name.size()] != '=';
    result += alone ? "new" : text.substr(i, 1);
    if (alone) i += name.size() - 1;
  }
  return result;
}

// Replaces each child of each kind, one at a time: the new node has the new child in that place and
// is otherwise equal.
TEST(MapChildren, RebuildsWithEachChild) {
  const Leaves l;
  for (const Expr& old : {l.i, l.j, l.n, l.p, l.x, l.y, l.z, l.v}) {
    const std::string name = as<Var>(old)->name;
    const Expr fresh = make_var("new", old->type);
    const auto map = [&](const Expr& child) { return child.same_as(old) ? fresh : child; };
    for (const ExprSample& sample : expr_samples(l)) {
      const Expr mapped = map_children(sample.e, map);
      EXPECT_EQ(to_string(mapped), sample.e.same_as(old) ? name : renamed(sample.text, name));
      EXPECT_EQ(mapped->type, sample.e->type);
      EXPECT_EQ(mapped->kind, sample.e->kind);
    }
    for (const StmtSample& sample : stmt_samples(l)) {
      if (as<Let>(sample.s) != nullptr || as<Seq>(sample.s) != nullptr) continue;
      if (as<Allocate>(sample.s) != nullptr || as<Nest>(sample.s) != nullptr) continue;
      Stmt mapped = map_exprs(sample.s, map);
      // map_children does not replace variables in statement bodies.
      const bool direct = as<Store>(sample.s) != nullptr || as<TextureStore>(sample.s) != nullptr ||
                          as<Prefetch>(sample.s) != nullptr;
      const bool head = (as<For>(sample.s) != nullptr && name == "n") ||
                        (as<If>(sample.s) != nullptr && name == "p") ||
                        (as<While>(sample.s) != nullptr && name == "p") ||
                        (as<LastBlock>(sample.s) != nullptr && name == "n") ||
                        (as<FragmentStep>(sample.s) != nullptr && name == "z") ||
                        (as<Shuffle>(sample.s) != nullptr && (name == "z" || name == "n"));
      EXPECT_EQ(to_string(mapped), direct || head ? renamed(sample.text, name) : sample.text);
    }
  }
}

TEST(MapChildren, RebuildsStatements) {
  const Leaves l;
  const Stmt barrier = make_barrier();
  const auto keep = [](const Expr& child) { return child; };
  const auto replace = [&](const Stmt&) { return barrier; };
  const auto text = [&](const Stmt& s) { return to_string(map_children(s, keep, replace)); };
  std::vector<std::string> texts;
  for (const StmtSample& sample : stmt_samples(l)) texts.push_back(text(sample.s));
  EXPECT_THAT(
      texts,
      ElementsAre(
          "A[i, j] = x\n", "texture2d.store(T, x=i, y=j, v: float32x4)\n",
          "for k < n {\n  barrier\n}\n", "if p {\n  barrier\n}\n", "while p {\n  barrier\n}\n",
          "barrier\nbarrier\n", "let b: float32 = z\nbarrier\n",
          "buffer.alloca A: global float32[8, 16]\nbarrier\n", "nest A {\n  barrier\n}\n",
          "pipelined A stages=2 {\n  barrier\n}\n", "pipelined A stages=4 async {\n  barrier\n}\n",
          "async_copies {\n  barrier\n}\n", "await_copies pending=2\n", "buffer.free A\n",
          "barrier\n", "shuffle s: float32 = z by n of 32\nbarrier\n",
          "evaluate call_extern(g, access_ptr(read_write, A[i, j], extents=(n, n)): "
          "int32)\n",
          "prefetch A[i, j]\n", "last_block N[n] of n flag=F {\n  barrier\n}\n",
          "fragment.fill(access_ptr(write, A[i, j], extents=(n, n)), z)\n"));
  const Stmt store = make_store(l.a, {l.i, l.j}, l.x);
  EXPECT_EQ(text(make_for(l.i, l.n, LoopKind::Vectorized, store)),
            "vectorized i < n {\n  barrier\n}\n");
  EXPECT_EQ(text(make_thread_for(l.i, l.n, {true, 1}, store)),
            "thread<blockIdx.y> i < n {\n  barrier\n}\n");
  const Expr w = make_var("w", kFloat32);
  EXPECT_EQ(to_string(map_exprs(make_let(w, l.z, barrier), [&](const Expr&) { return l.y; })),
            "let w: float32 = y\nbarrier\n");
  EXPECT_EQ(to_string(map_exprs(make_thread_for(l.i, l.n, {false, 2}, barrier),
                                [&](const Expr&) { return make_int(8); })),
            "thread<threadIdx.z> i < 8 {\n  barrier\n}\n");
}

// In a sequence, statements that do not change are kept.
TEST(MapChildren, OfASequence) {
  const Leaves l;
  const Stmt one = make_store(l.a, {l.i, l.j}, l.x), two = make_barrier();
  const Stmt seq = make_seq({one, two});
  const Stmt mapped = map_children(
      seq, [](const Expr& e) { return e; },
      [&](const Stmt& s) { return s.same_as(two) ? make_free(l.a) : s; });
  EXPECT_EQ(to_string(mapped), "A[i, j] = x\nbuffer.free A\n");
  EXPECT_TRUE(as<Seq>(mapped)->statements[0].same_as(one));
}

// Rewriting keeps source locations, for each kind that has its own location.
TEST(MapChildren, KeepsLocations) {
  Leaves l;
  const Expr other = make_var("o");
  const auto map = [&](const Expr& e) { return e.same_as(l.i) ? other : e; };
  for (const Expr& e :
       {make_binary(BinaryOp::Add, l.i, l.j, kHere), make_tensor_read(l.tensor, {l.i, l.j}, kHere),
        make_load(l.a, {l.i, l.j}, kHere), make_texture_load(l.t, l.i, l.j, kHere)}) {
    const Expr mapped = map_children(e, map);
    EXPECT_FALSE(mapped.same_as(e));
    EXPECT_EQ(mapped->location.line, 1) << to_string(e);
  }
  const Expr reduce = make_reduce(l.sum, {l.x}, {l.axis}, nullptr, {}, kHere);
  EXPECT_EQ(map_children(reduce, [&](const Expr&) { return l.y; })->location.line, 1);
  const Stmt barrier = make_barrier();
  for (const Stmt& s :
       {make_store(l.a, {l.i, l.j}, l.x, kHere), make_texture_store(l.t, l.i, l.j, l.v, kHere),
        make_for(l.n, l.i, LoopKind::Serial, barrier, kHere),
        make_thread_for(l.n, l.i, {}, barrier, kHere), make_if(l.i < l.j, barrier, kHere),
        make_let(l.n, l.i, barrier, kHere)}) {
    const Stmt mapped = map_exprs(s, [&](const Expr& e) { return substitute(e, {{l.i, other}}); });
    EXPECT_FALSE(mapped.same_as(s));
    EXPECT_EQ(mapped->location.line, 1) << to_string(s);
  }
  for (const Stmt& s : {make_allocate(l.a, barrier, kHere), make_nest(l.a, barrier, kHere)}) {
    const Stmt mapped =
        map_children(s, [](const Expr& e) { return e; }, [](const Stmt&) { return make_empty(); });
    EXPECT_EQ(mapped->location.line, 1);
  }
}

// A load keeps the type that legalization gave it; its lanes follow the indices.
TEST(MapChildren, KeepsTheTypeOfALoad) {
  const Leaves l;
  const Expr wide = make_load_as(Type::f(64), l.a, {l.i, l.j});
  const Expr ramp = make_ramp(l.n, make_int(1), 4);
  EXPECT_EQ(substitute(wide, {{l.j, l.n}})->type, Type::f(64));
  EXPECT_EQ(substitute(wide, {{l.j, ramp}})->type, Type::f(64).with_lanes(4));
  EXPECT_EQ(substitute(wide, {{l.i, ramp}})->type, Type::f(64).with_lanes(4));
  const Expr texel = make_texture_load_as(Type::f(16).with_lanes(4), l.t, l.i, l.j);
  EXPECT_EQ(substitute(texel, {{l.j, l.n}})->type, Type::f(16).with_lanes(4));
}

TEST(Rewrite, GoesFromTheLeavesUp) {
  const Leaves l;
  std::vector<std::string> seen;
  const Expr result = rewrite((l.i + l.j) * l.n,
                              [&](const Binary& n, const Expr& self) {
                                EXPECT_EQ(static_cast<const ExprNode*>(&n), self.get());
                                seen.push_back(to_string(self));
                                return self;
                              },
                              [&](const Var& n, const Expr& self) {
                                seen.push_back(n.name);
                                return n.name == "j" ? make_int(3) : self;
                              });
  EXPECT_THAT(seen, ElementsAre("i", "j", "i + 3", "n", "(i + 3) * n"));
  EXPECT_EQ(to_string(result), "(i + 3) * n");
}

TEST(Rewrite, FoldsOnTheWay) {
  const Leaves l;
  const Expr result = rewrite((l.i + l.j) * l.n + l.j, [&](const Var& n, const Expr& self) {
    return n.name == "n" ? self : make_int(4);
  });
  EXPECT_EQ(to_string(result), "8 * n + 4");
  // The lambda gets the folded result.
  int constants = 0;
  rewrite(
      l.i * l.n, [](const Var&, const Expr&) { return make_int(2); },
      [&](const IntImm& n, const Expr& self) {
        EXPECT_EQ(n.value, 4);
        ++constants;
        return self;
      });
  EXPECT_EQ(constants, 1);
}

TEST(Rewrite, KeepsWhatDoesNotChange) {
  const Leaves l;
  const Expr e = (l.i + l.j) * l.n;
  EXPECT_TRUE(rewrite(e, [](const Var&, const Expr& self) { return self; }).same_as(e));
  const Stmt s = make_for(l.i, l.n, LoopKind::Serial, make_store(l.a, {l.i, l.j}, l.x));
  EXPECT_TRUE(rewrite(s, [](const Store&, const Stmt& self) { return self; }).same_as(s));
}

TEST(Rewrite, OfStatements) {
  const Leaves l;
  const Stmt s = make_seq({make_barrier(), make_if(l.p, make_store(l.a, {l.i, l.j}, l.x))});
  std::vector<std::string> seen;
  const Stmt result = rewrite(
      s, [&](const Barrier&, const Stmt&) { return make_free(l.a); },
      [&](const Store& n, const Stmt& self) {
        EXPECT_EQ(static_cast<const StmtNode*>(&n), self.get());
        seen.push_back(to_string(self));
        return self;
      },
      [&](const Var& n, const Expr& self) { return n.name == "j" ? l.n : self; });
  EXPECT_THAT(seen, ElementsAre("A[i, n] = x\n"));
  EXPECT_EQ(to_string(result), "buffer.free A\nif p {\n  A[i, n] = x\n}\n");
}

// 60 nodes form 2^60 paths; each node is rewritten once.
TEST(Rewrite, SharedPartsOnce) {
  const Expr x = make_var("x"), y = make_var("y");
  Expr e = x;
  for (int i = 0; i < 60; ++i) e = e + e;
  int binaries = 0;
  const Expr result = rewrite(
      e, [&](const Var&, const Expr&) { return y; },
      [&](const Binary&, const Expr& self) {
        ++binaries;
        return self;
      });
  EXPECT_EQ(binaries, 60);
  EXPECT_EQ(result->depth, 61);
  Expr leaf = result;
  while (const auto* n = as<Binary>(leaf)) {
    EXPECT_TRUE(n->a.same_as(n->b));
    leaf = n->a;
  }
  EXPECT_TRUE(leaf.same_as(y));
}

TEST(Substitute, ReplacesAllAtOnce) {
  const Leaves l;
  EXPECT_EQ(to_string(substitute(l.i - l.j, {{l.i, l.j}, {l.j, l.i}})), "j - i");
  EXPECT_EQ(to_string(substitute(l.i - l.j, {{l.i, l.n + 1}})), "n + 1 - j");
  const Expr e = l.i - l.j;
  EXPECT_TRUE(substitute(e, {}).same_as(e));
  EXPECT_TRUE(substitute(e, {{l.n, l.i}}).same_as(e));
  const Stmt s = make_store(l.a, {l.i, l.j}, l.x);
  EXPECT_EQ(to_string(substitute(s, {{l.i, l.j}, {l.j, l.i}, {l.x, l.y}})), "A[j, i] = y\n");
  EXPECT_TRUE(substitute(s, {}).same_as(s));
  EXPECT_TRUE(substitute(s, {{l.n, l.i}}).same_as(s));
}

// A variable with the same name is a different variable.
TEST(UsesVar, LooksForThatVariable) {
  const Leaves l;
  const Expr e = make_select(l.p, l.i + l.j, l.n);
  EXPECT_TRUE(uses_var(e, l.n));
  EXPECT_TRUE(uses_var(e, l.p));
  EXPECT_TRUE(uses_var(l.i, l.i));
  EXPECT_FALSE(uses_var(e, l.x));
  EXPECT_FALSE(uses_var(e, make_var("n")));
}

// Each shared expression is visited once, not 2^20 times.
TEST(WalkOnce, SharedExpressions) {
  Expr e = make_var("i");
  for (int k = 0; k < 20; ++k) e = make_binary(BinaryOp::Mul, e, e);
  int variables = 0, products = 0;
  const auto count = [&](const auto& x) {
    walk_once(x, [&](const Var&) { ++variables; }, [&](const Binary&) { ++products; });
  };
  count(e);
  EXPECT_EQ(variables, 1);
  EXPECT_EQ(products, 20);
  count(make_store(make_buffer("A", kInt32, {8}, MemoryScope::Global), {e}, e));
  EXPECT_EQ(products, 40);
}

TEST(WalkStatements, LeavesOutExpressions) {
  const Buffer a = make_buffer("A", kInt32, {8}, MemoryScope::Global);
  const Expr i = make_var("i");
  const Stmt loop = make_for(i, make_int(8), LoopKind::Serial, make_store(a, {i}, i + 1));
  int statements = 0, expressions = 0;
  walk_statements(
      loop, [&](const StmtNode&) { ++statements; }, [&](const ExprNode&) { ++expressions; });
  EXPECT_EQ(statements, 2);
  EXPECT_EQ(expressions, 0);
}

TEST(AnyOf, StopsAtTheFirst) {
  const Expr i = make_var("i");
  int asked = 0;
  const auto is_sum = [&](const Binary& n) {
    ++asked;
    return n.op == BinaryOp::Add;
  };
  EXPECT_TRUE(any_of((i + 1) * (i + 2), is_sum));
  EXPECT_EQ(asked, 2);
  EXPECT_FALSE(any_of(i * 2, is_sum));
  EXPECT_TRUE(contains<Var>(i * 2));
  EXPECT_FALSE(contains<Barrier>(make_empty()));
  EXPECT_TRUE(contains<Barrier>(make_if(i < make_int(1), make_barrier())));
}

TEST(Rewritten, MakesEachResultOnce) {
  const Expr i = make_var("i");
  Rewritten done;
  int made = 0;
  const auto next = [&] {
    ++made;
    return i + 1;
  };
  const Expr first = done.find_or(i, next);
  EXPECT_TRUE(done.find_or(i, next).same_as(first));
  EXPECT_EQ(made, 1);
  done.clear();
  EXPECT_FALSE(done.find_or(i, next).same_as(first));
}

}  // namespace
}  // namespace texloom::ir
