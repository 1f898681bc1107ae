// Reads a program from bytes: the calls that would build it in Python, one after another.
// src/madaline/kernels/serial.py writes them.
//
// A value is one byte and what follows it: 0 ... 127 is that number; kNone; kShort, kInt and kLong precede 2, 4 and 8
// bytes of an integer, kDouble 8 bytes of a float; kList precedes 2 bytes with the number of its values; kText precedes
// 1 byte with its length. Everything is little-endian.
#pragma once

#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

#include "kernels/builder.h"

namespace madaline::MADALINE_ISA {

class ByteReader {
 public:
  ByteReader(const char* data, std::size_t size) : at_(data), end_(data + size) {}

  bool is_at_end() const { return at_ == end_; }
  std::int64_t integer() {
    const int tag = this->tag();
    if (tag < 0x80) return tag;
    if (tag == kShort) return raw<std::int16_t>();
    if (tag == kInt) return raw<std::int32_t>();
    if (tag == kLong) return raw<std::int64_t>();
    invalid("The program is damaged: a number is missing.");
  }
  double number() {
    if (peek() != kDouble) return static_cast<double>(integer());
    ++at_;
    return raw<double>();
  }
  bool is_list() const { return peek() == kList; }
  bool none() { return peek() == kNone && ++at_; }
  std::int64_t list() {
    if (tag() != kList) invalid("The program is damaged: a list is missing.");
    return raw<std::uint16_t>();
  }
  std::string_view text() {
    if (tag() != kText) invalid("The program is damaged: a name is missing.");
    const std::size_t size = raw<std::uint8_t>();
    need(size);
    at_ += size;
    return {at_ - size, size};
  }

 private:
  enum : int { kNone = 0x80, kShort, kInt, kLong, kDouble, kList, kText };

  void need(std::size_t n) const {
    if (static_cast<std::size_t>(end_ - at_) < n) invalid("The program is damaged: it ends too early.");
  }
  int peek() const { return need(1), static_cast<unsigned char>(*at_); }
  int tag() { return need(1), static_cast<unsigned char>(*at_++); }
  template <class T> T raw() {
    need(sizeof(T));
    T value;
    std::memcpy(&value, at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }
  const char *at_, *end_;
};

// Reads the fields of an instruction, in order; those at the end may be missing.
class ByteFields {
 public:
  explicit ByteFields(ByteReader& bytes) : bytes_(bytes), left_(bytes.list()) {}

  template <class T> void operator()(const char* name, T& to) {
    if (left_-- <= 0) invalid(std::string("The program is damaged: ") + name + " is missing.");
    read(to);
  }
  template <class T> void optional(const char*, T& to) {
    if (left_-- > 0) read(to);
  }
  void optional(const char*, bool& has, Operand& to) {
    has = left_-- > 0 && !bytes_.none();
    if (has) read(to);
  }
  template <class T> void optional(const char*, std::optional<T>& to) {
    if (left_-- > 0 && !bytes_.none()) read(to.emplace());
  }

 private:
  template <std::integral T> void read(T& to) { to = static_cast<T>(bytes_.integer()); }
  void read(double& to) { to = bytes_.number(); }
  void read(DType& to) { to = Builder::checked_dtype(static_cast<int>(bytes_.integer())); }
  void read(Reduction& to) { to = Builder::checked_reduction(static_cast<int>(bytes_.integer())); }
  void read(Dim& to) {
    to.is_rows = false;
    const bool is_pair = bytes_.is_list() && bytes_.list() == 2;
    to.coefficient = bytes_.integer();
    if (is_pair) to.is_rows = bytes_.integer() != 0;
  }
  void read(Operand& to) {
    if (bytes_.list() != 4) invalid("The program is damaged: an operand has not four parts.");
    read(to.buffer), read(to.offset), read(to.row_advance), read(to.strides);
  }
  template <class T> void read(std::vector<T>& to) {
    to.resize(static_cast<std::size_t>(bytes_.list()));
    for (T& item : to) read(item);
  }
  template <class Spec>
  void read(Spec& to)
    requires requires(Spec& spec, ByteFields& fields) { spec.fields(fields); }
  {
    ByteFields part(bytes_);
    to.fields(part);
  }

  ByteReader& bytes_;
  std::int64_t left_;
};

template <class... Specs>
bool add_instruction(Builder& to, std::string_view name, ByteReader& bytes, SpecList<Specs...>) {
  const auto add = [&]<class Spec>(Spec spec) {
    if (name != Spec::name) return false;
    ByteFields fields(bytes);
    spec.fields(fields);
    to.add(spec);
    return true;
  };
  return (add(Specs{}) || ...);
}

inline std::unique_ptr<Builder> read_program(const char* data, std::size_t size) {
  ByteReader bytes(data, size);
  const std::int64_t shared = bytes.integer(), rows = bytes.integer(), tile = bytes.integer(), lane = bytes.integer();
  auto program = std::make_unique<Builder>(shared, rows, tile, lane);
  const auto small = [&] { return static_cast<int>(bytes.integer()); };
  while (!bytes.is_at_end()) {
    const std::string_view name = bytes.text();
    if (add_instruction(*program, name, bytes, Instructions{})) continue;
    bytes.list();
    if (name == "buffer") {
      const int space = small(), dtype = small();
      program->buffer(space, dtype, bytes.integer());
    } else if (name == "shared_stage") {
      program->shared_stage();
    } else if (name == "rows_stage") {
      const std::int64_t tile_rows = bytes.integer(), lane_rows = bytes.integer();
      program->rows_stage(tile_rows, lane_rows, bytes.integer());
    } else if (name == "combine") {
      const int op = small(), dtype = small(), from = small(), to = small();
      const std::int64_t count = bytes.integer();
      program->combine(op, dtype, from, to, count, bytes.integer());
    } else {
      invalid("The program has an unknown instruction, " + std::string(name) + ". Build the page again.");
    }
  }
  return program;
}

}  // namespace madaline::MADALINE_ISA
