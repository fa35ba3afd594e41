package text

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/source"
	"halfspace/internal/require"
	"halfspace/schema"
)

func allRecords(c Chunk) (all [][]string, err error) { return recordsOf(c, delimited(',')) }

func recordsOf(c Chunk, g grammar) (all [][]string, err error) {
	for fields, err := range records(c, g) {
		if err != nil {
			return all, err
		}
		var r []string
		for _, f := range fields {
			r = append(r, f.text)
		}
		all = append(all, r)
	}
	return all, nil
}

// FuzzScanner holds the scanner against encoding/csv, which takes no blanks away and makes \r\n in quotes a \n.
func FuzzScanner(f *testing.F) {
	for _, text := range []string{"a,b\n1,2\n", "\"a\"\"b\",\n", "\"a\nb\",c\n\n\nd", "a\"b", "\"a\"b", "\"", ",,\n,", "\"\"\"\""} {
		f.Add(text, true)
		f.Add(text, false)
	}
	f.Fuzz(func(t *testing.T, text string, crlf bool) {
		text = strings.NewReplacer("\r", "", " ", "", "\t", "").Replace(text)
		if crlf {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
		r := csv.NewReader(strings.NewReader(text))
		r.FieldsPerRecord = -1
		want, wantErr := r.ReadAll()
		got, err := allRecords(Chunk{Text: []byte(text), line: 1})
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%q: %v, want %v", text, err, wantErr)
		}
		if err != nil {
			return
		}
		for _, record := range got {
			for i, field := range record {
				record[i] = strings.ReplaceAll(field, "\r\n", "\n")
			}
		}
		if !slices.EqualFunc(got, want, slices.Equal[[]string]) {
			t.Fatalf("%q:\n%q, want\n%q", text, got, want)
		}
	})
}

// FuzzNumber holds numbers against strconv, and their grammar against a regular expression.
func FuzzNumber(f *testing.F) {
	for _, text := range []string{"0", "-0", "1.5", "+.5e-3", "5.", ".", "", "-", "e1", "1e", "1e400", "9007199254740993",
		"0.1e22", "123456789012345678901234567890", "1_0", "0x1p-2", "inf", "9007199254740992e22", "1e0001", "9223372036854775807",
		"-9223372036854775808", "9223372036854775808", "-00", "+7"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { checkNumber(t, text) })
}

func checkNumber(t *testing.T, text string) {
	t.Helper()
	got, err := parseNumber([]byte(text))
	want, wantErr := strconv.ParseFloat(text, 64)
	if !require.IsNumber(text) {
		wantErr = strconv.ErrSyntax
	}
	if (err == nil) != (wantErr == nil) || err == nil && math.Float64bits(got) != math.Float64bits(want) {
		t.Fatalf("%q: %v, %v, want %v, %v", text, got, err, want, wantErr)
	}
	whole, ok := parseInteger([]byte(text))
	wantWhole, err2 := strconv.ParseInt(text, 10, 64)
	if ok && (err2 != nil || whole != wantWhole) || !ok && err2 == nil && wantWhole != 0 || ok && math.Signbit(got) != (whole < 0) {
		t.Fatalf("%q: the integer %v, %v, want %v, %v", text, whole, ok, wantWhole, err2)
	}
	if errors.Is(wantErr, strconv.ErrRange) == (err == errNoNumber) && wantErr != nil {
		t.Fatalf("%q: %v, want %v", text, err, wantErr)
	}
}

func TestNumbers(t *testing.T) {
	n := 200_000
	if require.Small() {
		n = 20_000
	}
	for text := range require.Texts(2, n/2) {
		checkNumber(t, text)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for range n {
		v := math.Float64frombits(rng.Uint64())
		checkNumber(t, strconv.FormatFloat(v, "efg"[rng.IntN(3)], -1, 64))
		checkNumber(t, strconv.FormatInt(int64(rng.Uint64())>>rng.IntN(64), 10))
		checkNumber(t, strconv.FormatFloat(rng.NormFloat64(), 'f', rng.IntN(20), 64))
		checkNumber(t, fmt.Sprintf("%d.%de%d", rng.IntN(1e9), rng.IntN(1e9), rng.IntN(60)-30))
	}
}

// TestPairs compares the values of a line of svmlight with those of strconv, or requires an error for both.
func TestPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	in := &Svmlight{}
	in.read(&column.Roles{Columns: []column.Column{{Index: 1, NumberedFeatures: 9_999_999}}, Label: -1, Weight: -1}, 9_999_999)
	check := func(text string) {
		t.Helper()
		index := 1 + rng.IntN(9_999_999)>>rng.IntN(24)
		for _, line := range []string{fmt.Sprintf("1 %d:%s", index, text), fmt.Sprintf("1 %d:%s 9999999:1", index, text)} {
			rows := &column.Pairs{Ends: []int32{0}, Index: make([]int32, 0, 9), Value: make([]float64, 0, 9)}
			behind := []string{"", "\n" + strings.Repeat("7", 50)}[rng.IntN(2)] // so that pairs are read one by one, or not
			err := in.row([]byte(line + behind)[:len(line)], rows)
			want, wantErr := strconv.ParseFloat(text, 64)
			if !require.IsNumber(text) {
				wantErr = strconv.ErrSyntax
			}
			if (err == nil) != (wantErr == nil) {
				t.Fatalf("%q: %v, want %v", line, err, wantErr)
			}
			if err == nil && (math.Float64bits(rows.Value[0]) != math.Float64bits(want) || int(rows.Index[0]) != index-1) {
				t.Fatalf("%q: the pairs %v %v", line, rows.Index, rows.Value)
			}
		}
	}
	for text := range require.Texts(3, 10_000) {
		if !strings.ContainsAny(text, "# \t\r\n\v\f") {
			check(text)
		}
	}
	for range 10_000 {
		v := rng.NormFloat64()
		check(strconv.FormatFloat(v, "efg"[rng.IntN(3)], rng.IntN(20)-1, 64))
		check(strconv.Itoa(rng.IntN(1e9) >> rng.IntN(30)))
		check(fmt.Sprint("0.", 0x7fffffffffffffff&rng.Int64()>>rng.IntN(60)))
	}
	for _, text := range []string{"0.", "-0.", "0.9007199254740992", "0.9007199254740993", "0.00000000000000001", "-0", "1.", ".5", "0.1234567/", "0.12:45678"} {
		check(text)
	}
}

// endless repeats a text.
type endless string

func (e endless) Read(p []byte) (int, error) {
	return copy(p, strings.Repeat(string(e), len(p)/len(e)+1)), nil
}

// TestOldMac: carriage returns alone end lines, and are seen before much was read.
func TestOldMac(t *testing.T) {
	c := &chunker{r: endless("1,2\r"), path: "a.csv", at: Breaks{Quote: '"'}, size: HeadBytes, most: maxRecord, line: 1}
	for range 2 {
		ch, err := c.next()
		if text := string(ch.Text); err != nil || text != strings.Repeat("1,2\n", len(text)/4) {
			t.Errorf("%q, %v", text, err)
		}
	}
}

// TestChunks: wherever text is cut, the records are the same.
func TestChunks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 300 {
		var text []byte
		g := delimited(',')
		g.comments = n%3 == 0
		for range rng.IntN(400) {
			if g.comments && rng.IntN(3) == 0 {
				text = append(text, "\n# 5\" x\n"...)
			}
			text = append(text, `ab,""`+"\n\n\r"[rng.IntN(3):][:1]...)
			text = append(text, []string{"a", ",", "\n", "\"x\ny\"", ",\"\"\"\n\"", "\r\n"}[rng.IntN(6)]...)
		}
		if endsInCR(text) {
			continue
		}
		want, wantErr := recordsOf(Chunk{Text: text, line: 1}, g)
		for _, size := range []int{1, 7, 64, 1000} {
			var got [][]string
			var gotErr error
			c := &chunker{r: bytes.NewReader(text), at: Breaks{Quote: '"', Comments: g.comments}, size: size, most: maxRecord, line: 1}
			for gotErr == nil {
				ch, err := c.next()
				if err == io.EOF {
					break
				}
				require.NoError(t, err)
				var part [][]string
				part, gotErr = recordsOf(ch, g)
				got = append(got, part...)
			}
			if fmt.Sprint(got, gotErr) != fmt.Sprint(want, wantErr) {
				t.Fatalf("%q in chunks of %d:\n%q, %v, want\n%q, %v", text, size, got, gotErr, want, wantErr)
			}
		}
	}
}

// TestEnds: finding the dialect and the columns of a file, and reading its records, end with the context.
func TestEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := Chunk{Text: []byte("a,b\n1,2\n"), line: 1, first: true}
	f := CsvFile{path: "x.csv", dialect: dialect{grammar: delimited(','), Header: true, names: []string{"a", "b"}}, nulls: newNullWords(nil), place: []int{0, 1}, bound: make([]column.Column, 2)}
	in := &CSV{CsvFiles: []CsvFile{f}, Input: source.Input{Roles: &column.Roles{Columns: []column.Column{{Type: arrow.PrimitiveTypes.Float64}, {Type: arrow.PrimitiveTypes.Float64}}}}}
	for what, try := range map[string]func(ctx context.Context) error{
		"detect": func(ctx context.Context) error { _, err := detect(ctx, f.path, c, Options{}); return err },
		"guess":  func(ctx context.Context) error { _, err := f.guesses(ctx, c); return err },
		"parse":  func(ctx context.Context) error { _, err := in.parse(ctx, &in.CsvFiles[0], c); return err },
	} {
		if err := try(t.Context()); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if err := try(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v after the end", what, err)
		}
	}
}

// TestWideLines: dense batches of svmlight lines have several rows, however many columns there are.
func TestWideLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.svm")
	require.NoError(t, os.WriteFile(path, bytes.Repeat([]byte("1 1:2\n"), 2*leastDense), 0o600))
	src := require.Value(source.NewFile(t.Context(), path, nil, 0))(t)
	in := &Svmlight{Input: source.Input{Files: []*source.File{src}}}
	chosen := &column.Roles{Columns: make([]column.Column, schema.MaxFeatures), Label: -1, Weight: -1}
	for i := range chosen.Columns {
		chosen.Columns[i].Index = i
	}
	in.read(chosen, len(chosen.Columns)-1)
	batches := 0
	for b, err := range in.Batches(t.Context(), column.NewPool(1), memory.DefaultAllocator) {
		require.NoError(t, err)
		b.Release()
		batches++
	}
	if batches != 2 {
		t.Errorf("%d batches of %d lines, want 2", batches, 2*leastDense)
	}
}

// TestUnquoted compares the ends of long fields with those of a loop over the bytes.
func TestUnquoted(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		text := make([]byte, rng.IntN(80))
		for i := range text {
			text[i] = `aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa,"`[rng.IntN(33)]
			if rng.IntN(40) == 0 {
				text[i] = '\n'
			}
		}
		s := scanner{text: text, grammar: delimited(',')}
		for at := 0; at <= len(text); at += 1 + rng.IntN(30) {
			want, quotes := at, 0
			for ; want < len(text) && text[want] != ',' && text[want] != '\n'; want++ {
				if text[want] == '"' {
					quotes++
				}
			}
			if end, n := s.unquoted(at); end != want || n != quotes {
				t.Fatalf("%q from %d: end %d, %d quotes, want %d, %d", text, at, end, n, want, quotes)
			}
		}
	}
}
