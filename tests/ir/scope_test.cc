#include "ir/scope.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/check.h"

namespace texloom::ir {
namespace {

struct Row {
  std::string text, preferred;
  MemoryScope memory;
  std::optional<TextureRule> texture;
};

TEST(Scope, EverySpelling) {
  const MemoryScope global = MemoryScope::Global;
  const std::vector<Row> rows = {
      {"", "global", global, {}},
      {"global", "global", global, {}},
      {"shared", "shared", MemoryScope::Shared, {}},
      {"local", "local", MemoryScope::Local, {}},
      {"fragment", "fragment", MemoryScope::Fragment, {}},
      {"texture", "texture", global, TextureRule::Activation},
      {"texture:weight", "texture:weight", global, TextureRule::Weight},
      {"texture:nhwc", "texture:nhwc", global, TextureRule::Nhwc},
      {"global.texture", "texture", global, TextureRule::Activation},
      {"global.texture-weight", "texture:weight", global, TextureRule::Weight},
      {"global.texture-nhwc", "texture:nhwc", global, TextureRule::Nhwc},
      {"global.texture:weight", "texture:weight", global, TextureRule::Weight},
      {"global.texture:nhwc", "texture:nhwc", global, TextureRule::Nhwc},
      {"warp", "shared", MemoryScope::Shared, {}},
      {"wmma.accumulator", "local", MemoryScope::Local, {}},
  };
  for (const Row& row : rows) {
    const auto scope = parse_scope(row.text);
    ASSERT_TRUE(scope.has_value()) << row.text;
    EXPECT_EQ(scope->memory, row.memory) << row.text;
    EXPECT_EQ(scope->texture, row.texture) << row.text;
    EXPECT_EQ(to_string(*scope), row.preferred);
  }
}

TEST(Scope, OtherTextsAreNoScope) {
  for (const char* text : {"Global", "global ", " texture", "texture:", "texture:activation",
                           "texture-weight", "global.shared", "global.texture-", "local.texture",
                           "warps", "wmma", "texture:nhw", "shared.dyn"}) {
    EXPECT_EQ(parse_scope(text), std::nullopt) << text;
  }
}

TEST(Scope, HelpListsThePreferredSpellings) {
  EXPECT_THAT(scope_spellings(), testing::ElementsAre("global", "shared", "local", "fragment",
                                                      "texture", "texture:weight", "texture:nhwc"));
}

TEST(Scope, MemoryScopesGoFromWideToNarrow) {
  EXPECT_EQ(to_string(MemoryScope::Global), "global");
  EXPECT_EQ(to_string(MemoryScope::Shared), "shared");
  EXPECT_EQ(to_string(MemoryScope::Local), "local");
  EXPECT_LT(MemoryScope::Global, MemoryScope::Shared);
  EXPECT_LT(MemoryScope::Shared, MemoryScope::Local);
}

TEST(Scope, FragmentsArePrivate) {
  EXPECT_EQ(to_string(MemoryScope::Fragment), "fragment");
  EXPECT_TRUE(is_private(MemoryScope::Fragment));
  EXPECT_TRUE(is_private(MemoryScope::Local));
  EXPECT_FALSE(is_private(MemoryScope::Shared));
  EXPECT_FALSE(is_private(MemoryScope::Global));
}

// Shared memory has no textures, so printing that scope, which has no spelling, is a bug.
TEST(Scope, OfNoSpellingIsABug) {
  EXPECT_THROW(to_string(StorageScope{MemoryScope::Shared, TextureRule::Weight}), InternalError);
}

}  // namespace
}  // namespace texloom::ir
