#include "apps/command_line/command_line.h"

#include <fmt/format.h>

#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>

#include "ir/target/target.h"
#include "lower/te_text.h"
#include "support/diagnostic.h"

namespace texloom::command_line {

ExitCode report_errors(std::string_view tool, FunctionRef<ExitCode()> run, std::ostream& err) {
  try {
    return run();
  } catch (const UsageError& error) {
    err << fmt::format("{0}: {1}\n{0} --help lists the options\n", tool, error.message);
    return kUsage;
  } catch (const UserError& error) {
    err << error.what() << "\n";
    return kWrongInput;
  } catch (const std::exception& error) {
    err << error.what() << "\n";
    return kBug;
  }
}

std::string read_text(const std::string& file, std::istream& in) {
  if (file == "-") return {std::istreambuf_iterator<char>(in), {}};
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw UsageError{fmt::format("cannot read '{}'", file)};
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string shown_name(const std::string& file) { return file == "-" ? "<stdin>" : file; }

lower::Lowering parse_program(const std::string& text, const std::string& file,
                              const std::optional<std::string>& target, bool check_accesses) {
  const ir::Target given = target ? ir::parse_target(*target, {}) : ir::Target{};
  lower::Lowering lowering = lower::parse_lowering(
      text, shown_name(file), {.target = &given, .check_accesses = check_accesses});
  if (target || lowering.program.stage != ir::ProgramStage::Te) lowering.target = given;
  return lowering;
}

}  // namespace texloom::command_line
