package main

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"halfspace/internal/files"
	"halfspace/internal/objects"
	"halfspace/internal/objects/servers"
)

// upload copies the files of a folder to a folder of a bucket.
func upload(t *testing.T, dir, url string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files, error %v", dir, len(files), err)
	}
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := objects.Put(context.Background(), url+"/"+filepath.Base(file), f); err != nil {
			t.Fatal(err)
		}
	}
}

// runBeamWell runs halfspace-beam, which must succeed, and returns its output.
func runBeamWell(t *testing.T, args ...string) string {
	t.Helper()
	out, err := runBeam(args...)
	if err != nil {
		t.Errorf("%v: %v: %s", args, err, out)
	}
	return string(out)
}

// poolFlags returns the flags for Prism in another process, with the given number of workers.
func poolFlags(t *testing.T, workers int) []string {
	endpoint, _ := startVerb(t, "prism")
	var pools []string
	for range workers {
		address, _ := startVerb(t, "worker")
		pools = append(pools, address)
	}
	return []string{"--endpoint", endpoint, "--pools", strings.Join(pools, ",")}
}

// TestObjects: a training on objects writes the model of the same files, and predictions of objects are those of the files: with
// requests that fail in passing, with --staging in a bucket, and again after other objects have taken the place of the first.
func TestObjects(t *testing.T) {
	s3, _ := servers.S3(t), servers.Google(t)
	objects.Use(context.Background(), 0)
	ways := map[string][]string{"embedded": {"--runner=prism"}, "2 workers": poolFlags(t, 2)}
	for seed := range 2 {
		dir := makeFiles(t)
		if seed > 0 { // of the same size, probably within the same second
			runHalfspace(t, "gen", "--rows", "9000", "--features", "6", "--noise", "0.1", "--seed", "7", "--out", filepath.Join(dir, "0.parquet"))
		}
		to := t.TempDir()
		for _, options := range []string{"--algo lda --standardize", "--algo averaged --shards 3 --order shuffle --epochs 3 --validation VALIDATION"} {
			for _, root := range []string{"s3://" + servers.Bucket, "gs://" + servers.Bucket} {
				upload(t, dir, root+"/data")
				want, got := filepath.Join(to, "want.json"), filepath.Join(to, "got.json")
				words := func(data, validation string) []string {
					return append([]string{"train", data, "--label", "label"}, strings.Fields(strings.ReplaceAll(options, "VALIDATION", validation))...)
				}
				runHalfspace(t, append(words(dir, filepath.Join(dir, "1.parquet")), "--out", want)...)
				for name, way := range ways {
					s3.FailureEvery.Store(0)
					if seed == 0 && name == "embedded" && strings.Contains(options, "lda") { // each waits for about a second
						s3.FailureEvery.Store(13)
					}
					os.Remove(got)
					args := append(words(root+"/data/*.parquet", root+"/data/1.parquet"), "--out", got, "--staging", root+"/staging")
					runBeamWell(t, append(args, way...)...)
					checkEqual(t, options+", "+root+", "+name, got, want)
				}
			}
		}
		s3.FailureEvery.Store(0)
		for _, root := range []string{"s3://" + servers.Bucket, "gs://" + servers.Bucket} {
			m := filepath.Join(to, "m.json")
			runHalfspace(t, "train", dir, "--label", "label", "--algo", "logistic", "--out", m)
			t.Chdir(to)
			runBeamWell(t, append([]string{"predict", "--model", "m.json", root + "/data", "--score", "--out", root + "/p/*.csv", "--staging", to}, ways["2 workers"]...)...)
			for i := range 3 {
				want, got := filepath.Join(to, "want.csv"), filepath.Join(to, "got.csv")
				runHalfspace(t, "predict", "--model", m, filepath.Join(dir, fmt.Sprint(i, ".parquet")), "--score", "--out", want)
				text, err := objects.Get(context.Background(), fmt.Sprintf("%s/p/%d.csv", root, i))
				if err == nil {
					err = os.WriteFile(got, text, 0o600)
				}
				if err != nil {
					t.Error(err)
				}
				checkEqual(t, "predict", got, want)
			}
			if _, err := objects.Get(context.Background(), root+"/absent"); err == nil {
				t.Error("an object that isn't there has bytes")
			}
			s, _ := files.StoreOf(root)
			if left, err := s.List(root + "/staging/"); err != nil || len(left) > 0 {
				t.Errorf("--staging holds %q, error %v", left, err)
			}
		}
	}
}

// TestObjectsParts: two workers fetch about half of a large object each, and no part of it twice. Prism loses a piece now and then;
// the other worker computes it then and fetches its rows too, so the best of three trainings counts. The driver looks at the first
// rows, about 8 MB.
func TestObjectsParts(t *testing.T) {
	s, dir, to := servers.S3(t), t.TempDir(), t.TempDir()
	objects.Use(context.Background(), 0)
	file := filepath.Join(dir, "a.parquet")
	runHalfspace(t, "gen", "--rows", "2097152", "--features", "8", "--noise", "0.1", "--out", file)
	upload(t, dir, "s3://"+servers.Bucket+"/large")
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"--label", "label", "--algo", "averaged", "--shards", "2", "--epochs", "3"}
	runHalfspace(t, append([]string{"train", dir, "--out", filepath.Join(to, "want.json")}, args...)...)
	sent := math.Inf(1)
	for i := 0; i < 3 && sent > 1.6; i++ {
		s.SentBytes.Store(0)
		got := filepath.Join(to, fmt.Sprint(i, ".json"))
		runBeamWell(t, append(append([]string{"train", "s3://" + servers.Bucket + "/large/a.parquet", "--out", got}, args...), poolFlags(t, 2)...)...)
		checkEqual(t, "parts", got, filepath.Join(to, "want.json"))
		sent = min(sent, float64(s.SentBytes.Load())/float64(info.Size()))
		t.Logf("%d bytes, %.2f of them sent in %d requests", info.Size(), sent, s.Requests.Load())
	}
	if sent > 1.6 {
		t.Errorf("%.2f of the object were sent", sent)
	}
}

// TestObjectsReplaced: an object that is replaced while it is read ends the training, or the model is that of the old one, or of
// the new one if nothing of the old one was read.
func TestObjectsReplaced(t *testing.T) {
	s, dir, other, to := servers.S3(t), t.TempDir(), t.TempDir(), t.TempDir()
	objects.Use(context.Background(), 0)
	for seed, d := range []string{dir, other} {
		runHalfspace(t, "gen", "--rows", "600000", "--features", "8", "--noise", "0.1", "--seed", fmt.Sprint(seed), "--out", filepath.Join(d, "a.parquet"))
	}
	args := []string{"--label", "label", "--algo", "lda", "--standardize"}
	want, ofOther := filepath.Join(to, "want.json"), filepath.Join(to, "other.json")
	runHalfspace(t, append([]string{"train", dir, "--out", want}, args...)...)
	runHalfspace(t, append([]string{"train", other, "--out", ofOther}, args...)...)
	failed := 0
	for after := int64(1); after <= 4; after++ {
		s.BeforeRequest = nil
		upload(t, dir, "s3://"+servers.Bucket+"/replaced")
		var reads atomic.Int64
		var once sync.Once
		s.BeforeRequest = func(r *http.Request) {
			if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/a.parquet") && reads.Add(1) == after {
				once.Do(func() { upload(t, other, "s3://"+servers.Bucket+"/replaced") })
			}
		}
		got := filepath.Join(to, fmt.Sprint(after, ".json"))
		out, err := runBeam(append([]string{"train", "s3://" + servers.Bucket + "/replaced", "--out", got, "--runner=prism"}, args...)...)
		switch _, missing := os.Stat(got); {
		case err == nil && after <= 2: // nothing of the old one was read: two requests go at once
			checkEqual(t, "replaced at first", got, ofOther)
		case err == nil:
			checkEqual(t, fmt.Sprint("replaced after ", after), got, want)
		case missing == nil || !strings.Contains(string(out), "changed while it was read"):
			t.Errorf("replaced after %d: %v: %s", after, err, out)
		default:
			failed++
		}
	}
	if failed < 2 {
		t.Errorf("%d trainings failed", failed)
	}
}

// TestWorkerFails: a worker that can't reach the store ends no training that another worker can go on with. Alone, its error is told.
func TestWorkerFails(t *testing.T) {
	servers.S3(t)
	objects.Use(context.Background(), 0)
	dir, to := makeFiles(t), t.TempDir()
	upload(t, dir, "s3://"+servers.Bucket+"/fails")
	endpoint, _ := startVerb(t, "prism")
	good, _ := startVerb(t, "worker")
	server := os.Getenv("AWS_ENDPOINT_URL")
	t.Setenv("AWS_ENDPOINT_URL", "http://localhost:1") // where nobody listens
	bad, _ := startVerb(t, "worker")
	t.Setenv("AWS_ENDPOINT_URL", server)
	want, got := filepath.Join(to, "want.json"), filepath.Join(to, "got.json")
	options := []string{"--label", "label", "--algo", "averaged", "--shards", "3", "--epochs", "3"}
	runHalfspace(t, append([]string{"train", dir, "--out", want}, options...)...)
	args := append([]string{"train", "s3://" + servers.Bucket + "/fails", "--out", got, "--staging", to, "--endpoint", endpoint}, options...)
	if out, err := runBeam(append(args, "--pools", bad)...); err == nil || !strings.Contains(string(out), "no server listens at AWS_ENDPOINT_URL=http://localhost:1") {
		t.Errorf("the worker without a store alone: error %v: %s", err, out)
	}
	for _, pools := range []string{bad + "," + good, good + "," + bad} {
		os.Remove(got)
		runBeamWell(t, append(args, "--pools", pools)...)
		checkEqual(t, pools, got, want)
	}
}
