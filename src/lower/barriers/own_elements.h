// Finds statements whose threads do not touch each other's elements.
#pragma once

#include <unordered_set>

#include "lower/barriers/equal_indices.h"

namespace texloom::lower {

// Whether threads need no barrier inside a statement that each of them runs once: an element of
// these buffers that one thread writes is accessed by no other thread.
//   if (s[2 * tx] < s[2 * tx + 1]) swap the two
//   if (tx < 4 && s[tx] < s[tx + 4]) swap the two
// `threads` are the variables of the threads that run the statement, `varying` the variables that
// may differ between threads, `outside` what is known around the statement. Foreign code may access
// any element.
bool keep_to_own_elements(const ir::Stmt& s,
                          const std::unordered_set<const ir::BufferNode*>& buffers,
                          const ir::Exprs& threads, const EqualIndices::Variables& varying,
                          const ir::arith::Ranges& outside);

}  // namespace texloom::lower
