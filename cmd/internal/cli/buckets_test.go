package cli

import (
	"archive/zip"
	"bytes"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"halfspace/internal/files"
	"halfspace/internal/objects"
	"halfspace/internal/objects/servers"
	"halfspace/internal/require"
)

// TestBuckets: data in a bucket gives the model of the same files, also by a glob and a folder, as text, and with requests that fail in
// passing. Models and predictions are written to a bucket, and read from it.
func TestBuckets(t *testing.T) {
	s3, _ := servers.S3(t), servers.Google(t)
	s3.FailureEvery.Store(13)
	sameInBuckets(t, "s3://"+servers.Bucket+"/", "gs://"+servers.Bucket+"/")
}

// TestMoto: TestBuckets by the server moto, a program of its own.
func TestMoto(t *testing.T) {
	program := os.Getenv("HALFSPACE_MOTO")
	if program == "" {
		t.Skip("no moto: make buckets installs it")
	}
	free := require.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	_, port, err := net.SplitHostPort(free.Addr().String())
	require.NoError(t, err)
	free.Close()
	server := exec.CommandContext(t.Context(), program, "--port", port)
	require.NoError(t, server.Start())
	t.Cleanup(func() { server.Wait() }) // the context of the test has ended, which killed it
	address := "http://127.0.0.1:" + port
	for name, value := range map[string]string{"AWS_ENDPOINT_URL_S3": address, "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "key",
		"AWS_SECRET_ACCESS_KEY": "secret", "AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull} {
		t.Setenv(name, value)
	}
	made := func() bool {
		request := require.Value(http.NewRequest(http.MethodPut, address+"/"+servers.Bucket, nil))(t)
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			return false
		}
		answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	}
	for end := time.Now().Add(2 * time.Minute); !made(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("moto makes no bucket within two minutes")
		}
	}
	sameInBuckets(t, "s3://"+servers.Bucket+"/")
}

// useStores makes buckets readable and writable until the test ends.
func useStores(t *testing.T) {
	objects.Use(t.Context(), 0)
	t.Cleanup(func() {
		for _, scheme := range []string{"s3", "gs", "https", "http"} {
			files.Register(scheme, nil)
		}
	})
}

// sameInBuckets holds the models and predictions of files in buckets to those of local files.
func sameInBuckets(t *testing.T, roots ...string) {
	useStores(t)
	dir := t.TempDir()
	local := func(name string) string { return filepath.Join(dir, name) }
	for i, name := range []string{"d/0.parquet", "d/1.parquet"} {
		require.NoError(t, os.MkdirAll(local("d"), 0o755))
		succeed(t, "gen", "--rows", "9000", "--features", "6", "--noise", "0.1", "--seed", string(rune('1'+i)), "--out", local(name))
	}
	succeed(t, "convert", local("d/0.parquet"), "--out", local("0.csv"))
	for _, root := range roots {
		for _, name := range []string{"d/0.parquet", "d/1.parquet", "0.csv"} {
			f := require.Value(os.Open(local(name)))(t)
			require.NoError(t, objects.Put(t.Context(), root+name, f))
			f.Close()
		}
		for data, options := range map[string]string{"d": "--algo logistic", "d/*.parquet": "--algo averaged --order shuffle --epochs 2",
			"0.csv": "--algo lda --standardize", "d/0.parquet": "--algo logistic --memory 64MiB"} {
			args := append(strings.Fields(options), "--label", "label", "--out")
			succeed(t, append([]string{"train", local(data)}, append(args, local("want.json"))...)...)
			succeed(t, append([]string{"train", root + data}, append(args, root+"m/got.json")...)...)
			want, got := require.Value(os.ReadFile(local("want.json")))(t), require.Value(objects.Get(t.Context(), root+"m/got.json"))(t)
			if !bytes.Equal(got, want) {
				t.Errorf("%s%s %s: another model than that of the files", root, data, options)
			}
		}
		succeed(t, "predict", root+"d/0.parquet", "--model", root+"m/got.json", "--out", root+"p.csv", "--score")
		succeed(t, "predict", local("d/0.parquet"), "--model", local("want.json"), "--out", local("p.csv"), "--score")
		if got := require.Value(objects.Get(t.Context(), root+"p.csv"))(t); !bytes.Equal(got, require.Value(os.ReadFile(local("p.csv")))(t)) {
			t.Errorf("%s: other predictions", root)
		}
		for _, verb := range []string{"eval", "inspect", "check"} {
			args := []string{verb, root + "d/1.parquet"}
			switch verb {
			case "eval":
				args = append(args, "--model", root+"m/got.json")
			case "check":
				args = append(args, "--label", "label")
			}
			if status, _, stderr := command(args...); status == exitUsage || status == exitFailed && verb != "check" {
				t.Errorf("%v: status %d: %s", args, status, stderr)
			}
		}
	}
	if status, _, stderr := command("train", roots[0]+"absent.parquet", "--label", "y"); status == exitDone || strings.Count(stderr, "\n") != 1 {
		t.Errorf("an object that isn't there: status %d: %s", status, stderr)
	}
}

// TestLakesInBuckets: a Delta table and an Iceberg table in a bucket have the rows that they have in a folder.
func TestLakesInBuckets(t *testing.T) {
	servers.S3(t)
	useStores(t)
	dir := t.TempDir()
	archive := require.Value(zip.OpenReader("../../../dataset/testdata/lakes/tables.zip"))(t)
	defer archive.Close()
	folders := map[string]bool{}
	for _, f := range archive.File {
		if f.FileInfo().IsDir() {
			continue
		}
		text := require.Value(io.ReadAll(require.Value(f.Open())(t)))(t)
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, text, 0o644))
		require.NoError(t, objects.Put(t.Context(), "s3://"+servers.Bucket+"/"+f.Name, bytes.NewReader(text)))
		for _, log := range []string{"/_delta_log/", "/metadata/"} {
			if at := strings.Index(f.Name, log); at > 0 {
				folders[f.Name[:at]] = true
			}
		}
	}
	read, elsewhere := 0, 0
	for _, folder := range slices.Sorted(maps.Keys(folders)) {
		want, got := filepath.Join(dir, "want.csv"), filepath.Join(dir, "got.csv")
		local, _, localError := command("convert", filepath.Join(dir, filepath.FromSlash(folder)), "--out", want)
		status, _, stderr := command("convert", "s3://"+servers.Bucket+"/"+folder, "--out", got)
		switch {
		case local != status && strings.Contains(localError+stderr, "elsewhere"):
			elsewhere++ // a path of this computer
		case local != status:
			t.Errorf("%s: status %d: %s; in a folder %d: %s", folder, status, stderr, local, localError)
		case local == exitDone:
			if read++; !bytes.Equal(require.Value(os.ReadFile(want))(t), require.Value(os.ReadFile(got))(t)) {
				t.Errorf("%s: other rows", folder)
			}
		}
	}
	if read < 20 || elsewhere > 2 {
		t.Errorf("%d tables were read, %d have paths elsewhere", read, elsewhere)
	}
}
