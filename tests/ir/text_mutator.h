// Random changes of texts, byte by byte and word by word: for tests of the parser and for fuzzers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "ir/lexer.h"

namespace texloom::ir::testing {

class TextMutator {
 public:
  // The words that are put into texts are those of `texts`, and some that break rules.
  template <class Texts>
  TextMutator(const Texts& texts, uint64_t seed) : random_(seed) {
    for (const std::string_view text : texts) {
      for (const Token& token : lex(text)) words_.emplace_back(token.text);
    }
    for (const char* word :
         {"-1", "0", "99999999999", "1e99", "nan", "-inf", "\"", "//", "\n", "float64", "int8x16",
          "{", "}", "@?", "@\"f\":1", ".lane[", "((((", ""}) {
      words_.emplace_back(word);
    }
  }

  size_t below(size_t n) { return random_() % n; }

  // One to three changes.
  void change(std::string& text) {
    for (size_t i = 0; i <= below(3); ++i) below(2) == 0 ? change_byte(text) : change_word(text);
  }

  void change_byte(std::string& text) {
    if (text.empty()) return;
    const size_t at = below(text.size());
    const char byte = static_cast<char>(below(4) == 0 ? below(256) : ' ' + below(95));
    switch (below(4)) {
      case 0:
        text[at] = byte;
        break;
      case 1:
        text.insert(at, 1, byte);
        break;
      case 2:
        text.erase(at, 1 + below(3));
        break;
      default:
        text.resize(below(8) == 0 ? at : text.size());  // cut off
    }
  }

  void change_word(std::string& text) {
    const std::vector<Token> tokens = lex(text);
    const auto place = [&](const Token& t) {
      return static_cast<size_t>(t.text.data() - text.data());
    };
    const Token &one = tokens[below(tokens.size())], &other = tokens[below(tokens.size())];
    const std::string word = below(2) == 0 ? std::string(other.text) : words_[below(words_.size())];
    switch (below(4)) {
      case 0:
        text.erase(place(one), one.text.size());
        break;
      case 1:
        text.insert(place(one), word + " ");
        break;
      case 2:
        text.replace(place(one), one.text.size(), word);
        break;
      default: {  // the words between two others once more, or not at all
        const size_t begin = std::min(place(one), place(other));
        const size_t end = std::max(place(one), place(other));
        const std::string part = text.substr(begin, end - begin);
        below(2) == 0 ? text.insert(begin, part) : text.erase(begin, part.size());
      }
    }
  }

 private:
  std::mt19937_64 random_;
  std::vector<std::string> words_;
};

}  // namespace texloom::ir::testing
