#pragma once

#include <filesystem>
#include <iostream>
#include <string>

#include "builders/inference/text_generation.h"
#include "builders/report/report_file.h"

namespace frugal {

// Prints what the model writes by itself, and keeps it in a file.
inline void WriteSample(Model model, const std::string& path) {
  std::cout << "\nIt writes, at temperature 0.8 among the 40 likeliest bytes:\n" << std::endl;
  const std::string text = GenerateText(model, {.count = 600}, &std::cout);
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  WriteTextFile(path, text);
  std::cout << "\n\nwrote " << path << std::endl;
}

}  // namespace frugal
