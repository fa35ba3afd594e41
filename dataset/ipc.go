package dataset

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"runtime"

	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

const (
	arrowMagic        = "ARROW1"
	arrowContinuation = "\xff\xff\xff\xff"
	maxArrowMetadata  = 64 << 20 // bytes of a message's metadata
	largeBody         = 64 << 20 // what the last one took is collected before such a body is read
)

// arrowInput is the selected columns of Arrow IPC files or streams. A file is read as the stream that it holds.
type arrowInput struct {
	sources []*source
	bound   []*chosen // of each source: the columns where it has them
	sel     *chosen
	memory  int64 // that a pass may take; 0: what is available
}

func openArrow(sources []*source, req request) (*arrowInput, error) {
	in := &arrowInput{sources: sources}
	for i, s := range sources {
		r, err := openRecords(s, memory.DefaultAllocator, req.memory)
		if err != nil {
			return nil, err
		}
		cols := fieldColumns(r.Schema())
		r.close()
		if i == 0 {
			if in.sel, err = req.choose.first(s.path, cols, false); err != nil {
				return nil, err
			}
		}
		bound := *in.sel
		if bound.columns, err = req.choose.further(s.path, cols); err != nil {
			return nil, err
		}
		for k, c := range bound.columns {
			in.sel.columns[k].nullable = in.sel.columns[k].nullable || c.nullable
		}
		in.bound = append(in.bound, &bound)
	}
	return in, nil
}

func (in *arrowInput) labelOnly() input { return in }
func (in *arrowInput) name() string     { return nameOf(in.sources) }
func (in *arrowInput) total() int64     { return -1 }
func (in *arrowInput) most() int64      { return -1 }
func (in *arrowInput) chosen() *chosen  { return in.sel }
func (in *arrowInput) lastPass()        { lastPass(in.sources) }
func (in *arrowInput) notes() []string  { return nil }

func (in *arrowInput) batches(ctx context.Context, _ pool, mem memory.Allocator) iter.Seq2[*batch, error] {
	return func(yield func(*batch, error) bool) {
		for i, s := range in.sources {
			for b, err := range batchesOf(ctx, s, in.bound[i], mem, in.memory) {
				if !yield(b, err) || err != nil {
					return
				}
			}
		}
	}
}

// batchesOf yields the chosen columns of a source, whose messages may take that much memory.
func batchesOf(ctx context.Context, s *source, sel *chosen, mem memory.Allocator, most int64) iter.Seq2[*batch, error] {
	return func(yield func(*batch, error) bool) {
		r, err := openRecords(s, mem, most)
		if err != nil {
			yield(nil, err)
			return
		}
		defer r.close()
		for b, err := range recordBatches(ctx, r, sel) {
			switch {
			case r.messages.err != nil: // it knows better than what Arrow makes of it
				b.release()
				b, err = nil, r.messages.err
			case err != nil && ctx.Err() == nil:
				err = fmt.Errorf("%s: %w", s.path, err)
			case err == nil:
				b.file = s.path
			}
			if !yield(b, err) || err != nil {
				return
			}
		}
		if r.messages.err != nil {
			yield(nil, r.messages.err)
		}
	}
}

// A recordReader reads the records of a source.
type recordReader struct {
	*ipc.Reader
	messages *messages
}

func openRecords(s *source, mem memory.Allocator, most int64) (*recordReader, error) {
	src, err := s.open()
	if err != nil {
		return nil, err
	}
	if most == 0 {
		most = availableMemory()
	}
	m := &messages{src: src, size: math.MaxInt64, most: most, dictionaries: map[int64]int64{}}
	if s.stdin == nil && !src.gzip {
		m.size = s.info.Size()
	}
	r := &recordReader{messages: m}
	err = m.begin()
	if err == nil {
		err = recovered(func() (err error) {
			r.Reader, err = ipc.NewReaderFromMessageReader(m, ipc.WithAllocator(&limited{mem, m}))
			return err
		})
	}
	if m.err != nil {
		err = m.err
	} else if err != nil {
		err = fmt.Errorf("%s: the schema can't be read (%s): write the file again", s.path, oneLine(err.Error()))
	}
	if err != nil {
		src.Close()
		return nil, err
	}
	return r, nil
}

// Next is that of ipc.Reader, which copies what it makes a record of: the message isn't needed then.
func (r *recordReader) Next() bool {
	more := r.Reader.Next()
	r.messages.Release()
	return more
}

func (r *recordReader) close() {
	r.Release()
	r.messages.src.Close()
}

// messages reads the messages of a stream. Arrow's own reader believes the sizes that a message says it has, and takes a
// stream that was cut between two messages for whole.
type messages struct {
	src     *sourceReader
	size    int64 // bytes of the source, where that is known
	file    bool  // a footer ends the stream
	current *ipc.Message
	meta    []byte // of the current message
	err     error  // the first, which names the file

	most         int64           // bytes of memory for a message, what is made of it, and dictionaries
	body, taken  int64           // bytes of the current message, and of what is made of it
	dictionaries map[int64]int64 // bytes of each, by its number: they stay
}

// Retain and Release are what the interface asks for; a recordReader closes the source.
func (m *messages) Retain() {}

func (m *messages) Release() {
	if m.current != nil {
		m.current.Release()
		m.current, m.body = nil, 0
	}
}

// begin goes past what a file has in front of its stream.
func (m *messages) begin() error {
	var head [8]byte
	n, err := io.ReadFull(m.src, head[:])
	switch {
	case err != nil && err != io.EOF && err != io.ErrUnexpectedEOF:
		m.err = err
	case n == 0:
		m.err = fmt.Errorf("%s: the file is empty: write it again", m.src.path)
	case hasPrefix(head[:], arrowMagic):
		m.file = true
	case hasPrefix(head[:n], "FEA1"):
		m.err = fmt.Errorf("%s: Feather of version 1 can't be read: write it as version 2, or as Parquet", m.src.path)
	case !hasPrefix(head[:n], arrowContinuation):
		m.err = fmt.Errorf("%s: neither an Arrow IPC file nor a stream: check the file", m.src.path)
	default:
		m.src.r = io.MultiReader(bytes.NewReader(head[:n]), m.src.r)
	}
	return m.err
}

// Message returns the next message, valid until the next call, and io.EOF at the mark that ends a stream.
func (m *messages) Message() (*ipc.Message, error) {
	m.keepDictionary()
	large := m.body+m.taken > largeBody
	m.Release()
	m.taken = 0
	if m.err != nil {
		return nil, m.err
	}
	if large {
		runtime.GC()
	}
	msg, err := m.read()
	if err != nil && err != io.EOF {
		m.err = err
	}
	m.current = msg
	return msg, err
}

func (m *messages) read() (*ipc.Message, error) {
	head, err := m.bytes(8, 8)
	if err != nil {
		return nil, err
	}
	size := int64(int32(binary.LittleEndian.Uint32(head[4:])))
	switch {
	case string(head[:4]) != arrowContinuation && m.file: // the mark that ends a stream may be absent
		return nil, m.footer(head)
	case string(head[:4]) != arrowContinuation:
		return nil, m.damaged(errors.New("no message where one should begin"))
	case size == 0 && m.file:
		return nil, m.footer(nil)
	case size == 0:
		return nil, io.EOF
	}
	meta, err := m.bytes(size, maxArrowMetadata)
	if err != nil {
		return nil, err
	}
	var body int64
	err = recovered(func() error {
		if err := checkMessage(meta); err != nil {
			return err
		}
		body = ipc.NewMessage(memory.NewBufferBytes(meta), memory.NewBufferBytes(nil)).BodyLen()
		return nil
	})
	if err != nil {
		return nil, m.damaged(err)
	}
	if body > m.size {
		return nil, m.truncated()
	}
	if m.body = max(0, body); m.left() < 0 {
		return nil, m.tooLarge()
	}
	data, err := m.bytes(body, m.most)
	if err != nil {
		return nil, err
	}
	m.meta = meta
	return ipc.NewMessage(memory.NewBufferBytes(meta), memory.NewBufferBytes(data)), nil
}

// footer reads what ends a file, of which head was read: its size and the magic stand at its end. It returns io.EOF if
// all of it is there.
func (m *messages) footer(head []byte) error {
	var buf bytes.Buffer
	buf.Write(head)
	if _, err := io.CopyN(&buf, m.src, maxArrowMetadata); err != io.EOF {
		if err == nil {
			err = m.damaged(errors.New("no message where one should begin"))
		}
		return err
	}
	rest, ok := bytes.CutSuffix(buf.Bytes(), []byte(arrowMagic))
	if n := len(rest) - 4; ok && n >= 0 && int64(binary.LittleEndian.Uint32(rest[n:])) == int64(n) {
		return io.EOF
	}
	return m.truncated()
}

func (m *messages) truncated() error {
	return fmt.Errorf("%s: the data is truncated, since no mark ends it: copy or write the file again", m.src.path)
}

// bytes reads n bytes. It takes memory only as they come: half of it is read before the whole is made.
func (m *messages) bytes(n, most int64) ([]byte, error) {
	if n < 0 || n > most {
		return nil, m.damaged(fmt.Errorf("a message part of %d bytes, more than %d", n, most))
	}
	steps := 0
	for n>>steps > 1<<20 {
		steps++
	}
	var data []byte
	for ; steps >= 0; steps-- {
		more := append(make([]byte, 0, n>>steps), data...)
		got, err := io.ReadFull(m.src, more[len(data):cap(more)])
		data = more[:len(data)+got]
		switch {
		case err == io.EOF && len(data) == int(n): // nothing was to be read
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			return nil, m.truncated()
		case err != nil:
			return nil, err
		}
	}
	return data, nil
}

func (m *messages) damaged(err error) error {
	return fmt.Errorf("%s: the data is damaged (%s): write the file again", m.src.path, oneLine(err.Error()))
}

// left returns how much memory is left, less than 0 if none is.
func (m *messages) left() int64 {
	left := m.most - m.body - m.taken
	for _, bytes := range m.dictionaries {
		left -= bytes
	}
	return left
}

func (m *messages) tooLarge() error {
	return fmt.Errorf("%s: a record and the dictionaries take at least %s of memory, and the limit is %s: give more with --memory, or write "+
		"smaller records", m.src.path, bytesText(m.most-m.left()), bytesText(m.most))
}

// keepDictionary notes what stays of the current message if it has a dictionary.
func (m *messages) keepDictionary() {
	if m.current != nil && m.current.Type() == ipc.MessageDictionaryBatch {
		m.keep(dictionaryOf(m.meta))
	}
}

// keep notes that the current message is a dictionary, which takes the place of an earlier one of its number or is added to that.
func (m *messages) keep(id int64, delta bool) {
	if !delta {
		m.dictionaries[id] = 0
	}
	m.dictionaries[id] += m.taken
}

// limited counts what a message takes and refuses more than there may be, by a panic that the reader recovers from.
type limited struct {
	memory.Allocator
	*messages
}

func (l *limited) Allocate(size int) []byte {
	l.take(int64(size))
	return l.Allocator.Allocate(size)
}

func (l *limited) Reallocate(size int, b []byte) []byte {
	l.take(int64(size - len(b)))
	return l.Allocator.Reallocate(size, b)
}

func (l *limited) take(size int64) {
	l.taken += max(0, size)
	if l.left() < 0 {
		l.err = l.tooLarge()
		panic("too large a message")
	}
}
