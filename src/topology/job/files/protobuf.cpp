#include "topology/job/files/protobuf.hpp"

namespace forestcoll::topology {

std::optional<std::uint64_t> WireReader::varint() {
  constexpr unsigned kBitsInAByte = 7, kLastShift = 63;
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift <= kLastShift && at_ < bytes_.size(); shift += kBitsInAByte) {
    const auto byte = static_cast<unsigned char>(bytes_[at_++]);
    if (shift == kLastShift && byte > 1) return std::nullopt;
    value |= std::uint64_t{byte & 0x7fU} << shift;
    if ((byte & 0x80U) == 0) return value;
  }
  return std::nullopt;
}

std::optional<std::string_view> WireReader::take(std::uint64_t count) {
  if (count > bytes_.size() - at_) return std::nullopt;
  const std::string_view taken = bytes_.substr(at_, static_cast<std::size_t>(count));
  at_ += taken.size();
  return taken;
}

std::optional<WireReader::Field> WireReader::field() {
  constexpr unsigned kTypeBits = 3;
  constexpr std::uint64_t kMostNumber = (std::uint64_t{1} << 29) - 1;
  const auto tag = varint();
  if (!tag || *tag >> kTypeBits == 0 || *tag >> kTypeBits > kMostNumber) return std::nullopt;
  Field field{static_cast<std::uint32_t>(*tag >> kTypeBits),
              static_cast<Type>(*tag & ((1U << kTypeBits) - 1)),
              0,
              {}};
  switch (field.type) {
    case Type::varint: {
      const auto value = varint();
      if (!value) return std::nullopt;
      field.value = *value;
      return field;
    }
    case Type::bytes: {
      const auto count = varint();
      const auto bytes = count ? take(*count) : std::nullopt;
      if (!bytes) return std::nullopt;
      field.bytes = *bytes;
      return field;
    }
    case Type::fixed64:
    case Type::fixed32: {
      const auto bytes = take(field.type == Type::fixed64 ? 8 : 4);
      if (!bytes) return std::nullopt;
      for (std::size_t i = bytes->size(); i-- > 0;) {
        field.value = field.value << 8 | static_cast<unsigned char>((*bytes)[i]);
      }
      return field;
    }
  }
  return std::nullopt;  // a group, which proto3 does not have
}

}  // namespace forestcoll::topology
