#include "builders/config/types/architecture.h"

#include <algorithm>

#include "builders/config/types/architecture_families.h"

namespace frugal {

const std::vector<ArchitectureFamily>& ArchitectureFamilies() {
  static const std::vector<ArchitectureFamily> families = [] {
    std::vector<ArchitectureFamily> all;
    for (auto& group : {ClassicFamilies(), DitFamilies(), UNetFamilies(), StreamFamilies()}) {
      all.insert(all.end(), group.begin(), group.end());
    }
    return all;
  }();
  return families;
}

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
    std::unique_ptr<Sequential> operator()(const DitConfig& c) const { return MakeDit(c); }
    std::unique_ptr<Sequential> operator()(const SitConfig& c) const { return MakeSit(c); }
    std::unique_ptr<Sequential> operator()(const UVitConfig& c) const { return MakeUVit(c); }
    std::unique_ptr<Sequential> operator()(const FlagDitConfig& c) const { return MakeFlagDit(c); }
    std::unique_ptr<Sequential> operator()(const UNetConfig& c) const { return MakeUNet(c); }
    std::unique_ptr<Sequential> operator()(const UNetConditionConfig& c) const {
      return MakeUNetCondition(c);
    }
    std::unique_ptr<Sequential> operator()(const ControlNetConfig& c) const {
      return MakeControlNet(c);
    }
    std::unique_ptr<Sequential> operator()(const ControlNetUnionConfig& c) const {
      return MakeControlNetUnion(c);
    }
    std::unique_ptr<Sequential> operator()(const VaeKlConfig& c) const { return MakeVaeKl(c); }
    std::unique_ptr<Sequential> operator()(const VideoUNetConfig& c) const {
      return MakeVideoUNet(c);
    }
    std::unique_ptr<Sequential> operator()(const PixelUNetConfig& c) const {
      return MakePixelUNet(c);
    }
    std::unique_ptr<Sequential> operator()(const MmditConfig& c) const { return MakeMmdit(c); }
    std::unique_ptr<Sequential> operator()(const FluxConfig& c) const { return MakeFlux(c); }
    std::unique_ptr<Sequential> operator()(const CogVideoXConfig& c) const {
      return MakeCogVideoX(c);
    }
    std::unique_ptr<Sequential> operator()(const AsymmDitConfig& c) const {
      return MakeAsymmDit(c);
    }
    std::unique_ptr<Sequential> operator()(const EmmditConfig& c) const { return MakeEmmdit(c); }
  };
  auto network = std::visit(Maker(), config);
  network->AssignPaths("");
  NumberParameters(*network);
  return network;
}

}  // namespace frugal
