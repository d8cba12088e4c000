// mutate_texts FOLDER [COUNT [SEED]] changes the texts of a folder at random, COUNT (100,000)
// times, and checks that each result is either a program whose printed form parses back, or a
// diagnostic. tests/fuzz/corpus.py creates a folder of all programs in this repository.
#include <fmt/format.h>

#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/fuzz/checked_text.h"
#include "tests/ir/text/mutator.h"

namespace texloom::fuzz {
namespace {

namespace fs = std::filesystem;

// Sorted by name, so that a seed gives the same texts everywhere.
std::vector<std::string> texts_of(const fs::path& folder) {
  std::vector<fs::path> files(fs::directory_iterator(folder), fs::directory_iterator{});
  std::sort(files.begin(), files.end());
  std::vector<std::string> texts;
  for (const fs::path& file : files) {
    std::ifstream in(file, std::ios::binary);
    texts.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>{});
  }
  return texts;
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.size() > 3) {
    fmt::print(stderr, "usage: mutate_texts FOLDER [COUNT [SEED]]\n");
    return 2;
  }
  const std::vector<std::string> texts = texts_of(arguments[0]);
  const int count = arguments.size() > 1 ? std::stoi(arguments[1]) : 100'000;
  const uint64_t seed = arguments.size() > 2 ? std::stoull(arguments[2]) : 1;
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  ir::Mutator mutator(seed, views);
  int programs = 0;
  for (int i = 0; i < count; ++i) {
    const std::string text = mutator.changed();
    try {
      programs += checked_program(text).has_value() ? 1 : 0;
    } catch (const std::exception& error) {
      fmt::print("mutation {} of seed {}: {}\n----- the text:\n{}\n", i, seed, error.what(), text);
      return 1;
    }
  }
  fmt::print("{} mutations of {} texts, seed {}: {} programs, {} diagnostics, nothing else\n",
             count, texts.size(), seed, programs, count - programs);
  return 0;
}

}  // namespace
}  // namespace texloom::fuzz

int main(int argc, char** argv) {
  try {
    return texloom::fuzz::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    fmt::print(stderr, "mutate_texts: {}\n", error.what());
    return 2;
  }
}
