#include "memory.hpp"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::size_t> live{0}, peak{0};

void* counted(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  const std::size_t size = malloc_usable_size(memory);
  const std::size_t now = live.fetch_add(size, std::memory_order_relaxed) + size;
  std::size_t most = peak.load(std::memory_order_relaxed);
  while (now > most && !peak.compare_exchange_weak(most, now, std::memory_order_relaxed)) {
  }
  return memory;
}

void release(void* memory) noexcept {
  if (memory != nullptr) {
    live.fetch_sub(malloc_usable_size(memory), std::memory_order_relaxed);
    std::free(memory);
  }
}

}  // namespace

// The standard's own forms for arrays, sizes and nothrow call these.
void* operator new(std::size_t size) {
  return counted(std::malloc(size == 0 ? 1 : size));
}
void operator delete(void* memory) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  release(memory);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  const auto step = static_cast<std::size_t>(alignment);
  return counted(std::aligned_alloc(step, (size + step - 1) / step * step));
}
void operator delete(void* memory, std::align_val_t) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  release(memory);
}

namespace forestcoll::bench {

std::size_t live_bytes() {
  return live.load(std::memory_order_relaxed);
}

std::size_t peak_bytes() {
  return peak.load(std::memory_order_relaxed);
}

void forget_peak() {
  peak.store(live_bytes(), std::memory_order_relaxed);
}

}  // namespace forestcoll::bench
