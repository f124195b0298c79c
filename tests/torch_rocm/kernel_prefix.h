// The first header of every kernel file, compiled once for the host and once for each target.
#include <ATen/Dispatch.h>
#include <ATen/core/Tensor.h>
#include <ATen/hip/HIPContext.h>
#include <ATen/native/TensorIterator.h>
#include <ATen/native/hip/Loops.cuh>
