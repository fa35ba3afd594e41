package plan

import (
	"strings"
	"testing"

	"halfspace/schema"
)

// TestWrittenNumbers: texts tell the decimal mark, and notes tell what could have been other numbers.
func TestWrittenNumbers(t *testing.T) {
	for _, c := range []struct {
		texts string // apart by bars
		want  *treatment
		notes string // parts of the notes, apart by bars
	}{
		{"1,234.5|7", &pointNumbers, ""},
		{"1.234,5|7", &commaNumbers, ""},
		{"1,234|5,678|3", &pointNumbers, `"1,234" is read as 1234; if it is 1.234, use Types x=number:comma`},
		{"$1.234|$5", &pointNumbers, `"$1.234" is read as 1.234; if it is 1234, use Types x=number:comma`},
		{"1,234|5,67", &commaNumbers, ""},
		{"1,234|1,234,567", &pointNumbers, ""},
		{"1,234|0,431", &commaNumbers, ""},
		{"1,2e3|3,4e5|1,234", &commaNumbers, ""},
		{"0,431|1,234.5", &pointNumbers, `"0,431" is read as 431; if it is 0.431, use Types x=number:comma`},
		{"€1.234|€0.431", &pointNumbers, ""},
		{"3 976,0|39'760,5", &commaNumbers, ""},
		{"3 976|12 345 678", &pointNumbers, ""},
		{"39'760.0|39’760.5", &pointNumbers, ""},
		{"(256.0)|256.0-|$-256.00", &pointNumbers, ""},
		{"20M|1.5k|300", &pointNumbers, "the letters in its numbers are factors: M is 1000000, k is 1000"},
		{"2B|3T", &pointNumbers, "B is 1000000000, T is 1000000000000"},
		{"20M|1.5k|few", &categories, ""},
		{"50%|0.32", &pointNumbers, "some of its numbers have %, and others have none: 5% is read as 5"},
		{"50%|32 %", &pointNumbers, ""},
		{"$5|€5|$7", &pointNumbers, "its numbers have several currency signs, which are left out: $ €"},
		{"$5|7|-", &pointNumbers, ""},
		{"1.2.3|1.10.0", &categories, ""},
		{"10.0.0.1|10.0.0.12", &categories, ""},
		{"192.168.100.200|192.168.100.201", &categories, ""},
		{"192.168.100.200|900.168.100.201", &commaNumbers, ""},
		{"01234|98000", &categories, ""},
		{"0 431|1 000", &categories, ""},
	} {
		texts := strings.Split(c.texts, "|")
		col := textColumn(3*len(texts), texts...)
		got := treatmentOf(col)
		if got != c.want {
			t.Errorf("%q: point %t, comma %t", texts, got == &pointNumbers, got == &commaNumbers)
			continue
		}
		notes := ""
		if got.notes != nil {
			notes = strings.Join(got.notes(col), "; ")
		}
		if (notes == "") != (c.notes == "") || !strings.Contains(notes, c.notes) {
			t.Errorf("%q: notes %q, want %q", texts, notes, c.notes)
		}
		if inputs := got.inputs(col); len(inputs) != 1 {
			t.Errorf("%q: inputs %+v", texts, inputs)
		} else if in := inputs[0]; (in.Derive == schema.Comma) != (c.want == &commaNumbers) {
			t.Errorf("%q: derived by %q", texts, in.Derive)
		}
	}
}

// TestSemicolons: between semicolons, a mark before three digits is a decimal comma, unless another text tells
// otherwise.
func TestSemicolons(t *testing.T) {
	for texts, want := range map[string]*treatment{
		"5,123|7,5": &commaNumbers, "5,123|17,250": &commaNumbers, "€ 1.234|€ 5.678": &commaNumbers,
		"€ 1.50|€ 2.234": &pointNumbers,
		"1,234.5|5,123":  &pointNumbers, "3 976|1 000": &pointNumbers, "€ 0.431|€ 1.234": &pointNumbers,
		"0,431|1,234": &commaNumbers,
	} {
		col := textColumn(20, strings.Split(texts, "|")...)
		col.Semicolons = true
		if got := treatmentOf(col); got != want {
			t.Errorf("%q: point %t, comma %t", texts, got == &pointNumbers, got == &commaNumbers)
		}
	}
	col := textColumn(20, "5,123", "17,250")
	col.Semicolons = true
	want := `"5,123" is read as 5.123, since fields are apart by semicolons; if it is 5123, use Types x=number:point`
	if got := commaNumbers.notes(col); len(got) != 1 || got[0] != want {
		t.Errorf("notes %q, want %q", got, want)
	}
}

// TestDecimalWords: the words number:point and number:comma say what the decimal mark is.
func TestDecimalWords(t *testing.T) {
	for _, c := range []struct {
		texts string
		word  Word
		want  *treatment
	}{
		{"1,234|5,678", NumberPoint, &pointNumbers}, {"1,234|5,678", NumberComma, &commaNumbers},
		{"0,431|1,234", NumberPoint, &pointNumbers}, {"1.234|5.678", NumberComma, &commaNumbers},
		{"01,5|2", NumberComma, &commaNumbers}, {"1,234.5|7", NumberComma, nil}, {"2,5|7", NumberPoint, nil},
	} {
		col := textColumn(20, strings.Split(c.texts, "|")...)
		col.Word = c.word
		if got := treatmentOf(col); got != c.want {
			t.Errorf("%s of the type %s: %+v", c.texts, c.word, got)
		} else if got != nil && len(got.notes(col)) > 0 {
			t.Errorf("%s of the type %s: notes %q", c.texts, c.word, got.notes(col))
		}
	}
	col := numberColumn(1, 2, 2)
	if col.Word = NumberComma; treatmentOf(col) != &numbers {
		t.Error("numbers of the type number:comma are no numbers")
	}
}
