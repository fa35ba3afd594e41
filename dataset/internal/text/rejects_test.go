package text

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/source"
	"halfspace/internal/require"
)

// soundFile returns a file of two numbers and a text, whose rejects are left out.
func soundFile(g grammar) *CSV {
	g.skipsBroken = true
	f := CsvFile{path: "a.csv", dialect: dialect{grammar: g, names: []string{"a", "b", "c"}}, place: []int{0, 1, 2}, bound: make([]column.Column, 3), nulls: newNullWords(nil)}
	types := []arrow.DataType{arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Float64, arrow.BinaryTypes.String}
	in := &CSV{CsvFiles: []CsvFile{f}, Input: source.Input{Roles: &column.Roles{}}}
	for k, t := range types {
		in.Roles.Columns = append(in.Roles.Columns, column.Column{Name: f.names[k], Type: t})
	}
	return in
}

// foundIn returns the rows and the rejects of a text that is read in chunks of a size. Each is described by a line.
func foundIn(t testing.TB, in *CSV, text []byte, size int) (rows []string, rejects []column.Reject) {
	t.Helper()
	f := in.CsvFiles[0]
	var chunks []Chunk
	c := &chunker{r: bytes.NewReader(text), at: f.Breaks(), size: size, most: maxRecord, line: 1}
	for {
		ch, err := c.next()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		ch.first = false // no header
		chunks = append(chunks, ch)
		_, more, err := in.check(context.Background(), &f, ch, func(int, int64, []byte) {})
		require.NoError(t, err)
		rejects = append(rejects, more...)
	}
	for _, r := range rejects {
		f.out = append(f.out, r.Lines)
	}
	for _, ch := range chunks {
		s, out := f.rowsOf(ch), column.From(f.out, ch.line)
		for s.next(&out) {
			line := s.line
			n := 0
			var fields []string
			for ; s.more; n++ {
				text, _, err := s.field()
				require.NoError(t, err)
				fields = append(fields, string(text))
			}
			rows = append(rows, fmt.Sprintf("%d %q", line, fields))
			if n != 3 {
				t.Fatalf("%q: line %d has %d fields", text, line, n)
			}
		}
	}
	return rows, rejects
}

// brokenText returns records, some of which can't be read.
func brokenText(r *rand.Rand) []byte {
	var text []byte
	for range r.IntN(30) {
		switch r.IntN(6) {
		case 0:
			for range r.IntN(12) {
				text = append(text, "1,\"\n\rx# "[r.IntN(8)])
			}
			text = append(text, "\n"[r.IntN(2):]...)
		case 1:
			text = append(text, "7,0.5,\"two\nlines\"\"\"\n"...)
		default:
			text = fmt.Appendf(text, "%d,%d.5,t%d\n", r.IntN(9), r.IntN(9), r.IntN(9))
		}
	}
	return text
}

// sameInChunks checks that the rows and the rejects of a text don't depend on the chunks, and that both together are all lines.
func sameInChunks(t testing.TB, text []byte) {
	t.Helper()
	if endsInCR(text) || bytes.HasPrefix(text, ByteOrderMark) {
		return
	}
	for _, g := range []grammar{delimited(','), {Comma: ',', quote: '\''}, {Comma: blanks, quote: '"'}, {Comma: ',', quote: '"', comments: true}, {Comma: ',', quote: '"', width: 3}} {
		in := soundFile(g)
		rows, rejects := foundIn(t, in, text, 1<<12)
		for _, size := range []int{1, 5, 64} {
			others, left := foundIn(t, in, text, size)
			if !slices.Equal(rows, others) || fmt.Sprint(rejects) != fmt.Sprint(left) {
				t.Fatalf("%q, %+v in chunks of %d:\n%q, %+v, want\n%q, %+v", text, g, size, others, left, rows, rejects)
			}
		}
		last := int64(0)
		for _, r := range rejects {
			lines := bytes.Join(bytes.SplitAfter(text, []byte{'\n'})[r.First-1:r.Last], nil)
			if lines = bytes.TrimSuffix(bytes.TrimSuffix(lines, []byte{'\n'}), []byte{'\r'}); r.First <= last || string(lines) != r.Text || r.Reason == "" {
				t.Fatalf("%q: reject %+v after line %d, whose lines are %q", text, r, last, lines)
			}
			last = r.Last
		}
	}
}

// TestRejectsInChunks: the lines that can't be read don't depend on the pieces in which a file is read.
func TestRejectsInChunks(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for range 2000 {
		sameInChunks(t, brokenText(r))
	}
}

// FuzzRejects: the same for any text.
func FuzzRejects(f *testing.F) {
	for _, text := range []string{"1,2,x\n", "1,\"2\n3,4,y\n", "1,2,\"a\nb\"\n1,2\n", "1,2,a\"b\n'1',2,3\n", "#1,\"2\n1,2,x", "x,2,3\r\n\"1\" ,2,\"\"\"\"\r\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) { sameInChunks(t, text) })
}

// TestLongQuotes: quotes that stay open for longer than longestRecord are one broken line.
func TestLongQuotes(t *testing.T) {
	line := []byte("1,2.5,word\n")
	for _, n := range []int{1000, 2 * longestRecord / len(line)} {
		text := slices.Concat([]byte("1,2.5,\"open\n"), bytes.Repeat(line, n), []byte("1,2.5,\"closed\"\n"))
		for _, size := range []int{64 << 10, 1 << 20} {
			rows, rejects := foundIn(t, soundFile(delimited(',')), text, size)
			if len(rows) != n+1 || len(rejects) != 1 || rejects[0].First != 1 || rejects[0].Text != "1,2.5,\"open" {
				t.Errorf("%d lines in chunks of %d: %d rows, rejects %+v", n, size, len(rows), rejects)
			}
		}
	}
}

// TestWithoutAdvice: the reason of a reject is the text of the error before its advice.
func TestWithoutAdvice(t *testing.T) {
	for text, want := range map[string]string{
		`column "a: \" b": "x: y" is not a number: correct it: now`: `column "a: \" b": "x: y" is not a number`,
		"the line is no JSON object: mend it":                       "the line is no JSON object",
		"index 3 follows 4: sort":                                   "index 3 follows 4",
		"no advice":                                                 "no advice",
	} {
		if got := withoutAdvice(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
