// Tests opening a device by ordinal, id, name and path.
#include <set>

#include "runtime/hal/driver_registry.h"
#include "tests/conformance/fixture.h"

namespace texloom::hal::conformance {
namespace {

class Opening : public On<> {
 protected:
  void SetUp() override {
    On<>::SetUp();
    if (IsSkipped()) return;
    const std::shared_ptr<Driver> driver = std::get<0>(GetParam())->driver;
    name_ = driver->name();
    TL_ASSERT_OK(drivers_.add(name_, [driver] { return Result<std::shared_ptr<Driver>>(driver); }));
  }
  Driver& driver() { return *std::get<0>(GetParam())->driver; }
  std::size_t ordinal() const { return std::get<0>(GetParam())->ordinal; }
  std::size_t count() { return driver().devices().size(); }

  // Expects a new, working instance of the device under test.
  void expect_opened(const Result<std::shared_ptr<Device>>& opened, const std::string& by) {
    ASSERT_TRUE(opened.ok()) << by << ": " << opened.status().to_string();
    EXPECT_EQ((*opened)->info().id, info().id) << by;
    EXPECT_EQ((*opened)->info().name, info().name) << by;
    EXPECT_NE(&(*opened)->info(), &info()) << by;
    use(*opened);
    const Bytes content = random_bytes(64, 1);
    expect_content(make_buffer(content), content, by);
  }
  static auto is_not_found(const std::string& part) {
    return fails_with(StatusCode::NotFound, part);
  }

  std::string name_;
  DriverRegistry drivers_;
};
TL_ON_EVERY_DEVICE(Opening);

TEST_P(Opening, ByOrdinal) { expect_opened(driver().open(ordinal()), "its ordinal"); }

TEST_P(Opening, ByAnOrdinalPastTheEndSaysHowManyThereAre) {
  const std::string there = fmt::format("there {} {}", count() == 1 ? "is" : "are", count());
  for (const std::size_t wrong : {count(), count() + 1, ~std::size_t{0}})
    EXPECT_THAT(driver().open(wrong).status(),
                is_not_found(fmt::format("no {} device {}: {}", name_, wrong, there)));
}

TEST_P(Opening, ById) { expect_opened(driver().open_by_id(info().id), info().id); }

TEST_P(Opening, ByIdTellsTheDevicesOfADriverApart) {
  std::set<std::string> seen;
  for (const DeviceInfo& device : driver().devices()) {
    EXPECT_TRUE(seen.insert(device.id).second) << device.id;
    EXPECT_EQ(device.id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-."),
              std::string::npos)
        << device.id;
    EXPECT_NE(device.id.find_first_not_of("0123456789"), std::string::npos) << device.id;
  }
}

TEST_P(Opening, ByTheSameIdInEachProcess) {
  const auto again = tested().create();
  TL_ASSERT_OK(again.status());
  expect_opened((*again)->open_by_id(info().id), "its id, by another driver object");
}

TEST_P(Opening, ByAnotherIdNamesThoseThereAre) {
  for (const std::string& wrong :
       {std::string(), std::string("none"), info().id + "-x", info().id.substr(1), " " + info().id})
    EXPECT_THAT(driver().open_by_id(wrong).status(),
                testing::AllOf(is_not_found(fmt::format("no {} device \"{}\"", name_, wrong)),
                               is_not_found(info().id)));
}

// Opening a device by id does not accept its ordinal.
TEST_P(Opening, ByIdTakesNoOrdinal) {
  EXPECT_THAT(driver().open_by_id(std::to_string(ordinal())).status(), is_not_found(info().id));
}

TEST_P(Opening, ByNameTakesAnOrdinalOrAnId) {
  expect_opened(driver().open_by_name(std::to_string(ordinal())), "its ordinal as a name");
  expect_opened(driver().open_by_name(info().id), "its id as a name");
}

TEST_P(Opening, ByNoNameOpensTheFirst) {
  const auto first = driver().open_by_name("");
  TL_ASSERT_OK(first.status());
  EXPECT_EQ((*first)->info().id, driver().devices()[0].id);
}

TEST_P(Opening, ByWrongNamesSaysWhatThereIs) {
  EXPECT_THAT(driver().open_by_name(std::to_string(count())).status(),
              is_not_found(fmt::format("no {} device {}: there", name_, count())));
  for (const char* wrong : {"-1", "+0", "0x0", "0 ", "1.5", "99999999999999999999999"})
    EXPECT_THAT(
        driver().open_by_name(wrong).status(),
        testing::AllOf(is_not_found(fmt::format("device \"{}\"", wrong)), is_not_found(info().id)));
}

TEST_P(Opening, ByPath) {
  for (const char* separator : {":", "://"}) {
    const std::string start = name_ + separator;
    expect_opened(drivers_.open(fmt::format("{}{}", start, ordinal())), "a path with its ordinal");
    expect_opened(drivers_.open(start + info().id), "a path with its id");
  }
}

TEST_P(Opening, ByAPathWithoutADeviceOpensTheFirst) {
  for (const std::string& path : {name_, name_ + "://"}) {
    const auto first = drivers_.open(path);
    TL_ASSERT_OK(first.status());
    EXPECT_EQ((*first)->info().id, driver().devices()[0].id) << path;
  }
}

TEST_P(Opening, ByAPathToNoDeviceSaysWhatThereIs) {
  EXPECT_THAT(drivers_.open(fmt::format("{}://{}", name_, count())).status(),
              is_not_found(fmt::format("no {} device {}: there", name_, count())));
  EXPECT_THAT(drivers_.open(name_ + "://none").status(), is_not_found(info().id));
  EXPECT_THAT(drivers_.open(fmt::format("{}://{}/", name_, info().id)).status(),
              is_not_found(info().id));
}

TEST_P(Opening, ByAPathToNoDriverNamesThoseThereAre) {
  EXPECT_THAT(drivers_.open("none://0").status(),
              is_not_found("no driver \"none\": this program has " + name_));
  EXPECT_THAT(drivers_.open(name_ + "x").status(), is_not_found(name_));
}

TEST_P(Opening, ByWhatIsNoPathIsRefused) {
  for (const std::string& path : {std::string(), std::string("://0"), name_ + ":", ":" + name_,
                                  name_ + ":/0", ":" + name_ + "://0"})
    EXPECT_THAT(drivers_.open(path).status(),
                fails_with(StatusCode::InvalidArgument, "is not a device path"))
        << path;
}

TEST_P(Opening, HandsOverItsOptions) {
  const auto profile = std::make_shared<Profile>();
  const DeviceOptions options{.debug = true, .profile = profile};
  for (const auto& opened :
       {driver().open(ordinal(), options), driver().open_by_id(info().id, options),
        driver().open_by_name(info().id, options),
        drivers_.open(fmt::format("{}://{}", name_, ordinal()), options)}) {
    TL_ASSERT_OK(opened.status());
    EXPECT_TRUE((*opened)->options().debug);
    EXPECT_EQ((*opened)->options().profile, profile);
  }
  EXPECT_FALSE((*driver().open(ordinal()))->options().debug);
}

TEST_P(Opening, TwiceMakesTwoDevices) {
  const auto other = open_another();
  ASSERT_NE(other, nullptr);
  EXPECT_NE(&other->info(), &device().info());
  EXPECT_EQ(other->info().name, device().info().name);
}

// Closing one instance of a device does not close another instance.
TEST_P(Opening, AgainAndAgain) {
  const auto kept = open_another();
  for (int i = 0; i < 10; ++i) expect_opened(driver().open(ordinal()), "once more");
  use(kept);
  const Bytes content = random_bytes(64, 1);
  expect_content(make_buffer(content), content);
}

}  // namespace
}  // namespace texloom::hal::conformance
