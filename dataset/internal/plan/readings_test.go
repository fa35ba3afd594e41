package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"halfspace/internal/require"
	"halfspace/schema"
)

// noted returns the treatment of a column, and the notes of its plan.
func noted(t *testing.T, c *Counts) (*treatment, string) {
	t.Helper()
	p := require.Value(Make([]*Counts{c}, nil, schema.NullsZero))(t)
	return treatmentOf(c), strings.Join(p.Notes, "|")
}

func repeated(n int, text string) []string { return slices.Repeat([]string{text}, n) }

// TestOddTexts: a column is numbers or dates if all texts but a few are. The texts in the way are missing, with a
// note. If they are many, or recur like categories, the column stays text, and a note says why.
func TestOddTexts(t *testing.T) {
	decimals, days := slices.Clip(differing(400, "%d.5")), []string(nil)
	for i := range 400 {
		days = append(days, fmt.Sprintf("%02d.%02d.2020", 1+i%28, 1+i%12))
	}
	days = slices.Clip(days)
	codes := slices.Repeat([]string{"1", "2", "3", "4", "5"}, 80)
	for _, c := range []struct {
		texts []string
		word  Word
		want  *treatment
		note  string
	}{
		{append(decimals, "err"), "", &pointNumbers, `1 of 401 values is no number ("err", row 400): it counts as missing`},
		{append([]string{"x", "y"}, decimals...), "", &pointNumbers,
			`2 of 402 values are no numbers ("x", row 0; "y"): they count as missing`},
		{append(decimals, repeated(20, "err")...), "", &pointNumbers,
			`20 of 420 values are no numbers ("err", row 400): they count as missing`},
		{append(decimals, repeated(22, "err")...), "", &nameTexts,
			`22 of 422 values are no numbers ("err"), so it stays text: use Types x=number if these values are missing`},
		{append(decimals, repeated(22, "err")...), Number, &pointNumbers,
			`22 of 422 values are no numbers ("err", row 400): they count as missing`},
		{append(decimals, differing(11, "e%d")...), "", &nameTexts,
			`11 of 411 values are no numbers ("e0", "e1", "e2", 8 more), so it stays text`},
		{append(decimals, differing(150, "e%d")...), "", &nameTexts, ""},
		{append(decimals, repeated(500, "err")...), "", &hashedTexts, ""},
		{append(decimals, repeated(500, "err")...), Number, nil, ""},
		{append(days, "soon"), "", &textDates, `1 of 401 values is no date ("soon", row 400): it counts as missing`},
		{append(days, repeated(15, "soon")...), "", &textDates,
			`15 of 415 values are no dates ("soon", row 400): they count as missing`},
		{append(days, repeated(90, "soon")...), "", &hashedTexts,
			`90 of 490 values are no dates ("soon"), so it stays text: use Types x=date if these values are missing`},
		{append(codes, "B"), "", &pointNumbers, `1 of 401 values is no number ("B", row 400): it counts as missing`},
		{append(codes, "B", "B"), "", &categories, `2 of 402 values are no numbers ("B"), so it stays text`},
		{append(codes, repeated(200, "B")...), "", &categories, ""},
		{append(codes, "B", "C"), "", &categories, `2 of 402 values are no numbers ("B", "C"), so it stays text`},
		{append(repeated(200, "0"), append(repeated(200, "1"), "err")...), "", &categories,
			`1 of 401 values is no number ("err"), so it stays text`},
		{append(decimals, repeated(30, "unknown")...), "", &pointNumbers, ""},
		{append(decimals[:10:10], append(repeated(300, "unknown"), "err")...), "", &categories,
			`1 of 11 values is no number ("err"), so it stays text`},
		{append(differing(400, "%dk"), "err"), "", &nameTexts, ""},
		{append(differing(400, "0%d"), "err"), "", &nameTexts, ""},
		{slices.Repeat([]string{"yes", "no"}, 200), "", &truths, ""},
		{append(slices.Repeat([]string{"yes", "no"}, 200), "maybe"), "", &categories, ""},
		{append(differing(400, "%d,5"), "3.5"), "", &commaNumbers,
			`1 of 401 values is no number ("3.5", row 400): it counts as missing`},
		{append(differing(400, "%d.5"), "3,5"), "", &pointNumbers,
			`1 of 401 values is no number ("3,5", row 400): it counts as missing`},
		{append(differing(60, "%d"), "Total"), "", &counter, ""},
		{append(differing(60, "%d"), "61"), "", &pointNumbers, ""},
		{append(differing(60, "2%d"), "Total"), "", &pointNumbers,
			`1 of 61 values is no number ("Total", row 60): it counts as missing`},
	} {
		col := textColumn(len(c.texts), c.texts...)
		if col.Word = c.word; c.want == nil {
			if got := treatmentOf(col); got != nil {
				t.Errorf("%q of the type %q: %+v", col.Examples[:2], c.word, got)
			}
			continue
		}
		if c.want == &counter || c.want == &nameTexts { // another column stays
			other := textColumn(3, "a", "b")
			p := require.Value(Make([]*Counts{col, other}, nil, schema.NullsZero))(t)
			notes := strings.Join(p.Notes, "|")
			if got := treatmentOf(col); got != c.want || !strings.Contains(notes, c.note) || c.note == "" &&
				strings.Contains(notes, "values") {
				t.Errorf("%q ... %q: counter %t, notes %q, want %q", col.Examples[:2], c.texts[len(c.texts)-1], got == &counter,
					notes, c.note)
			}
			continue
		}
		got, notes := noted(t, col)
		if got != c.want || !strings.Contains(notes, c.note) || c.note == "" && strings.Contains(notes, "values") {
			t.Errorf("%q ... %q of the type %q: %q, notes %q, want %q", col.Examples[:2], c.texts[len(c.texts)-1], c.word,
				got.becomes(col, got.inputs(col)), notes, c.note)
		}
	}
}

// TestOddOrder: the order of the rows changes neither the treatment nor the number of odd values.
func TestOddOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	kinds := []string{"%d.5", "%d,5", "$%d", "2020-01-%02d", "%d/12/2011", "e%d", "n.a."}
	for range 300 {
		var texts []string
		first := kinds[rng.IntN(len(kinds))]
		for i := range 300 {
			kind := first
			if rng.IntN(40) == 0 {
				kind = kinds[rng.IntN(len(kinds))]
			}
			text := kind
			if strings.Contains(kind, "%") {
				text = fmt.Sprintf(kind, 1+i%28)
			}
			texts = append(texts, text)
		}
		describe := func() string {
			c := textColumn(len(texts), texts...)
			p := require.Value(Make([]*Counts{c, textColumn(3, "a", "b")}, nil, ""))(t)
			return fmt.Sprint(p.Columns[0].Becomes, p.Columns[0].Missing, p.Columns[0].Range, len(p.Notes))
		}
		want := describe()
		rng.Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
		if got := describe(); got != want {
			t.Fatalf("%q: %s, in another order %s", first, want, got)
		}
	}
}

// TestLongestOdd: a column with a text that is too long to be kept has no reading, and keeps no further text.
func TestLongestOdd(t *testing.T) {
	for _, size := range []int{longestOdd, longestOdd + 1} {
		c := textColumn(1, "1")
		odd, again := c.AddText(strings.Repeat("x", size), 1), c.AddText("y", 2)
		if kept := size == longestOdd; kept && (odd != 2 || again != 3) || !kept && (odd != 0 || again != 0 || len(c.OddTexts) != 1) { // a date can't be 1, the first odd text
			t.Errorf("a text of %d bytes is number %d, the next odd text %d, of %d", size, odd, again, len(c.OddTexts))
		}
	}
}
