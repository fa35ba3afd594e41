package transform

import (
	"slices"
	"strings"
	"testing"

	"halfspace/schema"
)

// TestDictionaryFull: a dictionary tells that a text had no room. It doesn't if the text would have been left out anyway.
func TestDictionaryFull(t *testing.T) {
	d := &dictionary{texts: map[int][]string{}, room: 4 * (2 + textCost)}
	for _, text := range []string{"a1", "a2", "a3", "a4", "a1"} { // a4 is one more than a bucket has
		d.add(0, text)
	}
	d.add(1, strings.Repeat("x", schema.MaxTextBytes+1))
	d.add(1, "b1")
	d.add(1, "b1") // it is there, so it needs no room
	if d.full || !slices.Equal(d.texts[0], []string{"a1", "a2", "a3"}) || !slices.Equal(d.texts[1], []string{"b1"}) {
		t.Fatalf("full %v, texts %v", d.full, d.texts)
	}
	if d.add(1, "b2"); !d.full || len(d.texts[1]) != 1 {
		t.Errorf("full %v, texts %v", d.full, d.texts)
	}
}
