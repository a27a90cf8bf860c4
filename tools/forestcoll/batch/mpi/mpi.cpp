// Messages: a job goes out, and what became of it comes back, as bytes. Both are short, so that
// plain blocking sends do; what waits is asked for with probes, between looks at the children.
#include "batch/workers/mpi.hpp"

#include <mpi.h>

#include <map>
#include <string>
#include <utility>

#include "common/report/report.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll::cli::batch {
namespace {

enum Tag : int { job_tag = 1, finished_tag = 2, stop_tag = 3, home_tag = 4 };

constexpr int kPollMs = 5;

std::string encode(const Job& job) {
  std::string bytes;
  Json::to_cbor({{"number", job.number}, {"request", job.request}, {"footprint", job.footprint}},
                bytes);
  return bytes;
}

std::string encode(const Finished& finished) {
  std::string bytes;
  Json::to_cbor({{"number", finished.number},
                 {"end", static_cast<std::uint8_t>(finished.end)},
                 {"answer", finished.answer},
                 {"code", name_of(finished.error.code)},
                 {"message", finished.error.message},
                 {"seconds", finished.seconds},
                 {"peak_bytes", finished.peak_bytes}},
                bytes);
  return bytes;
}

Job job_of(const Json& json) {
  return {json.at("number").get<std::size_t>(), json.at("request").get<std::string>(),
          json.at("footprint").get<std::uint64_t>()};
}

Finished finished_of(const Json& json) {
  return {.number = json.at("number").get<std::size_t>(),
          .end = static_cast<End>(json.at("end").get<std::uint8_t>()),
          .answer = json.at("answer").get<std::string>(),
          .error = {parse_code(json.at("code").get<std::string>()),
                    json.at("message").get<std::string>(), ""},
          .seconds = json.at("seconds").get<double>(),
          .peak_bytes = json.at("peak_bytes").get<std::uint64_t>()};
}

void send(int rank, Tag tag, const std::string& bytes = {}) {
  MPI_Send(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, rank, tag, MPI_COMM_WORLD);
}

struct Message {
  int tag = 0;
  Json body;  ///< empty where it is none of ours
};

// Nothing where no message waits.
std::optional<Message> receive() {
  int waits = 0;
  MPI_Status status = {};
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &waits, &status);
  if (waits == 0) return std::nullopt;
  int size = 0;
  MPI_Get_count(&status, MPI_BYTE, &size);
  std::string bytes(static_cast<std::size_t>(size), '\0');
  MPI_Recv(bytes.data(), size, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
           MPI_STATUS_IGNORE);
  return Message{status.MPI_TAG, Json::from_cbor(bytes, true, false)};
}

class Everywhere : public Runner {
 public:
  Everywhere(const RunnerLimits& limits, const sigset_t& mask, int ranks)
      : here_(run_in_children(limits, mask)),
        others_(static_cast<std::size_t>(ranks - 1), Load(limits)) {}
  Everywhere(const Everywhere&) = delete;
  Everywhere& operator=(const Everywhere&) = delete;
  ~Everywhere() override {
    for (std::size_t i = 0; i < others_.size(); ++i) send(rank_of(i), home_tag);
  }

  [[nodiscard]] bool has_room(std::uint64_t footprint) const override {
    return here_->has_room(footprint) || find_room(footprint) < others_.size();
  }

  // The others first: this process hands out the work as well.
  void start(const Job& job) override {
    const std::size_t other = find_room(job.footprint);
    if (other == others_.size()) {
      here_->start(job);
      return;
    }
    others_[other].add(job.footprint);
    away_[job.number] = {other, job.footprint};
    send(rank_of(other), job_tag, encode(job));
  }

  [[nodiscard]] std::vector<Finished> poll() override {
    std::vector<Finished> all = here_->poll();
    while (const auto message = receive()) {
      Finished finished = finished_of(message->body);
      const auto where = away_.extract(finished.number);
      if (where.empty()) continue;
      others_[where.mapped().first].remove(where.mapped().second);
      all.push_back(std::move(finished));
    }
    return all;
  }

  [[nodiscard]] std::size_t running() const override { return here_->running() + away_.size(); }

  void stop() override {
    here_->stop();
    if (std::exchange(stopped_, true)) return;
    for (std::size_t i = 0; i < others_.size(); ++i) send(rank_of(i), stop_tag);
  }

  [[nodiscard]] int interval_ms() const override { return kPollMs; }

 private:
  static int rank_of(std::size_t other) { return static_cast<int>(other) + 1; }

  // The least busy one with room; their number where there is none.
  [[nodiscard]] std::size_t find_room(std::uint64_t footprint) const {
    std::size_t best = others_.size();
    for (std::size_t i = 0; i < others_.size(); ++i) {
      if (!others_[i].has_room(footprint)) continue;
      if (best == others_.size() || others_[i].running() < others_[best].running()) best = i;
    }
    return best;
  }

  std::unique_ptr<Runner> here_;
  std::vector<Load> others_;
  std::map<std::size_t, std::pair<std::size_t, std::uint64_t>> away_;  // job: who, footprint
  bool stopped_ = false;
};

}  // namespace

Mpi::Mpi() {
  MPI_Init(nullptr, nullptr);
}

Mpi::~Mpi() {
  MPI_Finalize();
}

bool Mpi::is_built_in() {
  return true;
}

int Mpi::rank() const {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int Mpi::processes_here() const {
  MPI_Comm here = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
  int processes = 1;
  MPI_Comm_size(here, &processes);
  MPI_Comm_free(&here);
  return processes;
}

std::unique_ptr<Runner> Mpi::run_on_all(const RunnerLimits& limits, const sigset_t& mask) const {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return std::make_unique<Everywhere>(limits, mask, ranks);
}

void Mpi::serve(const RunnerLimits& limits, SignalGate& gate) const {
  const auto runner = run_in_children(limits, gate.mask_before());
  while (true) {
    while (const auto message = receive()) {
      if (message->tag == home_tag) return;
      if (message->tag == stop_tag) runner->stop();
      if (message->tag == job_tag) runner->start(job_of(message->body));
    }
    for (const Finished& finished : runner->poll()) send(0, finished_tag, encode(finished));
    gate.wait(std::chrono::milliseconds(kPollMs));
    if (gate.stop_signal() != 0) runner->stop();
  }
}

}  // namespace forestcoll::cli::batch
