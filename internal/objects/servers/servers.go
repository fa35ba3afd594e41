// Package servers has servers of S3's protocol for tests, one of which is Google's. They run in the process of the
// test, with objects in memory.
package servers

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// Bucket is a bucket that each server has.
const Bucket = "rows"

// A Server counts the bytes that it sends, and fails some requests. It gives a version to each object that is written, and holds
// requests to the version that they ask for: gofakes3 does neither.
type Server struct {
	SentBytes     atomic.Int64
	Requests      atomic.Int64
	FailureEvery  atomic.Int64          // of this number of requests, one has status 503 and one is cut short; 0: no request fails
	BeforeRequest func(r *http.Request) // unless nil, it is called before each request
	AfterRequest  func(r *http.Request) // unless nil, it is called when a request was carried out; a panic loses the answer
	handler       http.Handler

	mu       sync.Mutex
	versions map[string]int // by path
	version  string         // header of an answer with the version, and of a request for it
	require  string
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.BeforeRequest != nil {
		s.BeforeRequest(r)
	}
	n, every := s.Requests.Add(1), s.FailureEvery.Load()
	if every > 0 && n%every == 0 {
		http.Error(w, "busy", http.StatusServiceUnavailable)
		return
	}
	inParts := r.URL.Query().Has("uploadId")
	if inParts && r.Method == http.MethodPut { // a part of an object, whose ETag is its own
		s.handler.ServeHTTP(w, r)
		return
	}
	bytesLeft := int64(1 << 62)
	if every > 0 && n%every == every/2 && r.Method == http.MethodGet {
		bytesLeft = 1000
	}
	version := s.versionOf(r, r.Method == http.MethodPut || inParts && r.Method == http.MethodPost)
	if want := r.Header.Get(s.require); want != "" && want != version {
		http.Error(w, "another version", http.StatusPreconditionFailed)
		return
	}
	if s.AfterRequest != nil {
		defer s.AfterRequest(r)
	}
	c := &counter{w, &s.SentBytes, bytesLeft, s.version, version, false}
	if s.handler.ServeHTTP(c, r); !c.begun {
		c.WriteHeader(http.StatusOK)
	}
}

// versionOf returns the version of the object of a request, a new one if it writes the object.
func (s *Server) versionOf(r *http.Request, writes bool) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if writes {
		s.versions[r.URL.Path]++
	}
	if s.version == "Etag" {
		return strconv.Quote(strconv.Itoa(s.versions[r.URL.Path]))
	}
	return strconv.Itoa(s.versions[r.URL.Path])
}

// A counter counts bytes, closes the connection after some, and adds the version to an answer.
type counter struct {
	http.ResponseWriter
	sentBytes       *atomic.Int64
	bytesLeft       int64
	header, version string
	begun           bool
}

func (c *counter) WriteHeader(status int) {
	if c.begun {
		return
	}
	if c.begun = true; status/100 == 2 {
		c.Header().Set(c.header, c.version)
	}
	c.ResponseWriter.WriteHeader(status)
}

func (c *counter) Write(b []byte) (int, error) {
	if !c.begun {
		c.WriteHeader(http.StatusOK)
	}
	if int64(len(b)) > c.bytesLeft {
		c.ResponseWriter.Write(b[:c.bytesLeft])
		panic(http.ErrAbortHandler)
	}
	c.bytesLeft -= int64(len(b))
	c.sentBytes.Add(int64(len(b)))
	return c.ResponseWriter.Write(b)
}

// start starts a server, and returns its address.
func start(t *testing.T, version, require string) (s *Server, address string) {
	backend := s3mem.New()
	if err := backend.CreateBucket(Bucket); err != nil {
		t.Fatal(err)
	}
	s = &Server{handler: gofakes3.New(backend).Server(), versions: map[string]int{}, version: version, require: require}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return s, server.URL
}

// S3 starts a server for s3://, and sets the environment for it.
func S3(t *testing.T) *Server {
	s, address := start(t, "Etag", "If-Match")
	t.Setenv("AWS_ENDPOINT_URL", address)
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	return s
}

// Google starts a server for gs://, and sets the environment for it.
func Google(t *testing.T) *Server {
	s, address := start(t, "X-Goog-Generation", "X-Goog-If-Generation-Match")
	t.Setenv("STORAGE_EMULATOR_HOST", address)
	return s
}
