#include "tests/softmetal/source/pass.h"

#include <cctype>

#include "tests/softmetal/source/bodies.h"
#include "tests/softmetal/source/entries.h"
#include "tests/softmetal/source/indices.h"
#include "tests/softmetal/source/scopes.h"

namespace softmetal {
namespace {

// Keeps only structs that kernels take as buffers, since others need no description.
void keep_argument_structs(Program& program) {
  std::vector<Struct> kept;
  for (Struct& s : program.structs) {
    bool used = s.has_ids;
    for (const Kernel& kernel : program.kernels) {
      for (const Parameter& p : kernel.parameters) {
        used |= p.binding == BindingKind::Buffer && s.is_named(p.of_struct);
      }
    }
    if (used) kept.push_back(std::move(s));
  }
  program.structs = std::move(kept);
}

// Gives numbers with a point or an exponent the suffix f, as Metal has no double. Clang's option
// for float literals has no effect in template instances. Literals of bfloat become casts.
void rewrite_number(Token& token) {
  const std::string text(token.text);
  const bool hex = text.size() > 1 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  const bool floating = hex ? text.find_first_of("pP") != std::string::npos
                            : text.find_first_of(".eE") != std::string::npos;
  if (!floating) return;
  const size_t size = text.size();
  if (size > 2 && (text.compare(size - 2, 2, "bf") == 0 || text.compare(size - 2, 2, "BF") == 0)) {
    token.replace("((bfloat)" + text.substr(0, size - 2) + "f)");
  } else if (text.back() == '.' || std::isdigit(static_cast<unsigned char>(text.back()))) {
    token.replace(text + "f");
  }
}

// Replaces Metal's pragmas by clang's. Removes pragmas to unroll loops: they only make programs
// longer, and their arguments may name macros, which are expanded already.
void rewrite_pragma(Token& token) {
  const auto has = [&](std::string_view s) { return token.text.find(s) != std::string_view::npos; };
  if (has("pragma") && has("unroll")) token.replace("");
  if (!has("METAL")) return;
  if (has("contract") && has("fast")) {
    token.replace("#pragma clang fp contract(fast)");
  } else if (has("contract") && has("off")) {
    token.replace("#pragma clang fp contract(off)");
  } else if (has("contract") && has("on")) {
    token.replace("#pragma clang fp contract(on)");
  } else if (has("math_mode") && has("safe")) {
    token.replace("#pragma clang fp contract(off)");
  } else {
    token.replace("");
  }
}

// In `thread const device T* p`, `thread` is the space of p, which is the default. It is removed,
// since clang would apply both spaces to T.
void drop_threads_of_pointers(Code& code) {
  for (size_t i = 0; i < code.size(); ++i) {
    if (!code.is(i, "thread")) continue;
    size_t next = i + 1;
    while (code.is(next, "const") || code.is(next, "volatile")) ++next;
    if (next < code.size() && is_address_space(code[next]) && !code.is(next, "thread")) {
      code[i].replace("");
    }
  }
}

}  // namespace

bool Struct::is_named(const std::string& type) const {
  const std::string qualified = "::" + name;
  const std::string end = type.compare(0, 2, "::") == 0 ? type : "::" + type;
  return !type.empty() && qualified.size() >= end.size() &&
         qualified.compare(qualified.size() - end.size(), end.size(), end) == 0;
}

Program run_token_pass(std::string_view preprocessed, const PassOptions& options) {
  Program program;
  std::vector<Token> tokens = read_tokens(preprocessed, options.file);
  for (Token& token : tokens) {
    if (token.kind == TokenKind::Number) rewrite_number(token);
    if (token.kind == TokenKind::Directive) rewrite_pragma(token);
  }
  Code code(tokens, program.messages);
  check_words(code, options.version);
  drop_threads_of_pointers(code);
  evaluate_indices(code);
  Scopes(code, program, options).run();
  keep_argument_structs(program);
  program.text = write_tokens(preprocessed, tokens);
  // After errors, entry points are omitted: their checks would report the errors again.
  if (program.messages.empty()) program.text += print_entries(program, options.file);
  return program;
}

}  // namespace softmetal
