// Package objects reads and writes the objects of gs:// and s3://.
//
// Use registers both with halfspace/internal/store. A file that it opens has a local copy, which fills as the file is read. The copy
// stays until the process ends, the object changes, or Keep is called for others. So each block of an object is fetched once.
package objects

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
	"golang.org/x/sync/errgroup"

	store "halfspace/internal/files"
)

// A provider is a service that has buckets.
type provider struct {
	scheme     string
	openBucket func(ctx context.Context, bucket string) (*blob.Bucket, error)
	// version returns the version of an object.
	version func(a *blob.Attributes) string
	// requireVersion restricts a request to a version, where the service can do that.
	requireVersion func(as func(any) bool, version string)
	// versionRead returns the version that a reader reads.
	versionRead func(r *blob.Reader) string
}

// A service is a provider with the buckets that were opened. It is a blob.Store.
type service struct {
	*provider
	ctx context.Context // of requests

	mu      sync.Mutex
	buckets map[string]*blob.Bucket // by name
}

var (
	services    = map[string]*service{}
	localCopies = &copies{objects: map[string]*objectCopy{}}
)

// Use registers gs:// and s3:// with package store. Requests to read end with ctx. Programs call it as they start.
func Use(ctx context.Context) {
	for _, p := range []*provider{google, amazon} {
		services[p.scheme] = &service{provider: p, ctx: ctx, buckets: map[string]*blob.Bucket{}}
		store.Register(p.scheme, services[p.scheme])
	}
}

// An info describes a version of an object. It is a fs.FileInfo.
type info struct {
	url     string
	size    int64
	modTime time.Time
	version store.Version
}

func (i info) Name() string       { return path.Base(i.url) }
func (i info) Size() int64        { return i.size }
func (i info) Mode() fs.FileMode  { return 0o444 }
func (i info) ModTime() time.Time { return i.modTime }
func (i info) IsDir() bool        { return false }
func (i info) Sys() any           { return i.version }

// bucket returns the bucket and the key of a URL.
func (s *service) bucket(url string) (b *blob.Bucket, key string, err error) {
	name, key, _ := strings.Cut(strings.TrimPrefix(url, s.scheme+"://"), "/")
	if name == "" || strings.ContainsAny(name, "*?[") {
		return nil, "", &store.StoreError{Text: fmt.Sprintf("name a bucket, as in %s://BUCKET/FOLDER", s.scheme)}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if b = s.buckets[name]; b == nil {
		if b, err = s.openBucket(s.ctx, name); err != nil {
			return nil, "", explain(s.ctx, url, err)
		}
		s.buckets[name] = b
	}
	return b, key, nil
}

// Stat describes the current version of an object.
func (s *service) Stat(url string) (fs.FileInfo, error) {
	i, err := s.stat(url)
	return i, err
}

func (s *service) stat(url string) (i info, err error) {
	b, key, err := s.bucket(url)
	if err != nil {
		return i, err
	}
	if key == "" {
		return i, notExist(url)
	}
	ctx, end := context.WithTimeoutCause(s.ctx, longestSilence, errSilence)
	defer end()
	a, err := b.Attributes(ctx, key)
	if err != nil {
		return i, explain(s.ctx, url, err)
	}
	return info{url, a.Size, a.ModTime, store.Version(s.version(a))}, nil
}

// Open opens the current version of an object, or the version that listed describes.
func (s *service) Open(url string, listed fs.FileInfo) (_ store.ReadableFile, err error) {
	i, ok := listed.(info)
	if !ok {
		if i, err = s.stat(url); err != nil {
			return nil, err
		}
	}
	b, key, err := s.bucket(url)
	if err != nil {
		return nil, err
	}
	version := string(i.version)
	return &object{ctx: s.ctx, objectCopy: localCopies.open(url, i, func(ctx context.Context, at, bytes int64) (io.ReadCloser, error) {
		r, err := b.NewRangeReader(ctx, key, at, bytes, &blob.ReaderOptions{BeforeRead: func(as func(any) bool) error {
			s.requireVersion(as, version)
			return nil
		}})
		switch code := gcerrors.Code(err); {
		case isDenied(err):
			return nil, err
		case code == gcerrors.FailedPrecondition || code == gcerrors.NotFound:
			return nil, errChanged
		case err != nil:
			return nil, err
		}
		if v := s.versionRead(r); v != "" && v != version {
			r.Close()
			return nil, errChanged
		}
		return r, nil
	})}, nil
}

// List returns the URLs of the objects that begin with a prefix, sorted.
func (s *service) List(prefix string) (all []string, err error) {
	b, key, err := s.bucket(prefix)
	if err != nil {
		return nil, err
	}
	root := strings.TrimSuffix(prefix, key)
	for objects := b.List(&blob.ListOptions{Prefix: key}); ; {
		o, err := objects.Next(s.ctx)
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return nil, explain(s.ctx, prefix, err)
		}
		if !strings.HasSuffix(o.Key, "/") { // that stands for a folder
			all = append(all, root+o.Key)
		}
	}
}

// An object is an object that is open.
type object struct {
	*objectCopy
	ctx      context.Context
	offset   int64 // byte that Read reads
	isClosed bool
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
	if o.isClosed {
		return fs.ErrClosed
	}
	o.isClosed = true
	o.objectCopy.endUse()
	return nil
}

// Keep drops the copies of all objects but these. An object that is open keeps its copy until it is closed.
func Keep(urls ...string) { localCopies.dropOthers(urls) }

// Put writes an object, which appears whole or not at all.
func Put(ctx context.Context, url string, from io.Reader) error {
	b, key, err := bucketOf(url)
	if err != nil {
		return err
	}
	writeCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	w, err := b.NewWriter(writeCtx, key, &blob.WriterOptions{ContentType: "application/octet-stream", BeforeWrite: retryUploads})
	if err != nil {
		return errorOf(ctx, url, err)
	}
	if _, err := io.Copy(w, from); err != nil {
		cancel() // so that Close writes nothing
		w.Close()
		return errorOf(ctx, url, err)
	}
	return errorOf(ctx, url, w.Close())
}

// Get returns the bytes of an object.
func Get(ctx context.Context, url string) ([]byte, error) {
	b, key, err := bucketOf(url)
	if err != nil {
		return nil, err
	}
	text, err := b.ReadAll(ctx, key)
	return text, errorOf(ctx, url, err)
}

// RemoveAll removes the objects below a folder.
func RemoveAll(ctx context.Context, folder string) error {
	b, key, err := bucketOf(folder + "/")
	if err != nil {
		return err
	}
	var removals errgroup.Group
	removals.SetLimit(store.ParallelRequests)
	for objects := b.List(&blob.ListOptions{Prefix: key}); ; {
		o, err := objects.Next(ctx)
		if err != nil {
			removeErr := removals.Wait()
			if err == io.EOF {
				err = nil
			}
			return errorOf(ctx, folder, cmp.Or(err, removeErr))
		}
		removals.Go(func() error {
			err := b.Delete(ctx, o.Key)
			if gcerrors.Code(err) == gcerrors.NotFound {
				return nil
			}
			return err
		})
	}
}

// bucketOf returns the bucket and the key of a URL.
func bucketOf(url string) (*blob.Bucket, string, error) {
	s, ok := services[store.Scheme(url)]
	if !ok {
		return nil, "", fmt.Errorf("%s: only gs:// and s3:// are known: name a bucket there, or a local folder", url)
	}
	b, key, err := s.bucket(url)
	if err != nil {
		err = fmt.Errorf("%s: %w", url, err)
	}
	return b, key, err
}

// errorOf returns an error that names the URL, or nil.
func errorOf(ctx context.Context, url string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", url, explain(ctx, url, err))
}

var errChanged = &store.StoreError{Text: "the object changed while it was read: try again"}

func notExist(url string) error { return &fs.PathError{Op: "open", Path: url, Err: fs.ErrNotExist} }

// explain returns an error of a service in words for the user.
func explain(ctx context.Context, url string, err error) error {
	var storeErr *store.StoreError
	switch code := gcerrors.Code(err); {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &storeErr):
		return storeErr
	case code == gcerrors.PermissionDenied || isDenied(err):
		return &store.StoreError{Text: fmt.Sprintf("access is denied (%s): credentials must allow to list and read "+
			"DATA, to list, read, write and delete in --staging, and to write predictions: see docs/distributed.md",
			shortText(err)), Err: err}
	case code == gcerrors.NotFound:
		return notExist(url)
	}
	return &store.StoreError{Text: fmt.Sprintf("the store doesn't answer as it should (%s): check the network, the "+
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
