// What is remembered of a result, beside the output: what it was made of, and its bytes' hash.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "batch/items/item.hpp"
#include "forestcoll/diagnostic.hpp"

namespace forestcoll::cli::batch {

/// The same for the same bytes, on every machine: a UUID of version 5 (SHA-1) in a name space of
/// this project's own. Cost: linear.
[[nodiscard]] std::string content_hash(std::string_view bytes);

/// The hash of the running program's bytes, and of libforestcoll's where that is shared: the same
/// on every machine that has the same build. Errors: those of reading. Cost: linear in the file.
[[nodiscard]] Expected<std::string> program_fingerprint();

struct Record {
  std::string key;  ///< as in `Item`
  std::vector<OutputFile> outputs;
  Figures figures;
};

/// Of the program (see `program_fingerprint`), a topology's content (see `topology_fingerprint`)
/// and the words.
[[nodiscard]] std::string item_key(const std::string& program, const std::string& fingerprint,
                                   const std::vector<std::string>& words);

/// Writes the record, whole or not at all. Returns the error, if any.
[[nodiscard]] Expected<void> write_record(const std::string& path, const Record& record);

/// Why a result is not taken from the store.
enum class Miss : std::uint8_t { absent, other_key, damaged };

/// The record of an item, if it was made of the same and its outputs, read from the disk, are what
/// was written then; otherwise the reason. Cost: linear in the outputs.
struct Lookup {
  std::optional<Record> record;
  Miss miss = Miss::absent;
};
[[nodiscard]] Lookup look_up(const std::string& directory, const Item& item);

/// Size and hash of the file at `path`, or of all files below it, by name, where it is a directory;
/// nothing where it is empty. Errors: those of reading.
[[nodiscard]] Expected<std::vector<OutputFile>> fingerprint_outputs(const std::string& directory,
                                                                    const std::string& path);

}  // namespace forestcoll::cli::batch
