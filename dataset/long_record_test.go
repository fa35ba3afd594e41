package dataset

import (
	"context"
	"fmt"
	"strings"
	"testing"

	textfile "halfspace/dataset/internal/text"
)

// TestLongFirstRecord: the first row tells the types of the columns, however long it is.
func TestLongFirstRecord(t *testing.T) {
	long := strings.Repeat("a", textfile.SampleBytes+1)
	path := textFile(t, "a.csv.gz", "x,text,label\n1,"+long+",yes\n2,b,no\n")
	info, err := InspectTable(context.Background(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	types := ""
	for _, c := range info.Columns {
		types += fmt.Sprintf("%s %s, ", c.Name, c.Type)
	}
	if info.Rows != 2 || types != "x int64, text string, label string, " {
		t.Errorf("%d rows of %s", info.Rows, types)
	}
}
