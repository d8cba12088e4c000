// libFuzzer target: any bytes are a package that runs, or are refused with a message.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "tests/fuzz/package/mutator.h"
#include "tests/fuzz/package/package_run.h"

extern "C" {

size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static texloom::fuzz::PackageRunner runner;
  runner.run(std::as_bytes(std::span(data, size)));
  return 0;
}

// Repairs most checksums: a wrong checksum hides all later checks. Replaces an input that is too
// small to be a package by a package, so that the target needs no seed files.
size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  static const std::vector<texloom::fuzz::Bytes> seeds = texloom::fuzz::seed_packages();
  texloom::fuzz::Bytes file;
  if (size < 64) {
    file = seeds[seed % seeds.size()];
  } else {
    if (seed % 2 == 0) size = LLVMFuzzerMutate(data, size, max_size);
    const auto bytes = std::as_bytes(std::span(data, size));
    file.assign(bytes.begin(), bytes.end());
  }
  texloom::fuzz::PackageMutator mutator(seed, seeds);
  if (seed % 2 == 1) mutator.change(file);
  if (seed % 16 != 0) texloom::fuzz::repair(file);
  if (file.size() > max_size) file.resize(max_size);
  std::memcpy(data, file.data(), file.size());
  return file.size();
}

}  // extern "C"
