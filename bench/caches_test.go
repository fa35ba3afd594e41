package bench

import "testing"

// TestLevel: each size lies in the smallest cache that holds it.
func TestLevel(t *testing.T) {
	c := Caches{L1: 48 << 10, L2: 2 << 20, L3: 260 << 20}
	for bytes, want := range map[int]string{1: "L1", 48 << 10: "L1", 49 << 10: "L2", 2 << 20: "L2", 3 << 20: "L3", 130 << 20: "L3", 131 << 20: "DRAM"} {
		if got := c.Level(bytes); got != want {
			t.Errorf("%d bytes lie in %s, want %s", bytes, got, want)
		}
	}
	l := Rates{L1: 4, L2: 3, L3: 2, DRAM: 1}
	if l.Bandwidth("L1") != 4 || l.Bandwidth("L2") != 3 || l.Bandwidth("L3") != 2 || l.Bandwidth("DRAM") != 1 {
		t.Errorf("bandwidths of %+v", l)
	}
}

// TestArrays: each array is larger than the caches below its level and lies in its own, on processors from 256 KiB of L2
// to 260 MiB of L3.
func TestArrays(t *testing.T) {
	for _, c := range []Caches{{32 << 10, 256 << 10, 8 << 20}, {32 << 10, 512 << 10, 32 << 20}, {48 << 10, 2 << 20, 260 << 20}, {128 << 10, 12 << 20, 24 << 20}, DetectedCaches()} {
		for _, cores := range []int{1, 2, 64} {
			a := c.arrays(cores)
			if a[0] > c.L1 || a[1] <= c.L1 || a[1] > c.L2 || a[2] <= c.L2 || cores == 1 && a[2] > c.L3 || cores*(a[3]>>20) < 2*c.L3>>20 || a[3]%partBytes != 0 || cores*(a[3]>>20) > 2048 {
				t.Errorf("%+v, %d cores: arrays of %d bytes", c, cores, a)
			}
		}
	}
}
