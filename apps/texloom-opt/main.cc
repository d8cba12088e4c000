#include <iostream>

#include "apps/texloom-opt/opt.h"

int main(int argc, char** argv) {
  return texloom::opt::run({argv + 1, argv + argc}, std::cin, std::cout, std::cerr);
}
