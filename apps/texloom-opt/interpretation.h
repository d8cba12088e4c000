// What a program computes from inputs that nobody has to write down.
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
  // Textures with an origin lie below one another in one image for each element type; else each
  // lies in an image of its own. Either way its rectangle does not fill the image, and what lies
  // around it is written.
  bool one_image = false;
  std::map<std::string, int64_t> symbols = {};  // by name; 7 where nothing is said
  int64_t max_steps = 0;  // InterpretOptions; parameters may have as many elements besides
};

struct Interpretation {
  std::vector<ir::Report> reports;
  // Of each parameter that is written a line: its first elements, and a hash of all.
  // "B: float32[8] = 1.5 2 undefined ...  hash 00c0ffee00c0ffee"
  std::string values;
};

// Runs the program. The parameters that it does not write are inputs: small numbers that every
// type holds exactly, random by the seed and by their place among the parameters. The others are
// undefined at first. Fails with InterpreterLimit.
Interpretation interpret_random(const ir::Program& program, const InterpretationOptions& options);

}  // namespace texloom::opt
