// Tests random reusable command buffers on two queues with changing tables; most dispatches become
// indirect command buffers. All memory is compared with a model on the host. The software Metal
// finds missing barriers, non-resident memory, and uses after release.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "runtime/drivers/metal/api/native.h"
#include "runtime/hal/allocator.h"
#include "runtime/hal/transfer.h"
#include "tests/runtime/bytes.h"
#include "tests/runtime/drivers/metal/device_test.h"
#include "tests/runtime/drivers/metal/message_counts.h"
#include "tests/runtime/drivers/metal/random_kernels.h"
#include "tests/runtime/status_matchers.h"

namespace texloom::hal::metal {
namespace {

// A place in the model's memory. A texture has its own memory, except that a view over a buffer
// uses the buffer's.
struct Place {
  std::size_t memory = 0;
  std::uint64_t offset = 0;  // bytes
};

// A buffer or texture that commands or tables name.
struct Object {
  std::shared_ptr<Buffer> buffer;
  std::shared_ptr<Texture> texture;
  Place place;
};

constexpr std::size_t kBufferSlots = 3, kTextureSlots = 2;
constexpr std::uint64_t kBufferBytes = 2048;
constexpr std::uint64_t kViewBytes = 1024;  // a view's rows at the largest pitch

// The objects in the slots: first buffers, then textures. `offsets` are those of the buffers.
struct Table {
  std::array<std::size_t, kBufferSlots + kTextureSlots> objects = {};
  std::array<std::uint64_t, kBufferSlots> offsets = {};
};

// An object, or a slot of the table, that a command uses.
struct Used {
  bool is_slot = false;
  std::size_t index = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  bool is_written = false;
};

// The expected memory, and the numbers of the host calls that ran.
struct Model {
  std::vector<Bytes> memory;
  std::vector<int> calls;
};

struct Recorded {
  std::shared_ptr<CommandBuffer> commands;
  std::vector<std::function<void(Model&, const Table&)>> steps;
  std::vector<std::pair<std::shared_ptr<Bytes>, std::shared_ptr<Bytes>>> read;  // and expected
  bool is_of_first_queue = false;
};

class RandomRuns : public DeviceTest,
                   public ::testing::WithParamInterface<std::tuple<int, std::uint32_t>> {
 protected:
  void SetUp() override {
    // Little memory, since the software Metal examines all resident memory after each dispatch.
    open({.staging_bytes = 1 << 12, .heap_bytes = 1 << 14}, std::get<0>(GetParam()));
    random_.seed(std::get<1>(GetParam()));
    ExecutableDesc by_address;
    by_address.codes = {{.format = KernelFormat::Msl, .code = kByAddress}};
    for (std::size_t i = 0; i < kPlain; ++i)
      by_address.entry_points.push_back(entry_of(random_kernels()[i]));
    const auto many = device->create_executable(by_address);
    TL_ASSERT_OK(many.status());
    by_address_ = *many;
    const auto plain =
        device->create_executable({.codes = {{.format = KernelFormat::Msl, .code = kBySlot}},
                                   .entry_points = {entry_of(random_kernels()[kPlain])}});
    TL_ASSERT_OK(plain.status());
    plain_ = *plain;
    const auto second = device->create_queue();
    TL_ASSERT_OK(second.status());
    queues_ = {device->queue(), *second};
    make_memory();
  }

  std::size_t below(std::size_t n) { return random_() % n; }
  unsigned seed() { return static_cast<unsigned>(random_()); }
  bool one_in(std::size_t n) { return below(n) == 0; }

  void make_memory() {
    // The discrete device requires views to begin at multiples of 1024 bytes.
    const std::uint64_t view_offset = std::get<0>(GetParam()) == 0 ? 256 : 0;
    for (int i = 0; i < 6; ++i) {
      const auto buffer = make(kBufferBytes, i % 3 == 0 ? MemoryKind::Shared : MemoryKind::Device);
      const std::size_t memory = model_.memory.size();
      model_.memory.push_back(random_bytes(kBufferBytes, seed()));
      TL_ASSERT_OK(write_buffer(*device, buffer, 0, model_.memory.back()));
      buffers_.push_back({buffer, nullptr, {memory, 0}});
      const auto part = buffer->subspan(256, 512);
      TL_ASSERT_OK(part.status());
      buffers_.push_back({*part, nullptr, {memory, 256}});
    }
    for (std::size_t i = 0; i < 4; ++i) {
      const TextureDesc desc{.extent = {2, 1}, .format = TexelFormat::Rgba32UInt};
      if (i % 2 == 0) {
        const auto texture = device->create_texture(desc);
        TL_ASSERT_OK(texture.status());
        textures_.push_back({nullptr, *texture, {model_.memory.size(), 0}});
        model_.memory.push_back(random_bytes(kBytes, seed()));
        TL_ASSERT_OK(write_texture(*device, *texture, {.extent = {2, 1}}, model_.memory.back()));
      } else {
        const auto view = device->allocator()->create_view(
            buffers_[2 * i].buffer, {.texture = desc, .offset = view_offset});
        TL_ASSERT_OK(view.status());
        textures_.push_back({nullptr, *view, {i, view_offset}});
      }
    }
  }

  Object& object(bool is_texture, std::size_t index) {
    return is_texture ? textures_[index] : buffers_[index];
  }
  Place place_of(const Used& used, bool is_texture, const Table& table) {
    if (!used.is_slot) {
      const Place& place = object(is_texture, used.index).place;
      return {place.memory, place.offset + used.offset};
    }
    const Place& place = object(is_texture, table.objects[used.index]).place;
    if (is_texture) return place;
    return {place.memory, place.offset + table.offsets[used.index] + used.offset};
  }
  std::byte* bytes_at(Model& model, const Place& place) {
    return model.memory[place.memory].data() + place.offset;
  }

  BindingRef binding_of(const Used& used, bool is_texture) {
    if (used.is_slot) return BindingSlot{static_cast<std::uint32_t>(used.index), used.offset};
    const Object& named = object(is_texture, used.index);
    if (is_texture) return TextureBinding{named.texture};
    return BufferBinding{named.buffer, used.offset};
  }
  Table random_table() {
    Table table;
    for (std::size_t i = 0; i < table.objects.size(); ++i)
      table.objects[i] = below(i < kBufferSlots ? buffers_.size() : textures_.size());
    for (std::uint64_t& each : table.offsets) each = random_offset(240);
    return table;
  }
  std::vector<Binding> bindings_of(const Table& table) {
    std::vector<Binding> bindings;
    for (std::size_t i = 0; i < table.objects.size(); ++i) {
      if (i < kBufferSlots)
        bindings.emplace_back(BufferBinding{buffers_[table.objects[i]].buffer, table.offsets[i]});
      else
        bindings.emplace_back(TextureBinding{textures_[table.objects[i]].texture});
    }
    return bindings;
  }
  std::uint64_t random_offset(std::uint64_t most) {
    const std::uint64_t step = device->info().limits.buffer_offset_alignment;
    return step * below(most / step + 1);
  }
  Used random_use(bool is_texture, Access access) {
    Used used{.is_slot = one_in(2), .bytes = kBytes, .is_written = writes(access)};
    if (used.is_slot)
      used.index = is_texture ? kBufferSlots + below(kTextureSlots) : below(kBufferSlots);
    else
      used.index = below(is_texture ? textures_.size() : buffers_.size());
    // A part of a buffer has 512 bytes, and a table adds up to 240 to the offset.
    if (!is_texture) used.offset = random_offset(192);
    return used;
  }

  // Whether commands with these uses need a barrier between them. A slot may conflict with
  // anything.
  bool conflict(const std::pair<Used, bool>& a, const std::pair<Used, bool>& b) {
    if (!a.first.is_written && !b.first.is_written) return false;
    if (a.first.is_slot || b.first.is_slot) return true;
    const Place x = place_of(a.first, a.second, {}), y = place_of(b.first, b.second, {});
    // A view counts as whole rows, including the gaps between them.
    const std::uint64_t x_bytes = a.second ? kViewBytes : a.first.bytes;
    const std::uint64_t y_bytes = b.second ? kViewBytes : b.first.bytes;
    return x.memory == y.memory && x.offset < y.offset + y_bytes && y.offset < x.offset + x_bytes;
  }
  void order(Recorded& to, const std::vector<std::pair<Used, bool>>& uses) {
    if (to.commands->desc().barriers != Barriers::Explicit) return;
    const bool must = std::any_of(uses.begin(), uses.end(), [&](const auto& each) {
      return std::any_of(since_.begin(), since_.end(),
                         [&](const auto& before) { return conflict(before, each); });
    });
    if (must || one_in(16)) {
      TL_ASSERT_OK(to.commands->barrier());
      since_.clear();
    }
    since_.insert(since_.end(), uses.begin(), uses.end());
  }

  void add_kernel(Recorded& to, std::size_t which) {
    const RandomKernel& kernel = random_kernels()[which];
    std::vector<std::pair<Used, bool>> uses;
    std::vector<BindingRef> bindings;
    for (const auto& [is_texture, access] : kernel.arguments) {
      uses.emplace_back(random_use(is_texture, access), is_texture);
      bindings.push_back(binding_of(uses.back().first, is_texture));
    }
    // The driver refuses a kernel whose arguments conflict with each other.
    for (std::size_t i = 0; i < uses.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const bool slots = uses[i].first.is_slot || uses[j].first.is_slot;
        if (!slots && conflict(uses[i], uses[j])) return;
      }
    }
    std::vector<Constant> constants;
    std::uint32_t k = 0;
    for (const ElementType type : kernel.constants) {
      const std::uint64_t value = random_();
      if (type == ElementType::UInt64) {
        constants.emplace_back(value << 7);
        k += static_cast<std::uint32_t>(which == 4 ? value << 7 : (value << 7) >> 7);
      } else if (type == ElementType::Int32) {
        constants.emplace_back(static_cast<std::int32_t>(value));
        k += static_cast<std::uint32_t>(value);
      } else {
        constants.emplace_back(static_cast<std::uint32_t>(value));
        k += static_cast<std::uint32_t>(value);
      }
    }
    const bool is_plain = which == kPlain;
    order(to, uses);
    const Status status = to.commands->dispatch_with_table(
        is_plain ? plain_ : by_address_, is_plain ? 0 : static_cast<std::uint32_t>(which),
        {static_cast<std::uint32_t>(kWords) / kernel.threads, 1, 1}, bindings, constants);
    if (status.code() == StatusCode::Unimplemented || status.code() == StatusCode::InvalidArgument)
      return;  // refused: a buffer with a view over it, or one slot twice
    TL_ASSERT_OK(status);
    to.steps.emplace_back([this, &kernel, uses, k](Model& model, const Table& table) {
      std::vector<Values> values(uses.size());
      for (std::size_t i = 0; i < uses.size(); ++i)
        std::memcpy(values[i].data(),
                    bytes_at(model, place_of(uses[i].first, uses[i].second, table)), kBytes);
      kernel.run(values, k);
      for (std::size_t i = 0; i < uses.size(); ++i) {
        if (uses[i].first.is_written)
          std::memcpy(bytes_at(model, place_of(uses[i].first, uses[i].second, table)),
                      values[i].data(), kBytes);
      }
    });
  }

  Used random_bytes_of_buffer(bool is_written) {
    Used used{.index = below(buffers_.size()), .is_written = is_written};
    used.offset = below(200);
    used.bytes = 1 + below(100);
    if (one_in(2))
      used.offset &= ~std::uint64_t{3}, used.bytes = (used.bytes + 3) & ~std::uint64_t{3};
    return used;
  }

  void add_other(Recorded& to) {
    const Used target = random_bytes_of_buffer(true);
    const auto& buffer = buffers_[target.index].buffer;
    switch (below(8)) {
      case 0: {
        const Bytes pattern = random_bytes(std::size_t{1} << below(3), seed());
        order(to, {{target, false}});
        TL_ASSERT_OK(to.commands->fill(buffer, target.offset, target.bytes, pattern));
        to.steps.emplace_back([=, this](Model& model, const Table&) {
          std::byte* const bytes = bytes_at(model, place_of(target, false, {}));
          for (std::uint64_t i = 0; i < target.bytes; ++i) bytes[i] = pattern[i % pattern.size()];
        });
        return;
      }
      case 1: {
        const Bytes data = random_bytes(target.bytes, seed());
        order(to, {{target, false}});
        TL_ASSERT_OK(to.commands->update(buffer, target.offset, data));
        to.steps.emplace_back([=, this](Model& model, const Table&) {
          std::copy(data.begin(), data.end(), bytes_at(model, place_of(target, false, {})));
        });
        return;
      }
      case 2: {
        Used source = random_bytes_of_buffer(false);
        source.bytes = target.bytes;
        if (conflict({source, false}, {target, false})) return;
        order(to, {{source, false}, {target, false}});
        TL_ASSERT_OK(to.commands->copy_buffer(buffers_[source.index].buffer, source.offset, buffer,
                                              target.offset, target.bytes));
        to.steps.emplace_back([=, this](Model& model, const Table&) {
          std::copy_n(bytes_at(model, place_of(source, false, {})), target.bytes,
                      bytes_at(model, place_of(target, false, {})));
        });
        return;
      }
      case 3: {
        if (!to.is_of_first_queue) return;
        const Used source = random_bytes_of_buffer(false);
        const auto read = std::make_shared<Bytes>(source.bytes);
        const auto expected = std::make_shared<Bytes>(source.bytes);
        order(to, {{source, false}});
        TL_ASSERT_OK(to.commands->readback(buffers_[source.index].buffer, source.offset, *read));
        to.read.emplace_back(read, expected);
        to.steps.emplace_back([=, this](Model& model, const Table&) {
          std::copy_n(bytes_at(model, place_of(source, false, {})), source.bytes,
                      expected->begin());
        });
        return;
      }
      case 4: {
        const int number = static_cast<int>(below(1000));
        TL_ASSERT_OK(to.commands->host_call([this, number] {
          const std::scoped_lock lock(mutex_);
          calls_.push_back(number);
          return Status();
        }));
        since_.clear();
        to.steps.emplace_back(
            [number](Model& model, const Table&) { model.calls.push_back(number); });
        return;
      }
      case 5: {
        // Encodes nothing, but borrows the driver's encoders or command buffer.
        const std::size_t kind = below(4);
        order(to, {{target, false}});
        const std::array accesses = {
            NativeAccess{.memory = BufferBinding{buffer, 0}, .access = Access::Read}};
        TL_ASSERT_OK(to.commands->native(accesses, [kind](const NativeCommands& commands) {
          NativeLeases& leases = *native_handles(commands)->leases;
          if (kind == 1) leases.compute_encoder();
          if (kind == 2) leases.blit_encoder();
          if (kind == 3) leases.command_buffer();
          return Status();
        }));
        return;
      }
      case 6: {
        const Used texture{.index = below(textures_.size()), .bytes = kBytes, .is_written = true};
        Used source = random_bytes_of_buffer(false);
        source.bytes = kBytes;
        if (conflict({source, false}, {texture, true})) return;
        order(to, {{source, false}, {texture, true}});
        TL_ASSERT_OK(to.commands->copy_buffer_to_texture(
            buffers_[source.index].buffer, textures_[texture.index].texture,
            {.extent = {2, 1}, .buffer_offset = source.offset}));
        to.steps.emplace_back([=, this](Model& model, const Table&) {
          std::copy_n(bytes_at(model, place_of(source, false, {})), kBytes,
                      bytes_at(model, place_of(texture, true, {})));
        });
        return;
      }
      default:
        add_kernel(to, kPlain);
    }
  }

  Recorded record() {
    Recorded made;
    made.is_of_first_queue = one_in(3);
    since_.clear();
    made.commands = device->create_command_buffer(
        {.reusable = true, .barriers = one_in(2) ? Barriers::Automatic : Barriers::Explicit});
    for (std::size_t parts = 1 + below(4); parts > 0; --parts) {
      for (std::size_t dispatches = below(12); dispatches > 0; --dispatches)
        add_kernel(made, below(kPlain));
      for (std::size_t others = below(3); others > 0; --others) add_other(made);
    }
    TL_EXPECT_OK(made.commands->finish());
    return made;
  }

  // Submits work that waits for the previous submission, on either queue. Returns false if the
  // tables were refused, because a kernel's arguments conflict.
  bool submit(std::vector<Recorded>& all, const std::vector<Table>& tables) {
    std::vector<std::pair<const Recorded*, const Table*>> chosen;
    Submission submission;
    bool is_of_first_queue = false;
    for (std::size_t count = 1 + below(3); count > 0; --count) {
      const Recorded& commands =
          one_in(3) && !chosen.empty() ? *chosen.back().first : all[below(all.size())];
      chosen.emplace_back(&commands, &tables[below(tables.size())]);
      submission.commands.emplace_back(commands.commands, bindings_of(*chosen.back().second));
      is_of_first_queue = is_of_first_queue || commands.is_of_first_queue;
    }
    submission.waits = {{semaphore_, number_}};
    submission.signals = {{semaphore_, number_ + 1}};
    const Status status = queues_[is_of_first_queue ? 0 : below(2)]->submit(std::move(submission));
    if (status.code() == StatusCode::InvalidArgument || status.code() == StatusCode::Unimplemented)
      return false;
    TL_EXPECT_OK(status);
    ++number_;
    for (const auto& [commands, table] : chosen) {
      for (const auto& step : commands->steps) step(model_, *table);
    }
    return true;
  }

  void compare(const std::vector<Recorded>& all) {
    for (std::size_t i = 0; i < buffers_.size(); i += 2) {
      Bytes read(kBufferBytes);
      TL_ASSERT_OK(read_buffer(*device, buffers_[i].buffer, 0, read));
      EXPECT_EQ(read, model_.memory[buffers_[i].place.memory]) << "buffer " << i;
    }
    for (const Object& each : textures_) {
      Bytes read(kBytes);
      TL_ASSERT_OK(read_texture(*device, each.texture, {.extent = {2, 1}}, read));
      const std::byte* const expected = bytes_at(model_, each.place);
      EXPECT_TRUE(std::equal(read.begin(), read.end(), expected));
    }
    for (const Recorded& each : all) {
      for (const auto& [read, expected] : each.read) EXPECT_EQ(*read, *expected);
    }
    const std::scoped_lock lock(mutex_);
    EXPECT_EQ(calls_, model_.calls);
  }

  std::mt19937 random_;
  std::shared_ptr<Executable> by_address_, plain_;
  std::array<std::shared_ptr<Queue>, 2> queues_;
  std::shared_ptr<Semaphore> semaphore_;
  std::uint64_t number_ = 0;
  Model model_;
  std::vector<Object> buffers_, textures_;
  std::vector<std::pair<Used, bool>> since_;  // uses since the last barrier; true for textures
  std::mutex mutex_;
  std::vector<int> calls_;  // guarded by mutex_
};
INSTANTIATE_TEST_SUITE_P(, RandomRuns,
                         ::testing::Combine(::testing::Values(0, 1),
                                            ::testing::Range(std::uint32_t{0}, std::uint32_t{3})));

TEST_P(RandomRuns, DoAsTheHost) {
  const auto semaphore = device->create_semaphore();
  TL_ASSERT_OK(semaphore.status());
  semaphore_ = *semaphore;
  const MessageCounts counts;
  int submitted = 0;
  for (int round = 0; round < 3; ++round) {
    std::vector<Recorded> all;
    for (int i = 0; i < 4; ++i) all.push_back(record());
    for (int time = 0; time < 2; ++time) {
      std::vector<Table> tables;
      for (int i = 0; i < 6; ++i) tables.push_back(random_table());
      for (int i = 0; i < 40; ++i) submitted += submit(all, tables) ? 1 : 0;
      for (const auto& queue : queues_) TL_ASSERT_OK(queue->wait_idle());
      compare(all);
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(submitted, 20);
  EXPECT_GT(counts.of("executeCommandsInBuffer:withRange:"), 20);
}

}  // namespace
}  // namespace texloom::hal::metal
