// Whose programs are written, and which messages these consist of.
#pragma once

#include <cstddef>

#include "forestcoll/forest.hpp"
#include "forestcoll/id.hpp"
#include "schedule/msccl/messages.hpp"
#include "schedule/views.hpp"

namespace forestcoll::schedule {

/// A message of a tree is sent by one rank's program and received by another's. Where a symmetry
/// moves all ranks, one program of each orbit stands for all, and the trees of the first roots for
/// all trees: each of their messages has one image that a first rank sends, and one that a first
/// rank receives. Programs consist of these images.
class Ends {
 public:
  /// All programs, of the messages of all trees, which have to outlive this.
  explicit Ends(const IdVector<MessageId, Message>& messages) : messages_(&messages) {}
  /// Those of the first ranks, of the messages of the trees of the first roots. REQUIRES: `views`
  /// of the forest move all ranks. Cost: O(messages · log).
  Ends(const IdVector<MessageId, Message>& messages, const CollectiveForest& forest,
       const Views& views);

  [[nodiscard]] bool are_all() const { return of_tree_.empty(); }
  [[nodiscard]] bool is_written(Rank rank) const { return are_all() || is_first_[rank] != 0; }
  /// What ranks send and receive, in the order of the messages of trees; images of one have its
  /// number as their orbit.
  [[nodiscard]] const IdVector<MessageId, Message>& at_ranks() const {
    return are_all() ? *messages_ : images_;
  }
  [[nodiscard]] std::size_t tree_messages() const {
    return are_all() ? messages_->size() : sent_.size();
  }
  /// By a message at ranks, that of a tree whose image it is.
  [[nodiscard]] MessageId of_tree(MessageId m) const { return are_all() ? m : of_tree_[m]; }
  /// By a message of a tree, its image that is sent, or received, by a rank whose program is
  /// written.
  [[nodiscard]] MessageId sent(MessageId m) const { return are_all() ? m : sent_[m]; }
  [[nodiscard]] MessageId received(MessageId m) const { return are_all() ? m : received_[m]; }
  /// Of sums by rank over messages of trees, those by rank over messages at ranks.
  void gather(IdVector<Rank, std::int64_t>& sums) const;

 private:
  const IdVector<MessageId, Message>* messages_ = nullptr;  // all
  IdVector<MessageId, Message> images_;
  IdVector<MessageId, MessageId> of_tree_, sent_, received_;
  IdVector<Rank, char> is_first_;
  IdVector<Rank, Rank> first_;  // of each rank's orbit
};

}  // namespace forestcoll::schedule
