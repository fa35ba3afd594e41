package objects

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minio/minio-go/v7/pkg/signer"

	"halfspace/internal/files"
)

// alone sets an environment without credentials, but for the files that texts give the content of: "config" and "credentials".
func alone(t *testing.T, texts map[string]string) {
	dir := t.TempDir()
	for variable, name := range map[string]string{"AWS_CONFIG_FILE": "config", "AWS_SHARED_CREDENTIALS_FILE": "credentials"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(texts[name]), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv(variable, filepath.Join(dir, name))
	}
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_ACCESS_KEY", "AWS_SECRET_ACCESS_KEY", "AWS_SECRET_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE",
		"AWS_DEFAULT_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_WEB_IDENTITY_TOKEN_FILE",
		"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"} {
		t.Setenv(name, "")
		os.Unsetenv(name)
	}
	t.Setenv("HOME", dir)
}

// A bucket is a server with one object, which checks signatures.
type bucket struct {
	text, key, secret, region string
	requests                  atomic.Int64
	answer                    func(n int64, w http.ResponseWriter) bool // answers request n in another way, if it returns true
}

func (b *bucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := b.requests.Add(1)
	if b.answer != nil && b.answer(n, w) {
		return
	}
	if b.key != "" && !b.isSigned(r) {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, "<Error><Code>SignatureDoesNotMatch</Code><Message>no</Message></Error>")
		return
	}
	w.Header().Set("ETag", `"1"`)
	http.ServeContent(w, r, "x", time.Unix(1, 0), strings.NewReader(b.text))
}

// isSigned tells whether a request has the signature that the client's library makes with the server's key.
func (b *bucket) isSigned(r *http.Request) bool {
	again := r.Clone(context.Background())
	again.URL.Scheme, again.URL.Host, again.Header = "http", r.Host, http.Header{}
	for _, name := range []string{"X-Amz-Content-Sha256", "X-Amz-Date", "X-Amz-Security-Token", "Range", "If-Match"} {
		if v := r.Header.Get(name); v != "" {
			again.Header.Set(name, v)
		}
	}
	at, _ := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	if time.Since(at).Abs() > 15*time.Minute {
		return false
	}
	want := signer.SignV4(*again, b.key, b.secret, r.Header.Get("X-Amz-Security-Token"), b.region).Header.Get("Authorization")
	return r.Header.Get("Authorization") == want
}

// serve starts the server and returns its address.
func (b *bucket) serve(t *testing.T) string {
	server := httptest.NewServer(b)
	t.Cleanup(server.Close)
	return server.URL
}

func read(address string) (string, error) {
	f, err := files.Open(address)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	return string(text), err
}

// TestCredentials: requests are signed with the credentials of the environment, or of a profile, which also gives the endpoint and the
// region; without any they aren't signed. An error says which were tried, and no secret.
func TestCredentials(t *testing.T) {
	const secret = "an+other/secret"
	b := &bucket{text: "0123456789", key: "AKIA1234567890", secret: secret, region: "eu-west-3"}
	at := b.serve(t)
	keys := fmt.Sprintf("aws_access_key_id = AKIA1234567890\naws_secret_access_key = %s\n", secret)
	for name, c := range map[string]struct {
		texts, variables map[string]string
		err              string
	}{
		"environment": {nil, map[string]string{"AWS_ACCESS_KEY_ID": b.key, "AWS_SECRET_ACCESS_KEY": secret, "AWS_REGION": b.region, "AWS_ENDPOINT_URL": at}, ""},
		"profile": {map[string]string{"credentials": "[work]\n" + keys, "config": fmt.Sprintf("[profile work]\nregion = eu-west-3\nendpoint_url = %s\n", at)},
			map[string]string{"AWS_PROFILE": "work"}, ""},
		"default": {map[string]string{"credentials": "[default]\n" + keys}, map[string]string{"AWS_REGION": b.region, "AWS_ENDPOINT_URL_S3": at}, ""},
		"wrong key": {nil, map[string]string{"AWS_ACCESS_KEY_ID": "AKIAother", "AWS_SECRET_ACCESS_KEY": secret, "AWS_REGION": b.region, "AWS_ENDPOINT_URL": at},
			"access is denied (status 403, Forbidden); the credentials are those of the key AKIAothe...: they must allow"},
		"none": {nil, map[string]string{"AWS_REGION": b.region, "AWS_ENDPOINT_URL": at, "AWS_EC2_METADATA_DISABLED": "true"},
			`no credentials were found in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, the profile "default" of ~/.aws, the role of the container or machine`},
	} {
		t.Run(name, func(t *testing.T) {
			alone(t, c.texts)
			for k, v := range c.variables {
				t.Setenv(k, v)
			}
			Use(context.Background(), 0)
			text, err := read("s3://rows/a b/" + name + ".txt")
			switch {
			case c.err == "" && (err != nil || text != b.text):
				t.Errorf("%q, error %v", text, err)
			case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err) || strings.Contains(err.Error(), secret)):
				t.Errorf("error %v, want %s", err, c.err)
			}
		})
	}
	b.key = "" // a public bucket
	alone(t, nil)
	t.Setenv("AWS_ENDPOINT_URL", at)
	Use(context.Background(), 0)
	if text, err := read("s3://rows/public.txt"); err != nil || text != b.text {
		t.Errorf("a public bucket: %q, error %v", text, err)
	}
}

// TestRoles: a profile may assume a role with the keys of another profile. Roles that refer to each other are an error.
func TestRoles(t *testing.T) {
	alone(t, map[string]string{"config": "[profile a]\nrole_arn = r\nsource_profile = b\n[profile b]\nrole_arn = s\nsource_profile = a\n" +
		"[profile c]\nrole_arn = arn:aws:iam::1:role/x\nsource_profile = keys\nexternal_id = e\n", "credentials": "[keys]\naws_access_key_id = k\naws_secret_access_key = s\n"})
	p := &profileCredentials{profiles: profiles(), name: "a"}
	if _, err := p.Retrieve(); err == nil || !strings.Contains(err.Error(), "refer to each other") {
		t.Errorf("error %v", err)
	}
	got, err := (&profileCredentials{profiles: profiles(), region: "eu-west-3"}).providerOf(nil, "c", 0)
	if text := fmt.Sprintf("%+v", got); err != nil || !strings.Contains(text, "RoleARN:arn:aws:iam::1:role/x") || !strings.Contains(text, "https://sts.eu-west-3.amazonaws.com") || !strings.Contains(text, "AccessKey:k ") {
		t.Errorf("%s, error %v", text, err)
	}
}

// TestRegion: the address of a bucket has the region that the service tells.
func TestRegion(t *testing.T) {
	alone(t, nil)
	a := newAmazon()
	to, err := a.address("rows", "a b+c.txt")
	if err != nil || to.String() != "https://rows.s3.us-east-1.amazonaws.com/a%20b%2Bc.txt" {
		t.Errorf("%s, error %v", to, err)
	}
	answer := &http.Response{Header: http.Header{"X-Amz-Bucket-Region": {"ap-south-1"}}}
	if !a.learn("rows", answer) || a.learn("rows", answer) {
		t.Error("the region isn't learned once")
	}
	if to, _ := a.address("rows", "x"); to.Host != "rows.s3.ap-south-1.amazonaws.com" {
		t.Error(to)
	}
	if to, _ := a.address("with.dots", "x"); to.Host+to.Path != "s3.us-east-1.amazonaws.com/with.dots/x" {
		t.Error(to)
	}
}

// TestFaults: faults that pass are overcome, and others are errors that say so; nothing hangs, nor gives other bytes.
func TestFaults(t *testing.T) {
	defer func(d time.Duration) { retryPause = d }(retryPause)
	retryPause = time.Millisecond
	status := func(code int) func(int64, http.ResponseWriter) bool {
		return func(_ int64, w http.ResponseWriter) bool { w.WriteHeader(code); return true }
	}
	every := func(k int64, do func(w http.ResponseWriter)) func(int64, http.ResponseWriter) bool {
		return func(n int64, w http.ResponseWriter) bool {
			if n%k != 0 {
				return false
			}
			do(w)
			return true
		}
	}
	text := strings.Repeat("0123456789abcdef", 3*windowBytes/16)
	for name, c := range map[string]struct {
		answer func(int64, http.ResponseWriter) bool
		err    string // "": the bytes come
	}{
		"busy now and then": {every(2, func(w http.ResponseWriter) { w.WriteHeader(503) }), ""},
		"errors":            {every(3, func(w http.ResponseWriter) { w.WriteHeader(500) }), ""},
		"too many requests": {every(2, func(w http.ResponseWriter) { w.WriteHeader(429) }), ""},
		"cut":               {every(2, func(http.ResponseWriter) { panic(http.ErrAbortHandler) }), ""},
		"cut bodies": {every(3, func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "100")
			w.WriteHeader(206)
			io.WriteString(w, "01")
			panic(http.ErrAbortHandler)
		}), ""},
		"wrong range": {every(2, func(w http.ResponseWriter) {
			w.Header().Set("Content-Range", "bytes 5-6/7")
			w.Header().Set("ETag", `"1"`)
			w.WriteHeader(206)
			io.WriteString(w, "01")
		}), "changed while it was read"},
		"another version": {every(2, func(w http.ResponseWriter) { w.WriteHeader(412) }), "changed while it was read"},
		"deleted":         {every(2, func(w http.ResponseWriter) { w.WriteHeader(404) }), "changed while it was read"},
		"always busy":     {status(503), "status 503"},
		"denied":          {status(403), "access is denied"},
		"expired":         {every(2, func(w http.ResponseWriter) { w.WriteHeader(403) }), "access is denied"},
		"no ranges":       {every(2, func(w http.ResponseWriter) { w.Header().Set("ETag", `"1"`); io.WriteString(w, text) }), "sends no parts"},
		"no size":         {status(204), ""},
	} {
		t.Run(name, func(t *testing.T) {
			alone(t, nil)
			Keep() // forgets what an earlier run read
			b := &bucket{text: text, answer: c.answer}
			if name == "no size" {
				b.answer, b.text = nil, ""
			}
			t.Setenv("AWS_ENDPOINT_URL", b.serve(t))
			Use(context.Background(), 0)
			got, err := read("s3://faults/" + name)
			if c.err == "" && (err != nil || got != b.text) {
				t.Errorf("%d bytes, error %v", len(got), err)
			}
			if c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("error %v, want %s", err, c.err)
			}
		})
	}
}

// TestWeb: files of a server of web pages are read, with a query in the address, and no others.
func TestWeb(t *testing.T) {
	b := &bucket{text: strings.Repeat("0123456789abcdef", windowBytes/8)}
	at := b.serve(t)
	Use(context.Background(), 0)
	if text, err := read(at + "/data/x.csv?sig=a%2Fb"); err != nil || text != b.text {
		t.Errorf("%d bytes, error %v", len(text), err)
	}
	s := services["http"]
	if _, err := s.List(at + "/data/"); err == nil {
		t.Error("a list of web pages")
	}
	f, _ := os.CreateTemp(t.TempDir(), "")
	defer f.Close()
	if err := s.Put(context.Background(), at+"/x", f); err == nil {
		t.Error("a web page was written")
	}
	b.answer = func(_ int64, w http.ResponseWriter) bool { w.WriteHeader(404); return true }
	if _, err := read(at + "/absent"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

// TestListPages: a list of many pages is whole.
func TestListPages(t *testing.T) {
	alone(t, nil)
	const pages = 7
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.URL.Query().Get("continuation-token"))
		fmt.Fprintf(w, "<ListBucketResult><Contents><Key>d/%d</Key></Contents><Contents><Key>d/%d/</Key></Contents><IsTruncated>%t</IsTruncated>"+
			"<NextContinuationToken>%d</NextContinuationToken></ListBucketResult>", n, n, n+1 < pages, n+1)
	}))
	defer server.Close()
	t.Setenv("AWS_ENDPOINT_URL", server.URL)
	Use(context.Background(), 0)
	all, err := services["s3"].List("s3://rows/d/")
	if err != nil || len(all) != pages || all[pages-1] != "s3://rows/d/6" {
		t.Errorf("%q, error %v", all, err)
	}
}
