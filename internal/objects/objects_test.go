package objects

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"halfspace/internal/files"
	"halfspace/internal/objects/servers"
	"halfspace/internal/require"
)

// each runs a test with a server of each service.
func each(t *testing.T, test func(t *testing.T, s *servers.Server, root string)) {
	for scheme, start := range map[string]func(*testing.T) *servers.Server{"s3": servers.S3, "gs": servers.Google} {
		t.Run(scheme, func(t *testing.T) {
			s := start(t)
			Use(context.Background(), 0)
			test(t, s, scheme+"://"+servers.Bucket+"/")
		})
	}
}

func put(t *testing.T, url string, text []byte) {
	t.Helper()
	if err := Put(context.Background(), url, bytes.NewReader(text)); err != nil {
		t.Fatal(err)
	}
}

// TestServices: objects are written, listed, described, read and removed. What is not there is fs.ErrNotExist.
func TestServices(t *testing.T) {
	each(t, func(t *testing.T, s *servers.Server, root string) {
		want := newMemoryObject(windowBytes+12345, 1).text
		texts := map[string][]byte{"d/a b+c%?.parquet": want, "d/e/x": []byte("x"), "d2": []byte("y"), "d/": nil}
		for name, text := range texts {
			put(t, root+name, text)
		}
		delete(texts, "d/")
		all, err := services[files.Scheme(root)].List(root)
		if names := slices.Sorted(maps.Keys(texts)); err != nil || strings.Join(all, ",") != root+strings.Join(names, ","+root) {
			t.Errorf("List: %q, error %v", all, err)
		}
		f, err := files.Open(root + "d/a b+c%?.parquet")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil || info.Size() != int64(len(want)) || info.Name() != "a b+c%?.parquet" || !info.Mode().IsRegular() || time.Since(info.ModTime()).Abs() > time.Hour {
			t.Errorf("Stat: %+v, error %v", info, err)
		}
		if got, err := io.ReadAll(f); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes, error %v", len(got), err)
		}
		sent := s.SentBytes.Load()
		second, err := files.Open(root + "d/a b+c%?.parquet")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(second); err != nil || !bytes.Equal(got, want) || s.SentBytes.Load() > sent+10_000 {
			t.Errorf("read again: %d bytes, %d sent, error %v", len(got), s.SentBytes.Load()-sent, err)
		}
		second.Close()
		for _, url := range []string{root + "absent", strings.Replace(root, servers.Bucket, "absent", 1) + "x", root, root + "d"} {
			if _, err := files.Open(url); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: error %v", url, err)
			}
		}
		if _, err := files.Open(strings.Replace(root, servers.Bucket, "absent", 1) + "x"); err == nil || err.Error() != "there is no bucket absent: check its name" {
			t.Errorf("a bucket that doesn't exist: error %v", err)
		}
		if text, err := Get(context.Background(), root+"d/e/x"); string(text) != "x" || err != nil {
			t.Errorf("Get: %q, error %v", text, err)
		}
		if err := RemoveAll(context.Background(), root+"d"); err != nil {
			t.Error(err)
		}
		if all, err := services[files.Scheme(root)].List(root); err != nil || !slices.Equal(all, []string{root + "d2"}) {
			t.Errorf("after RemoveAll: %q, error %v", all, err)
		}
	})
}

// TestAhead: the first look at an object of Parquet in a command brings its beginning, its end and the names beside it, for a while. Other
// names are seen after a write.
func TestAhead(t *testing.T) {
	each(t, func(t *testing.T, s *servers.Server, root string) {
		text := newMemoryObject(windowBytes+12345, 1).text
		put(t, root+"d/x.parquet", text)
		of := services[files.Scheme(root)]
		of.fresh = time.Hour
		if _, err := files.Stat(root + "d/x.parquet"); err != nil {
			t.Fatal(err)
		}
		for _, folder := range []string{root + "d", strings.TrimRight(root, "/")} {
			if names, whole, err := of.Names(folder); err != nil || !whole || len(names) != 1 {
				t.Errorf("%s: %q, error %v", folder, names, err)
			}
		}
		requests := s.Requests.Load()
		f, err := files.Open(root + "d/x.parquet")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		b := make([]byte, 100)
		for _, at := range []int{0, len(text) - 100} {
			if _, err := f.ReadAt(b, int64(at)); err != nil || !bytes.Equal(b, text[at:at+100]) {
				t.Errorf("at %d: error %v", at, err)
			}
		}
		if _, _, err := of.Names(root + "d"); err != nil || s.Requests.Load() != requests {
			t.Errorf("%d further requests, error %v", s.Requests.Load()-requests, err)
		}
		put(t, root+"d/y", nil)
		if names, _, _ := of.Names(root + "d"); len(names) != 2 {
			t.Errorf("after a write: %q", names)
		}
	})
}

// TestServicesChanged: an object that is replaced by another one of the same size is another version. Who has the old one open gets
// an error, but for what is there already.
func TestServicesChanged(t *testing.T) {
	each(t, func(t *testing.T, _ *servers.Server, root string) {
		old, now := newMemoryObject(3*windowBytes, 1).text, newMemoryObject(3*windowBytes, 2).text
		put(t, root+"x", old)
		f, err := files.Open(root + "x")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		b := make([]byte, 100)
		if _, err := f.ReadAt(b, windowBytes); err != nil || !bytes.Equal(b, old[windowBytes:][:100]) {
			t.Fatalf("error %v", err)
		}
		put(t, root+"x", now)
		if _, err := f.ReadAt(b, windowBytes+blockBytes); err != nil || !bytes.Equal(b, old[windowBytes+blockBytes:][:100]) {
			t.Errorf("a block that was there: error %v", err)
		}
		if _, err := f.ReadAt(b, 2*windowBytes); fmt.Sprint(err) != errChanged.Text {
			t.Errorf("a block that wasn't there: error %v", err)
		}
		seen, _ := f.Stat()
		if info, err := files.Stat(root + "x"); err != nil || files.SameFile(info, seen) || info.Size() != seen.Size() {
			t.Errorf("%+v is %+v, error %v", info, seen, err)
		}
		g, err := files.Open(root + "x")
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		if got, err := io.ReadAll(g); err != nil || !bytes.Equal(got, now) {
			t.Errorf("the new object: %d bytes, error %v", len(got), err)
		}
	})
}

// TestServicesFail: requests that fail in passing are made again.
func TestServicesFail(t *testing.T) {
	defer func(d time.Duration) { retryPause = d }(retryPause)
	retryPause = time.Millisecond
	each(t, func(t *testing.T, s *servers.Server, root string) {
		want := newMemoryObject(2*windowBytes, 3).text
		put(t, root+"x", want)
		s.FailureEvery.Store(4)
		f, err := files.Open(root + "x")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if got, err := io.ReadAll(f); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes, error %v", len(got), err)
		}
		put(t, root+"y", want)
		if got, err := Get(context.Background(), root+"y"); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes, error %v", len(got), err)
		}
	})
}

// TestPutFails: a writer that fails, or an end of the context, leaves no object.
func TestPutFails(t *testing.T) {
	each(t, func(t *testing.T, _ *servers.Server, root string) {
		bad := io.MultiReader(bytes.NewReader(make([]byte, 100)), badReader{})
		if err := Put(context.Background(), root+"x", bad); err == nil {
			t.Error("no error")
		}
		if _, err := files.Stat(root + "x"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the object is there, error %v", err)
		}
	})
}

type badReader struct{}

func (badReader) Read([]byte) (int, error) { return 0, errors.New("the disk is gone") }

// TestTempFileError: a folder for temporary files that can't be written is an error that names it.
func TestTempFileError(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "absent")
	t.Setenv("TMPDIR", dir)
	s := newMemoryObject(100, 1)
	_, err := newCopies().open("s3://b/x", s.info("1"), s.fetch).readAt(context.Background(), make([]byte, 1), 0)
	if err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "set TMPDIR") {
		t.Errorf("error %v", err)
	}
}

// TestNoServer: an address where no server listens is told, with the variable that has it. So is an address that is none.
func TestNoServer(t *testing.T) {
	servers.S3(t)
	for endpoint, want := range map[string]string{"http://localhost:1": "no server listens at AWS_ENDPOINT_URL=http://localhost:1 ", "http://:80": "set it to http://HOST:PORT"} {
		t.Setenv("AWS_ENDPOINT_URL", endpoint)
		Use(context.Background(), 0)
		if _, err := files.Stat("s3://" + servers.Bucket + "/x"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", endpoint, err)
		}
	}
}

// TestParts: an object that is too large for one request is written in parts, and appears when it is whole. Nothing stays
// of an upload that fails.
func TestParts(t *testing.T) {
	each(t, func(t *testing.T, s *servers.Server, root string) {
		of := services[files.Scheme(root)]
		of.putBytes, of.partBytes = 6<<20, 5<<20
		defer func() { of.putBytes, of.partBytes = mostPutBytes, leastPartBytes }()
		want := newMemoryObject(11<<20, 1).text
		put(t, root+"large", want)
		if got, err := Get(t.Context(), root+"large"); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes, error %v", len(got), err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := Put(ctx, root+"cancelled", bytes.NewReader(want)); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: error %v", err)
		}
		if all, err := of.List(root); err != nil || !slices.Equal(all, []string{root + "large"}) {
			t.Errorf("%q, error %v", all, err)
		}
	})
}

// TestLostAnswer: an upload is done if the answer that says so is lost, and the object is there.
func TestLostAnswer(t *testing.T) {
	defer func(d time.Duration) { retryPause = d }(retryPause)
	retryPause = time.Millisecond
	each(t, func(t *testing.T, s *servers.Server, root string) {
		of := services[files.Scheme(root)]
		of.putBytes, of.partBytes = 6<<20, 5<<20
		var completions atomic.Int64
		s.AfterRequest = func(r *http.Request) {
			if r.Method == http.MethodPost && r.URL.Query().Has("uploadId") && completions.Add(1) == 1 {
				panic(http.ErrAbortHandler)
			}
		}
		want := newMemoryObject(11<<20, 1).text
		put(t, root+"large", want)
		if got, err := Get(t.Context(), root+"large"); err != nil || !bytes.Equal(got, want) || completions.Load() != 2 {
			t.Errorf("%d bytes after %d completions, error %v", len(got), completions.Load(), err)
		}
	})
}

// TestLostUpload: an upload that the service doesn't know is an error, unless the object that is there has the size and the tag of the parts.
func TestLostUpload(t *testing.T) {
	defer func(d time.Duration) { retryPause = d }(retryPause)
	retryPause = time.Millisecond
	const part = "0cc175b9c0f1b6a831c399e269772661" // MD5 of "a"
	for name, c := range map[string]struct {
		tag          string
		size, losses int // losses: of the answers to the first requests to complete
		cut, ok      bool
	}{
		"lost": {"%s", 11 << 20, 1, false, true}, "cut": {"%s", 11 << 20, 0, true, true}, "not lost": {"%s", 11 << 20, 0, false, false},
		"another size": {"%s", 10 << 20, 1, false, false}, "another tag": {part + "-3", 11 << 20, 1, false, false}, "no tag": {"", 11 << 20, 1, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			alone(t, nil)
			sums := md5.Sum(bytes.Repeat(require.Value(hex.DecodeString(part))(t), 3))
			tag := strings.Replace(c.tag, "%s", fmt.Sprintf("%x-3", sums), 1)
			completions := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				switch {
				case r.URL.Query().Has("uploads"):
					io.WriteString(w, "<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>")
				case r.Method == http.MethodPut:
					w.Header().Set("ETag", strconv.Quote(part))
				case r.Method == http.MethodHead:
					w.Header().Set("ETag", strconv.Quote(tag))
					w.Header().Set("Content-Length", strconv.Itoa(c.size))
				case r.Method == http.MethodPost && c.cut:
					io.WriteString(w, "<CompleteMultipart")
				case r.Method == http.MethodPost:
					if completions++; completions <= c.losses {
						panic(http.ErrAbortHandler)
					}
					w.WriteHeader(http.StatusNotFound)
					io.WriteString(w, "<Error><Code>NoSuchUpload</Code></Error>")
				}
			}))
			defer server.Close()
			t.Setenv("AWS_ENDPOINT_URL", server.URL)
			Use(t.Context(), 0)
			services["s3"].putBytes, services["s3"].partBytes = 6<<20, 5<<20
			if err := Put(t.Context(), "s3://rows/large", bytes.NewReader(make([]byte, 11<<20))); (err == nil) != c.ok {
				t.Errorf("error %v", err)
			}
		})
	}
}
