// Tests that images which are not worth their memory become buffers, that a choice respects limits
// and fixed alternatives, and that alternatives may fail to compile.
#include "graph/scopes/images.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <variant>

#include "graph/compile_graph.h"
#include "tests/graph/small_graphs.h"

namespace texloom::graph {
namespace {

using testing::add_sum;

const ir::Shape kImageShape = {16, 16, 4};

// A chain of four sums; the last also reads the first: a residual connection. Each sum costs 1000
// in textures and `buffer` in buffers. A sum that writes or reads the residual may, at a cost of
// 1001, have only the residual in a buffer.
Graph with_residual(double buffer) {
  Graph graph;
  graph.name = "net";
  TensorId last = graph.add_input("x", ir::kFloat32, {kImageShape.begin(), kImageShape.end()});
  const testing::Choices both = {{{{"global"}, buffer}, {{"texture"}, 1000}}};
  const testing::Choices to = {
      {{{"global"}, buffer}, {{"texture"}, 1000}, {{"texture", "global"}, 1001}}};
  const testing::Choices from = {
      {{{"global"}, buffer}, {{"texture"}, 1000}, {{"global", "texture"}, 1001}}};
  const TensorId first = add_sum(graph, "first", {last}, to);
  last = add_sum(graph, "third", {add_sum(graph, "second", {first}, from)}, both);
  graph.mark_output(add_sum(
      graph, "sum", {last, first},
      {{{{"texture"}, 1000}, {{"texture", "global", "texture"}, 1001}, {{"global"}, buffer}}}));
  return graph;
}

GraphOptions with_free_conversions() {
  GraphOptions options;
  options.model.start_ns = 0;
  options.model.bytes_per_ns = 1e12;
  return options;
}

std::size_t images_of(const CompiledGraph& compiled) {
  const auto& objects = compiled.package.variants.front().plan.workspace->objects;
  return static_cast<std::size_t>(
      std::count_if(objects.begin(), objects.end(), [](const runtime::TensorStorage& each) {
        return std::holds_alternative<runtime::TextureStorage>(each);
      }));
}

TEST(Images, ATensorLeavesAnImageThatIsNotWorthIt) {
  const Graph graph = with_residual(5000);
  GraphOptions options = with_free_conversions();
  const CompiledGraph all = compile_graph(graph, options);
  EXPECT_TRUE(all.summary.in_buffers.empty()) << to_string(all.summary);
  options.model.bytes_per_ns = 100;  // so that moving texels takes time
  options.model.start_ns = 0;
  const CompiledGraph fewer = compile_graph(graph, options);
  EXPECT_FALSE(fewer.summary.in_buffers.empty()) << to_string(fewer.summary);
  EXPECT_EQ(images_of(all), 3U);
  EXPECT_EQ(images_of(fewer), 2U);
  EXPECT_EQ(fewer.summary.cost, all.summary.cost + 3);
}

TEST(Images, ATensorStaysWhereAnImageIsWorthIt) {
  GraphOptions options = with_free_conversions();
  options.model.bytes_per_ns = 1e6;
  const CompiledGraph compiled = compile_graph(with_residual(5000), options);
  EXPECT_TRUE(compiled.summary.in_buffers.empty()) << to_string(compiled.summary);
}

TEST(ChoiceRules, FixedAlternativesAreTaken) {
  GraphOptions options = with_free_conversions();
  options.rules.fixed = {"global", "texture", "", "global"};
  const CompiledGraph compiled = compile_graph(with_residual(5000), options);
  EXPECT_EQ(compiled.summary.nodes[0].alternative, "global");
  EXPECT_EQ(compiled.summary.nodes[1].alternative, "texture");
  EXPECT_EQ(compiled.summary.nodes[3].alternative, "global");
  EXPECT_FALSE(compiled.summary.conversions.empty());
}

TEST(ChoiceRules, LiveMemoryHasALimit) {
  GraphOptions options = with_free_conversions();
  const std::uint64_t bytes = 16 * 16 * 4 * 4;
  options.rules.max_live_bytes = 3 * bytes;
  EXPECT_EQ(compile_graph(with_residual(5000), options).summary.nodes.size(), 4U);
  options.rules.max_live_bytes = 2 * bytes;
  EXPECT_EQ(schedule::testing::faults([&] { compile_graph(with_residual(5000), options); }),
            "TL3041 nowhere: 8192 bytes are too few for the tensors of 'net' that are live at "
            "once, in any choice of storages");
}

// Every site costs 7, so that a graph of four sums costs 28.
TEST(SiteCosts, ASourceIsAskedForAllThatHasNoCost) {
  Graph graph = with_residual(5000);
  for (Node& node : graph.nodes) {
    for (Alternative& alternative : node.alternatives) alternative.cost.reset();
  }
  GraphOptions options;
  std::set<std::string, std::less<>> kinds;
  options.costs = [&](const SiteFacts& facts) {
    kinds.emplace(facts.kind);
    EXPECT_EQ(facts.sources.size(), static_cast<std::size_t>(facts.launches));
    return SiteCost{7.0 * static_cast<double>(facts.launches), std::string(facts.signature)};
  };
  const CompiledGraph compiled = compile_graph(graph, options);
  EXPECT_EQ(compiled.summary.cost, 28);
  EXPECT_EQ(kinds, (std::set<std::string, std::less<>>{"convert", "opaque"}));
  ASSERT_EQ(compiled.summary.runs.size(), 4U);
  for (const auto& run : compiled.summary.runs) {
    EXPECT_EQ(run.launches, 1);
    EXPECT_FALSE(run.cost.key.empty());
  }
}

TEST(Offers, AnAlternativeThatMayFailIsLeftOut) {
  Graph graph;
  graph.name = "net";
  graph.target.features.images = false;
  const TensorId x = graph.add_input("x", ir::kFloat32, {kImageShape.begin(), kImageShape.end()});
  graph.mark_output(add_sum(graph, "sum", {x}, {{{{"global"}, 10}, {{"texture"}, 1}}}));
  for (Alternative& each : graph.nodes.front().alternatives) {
    auto program = std::make_shared<lower::Lowering>(*each.program);
    program->target = graph.target;
    each.program = program;
    each.may_fail = each.name == "texture";
  }
  for (const auto preference : {StoragePreference::Any, StoragePreference::Textures}) {
    GraphOptions options;
    options.storage = preference;
    EXPECT_EQ(compile_graph(graph, options).summary.nodes.front().alternative, "global");
  }
}

}  // namespace
}  // namespace texloom::graph
