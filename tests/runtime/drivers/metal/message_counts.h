#pragma once

#include <map>
#include <string>

namespace texloom::hal::metal {

// Counts the messages that are sent to the objects of the software Metal, by selector, while it
// exists. One at a time. Those of all threads count, and those that the software Metal sends to
// itself, so that the number of a selector is an upper bound of the driver's calls.
class MessageCounts {
 public:
  MessageCounts();
  ~MessageCounts();
  MessageCounts(const MessageCounts&) = delete;
  MessageCounts& operator=(const MessageCounts&) = delete;

  int of(const std::string& selector) const;
  // Of all selectors that begin so.
  int beginning_with(const std::string& prefix) const;

 private:
  static std::map<std::string, int> copied();
};

}  // namespace texloom::hal::metal
