package text

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"

	"halfspace/dataset/internal/frame"
	"halfspace/dataset/internal/source"
	"halfspace/schema"
)

const (
	ChunkBytes = 1 << 20   // of text that is parsed at a time, about
	liveBytes  = 128 << 10 // the same, of what comes on standard input and is handed on at once
	// maxRecord bounds the length of a record, and with it what a file without line breaks can take of the memory.
	maxRecord = 64 << 20
	// maxTextColumns bounds the columns of a file: a label and a weight come on top of the features.
	maxTextColumns = schema.MaxFeatures + 2
)

// ByteOrderMark is the mark that a UTF-8 file may begin with.
var ByteOrderMark = []byte("\xef\xbb\xbf")

// IsUTF16 tells whether text begins with a byte order mark of UTF-16.
func IsUTF16(b []byte) bool {
	return source.HasPrefix(b, "\xff\xfe") || source.HasPrefix(b, "\xfe\xff")
}

// A Chunk is whole records of a file of text.
type Chunk struct {
	Text  []byte
	line  int64 // number in the file of the text's first line, from 1
	first bool  // of the file
}

// recycle hands the memory of a chunk, which nobody uses any more, on to later ones.
func (c Chunk) recycle(spare *sync.Pool) {
	text := c.Text[:0]
	spare.Put(&text)
}

// A chunker cuts a file of text into chunks. A record ends at a line break; where quotes is set, not at one in quotes.
type chunker struct {
	r      io.Reader
	path   string
	quotes bool
	size   int
	spare  *sync.Pool             // *[]byte, of chunks that nobody uses any more; nil: there are none
	live   bool                   // a chunk is what there is, where that has a whole record
	least  func(text []byte) bool // whether a chunk is enough; nil: a record is
	rest   []byte                 // that was read and begins no whole record, in the chunk's memory, where nobody writes before next does
	line   int64
	end    bool
}

func newChunker(r *source.SourceReader, quotes bool, size int, spare *sync.Pool) *chunker {
	return &chunker{r: r, path: r.Path, quotes: quotes, size: size, spare: spare, line: 1}
}

// buffer returns an empty buffer of so many bytes at least.
func (c *chunker) buffer(size int) []byte {
	if c.spare != nil {
		if b, ok := c.spare.Get().(*[]byte); ok && cap(*b) >= size {
			return *b
		}
	}
	return make([]byte, 0, size)
}

// next returns the next chunk, io.EOF after the last.
func (c *chunker) next() (Chunk, error) {
	if c.end {
		return Chunk{}, io.EOF
	}
	buf := append(c.buffer(max(c.size, 2*len(c.rest))), c.rest...)
	for {
		n, err := c.read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		short := errors.Is(err, source.ErrCutShort)
		if c.end = short || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF); err != nil && !c.end {
			return Chunk{}, err
		}
		if c.line == 1 && (c.end || len(buf) >= HeadBytes) && endsInCR(buf) {
			return Chunk{}, fmt.Errorf("%s: lines end in a carriage return alone, as on old Macs: convert them, as with "+
				"tr '\\r' '\\n'", c.path)
		}
		cut := len(buf)
		if !c.end || short {
			cut = c.cut(buf)
		}
		if cut > 0 && (c.least == nil || c.least(buf[:cut]) || len(buf) >= maxRecord) || c.end {
			ch := Chunk{buf[:cut], c.line, c.line == 1}
			c.rest = buf[cut:]
			c.line += int64(bytes.Count(ch.Text, []byte{'\n'}))
			return ch, c.check(&ch)
		}
		if len(buf) >= maxRecord {
			c.end = true
			hint := "break it"
			if c.quotes && bytes.IndexByte(buf, '"') >= 0 {
				hint = "close the quotes in it"
			}
			return Chunk{}, fmt.Errorf("%s: line %d: the record that begins here is longer than %s: %s", c.path, c.line,
				frame.BytesText(maxRecord), hint)
		}
		if len(buf) == cap(buf) {
			buf = append(make([]byte, 0, min(maxRecord, 2*cap(buf))), buf...)
		}
	}
}

// read fills p, or, of a live source, reads what there is.
func (c *chunker) read(p []byte) (int, error) {
	if c.live {
		return c.r.Read(p)
	}
	return io.ReadFull(c.r, p)
}

// endsInCR tells whether text has lines that carriage returns end, and no others.
func endsInCR(text []byte) bool {
	i := bytes.IndexByte(text, '\r')
	return i >= 0 && bytes.IndexByte(text, '\n') < 0 && len(bytes.TrimSpace(text[i:])) > 0 && bytes.Count(text[:i], []byte{'"'})%2 == 0
}

// check takes the byte order mark from the first chunk.
func (c *chunker) check(ch *Chunk) error {
	if !ch.first {
		return nil
	}
	ch.Text = bytes.TrimPrefix(ch.Text, ByteOrderMark)
	if IsUTF16(ch.Text) {
		return fmt.Errorf("%s: the text is UTF-16: save it as UTF-8", c.path)
	}
	return nil
}

// cut returns the end of the last record in text that begins with one, 0 if it has none. A line break is in quotes where
// an odd number of them stands before it, since quotes in quotes are doubled.
func (c *chunker) cut(text []byte) int {
	i := bytes.LastIndexByte(text, '\n')
	if !c.quotes || i < 0 || bytes.IndexByte(text, '"') < 0 {
		return i + 1
	}
	quote := []byte{'"'}
	before := bytes.Count(text[:i], quote)
	for i >= 0 && before%2 == 1 {
		j := bytes.LastIndexByte(text[:i], '\n')
		before -= bytes.Count(text[j+1:i], quote)
		i = j
	}
	return i + 1
}

// Chunks yields jobs that parse the chunks of all sources in order. A chunk has about size bytes, in recycled memory if
// there is a pool of it. parse gets the number of the source. A job that panics returns an error.
func Chunks(sources []*source.Source, quotes bool, size int, spare *sync.Pool, parse func(file int, c Chunk) iter.Seq[frame.Job]) iter.Seq[frame.Job] {
	return func(yield func(frame.Job) bool) {
		for i, s := range sources {
			for c, err := range ChunksOf(s, quotes, size, spare) {
				if err != nil {
					yield(frame.Job{Make: func() (*frame.Batch, error) { return nil, err }})
					return
				}
				for j := range parse(i, c) {
					if !yield(recoveredJob(j, s.Path, c.line)) {
						return
					}
				}
			}
		}
	}
}

// One yields the job of a chunk.
func One(c Chunk, f func() (*frame.Batch, error)) iter.Seq[frame.Job] {
	return func(yield func(frame.Job) bool) { yield(frame.Job{Bytes: parsedBytes(cap(c.Text)), Make: f}) }
}

// parsedBytes returns how much memory text and its numbers take: one of two characters, the separator included, takes eight
// bytes.
func parsedBytes(text int) int64 { return 5 * int64(text) }

// recoveredJob returns a job whose panics are errors about the lines of a file from one on.
func recoveredJob(j frame.Job, path string, line int64) frame.Job {
	return frame.Job{Bytes: j.Bytes, Make: func() (b *frame.Batch, err error) {
		err = frame.Recovered(func() error {
			b, err = j.Make()
			return err
		})
		if errors.As(err, new(frame.Damaged)) {
			err = fmt.Errorf("%s: from line %d on: can't be parsed (%w): check the file", path, line, err)
		}
		return b, err
	}}
}

// ChunksOf yields the chunks of a source, or what went wrong after the last.
func ChunksOf(s *source.Source, quotes bool, size int, spare *sync.Pool) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		r, err := s.Open()
		if err != nil {
			yield(Chunk{}, err)
			return
		}
		defer r.Close()
		c := newChunker(r, quotes, size, spare)
		if c.live = s.Live(); c.live {
			c.size = min(size, liveBytes)
		}
		for {
			ch, err := c.next()
			if err == io.EOF || !yield(ch, err) || err != nil {
				return
			}
		}
	}
}
