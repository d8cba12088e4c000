#include "apps/command_line/command_line.h"

#include <fmt/format.h>

#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "ir/target/target.h"
#include "lower/te_text.h"
#include "support/diagnostic.h"

namespace texloom::command_line {

namespace {

// Throws a UsageError where the file cannot be written.
void write_in_place(const std::string& file, std::string_view text) {
  std::ofstream stream(file, std::ios::binary);
  stream << text;
  stream.close();
  if (!stream) throw UsageError{fmt::format("cannot write '{}'", file)};
}

}  // namespace

ExitCode report_errors(std::string_view tool, FunctionRef<ExitCode()> run, std::ostream& out,
                       std::ostream& err) {
  try {
    const ExitCode code = run();
    out.flush();
    if (!out) throw UsageError{"cannot write to standard output"};
    return code;
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
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) {
    throw UsageError{fmt::format("cannot read '{}': it is a folder; name a file in it", file)};
  }
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw UsageError{fmt::format("cannot read '{}'", file)};
  return {std::istreambuf_iterator<char>(stream), {}};
}

void write_text(const std::string& file, std::string_view text, std::ostream& out) {
  namespace fs = std::filesystem;
  if (file == "-") {
    out << text;
    return;
  }
  std::error_code error;
  // A pipe or a device is not replaced.
  const fs::file_type type = fs::status(file, error).type();
  if (type != fs::file_type::not_found && type != fs::file_type::regular) {
    return write_in_place(file, text);
  }
  const fs::path target = fs::weakly_canonical(file, error);  // the file behind a link
  const std::string part = target.string() + ".part";
  try {
    write_in_place(part, text);
  } catch (const UsageError&) {
    fs::remove(part, error);
    throw UsageError{fmt::format("cannot write '{}'", file)};
  }
  fs::rename(part, target, error);
  if (error) throw UsageError{fmt::format("cannot write '{}': {}", file, error.message())};
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
