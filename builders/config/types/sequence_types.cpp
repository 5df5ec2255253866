#include "builders/config/types/layer_families.h"
#include "builders/config/types/shared_fields.h"

namespace frugal {
namespace {

template <class T>
FieldTable RecurrentTable(const std::string& name) {
  return MakeFieldTable<T>(
      name, {MakeField("hidden", &RecurrentOptions::hidden, "Features of the hidden state.",
                       SizeLimits(true)),
             MakeField("bias", &RecurrentOptions::bias, "Whether both products have a bias.")});
}

FieldTable SequencePoolTable() {
  return MakeFieldTable<SequencePoolOptions>(
      "sequence_pool",
      {MakeChoice("mode", &SequencePoolOptions::mode, "What one vector stands for all positions.",
                  {{"mean", SequencePooling::kMean},
                   {"first", SequencePooling::kFirst},
                   {"last", SequencePooling::kLast}})});
}

}  // namespace

std::vector<LayerType> SequenceTypes() {
  return {{ToSequenceOptions(), MakeFieldTable<ToSequenceOptions>("to_sequence", {}), {}},
          {LstmOptions(), RecurrentTable<LstmOptions>("lstm"), {}},
          {GruOptions(), RecurrentTable<GruOptions>("gru"), {}},
          {SequencePoolOptions(), SequencePoolTable(), {}}};
}

}  // namespace frugal
