// One-line texts of nodes of any size, for the verifier's messages.
#pragma once

#include <string>

#include "ir/stmt.h"

namespace texloom::ir {

// "null", the expression, or its kind if the expression is too large to read.
std::string text_of(const Expr& e);
// The statement itself, without the statements inside it.
std::string text_of(const Stmt& s);
std::string text_of(const Buffer& buffer);

}  // namespace texloom::ir
