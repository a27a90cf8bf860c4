#include "baseline/trees/balance_parts.hpp"

#include <cstddef>

#include "forestcoll/ratio.hpp"

namespace forestcoll::baseline {
namespace {

class Balance {
 public:
  Balance(std::vector<Job>& jobs, const std::vector<std::int64_t>& width)
      : jobs_(jobs),
        width_(width),
        load_(width.size(), 0),
        takers_(width.size()),
        reached_by_(width.size()) {
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      for (std::size_t i = 0; i < jobs[j].options.size(); ++i) {
        takers_[jobs[j].options[i]].push_back({j, i});
      }
    }
  }

  void spread(std::int64_t k) {
    for (Job& job : jobs_) {
      job.parts.assign(job.options.size(), 0);
      for (std::int64_t part = 0; part < k; ++part) {
        std::size_t best = 0;
        for (std::size_t i = 1; i < job.options.size(); ++i) {
          if (lower(job.options[i], 1, job.options[best], 1)) best = i;
        }
        ++job.parts[best];
        ++load_[job.options[best]];
      }
    }
    while (improve()) {
    }
  }

 private:
  /// A job that has this link for an option.
  struct Taker {
    std::size_t job, option;
  };
  struct Move {
    std::size_t job = 0, from = 0, to = 0;  ///< options of the job
    bool valid = false;
  };

  // Is (load + more) / width lower at `a` than at `b`?
  [[nodiscard]] bool lower(std::size_t a, std::int64_t more_a, std::size_t b,
                           std::int64_t more_b) const {
    return Int128{load_[a] + more_a} * width_[b] < Int128{load_[b] + more_b} * width_[a];
  }

  // Takes a part off a link with the largest load, if that can be.
  bool improve() {
    std::size_t worst = 0;
    for (std::size_t link = 1; link < load_.size(); ++link) {
      if (lower(worst, 0, link, 0)) worst = link;
    }
    reached_by_.assign(load_.size(), {});
    std::vector<std::size_t> queue = {worst};
    for (std::size_t at = 0; at < queue.size(); ++at) {
      const std::size_t link = queue[at];
      if (link != worst && lower(link, 1, worst, 0)) {
        shift(worst, link);
        return true;
      }
      for (const Taker& taker : takers_[link]) reach(taker, worst, queue);
    }
    return false;
  }

  // A part of the taker's job can go to its other options.
  void reach(const Taker& taker, std::size_t worst, std::vector<std::size_t>& queue) {
    const Job& job = jobs_[taker.job];
    if (job.parts[taker.option] == 0) return;
    for (std::size_t to = 0; to < job.options.size(); ++to) {
      const std::size_t other = job.options[to];
      if (other == worst || reached_by_[other].valid) continue;
      reached_by_[other] = {taker.job, taker.option, to, true};
      queue.push_back(other);
    }
  }

  void shift(std::size_t worst, std::size_t link) {
    --load_[worst];
    ++load_[link];
    while (link != worst) {
      const Move& move = reached_by_[link];
      Job& job = jobs_[move.job];
      --job.parts[move.from];
      ++job.parts[move.to];
      link = job.options[move.from];
    }
  }

  std::vector<Job>& jobs_;
  const std::vector<std::int64_t>& width_;
  std::vector<std::int64_t> load_;
  std::vector<std::vector<Taker>> takers_;  ///< by link
  std::vector<Move> reached_by_;
};

}  // namespace

void balance_parts(std::vector<Job>& jobs, const std::vector<std::int64_t>& width, std::int64_t k) {
  Balance(jobs, width).spread(k);
}

}  // namespace forestcoll::baseline
