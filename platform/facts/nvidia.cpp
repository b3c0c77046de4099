// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "platform/facts/nvidia.hpp"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>

#include "driver/driver_version.hpp"
#include "driver/system.hpp"

namespace gdrkit::platform {
namespace {

constexpr unsigned long nvidia_vendor_id = 0x10de;
constexpr unsigned long display_controller_class = 0x0300;
constexpr unsigned long controller_3d_class = 0x0302;

/// A sysfs attribute that contains one number ("0x10de
/// ", "-1
/// ").
std::optional<long> read_number(const std::string& path) {
  char text[64];
  if (driver::real_system().read_text(path.c_str(), text, sizeof(text)) <= 0) return std::nullopt;
  char* end = nullptr;
  const long value = std::strtol(text, &end, 0);
  if (end == text) return std::nullopt;
  return value;
}

std::string link_name(const std::string& path) {
  char target[512];
  const ssize_t length = ::readlink(path.c_str(), target, sizeof(target));
  if (length <= 0) return {};
  const std::string text(target, static_cast<std::size_t>(length));
  return text.substr(text.rfind('/') + 1);
}

bool is_nvidia_gpu(const std::string& directory) {
  if (read_number(directory + "/vendor").value_or(0) != static_cast<long>(nvidia_vendor_id)) return false;
  const auto class_code = static_cast<unsigned long>(read_number(directory + "/class").value_or(0)) >> 8;
  return class_code == display_controller_class || class_code == controller_3d_class;
}

/// The text of a small file.
base::Result<std::string> read_file(const std::string& path) {
  char text[4096];
  const ssize_t length = driver::real_system().read_text(path.c_str(), text, sizeof(text));
  if (length >= 0) return std::string(text, static_cast<std::size_t>(length));
  const int error = static_cast<int>(-length);
  return base::fail(error, "cannot read %s: %s", path.c_str(), std::strerror(error));
}

/// Removes the next blank-separated "0x..." from `line`; returns false if there is none.
bool take_hex(std::string_view* line, std::uint64_t* value) {
  const auto begin = line->find_first_not_of(" \t");
  if (begin == std::string_view::npos) return false;
  *line = line->substr(begin);
  if (line->substr(0, 2) != "0x") return false;
  const char* end = line->data() + line->size();
  const auto [stop, error] = std::from_chars(line->data() + 2, end, *value, 16);
  if (error != std::errc()) return false;
  *line = line->substr(static_cast<std::size_t>(stop - line->data()));
  return line->empty() || line->front() == ' ' || line->front() == '\t';
}

}  // namespace

base::Result<std::vector<NvidiaGpu>> list_nvidia_gpus(const std::string& sysfs_root) {
  const std::string devices = sysfs_root + "/bus/pci/devices";
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(devices.c_str()), &::closedir);
  if (directory == nullptr)
    return base::fail(ENOENT, "cannot list the PCI devices in %s: %s; check that /sys is mounted", devices.c_str(),
                      std::strerror(errno));
  std::vector<NvidiaGpu> gpus;
  while (const dirent* entry = ::readdir(directory.get())) {
    if (entry->d_name[0] == '.') continue;
    const std::string path = devices + "/" + entry->d_name;
    const auto address = parse_pci_address(entry->d_name);
    if (!address.has_value() || !is_nvidia_gpu(path)) continue;
    NvidiaGpu gpu;
    gpu.address = *address;
    gpu.device_id = static_cast<std::uint32_t>(read_number(path + "/device").value_or(0));
    gpu.numa_node = static_cast<int>(read_number(path + "/numa_node").value_or(-1));
    gpu.driver = link_name(path + "/driver");
    if (const auto bars = read_pci_bars(sysfs_root, gpu.address)) {
      gpu.bar1_size_bytes = nvidia_bar1(*bars).size_bytes;
    }
    gpus.push_back(gpu);
  }
  std::sort(gpus.begin(), gpus.end(), [](const auto& a, const auto& b) { return a.address < b.address; });
  return gpus;
}

std::string nvidia_gpu_name(const std::string& proc_root, const PciAddress& address) {
  const std::string path = proc_root + "/driver/nvidia/gpus/" + to_string(address) + "/information";
  char text[2048];
  constexpr char label[] = "Model:";
  if (driver::real_system().read_text(path.c_str(), text, sizeof(text)) <= 0) return "unknown";
  const char* found = std::strstr(text, label);
  if (found == nullptr) return "unknown";
  found += sizeof(label) - 1;
  found += std::strspn(found, " \t");
  const std::string name(found, std::strcspn(found, "\n"));
  return name.empty() ? "unknown" : name;
}

base::Result<PciBars> parse_pci_bars(std::string_view text) {
  PciBars bars{};
  for (std::size_t number = 0; number < bars.size(); ++number) {
    const auto line_end = text.find('\n');
    std::string_view line = text.substr(0, line_end);
    std::uint64_t start = 0;
    std::uint64_t last = 0;
    std::uint64_t flags = 0;
    if (!take_hex(&line, &start) || !take_hex(&line, &last) || !take_hex(&line, &flags) || last < start) {
      return base::fail(EINVAL, "line %zu of a PCI resource file is not 'start end flags'", number + 1);
    }
    // An absent BAR is all zeros; the end of an existing one is its last byte.
    if (flags != 0) bars[number] = PciBar{start, last - start + 1, flags};
    text = line_end == std::string_view::npos ? std::string_view() : text.substr(line_end + 1);
  }
  return bars;
}

base::Result<PciBars> read_pci_bars(const std::string& sysfs_root, const PciAddress& address) {
  const auto text = read_file(sysfs_root + "/bus/pci/devices/" + to_string(address) + "/resource");
  if (!text) return base::pass(text);
  return parse_pci_bars(*text);
}

PciBar nvidia_bar1(const PciBars& bars) noexcept {
  bool is_first = true;
  for (const PciBar& bar : bars) {
    if (bar.size_bytes == 0) continue;
    if (!is_first) return bar;
    is_first = false;
  }
  return {};
}

base::Result<NvidiaDriver> parse_nvidia_driver(std::string_view text) {
  const auto version = driver::find_version_text(text);
  if (!version) return base::pass(version);
  const std::string_view line = text.substr(0, text.find('\n'));
  return NvidiaDriver{std::string(*version), line.find("Open Kernel Module") != std::string_view::npos};
}

base::Result<NvidiaDriver> read_nvidia_driver(const std::string& proc_root) {
  const auto text = read_file(proc_root + "/driver/nvidia/version");
  if (!text) return base::pass(text);
  return parse_nvidia_driver(*text);
}

}  // namespace gdrkit::platform
