// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "backend/rm/rm_probe.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "backend/rm/rm_status.hpp"
#include "shim/driver_version.hpp"

namespace gdrkit::backend::rm {
namespace {

constexpr const char* version_file = "/proc/driver/nvidia/version";

base::Result<std::string> read_version(shim::System& system) {
  char text[512];
  const auto got = system.read_text(version_file, text, sizeof text);
  if (got == -ENOENT) return base::fail(ENODEV, "no NVIDIA driver is loaded: %s does not exist", version_file);
  if (got < 0)
    return base::fail(static_cast<int>(-got), "cannot read %s: %s", version_file,
                      std::strerror(static_cast<int>(-got)));
  auto version = shim::find_version_text({text, static_cast<std::size_t>(got)});
  if (!version) return base::pass(version);
  return std::string(*version);
}

/// Compares the loaded module's version with /proc: a mismatch means that the driver was replaced on a running system.
base::Status confirm_version(shim::System& system, const RmClient& client) noexcept {
  CheckVersion check{};
  check.command = version_query;
  const int result = system.ioctl(client.control_fd(), request_word<CheckVersion>(number::check_version), &check);
  if (result < 0)
    return base::fail(-result, "cannot check the version of driver %s: CHECK_VERSION_STR: %s", client.driver().c_str(),
                      std::strerror(-result));
  check.text[sizeof check.text - 1] = '\0';
  if (client.driver() == check.text) return {};
  return base::fail(EIO, "the loaded NVIDIA driver is %s, but %s reports %s; reload the driver or reboot", check.text,
                    version_file, client.driver().c_str());
}

/// At least one of the driver's GPUs has a node that this process may open.
base::Status find_usable_node(shim::System& system, RmClient& client) noexcept {
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
    return base::fail(ENODEV, "NVIDIA driver %s is loaded but has no GPU; check the driver's log",
                      client.driver().c_str());
  if (failure == ENOENT) {
    return base::fail(ENODEV, "NVIDIA driver %s is loaded but /dev/nvidia%u does not exist; give this container a GPU",
                      client.driver().c_str(), failed_minor);
  }
  return base::fail(EACCES, "no permission to use /dev/nvidia%u: %s; check its mode and the container's device rules",
                    failed_minor, std::strerror(failure));
}

}  // namespace

base::Result<Probed> probe(shim::System& system, const base::Settings& settings) noexcept {
  try {
    auto text = read_version(system);
    if (!text) return base::pass(text);
    auto version = shim::parse_driver_version(*text);
    if (!version) return base::pass(version);
    auto layout = layout_for(*version, *text, settings.allow_unreviewed_driver);
    if (!layout) return base::pass(layout);
    auto client = RmClient::open(system, *text);
    if (!client) return base::pass(client);
    if (layout->has_version_query) {
      if (auto confirmed = confirm_version(system, **client); !confirmed) return base::pass(confirmed);
    }
    if (auto usable = find_usable_node(system, **client); !usable) return base::pass(usable);
    return Probed{*layout, std::move(*client)};
  } catch (...) {
    return base::fail_literal(ENOMEM, "out of memory while opening the rm backend");
  }
}

}  // namespace gdrkit::backend::rm
