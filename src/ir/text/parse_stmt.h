// Parses statements of the text form, for ir/text/parse.h.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "ir/program.h"
#include "ir/text/parse_expr.h"
#include "ir/text/parse_launch.h"

namespace texloom::ir {

class StmtParser {
 public:
  StmtParser(TextReader& reader, TextNames& names, ExprParser& exprs)
      : reader_(reader), names_(names), exprs_(exprs), launches_(reader, names, exprs) {}

  // Statements up to the end of the text, the next kernel, or an unmatched closing brace. Nested
  // blocks are parsed without recursion.
  Stmt statements();
  bool at_kernel() const { return reader_.at_word("kernel") && !reader_.at("[", 1); }

  // The temporary of the program that is declared at the current word, if any. Temporaries are
  // allocations of global memory before all statements.
  std::optional<Buffer> temporary();

  // Parses the launches among the statements.
  LaunchParser& launches() { return launches_; }

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

  void check_object(const Token& word, const BufferNode& buffer) const;
  // Checks the typing rules of this node, but not of its children.
  static Stmt checked(const ExprParser& exprs, const Token& at, Stmt s) {
    exprs.check(at, s);
    return s;
  }

  TextReader& reader_;
  TextNames& names_;
  ExprParser& exprs_;
  LaunchParser launches_;
};

}  // namespace texloom::ir
