package writer

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/metadata"

	"halfspace/dataset/internal/column"
)

// hasKeys tells whether a column is held and written as keys of its dictionary, a byte each. Other dictionaries become plain.
func hasKeys(a arrow.Array) bool {
	d, is := a.(*array.Dictionary)
	if !is {
		return false
	}
	_, short := d.Indices().(*array.Uint8)
	return short && d.Dictionary().NullN() == 0 && d.Dictionary().DataType().ID() == arrow.INT64
}

// joinable tells whether Arrow joins two columns of the same type without changing keys, for which a byte may be too short.
func joinable(a, b arrow.Array) bool {
	d, is := a.(*array.Dictionary)
	e, same := b.(*array.Dictionary)
	return is == same && (!is || array.Equal(d.Dictionary(), e.Dictionary()))
}

// commonKeys returns the parts of a column if they have keys of one dictionary, of at most 256 values, else nil.
func commonKeys(parts []arrow.Array) []*array.Dictionary {
	var keys []*array.Dictionary
	for _, part := range parts {
		if !hasKeys(part) || !joinable(parts[0], part) {
			return nil
		}
		keys = append(keys, part.(*array.Dictionary))
	}
	if keys[0].Dictionary().Len() > 1<<8 {
		return nil
	}
	return keys
}

// writeKeys writes a column as its dictionary and a page of keys for each part.
func (c chunk) writeKeys(parts []*array.Dictionary) error {
	values := parts[0].Dictionary().(*array.Int64)
	var words []byte
	for _, v := range values.Int64Values() {
		words = binary.LittleEndian.AppendUint64(words, uint64(v))
	}
	page := file.NewDictionaryPage(memory.NewBufferBytes(words), int32(values.Len()), c.props.DictionaryPageEncoding())
	defer page.Release()
	if _, err := c.pages.WriteDictionaryPage(page); err != nil {
		return err
	}
	descr := c.meta.Descr()
	stats := metadata.NewStatistics(descr, c.props.Allocator())
	for _, part := range parts {
		if part.NullN() > 0 && descr.MaxDefinitionLevel() == 0 {
			return fmt.Errorf("column %q has a null, and its schema allows none", descr.Name())
		}
		used, err := usedValues(part)
		if err != nil {
			return err
		}
		defer used.Release()
		stats.IncNulls(int64(part.NullN()))
		stats.IncNumValues(int64(part.Len() - part.NullN()))
		if err := stats.UpdateFromArrow(used, false); err != nil {
			return err
		}
		if err := c.writePage(keyPage(part, descr.MaxDefinitionLevel() > 0), part.Len()); err != nil {
			return err
		}
	}
	bounds, err := stats.Encode()
	if err != nil {
		return err
	}
	bounds.Signed = true
	if bounds.IsSet() {
		c.meta.SetStats(bounds)
	}
	return c.pages.Close(true, false)
}

// writePage writes a page of keys.
func (c chunk) writePage(body []byte, rows int) error {
	data := body
	if c.pages.HasCompressor() {
		data = c.pages.Compress(&bytes.Buffer{}, body)
	}
	rle := parquet.Encodings.RLE
	page := file.NewDataPageV1(memory.NewBufferBytes(data), int32(rows), c.props.DictionaryIndexEncoding(), rle, rle, int32(len(body)))
	defer page.Release()
	_, err := c.pages.WriteDataPage(page)
	return err
}

// keyPage returns the levels, if there are any, and the keys of the rows that aren't null.
// Source: Parquet's encodings, "RLE/bit-packing hybrid".
func keyPage(d *array.Dictionary, nullable bool) (page []byte) {
	keys, levels := d.Indices().(*array.Uint8).Uint8Values(), []byte(nil)
	width := bits.Len(uint(max(2, d.Dictionary().Len()) - 1))
	if d.NullN() > 0 {
		levels = make([]byte, len(keys))
		var present []byte
		for i, k := range keys {
			if d.IsValid(i) {
				levels[i] = 1
				present = append(present, k)
			}
		}
		keys = present
	}
	if nullable {
		page = make([]byte, 4, 16+(len(levels)+width*len(keys))/8)
		if levels == nil {
			page = appendRun(page, d.Len(), 1)
		} else {
			page = appendPacked(page, levels, 1)
		}
		binary.LittleEndian.PutUint32(page, uint32(len(page)-4))
	}
	page = append(page, byte(width))
	switch {
	case len(keys) == 0:
		return page
	case bytes.Count(keys, keys[:1]) == len(keys):
		return appendRun(page, len(keys), keys[0])
	}
	return appendPacked(page, keys, width)
}

// appendRun appends n values that are the same, of at most 8 bits.
func appendRun(b []byte, n int, value byte) []byte {
	return append(binary.AppendUvarint(b, uint64(n)<<1), value)
}

// appendPacked appends values of at most 8 bits with width bits each, in groups of eight.
func appendPacked(b, values []byte, width int) []byte {
	b = binary.AppendUvarint(b, uint64(len(values)+7)/8<<1|1)
	for len(values) > 0 {
		var word uint64
		n := min(8, len(values))
		for i, v := range values[:n] {
			word |= uint64(v) << (i * width)
		}
		values = values[n:]
		for range width {
			b = append(b, byte(word))
			word >>= 8
		}
	}
	return b
}

// usedValues returns the values to which some key of a column refers.
func usedValues(d *array.Dictionary) (arrow.Array, error) {
	var seen [1 << 8]bool
	whole := d.NullN() == 0
	for i, k := range d.Indices().(*array.Uint8).Uint8Values() {
		if whole || d.IsValid(i) {
			seen[k] = true
		}
	}
	var used []int
	for k, is := range seen {
		switch {
		case is && k >= d.Dictionary().Len():
			return nil, fmt.Errorf("a row has key %d of %d", k, d.Dictionary().Len())
		case is:
			used = append(used, k)
		}
	}
	return column.Gather(d.Dictionary(), used, math.MaxInt64)
}
