// Items of a picture that stand for several nodes or boxes: how like ones become one.
#pragma once

#include <cstddef>

#include "topology/draw/picture.hpp"

namespace forestcoll::topology {

/// Where folding stops: items of boxes that are drawn whole stay apart, or not.
enum class Inside { apart, folded };

/// Items with the same links to the same items, of one kind, box and side, become one. Items that
/// are linked to each other stay apart. One round; false where nothing is alike any more.
/// Cost: O(links log links).
bool merge_twins(Picture& picture, Inside boxes);

/// Parts of at most `largest` items that can change places while nothing else notices become one:
/// leaves with their boxes, or each GPU with its NIC and its rail. No part has two GPUs that are
/// linked to each other. One round; false where there are
/// none, or only such as were not found: each item is tried with a few of its kind.
/// Cost: O(links log links) and O(items · largest · degree).
bool merge_parts(Picture& picture, Inside boxes, std::size_t largest);

}  // namespace forestcoll::topology
