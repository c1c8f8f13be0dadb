// SPDX-License-Identifier: BSD-2-Clause
//
// Where a hart's signals are in the model: each hart is a tile with its caches, and Verilator names
// the first without a number.
#ifndef TILE_H
#define TILE_H

#include "Vrocket___024root.h"

#define TILE_OF(root, domain, name) \
    (root).ExampleRocketSystem__DOT__##domain##__DOT__tile_reset_domain_tile__DOT__##name

#if ROCKET_HARTS == 1
#define TILE_SIGNAL(root, hart, name) TILE_OF(root, tile_prci_domain, name)
#else
#define TILE_SIGNAL(root, hart, name) \
    ((hart) == 0 ? TILE_OF(root, tile_prci_domain, name) : TILE_OF(root, tile_prci_domain_1, name))
#endif

#endif
