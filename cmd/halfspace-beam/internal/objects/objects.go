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
	scheme string
	open   func(ctx context.Context, bucket string) (*blob.Bucket, error)
	// version returns the version of an object.
	version func(a *blob.Attributes) string
	// only restricts a request to a version, where the service can do that.
	only func(as func(any) bool, version string)
	// read returns the version that a reader reads.
	read func(r *blob.Reader) string
}

// A service is a provider with the buckets that were opened. It is a blob.Store.
type service struct {
	*provider
	ctx context.Context // of requests

	mu      sync.Mutex
	buckets map[string]*blob.Bucket // by name
}

var (
	services = map[string]*service{}
	local    = &copies{objects: map[string]*partial{}}
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
	changed time.Time
	version store.Version
}

func (i info) Name() string       { return path.Base(i.url) }
func (i info) Size() int64        { return i.size }
func (i info) Mode() fs.FileMode  { return 0o444 }
func (i info) ModTime() time.Time { return i.changed }
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
		if b, err = s.open(s.ctx, name); err != nil {
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
	ctx, end := context.WithTimeoutCause(s.ctx, patience, errSilent)
	defer end()
	a, err := b.Attributes(ctx, key)
	if err != nil {
		return i, explain(s.ctx, url, err)
	}
	return info{url, a.Size, a.ModTime, store.Version(s.version(a))}, nil
}

// Open opens the current version of an object, or the one that seen describes.
func (s *service) Open(url string, seen fs.FileInfo) (_ store.ReadableFile, err error) {
	i, is := seen.(info)
	if !is {
		if i, err = s.stat(url); err != nil {
			return nil, err
		}
	}
	b, key, err := s.bucket(url)
	if err != nil {
		return nil, err
	}
	version := string(i.version)
	return &object{ctx: s.ctx, partial: local.open(url, i, func(ctx context.Context, at, bytes int64) (io.ReadCloser, error) {
		r, err := b.NewRangeReader(ctx, key, at, bytes, &blob.ReaderOptions{BeforeRead: func(as func(any) bool) error {
			s.only(as, version)
			return nil
		}})
		switch code := gcerrors.Code(err); {
		case denied(err):
			return nil, err
		case code == gcerrors.FailedPrecondition || code == gcerrors.NotFound:
			return nil, errChanged
		case err != nil:
			return nil, err
		}
		if v := s.read(r); v != "" && v != version {
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
	*partial
	ctx    context.Context
	next   int64 // byte that Read reads
	closed bool
}

// Stat describes the version that is open.
func (o *object) Stat() (fs.FileInfo, error) { return o.info, nil }

// ReadAt reads at a byte.
func (o *object) ReadAt(b []byte, at int64) (int, error) { return o.readAt(o.ctx, b, at) }

// Read reads the next bytes.
func (o *object) Read(b []byte) (n int, err error) {
	if n, err = o.readAt(o.ctx, b, o.next); n > 0 && err == io.EOF {
		err = nil
	}
	o.next += int64(n)
	return n, err
}

// Close ends the use of the object. The copy stays.
func (o *object) Close() error {
	if o.closed {
		return fs.ErrClosed
	}
	o.closed = true
	o.partial.endUse()
	return nil
}

// Keep drops the copies of all objects but these. An object that is open keeps its copy until it is closed.
func Keep(urls ...string) { local.keep(urls) }

// Put writes an object, which appears whole or not at all.
func Put(ctx context.Context, url string, from io.Reader) error {
	b, key, err := of(url)
	if err != nil {
		return err
	}
	writing, cancel := context.WithCancel(ctx)
	defer cancel()
	w, err := b.NewWriter(writing, key, &blob.WriterOptions{ContentType: "application/octet-stream", BeforeWrite: again})
	if err != nil {
		return failed(ctx, url, err)
	}
	if _, err := io.Copy(w, from); err != nil {
		cancel() // so that Close writes nothing
		w.Close()
		return failed(ctx, url, err)
	}
	return failed(ctx, url, w.Close())
}

// Get returns the bytes of an object.
func Get(ctx context.Context, url string) ([]byte, error) {
	b, key, err := of(url)
	if err != nil {
		return nil, err
	}
	text, err := b.ReadAll(ctx, key)
	return text, failed(ctx, url, err)
}

// RemoveAll removes the objects below a folder.
func RemoveAll(ctx context.Context, folder string) error {
	b, key, err := of(folder + "/")
	if err != nil {
		return err
	}
	var removing errgroup.Group
	removing.SetLimit(store.ParallelRequests)
	for objects := b.List(&blob.ListOptions{Prefix: key}); ; {
		o, err := objects.Next(ctx)
		if err != nil {
			bad := removing.Wait()
			if err == io.EOF {
				err = nil
			}
			return failed(ctx, folder, cmp.Or(err, bad))
		}
		removing.Go(func() error {
			err := b.Delete(ctx, o.Key)
			if gcerrors.Code(err) == gcerrors.NotFound {
				return nil
			}
			return err
		})
	}
}

// of returns the bucket and the key of a URL.
func of(url string) (*blob.Bucket, string, error) {
	s, is := services[store.Scheme(url)]
	if !is {
		return nil, "", fmt.Errorf("%s: only gs:// and s3:// are known: name a bucket there, or a local folder", url)
	}
	b, key, err := s.bucket(url)
	if err != nil {
		err = fmt.Errorf("%s: %w", url, err)
	}
	return b, key, err
}

// failed returns an error that names the URL, or nil.
func failed(ctx context.Context, url string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", url, explain(ctx, url, err))
}

var errChanged = &store.StoreError{Text: "the object changed while it was read: try again"}

func notExist(url string) error { return &fs.PathError{Op: "open", Path: url, Err: fs.ErrNotExist} }

// explain returns an error of a service in words for the user.
func explain(ctx context.Context, url string, err error) error {
	var said *store.StoreError
	switch code := gcerrors.Code(err); {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &said):
		return said
	case code == gcerrors.PermissionDenied || denied(err):
		return &store.StoreError{Text: fmt.Sprintf("access is denied (%s): credentials must allow to list and read "+
			"DATA, to list, read, write and delete in --staging, and to write predictions: see docs/distributed.md",
			brief(err)), Err: err}
	case code == gcerrors.NotFound:
		return notExist(url)
	}
	return &store.StoreError{Text: fmt.Sprintf("the store doesn't answer as it should (%s): check the network, the "+
		"region and the credentials", brief(err)), Err: err}
}

// brief returns the text of an error in part of a line.
func brief(err error) string {
	s := strings.Join(strings.Fields(err.Error()), " ")
	if r := []rune(s); len(r) > 300 {
		s = string(r[:150]) + " ... " + string(r[len(r)-150:])
	}
	return s
}
