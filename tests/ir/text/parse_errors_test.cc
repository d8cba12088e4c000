// Every error in a text is a diagnostic with its location, never a crash.
#include <gtest/gtest.h>

#include <string>

#include "ir/text/parse.h"
#include "support/diagnostic.h"

namespace texloom::ir {
namespace {

// "code line:column message" of the first diagnostic.
std::string error_of(const std::string& text) {
  try {
    parse_program(text, "p.tl");
  } catch (const UserError& error) {
    const Diagnostic& d = error.diagnostics().front();
    EXPECT_FALSE(d.help.empty());
    return fmt::format("{} {}:{} {}", code_text(d.code), d.location.line, d.location.column,
                       d.message);
  }
  return "no error";
}

// The error in a statement at line 5 of a program with the float32 buffer A[8], the texture T, the
// variable i and the vector v.
std::string error_in(const std::string& statement) {
  return error_of(
      fmt::format("program p stage=flattened\n"
                  "param A: global float32[8] param H: global float16[8]\n"
                  "param T: texture2d<float32>[8] 2 x 1 texels, "
                  "texture[(d0) -> rows=(), cols=(d0/4), lanes=(d0%4)]\n"
                  "let i: int32 = 3 let v: float32x4 = x4(1.0) let p: bool = i < 5\n{}\n",
                  statement));
}
// The error in a declaration at line 2.
std::string error_in_param(const std::string& declaration) {
  return error_of("program p stage=loops\nparam B: " + declaration + "\n");
}

TEST(ParseErrors, ShowLineColumnAndCaret) {
  try {
    parse_program("program p stage=loops\nparam A: global float32[8]\n  A[0] == 1.0\n", "p.tl");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(),
                 "error[TL6001]: expected '=', found '=='\n"
                 "  --> p.tl:3:8\n"
                 "   |  A[0] == 1.0\n"
                 "   |       ^\n"
                 "  help: docs/text_form.md has the grammar");
  }
}

struct Case {
  std::string text;
  std::string error;
};

TEST(ParseErrors, OfPrograms) {
  const Case cases[] = {
      {"", "TL6001 1:1 expected 'program', found the end of the text"},
      {"foo", "TL6001 1:1 expected 'program', found 'foo'"},
      {"program", "TL6001 1:8 expected the name of the program, found the end of the text"},
      {"program p", "TL6001 1:10 expected 'stage', found the end of the text"},
      {"program p stage loops", "TL6001 1:17 expected '=', found 'loops'"},
      {"program p stage=foo",
       "TL6001 1:17 expected 'te', 'loops', 'flattened', 'kernels' or 'legalized', found 'foo'"},
      {"program p stage=graph target=\"opencl\"",
       "TL6002 1:17 a text of stage graph is a network, not a program"},
      {"program p stage=te", "TL6002 1:17 a text of stage te is a schedule, not a program"},
      {"program p stage=loops kernel k grid=(1, 1, 1) block=(1, 1, 1)",
       "TL6003 1:0 p: it has kernels before stage kernels"},
      {"program p stage=loops\nparam A: global float32[8]\nparam A: global float32[8]",
       "TL6002 3:7 A is a parameter already"},
      {"program p stage=kernels\nlaunch k() grid=(1, 1, 1) block=(1, 1, 1)",
       "TL6002 2:8 there is no kernel k"},
      {"program p stage=kernels\nlaunch k() grid=(1, 1, 1) block=(1, 1, 1)\nkernel k grid=(2, 1, "
       "1) block=(1, 1, 1)",
       "TL6002 2:8 the kernel k has another grid or block than this launch"},
      {"program p stage=kernels\nlaunch k(A) grid=(1, 1, 1) block=(1, 1, 1)\nkernel k grid=(1, 1, "
       "1) block=(1, 1, 1)",
       "TL6002 2:8 the kernel k takes 0 operands"},
      {"program p stage=kernels\nparam A: global float32[8] param B: global float32[8]\nlaunch "
       "k(B) grid=(1, 1, 1) block=(1, 1, 1)\nkernel k grid=(1, 1, 1) block=(1, 1, 1)\nparam A: "
       "read global float32[8]",
       "TL6002 3:10 parameter 0 of kernel k is A"},
      {"program p stage=kernels\nlaunch k( grid=(1, 1, 1) block=(1, 1, 1)",
       "TL6001 2:15 expected ',' or ')', found '='"},
      {"program p stage=kernels\nlaunch k() grid=(0, 1, 1) block=(1, 1, 1)",
       "TL6002 2:18 '0' is out of range for an extent"},
      {"program p stage=kernels\nlaunch k() grid=(1, 1) block=(1, 1, 1)",
       "TL6001 2:22 expected ',', found ')'"},
      {"program p stage=kernels\nkernel k grid=(1, 1, 1) block=(1, 1, 1)\nkernel k grid=(1, 1, 1) "
       "block=(1, 1, 1)",
       "TL6002 3:8 two kernels are named k"},
      {"program p stage=kernels\nkernel k grid=(1, 1, 1)\n",
       "TL6001 2:24 expected 'block', found the end of the text"},
      {"program p stage=kernels\nkernel k grid=(1, 1, 1) block=(4, 1, 1)\n",
       "TL6003 2:0 k: its block is (4, 1, 1), but its threadIdx axes have (1, 1, 1)"},
      {"program p stage=kernels\nkernel k grid=(1, 1, 1) block=(1, 1, 1)\nparam A: global "
       "float32[8]",
       "TL6001 3:10 expected 'read', 'write', 'read_write' or a type, found 'global'"},
      {"program p stage=kernels\nparam A: global float32[8]\nkernel k grid=(1, 1, 1) block=(1, 1, "
       "1)\nparam A: read global float32[9]",
       "TL6002 4:7 A is declared differently than before"},
      {"program p stage=kernels\nkernel k grid=(1, 1, 1) block=(1, 1, 1)\nparam s: float16",
       "TL6003 2:0 s: a scalar parameter is not a variable of 32 or 64 bits"},
      {"program p stage=kernels\nkernel k grid=(1, 1, 1) block=(1, 1, 1)\naxis x < 3",
       "TL6001 3:8 expected '=', found '<'"},
      {"program p stage=kernels\nkernel k grid=(1, 1, 1) block=(1, 1, 1)\naxis x = y < 3",
       "TL6001 3:10 expected a thread index such as 'blockIdx.x', found 'y'"},
      {"program p stage=kernels\nkernel k grid=(1, 1, 1) block=(1, 1, 1)\naxis x = threadIdx.x < n",
       "TL6002 3:24 there is no variable n here"},
      {"program p stage=kernels\nkernel k grid=(1, 1, 1) block=(1, 1, 1)\n}",
       "TL6001 3:1 expected a statement or a kernel, found '}'"},
      {"program p stage=kernels\nbarrier",
       "TL6003 2:0 Barrier: Barrier is not allowed in a launch plan"},
      {"program p stage=loops\nfor i < 3 {\nkernel k grid=(1, 1, 1) block=(1, 1, 1)\n}",
       "TL6001 3:1 expected a statement or '}', found 'kernel'"},
      {"program \"p stage=loops",
       "TL6001 1:9 expected the name of the program, found a quote that is not closed"},
      {"program p stage=loops\nparam A: global float32[8]\nif p { }",
       "TL6002 3:4 there is no variable p here"},
      {"program p stage=kernels\nkernel \"\\x\" grid=(1, 1, 1) block=(1, 1, 1)\n",
       "TL6001 2:8 an escape in a quoted name is not one of \\\", \\\\ and \\x41"},
  };
  for (const Case& c : cases) EXPECT_EQ(error_of(c.text), c.error) << c.text;
}

TEST(ParseErrors, OfDeclarations) {
  const Case cases[] = {
      {"",
       "TL6001 2:9 expected 'global', 'shared', 'local', 'fragment' or 'texture2d', found the end "
       "of the text"},
      {"float32[",
       "TL6001 2:10 expected 'global', 'shared', 'local', 'fragment' or 'texture2d', found "
       "'float32'"},
      {"global float32", "TL6001 2:24 expected '[', found the end of the text"},
      {"global float32[0]", "TL6002 2:25 '0' is out of range for an extent"},
      {"global float32[-1]", "TL6001 2:25 expected an extent, found '-'"},
      {"global float32[281474976710656, 2]",
       "TL6002 2:24 there are more than 281474976710656 elements"},
      {"global float32x4[8]", "TL6002 2:17 an element is float32x4, not a scalar"},
      {"global foo[8]", "TL6001 2:17 expected a type, found 'foo'"},
      {"global float32[8], texture[(d0) -> rows=(), cols=(d0/4), lanes=(d0%4)]",
       "TL6002 2:29 a buffer has the layout of a texture"},
      {"global float32[8], linear",
       "TL6001 2:29 expected a layout: 'texture[...]' or 'buffer[...]', found 'linear'"},
      {"global float32[8], buffer[(d0) -> rows=(d0), cols=(), lanes=()]",
       "TL6002 2:29 the layout of a buffer has rows or lanes"},
      {"global float32[8], buffer[(d0) -> rows=(), cols=(d0/2), lanes=()]",
       "TL6002 2:59 the parts of axis d0 leave out d0%2"},
      {"global float32[8], buffer[(d0) -> rows=(), cols=(d0, d0), lanes=()]",
       "TL6002 2:63 the parts of axis d0 overlap: d0 and d0"},
      {"global float32[8], buffer[(d0) -> rows=(), cols=(d0%4), lanes=()]",
       "TL6002 2:59 the parts of axis d0 leave out d0/4"},
      {"global float32[8], buffer[(d0) -> cols=(d0/3, d0%2)]",
       "TL6002 2:56 the parts of axis d0 do not follow one another: d0/2 and d0/3"},
      {"global float32[8], buffer[(d0) -> ]",
       "TL6001 2:44 expected 'rows', 'cols', 'lanes' and 'padding', in this order, each once, "
       "found "
       "']'"},
      {"global float32[8], buffer[(d0) -> cols=d0, padding=zero, cols=(d0)]",
       "TL6001 2:67 expected 'rows', 'cols', 'lanes' and 'padding', in this order, each once, "
       "found "
       "'cols'"},
      {"global float32[8], buffer[(d0, d1) -> rows=(), cols=(d0), lanes=()]",
       "TL6002 2:29 the layout has 2 axes, but the shape has 1"},
      {"global float32[8, 8], buffer[(d0, d0) -> rows=(), cols=(d0), lanes=()]",
       "TL6002 2:44 d0 is named twice"},
      {"global float32[8], buffer[(d0) -> rows=(), cols=(d1), lanes=()]",
       "TL6002 2:59 there is no axis d1"},
      {"global float32[8], buffer[(d0) -> rows=(), cols=(d0/0, d0%1), lanes=()]",
       "TL6002 2:62 '0' is out of range for a divisor"},
      {"global float32[8], buffer[(d0) -> rows=(), cols=(d0), lanes=(), padding=one]",
       "TL6001 2:82 expected 'zero' or 'undefined', found 'one'"},
      {"global float32[8], image1d_buffer[(d0) -> cols=(d0/4), lanes=(d0%4)]",
       "TL6002 2:7 B cannot be declared like this: no access supports its memory object"},
      {"global float32[8], buffer[(d0) -> rows=(), cols=(d0%281474976710656, d0/2), lanes=()]",
       "TL6002 2:29 there are more than 281474976710656 elements"},
      {"shared float32[8]", "TL6003 2:0 B: a parameter of the program is shared"},
      {"texture2d<float32>[8] 2 x 1 texels", "TL6001 2:44 expected ',', found the end of the text"},
      {"texture2d<float32>[8] 2 x 2 texels, texture[(d0) -> rows=(), cols=(d0/4), lanes=(d0%4)]",
       "TL6002 2:32 the declared size is 2 x 2 texels, but the layout has 2 x 1"},
      {"texture2d<float32>[8] 2 1 texels, texture[(d0) -> rows=(), cols=(d0/4), lanes=(d0%4)]",
       "TL6001 2:34 expected 'x', found '1'"},
      {"texture2d<float64>[8] 2 x 1 texels, texture[(d0) -> rows=(), cols=(d0/4), lanes=(d0%4)]",
       "TL6002 2:7 B cannot be declared like this: textures cannot hold this type"},
      {"texture2d<float32>[8] 8 x 1 texels, texture[(d0) -> rows=(), cols=(d0), lanes=()]",
       "TL6002 2:82 a texel has 4 lanes, not 1"},
      {"texture2d<float32>[8] 8 x 1 texels, buffer[(d0) -> rows=(), cols=(d0), lanes=()]",
       "TL6002 2:46 the layout of a texture does not begin with 'texture'"},
      {"texture2d<float32>[8] 2 x 1 texels, texture[(d0) -> rows=(), cols=(d0/4), lanes=(d0%4)], "
       "origin=(x)",
       "TL6001 2:108 expected ',', found ')'"},
      {"texture2d<float32>[8] 2 x 1 texels, texture[(d0) -> rows=(), cols=(d0/4), lanes=(d0%4)], "
       "origin=(x: int64, y)",
       "TL6002 2:7 B cannot be declared like this: a coordinate of its origin is not an int32 "
       "variable"},
      {"texture2d<float32>[8] 2 x 1 texels, texture[(d0) -> rows=(), cols=(d0/4), lanes=(d0%4)], "
       "origin=(B, y)",
       "TL6002 2:7 B is a variable"},
      {"shared texture2d<float32>[8] 2 x 1 texels, texture[(d0) -> rows=(), cols=(d0/4), "
       "lanes=(d0%4)]",
       "TL6001 2:17 expected a type, found 'texture2d'"},
  };
  for (const Case& c : cases) EXPECT_EQ(error_in_param(c.text), c.error) << c.text;
}

TEST(ParseErrors, OfStatements) {
  const Case cases[] = {
      {"A", "TL6001 5:1 expected a statement, found 'A'"},
      {"A[0]", "TL6001 5:5 expected '=', found the end of the text"},
      {"A[0] 1.0", "TL6001 5:6 expected '=', found '1.0'"},
      {"A[0] = 1", "TL6002 5:1 A holds float32, the value is int32"},
      {"A[0] = v", "TL6002 5:1 A: the value has 4 lanes, the index has 1"},
      {"A[ramp(0, 1, 2)] = v", "TL6002 5:1 A: the value has 4 lanes, the index has 2"},
      {"T[0] = 1.0", "TL6003 5:0 T[0] = 1.0: the texture T is accessed like a buffer"},
      {"i = 3", "TL6001 5:1 expected a statement, found 'i'"},
      {"foo i", "TL6001 5:1 expected a statement, found 'foo'"},
      {"3", "TL6001 5:1 expected a statement, found '3'"},
      {"}", "TL6001 5:1 expected a statement or a kernel, found '}'"},
      {"{", "TL6001 5:2 expected a statement or '}', found the end of the text"},
      {"for i < 8 { ", "TL6001 5:12 expected a statement or '}', found the end of the text"},
      {"for i < 8", "TL6001 5:10 expected '{', found the end of the text"},
      {"for 3 < 8 {}", "TL6001 5:5 expected the name of a loop variable, found '3'"},
      {"for i > 8 {}", "TL6001 5:7 expected '<', found '>'"},
      {"for i: float32 < 8.0 {}", "TL6002 5:5 i is float32 here and int32 before"},
      {"for i: int64 < int64(8) {}", "TL6002 5:5 i is int64 here and int32 before"},
      {"for k < 8.0 {}", "TL6002 5:1 its variable is not an index variable"},
      {"for A < 8 {}", "TL6002 5:5 A is a buffer"},
      {"for k < true {}", "TL6002 5:1 its variable is not an index variable"},
      {"for k < v {}", "TL6002 5:1 its variable is not an index variable"},
      {"thread i < 8 {}", "TL6001 5:8 expected '<', found 'i'"},
      {"thread<threadIdx.w> k < 8 {}",
       "TL6001 5:8 expected a thread index such as 'blockIdx.x', found 'threadIdx.w'"},
      {"thread<threadIdx.x k < 8 {}", "TL6001 5:20 expected '>', found 'k'"},
      {"if i {}", "TL6002 5:1 if: the condition is int32, not bool"},
      {"if x4(p) {}", "TL6002 5:1 if: the condition is boolx4, not bool"},
      {"if p", "TL6001 5:5 expected '{', found the end of the text"},
      {"let x = 3", "TL6001 5:7 expected ':', found '='"},
      {"let x: int32 = 1.0", "TL6002 5:5 x is declared int32, but its value is float32"},
      {"let x: foo = 1", "TL6001 5:8 expected a type, found 'foo'"},
      {"let A: int32 = 1", "TL6002 5:5 A is a buffer"},
      {"let i: int64 = int64(1)", "TL6002 5:5 i is int64 here and int32 before"},
      {"nest i {}", "TL6002 5:6 i is a variable, not a buffer"},
      {"nest B {}", "TL6002 5:6 there is no buffer B here"},
      {"nest A { nest A {} }", "TL6003 5:0 nest A: it is inside another nest"},
      {"buffer.alloca A: global float32[9]", "TL6002 5:15 A is declared differently than before"},
      {"buffer.alloca i: global float32[9]", "TL6002 5:15 i is a variable"},
      {"buffer.alloca L: local", "TL6001 5:23 expected a type, found the end of the text"},
      {"buffer.alloca L: float32[3]",
       "TL6001 5:18 expected 'global', 'shared', 'local', 'fragment' or 'texture2d', found "
       "'float32'"},
      {"texture2d.alloca L: local float32[3]", "TL6002 5:1 L is not a texture"},
      {"buffer.alloca L: texture2d<float32>[8] 2 x 1 texels, texture[(d0) -> rows=(), cols=(d0/4), "
       "lanes=(d0%4)]",
       "TL6002 5:1 L is a texture"},
      {"texture2d.free A", "TL6002 5:1 A is not a texture"},
      {"buffer.free A", "TL6003 5:0 free A: Free is not allowed in stage flattened"},
      {"buffer.free L", "TL6002 5:13 there is no buffer L here"},
      {"launch k() grid=(1, 1, 1) block=(1, 1, 1)", "TL6002 5:8 there is no kernel k"},
      {"texture2d.store(T, x=0, y=0, v: float32)",
       "TL6002 5:33 a value of type float32x4 is stored as float32"},
      {"texture2d.store(T, x=0, y=0, 1.0: float32)",
       "TL6002 5:35 a value of type float32 is stored as float32"},
      {"texture2d.store(A, x=0, y=0, v: float32x4)", "TL6002 5:17 A is not a texture"},
      {"texture2d.store(T, x=0, y=0, x4(1): int32x4)",
       "TL6002 5:1 T holds float32, the value is int32"},
      {"texture2d.store(T, x=v, y=0, v: float32x4)",
       "TL6002 5:22 the coordinate x is float32x4, not a scalar of type int32 or int64"},
      {"texture2d.store(T, x=2, y=0, v: float32x4)",
       "TL6003 5:0 texture2d.store(T, x=2, y=0, v): 2 is not proven to lie in 0..2 of T"},
      {"barrier @", "TL6001 5:10 expected a file in quotes or '?', found the end of the text"},
      {"barrier @\"a.py\"", "TL6001 5:16 expected ':', found the end of the text"},
      {"barrier @\"a.py\":x", "TL6001 5:17 expected a line, found 'x'"},
      {"barrier @\"a.py\":99999999999", "TL6002 5:17 '99999999999' is out of range for a line"},
      {"barrier @3", "TL6001 5:10 expected a file in quotes or '?', found '3'"},
      {"A[8] = 1.0", "TL6003 5:0 A[8] = 1.0: 8 is not proven to lie in 0..8 of A"},
      {"for i < 3 {}", "TL6003 5:0 i: it is defined again inside its scope"},
      {"{ let q: int32 = 1 }\nA[q] = 1.0", "TL6003 6:0 q: it is not defined here"},
      {"kernel k grid=(1, 1, 1) block=(1, 1, 1)",
       "TL6003 1:0 p: it has kernels before stage kernels"},
  };
  for (const Case& c : cases) EXPECT_EQ(error_in(c.text), c.error) << c.text;
}

TEST(ParseErrors, OfExpressions) {
  const Case cases[] = {
      {"", "TL6001 5:7 expected an expression, found the end of the text"},
      {")", "TL6001 5:8 expected an expression, found ')'"},
      {"(i", "TL6001 5:10 expected ')', found the end of the text"},
      {"1 +", "TL6001 5:11 expected an expression, found the end of the text"},
      {"- i", "TL6001 5:10 expected a number, found 'i'"},
      {"-", "TL6001 5:9 expected a number, found the end of the text"},
      {"i + 1.0", "TL6002 5:10 +: the operands are int32 and float32"},
      {"i && p", "TL6002 5:10 &&: the operands are int32 and bool"},
      {"1.0 << 2.0", "TL6002 5:12 <<: the operands are float32, not integers"},
      {"truncmod(1.0, 2.0)", "TL6002 5:8 truncmod: the operands are float32, not integers"},
      {"p + p", "TL6002 5:1 A holds float32, the value is bool"},
      {"!i", "TL6002 5:8 !: the operand is int32, not bool"},
      {"A[ramp(0, 1, 4), ramp(0, 1, 2)]", "TL6002 5:8 A: the indices are vectors of 4 and 2 lanes"},
      {"3000000000", "TL6002 5:8 3000000000 does not fit int32"},
      {"-2147483649", "TL6002 5:9 -2147483649 does not fit int32"},
      {"99999999999999999999", "TL6002 5:8 99999999999999999999 does not fit int32"},
      {"uint8(256)", "TL6002 5:14 256 does not fit uint8"},
      {"uint8(-1)", "TL6002 5:15 -1 does not fit uint8"},
      {"int8(-129)", "TL6002 5:14 -129 does not fit int8"},
      {"uint64(18446744073709551616)", "TL6002 5:15 18446744073709551616 does not fit uint64"},
      {"1e99", "TL6002 5:8 1e99 is out of range for float32"},
      {"float32(1e99)", "TL6002 5:16 1e99 is out of range for float32"},
      {"float64(1e999)", "TL6002 5:16 1e999 is out of range for float64"},
      {"1e", "TL6001 5:8 expected an expression, found '1e'"},
      {"1.5f", "TL6001 5:8 expected an expression, found '1.5f'"},
      {"2x6", "TL6001 5:8 expected an expression, found '2x6'"},
      {"unknown", "TL6002 5:8 there is no variable unknown here"},
      {"A", "TL6002 5:8 A is a buffer, not a variable"},
      {"T", "TL6002 5:8 T is a buffer, not a variable"},
      {"i[0]", "TL6002 5:8 i is a variable, not a buffer"},
      {"unknown[0]", "TL6002 5:8 there is no buffer unknown here"},
      {"foo(1)", "TL6002 5:8 there is no function 'foo'"},
      {"exp(1)", "TL6002 5:8 exp: the function does not take int32"},
      {"exp(1.0, 2.0)", "TL6002 5:8 exp takes 1 argument, not 2"},
      {"power(1.0)", "TL6002 5:8 power takes 2 arguments, not 1"},
      {"floor(i)", "TL6002 5:8 floor: the function does not take int32"},
      {"abs(p)", "TL6002 5:8 abs: the function does not take bool"},
      {"min(1.0)", "TL6002 5:8 min takes 2 arguments, not 1"},
      {"select(i, 1.0, 2.0)", "TL6002 5:8 select: the condition is int32, not bool"},
      {"select(p, 1.0, 2)", "TL6002 5:8 select: the operands are float32 and int32"},
      {"select(p, 1.0)", "TL6002 5:8 select takes 3 arguments, not 2"},
      {"select(x4(p), 1.0, 2.0)",
       "TL6002 5:8 select: the condition has 4 lanes, the values have 1"},
      {"fma(1.0, 2.0, 3)", "TL6002 5:8 fma: the operands are float32 and int32"},
      {"fma(i, i, i)", "TL6002 5:8 fma: the operands are int32, not floats"},
      {"ramp(i, 1, 65)", "TL6002 5:19 '65' is out of range for the number of lanes"},
      {"ramp(i, 1, 1)", "TL6002 5:19 '1' is out of range for the number of lanes"},
      {"ramp(i, int64(1), 4)", "TL6002 5:8 ramp: the operands are int32 and int64"},
      {"ramp(1.0, 1.0, 4)",
       "TL6002 5:8 ramp: the operands are float32, not scalars of type int32 or int64"},
      {"ramp(i, 1, i)", "TL6001 5:19 expected the number of lanes, found 'i'"},
      {"ramp(i, 1)", "TL6001 5:17 expected ',', found ')'"},
      {"x4(v)", "TL6002 5:8 x4: the operand is float32x4, not a scalar"},
      {"x65(1.0)", "TL6002 5:8 there is no function 'x65'"},
      {"x1(1.0)", "TL6002 5:8 there is no function 'x1'"},
      {"x4()", "TL6002 5:8 x4 takes 1 argument, not 0"},
      {"pack(1.0)", "TL6002 5:8 pack: a vector has 2 to 64 lanes, not 1"},
      {"pack(1.0, 2)", "TL6002 5:8 pack: the operands are float32 and int32"},
      {"pack(v, v)", "TL6002 5:8 pack: the elements are float32x4, not scalars"},
      {"pack()", "TL6002 5:8 pack: a vector has 2 to 64 lanes, not 0"},
      {"v.lane[4]", "TL6002 5:9 float32x4 has no lane 4"},
      {"v.lane[1.0]",
       "TL6002 5:9 .lane: the lane number is float32, not a scalar of type int32 or int64"},
      {"i.lane[0]", "TL6002 5:9 .lane: int32 is a scalar, which has no lanes"},
      {"v.lane[i", "TL6001 5:16 expected ']', found the end of the text"},
      {"v", "TL6002 5:1 A: the value has 4 lanes, the index has 1"},
      {"A[0, 1]", "TL6002 5:8 A takes 1 indices here, not 2"},
      {"A[]", "TL6002 5:8 A takes 1 indices here, not 0"},
      {"A[1.0]", "TL6002 5:8 an index is float32, neither int32 nor int64"},
      {"A[int8(1)]", "TL6002 5:8 an index is int8, neither int32 nor int64"},
      {"A[i: float64]", "TL6002 5:8 A holds float32, the value is float64"},
      {"A[i: float32x4]", "TL6002 5:13 float32x4: the value has 4 lanes, the index has 1"},
      {"A[i: foo]", "TL6001 5:13 expected a type, found 'foo'"},
      {"A[i i]", "TL6001 5:12 expected ',', ':' or ']', found 'i'"},
      {"A[ramp(0, 1, 2)]", "TL6002 5:1 A: the value has 2 lanes, the index has 1"},
      {"texture2d.load(T, x=0, y=0: float32)", "TL6002 5:36 a texel is loaded as float32"},
      {"texture2d.load(T, x=0, y=0: float16x4)",
       "TL6002 5:8 T holds float32, the value is float16"},
      {"texture2d.load(A, x=0, y=0: float32x4)", "TL6002 5:23 A is not a texture"},
      {"texture2d.load(T, x=1.0, y=0: float32x4)",
       "TL6002 5:28 the coordinate x is float32, not a scalar of type int32 or int64"},
      {"texture2d.load(T, y=0, x=0: float32x4)", "TL6001 5:26 expected 'x', found 'y'"},
      {"texture2d.load(T, x=0, y=0)", "TL6001 5:34 expected ':', found ')'"},
      {"float32x4(1.0)",
       "TL6002 5:8 float32x4: float32 cannot be converted to float32x4, which has other lanes"},
      {"float32(v)",
       "TL6002 5:8 float32: float32x4 cannot be converted to float32, which has other lanes"},
      {"float32()", "TL6002 5:8 float32 takes 1 argument, not 0"},
      {"int32(1, 2)", "TL6002 5:8 int32 takes 1 argument, not 2"},
      {"bool(1.0)", "TL6002 5:1 A holds float32, the value is bool"},
      {"\"x", "TL6001 5:8 expected an expression, found a quote that is not closed"},
      {"\"\\q\"", "TL6001 5:8 an escape in a quoted name is not one of \\\", \\\\ and \\x41"},
      {"i @ 3", "TL6001 5:12 expected a file in quotes or '?', found '3'"},
      {"$", "TL6001 5:8 expected an expression, found '$'"},
      {"é", "TL6001 5:8 expected an expression, found the byte 0xc3"},
      {"B(i, j)", "TL6002 5:8 there is no function 'B'"},
  };
  for (const Case& c : cases) EXPECT_EQ(error_in("A[0] = " + c.text), c.error) << c.text;
}

std::string nested(std::string_view open, std::string_view inner, std::string_view close, int n) {
  std::string text;
  for (int i = 0; i < n; ++i) text += open;
  text += inner;
  for (int i = 0; i < n; ++i) text += close;
  return text;
}

// A deeply nested text gives a diagnostic at the first level that is too deep, not a stack
// overflow.
TEST(ParseErrors, OfDeepTexts) {
  const std::string deep = "this expression is nested more than 1000 levels deep";
  EXPECT_EQ(error_in("A[0] = " + nested("(", "1.0", ")", 1000)), "no error");
  EXPECT_EQ(error_in("A[0] = " + nested("(", "1.0", ")", 1001)), "TL3019 5:1008 " + deep);
  EXPECT_EQ(error_in("A[0] = " + nested("(", "", "", 100'000)), "TL3019 5:1008 " + deep);
  EXPECT_EQ(error_in("if " + nested("!", "p", "", 100'000)), "TL3019 5:1004 " + deep);
  EXPECT_EQ(error_in("A[0] = " + nested("sqrt(", "1.0", ")", 5000)), "TL3019 5:5008 " + deep);
  EXPECT_EQ(error_in("A[0] = " + nested("A[", "0", "]", 5000)), "TL3019 5:2009 " + deep);
  EXPECT_EQ(error_in("A[0] = " + nested("", "A[0]", " + A[0]", 5000)), "TL3019 5:7006 " + deep);
  EXPECT_EQ(error_in(nested("if p {", "", "}", 990)), "no error");
  EXPECT_EQ(error_in(nested("if p {", "", "", 100'000)),
            "TL3019 5:6006 loops are nested more than 1000 levels deep");
  EXPECT_EQ(error_in(nested("{\n", "", "", 100'000)),
            "TL3019 1005:1 loops are nested more than 1000 levels deep");
  EXPECT_EQ(error_in(nested("{", "", "", 100'000)),
            "TL3019 5:1001 loops are nested more than 1000 levels deep");
  std::string lets;
  for (int i = 0; i < 2000; ++i) lets += fmt::format("let x{}: int32 = 1\n", i);
  EXPECT_EQ(error_in(lets),
            "TL3019 2004:21 loops and allocations are nested more than 1000 levels deep");
}

TEST(ParseErrors, OfLongTexts) {
  EXPECT_EQ(error_of(std::string((size_t{1} << 24) + 1, ' ')),
            "TL6001 1:0 the text has 16777217 bytes, more than 16777216");
  EXPECT_EQ(error_in(std::string(100, 'a')),
            "TL6001 5:1 expected a statement, found '" + std::string(40, 'a') + "...'");
}

// Only the part of a long line around the caret is shown; tabs stay tabs.
TEST(ParseErrors, ShowPartOfALongLine) {
  const auto shown = [](const std::string& text) {
    try {
      parse_program(text, "p.tl");
    } catch (const UserError& error) {
      const std::string all = error.what();
      const size_t begin = all.find("   |");
      return all.substr(begin, all.find("  help") - begin);
    }
    return std::string();
  };
  EXPECT_EQ(shown("\tprogram\t+"), "   |  program\t+\n   |         \t^\n");
  EXPECT_EQ(shown(std::string(300, ' ') + "program p " + std::string(200, 'x') + " stage"),
            "   |  program p " + std::string(90, 'x') + "\n   |            ^\n");
  EXPECT_EQ(shown("program " + std::string(200, 'x') + " +=" + std::string(200, '+')),
            "   |  " + std::string(49, 'x') + " +=" + std::string(48, '+') + "\n   |  " +
                std::string(50, ' ') + "^\n");
}

// All broken rules are reported.
TEST(ParseErrors, OfRules) {
  try {
    parse_program("program p stage=loops\nparam A: global float32[8]\nA[8] = 1.0\nA[9] = 1.0\n",
                  "p.tl");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_STREQ(
        error.what(),
        "error[TL6003]: A[8] = 1.0: 8 is not proven to lie in 0..8 of A\n"
        "  --> p.tl:3\n"
        "   |  A[8] = 1.0\n"
        "  help: keep the rule 'bounds' of this stage, which src/ir/verify/verify.h explains\n"
        "error[TL6003]: A[9] = 1.0: 9 is not proven to lie in 0..8 of A\n"
        "  --> p.tl:4\n"
        "   |  A[9] = 1.0\n"
        "  help: keep the rule 'bounds' of this stage, which src/ir/verify/verify.h explains");
  }
}

}  // namespace
}  // namespace texloom::ir
