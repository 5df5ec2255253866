#pragma once

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace frugal {

// PyTorch, where a Python that has it is installed: the shell's first, else the system's own. It
// runs as fast as it can here: with tcmalloc where that is installed, since pages that libc's
// malloc gives back and takes again cost it time and memory, and with AVX-512 where the processor
// has it, which its version 1 uses only when asked.
class Peer {
 public:
  Peer() {
    for (const char* python : {"python3", "/usr/bin/python3"}) {
      const auto [status, text] = Output(python, "peer_settings.py", "");
      settings_ = text.substr(0, text.find('\n'));
      if (status != 0) continue;
      python_ = python;
      return;
    }
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

  static std::string Environment() {
    std::string settings = "OMP_NUM_THREADS=2 ";
    const char* allocator = "/usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4";
    if (std::filesystem::exists(allocator))
      settings += std::string("LD_PRELOAD=") + allocator + " ";
    const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
    return wide ? settings + "ATEN_CPU_CAPABILITY=avx512 " : settings;
  }

  static Printed Output(const std::string& python, const std::string& script,
                        const std::string& arguments) {
    const std::string command =
        Environment() + python + " " FRUGAL_BENCHMARK_DIR "/" + script + " " + arguments;
    FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) return {};
    Printed printed;
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) {
      printed.text += static_cast<char>(c);
    }
    printed.status = pclose(pipe);
    return printed;
  }

  std::string python_;
  std::string settings_ = "PyTorch is not installed";
};

}  // namespace frugal
