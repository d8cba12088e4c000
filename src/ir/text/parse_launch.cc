#include "ir/text/parse_launch.h"

#include <algorithm>
#include <utility>

#include "ir/equal.h"

namespace texloom::ir {
namespace {

constexpr int64_t kMaxExtent = int64_t{1} << 48;

}  // namespace

void LaunchParser::find_kernels() {
  for (size_t i = 0; reader_.peek(i).kind != TokenKind::End; ++i) {
    const Token& token = reader_.peek(i + 1);
    const bool quoted = token.kind == TokenKind::Quoted;
    const bool header = reader_.at_word("kernel", i) && (quoted || reader_.at_name(i + 1)) &&
                        reader_.at_word("grid", i + 2) && reader_.at("=", i + 3);
    if (!header) continue;
    const auto name = quoted ? unquote(token.text) : std::optional(std::string(token.text));
    const auto number = static_cast<int>(numbers_.size());
    if (name) numbers_.try_emplace(*name, number);
  }
}

Expr LaunchParser::extent() {
  const bool sum = reader_.at("*", 1) || reader_.at("+", 1) || reader_.at("-", 1);
  const bool number_here = reader_.peek().kind == TokenKind::Integer || reader_.at("-");
  if (!number_here || sum) return exprs_.domain("an extent");
  const int64_t number = reader_.integer("an extent", 1, kMaxExtent);
  return make_int(number, number > INT32_MAX ? kInt64 : kInt32);
}

std::array<Expr, 3> LaunchParser::extents(std::string_view what) {
  reader_.expect_word(what);
  reader_.expect("=");
  reader_.expect("(");
  std::array<Expr, 3> e;
  for (size_t i = 0; i < e.size(); ++i) {
    if (i > 0) reader_.expect(",");
    e[i] = extent();
  }
  reader_.expect(")");
  return e;
}

std::array<int64_t, 3> LaunchParser::block_extents() {
  const Token at = reader_.peek();
  std::array<int64_t, 3> numbers{};
  const std::array<Expr, 3> e = extents("block");
  for (size_t i = 0; i < e.size(); ++i) {
    const int64_t* number = int_value(e[i]);
    if (number == nullptr) {
      reader_.wrong(at, "write three numbers", "the extents of a block must be constants");
    }
    numbers[i] = *number;
  }
  return numbers;
}

Stmt LaunchParser::launch() {
  const Token first = reader_.next();
  PendingLaunch launch;
  launch.kernel = reader_.name("the name of a kernel");
  reader_.expect("(");
  if (!reader_.accept(")")) {
    do {
      launch.operands.push_back(reader_.name("an operand of the launch"));
    } while (reader_.accept(","));
    if (!reader_.accept(")")) reader_.fail_expected("',' or ')'");
  }
  launch.grid = extents("grid");
  launch.block = block_extents();
  const auto found = numbers_.find(launch.kernel.name);
  if (found == numbers_.end()) {
    reader_.wrong(launch.kernel.token, "write the kernel after the plan", "there is no kernel {}",
                  launch.kernel.token.text);
  }
  const int number = found->second;
  launches_.push_back(std::move(launch));
  return make_launch(number, reader_.location(reader_.line_of(first)));
}

void LaunchParser::check_launches(const std::vector<Kernel>& kernels) const {
  for (const PendingLaunch& launch : launches_) {
    check_launch(launch, kernels[static_cast<size_t>(kernel_number(launch.kernel.name))]);
  }
}

void LaunchParser::check_launch(const PendingLaunch& launch, const Kernel& k) const {
  const Token& at = launch.kernel.token;
  const bool same_grid = std::equal(k.grid.begin(), k.grid.end(), launch.grid.begin(),
                                    [](const Expr& x, const Expr& y) { return equal(x, y); });
  if (!same_grid || launch.block != k.block) {
    reader_.wrong(at, "repeat the grid and the block of the kernel",
                  "the kernel {} has another grid or block than this launch", at.text);
  }
  if (launch.operands.size() != k.params.size()) {
    reader_.wrong(at, "repeat the parameters of the kernel", "the kernel {} takes {} operands",
                  at.text, k.params.size());
  }
  for (size_t i = 0; i < k.params.size(); ++i) {
    const NamedToken& operand = launch.operands[i];
    const KernelParam& p = k.params[i];
    const bool same = p.scalar ? p.scalar.same_as(names_.find_variable(operand.name))
                               : p.buffer.same_as(names_.find_buffer(operand.name));
    if (same) continue;
    reader_.wrong(operand.token, "repeat the parameters of the kernel",
                  "parameter {} of kernel {} is {}", i, at.text,
                  spell_name(p.scalar ? as<Var>(p.scalar)->name : p.buffer->name));
  }
}

}  // namespace texloom::ir
