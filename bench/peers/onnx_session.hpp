// SPDX-License-Identifier: BSL-1.0
// A model in ONNX Runtime, through its C functions: read from memory with all optimisations, one
// thread, tensors bound to the caller's memory beforehand so that nothing is copied.
#pragma once

#include <onnxruntime_c_api.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "onnx_model.hpp"
#include "ways.hpp"

namespace race::onnx {

inline const OrtApi& api() {
  static const OrtApi* const found = OrtGetApiBase()->GetApi(ORT_API_VERSION);
  if (found == nullptr) throw std::runtime_error("the library is older than its header");
  return *found;
}
inline void check(OrtStatus* status) {
  if (status == nullptr) return;
  const std::string reason = api().GetErrorMessage(status);
  api().ReleaseStatus(status);
  throw std::runtime_error(reason);
}

// What a function of the runtime makes, until it is given back.
template <class T, class Release, class Make, class... Arguments>
std::shared_ptr<T> made(Release release, Make make, const Arguments&... arguments) {
  T* result = nullptr;
  check(make(arguments..., &result));
  return {result, release};
}

inline const std::shared_ptr<OrtEnv>& environment() {
  static const auto all =
      made<OrtEnv>(api().ReleaseEnv, api().CreateEnv, ORT_LOGGING_LEVEL_FATAL, "race");
  return all;
}
inline const std::shared_ptr<OrtMemoryInfo>& main_memory() {
  static const auto all = made<OrtMemoryInfo>(api().ReleaseMemoryInfo, api().CreateCpuMemoryInfo,
                                              OrtArenaAllocator, OrtMemTypeDefault);
  return all;
}

// A model, ready to run on pointers that are given in the order of its ports. The runtime looks at
// a tensor when it is bound, so one is bound only when its pointer is not that of the last call.
class session {
 public:
  explicit session(const model& m)
      : ports_(m.ports()), values_(ports_.size()), bound_(ports_.size()) {
    const auto options =
        made<OrtSessionOptions>(api().ReleaseSessionOptions, api().CreateSessionOptions);
    check(api().SetIntraOpNumThreads(options.get(), 1));
    check(api().SetInterOpNumThreads(options.get(), 1));
    check(api().SetSessionExecutionMode(options.get(), ORT_SEQUENTIAL));
    check(api().SetSessionGraphOptimizationLevel(options.get(), ORT_ENABLE_ALL));
    const std::string bytes = m.bytes();
    session_ = made<OrtSession>(api().ReleaseSession, api().CreateSessionFromArray,
                                environment().get(), bytes.data(), bytes.size(), options.get());
    binding_ = made<OrtIoBinding>(api().ReleaseIoBinding, api().CreateIoBinding, session_.get());
    run_options_ = made<OrtRunOptions>(api().ReleaseRunOptions, api().CreateRunOptions);
  }

  void bind(std::size_t which, const void* data) {
    if (bound_[which] == data) return;
    const model::port& one = ports_[which];
    values_[which] =
        made<OrtValue>(api().ReleaseValue, api().CreateTensorWithDataAsOrtValue,
                       main_memory().get(), const_cast<void*>(data), one.bytes(), one.sizes.data(),
                       one.sizes.size(), static_cast<ONNXTensorElementDataType>(one.type));
    const auto bind = one.is_output ? api().BindOutput : api().BindInput;
    check(bind(binding_.get(), one.name.c_str(), values_[which].get()));
    bound_[which] = data;
  }
  void run() const {
    check(api().RunWithBinding(session_.get(), run_options_.get(), binding_.get()));
  }

  template <class... Pointers>
  void operator()(Pointers... pointers) {
    std::size_t which = 0;
    (bind(which++, pointers), ...);
    run();
  }

  const std::vector<model::port>& ports() const { return ports_; }

 private:
  std::vector<model::port> ports_;
  std::vector<std::shared_ptr<OrtValue>> values_;
  std::vector<const void*> bound_;
  std::shared_ptr<OrtSession> session_;
  std::shared_ptr<OrtIoBinding> binding_;
  std::shared_ptr<OrtRunOptions> run_options_;
};

// Runs it once on zeros first: not all that a release lacks is missed when it reads the model.
// fixed: memory of ports, behind those that are given at each call.
template <class Call>
void add_way(ways<Call>& all, const std::string& name, const model& m,
             const std::vector<memory>& fixed = {}) {
  try {
    const auto ready = std::make_shared<session>(m);
    const std::size_t count = m.ports().size(), given = count - fixed.size();
    std::vector<memory> zeros;
    for (std::size_t i = 0; i < given; ++i) {
      zeros.push_back(allocate(static_cast<std::size_t>(elements(m.ports()[i].sizes))));
      ready->bind(i, zeros.back().get());
    }
    for (std::size_t i = given; i < count; ++i) ready->bind(i, fixed[i - given].get());
    ready->run();
    all.push_back({name, repeated([ready, fixed](auto... pointers) { (*ready)(pointers...); })});
  } catch (const std::runtime_error& reason) {
    if (std::getenv("RACE_VERBOSE") != nullptr) {
      std::fprintf(stderr, "    %s: left out: %s\n", name.c_str(), reason.what());
    }
  }
}

}  // namespace race::onnx
