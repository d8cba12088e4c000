// Polynomials and constants: scripts/math_coefficients.py writes this file.
#pragma once

#include <array>

#include "codegen/llvm/plugin/math/real.h"
#include "codegen/llvm/plugin/math/saturating.h"

namespace texloom::codegen::native::math {

inline constexpr double kCoarseExp[] = {0x1.0000000b8fb6dp-1,  0x1.5555555a78488p-3,
                                        0x1.5554e90f41648p-5,  0x1.1110e0f63cedcp-7,
                                        0x1.6d4317dde5b58p-10, 0x1.a124e67917289p-13};
inline constexpr double kFineExp[] = {
    0x1.0000000000000p-1,  0x1.5555555555557p-3,  0x1.5555555555556p-5,  0x1.11111111100dep-7,
    0x1.6c16c16c162d6p-10, 0x1.a01a01abe683ap-13, 0x1.a01a01a6d7b19p-16, 0x1.71de02364614ap-19,
    0x1.27e4db6718a69p-22, 0x1.af4ddfbb33a59p-26, 0x1.1f72fdb6c6442p-29};
// (exp(r) - 1 - r) / r^2
inline constexpr Polynomial kExp = {kCoarseExp, kFineExp};

inline constexpr double kCoarseShortExp[] = {0x1.0000000000000p-1, 0x1.5554dd029d9c4p-3,
                                             0x1.5555193265755p-5, 0x1.120b63cc12ea4p-7,
                                             0x1.6d10fec522244p-10};
// (exp(r) - 1 - r) / r^2, for formulas in float
inline constexpr Polynomial kShortExp = {kCoarseShortExp, {}};

inline constexpr double kCoarseLogOfF[] = {
    0x1.555553e3660dap-2,  -0x1.fffffbeac287ap-3, 0x1.999d5a430bf46p-3,
    -0x1.555b4994ad12bp-3, 0x1.23d2196ef7977p-3,  -0x1.fcf4c673064efp-4,
    0x1.dea28241d30a8p-4,  -0x1.d635bbe618494p-4, 0x1.1d8ea50b3f8a0p-4};
// (log(1 + f) - f + f^2 / 2) / f^3
inline constexpr Polynomial kLogOfF = {kCoarseLogOfF, {}};

inline constexpr double kFineLogOfS[] = {
    0x1.5555555555555p-1, 0x1.9999999999a38p-2, 0x1.2492492476ba1p-2, 0x1.c71c72017a15cp-3,
    0x1.745cf8f6c9119p-3, 0x1.3b1c38474d3eep-3, 0x1.0fbe478772696p-3, 0x1.0c06cf14c641bp-3};
// log((1 + s) / (1 - s)) / s - 2, divided by z = s^2
inline constexpr Polynomial kLogOfS = {{}, kFineLogOfS};

inline constexpr double kFineLogOfSTail[] = {
    0x1.999999999999ap-2, 0x1.2492492492492p-2, 0x1.c71c71c71c705p-3, 0x1.745d1745d3f32p-3,
    0x1.3b13b138ee205p-3, 0x1.111112205c9b4p-3, 0x1.e1e13f14a2b01p-4, 0x1.af46927e517b2p-4,
    0x1.82bd1267b9795p-4, 0x1.9871e3a35ad5fp-4};
// log((1 + s) / (1 - s)) / s - 2 - 2 z / 3, divided by z^2 = s^4
inline constexpr Polynomial kLogOfSTail = {{}, kFineLogOfSTail};

inline constexpr double kCoarseSin[] = {-0x1.555555545e0acp-3, 0x1.11110def2e1c9p-7,
                                        -0x1.a013a793b98cep-13, 0x1.6dbe0838a06e9p-19};
inline constexpr double kFineSin[] = {
    -0x1.5555555555555p-3,  0x1.1111111111110p-7,  -0x1.a01a01a019938p-13, 0x1.71de3a546095bp-19,
    -0x1.ae645412c560cp-26, 0x1.61217f0b800d5p-33, -0x1.ab17d404de5b3p-41};
// sin(r) / r - 1, divided by z = r^2
inline constexpr Polynomial kSin = {kCoarseSin, kFineSin};

inline constexpr double kCoarseCos[] = {0x1.5555555502cf4p-5, -0x1.6c16bf54e7232p-10,
                                        0x1.a015c47d920acp-16, -0x1.25244e23e6e3ap-22};
inline constexpr double kFineCos[] = {
    0x1.5555555555555p-5,  -0x1.6c16c16c16c16p-10, 0x1.a01a01a019d0ap-16, -0x1.27e4fb7712d65p-22,
    0x1.1eed8deb97a97p-29, -0x1.9394ba0cd6ed5p-37, 0x1.ab785b00b4646p-45};
// cos(r) - 1 + z / 2, divided by z^2 = r^4
inline constexpr Polynomial kCos = {kCoarseCos, kFineCos};

inline constexpr double kCoarseAsin[] = {0x1.555554e435732p-3, 0x1.333430fcff28ep-4,
                                         0x1.6d5bb95f8e653p-5, 0x1.fd8da2554dd34p-6,
                                         0x1.18f91e79712c6p-6, 0x1.13fed3dd245c1p-5};
inline constexpr double kFineAsin[] = {
    0x1.5555555555555p-3,  0x1.3333333333388p-4, 0x1.6db6db6dac1e0p-5, 0x1.f1c71c7a52ba3p-6,
    0x1.6e8ba123e494cp-6,  0x1.1c4efce23019fp-6, 0x1.c990ad3d8fdcap-7, 0x1.7b027ee1dd585p-7,
    0x1.3b49de7121487p-7,  0x1.31622469ce5adp-7, 0x1.8f193743418ffp-9, 0x1.406192d124629p-6,
    -0x1.3b416bb7d9257p-6, 0x1.e529c6fce9bb4p-6};
// asin(x) / x - 1, divided by z = x^2
inline constexpr Polynomial kAsin = {kCoarseAsin, kFineAsin};

inline constexpr double kCoarseAtan[] = {-0x1.5555544709c15p-2, 0x1.9997307d57b9ap-3,
                                         -0x1.242028b987d1dp-3, 0x1.b80f248c9dfddp-4,
                                         -0x1.0841e68577741p-4};
inline constexpr double kFineAtan[] = {
    -0x1.5555555555555p-2, 0x1.9999999999997p-3, -0x1.24924924920acp-3, 0x1.c71c71c6dda8cp-4,
    -0x1.745d17355fb40p-4, 0x1.3b13aea92b800p-4, -0x1.1110ced7ae904p-4, 0x1.e1d8e7e3671b7p-5,
    -0x1.aebd0d9afbb7ap-5, 0x1.829c6fefc6aacp-5, -0x1.503a72dea3f41p-5, 0x1.f5e70778c399ap-6,
    -0x1.c80183a6f4d8cp-7};
// atan(x) / x - 1, divided by z = x^2
inline constexpr Polynomial kAtan = {kCoarseAtan, kFineAtan};

inline constexpr double kFineErf[] = {
    0x1.06eba8214db69p-3,  -0x1.812746b0379e7p-2,  0x1.ce2f21a042be2p-4,  -0x1.b82ce31288b47p-6,
    0x1.565bcd0e6a2eep-8,  -0x1.c02db40035f1ep-11, 0x1.f9a326f7ac5b1p-14, -0x1.f4d25bf9af03ap-17,
    0x1.b9e6c38e5cf3dp-20, -0x1.5f73c3bf14b91p-23, 0x1.fcbb312b48443p-27, -0x1.517ce02f1265fp-30,
    0x1.9a0fcb5e22c5bp-34, -0x1.b40e7abf9f000p-38, 0x1.3c01fd3a74542p-42};
// erf(x) / x - 1, of z = x^2
inline constexpr Polynomial kErf = {{}, kFineErf};

inline constexpr double kCoarseErfc[] = {
    0x1.3ba5916ed1001p+0,  -0x1.1df1af88059f9p-3, 0x1.f7f5b5f12e7b7p-7,   0x1.16edf0f579a2fp-4,
    -0x1.9dd9a93d38c9bp-4, 0x1.7fe014ff2d349p-4,  -0x1.0fcd3dfa5df82p-4,  0x1.30f319ada7d47p-5,
    -0x1.06561a3aa29bfp-6, 0x1.4b2e1657cf164p-8,  -0x1.2990663659e40p-10, -0x1.50fb59a6487f2p-11};
inline constexpr double kFineErfc[] = {
    0x1.3ba5916e9fd7fp+0,   -0x1.1df1ad154a28fp-3,  0x1.f7f5df66fd7dcp-7,   0x1.16ecefcfa5418p-4,
    -0x1.9ddb23c3e91e6p-4,  0x1.7fee004e11041p-4,   -0x1.0fb06dfe47955p-4,  0x1.3079edf6b50ddp-5,
    -0x1.0962388569001p-6,  0x1.49c672753d4a4p-8,   -0x1.8d4a99983d1b3p-11, -0x1.a1df176144191p-13,
    0x1.3be037b907674p-13,  -0x1.995b2944adbc6p-16, -0x1.7883bb346caf8p-17, 0x1.7f3e70d252afcp-18,
    0x1.3966664115f32p-22,  -0x1.bc5c9a7b450f3p-21, 0x1.4990dfca32f07p-24,  0x1.e5b470e55d343p-24,
    -0x1.44d2525168e58p-26, -0x1.19c5884a84374p-26, 0x1.c861fe13646c9p-30,  0x1.156e8c31e8e3dp-29,
    0x1.24e3d3e44923fp-32};
// (1 + 2 a) exp(a^2) erfc(a), of t = (a - 4) / (a + 4)
inline constexpr Polynomial kErfc = {kCoarseErfc, kFineErfc};

inline constexpr double kCoarseInverseCubeRoot[] = {0x1.dae17de75642dp+0, -0x1.9fb4f5b01fcedp+0,
                                                    0x1.10e7b49e74673p+0, -0x1.5f63b007cba35p-2,
                                                    0x1.578a8193af4b3p-5};
// m^(-1/3)
inline constexpr Polynomial kInverseCubeRoot = {kCoarseInverseCubeRoot, kCoarseInverseCubeRoot};

inline constexpr double kDividendOfTanh[] = {0x1.d8dd820000000p-1, 0x1.c2a5380000000p-6,
                                             0x1.bb36ba0000000p-14};
inline constexpr double kDivisorOfTanh[] = {0x1.d8dd820000000p+0, 0x1.abe79e0000000p-3,
                                            0x1.244f180000000p-9, 0x1.317e9a0000000p-19};
// tanh(x / 2) / x, of z = x^2
inline constexpr Saturating kTanh = {kDividendOfTanh, kDivisorOfTanh, 0x1.2333340000000p+3};

inline constexpr double kDividendOfSaturatingErf[] = {0x1.f76da20000000p-1, 0x1.e7b2780000000p-3,
                                                      0x1.b0607c0000000p-6, 0x1.fca1040000000p-10};
inline constexpr double kDivisorOfSaturatingErf[] = {0x1.be26d40000000p+0, 0x1.cb05ba0000000p-2,
                                                     0x1.4afcf40000000p-4, 0x1.3476040000000p-7,
                                                     0x1.3a9d4c0000000p-13};
// tanh(artanh(erf(x)) / 2) / x, of z = x^2
inline constexpr Saturating kSaturatingErf = {kDividendOfSaturatingErf, kDivisorOfSaturatingErf,
                                              0x1.f9999a0000000p+1};

inline constexpr Constant kLog2 = {0x1.62e4300000000p-1, -0x1.05c6100000000p-29,
                                   0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
inline constexpr Constant kLog2Split = {0x1.62e4000000000p-1, 0x1.7f7d1c0000000p-20,
                                        0x1.62e42ff000000p-1, -0x1.718432a1b0e26p-35};
inline constexpr Constant kLog2OfE = {0x1.7154760000000p+0, 0x1.4ae0c00000000p-26,
                                      0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56};
inline constexpr Constant kLog2Of10 = {0x1.a934f00000000p+1, 0x1.2f346e0000000p-24,
                                       0x1.a934f0979a371p+1, 0x1.7f2495fb7fa6dp-53};
inline constexpr Constant kLog10Of2Split = {0x1.3440000000000p-2, 0x1.3509f80000000p-18,
                                            0x1.3441350a00000p-2, -0x1.0c0219dc1da99p-39};
inline constexpr Constant kLogOf10 = {0x1.26bb1c0000000p+1, -0x1.12aaba0000000p-25,
                                      0x1.26bb1bbb55516p+1, -0x1.f48ad494ea3e9p-53};
inline constexpr Constant kInverseLogOf10 = {0x1.bcb7b20000000p-2, -0x1.5b235e0000000p-27,
                                             0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57};
inline constexpr Constant kQuarterPi = {0x1.921fb60000000p-1, -0x1.777a5c0000000p-26,
                                        0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55};
inline constexpr Constant kHalfPi = {0x1.921fb60000000p+0, -0x1.777a5c0000000p-25,
                                     0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};
inline constexpr Constant kPi = {0x1.921fb60000000p+1, -0x1.777a5c0000000p-24, 0x1.921fb54442d18p+1,
                                 0x1.1a62633145c07p-53};
inline constexpr Constant kTwoThirds = {0x1.5555560000000p-1, -0x1.5555560000000p-26,
                                        0x1.5555555555555p-1, 0x1.5555555555555p-55};
inline constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;
inline constexpr std::array kHalfPiOf22Bits = {0x1.921fb80000000p+0, -0x1.5dde980000000p-23,
                                               0x1.8469898cc5170p-48};
inline constexpr std::array kHalfPiOf32Bits = {0x1.921fb54400000p+0, 0x1.0b4611a600000p-34,
                                               0x1.3198a2e000000p-69, 0x1.b839a252049c1p-104};

}  // namespace texloom::codegen::native::math
