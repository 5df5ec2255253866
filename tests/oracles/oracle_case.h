#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sdk/core/dtype.h"
#include "sdk/io/weights/weight_source.h"
#include "sdk/tensor/tensor.h"

// Cases of single operations that PyTorch has computed: see tests/oracles/README.md.
namespace frugal::oracles {

struct OracleCase {
  std::string directory;  // that of index.json
  std::string operation;
  int number = 0;
  nlohmann::json attributes;
  std::vector<std::string> inputs;

  std::string Name() const { return operation + " " + std::to_string(number); }
};

// All cases of `directory`/index.json. Throws DataError where there is none, or not of that form.
std::vector<OracleCase> ReadIndex(const std::string& directory);

// The tensors of one case. Names are those of the file without the case number: "in/input", "out".
class CaseFile {
 public:
  explicit CaseFile(const OracleCase& one);

  bool Has(const std::string& name) const;
  Shape ShapeOf(const std::string& name) const;
  std::vector<std::string> Gradients() const;  // names of inputs that have one in the file
  bool IsInteger(const std::string& name) const;
  bool IsBoolean(const std::string& name) const;
  std::vector<double> Read(const std::string& name) const;
  std::vector<std::int64_t> ReadIntegers(const std::string& name) const;

 private:
  std::string FullName(const std::string& name) const;
  const StoredTensor& Entry(const std::string& name) const;

  std::string prefix_;
  std::unique_ptr<WeightSource> source_;
};

}  // namespace frugal::oracles
