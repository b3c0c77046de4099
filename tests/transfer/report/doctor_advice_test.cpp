// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Which findings of the doctor belong to a result.
#include "transfer/report/doctor_advice.hpp"

#include <gtest/gtest.h>

namespace gdrkit::transfer::report {
namespace {

constexpr const char* first_gpu = "0000:3b:00.0";
constexpr const char* second_gpu = "0000:5e:00.0";

std::string finding_of(const std::string& check, const std::string& state, const std::string& subject) {
  return R"({"id":")" + check + R"(","findings":[{"state":")" + state + R"(","subject":")" + subject +
         R"(","text":"the text of )" + check + R"("}]})";
}

std::string document_of(const std::string& checks, const std::string& verdicts = "{}") {
  return R"({"schema":"gdrkit.doctor/1","checks":[)" + checks + R"(],"verdicts":)" + verdicts + "}";
}

DoctorRequest request_of(const std::string& library) { return {{first_gpu, second_gpu}, library, false, "/", "", ""}; }

std::vector<std::string> checks_of(const DoctorAdvice& advice) {
  std::vector<std::string> checks;
  for (const DoctorFinding& finding : advice.findings) checks.push_back(finding.check + " " + finding.subject);
  return checks;
}

TEST(DoctorAdvice, ReportsFindingsOfUsedGpusAndTheLibrary) {
  const std::string document = document_of(
      finding_of("pcie.width", "warn", first_gpu) + "," + finding_of("pcie.width", "warn", "0000:99:00.0") + "," +
      finding_of("pcie.width", "ok", second_gpu) + "," + finding_of("acs.redirect", "fail", "0000:10:00.0") + "," +
      finding_of("env.ucx", "warn", "UCX_TLS") + "," + finding_of("env.ib_disable", "fail", "NCCL_P2P_DISABLE") + "," +
      finding_of("cpu.governor", "warn", "") + "," + finding_of("nic.mtu", "warn", "mlx5_0"));
  EXPECT_EQ(checks_of(advice_in(document, request_of("ucx"))),
            (std::vector<std::string>{"pcie.width 0000:3b:00.0", "acs.redirect 0000:10:00.0", "env.ucx UCX_TLS",
                                      "cpu.governor "}));
  EXPECT_EQ(checks_of(advice_in(document, request_of("nccl"))),
            (std::vector<std::string>{"pcie.width 0000:3b:00.0", "acs.redirect 0000:10:00.0",
                                      "env.ib_disable NCCL_P2P_DISABLE", "cpu.governor "}));
}

TEST(DoctorAdvice, LinesNameTheCheckAndTheRemedy) {
  const std::string document =
      document_of(finding_of("env.ucx", "warn", "UCX_TLS") + "," + finding_of("iommu.mode", "fail", ""));
  EXPECT_EQ(advice_in(document, request_of("ucx")).text(),
            "# Doctor: env.ucx warns: UCX_TLS: the text of env.ucx\n"
            "# Doctor: iommu.mode fails: the text of iommu.mode\n"
            "# Doctor: run gdrkit doctor explain env.ucx for the remedy\n");
  EXPECT_EQ(advice_in(document_of(""), request_of("ucx")).text(),
            "# Doctor: no warning or failure for 0000:3b:00.0, 0000:5e:00.0\n");
  EXPECT_EQ(DoctorAdvice{}.text(), "");
}

TEST(DoctorAdvice, NoResultIsNotReportedAsHealthy) {
  for (const std::string document : {"", "{", "[]", "{}", "null"}) {
    const DoctorAdvice advice = advice_in(document, request_of("ucx"));
    EXPECT_EQ(advice.text(), "# Doctor: unknown: gdrkit doctor returned no result\n") << document;
  }
}

TEST(DoctorAdvice, UsesTheLibrarysBestAdapterBetweenMachines) {
  const std::string document = document_of(
      "", R"({"ucx":{"gdr":[{"gpu_address":"0000:3b:00.0","hca":"mlx5_0","is_best":true,"use":"no","via":"",)"
          R"("reason":"no peer memory","blocked_by":["peer.any"],"slowed_by":["pcie.mrrs"]},)"
          R"({"gpu_address":"0000:3b:00.0","hca":"mlx5_1","is_best":false,"use":"no","via":"","reason":""},)"
          R"({"gpu_address":"0000:99:00.0","hca":"mlx5_0","is_best":true,"use":"yes","via":"dma-buf","reason":""}]}})");
  DoctorRequest request = request_of("ucx");
  EXPECT_TRUE(advice_in(document, request).adapters.empty());
  request.is_between_machines = true;
  const DoctorAdvice advice = advice_in(document, request);
  ASSERT_EQ(advice.adapters.size(), 1U);
  EXPECT_EQ(advice.text(),
            "# Doctor: no warning or failure for 0000:3b:00.0, 0000:5e:00.0\n"
            "# Doctor: 0000:3b:00.0 and mlx5_0: direct access: no, no peer memory (peer.any, pcie.mrrs)\n");
}

TEST(DoctorAdvice, UsesTheMappingForGdrkitShmem) {
  const std::string document = document_of(
      "", R"({"gdrkit":{"map":[{"gpu_address":"0000:5e:00.0","use":"yes","via":"rm","reason":"driver 580"}]}})");
  const DoctorAdvice advice = advice_in(document, request_of("shmem"));
  ASSERT_EQ(advice.adapters.size(), 1U);
  EXPECT_EQ(advice.adapters[0].adapter + advice.adapters[0].via, "the CPUrm");
}

TEST(DoctorAdvice, UsesTheAdapterInUseForVerbs) {
  const std::string document = document_of(
      finding_of("nic.mtu", "warn", "mlx5_1:1") + "," + finding_of("nic.mtu", "warn", "mlx5_10:1") + "," +
          finding_of("pcie.width", "warn", "0000:5f:00.0") + "," + finding_of("pcie.width", "warn", "0000:60:00.0") +
          "," + finding_of("pcie.width", "warn", first_gpu) + "," + finding_of("lim.memlock", "warn", "8 MiB") + "," +
          finding_of("peer.any", "fail", "") + "," + finding_of("env.ucx", "warn", "UCX_TLS"),
      R"({"ucx":{"gdr":[{"gpu_address":"0000:3b:00.0","hca":"mlx5_0","is_best":true,"use":"yes","via":"dma-buf","reason":""},)"
      R"({"gpu_address":"0000:3b:00.0","hca":"mlx5_1","is_best":false,"use":"no","via":"","reason":"no peer memory"}]}})");
  DoctorRequest request{{}, "verbs", false, "/", "mlx5_1", "0000:5f:00.0"};
  const DoctorAdvice of_host = advice_in(document, request);
  EXPECT_EQ(checks_of(of_host),
            (std::vector<std::string>{"nic.mtu mlx5_1:1", "pcie.width 0000:5f:00.0", "lim.memlock 8 MiB"}));
  EXPECT_TRUE(of_host.adapters.empty());
  EXPECT_EQ(advice_in(document_of(""), request).text(), "# Doctor: no warning or failure for mlx5_1\n");
  request.gpus = {first_gpu};
  const DoctorAdvice of_gpu = advice_in(document, request);
  EXPECT_EQ(checks_of(of_gpu), (std::vector<std::string>{"nic.mtu mlx5_1:1", "pcie.width 0000:5f:00.0",
                                                         "pcie.width 0000:3b:00.0", "lim.memlock 8 MiB", "peer.any "}));
  ASSERT_EQ(of_gpu.adapters.size(), 1U);
  EXPECT_EQ(of_gpu.adapters[0].adapter + ": " + of_gpu.adapters[0].reason, "mlx5_1: no peer memory");
}

TEST(DoctorAdvice, SettingsOfUcxDoNotAffectVerbs) {
  const std::string document = document_of(
      "", R"({"ucx":{"gdr":[{"gpu_address":"0000:3b:00.0","hca":"mlx5_0","is_best":true,"use":"no","via":"",)"
          R"("reason":"UCX_IB_GPU_DIRECT_RDMA=n"}]}})");
  EXPECT_TRUE(advice_in(document, {{first_gpu}, "verbs", false, "/", "mlx5_0", ""}).adapters.empty());
  EXPECT_EQ(advice_in(document, {{first_gpu}, "ucx", true, "/", "", ""}).adapters.size(), 1U);
}

TEST(DoctorAdvice, ManyFindingsAreCounted) {
  std::string checks;
  for (int i = 0; i < 9; ++i) checks += (i == 0 ? "" : ",") + finding_of("cpu.wc", "warn", "");
  const std::string text = advice_in(document_of(checks), request_of("ucx")).text();
  EXPECT_NE(text.find("# Doctor: 3 more\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace gdrkit::transfer::report
