// The wire format of protobuf: fields of a message one by one, without its schema.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace forestcoll::topology {

/// Reads a message in place. Source: protobuf.dev/programming-guides/encoding.
class WireReader {
 public:
  enum class Type : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };
  struct Field {
    std::uint32_t number = 0;
    Type type = Type::varint;
    std::uint64_t value = 0;      ///< of a varint or a fixed number
    std::string_view bytes = {};  ///< of a text, a message or a packed list
  };

  explicit WireReader(std::string_view bytes) : bytes_(bytes) {}

  [[nodiscard]] bool at_end() const { return at_ == bytes_.size(); }
  [[nodiscard]] std::size_t position() const { return at_; }
  /// Nothing where the bytes end within it, or it is above 64 bits.
  [[nodiscard]] std::optional<std::uint64_t> varint();
  /// The next field. Nothing where the bytes are none, or of a type that was never in use.
  [[nodiscard]] std::optional<Field> field();
  /// So many bytes; nothing where there are fewer.
  [[nodiscard]] std::optional<std::string_view> take(std::uint64_t count);

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
};

}  // namespace forestcoll::topology
