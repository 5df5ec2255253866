// The frugal command where the system allows less memory than the machine has.
#include "sdk/memory/control_groups.h"
#include "tests/samples/run_program.h"
#include "tests/samples/tiny_config.h"
#include "tests/skip.h"

namespace frugal::testing {
namespace {

// Makes a group below the one that this process is in, of version 2 or 1, with a limit of 200 MB,
// and runs `command` in it. Exits with 77 where the system does not let it.
std::string InGroup(const std::string& command) {
  return R"(one=$(awk -F: '$2 == "" { print $3 }' /proc/self/cgroup)
      two=$(awk -F: '$2 ~ /(^|,)memory(,|$)/ { print $3 }' /proc/self/cgroup)
      for parent in "/sys/fs/cgroup$one" "/sys/fs/cgroup/memory$two"; do
        group=$parent/frugal_test_$$
        mkdir "$group" 2>/dev/null || continue
        for file in memory.max memory.limit_in_bytes; do
          if [ -e "$group/$file" ] && echo 209715200 >"$group/$file"; then
            sh -c 'echo $$ >"$0/cgroup.procs" || exit 77; )" +
         command + R"(' "$group"
            status=$?
            rmdir "$group"
            exit $status
          fi
        done
        rmdir "$group"
      done
      exit 77)";
}

// 3 x 4.3 MB of parameters and what belongs to them, as many as `layers`.
std::string WideConfig(int layers) {
  std::string text = kTinyConfig;
  const std::string wide = "[[model.layers]]\ntype = \"dense\"\nunits = 2048\n\n";
  const std::size_t last = text.find("[[model.layers]]\ntype = \"dense\"");
  for (int i = 0; i < layers; ++i) text.insert(last, wide);
  return text + "\n[optimizer]\nkind = \"adamw\"\n";
}

TEST_CASE("a nested control group is the memory that there is", "[needs-group]") {
  const TempDir directory;
  WriteTinyData(directory);
  directory.Write("tiny.toml", kTinyConfig);
  directory.Write("large.toml", WideConfig(8));
  const ProgramRun plan = Run(directory, InGroup(Program("frugal") + " plan tiny.toml"));
  FRUGAL_SKIP_UNLESS(plan.exit_code != 77, "this system makes no control group for a test");
  CHECK(plan.exit_code == 0);
  CheckContains(plan.output, "machine      200 MB of the control group /");
  CheckContains(plan.output, "of physical memory");
  const ProgramRun fits = Run(directory, InGroup(Program("frugal") + " train tiny.toml"));
  CHECK(fits.exit_code == 0);

  const ProgramRun share =
      Run(directory, InGroup(Program("frugal") + " plan tiny.toml --json --set "
                                                 "memory.memory_budget_mb=\\\"10%\\\""));
  CheckContains(share.output, "10% of the 200 MB of the control group");

  const ProgramRun refused = Run(directory, InGroup(Program("frugal") + " train large.toml"));
  CHECK(refused.exit_code == 1);  // not killed
  CheckContains(refused.errors, "error: [memory] a training fits the memory that there is; ");
  CheckContains(refused.errors, "MB are free now of the 200 MB of the control group");
}

TEST_CASE("a limit of the address space is the memory that there is", "[needs-plain]") {
  FRUGAL_SKIP_UNLESS(!frugal::testing::kIsSanitized, "a sanitizer has address space of its own");
  const TempDir directory;
  WriteTinyData(directory);
  directory.Write("large.toml", WideConfig(16));
  const std::string limited = "ulimit -v 600000 && " + Program("frugal");
  const ProgramRun plan = Run(directory, limited + " plan large.toml");
  CHECK(plan.exit_code == 0);
  CheckContains(plan.output, "machine      586 MB of the address space (ulimit -v)");
  CheckContains(plan.output, "of this plan: it is refused without --force");
  const ProgramRun refused = Run(directory, limited + " train large.toml");
  CHECK(refused.exit_code == 1);
  CheckContains(refused.errors, "MB are free now of the 585 MB of the address space (ulimit -v)");
  const ProgramRun forced = Run(directory, limited + " train large.toml --force");
  CHECK(forced.exit_code == 1);  // there really is too little
  CHECK(forced.errors.find("this should not happen") == std::string::npos);
}

TEST_CASE("too little memory for oneDNN's kernels is said as that", "[needs-plain]") {
  FRUGAL_SKIP_UNLESS(!frugal::testing::kIsSanitized, "a sanitizer has address space of its own");
  const TempDir directory;
  WriteTinyData(directory);
  std::string conv = kTinyConfig;
  conv.insert(conv.find("[[model.layers]]"),
              "[[model.layers]]\ntype = \"conv2d\"\nfilters = 64\nkernel = 3\n\n");
  directory.Write("conv.toml", conv);
  for (int kilobytes = 150000; kilobytes <= 400000; kilobytes += 25000) {
    const ProgramRun run = Run(directory, "ulimit -v " + std::to_string(kilobytes) + " && " +
                                              Program("frugal") + " train conv.toml --force");
    INFO(kilobytes << " kB: " << run.errors);
    // 127: the libraries themselves found no room.
    CHECK((run.exit_code == 0 || run.exit_code == 1 || run.exit_code == 127));
    CHECK(run.errors.find("this should not happen") == std::string::npos);
  }
}

TEST_CASE("a limit of instructions is said, and a wrong one refused") {
  const TempDir directory;
  directory.Write("tiny.toml", kTinyConfig);
  const ProgramRun avx2 =
      Run(directory, "FRUGAL_ISA=avx2 " + Program("frugal") + " plan tiny.toml");
  CHECK(avx2.exit_code == 0);
  CheckContains(avx2.output, "no more than avx2 (FRUGAL_ISA)");
  const ProgramRun wrong =
      Run(directory, "FRUGAL_ISA=avx3 " + Program("frugal") + " plan tiny.toml");
  CHECK(wrong.exit_code == 1);
  CheckContains(wrong.errors,
                "[FRUGAL_ISA] one of baseline, avx2, avx512, avx512_bf16, "
                "amx; the environment has avx3; unset it");
}

}  // namespace
}  // namespace frugal::testing
