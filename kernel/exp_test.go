package kernel_test

import (
	"math"
	"testing"

	"halfspace/kernel"
)

// TestElementary calls the exported functions on every level, also with slices that are too short.
func TestElementary(t *testing.T) {
	best := kernel.Active()
	defer kernel.Use(best)
	for _, l := range kernel.Levels() {
		kernel.Use(l)
		t.Run(l.String()+"/f32", testElementary[float32])
		t.Run(l.String()+"/f64", testElementary[float64])
	}
}

func testElementary[T kernel.Float](t *testing.T) {
	for _, c := range []struct {
		name string
		call func(y, x []T)
		of   func(float64) float64
	}{
		{"Exp", kernel.Exp[T], math.Exp},
		{"Sigmoid", kernel.Sigmoid[T], func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }},
		{"Log1p", kernel.Log1p[T], math.Log1p},
	} {
		x, y := []T{-0.5, 0, 1, 2, 3}, []T{-7, -7, -7, -7, -7}
		if got := panicOf(func() { c.call(y[:4], x) }); got != "kernel: short y" {
			t.Errorf("%s: panic %q, want one for a short y", c.name, got)
		}
		if got := panicOf(func() { c.call(y, x[:4]) }); got != "kernel: short x" {
			t.Errorf("%s: panic %q, want one for a short x", c.name, got)
		}
		for _, v := range y {
			if v != -7 {
				t.Errorf("%s: y was written before the panic", c.name)
			}
		}
		c.call(y, x)
		c.call(nil, nil)
		for i, v := range x {
			want := c.of(float64(v))
			if diff := math.Abs(float64(y[i]) - want); diff > 0x1p-21*math.Abs(want) {
				t.Errorf("%s(%v) is %v, want %v", c.name, v, y[i], want)
			}
		}
		c.call(x, x)
		for i := range x {
			if x[i] != y[i] {
				t.Errorf("%s: element %d is %v in place, else %v", c.name, i, x[i], y[i])
			}
		}
	}
}
