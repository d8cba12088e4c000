// The library as one precompiled header.
#pragma once

#include "entry.h"
#include "internals.h"
#include "pack.h"
#include "simd.h"
#include "simdgroup_matrix.h"
