package cluster

import (
	"errors"
	"math/rand/v2"
	"os"
	"testing"
)

// TestSealed: a sealed file gives back its text. With any bit flipped, cut anywhere, or under the name of another file, it is damaged.
func TestSealed(t *testing.T) {
	f, err := newFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 40 {
		text := make([]byte, n)
		for i := range text {
			text[i] = byte(rng.Uint32())
		}
		if err := f.write(t.Context(), "pass/order", text); err != nil {
			t.Fatal(err)
		}
		path := f.path("pass/order")
		if back, err := readSealed(t.Context(), path); err != nil || string(back) != string(text) {
			t.Fatalf("%q gives %q, %v", text, back, err)
		}
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		damaged := func(name string, bytes []byte) {
			t.Helper()
			if err := os.WriteFile(f.path(name), bytes, 0o600); err != nil {
				t.Fatal(err)
			}
			if back, err := readSealed(t.Context(), f.path(name)); err == nil {
				t.Errorf("%d bytes of text: damage gives %q", n, back)
			}
		}
		bit := rng.IntN(8 * len(whole))
		flipped := append([]byte(nil), whole...)
		flipped[bit/8] ^= 1 << (bit % 8)
		damaged("pass/order", flipped)
		damaged("pass/order", whole[:rng.IntN(len(whole))])
		damaged("pass/another", whole)
	}
}

// TestResults: an error of a task comes back as such, and results of no byte do too.
func TestResults(t *testing.T) {
	f, err := newFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for piece, want := range []string{"", "no", "ok and more"} {
		if err := writeResult(t.Context(), f.path("p"), int64(piece), []byte(want), nil); err != nil {
			t.Fatal(err)
		}
		if got, err := f.result(t.Context(), "p", int64(piece)); err != nil || string(got) != want {
			t.Errorf("%q gives %q, %v", want, got, err)
		}
	}
	if err := writeResult(t.Context(), f.path("p"), 9, nil, errors.New("the disk")); err != nil {
		t.Fatal(err)
	}
	if _, err := f.result(t.Context(), "p", 9); !errors.As(err, new(taskError)) || err.Error() != "the disk" {
		t.Errorf("got %v", err)
	}
}

// TestHasOtherWorker: an error of a piece is asked for again where another process may compute it.
func TestHasOtherWorker(t *testing.T) {
	for _, c := range []struct {
		opt  Options
		want bool
	}{{Options{Runner: "prism"}, false}, {Options{Runner: "PrismRunner"}, false}, {Options{Runner: "flink"}, true}, {Options{Runner: "universal", Pools: []string{"a"}}, false},
		{Options{Runner: "universal", Pools: []string{"a", "b"}}, true}} {
		if got := c.opt.hasOtherWorker(); got != c.want {
			t.Errorf("%+v: %v", c.opt, got)
		}
	}
}

// TestUnwritten: a bucket where no file could be written gives one error, not another at the end.
func TestUnwritten(t *testing.T) {
	f, err := newFolder("none://bucket/folder")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.write(t.Context(), "pass/order", nil); err == nil {
		t.Fatal("a file was written to no store")
	}
	if err := f.remove(t.Context(), ""); err != nil {
		t.Errorf("a second error: %v", err)
	}
}
