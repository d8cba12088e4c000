// Tests where tensors of a graph are stored.
#include "graph/stored.h"

#include <gtest/gtest.h>

#include "graph/copies.h"
#include "ir/text/parse_layout.h"
#include "lower/te_text.h"
#include "support/diagnostic.h"

namespace texloom::graph {
namespace {

const Shape kOpen = {Size::symbol(0), 6, Size::symbol(1)};

Stored stored(const std::string& scope, const std::string& layout, const Shape& shape,
              ir::Type type = ir::kFloat32) {
  schedule::Storage storage{*ir::parse_scope(scope), {}};
  if (!layout.empty())
    storage.layout = ir::parse_layout(layout, {ir::kToTheEnd, 6, ir::kToTheEnd}, {});
  return stored_as(storage, shape, type, ir::Target(), "t", {});
}

// A tensor whose size is known only at the run has an open layout, which is not folded.
TEST(StoredAs, OpenSizes) {
  const Stored by_rule = stored("texture", "", kOpen);
  EXPECT_TRUE(by_rule.is_open && by_rule.is_texture() && by_rule.is_by_rule());
  EXPECT_EQ(to_string(by_rule), "texture");
  EXPECT_EQ(bytes_of(by_rule, ir::kFloat32), std::nullopt);
  EXPECT_EQ(bytes_of(stored("texture", "", {2, 6, 5}), ir::kFloat32), 2 * 6 * 2 * 16);
  const std::string layout = "texture[(d0, d1, d2) -> rows=(d1/4), cols=(d0, d2), lanes=(d1%4)]";
  const Stored stated = stored("texture", layout, kOpen);
  EXPECT_TRUE(stated.is_open && !stated.is_by_rule());
  EXPECT_EQ(to_string(stated), "texture " + layout);
  EXPECT_FALSE(stated.same_memory(by_rule));
  EXPECT_TRUE(stated.same_memory(stored("texture", layout, kOpen)));
  const Stored buffer = stored("global", "", kOpen);
  EXPECT_TRUE(buffer.is_open && !buffer.is_texture() && buffer.is_by_rule());
  EXPECT_FALSE(buffer.same_memory(by_rule));
  EXPECT_FALSE(stored("texture", "", {2, 6, 5}).is_open);
  EXPECT_THROW(stored("texture", "", kOpen, ir::kInt64), UserError);
}

// A conversion has a symbol for each extent that is not a number, and keeps both storages.
TEST(Conversion, OfOpenSizes) {
  const Stored from = stored("global", "", kOpen);
  const Stored to =
      stored("texture", "texture[(a, b, c) -> rows=a, cols=(c, b/4), lanes=b%4]", kOpen);
  const std::string text =
      lower::to_string(conversion(from, to, kOpen, ir::kFloat32, ir::Target()));
  EXPECT_NE(text.find("source: float32[s0, 6, s1] in global"), std::string::npos) << text;
  EXPECT_NE(text.find("result: float32[s0, 6, s1] in texture, layout=texture[(d0, d1, d2) -> "
                      "rows=(d0), cols=(d2, d1/4), lanes=(d1%4)]"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace texloom::graph
