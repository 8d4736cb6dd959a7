package publish

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/archmage-go/archmage/build/registry"
)

func TestPushLeg(t *testing.T) {
	mine, other := spec{platform: "linux/arm64"}, spec{platform: "linux/arm64", content: "other"}
	for _, tt := range []struct {
		name         string
		there        *spec
		fixed, force bool
		state        State // "" is refused
	}{
		{"nothing there", nil, true, false, Pushed},
		{"nothing there, moving", nil, false, false, Pushed},
		{"the same", &mine, true, false, Published},
		{"the same, moving", &mine, false, false, Published},
		{"the same, forced", &mine, true, true, Published},
		{"another, moving", &other, false, false, Replaced},
		{"another, forced", &other, true, true, Replaced},
		{"another", &other, true, false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			both(t, func(t *testing.T, repo func(string) registry.Repository) {
				r := repo("app")
				there := ""
				if tt.there != nil {
					there = put(t, r, "v1.0.0-arm64", *tt.there).Digest.String()
				}
				img := mine.image(t)
				h, _ := img.Digest()
				beside := ""
				p := Push{Image: "app", Repo: r, Leg: Leg{Platform: parse(t, "linux/arm64"), Tag: "v1.0.0-arm64"}, Fixed: tt.fixed, Force: tt.force}
				p.Beside = func(_ context.Context, r Receipt) { beside = r.Digest }
				got, err := PushLeg(t.Context(), p, img)
				if sent := tt.state == Pushed || tt.state == Replaced; sent != (beside == h.String()) || !sent && beside != "" {
					t.Errorf("%s, and beside it was sent what belongs to %q", tt.state, beside)
				}
				if tt.state == "" {
					if err == nil || !strings.Contains(err.Error(), there) || !strings.Contains(err.Error(), h.String()) || errors.Is(err, registry.ErrAbsent) {
						t.Errorf("error %v", err)
					}
					if d, _ := r.Head(t.Context(), "v1.0.0-arm64"); d.Digest.String() != there {
						t.Error("it was replaced")
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if got.State != tt.state || got.Digest != h.String() || got.Image != "app" || got.Size == 0 {
					t.Errorf("receipt %+v, want %s", got, tt.state)
				}
				if want := r.Name() + ":v1.0.0-arm64@" + h.String(); got.String() != want {
					t.Errorf("%s, want %s", got, want)
				}
				if d, err := r.Head(t.Context(), "v1.0.0-arm64"); err != nil || d.Digest != h {
					t.Errorf("the tag names %v, %v", d.Digest, err)
				}
			})
		})
	}
}

func TestNothingIsPushedWhenTheRegistryDoesNotSay(t *testing.T) {
	for _, code := range []int{401, 403, 429, 500, 503} {
		s := serve(t)
		s.failing(func(r *http.Request) int {
			if r.Method == "HEAD" || r.Method == "GET" && r.URL.Path != "/v2/" {
				return code
			}
			return 0
		})
		_, err := PushLeg(t.Context(), Push{Repo: s.repo(t, "app"), Leg: Leg{Platform: parse(t, "linux/arm64"), Tag: "dev-arm64"}, Force: true}, spec{platform: "linux/arm64"}.image(t))
		if err == nil || len(s.writes()) != 0 {
			t.Errorf("%d: %v", code, err)
		}
	}
}

// TestWhatGoesBesideALegEndsWithIt: a leg that cannot be sent has no use for it.
func TestWhatGoesBesideALegEndsWithIt(t *testing.T) {
	s := serve(t)
	s.failing(func(r *http.Request) int {
		if r.Method == http.MethodPut {
			return http.StatusForbidden
		}
		return 0
	})
	ended := false
	p := Push{Repo: s.repo(t, "app"), Leg: Leg{Platform: parse(t, "linux/arm64"), Tag: "dev-arm64"}}
	p.Beside = func(ctx context.Context, _ Receipt) {
		<-ctx.Done()
		ended = true
	}
	if _, err := PushLeg(t.Context(), p, spec{platform: "linux/arm64"}.image(t)); !errors.Is(err, registry.ErrDenied) || !ended {
		t.Errorf("%v, ended %t", err, ended)
	}
}

func TestKept(t *testing.T) {
	there := spec{platform: "linux/arm64", revision: "r1"}
	for _, tt := range []struct {
		name     string
		there    *spec
		index    bool
		revision string
		moving   bool
		force    bool
		kept     bool
	}{
		{"same revision", &there, false, "r1", false, false, true},
		{"same revision, with attestation", &there, true, "r1", false, false, true},
		{"another revision", &there, false, "r2", false, false, false},
		{"no revision", &spec{platform: "linux/arm64", revision: "-"}, false, "", false, false, false},
		{"a changed tree", &spec{platform: "linux/arm64", revision: "r1-dirty"}, false, "r1-dirty", false, false, false},
		{"another platform", &spec{platform: "linux/amd64", revision: "r1"}, false, "r1", false, false, false},
		{"absent", nil, false, "r1", false, false, false},
		{"moving", &there, false, "r1", true, false, false},
		{"forced", &there, false, "r1", false, true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := serve(t).repo(t, "app")
			if tt.there != nil {
				put(t, r, "v1.0.0-arm64", *tt.there)
			}
			if tt.index {
				attested(t, r, "v1.0.0-arm64", *tt.there)
			}
			p := Push{Image: "app", Repo: r, Leg: Leg{Platform: parse(t, "linux/arm64"), Tag: "v1.0.0-arm64"}, Fixed: !tt.moving, Force: tt.force}
			got, kept, err := Kept(t.Context(), p, tt.revision)
			if err != nil || kept != tt.kept {
				t.Fatalf("kept %t, %v", kept, err)
			}
			if d, _ := r.Head(t.Context(), "v1.0.0-arm64"); kept && (got.Digest != d.Digest.String() || got.State != Published) {
				t.Errorf("receipt %+v of %s", got, d.Digest)
			}
		})
	}
	s := serve(t)
	s.failing(func(r *http.Request) int { return 500 })
	if _, _, err := Kept(t.Context(), Push{Repo: s.repo(t, "app"), Leg: Leg{Platform: parse(t, "linux/arm64"), Tag: "v1.0.0-arm64"}, Fixed: true}, "r1"); err == nil {
		t.Error("an unknown answer is no answer")
	}
}
