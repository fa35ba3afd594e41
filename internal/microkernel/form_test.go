package microkernel

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"testing"

	"halfspace/kernel"
)

// TestForms: the lists of functions are those that the packages of assembly declare.
func TestForms(t *testing.T) {
	avx2, avx512, neon := declared(t, "avx2/stubs_amd64.go"), declared(t, "avx512/stubs_amd64.go"), declared(t, "neon/stubs_arm64.go")
	if got := slices.Sorted(maps.Keys(avx512)); !slices.Equal(got, avx512Forms) {
		t.Errorf("asm/avx512 has %q, and the list %q", got, avx512Forms)
	}
	maps.DeleteFunc(avx2, func(f string, _ bool) bool { return neon[f] })
	if got := slices.Sorted(maps.Keys(avx2)); !slices.Equal(got, noNEONForms) {
		t.Errorf("asm/neon lacks %q, and the list has %q", got, noNEONForms)
	}
	for _, f := range avx512Forms {
		if !declared(t, "avx2/stubs_amd64.go")[f] {
			t.Errorf("asm/avx2 lacks %s", f)
		}
	}
}

// TestForm: a function without a form for AVX-512 runs that for AVX2, unless the level is below.
func TestForm(t *testing.T) {
	defer kernel.Use(kernel.Active())
	for _, l := range kernel.Levels() {
		kernel.Use(l)
		narrow := l
		if l == kernel.AVX512 {
			narrow = kernel.AVX2
		}
		if Form("Dot") != narrow || Form("Dot", "Tile") != l || Form() != kernel.Generic {
			t.Errorf("at %s: Dot %s, Dot and Tile %s, none %s", l, Form("Dot"), Form("Dot", "Tile"), Form())
		}
	}
}

// declared returns the functions that a file declares, without the suffix of the element type.
func declared(t *testing.T, file string) map[string]bool {
	t.Helper()
	text, err := os.ReadFile("../../asm/" + file)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^func (\w+)F(32|64)\(`).FindAllStringSubmatch(string(text), -1) {
		names[m[1]] = true
	}
	if len(names) < 5 {
		t.Fatalf("%s declares %d functions", file, len(names))
	}
	return names
}
