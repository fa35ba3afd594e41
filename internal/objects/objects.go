// Package objects opens the objects of s3://, gs://, https:// or http://, or writes objects of s3:// or gs://.
//
// Use registers them with halfspace/internal/files. A file that it opens has a local copy, which fills as the file is read. The copy
// stays until the process ends, the object changes, or Keep is called for others. So each block of an object is fetched once.
package objects

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"halfspace/internal/files"
)

// A service is the objects of a scheme. It is a files.Store.
type service struct {
	scheme              string
	ctx                 context.Context // of requests that read
	fresh               time.Duration   // for which a description of an object holds
	seen                sync.Map        // the last seenInfo of each object, by its URL
	folders             sync.Map        // the last seenListing of each folder
	hasDescribed        atomic.Bool     // an object was described by its end
	exists              sync.Map        // whether a bucket exists, by its name, as far as known
	putBytes, partBytes int64           // size of the largest object that one request writes, and of the parts of larger objects
	provider
}

// A provider is a kind of service: its addresses, its credentials and its versions.
type provider interface {
	// address returns the URL of an object, or of a bucket if key is "".
	address(bucket, key string) (*url.URL, error)
	// authorize adds the credentials to a request. sum is the SHA-256 of its body, in hexadecimal digits.
	authorize(r *http.Request, bucket, sum string) error
	// learn looks at an answer that is no success, and tells whether the same request would now go elsewhere.
	learn(bucket string, r *http.Response) bool
	// version returns the version of an object from the headers of an answer; require makes a request fail with the
	// status 412 for another version.
	version(h http.Header) files.Version
	require(h http.Header, v files.Version)
	// tried says which credentials were tried, and place where the service is, for errors.
	tried() string
	place() string
}

var (
	services    = map[string]*service{}
	localCopies = &copies{objects: map[string]*objectCopy{}}
)

// Use registers s3://, gs://, https:// and http:// with package files. Requests to read end with ctx. A description of an object holds
// for a time: a command asks for it several times as it begins. Reads are of that version, or fail. Use makes no request and reads no
// file. Programs call it as they start.
func Use(ctx context.Context, fresh time.Duration) {
	for scheme, p := range map[string]provider{"s3": newAmazon(), "gs": newGoogle(), "https": web{"https"}, "http": web{"http"}} {
		services[scheme] = &service{scheme: scheme, ctx: ctx, fresh: fresh, putBytes: mostPutBytes, partBytes: leastPartBytes, provider: p}
		files.Register(scheme, services[scheme])
	}
}

// An info describes a version of an object. It is a fs.FileInfo.
type info struct {
	url     string
	size    int64
	modTime time.Time
	version files.Version
}

func (i info) Name() string       { return path.Base(i.url) }
func (i info) Size() int64        { return i.size }
func (i info) Mode() fs.FileMode  { return 0o444 }
func (i info) ModTime() time.Time { return i.modTime }
func (i info) IsDir() bool        { return false }
func (i info) Sys() any           { return i.version }

// split returns the bucket and the key of a URL. For https:// the bucket is the host.
func (s *service) split(address string) (bucket, key string, err error) {
	bucket, key, _ = strings.Cut(strings.TrimPrefix(address, s.scheme+"://"), "/")
	if bucket == "" || strings.ContainsAny(bucket, "*?[") {
		return "", "", &files.StoreError{Text: fmt.Sprintf("name a bucket, as in %s://BUCKET/FOLDER", s.scheme)}
	}
	return bucket, key, nil
}

// Stat describes the current version of an object.
func (s *service) Stat(address string) (fs.FileInfo, error) {
	i, err := s.stat(address)
	return i, err
}

// A seenInfo is a description, and when it was made.
type seenInfo struct {
	info
	at time.Time
}

func (s *service) stat(address string) (i info, err error) {
	if last, ok := s.seen.Load(address); ok && time.Since(last.(seenInfo).at) < s.fresh {
		return last.(seenInfo).info, nil
	}
	if i, err = s.ask(address); err == nil {
		s.seen.Store(address, seenInfo{i, time.Now()})
	}
	return i, err
}

func (s *service) ask(address string) (i info, err error) {
	bucket, key, err := s.split(address)
	if err != nil {
		return i, err
	}
	if key == "" {
		return i, notExist(address)
	}
	if strings.HasSuffix(strings.ToLower(key), ".parquet") && !localCopies.has(address) {
		if i, ok := s.statByEnd(address, bucket, key); ok {
			return i, nil
		}
	}
	r, err := s.do(s.ctx, request{method: http.MethodHead, bucket: bucket, key: key})
	if err != nil {
		return i, s.explain(s.ctx, address, err)
	}
	r.Body.Close()
	if r.ContentLength < 0 {
		return i, &files.StoreError{Text: "the server doesn't tell the size: copy the file here first"}
	}
	at, _ := http.ParseTime(r.Header.Get("Last-Modified"))
	return info{address, r.ContentLength, at, s.version(r.Header)}, nil
}

// statByEnd describes an object by a request for its end, which it keeps: a reader of Parquet begins there. For the first object it
// asks at the same time for its beginning and the names beside it, since a command looks at both next. It returns false if the service
// answers in another way.
func (s *service) statByEnd(address, bucket, key string) (i info, ok bool) {
	var head, tail piece
	var begin errgroup.Group
	if s.hasDescribed.CompareAndSwap(false, true) {
		s.askAhead(address)
		begin.Go(func() error {
			head = s.piece(address, bucket, key, fmt.Sprintf("bytes=0-%d", blockBytes-1))
			return nil
		})
	}
	tail = s.piece(address, bucket, key, fmt.Sprintf("bytes=-%d", 2*blockBytes))
	_ = begin.Wait()
	if i = tail.info; i.size == 0 || tail.at+int64(len(tail.text)) != i.size {
		return i, false
	}
	c := s.open(bucket, key, i)
	defer c.endUse()
	c.keep(tail.at, tail.text)
	if head.info == i && i.version != "" && len(head.text) == blockBytes {
		c.keep(0, head.text)
	}
	return i, true
}

// A piece is some bytes of an object, from byte at on.
type piece struct {
	info
	at   int64
	text []byte
}

// piece returns a piece of the current version of an object, or with size 0 none if the service answers in another way.
func (s *service) piece(address, bucket, key, bytes string) (p piece) {
	r, err := s.do(s.ctx, request{method: http.MethodGet, bucket: bucket, key: key,
		header: func(h http.Header) { h.Set("Range", bytes) }})
	if err != nil {
		return p
	}
	defer r.Body.Close()
	var last, size int64
	if n, _ := fmt.Sscanf(r.Header.Get("Content-Range"), "bytes %d-%d/%d", &p.at, &last, &size); n != 3 ||
		r.StatusCode != http.StatusPartialContent {
		return p
	}
	text, err := io.ReadAll(io.LimitReader(r.Body, 2*blockBytes))
	if err != nil || int64(len(text)) != last-p.at+1 {
		return p
	}
	at, _ := http.ParseTime(r.Header.Get("Last-Modified"))
	return piece{info{address, size, at, s.version(r.Header)}, p.at, text}
}

// open opens the copy of a version of an object.
func (s *service) open(bucket, key string, i info) *objectCopy {
	return localCopies.open(i.url, i, func(ctx context.Context, at, bytes int64) (io.ReadCloser, error) {
		return s.fetchRange(ctx, request{method: http.MethodGet, bucket: bucket, key: key}, i, at, bytes)
	})
}

// Open opens the current version of an object, or the version that seen describes.
func (s *service) Open(address string, seen fs.FileInfo) (_ files.ReadableFile, err error) {
	i, ok := seen.(info)
	if !ok {
		if i, err = s.stat(address); err != nil {
			return nil, err
		}
	}
	bucket, key, err := s.split(address)
	if err != nil {
		return nil, err
	}
	return &object{ctx: s.ctx, objectCopy: s.open(bucket, key, i), closed: make(chan struct{})}, nil
}

// fetchRange returns a reader of bytes of a version of an object.
func (s *service) fetchRange(ctx context.Context, q request, i info, at, bytes int64) (io.ReadCloser, error) {
	q.header = func(h http.Header) {
		h.Set("Range", fmt.Sprintf("bytes=%d-%d", at, at+bytes-1))
		s.require(h, i.version)
	}
	r, err := s.do(ctx, q)
	var status *statusError
	if errors.As(err, &status) {
		switch status.code {
		case http.StatusNotFound, http.StatusPreconditionFailed, http.StatusRequestedRangeNotSatisfiable:
			return nil, errChanged
		}
	}
	if err != nil {
		return nil, s.explain(ctx, i.url, err)
	}
	whole := at == 0 && bytes == i.size && r.StatusCode == http.StatusOK
	switch v := s.version(r.Header); {
	case v != i.version && v != "":
		err = errChanged
	case !whole && r.StatusCode != http.StatusPartialContent:
		err = &files.StoreError{Text: "the server sends no parts of a file: copy it here first"}
	case !whole && r.Header.Get("Content-Range") != fmt.Sprintf("bytes %d-%d/%d", at, at+bytes-1, i.size):
		err = errChanged
	default:
		return r.Body, nil
	}
	r.Body.Close()
	return nil, err
}

// List returns the URLs of the objects that begin with a prefix, sorted.
func (s *service) List(prefix string) (all []string, err error) {
	bucket, key, err := s.split(prefix)
	if err != nil {
		return nil, err
	}
	if _, is := s.provider.(web); is {
		return nil, &files.StoreError{Text: "a server of web pages has no list of files: name each file"}
	}
	_, err = s.eachKey(s.ctx, bucket, key, "", func(key string) bool {
		if !strings.HasSuffix(key, "/") { // that stands for a folder
			all = append(all, s.scheme+"://"+bucket+"/"+key)
		}
		return true
	})
	if err != nil {
		return nil, s.explain(s.ctx, prefix, err)
	}
	return all, nil
}

// A listing is the names in a folder, up to a page of them.
type listing struct {
	names []string
	whole bool
	err   error
}

// A seenListing asks for a listing at its first call. askedAt is about the time of that call.
type seenListing struct {
	ask     func() listing
	askedAt time.Time
}

// Names returns the names in a folder, up to a page of them.
func (s *service) Names(folder string) (names []string, whole bool, err error) {
	l := seenListing{sync.OnceValue(func() listing { return s.askNames(folder) }), time.Now()}
	if last, ok := s.folders.LoadOrStore(folder, l); ok && time.Since(last.(seenListing).askedAt) < s.fresh {
		l = last.(seenListing)
	} else {
		s.folders.Store(folder, l)
	}
	found := l.ask()
	if found.err != nil {
		s.folders.Delete(folder)
	}
	return found.names, found.whole, found.err
}

func (s *service) askNames(folder string) (l listing) {
	bucket, key, err := s.split(strings.TrimRight(folder, "/") + "/")
	if err != nil {
		return listing{err: err}
	}
	l.whole, l.err = s.eachKey(s.ctx, bucket, key, "/", func(found string) bool {
		l.names = append(l.names, strings.TrimSuffix(strings.TrimPrefix(found, key), "/"))
		return false
	})
	return l
}

// askAhead asks for the names in the folders of an object, in which a command looks for the logs of tables.
func (s *service) askAhead(address string) {
	var names errgroup.Group
	if _, hasNoList := s.provider.(web); hasNoList || s.fresh == 0 {
		return
	}
	for at := strings.LastIndexByte(address, '/'); address[at-1] != '/'; at = strings.LastIndexByte(address[:at], '/') {
		names.Go(func() error {
			_, _, err := s.Names(address[:at])
			return err
		})
	}
}

// eachKey calls do with the keys that begin with a prefix, sorted, a page of them at a time. With a delimiter it calls do also with the
// folders below the prefix, in place of the keys in them. It ends after a page for which do returned false, and tells whether that was
// the last.
func (s *service) eachKey(ctx context.Context, bucket, prefix, delimiter string, do func(key string) (more bool)) (whole bool, err error) {
	query := url.Values{"list-type": {"2"}, "prefix": {prefix}}
	if delimiter != "" {
		query.Set("delimiter", delimiter)
	}
	for {
		r, err := s.do(ctx, request{method: http.MethodGet, bucket: bucket, query: query})
		if err != nil {
			return false, err
		}
		var page struct {
			Contents              []struct{ Key string }
			CommonPrefixes        []struct{ Prefix string }
			IsTruncated           bool
			NextContinuationToken string
		}
		err = xml.NewDecoder(io.LimitReader(r.Body, 64<<20)).Decode(&page)
		r.Body.Close()
		if err != nil {
			return false, fmt.Errorf("the list of objects can't be read: %w", err)
		}
		more := true
		for _, o := range page.Contents {
			more = do(o.Key)
		}
		for _, o := range page.CommonPrefixes {
			more = do(o.Prefix)
		}
		if whole = !page.IsTruncated || page.NextContinuationToken == ""; whole || !more {
			return whole, nil
		}
		query.Set("continuation-token", page.NextContinuationToken)
	}
}

// An object is an object that is open.
type object struct {
	*objectCopy
	ctx    context.Context
	offset int64 // byte that Read reads
	closed chan struct{}
}

// Gaps of at most joinedGap between parts are fetched too. A request fetches at most a window.
const joinedGap = 1 << 20

// inFlight bounds the requests for announced parts, of all objects.
var inFlight = make(chan struct{}, files.ParallelRequests)

// Announce begins to fetch parts that will be read, in ascending order. Once the object is closed, no further request begins.
func (o *object) Announce(parts []files.Part) {
	parts = join(parts)
	o.mu.Lock()
	isNews := !slices.Equal(o.parts, parts)
	o.parts = parts
	o.mu.Unlock()
	if !isNews {
		return
	}
	o.beginUse() // after the object is closed, the last requests still write to the copy
	var fetches errgroup.Group
	fetches.Go(func() error {
		defer o.endUse()
		var all errgroup.Group
		defer func() { _ = all.Wait() }()
		for _, p := range parts {
			for at := p.At; at < p.End; {
				number := at / windowBytes
				from, stop := at-number*windowBytes, min(p.End, (number+1)*windowBytes)
				if at = stop; !o.waits(number*windowBytes + from) {
					return nil
				}
				if !o.claimBlocks(number, from, stop-number*windowBytes) {
					continue
				}
				select {
				case inFlight <- struct{}{}:
				case <-o.closed:
					return nil
				case <-o.ctx.Done():
					return nil
				}
				all.Go(func() error {
					defer func() { <-inFlight }()
					_, _ = o.fetchMissing(o.ctx, number, from, stop-number*windowBytes) // a read of the part gets the error
					return nil
				})
			}
		}
		return nil
	})
}

// leastAhead and mostAhead bound how far before a read a request for an announced part begins. Between them it is twice the bytes that
// were read: whoever looks at the beginning alone fetches little else.
const leastAhead, mostAhead = 2 * windowBytes, files.ParallelRequests * windowBytes

// waits waits until a read comes near a byte, and returns false if the object is closed before.
func (o *object) waits(at int64) bool {
	for {
		o.mu.Lock()
		read, moved := o.read, o.moved
		o.mu.Unlock()
		if at <= read+min(mostAhead, max(leastAhead, 2*read)) {
			return true
		}
		select {
		case <-moved:
		case <-o.closed:
			return false
		case <-o.ctx.Done():
			return false
		}
	}
}

// join joins parts whose gaps are small.
func join(parts []files.Part) (joined []files.Part) {
	for _, p := range parts {
		if n := len(joined); n > 0 && p.At <= joined[n-1].End+joinedGap {
			joined[n-1].End = max(joined[n-1].End, p.End)
			continue
		}
		joined = append(joined, p)
	}
	return joined
}

// Stat describes the version that is open.
func (o *object) Stat() (fs.FileInfo, error) { return o.info, nil }

// ReadAt reads at a byte.
func (o *object) ReadAt(b []byte, at int64) (int, error) { return o.readAt(o.ctx, b, at) }

// Read reads the next bytes.
func (o *object) Read(b []byte) (n int, err error) {
	if n, err = o.readAt(o.ctx, b, o.offset); n > 0 && err == io.EOF {
		err = nil
	}
	o.offset += int64(n)
	return n, err
}

// Close ends the use of the object. The copy stays.
func (o *object) Close() error {
	select {
	case <-o.closed:
		return fs.ErrClosed
	default:
	}
	close(o.closed)
	o.objectCopy.endUse()
	return nil
}

// Keep drops the copies of all objects but these. An object that is open keeps its copy until it is closed.
func Keep(urls ...string) { localCopies.dropOthers(urls) }

// Put writes an object, which appears whole or not at all.
func Put(ctx context.Context, address string, from io.Reader) error {
	s, _, _, err := serviceOf(address)
	if err != nil {
		return err
	}
	file, ok := from.(*os.File)
	if !ok {
		if file, err = files.CreateUnnamed(); err != nil {
			return err
		}
		defer file.Close()
		if _, err := io.Copy(file, from); err != nil {
			return fmt.Errorf("%s: %w", address, err)
		}
	}
	if err = s.Put(ctx, address, file); err != nil {
		return fmt.Errorf("%s: %w", address, err)
	}
	return nil
}

// Put writes an object with the content of a file, whole or not at all.
func (s *service) Put(ctx context.Context, address string, file *os.File) error {
	bucket, key, err := s.split(address)
	if err == nil {
		err = s.put(ctx, bucket, key, file)
		s.seen.Delete(address)
		s.folders.Clear()
	}
	if err != nil {
		return s.explain(ctx, address, err)
	}
	return nil
}

func (s *service) put(ctx context.Context, bucket, key string, file *os.File) error {
	if _, is := s.provider.(web); is || key == "" {
		return &files.StoreError{Text: "only files, and objects of s3:// and gs://, are written: name one"}
	}
	at, err := file.Stat()
	if err != nil {
		return err
	}
	if at.Size() > s.putBytes {
		return s.putParts(ctx, bucket, key, file, at.Size())
	}
	r, err := s.do(ctx, request{method: http.MethodPut, bucket: bucket, key: key, body: io.NewSectionReader(file, 0, at.Size())})
	if err != nil {
		return err
	}
	return r.Body.Close()
}

// Get returns the bytes of an object.
func Get(ctx context.Context, address string) ([]byte, error) {
	s, bucket, key, err := serviceOf(address)
	if err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		r, err := s.do(ctx, request{method: http.MethodGet, bucket: bucket, key: key})
		var text []byte
		if err == nil {
			text, err = io.ReadAll(r.Body)
			r.Body.Close()
			if err == nil {
				return text, nil
			}
			if try < mostTries && ctx.Err() == nil { // the answer was cut
				continue
			}
		}
		return nil, fmt.Errorf("%s: %w", address, s.explain(ctx, address, err))
	}
}

// RemoveAll removes the objects below a folder.
func RemoveAll(ctx context.Context, folder string) error {
	s, bucket, prefix, err := serviceOf(folder + "/")
	if err != nil {
		return err
	}
	var removals errgroup.Group
	removals.SetLimit(files.ParallelRequests)
	_, err = s.eachKey(ctx, bucket, prefix, "", func(key string) bool {
		s.seen.Delete(s.scheme + "://" + bucket + "/" + key)
		s.folders.Clear()
		removals.Go(func() error {
			r, err := s.do(ctx, request{method: http.MethodDelete, bucket: bucket, key: key})
			var status *statusError
			if errors.As(err, &status) && status.code == http.StatusNotFound {
				return nil
			}
			if err == nil {
				r.Body.Close()
			}
			return err
		})
		return true
	})
	if err = errors.Join(err, removals.Wait()); err != nil {
		return fmt.Errorf("%s: %w", folder, s.explain(ctx, folder, err))
	}
	return nil
}

// serviceOf returns the service of a URL of s3:// or gs://, with the bucket and the key.
func serviceOf(address string) (s *service, bucket, key string, err error) {
	s, ok := services[files.Scheme(address)]
	if !ok {
		return nil, "", "", fmt.Errorf("%s: only gs:// and s3:// are known: name a bucket there, or a local folder", address)
	}
	if bucket, key, err = s.split(address); err != nil {
		err = fmt.Errorf("%s: %w", address, err)
	}
	return s, bucket, key, err
}

var errChanged = &files.StoreError{Text: "the object changed while it was read: try again"}

func notExist(address string) error {
	return &fs.PathError{Op: "open", Path: address, Err: fs.ErrNotExist}
}

// explain returns an error of a service in words for the user.
func (s *service) explain(ctx context.Context, address string, err error) error {
	var status *statusError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &status) && status.code == http.StatusNotFound:
		if bucket, _, err := s.split(address); err == nil && s.lacksBucket(ctx, bucket) {
			return &files.StoreError{Text: fmt.Sprintf("there is no bucket %s: check its name", bucket), Err: fs.ErrNotExist}
		}
		return notExist(address)
	case errors.As(err, &status) && (status.code == http.StatusForbidden || status.code == http.StatusUnauthorized):
		return &files.StoreError{Text: fmt.Sprintf("access is denied (%s); %s", shortText(err), s.tried()), Err: err}
	}
	return broken(ctx, err)
}

// lacksBucket tells whether the service says that a bucket doesn't exist. It asks at most once for each bucket.
func (s *service) lacksBucket(ctx context.Context, bucket string) bool {
	if _, hasNoBuckets := s.provider.(web); hasNoBuckets {
		return false
	}
	if exists, known := s.exists.Load(bucket); known {
		return !exists.(bool)
	}
	answer, err := s.do(ctx, request{method: http.MethodHead, bucket: bucket})
	if err == nil {
		answer.Body.Close()
	}
	var status *statusError
	lacks := errors.As(err, &status) && status.code == http.StatusNotFound
	if err == nil || status != nil { // otherwise the service didn't answer
		s.exists.Store(bucket, !lacks)
	}
	return lacks
}

// broken returns the error of an answer that ended early, or of a connection, in words for the user.
func broken(ctx context.Context, err error) error {
	var storeErr *files.StoreError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &storeErr):
		return storeErr
	case errors.Is(err, fs.ErrNotExist):
		return err
	}
	return &files.StoreError{Text: fmt.Sprintf("the store doesn't answer as it should (%s): check the network, the "+
		"region and the credentials", shortText(err)), Err: err}
}

// shortText returns the text of an error in at most 305 characters.
func shortText(err error) string {
	s := strings.Join(strings.Fields(err.Error()), " ")
	if r := []rune(s); len(r) > 300 {
		s = string(r[:150]) + " ... " + string(r[len(r)-150:])
	}
	return s
}
