// Parses statements of the text form, including launches, for ir/text/parse.h.
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

  // Statements up to the end of the text, the next kernel, or an unmatched closing brace. Nested
  // blocks are parsed without recursion.
  Stmt statements();
  bool at_kernel() const { return reader_.at_word("kernel") && !reader_.at("[", 1); }

  // The temporary of the program that is declared at the current word, if any. Temporaries are
  // allocations of global memory before all statements.
  std::optional<Buffer> temporary();

  // Looks ahead for kernels and numbers them, since launches precede their kernels.
  void find_kernels();
  // The number of the first kernel of this name, which find_kernels has found.
  int kernel_number(const std::string& name) const { return numbers_.at(name); }
  // Launches repeat facts about their kernels, for people who read the text. Fails if one of these
  // facts is wrong.
  void check_launches(const std::vector<Kernel>& kernels) const;

  // "grid=(8, n, 1)"
  std::array<Expr, 3> extents(std::string_view what);
  // "block=(8, 1, 1)"
  std::array<int64_t, 3> block_extents();
  // A positive number, or an expression of symbols.
  Expr extent();
  // The location of the statement or kernel that begins with this word.
  SourceLocation place(const Token& first) { return reader_.location(reader_.line_of(first)); }

 private:
  // A statement of a block. The scope of a Let, a Shuffle or an Allocate reaches to the end of the
  // block, so its parts are kept until then.
  struct Item {
    // Null for the opening of a Let, a Shuffle or an Allocate, which is in the fields below.
    Stmt stmt;
    Expr var, value;
    Buffer buffer;
    SourceLocation location;
    Expr offset = {};  // of a Shuffle
    int width = 1;
  };
  // The name of a new variable and its value.
  struct Bound {
    NamedToken name;
    Expr value;
  };
  // Makes a statement from its body.
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
  // The kind of the statement whose first words are next.
  std::optional<StmtKind> kind_here() const;
  // Reads the words before a brace; null if no block begins here.
  Close opening();
  Close loop();
  Close condition();  // of an If or a While
  Close nest();
  Close pipelined();
  Close async_copies();
  Close last_block();

  Item item();
  Bound bound();
  Item let();
  Item shuffle();
  Item allocate();
  Stmt store();
  Stmt texture_store();
  Stmt evaluate();
  Stmt prefetch();
  Stmt fragment_step();
  Stmt free();
  Stmt barrier();
  Stmt await_copies();
  Stmt launch();

  void check_object(const Token& word, const BufferNode& buffer) const;
  void check_launch(const PendingLaunch& launch, const Kernel& kernel) const;
  // Checks the typing rules of this node, but not of its children.
  static Stmt checked(const ExprParser& exprs, const Token& at, Stmt s) {
    exprs.check(at, s);
    return s;
  }

  TextReader& reader_;
  TextNames& names_;
  ExprParser& exprs_;
  std::map<std::string, int> numbers_;  // the numbers of kernels by their names
  std::vector<PendingLaunch> launches_;
};

}  // namespace texloom::ir
