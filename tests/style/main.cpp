#include <cstdio>
#include <exception>

#include "tests/style/check_tree.h"

namespace {

int Run(const char* root) {
  const auto findings = frugal::style::CheckTree(root);
  for (const auto& finding : findings) std::puts(ToString(finding).c_str());
  if (!findings.empty()) std::printf("%zu style findings\n", findings.size());
  return findings.empty() ? 0 : 1;
}

}  // namespace

int main(int argument_count, char** arguments) {
  try {
    return Run(argument_count > 1 ? arguments[1] : ".");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "frugal_style: %s\n", error.what());
    return 2;
  }
}
