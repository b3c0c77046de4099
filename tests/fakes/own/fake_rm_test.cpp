// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The fake driver rejects what the real one rejects, and detects errors that work on the real one by luck.
#include "fakes/fake_rm.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "fakes/raw_rm.hpp"

namespace gdrkit::fakes {
namespace {

constexpr Handle device = 0x10, subdevice = 0x11, memory = 0x12, cuda_object = 0x5c000001;

/// A client with device, subdevice and a duplicate of 4 MiB of CUDA's memory.
class FakeRmTest : public ::testing::Test {
 protected:
  explicit FakeRmTest(const char* version = "580.159.04")
      : rm(driver_model(version), {make_gpu(0), make_gpu(1)}), raw(rm) {
    cuda_client = rm.add_cuda_client(FakeRm::process_id);
    object = std::make_shared<PhysicalMemory>(0, 4 * mib, 2 * mib);
    rm.place(cuda_client, cuda_object, object);
    raw.add_client();
    node = raw.open_device(rm.gpus()[0]);
    EXPECT_EQ(raw.allocate(raw.root, device, rm_class::device, rm.gpus()[0].device_instance), rm_status::ok);
    EXPECT_EQ(raw.allocate(device, subdevice, rm_class::subdevice, 0), rm_status::ok);
    EXPECT_EQ(raw.duplicate(device, memory, cuda_client, cuda_object), rm_status::ok);
  }

  /// Maps `length` bytes at `offset`. Returns the address, or nullptr.
  std::uint8_t* map(std::uint64_t offset, std::uint64_t length, int* fd) {
    *fd = raw.open_device(rm.gpus()[0]);
    if (raw.map(device, memory, offset, length, *fd) != rm_status::ok) return nullptr;
    void* mapped = nullptr;
    return rm.mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0, &mapped) == 0
               ? static_cast<std::uint8_t*>(mapped)
               : nullptr;
  }
  bool has_violation(const char* text) {
    const auto all = rm.violations().list();
    return std::any_of(all.begin(), all.end(),
                       [&](const std::string& violation) { return violation.find(text) != std::string::npos; });
  }

  FakeRm rm;
  RawRm raw;
  Handle cuda_client;
  std::shared_ptr<PhysicalMemory> object;
  int node;
};

TEST_F(FakeRmTest, MapsTheAllocatedMemory) {
  int fd = -1;
  auto* mapped = map(4096, 8192, &fd);
  ASSERT_NE(mapped, nullptr);
  object->bytes()[4096 + 5] = 0x77;
  EXPECT_EQ(mapped[5], 0x77);
  mapped[8191] = 0x66;
  EXPECT_EQ(object->bytes()[4096 + 8191], 0x66);
  EXPECT_EQ(raw.flags, 0x1010000u);
  EXPECT_EQ(rm.munmap(mapped, 8192), 0);
  EXPECT_EQ(raw.unmap(device, memory, raw.linear), rm_status::ok);
  EXPECT_EQ(raw.free(raw.root), rm_status::ok);
  rm.close(fd);
  rm.close(node);
  rm.close(raw.control_file());
  EXPECT_EQ(rm.census(), Census());
  EXPECT_TRUE(rm.violations().list().empty());
}

TEST_F(FakeRmTest, RejectsOffsetsAndEndsBeyondTheObject) {
  const int fd = raw.open_device(rm.gpus()[0]);
  EXPECT_EQ(raw.map(device, memory, 4 * mib, 4096, fd), rm_status::invalid_base);
  EXPECT_EQ(raw.map(device, memory, 4 * mib - 4096, 8192, fd), rm_status::invalid_limit);
}

TEST_F(FakeRmTest, HoldsOneMappingForTheLifeOfADeviceFile) {
  const int fd = raw.open_device(rm.gpus()[0]);
  ASSERT_EQ(raw.map(device, memory, 0, 4096, fd), rm_status::ok);
  EXPECT_EQ(raw.map(device, memory, 8192, 4096, fd), rm_status::state_in_use);
  ASSERT_EQ(raw.unmap(device, memory, raw.linear), rm_status::object_not_found)
      << "a rejected map must return no address";
}

TEST_F(FakeRmTest, MapsOnlyThroughAFileOfTheSameGpu) {
  const int fd = raw.open_device(rm.gpus()[1]);
  EXPECT_EQ(raw.map(device, memory, 0, 4096, fd), rm_status::invalid_argument);
  EXPECT_EQ(raw.map(device, memory, 0, 4096, raw.control_file()), rm_status::invalid_argument);
}

TEST_F(FakeRmTest, AcceptsOnlyTheExactLengthAndOffsetZeroInMmap) {
  const int fd = raw.open_device(rm.gpus()[0]);
  void* mapped = nullptr;
  EXPECT_EQ(rm.mmap(nullptr, 8192, PROT_READ, MAP_SHARED, fd, 0, &mapped), -EINVAL)
      << "nothing is mapped on this file yet";
  ASSERT_EQ(raw.map(device, memory, 100, 5000, fd), rm_status::ok);
  EXPECT_EQ(rm.mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd, 0, &mapped), -ENXIO);
  EXPECT_EQ(rm.mmap(nullptr, 12288, PROT_READ, MAP_SHARED, fd, 0, &mapped), -ENXIO);
  EXPECT_EQ(rm.mmap(nullptr, 8192, PROT_READ, MAP_SHARED, fd, 4096, &mapped), -ENXIO);
  ASSERT_EQ(rm.mmap(nullptr, 8192, PROT_READ, MAP_SHARED, fd, 0, &mapped), 0);
  EXPECT_EQ(rm.munmap(mapped, 8192), 0);
}

TEST_F(FakeRmTest, LinksADeviceFileOnce) {
  const int fd = raw.open_device(rm.gpus()[0]);
  EXPECT_EQ(raw.last_result, 0);
  EXPECT_EQ(raw.link(fd), -EINVAL);
}

TEST_F(FakeRmTest, AcceptsAClientOnlyOnItsOwnFileAndThoseLinkedToIt) {
  auto bytes = RawRm::words<16>({raw.root, 0, memory});
  const int unlinked = rm.open("/dev/nvidiactl", O_RDWR);
  raw.call(unlinked, command::rm_free, bytes);
  EXPECT_EQ(get<std::uint32_t>(bytes.data(), 12), rm_status::invalid_client);
  raw.call(node, command::rm_free, bytes);
  EXPECT_EQ(get<std::uint32_t>(bytes.data(), 12), rm_status::ok);
}

TEST_F(FakeRmTest, SharesMemoryWithinOneProcessOnly) {
  const Handle other = rm.state().add_client(99, FakeRm::process_id + 1);
  rm.state().place(other, cuda_object, object);
  EXPECT_EQ(raw.duplicate(device, 0x20, other, cuda_object), rm_status::insufficient_permissions);
  EXPECT_EQ(raw.duplicate(device, 0x20, 0xdead, cuda_object), rm_status::invalid_client);
  EXPECT_EQ(raw.duplicate(device, 0x20, cuda_client, 0xdead), rm_status::object_not_found);
  EXPECT_EQ(raw.duplicate(device, memory, cuda_client, cuda_object), rm_status::duplicate_name);
}

TEST_F(FakeRmTest, DuplicatesMemoryOfASubdeviceUnderOneOnly) {
  object->needs_subdevice_parent = true;
  EXPECT_EQ(raw.duplicate(device, 0x20, cuda_client, cuda_object), rm_status::invalid_object_parent);
  EXPECT_EQ(raw.duplicate(subdevice, 0x20, cuda_client, cuda_object), rm_status::ok);
}

TEST_F(FakeRmTest, AllocatesADeviceOnlyForAProcessThatHasItOpen) {
  const std::uint32_t other = rm.gpus()[1].device_instance;
  EXPECT_EQ(raw.allocate(raw.root, 0x30, rm_class::device, other), rm_status::insufficient_permissions);
  raw.open_device(rm.gpus()[1]);
  EXPECT_EQ(raw.allocate(raw.root, 0x30, rm_class::device, other), rm_status::ok);
}

TEST_F(FakeRmTest, ChecksTheSizeOfControlParameters) {
  auto gid = RawRm::words<268>({0, 2});
  EXPECT_EQ(raw.control(subdevice, control_command::gid_info, gid.data(), 264), rm_status::invalid_param_struct);
  EXPECT_EQ(raw.control(subdevice, control_command::gid_info, gid.data(), 268), rm_status::ok);
  EXPECT_EQ(std::memcmp(gid.data() + 12, rm.gpus()[0].uuid.data(), 16), 0);
}

TEST_F(FakeRmTest, RejectsStructuresOfAnotherSizeWithoutWriting) {
  std::array<std::uint8_t, 24> bytes{};
  bytes.fill(0xaa);
  EXPECT_EQ(raw.call(raw.control_file(), command::rm_free, bytes), -EINVAL);
  EXPECT_EQ(bytes[12], 0xaa);
}

TEST_F(FakeRmTest, AllocatesBar1InGpuPagesUntilItIsFull) {
  Bar1Heap& heap = rm.state().bar1(0);
  const std::uint64_t before = heap.available();
  const int first = raw.open_device(rm.gpus()[0]);
  ASSERT_EQ(raw.map(device, memory, 4096, 4096, first), rm_status::ok);
  EXPECT_EQ(before - heap.available(), 2 * mib) << "BAR1 is allocated in pages of the memory";
  heap.occupy(2 * mib, heap.size() - 2 * mib);
  const int second = raw.open_device(rm.gpus()[0]);
  EXPECT_EQ(raw.map(device, memory, 0, 4096, second), rm_status::no_memory);
}

TEST_F(FakeRmTest, MapsDiscontiguouslyOnNewDriversOnly) {
  for (const char* version : {"560.28.03", "565.57.01"}) {
    const DriverModel model = driver_model(version);
    Bar1Heap heap(0, 16 * mib);
    heap.occupy(4 * mib, 2 * mib);
    heap.occupy(10 * mib, 2 * mib);
    EXPECT_EQ(heap.take(8 * mib, 2 * mib, model.maps_discontiguously).has_value(), model.maps_discontiguously)
        << version;
  }
}

TEST_F(FakeRmTest, DetectsUnmapFreeAndCloseDuringAnMmap) {
  int fd = -1;
  ASSERT_NE(map(0, 4096, &fd), nullptr);
  EXPECT_EQ(raw.unmap(device, memory, raw.linear), rm_status::ok);
  EXPECT_TRUE(has_violation("RM_UNMAP_MEMORY while the memory is still mmapped"));
  rm.violations().clear();
  ASSERT_NE(map(0, 4096, &fd), nullptr);
  EXPECT_EQ(raw.free(memory), rm_status::ok);
  EXPECT_TRUE(has_violation("still mmapped"));
  rm.violations().clear();
  EXPECT_EQ(raw.duplicate(device, memory, cuda_client, cuda_object), rm_status::ok);
  ASSERT_NE(map(0, 4096, &fd), nullptr);
  rm.close(raw.control_file());
  EXPECT_TRUE(has_violation("still mmapped"));
}

TEST_F(FakeRmTest, DetectsPartialUnmapDoubleCloseAndInheritanceByFork) {
  int fd = -1;
  auto* mapped = map(0, 8192, &fd);
  ASSERT_NE(mapped, nullptr);
  EXPECT_EQ(rm.vmas_inherited_by_fork(), 1u);
  EXPECT_EQ(rm.madvise(mapped, 8192, MADV_DONTFORK), 0);
  EXPECT_EQ(rm.vmas_inherited_by_fork(), 0u);
  rm.munmap(mapped, 4096);
  EXPECT_TRUE(has_violation("in part"));
  rm.close(fd);
  EXPECT_EQ(rm.close(fd), -EBADF);
  EXPECT_TRUE(has_violation("not open"));
}

TEST_F(FakeRmTest, WritesTheStatusOfAllocAtTheOffsetOfTheVersion) {
  for (const char* version : {"530.30.02", "535.43.02"}) {
    FakeRm other(driver_model(version), {make_gpu(0)});
    RawRm by_hand(other);
    auto bytes = RawRm::words<32>({by_hand.add_client(), 0, 0, 0x1234});
    ASSERT_EQ(by_hand.call(by_hand.control_file(), command::rm_alloc, bytes), 0);
    const std::size_t at = std::string(version) == "530.30.02" ? 24 : 28;
    EXPECT_EQ(get<std::uint32_t>(bytes.data(), at), rm_status::invalid_class) << version;
    EXPECT_EQ(get<std::uint32_t>(bytes.data(), 52 - at), 0u) << version;
  }
}

TEST(FakeRm, SupportsTheVersionQueryFrom530On) {
  for (const char* version : {"525.60.11", "530.30.02"}) {
    FakeRm rm(driver_model(version), {make_gpu(0)});
    RawRm raw(rm);
    auto bytes = RawRm::words<72>({'2'});
    const bool is_supported = std::string(version) == "530.30.02";
    EXPECT_EQ(raw.call(raw.control_file(), command::check_version, bytes), is_supported ? 0 : -EINVAL);
    const char* reported = reinterpret_cast<const char*>(bytes.data()) + 8;
    EXPECT_STREQ(reported, is_supported ? version : "");
  }
}

}  // namespace
}  // namespace gdrkit::fakes
