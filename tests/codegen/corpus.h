// Collects the programs of this repository for tests that run over all of them.
#pragma once

#include <string>
#include <vector>

#include "ir/program.h"
#include "ir/target/target.h"

namespace texloom::codegen::testing {

struct CorpusProgram {
  std::string name;     // the file, and the program's number in the file
  ir::Program program;  // at stage Kernels
  ir::Target target;
};

// The programs of tests/lit and tests/fuzz/found, and those of program_texts.h and te_texts.h,
// lowered to kernels. Omits programs that break a rule or are refused. Reads the files relative to
// the working directory, which is the root of the checkout under ctest; elsewhere, only the
// programs of the headers are found.
std::vector<CorpusProgram> kernel_corpus();

}  // namespace texloom::codegen::testing
