// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "backend/rm/rm_driver.hpp"
#include "driver/driver_version.hpp"

namespace gdrkit::backend::rm {
namespace {

constexpr const char* version_file = "/proc/driver/nvidia/version";

/// Reads the module's version. Returns 0 or a negative errno; older drivers do not support the query.
int query_version(driver::System& system, int control_fd, CheckVersion* reply) noexcept {
  *reply = {};
  reply->command = version_query;
  const int result = system.ioctl(control_fd, request_word<CheckVersion>(number::check_version), reply);
  reply->text[sizeof reply->text - 1] = '\0';
  return result;
}

/// For containers whose /proc lacks the driver's directory: reads the version from the control node.
base::Result<std::string> version_of_node(driver::System& system, int read_error) {
  if (system.access(control_node, F_OK) == -ENOENT) {
    return base::fail(
        ENODEV,
        "cannot use a GPU: no NVIDIA driver is loaded (neither %s nor %s exists); install the driver, or start "
        "the container with --gpus all",
        version_file, control_node);
  }
  const auto fd = open_control_node(system, "");
  if (!fd) return base::pass(fd);
  CheckVersion reply;
  const int result = query_version(system, *fd, &reply);
  system.close(*fd);
  if (result < 0) {
    return base::fail(
        ENODEV,
        "cannot read the version of the NVIDIA driver from %s (%s) or from %s (ioctl CHECK_VERSION_STR: %s); "
        "make /proc/driver visible in this container",
        version_file, std::strerror(read_error), control_node, std::strerror(-result));
  }
  return std::string(reply.text);
}

base::Result<std::string> read_version(driver::System& system) {
  char text[512];
  const auto got = system.read_text(version_file, text, sizeof text);
  if (got == -ENOENT || got == -EACCES || got == -EPERM) return version_of_node(system, static_cast<int>(-got));
  if (got < 0)
    return base::fail(static_cast<int>(-got), "cannot read %s: %s", version_file,
                      std::strerror(static_cast<int>(-got)));
  auto version = driver::find_version_text({text, static_cast<std::size_t>(got)});
  if (!version) return base::pass(version);
  return std::string(*version);
}

/// Compares the loaded module's version with /proc: a mismatch means that the driver was replaced on a running system.
base::Status confirm_version(driver::System& system, const RmClient& client) noexcept {
  CheckVersion check;
  if (const int result = query_version(system, client.control_fd(), &check); result < 0)
    return base::fail(-result, "cannot check the version of NVIDIA driver %s: ioctl CHECK_VERSION_STR: %s",
                      client.driver().c_str(), std::strerror(-result));
  if (client.driver() == check.text) return {};
  return base::fail(
      EIO, "cannot use the NVIDIA driver: version %s is loaded, but %s reports %s; reload the driver or reboot",
      check.text, version_file, client.driver().c_str());
}

/// Checks that this process may open the node of at least one GPU of the driver.
base::Status find_usable_node(driver::System& system, RmClient& client) noexcept {
  CardInfo cards[max_cards];
  if (auto read = client.read_cards(cards); !read) return read;
  int failure = 0;
  unsigned failed_minor = 0;
  for (const CardInfo& card : cards) {
    if (card.valid == 0) continue;
    char path[32];
    std::snprintf(path, sizeof path, "/dev/nvidia%u", card.minor);
    const int result = system.access(path, R_OK | W_OK);
    if (result == 0) return {};
    if (failure == 0) {
      failure = -result;
      failed_minor = card.minor;
    }
  }
  if (failure == 0)
    return base::fail(ENODEV,
                      "cannot use NVIDIA driver %s: the driver found no GPU; read the driver's messages with dmesg",
                      client.driver().c_str());
  char path[32];
  std::snprintf(path, sizeof path, "/dev/nvidia%u", failed_minor);
  if (failure == ENOENT) return node_is_missing(path, client.driver());
  return node_is_forbidden(path, failure);
}

}  // namespace

base::Result<std::shared_ptr<RmDriver>> open_driver(driver::System& system, const base::Settings& settings) noexcept
    try {
  auto text = read_version(system);
  if (!text) return base::pass(text);
  auto version = driver::parse_driver_version(*text);
  if (!version) return base::pass(version);
  auto layout = layout_for(*version, *text, settings.allow_unreviewed_driver);
  if (!layout) return base::pass(layout);
  auto client = RmClient::open(system, *text);
  if (!client) return base::pass(client);
  if (layout->has_version_query) {
    if (auto confirmed = confirm_version(system, **client); !confirmed) return base::pass(confirmed);
  }
  if (auto usable = find_usable_node(system, **client); !usable) return base::pass(usable);
  return std::make_shared<RmDriver>(system, *layout, std::move(*client));
} catch (...) {
  return base::fail_literal(ENOMEM, "out of memory while opening backend 'rm'");
}

}  // namespace gdrkit::backend::rm
