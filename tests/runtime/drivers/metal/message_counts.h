#pragma once

#include <map>
#include <string>

namespace texloom::hal::metal {

// Counts, by selector, the messages to objects of the software Metal while the counter exists. Only
// one counter may exist at a time. Messages of all threads count, also those that the software
// Metal sends to itself, so the count of a selector is an upper bound of the driver's calls.
class MessageCounts {
 public:
  MessageCounts();
  ~MessageCounts();
  MessageCounts(const MessageCounts&) = delete;
  MessageCounts& operator=(const MessageCounts&) = delete;

  int of(const std::string& selector) const;
  // The number of messages whose selector has the prefix.
  int beginning_with(const std::string& prefix) const;

 private:
  static std::map<std::string, int> copied();
};

}  // namespace texloom::hal::metal
