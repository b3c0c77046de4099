// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// ucx_attacker PORT MESSAGE...: connects to the UCX worker that listens on this TCP port of the loopback, with UCX's
// own transport, and sends each MESSAGE (in hexadecimal digits) as an active message of user id 1.
#include <arpa/inet.h>
#include <uct/api/uct.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

// The header that UCP sends before a user's active message, and UCP's id of messages in one piece.
struct UcpHeader {
  std::uint16_t user_id;
  std::uint16_t flags;
  std::uint32_t header_bytes;
};
constexpr std::uint8_t single_piece = 23;

std::string packet;

void need(ucs_status_t status, const char* what) {
  if (status == UCS_OK) return;
  std::printf("%s: %s\n", what, ucs_status_string(status));
  std::exit(1);
}

uct_md_h open_tcp() {
  uct_component_h* components = nullptr;
  unsigned count = 0;
  need(uct_query_components(&components, &count), "uct_query_components");
  for (unsigned i = 0; i < count; ++i) {
    uct_component_attr_t attributes{};
    attributes.field_mask = UCT_COMPONENT_ATTR_FIELD_NAME;
    need(uct_component_query(components[i], &attributes), "uct_component_query");
    if (std::strcmp(attributes.name, "tcp") != 0) continue;
    uct_md_config_t* config = nullptr;
    uct_md_h domain = nullptr;
    need(uct_md_config_read(components[i], nullptr, nullptr, &config), "uct_md_config_read");
    need(uct_md_open(components[i], "tcp", config, &domain), "uct_md_open");
    return domain;
  }
  std::printf("this UCX has no TCP\n");
  std::exit(1);
}

std::string bytes_of(const char* digits) {
  std::string bytes;
  for (; digits[0] != 0 && digits[1] != 0; digits += 2) {
    bytes += static_cast<char>(std::stoi(std::string(digits, 2), nullptr, 16));
  }
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  ucs_async_context_t* async = nullptr;
  uct_worker_h worker = nullptr;
  need(ucs_async_context_create(UCS_ASYNC_MODE_THREAD_SPINLOCK, &async), "ucs_async_context_create");
  need(uct_worker_create(async, UCS_THREAD_MODE_SINGLE, &worker), "uct_worker_create");
  const uct_md_h domain = open_tcp();
  uct_iface_config_t* config = nullptr;
  need(uct_md_iface_config_read(domain, "tcp", nullptr, nullptr, &config), "uct_md_iface_config_read");
  uct_iface_params_t open{};
  open.field_mask = UCT_IFACE_PARAM_FIELD_OPEN_MODE | UCT_IFACE_PARAM_FIELD_DEVICE;
  open.open_mode = UCT_IFACE_OPEN_MODE_DEVICE;
  open.mode.device.tl_name = "tcp";
  open.mode.device.dev_name = "lo";
  uct_iface_h interface = nullptr;
  need(uct_iface_open(domain, worker, &open, config, &interface), "uct_iface_open");
  uct_iface_progress_enable(interface, UCT_PROGRESS_SEND | UCT_PROGRESS_RECV);
  alignas(8) char device_address[256] = {};
  alignas(8) char address[256] = {};
  need(uct_iface_get_device_address(interface, reinterpret_cast<uct_device_addr_t*>(device_address)), "device address");
  need(uct_iface_get_address(interface, reinterpret_cast<uct_iface_addr_t*>(address)), "address");
  const std::uint16_t port = htons(static_cast<std::uint16_t>(std::atoi(argv[1])));
  std::memcpy(address, &port, sizeof port);  // the port is the first field
  uct_ep_params_t to{};
  to.field_mask = UCT_EP_PARAM_FIELD_IFACE | UCT_EP_PARAM_FIELD_DEV_ADDR | UCT_EP_PARAM_FIELD_IFACE_ADDR;
  to.iface = interface;
  to.dev_addr = reinterpret_cast<uct_device_addr_t*>(device_address);
  to.iface_addr = reinterpret_cast<uct_iface_addr_t*>(address);
  uct_ep_h endpoint = nullptr;
  need(uct_ep_create(&to, &endpoint), "uct_ep_create");
  const auto pack = [](void* target, void*) {
    std::memcpy(target, packet.data(), packet.size());
    return packet.size();
  };
  for (int i = 2; i < argc; ++i) {
    const std::string message = bytes_of(argv[i]);
    const UcpHeader header{1, 0, static_cast<std::uint32_t>(message.size())};
    packet.assign(reinterpret_cast<const char*>(&header), sizeof header);
    packet += message;
    for (int tries = 0; uct_ep_am_bcopy(endpoint, single_piece, pack, nullptr, 0) < 0; ++tries) {
      if (tries == 5000) {
        std::printf("not connected within 5 s\n");
        return 1;
      }
      (void)uct_worker_progress(worker);
      ::usleep(1000);
    }
  }
  while (uct_ep_flush(endpoint, 0, nullptr) == UCS_INPROGRESS) (void)uct_worker_progress(worker);
  ::usleep(100'000);  // the messages must arrive before the connection ends
  std::printf("sent as user %d\n", static_cast<int>(::geteuid()));
  return 0;
}
