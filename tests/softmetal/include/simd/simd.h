#pragma once
#include <softmetal/macros.h>
