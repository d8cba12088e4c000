// Tests finding drivers by name and devices by path.
#include "runtime/hal/driver_registry.h"

#include "runtime/drivers/null/driver.h"
#include "runtime/hal/profile.h"
#include "tests/runtime/status_matchers.h"

namespace texloom::hal {
namespace {

// A driver of three devices, two of which are identical.
class ThreeDevices final : public Driver {
 public:
  ThreeDevices() {
    for (const char* id : {"big", "small", "small-2"}) {
      infos_.push_back(null::default_device());
      infos_.back().id = id;
    }
  }
  std::string_view name() const override { return "three"; }
  const std::vector<DeviceInfo>& devices() const override { return infos_; }

 private:
  Result<std::shared_ptr<Device>> open_device(std::size_t ordinal,
                                              const DeviceOptions& options) override {
    return null::create_driver(infos_[ordinal])->open(0, options);
  }
  std::vector<DeviceInfo> infos_;
};

class DriverRegistryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    TL_ASSERT_OK(drivers_.add("three", [this] {
      ++made_;
      return Result<std::shared_ptr<Driver>>(std::make_shared<ThreeDevices>());
    }));
    TL_ASSERT_OK(drivers_.add("gone", [this]() -> Result<std::shared_ptr<Driver>> {
      ++made_;
      return make_error(StatusCode::Unavailable, "nothing there");
    }));
  }
  // Returns the id of the opened device, or the error.
  std::string opened(std::string_view path) {
    const auto device = drivers_.open(path);
    return device.ok() ? (*device)->info().id : device.status().to_string();
  }

  DriverRegistry drivers_;
  int made_ = 0;
};

TEST_F(DriverRegistryTest, PathsNameADeviceByNumberOrId) {
  EXPECT_EQ(opened("three"), "big");
  EXPECT_EQ(opened("three://"), "big");
  EXPECT_EQ(opened("three://1"), "small");
  EXPECT_EQ(opened("three://small"), "small");
  EXPECT_EQ(opened("three:1"), "small");
  EXPECT_EQ(opened("three:small"), "small");
  EXPECT_EQ(opened("three://small-2"), "small-2");
}

TEST_F(DriverRegistryTest, WrongPathsSayWhatThereIs) {
  EXPECT_EQ(opened("three://3"), "not found: no three device 3: there are 3, numbered from 0");
  EXPECT_EQ(opened("three://sma"),
            "not found: no three device \"sma\": there are big, small, small-2");
  EXPECT_EQ(opened("three://-1"),
            "not found: no three device \"-1\": there are big, small, small-2");
  EXPECT_EQ(opened("metal://0"), "not found: no driver \"metal\": this program has three, gone");
  for (const char* path : {"", "://0", "three:", "three:/0", ":three"})
    EXPECT_THAT(drivers_.open(path).status(),
                fails_with(StatusCode::InvalidArgument, "is not a device path"));
}

TEST_F(DriverRegistryTest, DriversAreMadeWhenTheyAreAskedFor) {
  EXPECT_EQ(made_, 0);
  EXPECT_EQ(*drivers_.find("three"), *drivers_.find("three"));
  EXPECT_EQ(made_, 1);
  // A driver that failed to be created is created again at the next request.
  for (int i = 0; i < 2; ++i)
    EXPECT_THAT(drivers_.open("gone").status(),
                fails_with(StatusCode::Unavailable, "nothing there"));
  EXPECT_EQ(made_, 3);
}

TEST_F(DriverRegistryTest, NamesAreUniqueAndInOrder) {
  EXPECT_EQ(drivers_.names(), (std::vector<std::string>{"three", "gone"}));
  for (const char* name : {"three", "", "a:b"})
    EXPECT_EQ(drivers_.add(name, nullptr).code(), StatusCode::InvalidArgument);
  EXPECT_EQ(drivers_.names().size(), 2U);
}

TEST_F(DriverRegistryTest, ADriverHasAFactory) {
  EXPECT_THAT(drivers_.add("empty", {}),
              fails_with(StatusCode::InvalidArgument, "the driver \"empty\" has no factory"));
  EXPECT_EQ(drivers_.open("empty").status().code(), StatusCode::NotFound);
}

TEST_F(DriverRegistryTest, OptionsReachTheDevice) {
  const auto profile = std::make_shared<Profile>();
  const auto device = *drivers_.open("three", {.debug = true, .profile = profile});
  EXPECT_TRUE(device->options().debug);
  EXPECT_EQ(device->options().profile, profile);
  EXPECT_FALSE((*drivers_.open("three"))->options().debug);
}

}  // namespace
}  // namespace texloom::hal
