package registry

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// certify makes a certificate of that template, signed by parent, or by itself.
func certify(t *testing.T, c, parent *x509.Certificate, by *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if parent == nil {
		parent, by = c, key
	}
	c.SerialNumber = big.NewInt(1)
	raw, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, by)
	if err != nil {
		t.Fatal(err)
	}
	made, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	return made, key
}

// A registry with a login is reached only where its certificate is good: else
// nothing is sent, nothing is asked again, and plain HTTP is not tried.
func TestCertificatesAreChecked(t *testing.T) {
	now := time.Now()
	day := 24 * time.Hour
	authority := &x509.Certificate{
		Subject: pkix.Name{CommonName: "a private CA"}, NotBefore: now.Add(-day), NotAfter: now.Add(day),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	ca, caKey := certify(t, authority, nil, nil)
	roots := x509.NewCertPool()
	roots.AddCert(ca)
	for name, tt := range map[string]struct {
		cert   x509.Certificate
		signed bool
		want   string // "" where the certificate is good
	}{
		"good":          {x509.Certificate{DNSNames: []string{"registry.test"}, NotBefore: now.Add(-day), NotAfter: now.Add(day)}, true, ""},
		"expired":       {x509.Certificate{DNSNames: []string{"registry.test"}, NotBefore: now.Add(-2 * day), NotAfter: now.Add(-day)}, true, "expired"},
		"not yet valid": {x509.Certificate{DNSNames: []string{"registry.test"}, NotBefore: now.Add(day), NotAfter: now.Add(2 * day)}, true, "not yet valid"},
		"another host":  {x509.Certificate{DNSNames: []string{"other.test"}, NotBefore: now.Add(-day), NotAfter: now.Add(day)}, true, "not registry.test"},
		"no authority":  {x509.Certificate{DNSNames: []string{"registry.test"}, NotBefore: now.Add(-day), NotAfter: now.Add(day)}, false, "unknown authority"},
	} {
		parent := ca
		if !tt.signed {
			parent = nil
		}
		cert, key := certify(t, &tt.cert, parent, caKey)
		var seen []string
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			seen = append(seen, r.Header.Get("Authorization"))
			if r.URL.Path != "/v2/" {
				w.WriteHeader(http.StatusNotFound)
			}
		}))
		server.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{cert.Raw}, PrivateKey: key}}}
		server.Config.ErrorLog = quiet()
		server.StartTLS()
		t.Cleanup(server.Close)
		at := server.Listener.Addr().String()
		transport := dialing(map[string]string{"registry.test:443": at, "registry.test:80": at})
		transport.TLSClientConfig = &tls.Config{RootCAs: roots}
		c, clock := testClient(t, Options{Transport: transport, RetryMax: 3, Auth: Auth{DockerConfig: dockerConfig(t, map[string]string{"registry.test": "me:s3cret"})}})
		_, err := open(t, c, "registry.test/app", Write).Head(t.Context(), "v1")
		switch {
		case tt.want == "" && !errors.Is(err, ErrAbsent):
			t.Errorf("%s: %v", name, err)
		case tt.want != "" && (errors.Is(err, ErrAbsent) || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n")):
			t.Errorf("%s: %v, want %s", name, err, tt.want)
		case tt.want != "" && (len(seen) > 0 || len(clock.pauses()) > 0):
			t.Errorf("%s: %q was sent, in %d more attempts", name, seen, len(clock.pauses()))
		}
	}
}
