package ipc

import (
	"encoding/binary"
	"errors"
	"math"

	flatbuffers "github.com/google/flatbuffers/go"
	"github.com/klauspost/compress/zstd"

	"halfspace/dataset/internal/column"
)

const (
	slotCompression = 10 // of RecordBatch
	slotCodec       = 4  // of BodyCompression
	codecZstd       = 1
)

// recordOf returns the record of a message, which may be the record of a dictionary.
func recordOf(meta []byte) (record flatbuffers.Table, ok bool) {
	kind, record, _ := headerOf(meta)
	switch kind {
	case messageRecord:
		return record, true
	case messageDictionary:
		if o := flatbuffers.UOffsetT(record.Offset(slotData)); o != 0 {
			return flatbuffers.Table{Bytes: meta, Pos: record.Indirect(o + record.Pos)}, true
		}
	}
	return record, false
}

// window returns the number of bytes that decompressing a message takes in addition to its result: the largest
// Zstandard window of a buffer in its body. Arrow's reader allocates this window before it decompresses a byte, and a
// frame of 20 bytes may ask for 512 MiB. window panics if a table or a buffer lies outside the message.
func window(meta, body []byte) (most int64, err error) {
	record, ok := recordOf(meta)
	if !ok {
		return 0, nil
	}
	o := flatbuffers.UOffsetT(record.Offset(slotCompression))
	if o == 0 {
		return 0, nil
	}
	compression := flatbuffers.Table{Bytes: meta, Pos: record.Indirect(o + record.Pos)}
	o = flatbuffers.UOffsetT(record.Offset(SlotBuffers))
	if compression.GetByteSlot(slotCodec, 0) != codecZstd || o == 0 {
		return 0, nil
	}
	const bytesOfBuffer, bytesOfLength = 16, 8
	start := record.Vector(o)
	for i := range record.VectorLen(o) {
		at := start + flatbuffers.UOffsetT(bytesOfBuffer*i)
		from, size := record.GetInt64(at), record.GetInt64(at+8)
		if size <= bytesOfLength {
			continue
		}
		buffer := body[from:][:size]
		if int64(binary.LittleEndian.Uint64(buffer)) == -1 { // the buffer isn't compressed
			continue
		}
		w, err := windowOf(buffer[bytesOfLength:])
		if err != nil {
			return 0, err
		}
		most = max(most, w)
	}
	return most, nil
}

var errFrame = errors.New("a buffer that is no Zstandard")

// windowOf returns the largest window of the frames in data (RFC 8878, section 3.1).
func windowOf(data []byte) (most int64, err error) {
	for len(data) > 0 {
		var h zstd.Header
		if err := h.Decode(data); err != nil {
			return most, nil // Arrow's reader fails at this frame before it allocates a window
		}
		most = max(most, int64(min(h.WindowSize, math.MaxInt64)))
		if h.SingleSegment {
			most = max(most, int64(min(h.FrameContentSize, math.MaxInt64)))
		}
		size := h.HeaderSize
		if h.Skippable {
			size += int(h.SkippableSize)
		}
		for last := h.Skippable; !last; {
			if len(data) < size+3 {
				return most, errFrame
			}
			block := uint32(data[size]) | uint32(data[size+1])<<8 | uint32(data[size+2])<<16
			n := int(block >> 3)
			if block>>1&3 == 1 { // a repeated byte
				n = 1
			}
			size, last = size+3+n, block&1 == 1
		}
		if h.HasCheckSum {
			size += 4
		}
		if size > len(data) {
			return most, errFrame
		}
		data = data[size:]
	}
	return most, nil
}

// takeWindow counts the memory that decompressing a message takes. It returns an error if the limit is exceeded.
func (m *Messages) takeWindow(meta, body []byte) error {
	var bytes int64
	err := column.Recovered(func() (err error) {
		bytes, err = window(meta, body)
		return err
	})
	if err != nil {
		return m.damaged(err)
	}
	if m.window = min(bytes, 1<<40); m.Left() < 0 {
		return m.tooLarge()
	}
	return nil
}
