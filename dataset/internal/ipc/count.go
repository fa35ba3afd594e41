package ipc

import (
	"bufio"
	"io"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/source"
)

// A file with more than maxMessages messages, or with more than maxRowsPerByte rows for each byte, must be read to count its
// rows. maxMessages bounds the time that opening a file takes: a message takes 2.5 µs. A row takes at least a bit, unless
// the data is compressed or null. Therefore a wrong claim can't be large.
const (
	maxMessages      = 1 << 16
	maxRowsPerByte   = 8
	recordLengthSlot = 4 // of RecordBatch
)

// claimedRows returns the number of rows that the records of a local file claim in the metadata of their messages. It
// doesn't read the bodies. It returns -1 if the file must be read to count the rows. This includes damaged files, such
// as one whose body of a negative size would lead back: reading the file returns the error.
func (m *Messages) claimedRows() (rows int64) {
	file := m.src.Section()
	if file == nil {
		return -1
	}
	ahead := bufio.NewReader(file) // one read gets the metadata of a record of up to 80 columns
	heads := &Messages{src: &source.Reader{R: ahead, Path: m.src.Path}, size: m.size}
	if heads.begin() != nil {
		return -1
	}
	for range maxMessages {
		meta, body, err := heads.header()
		if err == io.EOF {
			return rows
		}
		more := int64(-1)
		if err == nil {
			err = column.Recovered(func() error {
				more = rowsOf(meta)
				return nil
			})
		}
		if err != nil || body < 0 || more < 0 || more > maxRowsPerByte*m.size-rows {
			return -1
		}
		if _, err := file.Seek(body-int64(ahead.Buffered()), io.SeekCurrent); err != nil {
			return -1
		}
		ahead.Reset(file)
		rows += more
	}
	return -1
}

// rowsOf returns the number of rows that a message claims; it is 0 unless the message has a record. rowsOf panics if a
// table lies outside the message.
func rowsOf(meta []byte) int64 {
	kind, record, _ := headerOf(meta)
	if kind != messageRecord {
		return 0
	}
	return record.GetInt64Slot(recordLengthSlot, 0)
}
