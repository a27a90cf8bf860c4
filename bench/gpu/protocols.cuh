// Threadblocks of one GPU that hand data to one another through its memory, in the protocols that
// communication libraries use between GPUs: Simple (slots of a ring, a counter each way), LL (a
// flag beside every 4 bytes) and LL128 (a flag in every line of 128 bytes).
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

enum Protocol { kSimple, kLL, kLL128 };

// What a threadblock does with each slice; an operation is a sum of these.
enum Part { kReceive = 1, kLoad = 2, kSend = 4, kStore = 8 };

// Slices of a connection, as NCCL has them by default, in bytes of data.
constexpr int kSliceBytes[] = {1 << 20, 512 * 8 * 8, 576000};
constexpr int kSlots[] = {4, 8, 8};
constexpr int kGroupBytes = 1920;  // of data that a warp moves at a time in LL128: 16 lines

// From one threadblock to another. The sender counts `tail` up, the receiver `head`.
struct Connection {
  alignas(128) unsigned long long tail;
  alignas(128) unsigned long long head;
  alignas(128) char slots[8 * 16 * kSliceBytes[kLL128] / 15];
};

struct Block {
  int parts;
  const char* input;
  char* output;
  Connection *from, *to;
};

// The value of each counter when it was last read.
struct Seen {
  unsigned long long tail = 0, head = 0;
};

__device__ void publish(unsigned long long* counter, unsigned long long value) {
  asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(counter), "l"(value) : "memory");
}
// Relaxed, as the libraries do it: what is read afterwards is read past L1.
__device__ void wait_for(const unsigned long long* counter, unsigned long long value,
                         unsigned long long& seen) {
  while (seen < value) {
    asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(seen) : "l"(counter) : "memory");
  }
}
__device__ uint4 load(const void* from) {
  uint4 v;
  asm volatile("ld.volatile.global.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(from)
               : "memory");
  return v;
}
__device__ void store(void* to, uint4 v) {
  asm volatile("st.volatile.global.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(to), "r"(v.x), "r"(v.y),
               "r"(v.z), "r"(v.w)
               : "memory");
}
__device__ unsigned add(unsigned a, unsigned b) {
  return __float_as_uint(__uint_as_float(a) + __uint_as_float(b));
}
__device__ uint4 add(uint4 a, uint4 b) {
  return {add(a.x, b.x), add(a.y, b.y), add(a.z, b.z), add(a.w, b.w)};
}
__device__ uint2 add(uint2 a, uint2 b) {
  return {add(a.x, b.x), add(a.y, b.y)};
}

template <int kParts, typename V>
__device__ V combine(V received, V loaded) {
  if constexpr ((kParts & kReceive) != 0 && (kParts & kLoad) != 0) return add(received, loaded);
  return (kParts & kReceive) != 0 ? received : loaded;
}

// Simple: vectors of 16 bytes, `kBatch` loads of a thread in flight. Returns where it stopped.
template <int kParts, int kBatch>
__device__ int move(int begin, int end, const char* received, const char* loaded, char* sent,
                    char* stored) {
  const int stride = blockDim.x * kBatch;
  for (; begin + stride <= end; begin += stride) {
    uint4 a[kBatch] = {}, b[kBatch] = {};
#pragma unroll
    for (int u = 0; u < kBatch; ++u) {
      const std::size_t at = 16 * std::size_t(begin + u * blockDim.x + threadIdx.x);
      if (kParts & kReceive) a[u] = load(received + at);
      if (kParts & kLoad) b[u] = load(loaded + at);
    }
#pragma unroll
    for (int u = 0; u < kBatch; ++u) {
      const std::size_t at = 16 * std::size_t(begin + u * blockDim.x + threadIdx.x);
      const uint4 value = combine<kParts>(a[u], b[u]);
      if (kParts & kSend) *reinterpret_cast<uint4*>(sent + at) = value;
      if (kParts & kStore) *reinterpret_cast<uint4*>(stored + at) = value;
    }
  }
  return begin;
}

template <int kParts>
__device__ void slice_simple(const char* received, const char* loaded, char* sent, char* stored,
                             int bytes) {
  const int count = bytes / 16;
  int at = move<kParts, 8>(0, count, received, loaded, sent, stored);
  at = move<kParts, 1>(at, count, received, loaded, sent, stored);
  if (at + int(threadIdx.x) < count) {
    const std::size_t from = 16 * std::size_t(at + threadIdx.x);
    uint4 a = {}, b = {};
    if (kParts & kReceive) a = load(received + from);
    if (kParts & kLoad) b = load(loaded + from);
    const uint4 value = combine<kParts>(a, b);
    if (kParts & kSend) *reinterpret_cast<uint4*>(sent + from) = value;
    if (kParts & kStore) *reinterpret_cast<uint4*>(stored + from) = value;
  }
}

// LL: every 4 bytes have a flag beside them; a thread has one line of 16 bytes in flight.
template <int kParts>
__device__ void slice_ll(const char* received, const char* loaded, char* sent, char* stored,
                         int bytes, unsigned flag) {
  for (int i = threadIdx.x; i < bytes / 8; i += blockDim.x) {
    uint2 a = {}, b = {};
    if (kParts & kLoad) b = *reinterpret_cast<const uint2*>(loaded + 8 * i);
    if (kParts & kReceive) {
      uint4 line;
      do {
        line = load(received + 16 * i);
      } while (line.y != flag || line.w != flag);
      a = {line.x, line.z};
    }
    const uint2 value = combine<kParts>(a, b);
    if (kParts & kSend) store(sent + 16 * i, {value.x, flag, value.y, flag});
    if (kParts & kStore) *reinterpret_cast<uint2*>(stored + 8 * i) = value;
  }
}

// LL128: the last 8 bytes of every line of 128 are its flag. A row of a warp is four lines, with
// 480 bytes of data: 28 vectors of the lanes without a flag, then 8 bytes of each lane with one.
template <int kParts>
__device__ void slice_ll128(const char* received, const char* loaded, char* sent, char* stored,
                            int bytes, unsigned flag) {
  constexpr int kRows = 4;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const bool flagged = lane % 8 == 7;
  const int place = flagged ? 448 + lane / 8 * 8 : 16 * (lane - lane / 8);
  for (int group = warp; group < bytes / kGroupBytes; group += warps) {
    uint4 a[kRows] = {}, b[kRows] = {};
    const int data = group * kGroupBytes + place, wire = group * 2048 + lane * 16;
    if (kParts & kLoad) {
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        if (flagged) {
          const uint2 half = *reinterpret_cast<const uint2*>(loaded + data + 480 * r);
          b[r] = {half.x, half.y, 0, 0};
        } else {
          b[r] = load(loaded + data + 480 * r);
        }
      }
    }
    if (kParts & kReceive) {
      bool missing;
      do {
        missing = false;
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
          a[r] = load(received + wire + 512 * r);
          missing |= flagged && a[r].z != flag;
        }
      } while (__any_sync(~0u, missing));
      // A line may have arrived after a lane without its flag had read it.
#pragma unroll
      for (int r = 0; r < kRows; ++r) a[r] = load(received + wire + 512 * r);
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      uint4 value = combine<kParts>(a[r], b[r]);
      if (kParts & kStore) {
        if (flagged) {
          *reinterpret_cast<uint2*>(stored + data + 480 * r) = {value.x, value.y};
        } else {
          store(stored + data + 480 * r, value);
        }
      }
      if (flagged) value.z = flag, value.w = 0;
      if (kParts & kSend) store(sent + wire + 512 * r, value);
    }
  }
}

// One operation: waits for data and for room, moves a slice, and tells both neighbours.
template <Protocol P, int kParts>
__device__ void operate(const Block& block, unsigned long long step, std::size_t at, int bytes,
                        Seen& seen) {
  constexpr int kSlotBytes = P == kSimple ? kSliceBytes[P]
                             : P == kLL   ? 2 * kSliceBytes[P]
                                          : kSliceBytes[P] / 15 * 16;
  constexpr int kRoom = kSlots[P];
  const std::size_t slot = step % kRoom * kSlotBytes;
  const char* received = kParts & kReceive ? block.from->slots + slot : nullptr;
  char* sent = kParts & kSend ? block.to->slots + slot : nullptr;
  if constexpr ((kParts & kReceive) != 0 && P == kSimple) {
    if (threadIdx.x == 0) wait_for(&block.from->tail, step + 1, seen.tail);
  }
  if constexpr ((kParts & kSend) != 0) {
    if (threadIdx.x == 32 && step >= kRoom) {
      wait_for(&block.to->head, step + 1 - kRoom, seen.head);
    }
  }
  __syncthreads();
  if constexpr (P == kSimple) {
    slice_simple<kParts>(received, block.input + at, sent, block.output + at, bytes);
  } else if constexpr (P == kLL) {
    slice_ll<kParts>(received, block.input + at, sent, block.output + at, bytes, step + 1);
  } else {
    slice_ll128<kParts>(received, block.input + at, sent, block.output + at, bytes, step + 1);
  }
  __syncthreads();
  if constexpr ((kParts & kSend) != 0 && P == kSimple) {
    if (threadIdx.x == blockDim.x - 1) {
      __threadfence_system();
      publish(&block.to->tail, step + 1);
    }
  }
  if constexpr ((kParts & kReceive) != 0) {
    if (threadIdx.x == blockDim.x - 33) publish(&block.from->head, step + 1);
  }
}

template <Protocol P, int kParts>
__device__ void operate_all(const Block& block, int steps, int bytes, bool advance) {
  Seen seen;
  for (int s = 0; s < steps; ++s) {
    operate<P, kParts>(block, s, advance ? std::size_t(s) * bytes : 0, bytes, seen);
  }
}

// `advance`: every step has data of its own; otherwise a message that goes round and round.
template <Protocol P>
__global__ void __launch_bounds__(640, 1)
    pass_kernel(const Block* blocks, int steps, int bytes, bool advance) {
  const Block block = blocks[blockIdx.x];
  switch (block.parts) {
    case kLoad + kStore:
      return operate_all<P, kLoad + kStore>(block, steps, bytes, advance);
    case kLoad + kSend:
      return operate_all<P, kLoad + kSend>(block, steps, bytes, advance);
    case kReceive + kStore:
      return operate_all<P, kReceive + kStore>(block, steps, bytes, advance);
    case kReceive + kSend:
      return operate_all<P, kReceive + kSend>(block, steps, bytes, advance);
    case kReceive + kSend + kStore:
      return operate_all<P, kReceive + kSend + kStore>(block, steps, bytes, advance);
    case kReceive + kLoad + kStore:
      return operate_all<P, kReceive + kLoad + kStore>(block, steps, bytes, advance);
    case kReceive + kLoad + kSend:
      return operate_all<P, kReceive + kLoad + kSend>(block, steps, bytes, advance);
    case kReceive + kLoad + kSend + kStore:
      return operate_all<P, kReceive + kLoad + kSend + kStore>(block, steps, bytes, advance);
    default: {  // the head of a ring: sends, then takes back what has gone round
      Seen seen;
      for (int s = 0; s < steps; ++s) {
        operate<P, kLoad + kSend>(block, s, 0, bytes, seen);
        operate<P, kReceive + kStore>(block, s, 0, bytes, seen);
      }
    }
  }
}
