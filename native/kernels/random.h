// Uniform random numbers by Philox4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3").
//
//   words(c, row) = philox(counter = (c, row, step mod 2^32, stream), key = (seed mod 2^32, seed / 2^32))    four
//   uint32 float32:  c = u / 4, w = word u % 4;                     y = ((w >> 9) + 0.5) * 2^-23 float64:  c = u / 2,
//   (a, b) = words 2 (u % 2), + 1;      y = (((a * 2^32 + b) >> 12) + 0.5) * 2^-52
// for unit u of global row `row`; both lie strictly between 0 and 1. All integers are unsigned. So a value depends on
// (seed, stream, step, row, u) alone, whatever the tiles, threads and instruction set.
#pragma once

#include <cstring>

#include "kernels/program.h"
#include "kernels/strided.h"

namespace madaline::MADALINE_ISA {

struct PhiloxKey {
  std::uint32_t seed_low, seed_high, row, step, stream;
};

// Counters computed side by side, each in the low half of a 64-bit lane: what a widening multiplication takes.
inline constexpr int kPhiloxLanes = kVectorBytes / 8;
typedef std::uint64_t PhiloxVec __attribute__((vector_size(kVectorBytes)));

MADALINE_INLINE PhiloxVec multiply_low_halves(PhiloxVec a, PhiloxVec b) {
#if defined(MADALINE_AVX512)
  return (PhiloxVec)_mm512_mul_epu32((__m512i)a, (__m512i)b);
#elif defined(MADALINE_AVX2)
  return (PhiloxVec)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#elif defined(MADALINE_SSE2)
  return (PhiloxVec)_mm_mul_epu32((__m128i)a, (__m128i)b);
#else
  return (a & 0xffffffffu) * (b & 0xffffffffu);
#endif
}

// Words of counters first, first + 1 ... first + kPhiloxLanes - 1: four for each, in order.
MADALINE_INLINE void philox(std::uint64_t first, const PhiloxKey& key, std::uint32_t* words) {
  PhiloxVec x0, x1 = PhiloxVec{} + key.row, x2 = PhiloxVec{} + key.step, x3 = PhiloxVec{} + key.stream;
  for (int i = 0; i < kPhiloxLanes; ++i) x0[i] = first + static_cast<std::uint64_t>(i);
  const PhiloxVec m0 = PhiloxVec{} + 0xD2511F53u, m1 = PhiloxVec{} + 0xCD9E8D57u;
  std::uint32_t k0 = key.seed_low, k1 = key.seed_high;
#pragma GCC unroll 10
  for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
    // The upper halves of the lanes hold garbage, which the next multiplication ignores.
    const PhiloxVec p0 = multiply_low_halves(x0, m0), p1 = multiply_low_halves(x2, m1);
    x0 = (p1 >> 32) ^ x1 ^ (PhiloxVec{} + k0);
    x1 = p1;
    x2 = (p0 >> 32) ^ x3 ^ (PhiloxVec{} + k1);
    x3 = p0;
  }
  const PhiloxVec low = (x0 & 0xffffffffu) | (x1 << 32), high = (x2 & 0xffffffffu) | (x3 << 32);
  for (int i = 0; i < kPhiloxLanes; ++i) {
    const std::uint64_t pair[] = {low[i], high[i]};
    for (int j = 0; j < 2; ++j) {
      words[4 * i + 2 * j] = static_cast<std::uint32_t>(pair[j]);
      words[4 * i + 2 * j + 1] = static_cast<std::uint32_t>(pair[j] >> 32);
    }
  }
}

// y[0 .. n) = units 0 ... n - 1 of the row.
template <class T> void uniform_row(const PhiloxKey& key, T* y, std::int64_t n) noexcept {
  constexpr int words_per_batch = 4 * kPhiloxLanes, batch = words_per_batch * 4 / static_cast<int>(sizeof(T));
  alignas(64) std::uint32_t words[words_per_batch];
  T values[batch];
  for (std::int64_t u = 0; u < n; u += batch) {
    philox(static_cast<std::uint64_t>(u / (16 / static_cast<std::int64_t>(sizeof(T)))), key, words);
    T* to = n - u >= batch ? y + u : values;
    for (int i = 0; i < batch; ++i) {
      if constexpr (sizeof(T) == 4) {
        to[i] = (static_cast<float>(static_cast<std::int32_t>(words[i] >> 9)) + 0.5f) * 0x1p-23f;
      } else {
        const std::uint64_t bits = (static_cast<std::uint64_t>(words[2 * i]) << 32 | words[2 * i + 1]) >> 12;
        to[i] = (static_cast<double>(static_cast<std::int64_t>(bits)) + 0.5) * 0x1p-52;
      }
    }
    if (to == values) std::memcpy(y + u, values, static_cast<std::size_t>(n - u) * sizeof(T));
  }
}

class Random final : public Instruction {
 public:
  // dims[0] is the rows if is_rows; the other dims, flattened, are the units. Without rows everything is units of row
  // 0.
  Random(DType dtype, std::vector<Dim> dims, Operand dst, Operand key, std::uint32_t stream)
      : dtype_(dtype), stream_(stream) {
    const std::int64_t item = size_of(dtype);
    place_ = {dst.buffer, dst.offset * item, dst.row_advance * item};
    key_ = {key.buffer, key.offset * 8, key.row_advance * 8};
    key_stride_ = key.strides[0];
    if (!dims.empty() && dims[0].is_rows) {
      has_rows_ = true;
      row_step_ = dims[0].coefficient * dst.strides[0] * item;
      dims[0].is_rows = false;
    }
    collapse(dims, {&dst.strides});
    if (dims.size() > 1 || (dims.size() == 1 && dims[0].is_rows)) {
      invalid("random needs a destination whose units are evenly spaced, and rows only in the first dim.");
    }
    if (dims.size() == 1) units_ = dims[0].coefficient, unit_stride_ = dst.strides[0];
    scratch_bytes_ = unit_stride_ == 1 ? 0 : static_cast<std::size_t>(units_ * item);
  }

  void run(Frame& frame) const noexcept override { run_rows(frame, {0, rows(frame.rows)}); }
  std::int64_t chunks(std::int64_t n_rows, int threads) const noexcept override {
    return threads == 1 ? 1 : std::max<std::int64_t>(1, std::min(rows(n_rows), rows(n_rows) * units_ / kChunkElements));
  }
  void run_chunk(Frame& frame, std::int64_t chunk, std::int64_t n_chunks) const noexcept override {
    run_rows(frame, chunk_range(rows(frame.rows), chunk, n_chunks));
  }
  std::size_t scratch_bytes() const noexcept override { return scratch_bytes_; }

 private:
  std::int64_t rows(std::int64_t n) const { return has_rows_ ? n : 1; }

  void run_rows(Frame& frame, Range range) const noexcept {
    const auto* key = reinterpret_cast<const std::int64_t*>(frame.at(key_));
    const auto seed = static_cast<std::uint64_t>(key[0]), step = static_cast<std::uint64_t>(key[key_stride_]);
    PhiloxKey philox_key{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32), 0,
                         static_cast<std::uint32_t>(step), stream_};
    char* dst = frame.at(place_);
    for (std::int64_t r = range.begin; r < range.end; ++r) {
      philox_key.row = has_rows_ ? static_cast<std::uint32_t>(frame.first_row + r) : 0;
      char* to = dst + r * row_step_;
      char* row = unit_stride_ == 1 ? to : frame.scratch;
      if (dtype_ == DType::f32) uniform_row(philox_key, reinterpret_cast<float*>(row), units_);
      else uniform_row(philox_key, reinterpret_cast<double*>(row), units_);
      if (row != to) {
        (dtype_ == DType::f32 ? copy_2d<float, float> : copy_2d<double, double>)(row, 0, 1, to, 0, unit_stride_, 1,
                                                                                 units_);
      }
    }
  }

  DType dtype_;
  Place place_, key_;
  std::int64_t key_stride_ = 1, units_ = 1, unit_stride_ = 1, row_step_ = 0;
  std::uint32_t stream_;
  bool has_rows_ = false;
  std::size_t scratch_bytes_ = 0;
};

}  // namespace madaline::MADALINE_ISA
