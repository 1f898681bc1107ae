// Uniform random numbers by Philox4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3").
//
//   words(c, row) = philox(counter = (c, row, step mod 2^32, stream), key = (seed mod 2^32, seed / 2^32)), four uint32
//
//   float32:  c = u / 4, w = word u % 4,                  y = ((w >> 9) + 0.5) * 2^-23
//
//   float64:  c = u / 2, (a, b) = words 2 (u % 2), + 1,   y = (((a * 2^32 + b) >> 12) + 0.5) * 2^-52
//
// for unit u of global row `row`; both lie strictly between 0 and 1. All integers are unsigned. A value depends only on
// (seed, stream, step, row, u), not on tiles, threads or instruction set.
#pragma once

#include <utility>

#include "kernels/check.h"
#include "kernels/program.h"
#include "kernels/strided.h"

namespace madaline::MADALINE_ISA {

struct PhiloxKey {
  std::uint32_t seed_low, seed_high, row, step, stream;
};

// Number of counters computed in parallel, each in the low half of a 64-bit lane, as needed for a widening product.
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

MADALINE_INLINE PhiloxVec lane_numbers() {
  PhiloxVec lanes;
  for (int i = 0; i < kPhiloxLanes; ++i) lanes[i] = static_cast<std::uint64_t>(i);
  return lanes;
}

// The upper 23 bits of each 32, or 52 of each 64, plus one half, as a fraction.
template <class T> MADALINE_INLINE Vec<T> to_uniform(PhiloxVec words) {
  if constexpr (sizeof(T) == 4) {
    const Vec<std::int32_t> bits = (typename Vec<std::int32_t>::Native)words;
    return (to_float<float>(shift_right_logical(bits, 9)) + Vec<T>(0.5f)) * Vec<T>(0x1p-23f);
  } else {
    // 52 bits below the exponent of 2^52: the number 2^52 + bits.
    const PhiloxVec whole = (words >> 12) | 0x4330000000000000u;
    return ((Vec<T>((typename Vec<T>::Native)whole) - Vec<T>(0x1p52)) + Vec<T>(0.5)) * Vec<T>(0x1p-52);
  }
}

// a[0], b[0], a[1], b[1] ... : the lower half of that list, or the upper one.
template <bool kUpper, std::size_t... L>
MADALINE_INLINE PhiloxVec interleave(PhiloxVec a, PhiloxVec b, std::index_sequence<L...>) {
  constexpr int n = kPhiloxLanes;
  return __builtin_shufflevector(a, b, ((kUpper ? n / 2 : 0) + static_cast<int>(L) / 2 + (L % 2 ? n : 0))...);
}

// Uniform numbers from the four words of each counter first, first + 1 ... first + n_groups * kPhiloxLanes - 1, as 2
// n_groups vectors. Several groups are interleaved, because a round must wait for the multiplications of the last one.
template <class T, int n_groups>
MADALINE_INLINE void uniform_batch(std::uint64_t first, const PhiloxKey& key, Vec<T> (&values)[2 * n_groups]) {
  PhiloxVec x0[n_groups], x1[n_groups], x2[n_groups], x3[n_groups];
  const PhiloxVec lane = lane_numbers();
#pragma GCC unroll 8
  for (int g = 0; g < n_groups; ++g) {
    x0[g] = lane + (first + static_cast<std::uint64_t>(g * kPhiloxLanes));
    x1[g] = PhiloxVec{} + key.row, x2[g] = PhiloxVec{} + key.step, x3[g] = PhiloxVec{} + key.stream;
  }
  const PhiloxVec m0 = PhiloxVec{} + 0xD2511F53u, m1 = PhiloxVec{} + 0xCD9E8D57u;
  std::uint32_t k0 = key.seed_low, k1 = key.seed_high;
#pragma GCC unroll 10
  for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
    const PhiloxVec key0 = PhiloxVec{} + k0, key1 = PhiloxVec{} + k1;
#pragma GCC unroll 8
    for (int g = 0; g < n_groups; ++g) {
      // The upper halves of the lanes hold garbage, which the next multiplication ignores.
      const PhiloxVec p0 = multiply_low_halves(x0[g], m0), p1 = multiply_low_halves(x2[g], m1);
      x0[g] = (p1 >> 32) ^ x1[g] ^ key0;
      x1[g] = p1;
      x2[g] = (p0 >> 32) ^ x3[g] ^ key1;
      x3[g] = p0;
    }
  }
  constexpr auto lanes = std::make_index_sequence<static_cast<std::size_t>(kPhiloxLanes)>();
#pragma GCC unroll 8
  for (int g = 0; g < n_groups; ++g) {
    const auto pair = [](PhiloxVec a, PhiloxVec b) {
      if constexpr (sizeof(T) == 4) return (a & 0xffffffffu) | (b << 32);  // a before b in memory
      else return (a << 32) | (b & 0xffffffffu);
    };
    const PhiloxVec low = pair(x0[g], x1[g]), high = pair(x2[g], x3[g]);
    values[2 * g] = to_uniform<T>(interleave<false>(low, high, lanes));
    values[2 * g + 1] = to_uniform<T>(interleave<true>(low, high, lanes));
  }
}

// y[u ...] = units u ... of the row as far as whole batches go below n; returns the first unit not written.
template <int n_groups, class T>
MADALINE_INLINE std::int64_t uniform_batches(const PhiloxKey& key, T* y, std::int64_t u, std::int64_t n) {
  constexpr int width = Vec<T>::width, batch = 2 * n_groups * width;
  constexpr std::int64_t per_counter = 16 / static_cast<std::int64_t>(sizeof(T));
  for (; u + batch <= n; u += batch) {
    Vec<T> values[2 * n_groups];
    uniform_batch<T, n_groups>(static_cast<std::uint64_t>(u / per_counter), key, values);
#pragma GCC unroll 8
    for (int v = 0; v < 2 * n_groups; ++v) values[v].store(y + u + v * width);
  }
  return u;
}

// y[0 .. n) = units 0 ... n - 1 of the row.
template <class T> void uniform_row(const PhiloxKey& key, T* y, std::int64_t n) noexcept {
  std::int64_t u = uniform_batches<4>(key, y, 0, n);
  u = uniform_batches<2>(key, y, u, n);
  u = uniform_batches<1>(key, y, u, n);
  if (u == n) return;
  Vec<T> last[2];
  uniform_batch<T, 1>(static_cast<std::uint64_t>(u) * sizeof(T) / 16, key, last);
  T values[2 * Vec<T>::width];
  last[0].store(values), last[1].store(values + Vec<T>::width);
  std::copy_n(values, n - u, y + u);
}

struct RandomSpec {
  static constexpr const char* name = "random";
  DType dtype = DType::f32;
  std::vector<Dim> dims;
  Operand dst, key;
  std::int64_t stream = 0;
  bool rows = false;

  template <class V> void fields(V& v) {
    v("dtype", dtype), v("dims", dims), v("dst", dst), v("key", key), v("stream", stream), v.optional("rows", rows);
  }
  void add_to(Checks& program) const;
};

class Random final : public Instruction {
 public:
  // With `by_rows` dims[0] counts rows and the other dims, flattened, are the units. Otherwise all are units of row 0.
  Random(DType dtype, std::vector<Dim> dims, Operand dst, Operand key, std::uint32_t stream, bool by_rows)
      : dtype_(dtype), stream_(stream) {
    const std::int64_t item = size_of(dtype);
    place_ = {dst.buffer, dst.offset * item, dst.row_advance * item};
    key_ = {key.buffer, key.offset * 8, key.row_advance * 8};
    key_stride_ = key.strides[0];
    if (!dims.empty() && (by_rows || dims[0].is_rows)) {
      has_rows_ = true;
      rows_ = dims[0].is_rows ? Dim{1, true} : dims[0];
      const std::int64_t units = dims[0].is_rows ? dims[0].coefficient : 1;  // a batch and its units in one dim
      row_step_ = units * dst.strides[0] * item;
      dims[0] = {units, false};
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
    return std::max<std::int64_t>(1, std::min(rows(n_rows), pieces_of(rows(n_rows) * units_, threads)));
  }
  void run_chunk(Frame& frame, std::int64_t chunk, std::int64_t n_chunks) const noexcept override {
    run_rows(frame, chunk_range(rows(frame.rows), chunk, n_chunks));
  }
  std::size_t scratch_bytes() const noexcept override { return scratch_bytes_; }

 private:
  std::int64_t rows(std::int64_t n) const { return has_rows_ ? rows_.size(n) : 1; }

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
  Dim rows_;
  std::size_t scratch_bytes_ = 0;
};

inline void RandomSpec::add_to(Checks& program) const {
  if (!is_float(dtype)) invalid("random exists for floats only.");
  if (stream < 0 || stream > 0xffffffff) invalid("The stream of random must be an unsigned 32-bit integer.");
  program.check(dst, dims, true, "dst of random"), program.check(key, {{2, false}}, false, "The key of random");
  program.check_distinct(dst, dims, "dst of random");
  program.require_dtype(dst.buffer, dtype, "dst of random");
  program.require_dtype(key.buffer, DType::i64, "The key of random");
  if (rows && dims.empty()) invalid("random by rows needs a first dim to count them.");
  program.machine().add(std::make_unique<Random>(dtype, dims, dst, key, static_cast<std::uint32_t>(stream), rows));
}

}  // namespace madaline::MADALINE_ISA
