// Requests and answers as bytes: CBOR, which keeps names that are not UTF-8 as they are.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "batch/workers/work.hpp"

namespace forestcoll::cli::batch {

[[nodiscard]] std::string encode(const Task& task);
[[nodiscard]] std::string encode(const std::vector<ProbeTask>& tasks);
[[nodiscard]] std::string encode(const Answer& answer);
[[nodiscard]] std::string encode(const Probe& probe);
/// Nothing where the bytes are not, or not wholly, what `encode` made, here and below.
[[nodiscard]] std::optional<Task> decode_task(const std::string& bytes);
[[nodiscard]] std::optional<std::vector<ProbeTask>> decode_probe_tasks(const std::string& bytes);
[[nodiscard]] std::optional<Answer> decode_answer(const std::string& bytes);
/// Of several, one after the other: as many as are whole.
[[nodiscard]] std::vector<Probe> decode_probes(const std::string& bytes);

}  // namespace forestcoll::cli::batch
