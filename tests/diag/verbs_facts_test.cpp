// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Loads tests/fakes/fake_verbs in place of libibverbs: it is loaded before, and the loader finds it by its name.
#include "diag/machine/verbs_facts.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "diag/machine/guarded_thread.hpp"
#include "fakes/fake_verbs.hpp"
#include "platform/vendor/verbs_library.hpp"

namespace gdrkit::diag {
namespace {

using topology::Fact;
using topology::Outcome;

class VerbsGather : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(::dlopen(GDRKIT_FAKE_VERBS, RTLD_NOW), nullptr) << ::dlerror();
    const auto loaded = platform::verbs_calls();
    ASSERT_TRUE(loaded.has_value()) << loaded.error().text();
    verbs_ = *loaded;
    void* library = ::dlopen("libibverbs.so.1", RTLD_NOW | RTLD_NOLOAD);
    ASSERT_NE(library, nullptr);
    fail_ = reinterpret_cast<FakeVerbsFail*>(::dlsym(library, "fake_verbs_fail"));
    held_ = reinterpret_cast<FakeVerbsHeld*>(::dlsym(library, "fake_verbs_held"));
    violations_ = reinterpret_cast<FakeVerbsViolations*>(::dlsym(library, "fake_verbs_violations"));
    return_invalid_values_ =
        reinterpret_cast<FakeVerbsReturnInvalidValues*>(::dlsym(library, "fake_verbs_return_invalid_values"));
    ASSERT_NE(fail_, nullptr) << "another libibverbs was found first";
    ASSERT_TRUE(held_ != nullptr && violations_ != nullptr && return_invalid_values_ != nullptr);
  }
  void TearDown() override {
    if (violations_ == nullptr) return;
    fail_(nullptr, 0);
    EXPECT_EQ(held_(), 0);
    EXPECT_EQ(violations_(), 0);
  }

  /// The facts with one failing function; checks that they survive recording unchanged.
  Fact<VerbsFacts> with_failing(const char* name, int error) {
    fail_(nullptr, 0);
    if (name != nullptr) fail_(name, error);
    const auto facts = gather_verbs_facts(*verbs_);
    EXPECT_EQ(held_(), 0) << (name == nullptr ? "" : name);
    const std::string text = to_json_text(facts);
    EXPECT_EQ(to_json_text(parse_verbs_facts(text)), text);
    return facts;
  }

  const platform::VerbsCalls* verbs_ = nullptr;
  FakeVerbsFail* fail_ = nullptr;
  FakeVerbsHeld* held_ = nullptr;
  FakeVerbsViolations* violations_ = nullptr;
  FakeVerbsReturnInvalidValues* return_invalid_values_ = nullptr;
};

TEST_F(VerbsGather, QueriesEveryDevice) {
  const auto facts = with_failing(nullptr, 0);
  ASSERT_TRUE(facts.is_found()) << facts.reason;
  EXPECT_TRUE(facts.value.dmabuf_call.is_found() && facts.value.dmabuf_call.value);
  ASSERT_EQ(facts.value.devices.size(), 2u);
  for (const char* name : {"mlx5_0", "mlx5_1"}) {
    const VerbsDevice* device = facts.value.device_named(name);
    ASSERT_NE(device, nullptr) << name;
    EXPECT_TRUE(device->dmabuf.is_found() && device->dmabuf.value) << name;
  }
  EXPECT_EQ(facts.value.device_named("mlx5_2"), nullptr);
}

TEST_F(VerbsGather, RegistrationErrorDistinguishesNoFromUnknown) {
  for (const int error : {EOPNOTSUPP, EPROTONOSUPPORT}) {
    const auto facts = with_failing("ibv_reg_dmabuf_mr", error);
    ASSERT_EQ(facts.value.devices.size(), 2u);
    EXPECT_TRUE(facts.value.devices[0].dmabuf.is_found()) << facts.value.devices[0].dmabuf.reason;
    EXPECT_FALSE(facts.value.devices[0].dmabuf.value);
  }
  for (const int error : {ENOMEM, EINVAL, EACCES, 0}) {
    const auto facts = with_failing("ibv_reg_dmabuf_mr", error);
    ASSERT_EQ(facts.value.devices.size(), 2u);
    EXPECT_EQ(facts.value.devices[0].dmabuf.outcome, Outcome::unreadable) << error;
    EXPECT_NE(facts.value.devices[0].dmabuf.reason.find("ibv_reg_dmabuf_mr: "), std::string::npos);
  }
}

TEST_F(VerbsGather, ClosesEverythingIfAnyFunctionFails) {
  auto facts = with_failing("ibv_get_device_list", ENOSYS);
  EXPECT_EQ(facts.outcome, Outcome::unreadable);
  EXPECT_EQ(facts.reason, "ibv_get_device_list: Function not implemented");
  facts = with_failing("ibv_get_device_list", 0);
  EXPECT_EQ(facts.reason, "ibv_get_device_list: failed without an error code");
  EXPECT_TRUE(with_failing("ibv_get_device_name", 0).value.devices.empty());
  for (const char* name : {"ibv_open_device", "ibv_alloc_pd"}) {
    facts = with_failing(name, EACCES);
    ASSERT_EQ(facts.value.devices.size(), 2u);
    EXPECT_EQ(facts.value.devices[1].dmabuf.outcome, Outcome::unreadable);
    EXPECT_EQ(facts.value.devices[1].dmabuf.reason, std::string(name) + ": Permission denied");
  }
  for (const char* name : {"ibv_dealloc_pd", "ibv_close_device"}) {
    facts = with_failing(name, EBUSY);
    ASSERT_EQ(facts.value.devices.size(), 2u);
    EXPECT_TRUE(facts.value.devices[1].dmabuf.value) << "a failed release does not discard results";
  }
  fail_("ibv_reg_dmabuf_mr", 0);
  fail_("ibv_dereg_mr", EBUSY);
  EXPECT_FALSE(gather_verbs_facts(*verbs_).value.devices[0].dmabuf.is_found());
}

TEST_F(VerbsGather, OpensNothingIfTheCallIsMissing) {
  platform::VerbsCalls older = *verbs_;
  older.reg_dmabuf_mr = nullptr;
  fail_("ibv_open_device", EACCES);
  const auto facts = gather_verbs_facts(older);
  ASSERT_TRUE(facts.is_found());
  EXPECT_TRUE(facts.value.dmabuf_call.is_found() && !facts.value.dmabuf_call.value);
  ASSERT_EQ(facts.value.devices.size(), 2u);
  EXPECT_TRUE(facts.value.devices[0].dmabuf.is_absent());
  EXPECT_NE(facts.value.devices[0].dmabuf.reason.find("rdma-core 34"), std::string::npos);
}

TEST_F(VerbsGather, RejectsImplausibleResults) {
  return_invalid_values_(true);
  const auto facts = with_failing(nullptr, 0);
  return_invalid_values_(false);
  ASSERT_EQ(facts.value.devices.size(), 2u);
  EXPECT_EQ(facts.value.devices[1].name, std::string(64, '?'));
}

TEST_F(VerbsGather, WorksUnderGuard) {
  Fact<VerbsFacts> facts;
  const std::string refusal = run_guarded([&] { facts = gather_verbs_facts(*verbs_); });
  if (!refusal.empty()) GTEST_SKIP() << refusal;
  EXPECT_EQ(facts.value.devices.size(), 2u);
}

TEST(VerbsFacts, RecordedFactsAreBoundedAndValidated) {
  const std::string start = R"({"schema":"gdrkit.verbs/1",)";
  std::string many = start + R"("dmabuf_call":true,"devices":[{"name":"a","dmabuf":true})";
  for (std::size_t i = 0; i < most_verbs_devices; ++i) many += R"(,{"name":"a","dmabuf":true})";
  const std::string deep(100'000, '[');
  for (const std::string& text : std::vector<std::string>{
           "", "{", "[]", "{}", R"({"schema":"gdrkit.verbs/2","devices":[]})", R"({"schema":7,"devices":[]})",
           start + R"("devices":{}})", start + R"("devices":[7]})", start + R"("devices":[{}]})",
           start + R"("devices":[{"name":7}]})", start + R"("devices":[{"name":")" + std::string(65, 'x') + R"("}]})",
           many + "]}", start + R"("devices":)" + deep}) {
    const auto facts = parse_verbs_facts(text);
    EXPECT_EQ(facts.outcome, Outcome::malformed) << text.substr(0, 80);
    EXPECT_NE(facts.reason.find("/gdrkit/verbs.json"), std::string::npos) << facts.reason;
  }
  const auto facts =
      parse_verbs_facts(start + R"("devices":[{"name":"a"},{"name":"b","dmabuf":"yes"},{"name":"c","dmabuf":
      {"outcome":"unreadable","reason":"ibv_open_device: x"}},{"name":"d","dmabuf":{"outcome":"found","reason":""}}]})");
  ASSERT_TRUE(facts.is_found()) << facts.reason;
  EXPECT_EQ(facts.value.dmabuf_call.outcome, Outcome::unreadable);
  const Outcome expected[] = {Outcome::unreadable, Outcome::malformed, Outcome::unreadable, Outcome::malformed};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(facts.value.devices[i].dmabuf.outcome, expected[i]) << i;
  EXPECT_EQ(facts.value.devices[2].dmabuf.reason, "ibv_open_device: x");
}

}  // namespace
}  // namespace gdrkit::diag
