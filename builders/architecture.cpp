#include "builders/architecture.h"

#include <algorithm>

namespace frugal {

const ArchitectureFamily& FamilyOf(const ArchitectureConfig& config) {
  return ArchitectureFamilies()[config.index()];
}

const ArchitectureFamily* FindFamily(std::string_view name) {
  const auto& families = ArchitectureFamilies();
  const auto found = std::ranges::find(families, name, &ArchitectureFamily::name);
  return found == families.end() ? nullptr : &*found;
}

void* StructIn(ArchitectureConfig& config) {
  return std::visit([](auto& inner) -> void* { return &inner; }, config);
}

std::unique_ptr<Sequential> BuildArchitecture(const ArchitectureConfig& config) {
  struct Maker {
    std::unique_ptr<Sequential> operator()(const Gpt2Config& c) const { return MakeGpt2(c); }
    std::unique_ptr<Sequential> operator()(const LlamaConfig& c) const { return MakeLlama(c); }
    std::unique_ptr<Sequential> operator()(const BertConfig& c) const { return MakeBert(c); }
    std::unique_ptr<Sequential> operator()(const VitConfig& c) const { return MakeVit(c); }
    std::unique_ptr<Sequential> operator()(const ResNetConfig& c) const { return MakeResNet(c); }
  };
  auto network = std::visit(Maker(), config);
  network->AssignPaths("");
  NumberParameters(*network);
  return network;
}

}  // namespace frugal
