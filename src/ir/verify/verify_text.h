// How the verifier names what is wrong: one line, whatever the size of the node.
#pragma once

#include <string>

#include "ir/stmt.h"

namespace texloom::ir {

// "null", the expression, or the kind of one too large to read.
std::string text_of(const Expr& e);
// Of the statement itself, without what stands inside it.
std::string text_of(const Stmt& s);
std::string text_of(const Buffer& buffer);

}  // namespace texloom::ir
