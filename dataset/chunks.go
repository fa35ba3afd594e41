package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"

	"halfspace/schema"
)

const (
	chunkBytes = 1 << 20   // of text that is parsed at a time, about
	liveBytes  = 128 << 10 // the same, of what comes on standard input and is handed on at once
	// maxRecord bounds the length of a record, and with it what a file without line breaks can take of the memory.
	maxRecord = 64 << 20
	// maxTextColumns bounds the columns of a file: a label and a weight come on top of the features.
	maxTextColumns = schema.MaxFeatures + 2
)

var byteOrderMark = []byte("\xef\xbb\xbf")

func isUTF16(b []byte) bool { return hasPrefix(b, "\xff\xfe") || hasPrefix(b, "\xfe\xff") }

// A textChunk is whole records of a file of text.
type textChunk struct {
	text  []byte
	line  int64 // number in the file of the text's first line, from 1
	first bool  // of the file
}

// recycle hands the memory of a chunk, which nobody uses any more, on to later ones.
func (c textChunk) recycle(spare *sync.Pool) {
	text := c.text[:0]
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
	least  func(text []byte) bool // of a live chunker: whether a chunk is enough; nil: a record is
	rest   []byte                 // that was read and begins no whole record, in the chunk's memory, where nobody writes before next does
	line   int64
	end    bool
}

func newChunker(r *sourceReader, quotes bool, size int, spare *sync.Pool) *chunker {
	return &chunker{r: r, path: r.path, quotes: quotes, size: size, spare: spare, line: 1}
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
func (c *chunker) next() (textChunk, error) {
	if c.end {
		return textChunk{}, io.EOF
	}
	buf := append(c.buffer(max(c.size, 2*len(c.rest))), c.rest...)
	for {
		n, err := c.read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		short := errors.Is(err, errCutShort)
		if c.end = short || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF); err != nil && !c.end {
			return textChunk{}, err
		}
		if c.line == 1 && (c.end || len(buf) >= headBytes) && endsInCR(buf) {
			return textChunk{}, fmt.Errorf("%s: lines end in a carriage return alone, as on old Macs: convert them, as with "+
				"tr '\\r' '\\n'", c.path)
		}
		cut := len(buf)
		if !c.end || short {
			cut = c.cut(buf)
		}
		if cut > 0 && (c.least == nil || c.least(buf[:cut]) || len(buf) == cap(buf)) || c.end {
			ch := textChunk{buf[:cut], c.line, c.line == 1}
			c.rest = buf[cut:]
			c.line += int64(bytes.Count(ch.text, []byte{'\n'}))
			return ch, c.check(&ch)
		}
		if len(buf) >= maxRecord {
			c.end = true
			hint := "break it"
			if c.quotes && bytes.IndexByte(buf, '"') >= 0 {
				hint = "close the quotes in it"
			}
			return textChunk{}, fmt.Errorf("%s: line %d: the record that begins here is longer than %s: %s", c.path, c.line,
				bytesText(maxRecord), hint)
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
func (c *chunker) check(ch *textChunk) error {
	if !ch.first {
		return nil
	}
	ch.text = bytes.TrimPrefix(ch.text, byteOrderMark)
	if isUTF16(ch.text) {
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

// chunks yields jobs that parse the chunks of all sources in order, of about so many bytes, in memory of those that
// were recycled if there is a pool of them; parse gets the number of the source. A job that panics returns an error.
func chunks(sources []*source, quotes bool, size int, spare *sync.Pool, parse func(file int, c textChunk) iter.Seq[job]) iter.Seq[job] {
	return func(yield func(job) bool) {
		for i, s := range sources {
			for c, err := range chunksOf(s, quotes, size, spare) {
				if err != nil {
					yield(job{make: func() (*batch, error) { return nil, err }})
					return
				}
				for j := range parse(i, c) {
					if !yield(recoveredJob(j, s.path, c.line)) {
						return
					}
				}
			}
		}
	}
}

// one yields the job of a chunk.
func one(c textChunk, f func() (*batch, error)) iter.Seq[job] {
	return func(yield func(job) bool) { yield(job{parsedBytes(cap(c.text)), f}) }
}

// parsedBytes returns how much memory text and its numbers take: one of two characters, the separator included, takes eight
// bytes.
func parsedBytes(text int) int64 { return 5 * int64(text) }

// recoveredJob returns a job whose panics are errors about the lines of a file from one on.
func recoveredJob(j job, path string, line int64) job {
	return job{j.bytes, func() (b *batch, err error) {
		err = recovered(func() error {
			b, err = j.make()
			return err
		})
		if errors.As(err, new(damaged)) {
			err = fmt.Errorf("%s: from line %d on: can't be parsed (%w): check the file", path, line, err)
		}
		return b, err
	}}
}

// chunksOf yields the chunks of a source, or what went wrong after the last.
func chunksOf(s *source, quotes bool, size int, spare *sync.Pool) iter.Seq2[textChunk, error] {
	return func(yield func(textChunk, error) bool) {
		r, err := s.open()
		if err != nil {
			yield(textChunk{}, err)
			return
		}
		defer r.Close()
		c := newChunker(r, quotes, size, spare)
		if c.live = s.live(); c.live {
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
