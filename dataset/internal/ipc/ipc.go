// Package ipc reads Arrow IPC, as a file or as a stream.
package ipc

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"runtime"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/source"
	"halfspace/internal/message"
)

const (
	ArrowMagic        = "ARROW1"
	ArrowContinuation = "\xff\xff\xff\xff"
	maxArrowMetadata  = 64 << 20 // maximum bytes of a message's metadata
	largeBody         = 64 << 20 // if the last message took more, its memory is collected before the next message is read
)

// arrowInput is the selected columns of Arrow IPC files or streams. A file is read as the stream that it contains.
type arrowInput struct {
	source.Input
	tables *column.Tables
	bound  []*column.Roles // for each file, the columns with their places in this file
	rows   []int64         // of each file, by its messages; -1: unknown until all are read
}

// Open reads the schema of each file and chooses the columns to read.
func Open(files []*source.File, req column.OpenOptions) (*arrowInput, error) {
	in := &arrowInput{Input: source.Input{Files: files}}
	in.tables = column.NewTables(in.Paths(), req)
	for i, f := range files {
		r, err := openRecords(f, memory.DefaultAllocator, req.Memory)
		if err != nil {
			return nil, err
		}
		in.tables.Set(i, column.FieldColumns(r.Schema()))
		in.rows = append(in.rows, r.messages.claimedRows())
		r.release()
	}
	var err error
	if in.Roles, err = in.tables.AssignRoles(false); err != nil {
		return nil, err
	}
	for i := range files {
		bound := *in.Roles
		if bound.Columns, err = in.tables.Bind(i); err != nil {
			return nil, err
		}
		for k, c := range bound.Columns {
			in.Roles.Columns[k].Nullable = in.Roles.Columns[k].Nullable || c.Nullable
		}
		in.bound = append(in.bound, &bound)
	}
	return in, nil
}

// LabelOnly returns the same input, because a record has all columns anyway.
func (in *arrowInput) LabelOnly() column.Input { return in }

// Total returns the number of rows that the messages of the files claim, or -1 if it is unknown for a file. Batches
// returns an error if a file has another number of rows.
func (in *arrowInput) Total() (rows int64) {
	for _, n := range in.rows {
		if n < 0 {
			return -1
		}
		rows += n
	}
	return rows
}

func (in *arrowInput) Most() int64 { return in.Total() }

// Stored returns the number of bytes of the files, without standard input.
func (in *arrowInput) Stored() (bytes int64) {
	for _, f := range in.Files {
		if f.Stdin == nil {
			bytes += f.Info.Size()
		}
	}
	return bytes
}

func (in *arrowInput) Notes() []string { return in.tables.Notes(in.Paths()) }

func (in *arrowInput) Batches(ctx context.Context, _ column.Pool, mem memory.Allocator) iter.Seq2[*column.Batch, error] {
	return in.tables.CountRows(func(yield func(*column.Batch, error) bool) {
		for i, s := range in.Files {
			rows := int64(0)
			for b, err := range BatchesOf(ctx, s, in.bound[i], mem, in.Memory) {
				if b != nil {
					rows += b.Rows
				}
				if !yield(b, err) || err != nil {
					return
				}
			}
			if in.rows[i] >= 0 && rows != in.rows[i] {
				yield(nil, fmt.Errorf("%s: the data changed while it was read: try again", s.Path))
				return
			}
		}
	})
}

// BatchesOf yields the chosen columns of a source. most is the maximum number of bytes of memory of its messages.
func BatchesOf(ctx context.Context, s *source.File, roles *column.Roles, mem memory.Allocator, most int64) iter.Seq2[*column.Batch, error] {
	return func(yield func(*column.Batch, error) bool) {
		r, err := openRecords(s, mem, most)
		if err != nil {
			yield(nil, err)
			return
		}
		defer r.release()
		for b, err := range column.RecordBatches(ctx, r, roles, r.messages.Left) {
			switch {
			case r.messages.err != nil: // it is more exact than Arrow's error
				b.Release()
				b, err = nil, r.messages.err
			case err != nil && ctx.Err() == nil:
				err = fmt.Errorf("%s: %w", s.Path, err)
			case err == nil:
				b.File = s.Path
				if err = b.Complete(roles.Columns, roles.Columns); err != nil {
					b.Release()
					b = nil
				}
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
	messages *Messages
	mem      memory.Allocator
	record   arrow.Record // see Record; nil: none
}

func openRecords(s *source.File, mem memory.Allocator, most int64) (*recordReader, error) {
	src, err := s.Open()
	if err != nil {
		return nil, err
	}
	if most == 0 {
		most = column.AvailableMemory()
	}
	m := &Messages{src: src, size: math.MaxInt64, Most: most, Dictionaries: map[int64]int64{}}
	if s.Stdin == nil && src.Compression == "" {
		m.size = s.Info.Size()
	}
	r := &recordReader{messages: m, mem: &limited{mem, m}}
	err = m.begin()
	if err == nil {
		err = column.Recovered(func() (err error) {
			r.Reader, err = ipc.NewReaderFromMessageReader(m, ipc.WithAllocator(r.mem))
			return err
		})
	}
	if m.err != nil {
		err = m.err
	} else if err != nil {
		err = fmt.Errorf("%s: the schema can't be read (%s): write the file again", s.Path, column.OneLine(err.Error()))
	}
	if err != nil {
		src.Close()
		return nil, err
	}
	return r, nil
}

// Next is ipc.Reader.Next. That method copies the data of a record, so Next releases the message.
func (r *recordReader) Next() bool {
	more := r.Reader.Next()
	r.messages.Release()
	return more
}

func (r *recordReader) release() {
	if r.record != nil {
		r.record.Release()
	}
	r.Release()
	r.messages.src.Close()
}

// Messages reads the messages of a stream. Arrow's own reader trusts the sizes that a message claims, and treats a
// stream that was cut between two messages as complete.
type Messages struct {
	src      *source.Reader
	size     int64                         // bytes of the source if known, otherwise math.MaxInt64
	file     bool                          // a footer ends the stream
	decimals map[int]*arrow.Decimal128Type // see adapt; by the number of the column
	current  *ipc.Message
	meta     []byte // of the current message
	err      error  // the first error; it names the file

	Most         int64           // maximum bytes of memory of a message, the data decoded from it, and the dictionaries
	body, Taken  int64           // bytes of the current message, and of the data decoded from it
	window       int64           // bytes of memory for decompressing the current message
	Dictionaries map[int64]int64 // bytes of each dictionary, by its number; dictionaries stay in memory
}

// Retain does nothing. The interface requires it; the recordReader closes the source.
func (m *Messages) Retain() {}

// Release releases the current message.
func (m *Messages) Release() {
	if m.current != nil {
		m.current.Release()
		m.current, m.body = nil, 0
	}
}

// begin skips the bytes of a file before its stream.
func (m *Messages) begin() error {
	var head [8]byte
	n, err := io.ReadFull(m.src, head[:])
	switch {
	case err != nil && err != io.EOF && err != io.ErrUnexpectedEOF:
		m.err = err
	case n == 0:
		m.err = fmt.Errorf("%s: the file is empty: write it again", m.src.Path)
	case column.HasPrefix(head[:], ArrowMagic):
		m.file = true
	case column.HasPrefix(head[:n], "FEA1"):
		m.err = fmt.Errorf("%s: Feather of version 1 can't be read: write it as version 2, or as Parquet", m.src.Path)
	case !column.HasPrefix(head[:n], ArrowContinuation):
		m.err = fmt.Errorf("%s: neither an Arrow IPC file nor a stream: check the file", m.src.Path)
	default:
		m.src.R = io.MultiReader(bytes.NewReader(head[:n]), m.src.R)
	}
	return m.err
}

// Message returns the next message, valid until the next call, or io.EOF at the mark that ends a stream.
func (m *Messages) Message() (*ipc.Message, error) {
	m.keepDictionary()
	large := m.body+m.Taken > largeBody
	m.Release()
	m.Taken, m.window = 0, 0
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

// header reads the next message up to its body, and returns its metadata and the size of its body in bytes, which may
// be wrong. It returns io.EOF at the end.
func (m *Messages) header() (meta []byte, body int64, err error) {
	head, err := m.bytes(8, 8)
	if err != nil {
		return nil, 0, err
	}
	size := int64(int32(binary.LittleEndian.Uint32(head[4:])))
	switch {
	case string(head[:4]) != ArrowContinuation && m.file: // the mark that ends a stream may be absent
		return nil, 0, m.footer(head)
	case string(head[:4]) != ArrowContinuation:
		return nil, 0, m.damaged(errors.New("no message where one should begin"))
	case size == 0 && m.file:
		return nil, 0, m.footer(nil)
	case size == 0:
		return nil, 0, cmp.Or(m.src.Unchanged(), io.EOF)
	}
	if meta, err = m.bytes(size, maxArrowMetadata); err != nil {
		return nil, 0, err
	}
	err = column.Recovered(func() error {
		if err := checkMessage(meta); err != nil {
			return err
		}
		body = ipc.NewMessage(memory.NewBufferBytes(meta), memory.NewBufferBytes(nil)).BodyLen()
		return nil
	})
	if err != nil {
		return nil, 0, m.damaged(err)
	}
	return meta, body, nil
}

func (m *Messages) read() (*ipc.Message, error) {
	meta, body, err := m.header()
	if err != nil {
		return nil, err
	}
	if kind, _, _ := headerOf(meta); kind == MessageSchema {
		err := column.Recovered(func() (err error) {
			meta, err = m.adapt(meta)
			return err
		})
		if bad := (column.Damaged{}); errors.As(err, &bad) {
			return nil, m.damaged(bad)
		} else if err != nil {
			return nil, err
		}
	}
	if body > m.size {
		return nil, m.truncated()
	}
	if m.body = max(0, body); m.Left() < 0 {
		return nil, m.tooLarge()
	}
	data, err := m.bytes(body, m.Most)
	if err != nil {
		return nil, err
	}
	if err := m.takeWindow(meta, data); err != nil {
		return nil, err
	}
	m.meta = meta
	return ipc.NewMessage(memory.NewBufferBytes(meta), memory.NewBufferBytes(data)), nil
}

// footer reads the end of a file after head: the rest of the footer, its size, the magic. It returns io.EOF if all
// are there.
func (m *Messages) footer(head []byte) error {
	var buf bytes.Buffer
	buf.Write(head)
	if _, err := io.CopyN(&buf, m.src, maxArrowMetadata); err != io.EOF {
		if err == nil {
			err = m.damaged(errors.New("no message where one should begin"))
		}
		return err
	}
	rest, ok := bytes.CutSuffix(buf.Bytes(), []byte(ArrowMagic))
	if n := len(rest) - 4; ok && n >= 0 && int64(binary.LittleEndian.Uint32(rest[n:])) == int64(n) {
		return io.EOF
	}
	return m.truncated()
}

func (m *Messages) truncated() error {
	return column.Mark(fmt.Errorf("%s: the data is truncated, since no mark ends it: copy or write the file again",
		m.src.Path), column.ErrDamaged)
}

// bytes reads n bytes. If the source may have fewer, it reads half of them before it allocates a buffer for all of them.
func (m *Messages) bytes(n, most int64) ([]byte, error) {
	if n < 0 || n > most {
		return nil, m.damaged(fmt.Errorf("a message part of %d bytes, more than %d", n, most))
	}
	steps := 0
	for n>>steps > 1<<20 && (m.size == math.MaxInt64 || n > m.size) {
		steps++
	}
	var data []byte
	for ; steps >= 0; steps-- {
		more := append(make([]byte, 0, n>>steps), data...)
		got, err := io.ReadFull(m.src, more[len(data):cap(more)])
		data = more[:len(data)+got]
		switch {
		case err == io.EOF && len(data) == int(n): // there were no bytes to read
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			return nil, m.truncated()
		case err != nil:
			return nil, err
		}
	}
	return data, nil
}

func (m *Messages) damaged(err error) error {
	return column.Mark(fmt.Errorf("%s: the data is damaged (%s): write the file again", m.src.Path,
		column.OneLine(err.Error())), column.ErrDamaged)
}

// Left returns the number of bytes of memory that may still be used. It is negative if the limit is exceeded.
func (m *Messages) Left() int64 {
	left := m.Most - m.body - m.window - m.Taken
	for _, bytes := range m.Dictionaries {
		left -= bytes
	}
	return left
}

func (m *Messages) tooLarge() error {
	return column.Mark(message.Errorf("%s: a record and the dictionaries take at least %s of memory, and the limit "+
		"is %s: give more with --memory, or write smaller records", m.src.Path, column.BytesText(m.Most-m.Left()),
		column.BytesText(m.Most)), column.ErrMemory)
}

// keepDictionary records the memory of the current message if it has a dictionary, which stays in memory.
func (m *Messages) keepDictionary() {
	if m.current != nil && m.current.Type() == ipc.MessageDictionaryBatch {
		m.Keep(dictionaryOf(m.meta))
	}
}

// Keep records that the current message is a dictionary. It replaces an earlier dictionary of the same number, or is
// added to it if delta is true.
func (m *Messages) Keep(id int64, delta bool) {
	if !delta {
		m.Dictionaries[id] = 0
	}
	m.Dictionaries[id] += m.Taken
}

// limited counts the memory of a message. Above the limit it panics, and the reader recovers from it.
type limited struct {
	memory.Allocator
	*Messages
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
	l.Taken += max(0, size)
	if l.Left() < 0 {
		l.err = l.tooLarge()
		panic("too large a message")
	}
}
