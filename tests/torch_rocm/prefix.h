// The first header of every C++ file, compiled once. <format> must come before HIP's, whose
// __noinline__ macro breaks it.
#include <format>
#include <functional>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

#include <c10/core/Allocator.h>
#include <c10/core/TensorImpl.h>
#include <c10/hip/HIPStream.h>
#include <c10/util/irange.h>

#include <ATen/Context.h>
#include <ATen/TensorUtils.h>
#include <ATen/core/Tensor.h>
#include <ATen/hip/HIPContext.h>
