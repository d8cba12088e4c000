#include "ir/buffer.h"

#include <gtest/gtest.h>

#include "ir/expr.h"
#include "support/check.h"

namespace texloom::ir {
namespace {

TEST(Buffer, IsRowMajor) {
  const Buffer b =
      make_buffer("A", kFloat32, {2, 3}, MemoryScope::Shared, SourceLocation::make("a.py", 3));
  EXPECT_EQ(b->name, "A");
  EXPECT_EQ(b->type, kFloat32);
  EXPECT_EQ(b->shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(b->memory, MemoryScope::Shared);
  EXPECT_EQ(b->layout, linear_layout({2, 3}));
  EXPECT_EQ(b->location.line, 3);
  EXPECT_FALSE(b->is_texture());
  EXPECT_TRUE(b->origin.is_zero());
}

TEST(Texture, HasALayoutAndAnOrigin) {
  const Layout layout = texture_layout({2, 3, 4}, TextureRule::Activation);
  const TextureOrigin origin{make_var("x0"), make_var("y0")};
  const Buffer t = make_texture("T", Type::f(16), layout, origin, SourceLocation::make("a.py", 9));
  EXPECT_EQ(t->name, "T");
  EXPECT_EQ(t->type, Type::f(16));
  EXPECT_EQ(t->shape, (std::vector<int64_t>{2, 3, 4}));
  EXPECT_EQ(t->memory, MemoryScope::Global);
  EXPECT_EQ(t->layout, layout);
  EXPECT_EQ(t->location.line, 9);
  EXPECT_TRUE(t->is_texture());
  EXPECT_FALSE(t->origin.is_zero());
  EXPECT_TRUE(t->origin.x.same_as(origin.x));
  EXPECT_TRUE(t->origin.y.same_as(origin.y));
  EXPECT_TRUE(make_texture("U", kFloat32, layout)->origin.is_zero());
}

TEST(Texture, NeedsTheLayoutOfAnImage) {
  EXPECT_THROW(make_texture("T", kFloat32, linear_layout({4})), InternalError);
}

}  // namespace
}  // namespace texloom::ir
