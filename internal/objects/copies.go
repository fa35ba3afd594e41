package objects

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"halfspace/internal/files"
)

// A reader of Parquet reads many small pieces, and a request takes some 50 ms. So requests are for larger pieces, which go to a local
// file. An object is cut into windows, and these into blocks. A request fetches consecutive blocks of one window.
const (
	blockBytes   = 64 << 10
	windowBlocks = 128
	windowBytes  = windowBlocks * blockBytes // 8 MiB
	// A request for a part that nobody announced is for this number of blocks, 4 MiB, or more.
	aheadBlocks = 64
)

// A blockSet is a set of the blocks of a window.
type blockSet [windowBlocks / 64]uint64

func (s *blockSet) has(i int64) bool { return s[i/64]>>(i%64)&1 == 1 }

// add adds blocks first to end-1.
func (s *blockSet) add(first, end int64) {
	for i := first; i < end; i++ {
		s[i/64] |= 1 << (i % 64)
	}
}

// remove removes blocks first to end-1.
func (s *blockSet) remove(first, end int64) {
	for i := first; i < end; i++ {
		s[i/64] &^= 1 << (i % 64)
	}
}

// next returns the first block from a block on that is in the set, or with present false isn't; windowBlocks if there is none.
func (s *blockSet) next(from int64, present bool) int64 {
	for ; from < windowBlocks && s.has(from) != present; from++ {
	}
	return from
}

// copies has the blocks of objects that this process has fetched, in one temporary file without a name. Each window that was touched has
// a slot of windowBytes in it.
type copies struct {
	mu        sync.Mutex
	file      *os.File               // nil before the first slot
	slotCount int64                  // of the file
	freeSlots []int64                // slots that nobody uses any more
	objects   map[string]*objectCopy // the last version of each URL that was opened
}

// An objectCopy is a version of an object, of which several blocks are in the file.
type objectCopy struct {
	*copies
	info      info
	fetch     fetcher
	users     int  // that have the copy open
	isDropped bool // another version has taken its place, or other objects are kept

	mu      sync.Mutex
	parts   []files.Part  // parts that were announced; nil: requests read on
	read    int64         // end of the part that was read farthest on
	moved   chan struct{} // closed when read grows
	windows map[int64]*window
}

// A window is a part of an object, whose blocks are all in one slot.
type window struct {
	slot          int64
	blocks        blockSet      // blocks that are in the slot
	pendingBlocks blockSet      // blocks that are being fetched; some may be in the slot already
	claimedBlocks blockSet      // blocks that a request for announced parts is for, or was
	nextChange    chan struct{} // closed when blocks arrive, or a fetch fails
	err           error         // of the last fetch
}

// window returns a window, which it makes if it isn't there yet. The caller has p's lock.
func (p *objectCopy) window(number int64) (*window, error) {
	w := p.windows[number]
	if w == nil {
		slot, err := p.slot()
		if err != nil {
			return nil, tempFileError(err)
		}
		w = &window{slot: slot, nextChange: make(chan struct{})}
		p.windows[number] = w
	}
	return w, nil
}

// wake wakes all who wait for blocks. The caller has the copy's lock.
func (w *window) wake() {
	close(w.nextChange)
	w.nextChange = make(chan struct{})
}

// A fetcher begins to read an object: at most bytes bytes from byte at on.
type fetcher func(ctx context.Context, at, bytes int64) (io.ReadCloser, error)

// open returns the copy of a version of an object for one more user. An older version is dropped.
func (c *copies) open(url string, i info, fetch fetcher) *objectCopy {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.objects[url]
	if p == nil || !files.SameFile(p.info, i) {
		if p != nil {
			p.isDropped = true
			p.release()
		}
		p = &objectCopy{copies: c, info: i, fetch: fetch, windows: map[int64]*window{}, moved: make(chan struct{})}
		c.objects[url] = p
	}
	p.users++
	return p
}

// has tells whether there is a copy of a version of an object.
func (c *copies) has(url string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.objects[url] != nil
}

// dropOthers drops the copies of all objects except the objects at urls.
func (c *copies) dropOthers(urls []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for url, p := range c.objects {
		if !slices.Contains(urls, url) {
			delete(c.objects, url)
			p.isDropped = true
			p.release()
		}
	}
}

// beginUse begins another use of p, which is in use.
func (p *objectCopy) beginUse() {
	p.copies.mu.Lock()
	defer p.copies.mu.Unlock()
	p.users++
}

// endUse ends one use of p.
func (p *objectCopy) endUse() {
	p.copies.mu.Lock()
	defer p.copies.mu.Unlock()
	p.users--
	p.release()
}

// release gives the slots of a dropped version back once nobody uses it.
func (p *objectCopy) release() {
	if p.isDropped && p.users == 0 {
		for _, w := range p.windows {
			p.freeSlots = append(p.freeSlots, w.slot)
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
	if n := len(c.freeSlots); n > 0 {
		slot = c.freeSlots[n-1]
		c.freeSlots = c.freeSlots[:n-1]
		return slot, nil
	}
	c.slotCount++
	return c.slotCount - 1, nil
}

// readAt reads like io.ReaderAt, and fetches blocks that are missing.
func (p *objectCopy) readAt(ctx context.Context, b []byte, at int64) (n int, err error) {
	if at < 0 {
		return 0, errors.New("a read before the beginning")
	}
	if at >= p.info.size {
		return 0, io.EOF
	}
	if int64(len(b)) > p.info.size-at {
		b, err = b[:p.info.size-at], io.EOF
	}
	p.moveTo(at + int64(len(b)))
	for n < len(b) {
		number := (at + int64(n)) / windowBytes
		from := at + int64(n) - number*windowBytes
		part := b[n:][:min(int64(len(b)-n), windowBytes-from)]
		slot, partErr := p.fetchMissing(ctx, number, from, from+int64(len(part)))
		if partErr == nil {
			_, partErr = p.file.ReadAt(part, slot*windowBytes+from)
			partErr = tempFileError(partErr)
		}
		if partErr != nil {
			return n, partErr
		}
		n += len(part)
	}
	return n, err
}

// moveTo notes a read up to a byte, unless it is of the end, where a reader of Parquet begins.
func (p *objectCopy) moveTo(end int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if end > p.read && p.parts != nil {
		p.read = end
		close(p.moved)
		p.moved = make(chan struct{})
	}
}

// fetchMissing fetches the blocks of bytes from to end-1 of a window that are missing. It returns the window's slot.
func (p *objectCopy) fetchMissing(ctx context.Context, number, from, end int64) (int64, error) {
	first, last := from/blockBytes, (end-1)/blockBytes
	for {
		p.mu.Lock()
		w, err := p.window(number)
		if err != nil {
			p.mu.Unlock()
			return 0, err
		}
		missing := w.blocks.next(first, false)
		switch {
		case missing > last:
			p.mu.Unlock()
			return w.slot, nil
		case w.pendingBlocks.has(missing):
			change := w.nextChange
			p.mu.Unlock()
			err = p.awaitBlock(ctx, w, change, missing)
		default:
			limit := p.fetchLimit(w, number, missing, last)
			w.pendingBlocks.add(missing, limit)
			w.err = nil
			p.mu.Unlock()
			err = p.fetchBlocks(ctx, w, number, missing, limit)
			p.mu.Lock()
			w.pendingBlocks.remove(missing, limit)
			w.err = err
			w.wake()
			p.mu.Unlock()
		}
		if err != nil {
			return 0, err
		}
	}
}

// claimBlocks claims the blocks of bytes from to end-1 of a window for a request of announced parts. It returns false if all
// were claimed before.
func (p *objectCopy) claimBlocks(number, from, end int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	w, err := p.window(number)
	if err != nil {
		return true // the request gets the error
	}
	first, limit := from/blockBytes, (end+blockBytes-1)/blockBytes
	isNew := w.claimedBlocks.next(first, false) < limit
	w.claimedBlocks.add(first, limit)
	return isNew
}

// awaitBlock waits for a change of a window. If no request has a block any more, it returns the error of a fetch that failed.
func (p *objectCopy) awaitBlock(ctx context.Context, w *window, change <-chan struct{}, wanted int64) error {
	select {
	case <-change:
	case <-ctx.Done():
		return ctx.Err()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.blocks.has(wanted) || w.pendingBlocks.has(wanted) {
		return nil
	}
	return w.err
}

// fetchLimit returns the end of the blocks to fetch from a missing block on, of which those up to last are wanted: the next block
// that is there, or some blocks after the last. The first block of a large object is fetched alone: a reader looks there for the
// format, and often reads on elsewhere.
func (p *objectCopy) fetchLimit(w *window, number, missing, last int64) int64 {
	if number == 0 && missing == 0 && last == 0 && p.info.size > aheadBlocks*blockBytes {
		return 1
	}
	end := last + 1
	if p.parts == nil {
		end = max(end, missing+aheadBlocks)
	}
	at := number*windowBlocks + missing
	for _, part := range p.parts {
		if part.At/blockBytes <= at && at*blockBytes < part.End {
			end = max(end, (part.End+blockBytes-1)/blockBytes-number*windowBlocks)
		}
	}
	end = min(end, windowBlocks, (p.info.size-number*windowBytes+blockBytes-1)/blockBytes)
	return min(end, w.blocks.next(missing, true), w.pendingBlocks.next(missing, true))
}

// keep puts a part of the object, which ends with a block or with the object, into the copy, as far as it has whole blocks of the window
// in which it ends.
func (p *objectCopy) keep(at int64, text []byte) {
	end := at + int64(len(text))
	number := (end - 1) / windowBytes
	first := max(number*windowBytes, (at+blockBytes-1)/blockBytes*blockBytes)
	if first >= end {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	w, err := p.window(number)
	if err == nil {
		_, err = p.file.WriteAt(text[first-at:], w.slot*windowBytes+first-number*windowBytes)
	}
	if err == nil { // otherwise a read fetches them again
		w.blocks.add((first-number*windowBytes)/blockBytes, (end-number*windowBytes+blockBytes-1)/blockBytes)
	}
}

// mostTries is the most tries in a row to go on with an answer that bring no byte. It is also how often do sends a request.
// longestSilence is the longest wait for a byte.
const (
	mostTries      = 5
	longestSilence = 30 * time.Second
)

// fetchBlocks fetches blocks of a window into its slot. Readers get them as they arrive.
func (p *objectCopy) fetchBlocks(ctx context.Context, w *window, number, first, limit int64) error {
	begin := number * windowBytes
	at, end := begin+first*blockBytes, min(p.info.size, begin+limit*blockBytes)
	put := func(b []byte) error {
		if _, err := p.file.WriteAt(b, w.slot*windowBytes+at-begin); err != nil {
			return tempFileError(err)
		}
		if at += int64(len(b)); at < end {
			p.noteArrival(w, first, (at-begin)/blockBytes)
		} else {
			p.noteArrival(w, first, limit)
		}
		return nil
	}
	for try := 0; ; try++ {
		n, hasAnswer, err := p.readAnswer(ctx, put, at, end-at)
		if at == end {
			return nil
		}
		if n > 0 {
			try = 0
		}
		if !hasAnswer || try == mostTries || errors.As(err, new(*files.StoreError)) { // do has tried often enough to begin
			return broken(ctx, err)
		}
		select {
		case <-time.After(time.Duration(try) * retryPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// noteArrival notes that blocks first to end-1 are in the slot of a window.
func (p *objectCopy) noteArrival(w *window, first, end int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w.blocks.add(first, end)
	w.wake()
}

// retryPause is the wait before the second such try. The first one doesn't wait, and the n-th waits n-1 times as long.
var retryPause = 500 * time.Millisecond

// readAnswer reads at most bytes bytes of the object from byte at on, and calls put with each piece. It returns the number of bytes that
// came before an error, and whether an answer began.
func (p *objectCopy) readAnswer(ctx context.Context, put func([]byte) error, at, bytes int64) (bytesRead int64, hasAnswer bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(longestSilence, func() { cancel(errSilence) })
	defer timer.Stop()
	r, err := p.fetch(ctx, at, bytes)
	if err != nil {
		return 0, false, silenceOr(ctx, err)
	}
	defer r.Close()
	buf := make([]byte, 256<<10)
	for bytesRead < bytes && err == nil {
		var n int
		n, err = r.Read(buf[:min(int64(len(buf)), bytes-bytesRead)])
		timer.Reset(longestSilence)
		if putErr := put(buf[:n]); putErr != nil {
			return bytesRead, true, putErr
		}
		bytesRead += int64(n)
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return bytesRead, true, silenceOr(ctx, err)
}

var errSilence = fmt.Errorf("no byte came for %v", longestSilence)

// silenceOr returns errSilence if that has ended ctx, or else err.
func silenceOr(ctx context.Context, err error) error {
	if err != nil && context.Cause(ctx) == errSilence {
		return errSilence
	}
	return err
}

// tempFileError returns the error of the temporary file.
func tempFileError(err error) error {
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
