package objects

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/s3utils"
	"github.com/minio/minio-go/v7/pkg/signer"
	"gopkg.in/ini.v1"

	"halfspace/internal/files"
)

// amazon is S3, or a server that speaks its protocol at an endpoint of the user's.
type amazon struct {
	settings func() *amazonSettings // read at the first request

	mu      sync.Mutex
	regions map[string]string // of buckets, as the service told
}

// amazonSettings are the settings of the environment and of the profile in ~/.aws.
type amazonSettings struct {
	endpoint    *url.URL // nil: Amazon's own
	region      string
	credentials *credentials.Credentials
	profile     string
	err         error
}

func newAmazon() *amazon {
	return &amazon{settings: sync.OnceValue(readAmazonSettings), regions: map[string]string{}}
}

func readAmazonSettings() *amazonSettings {
	s := &amazonSettings{profile: cmp.Or(os.Getenv("AWS_PROFILE"), os.Getenv("AWS_DEFAULT_PROFILE"), "default")}
	p := profiles()
	own := p.section(s.profile)
	s.region = cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"), own["region"])
	if at := cmp.Or(os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"), own["endpoint_url"]); at != "" {
		s.endpoint, s.err = url.Parse(at)
		if s.err != nil || s.endpoint.Hostname() == "" {
			s.err = &files.StoreError{Text: fmt.Sprintf("AWS_ENDPOINT_URL is %q: set it to http://HOST:PORT", at)}
		}
	}
	s.credentials = credentials.New(&credentials.Chain{Providers: []credentials.Provider{&credentials.EnvAWS{},
		&profileCredentials{profiles: p, name: s.profile, region: s.region},
		&credentials.IAM{Client: &http.Client{Transport: metadata{}}}}})
	return s
}

// metadata makes requests for credentials. The address of EC2's metadata gets a second: nobody answers there on other machines.
type metadata struct{}

func (metadata) RoundTrip(r *http.Request) (*http.Response, error) {
	wait := 10 * time.Second
	if strings.HasPrefix(r.URL.Host, "169.254.") {
		wait = time.Second
	}
	return (&http.Transport{DialContext: (&net.Dialer{Timeout: wait}).DialContext, ResponseHeaderTimeout: wait,
		DisableKeepAlives: true}).RoundTrip(r)
}

func (a *amazon) region(bucket string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return cmp.Or(a.regions[bucket], a.settings().region, "us-east-1")
}

// address has the bucket in the host, or in the path of an endpoint of the user's and for names that make no host.
func (a *amazon) address(bucket, key string) (*url.URL, error) {
	s := a.settings()
	if s.err != nil {
		return nil, s.err
	}
	to := &url.URL{Scheme: "https", Host: "s3." + a.region(bucket) + ".amazonaws.com"}
	switch {
	case s.endpoint != nil:
		to.Scheme, to.Host, to.Path = s.endpoint.Scheme, s.endpoint.Host, strings.TrimSuffix(s.endpoint.Path, "/")+"/"+bucket+"/"+key
	case strings.ContainsAny(bucket, "._") || strings.ToLower(bucket) != bucket:
		to.Path = "/" + bucket + "/" + key
	default:
		to.Host, to.Path = bucket+"."+to.Host, "/"+key
	}
	to.RawPath = s3utils.EncodePath(to.Path)
	return to, nil
}

func (a *amazon) authorize(r *http.Request, bucket, sum string) error {
	v, err := a.settings().credentials.GetWithContext(&credentials.CredContext{Client: client})
	if err != nil {
		return &files.StoreError{Text: fmt.Sprintf("the credentials can't be had (%s); %s", shortText(err), a.tried()), Err: err}
	}
	r.Header.Set("X-Amz-Content-Sha256", sum)
	if v.AccessKeyID != "" && v.SecretAccessKey != "" { // a public bucket needs none
		signed := signer.SignV4(*r, v.AccessKeyID, v.SecretAccessKey, v.SessionToken, a.region(bucket))
		r.Header = signed.Header
	}
	return nil
}

func (a *amazon) learn(bucket string, r *http.Response) bool {
	region := r.Header.Get("X-Amz-Bucket-Region")
	if region == "" || region == a.region(bucket) || a.settings().endpoint != nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.regions[bucket] = region
	return true
}

func (*amazon) version(h http.Header) files.Version { return files.Version(h.Get("ETag")) }

func (*amazon) require(h http.Header, v files.Version) {
	if v != "" {
		h.Set("If-Match", string(v))
	}
}

func (a *amazon) tried() string {
	s := a.settings()
	from := []string{"AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY", fmt.Sprintf("the profile %q of ~/.aws", s.profile),
		"the role of the container or machine"}
	if v, err := s.credentials.GetWithContext(&credentials.CredContext{Client: client}); err == nil && v.AccessKeyID != "" {
		return fmt.Sprintf("the credentials are those of the key %s...: they must allow to list and read the bucket",
			v.AccessKeyID[:min(8, len(v.AccessKeyID))])
	}
	return "no credentials were found in " + strings.Join(from, ", ") + ", and the bucket isn't public: set some"
}

func (a *amazon) place() string {
	if at := a.settings().endpoint; at != nil {
		return "AWS_ENDPOINT_URL=" + at.String()
	}
	return "amazonaws.com"
}

// awsProfiles are the profiles of ~/.aws/config and ~/.aws/credentials.
type awsProfiles struct{ config, credentials *ini.File } // empty if a file isn't there

func profiles() awsProfiles {
	home, _ := os.UserHomeDir()
	read := func(variable, name string) *ini.File {
		f, err := ini.LooseLoad(cmp.Or(os.Getenv(variable), filepath.Join(home, ".aws", name)))
		if err != nil {
			return ini.Empty()
		}
		return f
	}
	return awsProfiles{read("AWS_CONFIG_FILE", "config"), read("AWS_SHARED_CREDENTIALS_FILE", "credentials")}
}

// section returns the keys of a profile.
func (p awsProfiles) section(name string) map[string]string {
	all := map[string]string{}
	for _, s := range []*ini.Section{p.config.Section("profile " + name), p.config.Section(name), p.credentials.Section(name)} {
		for key, v := range s.KeysHash() {
			if all[key] == "" {
				all[key] = v
			}
		}
	}
	return all
}

// profileCredentials are the credentials of a profile: its own keys, process or sign-on, or the role that it assumes with the
// credentials of another profile.
type profileCredentials struct {
	profiles     awsProfiles
	name, region string
	provider     credentials.Provider
}

// mostRoles bounds a chain of roles, which may be a circle.
const mostRoles = 5

func (p *profileCredentials) Retrieve() (credentials.Value, error) {
	return p.RetrieveWithCredContext(&credentials.CredContext{Client: client})
}

func (p *profileCredentials) RetrieveWithCredContext(cc *credentials.CredContext) (v credentials.Value, err error) {
	p.provider, err = p.providerOf(cc, p.name, 0)
	if err != nil {
		return v, err
	}
	return p.provider.RetrieveWithCredContext(cc)
}

func (p *profileCredentials) IsExpired() bool { return p.provider == nil || p.provider.IsExpired() }

func (p *profileCredentials) providerOf(cc *credentials.CredContext, name string, depth int) (credentials.Provider, error) {
	own := p.profiles.section(name)
	role, from := own["role_arn"], own["source_profile"]
	if role == "" || from == "" {
		return &credentials.FileAWSCredentials{Profile: name}, nil
	}
	if depth == mostRoles {
		return nil, errors.New("the roles of the profiles in ~/.aws refer to each other")
	}
	var source credentials.Provider = &credentials.FileAWSCredentials{Profile: name} // its own keys assume the role
	if from != name {
		var err error
		if source, err = p.providerOf(cc, from, depth+1); err != nil {
			return nil, err
		}
	}
	v, err := source.RetrieveWithCredContext(cc)
	if err != nil {
		return nil, err
	}
	region := cmp.Or(p.region, "us-east-1")
	return &credentials.STSAssumeRole{STSEndpoint: "https://sts." + region + ".amazonaws.com", Options: credentials.STSAssumeRoleOptions{
		AccessKey: v.AccessKeyID, SecretKey: v.SecretAccessKey, SessionToken: v.SessionToken, Location: region, RoleARN: role,
		RoleSessionName: cmp.Or(own["role_session_name"], "halfspace"), ExternalID: own["external_id"]}}, nil
}
