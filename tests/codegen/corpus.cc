#include "tests/codegen/corpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "ir/verify/verify.h"
#include "ir/visit.h"
#include "lower/pipeline.h"
#include "lower/te_text.h"
#include "support/diagnostic.h"
#include "tests/ir/text/program_texts.h"
#include "tests/lower/te_texts.h"

namespace texloom::codegen::testing {

namespace {

namespace fs = std::filesystem;

// Lowers the text to kernels; nothing if the text or a pass reports an error.
std::optional<lower::Lowering> kernels_of(const std::string& text) {
  try {
    lower::Lowering lowering = lower::parse_lowering(text, "p.tl");
    if (lowering.program.stage == ir::ProgramStage::Te) return lower::lower(std::move(lowering));
    // Runs all passes whose input stage is the current one, in the order of the pipeline.
    for (const lower::Pass& pass : lower::pipeline()) {
      if (pass.in == lowering.program.stage) lower::run_pass(pass, lowering);
    }
    if (lowering.program.stage != ir::ProgramStage::Kernels) return std::nullopt;
    return lowering;
  } catch (const UserError&) {
    return std::nullopt;
  }
}

// The parts between lines "// -----".
std::vector<std::string> parts_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::vector<std::string> parts(1);
  for (std::string line; std::getline(in, line);) {
    line.starts_with("// -----") ? parts.emplace_back() : parts.back() += line + "\n";
  }
  return parts;
}

class Corpus {
 public:
  void add(const std::string& name, const std::string& text) {
    std::optional<lower::Lowering> lowering = kernels_of(text);
    if (!lowering || !ir::find_violations(lowering->program).empty()) return;
    // Backends without a linker refuse programs that call library functions before legalizing them.
    if (std::ranges::any_of(lowering->program.foreign, &ir::Foreign::is_symbol)) return;
    // Most targets refuse programs whose blocks exchange values.
    const auto exchanges = [](const ir::Kernel& k) { return ir::contains<ir::LastBlock>(k.body); };
    if (std::ranges::any_of(lowering->program.kernels, exchanges)) return;
    programs_.push_back({name, std::move(lowering->program), std::move(lowering->target)});
  }
  template <class Texts>
  void add_all(const char* name, const Texts& texts) {
    for (size_t i = 0; i < texts.size(); ++i) {
      add(fmt::format("{} {}", name, i), std::string(texts[i]));
    }
  }
  void add_folder(const fs::path& folder) {
    if (!fs::is_directory(folder)) return;
    std::vector<fs::path> files;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.path().extension() == ".tl") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files) add_all(file.c_str(), parts_of(file));
  }
  std::vector<CorpusProgram> take() { return std::move(programs_); }

 private:
  std::vector<CorpusProgram> programs_;
};

}  // namespace

std::vector<CorpusProgram> kernel_corpus() {
  Corpus corpus;
  corpus.add_all("program_texts.h", ir::kProgramTexts);
  corpus.add_all("te_texts.h", lower::kTeTexts);
  corpus.add_folder("tests/lit");
  corpus.add_folder("tests/fuzz/found");
  return corpus.take();
}

}  // namespace texloom::codegen::testing
