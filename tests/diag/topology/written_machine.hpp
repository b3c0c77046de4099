// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// WrittenMachine: a sysfs tree for one test, built from paths like "pci0000:00/0000:00:01.0/0000:03:00.0".
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "diag/topology/pci_tree.hpp"

namespace gdrkit::diag::topology {

class WrittenMachine {
 public:
  WrittenMachine() {
    std::string pattern = (std::filesystem::temp_directory_path() / "gdrkit-tree-XXXXXX").string();
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
  }
  ~WrittenMachine() { std::filesystem::remove_all(root_); }
  WrittenMachine(const WrittenMachine&) = delete;
  WrittenMachine& operator=(const WrittenMachine&) = delete;

  using Files = std::map<std::string, std::string>;

  /// A function and the bridges above it; `where` is below /sys/devices.
  void gpu(const std::string& where, int numa, const Files& more = {}) {
    function(where, numa, "0x10de", "0x2330", "0x030200", more);
  }
  void nvswitch(const std::string& where, int numa) { function(where, numa, "0x10de", "0x22a3", "0x068000", {}); }
  void adapter(const std::string& name, const std::string& where, int numa, const Files& more = {}) {
    function(where, numa, "0x15b3", "0x1021", "0x020700", more);
    link("/sys/class/infiniband/" + name + "/device", "/sys/devices/" + where);
  }
  void put(const std::string& path, const std::string& text) const { std::ofstream(made_place(path)) << text; }
  void link(const std::string& path, const std::string& target) const {
    std::filesystem::create_symlink(target, made_place(path));
  }
  void remove(const std::string& path) const { std::filesystem::remove_all(root_ / path.substr(1)); }

  [[nodiscard]] std::string root() const { return root_.string(); }

  /// Facts of every bridge that is added from now on.
  Files bridge_facts = {{"vendor", "0x8086"}, {"device", "0x352a"}};

  [[nodiscard]] MachineView view() const {
    auto opened = MachineView::open(root_.string());
    EXPECT_TRUE(opened.has_value()) << opened.error().text();
    return *opened;
  }
  [[nodiscard]] PciTree tree() const { return read_pci_tree(view()); }

 private:
  void function(const std::string& where, int numa, const char* vendor, const char* device, const char* kind,
                const Files& more) {
    for (auto slash = where.find('/'); slash != std::string::npos; slash = where.find('/', slash + 1)) {
      const std::string above = where.substr(0, slash);
      const std::string name = above.substr(above.rfind('/') + 1);
      if (name.find('.') == std::string::npos) continue;
      Files facts = bridge_facts;
      facts.insert({{"class", "0x060400"}, {"numa_node", std::to_string(numa)}});
      write(above, facts);
    }
    Files facts = more;
    facts.insert({{"vendor", vendor},
                  {"device", device},
                  {"class", kind},
                  {"numa_node", std::to_string(numa)},
                  {"max_link_speed", "32.0 GT/s PCIe"},
                  {"max_link_width", "16"},
                  {"local_cpulist", "0-3"}});
    write(where, facts);
  }
  void write(const std::string& where, const Files& facts) const {
    const std::string entry = "/sys/bus/pci/devices" + where.substr(where.rfind('/'));
    if (!std::filesystem::is_symlink(root() + entry)) link(entry, "/sys/devices/" + where);
    for (const auto& [file, text] : facts) put("/sys/devices/" + where + "/" + file, text + "\n");
  }
  /// Creates the directories above the path, and returns where it is.
  [[nodiscard]] std::filesystem::path made_place(const std::string& path) const {
    const auto place = root_ / path.substr(1);
    std::filesystem::create_directories(place.parent_path());
    return place;
  }

  std::filesystem::path root_;
};

}  // namespace gdrkit::diag::topology
