// Memory of a run: aligned blocks that grow and are never zeroed, kept between runs because touching new pages costs
// more than a step of a small net.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "kernels/simd.h"

namespace madaline::MADALINE_ISA {

class Memory {
 public:
  Memory() = default;
  Memory(Memory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)),
        alignment_(other.alignment_) {}
  Memory& operator=(Memory&&) = delete;
  ~Memory() { release(); }

  // At least `bytes` long afterwards; what it held is lost if it grows. Returns true if it moved.
  bool reserve(std::size_t bytes) {
    if (bytes <= bytes_) return false;
    release();
    // Large blocks use huge pages if available: fewer page faults and TLB misses.
    alignment_ = bytes >= kHugePage ? kHugePage : 64;
    bytes = (bytes + alignment_ - 1) / alignment_ * alignment_;
    data_ = static_cast<char*>(::operator new(bytes, std::align_val_t(alignment_)));
    bytes_ = bytes;
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (alignment_ == kHugePage) madvise(data_, bytes, MADV_HUGEPAGE);
#endif
    return true;
  }
  char* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  static constexpr std::size_t kHugePage = std::size_t(1) << 21;
  void release() {
    if (data_ != nullptr) ::operator delete(data_, std::align_val_t(alignment_));
    data_ = nullptr;
    bytes_ = 0;
  }
  char* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t alignment_ = 64;
};

}  // namespace madaline::MADALINE_ISA
