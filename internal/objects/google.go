package objects

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"

	"golang.org/x/oauth2"
	oauth "golang.org/x/oauth2/google"

	"halfspace/internal/files"
)

// google is Google Cloud Storage, by its XML interface. Without default credentials it is asked as anybody, for public buckets.
type google struct {
	tokens func() (oauth2.TokenSource, error) // nil without credentials; read at the first request
}

func newGoogle() *google {
	return &google{sync.OnceValues(func() (oauth2.TokenSource, error) {
		if os.Getenv("STORAGE_EMULATOR_HOST") != "" {
			return nil, nil
		}
		c, err := oauth.FindDefaultCredentials(context.Background(), "https://www.googleapis.com/auth/devstorage.read_write")
		if err != nil {
			return nil, err
		}
		return oauth2.ReuseTokenSource(nil, c.TokenSource), nil
	})}
}

func (*google) address(bucket, key string) (*url.URL, error) {
	to := &url.URL{Scheme: "https", Host: "storage.googleapis.com", Path: "/" + bucket + "/" + key}
	if host := os.Getenv("STORAGE_EMULATOR_HOST"); host != "" {
		to.Scheme, to.Host = "http", strings.TrimPrefix(strings.TrimSuffix(host, "/"), "http://")
	}
	return to, nil
}

func (g *google) authorize(r *http.Request, _, _ string) error {
	tokens, _ := g.tokens() // without any, a public bucket is read
	if tokens == nil {
		return nil
	}
	t, err := tokens.Token()
	if err != nil {
		return &files.StoreError{Text: fmt.Sprintf("the default credentials of Google Cloud give no token (%s): type gcloud auth "+
			"application-default login", shortText(err)), Err: err}
	}
	t.SetAuthHeader(r)
	return nil
}

func (*google) learn(string, *http.Response) bool { return false }

func (*google) version(h http.Header) files.Version {
	return files.Version(h.Get("X-Goog-Generation"))
}

func (*google) require(h http.Header, v files.Version) {
	if v != "" {
		h.Set("X-Goog-If-Generation-Match", string(v))
	}
}

func (g *google) tried() string {
	if tokens, err := g.tokens(); err != nil || tokens == nil {
		return "no default credentials of Google Cloud were found (GOOGLE_APPLICATION_CREDENTIALS, gcloud, the metadata server), and the " +
			"bucket isn't public: type gcloud auth application-default login"
	}
	return "the default credentials of Google Cloud must allow to list and read the bucket"
}

func (*google) place() string {
	if host := os.Getenv("STORAGE_EMULATOR_HOST"); host != "" {
		return "STORAGE_EMULATOR_HOST=" + host
	}
	return "storage.googleapis.com"
}

// web is a server of web pages, which has files to read.
type web struct{ scheme string }

func (w web) address(host, key string) (*url.URL, error) {
	to, err := url.Parse(w.scheme + "://" + host + "/" + key)
	if err != nil {
		return nil, &files.StoreError{Text: "this is no address of a file", Err: err}
	}
	return to, nil
}

func (web) authorize(*http.Request, string, string) error { return nil }
func (web) learn(string, *http.Response) bool             { return false }

// version is the tag, or the time where there is none. A weak tag may stay when bytes change.
func (web) version(h http.Header) files.Version {
	if tag := h.Get("ETag"); tag != "" && !strings.HasPrefix(tag, "W/") {
		return files.Version(tag)
	}
	return files.Version(h.Get("Last-Modified"))
}

func (web) require(h http.Header, v files.Version) {
	switch {
	case strings.HasPrefix(string(v), `"`):
		h.Set("If-Match", string(v))
	case v != "":
		h.Set("If-Unmodified-Since", string(v))
	}
}

func (web) tried() string { return "https:// is read without credentials" }

func (w web) place() string { return "the address" }
