// Runs a program on random inputs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ir/interpret/report.h"
#include "ir/program.h"

namespace texloom::opt {

struct InterpretationOptions {
  uint64_t seed = 0;
  // Places textures with an origin below one another in one image per element type; otherwise each
  // texture has its own image. Either way the rectangle of a texture does not fill its image, and
  // the texels around it are defined.
  bool one_image = false;
  std::map<std::string, int64_t> symbols = {};  // by name; 7 for symbols without a value
  int64_t max_steps = 0;  // as in InterpretOptions; also limits the elements of parameters
};

struct Interpretation {
  std::vector<ir::Report> reports;
  // One line for each parameter that is written: its first elements, and a hash of all of them.
  // "B: float32[8] = 1.5 2 undefined ...  hash 00c0ffee00c0ffee"
  std::string values;
};

// Runs the program. Parameters that it does not write are inputs: small numbers that every type
// represents exactly, random depending on the seed and the position of the parameter. Other
// parameters are initially undefined. Fails with InterpreterLimit.
Interpretation interpret_random(const ir::Program& program, const InterpretationOptions& options);

}  // namespace texloom::opt
