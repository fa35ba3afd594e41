package ipc

import (
	"errors"
	"fmt"

	flatbuffers "github.com/google/flatbuffers/go"
)

// Numbers of Arrow's Message.fbs and Schema.fbs: kinds of messages and types, and the slots of tables' fields.
const (
	MessageSchema     = 1
	messageDictionary = 2
	messageRecord     = 3
	typeUnion         = 14

	slotHeaderType, SlotHeader       = 6, 8     // of Message
	slotFields, slotMetadata         = 6, 8     // of Schema
	slotName, slotTypeType, slotType = 4, 8, 10 // of Field
	slotChildren, slotFieldMetadata  = 14, 16
	slotKey, slotValue               = 4, 6    // of KeyValue
	slotTypeIDs                      = 6       // of Union
	slotID, slotData, slotDelta      = 4, 6, 8 // of DictionaryBatch
	SlotBuffers, slotBufferCounts    = 8, 12   // of RecordBatch
)

// maxNesting limits the depth of nested columns. maxTables limits the number of columns and texts of a schema. A
// column takes 4 bytes of the message if it refers to the same table as another column, and Arrow allocates some
// hundred bytes for it.
const (
	maxNesting = 64
	maxTables  = 1 << 19
)

// checkMessage checks the sizes that a message claims, for which Arrow's reader allocates memory. Vectors must lie in
// the message, and its parts may not claim much more memory than they take. checkMessage panics if a table lies
// outside the message.
func checkMessage(meta []byte) error {
	c := messageCheck{left: 4*len(meta) + 1024}
	kind, header, ok := headerOf(meta)
	if !ok {
		return errors.New("a message without a header")
	}
	if kind == MessageSchema {
		c.metadata(header, slotMetadata)
		c.children(header, slotFields, 0)
	} else if record, ok := recordOf(meta); ok {
		c.record(record)
	}
	return c.err
}

// headerOf returns the kind and the header of a message.
func headerOf(meta []byte) (kind byte, header flatbuffers.Table, ok bool) {
	root := flatbuffers.Table{Bytes: meta, Pos: flatbuffers.GetUOffsetT(meta)}
	o := flatbuffers.UOffsetT(root.Offset(SlotHeader))
	if o == 0 {
		return 0, header, false
	}
	root.Union(&header, o)
	return root.GetByteSlot(slotHeaderType, 0), header, true
}

// dictionaryOf returns the number of the dictionary in a dictionary message. delta is true if its values are added to
// the dictionary of that number.
func dictionaryOf(meta []byte) (id int64, delta bool) {
	_, header, _ := headerOf(meta)
	return header.GetInt64Slot(slotID, 0), header.GetBoolSlot(slotDelta, false)
}

// A messageCheck records the number of bytes or elements that a message may still claim.
type messageCheck struct {
	left   int
	tables int   // number of tables so far
	err    error // the first error
}

// take subtracts n bytes or elements from left.
func (c *messageCheck) take(n int) {
	if c.left -= n; n < 0 || c.left < 0 {
		c.fail("a message that holds more than its size allows")
	}
}

func (c *messageCheck) fail(text string) {
	if c.err == nil {
		c.err = errors.New(text)
	}
}

// Each calls f with each table of a vector.
func (c *messageCheck) Each(t flatbuffers.Table, slot flatbuffers.VOffsetT, f func(flatbuffers.Table)) {
	o := flatbuffers.UOffsetT(t.Offset(slot))
	if o == 0 {
		return
	}
	n, start := t.VectorLen(o), t.Vector(o)
	c.take(n)
	if c.tables += n; c.tables > maxTables {
		c.fail(fmt.Sprintf("a schema of more than %d columns and texts", maxTables))
	}
	for i := 0; i < n && c.err == nil; i++ {
		f(flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(start + flatbuffers.UOffsetT(4*i))})
	}
}

// Text subtracts the bytes of a text from left.
func (c *messageCheck) Text(t flatbuffers.Table, slot flatbuffers.VOffsetT) {
	if o := flatbuffers.UOffsetT(t.Offset(slot)); o != 0 {
		c.take(t.VectorLen(o))
	}
}

func (c *messageCheck) metadata(t flatbuffers.Table, slot flatbuffers.VOffsetT) {
	c.Each(t, slot, func(kv flatbuffers.Table) {
		c.Text(kv, slotKey)
		c.Text(kv, slotValue)
	})
}

func (c *messageCheck) children(t flatbuffers.Table, slot flatbuffers.VOffsetT, depth int) {
	if depth > maxNesting {
		c.fail("columns nested too deep")
		return
	}
	c.Each(t, slot, func(field flatbuffers.Table) {
		c.Text(field, slotName)
		c.metadata(field, slotFieldMetadata)
		if o := flatbuffers.UOffsetT(field.Offset(slotType)); o != 0 && field.GetByteSlot(slotTypeType, 0) == typeUnion {
			var union flatbuffers.Table
			field.Union(&union, o)
			c.Text(union, slotTypeIDs)
		}
		c.children(field, slotChildren, depth+1)
	})
}

// record checks the numbers of buffers that columns of views claim.
func (c *messageCheck) record(t flatbuffers.Table) {
	buffers := int64(0)
	if o := flatbuffers.UOffsetT(t.Offset(SlotBuffers)); o != 0 {
		buffers = int64(t.VectorLen(o))
	}
	o := flatbuffers.UOffsetT(t.Offset(slotBufferCounts))
	if o == 0 {
		return
	}
	n, start := t.VectorLen(o), t.Vector(o)
	c.take(n)
	for i := 0; i < n && c.err == nil; i++ {
		if count := t.GetInt64(start + flatbuffers.UOffsetT(8*i)); count < 0 || count > buffers {
			c.fail("a column of more buffers than there are")
		}
	}
}
