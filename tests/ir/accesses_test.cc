#include "ir/accesses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/program.h"
#include "tests/ir/accesses.h"

namespace texloom::ir {
namespace {

using testing::ElementsAre;

class AccessesTest : public testing::Test {
 protected:
  Buffer a = global("A", kInt32, 8), b = global("B", kInt32, 8);
  Buffer t = texture("T", kFloat32, 4, 2);
  Expr i = make_var("i");
  Expr pointer = make_pointer(Access::ReadWrite, b, {i}, {make_int(2)}, make_int(1));
  Stmt call = make_evaluate(make_foreign_call(kInt32, "f", false, {pointer}));
};

// All accesses, as "write A[i]", in the order of the calls.
template <class Handle>
std::vector<std::string> all(const Handle& handle) {
  std::vector<std::string> found;
  for_each_access(handle, [&](const BufferAccess& access) {
    std::string text = std::string(to_string(access.access)) + " " + access.buffer->name;
    for (const Expr& index : access.indices) text += "[" + to_string(index) + "]";
    found.push_back(text + (access.foreign ? " foreign" : ""));
  });
  return found;
}

TEST_F(AccessesTest, OfEveryNodeThatAccessesMemory) {
  EXPECT_THAT(all(put(a, i, at(b, i + 1))), ElementsAre("write A[i]", "read B[i + 1]"));
  const Stmt copy = make_texture_store(t, i, make_int(0), texel(t, i, make_int(1)));
  EXPECT_THAT(all(copy), ElementsAre("write T[i][0]", "read T[i][1]"));
  EXPECT_THAT(all(call), ElementsAre("read_write B[i] foreign"));
  EXPECT_THAT(all(i + 1), ElementsAre());
}

// A node is visited before its operands, here an index read from memory.
TEST_F(AccessesTest, InTheOrderOfWalk) {
  EXPECT_THAT(all(at(a, at(b, i))), ElementsAre("read A[B[i]]", "read B[i]"));
}

TEST_F(AccessesTest, OfOneNodeAlone) {
  int seen = 0;
  see_access(put(a, i, at(b, i)), [&](const BufferAccess& access) {
    EXPECT_TRUE(access.writes() && !access.reads());
    EXPECT_EQ(access.type, kInt32);
    ++seen;
  });
  see_access(at(b, i) + 1, [&](const BufferAccess&) { ++seen; });
  EXPECT_EQ(seen, 1);
}

TEST_F(AccessesTest, Questions) {
  EXPECT_TRUE(accesses_memory(at(a, i) + 1));
  EXPECT_FALSE(accesses_memory(i + 1));
  const Stmt store = put(a, i, at(b, i));
  EXPECT_TRUE(accesses(store, a));
  EXPECT_TRUE(accesses(store, b));
  EXPECT_FALSE(accesses(at(b, i), a));
  EXPECT_TRUE(any_access(store, [&](const BufferAccess& n) { return n.writes(); }));
  EXPECT_FALSE(any_access(at(b, i), [&](const BufferAccess& n) { return n.writes(); }));
  EXPECT_TRUE(any_access(call, [&](const BufferAccess& n) { return n.writes(); }));
}

}  // namespace
}  // namespace texloom::ir
