// What a runtime takes by itself at a size for which it has no file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "fastest/contest.hpp"
#include "fastest/selectors.hpp"

namespace forestcoll::fastest {

/// Whether the contender runs as it should where `NCCL_BUFFSIZE` is that: it needs those buffers,
/// or none in particular.
[[nodiscard]] bool runs_with(const Contest& contest, std::size_t contender,
                             std::int64_t buffer_bytes);

/// Where files are XML, what NCCL or RCCL picks; where they are plans, what MSCCL++ has for one
/// box, or else NCCL, to which it leaves all other calls. NCCL's own algorithms are timed as its
/// kernels run them, not as plans would.
class RuntimeChoice {
 public:
  /// REQUIRES: the contest, which files are in, outlives this. Cost: for plans, that of a contest
  /// between NCCL's algorithms.
  RuntimeChoice(Contest& files, const Fabric& fabric);

  /// The contest that it is timed in, which may be another one than that of files.
  [[nodiscard]] Contest& contest() const { return own_ ? *own_ : *files_; }
  /// Of its contenders those that are picked at a size, with any buffers or with these; beside
  /// plans, which have none of NCCL's, with any. None where no choice is known.
  [[nodiscard]] Contest::Takes takes(std::int64_t bytes,
                                     std::optional<std::int64_t> buffer_bytes) const;
  [[nodiscard]] std::optional<Winner> winner(std::int64_t bytes,
                                             std::optional<std::int64_t> buffer_bytes) const;
  /// Whether it picks the same at both sizes.
  [[nodiscard]] bool is_same_pick(std::int64_t first, std::int64_t last) const;

 private:
  Contest* files_;
  std::shared_ptr<Contest> own_;
  std::optional<Selector> selector_;  ///< none: not known
};

}  // namespace forestcoll::fastest
