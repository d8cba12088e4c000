#include "support/ref.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>
#include <unordered_map>
#include <vector>

namespace texloom {
namespace {

// Appends its number to `dead` when it is destroyed.
struct Link : RefCounted {
  Link(int n, std::vector<int>* log) : number(n), dead(log) {}
  ~Link() override {
    if (dead != nullptr) dead->push_back(number);
  }
  int number;
  std::vector<int>* dead;
  Ref<Link> next, other;
};

struct Leaf : Link {
  using Link::Link;
};

TEST(Ref, NullHandles) {
  const Ref<Link> none, also_none = nullptr;
  EXPECT_FALSE(none);
  EXPECT_EQ(none.get(), nullptr);
  EXPECT_TRUE(none.same_as(also_none));
  const Ref<Link> from_null(static_cast<const Link*>(nullptr));
  EXPECT_FALSE(from_null);
}

TEST(Ref, TheLastHandleDestroys) {
  std::vector<int> dead;
  {
    Ref<Link> first(new Link(1, &dead));
    {
      const Ref<Link> second = first;
      EXPECT_TRUE(second.same_as(first));
      EXPECT_EQ(&*second, first.get());
      EXPECT_EQ(second->number, 1);
      first = nullptr;
      EXPECT_FALSE(first);
      EXPECT_THAT(dead, testing::IsEmpty());
    }
    EXPECT_THAT(dead, testing::ElementsAre(1));
  }
  EXPECT_THAT(dead, testing::ElementsAre(1));
}

TEST(Ref, MovingTakesTheHandle) {
  std::vector<int> dead;
  Ref<Link> first(new Link(1, &dead));
  Ref<Link> second = std::move(first);
  EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move)
  EXPECT_TRUE(second);
  second = Ref<Link>(new Link(2, &dead));
  EXPECT_THAT(dead, testing::ElementsAre(1));
  const Ref<Link>& same = second;
  second = same;
  EXPECT_EQ(second->number, 2);
  EXPECT_THAT(dead, testing::ElementsAre(1));
}

TEST(Ref, ConvertsToTheBase) {
  std::vector<int> dead;
  Ref<Link> base;
  {
    const Ref<Leaf> leaf(new Leaf(5, &dead));
    base = leaf;
    EXPECT_EQ(base.get(), leaf.get());
  }
  EXPECT_THAT(dead, testing::IsEmpty());
  base = nullptr;
  EXPECT_THAT(dead, testing::ElementsAre(5));
  static_assert(!std::is_convertible_v<Ref<Link>, Ref<Leaf>>);
}

TEST(Ref, KeysOfMapsAreIdentities) {
  const Ref<Link> a(new Link(1, nullptr)), b(new Link(1, nullptr));
  std::unordered_map<Ref<Link>, int, RefHash, RefSame> map;
  map[a] = 10;
  map[b] = 20;
  map[Ref<Link>(a)] = 30;
  EXPECT_EQ(map.size(), 2U);
  EXPECT_EQ(map[a], 30);
  EXPECT_EQ(map[b], 20);
  EXPECT_FALSE(a.same_as(b));
}

// Destruction uses no stack: deep recursion would need about 100 bytes a node.
TEST(Ref, AChainOfAMillionNodesIsFreed) {
  constexpr int kCount = 1'000'000;
  std::vector<int> dead;
  dead.reserve(kCount);
  Ref<Link> head;
  for (int i = 0; i < kCount; ++i) {
    auto* link = new Link(i, &dead);
    link->next = std::move(head);
    head = Ref<Link>(link);
  }
  head = nullptr;
  ASSERT_EQ(dead.size(), static_cast<size_t>(kCount));
  EXPECT_EQ(dead.front(), kCount - 1);
  EXPECT_EQ(dead.back(), 0);
}

// Node 4 is shared: it is destroyed once, with its last owner.
TEST(Ref, SharedNodesDieOnce) {
  std::vector<int> dead;
  const auto make = [&](int n, const Ref<Link>& next, const Ref<Link>& other) {
    auto* link = new Link(n, &dead);
    link->next = next;
    link->other = other;
    return Ref<Link>(link);
  };
  Ref<Link> bottom = make(4, {}, {});
  const Ref<Link> left = make(2, bottom, {}), right = make(3, bottom, bottom);
  Ref<Link> top = make(1, left, right);
  bottom = nullptr;
  top = nullptr;
  EXPECT_THAT(dead, testing::ElementsAre(1));
  const_cast<Ref<Link>&>(left) = nullptr;
  EXPECT_THAT(dead, testing::ElementsAre(1, 2));
  const_cast<Ref<Link>&>(right) = nullptr;
  EXPECT_THAT(dead, testing::ElementsAre(1, 2, 3, 4));
}

// A later release works like the first.
TEST(Ref, ReleasesOneAfterTheOther) {
  std::vector<int> dead;
  for (int i = 0; i < 3; ++i) {
    auto* outer = new Link(10 * i, &dead);
    outer->next = Ref<Link>(new Link(10 * i + 1, &dead));
    const Ref<Link> handle(outer);
  }
  EXPECT_THAT(dead, testing::ElementsAre(0, 1, 10, 11, 20, 21));
}

TEST(Ref, HandlesAreSharedBetweenThreads) {
  std::vector<int> dead;
  Ref<Link> shared(new Link(1, &dead));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([copy = shared] {
      for (int i = 0; i < 20'000; ++i) const Ref<Link> another = copy;
    });
  }
  for (std::thread& thread : threads) thread.join();
  threads.clear();
  EXPECT_THAT(dead, testing::IsEmpty());
  shared = nullptr;
  EXPECT_THAT(dead, testing::ElementsAre(1));
}

// Handles in static objects are released after the thread_local objects are gone.
TEST(RefDeathTest, StaticHandlesAreReleasedAtExit) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        static Ref<Link> kept;
        auto* link = new Link(1, nullptr);
        link->next = Ref<Link>(new Link(2, nullptr));
        kept = Ref<Link>(link);
        {
          const Ref<Link> before(new Link(3, nullptr));
        }
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace texloom
