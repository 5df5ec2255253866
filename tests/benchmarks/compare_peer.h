#pragma once

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/benchmarks/peer_root.h"

namespace frugal {

// PyTorch, where a Python that has it is installed: the shell's first, else the system's own, or
// that of another root directory. It runs as fast as it can here: with tcmalloc where that is
// installed, since pages that libc's malloc gives back and takes again cost it time and memory, and
// with AVX-512 where the processor has it, which its version 1 uses only when asked.
class Peer {
 public:
  // Throws UsageError where a root is given in which PyTorch does not run.
  explicit Peer(const std::string& root = "") : root_(root) {
    std::vector<std::string> pythons = {"/usr/bin/python3"};
    if (root_.empty()) pythons.insert(pythons.begin(), "python3");
    for (const std::string& python : pythons) {
      const auto [status, text] = Output(python, "peer_settings.py", "");
      settings_ = text.substr(0, text.find('\n'));
      if (status != 0) continue;
      python_ = python;
      return;
    }
    if (root_.empty()) return;
    if (settings_.empty()) {
      RefusePeerRoot("Python does not start in " + root_, "mend what is said above");
    }
    RefusePeerRoot("in " + root_ + ": " + settings_, AdviceToInstall(root_));
  }

  bool exists() const { return !python_.empty(); }
  // How it runs, or why it does not.
  const std::string& settings() const { return settings_; }

  // Returns the object that a script of this directory prints, or nothing where the script failed,
  // which has then said why.
  nlohmann::ordered_json Run(const std::string& script, const std::string& arguments) const {
    if (!exists()) return {};
    const auto [status, text] = Output(python_, script, arguments);
    return status == 0 ? nlohmann::ordered_json::parse(text, nullptr, false)
                       : nlohmann::ordered_json{};
  }

 private:
  struct Printed {
    int status = -1;
    std::string text;
  };

  // As one word of a shell.
  static std::string Quoted(const std::string& text) {
    std::string quoted = "'";
    for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
  }

  std::string Environment() const {
    std::string settings = "PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=2 ";
    const std::string allocator = "/usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4";
    if (IsInRoot(root_, allocator)) settings += "LD_PRELOAD=" + allocator + " ";
    const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
    return wide ? settings + "ATEN_CPU_CAPABILITY=avx512 " : settings;
  }

  std::string Command(const std::string& python, const std::string& script,
                      const std::string& arguments) const {
    const std::string directory = Quoted(FRUGAL_BENCHMARK_DIR);
    const std::string run = Environment() + python + " ";
    if (root_.empty()) return run + directory + "/" + script + " " + arguments;
    return "unshare --mount sh " + directory + "/in_peer_root.sh " + Quoted(root_) + " " +
           directory + " " + run + "/mnt/" + script + " " + arguments;
  }

  Printed Output(const std::string& python, const std::string& script,
                 const std::string& arguments) const {
    FILE* pipe = popen(Command(python, script, arguments).c_str(), "r");
    if (pipe == nullptr) return {};
    Printed printed;
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) {
      printed.text += static_cast<char>(c);
    }
    printed.status = pclose(pipe);
    return printed;
  }

  std::string root_;  // "" for this one
  std::string python_;
  std::string settings_ = "PyTorch is not installed";
};

}  // namespace frugal
