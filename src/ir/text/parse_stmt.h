// Statements of the text form, and the launches among them: for ir/text/parse.h.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/program.h"
#include "ir/text/parse_expr.h"

namespace texloom::ir {

class StmtParser {
 public:
  StmtParser(TextReader& reader, TextNames& names, ExprParser& exprs)
      : reader_(reader), names_(names), exprs_(exprs) {}

  // Statements up to the end of the text, the next kernel, or a brace that closes nothing. Blocks
  // inside one another take no stack.
  Stmt statements();
  bool at_kernel() const { return reader_.at_word("kernel") && !reader_.at("[", 1); }

  // The temporary of the program that is declared here, if one is: what allocates global memory in
  // front of all statements.
  std::optional<Buffer> temporary();

  // Launches stand in front of their kernels, and are numbers of them: looks ahead for kernels.
  void find_kernels();
  // Of a kernel that find_kernels has found: how many are before the first of this name.
  int kernel_number(const std::string& name) const { return numbers_.at(name); }
  // What a launch says about its kernel is there for readers; fails where it is not true.
  void check_launches(const std::vector<Kernel>& kernels) const;

  // "grid=(8, n, 1)"
  std::array<Expr, 3> extents(std::string_view what);
  // "block=(8, 1, 1)"
  std::array<int64_t, 3> block_extents();
  // A positive number, or an expression of symbols.
  Expr extent();
  // Of the statement or kernel that begins with this word.
  SourceLocation place(const Token& first) { return reader_.location(reader_.line_of(first)); }

 private:
  // A statement of a block. What a Let or an Allocate is made of reaches to the end of the block,
  // so that it is kept until that is known.
  struct Item {
    Stmt stmt;  // else the opening of one of the two:
    Expr var, value;
    Buffer buffer;
    SourceLocation location;
  };
  // From the body of a statement to the statement.
  using Close = std::function<Stmt(Stmt)>;
  struct Block {
    Close close;
    std::vector<Item> items;
  };
  struct PendingLaunch {
    NamedToken kernel;
    std::vector<NamedToken> operands;
    std::array<Expr, 3> grid;
    std::array<int64_t, 3> block;
  };

  static Item statement(Stmt s) { return {std::move(s), {}, {}, {}, {}}; }
  static Stmt body_of(std::vector<Item>& items);
  // What the statement that begins here is, by its first words.
  std::optional<StmtKind> kind_here() const;
  // What stands in front of a brace; null where no block begins.
  Close opening();
  Close loop();
  Close condition();  // of an If or a While
  Close nest();
  Close pipelined();

  Item item();
  Item let();
  Item allocate();
  Stmt store();
  Stmt texture_store();
  Stmt evaluate();
  Stmt free();
  Stmt barrier();
  Stmt launch();

  void check_object(const Token& word, const BufferNode& buffer) const;
  void check_launch(const PendingLaunch& launch, const Kernel& kernel) const;
  // Reports what the rules of types find in this node alone.
  static Stmt checked(const ExprParser& exprs, const Token& at, Stmt s) {
    exprs.check(at, s);
    return s;
  }

  TextReader& reader_;
  TextNames& names_;
  ExprParser& exprs_;
  std::map<std::string, int> numbers_;  // of kernels
  std::vector<PendingLaunch> launches_;
};

}  // namespace texloom::ir
