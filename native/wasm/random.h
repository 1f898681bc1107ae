// The random numbers of NumPy's Generator(PCG64), as far as nets are initialised and rows are shuffled with them, and
// the seeds that madaline gives it (nn/initializers.py, stream()).
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace madaline {

// BLAKE2b (RFC 7693) of a text of at most 128 bytes, without a key.
inline std::array<std::uint8_t, 16> blake2b_16(const char* text, std::size_t size) {
  using u64 = std::uint64_t;
  constexpr u64 initial[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
                              0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};
  constexpr std::uint8_t sigma[10][16] = {
      {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
      {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
      {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
      {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
      {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};
  u64 block[16] = {}, h[8], v[16];
  std::memcpy(block, text, size);
  std::memcpy(h, initial, sizeof h);
  h[0] ^= 0x01010000 ^ 16;  // 16 bytes of digest
  std::memcpy(v, h, sizeof h);
  std::memcpy(v + 8, initial, sizeof initial);
  v[12] ^= size;
  v[14] = ~v[14];
  const auto rotated = [](u64 x, int n) { return x >> n | x << (64 - n); };
  const auto mix = [&](int a, int b, int c, int d, u64 x, u64 y) {
    v[a] += v[b] + x, v[d] = rotated(v[d] ^ v[a], 32), v[c] += v[d], v[b] = rotated(v[b] ^ v[c], 24);
    v[a] += v[b] + y, v[d] = rotated(v[d] ^ v[a], 16), v[c] += v[d], v[b] = rotated(v[b] ^ v[c], 63);
  };
  for (int round = 0; round < 12; ++round) {
    const std::uint8_t* s = sigma[round % 10];
    for (int i = 0; i < 4; ++i) mix(i, i + 4, i + 8, i + 12, block[s[2 * i]], block[s[2 * i + 1]]);
    for (int i = 0; i < 4; ++i)
      mix(i, (i + 1) % 4 + 4, (i + 2) % 4 + 8, (i + 3) % 4 + 12, block[s[2 * i + 8]], block[s[2 * i + 9]]);
  }
  std::array<std::uint8_t, 16> digest;
  const u64 found[2] = {h[0] ^ v[0] ^ v[8], h[1] ^ v[1] ^ v[9]};
  std::memcpy(digest.data(), found, 16);
  return digest;
}

// NumPy's SeedSequence for words of entropy (at most four of them): eight words for PCG64.
inline std::array<std::uint32_t, 8> seed_words(const std::uint32_t* entropy, std::size_t n) {
  std::uint32_t constant = 0x43b0d7e5, pool[4];
  const auto hashed = [&](std::uint32_t value) {
    value ^= constant;
    constant *= 0x931e8875;
    value *= constant;
    return value ^ value >> 16;
  };
  for (std::size_t i = 0; i < 4; ++i) pool[i] = hashed(i < n ? entropy[i] : 0);
  for (int from = 0; from < 4; ++from) {
    for (int to = 0; to < 4; ++to) {
      if (from == to) continue;
      const std::uint32_t mixed = pool[to] * 0xca01f9ddu - hashed(pool[from]) * 0x4973f715u;
      pool[to] = mixed ^ mixed >> 16;
    }
  }
  std::array<std::uint32_t, 8> words;
  constant = 0x8b51f9dd;
  for (int i = 0; i < 8; ++i) {
    std::uint32_t value = pool[i % 4] ^ constant;
    constant *= 0x58f38ded;
    value *= constant;
    words[static_cast<std::size_t>(i)] = value ^ value >> 16;
  }
  return words;
}

class Generator {
 public:
  using u64 = std::uint64_t;
  using u128 = unsigned __int128;

  Generator() = default;
  explicit Generator(const std::array<std::uint32_t, 8>& words) {
    const auto word = [&](int i) { return u64(words[2 * i]) | u64(words[2 * i + 1]) << 32; };
    const u128 seed = u128(word(0)) << 64 | word(1), stream = u128(word(2)) << 64 | word(3);
    increment_ = stream << 1 | 1;
    advance();
    state_ += seed;
    advance();
  }
  // The state of one of NumPy: low and high half of the state and of the increment, has_uint32, uinteger.
  explicit Generator(const u64* state)
      : state_(u128(state[1]) << 64 | state[0]),
        increment_(u128(state[3]) << 64 | state[2]),
        has_half_(state[4] != 0),
        half_(static_cast<std::uint32_t>(state[5])) {}
  // The stream of a triple (seed, path, purpose), given as JSON.
  static Generator of_text(const char* json, std::size_t size) {
    const std::array<std::uint8_t, 16> digest = blake2b_16(json, size);
    std::uint32_t entropy[4];
    std::memcpy(entropy, digest.data(), 16);
    return Generator(seed_words(entropy, 4));
  }

  u64 next() {
    advance();
    const u64 high = u64(state_ >> 64), low = u64(state_), x = high ^ low;
    const int n = static_cast<int>(high >> 58);
    return x >> n | x << ((64 - n) & 63);
  }
  std::uint32_t next32() {
    if (std::exchange(has_half_, !has_half_)) return half_;
    const u64 both = next();
    half_ = static_cast<std::uint32_t>(both >> 32);
    return static_cast<std::uint32_t>(both);
  }
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

  // An integer from 0 to `last`, which is below 2^32 - 1 (Lemire's method).
  std::uint32_t below(std::uint32_t last) {
    if (last == 0) return 0;
    const std::uint32_t n = last + 1;
    u64 product = u64(next32()) * n;
    if (static_cast<std::uint32_t>(product) < n) {
      const std::uint32_t least = (0xffffffffu - last) % n;
      while (static_cast<std::uint32_t>(product) < least) product = u64(next32()) * n;
    }
    return static_cast<std::uint32_t>(product >> 32);
  }

  // Shuffling rejects numbers that are too large, instead.
  void shuffle(std::int64_t* items, std::int64_t n) {
    for (std::int64_t i = n - 1; i > 0; --i) {
      const std::uint32_t mask = 0xffffffffu >> __builtin_clz(static_cast<std::uint32_t>(i));
      std::uint32_t j = next32() & mask;
      while (j > i) j = next32() & mask;
      std::swap(items[i], items[j]);
    }
  }

  // Marsaglia and Tsang's ziggurat.
  double normal() {
    static const Ziggurat z;
    for (;;) {
      u64 bits = next();
      const int layer = bits & 0xff;
      bits >>= 8;
      const bool is_negative = bits & 1;
      const u64 inside = bits >> 1 & 0x000fffffffffffff;
      const double x = static_cast<double>(inside) * z.width[layer], signed_x = is_negative ? -x : x;
      if (inside < z.bound[layer]) return signed_x;
      if (layer == 0) {
        for (;;) {
          const double tail = -std::log1p(-uniform()) / Ziggurat::kTail, y = -std::log1p(-uniform());
          if (y + y > tail * tail) return (inside >> 8 & 1) != 0 ? -(Ziggurat::kTail + tail) : Ziggurat::kTail + tail;
        }
      }
      const double f = z.density[layer];
      if ((z.density[layer - 1] - f) * uniform() + f < std::exp(-0.5 * x * x)) return signed_x;
    }
  }

 private:
  struct Ziggurat {
    static constexpr double kTail = 3.6541528853610087963519472518, kArea = 0.0049286732339746519;
    double width[256], density[256];
    u64 bound[256];
    Ziggurat() {
      constexpr double m = 0x1p52;
      const double f = std::exp(-0.5 * kTail * kTail);
      double x = kTail, after = kTail;
      const double q = kArea / f;
      bound[0] = static_cast<u64>(x / q * m), bound[1] = 0;
      width[0] = q / m, width[255] = x / m;
      density[0] = 1.0, density[255] = f;
      for (int i = 254; i >= 1; --i) {
        x = std::sqrt(-2.0 * std::log(kArea / x + std::exp(-0.5 * x * x)));
        bound[i + 1] = static_cast<u64>(x / after * m);
        after = x;
        density[i] = std::exp(-0.5 * x * x);
        width[i] = x / m;
      }
    }
  };

  void advance() {
    constexpr u128 factor = u128(2549297995355413924ull) << 64 | 4865540595714422341ull;
    state_ = state_ * factor + increment_;
  }
  u128 state_ = 0, increment_ = 0;
  bool has_half_ = false;
  std::uint32_t half_ = 0;
};

}  // namespace madaline
