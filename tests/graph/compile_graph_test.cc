// Tests the choices of storages for small graphs, and the resulting plans.
#include "graph/compile_graph.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/plan/validation.h"
#include "tests/graph/small_graphs.h"

namespace texloom::graph {
namespace {

using testing::add_concatenation;
using testing::add_sum;
using testing::Choices;

constexpr const char* kBuffer = "global";
constexpr const char* kTexture = "texture";
const Choices kEither{{{{kTexture}, 10}, {{kBuffer}, 10}}};
const Choices kTextureOnly{{{{kTexture}, 10}}};
const Choices kBufferOnly{{{{kBuffer}, 10}}};

Graph empty_graph() {
  Graph graph;
  graph.name = "net";
  return graph;
}

const runtime::LaunchPlan& plan_of(const CompiledGraph& compiled) {
  return compiled.package.variants.front().plan;
}

std::string chosen(const CompiledGraph& compiled) {
  std::string text;
  for (const auto& node : compiled.summary.nodes)
    text += (text.empty() ? "" : ", ") + node.alternative;
  return text;
}

std::string name_of(const Graph& graph, TensorId tensor) { return graph.tensors[tensor].name; }

TEST(CompileGraph, AConversionIsInsertedOnceForItsReaders) {
  Graph graph = empty_graph();
  const TensorId x = graph.add_input("x", ir::kFloat32, {4, 8, 4});
  const TensorId a = add_sum(graph, "a", {x}, kBufferOnly);
  const TensorId b = add_sum(graph, "b", {a}, kTextureOnly);
  const TensorId c = add_sum(graph, "c", {a, b}, kTextureOnly);
  graph.mark_output(c);
  const CompiledGraph compiled = compile_graph(graph);
  ASSERT_EQ(compiled.summary.conversions.size(), 1);
  EXPECT_EQ(compiled.summary.conversions[0].tensor, name_of(graph, a));
  EXPECT_EQ(compiled.summary.conversions[0].from, "global");
  EXPECT_EQ(compiled.summary.conversions[0].to, "texture");
  EXPECT_EQ(compiled.summary.call_sites, 4);
  const Status status = runtime::validate(plan_of(compiled));
  EXPECT_TRUE(status.ok()) << status.message();
  // The conversion belongs to no node.
  const auto& nodes = compiled.package.variants.front().nodes;
  EXPECT_EQ(nodes.size(), plan_of(compiled).steps.size());
  EXPECT_EQ(std::count(nodes.begin(), nodes.end(), 0U), 2);  // allocation and launch of node 0
  EXPECT_GT(std::count(nodes.begin(), nodes.end(), std::nullopt), 0);
}

// The middle of a chain is in a texture only if that saves more than two conversions cost.
TEST(CompileGraph, AStorageChangesOnlyWhereThatPays) {
  for (const double gain : {0.0, 1e6}) {
    Graph graph = empty_graph();
    const TensorId x = graph.add_input("x", ir::kFloat32, {4, 8, 4});
    const TensorId a = add_sum(graph, "a", {x}, kBufferOnly);
    const TensorId b = add_sum(graph, "b", {a}, {{{{kTexture}, 10}, {{kBuffer}, 11 + gain}}});
    graph.mark_output(add_sum(graph, "c", {b}, kBufferOnly));
    const CompiledGraph compiled = compile_graph(graph);
    EXPECT_EQ(chosen(compiled), gain > 0 ? "global, texture, global" : "global, global, global");
    EXPECT_EQ(compiled.summary.conversions.size(), gain > 0 ? 2 : 0);
    EXPECT_EQ(compiled.summary.lower_bound, compiled.summary.cost);
  }
}

// Both nodes take an argument and write a temporary, so they share one kernel.
TEST(CompileGraph, EqualCallSitesShareAKernel) {
  Graph graph = empty_graph();
  const TensorId x = graph.add_input("x", ir::kFloat32, {4, 8, 4});
  const TensorId a = add_sum(graph, "a", {x}, kTextureOnly);
  const TensorId b = add_sum(graph, "b", {x}, kTextureOnly);
  graph.mark_output(add_sum(graph, "c", {a, b}, kTextureOnly));
  const CompiledGraph compiled = compile_graph(graph);
  EXPECT_EQ(compiled.summary.call_sites, 3);
  EXPECT_EQ(compiled.summary.signatures, 2);
  EXPECT_EQ(plan_of(compiled).kernels.size(), 2);
}

TEST(CompileGraph, OnlyTexturesThatMayShareAnImageHaveOrigins) {
  for (const bool exact : {false, true}) {
    Graph graph = empty_graph();
    const TensorId x = graph.add_input("x", ir::kFloat32, {4, 8, 4});
    const TensorId a = add_sum(graph, "a", {x}, kTextureOnly);
    graph.mark_output(add_sum(graph, "b", {a}, kTextureOnly, exact));
    const CompiledGraph compiled = compile_graph(graph);
    std::string origins;
    for (const runtime::KernelSpec& kernel : plan_of(compiled).kernels) {
      for (const hal::KernelParam& param : kernel.entry.params) {
        if (const auto* texture = std::get_if<hal::TextureParam>(&param))
          origins += texture->origin == hal::TextureOrigin::Zero ? '0' : 'x';
      }
    }
    // x and b are arguments; a is a temporary. With exact images, both nodes share one kernel.
    EXPECT_EQ(origins, exact ? "00" : "0xx0");
    EXPECT_TRUE(runtime::validate(plan_of(compiled)).ok());
  }
}

struct Concatenated {
  Graph graph = empty_graph();
  TensorId x = graph.add_input("x", ir::kFloat32, {4, 32, 4});
};

TEST(CompileGraph, PartsOfAConcatenationLieInTheResult) {
  for (const Choices& choices : {kTextureOnly, kBufferOnly}) {
    Concatenated net;
    const TensorId a = add_sum(net.graph, "a", {net.x}, choices);
    const TensorId b = add_sum(net.graph, "b", {net.x}, choices);
    const TensorId c = add_concatenation(net.graph, "c", {a, b}, 0);
    net.graph.mark_output(add_sum(net.graph, "d", {c}, choices));
    const CompiledGraph compiled = compile_graph(net.graph);
    EXPECT_EQ(compiled.summary.nodes[2].alternative, "in place");
    const runtime::LaunchPlan& plan = plan_of(compiled);
    const Status status = runtime::validate(plan);
    EXPECT_TRUE(status.ok()) << status.message();
    ASSERT_EQ(plan.parts.size(), 2);
    ASSERT_EQ(plan.workspace->objects.size(), 1);
    const runtime::PartOfTemporary& second = plan.parts[1];
    EXPECT_EQ(second.origin, (hal::Offset2D{0, choices.list[0].first[0] == kTexture ? 4U : 0U}));
    EXPECT_EQ(second.offset, choices.list[0].first[0] == kTexture ? 0U : 4U * 32 * 4 * 4);
    EXPECT_EQ(compiled.summary.call_sites, 3);
  }
}

// A kernel must not read and write one image, so a part that is computed from another part is
// copied. Buffers have no such rule.
TEST(CompileGraph, APartComputedFromAnotherIsCopiedInTextures) {
  for (const Choices& choices : {kTextureOnly, kBufferOnly}) {
    Concatenated net;
    const TensorId a = add_sum(net.graph, "a", {net.x}, choices);
    const TensorId b = add_sum(net.graph, "b", {a}, choices);
    const TensorId c = add_concatenation(net.graph, "c", {a, b}, 0);
    net.graph.mark_output(add_sum(net.graph, "d", {c}, choices));
    const CompiledGraph compiled = compile_graph(net.graph);
    const bool is_texture = choices.list[0].first[0] == kTexture;
    EXPECT_EQ(compiled.summary.nodes[2].alternative, is_texture ? "copy" : "in place");
    EXPECT_TRUE(runtime::validate(plan_of(compiled)).ok());
  }
}

TEST(CompileGraph, TheGraphsOwnArgumentsAreCopied) {
  Concatenated net;
  const TensorId a = add_sum(net.graph, "a", {net.x}, kBufferOnly);
  net.graph.mark_output(add_concatenation(net.graph, "c", {net.x, a}, 0));
  const CompiledGraph compiled = compile_graph(net.graph);
  EXPECT_EQ(compiled.summary.nodes[1].alternative, "copy");
  EXPECT_TRUE(runtime::validate(plan_of(compiled)).ok());
}

// A constant is packed for each storage in which it is read. Lanes without an element are zero.
TEST(CompileGraph, ConstantsArePackedIntoTheirLayouts) {
  Graph graph = empty_graph();
  const TensorId x = graph.add_input("x", ir::kFloat32, {2, 2, 3});
  std::vector<std::byte> bytes(2 * 2 * 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
  const TensorId w = graph.add_constant("w", ir::kFloat32, {2, 2, 3},
                                        std::make_shared<const std::vector<std::byte>>(bytes));
  const TensorId a = add_sum(graph, "a", {x, w}, kTextureOnly);
  graph.mark_output(add_sum(graph, "b", {a, w}, kBufferOnly));
  const CompiledGraph compiled = compile_graph(graph);
  ASSERT_EQ(compiled.values.size(), 2);
  ASSERT_EQ(compiled.values[0]->size(), 2 * 2 * 16);
  for (std::size_t texel = 0; texel < 4; ++texel) {
    for (std::size_t i = 0; i < 16; ++i)
      EXPECT_EQ((*compiled.values[0])[texel * 16 + i],
                i < 12 ? bytes[texel * 12 + i] : std::byte{});
  }
  EXPECT_EQ(*compiled.values[1], bytes);
}

TEST(CompileGraph, SaysAllThatIsWrong) {
  Graph graph = empty_graph();
  const TensorId x = graph.add_input("x", ir::kFloat32, {4, 8, 4});
  const TensorId a = add_sum(graph, "a", {x}, kBufferOnly);
  graph.add_edge("a", ir::kFloat32, {1});
  graph.nodes[0].inputs = {a};
  EXPECT_EQ(schedule::testing::faults([&] { compile_graph(graph); }),
            "TL3040 nowhere: two tensors are called 'a'\n"
            "TL3040 nowhere: the node 'a' reads 'a' before it is computed\n"
            "TL3040 nowhere: no node computes the tensor 'a'\n"
            "TL3040 nowhere: the graph 'net' has no output");
}

TEST(CompileGraph, RefusesInputsAndOutputsThatAreNoTensors) {
  Graph graph = empty_graph();
  const TensorId x = graph.add_input("x", ir::kFloat32, {4, 8, 4});
  graph.add_input("y", ir::kFloat32, {4});
  const TensorId a = add_sum(graph, "a", {x}, kBufferOnly);
  graph.mark_output(a);
  graph.inputs = {x, x, 7, a};
  graph.outputs.push_back(9);
  EXPECT_EQ(
      schedule::testing::faults([&] { compile_graph(graph); }),
      "TL3040 nowhere: 'x' is an input twice\n"
      "TL3040 nowhere: an input of the graph 'net' is the tensor 7, but the graph has 3 tensors\n"
      "TL3040 nowhere: 'a' is among the graph's inputs, but its role is not input\n"
      "TL3040 nowhere: 'y' has the role input, but is not among the graph's inputs\n"
      "TL3040 nowhere: an output of the graph 'net' is the tensor 9, but the graph has 3 tensors");
}

}  // namespace
}  // namespace texloom::graph
