#include <iostream>

#include "apps/texloom-compile/command.h"

int main(int argc, char** argv) {
  return texloom::compile_command::run({argv + 1, argv + argc}, std::cin, std::cout, std::cerr);
}
