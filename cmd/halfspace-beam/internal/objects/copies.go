package objects

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"os"
	"slices"
	"sync"
	"time"

	"halfspace/internal/files"
)

// A reader of Parquet reads many small pieces, and a request takes some 50 ms. So requests are for larger pieces, which go to a local
// file. An object is cut into windows, and these into blocks. A request fetches consecutive blocks of one window.
const (
	blockBytes  = 64 << 10
	windowBytes = 64 * blockBytes // 4 MiB: a bit of a word for each block
)

// copies are the parts of objects that this process has fetched, in one temporary file without a name. Each window that was touched has
// a slot of windowBytes in it.
type copies struct {
	mu      sync.Mutex
	file    *os.File            // nil before the first slot
	slots   int64               // of the file
	free    []int64             // slots that nobody uses any more
	objects map[string]*partial // the last version of each URL that was opened
}

// A partial is a version of an object, of which some blocks are in the file.
type partial struct {
	*copies
	info    info
	fetch   fetcher
	users   int  // that have it open
	dropped bool // another version has taken its place, or other objects are kept

	mu      sync.Mutex
	windows map[int64]*window
}

// A window is a part of an object, whose blocks are all in one slot.
type window struct {
	slot int64
	have uint64        // a bit for each block that is in the slot
	busy chan struct{} // closed when the blocks that are being fetched are there, or have failed; nil: there are none
	err  error         // of the last fetch
}

// A fetcher begins to read an object: at most bytes bytes from byte at on.
type fetcher func(ctx context.Context, at, bytes int64) (io.ReadCloser, error)

// open returns the partial of a version of an object for one more user. An older version is dropped.
func (c *copies) open(url string, i info, fetch fetcher) *partial {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.objects[url]
	if p == nil || !files.SameFile(p.info, i) {
		if p != nil {
			p.dropped = true
			p.release()
		}
		p = &partial{copies: c, info: i, fetch: fetch, windows: map[int64]*window{}}
		c.objects[url] = p
	}
	p.users++
	return p
}

// keep drops the partials of all but these URLs.
func (c *copies) keep(urls []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for url, p := range c.objects {
		if !slices.Contains(urls, url) {
			delete(c.objects, url)
			p.dropped = true
			p.release()
		}
	}
}

// endUse ends one use of p.
func (p *partial) endUse() {
	p.copies.mu.Lock()
	defer p.copies.mu.Unlock()
	p.users--
	p.release()
}

// release gives the slots of a dropped version back once nobody uses it.
func (p *partial) release() {
	if p.dropped && p.users == 0 {
		for _, w := range p.windows {
			p.free = append(p.free, w.slot)
		}
		p.windows = nil
	}
}

// slot returns a free slot. It opens the file first if there is none.
func (c *copies) slot() (slot int64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.file == nil {
		if c.file, err = files.CreateUnnamed(); err != nil {
			return 0, err
		}
	}
	if n := len(c.free); n > 0 {
		slot = c.free[n-1]
		c.free = c.free[:n-1]
		return slot, nil
	}
	c.slots++
	return c.slots - 1, nil
}

// readAt reads like io.ReaderAt, and fetches blocks that are missing.
func (p *partial) readAt(ctx context.Context, b []byte, at int64) (n int, err error) {
	if at < 0 {
		return 0, errors.New("a read before the beginning")
	}
	if at >= p.info.size {
		return 0, io.EOF
	}
	if int64(len(b)) > p.info.size-at {
		b, err = b[:p.info.size-at], io.EOF
	}
	for n < len(b) {
		number := (at + int64(n)) / windowBytes
		from := at + int64(n) - number*windowBytes
		part := b[n:][:min(int64(len(b)-n), windowBytes-from)]
		slot, failed := p.ensure(ctx, number, from, from+int64(len(part)))
		if failed == nil {
			_, failed = p.file.ReadAt(part, slot*windowBytes+from)
			failed = unkept(failed)
		}
		if failed != nil {
			return n, failed
		}
		n += len(part)
	}
	return n, err
}

// ensure fetches the blocks of bytes from to end-1 of a window that are missing. It returns the window's slot.
func (p *partial) ensure(ctx context.Context, number, from, end int64) (int64, error) {
	first, last := from/blockBytes, (end-1)/blockBytes
	for {
		p.mu.Lock()
		w := p.windows[number]
		if w == nil {
			slot, err := p.slot()
			if err != nil {
				p.mu.Unlock()
				return 0, unkept(err)
			}
			w = &window{slot: slot}
			p.windows[number] = w
		}
		missing := first + int64(bits.TrailingZeros64(^(w.have >> first)))
		if missing > last {
			p.mu.Unlock()
			return w.slot, nil
		}
		if busy := w.busy; busy != nil { // it may be for these blocks
			p.mu.Unlock()
			select {
			case <-busy:
			case <-ctx.Done():
				return 0, ctx.Err()
			}
			p.mu.Lock()
			err := w.err
			p.mu.Unlock()
			if err != nil {
				return 0, err
			}
			continue
		}
		w.busy, w.err = make(chan struct{}), nil
		beyond := p.beyond(w, number, missing)
		p.mu.Unlock()
		err := p.fill(ctx, w.slot, number, missing, beyond)
		p.mu.Lock()
		if err == nil {
			w.have |= ^uint64(0) >> (64 - (beyond - missing)) << missing
		}
		w.err = err
		close(w.busy)
		w.busy = nil
		p.mu.Unlock()
		if err != nil {
			return 0, err
		}
	}
}

// beyond returns the end of the blocks to fetch from a missing one on: the next block that is there, or the end of the window. The first
// block of a large object is fetched alone: a reader looks there for the format, and often reads on elsewhere.
func (p *partial) beyond(w *window, number, missing int64) int64 {
	if number == 0 && missing == 0 && p.info.size > windowBytes {
		return 1
	}
	blocks := min(64, (p.info.size-number*windowBytes+blockBytes-1)/blockBytes)
	return min(blocks, missing+int64(bits.TrailingZeros64(w.have>>missing)))
}

// tries is the most tries in a row to go on with an answer that bring no byte. It is also how often S3's client sends a request.
// patience is the longest wait for a byte.
const (
	tries    = 5
	patience = 30 * time.Second
)

// fill fetches blocks of a window into its slot.
func (p *partial) fill(ctx context.Context, slot, number, first, beyond int64) error {
	at, end := number*windowBytes+first*blockBytes, min(p.info.size, number*windowBytes+beyond*blockBytes)
	to := io.NewOffsetWriter(p.file, (slot-number)*windowBytes+at)
	for try := 0; ; try++ {
		got, begun, err := p.some(ctx, to, at, end-at)
		if at += got; at == end {
			return nil
		}
		if got > 0 {
			try = 0
		}
		if !begun || try == tries || errors.As(err, new(*files.StoreError)) { // the library has tried often enough to begin
			return explain(ctx, p.info.url, err)
		}
		select {
		case <-time.After(time.Duration(try) * pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// pause is the wait before the second such try. The first one doesn't wait, and the n-th waits n-1 times as long.
var pause = 500 * time.Millisecond

// some reads at most bytes bytes of the object from byte at on. It returns the number of bytes that came before an error, and whether an
// answer began.
func (p *partial) some(ctx context.Context, to io.Writer, at, bytes int64) (got int64, begun bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	late := time.AfterFunc(patience, func() { cancel(errSilent) })
	defer late.Stop()
	r, err := p.fetch(ctx, at, bytes)
	if err != nil {
		return 0, false, silence(ctx, err)
	}
	defer r.Close()
	buf := make([]byte, 256<<10)
	for got < bytes && err == nil {
		var n int
		n, err = r.Read(buf[:min(int64(len(buf)), bytes-got)])
		late.Reset(patience)
		if _, failed := to.Write(buf[:n]); failed != nil {
			return got, true, unkept(failed)
		}
		got += int64(n)
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return got, true, silence(ctx, err)
}

var errSilent = fmt.Errorf("no byte came for %v", patience)

// silence returns errSilent if that has ended ctx, or else err.
func silence(ctx context.Context, err error) error {
	if err != nil && context.Cause(ctx) == errSilent {
		return errSilent
	}
	return err
}

// unkept returns the error of the temporary file.
func unkept(err error) error {
	if err == nil {
		return nil
	}
	var pe *os.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return &files.StoreError{Text: fmt.Sprintf("can't be kept in %s (%v): free some space there, or set TMPDIR to "+
		"another folder", files.TempDir(), err), Err: err}
}
