// Tests descriptions of operators, their attributes, and registries.
#include "runtime/custom/operator.h"

#include "runtime/custom/operator_registry.h"
#include "tests/runtime/custom/custom_fixture.h"

namespace texloom::runtime {
namespace {

Status refused(const OperatorInfo& info) { return validate(info); }

TEST(OperatorInfos, WhatIsWrongIsNamed) {
  OperatorInfo info = x_to_y("fine");
  TL_EXPECT_OK(validate(info));
  const auto with = [&](const std::function<void(OperatorInfo&)>& change) {
    OperatorInfo changed = info;
    change(changed);
    return refused(changed);
  };
  const auto says = [](const char* part) { return fails_with(StatusCode::InvalidArgument, part); };
  EXPECT_THAT(with([](auto& i) { i.name = "softshrink"; }), says("\"domain::name\""));
  EXPECT_THAT(with([](auto& i) { i.name = "a::b::c"; }), says("is not a name of an operator"));
  EXPECT_THAT(with([](auto& i) { i.name = "a..b::c"; }), says("is not a name of an operator"));
  EXPECT_THAT(with([](auto& i) { i.name = "a::b.c"; }), says("is not a name of an operator"));
  TL_EXPECT_OK(with([](auto& i) { i.name = "com.mine::c"; }));
  EXPECT_THAT(with([](auto& i) { i.arguments.clear(); }), says("has no arguments"));
  EXPECT_THAT(with([](auto& i) { i.arguments[1].name = "x"; }), says("have the name \"x\""));
  EXPECT_THAT(with([](auto& i) { i.arguments[1].name = "tl_x"; }), says("\"tl_x\" is not a name"));
  EXPECT_THAT(with([](auto& i) { i.attributes = {{"1l"}}; }), says("\"1l\" is not a name"));
  EXPECT_THAT(with([](auto& i) { i.attributes = {{"l", AttributeType::Float, std::string("a")}}; }),
              says("the default value of the attribute \"l\" is text, not float"));
  EXPECT_THAT(with([](auto& i) { i.variants = {{hal::ElementType::Float32}}; }),
              says("1 types for 2 arguments"));
  EXPECT_THAT(with([](auto& i) { i.drivers = {"open cl"}; }),
              says("\"open cl\" is not a name of a driver"));
  EXPECT_THAT(with([](auto& i) { i.drivers = {""}; }), says("\"\" is not a name of a driver"));
  const std::vector<std::string> of_others = {"opencl", "mine"};
  OperatorInfo foreign = info;
  foreign.drivers = of_others;
  TL_EXPECT_OK(validate(foreign));
}

TEST(AttributesOfACall, AreCompletedAndChecked) {
  OperatorInfo info = x_to_y("attributes");
  info.attributes = {{"n", AttributeType::Integer, {}},
                     {"l", AttributeType::Float, 0.5},
                     {"mode", AttributeType::Text, std::string("up")}};
  const auto complete = [&](std::vector<Attribute> given) {
    return Attributes::complete(info, given);
  };
  const auto made = complete({{"l", std::int64_t{2}}, {"n", std::int64_t{3}}});
  TL_ASSERT_OK(made.status());
  EXPECT_EQ(*made->integer("n"), 3);
  EXPECT_EQ(*made->number("l"), 2.0);
  EXPECT_EQ(*made->text("mode"), "up");
  EXPECT_THAT(made->number("n").status(), fails_with(StatusCode::NotFound, "\"n\" of type float"));
  const auto says = [](const char* part) { return fails_with(StatusCode::InvalidArgument, part); };
  EXPECT_THAT(complete({}).status(), says("\"n\" of type integer is missing"));
  EXPECT_THAT(complete({{"n", 1.5}}).status(), says("\"n\" is integer, got float"));
  EXPECT_THAT(complete({{"n", std::int64_t{1}}, {"n", std::int64_t{2}}}).status(),
              says("given twice"));
  EXPECT_THAT(complete({{"n", std::int64_t{1}}, {"k", 1.0}}).status(),
              says("no attribute \"k\"; help: it has n, l, mode"));
}

// Axis 2 of (2, 3, 8) is split into columns and lanes.
TEST(LayoutPatterns, CompareTheAxesOfDigits) {
  const TensorLayout layout{.shape = {2, 3, 8},
                            .rows = {{0, 1, 2}, {1, 1, 3}},
                            .cols = {{2, 4, 2}},
                            .lanes = {{2, 1, 4}}};
  EXPECT_TRUE(fits({.rows = {0, 1}, .cols = {2}, .lanes = {2}}, layout));
  EXPECT_FALSE(fits({.rows = {1, 0}, .cols = {2}, .lanes = {2}}, layout));
  EXPECT_FALSE(fits({.rows = {0}, .cols = {1, 2}, .lanes = {2}}, layout));
  // An axis of extent 1 fits anywhere in a pattern.
  EXPECT_TRUE(fits({.cols = {0, 1}}, row_major({1, 5})));
}

TEST(OperatorRegistries, FindByNameAndVersion) {
  OperatorRegistry registry;
  const auto make = [](const std::string& name, std::uint32_t version) {
    OperatorInfo info = x_to_y(name);
    info.version = version;
    return operator_of(info, [](const EncodeContext&) { return Status(); });
  };
  EXPECT_THAT(registry.find("test::a", 1).status(),
              fails_with(StatusCode::NotFound,
                         "is not registered; help: add it before the program "
                         "is loaded. Registered: none"));
  TL_EXPECT_OK(registry.add(make("a", 1)));
  TL_EXPECT_OK(registry.add(make("a", 3)));
  TL_EXPECT_OK(registry.add(make("b", 1)));
  EXPECT_EQ((*registry.find("test::a", 3))->info().version, 3U);
  EXPECT_EQ(registry.operators().size(), 3U);
  EXPECT_THAT(registry.find("test::c", 1).status(),
              fails_with(StatusCode::NotFound, "Registered: test::a, test::b"));
  EXPECT_THAT(registry.find("test::a", 2).status(),
              fails_with(StatusCode::NotFound,
                         "is registered as version 1, 3, and the program was "
                         "built for version 2; help: register version 2"));
  EXPECT_THAT(registry.add(make("a", 3)),
              fails_with(StatusCode::InvalidArgument, "is registered twice"));
  EXPECT_THAT(registry.add(nullptr), fails_with(StatusCode::InvalidArgument, "is null"));
  EXPECT_THAT(registry.add(make("", 1)), fails_with(StatusCode::InvalidArgument, "is not a name"));
}

}  // namespace
}  // namespace texloom::runtime
