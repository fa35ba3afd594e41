package objects

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"halfspace/internal/files"
)

// A memoryObject is an object in memory, which counts how often each block is fetched.
type memoryObject struct {
	text []byte

	mu       sync.Mutex
	fetches  []int // of each block
	requests int
	failure  func(request int) (bytes int64, err error) // how many bytes come before an error; nil: all come
}

func (s *memoryObject) fetch(_ context.Context, at, size int64) (io.ReadCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	sent, err := size, error(nil)
	if s.failure != nil {
		if sent, err = s.failure(s.requests); sent < 0 {
			return nil, err
		}
		sent = min(sent, size)
	}
	for i := at / blockBytes; i*blockBytes < at+sent; i++ {
		s.fetches[i]++
	}
	var r io.Reader = bytes.NewReader(s.text[at : at+sent])
	if err != nil {
		r = io.MultiReader(r, iotest.ErrReader(err))
	}
	return io.NopCloser(r), nil
}

func newMemoryObject(size int, seed uint64) *memoryObject {
	s := &memoryObject{text: make([]byte, size), fetches: make([]int, size/blockBytes+1)}
	rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)}).Read(s.text)
	return s
}

func (s *memoryObject) info(version string) info {
	return info{"s3://b/x", int64(len(s.text)), time.Unix(1, 0), files.Version(version)}
}

func newCopies() *copies { return &copies{objects: map[string]*objectCopy{}} }

// TestCopies: reads at random places by several goroutines give the bytes of the object, and no block is fetched twice.
func TestCopies(t *testing.T) {
	for _, size := range []int{1, blockBytes, windowBytes, windowBytes + 1, 3*windowBytes - 7, 5*windowBytes + 3*blockBytes + 1} {
		s, c := newMemoryObject(size, uint64(size)), newCopies()
		var wait sync.WaitGroup
		for g := range 6 {
			wait.Add(1)
			go func() {
				defer wait.Done()
				rng := rand.New(rand.NewPCG(uint64(g), 2))
				o := &object{ctx: context.Background(), objectCopy: c.open("s3://b/x", s.info("1"), s.fetch), closed: make(chan struct{})}
				defer o.Close()
				for range 60 {
					at, b := rng.Int64N(int64(size)+2), make([]byte, rng.IntN(1<<rng.IntN(24)))
					n, err := o.ReadAt(b, at)
					if want := s.text[min(at, int64(size)):min(at+int64(len(b)), int64(size))]; !bytes.Equal(b[:n], want) ||
						(err == io.EOF) != (n < len(b) || at >= int64(size)) || err != nil && err != io.EOF {
						t.Errorf("%d bytes: %d of %d bytes at %d, error %v, want %d", size, n, len(b), at, err, len(want))
					}
				}
			}()
		}
		wait.Wait()
		if most := slices.Max(s.fetches); most != 1 {
			t.Errorf("%d bytes: a block was fetched %d times", size, most)
		}
		o := &object{ctx: context.Background(), objectCopy: c.open("s3://b/x", s.info("1"), s.fetch), closed: make(chan struct{})}
		if err := iotest.TestReader(io.LimitReader(o, 3000), s.text[:min(3000, size)]); err != nil {
			t.Error(err)
		}
		c.file.Close()
	}
}

// TestCopiesPart: a reader of the beginning, the end and one place in between fetches these alone.
func TestCopiesPart(t *testing.T) {
	s, c := newMemoryObject(8*windowBytes, 1), newCopies()
	p := c.open("s3://b/x", s.info("1"), s.fetch)
	for _, at := range []int64{0, 8*windowBytes - 8, 3*windowBytes + 10*blockBytes + 5, 3*windowBytes + 60*blockBytes} {
		if _, err := p.readAt(context.Background(), make([]byte, 8), at); err != nil {
			t.Fatal(err)
		}
	}
	fetched := 0
	for _, n := range s.fetches {
		fetched += n
	}
	if s.requests != 3 || fetched != 1+1+aheadBlocks {
		t.Errorf("%d requests for %d blocks, want 3 for 66", s.requests, fetched)
	}
	c.file.Close()
}

// TestCopiesVersions: another version gives its own bytes, also while the old one is open, and slots are used again.
func TestCopiesVersions(t *testing.T) {
	c := newCopies()
	var lastCopy *objectCopy
	var lastObject *memoryObject
	for version := range 20 {
		s := newMemoryObject(2*windowBytes, uint64(version))
		p := c.open("s3://b/x", s.info(fmt.Sprint(version)), s.fetch)
		for copied, object := range map[*objectCopy]*memoryObject{p: s, lastCopy: lastObject} {
			if copied == nil {
				continue
			}
			b := make([]byte, 2*windowBytes)
			if _, err := copied.readAt(context.Background(), b, 0); err != nil || !bytes.Equal(b, object.text) {
				t.Fatalf("version %d: other bytes, error %v", version, err)
			}
		}
		if lastCopy != nil {
			lastCopy.endUse()
		}
		lastCopy, lastObject = p, s
	}
	if c.slotCount > 6 {
		t.Errorf("%d slots for two versions of two windows", c.slotCount)
	}
	c.file.Close()
}

// TestCopiesKeep: slots of objects that aren't kept are used again, but not while the object is open.
func TestCopiesKeep(t *testing.T) {
	c, b := newCopies(), make([]byte, 2*windowBytes)
	first := newMemoryObject(2*windowBytes, 1)
	openCopy := c.open("s3://b/stays", first.info("1"), first.fetch)
	for k := range 10 {
		s, url := newMemoryObject(2*windowBytes, uint64(k)), fmt.Sprint("s3://b/", k)
		p := c.open(url, s.info("1"), s.fetch)
		c.dropOthers(nil)
		for copied, object := range map[*objectCopy]*memoryObject{p: s, openCopy: first} {
			if _, err := copied.readAt(context.Background(), b, 0); err != nil || !bytes.Equal(b, object.text) {
				t.Fatalf("object %d: other bytes, error %v", k, err)
			}
		}
		p.endUse()
	}
	if openCopy.endUse(); c.slotCount != 4 || len(c.freeSlots) != 4 || len(c.objects) != 0 {
		t.Errorf("%d slots, %d of them free, %d objects", c.slotCount, len(c.freeSlots), len(c.objects))
	}
	s := newMemoryObject(2*windowBytes, 11)
	p := c.open("s3://b/kept", s.info("1"), s.fetch)
	if p.endUse(); len(c.objects) != 1 {
		t.Error("a copy is gone when the object is closed")
	}
	c.dropOthers([]string{"s3://b/kept"})
	if p != c.open("s3://b/kept", s.info("1"), s.fetch) {
		t.Error("a copy that is kept is gone")
	}
	c.file.Close()
}

// TestCopiesFail: answers that are cut short are asked for again from there. Others are errors for each reader, and a later read
// succeeds.
func TestCopiesFail(t *testing.T) {
	defer func(d time.Duration) { retryPause = d }(retryPause)
	retryPause = time.Millisecond
	read := func(p *objectCopy) error {
		b := make([]byte, p.info.size)
		_, err := p.readAt(context.Background(), b, 0)
		return err
	}
	s, c := newMemoryObject(2*windowBytes, 1), newCopies()
	s.failure = func(request int) (int64, error) { // each third one says nothing
		return int64(request%3) * 300_000, []error{nil, io.ErrUnexpectedEOF, errors.New("reset")}[request%3]
	}
	p := c.open("s3://b/x", s.info("1"), s.fetch)
	b := make([]byte, len(s.text))
	if _, err := p.readAt(context.Background(), b, 0); err != nil || !bytes.Equal(b, s.text) {
		t.Errorf("cut short: other bytes, error %v", err)
	}
	for _, c := range []struct {
		failure func(int) (int64, error)
		want    string
	}{
		{func(int) (int64, error) { return 0, errors.New("reset") }, "the store doesn't answer as it should (reset): check the network"},
		{func(int) (int64, error) { return -1, errors.New("refused") }, "the store doesn't answer as it should (refused): check the network"},
		{func(int) (int64, error) { return -1, errChanged }, "the object changed while it was read: try again"},
	} {
		s, all := newMemoryObject(windowBytes, 2), newCopies()
		s.failure = c.failure
		p := all.open("s3://b/x", s.info("1"), s.fetch)
		if err := read(p); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("error %v, want %s", err, c.want)
		}
		if s.requests > mostTries+1 {
			t.Errorf("%s: %d requests", c.want, s.requests)
		}
		s.failure = nil
		if err := read(p); err != nil {
			t.Errorf("%s: and then error %v", c.want, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s, c = newMemoryObject(windowBytes, 3), newCopies()
	s.failure = func(int) (int64, error) { return 0, io.EOF }
	if _, err := c.open("s3://b/x", s.info("1"), s.fetch).readAt(ctx, b, 0); err != context.Canceled {
		t.Errorf("cancelled: error %v", err)
	}
}

// TestAnnounced: parts that are announced are fetched, joined where gaps are small, once each and nothing else. Reads of them make no
// request. An object that is closed meanwhile leaves its memory to others.
func TestAnnounced(t *testing.T) {
	const size = 3 * windowBytes
	for _, closes := range []bool{false, true} {
		s, c := newMemoryObject(size, 1), newCopies()
		o := &object{ctx: context.Background(), objectCopy: c.open("s3://b/x", s.info("1"), s.fetch), closed: make(chan struct{})}
		parts := []files.Part{{At: 4, End: 100_000}, {At: 200_000, End: 300_000}, {At: 5 << 20, End: 6 << 20}, {At: windowBytes - 100, End: windowBytes + 100}}
		o.Announce(parts)
		if closes {
			o.Close()
			continue
		}
		for _, p := range parts {
			b := make([]byte, p.End-p.At)
			if _, err := o.ReadAt(b, p.At); err != nil || !bytes.Equal(b, s.text[p.At:p.End]) {
				t.Errorf("%v: error %v", p, err)
			}
		}
		o.Close()
		blocks := 0
		for _, n := range s.fetches {
			blocks += n
		}
		if want := 5 + 16 + 2; s.requests != 4 || blocks != want {
			t.Errorf("%d requests for %d blocks, want 4 for %d", s.requests, blocks, want)
		}
	}
}

// TestAnnouncedTogether: parts of several readers of an object that overlap are fetched once each.
func TestAnnouncedTogether(t *testing.T) {
	const size = 5*windowBytes + 3*blockBytes + 1
	s, c := newMemoryObject(size, 1), newCopies()
	var wait sync.WaitGroup
	for k := range int64(4) {
		wait.Go(func() {
			o := &object{ctx: context.Background(), objectCopy: c.open("s3://b/x", s.info("1"), s.fetch), closed: make(chan struct{})}
			defer o.Close()
			at := k * size / 4
			o.Announce([]files.Part{{At: at, End: size}})
			b := make([]byte, size/4)
			if n, err := o.ReadAt(b, at); n != len(b) || !bytes.Equal(b, s.text[at:at+size/4]) {
				t.Errorf("other bytes at %d, error %v", at, err)
			}
		})
	}
	wait.Wait()
	if most := slices.Max(s.fetches); most > 1 {
		t.Errorf("a block was fetched %d times", most)
	}
}

// TestArrived: a reader has the first blocks of a request while the others aren't sent yet.
func TestArrived(t *testing.T) {
	s, c := newMemoryObject(windowBytes, 1), newCopies()
	isRead := make(chan struct{})
	rest := &pipe{isRead, bytes.NewReader(s.text[windowBytes/2:])}
	o := &object{ctx: context.Background(), closed: make(chan struct{}), objectCopy: c.open("s3://b/x", s.info("1"),
		func(context.Context, int64, int64) (io.ReadCloser, error) {
			return io.NopCloser(io.MultiReader(bytes.NewReader(s.text[:windowBytes/2]), rest)), nil
		})}
	defer o.Close()
	o.Announce([]files.Part{{At: 0, End: windowBytes}})
	for { // a read must not be the one that makes the request
		o.mu.Lock()
		w := o.windows[0]
		began := w != nil && w.pendingBlocks.has(0)
		o.mu.Unlock()
		if began {
			break
		}
		time.Sleep(time.Millisecond)
	}
	b := make([]byte, windowBytes)
	if _, err := o.ReadAt(b[:3*blockBytes], 0); err != nil || !bytes.Equal(b[:3*blockBytes], s.text[:3*blockBytes]) {
		t.Errorf("the first blocks: error %v", err)
	}
	close(isRead)
	if _, err := o.ReadAt(b, 0); err != nil || !bytes.Equal(b, s.text) {
		t.Errorf("all blocks: error %v", err)
	}
}

// A pipe reads once begin is closed.
type pipe struct {
	begin chan struct{}
	io.Reader
}

func (p *pipe) Read(b []byte) (int, error) {
	<-p.begin
	return p.Reader.Read(b)
}

// TestBlockSet compares with a map.
func TestBlockSet(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var s blockSet
		want := map[int64]bool{}
		for range rng.IntN(20) {
			first := rng.Int64N(windowBlocks)
			end := min(windowBlocks, first+rng.Int64N(70))
			s.add(first, end)
			for i := first; i < end; i++ {
				want[i] = true
			}
		}
		for i := range int64(windowBlocks) {
			next := i
			for next < windowBlocks && !want[next] {
				next++
			}
			if s.has(i) != want[i] || s.next(i, true) != next {
				t.Fatalf("block %d: %t, next %d, want %t and %d", i, s.has(i), s.next(i, true), want[i], next)
			}
		}
	}
}
