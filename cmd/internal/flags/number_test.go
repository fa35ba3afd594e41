package flags

import (
	"testing"

	"github.com/spf13/cobra"

	"halfspace/internal/decimal"
)

// TestPlainNumbers compares the flags of each type with the grammar of numbers, and their values with those of package decimal.
func TestPlainNumbers(t *testing.T) {
	cmd := new(cobra.Command)
	f := cmd.Flags()
	real, whole, long, seed := f.Float64("real", 0, ""), f.Int("whole", 0, ""), f.Int64("long", 0, ""), f.Uint64("seed", 0, "")
	PlainNumbers(cmd)
	for text := range decimal.Texts(3, 20_000) {
		want, _ := decimal.Parse(text)
		if err := f.Set("real", text); (err == nil) != decimal.IsNumber(text) || err == nil && want == want && *real != want {
			t.Fatalf("--real %s is %v, %v, want %v", text, *real, err, want)
		}
		for name, got := range map[string]func() float64{"whole": func() float64 { return float64(*whole) }, "long": func() float64 { return float64(*long) }, "seed": func() float64 { return float64(*seed) }} {
			if err := f.Set(name, text); err == nil && (!decimal.IsNumber(text) || got() != want) {
				t.Fatalf("--%s %s is %v, want %v", name, text, got(), want)
			}
		}
	}
	for text, want := range map[string]int{"010": 10, "0": 0, "-0": 0, "+7": 7, "-7": -7, "000": 0} {
		if err := f.Set("whole", text); err != nil || *whole != want {
			t.Errorf("--whole %s is %d, %v, want %d", text, *whole, err, want)
		}
	}
	for _, text := range []string{"1_000", "0x10", "0b1", "0o7", "", "-", "1.5", "1e3"} {
		if f.Set("whole", text) == nil {
			t.Errorf("--whole %q is %d", text, *whole)
		}
	}
}
