// Tests that a printed graph parses and prints the same text, and errors in the texts of graphs.
#include "graph/text/text.h"

#include <gtest/gtest.h>

#include "tests/graph/small_graphs.h"

namespace texloom::graph {
namespace {

using testing::add_concatenation;
using testing::add_sum;

Graph example() {
  Graph graph;
  graph.name = "a net";
  const TensorId x = graph.add_input("x", ir::kFloat32, {4, 8, 4});
  const TensorId w = graph.add_constant("w", ir::kFloat32, {4, 8, 4}, nullptr);
  const TensorId a = add_sum(graph, "a", {x, w}, {{{{"texture"}, 0.5}, {{"global"}, 10}}});
  const TensorId b = add_sum(graph, "b", {x, w}, {{{{"texture"}, 0.25}}});
  const TensorId c = add_concatenation(graph, "c", {a, b}, 0);
  const TensorId d = graph.add_edge("d", ir::kFloat32, {8, 8, 4});
  Node call{"soft", "mine::softshrink", {c}, {d}};
  call.attributes = {{"l", 0.5}, {"n", std::int64_t{-3}}, {"mode", std::string("a \"b\"")}};
  call.call = runtime::OperatorCall{"mine::softshrink",
                                    2,
                                    {hal::Access::Read, hal::Access::Write},
                                    runtime::Encoding::Native,
                                    call.attributes,
                                    {std::byte{0}, std::byte{0xfe}}};
  call.alternatives.push_back({.name = "buffers", .scopes = {{}, {}}});
  graph.nodes.push_back(call);
  graph.mark_output(d);
  return graph;
}

TEST(GraphText, RoundTrips) {
  const std::string text = to_string(example());
  EXPECT_TRUE(is_graph_text(text));
  EXPECT_EQ(to_string(parse_graph(text, "net.tl")), text);
}

// The texture sums of both nodes are one program.
TEST(GraphText, EqualProgramsArePrintedOnce) {
  const std::string text = to_string(example());
  std::size_t count = 0;
  for (std::size_t at = text.find("stage=te"); at != std::string::npos; ++count)
    at = text.find("stage=te", at + 1);
  EXPECT_EQ(count, 2);
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(GraphText, ErrorsNameTheirLines) {
  const std::string text = to_string(example());
  const auto faults = [](const std::string& changed) {
    return schedule::testing::faults([&] { parse_graph(changed, "net.tl"); });
  };
  EXPECT_EQ(faults(with(text, "(x, w)", "(x, v)")), "TL6002 net.tl:9: there is no tensor v");
  EXPECT_EQ(faults(with(text, "program=1", "program=7")),
            "TL6002 net.tl:11: there is no program 7");
  EXPECT_EQ(faults(with(text, "edge b", "wire b")),
            "TL6001 net.tl:5: expected 'input', 'constant', 'edge' or 'outputs', found 'wire'");
  EXPECT_EQ(faults(with(text, "axis=0", "axis=2")),
            "TL3040 net.tl:14: the concatenation 'c' along axis 2 makes float32[8, 8, 4] of 'a', "
            "which is float32[4, 8, 4]");
  // An error in a program is reported at its line of the whole text.
  const std::string broken = with(text, "bind", "bund");
  const std::size_t at = broken.find("bund");
  const auto line = 1 + std::count(broken.begin(), broken.begin() + static_cast<long>(at), '\n');
  EXPECT_NE(faults(broken).find("net.tl:" + std::to_string(line) + ":"), std::string::npos);
}

TEST(GraphText, SymbolsAreNamesAndNoExtentsOfConstants) {
  const auto faults = [](const std::string& declared, const std::string& tensors) {
    return schedule::testing::faults([&] {
      parse_graph("program net stage=graph target=\"opencl\"\n" + declared +
                      "  input x: float32[8]\n" + tensors +
                      "  edge y: float32[8]\n  outputs (y)\n"
                      "  operator y op=\"Neg\" pattern=elementwise (x) -> (y)\n",
                  "net.tl");
    });
  };
  EXPECT_EQ(faults("  symbol h.0_\n", ""), "");
  EXPECT_EQ(faults("  symbol \"h h\"\n", ""), "TL3040 nowhere: the symbol name 'h h' is not valid");
  EXPECT_EQ(faults("  symbol min\n", ""), "TL3040 nowhere: the symbol name 'min' is not valid");
  EXPECT_EQ(faults("  symbol h\n", "  constant c: float32[\"h\"]\n"),
            "TL3040 nowhere: the constant 'c' has an extent that depends on symbols");
}

}  // namespace
}  // namespace texloom::graph
