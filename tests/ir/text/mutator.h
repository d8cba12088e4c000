// Random mutations of program texts.
#pragma once

#include <algorithm>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/text/lexer.h"

namespace texloom::ir {

// Changes, removes, repeats and inserts bytes and words. Words come from all the texts, which must
// outlive the mutator.
class Mutator {
 public:
  Mutator(uint64_t seed, std::span<const std::string_view> texts) : random_(seed), texts_(texts) {
    for (const std::string_view text : texts) {
      for (const Token& token : lex(text)) words_.emplace_back(token.text);
    }
    for (const char* word :
         {"-1", "0", "99999999999", "1e99", "nan", "-inf", "\"", "//", "\n", "float64", "int8x16",
          "{", "}", "@?", "@\"f\":1", ".lane[", "((((", ""}) {
      words_.emplace_back(word);
    }
  }

  // Applies one to three changes to a random text.
  std::string changed() {
    std::string text(texts_[below(texts_.size())]);
    for (size_t i = 0; i <= below(3); ++i) below(2) == 0 ? change_byte(text) : change_word(text);
    return text;
  }

  size_t below(size_t n) { return random_() % n; }
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
      default: {  // repeats or removes the words between two places
        const size_t begin = std::min(place(one), place(other));
        const size_t end = std::max(place(one), place(other));
        const std::string part = text.substr(begin, end - begin);
        below(2) == 0 ? text.insert(begin, part) : text.erase(begin, part.size());
      }
    }
  }

 private:
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

  std::mt19937_64 random_;
  std::span<const std::string_view> texts_;
  std::vector<std::string> words_;
};

}  // namespace texloom::ir
