// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Group gdrdrv: the kernel module that GDRCopy needs and gdrkit does not.
#include <algorithm>
#include <cstdio>

#include "diag/doctor/check.hpp"
#include "diag/machine/elf_file.hpp"
#include "diag/machine/libraries.hpp"

namespace gdrkit::diag::doctor {
namespace {

constexpr char open_flavour[] = "opensource";
constexpr char mark_of_gdrkit[] = "GDRKIT_BACKEND";  // a variable that only gdrkit's libgdrapi reads

constexpr unsigned misc_major = 10;

/// The number before "gdrdrv" in /proc/devices or /proc/misc; -1 if it is not listed.
int number_of_gdrdrv(const std::string& list) {
  const auto at = list.find(" gdrdrv\n");
  if (at == std::string::npos) return -1;
  const auto line = list.rfind('\n', at);
  int number = -1;
  return std::sscanf(list.c_str() + (line == std::string::npos ? 0 : line + 1), "%d", &number) == 1 ? number : -1;
}

/// Reads a line of /proc/driver/gdrdrv/params, which exists in gdrkit's module and in GDRCopy's since 2.5. Returns
/// false after adding a finding with the reason.
bool take_param(const Machine& machine, Findings& findings, const char* label, std::string* value) {
  const auto directory = machine.view.node("/sys/module/gdrdrv");
  const auto line = labelled(machine.view.text("/proc/driver/gdrdrv/params"), label);
  if (line.is_unknown() || (line.is_absent() && directory.is_unknown())) {
    findings.add(State::unknown, "gdrdrv", line.is_unknown() ? line.reason : directory.reason);
  } else if (line.is_absent()) {
    findings.add(State::skip, "",
                 directory.is_absent()
                     ? "gdrdrv is not loaded: no /sys/module/gdrdrv"
                     : "gdrdrv does not report its parameters (versions before 2.5 cannot): " + line.reason);
  }
  *value = line.value;
  return line.is_found();
}

/// "opensource" or "proprietary" in gdrdrv's description of its build; malformed if it contains neither.
Fact<std::string> flavour_in(const std::string& sentence) {
  const bool is_open = sentence.find(open_flavour) != std::string::npos;
  if (is_open || sentence.find("proprietary") != std::string::npos) {
    return {Outcome::found, is_open ? open_flavour : "proprietary", ""};
  }
  return {Outcome::malformed, "", "'" + sentence + "' contains neither 'opensource' nor 'proprietary'"};
}

/// The flavour of gdrdrv.ko in the directories of DKMS and packages, for the running Linux.
Fact<std::string> flavour_of_file(const Machine& machine) {
  const auto version = read_linux_version(machine.view);
  if (!version.is_found()) return {version.outcome, "", version.reason};
  if (version.value.text.find('/') != std::string::npos)
    return {Outcome::malformed, "", "/proc/version: cannot parse the release"};
  for (const char* directory : {"updates/dkms", "extra", "updates", "kernel/drivers/misc"}) {
    const std::string path = "/lib/modules/" + version.value.text + "/" + directory + "/gdrdrv.ko";
    const auto file = ElfFile::open(machine.view, path);
    if (file.is_absent()) continue;
    if (!file.is_found()) return {file.outcome, "", file.reason};
    const auto description = file.value.modinfo("description");
    return description.is_found() ? flavour_in(description.value) : description;
  }
  return {Outcome::absent, "", "gdrdrv is not loaded, and no gdrdrv.ko found below /lib/modules"};
}

/// The flavour of the loaded module: from its file in /proc, or from its message at load time.
Fact<std::string> flavour_of_loaded(const Machine& machine) {
  const auto line = labelled(machine.view.text("/proc/driver/gdrdrv/params"), "Built for NVIDIA driver flavor");
  if (line.is_unknown()) return line;
  if (line.is_found()) return flavour_in(line.value);
  const auto& messages = machine.probe.kernel_log.value.messages;
  for (auto at = messages.rbegin(); at != messages.rend(); ++at) {
    if (at->text.starts_with("gdrdrv") && at->text.find(" built for ") != std::string::npos)
      return flavour_in(at->text);
  }
  return {Outcome::absent, "",
          "gdrdrv does not report the flavour that it was built for (versions before 2.5 cannot): " + line.reason};
}

/// Pins by process as gdrkit's module lists them: a heading, lines "process pins bytes", and the number of releases
/// that the driver refused.
struct Owners {
  unsigned processes = 0;
  unsigned long long pins = 0;
  unsigned refused = 0;
  bool is_whole = false;
};

Owners parse_owners(const std::string& text) {
  Owners owners;
  for (const std::string& line : split(text, '\n')) {
    int process = 0;
    unsigned long long pins = 0;
    if (std::sscanf(line.c_str(), "%d %llu", &process, &pins) == 2) {
      ++owners.processes;
      owners.pins += pins;
    }
    if (std::sscanf(line.c_str(), "refused by the NVIDIA driver: %u", &owners.refused) == 1) owners.is_whole = true;
  }
  return owners;
}

}  // namespace

const Advice advice_gdr_module = {
    "/sys/module/gdrdrv, and whether a libgdrapi in the usual directories is GDRCopy's",
    "without gdrdrv, GDRCopy's library cannot map GPU memory, so NCCL, UCX and NVSHMEM cannot use GDRCopy",
    {"sudo modprobe gdrdrv   # permanently: echo gdrdrv | sudo tee /etc/modules-load.d/gdrkit-gdrdrv.conf; for a "
     "container: on its host",
     true, false, false, "ls -d /sys/module/gdrdrv"},
    "gdrkit's own library needs no module: it maps through the stock driver. GDRCopy 2.6 needs none on drivers of CUDA "
    "13.3 and later, with GDRCOPY_USE_DMABUF_MMAP=1",
    {.now = "modprobe gdrdrv",
     .file = "/etc/modules-load.d/gdrkit-gdrdrv.conf",
     .text = "gdrdrv",
     .risk = "fails if gdrdrv is not installed. GDRCopy's gdrdrv does not create /dev/gdrdrv: start its service "
             "(gdrcopy), or run the commands that gdrkit doctor fix gdr.node prints"}};

void check_gdr_module(const Machine& machine, Findings& findings) {
  if (gpus_or_skip(machine, findings).empty()) return;
  const auto directory = machine.view.node("/sys/module/gdrdrv");
  if (directory.is_unknown()) return findings.add_unknown("", directory);
  if (directory.is_absent()) {
    const auto libraries = Libraries(machine.view).named("libgdrapi");
    if (libraries.is_unknown()) return findings.add_unknown("libgdrapi", libraries);
    for (const Library& library : libraries.value) {
      const auto is_own = machine.view.holds(library.path, mark_of_gdrkit);
      if (is_own.is_unknown()) return findings.add_unknown(library.path, is_own);
      if (!is_own.value)
        return findings.add(State::warn, library.path, "is GDRCopy's library, and gdrdrv is not loaded");
    }
    return findings.add(State::info, "gdrdrv", "is not loaded: GDRCopy needs it, gdrkit does not");
  }
  const auto state = machine.view.line("/sys/module/gdrdrv/initstate");
  if (state.is_unknown()) return findings.add_unknown("gdrdrv", state);
  const bool is_live = state.is_absent() || state.value == "live";
  findings.add(is_live ? State::ok : State::warn, "gdrdrv",
               is_live ? "is loaded" : "is loading or unloading: its state is '" + state.value + "'");
}

const Advice advice_gdr_version = {
    "/sys/module/gdrdrv/version, and the version of each libgdrapi in the usual directories",
    "gdrkit and GDRCopy 2.x refuse gdrdrv before 2.0; gdrdrv before 2.4 lacks calls that newer libraries use; a "
    "library newer than gdrdrv runs without the features that gdrdrv lacks",
    {"install gdrdrv 2.4 or newer (kernel/README.md of gdrkit, or GDRCopy's package) and reload it", true, false, true,
     "cat /sys/module/gdrdrv/version"},
    "a missing gdrdrv is not a fault, because gdrkit then maps through the stock driver. In a container, this check "
    "compares the container's libgdrapi with the host's gdrdrv"};

void check_gdr_version(const Machine& machine, Findings& findings) {
  const auto version = machine.view.line("/sys/module/gdrdrv/version");
  if (version.is_absent()) return findings.add(State::skip, "", "gdrdrv is not loaded: no /sys/module/gdrdrv/version");
  if (!version.is_found()) return findings.add_unknown("", version);
  int major = 0;
  int minor = 0;
  if (std::sscanf(version.value.c_str(), "%d.%d", &major, &minor) != 2) {
    return findings.add(State::unknown, "gdrdrv", "'" + version.value + "' is not a version");
  }
  const State state = major < 2 ? State::fail : major == 2 && minor < 4 ? State::warn : State::ok;
  findings.add(state, "gdrdrv", version.value);
  for (const Library& library : Libraries(machine.view).named("libgdrapi").value) {
    int own_major = 0;
    int own_minor = 0;
    if (std::sscanf(library.version.c_str(), "%d.%d", &own_major, &own_minor) != 2) continue;
    const bool is_newer = own_major > major || (own_major == major && own_minor > minor);
    findings.add(is_newer || own_major < major ? State::warn : State::ok, library.path,
                 is_newer            ? "is newer than gdrdrv " + version.value
                 : own_major < major ? "is of a release before gdrdrv " + version.value
                                     : "fits gdrdrv " + version.value);
  }
}

const Advice advice_gdr_node = {
    "/dev/gdrdrv (type, numbers, permissions) and the numbers of gdrdrv in /proc/devices and /proc/misc",
    "programs open this node; the major number may change each time the module is loaded, and a stale node, made for "
    "an "
    "earlier module, refers to another device or to none",
    {"sudo rm -f /dev/gdrdrv; sudo mknod -m 666 /dev/gdrdrv c $(awk '$2==\"gdrdrv\"{print $1}' /proc/devices) 0   "
     "# container: --device /dev/gdrdrv",
     true, false, false, "ls -l /dev/gdrdrv; grep gdrdrv /proc/devices"},
    "",
    {.now = "gdrdrv_major=$(awk '$2==\"gdrdrv\"{print $1}' /proc/devices)\n"
            "test -n \"$gdrdrv_major\"\n"
            "rm -f /dev/gdrdrv\n"
            "mknod -m 666 /dev/gdrdrv c \"$gdrdrv_major\" 0",
     .risk = "every user of the machine can then use gdrdrv, as with GDRCopy's own service"}};

void check_gdr_node(const Machine& machine, Findings& findings) {
  const auto devices = machine.view.text("/proc/devices");
  if (!devices.is_found()) return findings.add_unknown("", devices);
  const int major = number_of_gdrdrv(devices.value);
  const auto misc = machine.view.text("/proc/misc");
  const int minor = misc.is_found() ? number_of_gdrdrv(misc.value) : -1;  // of gdrkit's module, which has both numbers
  const auto node = machine.view.node("/dev/gdrdrv");
  if (major < 0 && minor < 0) {
    if (node.is_found() && node.value.kind == topology::NodeKind::character_device) {
      return findings.add(
          State::warn, "/dev/gdrdrv",
          cli::format("is stale: it has the number %u:%u, and no gdrdrv is loaded (not in /proc/devices)",
                      node.value.major, node.value.minor));
    }
    return findings.add(State::skip, "", "gdrdrv is not loaded: not in /proc/devices");
  }
  if (node.is_unknown()) return findings.add_unknown("", node);
  if (node.is_absent()) return findings.add(State::fail, "/dev/gdrdrv", "is missing, but gdrdrv is loaded");
  const auto& found = node.value;
  const bool is_character = found.kind == topology::NodeKind::character_device;
  const bool is_own = found.major == misc_major ? static_cast<int>(found.minor) == minor
                                                : static_cast<int>(found.major) == major && found.minor == 0;
  if (!is_character) return findings.add(State::fail, "/dev/gdrdrv", "is not a character device");
  if (!is_own) {
    return findings.add(State::fail, "/dev/gdrdrv",
                        cli::format("is stale: it has the number %u:%u, and the loaded gdrdrv has %d:0", found.major,
                                    found.minor, major));
  }
  const bool is_open = (found.mode & 06) == 06;
  findings.add(is_open ? State::ok : State::warn, "/dev/gdrdrv",
               cli::format("%u:%u, mode %04o, user %u, group %u%s", found.major, found.minor, found.mode, found.user,
                           found.group, is_open ? "" : ": not accessible to all users"));
}

const Advice advice_gdr_flavour = {
    "'Built for NVIDIA driver flavor' in /proc/driver/gdrdrv/params, or the message of gdrdrv when it was loaded "
    "(level "
    "probe), or the description in gdrdrv.ko below /lib/modules; and the flavour of the driver",
    "gdrdrv built for the proprietary driver works with the open driver, but maps memory of coherent GPUs (Grace) "
    "uncached, which is slow; gdrdrv built for the open driver cannot be loaded with the proprietary driver",
    {"rebuild gdrdrv with the headers of the loaded driver (dkms install --force gdrdrv/VERSION) and reload it", true,
     false, true, "grep flavor /proc/driver/gdrdrv/params; head -1 /proc/driver/nvidia/version"},
    "gdrdrv reports its flavour in /proc since GDRCopy 2.5; of older versions this check reads gdrdrv.ko if it is not "
    "compressed",
    {},
    {{RecordedPath::Kind::content, "/lib/modules/*/{updates/dkms,extra,updates,kernel/drivers/misc}/gdrdrv.ko",
      "the flavour of a gdrdrv that is not loaded"}}};

void check_gdr_flavour(const Machine& machine, Findings& findings) {
  if (machine.driver.is_absent()) {
    return findings.add(State::skip, "", "no /proc/driver/nvidia/version: see drv.loaded");
  }
  const auto params = machine.view.node("/proc/driver/gdrdrv/params");
  const auto directory = machine.view.node("/sys/module/gdrdrv");
  const bool is_loaded = !params.is_absent() || directory.is_found();
  if (!is_loaded && directory.is_unknown()) return findings.add_unknown("gdrdrv", directory);
  const auto built = is_loaded ? flavour_of_loaded(machine) : flavour_of_file(machine);
  if (built.is_absent()) return findings.add(State::skip, "", built.reason);
  if (!built.is_found()) return findings.add_unknown("gdrdrv", built);
  if (!machine.driver.is_found()) return findings.add_unknown("nvidia", machine.driver);
  const bool is_open = machine.driver.value.find("Open Kernel Module") != std::string::npos;
  const bool is_same = (built.value == open_flavour) == is_open;
  const State state = is_same ? State::ok : is_open ? State::warn : State::fail;
  findings.add(state, "gdrdrv",
               std::string(is_loaded ? "was" : "is not loaded; gdrdrv.ko was") + " built for the " + built.value +
                   " driver, " + (is_same ? "and" : "but") + " the driver is " + (is_open ? "open" : "proprietary"));
}

const Advice advice_gdr_persist = {
    "'Use persistent mapping' in /proc/driver/gdrdrv/params",
    "with 'yes' memory stays pinned until it is unpinned; with 'no' freeing the memory revokes the mapping, and a "
    "later access ends the program with SIGBUS",
    {"options gdrdrv use_persistent_mapping=1 in /etc/modprobe.d/gdrdrv.conf, then reload gdrdrv", true, false, true,
     "grep persistent /proc/driver/gdrdrv/params"},
    "vGPU and MIG do not support persistent pins: there 'no' is correct"};

void check_gdr_persist(const Machine& machine, Findings& findings) {
  std::string value;
  if (!take_param(machine, findings, "Use persistent mapping", &value)) return;
  const State state = value == "yes" ? State::ok : value == "no" ? State::info : State::unknown;
  findings.add(state, "gdrdrv", "uses persistent mappings: " + value);
}

const Advice advice_gdr_leak = {
    "/proc/driver/gdrdrv/owners (gdrkit's module), or nv_get_pages_refcount in the same directory (GDRCopy's, with "
    "dbg_enabled=1) and /sys/module/gdrdrv/refcnt, which counts open files",
    "pinned pages without an owner stay in BAR1 until the module is reloaded or the GPU is reset",
    {"end the programs that use the GPU, then sudo modprobe -r gdrdrv && sudo modprobe gdrdrv; if it does not unload, "
     "reboot",
     true, false, true, "sudo cat /proc/driver/gdrdrv/owners"},
    "only root can read these files",
    {.now = "if modprobe -r gdrdrv; then\n"
            "  modprobe gdrdrv\n"
            "else\n"
            "  echo 'gdrdrv is in use: end the programs that hold it and run this again, or reboot' >&2\n"
            "fi",
     .risk = "programs cannot use gdrdrv in the meantime, and its major number may change: check gdr.node afterwards"}};

void check_gdr_leak(const Machine& machine, Findings& findings) {
  const auto text = machine.view.text("/proc/driver/gdrdrv/owners");
  if (text.is_unknown()) return findings.add_unknown("gdrdrv", text);
  if (text.is_found()) {
    const Owners owners = parse_owners(text.value);
    if (!owners.is_whole) {
      return findings.add(State::unknown, "/proc/driver/gdrdrv/owners", "has no line 'refused by the NVIDIA driver'");
    }
    return findings.add(owners.refused > 0 ? State::warn : State::ok, "gdrdrv",
                        cli::format("%llu pins of %u processes, %u that the NVIDIA driver refused to release",
                                    owners.pins, owners.processes, owners.refused));
  }
  const auto pins = machine.view.number("/proc/driver/gdrdrv/nv_get_pages_refcount");
  if (pins.is_absent()) return findings.add(State::skip, "", "gdrdrv is not loaded, or does not count pins");
  if (!pins.is_found()) return findings.add_unknown("gdrdrv", pins);
  const auto files = machine.view.number("/sys/module/gdrdrv/refcnt");
  if (!files.is_found()) return findings.add(State::unknown, "gdrdrv", files.reason);
  findings.add(pins.value > 0 && files.value == 0 ? State::warn : State::ok, "gdrdrv",
               cli::format("%lld pins, %lld open files", static_cast<long long>(pins.value),
                           static_cast<long long>(files.value)));
}

}  // namespace gdrkit::diag::doctor
