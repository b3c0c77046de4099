// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// HealthyMachine: two GPUs, an InfiniBand adapter and one on Ethernet behind a switch, as files in memory. Small, with
// content at every kind of path that the doctor reads.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "memory_tree.hpp"
#include "support/elf_bytes.hpp"

namespace gdrkit::fuzz {

/// Configuration space: PCI Express, AER, ACS, and the sizes of a BAR. `kind`: type in the PCI Express capability.
inline std::string config_space(unsigned kind) {
  std::string space(4096, '\0');
  const auto put = [&](std::size_t at, std::uint64_t value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; ++i) space[at + i] = static_cast<char>(value >> (8 * i));
  };
  put(0x00, 0x10de, 2);
  put(0x06, 0x10, 2);
  put(0x0e, kind == 0 ? 0 : 1, 1);
  put(0x34, 0x60, 1);
  put(0x60, 0x0010 | (2 | kind << 4) << 16, 4);
  put(0x68, 0x5050, 2);
  put(0x100, 0x0001 | 1 << 16 | 0x140 << 20, 4);
  put(0x140, 0x000d | 1 << 16 | 0x200 << 20, 4);
  put(0x144, 0x0001005f, 4);
  put(0x200, 0x0015 | 1 << 16, 4);
  put(0x204, 1u << 21, 4);
  put(0x208, 1 | 1 << 5 | 17 << 8, 4);
  return space;
}

class HealthyMachine {
 public:
  explicit HealthyMachine(MemoryTree* tree) : tree_(*tree) {
    add_system();
    add_driver();
    add_bridge(root_port, 4);
    add_bridge(root_port + "/0000:01:00.0", 5);
    for (unsigned i = 0; i < 2; ++i) {
      const std::string port = root_port + "/0000:01:00.0/0000:02:0" + std::to_string(i) + ".0";
      add_bridge(port, 6);
      add_gpu(port + "/0000:0" + std::to_string(3 + i) + ":00.0", i);
      const std::string other = root_port + "/0000:01:00.0/0000:02:0" + std::to_string(2 + i) + ".0";
      add_bridge(other, 6);
      add_adapter(other + "/0000:0" + std::to_string(5 + i) + ":00.0", i);
    }
    add_software();
    tree_.put("/gdrkit/nvml.json", nvml());
    tree_.put("/gdrkit/kernel_log",
              "0.000000 nvidia 0000:03:00.0: enabling device\n9.500000 mlx5_core 0000:05:00.0: PCIe\n");
  }

  /// Paths that the doctor checks and this machine lacks.
  static std::vector<std::string> absent_paths() {
    return {"/gdrkit-recording",
            "/.dockerenv",
            "/run/.containerenv",
            "/run/systemd/container",
            "/sys/hypervisor/type",
            "/sys/class/cxi/cxi0/device",
            "/etc/nvshmem.conf",
            "/etc/ucx/ucx.conf",
            "/etc/openmpi/openmpi-mca-params.conf",
            "/root/.nccl.conf",
            "/proc/driver/gdrdrv/nv_get_pages_refcount",
            "/sys/module/nv_peer_mem/version",
            "/sys/kernel/mm/memory_peers/nv_mem/version",
            "/sys/module/mlx_compat/version",
            "/sys/fs/cgroup/rdma.max",
            "/sys/fs/cgroup/cpuset.cpus.effective",
            "/etc/rc.local",
            "/etc/systemd/system/acs.service",
            "/etc/modprobe.d/nvidia.conf",
            "/etc/ld.so.conf",
            "/etc/ld.so.conf.d/x.conf",
            "/usr/local/lib/libgdrapi.so.2",
            "/var/run/nvidia-topologyd/virtualTopology.xml",
            "/proc/device-tree/compatible",
            "/run/slurmd.pid",
            "/sys/firmware/dmi/entries/0-0/raw",
            "/proc/self/maps",
            "/sys/bus/pci/devices/0000:07:00.0",
            "/sys/class/infiniband/mlx5_2",
            "/sys/class/net/bond0/bonding/slaves",
            "/sys/bus/pci/devices/0000:03:00.0/physfn",
            "/sys/bus/pci/devices/0000:05:00.0/virtfn0"};
  }

 private:
  inline static const std::string root_port = "/sys/devices/pci0000:00/0000:00:01.0";

  void put_all(const std::string& directory, const std::vector<std::pair<std::string, std::string>>& files) {
    for (const auto& [name, content] : files) tree_.put(directory + "/" + name, content + "\n");
  }

  void add_system() {
    put_all("/proc",
            {{"version", "Linux version 6.8.0-45-generic (builder) #45 SMP"},
             {"cmdline", "BOOT_IMAGE=/vmlinuz ro iommu=pt"},
             {"cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\nflags\t\t: fpu pat avx2"},
             {"devices", "Character devices:\n195 nvidia\n508 gdrdrv\n\nBlock devices:\n  8 sd"},
             {"modules", "nvidia_peermem 16384 0 - Live 0x0\nnvidia 16384 0 - Live 0x0\nib_core 1 0 - Live 0x0"},
             {"kallsyms", "0 T ib_register_peer_memory_client [ib_core]\n0 t nvidia_p2p_get_pages [nvidia]"},
             {"meminfo", "MemTotal:       2113407800 kB\nHugePages_Total:       0\nHugepagesize: 2048 kB"},
             {"mounts", "/dev/sda1 / ext4 rw 0 0\ntmpfs /dev/shm tmpfs rw,size=1048576k 0 0"},
             {"net/route", "Iface\tDestination\tGateway\neth1\t00000000\t0100000A\t0003\t0\t0\t0\t00000000"},
             {"sys/kernel/hostname", "host-1"},
             {"sys/kernel/numa_balancing", "0"}});
    put_all("/proc/self", {{"limits",
                            "Max stack size  8388608 unlimited bytes\nMax open files  1048576 1048576 files\n"
                            "Max locked memory  unlimited unlimited bytes"},
                           {"status", "Name:\tx\nCapEff:\t000001ffffffffff\nCpus_allowed_list:\t0-3"},
                           {"cgroup", "0::/user.slice"}});
    const char variables[] = "PATH=/usr/bin\0HOME=/root\0NCCL_IB_HCA=mlx5\0UCX_TLS=all\0LD_LIBRARY_PATH=/opt/lib";
    tree_.put("/proc/self/environ", std::string(variables, sizeof(variables)));
    put_all("/sys", {{"kernel/security/lockdown", "[none] integrity confidentiality"},
                     {"class/dmi/id/sys_vendor", "Some"},
                     {"class/dmi/id/product_name", "Server"},
                     {"fs/cgroup/cgroup.controllers", "cpuset cpu memory"}});
    tree_.put("/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c",
              std::string("\6\0\0\0\0", 5));
    const std::string system = "/sys/devices/system/";
    tree_.put(system + "cpu/online", "0-3\n");
    tree_.put(system + "node/online", "0-1\n");
    for (int i = 0; i < 4; ++i) {
      const std::string cpu = system + "cpu/cpu" + std::to_string(i);
      put_all(cpu, {{"topology/thread_siblings_list", std::to_string(i % 2 * 2) + "-" + std::to_string(i % 2 * 2 + 1)},
                    {"cpufreq/scaling_governor", "performance"},
                    {"cpufreq/scaling_driver", "acpi-cpufreq"}});
    }
    for (int i = 0; i < 2; ++i) {
      const std::string node = system + "node/node" + std::to_string(i);
      put_all(node, {{"cpulist", i == 0 ? "0-1" : "2-3"},
                     {"meminfo", "Node 0 MemTotal:  528000000 kB\nNode 0 MemFree:  500000000 kB"},
                     {"distance", i == 0 ? "10 21" : "21 10"}});
    }
  }

  void add_driver() {
    tree_.put("/proc/driver/nvidia/version",
              "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build\nGCC version: 12\n");
    tree_.put("/proc/driver/nvidia/params", "GrdmaPciTopoCheckOverride: 0\nDmaRemapPeerMmio: 1\n");
    tree_.put("/proc/driver/gdrdrv/params",
              "Version: 2.5\nBuilt for NVIDIA driver flavor: opensource\nUse persistent mapping: yes\n");
    tree_.put("/proc/driver/gdrdrv/owners", "process pins bytes\n17 2 65536\nrefused by the NVIDIA driver: 0\n");
    put_all("/sys/module", {{"nvidia/version", "580.159.04"},
                            {"gdrdrv/version", "2.5.1"},
                            {"gdrdrv/initstate", "live"},
                            {"gdrdrv/refcnt", "0"},
                            {"nvidia_peermem/version", "580.159.04"},
                            {"nvidia_peermem/parameters/peerdirect_support", "0"},
                            {"nvidia_peermem/parameters/persistent_api_support", "1"},
                            {"ib_core/parameters/netns_mode", "Y"},
                            {"ib_uverbs/initstate", "live"},
                            {"rdma_ucm/initstate", "live"},
                            {"mlx5_core/version", "24.10"}});
    tree_.put_device("/dev/nvidiactl", 195, 255);
    tree_.put_device("/dev/nvidia-uvm", 510, 0);
    tree_.put_device("/dev/gdrdrv", 508, 0);
  }

  void add_function(const std::string& path, const char* vendor, const char* device, const char* type, unsigned kind) {
    const std::string address = path.substr(path.rfind('/') + 1);
    tree_.put_link("/sys/bus/pci/devices/" + address, "../../.." + path.substr(4));
    put_all(path, {{"vendor", vendor},
                   {"device", device},
                   {"class", type},
                   {"current_link_speed", "32.0 GT/s PCIe"},
                   {"max_link_speed", "32.0 GT/s PCIe"},
                   {"current_link_width", "16"},
                   {"max_link_width", "16"}});
    tree_.put(path + "/config", config_space(kind));
    if (kind != 0) return;
    put_all(path, {{"numa_node", "0"},
                   {"local_cpulist", "0-1"},
                   {"aer_dev_fatal", "DLP 0\nTOTAL_ERR_FATAL 0"},
                   {"aer_dev_nonfatal", "DLP 0\nTOTAL_ERR_NONFATAL 0"},
                   {"aer_dev_correctable", "RxErr 0\nTOTAL_ERR_COR 0"},
                   {"iommu_group/type", "identity"}});
  }
  void add_bridge(const std::string& path, unsigned kind) { add_function(path, "0x1000", "0xc030", "0x060400", kind); }

  void add_gpu(const std::string& path, unsigned number) {
    add_function(path, "0x10de", "0x2330", "0x030200", 0);
    const std::string digit = std::to_string(2 + number);
    tree_.put(path + "/resource", "0x00000000fa000000 0x00000000faffffff 0x0000000000040200\n0x0 0x0 0x0\n0x00000" +
                                      digit + "0000000000 0x00000" + digit +
                                      "1fffffffff 0x000000000014220c\n0x0 0x0 0x0\n0x0 0x0 0x0\n0x0 0x0 0x0\n");
    tree_.put_link(path + "/driver", "/sys/bus/pci/drivers/nvidia");
    tree_.put("/sys/bus/pci/drivers/nvidia/bind", "");
    tree_.put_device("/dev/nvidia" + std::to_string(number), 195, number);
    tree_.put("/proc/driver/nvidia/gpus/" + path.substr(path.rfind('/') + 1) + "/information",
              "Model: \t NVIDIA H100\n");
  }

  void add_adapter(const std::string& path, unsigned number) {
    const bool is_ethernet = number == 1;
    add_function(path, "0x15b3", "0x1021", is_ethernet ? "0x020000" : "0x020700", 0);
    const std::string directory = "/sys/class/infiniband/mlx5_" + std::to_string(number);
    tree_.put_link(directory + "/device", "../../.." + path.substr(4));
    put_all(directory, {{"board_id", "MT_0000000838"}, {"fw_ver", "28.43.1014"}, {"node_guid", "a088:c203:0042:0001"}});
    put_all(directory + "/ports/1", {{"state", "4: ACTIVE"},
                                     {"phys_state", "5: LinkUp"},
                                     {"rate", "400 Gb/sec (4X NDR)"},
                                     {"link_layer", is_ethernet ? "Ethernet" : "InfiniBand"},
                                     {"lid", is_ethernet ? "0x0" : "0x1a"},
                                     {"sm_lid", is_ethernet ? "0x0" : "0x1"},
                                     {"counters/symbol_error", "0"},
                                     {"counters/port_xmit_wait", "0"},
                                     {"counters/port_xmit_data", "0"},
                                     {"hw_counters/out_of_sequence", "0"},
                                     {"hw_counters/rp_cnp_handled", "0"}});
    tree_.put_device("/dev/infiniband/uverbs" + std::to_string(number), 231, 192 + number);
    if (!is_ethernet) return;
    for (const std::string gid : {"0", "1"}) {
      put_all(directory + "/ports/1", {{"gids/" + gid, "0000:0000:0000:0000:0000:ffff:0a00:0001"},
                                       {"gid_attrs/types/" + gid, gid == "1" ? "RoCE v2" : "IB/RoCE v1"},
                                       {"gid_attrs/ndevs/" + gid, "eth1"}});
    }
    put_all(directory, {{"tc/1/traffic_class", "Global tclass=106"}});
    put_all(path + "/net/eth1", {{"mtu", "9000"},
                                 {"operstate", "up"},
                                 {"type", "1"},
                                 {"ecn/roce_np/enable/3", "1"},
                                 {"ecn/roce_rp/enable/3", "1"}});
    tree_.put_link("/sys/class/net/eth1", path + "/net/eth1");
  }

  void add_software() {
    test::ElfBytes verbs;
    verbs.add_symbols({{"ibv_open_device", "IBVERBS_1.1"}, {"ibv_reg_dmabuf_mr", "IBVERBS_1.12"}});
    const std::string directory = "/usr/lib/x86_64-linux-gnu/";
    tree_.put(directory + "libibverbs.so.1.14.39.0", verbs.bytes());
    tree_.put_link(directory + "libibverbs.so.1", "libibverbs.so.1.14.39.0");
    tree_.put(directory + "libnvidia-ml.so.580.159.04", "");
    tree_.put_link(directory + "libnvidia-ml.so.1", "libnvidia-ml.so.580.159.04");
    test::ElfBytes module;
    module.add(".modinfo", SHT_PROGBITS, std::string("license=Dual MIT/GPL\0version=580.159.04\0", 40));
    tree_.put("/lib/modules/6.8.0-45-generic/updates/dkms/nvidia-peermem.ko", module.bytes());
    tree_.put("/lib/modules/6.8.0-45-generic/modules.dep", "updates/dkms/nvidia-peermem.ko: updates/dkms/nvidia.ko\n");
    tree_.put("/etc/os-release", "NAME=Some\nID=some\n");
    tree_.put("/etc/hostname", "host-1\n");
    tree_.put("/etc/nccl.conf", "# own\nNCCL_SOCKET_IFNAME=eth1\n");
    tree_.put("/etc/systemd/logind.conf", "[Login]\n#RemoveIPC=no\n");
    tree_.put("/etc/modules-load.d/gpu.conf", "nvidia-peermem\n");
  }

  static std::string nvml() {
    using Json = nlohmann::ordered_json;
    const Json gpu = Json::parse(R"({"index": 0, "address": "", "name": "NVIDIA H100", "brand": 14, "uuid": "",
        "compute_capability": 90, "memory_bytes": 85899345920, "bar1_total_bytes": 137438953472,
        "bar1_used_bytes": 1048576, "bar1_free_bytes": 137437904896, "ecc_enabled": true, "ecc_enabled_next": true,
        "ecc_uncorrected": 0, "remap_pending": false, "remap_failed": false, "persistence": true, "compute_mode": 0,
        "mig": false, "mig_next": false, "pcie_generation": 5, "pcie_generation_max": 5, "pcie_generation_gpu_max": 5,
        "pcie_width": 16, "pcie_width_max": 16, "virtualization": 0, "fabric_state": 3, "fabric_status": 0,
        "fabric_clique": 0, "fabric_cluster": "00000000000000000000000000000000", "c2c_links": 0, "cpus": "0-1",
        "cuda_rdma": true, "cuda_rdma_vmm": true, "cuda_dmabuf": true, "cuda_rdma_flush": 1,
        "cuda_rdma_ordering": 200, "nvlink_count": 2, "links": []})");
    const Json link = Json::parse(R"({"index": 0, "is_active": true, "remote": "0000:f1:00.0",
        "remote_kind": "switch", "can_p2p": true, "speed_mbps": 26562})");
    Json facts = Json::parse(R"({"schema": "gdrkit.nvml/1", "driver_version": "580.159.04",
        "nvml_version": "13.580.159.04", "cuda_version": 13000, "cuda_library_version": 13000, "cc_environment": 0,
        "cc_enabled": false, "cc_developer_mode": false, "cc_multi_gpu": 0, "gpus": [],
        "pairs": [{"first": 0, "second": 1, "common_ancestor": 50, "p2p_read": 0, "p2p_write": 0, "p2p_nvlink": 0}]})");
    for (int i = 0; i < 2; ++i) {
      Json& added = facts["gpus"].emplace_back(gpu);
      added["index"] = i;
      added["address"] = "0000:0" + std::to_string(3 + i) + ":00.0";
      added["uuid"] = "GPU-" + std::to_string(i);
      for (int number = 0; number < 2; ++number) added["links"].emplace_back(link)["index"] = number;
    }
    return facts.dump();
  }

  MemoryTree& tree_;
};

}  // namespace gdrkit::fuzz
