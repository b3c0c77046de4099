// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/topology/pci_tree.hpp"

#include <algorithm>
#include <charconv>
#include <map>

#include "diag/topology/text_parts.hpp"
#include "platform/facts/number_list.hpp"

namespace gdrkit::diag::topology {
namespace {

constexpr std::int64_t nvidia_vendor = 0x10de;
constexpr std::int64_t display_class = 0x03;
constexpr std::int64_t nvswitch_class = 0x068000;
const std::string pci_devices = "/sys/bus/pci/devices";

/// "32.0 GT/s PCIe"; "Unknown" and the like are malformed.
Fact<double> read_speed(const MachineView& view, const std::string& path) {
  const Fact<std::string> line = view.line(path);
  if (!line.is_found()) return pass<double>(line);
  double speed = 0;
  const char* end = line.value.data() + line.value.size();
  const auto [stop, error] = std::from_chars(line.value.data(), end, speed);
  if (error == std::errc() && std::string_view(stop, static_cast<std::size_t>(end - stop)).starts_with(" GT/s") &&
      speed > 0 && speed < 1000) {
    return found(speed);
  }
  return {Outcome::malformed, 0, path + ": '" + line.value + "' is not a link speed"};
}

/// sysfs reports 0 or 255 if there is no meaningful link, as in guests.
Fact<std::int64_t> read_width(const MachineView& view, const std::string& path) {
  Fact<std::int64_t> width = view.number(path);
  if (!width.is_found() || (width.value >= 1 && width.value <= 32)) return width;
  width.outcome = Outcome::malformed;
  width.reason = path + ": " + std::to_string(width.value) + " is not a link width";
  return width;
}

Fact<std::vector<int>> read_cpus(const MachineView& view, const std::string& path) {
  const Fact<std::string> text = view.text(path);
  if (!text.is_found()) return pass<std::vector<int>>(text);
  if (auto list = platform::parse_number_list(text.value)) return found(std::move(*list));
  return {Outcome::malformed, {}, path + ": is not a list of CPUs"};
}

/// `directory` contains the function's files, by any path.
PciFunction read_function(const MachineView& view, const std::string& name, const std::string& directory) {
  PciFunction function;
  function.name = name;
  if (const auto address = platform::parse_pci_address(name)) function.address = *address;
  function.vendor = view.number(directory + "/vendor");
  function.device = view.number(directory + "/device");
  function.subsystem_vendor = view.number(directory + "/subsystem_vendor");
  function.subsystem_device = view.number(directory + "/subsystem_device");
  function.class_code = view.number(directory + "/class");
  function.numa_node = view.number(directory + "/numa_node");
  function.current = {read_speed(view, directory + "/current_link_speed"),
                      read_width(view, directory + "/current_link_width")};
  function.most = {read_speed(view, directory + "/max_link_speed"), read_width(view, directory + "/max_link_width")};
  return function;
}

bool is_function_name(std::string_view part) {
  return std::ranges::count(part, ':') == 2 && part.find('.') != std::string_view::npos &&
         platform::parse_pci_address(part).has_value();
}

class Reader {
 public:
  explicit Reader(const MachineView& view) : view_(view) {}

  PciTree read() {
    read_nvidia();
    read_adapters();
    const auto by_address = [](const TreeDevice& a, const TreeDevice& b) {
      return a.function.address < b.function.address || (a.function.address == b.function.address && a.name < b.name);
    };
    std::ranges::sort(tree_.gpus, by_address);
    std::ranges::sort(tree_.nvswitches, by_address);
    std::ranges::sort(tree_.adapters, by_address);
    for (std::size_t i = 0; i < tree_.gpus.size(); ++i) tree_.gpus[i].name = "GPU" + std::to_string(i);
    for (std::size_t i = 0; i < tree_.nvswitches.size(); ++i) tree_.nvswitches[i].name = "NVSwitch" + std::to_string(i);
    return std::move(tree_);
  }

 private:
  void read_nvidia() {
    const auto devices = view_.names(pci_devices);
    tree_.pci_outcome = devices.outcome;
    tree_.pci_reason = devices.reason;
    for (const std::string& name : devices.value) {
      if (!is_function_name(name)) continue;
      ++tree_.pci_count;
      const std::string directory = pci_devices + "/" + name;
      const auto vendor = view_.number(directory + "/vendor");
      if (vendor.is_found() && vendor.value != nvidia_vendor) continue;
      const auto kind = view_.number(directory + "/class");
      if (!vendor.is_found() || !kind.is_found()) {
        if (tree_.unread.size() < PciTree::most_gpus)
          tree_.unread.push_back(vendor.is_found() ? kind.reason : vendor.reason);
      } else if (kind.value >> 16 == display_class) {
        add(tree_.gpus, DeviceKind::gpu, "", name, directory, PciTree::most_gpus);
      } else if (kind.value == nvswitch_class) {
        add(tree_.nvswitches, DeviceKind::nvswitch, "", name, directory, PciTree::most_gpus);
      }
    }
  }

  void read_adapters() {
    const auto names = view_.names("/sys/class/infiniband");
    tree_.adapter_outcome = names.outcome;
    tree_.adapter_reason = names.reason;
    for (const std::string& name : names.value) {
      const std::string directory = "/sys/class/infiniband/" + name + "/device";
      const auto real = view_.resolved(directory);
      const std::string last = real.value.substr(real.value.rfind('/') + 1);
      if (real.is_unknown()) {
        tree_.unread.push_back(real.reason);
      } else if (!real.is_found() || !is_function_name(last)) {
        tree_.unplaced.push_back(name);
      } else {
        add(tree_.adapters, DeviceKind::adapter, name, last, directory, PciTree::most_adapters);
      }
    }
  }

  void add(std::vector<TreeDevice>& to, DeviceKind kind, const std::string& name, const std::string& address,
           const std::string& directory, std::size_t most) {
    if (to.size() == most) {
      ++tree_.left_out;
      return;
    }
    TreeDevice device;
    device.kind = kind;
    device.name = name;
    device.real_path = view_.resolved(directory);
    const std::string& at = device.real_path.is_found() ? device.real_path.value : directory;
    device.function = read_function(view_, address, at);
    device.cpus = read_cpus(view_, at + "/local_cpulist");
    if (device.real_path.is_found()) place(device, address);
    to.push_back(std::move(device));
  }

  void place(TreeDevice& device, const std::string& address) {
    PciPlace at = parse_pci_place(device.real_path.value);
    if (at.root.empty() || at.functions.empty() || at.functions.back() != address) {
      device.real_path.outcome = Outcome::malformed;
      device.real_path.reason = device.real_path.value + ": is not below a PCI host bridge";
      return;
    }
    device.root = at.root;
    std::string directory = device.real_path.value.substr(0, device.real_path.value.rfind(at.root) + at.root.size());
    at.functions.pop_back();
    for (const std::string& bridge : at.functions) {
      directory += "/" + bridge;
      const auto [known, is_new] = bridges_.emplace(directory, tree_.bridges.size());
      if (is_new) tree_.bridges.push_back(read_function(view_, bridge, directory));
      device.bridges.push_back(known->second);
    }
  }

  const MachineView& view_;
  PciTree tree_;
  std::map<std::string, std::size_t> bridges_;  // by path: a forged tree may use an address twice
};

/// Maximum Gbit/s of a link, without its generation's encoding overhead.
double carried(double speed_gts, double width) {
  const double coding = speed_gts < 8 ? 0.8 : speed_gts < 64 ? 128.0 / 130.0 : 242.0 / 256.0;
  return speed_gts * width * coding;
}

/// `port`: the other end of a link, if the speed is the maximum that both ends support.
void take_link(const PciFunction& function, const PciFunction* port, NarrowestLink* narrowest) {
  const Fact<double>& speed = port != nullptr ? function.most.speed_gts : function.current.speed_gts;
  const Fact<std::int64_t>& width = function.current.width;
  if (!speed.is_found() || !width.is_found()) {
    narrowest->unread = speed.is_found() ? width.reason : speed.reason;
    return;
  }
  double gts = speed.value;
  if (port != nullptr && port->most.speed_gts.is_found()) gts = std::min(gts, port->most.speed_gts.value);
  const double rate = carried(gts, static_cast<double>(width.value));
  if (narrowest->gbit_per_s > 0 && rate >= narrowest->gbit_per_s) return;
  narrowest->gbit_per_s = rate;
  narrowest->where = function.name;
}

}  // namespace

PciPlace parse_pci_place(const std::string& real_path) {
  PciPlace place;
  for (const std::string& part : split(real_path, '/')) {
    if (part.starts_with("pci") && part.find(':') != std::string::npos) {
      place.root = part;
      place.functions.clear();
    } else if (is_function_name(part)) {
      place.functions.push_back(part);
    }
  }
  return place;
}

PciTree read_pci_tree(const MachineView& view) {
  PciTree tree = Reader(view).read();
  const auto nodes = platform::parse_number_list(view.line("/sys/devices/system/node/online").value);
  if (nodes.has_value() && nodes->size() == 1) tree.only_node = nodes->front();
  return tree;
}

NarrowestLink narrowest_link(const PciTree& tree, const TreeDevice& a, const TreeDevice& b) {
  NarrowestLink narrowest;
  const auto shared = static_cast<std::size_t>(std::ranges::mismatch(a.bridges, b.bridges).in1 - a.bridges.begin());
  for (const TreeDevice* device : {&a, &b}) {
    const bool may_be_idle = device->kind == DeviceKind::gpu && !device->bridges.empty();
    take_link(device->function, may_be_idle ? &tree.bridges[device->bridges.back()] : nullptr, &narrowest);
    // The last bridge is the port of the device's own link.
    for (std::size_t i = shared; i + 1 < device->bridges.size(); ++i)
      take_link(tree.bridges[device->bridges[i]], nullptr, &narrowest);
  }
  return narrowest;
}

}  // namespace gdrkit::diag::topology
