// MPI's own collectives: the yardstick.
#pragma once

#include <mpi.h>

#include <vector>

#include "run/data/element.hpp"
#include "run/data/memory.hpp"

namespace forestcoll::run {

/// A rank's calls of MPI's collective that does what the schedule does.
class MpiCollective {
 public:
  /// `communicator`: of the ranks of the shape.
  MpiCollective(const CallShape& shape, ElementType type, ReduceOp op, std::int64_t root,
                MPI_Comm communicator);
  MpiCollective(const MpiCollective&) = delete;
  MpiCollective& operator=(const MpiCollective&) = delete;
  ~MpiCollective();
  void call(Memory& memory);

 private:
  CallShape shape_;
  int root_;
  MPI_Comm communicator_;
  int rank_ = 0, part_ = 0, whole_ = 0;
  std::vector<int> parts_, begins_;  // of all ranks, where parts are unequal
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  MPI_Op op_ = MPI_OP_NULL;
  bool is_own_ = false;  // type and operation are ours to free
};

}  // namespace forestcoll::run
