package objects

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"halfspace/internal/files"
)

// A request is one to a service.
type request struct {
	method, bucket, key string
	query               url.Values
	header              func(http.Header) // adds headers; nil: there are none
	body                *io.SectionReader // nil: there is none
}

// A statusError is an answer that is no success.
type statusError struct {
	code int
	text string // the reason that the service gives
	try  int    // number of the try that has this answer, from 1 on
}

func (e *statusError) Error() string {
	if e.text == "" {
		return fmt.Sprintf("status %d, %s", e.code, http.StatusText(e.code))
	}
	return fmt.Sprintf("status %d, %s", e.code, e.text)
}

// client makes all requests. It follows redirects of web pages alone: a bucket's service tells its region in the answer.
var client = &http.Client{
	Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
		TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: longestSilence, MaxIdleConnsPerHost: files.ParallelRequests,
		ForceAttemptHTTP2: true, DisableCompression: true},
	CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if r.Header.Get("Authorization") != "" || via[0].Header.Get("Authorization") != "" || len(via) >= 10 {
			return http.ErrUseLastResponse
		}
		return nil
	},
}

// emptySum is the SHA-256 of no bytes.
var emptySum = hex.EncodeToString(sha256.New().Sum(nil))

// do makes a request, again if it fails in passing, and returns an answer of success, whose body the caller closes.
func (s *service) do(ctx context.Context, q request) (*http.Response, error) {
	sum := emptySum
	if q.body != nil {
		h := sha256.New()
		if _, err := io.Copy(h, io.NewSectionReader(q.body, 0, q.body.Size())); err != nil {
			return nil, err
		}
		sum = hex.EncodeToString(h.Sum(nil))
	}
	for try, learned := 1, 0; ; try++ {
		answer, err := s.once(ctx, q, sum)
		if err == nil && answer.StatusCode/100 == 2 {
			s.exists.Store(q.bucket, true)
			return answer, nil
		}
		if err == nil {
			again := learned < 2 && s.learn(q.bucket, answer)
			err = statusOf(answer, try)
			if again {
				learned++
				continue
			}
		}
		var dial *net.OpError
		switch {
		case ctx.Err() == nil && errors.As(err, &dial) && dial.Op == "dial":
			return nil, &files.StoreError{Text: fmt.Sprintf("no server listens at %s (%s): start the server, set the address of another, "+
				"or check the network", s.place(), shortText(dial.Err)), Err: err}
		case try == mostTries || !isPassing(ctx, err):
			return nil, err
		}
		select {
		case <-time.After(pause(try)):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// pause is the wait after a try that failed, 1 for the first one. It doubles, and chance spreads the requests of several
// readers.
func pause(try int) time.Duration {
	longest := min(10*retryPause, retryPause/5<<try)
	return longest/2 + rand.N(longest/2+1)
}

func (s *service) once(ctx context.Context, q request, sum string) (*http.Response, error) {
	to, err := s.address(q.bucket, q.key)
	if err != nil {
		return nil, err
	}
	if len(q.query) > 0 {
		to.RawQuery = strings.ReplaceAll(q.query.Encode(), "+", "%20")
	}
	r, err := http.NewRequestWithContext(ctx, q.method, to.String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	r.URL.RawPath = to.RawPath
	if q.header != nil {
		q.header(r.Header)
	}
	if q.body != nil {
		r.Body, r.ContentLength = io.NopCloser(io.NewSectionReader(q.body, 0, q.body.Size())), q.body.Size()
		r.Header.Set("Content-Type", "application/octet-stream")
		if q.body.Size() == 0 {
			r.Body = http.NoBody
		}
	}
	if err := s.authorize(r, q.bucket, sum); err != nil {
		return nil, err
	}
	return client.Do(r)
}

// statusOf returns the error of the answer to a try, and closes it.
func statusOf(r *http.Response, try int) error {
	defer r.Body.Close()
	var said struct{ Code, Message string }
	err := &statusError{code: r.StatusCode, try: try}
	if xml.NewDecoder(io.LimitReader(r.Body, 64<<10)).Decode(&said) == nil && said.Code != "" {
		err.text = said.Code + ": " + said.Message
	}
	return err
}

// isPassing tells whether the same request may succeed a moment later: the service is busy, or the connection was cut.
func isPassing(ctx context.Context, err error) bool {
	var status *statusError
	var storeErr *files.StoreError
	switch {
	case ctx.Err() != nil || errors.As(err, &storeErr):
		return false
	case errors.As(err, &status):
		return status.code >= 500 || status.code == http.StatusTooManyRequests || status.code == http.StatusRequestTimeout
	}
	return true
}
