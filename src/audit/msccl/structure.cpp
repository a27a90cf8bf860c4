// Every rule here is one that a runtime either enforces when it loads the file or, more often,
// silently relies on: a shared connection corrupts, a wait on a step without hasdep hangs, a
// threadblock beyond the number of SMs never starts.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "audit/msccl/checks.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll::audit {
namespace {

// Offsets have 16 bits; the last step can begin at the last of them.
constexpr std::int64_t kReach = kMaxOffset + kMaxCount;

class StructureCheck {
 public:
  StructureCheck(Program& program, const TargetRules& target, std::int32_t sms, Findings& findings)
      : program_(program), target_(target), sms_(sms), findings_(findings) {}

  void run() {
    check_header();
    check_gpu_ids();
    if (program_.ranks <= kMaxChildren) check_parts();
    for (Gpu& gpu : program_.gpus) {
      check_chunk_counts(gpu);
      check_threadblock_ids(gpu);
      check_gpu_limits(gpu);
      check_scratch(gpu);
      check_connections(gpu);
      for (const Threadblock& tb : gpu.threadblocks) check_threadblock(gpu, tb);
    }
  }

 private:
  [[nodiscard]] Place header() const { return {-1, -1, -1, program_.line, {}}; }

  void limit(const Place& place, std::int64_t number, std::int64_t most, std::string_view what,
             std::string remedy) {
    if (number <= most) return;
    findings_.add(Rule::limit, place,
                  fmt::format("{} {}; target {} holds {}", number, what, target_.name, most),
                  std::move(remedy));
  }

  void check_header() {
    const std::string& protocol = program_.protocol;
    if (protocol != "Simple" && protocol != "LL" && protocol != "LL128") {
      findings_.add(
          Rule::unsupported, header(),
          fmt::format("proto: expected Simple, LL or LL128, found \"{}\"", protocol.substr(0, 40)));
    }
    if (target_.requires_name && program_.name.size() > kMaxName) {
      findings_.add(Rule::limit, header(),
                    fmt::format("the name has {} characters; target {} holds {}",
                                program_.name.size(), target_.name, kMaxName));
    }
    limit(header(), program_.channels, target_.max_channels, "channels (nchannels)",
          "make it with a smaller `k` or fewer `instances`");
    if (program_.chunks > kReach) {
      findings_.add(Rule::bounds, header(),
                    fmt::format("nchunksperloop is {}; with offsets of 16 bits no step reaches "
                                "beyond chunk {}",
                                program_.chunks, kReach),
                    "make it with a smaller `k` or fewer `instances`");
    }
  }

  void check_gpu_ids() {
    std::stable_sort(program_.gpus.begin(), program_.gpus.end(),
                     [](const Gpu& a, const Gpu& b) { return a.id < b.id; });
    if (program_.ranks > kMaxChildren) {
      limit(header(), program_.ranks, kMaxChildren, "GPUs (ngpus)", "");
      findings_.add(Rule::too_large, header(), "so many GPUs cannot be run");
      return;
    }
    std::vector<std::int32_t> seen(static_cast<std::size_t>(program_.ranks), 0);
    for (const Gpu& gpu : program_.gpus) {
      if (gpu.id >= program_.ranks) {
        findings_.add(Rule::numbering, place_of(gpu),
                      fmt::format("<gpu id=\"{}\"> in a file for {} GPUs", gpu.id, program_.ranks));
      } else if (++seen[static_cast<std::size_t>(gpu.id)] == 2) {
        findings_.add(Rule::numbering, place_of(gpu),
                      fmt::format("a second <gpu id=\"{}\">", gpu.id));
      }
    }
    for (std::int32_t r = 0; r < program_.ranks; ++r) {
      if (seen[static_cast<std::size_t>(r)] > 0) continue;
      findings_.add(Rule::numbering, Place{r, -1, -1, program_.line, {}},
                    fmt::format("no <gpu id=\"{}\">: that rank would do nothing, silently", r));
    }
  }

  // Calls count as much for every rank. Where ranks have others, a runtime that does not look takes
  // the file all the same, and in place puts the part of each at rank × count.
  void check_parts() {
    parts_.emplace(program_);
    if (is_divided(program_.pattern) && !parts_->cover()) {
      findings_.add(Rule::chunk_count, header(),
                    fmt::format("nchunksperloop is {}, not a multiple of the {} ranks of a {}",
                                program_.chunks, program_.ranks, to_string(program_.pattern)));
    }
    if (parts_->are_equal()) return;
    if (target_.enforces_chunk_counts) {
      findings_.add(Rule::attribute, header(),
                    fmt::format("the ranks of this {} have unequal parts; target {} loads equal "
                                "ones alone",
                                to_string(program_.pattern), target_.name));
    }
  }

  void check_chunk_counts(const Gpu& gpu) {
    if (!parts_ || gpu.id >= program_.ranks) return;
    const BufferSizes sizes = buffer_sizes(program_.pattern, program_.chunks, parts_->size(gpu.id));
    check_chunk_count(gpu, "i_chunks", gpu.input_chunks, sizes.input);
    check_chunk_count(gpu, "o_chunks", gpu.output_chunks, sizes.output);
    if (gpu.scratch_chunks <= kReach) return;
    findings_.add(
        Rule::chunk_count, place_of(gpu),
        fmt::format("s_chunks is {}; with offsets of 16 bits no step reaches beyond chunk "
                    "{}",
                    gpu.scratch_chunks, kReach),
        "declare the scratch that the steps use");
  }

  // A buffer that is not used may be declared empty; a declared one must have its true size.
  void check_chunk_count(const Gpu& gpu, std::string_view what, std::int64_t found,
                         std::int64_t expected) {
    if (found == expected || found == 0) return;
    findings_.add(Rule::chunk_count, place_of(gpu),
                  fmt::format("{} is {}; with nchunksperloop {} and {} GPUs the buffer of a {} has "
                              "{} chunks",
                              what, found, program_.chunks, program_.ranks,
                              to_string(program_.pattern), expected));
  }

  void check_threadblock_ids(Gpu& gpu) {
    std::stable_sort(gpu.threadblocks.begin(), gpu.threadblocks.end(),
                     [](const Threadblock& a, const Threadblock& b) { return a.id < b.id; });
    std::int32_t expected = 0;
    for (const Threadblock& tb : gpu.threadblocks) {
      if (tb.id != expected) {
        findings_.add(Rule::numbering, place_of(gpu, tb),
                      fmt::format("<tb id=\"{}\"> where {} was expected; threadblocks are numbered "
                                  "0, 1, 2, … without gaps",
                                  tb.id, expected));
        return;
      }
      ++expected;
    }
  }

  void check_gpu_limits(const Gpu& gpu) {
    const auto threadblocks = static_cast<std::int64_t>(gpu.threadblocks.size());
    limit(place_of(gpu), threadblocks, target_.max_threadblocks, "threadblocks",
          "make it with `threadblocks=merge` or a smaller `k`");
    if (threadblocks > sms_) {
      findings_.add(Rule::limit, place_of(gpu),
                    fmt::format("{} threadblocks on a GPU that holds {} at once: the rest never "
                                "start, and the others wait for them",
                                threadblocks, sms_),
                    "make it with `threadblocks=merge` or a smaller `k`, or name the GPU's SMs by "
                    "`max_threadblocks`");
    }
    std::int64_t elements = 1 + static_cast<std::int64_t>(program_.gpus.size()) + threadblocks;
    for (const Threadblock& tb : gpu.threadblocks) {
      elements += static_cast<std::int64_t>(tb.steps.size());
    }
    limit(place_of(gpu), elements, kMaxElements, "XML elements for one rank to load",
          "make it with a smaller `k` or fewer `instances`");
  }

  // maxBytes · scratch chunks / chunks, wherever no call is that large.
  void check_scratch(const Gpu& gpu) {
    if (!target_.allocates_scratch || gpu.scratch_chunks == 0) return;
    const Int128 bytes = Int128{program_.max_bytes} * gpu.scratch_chunks / program_.chunks;
    if (bytes <= kMaxScratchBytes) return;
    findings_.add(Rule::limit, place_of(gpu),
                  fmt::format("target {} allocates scratch for maxBytes {} when it loads the file: "
                              "more than {} GiB",
                              target_.name, program_.max_bytes, kMaxScratchBytes >> 30),
                  "make it with a lower `max_bytes`, or lower s_chunks");
  }

  void check_connections(const Gpu& gpu) {
    std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> send, recv;
    std::map<std::int32_t, std::int32_t> sending, receiving;
    for (const Threadblock& tb : gpu.threadblocks) {
      if (tb.channel >= program_.channels) {
        findings_.add(Rule::connection, place_of(gpu, tb),
                      fmt::format("chan is {} but nchannels {}: the channel is never set up",
                                  tb.channel, program_.channels),
                      "nchannels is the largest channel plus one");
      }
      check_peer(gpu, tb, tb.send_peer, "send", send, sending);
      check_peer(gpu, tb, tb.recv_peer, "recv", recv, receiving);
    }
    check_per_channel(gpu, sending, "send");
    check_per_channel(gpu, receiving, "receive");
  }

  void check_peer(const Gpu& gpu, const Threadblock& tb, std::int32_t peer, std::string_view what,
                  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t>& users,
                  std::map<std::int32_t, std::int32_t>& per_channel) {
    if (peer < 0) return;
    ++per_channel[tb.channel];
    if (peer == gpu.id) {
      findings_.add(Rule::connection, place_of(gpu, tb),
                    fmt::format("{}=\"{}\" is the rank itself", what, peer));
    } else if (peer >= program_.ranks) {
      findings_.add(Rule::connection, place_of(gpu, tb),
                    fmt::format("{}=\"{}\" but there are {} ranks", what, peer, program_.ranks));
    }
    const auto [first, added] = users.try_emplace({peer, tb.channel}, tb.id);
    if (added) return;
    findings_.add(Rule::connection, place_of(gpu, tb),
                  fmt::format("{}=\"{}\" on channel {} is also used by threadblock {}: two "
                              "threadblocks on one connection corrupt each other's messages",
                              what, peer, tb.channel, first->second),
                  "give each a channel of its own");
  }

  void check_per_channel(const Gpu& gpu, const std::map<std::int32_t, std::int32_t>& per_channel,
                         std::string_view what) {
    for (const auto& [channel, count] : per_channel) {
      if (count <= kMaxPerChannel) continue;
      findings_.add(Rule::limit, place_of(gpu),
                    fmt::format("{} threadblocks that {} on channel {}; a channel holds {}", count,
                                what, channel, kMaxPerChannel),
                    "make it with `threadblocks=merge` or a smaller `k`");
    }
  }

  void check_threadblock(const Gpu& gpu, const Threadblock& tb) {
    limit(place_of(gpu, tb), static_cast<std::int64_t>(tb.steps.size()), target_.max_steps,
          "steps in one threadblock", "use fewer chunks, or more threadblocks");
    for (std::size_t i = 0; i < tb.steps.size(); ++i) {
      check_step_peers(gpu, tb, i);
      check_bounds(gpu, tb, i);
      check_dependency(gpu, tb, i);
    }
    check_nops(gpu, tb);
    check_fusion(gpu, tb);
  }

  void check_step_peers(const Gpu& gpu, const Threadblock& tb, std::size_t i) {
    const Operation& operation = *tb.steps[i].operation;
    if (operation.sends && tb.send_peer < 0) {
      findings_.add(Rule::connection, place_of(gpu, tb, i),
                    fmt::format("{} sends, but the threadblock has send=\"-1\"", operation.name));
    }
    if (operation.receives && tb.recv_peer < 0) {
      findings_.add(
          Rule::connection, place_of(gpu, tb, i),
          fmt::format("{} receives, but the threadblock has recv=\"-1\"", operation.name));
    }
  }

  [[nodiscard]] static std::int64_t size_of(const Gpu& gpu, Buffer buffer) {
    switch (buffer) {
      case Buffer::input:
        return gpu.input_chunks;
      case Buffer::output:
        return gpu.output_chunks;
      case Buffer::scratch:
        return gpu.scratch_chunks;
    }
    return 0;
  }

  void check_bounds(const Gpu& gpu, const Threadblock& tb, std::size_t i) {
    const Step& step = tb.steps[i];
    if (step.operation->is_nop()) return;
    check_slice(gpu, tb, i, "src", step.source, step.source_offset, step.operation->reads_source);
    check_slice(gpu, tb, i, "dst", step.destination, step.destination_offset,
                step.operation->writes);
    if (step.operation->reads_source) check_part(gpu, tb, i, step.source);
    if (step.operation->writes) check_part(gpu, tb, i, step.destination);
  }

  // In place, at rank × count, a call has something else than the rank's part.
  void check_part(const Gpu& gpu, const Threadblock& tb, std::size_t i, Buffer buffer) {
    if (!program_.in_place || !parts_ || parts_->are_equal()) return;
    const bool input = input_is_part(program_.pattern);
    if (buffer != (input ? Buffer::input : Buffer::output)) return;
    findings_.add(Rule::chunk_count, place_of(gpu, tb, i),
                  fmt::format("in place the {} buffer of a call begins at rank × count, not at the "
                              "rank's part, as the ranks have unequal parts",
                              to_string(buffer)),
                  fmt::format("name the part by the {} buffer, or claim out of place only",
                              input ? "output" : "input"));
  }

  // The runtimes check the first chunk only, and of the operands that a step ignores as well.
  void check_slice(const Gpu& gpu, const Threadblock& tb, std::size_t i, std::string_view which,
                   Buffer buffer, std::int64_t offset, bool used) {
    const std::int64_t size = size_of(gpu, buffer);
    const std::int64_t count = used ? tb.steps[i].count : 1;
    if (used && offset < 0) {
      findings_.add(
          Rule::bounds, place_of(gpu, tb, i),
          fmt::format("{}off is {}, and {} uses it", which, offset, tb.steps[i].operation->name));
    } else if (offset >= 0 && offset + count > size) {
      findings_.add(Rule::bounds, place_of(gpu, tb, i),
                    fmt::format("{}off {} + cnt {} is beyond the {} chunks of the {} buffer{}",
                                which, offset, count, size, to_string(buffer),
                                used ? "" : " (which this step ignores, but the runtimes check)"));
    }
  }

  void check_dependency(const Gpu& gpu, const Threadblock& tb, std::size_t i) {
    const Step& step = tb.steps[i];
    if (step.depends_threadblock < 0) return;
    const auto fail = [&](std::string message, std::string remedy = {}) {
      findings_.add(Rule::dependency, place_of(gpu, tb, i), std::move(message), std::move(remedy));
    };
    const std::int32_t on = step.depends_threadblock;
    if (on > kMaxDependency) {
      fail(fmt::format("depid is {}; the runtimes hold it in 8 bits, so {} is the largest", on,
                       kMaxDependency));
      return;
    }
    if (on >= static_cast<std::int32_t>(gpu.threadblocks.size())) {
      fail(
          fmt::format("depid is {}, but the GPU has {} threadblocks", on, gpu.threadblocks.size()));
      return;
    }
    const Threadblock& other = gpu.threadblocks[static_cast<std::size_t>(on)];
    if (step.depends_step < 0 ||
        step.depends_step >= static_cast<std::int32_t>(other.steps.size())) {
      fail(fmt::format("deps is {}, but threadblock {} has {} steps", step.depends_step, on,
                       other.steps.size()));
      return;
    }
    const Step& awaited = other.steps[static_cast<std::size_t>(step.depends_step)];
    if (awaited.operation->is_nop()) {
      fail(fmt::format("waits for threadblock {} step {}, a nop, which never signals", on,
                       step.depends_step),
           "wait for a step that does something");
    } else if (!awaited.has_dependent) {
      fail(fmt::format("waits for threadblock {} step {}, which has hasdep=\"0\" and never signals",
                       on, step.depends_step),
           fmt::format("set hasdep=\"1\" on threadblock {} step {}", on, step.depends_step));
    }
  }

  void check_nops(const Gpu& gpu, const Threadblock& tb) {
    for (std::size_t i = 0; i < tb.steps.size(); ++i) {
      if (!tb.steps[i].operation->is_nop()) continue;
      if (tb.steps[i].depends_threadblock < 0) {
        findings_.add(Rule::nop, place_of(gpu, tb, i), "a nop that waits for nothing", "remove it");
      }
      std::size_t next = i + 1;
      while (next < tb.steps.size() && tb.steps[next].operation->is_nop()) ++next;
      if (next == tb.steps.size()) {
        findings_.add(Rule::nop, place_of(gpu, tb, i),
                      "a nop that no other step follows; its wait is lost");
      } else if (tb.steps[next].depends_threadblock < 0) {
        findings_.add(Rule::nop, place_of(gpu, tb, i),
                      fmt::format("the step after the nop, step {}, waits for nothing itself, so "
                                  "the nop's wait is lost",
                                  next),
                      "put one of the dependencies on the step itself");
      }
      i = next - 1;
    }
  }

  // Consecutive `re` into one place run as one loop, with the count of the last of them.
  void check_fusion(const Gpu& gpu, const Threadblock& tb) {
    std::int32_t run = 1;
    for (std::size_t i = 1; i < tb.steps.size(); ++i) {
      const Step& before = tb.steps[i - 1];
      const Step& step = tb.steps[i];
      const bool fused = before.operation->reads_destination && step.operation->reads_destination &&
                         !before.has_dependent && step.depends_threadblock < 0 &&
                         before.destination == step.destination &&
                         before.destination_offset == step.destination_offset &&
                         before.source == step.source;
      run = fused ? run + 1 : 1;
      if (fused && before.count != step.count) {
        findings_.add(
            Rule::bounds, place_of(gpu, tb, i),
            fmt::format("cnt is {}, but {} in the re before it; the runtimes fuse the two "
                        "and use one count for both",
                        step.count, before.count),
            "set hasdep=\"1\" on the step before");
      }
      if (run == kMaxFusion + 1) {
        findings_.add(Rule::limit, place_of(gpu, tb, i),
                      fmt::format("more than {} re in a row into one place; the runtimes fuse them "
                                  "and hold {}",
                                  kMaxFusion, kMaxFusion),
                      "set hasdep=\"1\" on every sixteenth");
      }
    }
  }

  Program& program_;
  const TargetRules& target_;
  std::int32_t sms_;
  Findings& findings_;
  std::optional<OwnParts> parts_;  // of a number of ranks that can be run
};

}  // namespace

void check_structure(Program& program, const TargetRules& target, std::int32_t sms,
                     Findings& findings) {
  StructureCheck(program, target, sms, findings).run();
}

}  // namespace forestcoll::audit
