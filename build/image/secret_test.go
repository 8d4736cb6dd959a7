package image

import "testing"

func TestWhichVariablesAnEngineDoesNotSee(t *testing.T) {
	for name, want := range map[string]bool{
		"GITHUB_TOKEN": true, "GH_TOKEN": true, "npm_token": true, "REGISTRY_PASSWORD": true, "DOCKER_PASSWORD": true,
		"CLIENT_SECRET": true, "MY_API_KEY": true, "COSIGN_PRIVATE_KEY": true,
		"PATH": false, "HOME": false, "DOCKER_CONFIG": false, "DOCKER_HOST": false, "DOCKER_AUTH_CONFIG": false,
		"BUILDX_BUILDER": false, "BUILDKIT_HOST": false, "REGISTRY_AUTH_FILE": false, "SSH_AUTH_SOCK": false, "KUBECONFIG": false,
		"HTTPS_PROXY": false, "SSL_CERT_FILE": false, "XDG_RUNTIME_DIR": false, "TOKENIZER": false, "KEY": false,
		"AWS_SESSION_TOKEN": false, "AZURE_CLIENT_SECRET": false, "GOOGLE_APPLICATION_CREDENTIALS": false,
	} {
		if got := Secret(name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func TestSecretsOfTheBuildAreSeen(t *testing.T) {
	for secret, want := range map[string]bool{
		"id=A_TOKEN": true, "id=a,env=A_TOKEN": true, "id=a,type=env,src=A_TOKEN": true, "id=a,type=env,source=A_TOKEN": true,
		`id=a,"env=A_TOKEN"`: true, "id=a,src=A_TOKEN.txt": false, "id=a,env=B_TOKEN": false, "": false,
	} {
		r := Request{Secrets: []string{"id=other,src=f", secret}}
		if got := !r.withheld("A_TOKEN"); got != want {
			t.Errorf("%s: seen %v, want %v", secret, got, want)
		}
		if r.withheld("PATH") || !r.withheld("GITHUB_TOKEN") {
			t.Errorf("%s: PATH is withheld, or GITHUB_TOKEN is not", secret)
		}
	}
}
