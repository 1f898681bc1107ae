// The instruction set this translation unit is compiled for: its name, its register width, and the few operations that
// GCC's vector extensions lack, on native vectors. Included by simd.h alone.
#pragma once

#include <cmath>

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#if defined(__AVX512F__) && defined(__AVX512VL__) && defined(__AVX512DQ__) && defined(__AVX512BW__) && defined(__FMA__)
#define MADALINE_AVX512 1
#elif defined(__AVX2__) && defined(__FMA__)
#define MADALINE_AVX2 1
#elif defined(__SSE2__)
#define MADALINE_SSE2 1
#elif defined(__aarch64__)
#define MADALINE_NEON 1
#endif

#ifndef MADALINE_ISA
#if defined(MADALINE_AVX512)
#define MADALINE_ISA avx512
#elif defined(MADALINE_AVX2)
#define MADALINE_ISA avx2
#else
#define MADALINE_ISA baseline
#endif
#endif

#define MADALINE_INLINE inline __attribute__((always_inline))

namespace madaline::MADALINE_ISA {

#if defined(MADALINE_AVX512)
inline constexpr int kVectorBytes = 64;
#elif defined(MADALINE_AVX2)
inline constexpr int kVectorBytes = 32;
#else
inline constexpr int kVectorBytes = 16;
#endif

// True where fma(a, b, c) rounds once.
#if defined(MADALINE_AVX512) || defined(MADALINE_AVX2) || defined(MADALINE_NEON)
inline constexpr bool kHasFma = true;
#else
inline constexpr bool kHasFma = false;
#endif

// native_fma rounds once where kHasFma. native_max(a, b) is a > b ? a : b, hence b if either is NaN; native_min
// likewise. native_round, where there is one, takes x86's rounding modes.
#if defined(MADALINE_AVX512)

// The masked forms serve because GCC 12 warns of the plain ones' undefined pass-through operand.
MADALINE_INLINE __m512 native_fma(__m512 a, __m512 b, __m512 c) { return _mm512_fmadd_ps(a, b, c); }
MADALINE_INLINE __m512d native_fma(__m512d a, __m512d b, __m512d c) { return _mm512_fmadd_pd(a, b, c); }
MADALINE_INLINE __m512 native_sqrt(__m512 a) { return _mm512_maskz_sqrt_ps(0xffff, a); }
MADALINE_INLINE __m512d native_sqrt(__m512d a) { return _mm512_maskz_sqrt_pd(0xff, a); }
MADALINE_INLINE __m512 native_max(__m512 a, __m512 b) { return _mm512_maskz_max_ps(0xffff, a, b); }
MADALINE_INLINE __m512d native_max(__m512d a, __m512d b) { return _mm512_maskz_max_pd(0xff, a, b); }
MADALINE_INLINE __m512 native_min(__m512 a, __m512 b) { return _mm512_maskz_min_ps(0xffff, a, b); }
MADALINE_INLINE __m512d native_min(__m512d a, __m512d b) { return _mm512_maskz_min_pd(0xff, a, b); }
template <int mode> MADALINE_INLINE __m512 native_round(__m512 a) {
  return _mm512_maskz_roundscale_ps(0xffff, a, mode);
}
template <int mode> MADALINE_INLINE __m512d native_round(__m512d a) {
  return _mm512_maskz_roundscale_pd(0xff, a, mode);
}
template <class V> MADALINE_INLINE bool native_any(V mask) { return _mm512_movepi8_mask((__m512i)mask) != 0; }

#elif defined(MADALINE_AVX2)

MADALINE_INLINE __m256 native_fma(__m256 a, __m256 b, __m256 c) { return _mm256_fmadd_ps(a, b, c); }
MADALINE_INLINE __m256d native_fma(__m256d a, __m256d b, __m256d c) { return _mm256_fmadd_pd(a, b, c); }
MADALINE_INLINE __m256 native_sqrt(__m256 a) { return _mm256_sqrt_ps(a); }
MADALINE_INLINE __m256d native_sqrt(__m256d a) { return _mm256_sqrt_pd(a); }
MADALINE_INLINE __m256 native_max(__m256 a, __m256 b) { return _mm256_max_ps(a, b); }
MADALINE_INLINE __m256d native_max(__m256d a, __m256d b) { return _mm256_max_pd(a, b); }
MADALINE_INLINE __m256 native_min(__m256 a, __m256 b) { return _mm256_min_ps(a, b); }
MADALINE_INLINE __m256d native_min(__m256d a, __m256d b) { return _mm256_min_pd(a, b); }
template <int mode> MADALINE_INLINE __m256 native_round(__m256 a) { return _mm256_round_ps(a, mode); }
template <int mode> MADALINE_INLINE __m256d native_round(__m256d a) { return _mm256_round_pd(a, mode); }
template <class V> MADALINE_INLINE bool native_any(V mask) { return _mm256_movemask_epi8((__m256i)mask) != 0; }

#elif defined(MADALINE_SSE2)

MADALINE_INLINE __m128 native_fma(__m128 a, __m128 b, __m128 c) { return a * b + c; }
MADALINE_INLINE __m128d native_fma(__m128d a, __m128d b, __m128d c) { return a * b + c; }
MADALINE_INLINE __m128 native_sqrt(__m128 a) { return _mm_sqrt_ps(a); }
MADALINE_INLINE __m128d native_sqrt(__m128d a) { return _mm_sqrt_pd(a); }
MADALINE_INLINE __m128 native_max(__m128 a, __m128 b) { return _mm_max_ps(a, b); }
MADALINE_INLINE __m128d native_max(__m128d a, __m128d b) { return _mm_max_pd(a, b); }
MADALINE_INLINE __m128 native_min(__m128 a, __m128 b) { return _mm_min_ps(a, b); }
MADALINE_INLINE __m128d native_min(__m128d a, __m128d b) { return _mm_min_pd(a, b); }
template <class V> MADALINE_INLINE bool native_any(V mask) { return _mm_movemask_epi8((__m128i)mask) != 0; }

#else

template <class V> MADALINE_INLINE V native_max(V a, V b) { return a > b ? a : b; }
template <class V> MADALINE_INLINE V native_min(V a, V b) { return a < b ? a : b; }
template <class V> MADALINE_INLINE bool native_any(V mask) {
  bool r = false;
  for (int i = 0; i < kVectorBytes / static_cast<int>(sizeof mask[0]); ++i) r |= mask[i] != 0;
  return r;
}
#if defined(MADALINE_NEON)
MADALINE_INLINE float32x4_t native_fma(float32x4_t a, float32x4_t b, float32x4_t c) { return vfmaq_f32(c, a, b); }
MADALINE_INLINE float64x2_t native_fma(float64x2_t a, float64x2_t b, float64x2_t c) { return vfmaq_f64(c, a, b); }
MADALINE_INLINE float32x4_t native_sqrt(float32x4_t a) { return vsqrtq_f32(a); }
MADALINE_INLINE float64x2_t native_sqrt(float64x2_t a) { return vsqrtq_f64(a); }
#else
template <class V> MADALINE_INLINE V native_fma(V a, V b, V c) { return a * b + c; }
template <class V> MADALINE_INLINE V native_sqrt(V a) {
  for (int i = 0; i < kVectorBytes / static_cast<int>(sizeof a[0]); ++i) a[i] = std::sqrt(a[i]);
  return a;
}
#endif

#endif

}  // namespace madaline::MADALINE_ISA
