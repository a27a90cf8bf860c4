#include "emit/msccl_programs.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace forestcoll::emit {
namespace {

char letter(Buffer buffer) {
  switch (buffer) {
    case Buffer::input:
      return 'i';
    case Buffer::output:
      return 'o';
    case Buffer::scratch:
      break;
  }
  return 's';
}

// Of which there are millions: the format is parsed by the compiler.
void append_step(std::string& out, std::size_t number, const Step& step) {
  std::array<char, 512> line;  // eight numbers of at most twenty digits
  const StepRef awaited = step.depends_on.value_or(StepRef());
  const char* end = fmt::format_to(
      line.data(),
      FMT_COMPILE("      <step s=\"{}\" type=\"{}\" srcbuf=\"{}\" srcoff=\"{}\" dstbuf=\"{}\" "
                  "dstoff=\"{}\" cnt=\"{}\" depid=\"{}\" deps=\"{}\" hasdep=\"{:d}\"/>\n"),
      number, letters(step.operation), letter(step.src.buffer), step.src.offset,
      letter(step.dst.buffer), step.dst.offset, step.count, awaited.threadblock, awaited.step,
      step.has_dependent);
  out.append(line.data(), static_cast<std::size_t>(end - line.data()));
}

void append_gpu(std::string& out, std::size_t rank, const RankProgram& program) {
  fmt::format_to(std::back_inserter(out),
                 "  <gpu id=\"{}\" i_chunks=\"{}\" o_chunks=\"{}\" s_chunks=\"{}\">\n", rank,
                 program.input_chunks, program.output_chunks, program.scratch_chunks);
  for (std::size_t b = 0; b < program.threadblocks.size(); ++b) {
    const Threadblock& block = program.threadblocks[b];
    fmt::format_to(std::back_inserter(out),
                   "    <tb id=\"{}\" send=\"{}\" recv=\"{}\" chan=\"{}\">\n", b,
                   block.send_peer.value, block.recv_peer.value, block.channel);
    for (std::size_t s = 0; s < block.steps.size(); ++s) append_step(out, s, block.steps[s]);
    out += "    </tb>\n";
  }
  out += "  </gpu>\n";
}

}  // namespace

std::string_view letters(Operation operation) {
  switch (operation) {
    case Operation::send:
      return "s";
    case Operation::recv:
      return "r";
    case Operation::recv_copy_send:
      return "rcs";
    case Operation::recv_reduce_send:
      return "rrs";
    case Operation::recv_reduce_copy:
      return "rrc";
    case Operation::recv_reduce_copy_send:
      return "rrcs";
    case Operation::copy:
      return "cpy";
    case Operation::reduce:
      return "re";
    case Operation::nop:
      break;
  }
  return "nop";
}

void append_programs(std::string& out, const IdVector<Rank, RankProgram>& programs) {
  constexpr std::size_t kAtOnce = 64;  // ranks, by one thread
  std::vector<std::string> parts((programs.size() + kAtOnce - 1) / kAtOnce);
  tbb::parallel_for(std::size_t{0}, parts.size(), [&](std::size_t part) {
    const std::size_t end = std::min(programs.size(), (part + 1) * kAtOnce);
    for (std::size_t r = part * kAtOnce; r < end; ++r) {
      append_gpu(parts[part], r, programs[Rank(r)]);
    }
  });
  for (std::string& part : parts) out += std::exchange(part, {});
}

}  // namespace forestcoll::emit
