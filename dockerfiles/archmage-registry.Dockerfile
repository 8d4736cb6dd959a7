FROM scratch
ARG TARGETARCH
COPY bin/archmage-registry-linux-${TARGETARCH} /usr/local/bin/archmage-registry
USER 65532:65532
# The user's own, and so is a volume that docker fills from it.
WORKDIR /var/lib/registry
VOLUME /var/lib/registry
EXPOSE 5000
ENTRYPOINT ["archmage-registry"]
# Loopback would be the container's own. Who reaches the port is up to --publish:
# 127.0.0.1:5000:5000 is this machine alone.
CMD ["--dir", "/var/lib/registry", "--listen", ":5000", "--insecure-allow-remote"]
