#include "tests/softmetal/source/pass.h"

#include "tests/softmetal/source/bodies.h"
#include "tests/softmetal/source/entries.h"
#include "tests/softmetal/source/scopes.h"

namespace softmetal {
namespace {

// Which structs kernels take as buffers: others are not described.
void keep_argument_structs(Program& program) {
  std::vector<Struct> kept;
  for (Struct& s : program.structs) {
    bool used = s.has_ids;
    for (const Kernel& kernel : program.kernels) {
      for (const Parameter& p : kernel.parameters) {
        used |= p.binding == BindingKind::Buffer &&
                (p.of_struct == s.name || "::" + p.of_struct == s.name);
      }
    }
    if (used) kept.push_back(std::move(s));
  }
  program.structs = std::move(kept);
}

// Pragmas of Metal become clang's. Literals of bfloat become casts.
void rewrite_directives(std::vector<Token>& tokens) {
  for (Token& token : tokens) {
    if (token.kind == TokenKind::Number && token.text.size() > 2) {
      const std::string_view end = token.text.substr(token.text.size() - 2);
      if ((end == "bf" || end == "BF") && token.text.substr(0, 2) != "0x") {
        token.replace("((bfloat)" + std::string(token.text.substr(0, token.text.size() - 2)) +
                      "f)");
      }
    }
    if (token.kind != TokenKind::Directive || token.text.find("METAL") == std::string_view::npos)
      continue;
    const auto has = [&](std::string_view s) {
      return token.text.find(s) != std::string_view::npos;
    };
    if (has("contract") && has("fast")) {
      token.replace("#pragma clang fp contract(fast)");
    } else if (has("contract") && (has("on") && !has("off"))) {
      token.replace("#pragma clang fp contract(on)");
    } else if (has("contract") && has("off")) {
      token.replace("#pragma clang fp contract(off)");
    } else if (has("math_mode") && has("safe")) {
      token.replace("#pragma clang fp contract(off)");
    } else {
      token.replace("");
    }
  }
}

}  // namespace

Program run_token_pass(std::string_view preprocessed, const PassOptions& options) {
  Program program;
  std::vector<Token> tokens = read_tokens(preprocessed, options.file);
  rewrite_directives(tokens);
  Code code(tokens, program.messages);
  check_words(code, options.version);
  Scopes(code, program, options).run();
  keep_argument_structs(program);
  program.text = write_tokens(preprocessed, tokens);
  // What is wrong already needs no second message by the checks of entry points.
  if (program.messages.empty()) program.text += print_entries(program, options.file);
  return program;
}

}  // namespace softmetal
