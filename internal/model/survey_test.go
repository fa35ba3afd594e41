package model

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
)

// allocated returns how many bytes f allocates in all.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestReadBoundsMakings: a short text that stands for much is refused, also with the right checksum, before anything is made of it.
func TestReadBoundsMakings(t *testing.T) {
	const times = 3 << 18
	for _, c := range []struct{ from, to, part string }{
		{`"dtype"`, `"preprocessing": {"columns": [%s{}]}, "dtype"`, "{},"},
		{`"dtype"`, `"training": {"dependent": [%s{}]}, "dtype"`, "{},"},
		{"[0, 1]", "[%s1]", "1,"},
		{"[[1, 2]]", "[%s[]]", "[],[],[],"},
		{"[[1, 2]]", "[[%s1]]", "1,1,1,1,"},
		{`["a", "b"]`, "[%s1]", `"","","","","","",`},
		{"[3]", "[%s3]", "["},
	} {
		text := sign(strings.Replace(small, c.from, fmt.Sprintf(c.to, strings.Repeat(c.part, times)), 1))
		var err error
		bytes := allocated(func() { _, err = Read(io.MultiReader(strings.NewReader(text))) })
		if err == nil || len(err.Error()) > 200 || bytes > uint64(4*len(text)) {
			t.Errorf("%s: %d bytes for a text of %d, error %.200v", c.part, bytes, len(text), err)
		}
	}
}

// TestReadsLarge: a large sound model takes a small multiple of its file.
func TestReadsLarge(t *testing.T) {
	m := textbook()
	const features = 1 << 15
	m.Features, m.Weights = make([]string, features), [][]float64{make([]float64, features)}
	for i := range m.Features {
		m.Features[i], m.Weights[0][i] = fmt.Sprint("x", i), float64(1/float32(i+1))
	}
	text := encode(t, m)
	var back *Model
	var err error
	if n := allocated(func() { back, err = Read(bytes.NewReader(text)) }); err != nil || n > uint64(10*len(text)) {
		t.Errorf("%d bytes for a file of %d, error %v", n, len(text), err)
	} else if back.Weights[0][features-1] != m.Weights[0][features-1] {
		t.Error("another weight")
	} else {
		t.Logf("%d bytes for a file of %d", n, len(text))
	}
}
