// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The C++20 face on the emulated device.
#include "gdrkit/gdrkit.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "lib/capi/emulated_fixture.hpp"
#include "support/forked_child.hpp"

namespace gdrkit::tests {
namespace {

using testing::HasSubstr;

static_assert(!std::is_copy_constructible_v<Context> && !std::is_copy_constructible_v<Pin> &&
              !std::is_copy_constructible_v<Mapping>);
static_assert(std::is_nothrow_move_constructible_v<Mapping> && std::is_nothrow_move_assignable_v<Mapping>);
static_assert(std::is_nothrow_move_constructible_v<Pin> && std::is_nothrow_move_assignable_v<Context>);

class GdrkitHpp : public OnEmulatedDevice {
 protected:
  /// For EXPECT_TRUE: `body` throws an Error with this errno, and its text matches.
  template <class Body>
  static testing::AssertionResult throws(Body body, int errno_value,
                                         const testing::Matcher<std::string>& text = testing::Ne("")) {
    try {
      body();
    } catch (const Error& error) {
      if (error.code().value() == errno_value && text.Matches(error.what())) return testing::AssertionSuccess();
      return testing::AssertionFailure() << "errno " << error.code().value() << ", text: " << error.what();
    }
    return testing::AssertionFailure() << "no error was thrown";
  }
};

TEST_F(GdrkitHpp, WritesReadsAndSetsFlags) {
  Context context;
  EXPECT_STREQ(context.backend_name(), "emulated");
  EXPECT_TRUE(context.is_emulated());
  const Pin pin = context.pin(memory + 1000, 5000);
  Mapping mapping = pin.map();
  EXPECT_EQ(mapping.size(), 5000u);
  EXPECT_FALSE(pin.is_invalidated());

  const std::vector<std::uint32_t> source = {1, 2, 3, 4, 5};
  mapping.write(24, source);
  std::memcpy(&expected[1024], source.data(), 20);
  std::array<std::uint32_t, 5> target{};
  mapping.read(24, target);
  EXPECT_TRUE(std::equal(source.begin(), source.end(), target.begin()));
  std::vector<std::uint8_t> part(10);
  mapping.read(0, std::span(part).first(3));
  EXPECT_EQ(std::memcmp(part.data(), &expected[1000], 3), 0);

  mapping.store_flag<std::uint64_t>(48, 0x1122334455667788);
  const std::uint64_t flag = 0x1122334455667788;
  std::memcpy(&expected[1048], &flag, 8);
  EXPECT_EQ(mapping.load_flag<std::uint64_t>(48), flag);
  EXPECT_EQ(mapping.load_flag<std::uint16_t>(50), 0x5566);

  EXPECT_EQ(static_cast<std::uint8_t>(mapping.bytes()[1]), expected[1001]);
  mapping.bytes()[4999] = std::byte{0x3C};
  expected[5999] = 0x3C;
  expect_device_as_expected();
}

TEST_F(GdrkitHpp, AcceptsPointersAndNumbersAsDeviceAddresses) {
  Context context;
  const Pin by_pointer = context.pin(device + 3, 10);
  const Pin by_number = context.pin(memory + 3, 10);
  EXPECT_EQ(by_pointer.info().user_address, memory + 3);
  EXPECT_EQ(by_number.info().user_address, memory + 3);
  EXPECT_EQ(by_number.size(), 10u);
}

TEST_F(GdrkitHpp, ThrowsTheErrnoAndMessageOfTheLibrary) {
  Context context;
  EXPECT_TRUE(throws([&] { (void)context.pin(memory, 0); }, EINVAL, HasSubstr("0 bytes")));
  const Pin pin = context.pin(memory, 64);
  const Mapping mapping = pin.map();
  EXPECT_TRUE(throws([&] { (void)pin.map(); }, EAGAIN));
  const Pin small = context.pin(memory, 64);
  EXPECT_TRUE(throws([&] { (void)small.map({.type = MappingType::cached}); }, EOPNOTSUPP));
  EXPECT_TRUE(
      throws([] { const Context other({.backend = "abacus", .copy_kernel = ""}); }, EINVAL, HasSubstr("abacus")));
  try {
    (void)context.pin(memory, 0);
    FAIL();
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), std::errc::invalid_argument);
  }
  expect_device_as_expected();
}

TEST_F(GdrkitHpp, FailedCopyReportsTheCause) {
  Context context;
  Pin pin = context.pin(memory, 5000);
  Mapping mapping = pin.map();
  std::vector<std::uint8_t> bytes(100);
  EXPECT_TRUE(throws([&] { mapping.write(4950, bytes); }, EINVAL,
                     HasSubstr("cannot write 100 bytes at offset 4950: the mapping has 5000 bytes")));
  EXPECT_TRUE(throws([&] { mapping.read(SIZE_MAX, bytes); }, EINVAL, HasSubstr("the mapping has 5000 bytes")));
  EXPECT_TRUE(throws([&] { mapping.store_flag<std::uint8_t>(5000, 1); }, EINVAL,
                     HasSubstr("cannot write 1 bytes at offset 5000")));
  EXPECT_TRUE(throws([&] { mapping.store_flag<std::uint32_t>(3, 1); }, EINVAL,
                     HasSubstr("cannot access a flag at offset 3: its address is not a multiple of 4")));
  pin.unpin();
  const auto not_mapped = HasSubstr("the pin is not mapped, or its handle is invalid");
  EXPECT_TRUE(throws([&] { mapping.write(0, bytes); }, EINVAL, not_mapped));
  const Mapping moved = std::move(mapping);
  // NOLINTNEXTLINE(bugprone-use-after-move): that is the question
  EXPECT_TRUE(throws([&] { mapping.write(0, bytes); }, EINVAL, not_mapped));
}

TEST_F(GdrkitHpp, OptionsForceBackendAndCopyKernel) {
  ::unsetenv("GDRKIT_BACKEND");
  const Context context({.backend = "emulated", .copy_kernel = "scalar"});
  EXPECT_STREQ(context.info().store_kernel_name, "scalar");
}

TEST_F(GdrkitHpp, AMappingKeepsItsPinAndItsContext) {
  std::optional<Context> context(std::in_place);
  const gdrkit_context_t context_handle = context->handle();
  std::optional<Pin> pin(context->pin(memory, 100));
  std::optional<Mapping> mapping(pin->map());
  const gdrkit_pin_t first = mapping->handle();
  *pin = context->pin(memory + gpu_page, 100);  // another one, while the first is mapped
  mapping->store_flag<std::uint8_t>(0, 7);
  expected[0] = 7;
  pin.reset();
  context.reset();
  mapping->store_flag<std::uint8_t>(1, 8);
  expected[1] = 8;
  EXPECT_EQ(mapping->load_flag<std::uint8_t>(0), 7);
  expect_device_as_expected();

  auto info = sized<gdrkit_pin_info>();
  EXPECT_EQ(gdrkit_get_pin_info(first, &info), 0);
  mapping.reset();
  EXPECT_EQ(gdrkit_get_pin_info(first, &info), -EINVAL) << "the last owner unpins";
  EXPECT_EQ(gdrkit_close(context_handle), -EINVAL) << "and closes";
}

TEST_F(GdrkitHpp, ABufferAndAPinKeepTheirContext) {
  std::optional<Context> context(std::in_place);
  Buffer buffer = context->allocate(100);
  const Pin pin = context->pin(buffer);
  const gdrkit_context_t context_handle = context->handle();
  *context = Context();
  EXPECT_NE(context->handle().value, context_handle.value);
  buffer.copy_from_host(0, std::array{1, 2, 3});
  EXPECT_EQ(pin.map().load_flag<std::int32_t>(8), 3);
  EXPECT_EQ(pin.info().is_mapped, 0);
}

TEST_F(GdrkitHpp, MapsInOneCall) {
  Context own;
  Buffer buffer = own.allocate(1000);
  void* const pointer = reinterpret_cast<void*>(buffer.device_address());
  {
    auto map = gdrkit::map(pointer, 1000);
    map.write(0, std::string_view("gdrkit"));
    EXPECT_EQ(map.size(), 1000u);
    EXPECT_FALSE(map.is_invalidated());
  }
  auto again = gdrkit::map(pointer, 1000, {.type = MappingType::write_combining, .engine = Engine::automatic});
  std::array<char, 6> seen{};
  again.read(0, seen);
  EXPECT_EQ(std::string_view(seen.data(), seen.size()), "gdrkit");
  EXPECT_EQ(own.map(buffer).load_flag<char>(5), 't') << "another pin of the same memory";
  EXPECT_EQ(own.map(pointer, 10, {.engine = Engine::cpu}).size(), 10u);
  EXPECT_TRUE(throws([&] { (void)gdrkit::map(pointer, 0); }, EINVAL));
}

TEST_F(GdrkitHpp, ForkedChildMapsInASeparateContext) {
  Context own;
  Buffer buffer = own.allocate(1000);
  const auto map_of_parent = gdrkit::map(reinterpret_cast<void*>(buffer.device_address()), 1000);
  const ChildEnd end = run_in_child([] {
    Context context;
    Buffer of_child = context.allocate(64);
    auto map = gdrkit::map(reinterpret_cast<void*>(of_child.device_address()), 64);
    map.store_flag<std::uint32_t>(0, 5);
    return map.load_flag<std::uint32_t>(0) == 5 ? 0 : 1;
  });
  EXPECT_EQ(end.exit_code, 0);
}

TEST_F(GdrkitHpp, EnginesHaveTheNamesOfTheEnvironment) {
  EXPECT_EQ(engine_from_name("copy_engine"), Engine::copy_engine);
  EXPECT_EQ(engine_from_name("automatic"), Engine::automatic);
  EXPECT_EQ(engine_from_name("auto"), std::nullopt);
  EXPECT_EQ(engine_from_name(""), std::nullopt);
}

TEST_F(GdrkitHpp, MovesKeepTheMappingAlive) {
  Context context;
  Context moved_context = std::move(context);
  Pin pin = moved_context.pin(memory, 100);
  Pin moved_pin = std::move(pin);
  Mapping mapping = moved_pin.map();
  Mapping moved = std::move(mapping);
  context = std::move(moved_context);
  moved.store_flag<std::uint8_t>(8, 0x11);
  expected[8] = 0x11;
  expect_device_as_expected();
  EXPECT_TRUE(throws([&] { (void)pin.map(); }, EINVAL));
  EXPECT_TRUE(throws([&] { mapping.store_flag<std::uint8_t>(8, 1); }, EINVAL));

  const Pin other = context.pin(memory + gpu_page, 100);
  moved = other.map();  // gives the first mapping back
  EXPECT_EQ(moved_pin.info().is_mapped, 0);
  EXPECT_EQ(other.info().is_mapped, 1);
}

TEST_F(GdrkitHpp, SelfMoveKeepsTheResource) {
  Context context;
  Pin pin = context.pin(memory, 100);
  Mapping mapping = pin.map();
  // Through references: the compiler warns of the plain form.
  Context& same_context = context;
  Pin& same_pin = pin;
  Mapping& same_mapping = mapping;
  context = std::move(same_context);
  pin = std::move(same_pin);
  mapping = std::move(same_mapping);
  EXPECT_TRUE(context.is_emulated());
  EXPECT_EQ(pin.info().is_mapped, 1);
  EXPECT_EQ(mapping.size(), 100u);
  mapping.store_flag<std::uint8_t>(8, 0x22);
  expected[8] = 0x22;
  expect_device_as_expected();
}

TEST_F(GdrkitHpp, ReleasesOnRequestAndReportsErrors) {
  Context context;
  Pin pin = context.pin(memory, 100);
  Mapping mapping = pin.map();
  mapping.unmap();
  EXPECT_EQ(mapping.size(), 0u);
  EXPECT_EQ(pin.info().is_mapped, 0);
  mapping.unmap();  // nothing left to do
  mapping = pin.map();
  pin.unpin();
  EXPECT_TRUE(throws([&] { mapping.unmap(); }, EINVAL));
  context.close();
  EXPECT_TRUE(throws([&] { (void)context.info(); }, EINVAL));
}

}  // namespace
}  // namespace gdrkit::tests
