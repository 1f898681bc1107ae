// The reduce instruction:  dst[keep] = op over reduce dims of src[keep, reduce], or of src times another operand.
//
// There are three algorithms; one is selected when the instruction is added:
//   columns  the innermost kept dim is contiguous: fold down the columns (a bias gradient)
//   turned   the reduced dim is short (classes of a softmax): transpose blocks of 64 results, then fold columns
//   rows     fold along the reduced dims for each result, gathering what is not contiguous
// dst does not overlap src.
#pragma once

#include "kernels/check.h"
#include "kernels/reduce_fold.h"
#include "kernels/strided.h"

namespace madaline::MADALINE_ISA {

struct ReduceSpec {
  static constexpr const char* name = "reduce";
  Reduction op = Reduction::sum;
  DType dtype = DType::f32;
  std::vector<Dim> keep, reduce;
  Operand src, dst;
  bool accumulate = false;
  bool has_times = false;
  Operand times{};  // strides as src; for columns of floats, summed

  template <class V> void fields(V& v) {
    v("op", op), v("dtype", dtype), v("keep", keep), v("reduce", reduce), v("src", src), v("dst", dst);
    v.optional("accumulate", accumulate), v.optional("times", has_times, times);
  }
  void add_to(Checks& program) const;
};

template <class T> class ReduceOf final : public Instruction {
 public:
  explicit ReduceOf(const ReduceSpec& spec) : op_(spec.op), accumulate_(spec.accumulate), has_times_(spec.has_times) {
    constexpr std::int64_t item = sizeof(T);
    if (has_times_) {
      times_ = {spec.times.buffer, spec.times.offset * item, spec.times.row_advance * item};
      times_stride_ = spec.times.strides.back();
    }
    const std::size_t n_keep = spec.keep.size();
    std::vector<std::int64_t> kept(spec.src.strides.begin(), spec.src.strides.begin() + n_keep);
    std::vector<std::int64_t> reduced(spec.src.strides.begin() + n_keep, spec.src.strides.end());
    std::vector<std::int64_t> dst = spec.dst.strides;
    std::vector<Dim> keep = spec.keep, reduce = spec.reduce;
    collapse(keep, {&kept, &dst});
    collapse(reduce, {&reduced});
    if (keep.empty()) keep.push_back({1, false}), kept.push_back(0), dst.push_back(1);
    if (reduce.empty()) reduce.push_back({1, false}), reduced.push_back(1);
    const std::int64_t dst_item = op_ == Reduction::argmax ? 8 : item;
    src_ = {spec.src.buffer, spec.src.offset * item, spec.src.row_advance * item};
    dst_ = {spec.dst.buffer, spec.dst.offset * dst_item, spec.dst.row_advance * dst_item};
    keep_inner_ = keep.back(), reduce_inner_ = reduce.back();
    keep_stride_ = kept.back(), reduce_stride_ = reduced.back(), dst_stride_ = dst.back();
    keep_outer_.assign(keep.begin(), keep.end() - 1);
    reduce_outer_.assign(reduce.begin(), reduce.end() - 1);
    for (std::size_t d = 0; d + 1 < keep.size(); ++d)
      keep_steps_[0][d] = kept[d] * item, keep_steps_[1][d] = dst[d] * dst_item;
    for (std::size_t d = 0; d + 1 < reduce.size(); ++d) reduce_steps_[0][d] = reduced[d] * item;

    const bool several = keep_inner_.is_rows || keep_inner_.coefficient > 1;
    const bool is_short = !reduce_inner_.is_rows && reduce_inner_.coefficient <= kMaxTurned && reduce_outer_.empty();
    if (op_ == Reduction::argmax) way_ = Way::rows;
    else if (several && keep_stride_ == 1) way_ = Way::columns;
    else if (several && is_short && op_ != Reduction::argmax) way_ = Way::turned;
    else way_ = Way::rows;
    alone_ = keep.size() == 1 && !several && reduce_outer_.empty();
  }

  void run(Frame& frame) const noexcept override {
    if (alone_) {
      const std::int64_t n_chunks = pieces(frame.rows);
      Fold<T> fold(op_);
      for (std::int64_t c = 0; c < n_chunks; ++c) {
        const Fold<T> piece = fold_piece(frame, c, n_chunks);
        if (c == 0) fold = piece;
        else fold.join(piece);
      }
      put(frame, reinterpret_cast<char*>(frame.at(dst_)), fold);
    } else {
      run_kept(frame, {0, first_keep().size(frame.rows)});
    }
  }
  std::int64_t chunks(std::int64_t rows, int threads) const noexcept override {
    if (alone_) return pieces(rows);
    const std::int64_t n = element_count(keep_outer_, rows) * element_count(reduce_outer_, rows) *
                           keep_inner_.size(rows) * reduce_inner_.size(rows);
    const std::int64_t first = first_keep().size(rows);
    // Pieces as narrow as a cache line would be read by two threads.
    return std::max<std::int64_t>(
        1, std::min(pieces_of(n, threads), keep_outer_.empty() && way_ == Way::columns ? first / 64 : first));
  }
  void run_chunk(Frame& frame, std::int64_t chunk, std::int64_t n_chunks) const noexcept override {
    if (alone_) new (frame.common + 64 * chunk) Fold<T>(fold_piece(frame, chunk, n_chunks));
    else run_kept(frame, chunk_range(first_keep().size(frame.rows), chunk, n_chunks));
  }
  void finish(Frame& frame, std::int64_t n_chunks) const noexcept override {
    if (!alone_) return;
    Fold<T> fold = *reinterpret_cast<const Fold<T>*>(frame.common);
    for (std::int64_t c = 1; c < n_chunks; ++c) fold.join(*reinterpret_cast<const Fold<T>*>(frame.common + 64 * c));
    put(frame, reinterpret_cast<char*>(frame.at(dst_)), fold);
  }
  std::size_t scratch_bytes() const noexcept override { return (kMaxTurned + 1) * kTurned * sizeof(T); }

 private:
  enum class Way { columns, turned, rows };
  static constexpr std::int64_t kTurned = 64,
                                kMaxTurned = 32;  // results of a block, longest reduced dim, of the way `turned`
  static_assert(sizeof(Fold<T>) <= 64 && kFoldBlock <= kMaxTurned * kTurned);

  Dim first_keep() const { return keep_outer_.empty() ? keep_inner_ : keep_outer_[0]; }
  std::int64_t pieces(std::int64_t rows) const {
    return std::clamp<std::int64_t>(reduce_inner_.size(rows) / kChunkElements, 1, kMaxPartials);
  }

  // A single result: part of the only reduced dim.
  Fold<T> fold_piece(Frame& frame, std::int64_t chunk, std::int64_t n_chunks) const noexcept {
    Fold<T> fold(op_);
    const Range r = chunk_range(reduce_inner_.size(frame.rows), chunk, n_chunks);
    add_run(frame, fold, reinterpret_cast<const T*>(frame.at(src_)) + r.begin * reduce_stride_, r.end - r.begin);
    return fold;
  }
  void add_run(Frame& frame, Fold<T>& fold, const T* x, std::int64_t n) const noexcept {
    if (reduce_stride_ == 1) return fold.add(x, n);
    T* gathered = reinterpret_cast<T*>(frame.scratch);
    for (std::int64_t i = 0; i < n; i += kFoldBlock) {
      const std::int64_t width = std::min(kFoldBlock, n - i);
      copy_2d<T, T>(x + i * reduce_stride_, 0, reduce_stride_, gathered, 0, 1, 1, width);
      fold.add(gathered, width);
    }
  }
  void put(const Frame& frame, char* to, const Fold<T>& fold) const noexcept {
    if (op_ == Reduction::argmax) *reinterpret_cast<std::int64_t*>(to) = fold.index;
    else put_value(reinterpret_cast<T*>(to), fold.result(), accumulate_ && !frame.first_tile);
  }
  void put_value(T* to, T value, bool add) const noexcept { *to = add ? fold_pair(op_, *to, value) : value; }

  // Kept indices [range) of the outermost kept dim.
  void run_kept(Frame& frame, Range range) const noexcept {
    Odometer<2> at;
    at.n_dims = static_cast<int>(keep_outer_.size());
    at.at[0] = frame.at(src_), at.at[1] = frame.at(dst_);
    Range inner{0, keep_inner_.size(frame.rows)};
    bool empty = range.begin >= range.end;
    for (int d = 0; d < at.n_dims; ++d) {
      at.sizes[d] = d == 0 ? range.end - range.begin : keep_outer_[d].size(frame.rows);
      empty = empty || at.sizes[d] == 0;
    }
    if (empty) return;
    if (at.n_dims == 0) inner = range;
    else
      for (int i = 0; i < 2; ++i) at.at[i] += range.begin * keep_steps_[i][0];
    const bool nothing = element_count(reduce_outer_, frame.rows) * reduce_inner_.size(frame.rows) == 0;
    do {
      if (way_ == Way::rows || nothing) run_rows(frame, at.at[0], at.at[1], inner);
      else run_columns(frame, at.at[0], at.at[1], inner);
    } while (at.next(keep_steps_));
  }

  void run_rows(Frame& frame, char* src, char* dst, Range inner) const noexcept {
    const std::int64_t dst_item = op_ == Reduction::argmax ? 8 : sizeof(T);
    for (std::int64_t i = inner.begin; i < inner.end; ++i) {
      Fold<T> fold(op_);
      each_reduced(frame, src, [&](const char* x, bool) {
        add_run(frame, fold, reinterpret_cast<const T*>(x) + i * keep_stride_, reduce_inner_.size(frame.rows));
      });
      put(frame, dst + i * dst_stride_ * dst_item, fold);
    }
  }

  void run_columns(Frame& frame, char* src, char* dst, Range inner) const noexcept {
    T* turned = reinterpret_cast<T*>(frame.scratch);
    T* results = turned + kMaxTurned * kTurned;
    const std::int64_t n_rows = reduce_inner_.size(frame.rows);
    each_reduced(frame, src, [&](const char* first, bool is_first) {
      const bool add = !is_first || (accumulate_ && !frame.first_tile);
      const bool in_place = !add && dst_stride_ == 1;
      const std::int64_t block = way_ == Way::turned || !in_place ? kTurned : inner.end - inner.begin;
      for (std::int64_t j = inner.begin; j < inner.end; j += block) {
        const std::int64_t n = std::min(block, inner.end - j);
        const T* x = reinterpret_cast<const T*>(first) + j * keep_stride_;
        std::int64_t stride = reduce_stride_;
        if (way_ == Way::turned) {
          copy_2d<T, T>(x, reduce_stride_, keep_stride_, turned, kTurned, 1, n_rows, n);
          x = turned, stride = kTurned;
        }
        T* to = reinterpret_cast<T*>(dst) + j * dst_stride_;
        T* out = in_place ? to : results;
        if constexpr (std::is_floating_point_v<T>) {
          if (has_times_) {
            const T* other = reinterpret_cast<const T*>(frame.at(times_)) + j;
            fold_each_column<Reduction::sum>(RowProducts<T>{{x, stride}, {other, times_stride_}}, n_rows, out, n);
          }
        }
        if (!has_times_) fold(x, stride, n_rows, out, n);
        if (in_place) continue;
        if (add && op_ == Reduction::sum && dst_stride_ == 1) {
          for (std::int64_t i = 0; i < n; ++i) to[i] = fold_pair(Reduction::sum, to[i], out[i]);
        } else {
          for (std::int64_t i = 0; i < n; ++i) put_value(to + i * dst_stride_, out[i], add);
        }
      }
    });
  }

  void fold(const T* x, std::int64_t stride, std::int64_t n_rows, T* out, std::int64_t n) const noexcept {
    switch (op_) {
      case Reduction::sum: return fold_columns<Reduction::sum>(x, stride, n_rows, out, n);
      case Reduction::prod: return fold_columns<Reduction::prod>(x, stride, n_rows, out, n);
      case Reduction::max: return fold_columns<Reduction::max>(x, stride, n_rows, out, n);
      case Reduction::min: return fold_columns<Reduction::min>(x, stride, n_rows, out, n);
      default: return fold_columns<Reduction::logsumexp>(x, stride, n_rows, out, n);
    }
  }

  // f(start, is it the first) for every index of the outer reduced dims; once with any start if there is nothing to
  // reduce.
  template <class F> void each_reduced(const Frame& frame, char* src, F f) const noexcept {
    Odometer<1> at;
    at.n_dims = static_cast<int>(reduce_outer_.size());
    at.at[0] = src;
    for (int d = 0; d < at.n_dims; ++d) {
      at.sizes[d] = reduce_outer_[d].size(frame.rows);
      if (at.sizes[d] == 0) return;
    }
    bool is_first = true;
    do {
      f(at.at[0], is_first);
      is_first = false;
    } while (at.next(reduce_steps_));
  }

  Reduction op_;
  bool accumulate_, has_times_;
  Way way_;
  bool alone_ = false;  // one result from one dim: split by pieces of that dim
  Place src_, dst_, times_;
  std::vector<Dim> keep_outer_, reduce_outer_;
  Dim keep_inner_, reduce_inner_;
  std::int64_t keep_stride_, reduce_stride_, dst_stride_, times_stride_ = 0;
  std::int64_t keep_steps_[2][kMaxDims] = {}, reduce_steps_[1][kMaxDims] = {};
};

inline void ReduceSpec::add_to(Checks& program) const {
  program.check(src, joined(keep, reduce), false, "src of reduce");
  program.check(dst, keep, true, "dst of reduce");
  program.check_distinct(dst, keep, "dst of reduce");
  program.require_dtype(src.buffer, dtype, "src of reduce");
  program.require_dtype(dst.buffer, op == Reduction::argmax ? DType::i64 : dtype, "dst of reduce");
  if (op == Reduction::logsumexp && !is_float(dtype)) invalid("logsumexp exists for floats only.");
  if (dtype == DType::boolean && (op == Reduction::sum || op == Reduction::prod))
    invalid("sum and prod do not exist for bool; convert first.");
  if (accumulate && op == Reduction::argmax) invalid("argmax cannot accumulate over the rows.");
  program.check_accumulate(accumulate, dst, "reduce");
  if (has_times) {
    program.check(times, joined(keep, reduce), false, "times of reduce");
    program.require_dtype(times.buffer, dtype, "times of reduce");
    const bool columns = keep.size() == 1 && reduce.size() == 1 && !keep[0].is_rows && keep[0].coefficient > 1;
    if (op != Reduction::sum || !is_float(dtype) || !columns || src.strides[0] != 1 || times.strides[0] != 1)
      invalid("times of reduce is for sums of floats down several columns, both operands contiguous across them.");
  }
  with_type(dtype, [&](auto t) { program.machine().add(std::make_unique<ReduceOf<decltype(t)>>(*this)); });
}

}  // namespace madaline::MADALINE_ISA
