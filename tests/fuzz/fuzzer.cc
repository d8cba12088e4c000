// Defines the entry point of all libFuzzer targets, and mutations of whole words, which libFuzzer
// lacks.
#include "tests/fuzz/fuzzer.h"

#include <cstdint>
#include <cstring>
#include <string>

#include "tests/ir/text/mutator.h"
#include "tests/ir/text/program_texts.h"

extern "C" {

size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  texloom::fuzz::run_one({reinterpret_cast<const char*>(data), size});
  return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  static texloom::ir::Mutator mutator(seed, texloom::ir::kProgramTexts);
  if (size == 0 || mutator.below(3) == 0) return LLVMFuzzerMutate(data, size, max_size);
  std::string text(reinterpret_cast<const char*>(data), size);
  mutator.change_word(text);
  if (text.size() > max_size) text.resize(max_size);
  std::memcpy(data, text.data(), text.size());
  return text.size();
}

}  // extern "C"
