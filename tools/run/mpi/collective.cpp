#include "run/mpi/collective.hpp"

#include <array>

namespace forestcoll::run {
namespace {

MPI_Datatype mpi_type(ElementType type) {
  switch (type) {
    case ElementType::int8:
      return MPI_INT8_T;
    case ElementType::uint8:
      return MPI_UINT8_T;
    case ElementType::int32:
      return MPI_INT32_T;
    case ElementType::uint32:
      return MPI_UINT32_T;
    case ElementType::int64:
      return MPI_INT64_T;
    case ElementType::uint64:
      return MPI_UINT64_T;
    case ElementType::single:
      return MPI_FLOAT;
    case ElementType::real64:
      return MPI_DOUBLE;
    case ElementType::half:
    case ElementType::bfloat16:
      return MPI_DATATYPE_NULL;  // MPI has none
  }
  return MPI_DATATYPE_NULL;
}

template <ElementType type, ReduceOp op>
void add_up(void* other, void* target, int* count, MPI_Datatype* /*pairs of bytes*/) {
  reduce(type, op, static_cast<std::byte*>(target), static_cast<const std::byte*>(other), *count);
}

template <ElementType type>
MPI_User_function* own_function(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum:
      return add_up<type, ReduceOp::sum>;
    case ReduceOp::prod:
      return add_up<type, ReduceOp::prod>;
    case ReduceOp::max:
      return add_up<type, ReduceOp::max>;
    case ReduceOp::min:
      return add_up<type, ReduceOp::min>;
  }
  return nullptr;
}

MPI_Op mpi_op(ReduceOp op) {
  const std::array<MPI_Op, 4> ops = {MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN};
  return ops[static_cast<std::size_t>(op)];
}

}  // namespace

MpiCollective::MpiCollective(const CallShape& shape, ElementType type, ReduceOp op,
                             std::int64_t root, MPI_Comm communicator)
    : shape_(shape),
      root_(static_cast<int>(root)),
      communicator_(communicator),
      part_(static_cast<int>(shape.part())),
      whole_(static_cast<int>(shape.whole)),
      type_(mpi_type(type)),
      op_(mpi_op(op)),
      is_own_(type_ == MPI_DATATYPE_NULL) {
  MPI_Comm_rank(communicator_, &rank_);
  for (std::int64_t r = 0; shape.parts != nullptr && r < shape.ranks; ++r) {
    parts_.push_back(static_cast<int>(shape.part(r)));
    begins_.push_back(static_cast<int>(shape.begin(r)));
  }
  if (!is_own_) return;
  MPI_Type_contiguous(static_cast<int>(size_of(type)), MPI_BYTE, &type_);
  MPI_Type_commit(&type_);
  MPI_Op_create(type == ElementType::half ? own_function<ElementType::half>(op)
                                          : own_function<ElementType::bfloat16>(op),
                1, &op_);
}

MpiCollective::~MpiCollective() {
  if (!is_own_) return;
  MPI_Op_free(&op_);
  MPI_Type_free(&type_);
}

void MpiCollective::call(Memory& memory) {
  const bool in_place = shape_.placement == Placement::in_place;
  void* input = memory.at(Buffer::input, 0);
  void* output = memory.at(Buffer::output, 0);
  void* source = in_place ? MPI_IN_PLACE : input;
  switch (shape_.pattern) {
    case Pattern::allgather:
      if (!parts_.empty()) {
        MPI_Allgatherv(source, parts_[static_cast<std::size_t>(rank_)], type_, output,
                       parts_.data(), begins_.data(), type_, communicator_);
        return;
      }
      MPI_Allgather(source, part_, type_, output, part_, type_, communicator_);
      return;
    case Pattern::reduce_scatter:
      // In place, MPI leaves the result at the beginning of the buffer: the same work.
      if (!parts_.empty()) {
        MPI_Reduce_scatter(source, in_place ? input : output, parts_.data(), type_, op_,
                           communicator_);
        return;
      }
      MPI_Reduce_scatter_block(source, in_place ? input : output, part_, type_, op_, communicator_);
      return;
    case Pattern::allreduce:
      MPI_Allreduce(source, output, whole_, type_, op_, communicator_);
      return;
    case Pattern::broadcast:
      MPI_Bcast(rank_ == root_ ? input : output, whole_, type_, root_, communicator_);
      return;
    case Pattern::reduce:
      MPI_Reduce(in_place && rank_ != root_ ? input : source, output, whole_, type_, op_, root_,
                 communicator_);
      return;
    case Pattern::alltoall:
      MPI_Alltoall(source, part_, type_, output, part_, type_, communicator_);
      return;
    case Pattern::scatter:
      MPI_Scatter(input, part_, type_, in_place && rank_ == root_ ? MPI_IN_PLACE : output, part_,
                  type_, root_, communicator_);
      return;
    case Pattern::gather:
      MPI_Gather(in_place && rank_ == root_ ? MPI_IN_PLACE : input, part_, type_, output, part_,
                 type_, root_, communicator_);
      return;
    case Pattern::sendrecv: {
      const int next = (rank_ + 1) % static_cast<int>(shape_.ranks);
      const int last =
          (rank_ + static_cast<int>(shape_.ranks) - 1) % static_cast<int>(shape_.ranks);
      MPI_Sendrecv(input, whole_, type_, next, 0, output, whole_, type_, last, 0, communicator_,
                   MPI_STATUS_IGNORE);
      return;
    }
  }
}

}  // namespace forestcoll::run
