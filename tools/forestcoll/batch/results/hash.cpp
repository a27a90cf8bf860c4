#include "batch/results/hash.hpp"

#include <boost/uuid/name_generator_sha1.hpp>
#include <boost/uuid/uuid_io.hpp>

namespace forestcoll::cli::batch {
namespace {

constexpr boost::uuids::uuid kNameSpace = {{0x8d, 0x1c, 0x2e, 0x5b, 0x0a, 0x77, 0x4f, 0x3e, 0x9b,
                                            0x60, 0xc4, 0x1f, 0x52, 0xd9, 0x36, 0xa8}};

}  // namespace

std::string content_hash(std::string_view bytes) {
  const boost::uuids::name_generator_sha1 generator(kNameSpace);
  return boost::uuids::to_string(generator(bytes.data(), bytes.size()));
}

}  // namespace forestcoll::cli::batch
