// Programs for tests that run something over all that this repository has.
#pragma once

#include <string>
#include <vector>

#include "ir/program.h"
#include "ir/target/target.h"

namespace texloom::codegen::testing {

struct CorpusProgram {
  std::string name;     // its file and its number there
  ir::Program program;  // at stage Kernels
  ir::Target target;
};

// What the programs of tests/lit and tests/fuzz/found lower to, and those of program_texts.h and
// te_texts.h. Programs that break a rule or are refused are left out. The working directory is the
// root of the checkout, as it is under ctest; elsewhere there are only the programs of the headers.
std::vector<CorpusProgram> kernel_corpus();

}  // namespace texloom::codegen::testing
