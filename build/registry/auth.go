package registry

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/docker/cli/cli/config/configfile"
	"github.com/docker/cli/cli/config/types"
	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
)

// keychain finds credentials. Files are read when the first repository is
// asked for, and once.
type keychain struct {
	auth  Auth
	once  sync.Once
	files []*configfile.ConfigFile
	err   error
	mu    sync.Mutex // credential helpers may prompt: one at a time
}

// find returns what is stored for repo, of its host alone. Files are asked in
// order, and GITHUB_TOKEN last, since a stored login is the more specific wish.
func (k *keychain) find(repo name.Repository) (authn.Authenticator, error) {
	k.once.Do(func() { k.files, k.err = k.auth.load() })
	if k.err != nil {
		return nil, k.err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, file := range k.files {
		found, err := lookup(file, repo)
		if err != nil {
			return nil, err
		}
		if found != (types.AuthConfig{}) {
			return authn.FromConfig(authn.AuthConfig{
				Username: found.Username, Password: found.Password, Auth: found.Auth,
				IdentityToken: found.IdentityToken, RegistryToken: found.RegistryToken,
			}), nil
		}
	}
	if k.auth.GitHubToken != "" && repo.RegistryStr() == "ghcr.io" {
		// GHCR takes any user name beside a token.
		return authn.FromConfig(authn.AuthConfig{Username: "x-access-token", Password: k.auth.GitHubToken}), nil
	}
	return authn.Anonymous, nil
}

// load reads the files that exist. Those that the user named replace the
// default places; AuthFile has to be there.
func (a Auth) load() ([]*configfile.ConfigFile, error) {
	var paths []string
	if a.AuthFile != "" {
		if _, err := os.Stat(a.AuthFile); err != nil {
			return nil, fmt.Errorf("read credentials: %w", err)
		}
		paths = append(paths, a.AuthFile)
	}
	if a.DockerConfig != "" {
		paths = append(paths, filepath.Join(a.DockerConfig, "config.json"))
	}
	if len(paths) == 0 {
		paths = defaultAuthFiles()
	}
	var files []*configfile.ConfigFile
	for _, path := range paths {
		file, err := readAuthFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read credentials: %s: %w", path, err)
		}
		files = append(files, file)
	}
	return files, nil
}

// defaultAuthFiles is where `docker login` and `podman login` write
// (containers-auth.json(5)).
func defaultAuthFiles() []string {
	paths := []string{filepath.Join("/run/user", strconv.Itoa(os.Getuid()), "containers", "auth.json")}
	if home, err := os.UserHomeDir(); err == nil {
		paths = append([]string{filepath.Join(home, ".docker", "config.json")}, paths...)
		paths = append(paths, filepath.Join(home, ".config", "containers", "auth.json"))
	}
	return paths
}

// readAuthFile never quotes the file in an error: it holds passwords.
func readAuthFile(path string) (*configfile.ConfigFile, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	file := configfile.New(path)
	if err := file.LoadFromReader(f); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return nil, fmt.Errorf("not JSON at byte %d", syntax.Offset)
		}
		return nil, errors.New("not a docker config or containers-auth file")
	}
	return file, nil
}

// lookup prefers the longest name that is stored: containers-auth.json(5) keys
// are a registry, or a registry with the beginning of a path.
func lookup(file *configfile.ConfigFile, repo name.Repository) (types.AuthConfig, error) {
	host := repo.RegistryStr()
	helper := file.CredentialHelpers[hubKey(host)]
	if helper == "" {
		helper = file.CredentialHelpers[host]
	}
	if helper != "" || file.CredentialsStore != "" {
		found, err := fromHelper(file, host)
		if err != nil || found != (types.AuthConfig{}) {
			return found, err
		}
	}
	for _, key := range keys(host, repo.RepositoryStr()) {
		if found := stored(file.AuthConfigs[key]); found != (types.AuthConfig{}) {
			return found, nil
		}
	}
	return types.AuthConfig{}, nil
}

func fromHelper(file *configfile.ConfigFile, host string) (types.AuthConfig, error) {
	found, err := file.GetAuthConfig(host)
	if err != nil {
		return types.AuthConfig{}, fmt.Errorf("credential helper of %s for %s: %w", file.Filename, host, err)
	}
	return stored(found), nil
}

// keys are the names under which credentials for host/path may be stored, most
// specific first; the last ones are what old versions of docker wrote.
func keys(host, path string) []string {
	hosts := []string{host}
	if host == name.DefaultRegistry {
		hosts = []string{"docker.io", host, authn.DefaultAuthKey}
	}
	var list []string
	for ; path != ""; path = path[:max(strings.LastIndex(path, "/"), 0)] {
		for _, h := range hosts {
			list = append(list, h+"/"+path)
		}
	}
	list = append(list, hosts...)
	for _, scheme := range []string{"https://", "http://"} {
		for _, end := range []string{"", "/", "/v1/", "/v2/", "/v1", "/v2"} {
			list = append(list, scheme+host+end)
		}
	}
	return list
}

func hubKey(host string) string {
	if host == name.DefaultRegistry {
		return authn.DefaultAuthKey
	}
	return host
}

// stored clears what says where the credentials come from, so that an entry
// without any compares equal to none.
func stored(ac types.AuthConfig) types.AuthConfig {
	ac.ServerAddress = ""
	return ac
}
