// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Compares with lines of perftest 6.06, except for its older name of the unit, MB.
#include "transfer/perftest/perftest_lines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace gdrkit::transfer::perftest {
namespace {

using testing::HasSubstr;
using testing::Not;

const VerbsTest& test_named(const std::string& name) {
  for (const VerbsTest& test : all_verbs_tests) {
    if (name == test.name) return test;
  }
  throw std::out_of_range(name);
}

Settings settings_of(const std::string& name) {
  Settings settings;
  settings.test = &test_named(name);
  settings.device = "rxe1";
  settings.connection = "RC";
  settings.send_depth = settings.test->is_latency() ? 1 : 128;
  settings.receive_depth = 512;
  settings.moderation = 100;
  settings.mtu_bytes = 4096;
  settings.gid_index = 0;
  settings.reads = 128;
  return settings;
}

PairAddress address() {
  PairAddress address;
  address.reads = 0x80;
  address.number = 0x15;
  address.psn = 0xca81d1;
  address.rkey = 0x611;
  address.address = 0x7f22064e4000;
  address.has_gid = true;
  address.gid.bytes[0] = 254;
  address.gid.bytes[1] = 128;
  address.gid.bytes[15] = 236;
  return address;
}

TEST(Lines, SettingsBlockDependsOnTestAndSide) {
  Settings settings = settings_of("read_lat");
  settings.is_server = true;
  std::string text = block_text(settings);
  EXPECT_THAT(text, HasSubstr(" Outstand reads  : 128\n"));
  EXPECT_THAT(text, Not(HasSubstr("TX depth")));
  EXPECT_THAT(text, Not(HasSubstr("CQ Moderation")));
  EXPECT_THAT(text, Not(HasSubstr("inline")));
  settings = settings_of("send_bw");
  settings.is_bidirectional = true;
  text = block_text(settings);
  EXPECT_THAT(text, HasSubstr("                    Send Bidirectional BW Test\n"));
  EXPECT_THAT(text, HasSubstr(" TX depth        : 128\n RX depth        : 512\n"));
  settings.gid_index = -1;
  settings.is_ethernet = false;
  text = block_text(settings);
  EXPECT_THAT(text, Not(HasSubstr("GID")));
  EXPECT_THAT(text, HasSubstr(" Link type       : IB\n"));
}

TEST(Lines, AddressLinesMatchPerftest) {
  EXPECT_EQ(address_line(settings_of("read_bw"), "local", address()),
            " local address: LID 0000 QPN 0x0015 PSN 0xca81d1 OUT 0x80 RKey 0x000611 VAddr 0x007f22064e4000\n"
            " GID: 254:128:00:00:00:00:00:00:00:00:00:00:00:00:00:236\n");
  PairAddress without = address();
  without.has_gid = false;
  EXPECT_EQ(address_line(settings_of("send_bw"), "remote", without),
            " remote address: LID 0000 QPN 0x0015 PSN 0xca81d1\n");
}

TEST(Lines, RowsMatchPerftest) {
  Settings settings = settings_of("write_bw");
  EXPECT_EQ(head_line(settings),
            " #bytes     #iterations    BW peak[MiB/sec]    BW average[MiB/sec]   MsgRate[Mpps]\n");
  EXPECT_EQ(row_line(settings, BandwidthRow{4096, 200, 40.23 * 1048576, 21.20 * 1048576, 5426, {}}),
            " 4096       200              40.23              21.20  \t\t   0.005426\n");
  settings.is_in_gbits = true;
  EXPECT_EQ(head_line(settings), " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n");
  EXPECT_EQ(row_line(settings, BandwidthRow{4096, 100, 0.347399e9 / 8, 0.063528e9 / 8, 1939, {}}),
            " 4096       100           0.347399            0.063528            0.001939\n");
  settings = settings_of("write_lat");
  EXPECT_EQ(head_line(settings),
            " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99% "
            "percentile[usec]   99.9% percentile[usec] \n");
  EXPECT_EQ(row_line(settings, LatencyRow{8, 200, 252.52, 2736.28, 290.63, 620.30, 706.42, 2696.04, 2736.28, {}}),
            " 8       200          252.52         2736.28      290.63   \t       620.30      \t706.42 \t\t2696.04 "
            "\t\t2736.28\n");
  settings = settings_of("send_lat");
  settings.is_for_duration = true;
  EXPECT_EQ(head_line(settings), " #bytes        #iterations       t_avg[usec]    tps average\n");
  EXPECT_EQ(row_line(settings, LatencyRow{2, 235, 0, 0, 0, 4297.97, 0, 0, 0, {}}),
            " 2             235            4297.97        116.33 \n");
}

TEST(Lines, LatencyRowSummarizesItsSamples) {
  std::vector<double> seconds;
  for (int i = 1000; i >= 1; --i) seconds.push_back(i * 1e-6);
  const LatencyRow row = latency_row(8, 1000, seconds);
  EXPECT_DOUBLE_EQ(row.minimum, 1);
  EXPECT_DOUBLE_EQ(row.maximum, 1000);
  EXPECT_DOUBLE_EQ(row.typical, 500);
  EXPECT_DOUBLE_EQ(row.p99, 990);
  EXPECT_DOUBLE_EQ(row.p999, 999);
  EXPECT_NEAR(row.average, 500.5, 1e-9);
  EXPECT_NEAR(row.deviation, 288.67, 0.01);
  ASSERT_EQ(row.rounds.size(), most_rounds);
  for (std::size_t i = 0; i < most_rounds; ++i) EXPECT_NEAR(row.rounds[i], 938 - 125 * static_cast<double>(i), 1e-6);
  EXPECT_DOUBLE_EQ(latency_row(8, 1, {2e-6}).p999, 2);
}

TEST(Lines, BandwidthSurvivesUnitConversion) {
  const BandwidthRow row{65536, 5000, 2e9, 1.5e9, 22888, {}};
  for (const bool is_in_gbits : {false, true}) {
    const BandwidthRow again = bandwidth_row(shared_result(row, is_in_gbits), is_in_gbits);
    EXPECT_NEAR(again.average_bytes_per_s, row.average_bytes_per_s, 1);
    EXPECT_NEAR(again.peak_bytes_per_s, row.peak_bytes_per_s, 1);
    EXPECT_NEAR(again.messages_per_s, row.messages_per_s, 1e-6);
  }
  EXPECT_NEAR(shared_result(row, true).average, 12, 1e-9);
  EXPECT_NEAR(shared_result(row, false).average, 1430.51, 0.01);
}

}  // namespace
}  // namespace gdrkit::transfer::perftest
