package objects

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"

	"cloud.google.com/go/storage"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/logging"
	"gocloud.dev/blob"
	"gocloud.dev/blob/gcsblob"
	"gocloud.dev/blob/s3blob"
	"gocloud.dev/gcp"
	"google.golang.org/api/googleapi"

	store "halfspace/internal/files"
)

// google is Google Cloud Storage. Without default credentials it is asked as anybody, for public buckets.
var google = &provider{
	scheme: "gs",
	openBucket: func(ctx context.Context, bucket string) (*blob.Bucket, error) {
		client := gcp.NewAnonymousHTTPClient(gcp.DefaultTransport())
		if os.Getenv("STORAGE_EMULATOR_HOST") == "" {
			if c, err := gcp.DefaultCredentials(context.WithoutCancel(ctx)); err == nil {
				if client, err = gcp.NewHTTPClient(gcp.DefaultTransport(), c.TokenSource); err != nil {
					return nil, err
				}
			}
		}
		return gcsblob.OpenBucket(ctx, client, bucket, nil)
	},
	version: func(a *blob.Attributes) string {
		var attrs storage.ObjectAttrs
		if a.As(&attrs) {
			return strconv.FormatInt(attrs.Generation, 10)
		}
		return a.ETag
	},
	requireVersion: func(as func(any) bool, version string) {
		var o **storage.ObjectHandle
		if generation, err := strconv.ParseInt(version, 10, 64); err == nil && as(&o) {
			*o = (*o).Generation(generation)
		}
	},
	versionRead: func(r *blob.Reader) string {
		var sr *storage.Reader
		if r.As(&sr) {
			return strconv.FormatInt(sr.Attrs.Generation, 10)
		}
		return ""
	},
}

// amazon is S3, or a server that speaks its protocol at AWS_ENDPOINT_URL.
var amazon = &provider{
	scheme: "s3",
	openBucket: func(ctx context.Context, bucket string) (*blob.Bucket, error) {
		cfg, err := config.LoadDefaultConfig(ctx, config.WithRetryMaxAttempts(mostTries), config.WithLogger(logging.Nop{}))
		if err != nil {
			return nil, err
		}
		client := s3.NewFromConfig(cfg, func(o *s3.Options) {
			if o.BaseEndpoint == nil {
				return
			}
			o.UsePathStyle = true
			if o.Region == "" {
				o.Region = "us-east-1" // other servers than Amazon's ignore it
			}
			o.RequestChecksumCalculation, o.ResponseChecksumValidation = aws.RequestChecksumCalculationWhenRequired,
				aws.ResponseChecksumValidationWhenRequired
		})
		if client.Options().Region == "" {
			return nil, &store.StoreError{Text: "the region of the bucket isn't known: set AWS_REGION, or " +
				"AWS_ENDPOINT_URL for a server of your own"}
		}
		if endpoint := client.Options().BaseEndpoint; endpoint != nil {
			if err := checkServer(ctx, *endpoint); err != nil {
				return nil, err
			}
		}
		return s3blob.OpenBucket(ctx, client, bucket,
			&s3blob.Options{RequestChecksumCalculation: client.Options().RequestChecksumCalculation})
	},
	version: func(a *blob.Attributes) string { return a.ETag },
	requireVersion: func(as func(any) bool, version string) {
		var in *s3.GetObjectInput
		if as(&in) {
			in.IfMatch = aws.String(version)
		}
	},
	versionRead: func(r *blob.Reader) string {
		var out s3.GetObjectOutput
		if r.As(&out) {
			return aws.ToString(out.ETag)
		}
		return ""
	},
}

// checkServer returns an error if no server listens at a URL. S3's client would try there for about 20 seconds. Behind a
// proxy checkServer returns nil.
func checkServer(ctx context.Context, endpoint string) error {
	u, err := url.Parse(endpoint)
	if err != nil || u.Hostname() == "" {
		return &store.StoreError{Text: fmt.Sprintf("AWS_ENDPOINT_URL is %q: set it to http://HOST:PORT", endpoint)}
	}
	if proxy, err := http.ProxyFromEnvironment(&http.Request{URL: u}); err != nil || proxy != nil {
		return nil
	}
	port := cmp.Or(u.Port(), map[string]string{"http": "80"}[u.Scheme], "443")
	c, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err == nil {
		return c.Close()
	}
	return &store.StoreError{Text: fmt.Sprintf("no server listens at AWS_ENDPOINT_URL=%s (%s): start the server, or "+
		"set the address of another", endpoint, shortText(err)), Err: err}
}

// retryUploads makes Google's client repeat requests of an upload that fail. To write an object twice does no harm. S3's
// client repeats these requests anyway.
func retryUploads(as func(any) bool) error {
	var o **storage.ObjectHandle
	if as(&o) {
		*o = (*o).Retryer(storage.WithPolicy(storage.RetryAlways))
	}
	return nil
}

// isDenied tells whether a service denies access. gcerrors takes Google's status 403 for an object that isn't there.
func isDenied(err error) bool {
	var g *googleapi.Error
	return errors.As(err, &g) && (g.Code == http.StatusForbidden || g.Code == http.StatusUnauthorized)
}
