FROM scratch
ARG TARGETARCH
COPY bin/archmage-registry-linux-${TARGETARCH} /usr/local/bin/archmage-registry
USER 65532:65532
WORKDIR /var/lib/registry
VOLUME /var/lib/registry
EXPOSE 5000
ENTRYPOINT ["archmage-registry"]
CMD ["--dir", "/var/lib/registry", "--listen", ":5000", "--insecure-allow-remote"]
