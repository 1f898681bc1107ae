// Gathers the rows of a batch:  dst[i, :] = T(data[rows[i], :]),  i < n.
//
// The data may have any number type and any strides, or be sparse; dst is C-contiguous with the dtype of a program's
// input. Data and dst do not overlap.
#pragma once

#include <cstring>
#include <memory>

#include "kernels/mapped.h"
#include "kernels/program.h"

namespace madaline::MADALINE_ISA {

// IEEE half precision, as stored in memory.
struct Half {
  std::uint16_t bits;

  // Multiplying by 2^112 moves the exponent from a bias of 15 to one of 127, for subnormal numbers too; infinity and
  // NaN keep the largest exponent.
  explicit operator float() const {
    const std::uint32_t magnitude = bits & 0x7fffu, sign = (bits & 0x8000u) << 16;
    std::uint32_t wide = magnitude << 13;
    float value;
    std::memcpy(&value, &wide, 4);
    value *= 0x1p112f;
    std::memcpy(&wide, &value, 4);
    wide |= magnitude >= 0x7c00u ? 0x7f800000u : 0u;
    wide |= sign;
    std::memcpy(&value, &wide, 4);
    return value;
  }
};

// A Boolean of an array: any byte except 0 is true.
struct Truth {
  std::uint8_t byte;
};

template <class T, class S> MADALINE_INLINE T converted(S x) {
  if constexpr (std::is_same_v<S, Half>) return static_cast<T>(static_cast<float>(x));
  else if constexpr (std::is_same_v<S, Truth>) return static_cast<T>(x.byte != 0);
  else return static_cast<T>(x);
}

MADALINE_INLINE void prefetch_line(const char* at) {
#if defined(__GNUC__) || defined(__clang__)
  __builtin_prefetch(at, 0, 2);
#else
  (void)at;
#endif
}

// The data may start at any address.
template <class S> MADALINE_INLINE S loaded(const char* at) {
  S x;
  std::memcpy(&x, at, sizeof(S));
  return x;
}

// y[i] = T(x[i]), i < n; the x are `stride` bytes apart.
template <class S, class T>
MADALINE_INLINE void convert(const char* x, std::int64_t stride, T* __restrict y, std::int64_t n) {
  constexpr std::int64_t item = sizeof(S);
  if (stride != item) {
    for (std::int64_t i = 0; i < n; ++i) y[i] = converted<T>(loaded<S>(x + i * stride));
  } else if (std::is_same_v<S, T> && n > 32) {
    std::memcpy(y, x, static_cast<std::size_t>(n) * sizeof(T));
  } else {
    for (std::int64_t i = 0; i < n; ++i) y[i] = converted<T>(loaded<S>(x + i * item));
  }
}

// The number types data may have, and calling f with a value of one.
enum class Number : int { f16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64, boolean };

template <class F> auto with_number(Number number, F f) {
  switch (number) {
    case Number::f16: return f(Half{});
    case Number::f32: return f(float{});
    case Number::f64: return f(double{});
    case Number::i8: return f(std::int8_t{});
    case Number::i16: return f(std::int16_t{});
    case Number::i32: return f(std::int32_t{});
    case Number::i64: return f(std::int64_t{});
    case Number::u8: return f(std::uint8_t{});
    case Number::u16: return f(std::uint16_t{});
    case Number::u32: return f(std::uint32_t{});
    case Number::u64: return f(std::uint64_t{});
    default: return f(Truth{});
  }
}
inline bool is_float(Number number) { return number <= Number::f64; }

// Calls f with a value of the number type and one of the dtype; rejects conversions that lose more than precision.
template <class F> auto with_types(Number from, DType to, F f) {
  if (to == DType::i64 && is_float(from)) invalid("Rows of floats cannot become integers.");
  if (to == DType::boolean && from != Number::boolean) invalid("Rows of numbers cannot become truth values.");
  return with_number(from, [&](auto s) {
    using S = decltype(s);
    if constexpr (std::is_same_v<S, Truth>)
      if (to == DType::boolean) return f(s, std::uint8_t{});
    if (to == DType::f64) return f(s, double{});
    if constexpr (!std::is_same_v<S, Half> && !std::is_floating_point_v<S>)
      if (to == DType::i64) return f(s, std::int64_t{});
    return f(s, float{});
  });
}

class RowSource {
 public:
  // `is_mapped`: the data are those of a file, which may be cut while they are read.
  RowSource(DType dtype, std::int64_t width, bool is_mapped) : dtype_(dtype), width_(width), is_mapped_(is_mapped) {}
  virtual ~RowSource() = default;
  // False if the file of the rows has become too short; then dst holds anything. A BusErrors object must exist.
  bool take(const std::int64_t* rows, std::int64_t n, char* dst) const noexcept {
    if (is_mapped_) return read_mapped([&] { gather(rows, n, dst); });
    gather(rows, n, dst);
    return true;
  }
  virtual void gather(const std::int64_t* rows, std::int64_t n, char* dst) const noexcept = 0;
  // The address of the rows if they are already laid out as in dst, and can be read at any time; else nullptr.
  virtual char* in_place(const std::int64_t* /*rows*/, std::int64_t /*n*/) const noexcept { return nullptr; }
  // Prefetches rows that will be gathered soon, if they are probably not in a cache.
  virtual void prefetch(const std::int64_t* /*rows*/, std::int64_t /*n*/) const noexcept {}

  DType dtype() const { return dtype_; }
  std::int64_t width() const { return width_; }  // elements of a row
  std::int64_t row_bytes() const { return width_ * size_of(dtype_); }
  bool is_mapped() const { return is_mapped_; }

 protected:
  DType dtype_;
  std::int64_t width_;
  bool is_mapped_;
};

// An array of any layout. Its first dim counts rows; strides in bytes.
struct ArrayLayout {
  const char* data;
  Number number;
  std::int64_t item_bytes;
  std::vector<std::int64_t> shape, strides;
};

class DenseRows : public RowSource {
 public:
  DenseRows(const ArrayLayout& array, DType dtype, bool is_mapped = false)
      : RowSource(dtype, 1, is_mapped), data_(array.data), row_stride_(array.strides.at(0)) {
    std::vector<Dim> dims;
    std::vector<std::int64_t> strides(array.strides.begin() + 1, array.strides.end());
    for (std::size_t d = 1; d < array.shape.size(); ++d) dims.push_back({array.shape[d], false});
    for (const Dim& d : dims) width_ *= d.coefficient;
    collapse(dims, {&strides});
    if (dims.size() > kMaxDims) invalid("Rows have more than " + std::to_string(kMaxDims) + " dims.");
    if (!dims.empty()) {
      inner_ = dims.back().coefficient;
      inner_stride_ = strides.back();
      dims.pop_back();
    } else {
      inner_stride_ = array.item_bytes;
    }
    n_outer_ = static_cast<int>(dims.size());
    for (int d = 0; d < n_outer_; ++d) sizes_[d] = dims[d].coefficient, steps_[0][d] = strides[d];
    gather_ = with_types(array.number, dtype, [&](auto s, auto t) {
      using S = decltype(s);
      using T = decltype(t);
      const bool same = std::is_same_v<S, T> || (std::is_same_v<S, Truth> && std::is_same_v<T, std::uint8_t>);
      const bool aligned = reinterpret_cast<std::uintptr_t>(data_) % sizeof(T) == 0;
      const bool as_it_is = same && n_outer_ == 0 && inner_stride_ == sizeof(T);
      lies_as_wanted_ = !is_mapped_ && as_it_is && aligned && row_stride_ == row_bytes();
      if (as_it_is && row_bytes() == 4) return &DenseRows::gather_bytes<4>;
      if (as_it_is && row_bytes() == 8) return &DenseRows::gather_bytes<8>;
      return &DenseRows::gather_as<S, T>;
    });
    const bool by_rows = std::abs(inner_stride_) <= array.item_bytes;
    const std::int64_t bytes = by_rows ? inner_ * array.item_bytes : 1;
    is_far_ = std::abs(row_stride_) * array.shape[0] > kCacheBytes;
    lines_ = std::min<std::int64_t>(4, (bytes + 63) / 64 + (row_stride_ % 64 != 0));
  }

  void gather(const std::int64_t* rows, std::int64_t n, char* dst) const noexcept override {
    (this->*gather_)(rows, n, dst);
  }
  char* in_place(const std::int64_t* rows, std::int64_t n) const noexcept override {
    if (!lies_as_wanted_ || rows[n - 1] - rows[0] != n - 1) return nullptr;
    for (std::int64_t i = 1; i < n; ++i)
      if (rows[i] != rows[0] + i) return nullptr;
    return const_cast<char*>(data_) + rows[0] * row_stride_;
  }
  // Only the beginning of long rows: the hardware prefetches the rest once they are read.
  void prefetch(const std::int64_t* rows, std::int64_t n) const noexcept override {
    if (!is_far_) return;
    for (std::int64_t i = 0; i < std::min<std::int64_t>(n, 64); ++i)
      for (std::int64_t line = 0; line < lines_; ++line) prefetch_line(data_ + rows[i] * row_stride_ + 64 * line);
  }

 private:
  static constexpr std::int64_t kCacheBytes = 1 << 20;

  // Rows without conversion that are so short that the overhead of copying them one by one would dominate.
  template <int Bytes> void gather_bytes(const std::int64_t* rows, std::int64_t n, char* dst) const noexcept {
    for (std::int64_t i = 0; i < n; ++i) std::memcpy(dst + i * Bytes, data_ + rows[i] * row_stride_, Bytes);
  }
  template <class S, class T> void gather_as(const std::int64_t* rows, std::int64_t n, char* dst) const noexcept {
    if (width_ == 0) return;
    T* y = reinterpret_cast<T*>(dst);
    for (std::int64_t i = 0; i < n; ++i) {
      const char* row = data_ + rows[i] * row_stride_;
      if (n_outer_ == 0) {
        convert<S>(row, inner_stride_, y, inner_);
        y += inner_;
        continue;
      }
      Odometer<1> o{n_outer_, {}, {}, {const_cast<char*>(row)}};
      std::copy_n(sizes_, n_outer_, o.sizes);
      do {
        convert<S>(o.at[0], inner_stride_, y, inner_);
        y += inner_;
      } while (o.next(steps_));
    }
  }

  const char* data_;
  std::int64_t row_stride_, inner_ = 1, inner_stride_ = 0;
  int n_outer_ = 0;
  std::int64_t sizes_[kMaxDims] = {}, steps_[1][kMaxDims] = {};
  bool lies_as_wanted_ = false, is_far_ = false;
  std::int64_t lines_ = 1;  // number of cache lines to prefetch per row
  void (DenseRows::*gather_)(const std::int64_t*, std::int64_t, char*) const noexcept = nullptr;
};

// Compressed sparse rows: row r has data[p] in column indices[p] for p = indptr[r] ... indptr[r + 1] - 1, each column
// at most once, and 0 elsewhere. indptr and indices are both of type I.
template <class I> class SparseRows : public RowSource {
 public:
  SparseRows(const I* indptr, const I* indices, const char* data, Number number, std::int64_t n_columns, DType dtype,
             bool is_mapped = false)
      : RowSource(dtype, n_columns, is_mapped), indptr_(indptr), indices_(indices), data_(data) {
    gather_ =
        with_types(number, dtype, [](auto s, auto t) { return &SparseRows::gather_as<decltype(s), decltype(t)>; });
  }
  void gather(const std::int64_t* rows, std::int64_t n, char* dst) const noexcept override {
    (this->*gather_)(rows, n, dst);
  }

 private:
  template <class S, class T> void gather_as(const std::int64_t* rows, std::int64_t n, char* dst) const noexcept {
    std::memset(dst, 0, static_cast<std::size_t>(n * row_bytes()));
    T* y = reinterpret_cast<T*>(dst);
    for (std::int64_t i = 0; i < n; ++i, y += width_) {
      for (I p = indptr_[rows[i]]; p < indptr_[rows[i] + 1]; ++p)
        y[indices_[p]] = converted<T>(loaded<S>(data_ + static_cast<std::int64_t>(p) * sizeof(S)));
    }
  }

  const I* indptr_;
  const I* indices_;
  const char* data_;
  void (SparseRows::*gather_)(const std::int64_t*, std::int64_t, char*) const noexcept = nullptr;
};

}  // namespace madaline::MADALINE_ISA
