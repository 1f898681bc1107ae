// The parts of a program, as described in native/FORMAT.md: buffers, operands, dims, instructions.
//
// Adding an instruction may throw std::invalid_argument and allocate; running one may not. So everything that does not
// depend on the number of rows is computed when the instruction is added.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/simd.h"

namespace madaline::MADALINE_ISA {

enum class DType : std::uint8_t { f32, f64, i64, boolean };
enum class Space : std::uint8_t { input, output, shared, rows, tile, lane };

inline constexpr const char* kDTypeNames[] = {"float32", "float64", "int64", "bool"};
inline constexpr const char* kSpaceNames[] = {"input", "output", "shared", "rows", "tile", "lane"};
inline constexpr int kMaxDims = 6;

constexpr std::int64_t size_of(DType dtype) {
  constexpr std::int64_t bytes[] = {4, 8, 8, 1};
  return bytes[static_cast<int>(dtype)];
}
template <class T> constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, float>) return DType::f32;
  else if constexpr (std::is_same_v<T, double>) return DType::f64;
  else if constexpr (std::is_same_v<T, std::int64_t>) return DType::i64;
  else return DType::boolean;
}
constexpr bool is_float(DType dtype) { return dtype == DType::f32 || dtype == DType::f64; }

struct Buffer {
  Space space;
  DType dtype;
  std::int64_t offset;
};

struct Dim {
  std::int64_t coefficient = 1;
  bool is_rows = false;
  constexpr std::int64_t size(std::int64_t rows) const { return is_rows ? coefficient * rows : coefficient; }
};

// A strided view into a buffer; offset, row_advance and strides in elements.
struct Operand {
  int buffer = -1;
  std::int64_t offset = 0;
  std::int64_t row_advance = 0;
  std::vector<std::int64_t> strides;
};

// The start of an operand, prepared for running: offsets in bytes.
struct Place {
  int buffer = -1;
  std::int64_t offset = 0;
  std::int64_t row_advance = 0;
};

// The context of a running instruction: addresses of all buffers for this thread, and the current tile.
struct Frame {
  char** address = nullptr;
  std::int64_t rows = 0;       // R: rows of the tile
  std::int64_t first_row = 0;  // r0
  bool first_tile = true;      // of the lane: accumulating instructions overwrite
  char* scratch = nullptr;     // as large as the largest scratch_bytes() of the program, 64-byte aligned
  char* common = nullptr;      // kCommonBytes that all threads of the run see, for what run_chunk() leaves to finish()
  bool failed = false;         // an instruction found an invalid value, which is in failure_value
  std::int64_t failure_value = 0;

  char* at(const Place& place) const { return address[place.buffer] + place.offset + first_row * place.row_advance; }
};

template <class F> void with_type(DType dtype, F f) {
  switch (dtype) {
    case DType::f32: return f(float{});
    case DType::f64: return f(double{});
    case DType::i64: return f(std::int64_t{});
    case DType::boolean: return f(std::uint8_t{});
  }
}
inline std::vector<Dim> joined(std::vector<Dim> a, const std::vector<Dim>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// A step of a program. In a rows stage a thread calls run() for each tile. In a shared stage the machine calls
// chunks(), runs each chunk on some thread, then calls finish() on one thread. The result must be bit-identical however
// an instruction is split: either splitting does not change the arithmetic of any element, or the chunks depend only on
// shapes and not on `threads`.
class Instruction {
 public:
  virtual ~Instruction() = default;
  virtual void run(Frame& frame) const noexcept = 0;
  virtual std::int64_t chunks(std::int64_t /*rows*/, int /*threads*/) const noexcept { return 1; }
  virtual void run_chunk(Frame& frame, std::int64_t /*chunk*/, std::int64_t /*n_chunks*/) const noexcept { run(frame); }
  virtual void finish(Frame& /*frame*/, std::int64_t /*n_chunks*/) const noexcept {}
  virtual std::size_t scratch_bytes() const noexcept { return 0; }
  virtual std::string failure(std::int64_t /*value*/) const { return {}; }
};

// Minimum number of elements per chunk of a split instruction: about 10 to 40 us of work, several times the cost of
// waking threads.
inline constexpr std::int64_t kChunkElements = 32768;
// Useful number of pieces for work on n elements. With one thread, only work of more than about ten milliseconds is
// split, so that a run can be stopped between pieces.
constexpr std::int64_t pieces_of(std::int64_t n, int threads) {
  return n / (threads == 1 ? 32 * kChunkElements : kChunkElements);
}
inline constexpr int kMaxPartials = 64;
inline constexpr std::size_t kCommonBytes = kMaxPartials * 64;

// The part [begin, end) of n that chunk c of n_chunks takes.
struct Range {
  std::int64_t begin, end;
};
constexpr Range chunk_range(std::int64_t n, std::int64_t chunk, std::int64_t n_chunks) {
  return {n * chunk / n_chunks, n * (chunk + 1) / n_chunks};
}
// The same with large chunks first: the second half of the chunks has a quarter of the work. Cores rarely have the same
// speed, and the first free thread takes more of the small chunks.
constexpr Range falling_range(std::int64_t n, std::int64_t chunk, std::int64_t n_chunks) {
  if (n_chunks % 2 != 0 || n_chunks < 4) return chunk_range(n, chunk, n_chunks);
  const auto begin = [&](std::int64_t c) {
    const std::int64_t half = n_chunks / 2;
    return (c <= half ? 3 * n * c : n * (2 * half + c)) / (4 * half);
  };
  return {begin(chunk), begin(chunk + 1)};
}

#if defined(__wasm__)
// The page throws the message as a JavaScript error, which ends all native calls.
extern "C" [[noreturn, clang::import_module("madaline"), clang::import_name("fail")]] void madaline_fail(
    const char* text, std::size_t length);
[[noreturn]] inline void invalid(const std::string& message) { madaline_fail(message.data(), message.size()); }
#else
[[noreturn]] inline void invalid(const std::string& message) { throw std::invalid_argument(message); }
#endif

// Product of sizes at R rows.
inline std::int64_t element_count(const std::vector<Dim>& dims, std::int64_t rows) {
  std::int64_t n = 1;
  for (const Dim& d : dims) n *= d.size(rows);
  return n;
}

// Steps through the index space of some dims, outermost first, and keeps N addresses in step with it.
template <int N> struct Odometer {
  int n_dims = 0;
  std::int64_t sizes[kMaxDims] = {}, index[kMaxDims] = {};
  char* at[N] = {};

  // steps[i][d]: bytes that address i moves in dim d. False after the last index.
  template <class Steps> bool next(const Steps& steps) {
    for (int d = n_dims - 1; d >= 0; --d) {
      const bool more = ++index[d] < sizes[d];
      const std::int64_t count = more ? 1 : 1 - sizes[d];
      for (int i = 0; i < N; ++i) at[i] += count * steps[i][d];
      if (more) return true;
      index[d] = 0;
    }
    return false;
  }
};

// Joins neighbouring dims (first, first + 1) wherever every operand steps through both as through one, and drops dims
// of size 1, so that a contiguous chain becomes one flat dim. An inner rows dim cannot be joined: its size is not
// known.
inline void collapse(std::vector<Dim>& dims, std::vector<std::vector<std::int64_t>*> strides) {
  for (std::size_t i = dims.size(); i-- > 0;) {
    const bool single = !dims[i].is_rows && dims[i].coefficient == 1;
    bool joined = false;
    if (!single && i + 1 < dims.size() && !dims[i + 1].is_rows) {
      joined = std::all_of(strides.begin(), strides.end(),
                           [&](const auto* s) { return (*s)[i] == (*s)[i + 1] * dims[i + 1].coefficient; });
    }
    if (single) {
      dims.erase(dims.begin() + i);
      for (auto* s : strides) s->erase(s->begin() + i);
    } else if (joined) {
      dims[i].coefficient *= dims[i + 1].coefficient;
      dims.erase(dims.begin() + i + 1);
      for (auto* s : strides) s->erase(s->begin() + i);
    }
  }
}

}  // namespace madaline::MADALINE_ISA
