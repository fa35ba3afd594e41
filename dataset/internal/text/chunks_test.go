package text

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

// endless repeats a text.
type endless string

func (e endless) Read(p []byte) (int, error) {
	return copy(p, strings.Repeat(string(e), len(p)/len(e)+1)), nil
}

// TestOldMac: carriage returns alone are seen before much was read.
func TestOldMac(t *testing.T) {
	c := &chunker{r: endless("1,2\r"), path: "a.csv", quotes: true, size: ChunkBytes, line: 1}
	_, err := c.next()
	const want = `a.csv: lines end in a carriage return alone, as on old Macs: convert them, as with tr '\r' '\n'`
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// TestChunks: wherever text is cut, the records are the same.
func TestChunks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var text []byte
		for range rng.IntN(400) {
			text = append(text, `ab,""`+"\n\n\r"[rng.IntN(3):][:1]...)
			text = append(text, []string{"a", ",", "\n", "\"x\ny\"", ",\"\"\"\n\"", "\r\n"}[rng.IntN(6)]...)
		}
		if endsInCR(text) {
			continue
		}
		want, wantErr := allRecords(Chunk{Text: text, line: 1})
		for _, size := range []int{1, 7, 64, 1000} {
			var got [][]string
			var gotErr error
			c := &chunker{r: bytes.NewReader(text), quotes: true, size: size, line: 1}
			for gotErr == nil {
				ch, err := c.next()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				var part [][]string
				part, gotErr = allRecords(ch)
				got = append(got, part...)
			}
			if fmt.Sprint(got, gotErr) != fmt.Sprint(want, wantErr) {
				t.Fatalf("%q in chunks of %d:\n%q, %v, want\n%q, %v", text, size, got, gotErr, want, wantErr)
			}
		}
	}
}
