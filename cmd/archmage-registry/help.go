package main

const long = `archmage-registry serves an OCI registry from a directory, until it is interrupted.

It prints the address it listens on, then a line per write on stderr. What it
answered for is there after a restart, a crash too. Clients on this machine reach
it over plain HTTP: docker push localhost:5000/app:v1.

Anyone who reaches the port may read and write: there is no login and no TLS. So
it listens on this machine alone. In a container, and for other machines, say
--insecure-allow-remote, and see to it who reaches the port.

It passes the conformance suite of the OCI distribution spec 1.1 for pull, push,
content discovery and deletion of tags and manifests. What it does not do:

  - delete blobs: all repositories share them, and space is not freed; to free
    it, stop the registry and remove the directory
  - manifests named by another digest than sha256
  - an index before the images it names (a sparse one)
  - many writers: one manifest is taken at a time, all are kept in memory

A kind cluster cannot reach this machine's loopback. There the image runs on the
cluster's network, and each node's containerd is told where localhost:5000 is (not
tested by this project; kind 0.27 or newer, older ones need containerd's
config_path set to /etc/containerd/certs.d):

  docker run --detach --name kind-registry --network kind \
    --publish 127.0.0.1:5000:5000 --volume kind-registry:/var/lib/registry \
    IMAGE-OF-ARCHMAGE-REGISTRY
  for node in $(kind get nodes); do
    docker exec "$node" mkdir -p /etc/containerd/certs.d/localhost:5000
    docker exec -i "$node" cp /dev/stdin /etc/containerd/certs.d/localhost:5000/hosts.toml <<'TOML'
  [host."http://kind-registry:5000"]
  TOML
  done`
