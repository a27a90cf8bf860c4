#include "run/data/memory.hpp"

#include <algorithm>

namespace forestcoll::run {
namespace {

constexpr std::byte kPoison{0xa5};

}  // namespace

Memory::Memory(const CallShape& shape, std::int64_t rank) : element_bytes_(shape.element_bytes) {
  const bool in_place = shape.placement == Placement::in_place;
  const std::int64_t both = in_place ? shape.whole : shape.input(rank) + shape.output(rank);
  bytes_.resize(static_cast<std::size_t>(both + shape.scratch) * element_bytes_);
  const auto begin_at = [&](Buffer buffer, std::int64_t element) {
    base_[static_cast<std::size_t>(buffer)] =
        bytes_.data() + static_cast<std::size_t>(element) * element_bytes_;
  };
  const std::int64_t own = shape.begin(rank);
  begin_at(Buffer::input, in_place && audit::input_is_part(shape.pattern) ? own : 0);
  if (in_place) {
    begin_at(Buffer::output, audit::output_is_part(shape.pattern) ? own : 0);
  } else {
    begin_at(Buffer::output, shape.input(rank));
  }
  begin_at(Buffer::scratch, both);
}

void Memory::poison() {
  std::ranges::fill(bytes_, kPoison);
}

}  // namespace forestcoll::run
