package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"halfspace/internal/require"
	"halfspace/schema"
)

// textColumn returns the column x of n texts in turn.
func textColumn(n int, texts ...string) *Counts {
	c := &Counts{Input: &schema.Column{Name: "x", Kind: schema.OneHotColumn}, Type: "string", HasTexts: true}
	c.Begin()
	odd := map[string]int{}
	for i := range n {
		text := texts[i%len(texts)]
		c.Rows++
		if k, again := odd[text]; again {
			if k > 0 {
				c.OddTexts[k-1].Rows++
			}
			continue
		}
		c.Distinct++
		c.Examples = append(c.Examples, text)
		odd[text] = c.AddText(text, int64(i))
	}
	return c
}

// byteColumn returns the column x of n values: some of them are bytes and no text, the others are one text.
func byteColumn(n, bytes int, typeOfBytes bool) *Counts {
	c := textColumn(n-bytes, "a")
	for range bytes {
		c.Rows++
		c.AddBytes("\xff", typeOfBytes)
	}
	return c
}

// numberColumn returns the column x of integers.
func numberColumn(values ...float64) *Counts {
	c := &Counts{Input: &schema.Column{Name: "x", Kind: schema.NumberColumn}, Type: "int64", HasIntegers: true}
	c.Begin()
	for i, v := range values {
		c.Rows++
		c.CountsRows = c.CountsRows && v == values[0]+float64(i)
		c.Min, c.Max = min(c.Min, v), max(c.Max, v)
	}
	return c
}

func differing(n int, format string) (texts []string) {
	for i := range n {
		texts = append(texts, fmt.Sprintf(format, i))
	}
	return texts
}

// TestTreatments: a column goes to the treatment that its values, and a word, say. Each treatment takes some column.
func TestTreatments(t *testing.T) {
	rising := upTo(30)
	dated := &Counts{Input: &schema.Column{Name: "x", Kind: schema.NumberColumn}, HasDates: true, Rows: 2, Range: newRange()}
	dated.Range.Add(3)
	dated.Range.Add(40)
	asked := textColumn(9, "a", "b")
	asked.IsCategorical = true
	taken := map[*treatment]bool{}
	for _, c := range []struct {
		column *Counts
		word   Word
		want   *treatment
	}{
		{textColumn(9, "a"), Ignore, &ignoredColumns},
		{&Counts{Input: &schema.Column{Name: "x", Kind: schema.ListColumn}}, Number, &lists},
		{&Counts{Input: new(schema.Column), Rows: 3, Missing: 3}, Text, &emptyColumns},
		{byteColumn(9, 5, false), "", &byteColumns},
		{byteColumn(9, 5, false), Category, nil},
		{byteColumn(9, 4, false), "", &constant},
		{byteColumn(9, 1, true), "", &byteColumns},
		{asked, "", &codedTexts},
		{textColumn(9, "1", "2"), Category, &codedTexts},
		{textColumn(9, "1", "2"), "hash:3", &codedTexts},
		{textColumn(9, "a"), "", &constant},
		{numberColumn(7, 7, 7), "", &constant},
		{textColumn(9, "yes", "no"), "", &truths},
		{textColumn(9, "1", "0", "true", "False"), "", &truths},
		{textColumn(9, "1", "no", "yes"), "", &truths},
		{textColumn(9, "$1", "$2"), "", &pointNumbers},
		{textColumn(9, "01", "2"), "", &categories},
		{textColumn(9, "01", "2"), Number, &pointNumbers},
		{textColumn(9, "1,5", "2"), "", &commaNumbers},
		{textColumn(9, "13.1.2020", "2.1.2020"), "", &textDates},
		{dated, "", &dates},
		{dated, Number, &numbers},
		{numberColumn(rising...), "", &counter},
		{numberColumn(rising...), Number, &numbers},
		{numberColumn(append(rising, 31)...), "", &numbers},
		{numberColumn(rising[:leastRows-1]...), "", &numbers},
		{numberColumn(1, 0, 1), Boolean, &numbers},
		{numberColumn(1, 2, 2), Boolean, nil},
		{textColumn(100, differing(100, "n%d")...), "", &nameTexts},
		{textColumn(1000, differing(100, "n%d")...), "", &hashedTexts},
		{textColumn(100, differing(100, "n%d")...), Text, &hashedTexts},
		{textColumn(100, differing(100, "n%d is free text")...), "", &freeTexts},
		{textColumn(19, differing(19, "n%d is free text")...), "", &categories},
		{textColumn(300, differing(100, "n%d is free text")...), "", &hashedTexts},
		{textColumn(100, differing(100, "n%d is free text")...), Category, &codedTexts},
		{textColumn(9, "a", "b"), WordPairs + ":bits=20", &codedTexts},
		{textColumn(9, "a", "b"), "", &categories},
		{textColumn(9, "a", "b"), Number, nil},
		{textColumn(9, "a", "b"), Date, nil},
		{textColumn(9, "a", "b"), Boolean, nil},
		{numberColumn(1, 2, 2), Date, nil},
	} {
		c.column.Word = c.word
		got := treatmentOf(c.column)
		if taken[got] = true; got != c.want {
			t.Errorf("%q of the word %q becomes another: %+v", c.column.Examples, c.word, got)
		}
	}
	for i, one := range treatments {
		if !taken[one.treatment] {
			t.Errorf("treatment %d took no column", i)
		}
	}
}

// TestParseTypes: each type that the option takes names a treatment.
func TestParseTypes(t *testing.T) {
	for _, name := range TypeWords() {
		word := Word(strings.Replace(name, "BITS", "24", 1))
		got, err := ParseTypes([]string{"a=b=" + string(word)})
		if err != nil || got["a=b"] != word {
			t.Errorf("%q: %v, %v", word, got, err)
		}
	}
	want := "boolean category date date:DMY date:MDY date:YMD hash:BITS ignore number number:comma number:point text words words:2 words:chars"
	if got := strings.Join(TypeWords(), " "); got != want {
		t.Errorf("the types are %s", got)
	}
	for _, item := range []string{"a", "=number", "a=", "a=hash:0", "a=hash:25", "a=hash:", "a=onehot", "a=Number", "a=words:3", "a=words:bits=7", "a=words:bits=23", "a=words:chars:2"} {
		_, err := ParseTypes([]string{item})
		require.Error(t, err, "use COLUMN=TYPE")
	}
}

// TestLastFeature: a column that counts the rows stays if all other columns are left out, and then alone.
func TestLastFeature(t *testing.T) {
	count := func(name string) *Counts {
		c := numberColumn(upTo(30)...)
		c.Input.Name = name
		return c
	}
	summed := textColumn(31, append(differing(30, "%d"), "Total")...)
	summed.Input.Name = "a"
	for _, c := range []struct {
		columns []*Counts
		want    string // the columns that stay
	}{
		{[]*Counts{count("a")}, "a"},
		{[]*Counts{textColumn(30, "z"), count("a"), count("b")}, "a"},
		{[]*Counts{count("a"), numberColumn(1, 2, 2)}, "x"},
		{[]*Counts{textColumn(30, "p", "q"), count("a")}, "x"},
		{[]*Counts{summed}, "a"},
	} {
		p := require.Value(Make(c.columns, nil, schema.NullsZero))(t)
		if slices.ContainsFunc(p.Inputs, func(in schema.Column) bool { return in.Name == "a" && in.Categorical() }) {
			t.Errorf("inputs %+v", p.Inputs)
		}
		var stay []string
		for _, col := range p.Columns {
			if !col.LeftOut {
				stay = append(stay, col.Name)
			}
		}
		noted := slices.Contains(p.Notes, `column "a" counts the rows, and stays, since no other feature is left`)
		if got := strings.Join(stay, " "); got != c.want || noted != (c.want == "a") {
			t.Errorf("%q stay, want %q; notes %q", got, c.want, p.Notes)
		}
	}
	_, err := Make([]*Counts{textColumn(30, "z")}, nil, "")
	require.Error(t, err, "no feature is left, all columns are left out: x (one value)")
}

func upTo(n int) (values []float64) {
	for i := range n {
		values = append(values, float64(i))
	}
	return values
}

// TestTruths: the words of one pair are yes and no. Words of several pairs, and one word alone, are categories.
func TestTruths(t *testing.T) {
	pairs := [][2]string{{"yes", "no"}, {"True", "FALSE"}, {"y", "N"}, {"t", "f"}, {" on", "Off "}}
	for i, a := range pairs {
		for j, b := range pairs {
			for _, texts := range [][]string{{a[0], b[1]}, {a[0], a[1], b[0]}, {a[0], a[1], b[1]}, {a[0], b[0]}, {a[1], b[1]},
				{a[0], a[1], strings.ToUpper(a[0]), "-"}} {
				both := slices.Contains(texts, a[0]) && slices.Contains(texts, b[1])
				want, named := &categories, &truths
				if i == j && both || slices.Contains(texts, "-") {
					want = &truths
				}
				if !both && !slices.Contains(texts, a[1]) || slices.Equal(texts, []string{a[1], b[1]}) {
					named = nil // one outcome
				}
				if i == j && len(texts) == 2 && texts[0] == texts[1] {
					want = &constant
				}
				c := textColumn(40, texts...)
				if got := treatmentOf(c); got != want {
					t.Errorf("%q: truths %t, categories %t", texts, got == &truths, got == &categories)
				}
				if c.Word = Boolean; treatmentOf(c) != named {
					t.Errorf("%q of the type boolean: truths %t", texts, treatmentOf(c) == &truths)
				}
			}
		}
	}
}
