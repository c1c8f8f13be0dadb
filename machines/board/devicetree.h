// SPDX-License-Identifier: BSD-2-Clause
//
// The flattened device tree that an image finds in a1: what this machine has, and the image's
// arguments.
#ifndef DEVICETREE_H
#define DEVICETREE_H

#include <cstdint>
#include <string>
#include <vector>

#include "core.h"

namespace board {

std::vector<uint8_t> device_tree(const Description &core, const std::string &bootargs,
                                 uint64_t ram_bytes);

} // namespace board

#endif
