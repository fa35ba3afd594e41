package text

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"sync"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/source"
	"halfspace/internal/humanize"
)

// Heads are the dialects of the files of a table, and the guesses that the first rows suggest. A table keeps them, so that
// only the first of several passes examines these rows.
type Heads struct {
	mu      sync.Mutex
	latest  heads
	options string // of latest; "": there is none
}

// heads is the result of examining the first rows of files.
type heads struct {
	files []CsvFile
	first guesses // about the first file that isn't empty
	all   bool    // the first rows are all rows
}

// read returns the heads of files. words are the texts that are nulls. With nil, it examines the files at each call.
func (h *Heads) read(ctx context.Context, sources []*source.File, words []string, opt Options) (heads, error) {
	if h == nil {
		return examineHeads(ctx, sources, words, opt)
	}
	options := fmt.Sprintf("%q %q %t %q %q %t %q", opt.Header, opt.Delimiter, opt.SkipsBroken, opt.Names, words, words == nil, opt.Nulls)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.options == options {
		return h.latest, nil
	}
	read, err := examineHeads(ctx, sources, words, opt)
	if err == nil {
		h.latest, h.options = read, options
	}
	return read, err
}

func examineHeads(ctx context.Context, sources []*source.File, words []string, opt Options) (h heads, err error) {
	var first firstRows
	if h.files, first, err = Dialects(ctx, sources, opt); err != nil {
		return h, err
	}
	for i := range h.files {
		h.files[i].nulls = newNullWords(words)
	}
	h.all = first.all
	h.first, err = h.files[first.file].guesses(ctx, first.Chunk)
	return h, err
}

// firstRows are the first rows of the first file that isn't empty.
type firstRows struct {
	Chunk
	file int  // number of the file
	all  bool // there are no other rows
}

// Dialects detects the dialect of each file that is not empty. It also returns the first rows of the first of these files. It
// returns an error if all files are empty.
func Dialects(ctx context.Context, sources []*source.File, text Options) (files []CsvFile, first firstRows, err error) {
	files = make([]CsvFile, len(sources))
	lead := -1 // the first file that isn't empty
	for i, s := range sources {
		if err := ctx.Err(); err != nil {
			return nil, first, err
		}
		size, f := HeadBytes, &files[i]
		if lead < 0 {
			size = SampleBytes
		}
		at := Breaks{Quote: '"'}
		if text.SkipsBroken {
			at = Breaks{}
		}
		head, all, err := headOf(s, size, at, isDecisive)
		if err != nil {
			return nil, first, err
		}
		if *f = (CsvFile{path: s.Path, empty: isBlankChunk(head)}); f.empty {
			continue
		}
		if !text.SkipsBroken {
			if err := head.strayError(s.Path, bytes.TrimRight(head.Text[:lineLength(head.Text)], "\r\n"), nil); err != nil {
				return nil, first, err
			}
		}
		if lead < 0 {
			lead, first = i, firstRows{head, i, all}
		} else {
			first.all = false
		}
		f.dialect, err = detect(ctx, s.Path, head, text)
		if err == nil && i > lead && f.unsure {
			like := text
			like.inferred = true
			like.Header = map[bool]string{true: "yes", false: "no"}[files[lead].Header]
			f.dialect, err = detect(ctx, s.Path, head, like)
		}
		if err = cmp.Or(err, column.CheckColumns(s.Path, len(f.names), s.Memory)); err != nil {
			return nil, first, err
		}
	}
	if lead < 0 {
		return nil, first, errEmpty(sources)
	}
	return files, first, nil
}

// isBlankChunk returns true if a chunk has no text.
func isBlankChunk(c Chunk) bool { return len(bytes.TrimSpace(c.Text)) == 0 }

// errEmpty returns the error that all files are empty.
func errEmpty(files []*source.File) error {
	return column.ErrorIn(humanize.Files(source.Paths(files)), "the file is empty: write it again")
}

// headOf returns the first chunk of a source, and true if that is the whole source.
func headOf(s *source.File, size int, at Breaks, least func(text []byte) bool) (c Chunk, all bool, err error) {
	r, err := s.Open()
	if err != nil {
		return c, false, err
	}
	defer r.Close()
	cutter := newChunker(r, at, size, nil)
	cutter.live, cutter.least, cutter.detect = s.Live(), least, at.Quote != 0
	if c, err = cutter.next(); err == io.EOF {
		err = nil
	}
	return c, cutter.end, err
}

// isDecisive returns true if the first records of a file are enough to detect its dialect: two records, or one that
// isn't a header.
func isDecisive(text []byte) bool {
	n, c := 0, Chunk{Text: text, line: 1}
	g := delimited(0)
	g.comments = text[0] == '#'
	g.Comma = detectComma(c, g)
	for fields, err := range firstRecords(c, g) {
		if n++; err != nil || n == 2 || slices.ContainsFunc(fields, csvField.isNumberOrBoolean) {
			return true
		}
	}
	return false
}
