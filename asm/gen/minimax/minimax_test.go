package main

import (
	"bytes"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"testing"
)

// TestCommitted: the committed files are those that this program writes.
func TestCommitted(t *testing.T) {
	files, err := files()
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range files {
		got, err := os.ReadFile(filepath.Join("..", "..", path))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s isn't what go run ./minimax .. writes", path)
		}
	}
}

// TestRemez solves a problem with a known solution: of the straight lines, x - 1/8 is the closest to x*x over [0, 1].
func TestRemez(t *testing.T) {
	p := problem{number(0), number(1), 2,
		func(x *big.Float) *big.Float { return mul(x, x) },
		func(*big.Float) *big.Float { return number(1) },
	}
	for i, want := range []float64{-0.125, 1} {
		if got, _ := p.remez()[i].Float64(); math.Abs(got-want) > 1e-12 {
			t.Errorf("coefficient %d is %g, want %g", i, got, want)
		}
	}
}

// TestFunctions compares the series with package math.
func TestFunctions(t *testing.T) {
	x := 0.3
	for _, c := range []struct {
		name string
		got  *big.Float
		want float64
	}{
		{"ln 2", ln2(), math.Ln2},
		{"exp", expTail(number(x), 0), math.Exp(x)},
		{"the tail of exp", expTail(number(x), 2), (math.Exp(x) - 1 - x) / (x * x)},
		{"the tail of atanh", atanhTail(number(x*x), 1), (math.Atanh(x)/x - 1) / (x * x)},
	} {
		if got, _ := c.got.Float64(); math.Abs(got-c.want) > 1e-14*c.want {
			t.Errorf("%s is %g, want %g", c.name, got, c.want)
		}
	}
}
