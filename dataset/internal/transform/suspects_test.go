package transform

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// TestSuspectedTextsOfReusedMemory: texts stay as they were when the memory of their array gets later rows.
func TestSuspectedTextsOfReusedMemory(t *testing.T) {
	chars, ends := []byte("aabb"), []int32{0, 2, 4}
	buffers := []*memory.Buffer{nil, memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(ends)), memory.NewBufferBytes(chars)}
	texts := array.NewStringData(array.NewData(arrow.BinaryTypes.String, 2, buffers, nil, 0, 0))
	c := suspect{texts: map[uint64]struct{}{}}
	for _, rows := range []string{"aabb", "ccdd", "aabb", "ddaa"} {
		copy(chars, rows)
		c.addTexts(texts, 2)
	}
	if c.rows != 8 || len(c.texts) != 4 {
		t.Errorf("%d different texts in %d rows, want 4 in 8: %v", len(c.texts), c.rows, c.texts)
	}
}
