package faulty

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
)

// rig is a proxy in front of a registry in process.
type rig struct {
	*testing.T
	proxy    *Proxy
	url      string // of the proxy
	upstream string
	client   *http.Client
}

func start(t *testing.T, plan Plan) *rig {
	t.Helper()
	s := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(s.Close)
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	p, host, closeAll := Serve(u, plan)
	t.Cleanup(closeAll)
	// net/http repeats a request by itself when a kept connection ends.
	return &rig{t, p, "http://" + host, s.URL, &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
}

type reply struct {
	*http.Response
	body []byte
	err  error // of reading the body
}

func (r *rig) do(method, path, body string, header ...string) (reply, error) {
	r.Helper()
	req, err := http.NewRequestWithContext(r.Context(), method, r.url+path, strings.NewReader(body))
	if err != nil {
		r.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := r.client.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return reply{resp, raw, err}, nil
}

func (r *rig) must(status int, method, path, body string, header ...string) reply {
	r.Helper()
	got, err := r.do(method, path, body, header...)
	if err != nil || got.err != nil {
		r.Fatalf("%s %s: %v, %v", method, path, err, got.err)
	}
	if got.StatusCode != status {
		r.Fatalf("%s %s: %s %s, want %d", method, path, got.Status, got.body, status)
	}
	return got
}

func (r *rig) begin() string {
	r.Helper()
	return r.must(202, "POST", "/v2/app/blobs/uploads/", "").Header.Get("Location")
}

const (
	content  = "the bytes of a layer, a few of them"
	ociImage = "application/vnd.oci.image.manifest.v1+json"
)

var blobDigest = digestOf([]byte(content))

// fill pushes a blob, and an image under the tags v1 and v2.
func (r *rig) fill() {
	r.Helper()
	r.must(201, "PUT", r.begin()+"?digest="+blobDigest, content)
	for _, tag := range []string{"v1", "v2"} {
		r.must(201, "PUT", "/v2/app/manifests/"+tag, image(""), "Content-Type", ociImage)
	}
}

func image(note string) string {
	d := fmt.Sprintf(`{"mediaType":"x","digest":%q,"size":%d}`, blobDigest, len(content))
	return `{"schemaVersion":2,"mediaType":"` + ociImage + `","config":` + d + `,"layers":[` + d + `],"annotations":{"note":"` + note + `"}}`
}

func only(f Fault) Plan { return Plan{Rate: 1, Streak: 1, Faults: []Fault{f}} }

func TestEveryFaultDoesWhatItsNameSays(t *testing.T) {
	header := func(key, want string) func(*rig, reply, error) error {
		return func(_ *rig, got reply, err error) error {
			if err != nil || got.Header.Get(key) != want {
				return fmt.Errorf("error %w, %s %q, want %q", err, key, got.Header.Get(key), want)
			}
			return nil
		}
	}
	status := func(want int) func(*rig, reply, error) error {
		return func(_ *rig, got reply, err error) error {
			if err != nil || got.err != nil || got.StatusCode != want {
				return fmt.Errorf("error %w, %+v, want %d", err, got, want)
			}
			return nil
		}
	}
	both := func(list ...func(*rig, reply, error) error) func(*rig, reply, error) error {
		return func(r *rig, got reply, err error) error {
			for _, f := range list {
				if e := f(r, got, err); e != nil {
					return e
				}
			}
			return nil
		}
	}
	says := func(text string) func(*rig, reply, error) error {
		return func(_ *rig, got reply, _ error) error {
			if !strings.Contains(string(got.body), text) {
				return fmt.Errorf("%s does not say %q", got.body, text)
			}
			return nil
		}
	}
	reset := func(_ *rig, got reply, err error) error {
		if err == nil {
			return fmt.Errorf("an answer: %s", got.Status)
		}
		return nil
	}
	const tag, blob = "/v2/app/manifests/v1", "/v2/app/blobs/"
	get := func(path string) func(*rig) (reply, error) {
		return func(r *rig) (reply, error) { return r.do("GET", path, "") }
	}
	upload := func(text string) func(*rig) (reply, error) {
		return func(r *rig) (reply, error) {
			inner := *r
			inner.url = r.upstream // so that only the PUT fails
			at := inner.begin()
			return r.do("PUT", at+"?digest="+digestOf([]byte(text)), text)
		}
	}
	there := func(text string, want int) func(*rig, reply, error) error {
		return func(r *rig, _ reply, _ error) error {
			r.url = r.upstream
			if got, err := r.do("HEAD", blob+digestOf([]byte(text)), ""); err != nil || got.StatusCode != want {
				return fmt.Errorf("upstream: %v, %w, want %d", got.Response, err, want)
			}
			return nil
		}
	}
	now := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	tests := map[Fault]struct {
		do   func(*rig) (reply, error)
		want func(*rig, reply, error) error
	}{
		TooMany:            {get(tag), both(status(429), header("Retry-After", ""), says("TOOMANYREQUESTS"))},
		TooManySeconds:     {get(tag), both(status(429), header("Retry-After", "1"))},
		TooManyDate:        {get(tag), both(status(429), header("Retry-After", "Fri, 02 Jan 2026 03:04:07 GMT"))},
		Secondary:          {get(tag), both(status(403), header("Retry-After", ""), says("secondary rate limit"))},
		SecondarySeconds:   {get(tag), both(status(403), header("Retry-After", "1"), says("secondary rate limit"))},
		Timeout:            {get(tag), status(408)},
		Internal:           {get(tag), status(500)},
		BadGateway:         {get(tag), status(502)},
		Unavailable:        {get(tag), both(status(503), header("Retry-After", ""))},
		UnavailableSeconds: {get(tag), both(status(503), header("Retry-After", "1"))},
		Reset:              {upload("reset, before it is there"), both(reset, there("reset, before it is there", 404))},
		LostAnswer:         {upload("lost, after it is there"), both(reset, there("lost, after it is there", 200))},
		Cut: {get(blob + blobDigest), func(_ *rig, got reply, err error) error {
			if err == nil && (got.err == nil || len(got.body) >= len(content)) {
				return fmt.Errorf("all of it: %q", got.body)
			}
			return nil
		}},
		Corrupt: {get(tag), both(header("Docker-Content-Digest", digestOf([]byte(image("")))), func(_ *rig, got reply, _ error) error {
			if len(got.body) != len(image("")) || string(got.body) == image("") {
				return fmt.Errorf("%q", got.body)
			}
			return nil
		})},
		Drip:         {get(blob + blobDigest), both(status(200), says(content))},
		CutUpload:    {upload("cut, and then it is not there"), both(reset, there("cut, and then it is not there", 404))},
		DripUpload:   {upload("slow, and then it is there"), both(status(201), there("slow, and then it is there", 200))},
		UploadLost:   {upload("unknown"), both(status(404), says("BLOB_UPLOAD_UNKNOWN"), there("unknown", 404))},
		BlobNotThere: {func(r *rig) (reply, error) { return r.do("PUT", tag, image("x"), "Content-Type", ociImage) }, both(status(400), says("MANIFEST_BLOB_UNKNOWN"))},
		Stale: {func(r *rig) (reply, error) {
			r.must(201, "PUT", tag, image("x"), "Content-Type", ociImage)
			return r.do("GET", tag, "")
		}, both(status(200), says(`"note":""`), header("Docker-Content-Digest", digestOf([]byte(image("")))))},
		Expired: {
			func(r *rig) (reply, error) { return r.do("GET", tag, "", "Authorization", "Bearer token-1") },
			both(status(401), says("UNAUTHORIZED")),
		},
	}
	for _, f := range Faults() {
		t.Run(string(f), func(t *testing.T) {
			r := start(t, Plan{})
			r.fill()
			plan := only(f)
			plan.Now, plan.Login = func() time.Time { return now }, f == Expired
			r.proxy.Set(plan)
			if f == Expired {
				r.must(200, "GET", "/token", "")
			}
			tt, ok := tests[f]
			if !ok {
				t.Fatal("no test")
			}
			got, err := tt.do(r)
			if err := tt.want(r, got, err); err != nil {
				t.Error(err)
			}
			if n := r.proxy.Injected(); n[f] != 1 || len(n) != 1 {
				t.Errorf("injected %v", n)
			}
		})
	}
}

// TestEveryFaultIsReachable plays one schedule of ordinary requests.
func TestEveryFaultIsReachable(t *testing.T) {
	r := start(t, Plan{})
	r.fill()
	for seed := range uint64(100) {
		r.proxy.Set(Plan{Seed: seed, Rate: 0.5, Login: true})
		token := r.token()
		for range 2 {
			r.do("GET", "/v2/app/blobs/"+blobDigest, "", "Authorization", token)
			if got, err := r.do("POST", "/v2/app/blobs/uploads/", "", "Authorization", token); err == nil && got.StatusCode == 202 {
				r.do("PUT", got.Header.Get("Location")+"?digest="+blobDigest, content, "Authorization", token)
			}
			r.do("PUT", "/v2/app/manifests/v1", image("x"), "Content-Type", ociImage, "Authorization", token)
			r.do("HEAD", "/v2/app/manifests/v1", "", "Authorization", token)
		}
	}
	injected := r.proxy.Injected()
	for _, f := range Faults() {
		if injected[f] == 0 {
			t.Errorf("never: %s (%s)", f, f.Where())
		}
	}
}

func (r *rig) token() string {
	for {
		if got, err := r.do("GET", "/token", ""); err == nil && got.StatusCode == 200 && got.err == nil {
			return "Bearer token-" + strings.Trim(string(got.body)[len(`{"token":"token-`):], `"}`)
		}
	}
}

func TestEqualSeedsDecideEqually(t *testing.T) {
	play := func(seed uint64, order []int) []Fault {
		p := New(&url.URL{}, Plan{Seed: seed, Rate: 0.5})
		got := make([]Fault, 40*3)
		for n := range 40 {
			for _, i := range order {
				method := []string{"GET", "PUT", "HEAD"}[i]
				got[3*n+i] = p.choose(httptest.NewRequest(method, "/v2/app/manifests/v1", nil))
			}
		}
		return got
	}
	a := play(7, []int{0, 1, 2})
	if b := play(7, []int{2, 0, 1}); !slices.Equal(a, b) {
		t.Errorf("the order of arrival counts: %q, %q", a, b)
	}
	if c := play(8, []int{0, 1, 2}); slices.Equal(a, c) {
		t.Error("another seed is the same schedule")
	}
	faults := slices.DeleteFunc(slices.Clone(a), func(f Fault) bool { return f == None })
	if n := len(faults); n < 40 || n > 80 {
		t.Errorf("%d faults of %d requests at a rate of one half", n, len(a))
	}
}

func TestAStreakEnds(t *testing.T) {
	r := start(t, Plan{})
	r.fill()
	r.proxy.Set(Plan{Rate: 1, Streak: 3, Faults: []Fault{Internal}})
	for i := range 12 {
		want := 500
		if i%4 == 3 {
			want = 200
		}
		r.must(want, "GET", "/v2/app/manifests/v1", "")
	}
}

func TestNothingHappensWithoutAPlan(t *testing.T) {
	r := start(t, Plan{})
	r.fill()
	got := r.must(200, "GET", "/v2/app/manifests/v1", "")
	if string(got.body) != image("") || got.Header.Get("Content-Type") != ociImage {
		t.Errorf("%s %s", got.body, got.Header)
	}
	head := r.must(200, "HEAD", "/v2/app/manifests/v1", "")
	if head.ContentLength != int64(len(image(""))) || head.Header.Get("Docker-Content-Digest") != digestOf(got.body) {
		t.Errorf("%d, %s", head.ContentLength, head.Header)
	}
	if u := r.proxy.Uploads(); len(u) != 1 || u["app@"+blobDigest] != 1 {
		t.Errorf("uploads %v", u)
	}
	if len(r.proxy.Injected()) != 0 {
		t.Errorf("injected %v", r.proxy.Injected())
	}
}

func TestATokenIsAskedForAndRenewed(t *testing.T) {
	r := start(t, Plan{})
	r.fill()
	r.proxy.Set(Plan{Login: true, Rate: 1, Faults: []Fault{Expired}})
	const path = "/v2/app/manifests/v1"
	got := r.must(401, "GET", path, "")
	if want := `Bearer realm="` + r.url + `/token",service="registry",scope="repository:app:pull,push"`; got.Header.Get("WWW-Authenticate") != want {
		t.Errorf("%s, want %s", got.Header.Get("WWW-Authenticate"), want)
	}
	first, second := r.token(), ""
	r.must(401, "GET", path, "", "Authorization", first)
	r.must(401, "GET", path, "", "Authorization", first)
	second = r.token()
	r.must(200, "GET", path, "", "Authorization", second)
	// The first has expired for one thing, not for what else is under way with it.
	r.proxy.Set(Plan{Login: true})
	r.must(401, "GET", path, "", "Authorization", first)
	r.must(200, "HEAD", path, "", "Authorization", first)
	r.must(401, "GET", path, "", "Authorization", "Bearer token-99")
}

func TestWritesAreTold(t *testing.T) {
	r := start(t, Plan{})
	var told []string
	r.proxy.Set(Plan{OnWrite: func(w Write) { told = append(told, fmt.Sprintf("%d %s %s %v", w.N, w.Method, w.Path, w.Done)) }})
	at := r.begin()
	r.must(201, "PUT", at+"?digest="+blobDigest, content)
	r.must(200, "GET", "/v2/app/blobs/"+blobDigest, "")
	want := []string{
		"1 POST /v2/app/blobs/uploads/ false", "1 POST /v2/app/blobs/uploads/ true",
		"2 PUT " + at + " false", "2 PUT " + at + " true",
	}
	if !slices.Equal(told, want) || r.proxy.Writes() != 2 {
		t.Errorf("%q, want %q; %d", told, want, r.proxy.Writes())
	}
	r.proxy.Set(Plan{})
	if r.proxy.Writes() != 0 {
		t.Error("counted on")
	}
}

func TestSharedFindsWhatIsNotWhole(t *testing.T) {
	r := start(t, Plan{})
	r.fill()
	digest := digestOf([]byte(image("")))
	child := fmt.Sprintf(`{"mediaType":%q,"digest":%q,"size":%d}`, ociImage, digest, len(image("")))
	index := `{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[` + child + `]}`
	r.must(201, "PUT", "/v2/app/manifests/all", index, "Content-Type", "application/vnd.oci.image.index.v1+json")
	fine := Shared{"app:v1": {"", digest}, "app:none": {""}, "app:all": {digestOf([]byte(index))}}
	if err := fine.Check(t.Context(), r.upstream); err != nil {
		t.Error(err)
	}
	stop := fine.Watch(r.upstream)
	for name, wrong := range map[string]Shared{
		"absent": {"app:none": {digest}}, "another": {"app:v1": {"", "sha256:1"}}, "there": {"app:v1": {""}},
	} {
		if err := wrong.Check(t.Context(), r.upstream); err == nil {
			t.Errorf("%s passes", name)
		}
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	for name, broken := range map[string]func(path string) bool{
		"layer":  func(path string) bool { return strings.Contains(path, "/blobs/"+blobDigest) },
		"child":  func(path string) bool { return strings.HasSuffix(path, digest) },
		"server": func(path string) bool { return strings.HasSuffix(path, "/all") },
	} {
		u, _ := url.Parse(r.upstream)
		inner := New(u, Plan{})
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if code := map[bool]int{true: 404, false: 500}[name != "server"]; broken(r.URL.Path) {
				w.WriteHeader(code)
				return
			}
			inner.ServeHTTP(w, r)
		}))
		if err := fine.Check(t.Context(), s.URL); err == nil {
			t.Errorf("without %s it is whole", name)
		}
		if err := fine.Watch(s.URL)(); (err == nil) != (name == "server") {
			t.Errorf("a reader without %s: %v", name, err)
		}
		s.Close()
	}
}

func TestNothingRunsOnceItIsClosed(t *testing.T) {
	before := goroutines()
	func() {
		s := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
		defer s.Close()
		u, _ := url.Parse(s.URL)
		p, host, closeAll := Serve(u, Plan{Rate: 0.5, Faults: []Fault{Cut, Reset, Drip}})
		defer closeAll()
		client := &http.Client{Transport: &http.Transport{}}
		defer client.CloseIdleConnections()
		for range 20 {
			if resp, err := client.Get("http://" + host + "/v2/"); err == nil {
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		}
		if p.Injected()[Reset] == 0 {
			t.Error("no reset")
		}
	}()
	for range 500 {
		if !strings.Contains(goroutines(), "faulty.(*Proxy)") {
			return
		}
		runtime.Gosched()
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("goroutines before:\n%s\nafter:\n%s", before, goroutines())
}

func goroutines() string {
	buf := bytes.Repeat([]byte{0}, 1<<20)
	return string(buf[:runtime.Stack(buf, true)])
}
