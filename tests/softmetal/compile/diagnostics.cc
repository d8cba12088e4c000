#include "tests/softmetal/compile/diagnostics.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

namespace softmetal {
namespace {

struct Line {
  std::string_view file;
  int number = 0;
  Message::Kind kind = Message::Kind::Note;
  std::string text;
};

void replace_all(std::string& s, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = s.find(from, at)) != std::string::npos; at += to.size()) {
    s.replace(at, from.size(), to);
  }
}

// Replaces `vec<float[4]>` and `vec<float, 4>`, the library's names, by float4.
void name_vectors(std::string& s) {
  for (size_t at = 0; (at = s.find("vec<", at)) != std::string::npos; ++at) {
    const size_t close = s.find('>', at);
    if (close == std::string::npos) return;
    std::string inside = s.substr(at + 4, close - at - 4);
    if (!inside.empty() && inside.back() == ']') inside.pop_back();
    const size_t split = inside.find_first_of("[,");
    if (split == std::string::npos || inside.size() < 2) continue;
    std::string element = inside.substr(0, split);
    if (element.compare(0, 9, "unsigned ") == 0) element = "u" + element.substr(9);
    if (element == "__bf16") element = "bfloat";
    if (element.find_first_not_of("abcdefghijklmnopqrstuvwxyz") != std::string::npos) continue;
    s.replace(at, close + 1 - at, element + inside.back());
  }
}

// Returns the text with MSL's names of types. Omits a variable's own address space.
std::string in_words_of_msl(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 18> kWords = {{
      {"*__private'", "*'"},
      {"&__private'", "&'"},
      {"const __global ", "constant "},
      {"__global ", "constant "},
      {"__local ", "threadgroup "},
      {"__private ", "thread "},
      {"__generic ", ""},
      {"__private", "thread"},
      {"__local", "threadgroup"},
      {"__generic", ""},
      {"__attribute__((address_space(0)))", "device"},
      {"address space '0'", "address space 'device'"},
      {"metal::", ""},
      {"__sm_name_", ""},
      {"__sm_", ""},
      {"static assertion failed: ", ""},
      {"[...]", "..."},
      {"__constant ", "constant "},
  }};
  std::string out(text);
  // A failed check of the library prints only the check's message.
  constexpr std::string_view kRequirement = "static assertion failed due to requirement '";
  if (text.substr(0, kRequirement.size()) == kRequirement &&
      text.find("': ") != std::string_view::npos) {
    out = text.substr(text.find("': ") + 3);
  }
  for (const auto& [from, to] : kWords) replace_all(out, from, to);
  name_vectors(out);
  // Clang prints the address space, an attribute, before the other qualifiers.
  for (size_t at = 0; (at = out.find("device ", at)) != std::string::npos; ++at) {
    const size_t end = out.find(' ', at + 7);
    const bool word =
        end != std::string::npos && out.compare(end, 6, " const") == 0 &&
        (end + 6 == out.size() || !std::isalnum(static_cast<unsigned char>(out[end + 6])));
    if (word) {
      out.erase(end, 6);
      out.insert(at, "const ");
      at += 6;
    }
  }
  return out;
}

// Whether the error is about the precompiled Metal library, which an interrupted build, other
// sources or another clang make stale; no program is at fault.
bool is_of_stale_build(std::string_view text) {
  return text.find("precompiled header") != std::string_view::npos ||
         text.find("PCH file") != std::string_view::npos ||
         text.find(".pch'") != std::string_view::npos;
}

// Reads `file:line: kind: text`; returns false for other lines.
bool read_line(std::string_view printed, Line& out) {
  static constexpr std::array<std::pair<std::string_view, Message::Kind>, 4> kKinds = {{
      {": fatal error: ", Message::Kind::Error},
      {": error: ", Message::Kind::Error},
      {": warning: ", Message::Kind::Warning},
      {": note: ", Message::Kind::Note},
  }};
  for (const auto& [word, kind] : kKinds) {
    const size_t at = printed.find(word);
    if (at == std::string_view::npos) continue;
    const size_t colon = printed.rfind(':', at - 1);
    if (colon == std::string_view::npos) continue;
    int number = 0;
    const char* end = printed.data() + at;
    if (std::from_chars(printed.data() + colon + 1, end, number).ptr != end) continue;
    out.file = printed.substr(0, colon);
    out.number = number;
    out.kind = kind;
    out.text = in_words_of_msl(printed.substr(at + word.size()));
    return true;
  }
  for (std::string_view word : {"error: ", "fatal error: "}) {
    if (printed.substr(0, word.size()) != word) continue;
    out = {{}, 0, Message::Kind::Error, std::string(printed.substr(word.size()))};
    return true;
  }
  return false;
}

}  // namespace

std::vector<Message> read_clang_messages(std::string_view printed, std::string_view file) {
  std::vector<Message> messages;
  bool homeless = false;  // the last error has no line of the user's source yet
  int candidates = 0;
  for (size_t at = 0; at < printed.size();) {
    const size_t end = std::min(printed.find('\n', at), printed.size());
    Line line;
    const bool read = read_line(printed.substr(at, end - at), line);
    at = end + 1;
    if (!read) continue;
    if (line.kind == Message::Kind::Error && is_of_stale_build(line.text)) {
      return {
          {Message::Kind::Error, 0,
           "the build of the software Metal is stale, and no program compiles until ./dev build "
           "renews it; the source is not at fault (clang: " +
               line.text + ")"}};
    }
    // The library's files have absolute paths, like other headers, but are in one folder.
    const bool of_library = line.file.find("softmetal/include/") != std::string_view::npos;
    const bool of_user = !of_library && !line.file.empty();
    const std::string other = of_user && line.file != file ? std::string(line.file) : "";
    // The token pass reports uses of double in Metal's terms.
    if (line.text.find("cl_khr_fp64") != std::string::npos) continue;
    // Omits the overload that the token pass adds for temporaries.
    if (line.text.find("expects an rvalue for object argument") != std::string::npos) continue;
    if (line.kind != Message::Kind::Note) {
      homeless = !of_user;
      candidates = 0;
      messages.push_back({line.kind, of_user ? line.number : 0, line.text, other});
      continue;
    }
    if (homeless && of_user) {
      messages.back().line = line.number;
      messages.back().file = other;
      homeless = false;
      continue;
    }
    // From the notes in headers, keeps a few that say why a function does not fit.
    const bool why = line.text.find("candidate") != std::string::npos;
    if (homeless || (!of_user && (!why || ++candidates > 3))) continue;
    messages.push_back({Message::Kind::Note, of_user ? line.number : 0, line.text, other});
  }
  return messages;
}

bool has_errors(const std::vector<Message>& messages) {
  return std::any_of(messages.begin(), messages.end(),
                     [](const Message& m) { return m.kind == Message::Kind::Error; });
}

std::string print_messages(const std::vector<Message>& messages, std::string_view source,
                           const std::string& file) {
  std::vector<std::string_view> lines;
  for (size_t at = 0; at <= source.size();) {
    const size_t end = std::min(source.find('\n', at), source.size());
    lines.push_back(source.substr(at, end - at));
    at = end + 1;
  }
  std::string out;
  for (const Message& m : messages) {
    static constexpr const char* kNames[] = {"error", "warning", "note"};
    out += m.file.empty() ? file : m.file;
    if (m.line > 0) out += ":" + std::to_string(m.line);
    out += std::string(": ") + kNames[static_cast<int>(m.kind)] + ": " + m.text + "\n";
    if (m.file.empty() && m.line > 0 && m.line <= static_cast<int>(lines.size())) {
      out += std::string(lines[m.line - 1]) + "\n";
    }
  }
  return out;
}

}  // namespace softmetal
