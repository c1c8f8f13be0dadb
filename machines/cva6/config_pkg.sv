// SPDX-License-Identifier: BSD-2-Clause
//
// The core's configuration: the package's cv64a6_imafdc_sv39 without the floating-point unit, whose
// divider is a submodule that the package lacks, and without the port for coprocessors.
package cva6_config_pkg;
  localparam CVA6ConfigXlen = 64;
  localparam CVA6ConfigFpuEn = 0;
  localparam CVA6ConfigF16En = 0;
  localparam CVA6ConfigF16AltEn = 0;
  localparam CVA6ConfigF8En = 0;
  localparam CVA6ConfigFVecEn = 0;
  localparam CVA6ConfigCvxifEn = 0;
  localparam CVA6ConfigCExtEn = 1;
  localparam CVA6ConfigAExtEn = 1;
  localparam CVA6ConfigFetchUserEn = 0;
  localparam CVA6ConfigFetchUserWidth = CVA6ConfigXlen;
  localparam CVA6ConfigDataUserEn = 0;
  localparam CVA6ConfigDataUserWidth = CVA6ConfigXlen;
  localparam CVA6ConfigRenameEn = 0;
endpackage
