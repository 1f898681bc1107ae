// take:         dst[o, j, i] = src[o, index[o, j], i]
// scatter_add:  dst = 0 (unless accumulating), then dst[o, index[o, j], i] += src[o, j, i] in the order of j
// o < outer, j < count, i < inner. Negative indices count from the end of the axis; dst overlaps neither src nor
// indices.
#pragma once

#include <cstring>

#include "kernels/check.h"

namespace madaline::MADALINE_ISA {

// `table` has the indexed axis, `list` the count.
struct GatherSpec {
  DType dtype = DType::f32;
  Dim outer, count, inner, axis;
  Operand table, indices, list;  // strides (outer, axis, inner), (outer, count), (outer, count, inner)

  template <class V> void fields(V& v, Operand& src, Operand& dst) {
    v("dtype", dtype), v("outer", outer), v("count", count), v("inner", inner), v("axis_size", axis);
    v("src", src), v("indices", indices), v("dst", dst);
  }
  void check(Checks& program, const std::string& name, bool table_written) const {
    const std::string of_table = (table_written ? "dst of " : "src of ") + name;
    const std::string of_list = (table_written ? "src of " : "dst of ") + name;
    program.check(table, {outer, axis, inner}, table_written, of_table);
    program.check(list, {outer, count, inner}, !table_written, of_list);
    program.check(indices, {outer, count}, false, "indices of " + name);
    program.require_dtype(table.buffer, dtype, "The table of " + name);
    program.require_dtype(list.buffer, dtype, "The list of " + name);
    program.require_dtype(indices.buffer, DType::i64, "indices of " + name);
  }
};
struct TakeSpec : GatherSpec {
  static constexpr const char* name = "take";
  template <class V> void fields(V& v) { GatherSpec::fields(v, table, list); }
  void add_to(Checks& program) const;
};
struct ScatterAddSpec : GatherSpec {
  static constexpr const char* name = "scatter_add";
  bool accumulate = false;
  template <class V> void fields(V& v) {
    GatherSpec::fields(v, list, table);
    v.optional("accumulate", accumulate);
  }
  void add_to(Checks& program) const;
};

template <class T> class Gather : public Instruction {
 public:
  explicit Gather(const GatherSpec& s) : outer_(s.outer), count_(s.count), inner_(s.inner), axis_(s.axis) {
    table_place_ = place(s.table, sizeof(T));
    list_place_ = place(s.list, sizeof(T));
    index_place_ = place(s.indices, sizeof(std::int64_t));
    std::copy_n(s.table.strides.begin(), 3, table_), std::copy_n(s.list.strides.begin(), 3, list_),
        std::copy_n(s.indices.strides.begin(), 2, index_);
  }
  std::string failure(std::int64_t value) const override {
    return "index " + std::to_string(value) + " is out of range for an axis of " +
           (axis_.is_rows ? "the number of rows" : "size " + std::to_string(axis_.coefficient)) + ".";
  }

 protected:
  static Place place(const Operand& o, std::int64_t item) { return {o.buffer, o.offset * item, o.row_advance * item}; }

  // Calls f(table element, list element) for the pairs [begin, end) of (o, j), flattened; stops at a bad index.
  template <class F> void each_pair(Frame& frame, std::int64_t begin, std::int64_t end, F f) const noexcept {
    const std::int64_t count = count_.size(frame.rows), size = axis_.size(frame.rows);
    T* table = reinterpret_cast<T*>(frame.at(table_place_));
    T* list = reinterpret_cast<T*>(frame.at(list_place_));
    const auto* indices = reinterpret_cast<const std::int64_t*>(frame.at(index_place_));
    if (begin >= end) return;
    // Calls f for this pair, or returns false if the index is out of range.
    const auto pair = [&](const std::int64_t* at, T* row, T* item) {
      std::int64_t index = *at;
      if (index < 0) index += size;
      if (static_cast<std::uint64_t>(index) >= static_cast<std::uint64_t>(size)) [[unlikely]] {
        frame.failed = true;
        frame.failure_value = *at;
        return false;
      }
      f(row + index * table_[1], item);
      return true;
    };
    if (count == 1) {  // one element per row, such as the class of a loss
      for (std::int64_t o = begin; o < end; ++o)
        if (!pair(indices + o * index_[0], table + o * table_[0], list + o * list_[0])) return;
      return;
    }
    std::int64_t o = begin / count, j = begin % count;
    for (std::int64_t p = begin; p < end; ++p) {
      const std::int64_t* at = indices + o * index_[0] + j * index_[1];
      if (!pair(at, table + o * table_[0], list + o * list_[0] + j * list_[1])) return;
      if (++j == count) j = 0, ++o;
    }
  }

  Dim outer_, count_, inner_, axis_;
  Place table_place_, list_place_, index_place_;
  std::int64_t table_[3], list_[3], index_[2];
};

template <class T> class Take final : public Gather<T> {
 public:
  using Gather<T>::Gather;
  void run(Frame& frame) const noexcept override { run_pairs(frame, 0, pairs(frame.rows)); }
  std::int64_t chunks(std::int64_t rows, int threads) const noexcept override {
    return std::max<std::int64_t>(1, std::min(pairs(rows), pieces_of(pairs(rows) * this->inner_.size(rows), threads)));
  }
  void run_chunk(Frame& frame, std::int64_t chunk, std::int64_t n_chunks) const noexcept override {
    const Range r = chunk_range(pairs(frame.rows), chunk, n_chunks);
    run_pairs(frame, r.begin, r.end);
  }
  std::string failure(std::int64_t value) const override { return "take: " + Gather<T>::failure(value); }

 private:
  std::int64_t pairs(std::int64_t rows) const { return this->outer_.size(rows) * this->count_.size(rows); }

  void run_pairs(Frame& frame, std::int64_t begin, std::int64_t end) const noexcept {
    const std::int64_t n = this->inner_.size(frame.rows), from = this->table_[2], to = this->list_[2];
    if (n == 1) {
      this->each_pair(frame, begin, end, [](const T* src, T* dst) { *dst = *src; });
    } else if (from == 1 && to == 1) {
      this->each_pair(frame, begin, end,
                      [n](const T* src, T* dst) { std::memcpy(dst, src, static_cast<std::size_t>(n) * sizeof(T)); });
    } else {
      this->each_pair(frame, begin, end, [=](const T* src, T* dst) {
        for (std::int64_t i = 0; i < n; ++i) dst[i * to] = src[i * from];
      });
    }
  }
};

template <class T> class ScatterAdd final : public Gather<T> {
 public:
  ScatterAdd(const GatherSpec& spec, bool accumulate) : Gather<T>(spec), accumulate_(accumulate) {}

  void run(Frame& frame) const noexcept override {
    const std::int64_t outer = this->outer_.size(frame.rows), size = this->axis_.size(frame.rows),
                       n = this->inner_.size(frame.rows);
    const std::int64_t to = this->table_[2], from = this->list_[2];
    if (!accumulate_ || frame.first_tile) {
      T* dst = reinterpret_cast<T*>(frame.at(this->table_place_));
      if (to == 1 && this->table_[1] == n && this->table_[0] == size * n) {
        std::fill_n(dst, outer * size * n, T(0));
      } else {
        for (std::int64_t o = 0; o < outer; ++o)
          for (std::int64_t a = 0; a < size; ++a)
            for (std::int64_t i = 0; i < n; ++i) dst[o * this->table_[0] + a * this->table_[1] + i * to] = T(0);
      }
    }
    const std::int64_t pairs = outer * this->count_.size(frame.rows);
    if (n == 1) {
      this->each_pair(frame, 0, pairs, [](T* dst, const T* src) { add(*dst, *src); });
    } else {
      this->each_pair(frame, 0, pairs, [=](T* dst, const T* src) {
        for (std::int64_t i = 0; i < n; ++i) add(dst[i * to], src[i * from]);
      });
    }
  }
  std::string failure(std::int64_t value) const override { return "scatter_add: " + Gather<T>::failure(value); }

 private:
  static void add(T& y, T x) {
    if constexpr (std::is_integral_v<T>)
      y = static_cast<T>(static_cast<std::uint64_t>(y) + static_cast<std::uint64_t>(x));
    else y += x;
  }
  bool accumulate_;
};

inline void TakeSpec::add_to(Checks& program) const {
  check(program, name, false);
  program.check_distinct(list, {outer, count, inner}, "dst of take");
  with_type(dtype, [&](auto t) { program.machine().add(std::make_unique<Take<decltype(t)>>(*this)); });
}

inline void ScatterAddSpec::add_to(Checks& program) const {
  if (dtype == DType::boolean) invalid("scatter_add does not exist for bool.");
  check(program, name, true);
  program.check_accumulate(accumulate, table, name);
  program.check_distinct(table, {outer, axis, inner}, "dst of scatter_add");
  with_type(dtype,
            [&](auto t) { program.machine().add(std::make_unique<ScatterAdd<decltype(t)>>(*this, accumulate)); });
}

}  // namespace madaline::MADALINE_ISA
