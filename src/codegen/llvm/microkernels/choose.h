// MMT4D_CHOOSE(flag, yes, no) expands to `yes` if the macro `flag` is defined as 1, otherwise to
// `no`. The build defines MMT4D_THIS_<target> for the targets that a file is about.
#ifndef TEXLOOM_CODEGEN_LLVM_MICROKERNELS_CHOOSE_H_
#define TEXLOOM_CODEGEN_LLVM_MICROKERNELS_CHOOSE_H_

#define MMT4D_CHOOSE(flag, yes, no) MMT4D_CHOOSE_(flag, yes, no)
#define MMT4D_CHOOSE_(value, yes, no) MMT4D_SECOND(MMT4D_COMMA_##value yes, no, )
#define MMT4D_COMMA_1 ,
#define MMT4D_SECOND(...) MMT4D_SECOND_(__VA_ARGS__)
#define MMT4D_SECOND_(first, second, ...) second

#endif  // TEXLOOM_CODEGEN_LLVM_MICROKERNELS_CHOOSE_H_
