#include "ir/interpret/races.h"

namespace texloom::ir {
namespace {

bool unordered(const std::optional<Accessor>& a, const Accessor& b) {
  if (!a) return false;
  if (a->id.block != b.id.block) {
    if (b.tickets == nullptr) return true;
    const auto ticket = b.tickets->find(a->id.block);
    return ticket == b.tickets->end() || a->interval > ticket->second;
  }
  return a->interval == b.interval && a->id.thread != b.id.thread;
}

}  // namespace

std::optional<Conflict> AccessHistory::read(int64_t element, const Accessor& by) {
  Element& e = elements_[element];
  if (e.reader && e.reader->id.block != by.id.block) e.reader_of_earlier_block = e.reader;
  const bool same_interval =
      e.reader && e.reader->id.block == by.id.block && e.reader->interval == by.interval;
  if (!same_interval) {
    e.reader = by;
    e.other_reader.reset();
  } else if (e.reader->id.thread != by.id.thread) {
    e.other_reader = by;
  }
  if (unordered(e.writer, by)) return Conflict{*e.writer, true};
  return std::nullopt;
}

std::optional<Conflict> AccessHistory::write(int64_t element, const Accessor& by) {
  Element& e = elements_[element];
  const std::optional<Accessor> writer = e.writer;
  e.writer = by;
  if (unordered(writer, by)) return Conflict{*writer, true};
  for (const auto* reader : {&e.reader, &e.other_reader, &e.reader_of_earlier_block}) {
    if (unordered(*reader, by)) return Conflict{**reader, false};
  }
  return std::nullopt;
}

}  // namespace texloom::ir
