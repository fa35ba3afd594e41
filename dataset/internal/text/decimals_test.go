package text

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/source"
	"halfspace/internal/require"
)

// parsed returns the values of records of two columns each, of integers and of numbers.
func parsed(t testing.TB, text string) (whole []string, numbers []float64, rounded bool, err error) {
	t.Helper()
	f := CsvFile{path: "x.csv", dialect: dialect{grammar: delimited(','), names: []string{"a", "b"}}, nulls: newNullWords(nil), place: []int{0, 1}}
	in := &CSV{CsvFiles: []CsvFile{f}, Input: source.Input{Roles: &column.Roles{}}}
	to := []cells{newCells(column.Column{Type: arrow.PrimitiveTypes.Int64}, bytes.Count([]byte(text), []byte{'\n'})+1, f.nulls), newCells(column.Column{Type: arrow.PrimitiveTypes.Float64}, bytes.Count([]byte(text), []byte{'\n'})+1, f.nulls)}
	_, err = in.parseCSV(t.Context(), &in.CsvFiles[0], Chunk{Text: []byte(text), line: 1}, to, &column.Batch{})
	for _, v := range to[0].whole {
		whole = append(whole, fmt.Sprint(v))
	}
	for _, v := range to[0].numbers {
		whole = append(whole, fmt.Sprint(v))
	}
	return whole, to[1].numbers, to[0].rounded || to[1].rounded, err
}

// checkRecords holds numbers, which kernel.Decimals reads where it can, against strconv: each is in a record of its own, in both columns, many
// bytes from both ends of the text.
func checkRecords(t *testing.T, texts []string) {
	t.Helper()
	pad := strings.Repeat("1,2\n", 30)
	var text strings.Builder
	text.WriteString(pad)
	var want []float64
	for _, s := range texts {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil || !require.IsNumber(s) || math.IsInf(v, 0) || math.IsNaN(v) {
			continue
		}
		want = append(want, v)
		fmt.Fprintf(&text, "7,%s\n", s)
	}
	text.WriteString(pad)
	_, got, _, err := parsed(t, text.String())
	if err != nil || len(got) != len(want)+60 {
		t.Fatalf("%d numbers of %d, %v in\n%s", len(got), len(want)+60, err, text.String())
	}
	for i, v := range want {
		if g := got[30+i]; math.Float64bits(g) != math.Float64bits(v) || math.Float32bits(float32(g)) != math.Float32bits(float32(v)) {
			t.Fatalf("%v, want %v: %q", g, v, strings.Split(text.String(), "\n")[30+i])
		}
	}
}

func FuzzRecords(f *testing.F) {
	for _, text := range []string{"0 -0 1.5 5. .5 -.5", "9007199254740993 9007199254740992.5 0.9007199254740993", "1234567890123456.75 922.0000000000000001", "1e5 +3 0x1 1_0",
		"0.00000000000000000000001 0.0000000000000000000001", "9219999999999999999.5 9.219999999999999999"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { checkRecords(t, strings.Fields(text)) })
}

func TestRecords(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	rounds := 400
	if require.Small() {
		rounds = 40
	}
	for range rounds {
		var texts []string
		for range 100 {
			v := rng.NormFloat64() * math.Pow10(rng.IntN(30)-15)
			digits := strconv.FormatUint(rng.Uint64()>>rng.IntN(64), 10)
			point := rng.IntN(len(digits) + 1)
			texts = append(texts, strconv.FormatFloat(v, "fg"[rng.IntN(2)], -1, 64), strconv.FormatFloat(v, 'f', rng.IntN(20), 64),
				strconv.FormatFloat(float64(float32(v)), 'f', -1, 32), digits[:point]+"."+digits[point:], "-"+strings.Repeat("0", rng.IntN(5))+digits, middle(rng))
		}
		checkRecords(t, texts)
	}
}

// middle returns a number in the middle between two float64, or beside it, in at most 22 bytes.
func middle(rng *rand.Rand) string {
	bits := 54 + rng.IntN(6)
	odd := rng.Uint64()>>(64-bits) | 1 | 1<<(bits-1) // a bit more than float64 has, as an integer times 2^-places
	places := rng.IntN(4)
	v := strconv.FormatUint(odd>>places, 10) + "." + fmt.Sprintf("%03d", odd&(1<<places-1)*1000>>places)
	return []string{v, v + "1", v[:len(v)-1]}[rng.IntN(3)]
}

// TestIntegersOfRecords: a column of integers keeps each integer, and tells of those that it rounds when a fraction makes it a column of numbers.
func TestIntegersOfRecords(t *testing.T) {
	lines := strings.Repeat("3,1\n", 20)
	for text, want := range map[string]string{"9007199254740993,1\n": "[9007199254740993]", "-9223372036854775807,1\n": "[-9223372036854775807]", "9223372036854775807,1\n": "[9223372036854775807]", "-5,1\n": "[-5]",
		"0,1\n": "[0]", "9007199254740993,1\n-0,2\n": "[9.007199254740992e+15 -0] rounded", "9007199254740993,1\n0.5,2\n": "[9.007199254740992e+15 0.5] rounded", "-9007199254740993,9007199254740993\n": "[-9007199254740993] rounded"} {
		whole, _, rounded, err := parsed(t, lines+text+lines)
		got := fmt.Sprint(whole[min(len(whole), 20):max(20, len(whole)-20)])
		if rounded {
			got += " rounded"
		}
		if err != nil || got != want {
			t.Errorf("%q: %s, %v; want %s", text, got, err, want)
		}
	}
	if _, numbers, _, err := parsed(t, strings.Repeat("1,2\r\n", 100)); err != nil || !slices.Equal(numbers, slices.Repeat([]float64{2}, 100)) {
		t.Errorf("%v, %v", numbers, err)
	}
}

// TestRecordsAtOnce: records that are read at once have the values of the same records with empty lines between them, which are read one by
// one.
func TestRecordsAtOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	cells := []string{"7", "12", "-3", "0", "123456", "9007199254740993"}
	odd := []string{"1.5", "-0", "2e3", "1E+05", "+4", "", "9,9", "#", "-0.0", "07", "1e400", "x", " 5", "5 ", "\"6\"", "9007199254740993.5", "1.", "8\r"}
	for round := range 3000 {
		var lines []string
		for range 10 + rng.IntN(100) {
			line := []string{cells[rng.IntN(len(cells))], cells[rng.IntN(len(cells))]}
			if rng.IntN(1+round%40) == 1 {
				line[rng.IntN(2)] = odd[rng.IntN(len(odd))]
			}
			lines = append(lines, strings.Join(line, ","))
		}
		whole, numbers, rounded, err := parsed(t, strings.Join(lines, "\n")+"\n")
		whole2, numbers2, rounded2, err2 := parsed(t, strings.Join(lines, "\n\n")+"\n")
		if (err == nil) != (err2 == nil) || err == nil && (!slices.Equal(whole, whole2) || !slices.EqualFunc(numbers, numbers2, func(a, b float64) bool {
			return math.Float64bits(a) == math.Float64bits(b)
		}) || rounded != rounded2) {
			t.Fatalf("%v %v %v %v, want %v %v %v %v:\n%s", whole, numbers, rounded, err, whole2, numbers2, rounded2, err2, strings.Join(lines, "\n"))
		}
	}
}

// TestOddStartsOfRecords: the texts with an odd start among records that are read at once are counted, the first by its row, wherever they
// stand.
func TestOddStartsOfRecords(t *testing.T) {
	rng := rand.New(rand.NewPCG(59, 2))
	odd := regexp.MustCompile(`^-?(\.|0[0-9])`)
	numbers := []string{"7", "12", "-3", "0", "-5.25", "0.5", "-0.5", "123456"}
	starts := []string{"07", "-07", ".5", "-.5", "00", "-00.5", "0.50", "7.05"}
	for range 500 {
		width, rows := 1+rng.IntN(4), 60+rng.IntN(600)
		f := CsvFile{path: "x.csv", dialect: dialect{grammar: delimited(','), names: make([]string, width)}, nulls: newNullWords(nil)}
		want, to := make([]column.OddTexts, width), make([]cells, width)
		for k := range to {
			f.place = append(f.place, k)
			to[k] = newCells(column.Column{Type: arrow.PrimitiveTypes.Float64, CountsForms: true}, rows, f.nulls)
		}
		at := []int{rng.IntN(rows * width), rng.IntN(rows * width), rng.IntN(2) * (rows*width - 1)}[:rng.IntN(4)]
		var text strings.Builder
		for i := range rows * width {
			number := numbers[rng.IntN(len(numbers))]
			if slices.Contains(at, i) {
				number = starts[rng.IntN(len(starts))]
			}
			if odd.MatchString(number) {
				want[i%width].Add(int64(i/width), number, 0)
			}
			text.WriteString(number)
			if i%width == width-1 {
				text.WriteByte('\n')
			} else {
				text.WriteByte(',')
			}
		}
		in := &CSV{CsvFiles: []CsvFile{f}, Input: source.Input{Roles: &column.Roles{}}}
		_, err := in.parseCSV(t.Context(), &in.CsvFiles[0], Chunk{Text: []byte(text.String()), line: 1}, to, &column.Batch{})
		require.NoError(t, err)
		for k := range to {
			if to[k].odd != want[k] {
				t.Fatalf("column %d of %d: %+v, want %+v:\n%s", k, width, to[k].odd, want[k], text.String())
			}
		}
	}
}

// TestGuesses: the guesses about columns are the same with kernel.Decimals and without it.
func TestGuesses(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	cells := []func() string{func() string { return strconv.Itoa(rng.IntN(2)) }, func() string { return strconv.Itoa(rng.IntN(1000) - 500) }, func() string { return fmt.Sprint(rng.NormFloat64()) },
		func() string { return strconv.FormatFloat(rng.NormFloat64(), 'f', 20, 64) }, func() string { return strconv.FormatInt(rng.Int64()>>rng.IntN(64), 10) },
		func() string {
			return []string{"-0", "1.0", "1.5", "x", "", "NA", "\"5\"", "-1", "12345678901234567.0", "9007199254740992", "1e5", " 7"}[rng.IntN(12)]
		}}
	for n := range 500 {
		var text strings.Builder
		for range 2 + rng.IntN(150) {
			for c := range 6 {
				kind := c
				if rng.IntN(30) == 0 {
					kind = rng.IntN(len(cells))
				}
				text.WriteString(cells[kind]() + ",,,,,\n"[c:c+1])
			}
		}
		f := CsvFile{path: "x.csv", dialect: dialect{grammar: delimited(','), names: []string{"a", "b", "c", "d", "e", "f"}}, nulls: newNullWords([][]string{nil, {"7", "-1", "x"}}[n%2])}
		var all [2][]guess
		var errs [2]error
		for way, plain := range []decimals{f.newDecimals(), {}} {
			all[way] = slices.Repeat([]guess{newGuess(f.nulls)}, len(f.names))
			for s := f.rowsOf(Chunk{Text: []byte(text.String()), line: 1}); errs[way] == nil && s.record(); {
				errs[way] = f.guess(&s, &plain, guesses{columns: all[way], nulls: nullTexts{}})
			}
		}
		if !slices.Equal(all[0], all[1]) || fmt.Sprint(errs[0]) != fmt.Sprint(errs[1]) {
			t.Fatalf("%+v, %v, without the kernel\n%+v, %v:\n%s", all[0], errs[0], all[1], errs[1], text.String())
		}
	}
}
