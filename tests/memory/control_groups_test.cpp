#include "sdk/memory/control_groups.h"

#include "tests/io/temp_dir.h"

// Trees of files as Linux shows them in /proc and /sys, and what follows from them.
namespace frugal::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMega = 1'000'000;

class FakeSystem {
 public:
  std::string root() const { return directory_.File(""); }
  void Write(const std::string& path, const std::string& content) const {
    fs::create_directories(fs::path(directory_.File(path)).parent_path());
    directory_.Write(path, content);
  }
  // One group of version 2, which holds `current` bytes, `files` of them pages of files.
  void Group2(const std::string& path, const std::string& max, std::int64_t current,
              std::int64_t files) const {
    const std::string group = "sys/fs/cgroup" + path;
    Write(group + "/memory.max", max + "\n");
    Write(group + "/memory.high", "max\n");
    Write(group + "/memory.current", std::to_string(current) + "\n");
    Write(group + "/memory.stat", "anon 5\nfile " + std::to_string(files) + "\ninactive_file " +
                                      std::to_string(files / 2) + "\nactive_file " +
                                      std::to_string(files - files / 2) + "\n");
  }
  void Group1(const std::string& path, std::int64_t limit, std::int64_t usage) const {
    const std::string group = "sys/fs/cgroup/memory" + path;
    Write(group + "/memory.limit_in_bytes", std::to_string(limit) + "\n");
    Write(group + "/memory.usage_in_bytes", std::to_string(usage) + "\n");
    Write(group + "/memory.stat",
          "inactive_file 7\ntotal_inactive_file 10\ntotal_active_file 20\n");
  }

 private:
  TempDir directory_;
};

constexpr const char* kMounts2 =
    "22 1 8:1 / / rw,relatime - ext4 /dev/vda rw\n"
    "31 22 0:28 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr const char* kMounts1 =
    "31 22 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n";
constexpr std::int64_t kNoLimit1 = 9223372036854771712;

TEST_CASE("no control group limits where none says so", "[memory]") {
  const FakeSystem system;
  CHECK(ReadControlGroups(system.root()).limit_bytes == 0);
  system.Write("proc/self/mountinfo", kMounts2);
  system.Write("proc/self/cgroup", "0::/a/b\n");
  CHECK(ReadControlGroups(system.root()).limit_bytes == 0);
  system.Group2("/a/b", "max", 5 * kMega, 0);
  CHECK(ReadControlGroups(system.root()).limit_bytes == 0);
  CHECK(ReadControlGroups(system.root()).group.empty());
}

TEST_CASE("the least limit up to the root counts, in version 2", "[memory]") {
  const FakeSystem system;
  system.Write("proc/self/mountinfo", kMounts2);
  system.Write("proc/self/cgroup", "0::/a/b c/d\n");
  system.Group2("/a/b c/d", "max", 10 * kMega, 0);
  system.Group2("/a/b c", std::to_string(200 * kMega), 60 * kMega, 20 * kMega);
  system.Group2("/a", std::to_string(500 * kMega), 450 * kMega, 0);
  const ControlGroupMemory memory = ReadControlGroups(system.root());
  CHECK(memory.limit_bytes == 200 * kMega);
  CHECK(memory.group == "/a/b c");
  CHECK(memory.available_bytes == 50 * kMega);  // what its parent has left, which others use
  system.Group2("/a", std::to_string(500 * kMega), 50 * kMega, 0);
  CHECK(ReadControlGroups(system.root()).available_bytes ==
        160 * kMega);  // file pages are given up
  system.Write("sys/fs/cgroup/a/b c/d/memory.high", std::to_string(90 * kMega));
  CHECK(ReadControlGroups(system.root()).limit_bytes == 90 * kMega);
  CHECK(ReadControlGroups(system.root()).available_bytes == 80 * kMega);
}

TEST_CASE("the least limit up to the root counts, in version 1", "[memory]") {
  const FakeSystem system;
  system.Write("proc/self/mountinfo", kMounts1);
  system.Write("proc/self/cgroup", "5:cpu,cpuacct:/\n4:memory:/jobs/7\n0::/\n");
  system.Group1("", kNoLimit1, 900 * kMega);
  system.Group1("/jobs", kNoLimit1, 900 * kMega);
  CHECK(ReadControlGroups(system.root()).limit_bytes == 0);
  system.Group1("/jobs/7", 300 * kMega, 100 * kMega);
  CHECK(ReadControlGroups(system.root()).limit_bytes == 300 * kMega);
  CHECK(ReadControlGroups(system.root()).group == "/jobs/7");
  CHECK(ReadControlGroups(system.root()).available_bytes == 200 * kMega + 30);
  system.Group1("/jobs/7", 300 * kMega, 400 * kMega);
  CHECK(ReadControlGroups(system.root()).available_bytes == 0);
}

TEST_CASE("a container sees its own group as the root", "[memory]") {
  const FakeSystem system;
  // The group's path in the host, mounted as the root of what is visible.
  system.Write("proc/self/mountinfo",
               "31 22 0:28 /docker/f\\0400 /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  system.Write("proc/self/cgroup", "0::/docker/f 0/inner\n");
  system.Group2("", std::to_string(700 * kMega), 100 * kMega, 0);
  CHECK(ReadControlGroups(system.root()).limit_bytes == 700 * kMega);
  CHECK(ReadControlGroups(system.root()).group == "/");
  system.Group2("/inner", std::to_string(400 * kMega), 100 * kMega, 0);
  CHECK(ReadControlGroups(system.root()).limit_bytes == 400 * kMega);
  CHECK(ReadControlGroups(system.root()).group == "/inner");
}

TEST_CASE("files of control groups that say nothing limit nothing", "[memory]") {
  const FakeSystem system;
  system.Write("proc/self/mountinfo",
               "\n - \n31 22 0:28 / - cgroup2\n31 22 0:28 / /\\9 rw - x y z");
  system.Write("proc/self/cgroup", "\n:\n::\n0:\nnothing\n0::");
  CHECK(ReadControlGroups(system.root()).limit_bytes == 0);
  system.Write("proc/self/mountinfo", kMounts2);
  system.Write("proc/self/cgroup", "0::/../..\n");
  system.Group2("", "12 apples", 0, 0);
  CHECK(ReadControlGroups(system.root()).limit_bytes == 12);
  system.Group2("", "-", 0, 0);
  CHECK(ReadControlGroups(system.root()).limit_bytes == 0);
}

}  // namespace
}  // namespace frugal::testing
