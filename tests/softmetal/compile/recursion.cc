#include "tests/softmetal/compile/recursion.h"

#include <cxxabi.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <set>

#include "tests/softmetal/compile/process.h"

namespace softmetal {
namespace {

// Reads the symbols after `@` in a line of LLVM's text.
void read_symbols(const std::string& line, size_t from, std::set<std::string>& out) {
  for (size_t at = line.find('@', from); at != std::string::npos; at = line.find('@', at + 1)) {
    const size_t end = line.find_first_of("(), \"", at + 1);
    out.insert(line.substr(at + 1, end == std::string::npos ? end : end - at - 1));
  }
}

std::string demangled(const std::string& symbol) {
  int status = 0;
  char* name = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  std::string out = status == 0 ? name : symbol;
  std::free(name);
  return out.substr(0, out.find('('));
}

}  // namespace

void check_recursion(const std::string& text, std::vector<std::string> clang_command,
                     const Program& program, const std::string& folder,
                     std::vector<Message>& messages) {
  std::ofstream(folder + "/program") << text;
  clang_command.insert(clang_command.end(), {"-S", "-emit-llvm", "-Xclang", "-disable-llvm-passes",
                                             "program", "-o", "program.ll"});
  if (run_process(clang_command, folder).status != 0) return;
  std::map<std::string, std::set<std::string>> calls;
  std::ifstream code(folder + "/program.ll");
  std::string function;
  for (std::string line; std::getline(code, line);) {
    if (line.compare(0, 7, "define ") == 0) {
      const size_t at = line.find('@');
      function = line.substr(at + 1, line.find('(', at) - at - 1);
      calls[function];
    } else if (line.compare(0, 1, "}") == 0) {
      function.clear();
    } else if (!function.empty() && line.find("call ") != std::string::npos) {
      read_symbols(line, line.find("call "), calls[function]);
    }
  }
  std::set<std::string> told;
  for (const auto& [start, called] : calls) {
    std::set<std::string> reached;
    std::vector<std::string> open(called.begin(), called.end());
    while (!open.empty()) {
      const std::string next = open.back();
      open.pop_back();
      const auto found = calls.find(next);
      if (found == calls.end() || !reached.insert(next).second) continue;
      open.insert(open.end(), found->second.begin(), found->second.end());
    }
    if (reached.count(start) == 0) continue;
    const std::string name = demangled(start);
    if (told.insert(name).second) {
      const auto line = program.function_lines.find(name.substr(name.rfind(':') + 1));
      messages.push_back({Message::Kind::Error,
                          line == program.function_lines.end() ? 0 : line->second,
                          "function \"" + name + "\" is recursive, which Metal does not support"});
    }
  }
}

}  // namespace softmetal
