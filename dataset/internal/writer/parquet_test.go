package writer

import (
	"io"
	"math"
	"strconv"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
)

func TestDefaultRowGroups(t *testing.T) {
	for _, test := range []struct {
		columns int
		rows    int64
	}{{1, 131072}, {256, 131072}, {1024, 32768}, {100000, 4096}} {
		var fields []arrow.Field
		for i := range test.columns {
			fields = append(fields, arrow.Field{Name: strconv.Itoa(i), Type: arrow.PrimitiveTypes.Float32})
		}
		e, err := NewParquet(io.Discard, arrow.NewSchema(fields, nil), ParquetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := e.(*Parquet).Groups.maxRows; got != test.rows {
			t.Errorf("%d columns: row groups of %d rows, not %d", test.columns, got, test.rows)
		}
	}
}

// TestDecimalBytes: the numbers of the format's specification, the least bytes that hold 10^precision with a sign.
func TestDecimalBytes(t *testing.T) {
	for precision := int32(1); precision <= 76; precision++ {
		if got, want := decimalBytes(&arrow.Decimal256Type{Precision: precision}), int(pqarrow.DecimalSize(precision)); got != want {
			t.Errorf("%d digits: %d bytes, want %d", precision, got, want)
		}
	}
	if decimalBytes(&arrow.Decimal128Type{Precision: 18}) != 8 || math.Log10(math.MaxInt64) < 18 {
		t.Error("18 digits need 8 bytes")
	}
}
