// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// parse_nccl_xml(): NCCL's file as a tree.
#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/number.hpp"
#include "diag/topology/nccl_xml.hpp"
#include "diag/topology/xml_text.hpp"

namespace gdrkit::diag::topology {
namespace {

Fact<std::int64_t> number_of(const std::string* text, const char* what) {
  if (text == nullptr) return {Outcome::absent, 0, std::string("the file has no ") + what};
  std::int64_t value = 0;
  if (base::parse_prefixed_number(*text, &value)) return found(value);
  return {Outcome::malformed, 0, std::string(what) + " '" + *text + "' is not a number"};
}

Fact<double> speed_of(const std::string* text) {
  if (text == nullptr) return {Outcome::absent, 0, "the file has no link_speed"};
  const double speed = std::strtod(text->c_str(), nullptr);
  if (speed > 0 && speed < 1000 && text->find("GT/s") != std::string::npos) return found(speed);
  return {Outcome::malformed, 0, "'" + *text + "' is not a link speed"};
}

unsigned count_of(const XmlElement& element, const char* key) {
  const auto number = number_of(element.attribute(key), key);
  return static_cast<unsigned>(std::clamp<std::int64_t>(number.value, 0, 1 << 30));
}

const XmlElement* child_of(const XmlElement& element, std::string_view name) {
  for (const XmlElement& child : element.children) {
    if (child.name == name) return &child;
  }
  return nullptr;
}

class Reader {
 public:
  base::Result<NcclDump> read(const XmlElement& system) {
    dump_.links.why_not = "the file contains no NVLinks";
    for (const XmlElement& cpu : system.children) {
      if (cpu.name != "cpu") continue;
      if (const auto status = read_cpu(cpu); !status.has_value()) return base::pass(status);
    }
    const auto by_address = [](const TreeDevice& a, const TreeDevice& b) {
      return a.function.address < b.function.address || (a.function.address == b.function.address && a.name < b.name);
    };
    for (auto* devices : {&dump_.tree.gpus, &dump_.tree.adapters, &dump_.tree.nvswitches}) {
      std::ranges::sort(*devices, by_address);
    }
    for (std::size_t i = 0; i < dump_.tree.gpus.size(); ++i) dump_.tree.gpus[i].name = "GPU" + std::to_string(i);
    for (std::size_t i = 0; i < dump_.tree.nvswitches.size(); ++i) {
      dump_.tree.nvswitches[i].name = "NVSwitch" + std::to_string(i);
    }
    dump_.tree.pci_outcome = dump_.tree.adapter_outcome = Outcome::found;
    return std::move(dump_);
  }

 private:
  /// The path down to a function: the switches above it, each with the port that leads on.
  struct Way {
    std::string path;
    std::vector<std::size_t> bridges;
    Fact<std::int64_t> numa;
    std::string root;
  };

  base::Status read_cpu(const XmlElement& cpu) {
    const auto numa = number_of(cpu.attribute("numaid"), "numaid");
    if (numa.is_absent()) return base::fail(EINVAL, "a <cpu> element has no numaid; write the number of its NUMA node");
    if (!numa.is_found()) return base::fail(EINVAL, "a <cpu> element is invalid: %s", numa.reason.c_str());
    const std::string* host = cpu.attribute("host_hash");
    if (host != nullptr && !host_.empty() && *host != host_)
      return base::fail(EINVAL, "the file describes several hosts; use a file of one host");
    if (host != nullptr) host_ = *host;
    const std::string root = "numa" + std::to_string(numa.value);
    const Way way{"/" + root, {}, numa, root};
    for (const XmlElement& child : cpu.children) {
      if (child.name == "nic") add_unplaced(child);
      if (child.name != "pci") continue;
      if (const auto status = read_pci(child, way); !status.has_value()) return status;
    }
    return {};
  }

  void add_unplaced(const XmlElement& nic) {
    for (const XmlElement& net : nic.children) {
      const std::string* name = net.attribute("name");
      if (name != nullptr && dump_.tree.unplaced.size() < PciTree::most_adapters) dump_.tree.unplaced.push_back(*name);
    }
  }

  base::Status read_pci(const XmlElement& pci, const Way& way) {
    const std::string* bus_id = pci.attribute("busid");
    const auto address = bus_id == nullptr ? base::Result<platform::PciAddress>(platform::PciAddress{})
                                           : platform::parse_pci_address(*bus_id);
    if (bus_id == nullptr || !address.has_value()) {
      return base::fail(EINVAL,
                        "a <pci> element has no valid busid ('%.40s'); write a PCI address such as 0000:3b:00.0",
                        bus_id == nullptr ? "" : bus_id->c_str());
    }
    ++dump_.tree.pci_count;
    PciFunction function;
    function.address = *address;
    function.name = platform::to_string(*address);
    function.vendor = number_of(pci.attribute("vendor"), "vendor");
    function.device = number_of(pci.attribute("device"), "device");
    function.subsystem_vendor = number_of(pci.attribute("subsystem_vendor"), "subsystem_vendor");
    function.subsystem_device = number_of(pci.attribute("subsystem_device"), "subsystem_device");
    function.class_code = number_of(pci.attribute("class"), "class");
    function.numa_node = way.numa;
    function.most = {speed_of(pci.attribute("link_speed")), number_of(pci.attribute("link_width"), "link_width")};
    Way own = way;
    PciFunction port;  // nameless: the file does not contain the name
    port.most = function.most;
    own.bridges.push_back(add_bridge(port));
    own.path += "/" + function.name;

    const XmlElement* gpu = child_of(pci, "gpu");
    const XmlElement* nic = child_of(pci, "nic");
    const std::int64_t kind = function.class_code.value;
    if (gpu != nullptr || kind >> 16 == 0x03 || kind == 0x03) {
      add(dump_.tree.gpus, DeviceKind::gpu, "", function, own, PciTree::most_gpus);
      if (gpu != nullptr) read_links(*gpu, *address);
    } else if (nic != nullptr || kind >> 16 == 0x02 || kind == 0x02) {
      read_nic(nic, function, own);
    } else if (kind == 0x068000 && pci.children.empty()) {
      add(dump_.tree.nvswitches, DeviceKind::nvswitch, "", function, own, PciTree::most_gpus);
    } else {
      own.bridges.push_back(add_bridge(function));
      for (const XmlElement& child : pci.children) {
        if (child.name != "pci") continue;
        if (const auto status = read_pci(child, own); !status.has_value()) return status;
      }
    }
    return {};
  }

  std::size_t add_bridge(PciFunction function) {
    dump_.tree.bridges.push_back(std::move(function));
    return dump_.tree.bridges.size() - 1;
  }

  void read_nic(const XmlElement* nic, const PciFunction& function, const Way& way) {
    bool has_net = false;
    for (const XmlElement& net : nic == nullptr ? std::vector<XmlElement>{} : nic->children) {
      const std::string* name = net.attribute("name");
      if (net.name != "net" || name == nullptr || name->empty()) continue;
      has_net = true;
      add(dump_.tree.adapters, DeviceKind::adapter, *name, function, way, PciTree::most_adapters);
    }
    if (!has_net) add(dump_.tree.adapters, DeviceKind::adapter, function.name, function, way, PciTree::most_adapters);
  }

  void add(std::vector<TreeDevice>& to, DeviceKind kind, const std::string& name, const PciFunction& function,
           const Way& way, std::size_t most) {
    if (to.size() == most) {
      ++dump_.tree.left_out;
      return;
    }
    TreeDevice device;
    device.kind = kind;
    device.name = name;
    device.function = function;
    device.real_path = found(way.path);
    device.root = way.root;
    device.bridges = way.bridges;
    device.cpus.reason = "the file does not list the CPUs of the device";
    to.push_back(std::move(device));
  }

  void read_links(const XmlElement& gpu, const platform::PciAddress& address) {
    dump_.links.is_known = true;
    NvLinks::Gpu& links = dump_.links.gpus[address];
    for (const XmlElement& link : gpu.children) {
      const unsigned count = std::min(count_of(link, "count"), 1024u);
      if (link.name == "c2c") {
        links.c2c_count = count;
        links.c2c_mb_per_s = count_of(link, "bw");
      }
      if (link.name != "nvlink") continue;
      const std::string* target = link.attribute("target");
      const std::string* kind = link.attribute("tclass");
      const auto other = target == nullptr ? base::Result<platform::PciAddress>(platform::PciAddress{})
                                           : platform::parse_pci_address(*target);
      if (kind != nullptr && kind->starts_with("0x03") && target != nullptr && other.has_value()) {
        links.to_gpus[*other] += count;
      } else if (kind == nullptr || *kind != "0x068001") {
        links.to_switches += count;
      }
    }
  }

  NcclDump dump_;
  std::string host_;
};

}  // namespace

base::Result<NcclDump> parse_nccl_xml(std::string_view text) {
  const auto root = parse_xml(text);
  if (!root.has_value()) return base::pass(root);
  if (root->name != "system") return base::fail(EINVAL, "the root element is not 'system': not an NCCL topology file");
  const auto version = number_of(root->attribute("version"), "version");
  if (!version.is_found() || version.value != nccl_xml_version) {
    return base::fail(EINVAL, "the file does not have version %d, the only one that NCCL accepts", nccl_xml_version);
  }
  return Reader().read(*root);
}

}  // namespace gdrkit::diag::topology
