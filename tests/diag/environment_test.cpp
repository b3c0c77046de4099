// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/machine/environment.hpp"

#include <gtest/gtest.h>

#include "topology/written_machine.hpp"

namespace gdrkit::diag {
namespace {

using topology::MachineView;
using topology::Outcome;

class EnvironmentTest : public ::testing::Test, protected topology::WrittenMachine {
 protected:
  /// Entries with ';' for the zero bytes.
  void put_variables(std::string entries) {
    for (char& character : entries) character = character == ';' ? '\0' : character;
    put("/proc/self/environ", entries);
  }
  [[nodiscard]] Environment read() const { return Environment(view()); }
};

std::vector<std::string> values(const std::vector<Setting>& settings) {
  std::vector<std::string> found;
  for (const Setting& setting : settings) found.push_back(setting.value);
  return found;
}

TEST_F(EnvironmentTest, ParsesVariablesLikeGetenv) {
  put_variables("NCCL_DEBUG=INFO;noequals;=empty;NCCL_DEBUG=WARN;UCX_TLS=a=b;");
  const Environment environment = read();
  EXPECT_TRUE(environment.variables().is_found());
  ASSERT_NE(environment.find("NCCL_DEBUG"), nullptr);
  EXPECT_EQ(environment.find("NCCL_DEBUG")->value, "INFO");
  EXPECT_EQ(environment.find("NCCL_DEBUG")->place(), "the environment");
  EXPECT_EQ(environment.find("UCX_TLS")->value, "a=b");
  EXPECT_EQ(environment.find("noequals"), nullptr);
  EXPECT_EQ(environment.find(""), nullptr);
}

TEST_F(EnvironmentTest, IsUnknownWithoutVariablesAndWithTooMany) {
  put("/etc/nccl.conf", "NCCL_DEBUG=WARN\n");
  const Environment without = read();
  EXPECT_EQ(without.variables().outcome, Outcome::unreadable);
  EXPECT_NE(without.variables().reason, "");
  EXPECT_EQ(without.of(CommLibrary::nccl).size(), 1u);
  put("/proc/self/environ", std::string(MachineView::text_limit, 'x'));
  EXPECT_EQ(read().variables().outcome, Outcome::malformed);
  put("/proc/self/environ", "");
  EXPECT_TRUE(read().variables().is_found());
}

TEST_F(EnvironmentTest, NcclReadsVariableThenOwnThenSystemFile) {
  put_variables("HOME=/root;NCCL_ALGO=Ring;");
  put("/root/.nccl.conf", "NCCL_ALGO=Tree\n#NCCL_X=1\nNCCL_PROTO=LL\nNCCL_PROTO=Simple\n NCCL_DEBUG = INFO\nwords\n");
  put("/etc/nccl.conf", "NCCL_ALGO=CollNet\nNCCL_PROTO=LL128");
  const Environment environment = read();
  EXPECT_EQ(values(environment.of("NCCL_ALGO")), (std::vector<std::string>{"Ring", "Tree", "CollNet"}));
  EXPECT_EQ(values(environment.of("NCCL_PROTO")), (std::vector<std::string>{"LL", "Simple", "LL128"}));
  EXPECT_EQ(environment.find("NCCL_PROTO")->place(), "/root/.nccl.conf, line 3");
  EXPECT_EQ(environment.find("NCCL_X"), nullptr);
  EXPECT_EQ(environment.find("NCCL_DEBUG"), nullptr);
  ASSERT_NE(environment.find(" NCCL_DEBUG "), nullptr);
  EXPECT_EQ(environment.find(" NCCL_DEBUG ")->value, " INFO");
}

TEST_F(EnvironmentTest, AVariableSelectsNcclsOwnFile) {
  put_variables("HOME=/root;NCCL_CONF_FILE=/data/job.conf;");
  put("/root/.nccl.conf", "NCCL_ALGO=Tree\n");
  put("/data/job.conf", "NCCL_ALGO=Ring\n");
  EXPECT_EQ(values(read().of("NCCL_ALGO")), (std::vector<std::string>{"Ring"}));
}

TEST_F(EnvironmentTest, UcxUsesTheLastLineOfTheNearestFile) {
  put_variables("HOME=/root;UCX_CONFIG_DIR=/opt/conf;");
  put("/etc/ucx/ucx.conf",
      "UCX_TLS = rc ; comment\nUCX_RNDV_THRESH=1k\n[Grace]\nCPU model=Grace\nUCX_MAX_RNDV_RAILS=1\n");
  put("/root/ucx.conf", "UCX_TLS=all\nUCX_TLS=sm\n");
  put("/opt/conf/ucx.conf", "# none\nUCX_NET_DEVICES : mlx5_0:1\n");
  const Environment environment = read();
  EXPECT_EQ(values(environment.of("UCX_TLS")), (std::vector<std::string>{"sm", "all", "rc"}));
  EXPECT_EQ(environment.find("UCX_NET_DEVICES")->value, "mlx5_0:1");
  EXPECT_EQ(environment.find("UCX_RNDV_THRESH")->section, "");
  EXPECT_EQ(environment.find("UCX_MAX_RNDV_RAILS")->section, "Grace");
}

TEST_F(EnvironmentTest, AFileThatIsFoundTwiceIsReadOnce) {
  put_variables("HOME=/root;UCX_CONFIG_DIR=/root;");
  put("/root/ucx.conf", "UCX_TLS=sm\n");
  EXPECT_EQ(read().of("UCX_TLS").size(), 1u);
}

TEST_F(EnvironmentTest, NvshmemFilesOverrideVariables) {
  put_variables("NVSHMEM_DEBUG=INFO;");
  put("/etc/nvshmem.conf", " NVSHMEM_DEBUG = WARN # quiet\n");
  EXPECT_EQ(values(read().of("NVSHMEM_DEBUG")), (std::vector<std::string>{"WARN", "INFO"}));
}

TEST_F(EnvironmentTest, OpenMpisFilesOmitThePrefix) {
  put_variables("HOME=/home/one;OMPI_MCA_btl=tcp,self;");
  put("/home/one/.openmpi/mca-params.conf", "btl = self\npml=ucx\n");
  put("/etc/openmpi/openmpi-mca-params.conf", "pml=ob1\n");
  const Environment environment = read();
  EXPECT_EQ(values(environment.of("OMPI_MCA_btl")), (std::vector<std::string>{"tcp,self", "self"}));
  EXPECT_EQ(values(environment.of("OMPI_MCA_pml")), (std::vector<std::string>{"ucx", "ob1"}));
  EXPECT_EQ(values(environment.of(CommLibrary::openmpi)), (std::vector<std::string>{"tcp,self", "ucx"}));
}

TEST_F(EnvironmentTest, AnUnreadableFileIsReported) {
  put_variables("A=1;");
  put("/etc/nccl.conf", std::string("NCCL_DEBUG=\0INFO", 16));
  put("/etc/ucx/ucx.conf", std::string(MachineView::text_limit + 1, '#'));
  const Environment environment = read();
  ASSERT_EQ(environment.problems().size(), 2u);
  EXPECT_NE(environment.problems()[0].find("/etc/nccl.conf"), std::string::npos);
  EXPECT_TRUE(environment.of(CommLibrary::nccl).empty());
}

TEST_F(EnvironmentTest, MalformedFilesAddNoSettingsAndDoNotCrash) {
  put_variables("HOME=;NCCL_CONF_FILE=../../../../etc/passwd;UCX_CONFIG_DIR=" + std::string(5000, 'a') + ";");
  put("/etc/ucx/ucx.conf", "[never closed\n=\n:\n;\n[]\nA=\n" + std::string(3000, '['));
  put("/etc/nccl.conf", "\n=\n\n==\n");
  const Environment environment = read();
  ASSERT_NE(environment.find("A"), nullptr);
  EXPECT_EQ(environment.find("A")->value, "");
  for (const CommLibrary library : all_libraries) EXPECT_LE(environment.of(library).size(), 2u);
}

}  // namespace
}  // namespace gdrkit::diag
