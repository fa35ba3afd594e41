// Package servers has servers of S3's protocol and of Google's for tests. They run in the process of the test, with objects in memory.
package servers

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/fsouza/fake-gcs-server/fakestorage"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// Bucket is a bucket that each server has.
const Bucket = "rows"

// A Server counts the bytes that it sends, and fails some requests.
type Server struct {
	SentBytes     atomic.Int64
	Requests      atomic.Int64
	FailureEvery  atomic.Int64          // of this number of requests, one has status 503 and one is cut short; 0: no request fails
	BeforeRequest func(r *http.Request) // unless nil, it is called before each request
	handler       http.Handler
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
	bytesLeft := int64(1 << 62)
	if every > 0 && n%every == every/2 && r.Method == http.MethodGet {
		bytesLeft = 1000
	}
	s.handler.ServeHTTP(&counter{w, &s.SentBytes, bytesLeft}, r)
}

// A counter counts bytes, and closes the connection after some.
type counter struct {
	http.ResponseWriter
	sentBytes *atomic.Int64
	bytesLeft int64
}

func (c *counter) Write(b []byte) (int, error) {
	if int64(len(b)) > c.bytesLeft {
		c.ResponseWriter.Write(b[:c.bytesLeft])
		panic(http.ErrAbortHandler)
	}
	c.bytesLeft -= int64(len(b))
	c.sentBytes.Add(int64(len(b)))
	return c.ResponseWriter.Write(b)
}

// S3 starts a server for s3://, and sets the environment for it.
func S3(t *testing.T) *Server {
	backend := s3mem.New()
	if err := backend.CreateBucket(Bucket); err != nil {
		t.Fatal(err)
	}
	s := &Server{handler: gofakes3.New(backend).Server()}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	t.Setenv("AWS_ENDPOINT_URL", server.URL)
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	return s
}

// Google starts a server for gs://, and sets the environment for it.
func Google(t *testing.T) *Server {
	s := new(Server)
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	fake, err := fakestorage.NewServerWithOptions(fakestorage.Options{NoListener: true, ExternalURL: server.URL,
		PublicHost: server.Listener.Addr().String(), Writer: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	fake.CreateBucketWithOpts(fakestorage.CreateBucketOpts{Name: Bucket})
	s.handler = fake.HTTPHandler()
	t.Setenv("STORAGE_EMULATOR_HOST", server.Listener.Addr().String())
	return s
}
