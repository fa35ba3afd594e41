package objects

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"halfspace/internal/files"
)

const (
	mostPutBytes   = 5 << 30   // size of the largest object that one request can write
	leastPartBytes = 128 << 20 // size of a part of a larger object, unless this makes too many parts
	mostParts      = 10_000
	partsInFlight  = 4
)

// upload is an object written in parts, which appears when the last request completes it. S3 and Google's XML
// interface take the same requests:
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/mpuoverview.html
type upload struct {
	*service
	bucket, key, id string
}

// putParts writes a file of size bytes as an object in parts.
func (s *service) putParts(ctx context.Context, bucket, key string, file *os.File, size int64) (err error) {
	u := &upload{service: s, bucket: bucket, key: key}
	var begun struct{ UploadId string }
	if err = u.post(ctx, url.Values{"uploads": {""}}, nil, &begun); err != nil {
		return err
	}
	u.id = begun.UploadId
	tags, err := u.parts(ctx, file, size)
	if err == nil {
		err = u.complete(ctx, tags, size)
	}
	if err != nil {
		u.abort(ctx)
	}
	return err
}

// parts writes the parts, and returns their tags.
func (u *upload) parts(ctx context.Context, file *os.File, size int64) ([]string, error) {
	part := max(u.partBytes, (size+mostParts-1)/mostParts)
	tags := make([]string, (size+part-1)/part)
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(partsInFlight)
	for i := range tags {
		all.Go(func() error {
			if err := ctx.Err(); err != nil { // before the part is read for its sum
				return err
			}
			at := int64(i) * part
			r, err := u.do(ctx, request{method: http.MethodPut, bucket: u.bucket, key: u.key,
				query: url.Values{"partNumber": {strconv.Itoa(i + 1)}, "uploadId": {u.id}},
				body:  io.NewSectionReader(file, at, min(part, size-at))})
			if err != nil {
				return err
			}
			tags[i] = r.Header.Get("ETag")
			return r.Body.Close()
		})
	}
	return tags, all.Wait()
}

// complete makes the parts an object. The service may answer 200 before it knows, and then say in the body that it failed. If an answer is
// lost, the object may be there: then the service knows the upload no more.
func (u *upload) complete(ctx context.Context, tags []string, size int64) error {
	type part struct {
		PartNumber int
		ETag       string
	}
	var list struct {
		XMLName xml.Name `xml:"CompleteMultipartUpload"`
		Part    []part
	}
	for i, tag := range tags {
		list.Part = append(list.Part, part{i + 1, tag})
	}
	body, err := xml.Marshal(list)
	if err != nil {
		return err
	}
	var said struct {
		XMLName       xml.Name
		Code, Message string
	}
	err = u.post(ctx, url.Values{"uploadId": {u.id}}, io.NewSectionReader(bytes.NewReader(body), 0, int64(len(body))), &said)
	var status *statusError
	lost := errors.Is(err, errCut) || errors.As(err, &status) && status.code == http.StatusNotFound && status.try > 1
	if lost && u.isComplete(ctx, tags, size) {
		return nil
	}
	if err == nil && said.XMLName.Local == "Error" {
		err = &files.StoreError{Text: fmt.Sprintf("the store didn't join the parts of the object (%s: %s): try again",
			said.Code, said.Message)}
	}
	return err
}

// isComplete tells whether the object is there, with its size and the tag that its parts make.
func (u *upload) isComplete(ctx context.Context, tags []string, size int64) bool {
	r, err := u.do(ctx, request{method: http.MethodHead, bucket: u.bucket, key: u.key})
	if err != nil {
		return false
	}
	r.Body.Close()
	sum, tag := md5.New(), strings.Trim(r.Header.Get("ETag"), `"`)
	for _, part := range tags {
		of, err := hex.DecodeString(strings.Trim(part, `"`))
		if err != nil || len(of) != md5.Size {
			tag = "" // the service has tags of its own kind
		}
		sum.Write(of)
	}
	return r.ContentLength == size && (!strings.Contains(tag, "-") || tag == fmt.Sprintf("%x-%d", sum.Sum(nil), len(tags)))
}

// abort gives the parts up, also if ctx has ended: a service keeps and charges parts that nobody gives up.
func (u *upload) abort(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	r, err := u.do(ctx, request{method: http.MethodDelete, bucket: u.bucket, key: u.key, query: url.Values{"uploadId": {u.id}}})
	if err == nil {
		r.Body.Close()
	}
}

var errCut = errors.New("the answer was cut")

// post makes a request, and decodes the XML of the answer.
func (u *upload) post(ctx context.Context, query url.Values, body *io.SectionReader, answer any) error {
	r, err := u.do(ctx, request{method: http.MethodPost, bucket: u.bucket, key: u.key, query: query, body: body})
	if err != nil {
		return err
	}
	defer r.Body.Close()
	if err := xml.NewDecoder(r.Body).Decode(answer); err != nil {
		return fmt.Errorf("%w: %w", errCut, err)
	}
	return nil
}
