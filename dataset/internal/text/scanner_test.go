package text

import (
	"encoding/csv"
	"slices"
	"strings"
	"testing"
)

func allRecords(c Chunk) (all [][]string, err error) {
	for fields, err := range records(c, ',') {
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
