// Parses launches of kernels, and the grids and blocks that launches and kernels have, for
// ir/text/parse_stmt.h and ir/text/parse.h.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ir/program.h"
#include "ir/text/parse_expr.h"

namespace texloom::ir {

class LaunchParser {
 public:
  LaunchParser(TextReader& reader, TextNames& names, ExprParser& exprs)
      : reader_(reader), names_(names), exprs_(exprs) {}

  // Looks ahead for kernels and numbers them, since launches precede their kernels.
  void find_kernels();
  // The number of the first kernel of this name, which find_kernels has found.
  int kernel_number(const std::string& name) const { return numbers_.at(name); }

  Stmt launch();
  // Launches repeat facts about their kernels, for people who read the text. Fails if one of these
  // facts is wrong.
  void check_launches(const std::vector<Kernel>& kernels) const;

  // "grid=(8, n, 1)"
  std::array<Expr, 3> extents(std::string_view what);
  // "block=(8, 1, 1)"
  std::array<int64_t, 3> block_extents();
  // A positive number, or an expression of symbols.
  Expr extent();

 private:
  struct PendingLaunch {
    NamedToken kernel;
    std::vector<NamedToken> operands;
    std::array<Expr, 3> grid;
    std::array<int64_t, 3> block;
  };

  void check_launch(const PendingLaunch& launch, const Kernel& kernel) const;

  TextReader& reader_;
  TextNames& names_;
  ExprParser& exprs_;
  std::map<std::string, int> numbers_;  // the numbers of kernels by their names
  std::vector<PendingLaunch> launches_;
};

}  // namespace texloom::ir
