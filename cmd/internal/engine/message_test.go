package engine

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestMessages: a message is read as it was written. One that is cut, or that claims sizes beyond its bytes, is an error and takes no memory.
func TestMessages(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var m message
		for range 1 + rng.IntN(4) {
			text := make([]byte, rng.IntN(3)*rng.IntN(1<<21))
			for i := range text {
				text[i] = byte(rng.Uint32())
			}
			m = append(m, text)
		}
		var b bytes.Buffer
		if err := writeMessage(&b, m); err != nil {
			t.Fatal(err)
		}
		whole := b.Bytes()
		got, err := readMessage(bytes.NewReader(whole))
		if err != nil || !slices.EqualFunc(got, m, bytes.Equal) {
			t.Fatalf("got %d texts, error %v", len(got), err)
		}
		if _, err := readMessage(bytes.NewReader(whole[:rng.IntN(len(whole))])); err == nil {
			t.Error("a cut message was read")
		}
	}
	for _, sizes := range [][]byte{binary.LittleEndian.AppendUint32(nil, 0), binary.LittleEndian.AppendUint32(nil, 1<<31),
		append(binary.LittleEndian.AppendUint32(nil, 1), bytes.Repeat([]byte{255}, 8)...),
		append(binary.LittleEndian.AppendUint32(nil, 1), 0, 0, 0, 0, 128, 0, 0, 0, 1, 2, 3)} {
		if m, err := readMessage(bytes.NewReader(sizes)); err == nil {
			t.Errorf("%v: %q", sizes, m)
		}
	}
}
