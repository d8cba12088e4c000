#include "apps/texloom-opt/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "apps/command_line/command_line.h"
#include "graph/passes/passes.h"
#include "lower/pipeline.h"

namespace texloom::opt {

using command_line::UsageError;

constexpr std::string_view kHelp = R"(usage: texloom-opt FILE [OPTION]...

Reads a program in the text form (docs/text_form.md), runs passes over it in the order given, and
prints it. FILE is - for standard input.

  --pass=NAME,...         the passes to run; none by default. lower: all passes that turn a
                          program at stage te into kernels. A pass of several steps runs all
                          of them; prepare_schedule.inline_stages is a single step. A graph
                          takes only passes over graphs, and no other program does
  --print-after=NAME,...  print the program after these passes and steps, or after all, on
                          standard error
  --verify-each           check the rules of the IR after each pass, not only after the last
  --time-passes           print how long each pass took, on standard error
  --target=TARGET         the target of the passes; by default the target that a program at
                          stage te names, or "opencl"
  --emit=KIND             print the source of the kernels instead, after the pass legalize; KIND
                          is the kind of the target: opencl or metal
  --locations             print the source locations of statements
  --split-input-file      FILE contains several programs, separated by lines "// -----"
  --verify-diagnostics    compare the diagnostics with those that comments in FILE expect:
                          // expected-error {{TL6001: expected}}     on this line
                          // expected-warning@+1 {{part of a text}}  on the next one
                          // expected-report@-1 {{race}}             of --interpret
  --interpret[=SEED]      run the program, print its results instead of the program, and
                          report errors such as data races. Parameters that it does not write
                          are inputs, filled with random numbers
  --symbols=NAME:N,...    for --interpret: the values of the program's symbols; others are 7
  --one-image             for --interpret: put all textures with an origin into one image
  --max-steps=N           for --interpret: give up after N statements, threads and elements
  --list-passes           print the passes and their steps, with their input and output stages,
                          and stop
  --help                  print this, and stop

exit codes: 0 success, 1 an error in the input, 2 in the command line, 3 in Texloom itself
)";

namespace {

// One argument: "--name=value", "--name", or a file.
struct Argument {
  std::string_view text, name;
  std::optional<std::string_view> value;
};

Argument cut(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) return {text, text, std::nullopt};
  return {text, text.substr(0, equals), text.substr(equals + 1)};
}

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const size_t end = std::min(list.find(','), list.size());
    if (end > 0) parts.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return parts;
}

const std::string& known_pass(const std::string& name) {
  const std::vector<std::string_view> names = pass_names();
  if (std::find(names.begin(), names.end(), name) != names.end()) return name;
  std::string known(names.front());
  for (const graph::GraphPass& pass : graph::graph_passes())
    known += fmt::format(", {}", pass.name);
  for (const std::string_view each : names) {
    const bool is_step = each.find('.') != std::string_view::npos;
    if (each != names.front() && !is_step) known += fmt::format(", {}", each);
  }
  throw UsageError{fmt::format("there is no pass '{}'; the passes are {}", name, known)};
}

void add_pass(const std::string& name, Options& o) {
  if (graph::find_graph_pass(name) != nullptr) return o.graph_passes.push_back(name);
  o.passes.push_back(known_pass(name));
}

int64_t number(std::string_view option, std::string_view digits) {
  int64_t value = 0;
  const auto [last, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || last != digits.data() + digits.size() || value < 0) {
    throw UsageError{fmt::format("{} takes a number, not '{}'", option, digits)};
  }
  return value;
}

// "n:16,m:3"
void add_symbols(const Argument& argument, std::map<std::string, int64_t>& symbols) {
  for (const std::string& each : split(*argument.value)) {
    const size_t colon = each.rfind(':');
    if (colon == std::string::npos) {
      throw UsageError{
          fmt::format("{} takes names with numbers, such as n:16, not '{}'", argument.name, each)};
    }
    symbols[each.substr(0, colon)] =
        number(argument.name, std::string_view(each).substr(colon + 1));
  }
}

// Options without a value.
struct Flag {
  std::string_view name;
  bool Options::* set;
};
constexpr Flag kFlags[] = {
    {"--verify-each", &Options::verify_each},
    {"--time-passes", &Options::time_passes},
    {"--locations", &Options::locations},
    {"--split-input-file", &Options::split_input},
    {"--verify-diagnostics", &Options::verify_diagnostics},
    {"--interpret", &Options::interpret},
    {"--one-image", &Options::one_image},
    {"--list-passes", &Options::list_passes},
    {"--help", &Options::help},
};

bool take_flag(const Argument& argument, Options& o) {
  for (const Flag& flag : kFlags) {
    if (argument.text != flag.name) continue;
    o.*flag.set = true;
    return true;
  }
  return false;
}

// Handles the argument if it is an option with a value; returns whether it is.
bool take_value(const Argument& argument, Options& o) {
  if (!argument.value) return false;
  if (argument.name == "--pass") {
    for (const std::string& name : split(*argument.value)) add_pass(name, o);
  } else if (argument.name == "--print-after") {
    for (const std::string& pass : split(*argument.value)) {
      if (pass != "all") known_pass(pass);
      o.print_after.push_back(pass);
    }
  } else if (argument.name == "--emit") {
    o.emit = *argument.value;
  } else if (argument.name == "--target") {
    o.target = *argument.value;
  } else if (argument.name == "--interpret") {
    o.interpret = true;
    o.seed = number(argument.name, *argument.value);
  } else if (argument.name == "--max-steps") {
    o.max_steps = number(argument.name, *argument.value);
  } else if (argument.name == "--symbols") {
    add_symbols(argument, o.symbols);
  } else {
    return false;
  }
  return true;
}

}  // namespace

Options parse_options(const std::vector<std::string>& arguments) {
  Options o;
  for (const std::string& text : arguments) {
    const Argument argument = cut(text);
    if (text == "-" || !text.starts_with("-")) {
      if (!o.file.empty()) throw UsageError{fmt::format("a second file is given: '{}'", text)};
      o.file = text;
    } else if (!take_flag(argument, o) && !take_value(argument, o)) {
      throw UsageError{fmt::format("there is no option '{}'", text)};
    }
  }
  if (o.file.empty() && !o.help && !o.list_passes) {
    throw UsageError{"no file is given; - is standard input"};
  }
  return o;
}

}  // namespace texloom::opt
