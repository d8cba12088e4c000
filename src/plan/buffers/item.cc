#include "plan/buffers/item.h"

namespace texloom::plan {

namespace {

Status check(const BufferItem& item, std::size_t index) {
  const auto [first, last] = item.lifetime;
  if (first < 0) {
    return invalid_argument("item {}: its lifetime begins at {}; operators count from 0", index,
                            first);
  }
  if (last < first) {
    return invalid_argument(
        "item {}: its lifetime is reversed: the last operator {} is before the "
        "first, {}",
        index, last, first);
  }
  if (item.size < 0) {
    return invalid_argument("item {}: its size is negative: {} bytes", index, item.size);
  }
  if (item.alignment < 1) {
    return invalid_argument("item {}: its alignment is {}; the smallest is 1 byte", index,
                            item.alignment);
  }
  return {};
}

}  // namespace

Status check_items(std::span<const BufferItem> items) {
  std::int64_t left = kMaxTotalBytes;
  for (std::size_t i = 0; i < items.size(); ++i) {
    TL_RETURN_IF_ERROR(check(items[i], i));
    if (items[i].size > left || items[i].alignment > left - items[i].size) {
      return make_error(StatusCode::LimitExceeded,
                        "item {}: with its {} bytes, the sizes and alignments add up to more than "
                        "2^61 bytes",
                        i, items[i].size);
    }
    left -= items[i].size + items[i].alignment;
  }
  return {};
}

Status check_separations(std::span<const Separation> separations, std::size_t item_count) {
  for (const Separation& pair : separations) {
    for (const std::size_t item : {pair.first, pair.second}) {
      if (item < item_count) continue;
      return invalid_argument("a separation names item {}; there are {} items", item, item_count);
    }
    if (pair.first == pair.second) {
      return invalid_argument("item {}: it is separated from itself", pair.first);
    }
  }
  return {};
}

}  // namespace texloom::plan
