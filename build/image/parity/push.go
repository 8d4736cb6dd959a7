package parity

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// push writes an artifact to http://registry/name:latest by the distribution
// specification's monolithic upload. Blobs that are there already stay.
func push(ctx context.Context, registry, name string, a artifact) error {
	root := "http://" + registry + "/v2/" + name
	for _, b := range a.blobs {
		if err := pushBlob(ctx, root, b); err != nil {
			return fmt.Errorf("push %s: %w", name, err)
		}
	}
	for i, m := range a.manifests {
		ref := digestOf(m.data)
		if i == len(a.manifests)-1 {
			ref = "latest"
		}
		if _, err := send(ctx, http.MethodPut, root+"/manifests/"+ref, m.mediaType, m.data); err != nil {
			return fmt.Errorf("push %s: %w", name, err)
		}
	}
	return nil
}

func pushBlob(ctx context.Context, root string, data []byte) error {
	digest := digestOf(data)
	if _, err := send(ctx, http.MethodHead, root+"/blobs/"+digest, "", nil); err == nil {
		return nil
	}
	at, err := send(ctx, http.MethodPost, root+"/blobs/uploads/", "", nil)
	if err != nil {
		return err
	}
	to, err := url.Parse(at)
	if err != nil {
		return err
	}
	q := to.Query()
	q.Set("digest", digest)
	to.RawQuery = q.Encode()
	_, err = send(ctx, http.MethodPut, to.String(), "application/octet-stream", data)
	return err
}

// send returns the absolute Location of an answer with a 2xx status.
func send(ctx context.Context, method, to, mediaType string, body []byte) (string, error) {
	req, err := http.NewRequestWithContext(ctx, method, to, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	if mediaType != "" {
		req.Header.Set("Content-Type", mediaType)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(io.LimitReader(resp.Body, 1<<16))
	if err != nil {
		return "", err
	}
	if resp.StatusCode/100 != 2 {
		return "", fmt.Errorf("%s %s: %s: %s", method, to, resp.Status, said)
	}
	location, err := resp.Location()
	if err != nil {
		return "", nil // only some answers have one
	}
	return location.String(), nil
}
