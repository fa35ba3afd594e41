package microkernel

import (
	"slices"

	"halfspace/kernel"
)

// avx512Forms are the functions of package asm/avx512. At level AVX512 the other functions run the code of asm/avx2.
var avx512Forms = []string{"Bounds", "BoundsWeighted", "Exp", "Load", "Log1p", "Logistic", "Pack", "Peak", "RankKUpdate", "Sigmoid", "Stream", "Tile"}

// noNEONForms are the functions that asm/neon lacks. At level NEON these functions run pure Go.
var noNEONForms = []string{"CopyNonTemporal", "Fence"}

// Form returns the instruction set of the code that functions of package asm run at the active level. If the functions
// differ, it returns the widest. The names are the names of package asm without the element type, such as Dot.
func Form(functions ...string) kernel.Level {
	form := kernel.Generic
	for _, f := range functions {
		level := kernel.Active()
		switch {
		case level == kernel.AVX512 && !slices.Contains(avx512Forms, f):
			level = kernel.AVX2
		case level == kernel.NEON && slices.Contains(noNEONForms, f):
			level = kernel.Generic
		}
		form = max(form, level)
	}
	return form
}
